//! Does all that the operator has to write pass under its own token, its shipped role and every policy, and does nothing else?

use api::{
    kinds,
    machine::names::{
        ALLOWED_CONFIG, BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, DRAIN_RECORD,
        LAST_APPLIED_DRAIN, LEDGER, PERMIT_BASIS, PERMIT_CHANGE, PERMIT_UNTIL, STATE,
    },
};
use jiff::{Timestamp, ToSpan as _};
use kube::Client;
use runtime::key::collection;
use serde_json::{Value, json};

use super::{
    super::rollout::writers::Writer,
    NODES,
    identities::{By, RBAC, SYSTEM},
    node,
    orders::shown,
    who::Who,
};

const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json";

/// By the operator. A pool, a cluster version and a configuration named `held`, and a namespace `team`, are there.
pub(crate) async fn are_done(operator: &Writer, client: &Client) {
    machines_are_told_emptied_and_let_in(operator, client).await;
    pools_are_rendered_and_told_of(operator).await;
    who_leads_is_settled(operator).await;
    nothing_more_is_permitted(operator).await;
}

fn noted(annotations: &Value) -> Value {
    json!({"metadata": {"annotations": annotations}})
}

async fn passes(
    operator: &Writer,
    what: &str,
    (method, path): (&str, &str),
    (content, body): (&str, Value),
) {
    let answer = operator.send(method, path, content, &body).await;
    assert!(answer.is_ok(), "the operator {what}: {answer:?}");
}

async fn machines_are_told_emptied_and_let_in(operator: &Writer, client: &Client) {
    let by_hand = Who::Initiator.at(client, "pier");
    let at = format!("{NODES}/pier");
    drop(by_hand.send("DELETE", &at, "", &Value::Null).await);
    by_hand.create(NODES, &node("pier", &json!({CURRENT_CONFIG: "a", STATE: "Done"}))).await;
    let lodger = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lodger"}, "spec": {
        "nodeName": "pier", "automountServiceAccountToken": false,
        "containers": [{"name": "c", "image": "example.com/none"}]}});
    by_hand.create("/api/v1/namespaces/team/pods", &lodger).await;
    let until = shown(Timestamp::now() + 5.minutes());
    let adopted = node("pier", &json!({DESIRED_CONFIG: "a"}));
    let marked = node(
        "pier",
        &json!({DESIRED_CONFIG: "b", PERMIT_CHANGE: "b", PERMIT_UNTIL: until, PERMIT_BASIS: "window"}),
    );
    let cordoned =
        json!({"metadata": {"annotations": {DRAIN_RECORD: "x"}}, "spec": {"unschedulable": true}});
    let opened =
        json!({"metadata": {"annotations": {DRAIN_RECORD: null}}, "spec": {"unschedulable": null}});
    let evicted = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "lodger", "namespace": "team"}});
    let as_upkeep = format!("{at}?fieldManager=tidegate&force=true");
    let as_rollout = format!("{at}?fieldManager=tidegate-rollout&force=true");
    let eviction = "/api/v1/namespaces/team/pods/lodger/eviction";
    for (what, method, path, body) in [
        ("adopts", "PATCH", &*as_upkeep, (APPLY, adopted)),
        ("marks", "PATCH", &as_rollout, (APPLY, marked)),
        ("notes a release", "PATCH", &at, (MERGE, noted(&json!({BEGUN_RELEASE: "4.21.3"})))),
        ("uses consent up", "PATCH", &at, (MERGE, noted(&json!({ALLOWED_CONFIG: null})))),
        ("cordons", "PATCH", &at, (MERGE, cordoned)),
        ("evicts", "POST", eviction, (JSON, evicted)),
        ("has drained", "PATCH", &at, (MERGE, noted(&json!({LAST_APPLIED_DRAIN: "drain-b"})))),
        ("uncordons", "PATCH", &at, (MERGE, opened)),
    ] {
        passes(operator, what, (method, path), body).await;
    }
}

async fn pools_are_rendered_and_told_of(operator: &Writer) {
    let [configs, pool, version] = [
        collection(&kinds::MACHINE_CONFIG, None),
        format!("{}/held", collection(&kinds::MACHINE_CONFIG_POOL, None)),
        format!("{}/held", collection(&kinds::CLUSTER_VERSION, None)),
    ];
    let rendered = json!({"apiVersion": kinds::MACHINE_CONFIG.api_version, "kind": kinds::MACHINE_CONFIG.name,
        "metadata": {"name": "rendered-worker-b"}, "spec": {}});
    let pointed = json!({"spec": {"configuration": {"name": "rendered-worker-b"}}});
    let one = format!("{configs}/rendered-worker-b");
    let status = format!("{pool}/status");
    let event = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "tidegate", "reportingInstance": "one",
        "action": "Told", "reason": "Told", "type": "Normal", "regarding": {"kind": "Node", "name": "pier"}});
    let events = "/apis/events.k8s.io/v1/namespaces/default/events";
    for (what, method, path, body) in [
        ("renders", "POST", &*configs, (JSON, rendered)),
        ("records digests", "PATCH", &one, (MERGE, noted(&json!({"example.com/digests": "{}"})))),
        ("points the pool", "PATCH", &pool, (MERGE, pointed)),
        ("reserves", "PATCH", &pool, (MERGE, noted(&json!({LEDGER: "[]"})))),
        ("tells of the pool", "PATCH", &status, (MERGE, json!({"status": {"machineCount": 1}}))),
        ("records an update", "PATCH", &version, (MERGE, noted(&json!({BEGUN_RELEASE: "{}"})))),
        ("takes that away", "PATCH", &version, (MERGE, noted(&json!({BEGUN_RELEASE: null})))),
        ("tells", "POST", events, (JSON, event)),
    ] {
        passes(operator, what, (method, path), body).await;
    }
}

async fn who_leads_is_settled(operator: &Writer) {
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases");
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "tidegate-operator"}, "spec": {"holderIdentity": "one"}});
    passes(operator, "stands for election", ("POST", &leases), (JSON, lease)).await;
    let path = format!("{leases}/tidegate-operator");
    let mut held = operator.get(&path).await;
    held["spec"]["holderIdentity"] = json!("two");
    passes(operator, "leads", ("PUT", &path), (JSON, held)).await;
}

/// Whatever a policy would let pass.
async fn nothing_more_is_permitted(operator: &Writer) {
    let configs = collection(&kinds::MACHINE_CONFIG, None);
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "x"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}});
    for (what, method, path, body) in [
        ("deletes a node", "DELETE", format!("{NODES}/pier"), Value::Null),
        ("deletes a configuration", "DELETE", format!("{configs}/rendered-worker-b"), Value::Null),
        ("deletes a pod", "DELETE", "/api/v1/namespaces/team/pods/lodger".to_owned(), Value::Null),
        ("reads secrets", "GET", format!("/api/v1/namespaces/{SYSTEM}/secrets"), Value::Null),
        ("takes a policy away", "DELETE", format!("{policies}/tidegate-permits"), Value::Null),
        ("gives rights", "POST", format!("{RBAC}/clusterrolebindings"), binding),
    ] {
        let answer = operator.send(method, &path, JSON, &body).await;
        assert_eq!(By::of(&answer), By::Role, "the operator {what}: {answer:?}");
    }
}
