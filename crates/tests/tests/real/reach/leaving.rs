//! Can gates be taken away again, and is nobody refused anything afterwards?
//!
//! Definitions must not go before the policies that read them: the server would refuse every write that the policies look at. So a policy
//! refuses their deletion, Helm leaves them, and they can be deleted once the rest is gone.

use rig::{Cluster, Helm, User};
use serde_json::{Value, json};

use super::world::{GROUP, replica_set};
use crate::{
    deploy::{chart, make_namespace, release},
    rollout::writers::{self, INITIATORS, RIGHTS, Writer, until},
};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OURS: [&str; 4] = [
    "changegates.changemanagement.openshift.io",
    "clusterchangegates.changemanagement.openshift.io",
    "changefreezes.changemanagement.openshift.io",
    "clusterchangefreezes.changemanagement.openshift.io",
];

pub(super) async fn in_the_right_order(helm: &Helm, cluster: &Cluster) {
    make_namespace(&cluster.client(User::Admin).await.unwrap()).await;
    let client = writers::of_real(cluster).await;
    let admin = Writer::new(&client, "admin", &[RIGHTS], None);
    let initiator = Writer::new(&client, "jane", &[RIGHTS, INITIATORS], None);
    release(
        helm,
        cluster,
        &[
            "install",
            "tidegate",
            &chart(),
            "--set=changeGates.enabled=true",
            "--set=crds.keep=false",
        ],
    );
    let delete = async |who: &Writer, path: &str| who.send("DELETE", path, "", &Value::Null).await;
    let refused = |answer: Result<Value, String>| {
        answer.is_err_and(|said| said.contains("admission policies read this definition"))
    };
    for name in OURS {
        let path = format!("{DEFINITIONS}/{name}?dryRun=All");
        until(name, async || refused(delete(&admin, &path).await)).await;
        delete(&initiator, &path).await.unwrap();
    }
    let all = format!("{DEFINITIONS}?dryRun=All&labelSelector=app.kubernetes.io%2Fname%3Dtidegate");
    assert!(refused(delete(&admin, &all).await), "nor all at once");
    // Whatever else is defined is nobody's business here.
    let other = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"kind": "Boat", "plural": "boats", "singular": "boat"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    admin.create(DEFINITIONS, &other).await;
    delete(&admin, &format!("{DEFINITIONS}/boats.example.com")).await.unwrap();

    // A gate holds, the release goes with it in place, and its hold ends; the gate itself is still there.
    let gate = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeGate", "metadata": {"name": "left"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "Deployments"}]}});
    admin.create(&format!("{GROUP}/namespaces/default/changegates"), &gate).await;
    let rolls = async || {
        let path = "/apis/apps/v1/namespaces/default/replicasets?dryRun=All";
        let set = replica_set("web", "2", &json!({"app": "web"}));
        admin.send("POST", path, "application/json", &set).await
    };
    until("it holds", async || rolls().await.is_err_and(|said| said.contains("default/left")))
        .await;
    let said = release(helm, cluster, &["uninstall", "tidegate"]);
    assert!(said.contains("kept due to the resource policy"), "{said}");
    until("it holds no more", async || rolls().await.is_ok()).await;
    let left = admin.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies").await;
    assert_eq!(left["items"], json!([]));
    admin.get(&format!("{GROUP}/namespaces/default/changegates/left")).await;
    for name in OURS {
        delete(&admin, &format!("{DEFINITIONS}/{name}")).await.unwrap();
    }
    let gone = format!("{GROUP}/changegates");
    until("the kind is gone", async || admin.send("GET", &gone, "", &Value::Null).await.is_err())
        .await;
    rolls().await.unwrap();
}
