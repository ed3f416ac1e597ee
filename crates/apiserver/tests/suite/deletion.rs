//! How things go: finalizers, owners, namespaces, definitions, budgets.

use serde_json::{Value, json};

use super::common::{WIDGETS, delete, get, patch, post, server, widget};

const CONFIGS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";

#[test]
fn finalizer_holds_the_object_until_it_is_removed() {
    let server = server();
    let mut object = widget("a", 1);
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    post(&server, WIDGETS, &object);
    let a = format!("{WIDGETS}/a");
    let (code, marked) = delete(&server, &a, &Value::Null);
    assert_eq!((code, &marked["kind"]), (200, &json!("Widget")));
    assert_eq!(marked["metadata"]["deletionTimestamp"], "2026-03-01T12:00:00Z");
    assert_eq!(marked["metadata"]["generation"], 2);
    let (code, status) = patch(
        &server,
        &a,
        "merge",
        &json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}),
    );
    assert_eq!(code, 422);
    assert!(status["message"].as_str().unwrap().contains("no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.com/more\"}"), "{status}");
    assert_eq!(patch(&server, &a, "merge", &json!({"metadata": {"finalizers": null}})).0, 200);
    assert_eq!(get(&server, &a).0, 404);
}

#[test]
fn preconditions_guard_a_deletion() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 1));
    let a = format!("{WIDGETS}/a");
    let (code, status) = delete(&server, &a, &json!({"preconditions": {"uid": "other"}}));
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    let (code, done) = delete(
        &server,
        &a,
        &json!({"preconditions": {"resourceVersion": get(&server, &a).1["metadata"]["resourceVersion"]}}),
    );
    assert_eq!((code, &done["status"]), (200, &json!("Success")));
}

fn child(name: &str, owner: &Value, block: bool) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": [{
        "apiVersion": "example.com/v1", "kind": "Widget", "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block}]}})
}

#[test]
fn dependents_go_with_their_owner_or_are_orphaned() {
    for (policy, left) in [("Background", 404), ("Foreground", 404), ("Orphan", 200)] {
        let server = server();
        let (_, owner) = post(&server, WIDGETS, &widget("a", 1));
        post(&server, CONFIGS, &child("c", &owner, true));
        let (code, _) =
            delete(&server, &format!("{WIDGETS}/a"), &json!({"propagationPolicy": policy}));
        assert_eq!(code, 200, "{policy}");
        assert_eq!(get(&server, &format!("{WIDGETS}/a")).0, 404, "{policy}");
        let (code, orphan) = get(&server, &format!("{CONFIGS}/c"));
        assert_eq!(code, left, "{policy}");
        assert_eq!(orphan["metadata"].get("ownerReferences"), None, "{policy}");
    }
}

#[test]
fn foreground_deletion_waits_for_blocking_dependents() {
    let server = server();
    let (_, owner) = post(&server, WIDGETS, &widget("a", 1));
    let mut held = child("c", &owner, true);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    post(&server, CONFIGS, &held);
    delete(&server, &format!("{WIDGETS}/a"), &json!({"propagationPolicy": "Foreground"}));
    let (code, waiting) = get(&server, &format!("{WIDGETS}/a"));
    assert_eq!((code, &waiting["metadata"]["finalizers"]), (200, &json!(["foregroundDeletion"])));
    patch(&server, &format!("{CONFIGS}/c"), "merge", &json!({"metadata": {"finalizers": null}}));
    assert_eq!(get(&server, &format!("{CONFIGS}/c")).0, 404);
    assert_eq!(get(&server, &format!("{WIDGETS}/a")).0, 404);
}

#[test]
fn object_of_an_absent_owner_is_collected_and_one_of_an_unknown_kind_is_not() {
    let server = server();
    let ghost =
        json!({"metadata": {"name": "ghost", "uid": "6f3c2c1e-0000-4000-8000-000000000000"}});
    post(&server, CONFIGS, &child("c", &ghost, false));
    assert_eq!(get(&server, &format!("{CONFIGS}/c")).0, 404);
    let mut pod = pod("p", "");
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1"}]);
    post(&server, PODS, &pod);
    assert_eq!(get(&server, &format!("{PODS}/p")).0, 200);
}

#[test]
fn namespace_takes_its_contents_along() {
    let server = server();
    post(
        &server,
        "/api/v1/namespaces",
        &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}),
    );
    let inside = "/apis/example.com/v1/namespaces/n/widgets";
    let mut held = widget("a", 1);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    post(&server, inside, &held);
    post(&server, inside, &widget("b", 1));
    let (code, going) = delete(&server, "/api/v1/namespaces/n", &Value::Null);
    assert_eq!((code, &going["status"]["phase"]), (200, &json!("Terminating")));
    assert_eq!(get(&server, &format!("{inside}/b")).0, 404);
    let (code, status) = post(&server, inside, &widget("c", 1));
    assert_eq!((code, &status["reason"]), (403, &json!("Forbidden")));
    patch(&server, &format!("{inside}/a"), "merge", &json!({"metadata": {"finalizers": null}}));
    assert_eq!(get(&server, "/api/v1/namespaces/n").0, 404);
}

#[test]
fn definition_takes_its_kind_along() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 1));
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
    let conditions = get(&server, path).1["status"]["conditions"].clone();
    assert!(
        conditions
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["type"] == "Established" && c["status"] == "True")
    );
    assert_eq!(delete(&server, path, &Value::Null).0, 200);
    assert_eq!(get(&server, path).0, 404);
    assert_eq!(get(&server, WIDGETS).0, 404);
}

fn pod(name: &str, node: &str) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "x"}},
                         "spec": {"containers": [{"name": "c", "image": "i"}]}});
    if !node.is_empty() {
        pod["spec"]["nodeName"] = node.into();
    }
    pod
}

#[test]
fn pod_on_a_node_gets_its_grace_period() {
    let server = server();
    post(&server, PODS, &pod("p", "node"));
    let p = format!("{PODS}/p");
    let (_, marked) = delete(&server, &p, &Value::Null);
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(marked["metadata"]["deletionTimestamp"], "2026-03-01T12:00:30Z");
    assert_eq!(delete(&server, &p, &json!({"gracePeriodSeconds": 0})).0, 200);
    assert_eq!(get(&server, &p).0, 404);
}

#[test]
fn eviction_spends_the_budget_and_no_more() {
    let server = server();
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "x"}}}});
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    post(&server, budgets, &budget);
    for name in ["p", "q", "r"] {
        post(&server, PODS, &pod(name, "node"));
        let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        patch(&server, &format!("{PODS}/{name}/status"), "merge", &ready);
    }
    let status = || get(&server, &format!("{budgets}/b")).1["status"].clone();
    assert_eq!(
        (&status()["disruptionsAllowed"], &status()["expectedPods"]),
        (&json!(1), &json!(3))
    );
    let evict = |name: &str| {
        let body =
            json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        post(&server, &format!("{PODS}/{name}/eviction"), &body)
    };
    assert_eq!(evict("p").0, 201);
    let (code, refused) = evict("q");
    assert_eq!((code, &refused["reason"]), (429, &json!("TooManyRequests")));
    assert_eq!(
        refused["message"],
        "Cannot evict pod as it would violate the pod's disruption budget."
    );
    assert_eq!(
        refused["details"]["causes"][0]["message"],
        "The disruption budget b needs 2 healthy pods and has 2 currently"
    );
    assert_eq!(status()["disruptionsAllowed"], 0);
}
