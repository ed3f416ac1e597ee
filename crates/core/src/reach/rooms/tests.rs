use api::{
    crds, kinds,
    reach::{Allow, PendingChange, Way},
};
use serde_json::json;

use super::*;

/// RCH-11: the definition knows the rooms and their ways, and the table knows those of the definition.
#[test]
fn table_and_definition_know_the_same_rooms() {
    let rooms: Vec<What> = known().map(|room| room.what).collect();
    let offers: Vec<What> = OFFERS.iter().map(|offer| offer.what).collect();
    assert_eq!(rooms, offers);
    for kind in [kinds::CHANGE_GATE, kinds::CLUSTER_CHANGE_GATE] {
        let definition = crds::definition(&kind);
        let hold = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/holds/items/properties";
        let known = definition.pointer(hold).unwrap();
        let names: Vec<&str> = OFFERS.iter().map(|offer| offer.name).collect();
        assert_eq!(known["what"]["enum"], json!(names));
        for (way, name) in OFFERS.iter().flat_map(|offer| offer.ways) {
            assert!(known["how"]["enum"].as_array().unwrap().contains(&json!(name)));
            assert_eq!(serde_json::to_value(way).unwrap(), json!(name));
            assert_ne!(*way, Way::Unknown);
        }
        for (allow, name) in OFFERS.iter().flat_map(|offer| offer.allows) {
            assert!(known["allow"]["items"]["enum"].as_array().unwrap().contains(&json!(name)));
            assert_eq!(serde_json::to_value(allow).unwrap(), json!(name));
            assert_ne!(*allow, Allow::Unknown);
        }
    }
}

/// RCH-6
#[test]
fn every_room_says_what_it_does_not_hold() {
    for room in ROOMS {
        assert!(!room.not_held.is_empty() && !room.held.is_empty() && !room.tried.is_empty());
        assert!(!room.writes.is_empty() && !room.first_way().is_empty(), "{room:?}");
    }
}

fn deployment(image: &str) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"template": template(image, &json!({"app": "web"}))},
        "status": {"conditions": [{"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
            "lastTransitionTime": "2026-11-15T21:07:56Z"}]},
    })
}

fn template(image: &str, labels: &Value) -> Value {
    json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": image}]}})
}

fn set(revision: &str, image: &str, owner: &str) -> Value {
    json!({
        "metadata": {
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": owner, "controller": true}],
        },
        "spec": {"template": template(image, &json!({"app": "web", "pod-template-hash": "5c8"}))},
    })
}

#[test]
fn a_template_that_no_set_has_waits() {
    #[track_caller]
    fn check(target: &Value, made: &[Value], change: Option<&str>) {
        let room = room(What::Deployments).unwrap();
        let found = room.pending(&Documents { target, made });
        let expected = change.map(|change| PendingChange {
            kind: "Deployment".into(),
            namespace: Some("shop".into()),
            name: "web".into(),
            since: Some("2026-11-15T21:07:56Z".into()),
            change: Some(change.into()),
        });
        assert_eq!(found, expected);
    }

    let web = deployment("app:2");
    check(&web, &[set("1", "app:1", "u")], Some("app:1 -> app:2"));
    check(
        &web,
        &[set("1", "app:0", "u"), set("10", "app:1", "u"), set("9", "app:9", "u")],
        Some("app:1 -> app:2"),
    );
    check(&web, &[set("1", "app:1", "u"), set("2", "app:2", "u")], None);
    // Another's set is not its own, and what was never rolled out waits for nobody.
    check(&web, &[set("1", "app:1", "u"), set("2", "app:2", "other")], Some("app:1 -> app:2"));
    check(&web, &[], None);
    let mut restarted = deployment("app:1");
    restarted["spec"]["template"]["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/restartedAt": "x"});
    check(&restarted, &[set("1", "app:1", "u")], Some("the pod template, with the same images"));
    let mut paused = deployment("app:2");
    paused["spec"]["paused"] = json!(true);
    check(&paused, &[set("1", "app:1", "u")], None);
}

/// RCH-6: what its own window holds, and what failed, does not wait for a gate.
#[test]
fn a_plan_that_its_nodes_do_not_have_waits() {
    #[track_caller]
    fn check(validated: &str, resolved: &str, complete: (&str, &str), change: Option<&str>) {
        let condition = |kind: &str, status: &str, reason: &str| json!({"type": kind, "status": status, "reason": reason});
        let target = json!({
            "metadata": {"name": "k3s", "namespace": "system-upgrade"},
            "status": {"latestVersion": "v1.36.1-k3s1", "conditions": [
                condition("Validated", validated, "PlanIsValid"),
                condition("LatestResolved", resolved, "Version"),
                condition("Complete", complete.0, complete.1),
            ]},
        });
        let room = room(What::UpgradePlans).unwrap();
        let found = room.pending(&Documents { target: &target, made: &[] });
        let expected = change.map(|change| PendingChange {
            kind: "Plan".into(),
            namespace: Some("system-upgrade".into()),
            name: "k3s".into(),
            since: None,
            change: Some(change.into()),
        });
        assert_eq!(found, expected, "{target}");
    }

    let waits = Some("nodes to v1.36.1-k3s1");
    check("True", "True", ("False", "Resolved"), waits);
    check("True", "True", ("False", "SyncJob"), waits);
    check("True", "True", ("Unknown", ""), waits);
    check("True", "True", ("True", "Complete"), None);
    check("False", "True", ("False", "Resolved"), None);
    check("True", "False", ("False", "Resolved"), None);
    check("True", "True", ("False", "Waiting"), None);
    check("True", "True", ("False", "JobFailed"), None);
    let new = json!({"metadata": {"name": "k3s", "namespace": "system-upgrade"}});
    let room = room(What::UpgradePlans).unwrap();
    assert_eq!(room.pending(&Documents { target: &new, made: &[] }), None);
}

#[test]
fn what_an_automatic_sync_would_bring_waits() {
    /// Nothing waits, or something that can be named or not.
    enum Waits<'a> {
        Nothing,
        Unnamed,
        For(&'a str),
    }
    use Waits::{For, Nothing, Unnamed};

    #[track_caller]
    fn check(target: &Value, waits: &Waits<'_>) {
        let room = room(What::Applications).unwrap();
        let found = room.pending(&Documents { target, made: &[] });
        let change = match waits {
            Nothing => return assert_eq!(found, None, "{target}"),
            Unnamed => None,
            For(change) => Some((*change).to_owned()),
        };
        let expected = Some(PendingChange {
            kind: "Application".into(),
            namespace: Some("argocd".into()),
            name: "web".into(),
            since: Some("2026-11-15T21:07:56Z".into()),
            change,
        });
        assert_eq!(found, expected, "{target}");
    }
    let waits = json!({
        "metadata": {"name": "web", "namespace": "argocd"},
        "spec": {"syncPolicy": {"automated": {}}},
        "status": {
            "sync": {"status": "OutOfSync", "revision": "b"},
            "history": [{"revision": "z"}, {"revision": "a"}],
            "conditions": [{"type": "SyncError", "lastTransitionTime": "2026-11-15T21:07:56Z"}],
        },
    });
    check(&waits, &For("a -> b"));
    let with = |path: &str, value: Value| {
        let mut changed = waits.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    check(&with("/status/history", json!([])), &For("b"));
    check(&with("/status/history/1/revision", json!("b")), &For("drift from b"));
    check(&with("/status/sync", json!({"status": "OutOfSync"})), &Unnamed);
    let several = json!({"status": "OutOfSync", "revisions": ["c", "d"]});
    check(&with("/status/sync", several), &For("a -> c"));
    check(&with("/status/sync/status", json!("Synced")), &Nothing);
    check(&with("/spec/syncPolicy", json!({})), &Nothing);
    check(&with("/spec/syncPolicy/automated", json!({"enabled": false})), &Nothing);
    check(&with("/spec/syncPolicy/automated", Value::Null), &Nothing);
    let mut asked = waits.clone();
    asked["operation"] = json!({"sync": {}});
    check(&asked, &Nothing);
}
