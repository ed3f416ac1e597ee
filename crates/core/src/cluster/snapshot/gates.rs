//! What does the gate of an object rest on, and what does it say? (GATE-1 to GATE-5, GATE-11)
//!
//! GATE-15: a freeze that selects the object shuts its gate, whatever lies below. Where it stops nodes that we roll out, the gate rests on
//! there being no other: they are listed again, because one that is not known yet has no name to be read by.
//!
//! OVR-2: an override that names the object, or what decides in its stead, opens it, where no freeze of the platform holds.
//!
//! CV-2: the master pool follows `ClusterVersion`. Wherever that was seen its stanza decides for the masters, whatever their pool has; on a stock
//! cluster so do the gates that hold its updates.

use std::sync::Arc;

use api::{
    kinds,
    machine::names::{ARBITER, ASSISTED_UPDATE, MASTER},
    names,
    policy::Behavior,
    reach::Mode,
};
use schedule::{Instant, TimeSet};
use serde_json::{Value, json};

use super::{Snapshot, gated};
use crate::{
    cluster::seen::{Seen, SeenGated},
    document::key::Key,
    gate::{
        self, Gate, TeamFreezes,
        action::{Action, Write},
        change::ChangeId,
        pending::Waiting,
    },
    policy::{
        behavior,
        explain::Reason,
        freeze::Selects,
        overrides::SeenOverride,
        stanza::{SPELLINGS, SeenStanza, StanzaReading},
        version::ASSISTED,
    },
    pool::{
        master,
        seen::{SeenNode, SeenPool},
        update::SeenUpdate,
    },
    reach::{
        held::{Place, Target, held_by},
        rooms,
        selector::Labels,
    },
    release::of::Of,
};

impl Snapshot {
    /// The gate of an object: of its stanza, and of the freezes that select it (GATE-15), for what it would change to now.
    pub fn gate(&self, seen: &SeenGated) -> Gate {
        self.gate_for(seen, wanted(seen).as_ref())
    }

    /// The gate of an object for one change, whether anybody wants that or not: an override may be for another alone (OVR-2).
    pub fn gate_for(&self, seen: &SeenGated, change: Option<&ChangeId>) -> Gate {
        let decides = self.decides(seen);
        let gate =
            gate::gate(&decides.stanza, decides.policy().and_then(|named| self.policy(&named)));
        let gate = match self.cluster_of(decides) {
            Some(cluster) => {
                let constraint = self.gate_of_cluster(cluster, change);
                gate.constrained_by(cluster.identity.key.clone(), constraint)
            }
            None => gate,
        };
        let key = &seen.identity.key;
        let labels = key.namespace.as_deref().and_then(|namespace| self.namespace(namespace));
        // What holds the source of a derived gate holds what that stands for, and no server reads it there.
        let is_derived = seen.gate.as_deref().is_some_and(|gate| gate.derived.is_some());
        let source = &decides.identity.key;
        let of_source = source.namespace.as_deref().and_then(|namespace| self.namespace(namespace));
        let selecting = self.freezes().filter_map(|freeze| {
            let mut selects = freeze.selects(key, seen.gate.as_deref(), labels);
            if is_derived {
                selects = selects.max(freeze.selects(source, None, of_source));
            }
            (selects != Selects::No).then(|| (Arc::clone(freeze), selects))
        });
        // GRD-3: what nobody has approved opens nothing where that is demanded.
        let named = self.overrides_of(seen).filter(|one| self.kept_shut(one).is_none());
        let named = named.cloned().collect();
        let kept = seen.gate.is_some() && !is_derived;
        let server_keeps = if kept { TeamFreezes::Kept } else { TeamFreezes::Passed };
        let gate = gate.opened(named, change, server_keeps);
        let gate = gate.frozen(selecting.collect(), key.namespace.as_deref());
        // Several freezes may hold all of what a gate holds, each a part of it.
        let rooms = seen.gate.as_deref().filter(|gate| !is_derived && gate.holds.len() > 1);
        let gate = match rooms {
            Some(known) => {
                let parts = self.freezes().filter_map(|freeze| {
                    let (selects, rooms) = freeze.rooms_of(key, known, labels);
                    let is_part = !rooms.is_empty() && rooms.len() < known.holds.len();
                    (is_part && selects != Selects::No)
                        .then(|| (Arc::clone(freeze), selects, rooms))
                });
                let parts = parts.collect();
                gate.frozen_in_part(&known.holds, parts, key.namespace.as_deref())
            }
            None => gate,
        };
        // CV-2: what holds updates of a stock control plane holds its nodes.
        match decides.plane().map(|plane| plane.of) {
            Some(Of::Stock) => gate.within(self.gates_on_updates(&source.name)),
            Some(Of::Cluster | Of::Hosted) | None => gate,
        }
    }

    /// The gates that hold the first write of an update of a stock control plane, each with its windows as the API server reads them (CV-6). Where
    /// nobody can tell whether one selects it, it does.
    fn gates_on_updates(&self, name: &str) -> Vec<(Key, Option<TimeSet>)> {
        let none = Labels::new();
        let target = Target { room: rooms::UPDATES, name, labels: &none };
        let place = Place { namespace: "", labels: None, home: None };
        let gates = self.of_kind(&kinds::CLUSTER_CHANGE_GATE).filter_map(|(_, seen)| gated(seen));
        let holding = gates.filter(|gate| {
            gate.gate.as_deref().is_some_and(|known| {
                matches!(known.mode, Mode::Enforce | Mode::Unknown)
                    && held_by(known, None, &target, &place).0 != Selects::No
            })
        });
        holding.map(|gate| (gate.identity.key.clone(), gate.windows_of_the_server())).collect()
    }

    /// The gates that hold updates of a stock control plane and are shut at an instant.
    pub fn shut_on_updates(&self, at: Instant) -> Vec<Key> {
        let holding = self.gates_on_updates(names::THE_CLUSTER).into_iter();
        let is_shut =
            |windows: &Option<TimeSet>| windows.as_ref().is_none_or(|set| !set.contains(at));
        holding.filter(|(_, windows)| is_shut(windows)).map(|(gate, _)| gate).collect()
    }

    /// The cluster within whose windows a pool lies: where one of the two spells its stanza as the design does that says so (D4-1).
    pub(super) fn cluster_of<'a>(&'a self, pool: &'a SeenGated) -> Option<&'a SeenGated> {
        let cluster = self.cluster_of_pool(pool)?;
        let says_so = cluster.stanza.is_version_managed()
            || pool.stanza.is_version_managed() && cluster.stanza.reading != StanzaReading::Absent;
        says_so.then_some(cluster)
    }

    /// The pools that lie within the windows of a cluster.
    fn within<'a>(&'a self, cluster: &'a Key) -> impl Iterator<Item = &'a Key> {
        let kind = match cluster.kind() {
            kind if *kind == kinds::CLUSTER_VERSION => Some(&kinds::MACHINE_CONFIG_POOL),
            kind if *kind == kinds::HOSTED_CLUSTER => Some(&kinds::NODE_POOL),
            _ => None,
        };
        let pools = kind.into_iter().flat_map(|kind| self.of_kind(kind));
        let pools = pools.filter(move |(_, seen)| {
            let found = gated(seen).and_then(|pool| self.cluster_of(pool));
            found.is_some_and(|found| found.identity.key == *cluster)
        });
        pools.map(|(key, _)| key)
    }

    /// The cluster that a pool belongs to, whoever says when it may change. The pool of the masters follows it, and is no other's (CV-2).
    fn cluster_of_pool<'a>(&'a self, pool: &'a SeenGated) -> Option<&'a SeenGated> {
        if pool.pool.is_some() && !pool.is_the_master_pool() {
            return self.control_plane().map(|version| &**version);
        }
        self.host_of(pool)
    }

    /// What a cluster says of a change of one of its pools: its stanza, and what opens it for that change. An override for a release alone opens
    /// nothing for the pools (OVR-2).
    fn gate_of_cluster(&self, cluster: &SeenGated, change: Option<&ChangeId>) -> Gate {
        let policy = cluster.policy().and_then(|named| self.policy(&named));
        let gate = gate::gate(&cluster.stanza, policy);
        let named = self.overrides_of(cluster).filter(|one| self.kept_shut(one).is_none());
        gate.opened(named.cloned().collect(), change, TeamFreezes::Passed)
    }

    /// Whether anything says when an object may change: its stanza, or its cluster's.
    pub fn is_gated(&self, seen: &SeenGated) -> bool {
        seen.stanza.reading != StanzaReading::Absent || self.cluster_of(seen).is_some()
    }

    /// Every override that names the object whose stanza decides about an object (OVR-2, CV-2).
    fn overrides_of<'a>(
        &'a self,
        seen: &'a SeenGated,
    ) -> impl Iterator<Item = &'a Arc<SeenOverride>> {
        let key = &self.decides(seen).identity.key;
        self.overrides().filter(move |one| one.target.as_ref() == Some(key))
    }

    /// The object whose stanza decides about an object (CV-2): nearly always itself.
    pub fn decides<'a>(&'a self, seen: &'a SeenGated) -> &'a SeenGated {
        // RCH-8: a derived gate goes by what it was derived from.
        if let Some(source) = seen.gate.as_deref().and_then(|gate| gate.derived.as_ref()) {
            return self.resource(source).map_or(seen, |source| &**source);
        }
        if !seen.is_the_master_pool() {
            return seen;
        }
        self.control_plane().map_or(seen, |version| &**version)
    }

    /// The policy that the gate of an object names, whether it exists or not.
    pub fn policy_of(&self, seen: &Seen) -> Option<Key> {
        self.decides(gated(seen)?).policy()
    }

    /// Those whose gate names a policy, whether it exists or not: with `ClusterVersion` also the master pool (CV-2).
    pub fn naming(&self, policy: &Key) -> impl Iterator<Item = &Key> {
        let naming = self.naming.get(policy);
        let version = naming.is_some_and(|naming| naming.contains(&control_plane()));
        let masters = version.then(|| Key::new(&kinds::MACHINE_CONFIG_POOL, None, MASTER));
        let masters = masters.and_then(|masters| Some(self.seen.get_key_value(&masters)?.0));
        let masters = masters.filter(|masters| naming.is_some_and(|own| !own.contains(masters)));
        let derived = naming.into_iter().flatten().flat_map(|source| self.derived_from(source));
        let within = naming.into_iter().flatten().flat_map(|source| self.within(source));
        let within = within.filter(move |pool| !naming.is_some_and(|own| own.contains(*pool)));
        naming.into_iter().flatten().chain(masters).chain(derived).chain(within)
    }

    /// The objects that the gate of an object rests on: the object, what decides in its stead, the policy that is asked, every freeze
    /// that may hold it, and every override that is known to name it: one that is not known opens nothing (GATE-11). What decides about
    /// masters is one of them even where it was not seen: it may have come since. A policy that is named and set aside (GATE-3) is none of
    /// them: who sets one aside that cannot be read does not wait for it.
    pub fn rests_on(&self, seen: &Seen) -> Vec<Key> {
        let Some(gated) = gated(seen) else { return Vec::new() };
        let decides = self.decides(gated);
        // One that was not seen may have come since, and may say when its pools may change (CV-2, D4-1).
        let version = gated.pool.is_some().then(control_plane);
        let cluster = self.cluster_of(decides);
        let host = self.host_of(decides).map(|host| host.identity.key.clone());
        let own = gated.identity.key.clone();
        let policies = [Some(decides), cluster].into_iter().flatten();
        let policies = policies.filter(|one| one.stanza.asks_its_policy());
        let policies: Vec<Key> = policies.filter_map(SeenGated::policy).collect();
        let freezes = [
            Some(Key::all(&kinds::CLUSTER_CHANGE_FREEZE)),
            // What lives in a namespace its team may freeze too. Which namespaces the platform chooses by their labels the server judges
            // itself, when the write arrives.
            own.namespace.is_some().then(|| Key::all(&kinds::CHANGE_FREEZE)),
        ];
        let freezes = freezes.into_iter().flatten();
        let overrides = self.overrides_of(gated).map(|one| one.key.clone());
        let above = cluster.into_iter().flat_map(|cluster| self.overrides_of(cluster));
        let overrides = overrides.chain(above.map(|one| one.key.clone()));
        // What the server holds by itself has to be open too; one that is not known yet has no name to be read by (CV-6).
        let is_stock = gated.plane().is_some_and(|plane| plane.of == Of::Stock);
        let beside = is_stock.then(|| Key::all(&kinds::CLUSTER_CHANGE_GATE));
        let all = [own].into_iter().chain(version).chain(host).chain(policies);
        all.chain(freezes).chain(beside).chain(overrides).collect()
    }

    /// What the control plane says, if it was seen.
    pub fn control_plane(&self) -> Option<&Arc<SeenGated>> {
        self.resource(&control_plane())
    }

    /// The update of the control plane that is in flight, or was recorded as such (CV-1, GATE-10).
    pub fn control_plane_update(&self) -> Option<&SeenUpdate> {
        self.control_plane()?.update.as_deref()
    }

    /// The change that gives the master pool the stanza of `ClusterVersion` (CV-2); none if it has it, if the object is no master pool,
    /// or if nobody can read what it should follow.
    pub fn follow(&self, seen: &SeenGated) -> Option<Action> {
        let pool = seen.pool.as_deref().filter(|_| seen.is_the_master_pool())?;
        let version = self.control_plane()?;
        if matches!(version.stanza.reading, StanzaReading::Unusable(_)) {
            return None;
        }
        let said = |stanza: &SeenStanza| {
            let each = SPELLINGS.map(|field| (field.to_owned(), stanza.written(field)));
            Value::Object(each.into_iter().collect())
        };
        let wanted = json!({"spec": said(&version.stanza)});
        let found = json!({
            "metadata": {"resourceVersion": pool.resource_version},
            "spec": said(&seen.stanza),
        });
        let operations = master::follow(&wanted, &found)?;
        Some(Action::upkeep(seen.identity.key.clone(), Write::JsonPatch(operations)))
    }

    /// The pause that comes back when every node of an assisted update has arrived, and the mark of it that goes (D4-4).
    pub fn paused_again(&self, seen: &SeenGated) -> Option<Action> {
        let pool = seen.pool.as_deref().filter(|pool| pool.is_assisted)?;
        let target = self.target(pool)?;
        let arrived =
            |node: &&SeenNode| node.is_done() && node.current == target && node.desired == target;
        let members = self.members(&pool.name);
        if members.is_empty() || !members.iter().all(arrived) {
            return None;
        }
        let mut change = json!({"metadata": {
            "resourceVersion": pool.resource_version,
            "annotations": {ASSISTED_UPDATE: null},
        }});
        // Whoever went on to another spelling, or away from all of them, has nothing left to pause.
        if seen.stanza.there.contains(&"versionManagement") {
            change["spec"] = json!({"versionManagement": {"pausedUntil": ASSISTED}});
        }
        Some(Action::upkeep(seen.identity.key.clone(), Write::MergePatch(change)))
    }

    /// The pool that must settle before a pool begins a node: voters of two kinds are never away together.
    pub fn waits_for(&self, pool: &SeenPool) -> Option<&'static str> {
        if ![MASTER, ARBITER].contains(&pool.name.as_str()) {
            return None;
        }
        let target = self.pool(MASTER).and_then(SeenPool::goal);
        master::waits_for(&pool.name, &self.members(MASTER), &self.members(ARBITER), target)
    }

    /// Why an object may change at an instant, or why not (GATE-9).
    pub fn explain(&self, seen: &SeenGated, at: Instant) -> Reason {
        if let Some(projected) = seen.projected.as_deref() {
            return projected.explain(seen.identity.key.object(), at);
        }
        gate::explain::explain(&seen.identity.key, &self.gate(seen), at)
    }

    /// The state of an object at an instant and the one after it; with when it took effect, if a controller has recorded that.
    pub fn behavior(&self, seen: &SeenGated, at: Instant) -> Behavior {
        if let Some(projected) = seen.projected.as_deref() {
            return projected.behavior();
        }
        let gate = self.gate(seen);
        let reason = |at| gate::explain::sentence(&gate, at);
        behavior::as_recorded(gate.set(), &reason, seen.behavior.as_ref(), gate.strategy(at), at)
    }
}

/// What an object would change to, where one change can be told from others: an override may be for one alone.
fn wanted(seen: &SeenGated) -> Option<ChangeId> {
    if let Some(pool) = seen.pool.as_deref() {
        return pool.goal().map(ChangeId::rendered);
    }
    seen.pending.waiting.iter().find_map(|waiting| match waiting {
        Waiting::Release { to, .. } => Some(ChangeId::release(to)),
        Waiting::Machines { .. }
        | Waiting::Pinned { .. }
        | Waiting::Hosted { .. }
        | Waiting::Reached { .. } => None,
    })
}

/// What decides about the masters.
fn control_plane() -> Key {
    Key::new(&kinds::CLUSTER_VERSION, None, names::THE_CLUSTER)
}
