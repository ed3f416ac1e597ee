//! What does the definition refuse, what does kubectl show, and what may a team do with its gates?

use api::names;
use jiff::ToSpan as _;
use rig::Cluster;
use serde_json::{Value, json};

use super::{
    overrides::overriding,
    world::{GROUP, World, gate, gate_path, now, open_tomorrow},
};
use crate::{
    admin::kubectl,
    rollout::writers::{Writer, until},
};

/// What each room offers, and what it does not know.
fn what_rooms_offer() -> Vec<(Value, &'static str)> {
    let hold = |hold: Value| json!({"holds": [hold]});
    vec![
        (hold(json!({"what": "Deployments"})), ""),
        (hold(json!({"what": "Deployments", "how": "Queue"})), ""),
        (
            hold(json!({"what": "Deployments", "how": "Refuse", "names": ["web"], "selector": {}})),
            "",
        ),
        (hold(json!({"what": "StatefulSets"})), ""),
        (hold(json!({"what": "DaemonSets", "how": "Refuse"})), ""),
        (
            hold(json!({"what": "StatefulSets", "how": "Queue"})),
            "how must be Refuse for StatefulSets",
        ),
        (hold(json!({"what": "DaemonSets", "how": "Queue"})), "how must be Refuse for DaemonSets"),
        (hold(json!({"what": "HelmReleases", "allow": ["Rollback", "FirstInstall"]})), ""),
        (hold(json!({"what": "HelmReleases", "allow": ["Uninstall"]})), "Unsupported value"),
        (hold(json!({"what": "HelmReleases", "allow": []})), "should have at least 1 items"),
        (
            hold(json!({"what": "HelmReleases", "allow": ["Rollback", "Rollback"]})),
            "Duplicate value",
        ),
        (
            hold(json!({"what": "HelmReleases", "how": "Queue"})),
            "how must be Refuse for HelmReleases",
        ),
        (hold(json!({"what": "Applications", "names": ["web"]})), ""),
        (
            hold(json!({"what": "Applications", "how": "Refuse"})),
            "how must be Queue for Applications",
        ),
        (
            hold(json!({"what": "Applications", "allow": ["Rollback"]})),
            "this room lets nothing pass by allow: leave it out",
        ),
        (
            hold(json!({"what": "Deployments", "allow": ["FirstInstall"]})),
            "this room lets nothing pass by allow: leave it out",
        ),
        (hold(json!({"what": "KuredLock", "how": "Queue"})), ""),
        (hold(json!({"what": "KuredLock", "how": "Refuse"})), "how must be Queue for KuredLock"),
    ]
}

/// RCH-11
pub(super) async fn refuse_what_a_room_does_not_know(world: &World) {
    let namespaced = format!("{GROUP}/namespaces/default/changegates?dryRun=All");
    let wide = format!("{GROUP}/clusterchangegates?dryRun=All");
    let of = |holds: Value| json!({"holds": holds});
    let hold = |hold: Value| json!({"holds": [hold]});
    let with = |key: &str, value: Value| {
        let mut spec = json!({"holds": [{"what": "Deployments"}]});
        spec[key] = value;
        spec
    };
    let required = |operator: &str, values: Value| {
        hold(json!({"what": "Deployments",
        "selector": {"matchExpressions": [{"key": "tier", "operator": operator, "values": values}]}}))
    };
    let others = [
        (hold(json!({"what": "Deployments", "how": "Pause"})), "Unsupported value"),
        (hold(json!({"what": "Everything"})), "Unsupported value"),
        (hold(json!({"how": "Queue"})), "what"),
        (of(json!([])), "should have at least 1 items"),
        (
            of(json!([{"what": "Deployments"}, {"what": "Deployments", "how": "Refuse"}])),
            "Duplicate value",
        ),
        (hold(json!({"what": "Deployments", "names": []})), "should have at least 1 items"),
        (hold(json!({"what": "Deployments", "names": vec!["x".repeat(254)]})), "Too long"),
        (required("In", json!(["web"])), ""),
        (required("In", json!([])), "values are required when operator is In or NotIn"),
        (
            required("Exists", json!(["web"])),
            "values are forbidden when operator is Exists or DoesNotExist",
        ),
        (required("Gt", json!(["1"])), "Unsupported value"),
        (with("mode", json!("Shout")), "Unsupported value"),
        (with("exempt", json!({"serviceAccounts": ["deployer"]})), "should match"),
        (
            with(
                "exempt",
                json!({"serviceAccounts": ["shop:deployer"], "groups": ["a"], "users": ["b"]}),
            ),
            "",
        ),
        (
            with("changeManagement", json!({"strategy": "RestrictiveUntil"})),
            "restrictiveUntil is required",
        ),
        (
            with(
                "changeManagement",
                json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}),
            ),
            "",
        ),
        (
            with(
                "changeManagement",
                json!({"strategy": "ByPolicy", "byPolicy": {"kind": "Policy", "name": "x"}}),
            ),
            "Unsupported value",
        ),
    ];
    for (spec, refusal) in what_rooms_offer().into_iter().chain(others) {
        for (kind, path) in [(names::CHANGE_GATE, &namespaced), (names::CLUSTER_CHANGE_GATE, &wide)]
        {
            let answer = world.post(path, &gate(kind, "tried", spec.clone())).await;
            match answer {
                Ok(made) => {
                    assert_eq!(refusal, "", "{kind} takes {spec}");
                    assert_eq!(
                        (&made["spec"]["mode"], &made["spec"]["nudge"]),
                        (&json!("Enforce"), &json!(true))
                    );
                }
                Err(said) => {
                    assert!(!refusal.is_empty() && said.contains(refusal), "{kind} {spec}: {said}");
                }
            }
        }
    }
    // A team may go by a policy of its namespace; the cluster has none.
    let hosted = with(
        "changeManagement",
        json!({"strategy": "ByPolicy", "byPolicy": {"kind": "HostedChangeManagementPolicy", "name": "x"}}),
    );
    world.post(&namespaced, &gate(names::CHANGE_GATE, "tried", hosted.clone())).await.unwrap();
    let said =
        world.post(&wide, &gate(names::CLUSTER_CHANGE_GATE, "tried", hosted)).await.unwrap_err();
    assert!(said.contains("a ClusterChangeGate names a ChangeManagementPolicy"), "{said}");
}

pub(super) async fn are_shown_by_kubectl(cluster: &Cluster, world: &World) {
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}});
    let spec = json!({"changeManagement": stanza, "holds": [{"what": "Deployments"}]});
    world.gate("default", "shop-rollouts", spec.clone()).await;
    let shut = json!({"current": {"state": "ChangesPaused", "startTime": null, "endTime": null, "reason": "x"}});
    let window = json!({"startTime": "2026-11-21T02:00:00Z", "endTime": "2026-11-21T06:00:00Z"});
    let status = json!({"windows": [window], "pendingCount": 2, "targets": 14, "behavior": shut});
    world.write_status(&gate_path("default", "shop-rollouts"), status).await;
    let shown = kubectl(cluster, &["get", "cg", "-A"]);
    let words =
        |line: usize| shown.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(
        words(0),
        [
            "NAMESPACE",
            "NAME",
            "HOLDS",
            "POLICY",
            "STATE",
            "OPENS",
            "CLOSES",
            "PENDING",
            "TARGETS",
            "MODE",
            "AGE"
        ]
    );
    assert_eq!(
        words(1)[..10],
        [
            "default",
            "shop-rollouts",
            "Deployments",
            "weekend",
            "ChangesPaused",
            "2026-11-21T02:00:00Z",
            "2026-11-21T06:00:00Z",
            "2",
            "14",
            "Enforce"
        ]
    );
    world.cluster_gate("platform", spec).await;
    assert!(kubectl(cluster, &["get", "ccg"]).contains("platform"));
    let explained = kubectl(cluster, &["explain", "changegate.spec.holds.how"]);
    assert!(explained.contains("what they want is refused"), "{explained}");
    for (namespace, name) in [("default", "shop-rollouts")] {
        world.remove_gate(namespace, name).await;
    }
    world.remove_cluster_gate("platform").await;
}

/// Who administers a namespace makes and deletes its gates, and writes nobody's status. The role is the one that is shipped, bound in the
/// namespace as `admin` would be, into which it aggregates.
pub(super) async fn let_teams_add_gates_and_nothing_more(world: &World) {
    world.namespace("team", &json!({})).await;
    let roles = "/apis/rbac.authorization.k8s.io/v1";
    for role in shipped_roles() {
        let plural = match role["kind"].as_str() {
            Some("ClusterRole") => "clusterroles",
            Some("ClusterRoleBinding") => "clusterrolebindings",
            // Those of the operator, in the namespace where it tries.
            _ => continue,
        };
        world.admin.create(&format!("{roles}/{plural}"), &role).await;
    }
    for (namespace, role) in [("team", "tidegate-gates-admin"), ("team", "tidegate-gates-view")] {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tess"}],
        });
        world.admin.create(&format!("{roles}/namespaces/{namespace}/rolebindings"), &binding).await;
    }
    let tess = Writer::new(&world.client, "tess", &["system:authenticated"], None);
    let mine = format!("{GROUP}/namespaces/team/changegates");
    let body = gate(names::CHANGE_GATE, "own", json!({"holds": [{"what": "Deployments"}]}));
    let make =
        async |path: &str, body: &Value| tess.send("POST", path, "application/json", body).await;
    until("she may make a gate", async || make(&mine, &body).await.is_ok()).await;
    // What she sends of the status is dropped, and she may not write it.
    let mut forged =
        gate(names::CHANGE_GATE, "forged", json!({"holds": [{"what": "Deployments"}]}));
    forged["status"] = json!({"observedGeneration": 1, "windows": [{}], "conditions": []});
    assert_eq!(make(&mine, &forged).await.unwrap().get("status"), None);
    let opened = json!({"status": {"windows": [open_tomorrow()]}});
    let own = gate_path("team", "own");
    for (what, answer) in [
        ("her status", tess.merge(&format!("{own}/status"), &opened).await),
        ("a gate elsewhere", make(&format!("{GROUP}/namespaces/default/changegates"), &body).await),
        (
            "a gate of the cluster",
            make(&format!("{GROUP}/clusterchangegates"), &gate(names::CLUSTER_CHANGE_GATE, "x", body["spec"].clone())).await,
        ),
        (
            "an admission policy",
            tess.send("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/tidegate-gate-deployments", "", &Value::Null).await,
        ),
    ] {
        let said = answer.expect_err(what);
        assert!(said.contains("forbidden"), "{what}: {said}");
    }
    // She opens what is in her namespace, and nothing of the platform's (OVR-2).
    let spec = json!({"target": {"kind": "ChangeGate", "name": "own"},
        "until": (now() + 1.hour()).to_string(), "reason": "a hotfix"});
    let opened = overriding(names::CHANGE_OVERRIDE, "mine", &spec);
    make(&format!("{GROUP}/namespaces/team/changeoverrides"), &opened).await.unwrap();
    let wide = overriding(
        names::CLUSTER_CHANGE_OVERRIDE,
        "wide",
        &json!({
        "target": {"kind": "ClusterVersion", "name": "version"}, "until": spec["until"], "reason": "x"}),
    );
    let said = make(&format!("{GROUP}/clusterchangeoverrides"), &wide).await.unwrap_err();
    assert!(said.contains("forbidden"), "{said}");
    let said = make(&format!("{GROUP}/namespaces/default/changeoverrides"), &opened).await;
    assert!(said.unwrap_err().contains("forbidden"));
    // She sees what the platform holds, and takes back what she made.
    tess.send("GET", &format!("{GROUP}/clusterchangegates"), "", &Value::Null).await.unwrap();
    tess.send("DELETE", &own, "", &Value::Null).await.unwrap();
}

fn shipped_roles() -> Vec<Value> {
    let path = tidy::Tree::top().join("deploy/manifests/change-gates/change-gates.yaml");
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(&std::fs::read_to_string(path).unwrap()).unwrap();
    let of_roles = |document: &Value| document["apiVersion"] == "rbac.authorization.k8s.io/v1";
    documents.into_iter().filter(of_roles).collect()
}
