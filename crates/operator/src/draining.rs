//! Who empties the machines whose agents ask for it? Whoever leads, one pass at a time (DRAIN-1).
//!
//! The gate is not asked: a machine that asks is past the commit point, and finishes whatever the window does (POOL-1). It wakes when
//! what is known changes and when a pass is due by the clock, so that it follows a clock that is set or sped up.

use std::{collections::BTreeMap, sync::Arc};

use runtime::{
    caches::Caches,
    call::Cluster,
    drain::{Drainer, Passed},
    lease::Leadership,
};
use schedule::Instant;
use tidegate_core::drain::{self, Settings, node::Request};
use tokio::sync::watch;

/// What was last asked of a machine, and when it is looked at again.
type Due = BTreeMap<String, (Request, Instant)>;

/// Empties machines for ever, while this replica leads.
pub async fn run(
    cluster: Cluster,
    caches: Arc<Caches>,
    mut leadership: watch::Receiver<Leadership>,
) {
    let clock = Arc::clone(cluster.clock());
    let mut drainer = Drainer::new(cluster, Settings::default());
    let mut changes = caches.changes();
    let mut due = Due::new();
    loop {
        changes.mark_seen();
        let leads = leadership.borrow_and_update().leads();
        let asking = if leads { asking(&caches) } else { BTreeMap::new() };
        due.retain(|name, (asked, _)| asking.get(name) == Some(asked));
        for (name, asked) in asking {
            let now = clock.now();
            if due.get(&name).is_some_and(|(_, due)| waits(*due, now)) {
                continue;
            }
            pass(&mut drainer, &name, now).await;
            // Counted from the end: a clock that runs fast must not make every pass overdue.
            due.insert(name, (asked, clock.now().saturating_add(drain::RETRY)));
        }
        let next = due.values().map(|(_, due)| *due).min();
        tokio::select! {
            biased;
            // The sender lives as long as the operator.
            Ok(()) = leadership.changed() => {}
            () = changes.changed() => {}
            () = clock.wait(next.unwrap_or(Instant::MAX)), if next.is_some() => {}
        }
    }
}

/// Whether it is too early to look again. A clock that went back does not make the wait longer than any is.
fn waits(due: Instant, now: Instant) -> bool {
    now < due && due <= now.saturating_add(drain::RETRY)
}

async fn pass(drainer: &mut Drainer, name: &str, now: Instant) {
    match drainer.pass(name, now).await {
        Ok(Passed::Draining(pass)) => {
            let waits = drain::told(&pass.waiting);
            tracing::info!(node = name, left = pass.left, waits, "a machine is emptied");
        }
        Ok(Passed::Drained) => tracing::info!(node = name, "a machine is empty"),
        Ok(Passed::Uncordoned) => tracing::info!(node = name, "a machine is open again"),
        Ok(Passed::Nothing) => {}
        Ok(Passed::Unknown(asked)) => {
            tracing::warn!(node = name, asked, "a machine asks for what nobody understands");
        }
        Err(error) => {
            tracing::warn!(node = name, %error, cause = ?error, "a pass over a machine failed");
        }
    }
}

/// The machines that ask for something, and for what.
fn asking(caches: &Caches) -> BTreeMap<String, Request> {
    let store = caches.store();
    let machines = store.machines().filter(|machine| machine.request != Request::Nothing);
    machines.map(|machine| (machine.node.name.clone(), machine.request.clone())).collect()
}
