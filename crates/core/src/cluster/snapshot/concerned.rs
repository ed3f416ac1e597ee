//! Whom does a change of an object concern? Those pools and hosted clusters whose decisions read it, as it was or as it is.
//!
//! LIVE-2 rests on this: a pool that is left out is not looked at before everything is. So where nobody can tell who reads an object
//! (a selector that cannot be read, a pool that comes, goes or selects others), all who might are concerned.

use std::collections::BTreeSet;

use api::{
    kinds,
    machine::names::{ARBITER, MASTER},
    names::THE_CLUSTER,
};

use super::{Snapshot, members::selects, targets};
use crate::{
    cluster::seen::{Part, Seen, SeenGated},
    document::key::Key,
    hosted::Hosted,
    node::membership::Membership,
    policy::freeze::Selects,
    pool::{
        seen::{SeenNode, SeenPool},
        source::SeenConfig,
    },
    reach::target::SeenTarget,
    release::of::Of,
};

impl Snapshot {
    /// Takes in an object that was read. The others that this concerns.
    pub fn learn(&mut self, seen: Seen) -> BTreeSet<Key> {
        let key = seen.identity().key.clone();
        let mut concerned = self.concerned(&key);
        let before = self.put(seen);
        if selects(before.as_ref()) != selects(self.get(&key)) {
            self.add_all_pools(&mut concerned);
        }
        if targets::permits(before.as_ref()) != targets::permits(self.get(&key)) {
            self.add_waiting(&key, &mut concerned);
        }
        concerned.extend(self.concerned(&key));
        concerned.remove(&key);
        concerned
    }

    /// An object is gone. What was last seen of it, and the others that this concerns.
    pub fn forget(&mut self, key: &Key) -> Option<(Seen, BTreeSet<Key>)> {
        let mut concerned = self.concerned(key);
        let before = self.remove(key)?;
        if selects(Some(&before)).is_some() {
            self.add_all_pools(&mut concerned);
        }
        if targets::permits(Some(&before)).is_some() {
            self.add_waiting(key, &mut concerned);
        }
        Some((before, concerned))
    }

    /// The others whose decisions read an object as it is.
    pub fn concerned(&self, key: &Key) -> BTreeSet<Key> {
        let mut found = BTreeSet::new();
        match self.get(key) {
            // Those who name a policy are looked at once its status says that it was read.
            None => {}
            Some(Seen::Policy(_)) => self.by_policy(key, &mut found),
            Some(Seen::Gated(gated)) => self.by_gated(gated, &mut found),
            Some(Seen::Part(part)) => match &part.part {
                Part::Node(machine) => self.by_node(&machine.node, &mut found),
                Part::Config(config) => self.by_config(config, &mut found),
                // Agents read it.
                Part::Disruption(_) => {}
                // No pool is in one, and its labels decide who holds what waits there.
                Part::Namespace(_) => {
                    self.add_waiting_in(Some(&key.name), &mut found);
                    self.add_hosted(&mut found, |gated| {
                        gated.identity.key.namespace.as_deref() == Some(&*key.name)
                    });
                    self.add_policies_in(&key.name, &mut found);
                }
                Part::Guardrail(_) => self.add_judged(&mut found),
                Part::Freeze(freeze) => {
                    self.add_pools(&mut found, |pool| {
                        let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, &pool.name);
                        freeze.selects(&key, None, None) != Selects::No
                    });
                    self.add_waiting(key, &mut found);
                    self.add_hosted(&mut found, |gated| {
                        let own = gated.identity.key.namespace.as_deref();
                        key.namespace.is_none() || key.namespace.as_deref() == own
                    });
                }
                Part::Target(target) => self.by_target(key, target, &mut found),
                Part::Text(_) => self.add_hosted(&mut found, |gated| {
                    let pool = gated.node_pool();
                    gated.identity.key.namespace == key.namespace
                        && pool
                            .is_some_and(|pool| pool.configs.iter().any(|name| **name == *key.name))
                }),
                // CV-2: what opens the control plane opens its nodes.
                Part::Override(overriding) => {
                    self.add_pools(&mut found, |pool| {
                        overriding.target.as_ref().is_some_and(|target| {
                            let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, &pool.name);
                            let followed = *target.kind() == kinds::CLUSTER_VERSION;
                            let within = || {
                                let pool = self.resource(&key);
                                pool.is_some_and(|pool| self.cluster_of(pool).is_some())
                            };
                            *target == key || followed && (pool.name == MASTER || within())
                        })
                    });
                    self.add_hosted(&mut found, |gated| {
                        let within = self.cluster_of(gated).map(|cluster| &cluster.identity.key);
                        let target = overriding.target.as_ref();
                        target == Some(&gated.identity.key) || target.is_some() && target == within
                    });
                }
            },
        }
        found.remove(key);
        found
    }

    /// CV-2: what the control plane may do, the masters may. Pools of voters wait for each other.
    fn by_gated(&self, gated: &SeenGated, found: &mut BTreeSet<Key>) {
        if gated.update.is_some() && &*gated.identity.key.name == THE_CLUSTER {
            self.add_pool(MASTER, found);
            self.add_constrained(gated, found);
        }
        if let Some(pool) = gated.pool.as_deref() {
            self.add_voters(&pool.name, found);
        }
        // On a stock cluster what holds updates holds the masters.
        let is_stock = |version: &SeenGated| version.plane().is_some_and(|it| it.of == Of::Stock);
        let is_wide = gated.gate.is_some() && gated.identity.key.namespace.is_none();
        if is_wide && self.control_plane().is_some_and(|version| is_stock(version)) {
            self.add_pool(MASTER, found);
        }
        // HOST-1: nodes and their control plane are never too far apart.
        match gated.hosted.as_deref() {
            Some(Hosted::Cluster { .. }) => {
                found.extend(self.node_pools(&gated.identity.key).map(|(key, _)| key.clone()));
            }
            Some(Hosted::Pool(_)) => {
                found.extend(self.host_of(gated).map(|cluster| cluster.identity.key.clone()));
                found.extend(self.derived_from(&gated.identity.key).cloned());
            }
            None => {}
        }
        // RCH-8: nothing is handed over before its gate stands.
        let source = gated.gate.as_deref().and_then(|gate| gate.derived.as_ref());
        found.extend(source.filter(|source| self.get(source).is_some()).cloned());
    }

    /// The gates that select it, and what it was made for. Which namespace is the operator's own is nothing that could be different here.
    fn by_target(&self, key: &Key, target: &SeenTarget, found: &mut BTreeSet<Key>) {
        let owner = self.owner(target).and_then(|owner| self.seen.get_key_value(owner));
        let owner = owner.and_then(|(owner, seen)| Some((owner, targets::target_of(seen)?)));
        found.extend(owner.map(|(owner, _)| owner.clone()));
        let asked = owner.unwrap_or((key, target));
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let gates = self.gates_over(namespace);
        let gates = gates.filter(|gate| self.is_held_by(gate, asked, None) != Selects::No);
        found.extend(gates.map(|gate| gate.identity.key.clone()));
    }

    /// What waits where a gate or a freeze holds.
    fn add_waiting(&self, key: &Key, found: &mut BTreeSet<Key>) {
        self.add_waiting_in(key.namespace.as_deref(), found);
    }

    fn add_waiting_in(&self, namespace: Option<&str>, found: &mut BTreeSet<Key>) {
        let waiting = self.all_waiting().map(|(key, _)| key);
        let there = |key: &&Key| namespace.is_none() || key.namespace.as_deref() == namespace;
        found.extend(waiting.filter(there).cloned());
    }

    fn by_node(&self, node: &SeenNode, found: &mut BTreeSet<Key>) {
        /// With so few nodes, one that comes or goes decides whether a cluster is one of a single node.
        const FEW: usize = 2;
        if self.machines().nth(FEW).is_none() {
            return self.add_all_pools(found);
        }
        match self.membership(node) {
            Membership::Of(home) => {
                self.add_pool(home, found);
                self.add_voters(home, found);
            }
            Membership::Disputed(claims) => {
                for pool in claims {
                    self.add_pool(pool, found);
                }
            }
            Membership::Nowhere => {}
        }
        // One that left its pool in the middle of a change is still in its ledger.
        self.add_pools(found, |pool| pool.ledger.get(&node.name).is_some());
    }

    fn by_config(&self, config: &SeenConfig, found: &mut BTreeSet<Key>) {
        match config {
            SeenConfig::Source(source) => self.add_pools(found, |pool| {
                pool.configs.chooses(&source.labels) || pool.configs.may_choose(&source.labels)
            }),
            SeenConfig::Rendered(rendered) => {
                let name = Some(rendered.name.as_str());
                self.add_pools(found, |pool| {
                    let pin = pool.pin.as_ref().map(|pin| pin.name.as_str());
                    pool.name == rendered.pool
                        || [pool.newest.as_deref(), pool.converged.as_deref()].contains(&name)
                        || [pool.previous.as_deref(), pin].contains(&name)
                });
                // A node may have, or be on its way to, what was rendered for a pool that it left.
                for machine in self.machines() {
                    let SeenNode { current, desired, allowed, .. } = &machine.node;
                    let named = [Some(current), Some(desired), allowed.as_ref()];
                    if named.contains(&Some(&rendered.name))
                        && let Some(home) = self.home(&machine.node)
                    {
                        self.add_pool(&home.name, found);
                    }
                }
            }
        }
    }

    fn add_voters(&self, pool: &str, found: &mut BTreeSet<Key>) {
        if [MASTER, ARBITER].contains(&pool) {
            self.add_pool(MASTER, found);
            self.add_pool(ARBITER, found);
        }
    }

    /// Where no node was seen no pool is made of any, and which of them selects what concerns nobody else.
    fn add_all_pools(&self, found: &mut BTreeSet<Key>) {
        if self.machines().next().is_some() {
            self.add_pools(found, |_| true);
        }
    }

    fn add_pools(&self, found: &mut BTreeSet<Key>, reads: impl Fn(&SeenPool) -> bool) {
        let pools = self.pools().filter(|pool| reads(pool));
        found.extend(pools.map(|pool| Key::new(&kinds::MACHINE_CONFIG_POOL, None, &pool.name)));
    }

    fn add_hosted(&self, found: &mut BTreeSet<Key>, reads: impl Fn(&SeenGated) -> bool) {
        let hosted = self.gated().filter(|gated| gated.hosted.is_some() && reads(gated));
        found.extend(hosted.map(|gated| gated.identity.key.clone()));
    }

    /// D4-1: what the cluster says holds its pools.
    fn add_constrained(&self, version: &SeenGated, found: &mut BTreeSet<Key>) {
        let pools = self.of_kind(&kinds::MACHINE_CONFIG_POOL);
        let pools = pools.filter(|(_, seen)| {
            let pool = super::gated(seen);
            version.stanza.is_version_managed()
                || pool.is_some_and(|pool| pool.stanza.is_version_managed())
        });
        found.extend(pools.map(|(key, _)| key.clone()));
    }

    fn add_pool(&self, pool: &str, found: &mut BTreeSet<Key>) {
        if self.pool(pool).is_some() {
            found.insert(Key::new(&kinds::MACHINE_CONFIG_POOL, None, pool));
        }
    }
}

#[cfg(test)]
mod tests;
