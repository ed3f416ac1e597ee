//! What of an object do decisions read? Narrow, immutable values made once from each document that arrives.
//!
//! Total: a document that cannot be read gives a value that says so, and a closed gate (GATE-2, POL-8). Whatever is not read here is
//! dropped, because ten thousand resources must fit into a small pod.

use std::sync::Arc;

use api::{
    kinds,
    machine::{
        disruption::MachineConfigurationStatus,
        names::{MASTER, NODE_DISRUPTION_POLICY_DEGRADED, PERMIT_BASIS},
    },
    meta::ConditionStatus,
    policy::Behavior,
    reach::PolicyKind,
    schema::{Kind, Role},
    version_management::VersionManagementStatus,
};
use schedule::{Instant, TimeSet};
use serde_json::Value;

use crate::{
    document::{
        conditions::{Conditions, decoded},
        identity::Identity,
        key::Key,
        problem::{Code, FieldPath, Problem},
    },
    drain::node::Node,
    gate::{
        change::ChangeId,
        enforced::Enforcement,
        pending::{Began, Pending},
    },
    hosted::{Hosted, pool::SeenNodePool, project::Projected},
    node::disruption::{self, WantedPolicies},
    policy::{
        freeze::{Labels, SeenFreeze},
        guardrail::SeenGuardrail,
        overrides::SeenOverride,
        seen::SeenPolicy,
        stanza::{Gating, Ours, SPELLINGS, SeenStanza, StanzaReading},
        version,
    },
    pool::{
        seen::{SeenNode, SeenPool},
        source::SeenConfig,
        update::SeenUpdate,
    },
    reach::{seen::SeenGate, target::SeenTarget},
    release::SeenPlane,
};

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

/// What decisions about others read: what pools are made of, freezes and overrides, and where those hold.
#[derive(Clone, Debug)]
pub enum Part {
    /// A configuration, written or rendered.
    Config(Box<SeenConfig>),
    /// A node.
    Node(Box<SeenMachine>),
    /// What changes may disrupt.
    Disruption(Box<SeenDisruption>),
    /// What lets nothing start while it lasts (OVR-1).
    Freeze(Arc<SeenFreeze>),
    /// What opens one gate while it lasts (OVR-2).
    Override(Arc<SeenOverride>),
    /// What the others must be like (GRD-1).
    Guardrail(Arc<SeenGuardrail>),
    /// A namespace, by its labels.
    Namespace(Arc<Labels>),
    /// What gates may hold, or what its controller made of it (RCH-12).
    Target(Arc<SeenTarget>),
    /// A configuration of hosted nodes, by the digest of its text; none if it holds none.
    Text(Option<Box<str>>),
}

/// A `MachineConfiguration` as it was last seen (NDP-1).
#[derive(Clone, Debug)]
pub struct SeenDisruption {
    /// What the administrator wants, or why it cannot be used.
    pub wanted: WantedPolicies,
    /// What acts.
    pub status: MachineConfigurationStatus,
    /// Where its condition stands.
    pub conditions: Conditions,
}

/// A node as those see it who give it a configuration, and as those who empty it.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenMachine {
    /// What rollouts read.
    pub node: SeenNode,
    /// What whoever drains reads, and what the agent asks of them (DRAIN-1, DRAIN-2).
    pub drain: Node,
}

/// A resource under change management as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenGated {
    /// Which object.
    pub identity: Identity,
    /// Its kind.
    pub kind: &'static Kind,
    /// What it says about when it may change.
    pub stanza: SeenStanza,
    /// What would be initiated if there were no change management.
    pub pending: Pending,
    /// The newest change that was initiated, by whomever, where its instant is recorded.
    pub began: Option<Began>,
    /// What the permit rests on that the newest of them was let begin with, in words (HIST-1).
    pub permit_basis: Option<String>,
    /// What its status says about change management.
    pub behavior: Option<Behavior>,
    /// What its status says about the next window, where that is told (D4-2).
    pub told_windows: Option<Box<VersionManagementStatus>>,
    /// Where its conditions stand.
    pub conditions: Conditions,
    /// What rollouts read, if it is a pool.
    pub pool: Option<Box<SeenPool>>,
    /// What rollouts to masters read, if it is the control plane.
    pub update: Option<Box<SeenUpdate>>,
    /// What is read of a hosted cluster or of its nodes, if it is one of these.
    pub hosted: Option<Box<Hosted>>,
    /// What is read of a gate on what others own, if it is one.
    pub gate: Option<Box<SeenGate>>,
    /// What it is a projection of, if it is the control plane inside a hosted cluster (HOST-2).
    pub projected: Option<Box<Projected>>,
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
    /// What is read of a hosted cluster or of its nodes.
    Hosted(Box<Hosted>),
    /// What is read of a gate on what others own.
    Gate(Box<SeenGate>),
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
            (Part::Override(after), Part::Override(before)) => after == before,
            (Part::Guardrail(after), Part::Guardrail(before)) => after == before,
            (Part::Namespace(after), Part::Namespace(before)) => after == before,
            (Part::Target(after), Part::Target(before)) => after == before,
            (Part::Text(after), Part::Text(before)) => after == before,
            (
                Part::Config(_)
                | Part::Node(_)
                | Part::Disruption(_)
                | Part::Freeze(_)
                | Part::Override(_)
                | Part::Guardrail(_)
                | Part::Namespace(_)
                | Part::Target(_)
                | Part::Text(_),
                _,
            ) => false,
        }
    }

    /// Whether the object was told to go to this, by whomever.
    pub fn goes_to(&self, change: &ChangeId) -> bool {
        match self {
            Self::Part(part) => match &part.part {
                Part::Node(machine) => *change == ChangeId::rendered(&machine.node.desired),
                Part::Config(_)
                | Part::Disruption(_)
                | Part::Freeze(_)
                | Part::Override(_)
                | Part::Guardrail(_)
                | Part::Namespace(_)
                | Part::Target(_)
                | Part::Text(_) => false,
            },
            Self::Gated(gated) => {
                let handed = gated.node_pool().and_then(|pool| pool.mark.as_ref());
                let marked = gated.plane().and_then(|plane| plane.mark.as_ref());
                handed.is_some_and(|mark| *change == ChangeId::rendered(&mark.target.config))
                    || marked
                        .is_some_and(|mark| *change == ChangeId::release(&mark.release.version))
            }
            Self::Policy(_) => false,
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
            Part::Config(_)
            | Part::Node(_)
            | Part::Disruption(_)
            | Part::Override(_)
            | Part::Guardrail(_)
            | Part::Namespace(_)
            | Part::Target(_)
            | Part::Text(_) => None,
        }
    }

    /// The override, if it is one.
    pub fn overriding(&self) -> Option<&Arc<SeenOverride>> {
        match &self.part {
            Part::Override(overriding) => Some(overriding),
            Part::Config(_)
            | Part::Node(_)
            | Part::Disruption(_)
            | Part::Freeze(_)
            | Part::Guardrail(_)
            | Part::Namespace(_)
            | Part::Target(_)
            | Part::Text(_) => None,
        }
    }

    /// The guardrail, if it is one.
    pub fn guardrail(&self) -> Option<&Arc<SeenGuardrail>> {
        match &self.part {
            Part::Guardrail(guardrail) => Some(guardrail),
            Part::Config(_)
            | Part::Node(_)
            | Part::Disruption(_)
            | Part::Freeze(_)
            | Part::Override(_)
            | Part::Namespace(_)
            | Part::Target(_)
            | Part::Text(_) => None,
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
        let (mut pool, mut update, mut hosted, mut gate) = (None, None, None, None);
        match own {
            Own::Nothing => {}
            Own::Pool(own) => pool = Some(own),
            Own::Update(own) => update = Some(own),
            Own::Hosted(own) => hosted = Some(own),
            Own::Gate(own) => gate = Some(own),
        }
        let projected = update.as_ref().and_then(|_| Projected::read(document)).map(Box::new);
        let answer = document.pointer(gating.answer);
        let identity = Identity::new(kind, document);
        let noted = |key: &str| {
            let annotations = document.pointer("/metadata/annotations")?;
            annotations.get(key)?.as_str().map(str::to_owned)
        };
        // What a gate on others' objects says stands in one place; a resource may spell it as an earlier design does (D4-1).
        let spelled = gating.ours == Ours::Stanza && version::is_spelled(kind, document);
        let gating = if spelled { &Gating::VERSION } else { gating };
        let stanza = SeenStanza {
            object: identity.key.clone(),
            gating,
            reading: reading((kind, gating), document, gate.as_deref(), projected.as_deref()),
            override_reason: noted(api::names::OVERRIDE_REASON),
            policies: policies(kind, gate.as_deref()),
            there: SPELLINGS
                .into_iter()
                .filter(|field| {
                    document
                        .pointer(&format!("/spec/{field}"))
                        .is_some_and(|given| !given.is_null())
                })
                .collect(),
        };
        Self {
            identity,
            kind,
            stanza,
            pending,
            began,
            permit_basis: noted(PERMIT_BASIS),
            behavior: decoded(answer.and_then(|answer| answer.get("behavior"))),
            told_windows: document
                .pointer("/status/versionManagement")
                .map(|told| Box::new(decoded(Some(told)).unwrap_or_default())),
            conditions: Conditions::of(
                document,
                &[
                    api::names::READY,
                    api::names::CHANGES_PAUSED,
                    api::names::CHANGES_PENDING,
                    api::names::ENFORCED,
                    api::names::INITIATED_OUTSIDE_WINDOW,
                    api::names::SKEW_AHEAD,
                ],
            ),
            pool,
            update,
            hosted,
            gate,
            // Whoever writes a stanza beside a projection, or this beside a stanza, is told what comes of it: nothing starts.
            projected: projected.filter(|_| {
                let given =
                    |path: &&str| document.pointer(path).is_some_and(|value| !value.is_null());
                !["/spec/changeManagement", version::STANZA].iter().any(given)
            }),
        }
    }

    /// What decisions about updates read, if it is a control plane. Of the cluster only one object is it: another that somebody made beside
    /// it decides nothing.
    pub fn plane(&self) -> Option<&SeenPlane> {
        let is_it = &*self.identity.key.name == api::names::THE_CLUSTER;
        let own = self.update.as_deref().filter(|_| is_it).map(|update| &update.plane);
        own.or_else(|| self.hosted.as_deref().and_then(Hosted::plane))
    }

    /// What decisions about hosted nodes read, if it is a pool of them.
    pub fn node_pool(&self) -> Option<&SeenNodePool> {
        self.hosted.as_deref().and_then(Hosted::pool)
    }

    /// What a controller wrote on it about who keeps its gate; none if none did, or if there is no gate (GATE-13).
    pub fn enforcement(&self) -> Option<Enforcement> {
        Enforcement::of_reason(&self.conditions.get(api::names::ENFORCED)?.reason)
    }

    /// What it says about who keeps it, in the words of whoever wrote that, of a gate on what others own: which room, and why.
    pub fn said_of_enforcement(&self) -> Option<&str> {
        self.gate.as_ref()?;
        self.conditions.get(api::names::ENFORCED)?.message.as_deref()
    }

    /// The window of a gate on what others own that is open at an instant, by its edges, as the server reads its status; none if it holds
    /// then (RCH-2).
    pub fn window_of_the_server(&self, at: Instant) -> Option<(Option<Instant>, Option<Instant>)> {
        self.gate.as_deref()?.window(at).filter(|_| self.is_counted_by_the_server())
    }

    /// Every window of a gate on what others own, as the server reads its status; none if the server knows none, and holds (RCH-2).
    pub fn windows_of_the_server(&self) -> Option<TimeSet> {
        self.gate.as_deref()?.windows().filter(|_| self.is_counted_by_the_server())
    }

    fn is_counted_by_the_server(&self) -> bool {
        let ready = self.conditions.get(api::names::READY).map(|ready| ready.status);
        let observed = self.gate.as_deref().and_then(|gate| gate.observed);
        observed == Some(self.identity.generation) && ready == Some(ConditionStatus::True)
    }

    /// What is known of who keeps its gate, given what somebody tried since this program started: until then what was seen before stands,
    /// so that a restart writes nothing (STAT-3). What could not be tried any more is not claimed any more.
    pub fn kept(&self, tried: Option<Enforcement>) -> Enforcement {
        tried.or(self.enforcement()).unwrap_or_default()
    }

    /// Whether its status tells of freezes alone: there never was a stanza, as far as that says. Only what has a stanza, or had one, is told
    /// who keeps its gate, and no freeze takes that away.
    pub fn never_had_a_stanza(&self) -> bool {
        let told = self.conditions.get(api::names::CHANGES_PAUSED);
        let words = [
            api::names::FROZEN,
            api::names::FREEZE_UNCLEAR,
            api::names::OVERRIDDEN,
            api::names::NO_STANZA,
        ];
        let tells_of_freezes = told.is_some_and(|told| words.contains(&told.reason.as_str()));
        tells_of_freezes && self.conditions.get(api::names::ENFORCED).is_none()
    }

    /// The policy that its stanza names, whether it exists or not.
    pub fn policy(&self) -> Option<Key> {
        self.stanza.policy()
    }
}

/// What a stanza says. A gate that was derived has none: without what it was derived from it is closed (RCH-8). Nor has a projection: who decides is
/// outside, so that nothing starts here, whatever somebody writes into it (HOST-2).
fn reading(
    (kind, gating): (&Kind, &Gating),
    document: &Value,
    gate: Option<&SeenGate>,
    projected: Option<&Projected>,
) -> StanzaReading {
    let unusable = |field: &FieldPath, said: String| {
        StanzaReading::Unusable(vec![Problem::new(field, Code::NotAllowed, said)])
    };
    if let Some(projected) = projected {
        let said = format!("{} decides this, outside of this cluster", projected.from);
        return unusable(&FieldPath::of("metadata.annotations").key(api::names::PROJECTED), said);
    }
    match gate.and_then(|gate| gate.derived.as_ref()) {
        None if *gating == Gating::VERSION => match version::read(kind, document) {
            Ok(read) => StanzaReading::Version(Arc::new(read)),
            Err(problems) => StanzaReading::Unusable(problems),
        },
        None => StanzaReading::new(kind, gating, document),
        Some(source) => {
            let said = format!("{source} is not there, or does not say when");
            unusable(&FieldPath::of("spec.derivedFrom"), said)
        }
    }
}

/// The kind of the policies that a stanza names: a gate says itself which (RCH-11).
fn policies(kind: &Kind, gate: Option<&SeenGate>) -> Option<&'static Kind> {
    let Role::Gated { policy, .. } = kind.role else { return None };
    Some(match gate.map(|gate| gate.policy) {
        Some(PolicyKind::HostedChangeManagementPolicy) => &kinds::HOSTED_CHANGE_MANAGEMENT_POLICY,
        Some(PolicyKind::ChangeManagementPolicy | PolicyKind::Unknown) | None => policy,
    })
}
