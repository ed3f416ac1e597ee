//! Who acts by hand in a suite? An administrator whose requests are sent once.

use std::{
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use rig::{Cluster, User};
use runtime::{
    call::{self, CallError, Patch},
    client,
    clock::SystemClock,
    telemetry::Telemetry,
};
use serde_json::{Value, json};

/// Whoever asks the server.
pub(crate) struct Admin(pub(crate) call::Cluster);

impl Admin {
    pub(crate) async fn new(cluster: &Cluster) -> Self {
        // Not the client of the rig, which sends a refused eviction again by itself (EXEC-4).
        let config = client::configuration(Some(cluster.kubeconfig(User::Admin))).await.unwrap();
        let client = client::connect(config).unwrap();
        let telemetry = Arc::new(Telemetry::default());
        let patience = Duration::from_secs(10);
        Self(call::Cluster::new(client, Arc::new(SystemClock), telemetry, patience))
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.0.get(path).await
    }

    pub(crate) async fn create(&self, path: &str, body: &Value) -> Value {
        self.0.create(path, body).await.unwrap()
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Value {
        self.0.patch(path, Patch::merge("admin", body)).await.unwrap()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let now = json!({"gracePeriodSeconds": 0});
        self.0.delete(path, &now).await.unwrap();
    }
}

/// Runs kubectl as the administrator, and gives back what it prints. A warning is a failure too.
pub(crate) fn kubectl(cluster: &Cluster, arguments: &[&str]) -> String {
    let output = Command::new(cluster.kubectl())
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig(User::Admin))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "kubectl {arguments:?}: {}", said(&output.stderr));
    assert_eq!(said(&output.stderr), "", "kubectl {arguments:?} warns");
    said(&output.stdout)
}
