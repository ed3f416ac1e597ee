//! Has the store behind the server gone back in time?
//!
//! After a restored backup a watch from a version that the store has not reached is accepted and stays silent: nothing tells the
//! watcher. So the newest version of a collection, read consistently, is compared with the newest seen. A version that went back
//! means that everything known may be wrong, and is learned anew.

use std::sync::Arc;

use api::schema::Kind;
use serde::Deserialize;
use tokio::time::sleep;

use crate::{
    caches::Caches,
    call::{Ask, Cluster, Verb},
    key::{collection, kinds},
    store::State,
    tempo::Tempo,
};

/// The newest version seen of a store, and whether it went back.
#[derive(Debug, Default)]
pub struct HighWater {
    highest: u64,
}

impl HighWater {
    /// Takes note of a version. Whether it is lower than one before, in which case it becomes the new measure.
    pub fn went_back(&mut self, version: &str) -> bool {
        let Ok(version) = version.parse::<u64>() else { return false };
        let back = version < self.highest;
        self.highest = version;
        back
    }
}

/// Looks every now and then, for ever.
pub async fn watch(cluster: Cluster, caches: Arc<Caches>, tempo: Tempo) {
    let mut highest = HighWater::default();
    loop {
        sleep(tempo.freshness).await;
        let known = |kind: &&'static Kind| {
            let about = caches.store().on(kind.name);
            about.is_some_and(|about| about.state == State::Known)
        };
        // One counter for the whole store, so one kind tells for all.
        let Some(kind) = kinds().find(known) else { continue };
        let path = format!("{}?limit=1", collection(kind, None));
        let seen = caches.store().highest();
        // A server that does not answer is noticed by the watches.
        if let Ok(list) = cluster.call::<List>(Verb::List, Ask::path(path)).await {
            highest.highest = highest.highest.max(seen);
            if highest.went_back(&list.metadata.resource_version) {
                tracing::error!(
                    "the store behind the API server went back in time: learning everything anew"
                );
                caches.went_back();
            }
        }
    }
}

#[derive(Deserialize)]
struct List {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(rename = "resourceVersion", default)]
    resource_version: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lower_version_has_gone_back() {
        let mut highest = HighWater::default();
        for (version, back) in
            [("5", false), ("5", false), ("9", false), ("7", true), ("7", false), ("x", false)]
        {
            assert_eq!(highest.went_back(version), back, "{version}");
        }
    }
}
