//! What does somebody write who wants a gate on what others own? (RCH-11)

use api::{
    kinds,
    reach::{Mode, PolicyKind, What},
    schema::Scope,
};
use serde_json::{Map, Value, json};

use crate::{document::key::Key, policy::written::written, reach::rooms::Room};

/// The gate that a person wants.
#[derive(Clone, Debug)]
pub struct WantedGate<'a> {
    /// In which namespace; of the platform, if none.
    pub namespace: Option<&'a str>,
    /// What the gate is called.
    pub name: &'a str,
    /// What it holds.
    pub room: &'static Room,
    /// How, if not as the room does first.
    pub how: Option<&'a str>,
    /// Which of it, by name; all, if none and no selector.
    pub names: &'a [String],
    /// Which of it, by label.
    pub selector: Option<&'a str>,
    /// In which namespaces, by label, if it is of the platform.
    pub namespaces: Option<&'a str>,
    /// Which kind of policy says when.
    pub policy_kind: PolicyKind,
    /// The policy.
    pub policy: &'a str,
    /// What becomes of a first write that it does not permit.
    pub mode: Mode,
}

impl WantedGate<'_> {
    /// The gate as it is written, or why it cannot be: the field, and what is wrong with it.
    pub fn written(&self) -> Result<(Key, Value), String> {
        self.reaches()?;
        let kind = match self.namespace {
            Some(_) => &kinds::CHANGE_GATE,
            None => &kinds::CLUSTER_CHANGE_GATE,
        };
        let mut hold = Map::new();
        hold.insert("what".to_owned(), json!(self.room.name_of()));
        if let Some(how) = self.how {
            self.offered(how)?;
            hold.insert("how".to_owned(), json!(how));
        }
        if !self.names.is_empty() {
            hold.insert("names".to_owned(), json!(self.names));
        }
        if let Some(selector) = self.selector {
            hold.insert("selector".to_owned(), chosen("spec.holds[0].selector", selector)?);
        }
        let mut policy = json!({"name": self.policy});
        if self.policy_kind == PolicyKind::HostedChangeManagementPolicy {
            policy["kind"] = json!(self.policy_kind);
        }
        let namespaces =
            self.namespaces.map(|text| chosen("spec.namespaceSelector", text)).transpose()?;
        let fields = [
            ("changeManagement", Some(json!({"strategy": "ByPolicy", "byPolicy": policy}))),
            ("holds", Some(json!([hold]))),
            ("namespaceSelector", namespaces),
            ("mode", (self.mode != Mode::Enforce).then(|| json!(self.mode))),
        ];
        written(kind, self.namespace, self.name, fields)
    }

    /// Whether it can reach what its room holds, and choose of it (RCH-12, RCH-13).
    fn reaches(&self) -> Result<(), String> {
        let room = self.room.name_of();
        if self.room.scope() == Scope::Namespaced {
            return Ok(());
        }
        if self.namespace.is_some() {
            return Err(format!(
                "spec.holds[0].what: {room} belongs to the cluster\n  hint: make it a gate of the platform, by --platform"
            ));
        }
        if self.namespaces.is_some() {
            return Err(format!("spec.namespaceSelector: {room} is in no namespace"));
        }
        if self.selector.is_some() {
            return Err(format!("spec.holds[0].selector: {room} is not chosen by labels"));
        }
        if self.names.iter().any(|name| self.room.leaves_out(name)) {
            return Err(
                "spec.holds[0].names: the masters follow ClusterVersion\n  hint: hold that"
                    .to_owned(),
            );
        }
        if self.room.what == What::ClusterVersion && !self.names.is_empty() {
            return Err("spec.holds[0].names: there is one ClusterVersion".to_owned());
        }
        Ok(())
    }

    /// Whether its room offers a way, which only the definition knows otherwise.
    fn offered(&self, how: &str) -> Result<(), String> {
        let ways = self.room.offer().map_or(&[][..], |offer| offer.ways);
        if ways.iter().any(|(_, way)| *way == how) {
            return Ok(());
        }
        let ways: Vec<&str> = ways.iter().map(|(_, way)| *way).collect();
        let room = self.room.name_of();
        Err(format!("spec.holds[0].how: it must be {} for {room}", ways.join(" or ")))
    }

    /// What it will mean, in a sentence without its full stop.
    pub fn meaning(&self) -> String {
        let which = match (self.names, self.selector) {
            ([], None) => "all".to_owned(),
            ([], Some(selector)) => format!("those with {selector}"),
            (names, None) => names.join(", "),
            (names, Some(selector)) => format!("{} and those with {selector}", names.join(", ")),
        };
        let place = match (self.namespace, self.namespaces) {
            (Some(namespace), _) => format!("in namespace {namespace}"),
            (None, Some(labels)) => format!("in namespaces with {labels}"),
            (None, None) if self.room.scope() == Scope::Cluster => "in the cluster".to_owned(),
            (None, None) => "in all namespaces but those of the system".to_owned(),
        };
        let does = match self.mode {
            Mode::Enforce | Mode::Unknown => "the API server refuses",
            Mode::Warn => "the API server admits, and warns of,",
            Mode::Audit => "the API server admits, and notes in the audit log,",
        };
        format!(
            "outside the windows of policy {} {does} {}, of {which} {place}; what has begun finishes",
            self.policy, self.room.held
        )
    }
}

/// A choice by labels, in the words of kubectl: `tier=web`, `tier!=web`, `tier`, `!tier`, several with commas.
pub fn chosen(field: &str, text: &str) -> Result<Value, String> {
    let mut equal = Map::new();
    let mut demands = Vec::new();
    for part in text.split(',').map(str::trim) {
        let demand = |key: &str, operator: &str, values: &[&str]| {
            let mut demand = json!({"key": key.trim(), "operator": operator});
            if !values.is_empty() {
                demand["values"] = json!(values);
            }
            demand
        };
        let key = if let Some((key, value)) = part.split_once("!=") {
            demands.push(demand(key, "NotIn", &[value.trim()]));
            key
        } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
            let (key, value) = (key.trim(), value.trim());
            if !is_label_value(value) {
                return Err(format!(
                    "{field}: {value:?} is the value of no label\n  hint: letters, digits, -, _ and ., 63 of them at most, with a letter or digit at both ends"
                ));
            }
            if equal.insert(key.to_owned(), json!(value)).is_some_and(|other| other != value) {
                return Err(format!(
                    "{field}: {text:?} wants two values of {key}, and a label has one\n  hint: make a gate for each"
                ));
            }
            key
        } else if let Some(key) = part.strip_prefix('!') {
            demands.push(demand(key, "DoesNotExist", &[]));
            key
        } else {
            demands.push(demand(part, "Exists", &[]));
            part
        };
        let spoilt = |c: char| c.is_whitespace() || "()=!".contains(c);
        if key.trim().is_empty() || key.trim().contains(spoilt) {
            return Err(format!(
                "{field}: {text:?} is no choice by labels\n  hint: write tier=web, tier!=web, tier or !tier, several with commas"
            ));
        }
    }
    let mut selector = Map::new();
    if !equal.is_empty() {
        selector.insert("matchLabels".to_owned(), Value::Object(equal));
    }
    if !demands.is_empty() {
        selector.insert("matchExpressions".to_owned(), Value::Array(demands));
    }
    Ok(Value::Object(selector))
}

fn is_label_value(value: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = value.as_bytes();
    let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    bytes.len() <= 63 && bytes.iter().all(known) && is_end(bytes.first()) && is_end(bytes.last())
}

#[cfg(test)]
mod tests {
    use api::reach::What;

    use super::*;
    use crate::reach::rooms::room;

    fn wanted(namespace: Option<&'static str>) -> WantedGate<'static> {
        WantedGate {
            namespace,
            name: "web",
            room: room(What::Deployments).unwrap(),
            how: None,
            names: &[],
            selector: None,
            namespaces: None,
            policy_kind: PolicyKind::ChangeManagementPolicy,
            policy: "weekend",
            mode: Mode::Enforce,
        }
    }

    #[test]
    fn a_gate_is_written_as_somebody_would_write_it() {
        let (key, gate) = wanted(Some("shop")).written().unwrap();
        assert_eq!(key.to_string(), "ChangeGate/shop/web");
        assert_eq!(
            gate["spec"],
            json!({"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}},
                "holds": [{"what": "Deployments"}]})
        );
        let all = WantedGate {
            selector: Some("tier=web,!canary"),
            namespaces: Some("env=prod"),
            mode: Mode::Audit,
            how: Some("Refuse"),
            ..wanted(None)
        };
        let (key, gate) = all.written().unwrap();
        assert_eq!(key.to_string(), "ClusterChangeGate/web");
        assert_eq!(gate["spec"]["mode"], "Audit");
        assert_eq!(gate["spec"]["namespaceSelector"], json!({"matchLabels": {"env": "prod"}}));
        assert_eq!(
            gate["spec"]["holds"],
            json!([{"what": "Deployments", "how": "Refuse", "selector": {"matchLabels": {"tier": "web"},
                "matchExpressions": [{"key": "canary", "operator": "DoesNotExist"}]}}])
        );
    }

    /// RCH-12, RCH-13: what belongs to the cluster is held by the platform, and chosen by name.
    #[test]
    fn what_is_in_no_namespace_is_held_by_the_platform() {
        let pools = || room(What::MachineConfigPools).unwrap();
        let worker = ["worker".to_owned()];
        let gate = WantedGate { room: pools(), names: &worker, ..wanted(None) };
        let (key, document) = gate.written().unwrap();
        assert_eq!(key.to_string(), "ClusterChangeGate/web");
        let holds = json!([{"what": "MachineConfigPools", "names": ["worker"]}]);
        assert_eq!(document["spec"]["holds"], holds);
        assert!(gate.meaning().contains(", of worker in the cluster; "), "{}", gate.meaning());
        let master = ["master".to_owned()];
        let plane = room(What::ClusterVersion).unwrap();
        for (wanted, said) in [
            (WantedGate { room: pools(), ..wanted(Some("shop")) }, "spec.holds[0].what: "),
            (
                WantedGate { room: pools(), namespaces: Some("a=b"), ..wanted(None) },
                "spec.namespaceSelector: ",
            ),
            (
                WantedGate { room: pools(), selector: Some("a=b"), ..wanted(None) },
                "spec.holds[0].selector: ",
            ),
            (
                WantedGate { room: pools(), names: &master, ..wanted(None) },
                "spec.holds[0].names: the masters follow ClusterVersion",
            ),
            (
                WantedGate { room: plane, names: &worker, ..wanted(None) },
                "spec.holds[0].names: there is one ClusterVersion",
            ),
        ] {
            let error = wanted.written().unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_written_names_its_field() {
        let check = |wanted: WantedGate<'_>, field: &str| {
            let error = wanted.written().unwrap_err();
            assert!(error.starts_with(field), "{error}");
        };
        check(
            WantedGate { selector: Some("a b"), ..wanted(Some("shop")) },
            "spec.holds[0].selector: ",
        );
        check(
            WantedGate { selector: Some("a in (b)"), ..wanted(Some("shop")) },
            "spec.holds[0].selector: ",
        );
        for selector in ["a=b,a=c", "tier=Web Shop!", "tier=-web"] {
            check(
                WantedGate { selector: Some(selector), ..wanted(Some("shop")) },
                "spec.holds[0].selector: ",
            );
        }
        check(WantedGate { namespaces: Some("=x"), ..wanted(None) }, "spec.namespaceSelector: ");
        check(
            WantedGate { policy: "No Such", ..wanted(Some("shop")) },
            "spec.changeManagement.byPolicy.name: ",
        );
        let refused = WantedGate {
            room: room(What::StatefulSets).unwrap(),
            how: Some("Queue"),
            ..wanted(Some("shop"))
        };
        check(refused, "spec.holds[0].how: ");
    }
}
