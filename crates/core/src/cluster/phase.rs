//! How far is each node of a pool?

use schedule::Instant;

use crate::{
    cluster::snapshot::Snapshot,
    drain::node::{self as drain, Request},
    pool::{
        queue::Queue,
        seen::{SeenNode, SeenPool},
    },
};

/// How far a node is.
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

/// A node of a pool.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// The node.
    pub node: &'a SeenNode,
    /// How far it is.
    pub phase: Phase,
}

/// The nodes of a pool, by name.
pub fn machines<'a>(snapshot: &'a Snapshot, pool: &SeenPool) -> Vec<Machine<'a>> {
    let target = snapshot.target(pool);
    let own = snapshot.machines_of(&pool.name);
    own.map(|machine| Machine {
        node: &machine.node,
        phase: phase(&machine.node, &machine.drain, target),
    })
    .collect()
}

/// Who of a pool waits, in which order, and for how many there is room; none while nobody knows where the pool goes.
pub fn queue(snapshot: &Snapshot, pool: &SeenPool, now: Instant) -> Option<Queue> {
    let target = snapshot.target(pool)?;
    let (nodes, shelf) = (snapshot.members(&pool.name), snapshot.shelf(pool));
    Some(Queue::new((pool, &nodes), (&shelf, target), now))
}

/// Since when a node is as it is: since it was told to go, or since there is something for it to go to; none where that is not known, and for one
/// that is where it should be.
pub fn since(snapshot: &Snapshot, pool: &SeenPool, machine: &Machine<'_>) -> Option<Instant> {
    match machine.phase {
        Phase::Done | Phase::Silent => None,
        Phase::Waiting => snapshot.shelf(pool).get(snapshot.target(pool)?)?.created,
        Phase::Draining(_) | Phase::Applying | Phase::Failing(_) => machine.node.permit_at,
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
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        cluster::kinds,
        pool::ledger::{Entry, Ledger},
    };

    fn cluster(annotations: &Value) -> Snapshot {
        let mut cluster = Snapshot::default();
        let role = json!({"node-role.kubernetes.io/worker": ""});
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &json!({"metadata": {"name": "worker"},
            "spec": {"nodeSelector": {"matchLabels": role}, "configuration": {"name": "rendered-worker-b"}}}));
        for name in ["rendered-worker-a", "rendered-worker-b"] {
            cluster.add(&kinds::MACHINE_CONFIG, &json!({"metadata": {"name": name, "ownerReferences": [
                {"apiVersion": names::API_VERSION, "kind": "MachineConfigPool", "name": "worker", "controller": true, "uid": "u"}]},
                "spec": {}}));
        }
        cluster.add(
            &kinds::NODE,
            &json!({"metadata": {"name": "n", "labels": role, "annotations": annotations}}),
        );
        cluster
    }

    #[test]
    fn each_machine_is_in_one_phase() {
        let check = |annotations: &[(&str, &str)], expected: Phase| {
            let annotations: serde_json::Map<String, Value> = annotations
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            let cluster = cluster(&annotations.into());
            let pool = cluster.pool("worker").unwrap();
            assert_eq!(cluster.target(pool), Some("rendered-worker-b"));
            let found = machines(&cluster, pool);
            assert_eq!(
                found.iter().map(|machine| machine.phase.clone()).collect::<Vec<_>>(),
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

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    fn node(name: &str, zone: &str, has: &str, to: &str, cordoned: bool) -> Value {
        let state = if has == to { "Done" } else { "Working" };
        json!({"metadata": {"name": name, "labels": {"node-role.kubernetes.io/worker": "", names::ZONE: zone},
                "annotations": {names::CURRENT_CONFIG: has, names::DESIRED_CONFIG: to, names::STATE: state}},
            "spec": {"unschedulable": cordoned}})
    }

    fn queue(nodes: &[Value], ledger: &str) -> Queue {
        let mut cluster = Snapshot::default();
        let role = json!({"node-role.kubernetes.io/worker": ""});
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &json!({
            "metadata": {"name": "worker", "annotations": {names::LEDGER: ledger}},
            "spec": {"maxUnavailable": 2, "nodeSelector": {"matchLabels": role}, "configuration": {"name": "c"}}}));
        for (name, made) in [("a", "2026-01-01"), ("b", "2026-02-01"), ("c", "2026-03-01")] {
            cluster.add(&kinds::MACHINE_CONFIG, &json!({"metadata": {"name": name, "creationTimestamp": format!("{made}T00:00:00Z"),
                "ownerReferences": [{"apiVersion": names::API_VERSION, "kind": "MachineConfigPool", "name": "worker", "controller": true, "uid": "u"}]},
                "spec": {}}));
        }
        for node in nodes {
            cluster.add(&kinds::NODE, node);
        }
        let pool = cluster.pool("worker").unwrap();
        super::queue(&cluster, pool, at("2026-11-18T09:00:00Z")).unwrap()
    }

    /// POOL-2, POOL-3
    #[test]
    fn the_oldest_configuration_goes_first_and_who_is_away_takes_room() {
        let nodes = [
            node("done", "z1", "c", "c", false),
            node("late", "z1", "b", "b", false),
            node("far", "z2", "a", "a", false),
            node("near", "z1", "a", "a", false),
            node("shut", "z1", "b", "b", true),
            node("moving", "z1", "b", "c", false),
        ];
        let found = queue(&nodes, "");
        assert_eq!(found.waiting, ["near", "far", "late"]);
        assert_eq!((found.at_once, found.away, found.room()), (2, 2, 0));
        let found = queue(&nodes[..4], "");
        assert_eq!((found.away, found.room()), (0, 2));
    }

    /// POOL-2: what is reserved takes room, whether or not its node is still there.
    #[test]
    fn what_is_reserved_takes_room() {
        let nodes = [node("one", "z1", "a", "a", false), node("two", "z1", "a", "a", false)];
        let reserved = |name: &str| {
            let entry = Entry { config: "c".into(), until: at("2026-11-18T09:10:00Z") };
            let mut ledger = Ledger::default();
            ledger.reserve(name, entry);
            queue(&nodes, &ledger.text())
        };
        let found = reserved("one");
        assert_eq!((found.away, found.waiting), (1, vec!["two".to_owned()]));
        let found = reserved("gone");
        assert_eq!((found.away, found.waiting.len()), (1, 2));
    }
}
