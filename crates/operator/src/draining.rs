//! Who empties the machines whose agents ask for it? Whoever leads, one pass at a time (DRAIN-1).
//!
//! The gate is not asked: a machine that asks is past the commit point, and finishes whatever the window does (POOL-1).

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use runtime::{
    caches::Caches,
    call::Cluster,
    drain::{Drainer, Passed},
    lease::Leadership,
};
use tidegate_core::drain::{self, Settings, node::Request};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// How often the caches are looked at; that costs no call.
const LOOK: Duration = Duration::from_secs(1);

/// Empties machines for ever, while this replica leads.
pub async fn run(cluster: Cluster, caches: Arc<Caches>, leadership: watch::Receiver<Leadership>) {
    let clock = Arc::clone(cluster.clock());
    let mut drainer = Drainer::new(cluster, Settings::default());
    // When a machine that is being emptied is looked at again.
    let mut due: BTreeMap<String, Instant> = BTreeMap::new();
    loop {
        let leads = leadership.borrow().leads();
        let asking = if leads { asking(&caches) } else { Vec::new() };
        due.retain(|name, _| asking.contains(name));
        for name in asking {
            if due.get(&name).is_some_and(|due| Instant::now() < *due) {
                continue;
            }
            due.insert(name.clone(), Instant::now() + Duration::from_secs(drain::RETRY as u64));
            match drainer.pass(&name, clock.now()).await {
                Ok(Passed::Draining(pass)) => {
                    let waits = drain::told(&pass.waiting);
                    tracing::info!(node = name, left = pass.left, waits, "a machine is emptied");
                }
                Ok(Passed::Drained) => tracing::info!(node = name, "a machine is empty"),
                Ok(Passed::Uncordoned) => tracing::info!(node = name, "a machine is open again"),
                Ok(Passed::Nothing) => {}
                Ok(Passed::Unknown(asked)) => {
                    tracing::warn!(
                        node = name,
                        asked,
                        "a machine asks for what nobody understands"
                    );
                }
                Err(error) => {
                    tracing::warn!(node = name, %error, cause = ?error, "a pass over a machine failed");
                }
            }
        }
        sleep(LOOK).await;
    }
}

fn asking(caches: &Caches) -> Vec<String> {
    let store = caches.store();
    let machines = store.machines().filter(|machine| machine.request != Request::Nothing);
    machines.map(|machine| machine.node.name.clone()).collect()
}
