//! Rows: the rights of requests, the rights of rules, and their differences.

use serde_json::json;

use super::*;

#[test]
fn request_needs_the_right_that_the_authorizer_asks_about() {
    #[track_caller]
    fn check(request: &str, expect: &str) {
        let (method, target) = request.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let right = Right::of_request(&method.parse().unwrap(), path, query);
        assert_eq!(right.map_or("none".to_owned(), |right| right.to_string()), expect, "{request}");
    }

    check("GET /version", "none");
    check("GET /readyz", "none");
    check("GET /apis", "none");
    check("GET /api/v1", "none");
    check("GET /apis/config.openshift.io/v1", "none");
    check("GET /api/v1/nodes", "list nodes");
    check("GET /api/v1/nodes?watch=true&resourceVersion=1", "watch nodes");
    check("GET /api/v1/nodes?limit=500&watch=1", "watch nodes");
    check("GET /api/v1/nodes/n1", "get nodes");
    check("GET /api/v1/namespaces", "list namespaces");
    check("GET /api/v1/namespaces/a", "get namespaces");
    check("PUT /api/v1/namespaces/a/finalize", "update namespaces/finalize");
    check("PATCH /api/v1/namespaces/a/status", "patch namespaces/status");
    check("POST /api/v1/namespaces/a/pods", "create pods");
    check("POST /api/v1/namespaces/a/pods/p/eviction", "create pods/eviction");
    check("DELETE /api/v1/namespaces/a/pods/p", "delete pods");
    check("DELETE /api/v1/namespaces/a/pods", "deletecollection pods");
    check(
        "GET /apis/hypershift.openshift.io/v1beta1/nodepools",
        "list nodepools.hypershift.openshift.io",
    );
    check(
        "PATCH /apis/hypershift.openshift.io/v1beta1/namespaces/clusters/nodepools/gold/status?fieldManager=t",
        "patch nodepools/status.hypershift.openshift.io",
    );
    check(
        "PUT /apis/coordination.k8s.io/v1/namespaces/t/leases/tidegate-operator",
        "update leases.coordination.k8s.io",
    );
}

#[test]
fn rules_grant_every_combination_and_nothing_else_counts() {
    let objects = [
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [
            {"apiGroups": ["", "apps"], "resources": ["pods"], "verbs": ["get", "list"]},
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        ]}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": [
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]},
        ]}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "rules": [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
        ]}),
    ];
    let rights = granted(&objects);
    let rights: Vec<String> = rights.iter().map(Right::to_string).collect();
    assert_eq!(
        rights,
        [
            "get pods",
            "list pods",
            "get pods.apps",
            "list pods.apps",
            "* leases.coordination.k8s.io"
        ]
    );
}

#[test]
fn difference_is_told_in_both_directions() {
    #[track_caller]
    fn check(used: &[&str], granted: &[&str], expect: &str) {
        let rights = |list: &[&str]| -> BTreeSet<Right> {
            let right = |text: &&str| text.split_once(' ').map(|(v, r)| Right::new(v, "", r));
            list.iter().filter_map(right).collect()
        };
        let difference = Difference::between(&rights(used), &rights(granted));
        assert_eq!(difference.to_string(), expect);
        assert_eq!(difference.is_empty(), expect.is_empty());
    }

    check(&[], &[], "");
    check(&["get pods"], &["get pods"], "");
    check(&["get pods"], &[], "used, and not granted: get pods\n");
    check(&[], &["get pods"], "granted, and not used: get pods\n");
    check(
        &["patch pods/status"],
        &["patch pods"],
        "used, and not granted: patch pods/status\ngranted, and not used: patch pods\n",
    );
    // A wildcard grants more than was used, so it is not the same.
    check(
        &["get pods"],
        &["* pods"],
        "used, and not granted: get pods\ngranted, and not used: * pods\n",
    );
}

#[test]
fn recorder_keeps_each_right_once_and_its_clones_share() {
    let recorder = Recorder::default();
    let request = |target: &str| http::Request::get(target).body(()).unwrap();
    recorder.note(&request("https://server/api/v1/nodes?watch=true"));
    recorder.clone().note(&request("/api/v1/nodes?watch=true"));
    recorder.note(&request("/version"));
    assert_eq!(recorder.used(), BTreeSet::from([Right::new("watch", "", "nodes")]));
}
