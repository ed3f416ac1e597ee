//! Which rules are in no schema?
//!
//! The real server has them in code, kind by kind, and so has this one: what its clients meet in practice, in its words.

use serde_json::Value;

use crate::{
    meta,
    registry::{Nature, crd},
    status::Cause,
};

/// The checks that are not in any schema.
pub(crate) fn problems(nature: Nature, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if is_core(nature) {
        finalizer_problems(object, &mut causes);
    }
    match nature {
        Nature::Pod => causes.extend(super::pod::problems(object, old)),
        Nature::ConfigMap | Nature::Secret => {
            causes.extend(super::texts::problems(nature, object, old));
        }
        Nature::DisruptionBudget => {
            let has = |key: &str| meta::at(object, &["spec", key]).is_some();
            if has("minAvailable") && has("maxUnavailable") {
                let shown = object.get("spec").map(Value::to_string).unwrap_or_default();
                causes.push(Cause::invalid(
                    "spec",
                    &shown,
                    "minAvailable and maxUnavailable cannot be both set",
                ));
            }
        }
        Nature::Definition => {
            causes.extend(crd::problems(object));
            causes.extend(old.map(|old| crd::changed_names(old, object)).unwrap_or_default());
        }
        Nature::Policy => causes.extend(crate::admission::policy::problems(object)),
        Nature::Binding => {
            if meta::text_at(object, &["spec", "policyName"]).is_empty() {
                causes.push(Cause::required("spec.policyName", ""));
            }
            let actions =
                meta::at(object, &["spec", "validationActions"]).and_then(Value::as_array);
            if actions.is_none_or(Vec::is_empty) {
                causes.push(Cause::required(
                    "spec.validationActions",
                    "at least one validation action is required",
                ));
            }
        }
        Nature::Workload(kind) => causes.extend(super::workload::problems(kind, object, old)),
        Nature::Node => causes.extend(super::node::problems(object, old)),
        Nature::Namespace => {
            let own = meta::at(object, &["spec", "finalizers"]).and_then(Value::as_array);
            for finalizer in own.into_iter().flatten().filter_map(Value::as_str) {
                if let Some(why) = unqualified(finalizer) {
                    causes.push(Cause::invalid("spec.finalizers", &format!("{finalizer:?}"), why));
                }
            }
        }
        Nature::Lease => {
            for (key, least, why) in [
                ("leaseDurationSeconds", 1, "must be greater than 0"),
                ("leaseTransitions", 0, "must be greater than or equal to 0"),
            ] {
                let number = meta::at(object, &["spec", key]).and_then(Value::as_i64);
                if let Some(number) = number.filter(|n| *n < least) {
                    causes.push(Cause::invalid(format!("spec.{key}"), &number.to_string(), why));
                }
            }
        }
        Nature::Event => {
            let regarding = meta::text_at(object, &["involvedObject", "namespace"]);
            let own = meta::namespace(object);
            if !regarding.is_empty() && regarding != own {
                causes.push(Cause::invalid(
                    "involvedObject.namespace",
                    &format!("{regarding:?}"),
                    "does not match event.namespace",
                ));
            }
        }
        _ => {}
    }
    causes
}

/// The kinds of the core group share a stricter rule for finalizers.
fn is_core(nature: Nature) -> bool {
    matches!(
        nature,
        Nature::Namespace
            | Nature::Node
            | Nature::Pod
            | Nature::ConfigMap
            | Nature::Secret
            | Nature::ServiceAccount
    )
}

/// What is said of a finalizer that belongs to nobody.
fn unqualified(finalizer: &str) -> Option<&'static str> {
    let standard = matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion");
    (!standard && !finalizer.contains('/'))
        .then_some("name is neither a standard finalizer name nor is it fully qualified")
}

/// How often the real server says what is wrong with the metadata of a changed object: as often as its layers look.
pub(crate) fn repeats(nature: Nature, cause: &Cause) -> usize {
    match (cause.field.as_str(), is_core(nature)) {
        ("metadata.labels" | "metadata.annotations", true) => 4,
        ("metadata.labels" | "metadata.annotations", false) => 3,
        ("metadata.finalizers", true) => 2,
        _ => 1,
    }
}

fn finalizer_problems(object: &Value, causes: &mut Vec<Cause>) {
    for (index, finalizer) in meta::strings(object, "finalizers").into_iter().enumerate() {
        if let Some(why) = unqualified(finalizer) {
            let field = format!("metadata.finalizers[{index}]");
            causes.push(Cause::invalid(field, &format!("{finalizer:?}"), why));
        }
    }
}
