//! What has happened, and stands in no history yet? (HIST-1)

use std::collections::BTreeMap;

use api::{record::Subject, schema::Kind};
use schedule::Instant;

use super::{
    chain::Fact,
    facts::{facts, is_gone},
    pages::Chain,
};
use crate::{
    cluster::{kinds::Pools, snapshot::Snapshot},
    document::key::Key,
};

/// The histories of a cluster, as far as whoever appends to them knows.
#[derive(Clone, Debug)]
pub struct Histories {
    /// Each by its namespace.
    pub chains: BTreeMap<String, Chain>,
    /// The version in which each object was last looked at, if all that it remembers was recorded then: ten thousand of them are not read anew
    /// each time that one changes.
    looked: BTreeMap<Key, String>,
    /// Whether pools are rolled out here, or by others.
    pools: Pools,
}

impl Histories {
    /// Histories of which this is known.
    pub fn new(chains: BTreeMap<String, Chain>, pools: Pools) -> Self {
        Self { chains, looked: BTreeMap::new(), pools }
    }

    /// What each namespace has to record, in the order in which it happened: what is in no namespace is recorded in `home`. `is_settled` says
    /// whether all objects of a kind were listed; before that nobody knows what is gone.
    pub fn due(
        &mut self,
        cluster: &Snapshot,
        is_settled: impl Fn(&'static Kind) -> bool,
        home: &str,
        now: Instant,
    ) -> BTreeMap<String, Vec<Fact>> {
        if self.looked.len() > cluster.len() {
            self.looked.retain(|key, _| cluster.get(key).is_some());
        }
        let mut due: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
        for (key, seen) in cluster.all() {
            let version = &seen.identity().resource_version;
            if self.looked.get(key) == Some(version) {
                continue;
            }
            let namespace = key.namespace.as_deref().unwrap_or(home);
            let facts = facts(seen, self.pools, now);
            if facts.is_empty() {
                continue;
            }
            let lacking = match self.chains.get(namespace) {
                Some(chain) => chain.lacking(facts),
                None => Chain::default().lacking(facts),
            };
            // What is still ahead comes without another version.
            if lacking.is_empty() {
                self.looked.insert(key.clone(), version.clone());
                continue;
            }
            let happened = lacking.into_iter().filter(|fact| fact.at <= now);
            due.entry(namespace.to_owned()).or_default().extend(happened);
        }
        for (namespace, chain) in &self.chains {
            let is_gone = |subject: &Subject| is_gone(cluster, &is_settled, subject);
            let facts = due.entry(namespace.clone()).or_default();
            facts.extend(chain.gone(is_gone, now));
            facts.extend(chain.carried(is_gone, now));
        }
        due.retain(|_, facts| !facts.is_empty());
        for facts in due.values_mut() {
            facts.sort_by_key(|fact| fact.at);
        }
        due
    }
}
