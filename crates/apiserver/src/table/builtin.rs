//! The columns of the built-in kinds.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{age, jsonpath};
use crate::{
    meta::{self, at, text_at},
    registry::{Nature, Resolved, Workload},
};

type Columns = &'static [(&'static str, &'static str, i64)];

/// Label, type and priority.
pub(crate) fn columns(nature: Nature) -> Columns {
    match nature {
        Nature::Namespace => {
            &[("Name", "string", 0), ("Status", "string", 0), ("Age", "string", 0)]
        }
        Nature::Node => &[
            ("Name", "string", 0),
            ("Status", "string", 0),
            ("Roles", "string", 0),
            ("Age", "string", 0),
            ("Version", "string", 0),
            ("Internal-IP", "string", 1),
            ("External-IP", "string", 1),
            ("OS-Image", "string", 1),
            ("Kernel-Version", "string", 1),
            ("Container-Runtime", "string", 1),
        ],
        Nature::Pod => &[
            ("Name", "string", 0),
            ("Ready", "string", 0),
            ("Status", "string", 0),
            ("Restarts", "string", 0),
            ("Age", "string", 0),
            ("IP", "string", 1),
            ("Node", "string", 1),
            ("Nominated Node", "string", 1),
            ("Readiness Gates", "string", 1),
        ],
        Nature::ConfigMap => &[("Name", "string", 0), ("Data", "string", 0), ("Age", "string", 0)],
        Nature::Secret => &[
            ("Name", "string", 0),
            ("Type", "string", 0),
            ("Data", "string", 0),
            ("Age", "string", 0),
        ],
        Nature::ServiceAccount => &[("Name", "string", 0), ("Age", "string", 0)],
        Nature::Event => &[
            ("Last Seen", "string", 0),
            ("Type", "string", 0),
            ("Reason", "string", 0),
            ("Object", "string", 0),
            ("Subobject", "string", 1),
            ("Source", "string", 1),
            ("Message", "string", 0),
            ("First Seen", "string", 1),
            ("Count", "string", 1),
            ("Name", "string", 1),
        ],
        Nature::Lease => &[("Name", "string", 0), ("Holder", "string", 0), ("Age", "string", 0)],
        Nature::DisruptionBudget => &[
            ("Name", "string", 0),
            ("Min Available", "string", 0),
            ("Max Unavailable", "string", 0),
            ("Allowed Disruptions", "integer", 0),
            ("Age", "string", 0),
        ],
        Nature::Definition => &[("Name", "string", 0), ("Created At", "date", 0)],
        Nature::Policy => &[
            ("Name", "string", 0),
            ("Validations", "integer", 0),
            ("ParamKind", "string", 0),
            ("Age", "string", 0),
        ],
        Nature::Binding => &[
            ("Name", "string", 0),
            ("PolicyName", "string", 0),
            ("ParamRef", "string", 0),
            ("Age", "string", 0),
        ],
        Nature::Workload(kind) => workload_columns(kind),
        Nature::Custom => &[],
    }
}

fn workload_columns(kind: Workload) -> Columns {
    match kind {
        Workload::Deployment => &[
            ("Name", "string", 0),
            ("Ready", "string", 0),
            ("Up-to-date", "integer", 0),
            ("Available", "integer", 0),
            ("Age", "string", 0),
            ("Containers", "string", 1),
            ("Images", "string", 1),
            ("Selector", "string", 1),
        ],
        Workload::ReplicaSet => &[
            ("Name", "string", 0),
            ("Desired", "integer", 0),
            ("Current", "integer", 0),
            ("Ready", "integer", 0),
            ("Age", "string", 0),
            ("Containers", "string", 1),
            ("Images", "string", 1),
            ("Selector", "string", 1),
        ],
        Workload::StatefulSet => &[
            ("Name", "string", 0),
            ("Ready", "string", 0),
            ("Age", "string", 0),
            ("Containers", "string", 1),
            ("Images", "string", 1),
        ],
        Workload::DaemonSet => &[
            ("Name", "string", 0),
            ("Desired", "integer", 0),
            ("Current", "integer", 0),
            ("Ready", "integer", 0),
            ("Up-to-date", "integer", 0),
            ("Available", "integer", 0),
            ("Node Selector", "string", 0),
            ("Age", "string", 0),
            ("Containers", "string", 1),
            ("Images", "string", 1),
            ("Selector", "string", 1),
        ],
    }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

fn shown(value: Option<&Value>, otherwise: &str) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => otherwise.to_owned(),
    }
}

pub(crate) fn cells(kind: &Resolved, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = || Value::from(meta::name(object));
    let old = || Value::from(age(meta::text(object, "creationTimestamp"), now));
    let count = |key: &str| object.get(key).and_then(Value::as_object).map_or(0, Map::len);
    let text = |path: &[&str]| text_at(object, path);
    match kind.ty.nature {
        Nature::Namespace => vec![name(), text(&["status", "phase"]).into(), old()],
        Nature::Node => node(object, now),
        Nature::Pod => pod(object, now),
        Nature::ConfigMap => {
            vec![name(), (count("data") + count("binaryData")).to_string().into(), old()]
        }
        Nature::Secret => {
            vec![name(), text(&["type"]).into(), count("data").to_string().into(), old()]
        }
        Nature::ServiceAccount => vec![name(), old()],
        Nature::Event => event(&crate::render::for_storage(kind, object.clone()), now),
        Nature::Lease => vec![name(), text(&["spec", "holderIdentity"]).into(), old()],
        Nature::DisruptionBudget => vec![
            name(),
            shown(at(object, &["spec", "minAvailable"]), "N/A").into(),
            shown(at(object, &["spec", "maxUnavailable"]), "N/A").into(),
            at(object, &["status", "disruptionsAllowed"]).cloned().unwrap_or_else(|| 0.into()),
            old(),
        ],
        Nature::Definition => vec![name(), meta::text(object, "creationTimestamp").into()],
        Nature::Policy => {
            let validations =
                at(object, &["spec", "validations"]).and_then(Value::as_array).map_or(0, Vec::len);
            let kind = match at(object, &["spec", "paramKind"]) {
                Some(kind) => {
                    format!("{}/{}", text_at(kind, &["apiVersion"]), text_at(kind, &["kind"]))
                }
                None => "<unset>".to_owned(),
            };
            vec![name(), validations.into(), kind.into(), old()]
        }
        Nature::Binding => {
            let reference = match at(object, &["spec", "paramRef"]) {
                None => "<unset>".to_owned(),
                Some(r) if !text_at(r, &["namespace"]).is_empty() => {
                    format!("{}/{}", text_at(r, &["namespace"]), text_at(r, &["name"]))
                }
                Some(r) if !text_at(r, &["name"]).is_empty() => {
                    format!("*/{}", text_at(r, &["name"]))
                }
                Some(_) => "*".to_owned(),
            };
            vec![name(), text(&["spec", "policyName"]).into(), reference.into(), old()]
        }
        Nature::Workload(kind) => workload(kind, object, now),
        Nature::Custom => Vec::new(),
    }
}

fn workload(kind: Workload, object: &Value, now: Timestamp) -> Vec<Value> {
    let number = |part: &str, key: &str| {
        at(object, &[part, key]).and_then(Value::as_i64).unwrap_or_default()
    };
    let (wanted, ready) = (number("spec", "replicas"), number("status", "readyReplicas"));
    let name = || Value::from(meta::name(object));
    let age = || Value::from(age(meta::text(object, "creationTimestamp"), now));
    let share = || Value::from(format!("{ready}/{wanted}"));
    let of = |key: &str| Value::from(number("status", key));
    let each = |key: &str| {
        let containers = at(object, &["spec", "template", "spec", "containers"]);
        let containers = containers.and_then(Value::as_array).into_iter().flatten();
        let texts: Vec<&str> = containers.map(|container| text_at(container, &[key])).collect();
        Value::from(texts.join(","))
    };
    let selector = || Value::from(selector_text(at(object, &["spec", "selector"])));
    let mut cells = match kind {
        Workload::Deployment => {
            vec![name(), share(), of("updatedReplicas"), of("availableReplicas"), age()]
        }
        Workload::ReplicaSet => {
            vec![name(), wanted.into(), of("replicas"), ready.into(), age()]
        }
        Workload::StatefulSet => vec![name(), share(), age()],
        Workload::DaemonSet => {
            let place = at(object, &["spec", "template", "spec", "nodeSelector"]);
            vec![
                name(),
                of("desiredNumberScheduled"),
                of("currentNumberScheduled"),
                of("numberReady"),
                of("updatedNumberScheduled"),
                of("numberAvailable"),
                labels_text(place).into(),
                age(),
            ]
        }
    };
    cells.extend([each("name"), each("image")]);
    if kind != Workload::StatefulSet {
        cells.push(selector());
    }
    cells
}

fn labels_text(labels: Option<&Value>) -> String {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let pair =
        |(key, value): (&String, &Value)| format!("{key}={}", value.as_str().unwrap_or_default());
    let mut pairs: Vec<String> = labels.map(pair).collect();
    pairs.sort_unstable();
    or(&pairs.join(","), "<none>").to_owned()
}

/// A selector as people write it on a command line.
fn selector_text(selector: Option<&Value>) -> String {
    let Some(selector) = selector else { return "<none>".to_owned() };
    let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut parts: Vec<(String, String)> =
        labels.map(|(key, value)| (key.clone(), format!("{key}={}", text(value)))).collect();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = text_at(expression, &["key"]);
        let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
        let mut values: Vec<String> = values.map(text).collect();
        values.sort_unstable();
        let values = values.join(",");
        let part = match text_at(expression, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), part));
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    or(&parts.join(","), "<none>").to_owned()
}

fn node(object: &Value, now: Timestamp) -> Vec<Value> {
    let ready = jsonpath::find(object, ".status.conditions[?(@.type==\"Ready\")].status");
    let mut status = match ready.first().and_then(|s| s.as_str()) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if at(object, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = meta::field(object, "labels").and_then(Value::as_object);
    let mut roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) if !role.is_empty() => Some(role),
            _ if key == "kubernetes.io/role" => value.as_str().filter(|r| !r.is_empty()),
            _ => None,
        })
        .collect();
    roles.sort_unstable();
    let about =
        |key: &str| or(text_at(object, &["status", "nodeInfo", key]), "<unknown>").to_owned();
    let address = |kind: &str| {
        let path = format!(".status.addresses[?(@.type==\"{kind}\")].address");
        jsonpath::find(object, &path)
            .first()
            .and_then(|v| v.as_str())
            .unwrap_or("<none>")
            .to_owned()
    };
    vec![
        meta::name(object).into(),
        status.into(),
        or(&roles.join(","), "<none>").into(),
        age(meta::text(object, "creationTimestamp"), now).into(),
        text_at(object, &["status", "nodeInfo", "kubeletVersion"]).into(),
        address("InternalIP").into(),
        address("ExternalIP").into(),
        about("osImage").into(),
        about("kernelVersion").into(),
        about("containerRuntimeVersion").into(),
    ]
}

fn pod(object: &Value, now: Timestamp) -> Vec<Value> {
    let containers =
        at(object, &["spec", "containers"]).and_then(Value::as_array).map_or(0, Vec::len);
    let states: Vec<&Value> = at(object, &["status", "containerStatuses"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .collect();
    let phase = text_at(object, &["status", "phase"]);
    let mut status = or(text_at(object, &["status", "reason"]), phase).to_owned();
    let (mut ready, mut restarts, mut running) = (0, 0, false);
    for state in states.iter().rev() {
        restarts += state.get("restartCount").and_then(Value::as_i64).unwrap_or_default();
        let waiting = text_at(state, &["state", "waiting", "reason"]);
        let ended = text_at(state, &["state", "terminated", "reason"]);
        if !waiting.is_empty() {
            waiting.clone_into(&mut status);
        } else if !ended.is_empty() {
            ended.clone_into(&mut status);
        } else if state.get("ready") == Some(&Value::Bool(true))
            && at(state, &["state", "running"]).is_some()
        {
            running = true;
            ready += 1;
        }
    }
    if status == "Completed" && running {
        status = String::from("Running");
    }
    let over = matches!(phase, "Succeeded" | "Failed");
    if meta::is_deleting(object) && !over {
        status = String::from("Terminating");
    }
    vec![
        meta::name(object).into(),
        format!("{ready}/{containers}").into(),
        status.into(),
        restarts.to_string().into(),
        age(meta::text(object, "creationTimestamp"), now).into(),
        or(text_at(object, &["status", "podIP"]), "<none>").into(),
        or(text_at(object, &["spec", "nodeName"]), "<none>").into(),
        or(text_at(object, &["status", "nominatedNodeName"]), "<none>").into(),
        "<none>".into(),
    ]
}

fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let text = |path: &[&str]| text_at(object, path);
    let first = or(text(&["firstTimestamp"]), text(&["eventTime"]));
    let series = text(&["series", "lastObservedTime"]);
    let last = or(series, or(text(&["lastTimestamp"]), first));
    let kind = text(&["involvedObject", "kind"]).to_lowercase();
    let subject = format!("{kind}/{}", text(&["involvedObject", "name"]));
    let source = or(text(&["source", "component"]), text(&["reportingComponent"]));
    let host = or(text(&["source", "host"]), text(&["reportingInstance"]));
    let source = if host.is_empty() { source.to_owned() } else { format!("{source}, {host}") };
    let count = at(object, &["series", "count"]).or_else(|| object.get("count"));
    let count = count.and_then(Value::as_i64).filter(|c| *c > 0).unwrap_or(1);
    vec![
        age(last, now).into(),
        text(&["type"]).into(),
        text(&["reason"]).into(),
        subject.into(),
        text(&["involvedObject", "fieldPath"]).into(),
        source.into(),
        text(&["message"]).trim().into(),
        age(first, now).into(),
        count.to_string().into(),
        meta::name(object).into(),
    ]
}
