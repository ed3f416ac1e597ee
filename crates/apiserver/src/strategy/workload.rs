//! What do the kinds of `apps/v1` add to being stored? Defaults, what may not change, and a template that is a pod's.
//!
//! The server stores workloads; who rolls them out is a controller, and it is a client like any other.

use serde_json::{Map, Value, json};

use super::{default_pod_spec, fill, pod};
use crate::{meta, registry::Workload, selector::Labels, status::Cause};

/// Which template of a `DaemonSet` this is: clients of older versions count by it.
const TEMPLATES: &str = "deprecated.daemonset.template.generation";

/// Fills in what the author left out.
pub(super) fn default(kind: Workload, object: &mut Value) {
    let spec = meta::entry(object, "spec");
    if kind != Workload::DaemonSet {
        fill(spec, "replicas", json!(1));
    }
    match kind {
        Workload::Deployment => {
            let rolling = json!({"maxUnavailable": "25%", "maxSurge": "25%"});
            default_strategy(spec, "strategy", &rolling);
            fill(spec, "revisionHistoryLimit", json!(10));
            fill(spec, "progressDeadlineSeconds", json!(600));
        }
        Workload::StatefulSet => {
            default_strategy(spec, "updateStrategy", &json!({"partition": 0}));
            fill(spec, "podManagementPolicy", json!("OrderedReady"));
            fill(spec, "revisionHistoryLimit", json!(10));
            let kept = spec.entry("persistentVolumeClaimRetentionPolicy");
            if let Some(kept) = kept.or_insert_with(|| json!({})).as_object_mut() {
                fill(kept, "whenDeleted", json!("Retain"));
                fill(kept, "whenScaled", json!("Retain"));
            }
        }
        Workload::DaemonSet => {
            let rolling = json!({"maxUnavailable": 1, "maxSurge": 0});
            default_strategy(spec, "updateStrategy", &rolling);
            fill(spec, "revisionHistoryLimit", json!(10));
        }
        Workload::ReplicaSet => {}
    }
    let template = spec.entry("template").or_insert_with(|| json!({}));
    if let Some(template) = template.as_object_mut() {
        fill(template, "metadata", json!({}));
        let pod = template.entry("spec").or_insert_with(|| json!({}));
        if let Some(pod) = pod.as_object_mut() {
            default_pod_spec(pod);
        }
    }
}

fn default_strategy(spec: &mut Map<String, Value>, key: &str, rolling: &Value) {
    let strategy = spec.entry(key).or_insert_with(|| json!({}));
    let Some(strategy) = strategy.as_object_mut() else { return };
    fill(strategy, "type", json!("RollingUpdate"));
    if strategy.get("type") != Some(&json!("RollingUpdate")) {
        return;
    }
    let own = strategy.entry("rollingUpdate").or_insert_with(|| json!({}));
    let defaults = rolling.as_object().into_iter().flatten();
    if let Some(own) = own.as_object_mut() {
        defaults.for_each(|(key, value)| fill(own, key, value.clone()));
    }
}

/// What only creation does.
pub(super) fn on_create(kind: Workload, object: &mut Value) {
    object["status"] = match kind {
        Workload::Deployment => json!({}),
        Workload::ReplicaSet => json!({"replicas": 0}),
        Workload::StatefulSet => json!({"availableReplicas": 0, "replicas": 0}),
        Workload::DaemonSet => json!({"currentNumberScheduled": 0, "desiredNumberScheduled": 0,
            "numberMisscheduled": 0, "numberReady": 0}),
    };
    if kind == Workload::DaemonSet {
        note_templates(object, 1);
    }
}

/// Counts a changed template of a `DaemonSet`; nobody else can.
pub(super) fn count_templates(old: &Value, new: &mut Value) {
    let template = |object: &Value| meta::at(object, &["spec", "template"]).cloned();
    let before = meta::field(old, "annotations").and_then(|all| all.get(TEMPLATES));
    let before = before.and_then(Value::as_str).and_then(|text| text.parse::<i64>().ok());
    let changed = i64::from(template(old) != template(new));
    note_templates(new, before.unwrap_or(1) + changed);
}

fn note_templates(object: &mut Value, count: i64) {
    let annotations = meta::of(object).entry("annotations").or_insert_with(|| json!({}));
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(TEMPLATES.into(), count.to_string().into());
    }
}

/// What a specification of which nothing is said still has, so that nobody owns it.
pub(crate) fn empty(kind: Workload) -> Value {
    let mut spec = json!({"template": {"metadata": {}, "spec": {"containers": []}}});
    match kind {
        Workload::Deployment => spec["strategy"] = json!({}),
        Workload::StatefulSet | Workload::DaemonSet => spec["updateStrategy"] = json!({}),
        Workload::ReplicaSet => {}
    }
    spec
}

pub(super) fn problems(kind: Workload, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let at = |path: &[&str]| meta::at(object, path);
    let replicas = at(&["spec", "replicas"]).and_then(Value::as_i64);
    if let Some(negative) = replicas.filter(|count| *count < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid("spec.replicas", &negative.to_string(), why));
    }
    selector_problems(kind, object, old, &mut causes);
    if kind == Workload::Deployment {
        causes.extend(strategy_problem(object));
    }
    let template = at(&["spec", "template"]).cloned().unwrap_or_default();
    causes.extend(pod::problems(&template, None).into_iter().map(|cause| {
        let field = format!("spec.template.{}", cause.field);
        Cause { field, ..cause }
    }));
    let restart = meta::text_at(&template, &["spec", "restartPolicy"]);
    if matches!(restart, "OnFailure" | "Never") {
        let field = "spec.template.spec.restartPolicy";
        causes.push(Cause::not_supported(field, &format!("{restart:?}"), &["Always"]));
    }
    if let (Workload::StatefulSet, Some(old)) = (kind, old)
        && fixed(old) != fixed(object)
    {
        causes.push(Cause::forbidden("spec", FIXED));
    }
    causes
}

fn selector_problems(kind: Workload, object: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let selector = |object: &Value| meta::at(object, &["spec", "selector"]).cloned();
    let shown = |value: Option<&Value>| value.map_or_else(|| "null".to_owned(), Value::to_string);
    let Some(own) = selector(object).filter(|selector| !selector.is_null()) else {
        causes.push(Cause::required("spec.selector", ""));
        return;
    };
    let says = |key: &str| match own.get(key) {
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        _ => false,
    };
    if !says("matchLabels") && !says("matchExpressions") {
        let name = match kind {
            Workload::Deployment => "deployment",
            Workload::ReplicaSet => "replicaset",
            Workload::StatefulSet => "statefulset",
            Workload::DaemonSet => "daemonset",
        };
        let why = format!("empty selector is invalid for {name}");
        causes.push(Cause::invalid("spec.selector", &own.to_string(), &why));
    } else if let Some(template) = meta::at(object, &["spec", "template"])
        && !Labels::from_object(&own).matches(template)
    {
        let labels = meta::at(template, &["metadata", "labels"]);
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid("spec.template.metadata.labels", &shown(labels), why));
    }
    if old.is_some_and(|old| selector(old).as_ref() != Some(&own)) {
        causes.push(Cause::invalid("spec.selector", &own.to_string(), "field is immutable"));
    }
}

fn strategy_problem(object: &Value) -> Option<Cause> {
    let strategy = meta::at(object, &["spec", "strategy"])?;
    let field = |key: &str| format!("spec.strategy.{key}");
    match meta::text_at(strategy, &["type"]) {
        "Recreate" => strategy.get("rollingUpdate").map(|_| {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            Cause::forbidden(field("rollingUpdate"), why)
        }),
        "RollingUpdate" => None,
        other => {
            let known = ["Recreate", "RollingUpdate"];
            Some(Cause::not_supported(field("type"), &format!("{other:?}"), &known))
        }
    }
}

const FIXED: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/// What of a `StatefulSet` nobody may change.
fn fixed(object: &Value) -> Option<Value> {
    let mut spec = object.get("spec")?.clone();
    let map = spec.as_object_mut()?;
    for key in [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ] {
        map.remove(key);
    }
    Some(spec)
}
