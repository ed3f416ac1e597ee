//! What the built-in kinds add to being stored: defaults, checks, and the two shapes of an event.

mod node;
mod pod;
mod problems;
mod texts;
mod workload;

pub(crate) use problems::{problems, repeats};
pub(crate) use workload::empty as empty_workload;

use serde_json::{Map, Value, json};

use crate::{
    meta,
    registry::{Nature, Resolved, Workload, crd},
};

/// A namespace as the server makes it.
pub(crate) fn initial_namespace(name: &str) -> Value {
    let mut namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    default(Nature::Namespace, &mut namespace);
    namespace["spec"] = json!({"finalizers": ["kubernetes"]});
    namespace
}

fn fill(map: &mut Map<String, Value>, key: &str, value: Value) {
    map.entry(key.to_owned()).or_insert(value);
}

/// Fills in what the author left out.
pub(crate) fn default(nature: Nature, object: &mut Value) {
    match nature {
        Nature::Namespace => {
            let conditions = meta::entry(object, "status").get_mut("conditions");
            for condition in conditions.and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(condition) = condition.as_object_mut() {
                    fill(condition, "lastTransitionTime", Value::Null);
                }
            }
            let name = meta::name(object).to_owned();
            if !name.is_empty() {
                let metadata = meta::of(object);
                let labels = metadata.entry("labels").or_insert_with(|| json!({}));
                if let Some(labels) = labels.as_object_mut() {
                    labels.insert("kubernetes.io/metadata.name".into(), name.into());
                }
            }
            fill(meta::entry(object, "status"), "phase", json!("Active"));
        }
        Nature::Secret => {
            let map = object.as_object_mut();
            if let Some(map) = map {
                fill(map, "type", json!("Opaque"));
                if let Some(Value::Object(plain)) = map.remove("stringData") {
                    let coded = map.entry("data").or_insert_with(|| json!({}));
                    if let Some(coded) = coded.as_object_mut() {
                        for (key, value) in plain {
                            let text = value.as_str().unwrap_or_default();
                            coded.insert(key, crate::base64::encode(text.as_bytes()).into());
                        }
                    }
                }
            }
        }
        Nature::Pod => default_pod(object),
        Nature::Workload(kind) => workload::default(kind, object),
        Nature::Node => {
            let spec = meta::entry(object, "spec");
            if let Some(range) = spec.get("podCIDR").filter(|range| *range != "").cloned() {
                fill(spec, "podCIDRs", json!([range]));
            }
            let status = meta::entry(object, "status");
            if let Some(capacity) = status.get("capacity").cloned() {
                fill(status, "allocatable", capacity);
            }
            fill(status, "daemonEndpoints", json!({"kubeletEndpoint": {"Port": 0}}));
            let about = status.entry("nodeInfo").or_insert_with(|| json!({}));
            if let Some(about) = about.as_object_mut() {
                for key in NODE_INFO {
                    fill(about, key, json!(""));
                }
            }
            complete_conditions(status, "lastHeartbeatTime");
        }
        Nature::Policy => {
            let spec = meta::entry(object, "spec");
            fill(spec, "failurePolicy", json!("Fail"));
            if let Some(matching) = spec.get_mut("matchConstraints").and_then(Value::as_object_mut)
            {
                default_matching(matching);
            }
        }
        Nature::Binding => {
            let spec = meta::entry(object, "spec");
            if let Some(matching) = spec.get_mut("matchResources").and_then(Value::as_object_mut) {
                default_matching(matching);
            }
        }
        _ => {}
    }
}

/// What the real server says of every node, known or not.
const NODE_INFO: [&str; 10] = [
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
];

/// Conditions of nodes and pods always have their times, set or not.
fn complete_conditions(status: &mut Map<String, Value>, heard: &str) {
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten().filter_map(Value::as_object_mut) {
        fill(condition, heard, Value::Null);
        fill(condition, "lastTransitionTime", Value::Null);
    }
}

fn default_matching(matching: &mut Map<String, Value>) {
    fill(matching, "matchPolicy", json!("Equivalent"));
    fill(matching, "namespaceSelector", json!({}));
    fill(matching, "objectSelector", json!({}));
    for key in ["resourceRules", "excludeResourceRules"] {
        let rules = matching.get_mut(key).and_then(Value::as_array_mut);
        for rule in rules.into_iter().flatten().filter_map(Value::as_object_mut) {
            fill(rule, "scope", json!("*"));
        }
    }
}

fn default_pod(object: &mut Value) {
    let spec = meta::entry(object, "spec");
    default_pod_spec(spec);
    fill(spec, "enableServiceLinks", json!(true));
    let status = meta::entry(object, "status");
    fill(status, "phase", json!("Pending"));
    complete_conditions(status, "lastProbeTime");
}

/// What is filled in wherever a pod is described, in a template too.
fn default_pod_spec(spec: &mut Map<String, Value>) {
    fill(spec, "restartPolicy", json!("Always"));
    fill(spec, "dnsPolicy", json!("ClusterFirst"));
    fill(spec, "terminationGracePeriodSeconds", json!(30));
    fill(spec, "schedulerName", json!("default-scheduler"));
    fill(spec, "securityContext", json!({}));
    for key in ["containers", "initContainers"] {
        let containers = spec.get_mut(key).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
            let tag = image.rsplit('/').next().unwrap_or_default();
            let floating = !tag.contains(':') || tag.ends_with(":latest");
            let pull = if floating && !tag.contains('@') { "Always" } else { "IfNotPresent" };
            fill(container, "imagePullPolicy", json!(pull));
            fill(container, "resources", json!({}));
            fill(container, "terminationMessagePath", json!("/dev/termination-log"));
            fill(container, "terminationMessagePolicy", json!("File"));
            let ports = container.get_mut("ports").and_then(Value::as_array_mut);
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                fill(port, "protocol", json!("TCP"));
            }
        }
    }
}

/// What only creation does.
pub(crate) fn on_create(kind: &Resolved, object: &mut Value) {
    match kind.ty.nature {
        Nature::Namespace => {
            object["status"] = json!({"phase": "Active"});
            fill(meta::entry(object, "spec"), "finalizers", json!(["kubernetes"]));
        }
        Nature::Pod => {
            object["status"] = json!({"phase": "Pending", "qosClass": quality(object)});
            let spec = meta::entry(object, "spec");
            fill(spec, "priority", json!(0));
            fill(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
            tolerate(spec);
        }
        Nature::Definition => {
            let stored = crd::established(object, "")["storedVersions"].clone();
            object["status"] = json!({"acceptedNames": {"kind": "", "plural": ""}, "conditions": null, "storedVersions": stored});
        }
        Nature::DisruptionBudget => {
            object["status"] = json!({"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0});
        }
        Nature::Policy => {
            if let Some(map) = object.as_object_mut() {
                map.insert("status".into(), json!({}));
            }
        }
        Nature::Workload(kind) => workload::on_create(kind, object),
        Nature::Custom if kind.version.status => {
            if let Some(map) = object.as_object_mut() {
                map.remove("status");
            }
        }
        _ => {}
    }
}

/// What admission adds to a changed object again, because its author cannot know of it.
pub(crate) fn on_update(nature: Nature, old: &Value, new: &mut Value) {
    if nature == Nature::Workload(Workload::DaemonSet) {
        workload::count_templates(old, new);
    }
    if nature != Nature::Pod {
        return;
    }
    let spec = meta::entry(new, "spec");
    for key in ["priority", "preemptionPolicy"] {
        if let Some(value) = meta::at(old, &["spec", key]) {
            fill(spec, key, value.clone());
        }
    }
    tolerate(spec);
}

/// Every pod bears for five minutes that its node is away.
fn tolerate(spec: &mut Map<String, Value>) {
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(list) = tolerations.as_array_mut() else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let known = list.iter().any(|t| {
            let k = t.get("key").and_then(Value::as_str).unwrap_or_default();
            let effect = t.get("effect").and_then(Value::as_str).unwrap_or_default();
            (k == key || k.is_empty()) && matches!(effect, "" | "NoExecute")
        });
        if !known {
            list.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
}

fn quality(pod: &Value) -> &'static str {
    let containers = meta::at(pod, &["spec", "containers"]).and_then(Value::as_array);
    let resources: Vec<&Value> =
        containers.into_iter().flatten().filter_map(|c| c.get("resources")).collect();
    let get = |r: &Value, part: &str, what: &str| r.get(part).and_then(|p| p.get(what)).cloned();
    let any = resources.iter().any(|r| {
        ["requests", "limits"]
            .iter()
            .any(|p| r.get(p).and_then(Value::as_object).is_some_and(|m| !m.is_empty()))
    });
    let full = !resources.is_empty()
        && resources.iter().all(|r| {
            ["cpu", "memory"].iter().all(|what| {
                let limit = get(r, "limits", what);
                limit.is_some() && get(r, "requests", what).is_none_or(|q| Some(q) == limit)
            })
        });
    match (any, full) {
        (_, true) => "Guaranteed",
        (true, false) => "Burstable",
        _ => "BestEffort",
    }
}

const EVENT_SHAPES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// From the stored `v1` shape to `events.k8s.io/v1`.
pub(crate) fn event_to_new_shape(object: &mut Value) {
    rename(object, EVENT_SHAPES);
    if let Some(map) = object.as_object_mut() {
        map.retain(|key, value| !(key.starts_with("reporting") && value.as_str() == Some("")));
    }
}

/// What stored events always have, set or not.
pub(crate) fn complete_event(object: &mut Value) {
    if let Some(map) = object.as_object_mut() {
        for key in ["eventTime", "firstTimestamp", "lastTimestamp"] {
            fill(map, key, Value::Null);
        }
        fill(map, "source", json!({}));
        fill(map, "reportingComponent", json!(""));
        fill(map, "reportingInstance", json!(""));
    }
}

/// From `events.k8s.io/v1` to the stored `v1` shape.
pub(crate) fn event_to_core_shape(object: &mut Value) {
    rename(object, EVENT_SHAPES.map(|(core, new)| (new, core)));
    if let Some(map) = object.as_object_mut() {
        map.insert("apiVersion".into(), "v1".into());
    }
}

fn rename(object: &mut Value, pairs: [(&str, &str); 7]) {
    if let Some(map) = object.as_object_mut() {
        for (from, to) in pairs {
            if let Some(value) = map.remove(from) {
                map.insert(to.to_owned(), value);
            }
        }
    }
}
