//! What of what others own is looked at? Each kind that some gate or freeze holds, for as long as one does (RCH-4).
//!
//! A cluster has thousands of them, and where nobody holds them nobody reads them. What waits when the last gate or freeze goes is looked at
//! until it has begun.

use std::{collections::BTreeMap, sync::Arc};

use api::schema::Kind;
use runtime::{caches::Caches, call::Cluster, observe::Observer, tempo::Tempo};
use tidegate_core::cluster::kinds;
use tokio::task::JoinHandle;

/// Looks for ever. What it started ends with it.
pub async fn run(cluster: Cluster, caches: Arc<Caches>, tempo: Tempo) {
    let mut changes = caches.changes();
    let mut observers: BTreeMap<&'static Kind, Observing> = BTreeMap::new();
    loop {
        changes.mark_seen();
        let held = caches.store().snapshot().kinds_held();
        let gone: Vec<&'static Kind> =
            observers.keys().copied().filter(|kind| !held.contains(kind)).collect();
        for kind in gone {
            observers.remove(kind);
            caches.unlist(kind);
        }
        for kind in held {
            let Some(row) = kinds::target(kind).filter(|_| !observers.contains_key(kind)) else {
                continue;
            };
            let observer = Observer::new(row, cluster.clone(), Arc::clone(&caches), tempo);
            observers.insert(&row.kind, Observing(tokio::spawn(observer.run())));
        }
        // One that ended by itself has failed, and then everything ends.
        if observers.values().any(|Observing(task)| task.is_finished()) {
            return;
        }
        changes.changed().await;
    }
}

/// An observer that ends when nobody asks for it any more.
struct Observing(JoinHandle<()>);

impl Drop for Observing {
    fn drop(&mut self) {
        self.0.abort();
    }
}
