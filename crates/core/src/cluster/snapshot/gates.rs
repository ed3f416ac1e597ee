//! What does the gate of an object rest on, and what does it say? (GATE-1 to GATE-5, GATE-11)
//!
//! GATE-15: a freeze that selects the object shuts its gate, whatever lies below. Where it stops nodes that we roll out, the gate rests on
//! there being no other: they are listed again, because one that is not known yet has no name to be read by.
//!
//! OVR-2: an override that names the object, or what decides in its stead, opens it, where no freeze of the platform holds.
//!
//! CV-2: the master pool follows `ClusterVersion`. Wherever that was seen its stanza decides for the masters, whatever their pool has.

use std::sync::Arc;

use api::{
    kinds,
    machine::names::{ARBITER, MASTER},
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
        behavior, explain::Reason, freeze::Selects, overrides::SeenOverride, stanza::StanzaReading,
    },
    pool::{master, seen::SeenPool, update::SeenUpdate},
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
        match seen.plane().map(|plane| plane.of) {
            Some(Of::Stock) => gate.within(self.gates_on_updates(&key.name)),
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
        naming.into_iter().flatten().chain(masters).chain(derived)
    }

    /// The objects that the gate of an object rests on: the object, what decides in its stead, the policy that is asked, every freeze
    /// that may hold it, and every override that is known to name it: one that is not known opens nothing (GATE-11). What decides about
    /// masters is one of them even where it was not seen: it may have come since. A policy that is named and set aside (GATE-3) is none of
    /// them: who sets one aside that cannot be read does not wait for it.
    pub fn rests_on(&self, seen: &Seen) -> Vec<Key> {
        let Some(gated) = gated(seen) else { return Vec::new() };
        let version = gated.is_the_master_pool().then(control_plane);
        let own = gated.identity.key.clone();
        let decides = self.decides(gated);
        let policy = decides.policy().filter(|_| decides.stanza.asks_its_policy());
        let freezes = [
            Some(Key::all(&kinds::CLUSTER_CHANGE_FREEZE)),
            // What lives in a namespace its team may freeze too. Which namespaces the platform chooses by their labels the server judges
            // itself, when the write arrives.
            own.namespace.is_some().then(|| Key::all(&kinds::CHANGE_FREEZE)),
        ];
        let freezes = freezes.into_iter().flatten();
        let overrides = self.overrides_of(gated).map(|one| one.key.clone());
        // What the server holds by itself has to be open too; one that is not known yet has no name to be read by (CV-6).
        let is_stock = gated.plane().is_some_and(|plane| plane.of == Of::Stock);
        let beside = is_stock.then(|| Key::all(&kinds::CLUSTER_CHANGE_GATE));
        let all = [own].into_iter().chain(version).chain(policy).chain(freezes).chain(beside);
        all.chain(overrides).collect()
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
        let stanza = |reading: &StanzaReading| match reading {
            StanzaReading::Absent => Some(Value::Null),
            StanzaReading::Usable(stanza) => Some(json!(stanza)),
            StanzaReading::Unusable(_) => None,
        };
        let wanted = json!({"spec": {"changeManagement": stanza(&version.stanza.reading)?}});
        // One that cannot be read is as different as can be.
        let found = stanza(&seen.stanza.reading).unwrap_or(Value::Bool(false));
        let found = json!({
            "metadata": {"resourceVersion": pool.resource_version},
            "spec": {"changeManagement": found},
        });
        let operations = master::follow(&wanted, &found)?;
        Some(Action::upkeep(seen.identity.key.clone(), Write::JsonPatch(operations)))
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
        gate::explain::explain(&seen.identity.key, &self.gate(seen), at)
    }

    /// The state of an object at an instant and the one after it; with when it took effect, if a controller has recorded that.
    pub fn behavior(&self, seen: &SeenGated, at: Instant) -> Behavior {
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
