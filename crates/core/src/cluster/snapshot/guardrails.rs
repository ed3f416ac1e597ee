//! Which guardrails does an object not meet? (GRD-1, GRD-6)

use std::{collections::BTreeSet, sync::Arc};

use api::{kinds, schema::kind_named};
use schedule::{Instant, TimeSet};

use super::Snapshot;
use crate::{
    cluster::seen::Seen,
    document::{key::Key, problem::Object},
    policy::{
        freeze::{Labels, Selects},
        guardrail::{Breach, Judged, SeenGuardrail, judged_from},
        overrides::SeenOverride,
        read::Policy,
        seen::SeenPolicy,
    },
};

/// What the guardrails say of a policy.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// How many select it.
    pub selecting: usize,
    /// What it does not meet, with when the guardrail was created.
    pub breaches: Vec<(Breach, Option<Instant>)>,
}

impl Snapshot {
    /// Every guardrail, by name.
    pub fn guardrails(&self) -> impl Iterator<Item = &Arc<SeenGuardrail>> {
        let all = self.of_kind(&kinds::CHANGE_GUARDRAIL);
        all.filter_map(|(_, seen)| match seen {
            Seen::Part(part) => part.guardrail(),
            Seen::Policy(_) | Seen::Gated(_) => None,
        })
    }

    /// What the guardrails say of a policy. One that cannot be used says nothing that could be judged.
    pub fn judge_policy(&self, policy: &SeenPolicy, now: Instant) -> Judgement {
        let Some(usable) = &policy.judged.policy else { return Judgement::default() };
        // Nearly nobody has one, and every policy is asked at every edge.
        if self.guardrails().next().is_none() {
            return Judgement::default();
        }
        let key = &policy.identity.key;
        let labels = self.labels_of(key);
        let from = judged_from(&usable.lowered.set, policy.identity.changed, now);
        let judged = Judged { key, lowered: &usable.lowered, labels, from };
        let within = |name: &str| self.windows_of(name);
        let mut judgement = Judgement::default();
        for guardrail in self.guardrails() {
            if guardrail.selects(key, labels) == Selects::No {
                continue;
            }
            judgement.selecting += 1;
            let breaches = guardrail.judge(judged, &within);
            judgement.breaches.extend(breaches.into_iter().map(|one| (one, guardrail.created)));
        }
        judgement
    }

    /// What the guardrails say of a policy as somebody wrote it down, for all time from an instant on.
    pub fn judge_written(&self, policy: &Policy, from: Instant) -> Vec<Breach> {
        let Object { kind, namespace, name } = &policy.object;
        let Some(kind) = kind_named(kind) else { return Vec::new() };
        let key = Key::new(kind, namespace.as_deref(), name.as_deref().unwrap_or_default());
        let judged =
            Judged { key: &key, lowered: &policy.lowered, labels: self.labels_of(&key), from };
        let within = |name: &str| self.windows_of(name);
        self.guardrails().flat_map(|guardrail| guardrail.judge(judged, &within)).collect()
    }

    /// When a policy of the cluster permits changes, if it can be used.
    pub fn windows_of(&self, name: &str) -> Option<TimeSet> {
        let policy = self.policy(&Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, name))?;
        policy.judged.policy.as_ref().map(|policy| policy.lowered.set.clone())
    }

    /// The guardrail that keeps an override shut until somebody approves it.
    pub fn kept_shut(&self, overriding: &SeenOverride) -> Option<&Arc<SeenGuardrail>> {
        let labels = self.labels_of(&overriding.key);
        self.guardrails().find(|one| one.keeps_shut(overriding, labels))
    }

    fn labels_of(&self, key: &Key) -> Option<&Labels> {
        key.namespace.as_deref().and_then(|namespace| self.namespace(namespace))
    }

    /// Those that a guardrail judges: policies, and overrides with what they open.
    pub(super) fn add_judged(&self, found: &mut BTreeSet<Key>) {
        found.extend(self.policies().map(|policy| policy.identity.key.clone()));
        for overriding in self.overrides() {
            found.insert(overriding.key.clone());
            found.extend(overriding.target.clone());
        }
    }

    /// A policy within whose windows others must stay.
    pub(super) fn by_policy(&self, key: &Key, found: &mut BTreeSet<Key>) {
        let named = |guardrail: &&Arc<SeenGuardrail>| {
            let within = guardrail.spec.within.as_ref();
            within.is_some_and(|within| {
                *key == Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, &within.name)
            })
        };
        let mut naming = self.guardrails().filter(named).peekable();
        if naming.peek().is_some() {
            found.extend(self.policies().map(|policy| policy.identity.key.clone()));
        }
        found.extend(naming.map(|guardrail| guardrail.key.clone()));
    }

    pub(super) fn add_policies_in(&self, namespace: &str, found: &mut BTreeSet<Key>) {
        if self.guardrails().next().is_some() {
            let there = |policy: &&Arc<SeenPolicy>| {
                policy.identity.key.namespace.as_deref() == Some(namespace)
            };
            found.extend(self.policies().filter(there).map(|policy| policy.identity.key.clone()));
        }
    }
}
