//! What does somebody write who wants to open something? An override with its instants worked out (OVR-2, OVR-4).

use api::{kinds, overrides::MOST_DAYS, schema::Scope};
use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    document::key::Key,
    policy::{overrides::Layer, written::written},
};

/// What a person wants opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedOverride<'a> {
    /// The object whose gate is opened.
    pub target: &'a Key,
    /// Whose word it is; that of the platform for whatever is in no namespace.
    pub layer: Layer,
    /// What the override is called.
    pub name: &'a str,
    /// When it ends.
    pub until: Instant,
    /// Why.
    pub reason: &'a str,
    /// Where it was asked for.
    pub ticket: Option<&'a str>,
    /// The release or the rendered configuration that alone may start.
    pub only: Option<&'a str>,
    /// Who signs it.
    pub by: Option<&'a str>,
}

impl WantedOverride<'_> {
    /// The override as it is written, or why it cannot be: the field, and what is wrong with it.
    pub fn written(&self, now: Instant) -> Result<(Key, Value), String> {
        let Self { target, name, until, reason, ticket, by, .. } = self;
        if *until <= now {
            return Err(format!("spec.until: {until} is over already; it is {now}"));
        }
        let most = now.saturating_add(MOST_DAYS * 86_400);
        if *until > most {
            return Err(format!(
                "spec.until: {until} is too far away: an override lasts {MOST_DAYS} days at most, which is until {most}\n  hint: write a policy that permits more"
            ));
        }
        let of_team = self.layer == Layer::Team && target.kind().scope == Scope::Namespaced;
        let (kind, namespace) = if of_team {
            (&kinds::CHANGE_OVERRIDE, target.namespace.as_deref())
        } else {
            (&kinds::CLUSTER_CHANGE_OVERRIDE, None)
        };
        let mut named = json!({"kind": target.kind().name, "name": &*target.name});
        if let Some(namespace) = target.namespace.as_deref().filter(|_| !of_team) {
            named["namespace"] = json!(namespace);
        }
        let fields = [
            ("target", Some(named)),
            ("until", Some(json!(until.to_string()))),
            ("reason", Some(json!(reason))),
            ("ticket", ticket.map(|ticket| json!(ticket))),
            ("only", self.only.map(|only| only_of(target, only))),
            ("by", by.map(|by| json!(by))),
        ];
        written(kind, namespace, name, fields)
    }

    /// What it will mean, in a sentence without its full stop.
    pub fn meaning(&self) -> String {
        let what = self.only.map_or_else(
            || "changes may start".to_owned(),
            |only| format!("{only} may start, and nothing else,"),
        );
        format!("{what} at {} until {}, whatever its windows are", self.target, self.until)
    }
}

/// What nodes get is called by a name that nobody else gives.
fn only_of(target: &Key, only: &str) -> Value {
    let of_release = *target.kind() == kinds::CLUSTER_VERSION && !only.starts_with("rendered-");
    if of_release { json!({"release": only}) } else { json!({"renderedConfig": only}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    const NOW: &str = "2026-11-16T12:00:00Z";

    fn wanted(target: &Key) -> WantedOverride<'_> {
        WantedOverride {
            target,
            layer: Layer::Team,
            name: "now",
            until: at("2026-11-16T14:00:00Z"),
            reason: "CVE-2026-1",
            ticket: None,
            only: None,
            by: None,
        }
    }

    /// OVR-4
    #[test]
    fn an_override_is_written_as_it_is_meant() {
        let pool = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
        let only = WantedOverride { only: Some("rendered-worker-b"), ..wanted(&pool) };
        let (key, object) = only.written(at(NOW)).unwrap();
        assert_eq!(key.to_string(), "ClusterChangeOverride/now");
        assert_eq!(
            object["spec"],
            json!({"target": {"kind": "MachineConfigPool", "name": "worker"}, "until": "2026-11-16T14:00:00Z",
                "reason": "CVE-2026-1", "only": {"renderedConfig": "rendered-worker-b"}})
        );
        assert_eq!(
            only.meaning(),
            "rendered-worker-b may start, and nothing else, at MachineConfigPool/worker until 2026-11-16T14:00:00Z, whatever its windows are"
        );
        let hosted = Key::new(&kinds::NODE_POOL, Some("clusters"), "a");
        let (key, object) = wanted(&hosted).written(at(NOW)).unwrap();
        assert_eq!(key.to_string(), "ChangeOverride/clusters/now");
        assert_eq!(object["spec"]["target"], json!({"kind": "NodePool", "name": "a"}));
        let platform = WantedOverride { layer: Layer::Platform, ..wanted(&hosted) };
        let (key, object) = platform.written(at(NOW)).unwrap();
        assert_eq!(key.to_string(), "ClusterChangeOverride/now");
        assert_eq!(object["spec"]["target"]["namespace"], "clusters");
        let version = Key::new(&kinds::CLUSTER_VERSION, None, "version");
        for (only, field) in [("4.21.3", "release"), ("rendered-master-b", "renderedConfig")] {
            let only = WantedOverride { only: Some(only), ..wanted(&version) };
            assert!(only.written(at(NOW)).unwrap().1["spec"]["only"][field].is_string());
        }
    }

    #[test]
    fn what_is_wrong_names_its_field() {
        #[track_caller]
        fn check(wanted: &WantedOverride<'_>, expected: &str) {
            let said = wanted.written(at(NOW)).unwrap_err();
            assert!(said.starts_with(expected), "{said}");
        }
        let pool = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
        let until = |until: &str| WantedOverride { until: at(until), ..wanted(&pool) };
        check(&until(NOW), "spec.until: 2026-11-16T12:00:00Z is over already");
        check(&until("2026-12-17T12:00:01Z"), "spec.until: 2026-12-17T12:00:01Z is too far away");
        assert!(until("2026-12-17T12:00:00Z").written(at(NOW)).is_ok());
        check(&WantedOverride { reason: "", ..wanted(&pool) }, "spec.reason");
        check(&WantedOverride { reason: "a\nb", ..wanted(&pool) }, "spec.reason");
        let gate = Key::new(&kinds::CHANGE_GATE, Some("shop"), "till");
        check(&WantedOverride { only: Some("x"), ..wanted(&gate) }, "spec.only");
        let policy = Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, "weekend");
        check(&wanted(&policy), "spec.target.kind");
    }
}
