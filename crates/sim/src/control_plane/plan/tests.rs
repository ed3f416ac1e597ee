//! An update from its mark to its end, step by step.

use std::collections::BTreeMap;

use super::*;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// A cluster at 4.20.8 that is asked for 4.20.10, marked or not.
fn cluster(mark: Option<&str>) -> Value {
    let release = |version: &str| json!({"version": version, "image": image(version)});
    let mut version = json!({"metadata": {"name": "version", "uid": "u", "resourceVersion": "1"},
        "spec": {"desiredUpdate": {"version": "4.20.10"}},
        "status": {"desired": release("4.20.8"), "availableUpdates": updates("4.20.8"),
            "conditions": [{"type": "ChangesPaused", "status": "True"}],
            "history": [{"state": "Completed", "version": "4.20.8", "image": image("4.20.8"),
                "startedTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T01:00:00Z"}]}});
    if let Some(uid) = mark {
        let mark = json!({"version": "4.20.10", "image": image("4.20.10"), "uid": uid,
            "after": "2026-01-01T00:00:00Z"});
        version["metadata"]["annotations"] =
            json!({api::names::ACCEPTED_RELEASE: mark.to_string()});
    }
    version
}

fn merge(into: &mut Value, change: &Value) {
    if let Some(fields) = change.as_object() {
        for (key, value) in fields {
            merge(&mut into[key], value);
        }
    } else {
        *into = change.clone();
    }
}

/// CV-4: a wish moves nothing, a mark of this very object does; whoever never heard of us does not wait.
#[test]
fn marks_are_followed_and_wishes_are_not() {
    let none = |_: &str| None;
    let check = |mark: Option<&str>, follows: Follows, expected: bool| {
        let version = cluster(mark);
        let seen = Seen {
            version: &version,
            masters: None,
            kubelets: None,
            config: &none,
            now: at("2026-11-21T00:00:00Z"),
        };
        let begins = !plan(seen, follows, &Lengths::default()).deeds.is_empty();
        assert_eq!(begins, expected, "{mark:?} {follows:?}");
    };
    check(None, Follows::Marks, false);
    check(Some("u"), Follows::Marks, true);
    check(Some("another"), Follows::Marks, false);
    check(None, Follows::Wishes, true);
}

/// CV-1: it ends with the masters and not by a timer, and never goes back.
#[test]
fn an_update_goes_level_by_level_and_ends_with_the_masters() {
    let lengths = Lengths::default();
    let mut version = cluster(Some("u"));
    let mut configs: BTreeMap<String, Value> = BTreeMap::new();
    let mut pool = json!({"spec": {"configuration": {"name": "rendered-master-a"}},
        "status": {"machineCount": 3, "updatedMachineCount": 3, "configuration": {"name": "rendered-master-a"}}});
    let mut now = at("2026-11-21T00:00:00Z");
    let mut levels = Vec::new();
    for _ in 0..100 {
        let known = configs.clone();
        let config = |name: &str| known.get(name).cloned();
        let seen =
            Seen { version: &version, masters: Some(&pool), kubelets: None, config: &config, now };
        let Plan { deeds, next, operators } = plan(seen, Follows::Marks, &lengths);
        levels.push(operators.iter().filter(|(_, has)| has == "4.20.10").count());
        if deeds.is_empty() && next.is_none() {
            break;
        }
        for deed in &deeds {
            match deed {
                Deed::Status(change) => merge(&mut version["status"], &change["status"]),
                Deed::Generate(config) => {
                    let name = text(config, "/metadata/name").to_owned();
                    assert_eq!(
                        config["metadata"]["annotations"][GENERATED_BY],
                        env!("CARGO_PKG_VERSION")
                    );
                    configs.insert(name, config.clone());
                }
            }
        }
        if deeds.is_empty() {
            now = next.unwrap();
        }
    }
    let waits = "waiting on machine-config (level 80): the masters";
    let said = |version: &Value| version["status"]["conditions"].to_string();
    assert!(said(&version).contains(waits), "{version}");
    assert_eq!(version["status"]["history"][0]["state"], "Partial");
    assert_eq!(version["status"]["conditions"][0]["type"], "ChangesPaused", "those of others stay");
    assert!(configs.contains_key("00-master") && configs.contains_key("00-worker"));
    // The masters have it: rendered, and on every one of them.
    configs.insert("rendered-master-b".into(), configs["00-master"].clone());
    pool["spec"]["configuration"]["name"] = json!("rendered-master-b");
    let config = |name: &str| configs.get(name).cloned();
    let seen =
        Seen { version: &version, masters: Some(&pool), kubelets: None, config: &config, now };
    assert_eq!(plan(seen, Follows::Marks, &lengths).deeds, [], "they are on their way");
    pool["status"]["configuration"]["name"] = json!("rendered-master-b");
    let seen =
        Seen { version: &version, masters: Some(&pool), kubelets: None, config: &config, now };
    let [Deed::Status(change)] = &plan(seen, Follows::Marks, &lengths).deeds[..] else { panic!() };
    assert_eq!(change["status"]["history"][0]["state"], "Completed");
    assert_eq!(change["status"]["availableUpdates"], json!(updates("4.20.10")));
    assert!(levels.is_sorted(), "{levels:?}");
}

/// CV-3: kubelets that are as far behind as may be are told as the operator of the API server does, and no longer than that is so.
#[test]
fn kubelets_that_are_too_old_make_the_cluster_not_upgradeable() {
    let none = |_: &str| None;
    let mut version = cluster(None);
    let release = |version: &mut Value, name: &str| {
        version["status"]["desired"] = json!({"version": name, "image": image(name)});
        version["spec"]["desiredUpdate"] = json!({"version": name});
    };
    let told = |version: &mut Value, kubelet: &str| {
        let nodes =
            [("m1".to_owned(), "v1.35.1".to_owned()), ("w1".to_owned(), kubelet.to_owned())];
        let now = at("2026-11-21T00:00:00Z");
        let seen =
            Seen { version: &*version, masters: None, kubelets: Some(&nodes), config: &none, now };
        let deeds = plan(seen, Follows::Marks, &Lengths::default()).deeds;
        for deed in &deeds {
            let Deed::Status(change) = deed else { panic!("{deed:?}") };
            merge(&mut version["status"], &change["status"]);
        }
        let all = version["status"]["conditions"].as_array().unwrap().iter();
        let said = all.filter(|one| one["type"] == "Upgradeable");
        let said = said.map(|one| format!("{} {}", text(one, "/status"), text(one, "/reason")));
        (said.collect::<Vec<_>>().join(", "), deeds.len())
    };
    release(&mut version, "4.22.3");
    let limit = "False KubeletMinorVersionUnsupportedNextUpgrade";
    assert_eq!(told(&mut version, "v1.35.1"), (String::new(), 0));
    assert_eq!(told(&mut version, "v1.34.1"), (limit.to_owned(), 1));
    assert_eq!(told(&mut version, "v1.34.1"), (limit.to_owned(), 0), "once");
    assert_eq!(version["status"]["conditions"][0]["type"], "ChangesPaused", "those of others stay");
    assert_eq!(told(&mut version, "v1.35.1"), (String::new(), 1));
    let other = json!({"type": "Upgradeable", "status": "False", "reason": "AdminAckRequired"});
    version["status"]["conditions"].as_array_mut().unwrap().push(other);
    assert_eq!(told(&mut version, "v1.34.1"), ("False AdminAckRequired".to_owned(), 0));
}

/// A release brings the kubelet of its Kubernetes.
#[test]
fn releases_bring_their_kubelets() {
    assert_eq!(kubelet("4.20.10").as_deref(), Some("v1.33.10"));
    assert_eq!(kubelet("4.21.3").as_deref(), Some("v1.34.3"));
    assert_eq!(kubelet("5.0.1").as_deref(), Some("v1.36.1"));
    assert_eq!(kubelet("rewritten"), None);
}

#[test]
fn images_are_named_by_digest_and_differ() {
    assert!(tidegate_core::release::wish::has_digest(&image("4.20.10")), "{}", image("4.20.10"));
    assert_ne!(image("4.20.10"), image("4.20.12"));
}

/// CV-4: a mark that nobody followed in time is not followed any more, whenever its follower comes back.
#[test]
fn a_mark_that_has_ended_is_not_followed() {
    let none = |_: &str| None;
    let check = |until: Value, expected: bool| {
        let mut version = cluster(Some("u"));
        let noted = &mut version["metadata"]["annotations"][api::names::ACCEPTED_RELEASE];
        let mut mark: Value = serde_json::from_str(noted.as_str().unwrap()).unwrap();
        mark["until"] = until.clone();
        *noted = json!(mark.to_string());
        let now = at("2026-11-21T01:00:00Z");
        let seen = Seen { version: &version, masters: None, kubelets: None, config: &none, now };
        let begins = !plan(seen, Follows::Marks, &Lengths::default()).deeds.is_empty();
        assert_eq!(begins, expected, "{until}");
    };
    check(json!("2026-11-21T01:00:01Z"), true);
    check(json!("2026-11-21T01:00:00Z"), false);
    check(json!("soon"), false);
    check(json!(7), false);
}
