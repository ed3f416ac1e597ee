//! What of an object do decisions read? Narrow, immutable values made once from each document that arrives.
//!
//! Total: a document that cannot be read gives a value that says so, and a closed gate (GATE-2, POL-8). Whatever is not read here is
//! dropped, because ten thousand resources must fit into a small pod.

use std::sync::Arc;

use api::{
    kinds,
    machine::{
        disruption::MachineConfigurationStatus,
        names::{MASTER, NODE_DISRUPTION_POLICY_DEGRADED},
    },
    meta::Condition,
    policy::{Behavior, PolicyStatus},
    reach::PolicyKind,
    schema::{self, Kind, Role, Scope},
    stanza::Stanza,
};
use schedule::Instant;
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    change::ChangeId,
    drain::node::Node,
    enforced::Enforcement,
    freeze::{Labels, SeenFreeze},
    key::Key,
    node::disruption::{self, Wanted},
    patch::Presence,
    pending::{Began, Pending},
    pool::{
        seen::{SeenNode, SeenPool},
        source::SeenConfig,
        update::SeenUpdate,
    },
    problem::{Code, FieldPath, Problem},
    reach::seen::SeenGate,
    read::{self, Judged},
    shape,
};

/// Which object, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its kind and name.
    pub key: Key,
    /// The identity of this very object: one of the same name made later has another.
    pub uid: String,
    /// The version of the stored bytes, for preconditions.
    pub resource_version: String,
    /// Counts the changes of the specification.
    pub generation: i64,
    /// When the specification was last written, by the server's clock, where that is known.
    pub changed: Option<Instant>,
}

/// An object as it was last seen.
#[derive(Clone, Debug)]
pub enum Seen {
    /// One that says when.
    Policy(Arc<SeenPolicy>),
    /// One that asks when.
    Gated(Arc<SeenGated>),
    /// One that decisions about others read.
    Part(Arc<SeenPart>),
}

/// A part of a pool as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenPart {
    /// Which object.
    pub identity: Identity,
    /// What it is.
    pub part: Part,
}

/// What decisions about others read: what pools are made of, freezes, and where those hold.
#[derive(Clone, Debug)]
pub enum Part {
    /// A configuration, written or rendered.
    Config(Box<SeenConfig>),
    /// A machine.
    Node(Box<SeenMachine>),
    /// What changes may disrupt.
    Disruption(Box<SeenDisruption>),
    /// What lets nothing start while it lasts (OVR-1).
    Freeze(Arc<SeenFreeze>),
    /// A namespace, by its labels.
    Namespace(Arc<Labels>),
}

/// A `MachineConfiguration` as it was last seen (NDP-1).
#[derive(Clone, Debug)]
pub struct SeenDisruption {
    /// What the administrator wants, or why it cannot be used.
    pub wanted: Wanted,
    /// What acts.
    pub status: MachineConfigurationStatus,
    /// Where its condition stands.
    pub conditions: Conditions,
}

/// A machine as those see it who give it a configuration, and as those who empty it.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenMachine {
    /// What rollouts read.
    pub node: SeenNode,
    /// What whoever drains reads, and what the agent asks of them (DRAIN-1, DRAIN-2).
    pub drain: Node,
}

/// A policy as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenPolicy {
    /// Which object.
    pub identity: Identity,
    /// What it means, or why it cannot be used.
    pub judged: Judged,
    /// What its status says.
    pub status: PolicyStatus,
}

/// A resource under change management as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenGated {
    /// Which object.
    pub identity: Identity,
    /// Its kind.
    pub kind: &'static Kind,
    /// Where its stanza and its answer stand.
    pub gating: &'static Gating,
    /// What it says about when it may change.
    pub stanza: StanzaReading,
    /// Why somebody overrode its policy, in their own words.
    pub override_reason: Option<String>,
    /// What would be initiated if there were no change management.
    pub pending: Pending,
    /// The newest change that was initiated, by whomever, where its instant is recorded.
    pub began: Option<Began>,
    /// What its status says about change management.
    pub behavior: Option<Behavior>,
    /// Where its conditions stand.
    pub conditions: Conditions,
    /// What rollouts read, if it is a pool.
    pub pool: Option<Box<SeenPool>>,
    /// What rollouts to masters read, if it is the control plane.
    pub update: Option<Box<SeenUpdate>>,
    /// What is read of a gate on what others own, if it is one.
    pub gate: Option<Box<SeenGate>>,
}

/// Where the stanza of a kind and its answer stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gating {
    /// The stanza, as a JSON pointer.
    pub stanza: &'static str,
    /// What holds the answer, as a JSON pointer: the status, or an object in it.
    pub answer: &'static str,
    /// How much is ours.
    pub ours: Ours,
}

/// How much of an object is ours to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    /// The stanza.
    Stanza,
    /// The whole specification: a field that nobody knows closes the gate (GATE-14).
    Specification,
}

/// What decisions about one kind read, and about no other.
#[derive(Clone, Debug)]
pub enum Own {
    /// Nothing.
    Nothing,
    /// What rollouts read of a pool.
    Pool(Box<SeenPool>),
    /// What rollouts to masters read of the control plane.
    Update(Box<SeenUpdate>),
    /// What is read of a gate on what others own.
    Gate(Box<SeenGate>),
}

impl Gating {
    /// A stanza of ours in an object that is somebody else's.
    pub const USUAL: Self = Self {
        stanza: "/spec/changeManagement",
        answer: "/status/changeManagement",
        ours: Ours::Stanza,
    };
    /// An object that is ours.
    pub const WHOLE: Self = Self { answer: "/status", ours: Ours::Specification, ..Self::USUAL };

    /// The field of the stanza, as people write it.
    pub fn field(&self) -> FieldPath {
        FieldPath::of(&self.stanza.trim_start_matches('/').replace('/', "."))
    }
}

/// What came of a stanza.
#[derive(Clone, Debug, PartialEq)]
pub enum StanzaReading {
    /// There is none (GATE-1).
    Absent,
    /// It can be used.
    Usable(Stanza),
    /// It cannot, for these reasons.
    Unusable(Vec<Problem>),
}

/// The conditions that are ours in a list that others write too. Where upstream lists are atomic, a condition is changed by its
/// place in the list, under the version that the place was read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Whether there is a status at all.
    pub status: Presence,
    /// Whether there is a list of conditions.
    pub list: Presence,
    /// Ours, with their places.
    placed: Vec<(usize, Condition)>,
}

impl Seen {
    /// Whether this version says nothing that decisions read and `before` did not: a kubelet writes its node every few seconds.
    pub fn repeats(&self, before: &Self) -> bool {
        let (Self::Part(after), Self::Part(before)) = (self, before) else { return false };
        match (&after.part, &before.part) {
            (Part::Node(after), Part::Node(before)) => {
                let version = before.node.resource_version.clone();
                let mut drain = after.drain.clone();
                drain.version.clone_from(&version);
                let node = SeenNode { resource_version: version, ..after.node.clone() };
                node == before.node && drain == before.drain
            }
            (Part::Freeze(after), Part::Freeze(before)) => after == before,
            (Part::Namespace(after), Part::Namespace(before)) => after == before,
            (
                Part::Config(_)
                | Part::Node(_)
                | Part::Disruption(_)
                | Part::Freeze(_)
                | Part::Namespace(_),
                _,
            ) => false,
        }
    }

    /// Whether the object was told to go to this, by whomever.
    pub fn goes_to(&self, change: &ChangeId) -> bool {
        match self {
            Self::Part(part) => match &part.part {
                Part::Node(machine) => *change == ChangeId::rendered(&machine.node.desired),
                Part::Config(_) | Part::Disruption(_) | Part::Freeze(_) | Part::Namespace(_) => {
                    false
                }
            },
            Self::Policy(_) | Self::Gated(_) => false,
        }
    }

    /// Which object.
    pub fn identity(&self) -> &Identity {
        match self {
            Self::Policy(policy) => &policy.identity,
            Self::Gated(gated) => &gated.identity,
            Self::Part(part) => &part.identity,
        }
    }
}

impl SeenPart {
    /// The freeze, if it is one.
    pub fn freeze(&self) -> Option<&Arc<SeenFreeze>> {
        match &self.part {
            Part::Freeze(freeze) => Some(freeze),
            Part::Config(_) | Part::Node(_) | Part::Disruption(_) | Part::Namespace(_) => None,
        }
    }

    /// A part, as a document has it.
    pub fn new(kind: &'static Kind, document: &Value, part: Part) -> Self {
        Self { identity: Identity::new(kind, document), part }
    }
}

impl SeenDisruption {
    /// Reads what changes may disrupt.
    pub fn new(document: &Value) -> Self {
        Self {
            wanted: disruption::wanted(document),
            status: decoded(document.get("status")).unwrap_or_default(),
            conditions: Conditions::of(document, &[NODE_DISRUPTION_POLICY_DEGRADED]),
        }
    }
}

impl SeenPolicy {
    /// Reads a policy.
    pub fn new(kind: &'static Kind, document: &Value) -> Self {
        Self {
            identity: Identity::new(kind, document),
            judged: read::policy(&judged_part(document)),
            status: decoded(document.get("status")).unwrap_or_default(),
        }
    }
}

/// The document without what others write into it: a strange status is no fault of the specification.
fn judged_part(document: &Value) -> Value {
    let mut part = document.clone();
    if let Some(fields) = part.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = part.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    part
}

impl SeenGated {
    /// Whether it is the pool of the masters, which follow `ClusterVersion` (CV-2).
    pub fn is_the_master_pool(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.name == MASTER)
    }

    /// Reads a resource under change management; what differs from kind to kind was read before.
    pub(crate) fn new(
        (kind, gating): (&'static Kind, &'static Gating),
        document: &Value,
        (pending, began): (Pending, Option<Began>),
        own: Own,
    ) -> Self {
        let (pool, update, gate) = match own {
            Own::Nothing => (None, None, None),
            Own::Pool(pool) => (Some(pool), None, None),
            Own::Update(update) => (None, Some(update), None),
            Own::Gate(gate) => (None, None, Some(gate)),
        };
        let answer = document.pointer(gating.answer);
        Self {
            identity: Identity::new(kind, document),
            kind,
            gating,
            stanza: StanzaReading::new(kind, gating, document),
            override_reason: document
                .pointer("/metadata/annotations")
                .and_then(|annotations| annotations.get(api::names::OVERRIDE_REASON))
                .and_then(Value::as_str)
                .map(str::to_owned),
            pending,
            began,
            behavior: decoded(answer.and_then(|answer| answer.get("behavior"))),
            conditions: Conditions::of(
                document,
                &[
                    api::names::READY,
                    api::names::CHANGES_PAUSED,
                    api::names::CHANGES_PENDING,
                    api::names::ENFORCED,
                    api::names::INITIATED_OUTSIDE_WINDOW,
                ],
            ),
            pool,
            update,
            gate,
        }
    }

    /// What a controller wrote on it about who keeps its gate; none if none did, or if there is no gate (GATE-13).
    pub fn enforcement(&self) -> Option<Enforcement> {
        Enforcement::of_reason(&self.conditions.get(api::names::ENFORCED)?.reason)
    }

    /// What is known of who keeps its gate, given what somebody tried since this program started: until then what was seen before stands,
    /// so that a restart writes nothing (STAT-3). What could not be tried any more is not claimed any more.
    pub fn kept(&self, tried: Option<Enforcement>) -> Enforcement {
        tried.or(self.enforcement()).unwrap_or_default()
    }

    /// Whether its status tells of freezes alone: there never was a stanza, as far as that says.
    pub fn never_had_a_stanza(&self) -> bool {
        let told = self.conditions.get(api::names::CHANGES_PAUSED);
        let words = [api::names::FROZEN, api::names::FREEZE_UNCLEAR, api::names::NO_STANZA];
        told.is_some_and(|told| words.contains(&told.reason.as_str()))
    }

    /// The policy that its stanza names, whatever the strategy (GATE-3); in its own namespace if such policies live in one, and in no
    /// other (GATE-5).
    pub fn policy(&self) -> Option<Key> {
        let StanzaReading::Usable(stanza) = &self.stanza else { return None };
        let Role::Gated { policy, .. } = self.kind.role else { return None };
        // A gate says of which kind its policy is (RCH-11).
        let kind = match self.gate.as_ref().map(|gate| gate.policy) {
            Some(PolicyKind::HostedChangeManagementPolicy) => {
                &kinds::HOSTED_CHANGE_MANAGEMENT_POLICY
            }
            Some(PolicyKind::ChangeManagementPolicy | PolicyKind::Unknown) | None => policy,
        };
        let namespace = match kind.scope {
            Scope::Cluster => None,
            Scope::Namespaced => self.identity.key.namespace.as_deref(),
        };
        Some(Key::new(kind, namespace, &stanza.by_policy.as_ref()?.name))
    }
}

impl Identity {
    fn new(kind: &'static Kind, document: &Value) -> Self {
        let text = |field: &str| {
            let found = document.get("metadata").and_then(|metadata| metadata.get(field));
            found.and_then(Value::as_str)
        };
        Self {
            key: Key::new(kind, text("namespace"), text("name").unwrap_or_default()),
            uid: text("uid").unwrap_or_default().to_owned(),
            resource_version: text("resourceVersion").unwrap_or_default().to_owned(),
            generation: document
                .pointer("/metadata/generation")
                .and_then(Value::as_i64)
                .unwrap_or(0),
            changed: changed(document),
        }
    }
}

/// When the specification was last written: the newest stamp of those who wrote anything but the status, or the creation.
pub(crate) fn changed(document: &Value) -> Option<Instant> {
    let managed = document.pointer("/metadata/managedFields").and_then(Value::as_array);
    let stamps = managed.into_iter().flatten().filter(|entry| entry.get("subresource").is_none());
    stamps
        .filter_map(|entry| entry.get("time"))
        .chain(document.pointer("/metadata/creationTimestamp"))
        .filter_map(|stamp| Instant::parse(stamp.as_str()?).ok())
        .max()
}

impl StanzaReading {
    fn new(kind: &Kind, gating: &Gating, document: &Value) -> Self {
        let nothing = Value::Null;
        let given = document.pointer(gating.stanza).unwrap_or(&nothing);
        let problems = match gating.ours {
            Ours::Stanza if given.is_null() => return Self::Absent,
            Ours::Stanza => shape::check_part(schema::stanza(), given, &gating.field()),
            // A gate is judged as a whole, because what it holds is part of it: a field that nobody knows closes it (GATE-14).
            Ours::Specification => {
                let schema = kind.schema().pointer("/properties/spec").unwrap_or(&nothing);
                let spec = document.get("spec").unwrap_or(&nothing);
                shape::check_part(schema, spec, &FieldPath::of("spec"))
            }
        };
        if problems.iter().any(Problem::is_error) {
            return Self::Unusable(problems);
        }
        match Stanza::deserialize(given) {
            Ok(stanza) => Self::Usable(stanza),
            Err(error) => {
                let problem = Problem::new(&gating.field(), Code::WrongType, error.to_string());
                Self::Unusable(vec![problem])
            }
        }
    }
}

impl Conditions {
    /// The ones that are ours.
    pub fn ours(&self) -> impl Iterator<Item = &Condition> {
        self.placed.iter().map(|(_, condition)| condition)
    }

    /// One of ours, by its type.
    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.ours().find(|condition| condition.kind == kind)
    }

    /// Its place in the list.
    pub fn place(&self, kind: &str) -> Option<usize> {
        self.placed.iter().find(|(_, condition)| condition.kind == kind).map(|(place, _)| *place)
    }

    fn of(document: &Value, ours: &[&str]) -> Self {
        let presence = |there: bool| if there { Presence::Present } else { Presence::Absent };
        let list = document.pointer("/status/conditions").and_then(Value::as_array);
        let mine = |entry: &Value| {
            entry.get("type").and_then(Value::as_str).is_some_and(|kind| ours.contains(&kind))
        };
        Self {
            status: presence(document.get("status").is_some_and(Value::is_object)),
            list: presence(list.is_some()),
            placed: list
                .into_iter()
                .flatten()
                .enumerate()
                .filter(|(_, entry)| mine(entry))
                .filter_map(|(place, entry)| Some((place, decoded(Some(entry))?)))
                .collect(),
        }
    }
}

fn decoded<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.and_then(|value| T::deserialize(value).ok())
}
