//! Which policy is this document, and can it be used?
//!
//! The one way from a document to a policy: its kind, its shape, its meaning. Every problem of all three is reported, and a
//! document with an error yields no policy, so that nobody acts on half of one (POL-8). Resources under change management are judged
//! beside them, for those who write both into one folder.

use api::{
    policy::{ChangeManagementPolicy, PolicySpec},
    schema::{
        FREEZES, GATED, GUARDRAILS, KINDS, Kind, OVERRIDES, Role, Scope, freeze_named, gated_named,
        guardrail_named, override_named,
    },
};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    document::{
        nearest::nearest,
        problem::{Code, FieldPath, Object, Problem, quoted},
        shape,
    },
    policy::{
        lower::{Lowered, exclusion_problems, lower, permit_problems},
        version,
    },
};

mod freeze;
mod guardrail;
mod overrides;

pub use freeze::freeze;
pub use guardrail::guardrail;
pub use overrides::overriding;

/// A policy that can be used.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Which object it is.
    pub object: Object,
    /// What its author wrote.
    pub spec: PolicySpec,
    /// What it means.
    pub lowered: Lowered,
}

/// What came of a document.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Which object it claims to be.
    pub object: Object,
    /// The policy, unless a problem is an error.
    pub policy: Option<Policy>,
    /// Everything that is wrong, warnings included.
    pub problems: Vec<Problem>,
}

/// Judges one document, a policy, a resource under change management, a freeze, an override or a guardrail.
pub fn document(document: &Value) -> Judged {
    let name = document.get("kind").and_then(Value::as_str);
    if name.and_then(freeze_named).is_some() {
        judged(document, of_kind(document, FREEZES, freeze))
    } else if name.and_then(override_named).is_some() {
        judged(document, of_kind(document, OVERRIDES, overriding))
    } else if name.and_then(guardrail_named).is_some() {
        judged(document, of_kind(document, GUARDRAILS, guardrail))
    } else if name.and_then(gated_named).is_some() {
        resource(document)
    } else {
        policy(document)
    }
}

/// What is wrong with an object of one of these kinds, whose specification is judged so.
fn of_kind(
    document: &Value,
    kinds: &'static [Kind],
    spec: fn(&'static Kind, &Value) -> Vec<Problem>,
) -> Vec<Problem> {
    match kind_of(document, kinds) {
        Err(problem) => vec![*problem],
        Ok(kind) => {
            let mut problems = shape::check(kind.schema(), document);
            problems.retain(|problem| !FieldPath::of("spec").holds(&problem.field));
            problems.extend(spec(kind, document));
            problems
        }
    }
}

fn judged(document: &Value, mut problems: Vec<Problem>) -> Judged {
    let object = object_of(document);
    for problem in &mut problems {
        problem.object = Some(object.clone());
    }
    Judged { object, policy: None, problems }
}

/// Judges a resource under change management, as far as it is ours: its names, and the stanza and what else we read of its
/// specification. Its status is written by others.
fn resource(document: &Value) -> Judged {
    let problems = match kind_of(document, GATED) {
        Err(problem) => vec![*problem],
        Ok(kind) => {
            let mut problems = shape::check(kind.schema(), document);
            problems.retain(|problem| !FieldPath::of("status").holds(&problem.field));
            problems.extend(scope_problem(kind, document));
            for problem in version::problems(kind, document) {
                // What the shape check says is in the author's words, and once is enough.
                if !problems.iter().any(|said| problem.field.holds(&said.field)) {
                    problems.push(problem);
                }
            }
            problems
        }
    };
    judged(document, problems)
}

/// Judges one document, which should be a policy.
pub fn policy(document: &Value) -> Judged {
    let object = object_of(document);
    let mut problems = Vec::new();
    let mut policy = None;
    match kind_of(document, KINDS) {
        Err(problem) => problems.push(*problem),
        Ok(kind) => {
            problems = shape::check(kind.schema(), document);
            for problem in &mut problems {
                judge_rrule(problem, document);
            }
            problems.extend(scope_problem(kind, document));
            // Both kinds share one specification, and differ on the wire by name only.
            let meant = match ChangeManagementPolicy::deserialize(document) {
                Ok(typed) => {
                    let lowered = lower(&typed.spec);
                    let problems = lowered.problems.clone();
                    policy = Some(Policy { object: object.clone(), spec: typed.spec, lowered });
                    problems
                }
                Err(_) => parts_problems(document),
            };
            for problem in meant {
                // What the shape check says is in the author's words, and once is enough.
                if !problems.iter().any(|said| problem.field.holds(&said.field)) {
                    problems.push(problem);
                }
            }
            if policy.is_none() && !problems.iter().any(Problem::is_error) {
                let detail = "the document does not decode, though its schema allows it";
                problems.push(Problem::new(&FieldPath::root(), Code::WrongType, detail));
            }
        }
    }
    for problem in &mut problems {
        problem.object = Some(object.clone());
    }
    if problems.iter().any(Problem::is_error) {
        policy = None;
    }
    Judged { object, policy, problems }
}

/// An RRULE where a recurrence belongs, as older designs write it: is it at least a rule?
fn judge_rrule(problem: &mut Problem, document: &Value) {
    let text = document.pointer("/spec/maintenanceSchedule/permit/recurrence");
    let Some(text) = text.and_then(Value::as_str).filter(|text| text.contains("FREQ=")) else {
        return;
    };
    if problem.field != FieldPath::of("spec.maintenanceSchedule.permit.recurrence") {
        return;
    }
    let said = match schedule::Rrule::parse(text).and_then(|rule| rule.recurrence()) {
        Ok(_) => "an RRULE is not read here".to_owned(),
        Err(error) => format!("an RRULE is not read here, and this one could not be: {error}"),
    };
    problem.detail = said;
    problem.hint = Some("`tidegate convert` writes an RRULE in the form of a policy".to_owned());
}

/// What is wrong with those parts of a specification that decode, where the whole does not: a fault in one stanza must not hide
/// those of the others.
fn parts_problems(document: &Value) -> Vec<Problem> {
    let path = FieldPath::of("spec.maintenanceSchedule");
    let schedule = document.pointer("/spec/maintenanceSchedule");
    let mut problems = Vec::new();
    if let Some(permit) = decoded(schedule.and_then(|schedule| schedule.get("permit"))) {
        problems.extend(permit_problems(&permit, &path.key("permit")));
    }
    let exclude = schedule.and_then(|schedule| schedule.get("exclude")).and_then(Value::as_array);
    for (place, entry) in exclude.into_iter().flatten().enumerate() {
        // Why it excludes has no bearing on when.
        let mut entry = entry.clone();
        entry.as_object_mut().and_then(|fields| fields.remove("reason"));
        if let Some(exclusion) = decoded(Some(&entry)) {
            problems.extend(exclusion_problems(&exclusion, &path.key("exclude").index(place)));
        }
    }
    problems
}

fn decoded<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.and_then(|value| T::deserialize(value).ok())
}

/// What a document says it is, as far as it says so.
pub fn object_of(document: &Value) -> Object {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str).map(str::to_owned);
    Object {
        kind: text("/kind").unwrap_or_else(|| "document".into()),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
    }
}

fn kind_of(document: &Value, kinds: &'static [Kind]) -> Result<&'static Kind, Box<Problem>> {
    let root = FieldPath::root();
    let known = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(" or ");
    if !document.is_object() {
        let detail = "this is not an object with apiVersion, kind, metadata and spec";
        let problem = Problem::new(&root, Code::WrongType, detail);
        return Err(Box::new(problem.hint(format!("write a {}", known()))));
    }
    let Some(name) = document.get("kind").and_then(Value::as_str) else {
        let problem = Problem::new(&root, Code::MissingField, "kind is missing");
        return Err(Box::new(problem.hint(format!("set kind to {}", known()))));
    };
    let Some(kind) = kinds.iter().find(|kind| kind.name == name) else {
        let mut detail = format!("unknown kind {}", quoted(name));
        if gated_named(name).is_some() {
            detail = format!("{name} is not a policy; `tidegate validate` judges it too");
        } else if let Some(meant) = nearest(name, KINDS.iter().map(|kind| kind.name)) {
            detail = format!("{detail}; did you mean {meant}?");
        }
        let problem = Problem::new(&root.key("kind"), Code::UnknownKind, detail);
        return Err(Box::new(problem.hint(format!("the kinds read here are {}", known()))));
    };
    match document.get("apiVersion").and_then(Value::as_str) {
        Some(version) if version == kind.api_version => Ok(kind),
        Some(version) => {
            let detail = format!("there is no {name} in {}", quoted(version));
            let problem = Problem::new(&root.key("apiVersion"), Code::UnknownKind, detail);
            Err(Box::new(problem.hint(format!("set apiVersion to {}", kind.api_version))))
        }
        None => {
            let problem = Problem::new(&root, Code::MissingField, "apiVersion is missing");
            Err(Box::new(problem.hint(format!("set apiVersion to {}", kind.api_version))))
        }
    }
}

/// GATE-5 rests on it: a hosted policy belongs to a namespace, a cluster's policy to none.
fn scope_problem(kind: &Kind, document: &Value) -> Option<Problem> {
    let given = document.pointer("/metadata/namespace").is_some_and(|value| !value.is_null());
    let namespace = FieldPath::of("metadata.namespace");
    match kind.scope {
        Scope::Cluster if given => Some(
            Problem::new(
                &namespace,
                Code::Conflict,
                format!("{} is cluster-scoped and has no namespace", kind.name),
            )
            .hint(match kind.role {
                Role::Policy => "remove the namespace, or use HostedChangeManagementPolicy",
                Role::Gated { .. }
                | Role::Part
                | Role::Freeze
                | Role::Override
                | Role::Guardrail => "remove the namespace",
            }),
        ),
        // A manifest without a namespace is legal: it lands in the one it is applied to.
        Scope::Cluster | Scope::Namespaced => None,
    }
}
