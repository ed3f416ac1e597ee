//! What of a pool and of its nodes do decisions read? Narrow values, made once from each document that arrives.
//!
//! Total: what cannot be understood becomes a problem, and a pool with one begins nothing new.

use std::collections::BTreeMap;

use api::{
    kinds,
    machine::names::{self, NodeState},
};
use schedule::Instant;
use serde_json::Value;

use super::{
    capacity::Limit,
    ledger::Ledger,
    seen_status::SeenStatus,
    selector::Selector,
    source::{annotation, text, texts},
};
use crate::{
    document::{
        identity::applied_by,
        key::Key,
        problem::{Code, FieldPath, Object, Problem},
    },
    drain::node as drain,
    gate::action::Owner,
};

/// A `MachineConfigPool` as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenPool {
    /// Its name.
    pub name: String,
    /// The identity of this very object.
    pub uid: String,
    /// The version of the stored bytes: every write to the pool is made from it.
    pub resource_version: String,
    /// Counts the changes of the specification.
    pub generation: i64,
    /// When it was asked to go, if it was.
    leaving: Option<String>,
    /// Whether there are annotations at all, which a patch must know.
    pub(crate) annotated: bool,
    /// Which configurations it merges.
    pub configs: Selector,
    /// Which nodes belong to it.
    pub nodes: Selector,
    /// Whether somebody paused it, apart from change management.
    pub paused: Pause,
    /// How many nodes may be unavailable; none if that cannot be understood.
    pub limit: Option<Limit>,
    /// The newest rendered configuration, `spec.configuration.name`.
    pub newest: Option<String>,
    /// The configuration that all nodes last had, `status.configuration.name`.
    pub converged: Option<String>,
    /// The configuration that somebody chose, `spec.machineConfig` (POOL-4).
    pub pin: Option<Pin>,
    /// The configuration that a rollback restores (POOL-8).
    pub previous: Option<String>,
    /// Whether somebody started an update that pauses again by itself (D4-4).
    pub is_assisted: bool,
    /// The nodes it has begun (POOL-2).
    pub ledger: Ledger,
    /// Its status.
    pub status: SeenStatus,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// Whether somebody paused a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Nobody did.
    Running,
    /// `spec.paused` is true.
    Paused,
}

/// The configuration that somebody chose for a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The rendered configuration.
    pub name: String,
    /// When new nodes get it.
    pub valid_after: ValidAfter,
}

/// When new nodes get a configuration that somebody chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidAfter {
    /// Once one node runs it.
    CanaryUpgrade,
    /// At once.
    Immediate,
}

/// A `Node` as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenNode {
    /// Its name.
    pub name: String,
    /// The identity of this very object.
    pub uid: String,
    /// The version of the stored bytes.
    pub resource_version: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// When it joined.
    pub created: Option<Instant>,
    /// The version that its kubelet reports; empty if it has not (CV-3).
    pub kubelet: String,
    /// What the kubelet says of it.
    pub health: Health,
    /// Whether it takes workloads.
    pub cordon: Cordon,
    /// The configuration it runs; empty if its agent has not said.
    pub current: String,
    /// The configuration it must go to.
    pub desired: String,
    /// How far its agent is.
    pub state: NodeState,
    /// Why it is in that state.
    pub reason: String,
    /// The configuration that an administrator lets it go to (POOL-7).
    pub allowed: Option<String>,
    /// Whether anybody has told it where to go.
    pub order: Order,
    /// The beginning of the permit that it was last told to go with; none if that has always been so.
    pub permit_from: Option<Instant>,
    /// The end of the permit that it was last told to go with.
    pub permit_until: Option<Instant>,
    /// The configuration that this permit was given for: the record of what was begun (GATE-10, GATE-16).
    pub permit_change: Option<String>,
    /// What this permit rests on, in words.
    pub permit_basis: Option<String>,
    /// When it was told to go with this permit, by the server's clock: anybody who may write the node may have it stamped again (HIST-1).
    pub permit_at: Option<Instant>,
    /// The release whose update it belongs to, if it is a master (GATE-10).
    pub begun_release: Option<String>,
    /// The topology of the control plane, as its agent reads it.
    pub topology: Option<String>,
}

/// Whether a node was told where to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Its desired configuration is written on it.
    Given,
    /// Nobody has written one: what it runs is where it should be.
    NotGiven,
}

/// What the kubelet says of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing is amiss.
    Healthy,
    /// It is not ready, short of disk, or without network.
    Unhealthy,
}

/// Whether a node takes workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cordon {
    /// It does.
    Open,
    /// It does not, and an administrator wants it so.
    Cordoned,
    /// It does not, because it was emptied for a change; before that it did (DRAIN-1).
    Emptied,
}

impl SeenPool {
    /// Reads a pool.
    pub fn new(document: &Value) -> Self {
        let own = |path: &str| text(document, path).map(str::to_owned);
        let named = |path: &str| own(path).filter(|name| !name.is_empty());
        let spec = FieldPath::of("spec");
        let mut problems = Vec::new();
        let name = own("/metadata/name").unwrap_or_default();
        let mut selector = |key: &str| {
            let given = document.pointer("/spec").and_then(|spec| spec.get(key));
            Selector::read(given, &spec.key(key), &mut problems)
        };
        let (configs, nodes) = (selector("machineConfigSelector"), selector("nodeSelector"));
        if nodes == Selector::Everything {
            let detail = "an empty selector would choose every node of the cluster";
            let problem = Problem::new(&spec.key("nodeSelector"), Code::NotAllowed, detail);
            problems.push(problem.hint("name the role of the nodes that belong to the pool"));
        }
        let limit = match Limit::read(document.pointer("/spec/maxUnavailable")) {
            Ok(limit) => Some(limit),
            Err(problem) => {
                problems.push(*problem);
                None
            }
        };
        let ledger = annotation(document, names::LEDGER).unwrap_or_default();
        let ledger = Ledger::read(ledger).unwrap_or_else(|problem| {
            problems.push(*problem);
            Ledger::default()
        });
        let mut pool = Self {
            uid: own("/metadata/uid").unwrap_or_default(),
            resource_version: own("/metadata/resourceVersion").unwrap_or_default(),
            generation: document
                .pointer("/metadata/generation")
                .and_then(Value::as_i64)
                .unwrap_or(0),
            leaving: own("/metadata/deletionTimestamp"),
            annotated: document.pointer("/metadata/annotations").is_some_and(Value::is_object),
            configs,
            nodes,
            paused: match document.pointer("/spec/paused") {
                Some(Value::Bool(true)) => Pause::Paused,
                _ => Pause::Running,
            },
            limit,
            newest: named("/spec/configuration/name"),
            converged: named("/status/configuration/name"),
            pin: pin(document, &mut problems),
            is_assisted: annotation(document, names::ASSISTED_UPDATE).is_some(),
            previous: annotation(document, names::PREVIOUS_CONFIG)
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            ledger,
            status: SeenStatus::new(document),
            problems,
            name,
        };
        let object = pool.object();
        for problem in &mut pool.problems {
            problem.object = Some(object.clone());
        }
        pool
    }

    /// Whether nobody has asked it to go. One that goes is rendered no more and begins nothing.
    pub(crate) fn stays(&self) -> bool {
        self.leaving.is_none()
    }

    /// The name of the configuration that its nodes go to: the one that somebody chose, or else the newest (POOL-4).
    pub fn goal(&self) -> Option<&str> {
        self.pin.as_ref().map(|pin| pin.name.as_str()).or(self.newest.as_deref())
    }

    /// How many of so many nodes may be unavailable at once (POOL-2); none if that cannot be understood.
    pub fn at_once(&self, machines: usize) -> usize {
        match self.limit {
            // Two nodes that only vote must never be away together.
            Some(_) if self.name == names::ARBITER => 1,
            Some(limit) => limit.of(machines),
            None => 0,
        }
    }

    /// Which object it is.
    pub fn key(&self) -> Key {
        Key::new(&kinds::MACHINE_CONFIG_POOL, None, &self.name)
    }

    /// The same, as a problem names it.
    pub fn object(&self) -> Object {
        self.key().object()
    }
}

fn pin(document: &Value, problems: &mut Vec<Problem>) -> Option<Pin> {
    let given = document.pointer("/spec/machineConfig").filter(|given| !given.is_null())?;
    let path = FieldPath::of("spec.machineConfig");
    let name = given.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let Some(name) = name else {
        if given.get("validAfter").is_some_and(|when| !when.is_null()) {
            let detail =
                "validAfter says when new nodes get the configuration in name, and name is missing";
            let problem = Problem::new(&path.key("validAfter"), Code::MissingField, detail);
            let hint = "name a rendered configuration in spec.machineConfig.name, or remove spec.machineConfig";
            problems.push(problem.hint(hint));
        }
        return None;
    };
    let valid_after = match given.get("validAfter").and_then(Value::as_str) {
        None | Some("" | "CanaryUpgrade") => ValidAfter::CanaryUpgrade,
        Some("Immediate") => ValidAfter::Immediate,
        Some(_) => {
            let detail = "the value is not one that this build knows";
            let problem = Problem::new(&path.key("validAfter"), Code::NotAllowed, detail);
            problems.push(problem.hint("use CanaryUpgrade or Immediate"));
            ValidAfter::CanaryUpgrade
        }
    };
    Some(Pin { name: name.to_owned(), valid_after })
}

impl SeenNode {
    /// Reads a node.
    pub fn new(document: &Value) -> Self {
        let own = |path: &str| text(document, path).unwrap_or_default().to_owned();
        let noted = |name: &str| annotation(document, name).unwrap_or_default();
        let given = |name: &str| Some(noted(name).to_owned()).filter(|text| !text.is_empty());
        Self {
            name: own("/metadata/name"),
            uid: own("/metadata/uid"),
            resource_version: own("/metadata/resourceVersion"),
            labels: texts(document.pointer("/metadata/labels")),
            created: text(document, "/metadata/creationTimestamp")
                .and_then(|at| Instant::parse(at).ok()),
            kubelet: own("/status/nodeInfo/kubeletVersion"),
            health: health(document),
            cordon: match drain::Node::of(document) {
                node if node.is_cordoned_by_drain() => Cordon::Emptied,
                node if node.is_cordoned => Cordon::Cordoned,
                _ => Cordon::Open,
            },
            current: noted(names::CURRENT_CONFIG).to_owned(),
            desired: match noted(names::DESIRED_CONFIG) {
                // One that nobody has told to go anywhere, because it has just joined, is where it should be: its agent says so too.
                "" => noted(names::CURRENT_CONFIG).to_owned(),
                desired => desired.to_owned(),
            },
            state: NodeState::of(noted(names::STATE)),
            reason: noted(names::REASON).to_owned(),
            allowed: given(names::ALLOWED_CONFIG),
            order: match noted(names::DESIRED_CONFIG) {
                "" => Order::NotGiven,
                _ => Order::Given,
            },
            permit_from: Instant::parse(noted(names::PERMIT_FROM)).ok(),
            permit_until: Instant::parse(noted(names::PERMIT_UNTIL)).ok(),
            permit_change: given(names::PERMIT_CHANGE),
            permit_basis: given(names::PERMIT_BASIS),
            permit_at: applied_by(document, Owner::Initiator.as_str(), names::PERMIT_CHANGE),
            begun_release: given(names::BEGUN_RELEASE),
            topology: given(names::CONTROL_PLANE_TOPOLOGY),
        }
    }

    /// The failure domain it stands in.
    pub fn zone(&self) -> Option<&str> {
        self.labels.get(names::ZONE).map(String::as_str)
    }

    /// Healthy and open for workloads.
    pub fn is_ready(&self) -> bool {
        self.health == Health::Healthy && self.cordon == Cordon::Open
    }

    /// At the configuration it was last told to go to.
    pub fn is_done(&self) -> bool {
        !self.current.is_empty() && self.current == self.desired && self.state == NodeState::Done
    }

    /// At no configuration at all, as its agent says: the oldest of all. Its first configuration is a change like any other (GATE-16).
    pub fn is_blank(&self) -> bool {
        self.current.is_empty() && self.desired.is_empty() && self.state == NodeState::Done
    }

    /// Nobody has told it anything, and its agent has never said a word: what is on it is not known (NODE-3).
    pub fn is_silent(&self) -> bool {
        self.current.is_empty() && self.desired.is_empty() && self.state == NodeState::Unknown
    }

    /// On its way, and stuck.
    pub fn is_failing(&self) -> bool {
        self.current != self.desired
            && matches!(self.state, NodeState::Degraded | NodeState::Unreconcilable)
    }

    /// Whether workloads cannot count on it: cordoned, unhealthy, failing, or mid-update (POOL-2). One at no configuration, and one whose
    /// agent has not spoken, take workloads like any other.
    pub fn is_unavailable(&self) -> bool {
        !self.is_ready() || !(self.is_done() || self.is_blank() || self.is_silent())
    }
}

/// What the conditions say; one that is missing counts as fine, as upstream has it.
fn health(document: &Value) -> Health {
    const FINE: &[(&str, &str)] =
        &[("Ready", "True"), ("DiskPressure", "False"), ("NetworkUnavailable", "False")];
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
    let text = |condition: &Value, key: &str| {
        condition.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let amiss = conditions.into_iter().flatten().any(|condition| {
        let (kind, status) = (text(condition, "type"), text(condition, "status"));
        FINE.iter().any(|(known, fine)| kind == *known && status != *fine)
    });
    if amiss { Health::Unhealthy } else { Health::Healthy }
}
