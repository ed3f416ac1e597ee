//! What may a pod say, and what may change in it?

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    meta,
    name::{self, NameRule},
    status::Cause,
};

pub(super) fn problems(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let containers = meta::at(object, &["spec", "containers"]).and_then(Value::as_array);
    if containers.is_none_or(Vec::is_empty) {
        causes.push(Cause::required("spec.containers", ""));
    }
    let mut seen = BTreeSet::new();
    for (index, container) in containers.into_iter().flatten().enumerate() {
        let at = |key: &str| format!("spec.containers[{index}].{key}");
        let text = |key: &str| container.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = text("name");
        for key in ["name", "image"].into_iter().filter(|key| text(key).is_empty()) {
            causes.push(Cause::required(at(key), ""));
        }
        if !name.is_empty() {
            for problem in name::problems(NameRule::Label, name) {
                causes.push(Cause::invalid(at("name"), &format!("{name:?}"), &problem));
            }
            if !seen.insert(name) {
                causes.push(Cause::duplicate(at("name"), &format!("{name:?}")));
            }
        }
    }
    let policy = meta::text_at(object, &["spec", "restartPolicy"]);
    if !matches!(policy, "" | "Always" | "OnFailure" | "Never") {
        let known = ["Always", "OnFailure", "Never"];
        causes.push(Cause::not_supported("spec.restartPolicy", &format!("{policy:?}"), &known));
    }
    let Some(old) = old else { return causes };
    let count = |pod: &Value| {
        meta::at(pod, &["spec", "containers"]).and_then(Value::as_array).map_or(0, Vec::len)
    };
    if count(object) != count(old) {
        let why = "pod updates may not add or remove containers";
        causes.push(Cause::forbidden("spec.containers", why));
        return causes;
    }
    // Images may change, so they are looked at once more.
    let again: Vec<Cause> =
        causes.iter().filter(|cause| cause.field.ends_with("].image")).cloned().collect();
    causes.extend(again);
    // Of a pod's spec only images, deadlines, tolerations and gates may change.
    let masked = |pod: &Value| {
        let mut spec = pod.get("spec").cloned().unwrap_or_default();
        if let Some(map) = spec.as_object_mut() {
            for key in [
                "activeDeadlineSeconds",
                "tolerations",
                "schedulingGates",
                "terminationGracePeriodSeconds",
            ] {
                map.remove(key);
            }
            for key in ["containers", "initContainers"] {
                let list = map.get_mut(key).and_then(Value::as_array_mut);
                for container in list.into_iter().flatten().filter_map(Value::as_object_mut) {
                    container.remove("image");
                }
            }
        }
        spec
    };
    if masked(object) != masked(old) {
        causes.push(Cause::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ));
    }
    causes
}
