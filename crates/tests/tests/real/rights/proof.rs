//! Do the rights that are shipped suffice to try whether the server refuses what gates hold, and does it refuse on a real one? (GATE-13)

use std::{sync::Arc, time::Duration};

use operator::{Operator, Settings};
use rig::{Controllers, User, rights::Recorder, suite};
use runtime::clock::SystemClock;
use serde_json::{Value, json};

use super::{MANIFESTS, Method, NAMESPACE, folder_of, kubectl, send};

const GATES: &str = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/default/changegates";
const BINDING: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/tidegate-gate-deployments";

#[test]
fn real_operator_proves_gates_with_the_rights_that_are_shipped() {
    suite::on_real("rights-proof", Controllers::Absent, async |cluster| {
        for folder in [MANIFESTS, "deploy/manifests/change-gates/0-crds.yaml"] {
            kubectl(cluster, &["apply", "--server-side", "-f", &folder_of(folder)]);
        }
        kubectl(cluster, &["wait", "--for=condition=Established", "crd", "--all"]);
        let gates = folder_of("deploy/manifests/change-gates/change-gates.yaml");
        kubectl(cluster, &["apply", "--server-side", "-f", &gates]);
        let admin = cluster.client(User::Admin).await.unwrap();
        let gate = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeGate",
            "metadata": {"name": "till"}, "spec": {"changeManagement": {"strategy": "Permissive"},
            "holds": [{"what": "Deployments"}, {"what": "StatefulSets"}, {"what": "DaemonSets"},
                {"what": "HelmReleases"}, {"what": "KuredLock"}]}});
        send(&admin, Method::POST, GATES, &gate).await;
        let platform = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeGate",
            "metadata": {"name": "all"}, "spec": {"changeManagement": {"strategy": "Restrictive"},
            "holds": gate["spec"]["holds"]}});
        let of_cluster = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangegates";
        send(&admin, Method::POST, of_cluster, &platform).await;

        let recorder = Recorder::default();
        let account = cluster.account(NAMESPACE, "tidegate", &recorder).await.unwrap();
        let probes = Some("tidegate-probe".to_owned());
        let settings = Settings { probes, ..Settings::alone("one") };
        let operator = Operator::new(account, Arc::new(SystemClock), settings);
        let view = operator.view();
        let told = async {
            let proven = ("True".to_owned(), "Proven".to_owned());
            until_enforced(&admin, &format!("{GATES}/till"), &proven).await;
            until_enforced(&admin, &format!("{of_cluster}/all"), &proven).await;
            // The server heeds a binding that changed, and so does the gate.
            let audits = json!({"spec": {"validationActions": ["Audit"]}});
            send(&admin, Method::PATCH, BINDING, &audits).await;
            let passed = ("False".to_owned(), "NotRefused".to_owned());
            until_enforced(&admin, &format!("{GATES}/till"), &passed).await;
        };
        Box::pin(operator.run(told)).await.unwrap();
        let page = operator::metrics::page(&view);
        for policy in ["cluster-gate-daemonsets", "freeze-deployments", "cluster-freeze-kured-lock"]
        {
            let line = format!("tidegate_policy_proven{{policy=\"{policy}\"}} 1\n");
            assert!(page.contains(&line), "{line} {page}");
        }
    });
}

/// Half a minute passes until it is looked again how policies stand.
async fn until_enforced(admin: &kube::Client, path: &str, wanted: &(String, String)) {
    let mut seen = Value::Null;
    for _ in 0..1_200 {
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        let gate: Value = admin.request(request).await.unwrap();
        let conditions = gate["status"]["conditions"].as_array().cloned().unwrap_or_default();
        seen = conditions.into_iter().find(|it| it["type"] == "Enforced").unwrap_or_default();
        let text = |key: &str| seen[key].as_str().unwrap_or_default().to_owned();
        if (text("status"), text("reason")) == *wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path}: {wanted:?}, and it says {seen}");
}
