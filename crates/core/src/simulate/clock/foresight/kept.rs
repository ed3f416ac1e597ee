//! Does what was foreseen still hold? A forecast costs more than a decision, so whoever tells of it keeps it (CV-3, POL-7).
//!
//! It is made anew when something that it rests on has changed, and when a gate opens or shuts: what windows are left is another question
//! then. How far single nodes are is left out on purpose: a rollout would ask anew with each of them, and what a release brings to a
//! node shows in its kubelet.

use std::ops::Range;

use api::kinds;
use schedule::Instant;

use super::{foresee, sentence};
use crate::{
    cluster::{
        seen::{Seen, SeenGated},
        snapshot::Snapshot,
    },
    document::key::Key,
    policy::stanza::Form,
    pool::{
        capacity::Limit,
        seen::{Pause, Pin},
    },
    release::wish::Checks,
    simulate::{Settings, path},
    skew::{Ahead, Foreseen, Foresight},
};

/// How far ahead is looked, in seconds: a year, as `simulate` and `validate` do.
const A_YEAR: i64 = 365 * 86_400;

/// What was foreseen, and what that rests on.
#[derive(Clone, Debug)]
pub struct Kept {
    rests_on: Inputs,
    during: Range<Instant>,
    answer: Foresight,
}

/// Everything that the answer follows from, but for the instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Inputs {
    /// The release that the control plane has and the one that is wished for; none if nothing waits that kubelets could be too old for.
    hop: Option<(String, String)>,
    /// Policies, freezes and overrides, each with its generation and whether it counts.
    layers: Vec<(Key, i64, bool)>,
    /// What people say of the control plane and of each pool.
    stanzas: Vec<Stanza>,
    /// Each node with its pool and its kubelet.
    nodes: Vec<(String, String, String)>,
}

/// What people say of the control plane or of a pool, and what the pool is to get.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stanza {
    object: Key,
    form: Form,
    policy: Option<Key>,
    pool: Option<Course>,
}

/// What decides when a pool goes where: whether people stopped it, what they pinned, how many may go at once, and what it is to get.
type Course = (Pause, Option<Pin>, Option<Limit>, Option<String>);

impl Kept {
    /// Makes a forecast of the update that waits.
    pub fn new(cluster: &Snapshot, now: Instant) -> Self {
        let rests_on = Inputs::of(cluster);
        let answer = rests_on.hop.as_ref().and_then(|_| blocked(cluster, now));
        let asked = cluster.gated().filter(|gated| rests_on.hop.is_some() && is_asked(gated));
        let until = asked.filter_map(|gated| cluster.gate(gated).set().next_change(now)).min();
        let found = answer.map_or(Foreseen::Clear, Foreseen::Blocked);
        let during = now..until.unwrap_or(Instant::MAX);
        Self { rests_on, during, answer: Foresight { found, until } }
    }

    /// Whether it still holds.
    pub fn holds(&self, cluster: &Snapshot, now: Instant) -> bool {
        let rests_on = Inputs::of(cluster);
        // Without a wish nothing is foreseen at any time.
        rests_on == self.rests_on && (rests_on.hop.is_none() || self.during.contains(&now))
    }

    /// What it says.
    pub fn answer(&self) -> &Foresight {
        &self.answer
    }
}

/// What will stand in the way of the update that waits.
fn blocked(cluster: &Snapshot, now: Instant) -> Option<Ahead> {
    let updates = path::wished(cluster, now).into_iter().collect();
    let range = now..now.saturating_add(A_YEAR);
    let foreseen = foresee(cluster, &Settings { updates, ..Settings::usual(range) })?;
    let hop = foreseen.blocked()?;
    let told = hop.blocks.iter().map(|block| {
        let (detail, hint) = sentence(hop, block);
        format!("{detail} (hint: {hint})")
    });
    Some(Ahead { at: hop.due?, said: told.collect::<Vec<_>>().join("; ") })
}

/// Whether the gate of an object has a say in it.
fn is_asked(gated: &SeenGated) -> bool {
    gated.pool.is_some() || gated.update.is_some()
}

impl Inputs {
    fn of(cluster: &Snapshot) -> Self {
        let Some(hop) = hop(cluster) else { return Self::default() };
        let layers = cluster.all().filter_map(|(key, seen)| {
            let counts = match seen {
                Seen::Policy(policy) => policy.ready().is_ok(),
                Seen::Part(_) if is_layer(key) => true,
                Seen::Gated(_) | Seen::Part(_) => return None,
            };
            Some((key.clone(), seen.identity().generation, counts))
        });
        let layers = layers.collect();
        let stanzas = cluster.gated().filter(|gated| is_asked(gated)).map(|gated| {
            let gate = cluster.gate(gated);
            let pool = gated.pool.as_deref();
            Stanza {
                object: gated.identity.key.clone(),
                form: gate.form(),
                policy: gate.named().cloned(),
                pool: pool
                    .map(|pool| (pool.paused, pool.pin.clone(), pool.limit, pool.newest.clone())),
            }
        });
        let stanzas = stanzas.collect();
        let nodes = cluster.pools().flat_map(|pool| {
            let members = cluster.members(&pool.name).into_iter();
            members.map(|node| (pool.name.clone(), node.name.clone(), node.kubelet.clone()))
        });
        Self { hop: Some(hop), layers, stanzas, nodes: nodes.collect() }
    }
}

/// From which release to which, if a higher minor version waits and nobody set kubelets aside.
fn hop(cluster: &Snapshot) -> Option<(String, String)> {
    let version = cluster.control_plane()?;
    let wish = version.update.as_ref()?.plane.waiting();
    let wish = wish.filter(|wish| wish.checks == Checks::Count);
    let (from, to) = (path::current(cluster).ok()?, path::wished(cluster, Instant::EPOCH)?);
    (wish.is_some() && from.is_before(to.plane)).then(|| (from.minor(), to.name))
}

/// Whether it lies above the stanza of what belongs to the whole cluster.
fn is_layer(key: &Key) -> bool {
    [&kinds::CLUSTER_CHANGE_FREEZE, &kinds::CLUSTER_CHANGE_OVERRIDE].contains(&key.kind())
}
