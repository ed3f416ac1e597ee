//! What of an object is nobody else's business, and what stands there instead?
//!
//! A hidden text becomes `redacted-<number>`, the same number for the same text everywhere in a dump: whether two templates, two files or two keys are the same
//! is what decisions ask, and nothing else can be told from a number.

use std::collections::BTreeMap;

use api::machine::names as machine;
use schedule::Instant;
use serde_json::{Map, Value, json};

use super::{
    Hidden,
    secret::{looks_secret, names_a_secret},
    taken::{Keep, Taken},
};
use crate::pool::source::SeenConfig;

/// Annotations that decisions read, or that say what a controller did, by how their keys begin.
const KNOWN: [&str; 7] = [
    "changemanagement.openshift.io/",
    "machineconfiguration.openshift.io/",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/desired-replicas",
    "machinedeployment.clusters.x-k8s.io/revision",
    "hypershift.openshift.io/nodePoolCurrentConfig",
    "cluster.x-k8s.io/paused",
];

/// Texts below these are known by their own rules.
const ANNOTATIONS: &str = "annotations";

/// Below these all texts are labels.
const LABELS: [&str; 2] = ["labels", "matchLabels"];

/// Below these all texts are amounts, as far as they look like one.
const AMOUNTS: [&str; 4] = ["limits", "requests", "capacity", "allocatable"];

/// A step of a path: into the entries of a list.
const ENTRY: &str = "[]";

/// How deep a field is told in the table of what was hidden.
const TOLD: usize = 8;

/// How many fields are told; what else was hidden of a kind is counted together.
const MOST_TOLD: usize = 1_000;

/// Which texts stay.
#[derive(Clone, Copy, Debug)]
enum Kept {
    /// All of them.
    All,
    /// Those of fields with these names; what is below fields of the second list is left out.
    Fields(&'static [&'static str], &'static [&'static str]),
    /// Amounts.
    Amounts,
}

/// What hides, and remembers what it has hidden.
#[derive(Debug, Default)]
pub struct Redactor {
    numbers: BTreeMap<String, usize>,
    digests: BTreeMap<String, String>,
    hidden: Hidden,
}

impl Redactor {
    /// What was hidden so far.
    pub fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Objects of a kind as they may be seen, in the order of their names, whatever the order in which they were read.
    pub fn redact(&mut self, taken: &Taken, mut objects: Vec<Value>) -> Vec<Value> {
        objects.sort_by_cached_key(|object| {
            let text = |path: &str| {
                object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            // A configuration before what was rendered from it, which names it by its digest.
            (is_rendered(object), text("/metadata/namespace"), text("/metadata/name"))
        });
        objects.into_iter().map(|object| self.object(taken, object)).collect()
    }

    fn object(&mut self, taken: &Taken, mut object: Value) -> Value {
        // Numbers are given in the order of the fields.
        object.sort_all_objects();
        let mut seen = Map::new();
        seen.insert("apiVersion".into(), taken.api_version.into());
        seen.insert("kind".into(), taken.kind.into());
        let Value::Object(fields) = object else { return Value::Object(seen) };
        let is_config = taken.kind == machine::MACHINE_CONFIG;
        let before = fields.get("spec").filter(|_| is_config).and_then(digest_of);
        let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
        fields.sort_by(|(one, _), (other, _)| rank(one).cmp(&rank(other)).then(one.cmp(other)));
        for (name, value) in fields {
            let mut path = vec![name.clone()];
            let value = match (name.as_str(), taken.keep) {
                ("apiVersion" | "kind", _) => continue,
                ("metadata", _) => self.metadata(taken.kind, value),
                (_, Keep::Metadata) => {
                    self.note(taken.kind, &path);
                    continue;
                }
                (_, Keep::Whole) => self.value(taken.kind, value, Kept::All, &mut path),
                (_, Keep::Fields(kept, dropped)) => {
                    self.value(taken.kind, value, Kept::Fields(kept, dropped), &mut path)
                }
            };
            seen.insert(name, value);
        }
        let mut seen = Value::Object(seen);
        if is_config {
            let after = seen.get("spec").and_then(digest_of);
            self.digests.extend(before.zip(after));
            self.recorded(&mut seen);
        }
        seen
    }

    /// What was rendered names its sources by the digests of what they held: by those of what they hold here, so that who compares them finds what is so.
    fn recorded(&mut self, config: &mut Value) {
        let noted = config
            .pointer_mut("/metadata/annotations")
            .and_then(|all| all.get_mut(machine::SOURCE_DIGESTS));
        let Some(Value::String(noted)) = noted else { return };
        let Ok(Value::Object(mut sources)) = serde_json::from_str(noted) else { return };
        for digest in sources.values_mut() {
            let here = digest.as_str().and_then(|digest| self.digests.get(digest));
            *digest = here.map_or_else(|| "redacted".into(), |here| here.as_str().into());
        }
        *noted = Value::Object(sources).to_string();
    }

    fn metadata(&mut self, kind: &str, metadata: Value) -> Value {
        const STAY: [&str; 11] = [
            "name",
            "generateName",
            "namespace",
            "uid",
            "resourceVersion",
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "labels",
            "ownerReferences",
            "finalizers",
        ];
        let Value::Object(fields) = metadata else { return Value::Object(Map::new()) };
        let mut seen = Map::new();
        for (name, value) in fields {
            let mut path = vec!["metadata".to_owned(), name.clone()];
            let value = match name.as_str() {
                ANNOTATIONS => self.annotations(kind, value, &path),
                "managedFields" => managers(value),
                stays if STAY.contains(&stays) => self.value(kind, value, Kept::All, &mut path),
                _ => continue,
            };
            seen.insert(name, value);
        }
        Value::Object(seen)
    }

    /// Annotations may hold anything; what was applied last is there a second time, with all that is hidden elsewhere.
    fn annotations(&mut self, kind: &str, annotations: Value, path: &[String]) -> Value {
        let Value::Object(all) = annotations else { return Value::Object(Map::new()) };
        let mut seen = Map::new();
        for (key, value) in all {
            if key == "kubectl.kubernetes.io/last-applied-configuration" {
                self.note(kind, path);
                continue;
            }
            let stays = KNOWN.iter().any(|known| key.starts_with(known))
                || key == "weave.works/kured-node-lock";
            let value = match value {
                Value::String(text) if stays && !looks_secret(&text) => Value::String(text),
                Value::String(text) => self.hide(kind, &text, path),
                other => other,
            };
            seen.insert(key, value);
        }
        Value::Object(seen)
    }

    fn value(&mut self, kind: &str, value: Value, keep: Kept, path: &mut Vec<String>) -> Value {
        let name =
            path.iter().rev().find(|step| *step != ENTRY).map(String::as_str).unwrap_or_default();
        match value {
            Value::String(text) => {
                let listed = match keep {
                    Kept::All => true,
                    Kept::Amounts => is_amount(&text),
                    Kept::Fields(kept, _) => {
                        kept.contains(&name) || text.is_empty() || Instant::parse(&text).is_ok()
                    }
                };
                if listed && !names_a_secret(name) && !looks_secret(&text) {
                    return Value::String(text);
                }
                // What is in a file is written as an address, and who reads it looks for one.
                let is_address = name == "source" && text.starts_with("data:");
                match self.hide(kind, &text, path) {
                    Value::String(number) if is_address => format!("data:,{number}").into(),
                    number => number,
                }
            }
            Value::Array(items) => {
                path.push(ENTRY.to_owned());
                let items =
                    items.into_iter().map(|item| self.value(kind, item, keep, path)).collect();
                path.pop();
                Value::Array(items)
            }
            Value::Object(fields) => {
                let keep = match keep {
                    // By labels things are chosen, and everybody who may see an object reads them.
                    _ if LABELS.contains(&name) => Kept::All,
                    Kept::Fields(..) if AMOUNTS.contains(&name) => Kept::Amounts,
                    keep => keep,
                };
                let mut seen = Map::new();
                for (name, value) in fields {
                    path.push(name.clone());
                    let dropped = matches!(keep, Kept::Fields(_, dropped) if dropped.contains(&name.as_str()));
                    if dropped {
                        self.note(kind, path);
                    } else if name == ANNOTATIONS {
                        let value = self.annotations(kind, value, path);
                        seen.insert(name, value);
                    } else {
                        let value = self.value(kind, value, keep, path);
                        seen.insert(name, value);
                    }
                    path.pop();
                }
                Value::Object(seen)
            }
            other => other,
        }
    }

    fn hide(&mut self, kind: &str, text: &str, path: &[String]) -> Value {
        self.note(kind, path);
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(text.to_owned()).or_insert(next);
        format!("redacted-{number}").into()
    }

    fn note(&mut self, kind: &str, path: &[String]) {
        let field =
            path.get(..TOLD.min(path.len())).unwrap_or_default().join(".").replace(".[]", ENTRY);
        let row = (kind.to_owned(), field);
        // Where names of fields are made up by people there is no end of them.
        let is_told = self.hidden.len() < MOST_TOLD || self.hidden.contains_key(&row);
        let row = if is_told { row } else { (row.0, "other fields".to_owned()) };
        *self.hidden.entry(row).or_default() += 1;
    }
}

/// Where a field of an object stands.
fn rank(field: &str) -> usize {
    ["metadata", "spec"].iter().position(|known| *known == field).unwrap_or(2)
}

/// Whether a text is an amount, such as `250m` or `16Gi`.
fn is_amount(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < text.len()
        && ["", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi"].contains(&unit)
}

/// Who wrote when, and not which fields.
fn managers(entries: Value) -> Value {
    let Value::Array(mut entries) = entries else { return Value::Array(Vec::new()) };
    for entry in &mut entries {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("fieldsV1");
            entry.remove("fieldsType");
        }
    }
    Value::Array(entries)
}

fn is_rendered(object: &Value) -> bool {
    object["kind"] == machine::MACHINE_CONFIG
        && object.pointer("/metadata/ownerReferences").is_some()
}

/// The digest by which a source is known.
fn digest_of(spec: &Value) -> Option<String> {
    let source = json!({"apiVersion": machine::API_VERSION, "kind": machine::MACHINE_CONFIG, "metadata": {"name": "x"}, "spec": spec});
    match SeenConfig::new(&source) {
        SeenConfig::Source(source) if source.problems.is_empty() => Some(source.digest),
        // Of one that cannot be read nobody knows what was rendered from it.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::taken::taken;

    fn row(kind: &str) -> Taken {
        taken().into_iter().find(|taken| taken.kind == kind).unwrap()
    }

    fn one(kind: &str, object: Value) -> (Value, Hidden) {
        let mut redactor = Redactor::default();
        let seen = redactor.redact(&row(kind), vec![object]).remove(0);
        (seen, redactor.hidden)
    }

    /// Each of these stands for a secret in the place where people put one.
    #[test]
    fn nothing_that_is_not_listed_gets_through() {
        let pods = json!({"metadata": {"labels": {"app": "web"}, "annotations": {"vault/token": "S3CRET"}}, "spec": {
            "containers": [{"name": "app", "image": "app:2", "args": ["--token=S3CRET"], "command": ["sh", "-c", "S3CRET"],
                "env": [{"name": "TOKEN", "value": "S3CRET"}, {"name": "REF", "valueFrom": {"secretKeyRef": {"name": "db", "key": "S3CRET"}}}],
                "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "S3CRET"}]}}}],
            "volumes": [{"name": "v", "csi": {"volumeAttributes": {"password": "S3CRET"}}}]}});
        let about = json!({"name": "web", "namespace": "shop", "annotations": {"a": "S3CRET",
            "changemanagement.openshift.io/note": "Bearer S3CRET0123456789abcdef",
            "kubectl.kubernetes.io/last-applied-configuration": "{S3CRET}"}, "selfLink": "S3CRET",
            "managedFields": [{"manager": "kubectl", "time": "2026-11-15T00:00:00Z", "fieldsV1": {"f:S3CRET": {}}}]});
        let rows = [
            ("Deployment", json!({"template": pods})),
            ("ReplicaSet", json!({"template": pods})),
            (
                "StatefulSet",
                json!({"template": pods, "volumeClaimTemplates": [{"spec": {"volumeName": "S3CRET"}}]}),
            ),
            ("DaemonSet", json!({"template": pods})),
            ("CronJob", json!({"jobTemplate": {"spec": {"template": pods}}})),
            ("Secret", json!({"data": {"release": "S3CRET"}})),
            ("Namespace", json!({"finalizers": ["S3CRET"]})),
            (
                "MachineConfig",
                json!({"kernelArguments": ["password=S3CRET"], "config": {"passwd": {"users": [{"name": "core", "passwordHash": "S3CRET"}]},
                "storage": {"files": [{"path": "/etc/pull", "contents": {"source": "data:,S3CRET"}}]},
                "systemd": {"units": [{"name": "a.service", "contents": "S3CRET"}]}}}),
            ),
            (
                "Application",
                json!({"source": {"repoURL": "https://S3CRET@git", "helm": {"parameters": [{"name": "token", "value": "S3CRET"}]}}}),
            ),
            ("GitRepository", json!({"url": "https://jane:S3CRET@git.example.com"})),
            (
                "Plan",
                json!({"upgrade": {"args": ["S3CRET"], "envs": [{"name": "A", "value": "S3CRET"}]}}),
            ),
            ("Cluster", json!({"topology": {"variables": [{"name": "a", "value": "S3CRET"}]}})),
            (
                "CustomResourceDefinition",
                json!({"conversion": {"webhook": {"clientConfig": {"caBundle": "S3CRET"}}}}),
            ),
            (
                "HostedCluster",
                json!({"configuration": {"proxy": {"httpProxy": "http://jane:S3CRET@proxy"}}}),
            ),
            ("Node", json!({"providerID": "S3CRET", "capacity": {"cpu": "S3CRET"}})),
            (
                "ChangeFreeze",
                json!({"reason": "curl -H 'Authorization: Bearer S3CRET0123456789abc'"}),
            ),
        ];
        for (kind, spec) in rows {
            let object = json!({"metadata": about, "spec": spec, "data": {"a": "Bearer S3CRET0123456789abcdef"},
                "status": {"addresses": [{"address": "Basic S3CRET0123456789abcdef"}]}});
            let (seen, hidden) = one(kind, object);
            assert!(!seen.to_string().contains("S3CRET"), "{kind}: {seen}");
            assert!(!hidden.is_empty(), "{kind}");
            assert_eq!((&seen["kind"], &seen["metadata"]["name"]), (&json!(kind), &json!("web")));
        }
    }

    #[test]
    fn what_is_asked_of_objects_stays() {
        let (seen, hidden) = one(
            "Deployment",
            json!({"metadata": {"name": "web"}, "spec": {"replicas": 3, "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "app:2", "env": [{"name": "A", "value": "1"}],
                "resources": {"limits": {"cpu": "250m", "memory": "16Gi"}}}]}}},
            "status": {"conditions": [{"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "message": "m", "lastTransitionTime": "2026-11-15T00:00:00Z"}]}}),
        );
        assert_eq!(seen["spec"]["selector"]["matchLabels"]["app"], "web");
        assert_eq!(seen["spec"]["template"]["metadata"]["labels"]["app"], "web");
        assert_eq!(seen["spec"]["template"]["spec"]["containers"][0]["image"], "app:2");
        let limits = &seen["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"];
        assert_eq!(limits, &json!({"cpu": "250m", "memory": "16Gi"}));
        assert_eq!(
            seen["status"]["conditions"][0],
            json!({"lastTransitionTime": "2026-11-15T00:00:00Z", "message": "redacted-2",
            "reason": "ReplicaSetCreateError", "status": "False", "type": "Progressing"})
        );
        let told: Vec<(&str, usize)> =
            hidden.iter().map(|((_, field), count)| (field.as_str(), *count)).collect();
        assert_eq!(
            told,
            [
                ("spec.template.spec.containers[].env[].value", 1),
                ("status.conditions[].message", 1)
            ]
        );
    }

    /// DET-1: whatever the order in which objects and their fields were read.
    #[test]
    fn the_same_objects_give_the_same_and_what_was_equal_stays_equal() {
        let secret = |name: &str, value: &str| json!({"metadata": {"name": name, "annotations": {"b": "x", "a": value}}});
        let turned = |name: &str, value: &str| json!({"metadata": {"annotations": {"a": value, "b": "x"}, "name": name}});
        let redact = |objects: Vec<Value>| Redactor::default().redact(&row("Namespace"), objects);
        let text = |objects: Vec<Value>| serde_json::to_string(&redact(objects)).unwrap();
        let one = text(vec![secret("a", "1"), secret("b", "1"), secret("c", "2")]);
        assert_eq!(one, text(vec![turned("c", "2"), turned("b", "1"), turned("a", "1")]));
        let seen = redact(vec![secret("a", "1"), secret("b", "1"), secret("c", "2")]);
        let of = |at: usize| seen[at]["metadata"]["annotations"]["a"].clone();
        assert_eq!(of(0), of(1));
        assert_ne!(of(0), of(2));
    }

    /// POOL-5: whether a rendered configuration holds what its sources hold is still told.
    #[test]
    fn digests_of_sources_are_those_of_what_is_written_here() {
        let config = |text: &str| json!({"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/a", "mode": 420, "contents": {"source": format!("data:,{text}")}}]}}});
        let source = |name: &str, text: &str| json!({"kind": "MachineConfig", "metadata": {"name": name}, "spec": config(text)});
        let digest = |text: &str| digest_of(&config(text)).unwrap();
        let noted = json!({"same": digest("1"), "changed": digest("before")}).to_string();
        let rendered = json!({"kind": "MachineConfig", "metadata": {"name": "a-rendered", "annotations": {machine::SOURCE_DIGESTS: noted},
            "ownerReferences": [{"kind": "MachineConfigPool", "name": "worker"}]}, "spec": config("1")});
        let objects = vec![rendered, source("same", "1"), source("changed", "2")];
        let seen = Redactor::default().redact(&row("MachineConfig"), objects);
        assert!(!seen.iter().any(|one| one.to_string().contains("data:,1")), "{seen:?}");
        let read: Vec<SeenConfig> = seen.iter().map(SeenConfig::new).collect();
        let [SeenConfig::Source(changed), SeenConfig::Source(same), SeenConfig::Rendered(rendered)] =
            &read[..]
        else {
            panic!("{read:?}")
        };
        assert_eq!((rendered.contains(same), rendered.contains(changed)), (true, false));
        assert!(same.problems.is_empty(), "{:?}", same.problems);
    }
}
