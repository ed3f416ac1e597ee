//! What everybody else does to nodes all day passes: the policies are about changes, and about nothing else.

use api::machine::names::{ALLOWED_CONFIG, CURRENT_CONFIG, DESIRED_CONFIG, PERMIT_CHANGE, STATE};
use kube::Client;
use rig::{Cluster, User};
use serde_json::{Value, json};

use super::{super::admin::kubectl, NODES, node, who::Who};

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON: &str = "application/json-patch+json";

pub(crate) async fn work_passes(client: &Client) {
    // The kubelet registers the node, as it does.
    let kubelet = Who::Kubelet.at(client, "pier");
    let registered = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "pier",
        "labels": {"kubernetes.io/hostname": "pier", "kubernetes.io/os": "linux"},
        "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    kubelet.create(NODES, &registered).await;
    let pier = format!("{NODES}/pier");
    let settled = json!({"metadata": {"annotations":
        {CURRENT_CONFIG: "a", DESIRED_CONFIG: "a", PERMIT_CHANGE: "a", STATE: "Done"}}});
    Who::Initiator.at(client, "pier").merge(&pier, &settled).await.unwrap();

    let status = format!("{pier}/status");
    let ready = json!({"status": {"conditions": [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]}});
    let annotated = json!({"metadata": {"annotations": {"example.com/note": "x"}}});
    for (what, who, path, content, change) in [
        ("a heartbeat", Who::Kubelet, &*status, STRATEGIC, ready.clone()),
        ("what the kubelet notes", Who::Kubelet, &pier, MERGE, annotated.clone()),
        (
            "a condition of a detector",
            Who::StatusWriter,
            &status,
            STRATEGIC,
            json!({"status": {"conditions": [{"type": "KernelDeadlock", "status": "False"}]}}),
        ),
        ("cordon", Who::Administrator, &pier, MERGE, json!({"spec": {"unschedulable": true}})),
        ("uncordon", Who::Administrator, &pier, MERGE, json!({"spec": {"unschedulable": null}})),
        (
            "taint",
            Who::Administrator,
            &pier,
            MERGE,
            json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
        ),
        ("label", Who::Administrator, &pier, MERGE, json!({"metadata": {"labels": {"rack": "7"}}})),
        ("annotate", Who::Administrator, &pier, MERGE, annotated.clone()),
        (
            "annotate away",
            Who::Stranger,
            &pier,
            MERGE,
            json!({"metadata": {"annotations": {"example.com/note": null}}}),
        ),
        (
            "consent",
            Who::Administrator,
            &pier,
            MERGE,
            json!({"metadata": {"annotations": {ALLOWED_CONFIG: "b"}}}),
        ),
        (
            "consent withdrawn",
            Who::NamespaceAdmin,
            &pier,
            MERGE,
            json!({"metadata": {"annotations": {ALLOWED_CONFIG: null}}}),
        ),
        (
            "a taint by JSON patch",
            Who::Administrator,
            &pier,
            JSON,
            json!([{"op": "replace", "path": "/spec/taints", "value": []}]),
        ),
        (
            "what the agent says",
            Who::Agent,
            &pier,
            MERGE,
            json!({"metadata": {"annotations": {STATE: "Working"}}}),
        ),
        (
            "and takes away",
            Who::Agent,
            &pier,
            MERGE,
            json!({"metadata": {"annotations": {STATE: null}}}),
        ),
    ] {
        let answer = who.at(client, "pier").send("PATCH", path, content, &change).await;
        assert!(answer.is_ok(), "{what}: {answer:?}");
    }
    let admin = Who::Administrator.at(client, "pier");
    let applied = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "pier", "labels": {"tier": "x"}}});
    let at = format!("{pier}?fieldManager=gitops&force=true");
    admin.send("PATCH", &at, "application/apply-patch+yaml", &applied).await.unwrap();
    for at in [&pier, &status] {
        // Read, changed and sent back, by somebody who knows nothing of owners either.
        let mut whole = admin.get(&pier).await;
        whole["metadata"].as_object_mut().unwrap().retain(|key, _| key != "managedFields");
        whole["metadata"]["labels"]["seen"] = json!(at.len().to_string());
        let answer = admin.send("PUT", at, "application/json", &whole).await;
        assert!(answer.is_ok(), "{at}: {answer:?}");
    }
    let noted = admin.get(&pier).await["metadata"]["annotations"].clone();
    assert_eq!((&noted[DESIRED_CONFIG], &noted[PERMIT_CHANGE]), (&json!("a"), &json!("a")));
    // A node that goes, and comes back with nothing: its agent and the operator do the rest.
    admin.send("DELETE", &pier, "", &Value::Null).await.unwrap();
    kubelet.create(NODES, &node("pier", &json!({}))).await;
    let says = json!({"metadata": {"annotations": {CURRENT_CONFIG: "a", STATE: "Done"}}});
    Who::Agent.at(client, "pier").merge(&pier, &says).await.unwrap();
    let adopted = node("pier", &json!({DESIRED_CONFIG: "a"}));
    let at = format!("{pier}?fieldManager=tidegate&force=true");
    let operator = Who::Operator.at(client, "pier");
    operator.send("PATCH", &at, "application/apply-patch+yaml", &adopted).await.unwrap();
}

/// An administrator's day, and the order by hand exactly as the refusal says it.
pub(crate) async fn people_use_kubectl(cluster: &Cluster, client: &Client) {
    let settled = json!({CURRENT_CONFIG: "a", DESIRED_CONFIG: "a", PERMIT_CHANGE: "a"});
    Who::Initiator.at(client, "pier").create(NODES, &node("pier", &settled)).await;
    for arguments in [
        &["cordon", "pier"][..],
        &["drain", "pier"],
        &["uncordon", "pier"],
        &["label", "node", "pier", "rack=7"],
        &["label", "node", "pier", "rack-"],
        &["annotate", "node", "pier", "example.com/note=x"],
        &["annotate", "node", "pier", "example.com/note-"],
        &["taint", "node", "pier", "a=b:NoSchedule"],
        &["taint", "node", "pier", "a-"],
    ] {
        kubectl(cluster, arguments);
    }
    let run = |command: &str| {
        let program = cluster.kubectl().display();
        let access = cluster.kubeconfig(User::Admin).display();
        let command = command.replacen("kubectl ", &format!("{program} --kubeconfig {access} "), 1);
        std::process::Command::new("sh").arg("-c").arg(command).output().unwrap()
    };
    let refused = run(
        "kubectl annotate node pier --overwrite machineconfiguration.openshift.io/desiredConfig=b",
    );
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    let hint = said.split_once("order it by hand, ").map(|(_, hint)| hint.trim().to_owned());
    let hint = hint.unwrap_or_else(|| panic!("no hint: {said}"));
    let done = run(&hint.replace("RENDERED", "b"));
    assert!(done.status.success(), "{hint}: {}", String::from_utf8_lossy(&done.stderr));
    let noted = Who::Stranger.at(client, "pier").get(&format!("{NODES}/pier")).await;
    let noted = &noted["metadata"]["annotations"];
    assert_eq!((&noted[DESIRED_CONFIG], &noted[PERMIT_CHANGE]), (&json!("b"), &json!("b")));
}
