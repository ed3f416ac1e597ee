//! A cluster of one pool, as a value: plans are executed against it the way a server would, conflicts included.

use std::sync::Arc;

use api::machine::names::{self, NodeState};
use schedule::{Instant, Span, TimeSet};
use serde_json::{Value, json};

use crate::{
    gate::{Gate, refusal::Refusals},
    policy::{
        freeze::{SeenFreeze, Selects},
        stanza::Form,
    },
    pool::{
        Effect, PoolPlan, PoolView, Stock, Topology, decide,
        merge::Base,
        prune::{Fate, Needs, prune},
        render::{chosen, render},
        seen::{Cordon, Health, Order, SeenNode, SeenPool},
        source::{Rendered, SeenConfig, Source},
        update::{Record, SeenUpdate},
    },
};

#[derive(Clone)]
pub(super) struct World {
    pub(super) pool: Value,
    pub(super) nodes: Vec<SeenNode>,
    pub(super) sources: Vec<Source>,
    pub(super) rendered: Vec<Rendered>,
    pub(super) base: Base,
    pub(super) operator_node: Option<String>,
    pub(super) refusals: Refusals,
    pub(super) held_back: Option<&'static str>,
    /// `ClusterVersion`, if there is one.
    pub(super) version: Value,
    pub(super) seconds_ahead: i64,
    pub(super) topology: Topology,
    pub(super) waits_for: Option<&'static str>,
    pub(super) stamp: u64,
}

/// What somebody else wrote first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conflict;

pub(super) fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// Noon of the day everything happens.
pub(super) fn noon() -> Instant {
    instant("2026-11-15T12:00:00Z")
}

pub(super) fn later(seconds: i64) -> Instant {
    noon().saturating_add(seconds)
}

pub(super) fn open() -> Gate {
    Gate::of_test(TimeSet::always(), Form::NoStanza)
}

pub(super) fn shut() -> Gate {
    Gate::of_test(TimeSet::never(), Form::Restrictive)
}

/// Open, if it were not for a freeze that nobody has ended.
pub(super) fn frozen() -> Gate {
    let freeze = json!({"metadata": {"name": "stop"}, "spec": {"reason": "a storm"}});
    let freeze = SeenFreeze::new(&api::kinds::CLUSTER_CHANGE_FREEZE, &freeze);
    open().frozen(vec![(Arc::new(freeze), Selects::Yes)], None)
}

/// Open from noon for so many seconds.
pub(super) fn window(seconds: i64) -> Gate {
    let set = TimeSet::ranges([Span::new(noon(), later(seconds))]);
    Gate::of_test(set, Form::ByPolicy)
}

/// A source of role worker that writes one file.
pub(super) fn file_source(name: &str, path: &str, text: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {names::ROLE: "worker"}},
        "spec": {"config": {
            "ignition": {"version": "3.2.0"},
            "storage": {"files": [{"path": path, "contents": {"source": format!("data:,{text}")}}]},
        }},
    })
}

impl World {
    /// A pool of so many nodes, all at the first configuration.
    pub(super) fn new(name: &str, machines: usize) -> Self {
        let mut world = Self {
            pool: json!({
                "metadata": {"name": name, "uid": "pool-uid", "generation": 1, "resourceVersion": "1"},
                "spec": {
                    "machineConfigSelector": {"matchLabels": {names::ROLE: "worker"}},
                    "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}},
                },
            }),
            nodes: Vec::new(),
            sources: Vec::new(),
            rendered: Vec::new(),
            base: Base::default(),
            operator_node: None,
            refusals: Refusals::new(),
            held_back: None,
            version: Value::Null,
            seconds_ahead: 0,
            topology: Topology::Several,
            waits_for: None,
            stamp: 1,
        };
        world.put(&file_source("00-base", "/etc/base", "0"));
        world.settle(&shut(), noon().saturating_add(-86_400));
        let first = world.newest();
        world.nodes = (0..machines).map(|place| machine(place, &first)).collect();
        world.settle(&shut(), noon().saturating_add(-86_400));
        world
    }

    /// Creates or replaces a source.
    pub(super) fn put(&mut self, document: &Value) {
        let SeenConfig::Source(source) = SeenConfig::new(document) else { panic!("not a source") };
        self.sources.retain(|known| known.name != source.name);
        self.sources.push(source);
    }

    pub(super) fn set(&mut self, path: &str, value: &Value) {
        self.patch(&[json!({"op": "add", "path": path, "value": value})]).unwrap();
    }

    pub(super) fn node(&mut self, name: &str) -> &mut SeenNode {
        self.nodes.iter_mut().find(|node| node.name == name).unwrap()
    }

    pub(super) fn seen(&self) -> SeenPool {
        SeenPool::new(&self.pool)
    }

    pub(super) fn newest(&self) -> String {
        self.seen().newest.unwrap()
    }

    pub(super) fn plan(&self, gate: &Gate, now: Instant) -> PoolPlan {
        let pool = self.seen();
        let running = pool
            .newest
            .as_ref()
            .and_then(|name| self.rendered.iter().find(|config| config.name == *name));
        let rendering = render(&pool, &self.sources, &self.base, running);
        let update = (!self.version.is_null()).then(|| SeenUpdate::new(&self.version));
        let (nodes, rendered) = (self.nodes.iter().collect(), self.rendered.iter().collect());
        let stock = Stock { nodes, rendered, sources: chosen(&pool, &self.sources) };
        let view = PoolView {
            waits_for: self.waits_for,
            operator_node: self.operator_node.as_deref(),
            refusals: &self.refusals,
            held_back: self.held_back,
            control_plane_update: update.as_ref(),
            seconds_ahead: self.seconds_ahead,
            topology: self.topology,
            ..PoolView::new(&pool, stock, &rendering, &self.base)
        };
        decide(&view, gate, now)
    }

    /// What may be deleted, if this is the pool and this the update of the control plane.
    pub(super) fn prune<'a>(
        &'a self,
        pool: &'a SeenPool,
        update: Option<&'a SeenUpdate>,
    ) -> Vec<Fate<'a>> {
        let (nodes, sources) = (self.nodes.iter().collect(), self.sources.iter().collect());
        let rendered: Vec<&Rendered> = self.rendered.iter().collect();
        prune(&rendered, &Needs { pools: vec![pool], nodes, sources, update })
    }

    /// Executes a plan as its words demand: in order, and no further than the first conflict.
    pub(super) fn execute(&mut self, plan: &PoolPlan, now: Instant) -> Result<(), Conflict> {
        for action in &plan.effects {
            self.act(action, now)?;
        }
        plan.status.as_ref().map_or(Ok(()), |status| self.patch(&status.operations))
    }

    pub(super) fn act(&mut self, action: &Effect, now: Instant) -> Result<(), Conflict> {
        match action {
            Effect::CreateRendered(document) => {
                let mut document = document.as_ref().clone();
                document["metadata"]["creationTimestamp"] = now.to_string().into();
                let SeenConfig::Rendered(rendered) = SeenConfig::new(&document) else {
                    panic!("a rendered configuration is owned by its pool")
                };
                self.rendered.push(rendered);
            }
            Effect::RecordSources { name, resource_version, digests } => {
                let stored = self.rendered.iter_mut().find(|config| config.name == *name).unwrap();
                if *resource_version != stored.resource_version {
                    return Err(Conflict);
                }
                stored.digests = serde_json::from_str(digests).unwrap();
            }
            Effect::SetConfiguration(operations) | Effect::WriteLedger { operations, .. } => {
                self.patch(operations)?;
            }
            Effect::SetDesiredConfig { node, uid, resource_version, config, until, permit } => {
                // The server's own check, and the executor's before it (GATE-7).
                if now >= *until || !permit.is_live(now) {
                    return Err(Conflict);
                }
                let found = self.nodes.iter_mut().find(|found| found.name == *node);
                let Some(found) = found.filter(|found| found.uid == *uid) else {
                    return Err(Conflict);
                };
                if found.resource_version != *resource_version {
                    return Err(Conflict);
                }
                found.desired.clone_from(config);
                found.order = Order::Given;
                found.permit_until = Some(*until);
                found.permit_change = Some(config.clone());
                found.permit_basis = Some(permit.basis().to_string());
                found.state = NodeState::Working;
                touch(found);
            }
            Effect::Adopt { node, uid, resource_version, config } => {
                let found = self.of_version(node, uid, resource_version)?;
                assert!(found.order == Order::NotGiven && found.current == *config);
                found.order = Order::Given;
                touch(found);
            }
            Effect::Note { node, uid, resource_version, annotations } => {
                let found = self.of_version(node, uid, resource_version)?;
                for (name, value) in annotations {
                    let value = value.clone();
                    match *name {
                        names::ALLOWED_CONFIG => found.allowed = value,
                        names::PERMIT_CHANGE => found.permit_change = value,
                        names::BEGUN_RELEASE => found.begun_release = value,
                        names::CONTROL_PLANE_TOPOLOGY => found.topology = value,
                        other => panic!("nobody notes {other}"),
                    }
                }
                touch(found);
            }
            Effect::RecordRelease { resource_version, record, .. } => {
                let metadata = &mut self.version["metadata"];
                if metadata["resourceVersion"] != *resource_version {
                    return Err(Conflict);
                }
                metadata["resourceVersion"] = format!("{resource_version}0").into();
                metadata["annotations"] =
                    json!({names::BEGUN_RELEASE: record.as_ref().map(Record::text)});
            }
        }
        Ok(())
    }

    /// A node, if it is still the one that was seen.
    fn of_version(
        &mut self,
        name: &str,
        uid: &str,
        version: &str,
    ) -> Result<&mut SeenNode, Conflict> {
        let found = self.nodes.iter_mut().find(|found| found.name == name && found.uid == uid);
        found.filter(|found| found.resource_version == version).ok_or(Conflict)
    }

    /// `ClusterVersion` says how far the update to a release is.
    pub(super) fn update(&mut self, state: &str, release: &str, started: &str) {
        let known = self.version["metadata"].take();
        let metadata = if known.is_null() {
            json!({"name": "version", "resourceVersion": "1"})
        } else {
            known
        };
        self.version = json!({"metadata": metadata, "status": {"desired": {"version": release},
            "history": [{"state": state, "version": release, "startedTime": started}]}});
    }

    /// The record of the update that `ClusterVersion` carries.
    pub(super) fn record(&self) -> Value {
        let text = self.version["metadata"]["annotations"][names::BEGUN_RELEASE].as_str();
        text.map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
    }

    /// Plans and executes until nothing is left to do; nodes stay as they are marked.
    pub(super) fn settle(&mut self, gate: &Gate, now: Instant) {
        for _ in 0..20 {
            let plan = self.plan(gate, now);
            if plan.effects.is_empty() && plan.status.is_none() {
                return;
            }
            self.execute(&plan, now).unwrap();
        }
        panic!("the pool does not settle");
    }

    /// The names of the nodes that were marked and have not finished.
    pub(super) fn moving(&self) -> Vec<&str> {
        let moving = self.nodes.iter().filter(|node| node.current != node.desired);
        moving.map(|node| node.name.as_str()).collect()
    }

    /// Lets every node finish what it was told.
    pub(super) fn finish(&mut self) {
        for node in self.nodes.iter_mut().filter(|node| node.current != node.desired) {
            node.current.clone_from(&node.desired);
            node.state = NodeState::Done;
            touch(node);
        }
    }

    pub(super) fn condition(&self, kind: &str) -> (String, String) {
        let seen = self.seen();
        let condition = seen.status.condition(kind).unwrap();
        (condition.status.clone(), condition.message.clone())
    }

    /// A JSON patch, under the version it was made from.
    pub(super) fn patch(&mut self, operations: &[Value]) -> Result<(), Conflict> {
        let mut changed = self.pool.clone();
        for operation in operations {
            let path = operation["path"].as_str().unwrap();
            let value = operation["value"].clone();
            if path == "/metadata/resourceVersion" {
                if value != self.pool["metadata"]["resourceVersion"] {
                    return Err(Conflict);
                }
                continue;
            }
            let (parent, key) = path.rsplit_once('/').unwrap();
            let key = key.replace("~1", "/");
            let parent = changed.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
            match parent {
                Value::Array(items) if key == "-" => items.push(value),
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
                parent => parent[key] = value,
            }
        }
        self.stamp += 1;
        changed["metadata"]["resourceVersion"] = self.stamp.to_string().into();
        self.pool = changed;
        Ok(())
    }
}

pub(super) fn touch(node: &mut SeenNode) {
    let version: u64 = node.resource_version.parse().unwrap();
    node.resource_version = (version + 1).to_string();
}

/// A healthy node that runs a configuration.
pub(super) fn machine(place: usize, config: &str) -> SeenNode {
    let zones = ["a", "b", "c"];
    SeenNode {
        name: format!("n{place}"),
        uid: format!("uid-{place}"),
        resource_version: "1".into(),
        labels: [(names::ZONE.to_owned(), zones[place % 3].to_owned())].into(),
        created: Some(instant("2026-01-01T00:00:00Z").saturating_add(place as i64)),
        kubelet: String::new(),
        health: Health::Healthy,
        cordon: Cordon::Open,
        current: config.to_owned(),
        desired: config.to_owned(),
        state: NodeState::Done,
        reason: String::new(),
        allowed: None,
        order: Order::Given,
        permit_until: None,
        permit_change: None,
        permit_basis: None,
        permit_at: None,
        permit_from: None,
        begun_release: None,
        topology: None,
    }
}
