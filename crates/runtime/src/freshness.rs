//! Has the store behind the server gone back in time?
//!
//! After a restored backup a watch from a version that the store has not reached is accepted and stays silent: nothing tells the
//! watcher. So the newest version of a collection, read consistently, is compared with the newest seen. A version that went back
//! means that everything known may be wrong, and is learned anew.
//!
//! A list can also be old by itself, and then nothing went back. What was written last of all that is known is read by its name before
//! anything is given up; and a list that stays behind is believed in the end.

use std::sync::Arc;

use api::schema::Role;
use serde::Deserialize;
use tidegate_core::cluster::kinds::Row;
use tokio::time::sleep;

use crate::{
    caches::Caches,
    call::{Cluster, Collection},
    key::{collection, path},
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
    /// So many looks in a row: an old list is over by then.
    const IN_A_ROW: u32 = 3;
    let mut behind = 0;
    loop {
        sleep(tempo.freshness).await;
        let known = |row: &&&'static Row| {
            let about = caches.store().on(row);
            row.role != Role::Part && about.is_some_and(|about| about.state == State::Known)
        };
        // One counter for the whole store, so one kind tells for all.
        let Some(kind) = caches.observed().iter().find(known) else { continue };
        let seen = caches.store().newest();
        let collection = Collection::of(collection(kind, None));
        // A server that does not answer is noticed by the watches.
        let Ok(version) = cluster.version_of(&collection).await else { continue };
        let is_behind = version.parse::<u64>().is_ok_and(|listed| listed < seen);
        behind = if is_behind { behind + 1 } else { 0 };
        if is_behind && (behind >= IN_A_ROW || is_gone(&cluster, &caches).await) {
            behind = 0;
            tracing::error!(
                "the store behind the API server went back in time: learning everything anew"
            );
            caches.went_back();
        }
    }
}

/// Whether what was written last, as far as is known, was never written as far as the server goes.
async fn is_gone(cluster: &Cluster, caches: &Caches) -> bool {
    let last = caches.store().last_written().map(|(key, version)| (key.clone(), version));
    let Some((key, known)) = last else { return false };
    match cluster.get::<Document>(&path(&key)).await {
        Ok(found) => found.version().is_some_and(|found| found < known),
        Err(error) => error.code() == Some(404),
    }
}

#[derive(Deserialize)]
struct Document {
    metadata: Metadata,
}

impl Document {
    fn version(&self) -> Option<u64> {
        self.metadata.resource_version.parse().ok()
    }
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
