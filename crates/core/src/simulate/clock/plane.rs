//! When does an update of the control plane start and end, and what follows for nodes? (CV-1)
//!
//! Its gate is asked once, when it starts. Then the release is applied, which takes its time; then it brings every pool another
//! configuration, and the update has ended when all masters have theirs. Workers follow in windows of their own. The next update starts
//! when the one before has ended and no pool is too far behind for it (CV-3).

use std::collections::VecDeque;

use api::machine::names::MASTER;
use schedule::Instant;

use super::block::{self, Block};
use crate::{
    cluster::snapshot::Snapshot,
    document::problem::Object,
    gate::{WhatIf, change::ChangeId},
    simulate::{
        Settings,
        chance::Chance,
        path::{self, Update},
        pool::{Brought, Offer, Pool},
    },
    skew,
};

/// What would happen to the control plane.
#[derive(Clone, Debug)]
pub struct Updates {
    /// The control plane.
    pub object: Object,
    /// What it is when the period begins.
    pub from: skew::Plane,
    /// Its updates, in order.
    pub hops: Vec<Hop>,
}

/// One update of the control plane.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The release, and from when on it is asked for.
    pub update: Update,
    /// When the gate was first open for it, and the update before it had ended; none if not within the period.
    pub due: Option<Instant>,
    /// The pools that were too far behind for it then.
    pub blocks: Vec<Block>,
    /// When it starts.
    pub started: Option<Instant>,
    /// When it has been applied, and nodes begin to follow.
    pub applied: Option<Instant>,
    /// When the masters have it too.
    pub finished: Option<Instant>,
}

/// The control plane under the virtual clock.
pub(in crate::simulate) struct Plane {
    object: Object,
    gate: WhatIf,
    from: skew::Plane,
    current: skew::Plane,
    over: Vec<Hop>,
    hops: VecDeque<Hop>,
    applied: Option<Instant>,
}

impl Plane {
    /// The control plane when the period begins; none if nothing is asked of it, or if nobody can tell which release it has.
    pub(in crate::simulate) fn new(cluster: &Snapshot, settings: &Settings) -> Option<Self> {
        let version = cluster.control_plane();
        let from = path::current(cluster).ok()?;
        if settings.updates.is_empty() {
            return None;
        }
        let hop = |update: &Update| Hop {
            update: update.clone(),
            due: None,
            blocks: Vec::new(),
            started: None,
            applied: None,
            finished: None,
        };
        Some(Self {
            // Elsewhere it is no object, and nobody holds it.
            object: version.map_or_else(elsewhere, |version| version.identity.key.object()),
            gate: version.map_or_else(WhatIf::open, |version| cluster.gate(version).suppose()),
            from,
            current: from,
            over: Vec::new(),
            hops: settings.updates.iter().map(hop).collect(),
            applied: None,
        })
    }

    /// What happens at an instant, once nodes that are back have been counted.
    pub(in crate::simulate) fn step(
        &mut self,
        pools: &mut [Pool<'_>],
        now: Instant,
        settings: &Settings,
    ) {
        loop {
            let place = self.over.len() + 1;
            let Some(hop) = self.hops.front_mut() else { return };
            let name = hop.update.name.as_str();
            if hop.started.is_none() {
                let gate = self.gate.clone().going_to(&ChangeId::release(name));
                let is_updating = pools.iter().any(Pool::is_updating);
                if hop.update.at > now || is_updating || gate.permit(now).is_err() {
                    return;
                }
                hop.due.get_or_insert(now);
                // A patch release finds nobody too far behind.
                let is_minor = self.current.is_before(hop.update.plane);
                if is_minor && pools.iter().any(|pool| pool.is_behind(hop.plane())) {
                    if hop.blocks.is_empty() {
                        hop.blocks = block::blocks(hop.plane(), pools, (now, settings));
                    }
                    return;
                }
                hop.started = Some(now);
                for pool in &mut *pools {
                    pool.begin_update(name, now);
                }
                let mut chance = Chance::of(settings.seed, &self.object.to_string(), name);
                let length = chance.around(settings.lengths.payload);
                self.applied = Some(now.saturating_add(length));
            }
            if hop.applied.is_none() {
                if self.applied.is_some_and(|at| at > now) {
                    return;
                }
                hop.applied = Some(now);
                let kubelet = Some(hop.update.plane.kubernetes());
                let brought = Brought { hop: place, kubelet, is_read: true };
                for pool in &mut *pools {
                    pool.take_release(Offer { at: now, name: name.to_owned(), brought });
                }
            }
            let mut masters = pools.iter().filter(|pool| pool.seen.name == MASTER);
            if !masters.all(|pool| pool.has_reached(place)) {
                return;
            }
            hop.finished = Some(now);
            self.current = hop.update.plane;
            self.applied = None;
            self.over.extend(self.hops.pop_front());
        }
    }

    /// The next instant after now at which something happens to it by itself.
    pub(in crate::simulate) fn next(&self, now: Instant) -> Option<Instant> {
        let hop = self.hops.front()?;
        if hop.started.is_some() {
            return self.applied.filter(|at| *at > now);
        }
        if hop.update.at > now {
            return Some(hop.update.at);
        }
        self.gate.set().next_change(now)
    }

    /// What came of it.
    pub(in crate::simulate) fn updates(self) -> Updates {
        let hops = self.over.into_iter().chain(self.hops).collect();
        Updates { object: self.object, from: self.from, hops }
    }
}

/// What the control plane is called where there is no `ClusterVersion`.
fn elsewhere() -> Object {
    Object { kind: "Kubernetes".into(), namespace: None, name: None }
}

impl Updates {
    /// The first update that pools stand in the way of, with each of them.
    pub fn blocked(&self) -> Option<&Hop> {
        self.hops.iter().find(|hop| !hop.blocks.is_empty())
    }
}

impl Hop {
    /// The control plane that it leads to, as nodes meet it.
    pub fn plane(&self) -> skew::Plane {
        self.update.plane
    }
}
