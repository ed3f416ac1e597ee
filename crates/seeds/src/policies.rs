//! Admission policies with a hole: the shipped documents changed, or the one of 0.1.0 with some of its holes closed.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// The policy of 0.1.0 that guards marks.
static OLD: LazyLock<Value> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("permits-0.1.0.yaml")).unwrap());

fn is_called(document: &Value, end: &str) -> bool {
    let name = document["metadata"]["name"].as_str().unwrap_or_default();
    name.ends_with(end) && document["kind"] == "ValidatingAdmissionPolicy"
}

/// The old policy in the place of the shipped one, with something changed.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
fn old(document: Value, change: fn(&mut Value)) -> Option<Value> {
    if !is_called(&document, "-permits") {
        return Some(document);
    }
    let mut old = OLD.clone();
    old["metadata"]["name"] = document["metadata"]["name"].clone();
    let status = json!(["nodes", "nodes/status"]);
    old["spec"]["matchConstraints"]["resourceRules"][0]["resources"] = status;
    change(&mut old);
    Some(old)
}

fn variable(policy: &mut Value, name: &str, expression: &str) {
    let all = policy["spec"]["variables"].as_array_mut();
    for one in all.into_iter().flatten().filter(|one| one["name"] == name) {
        one["expression"] = json!(expression);
    }
}

/// Nobody looks at `nodes/status`.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn without_status(mut document: Value) -> Option<Value> {
    let rules = document.pointer_mut("/spec/matchConstraints/resourceRules");
    for rule in rules.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(resources) = rule["resources"].as_array_mut() {
            resources.retain(|one| one != "nodes/status");
            resources
                .iter_mut()
                .filter(|one| **one == "nodes/*")
                .for_each(|one| *one = json!("nodes"));
        }
    }
    Some(document)
}

/// Nobody asks whether nodes are frozen: neither what holds the operator's own marks, nor what holds those of a stock machine-config-operator.
pub(crate) fn without_freezes(document: Value) -> Option<Value> {
    let name = document["metadata"]["name"].as_str().unwrap_or_default();
    let keeps = ["-cluster-freeze-nodes", "-cluster-freeze-machine-config-pools"];
    let is_of_freezes = keeps.iter().any(|keeps| name.ends_with(keeps));
    (!is_of_freezes).then_some(document)
}

/// A node that joins with what it runs starts nothing, whoever says that it does.
pub(crate) fn join_as_written(document: Value) -> Option<Value> {
    if is_called(&document, "-records") {
        return None;
    }
    old(document, |_| {})
}

/// An order is an order, unless the node is told to stay as it is.
const ORDERS: &str = "variables.desired != variables.desiredBefore && !(variables.desiredBefore == '' && \
    'machineconfiguration.openshift.io/currentConfig' in variables.notedBefore && \
    variables.desired == variables.notedBefore['machineconfiguration.openshift.io/currentConfig'])";

/// The newest stamp is now, also for the end of a permit.
pub(crate) fn by_newest_stamp(document: Value) -> Option<Value> {
    old(document, |policy| {
        variable(policy, "initiates", ORDERS);
        let rules = policy["spec"]["validations"].as_array_mut();
        for rule in rules.into_iter().flatten() {
            let text = rule["expression"].as_str().unwrap_or_default();
            let text = text.replace(
                "variables.stamps.all(stamp, stamp < timestamp(variables.until))",
                "variables.stamps.max() < timestamp(variables.until)",
            );
            rule["expression"] = json!(text);
        }
    })
}

/// Every stamp counts, whoever wrote it.
pub(crate) fn every_stamp(document: Value) -> Option<Value> {
    old(document, |policy| {
        variable(policy, "initiates", ORDERS);
    })
}

/// Nobody keeps the records.
pub(crate) fn without_records(document: Value) -> Option<Value> {
    let bound = document["spec"]["policyName"].as_str().unwrap_or_default();
    let name = document["metadata"]["name"].as_str().unwrap_or_default();
    let ends = |name: &str| name.ends_with("-records");
    (!ends(name) && !ends(bound)).then_some(document)
}

/// A node may let itself go.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn with_own_consent(mut document: Value) -> Option<Value> {
    if is_called(&document, "-records")
        && let Some(rules) = document["spec"]["validations"].as_array_mut()
    {
        rules.retain(|rule| {
            !rule["expression"].as_str().unwrap_or_default().contains("variables.consents")
        });
    }
    Some(document)
}

/// Nobody looks at nodes that are created.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn without_create(mut document: Value) -> Option<Value> {
    let rules = document.pointer_mut("/spec/matchConstraints/resourceRules");
    for rule in rules.and_then(Value::as_array_mut).into_iter().flatten() {
        rule["operations"] = json!(["UPDATE"]);
    }
    Some(document)
}

/// Nobody looks at an order that is taken away.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn without_removal(mut document: Value) -> Option<Value> {
    if is_called(&document, "-permits") {
        let conditions = document["spec"]["matchConditions"].as_array_mut();
        let given = json!({"name": "given", "expression":
            "has(object.metadata.annotations) && \
             'machineconfiguration.openshift.io/desiredConfig' in object.metadata.annotations"});
        if let Some(conditions) = conditions {
            conditions.push(given);
        }
    }
    Some(document)
}

/// Any stamp that was inside will do, also an old one.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn by_any_stamp(mut document: Value) -> Option<Value> {
    if is_called(&document, "-permits") {
        let stamps = "object.metadata.managedFields.filter(entry, has(entry.time)).map(entry, timestamp(entry.time))";
        variable(&mut document, "fresh", stamps);
        for rule in document["spec"]["validations"].as_array_mut().into_iter().flatten() {
            let text = rule["expression"].as_str().unwrap_or_default();
            rule["expression"] = json!(text.replace("fresh.all(", "fresh.exists("));
        }
    }
    Some(document)
}

/// Definitions that throw away what they do not know, as those of 0.1.0 did.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn pruning(mut document: Value) -> Option<Value> {
    fn prune(schema: &mut Value) {
        match schema {
            Value::Object(fields) => {
                if fields.contains_key("properties") {
                    fields.remove("x-kubernetes-preserve-unknown-fields");
                }
                fields.values_mut().for_each(prune);
            }
            Value::Array(some) => some.iter_mut().for_each(prune),
            _ => {}
        }
    }
    if document["spec"]["names"]["kind"] == api::names::CHANGE_MANAGEMENT_POLICY {
        prune(&mut document["spec"]["versions"]);
    }
    Some(document)
}

/// Nobody looks at the clock.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn untimed(mut document: Value) -> Option<Value> {
    if is_called(&document, "-permits")
        && let Some(rules) = document["spec"]["validations"].as_array_mut()
    {
        rules.retain(|rule| {
            let text = rule["expression"].as_str().unwrap_or_default();
            !text.contains("stamp") && !text.contains("fresh")
        });
    }
    Some(document)
}
