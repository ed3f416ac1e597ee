//! What does a resource say about when it may change? Its stanza, read and understood.

use std::sync::Arc;

use api::{
    schema::{self, Kind, Scope},
    stanza::{Stanza, StanzaStrategy},
};
use schedule::Instant;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::{
    document::{
        format,
        key::Key,
        problem::{Code, FieldPath, Problem},
        shape,
    },
    policy::version::{self, VersionManaged},
};

/// The stanza of one object as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenStanza {
    /// The object that has it.
    pub object: Key,
    /// Where it stands in the object, and where its answer does.
    pub gating: &'static Gating,
    /// What it says.
    pub reading: StanzaReading,
    /// Why somebody overrode the policy, in their own words.
    pub override_reason: Option<String>,
    /// The kind of the policies that it can name; none if it can name none.
    pub policies: Option<&'static Kind>,
    /// Which fields of a specification that say when are there, usable or not.
    pub there: Vec<&'static str>,
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

/// What came of a stanza.
#[derive(Clone, Debug, PartialEq)]
pub enum StanzaReading {
    /// There is none (GATE-1).
    Absent,
    /// It can be used.
    Usable(Stanza),
    /// It can be used, and is spelled as an earlier design does (D4-1).
    Version(Arc<VersionManaged>),
    /// It cannot, for these reasons.
    Unusable(Vec<Problem>),
}

/// How a stanza decides, with its instant understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// There is no stanza (GATE-1).
    NoStanza,
    /// The stanza cannot be used.
    Unusable,
    /// As the policy says (GATE-2).
    ByPolicy,
    /// Always (GATE-3).
    Permissive,
    /// Never (GATE-3).
    Restrictive,
    /// Always until then (GATE-4).
    PermissiveUntil(Instant),
    /// Never until then (GATE-4).
    RestrictiveUntil(Instant),
    /// As `versionManagement` says (D4-1).
    Version,
}

impl Gating {
    /// A stanza of ours in an object that is somebody else's.
    pub const USUAL: Self = Self {
        stanza: "/spec/changeManagement",
        answer: "/status/changeManagement",
        ours: Ours::Stanza,
    };
    /// The same in the spelling of an earlier design (D4-1). The answer stands where it always does.
    pub const VERSION: Self = Self { stanza: version::STANZA, ..Self::USUAL };
    /// An object that is ours.
    pub const WHOLE: Self = Self { answer: "/status", ours: Ours::Specification, ..Self::USUAL };

    /// The field of the stanza, as people write it.
    pub fn field(&self) -> FieldPath {
        FieldPath::of(&self.stanza.trim_start_matches('/').replace('/', "."))
    }
}

/// The fields of a specification that say when: one of them, or none.
pub(crate) const SPELLINGS: [&str; 2] = ["changeManagement", "versionManagement"];

impl SeenStanza {
    /// What somebody wrote into a field that says when, as far as it can be used: null if it is not there, and false if it cannot be read.
    pub(crate) fn written(&self, spelling: &str) -> Value {
        match &self.reading {
            _ if !self.there.contains(&spelling) => Value::Null,
            StanzaReading::Usable(stanza) => json!(stanza),
            StanzaReading::Version(read) => json!(read.given),
            StanzaReading::Absent | StanzaReading::Unusable(_) => Value::Bool(false),
        }
    }

    /// Whether it is paused until somebody starts an update (D4-4).
    pub fn waits_for_a_start(&self) -> bool {
        matches!(&self.reading, StanzaReading::Version(read)
            if read.pause == version::Pause::Assisted && read.is_enforcing())
    }

    /// Whether it is spelled as an earlier design does, usable or not (D4-1).
    pub fn is_version_managed(&self) -> bool {
        self.gating.stanza == version::STANZA
    }

    /// Whether it leaves anything to the policy that it names.
    pub(crate) fn asks_its_policy(&self) -> bool {
        let StanzaReading::Usable(stanza) = &self.reading else { return false };
        match stanza.strategy {
            StanzaStrategy::Permissive | StanzaStrategy::Restrictive => false,
            StanzaStrategy::ByPolicy
            | StanzaStrategy::PermissiveUntil
            | StanzaStrategy::RestrictiveUntil
            | StanzaStrategy::Unknown => true,
        }
    }

    /// The policy that it names, whatever the strategy (GATE-3); in the object's own namespace if such policies live in one, and in no
    /// other (GATE-5).
    pub fn policy(&self) -> Option<Key> {
        let StanzaReading::Usable(stanza) = &self.reading else { return None };
        let policies = self.policies?;
        let namespace = match policies.scope {
            Scope::Cluster => None,
            Scope::Namespaced => self.object.namespace.as_deref(),
        };
        Some(Key::new(policies, namespace, &stanza.by_policy.as_ref()?.name))
    }
}

impl StanzaReading {
    /// What a document says.
    pub(crate) fn new(kind: &Kind, gating: &Gating, document: &Value) -> Self {
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

/// How a stanza decides; a problem if it says so in a way that cannot be used.
pub(crate) fn form(stanza: &Stanza, gating: &Gating) -> Result<Form, Box<Problem>> {
    let path = gating.field();
    let until = |field: &str, given: &Option<String>| {
        let path = path.key(field);
        let Some(text) = given else {
            let detail = format!("{field} is required with this strategy");
            return Err(Box::new(Problem::new(&path, Code::MissingField, detail)));
        };
        format::date_time(text).map_err(|flaw| Box::new(flaw.of(&path)))
    };
    let Stanza { strategy, by_policy, permissive_until, restrictive_until } = stanza;
    match strategy {
        StanzaStrategy::ByPolicy if by_policy.is_none() => Err(Box::new(Problem::new(
            &path.key("byPolicy"),
            Code::MissingField,
            "byPolicy is required when strategy is ByPolicy",
        ))),
        StanzaStrategy::ByPolicy => Ok(Form::ByPolicy),
        StanzaStrategy::Permissive => Ok(Form::Permissive),
        StanzaStrategy::Restrictive => Ok(Form::Restrictive),
        StanzaStrategy::PermissiveUntil => {
            Ok(Form::PermissiveUntil(until("permissiveUntil", permissive_until)?))
        }
        StanzaStrategy::RestrictiveUntil => {
            Ok(Form::RestrictiveUntil(until("restrictiveUntil", restrictive_until)?))
        }
        StanzaStrategy::Unknown => Err(Box::new(Problem::new(
            &path.key("strategy"),
            Code::NotAllowed,
            "the strategy is not one that this build knows",
        ))),
    }
}
