//! Which rendered configurations may be deleted, and why may the rest not? (POOL-9)
//!
//! Nothing that anything names: a pool's specification, status, choice, rollback record or ledger, or a machine's current, desired or
//! allowed configuration. Machines are looked at one by one, because a held pool has machines on configurations that no pool names.

use std::collections::BTreeMap;

use super::{
    seen::{SeenNode, SeenPool},
    source::Rendered,
};

/// What becomes of one rendered configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The rendered configuration.
    pub config: &'a str,
    /// Why it stays; it may be deleted if there is no reason.
    pub kept_by: Vec<Reason<'a>>,
}

impl Verdict<'_> {
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
    /// What all machines of this pool last had, `status.configuration`.
    Converged(&'a str),
    /// What somebody chose for this pool, `spec.machineConfig` (POOL-4).
    Pinned(&'a str),
    /// What a rollback of this pool restores (POOL-8).
    Previous(&'a str),
    /// What a machine of this pool's ledger was begun with.
    Begun(&'a str),
    /// So many machines run it.
    Current(usize),
    /// So many machines must go to it.
    Desired(usize),
    /// So many machines may go to it.
    Allowed(usize),
}

impl std::fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let machines = |count: &usize| if *count == 1 { "machine" } else { "machines" };
        match self {
            Self::Newest(pool) => write!(f, "it is the newest of MachineConfigPool/{pool}"),
            Self::Converged(pool) => {
                write!(f, "all machines of MachineConfigPool/{pool} last had it")
            }
            Self::Pinned(pool) => write!(f, "MachineConfigPool/{pool} spec.machineConfig names it"),
            Self::Previous(pool) => write!(f, "a rollback of MachineConfigPool/{pool} restores it"),
            Self::Begun(pool) => write!(f, "MachineConfigPool/{pool} has begun machines with it"),
            Self::Current(1) => f.write_str("1 machine runs it"),
            Self::Current(count) => write!(f, "{count} machines run it"),
            Self::Desired(count) => write!(f, "{count} {} must go to it", machines(count)),
            Self::Allowed(count) => write!(f, "{count} {} may go to it", machines(count)),
        }
    }
}

/// What may be deleted and what may not, by name. `pools` and `nodes` must be all there are: one that is left out protects nothing.
pub fn prune<'a>(
    rendered: impl IntoIterator<Item = &'a Rendered>,
    pools: &'a [SeenPool],
    nodes: &'a [SeenNode],
) -> Vec<Verdict<'a>> {
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
        for config in nodes.iter().filter_map(of) {
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
    let mut verdicts: Vec<Verdict<'_>> = rendered
        .into_iter()
        .map(|config| {
            let mut kept_by = reasons.get(config.name.as_str()).cloned().unwrap_or_default();
            kept_by.sort_unstable();
            kept_by.dedup();
            Verdict { config: &config.name, kept_by }
        })
        .collect();
    verdicts.sort_unstable_by_key(|verdict| verdict.config);
    verdicts
}
