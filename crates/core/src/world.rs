//! What does a cluster look like to somebody who asks? Every policy and every gated resource that was seen, in order, with the gate of
//! each.

use std::{collections::BTreeMap, sync::Arc};

use api::{
    policy::{Behavior, Strategy},
    schema::{GATED, Kind, Role},
};
use schedule::{Instant, TimeSet};
use serde_json::{Value, json};

use crate::{
    behavior::{Before, computed, recorded},
    decide,
    explain::{self, Reason},
    gate::{Gate, gate},
    key::Key,
    seen::{Seen, SeenGated, SeenPolicy},
};

/// Everything that was seen.
#[derive(Clone, Debug, Default)]
pub struct World {
    policies: BTreeMap<Key, Arc<SeenPolicy>>,
    gated: BTreeMap<Key, Arc<SeenGated>>,
}

impl World {
    /// Takes in an object as a cluster has it.
    pub fn add(&mut self, kind: &'static Kind, document: &Value) {
        match Seen::new(kind, document) {
            Seen::Policy(policy) => {
                drop(self.policies.insert(policy.identity.key.clone(), policy));
            }
            Seen::Gated(gated) => drop(self.gated.insert(gated.identity.key.clone(), gated)),
            Seen::Part(_) => {}
        }
    }

    /// Takes in an object as somebody wrote it down. A policy that no controller has seen yet counts as read: the question is what
    /// it will do, not whether it is installed.
    pub fn add_written(&mut self, kind: &'static Kind, document: &Value, now: Instant) {
        let mut document = document.clone();
        if kind.role == Role::Policy && document.get("status").is_none() {
            let plan = decide::policy(&SeenPolicy::new(kind, &document), now);
            let status = plan.status.and_then(|patch| patch.operations.last().cloned());
            let conditions = status.and_then(|status| status.pointer("/value/conditions").cloned());
            if let (Some(fields), Some(conditions)) = (document.as_object_mut(), conditions) {
                fields.insert("status".into(), json!({"conditions": conditions}));
            }
        }
        self.add(kind, &document);
    }

    /// Every policy, in order.
    pub fn policies(&self) -> impl Iterator<Item = &Arc<SeenPolicy>> {
        self.policies.values()
    }

    /// Every gated resource, in the order of the kinds and then of names.
    pub fn gated(&self) -> impl Iterator<Item = &Arc<SeenGated>> {
        GATED
            .iter()
            .flat_map(|kind| self.gated.values().filter(move |seen| seen.kind.id == kind.id))
    }

    /// The gate of a resource.
    pub fn gate(&self, seen: &SeenGated) -> Gate {
        let policy = seen.policy().and_then(|named| self.policies.get(&named));
        gate(seen, policy)
    }

    /// A policy, by what it is called.
    pub fn policy(&self, key: &Key) -> Option<&Arc<SeenPolicy>> {
        self.policies.get(key)
    }

    /// A gated resource, by what it is called.
    pub fn resource(&self, key: &Key) -> Option<&Arc<SeenGated>> {
        self.gated.get(key)
    }

    /// Why a resource may change at an instant, or why not (GATE-9).
    pub fn explain(&self, seen: &SeenGated, at: Instant) -> Reason {
        explain::gate::explain(seen, &self.gate(seen), at)
    }

    /// The state of a resource at an instant and the one after it; with when it took effect, if a controller has recorded that.
    pub fn behavior(&self, seen: &SeenGated, at: Instant) -> Behavior {
        let gate = self.gate(seen);
        let reason = |at| explain::gate::sentence(seen, &gate, at);
        let strategy = gate.strategy(at);
        as_recorded(gate.set(), &reason, seen.behavior.as_ref(), strategy, at)
    }
}

/// What a status says at an instant; what the set says where no controller has written one yet.
pub(crate) fn as_recorded(
    set: &TimeSet,
    reason: &dyn Fn(Instant) -> String,
    known: Option<&Behavior>,
    strategy: Strategy,
    at: Instant,
) -> Behavior {
    match known {
        None => computed(set, reason, at),
        Some(_) => recorded(set, reason, Before { behavior: known, strategy, changed: None }, at),
    }
}

#[cfg(test)]
mod tests {
    use api::kinds;

    use super::*;

    #[test]
    fn a_policy_that_was_only_written_down_counts_as_read() {
        let policy = json!({"apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
            "metadata": {"name": "p"}, "spec": {"strategy": "Permissive"}});
        let pool = json!({"metadata": {"name": "worker"},
            "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "p"}}}});
        let now = Instant::parse("2026-11-15T00:00:00Z").unwrap();
        let gate = |world: &World| world.gate(world.gated().next().unwrap()).set().is_always();
        let mut world = World::default();
        world.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, now);
        world.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, now);
        assert!(gate(&world));
        // In a cluster it is a controller that says so (POL-6).
        world.add(&kinds::CHANGE_MANAGEMENT_POLICY, &policy);
        assert!(!gate(&world));
    }
}
