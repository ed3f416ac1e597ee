//! A policy, with its expressions compiled.

use std::sync::Arc;

use kube_cel::cel::Program;
use serde_json::Value;

use crate::{
    meta,
    schema::cel::{Compiled as Expression, compile},
};

/// A policy with its expressions compiled; kept as long as the policy does not change.
pub(super) struct Compiled {
    pub(super) version: u64,
    pub(super) policy: Value,
    pub(super) conditions: Vec<(String, Expression)>,
    pub(super) variables: Vec<Variable>,
    pub(super) validations: Vec<Validation>,
    pub(super) fails_open: bool,
}

pub(super) struct Variable {
    pub(super) name: String,
    pub(super) program: Expression,
    /// Whether it is made of others.
    pub(super) composed: bool,
}

pub(super) struct Validation {
    pub(super) expression: String,
    pub(super) program: Expression,
    pub(super) message: Option<String>,
    pub(super) message_program: Option<Arc<Program>>,
    pub(super) reason: String,
}

pub(super) fn list<'a>(object: &'a Value, path: &[&str]) -> impl Iterator<Item = &'a Value> {
    meta::at(object, path).and_then(Value::as_array).into_iter().flatten()
}

pub(super) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Variable {
    pub(super) fn new(name: &str, expression: &str) -> Self {
        let program = compile(expression);
        let asks = |program: &Arc<Program>| program.references().has_variable("variables");
        Self { composed: program.as_ref().is_ok_and(asks), name: name.to_owned(), program }
    }

    /// Why it cannot be evaluated, if it cannot.
    pub(super) fn fault(&self) -> Option<&str> {
        self.program.as_ref().err().map(String::as_str)
    }
}

impl Compiled {
    pub(super) fn read(policy: Value, version: u64) -> Self {
        let named = |part: &str| -> Vec<(String, Expression)> {
            list(&policy, &["spec", part])
                .map(|item| (text(item, "name").to_owned(), compile(text(item, "expression"))))
                .collect()
        };
        let variables = list(&policy, &["spec", "variables"])
            .map(|item| Variable::new(text(item, "name"), text(item, "expression")));
        let validations = list(&policy, &["spec", "validations"]).map(|item| Validation {
            expression: text(item, "expression").to_owned(),
            program: compile(text(item, "expression")),
            message: item.get("message").and_then(Value::as_str).map(str::to_owned),
            message_program: Some(text(item, "messageExpression"))
                .filter(|e| !e.is_empty())
                .and_then(|e| compile(e).ok()),
            reason: text(item, "reason").to_owned(),
        });
        Self {
            version,
            conditions: named("matchConditions"),
            variables: variables.collect(),
            validations: validations.collect(),
            fails_open: meta::text_at(&policy, &["spec", "failurePolicy"]) == "Ignore",
            policy,
        }
    }
}
