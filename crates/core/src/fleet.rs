//! How far is each machine? Pools, their machines and their configurations, as somebody who asks sees them.

use serde_json::Value;

use crate::{
    drain::node::{self as drain, Request},
    pool::{
        membership::{Membership, membership},
        prune::{self, Needs, Verdict},
        seen::{SeenNode, SeenPool},
        source::{Rendered, SeenConfig, Source},
        target::{Shelf, Target},
        update::SeenUpdate,
    },
};

/// Every pool, machine and rendered configuration of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    pools: Vec<SeenPool>,
    nodes: Vec<SeenNode>,
    drains: Vec<drain::Node>,
    rendered: Vec<Rendered>,
    sources: Vec<Source>,
    update: Option<SeenUpdate>,
}

/// How far a machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has what its pool goes to.
    Done,
    /// It has something else, and nobody has told it to go.
    Waiting,
    /// Its workloads leave; what blocks that, if anything does (DRAIN-1).
    Draining(Option<String>),
    /// It is being changed.
    Applying,
    /// It cannot go on, for this reason.
    Failing(String),
    /// Its agent has not said.
    Silent,
}

impl Phase {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::Draining(_) => "draining",
            Self::Applying => "applying",
            Self::Failing(_) => "failing",
            Self::Silent => "silent",
        }
    }

    /// What there is to say about it.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Failing(reason) => Some(reason),
            Self::Draining(blocked) => blocked.as_deref(),
            Self::Done | Self::Waiting | Self::Applying | Self::Silent => None,
        }
    }
}

/// A machine of a pool.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// The machine.
    pub node: &'a SeenNode,
    /// How far it is.
    pub phase: Phase,
}

impl Fleet {
    /// Takes in a pool.
    pub fn add_pool(&mut self, document: &Value) {
        self.pools.push(SeenPool::new(document));
    }

    /// Takes in a machine.
    pub fn add_node(&mut self, document: &Value) {
        self.drains.push(drain::Node::of(document));
        self.nodes.push(SeenNode::new(document));
    }

    /// Takes in a `MachineConfig`.
    pub fn add_config(&mut self, document: &Value) {
        match SeenConfig::new(document) {
            SeenConfig::Rendered(rendered) => self.rendered.push(rendered),
            SeenConfig::Source(source) => self.sources.push(source),
        }
    }

    /// Takes in the `ClusterVersion`: an update of the control plane may need configurations that nothing names.
    pub fn add_version(&mut self, document: &Value) {
        self.update = Some(SeenUpdate::new(document));
    }

    /// Every pool, in the order they were added.
    pub fn pools(&self) -> &[SeenPool] {
        &self.pools
    }

    /// The pool of a name.
    pub fn pool(&self, name: &str) -> Option<&SeenPool> {
        self.pools.iter().find(|pool| pool.name == name)
    }

    /// The machine of a name.
    pub fn node(&self, name: &str) -> Option<&SeenNode> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The rendered configurations of a pool.
    pub fn shelf(&self, pool: &SeenPool) -> Shelf<'_> {
        Shelf::new(pool, &self.rendered)
    }

    /// The name of the configuration that a pool goes to.
    pub fn target(&self, pool: &SeenPool) -> Option<&str> {
        let target = Target::of(pool, &self.shelf(pool), &mut Vec::new())?;
        Some(&target.config.name)
    }

    /// The pool that a machine belongs to.
    pub fn home(&self, node: &SeenNode) -> Option<&SeenPool> {
        match membership(node, &self.pools) {
            Membership::Of(name) => self.pool(name),
            Membership::Nowhere | Membership::Disputed(_) => None,
        }
    }

    /// The machines of a pool, by name.
    pub fn machines(&self, pool: &SeenPool) -> Vec<Machine<'_>> {
        let target = self.target(pool);
        let own = self
            .nodes
            .iter()
            .zip(&self.drains)
            .filter(|(node, _)| self.home(node).is_some_and(|home| home.name == pool.name));
        let mut machines: Vec<Machine<'_>> =
            own.map(|(node, drain)| Machine { node, phase: phase(node, drain, target) }).collect();
        machines.sort_by(|a, b| a.node.name.cmp(&b.node.name));
        machines
    }

    /// What may be deleted, and why the rest may not (POOL-9).
    pub fn prune(&self) -> Vec<Verdict<'_>> {
        let Self { pools, nodes, sources, .. } = self;
        let update = self.update.as_ref();
        prune::prune(&self.rendered, Needs { pools, nodes, sources, update })
    }
}

fn phase(node: &SeenNode, drain: &drain::Node, target: Option<&str>) -> Phase {
    if node.is_silent() {
        Phase::Silent
    } else if node.is_blank() {
        Phase::Waiting
    } else if node.is_failing() {
        Phase::Failing(node.reason.clone())
    } else if drain.request() == Request::Drain && node.current != node.desired {
        Phase::Draining(drain.blockage().map(str::to_owned))
    } else if node.current != node.desired || !node.is_done() {
        Phase::Applying
    } else if target.is_none_or(|target| target == node.current) {
        Phase::Done
    } else {
        Phase::Waiting
    }
}

#[cfg(test)]
mod tests {
    use api::machine::names;
    use serde_json::json;

    use super::*;

    fn fleet(annotations: &Value) -> Fleet {
        let mut fleet = Fleet::default();
        let role = json!({"node-role.kubernetes.io/worker": ""});
        fleet.add_pool(&json!({"metadata": {"name": "worker"},
            "spec": {"nodeSelector": {"matchLabels": role}, "configuration": {"name": "rendered-worker-b"}}}));
        for name in ["rendered-worker-a", "rendered-worker-b"] {
            fleet.add_config(&json!({"metadata": {"name": name, "ownerReferences": [
                {"apiVersion": names::API_VERSION, "kind": "MachineConfigPool", "name": "worker", "controller": true, "uid": "u"}]},
                "spec": {}}));
        }
        fleet.add_node(
            &json!({"metadata": {"name": "n", "labels": role, "annotations": annotations}}),
        );
        fleet
    }

    #[test]
    fn each_machine_is_in_one_phase() {
        let check = |annotations: &[(&str, &str)], expected: Phase| {
            let annotations: serde_json::Map<String, Value> = annotations
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            let fleet = fleet(&annotations.into());
            let pool = fleet.pool("worker").unwrap();
            assert_eq!(fleet.target(pool), Some("rendered-worker-b"));
            let machines = fleet.machines(pool);
            assert_eq!(
                machines.iter().map(|machine| machine.phase.clone()).collect::<Vec<_>>(),
                [expected]
            );
        };
        let (current, desired) = (names::CURRENT_CONFIG, names::DESIRED_CONFIG);
        let (a, b) = ("rendered-worker-a", "rendered-worker-b");
        let drain = "drain-rendered-worker-b";
        check(&[], Phase::Silent);
        check(&[(names::STATE, "Done")], Phase::Waiting);
        check(&[(names::DESIRED_CONFIG, "rendered-worker-b")], Phase::Applying);
        check(&[(current, a), (desired, a), (names::STATE, "Done")], Phase::Waiting);
        check(&[(current, b), (desired, b), (names::STATE, "Done")], Phase::Done);
        let going = [(current, a), (desired, b), (names::STATE, "Working")];
        check(&going, Phase::Applying);
        let asked = [going.as_slice(), &[(names::DESIRED_DRAIN, drain)]].concat();
        check(&asked, Phase::Draining(None));
        let blocked = [asked.as_slice(), &[(names::DRAIN_BLOCKED, "budget: pod db/0")]].concat();
        check(&blocked, Phase::Draining(Some("budget: pod db/0".into())));
        let drained = [asked.as_slice(), &[(names::LAST_APPLIED_DRAIN, drain)]].concat();
        check(&drained, Phase::Applying);
        let failing =
            [(current, a), (desired, b), (names::STATE, "Degraded"), (names::REASON, "disk full")];
        check(&failing, Phase::Failing("disk full".into()));
    }
}
