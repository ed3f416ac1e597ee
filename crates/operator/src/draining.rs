//! Who empties the nodes whose agents ask for it? Whoever leads, one pass at a time over each node, and many nodes side by side
//! (DRAIN-1, DRAIN-2).
//!
//! The gate is not asked: a node whose change was begun is past the commit point, and finishes whatever the window does (POOL-1). It
//! wakes when what is known changes, when a pass ends and when one is due by the clock, so that it follows a clock that is set or sped up.

use std::{collections::BTreeMap, sync::Arc};

use api::kinds;
use runtime::{
    caches::Caches,
    call::{CallError, Cluster},
    drain::{Drainer, Passed},
    lease::Leadership,
};
use schedule::Instant;
use tidegate_core::drain::{self, Settings, node::Request, request};
use tokio::{
    sync::watch,
    task::{self, JoinError, JoinSet},
};

/// How many nodes are looked at side by side. Enough that some that hang keep nobody waiting, few enough that the lists of their pods
/// fit into a small pod.
const AT_ONCE: usize = 16;

/// What was last asked of a node, and when it is looked at again.
type Due = BTreeMap<String, (Request, Instant)>;

/// Empties nodes for ever, while this replica leads.
pub async fn run(cluster: Cluster, caches: Arc<Caches>, leadership: watch::Receiver<Leadership>) {
    let clock = Arc::clone(cluster.clock());
    let drainer =
        || Arc::new(Drainer::new(cluster.clone(), Arc::clone(&caches), Settings::default()));
    let mut drainer_now = drainer();
    let mut changes = caches.changes();
    let mut due = Due::new();
    let mut told = BTreeMap::new();
    let mut passes: JoinSet<Result<Passed, CallError>> = JoinSet::new();
    let mut busy: BTreeMap<String, (task::Id, Request)> = BTreeMap::new();
    loop {
        changes.mark_seen();
        let leads = leadership.borrow().leads();
        if !leads && !busy.is_empty() {
            // Whoever leads next begins with reading; what travels is let go.
            passes = JoinSet::new();
            drainer_now = drainer();
            busy.clear();
        }
        let asking = if leads { asking(&caches) } else { BTreeMap::new() };
        due.retain(|name, (asked, _)| asking.get(name) == Some(asked));
        told.retain(|name: &String, _: &mut String| asking.contains_key(name));
        drainer_now.keep(|name| asking.contains_key(name));
        let now = clock.now();
        for (name, asked) in in_turn(asking, &due, now) {
            if passes.len() >= AT_ONCE {
                break;
            }
            if busy.contains_key(&name) {
                continue;
            }
            let (drainer, machine) = (Arc::clone(&drainer_now), name.clone());
            let pass = passes.spawn(async move { drainer.pass(&machine, now).await });
            busy.insert(name, (pass.id(), asked));
        }
        let idle = due.iter().filter(|(name, _)| !busy.contains_key(*name));
        let next = idle.map(|(_, (_, due))| *due).min().filter(|_| passes.len() < AT_ONCE);
        tokio::select! {
            biased;
            Some(ended) = passes.join_next_with_id() => {
                let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
                let Some(name) = busy.iter().find(|(_, pass)| pass.0 == id).map(|(name, _)| name.clone())
                else {
                    continue;
                };
                let again = match ended {
                    Ok((_, outcome)) => tell(&name, outcome, &mut told),
                    Err(error) => {
                        tracing::error!(node = name, %error, "a pass over a node panicked");
                        drain::RETRY
                    }
                };
                if let Some((_, asked)) = busy.remove(&name) {
                    // Counted from the end: a clock that runs fast must not make every pass overdue.
                    due.insert(name, (asked, clock.now().saturating_add(again)));
                }
            }
            () = changes.changed() => {}
            () = clock.wait(next.unwrap_or(Instant::MAX)), if next.is_some() => {}
        }
    }
}

/// Those whose turn it is, whoever has waited longest first: those that come back every second must not keep others from their first look.
fn in_turn(asking: BTreeMap<String, Request>, due: &Due, now: Instant) -> Vec<(String, Request)> {
    let since = |name: &String| due.get(name).map(|(_, due)| *due);
    let mut turn: Vec<(String, Request)> = asking
        .into_iter()
        .filter(|(name, _)| !since(name).is_some_and(|due| waits(due, now)))
        .collect();
    turn.sort_by_key(|(name, _)| since(name));
    turn
}

/// Whether it is too early to look again. A clock that went back does not make the wait longer than any is.
fn waits(due: Instant, now: Instant) -> bool {
    now < due && due <= now.saturating_add(drain::RETRY)
}

/// Says what came of a pass, if that is news, and after how many seconds the next one is due.
fn tell(name: &str, passed: Result<Passed, CallError>, told: &mut BTreeMap<String, String>) -> i64 {
    let mut is_news =
        |text: &str| told.insert(name.to_owned(), text.to_owned()).is_none_or(|said| said != text);
    match passed {
        Ok(Passed::Draining(pass)) => {
            let waits = drain::told(&pass.waiting);
            if is_news(&format!("{} {waits}", pass.left)) {
                tracing::info!(node = name, left = pass.left, waits, "a node is emptied");
            }
            return pass.again;
        }
        Ok(Passed::Waits(why)) => {
            if is_news(&why) {
                tracing::info!(node = name, why, "a node is not emptied yet");
            }
            return 1;
        }
        Ok(Passed::Drained) => tracing::info!(node = name, "a node is empty"),
        Ok(Passed::Stayed(why)) => tracing::info!(node = name, why, "a node keeps its pods"),
        Ok(Passed::Uncordoned) => tracing::info!(node = name, "a node is open again"),
        Ok(Passed::Nothing) => {}
        Ok(Passed::Refused(why)) => {
            if is_news(&why) {
                tracing::warn!(node = name, why, "a node is not emptied");
            }
        }
        // Somebody else wrote the node meanwhile: its agent, most likely, and the next look shows what.
        Err(error) if error.code() == Some(409) => return 1,
        Err(error) => {
            tracing::warn!(node = name, %error, cause = ?error, "a pass over a node failed");
        }
    }
    drain::RETRY
}

/// The nodes that need somebody, and what they ask for. Before pools and nodes are known, nobody is judged.
fn asking(caches: &Caches) -> BTreeMap<String, Request> {
    let store = caches.store();
    if ![&kinds::NODE, &kinds::MACHINE_CONFIG_POOL].into_iter().all(|kind| store.is_settled(kind)) {
        return BTreeMap::new();
    }
    let snapshot = store.snapshot();
    let machines = snapshot.machines().filter(|machine| {
        let home = || snapshot.membership(&machine.node);
        machine.drain.is_concerned() && request::needs_somebody(&machine.drain, &home())
    });
    machines.map(|machine| (machine.node.name.clone(), machine.drain.request())).collect()
}
