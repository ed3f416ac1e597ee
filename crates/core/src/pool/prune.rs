//! Which rendered configurations may be deleted, and why may the rest not? (POOL-9)
//!
//! Nothing that anything names: a pool's specification, status, choice, rollback record or ledger, or a node's current, desired or
//! allowed configuration. Nodes are looked at one by one, because a held pool has nodes on configurations that no pool names.
//!
//! Nor what the record of an update may still need (GATE-10). It names sources and not configurations: if a person edits one of them
//! meanwhile, an older configuration is the only one that has what the release brings without that edit, and nothing else names it.

use std::collections::BTreeMap;

use api::machine::names::MASTER;

use super::{
    render::chosen,
    seen::{SeenNode, SeenPool},
    source::{Rendered, Source},
    update::{Covering, Record, SeenUpdate},
};

/// What configurations may be needed by. It must be all there is: what is left out protects nothing.
#[derive(Clone, Debug)]
pub struct Needs<'a> {
    /// Every pool.
    pub pools: Vec<&'a SeenPool>,
    /// Every node.
    pub nodes: Vec<&'a SeenNode>,
    /// Every source.
    pub sources: Vec<&'a Source>,
    /// The update of the control plane; none where nobody updates one.
    pub update: Option<&'a SeenUpdate>,
}

/// What becomes of one rendered configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate<'a> {
    /// The rendered configuration.
    pub config: &'a str,
    /// Why it stays; it may be deleted if there is no reason.
    pub kept_by: Vec<Reason<'a>>,
}

impl Fate<'_> {
    /// Whether it may be deleted.
    pub fn may_be_deleted(&self) -> bool {
        self.kept_by.is_empty()
    }
}

/// What names a rendered configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason<'a> {
    /// The newest of this pool, `spec.configuration`.
    Newest(&'a str),
    /// What all nodes of this pool last had, `status.configuration`.
    Converged(&'a str),
    /// What somebody chose for this pool, `spec.machineConfig` (POOL-4).
    Pinned(&'a str),
    /// What a rollback of this pool restores (POOL-8).
    Previous(&'a str),
    /// What a node of this pool's ledger was begun with.
    Begun(&'a str),
    /// So many nodes run it.
    Current(usize),
    /// So many nodes must go to it.
    Desired(usize),
    /// So many nodes may go to it.
    Allowed(usize),
    /// The update of the control plane to this release has begun, and masters may go to it with that (GATE-10).
    Covered(&'a str),
    /// Nobody can read what the update of the control plane needs.
    Unreadable,
}

impl std::fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let machines = |count: &usize| if *count == 1 { "node" } else { "nodes" };
        match self {
            Self::Newest(pool) => write!(f, "it is the newest of MachineConfigPool/{pool}"),
            Self::Converged(pool) => {
                write!(f, "all nodes of MachineConfigPool/{pool} last had it")
            }
            Self::Pinned(pool) => write!(f, "MachineConfigPool/{pool} spec.machineConfig names it"),
            Self::Previous(pool) => write!(f, "a rollback of MachineConfigPool/{pool} restores it"),
            Self::Begun(pool) => write!(f, "MachineConfigPool/{pool} has begun nodes with it"),
            Self::Current(1) => f.write_str("1 node runs it"),
            Self::Current(count) => write!(f, "{count} nodes run it"),
            Self::Desired(count) => write!(f, "{count} {} must go to it", machines(count)),
            Self::Allowed(count) => write!(f, "{count} {} may go to it", machines(count)),
            Self::Covered(release) => {
                write!(f, "the update to {release} has begun, and masters may go to it")
            }
            Self::Unreadable => f.write_str(
                "the record of an update on ClusterVersion cannot be read, and may need it",
            ),
        }
    }
}

/// What may be deleted and what may not, by name.
pub fn prune<'a>(rendered: &[&'a Rendered], needs: &Needs<'a>) -> Vec<Fate<'a>> {
    let Needs { pools, nodes, .. } = needs;
    let mut reasons: BTreeMap<&str, Vec<Reason<'_>>> = BTreeMap::new();
    let mut keep = |config: &'a str, reason| reasons.entry(config).or_default().push(reason);
    for pool in pools {
        let name = pool.name.as_str();
        let named = [
            (pool.newest.as_deref(), Reason::Newest(name)),
            (pool.converged.as_deref(), Reason::Converged(name)),
            (pool.pin.as_ref().map(|pin| pin.name.as_str()), Reason::Pinned(name)),
            (pool.previous.as_deref(), Reason::Previous(name)),
        ];
        for (config, reason) in named {
            if let Some(config) = config {
                keep(config, reason);
            }
        }
        for (_, entry) in pool.ledger.iter() {
            keep(&entry.config, Reason::Begun(name));
        }
        if let Some(change) = pool.ledger.change() {
            keep(&change.config, Reason::Begun(name));
        }
    }
    let count = |of: fn(&'a SeenNode) -> Option<&'a str>| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for config in nodes.iter().copied().filter_map(of) {
            *counts.entry(config).or_default() += 1;
        }
        counts
    };
    for (config, machines) in count(|node| Some(&node.current)) {
        keep(config, Reason::Current(machines));
    }
    for (config, machines) in count(|node| Some(&node.desired)) {
        keep(config, Reason::Desired(machines));
    }
    for (config, machines) in count(|node| node.allowed.as_deref()) {
        keep(config, Reason::Allowed(machines));
    }
    for (config, reason) in updated(rendered, needs) {
        keep(config, reason);
    }
    let mut verdicts: Vec<Fate<'a>> = rendered
        .iter()
        .map(|config| {
            let mut kept_by = reasons.get(config.name.as_str()).cloned().unwrap_or_default();
            kept_by.sort_unstable();
            kept_by.dedup();
            Fate { config: &config.name, kept_by }
        })
        .collect();
    verdicts.sort_unstable_by_key(|verdict| verdict.config);
    verdicts
}

/// What the update of the control plane may still need, of the masters' configurations. One that was seen and is not recorded yet is judged
/// as if it were: whoever records it may be away.
fn updated<'a>(rendered: &[&'a Rendered], needs: &Needs<'a>) -> Vec<(&'a str, Reason<'a>)> {
    let Needs { pools, nodes, sources, update } = needs;
    let masters = pools.iter().copied().find(|pool| pool.name == MASTER);
    let Some((update, pool)) = update.zip(masters) else { return Vec::new() };
    let own = rendered.iter().copied().filter(|config| config.pool == MASTER);
    if update.problem.is_some() {
        return own.map(|config| (config.name.as_str(), Reason::Unreadable)).collect();
    }
    let sources = chosen(pool, sources.iter().copied());
    let seen = update.release.as_deref();
    let recorded =
        update.record.as_ref().filter(|record| seen.is_none_or(|it| it == record.release));
    let anew = seen.map(|release| Record::of(release, update.started, &sources));
    let Some(record) = recorded.or(anew.as_ref()) else { return Vec::new() };
    let Some(covering) = Covering::new(record, &sources) else { return Vec::new() };
    let release = seen.or(update.record.as_ref().map(|record| record.release.as_str()));
    let release = release.unwrap_or_default();
    let had = |name: &str| rendered.iter().copied().find(|config| config.name == name);
    let has: Vec<Option<&Rendered>> =
        nodes.iter().map(|node| had(&node.desired)).chain([None]).collect();
    own.filter(|config| has.iter().any(|had| covering.covers(config, *had)))
        .map(|config| (config.name.as_str(), Reason::Covered(release)))
        .collect()
}
