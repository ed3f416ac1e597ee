//! What does somebody write who wants to stop something? A freeze with its instants worked out (OVR-2, OVR-4).

use api::{kinds, machine::names::MASTER, names};
use schedule::{Instant, TimeSet};
use serde_json::{Value, json};

use crate::{document::key::Key, policy::written::written};

/// What a person wants frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFreeze<'a> {
    /// In which namespace; in the cluster, if none.
    pub namespace: Option<&'a str>,
    /// What the freeze is called.
    pub name: &'a str,
    /// When it begins, if not at once.
    pub from: Option<Instant>,
    /// When it ends, if by itself.
    pub until: Option<Instant>,
    /// Why.
    pub reason: &'a str,
    /// Who signs it.
    pub by: Option<&'a str>,
    /// What is frozen, if not everything.
    pub holds: Option<Value>,
}

impl WantedFreeze<'_> {
    /// The freeze as it is written, or why it cannot be: the field, and what is wrong with it.
    pub fn written(&self, now: Instant) -> Result<(Key, Value), String> {
        let Self { namespace, name, from, until, reason, by, holds } = self;
        if let Some(until) = until.filter(|until| *until <= now) {
            return Err(format!("spec.until: {until} is over already; it is {now}"));
        }
        let kind = match namespace {
            Some(_) => &kinds::CHANGE_FREEZE,
            None => &kinds::CLUSTER_CHANGE_FREEZE,
        };
        let fields = [
            ("from", from.map(|from| json!(from.to_string()))),
            ("until", until.map(|until| json!(until.to_string()))),
            ("reason", Some(json!(reason))),
            ("holds", holds.clone()),
            ("by", by.map(|by| json!(by))),
        ];
        written(kind, *namespace, name, fields)
    }

    /// What it will mean, in a sentence without its full stop.
    pub fn meaning(&self) -> String {
        let place = self.namespace.map_or_else(
            || "in the cluster".to_owned(),
            |namespace| format!("in namespace {namespace}"),
        );
        let what = self.holds.as_ref().map_or_else(
            || "nothing starts".to_owned(),
            |holds| format!("nothing of {} starts", listed(holds)),
        );
        let from = self.from.map_or_else(String::new, |from| format!(" from {from}"));
        let until =
            self.until.map_or_else(|| "further notice".to_owned(), |until| until.to_string());
        format!("{what} {place}{from} until {until}; what has begun finishes")
    }
}

fn listed(holds: &Value) -> String {
    let each = holds.as_array().into_iter().flatten().map(|hold| {
        let what = hold.get("what").and_then(Value::as_str).unwrap_or_default();
        let names = hold.get("names").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        if names.is_empty() { what.to_owned() } else { format!("{what} {}", names.join(", ")) }
    });
    each.collect::<Vec<_>>().join(" and ")
}

/// What a freeze must name to hold one object of the cluster, and nothing else.
pub fn holding(object: &Key) -> Result<Value, String> {
    let kind = object.kind();
    if *kind == kinds::CLUSTER_VERSION {
        return Ok(json!([{"what": "ClusterVersion"}]));
    }
    if *kind != kinds::MACHINE_CONFIG_POOL {
        return Err(format!(
            "{object} cannot be held by itself\n  hint: `tidegate freeze` freezes its namespace, or a room of it by --what"
        ));
    }
    if &*object.name == MASTER {
        let version = names::THE_CLUSTER;
        return Err(format!(
            "{object} follows ClusterVersion\n  hint: hold clusterversion/{version}"
        ));
    }
    Ok(json!([{"what": "MachineConfigPools", "names": [&*object.name]}]))
}

/// The next window of a set: the one that opens next, not the one that is open. Its end, if it has one.
pub fn next_window(set: &TimeSet, now: Instant) -> Option<(Instant, Option<Instant>)> {
    let mut shut = set.stretch(now);
    if shut.inside {
        shut = set.stretch(shut.end?);
    }
    let opens = shut.end?;
    Some((opens, set.stretch(opens).end))
}

#[cfg(test)]
mod tests {
    use schedule::Span;

    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    const NOW: &str = "2026-11-16T12:00:00Z";

    fn wanted(namespace: Option<&'static str>) -> WantedFreeze<'static> {
        WantedFreeze {
            namespace,
            name: "stop",
            from: None,
            until: Some(at("2026-11-16T14:00:00Z")),
            reason: "a storm",
            by: None,
            holds: None,
        }
    }

    /// OVR-4
    #[test]
    fn a_freeze_is_written_as_it_is_meant() {
        let (key, object) = wanted(Some("shop")).written(at(NOW)).unwrap();
        assert_eq!(key.to_string(), "ChangeFreeze/shop/stop");
        assert_eq!(object["spec"], json!({"until": "2026-11-16T14:00:00Z", "reason": "a storm"}));
        let pools = json!([{"what": "MachineConfigPools", "names": ["worker"]}]);
        let from = Some(at("2026-11-16T13:00:00Z"));
        let held = WantedFreeze { holds: Some(pools), from, ..wanted(None) };
        let (key, object) = held.written(at(NOW)).unwrap();
        assert_eq!(key.to_string(), "ClusterChangeFreeze/stop");
        assert_eq!(object["metadata"], json!({"name": "stop"}));
        assert_eq!(
            held.meaning(),
            "nothing of MachineConfigPools worker starts in the cluster from 2026-11-16T13:00:00Z until 2026-11-16T14:00:00Z; what has begun finishes"
        );
        assert_eq!(
            WantedFreeze { until: None, ..wanted(Some("shop")) }.meaning(),
            "nothing starts in namespace shop until further notice; what has begun finishes"
        );
    }

    #[test]
    fn what_is_wrong_names_its_field() {
        #[track_caller]
        fn check(wanted: &WantedFreeze<'_>, expected: &str) {
            let said = wanted.written(at(NOW)).unwrap_err();
            assert!(said.starts_with(expected), "{said}");
        }
        let over = Some(at(NOW));
        check(
            &WantedFreeze { until: over, ..wanted(None) },
            "spec.until: 2026-11-16T12:00:00Z is over already",
        );
        let late = Some(at("2026-11-16T15:00:00Z"));
        check(
            &WantedFreeze { from: late, ..wanted(None) },
            "spec.until: until must be later than from",
        );
        check(&WantedFreeze { reason: "", ..wanted(None) }, "spec.reason");
        let odd = |holds: Value| WantedFreeze { holds: Some(holds), ..wanted(None) };
        check(&odd(json!([{"what": "Everything"}])), "spec.holds[0].what");
        let pools = json!([{"what": "MachineConfigPools"}]);
        let team = WantedFreeze { holds: Some(pools), ..wanted(Some("shop")) };
        check(&team, "spec.holds[0].what: MachineConfigPools belongs to the cluster");
    }

    #[test]
    fn one_object_is_held_by_what_names_it() {
        let pool = |name| Key::new(&kinds::MACHINE_CONFIG_POOL, None, name);
        let held = json!([{"what": "MachineConfigPools", "names": ["worker"]}]);
        assert_eq!(holding(&pool("worker")), Ok(held));
        let version = holding(&Key::new(&kinds::CLUSTER_VERSION, None, "version"));
        assert_eq!(version, Ok(json!([{"what": "ClusterVersion"}])));
        let masters = holding(&pool("master")).unwrap_err();
        assert!(masters.contains("hold clusterversion/version"), "{masters}");
        assert!(holding(&Key::new(&kinds::NODE_POOL, Some("a"), "b")).is_err());
    }

    #[test]
    fn the_next_window_is_the_one_that_opens_next() {
        let span = |from: &str, until: &str| Span::new(at(from), at(until));
        let first = span("2026-11-16T11:00:00Z", "2026-11-16T13:00:00Z");
        let both = TimeSet::ranges([first, span("2026-11-17T11:00:00Z", "2026-11-17T13:00:00Z")]);
        let next = Some((at("2026-11-17T11:00:00Z"), Some(at("2026-11-17T13:00:00Z"))));
        assert_eq!(next_window(&both, at(NOW)), next);
        assert_eq!(next_window(&both, at("2026-11-16T13:00:00Z")), next);
        assert_eq!(next_window(&TimeSet::ranges([first]), at(NOW)), None);
        assert_eq!(next_window(&TimeSet::always(), at(NOW)), None);
    }
}
