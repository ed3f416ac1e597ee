//! What does a cluster look like? Every policy, every gated object and every part that was seen, in order: the one value that decisions,
//! views and forecasts are made from.
//!
//! It is built alike by whoever watches a cluster, lists it once, reads files or supposes one, so all of them get the same answers. What
//! an object is comes from its kind with the group, never from a bare name (see [`Key`]). An index leads from a policy to those who name
//! it, and another from a pool to its nodes. What somebody knows about how fresh all this is, is not here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use api::{
    kinds,
    names::PROBE,
    schema::{FREEZES, Kind, OVERRIDES},
};

use crate::{
    cluster::seen::{Part, Seen, SeenGated, SeenMachine},
    document::key::Key,
    policy::{
        freeze::{Labels, SeenFreeze},
        overrides::SeenOverride,
        seen::SeenPolicy,
    },
    pool::{
        seen::{SeenNode, SeenPool},
        source::{Rendered, SeenConfig, Source},
    },
    reach::policies::Parameter,
};

mod concerned;
mod gates;
mod guardrails;
mod hosted;
mod members;
mod skew;
mod targets;
mod view;

pub use guardrails::Judgement;
pub use hosted::{Apart, Wanted};
use members::Members;

/// Everything that was seen.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    seen: BTreeMap<Key, Seen>,
    naming: BTreeMap<Key, BTreeSet<Key>>,
    members: Members,
    waiting: targets::Waiting,
}

impl Snapshot {
    /// Takes in an object that was read, in the place of what was seen of it before, which is given back. The gates and freezes by which the
    /// operator tries whether the server refuses hold nothing, and nobody is told of them (GATE-13).
    pub fn put(&mut self, seen: Seen) -> Option<Seen> {
        let key = seen.identity().key.clone();
        if Parameter::of_kind(key.kind()).is_some() && &*key.name == PROBE {
            return None;
        }
        let named = policy_of(&seen);
        self.members.changed(self.seen.get(&key), Some(&seen), pools(&self.seen));
        let before = self.seen.insert(key.clone(), seen);
        self.keep_waiting(&key, before.as_ref());
        if let Some(before) = &before {
            self.keep_let_go(&key, before);
        }
        let named_before = before.as_ref().and_then(policy_of);
        if named_before != named {
            if let Some(policy) = named_before {
                self.unname(&policy, &key);
            }
            if let Some(policy) = named {
                self.naming.entry(policy).or_default().insert(key);
            }
        }
        before
    }

    /// An object is gone. What was last seen of it.
    pub fn remove(&mut self, key: &Key) -> Option<Seen> {
        let before = self.seen.remove(key)?;
        self.members.changed(Some(&before), None, pools(&self.seen));
        self.keep_waiting(key, Some(&before));
        self.keep_let_go(key, &before);
        if let Some(policy) = policy_of(&before) {
            self.unname(&policy, key);
        }
        Some(before)
    }

    fn unname(&mut self, policy: &Key, key: &Key) {
        if let Some(naming) = self.naming.get_mut(policy) {
            naming.remove(key);
            if naming.is_empty() {
                self.naming.remove(policy);
            }
        }
    }

    /// An object.
    pub fn get(&self, key: &Key) -> Option<&Seen> {
        self.seen.get(key)
    }

    /// Every object, policies first.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Seen)> {
        self.seen.iter()
    }

    /// Every object of a kind.
    pub fn of_kind(&self, kind: &'static Kind) -> impl Iterator<Item = (&Key, &Seen)> + use<'_> {
        of_kind(&self.seen, kind)
    }

    /// How many objects were seen.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Every policy, in order.
    pub fn policies(&self) -> impl Iterator<Item = &Arc<SeenPolicy>> {
        // Policies come first.
        self.seen.values().map_while(|seen| match seen {
            Seen::Policy(policy) => Some(policy),
            Seen::Gated(_) | Seen::Part(_) => None,
        })
    }

    /// A policy.
    pub fn policy(&self, key: &Key) -> Option<&Arc<SeenPolicy>> {
        match self.seen.get(key)? {
            Seen::Policy(policy) => Some(policy),
            Seen::Gated(_) | Seen::Part(_) => None,
        }
    }

    /// Every gated object, in the order of the kinds and then of names.
    pub fn gated(&self) -> impl Iterator<Item = &Arc<SeenGated>> {
        let policies = |seen: &&Seen| matches!(seen, Seen::Policy(_));
        self.seen.values().skip_while(policies).map_while(gated)
    }

    /// A gated object.
    pub fn resource(&self, key: &Key) -> Option<&Arc<SeenGated>> {
        self.seen.get(key).and_then(gated)
    }

    /// Every freeze, by kind and name.
    pub fn freezes(&self) -> impl Iterator<Item = &Arc<SeenFreeze>> {
        let all = FREEZES.iter().flat_map(|kind| self.of_kind(kind));
        all.filter_map(|(_, seen)| match seen {
            Seen::Part(part) => part.freeze(),
            Seen::Policy(_) | Seen::Gated(_) => None,
        })
    }

    /// Every override, by kind and name.
    pub fn overrides(&self) -> impl Iterator<Item = &Arc<SeenOverride>> {
        let all = OVERRIDES.iter().flat_map(|kind| self.of_kind(kind));
        all.filter_map(|(_, seen)| match seen {
            Seen::Part(part) => part.overriding(),
            Seen::Policy(_) | Seen::Gated(_) => None,
        })
    }

    /// The labels of a namespace, if it was seen.
    pub fn namespace(&self, name: &str) -> Option<&Labels> {
        match part(self.seen.get(&Key::new(&kinds::NAMESPACE, None, name))?)? {
            Part::Namespace(labels) => Some(labels),
            Part::Config(_)
            | Part::Node(_)
            | Part::Disruption(_)
            | Part::Freeze(_)
            | Part::Override(_)
            | Part::Guardrail(_)
            | Part::Target(_)
            | Part::Text(_) => None,
        }
    }

    /// Every pool, by name.
    pub fn pools(&self) -> impl Iterator<Item = &SeenPool> {
        pools(&self.seen)
    }

    /// The pool of a name.
    pub fn pool(&self, name: &str) -> Option<&SeenPool> {
        self.resource(&Key::new(&kinds::MACHINE_CONFIG_POOL, None, name))?.pool.as_deref()
    }

    /// Every node, by name.
    pub fn machines(&self) -> impl Iterator<Item = &SeenMachine> {
        self.of_kind(&kinds::NODE).filter_map(|(_, seen)| machine(seen))
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<&SeenNode> {
        let seen = self.seen.get(&Key::new(&kinds::NODE, None, name))?;
        machine(seen).map(|machine| &machine.node)
    }

    /// Every configuration that somebody wrote.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.configs().filter_map(|config| match config {
            SeenConfig::Source(source) => Some(source),
            SeenConfig::Rendered(_) => None,
        })
    }

    /// Every configuration that was rendered, of whatever pool.
    pub fn rendered(&self) -> impl Iterator<Item = &Rendered> {
        self.configs().filter_map(|config| match config {
            SeenConfig::Rendered(rendered) => Some(rendered),
            SeenConfig::Source(_) => None,
        })
    }

    fn configs(&self) -> impl Iterator<Item = &SeenConfig> {
        self.of_kind(&kinds::MACHINE_CONFIG).filter_map(|(_, seen)| match part(seen)? {
            Part::Config(config) => Some(&**config),
            Part::Node(_)
            | Part::Disruption(_)
            | Part::Freeze(_)
            | Part::Override(_)
            | Part::Guardrail(_)
            | Part::Namespace(_)
            | Part::Target(_)
            | Part::Text(_) => None,
        })
    }
}

fn of_kind<'a>(
    seen: &'a BTreeMap<Key, Seen>,
    kind: &'static Kind,
) -> impl Iterator<Item = (&'a Key, &'a Seen)> + use<'a> {
    seen.range(Key::new(kind, None, "")..).take_while(move |(key, _)| key.kind() == kind)
}

fn pools(seen: &BTreeMap<Key, Seen>) -> impl Iterator<Item = &SeenPool> {
    let pools = of_kind(seen, &kinds::MACHINE_CONFIG_POOL);
    pools.filter_map(|(_, seen)| gated(seen)?.pool.as_deref())
}

/// The policy that an object names, whether it exists or not.
fn policy_of(seen: &Seen) -> Option<Key> {
    gated(seen)?.policy()
}

fn gated(seen: &Seen) -> Option<&Arc<SeenGated>> {
    match seen {
        Seen::Gated(gated) => Some(gated),
        Seen::Policy(_) | Seen::Part(_) => None,
    }
}

fn part(seen: &Seen) -> Option<&Part> {
    match seen {
        Seen::Part(part) => Some(&part.part),
        Seen::Policy(_) | Seen::Gated(_) => None,
    }
}

fn machine(seen: &Seen) -> Option<&SeenMachine> {
    match part(seen)? {
        Part::Node(machine) => Some(machine),
        Part::Config(_)
        | Part::Disruption(_)
        | Part::Freeze(_)
        | Part::Override(_)
        | Part::Guardrail(_)
        | Part::Namespace(_)
        | Part::Target(_)
        | Part::Text(_) => None,
    }
}

#[cfg(test)]
mod tests;
