//! Which cluster do new nodes join? One pool, its configurations, and accounts with and without the right to ask.

use std::time::Duration;

use api::{
    crds, kinds,
    machine::{
        definitions::definitions,
        names::{API_VERSION, CURRENT_CONFIG, DESIRED_CONFIG, MACHINE_CONFIG, ROLE, STATE},
    },
    names,
    schema::Kind,
};
use http::Request;
use kube::Client;
use rig::{Cluster, User};
use runtime::key::collection;
use serde_json::{Value, json};

/// How long anything may take that takes a few calls.
const PATIENCE: Duration = Duration::from_secs(40);
const NODES: &str = "/api/v1/nodes";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const WORKER: &str = "node-role.kubernetes.io/worker";

pub(crate) struct World(Client);

impl World {
    /// A cluster with pools and configurations.
    pub(crate) async fn new(cluster: &Cluster) -> Self {
        let world = Self(cluster.client(User::Admin).await.unwrap());
        let pools = crds::definition(&kinds::MACHINE_CONFIG_POOL);
        for definition in definitions().iter().chain([&pools]) {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            world.ask("POST", path, definition).await.unwrap();
        }
        for kind in
            [&kinds::MACHINE_CONFIG_POOL, &kinds::MACHINE_CONFIG, &kinds::MACHINE_CONFIGURATION]
        {
            let path = collection(kind, None);
            until(&path, async || world.ask("GET", &path, &Value::Null).await.is_ok()).await;
        }
        world
    }

    /// The token of a new account.
    pub(crate) async fn token(&self, account: &str) -> String {
        let made =
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}});
        self.ask("POST", ACCOUNTS, &made).await.unwrap();
        let request =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let path = format!("{ACCOUNTS}/{account}/token");
        let issued = self.ask("POST", &path, &request).await.unwrap();
        issued["status"]["token"].as_str().unwrap().to_owned()
    }

    /// Gives an account the role that the chart brings.
    pub(crate) async fn bind(&self, account: &str) {
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "tidegate:node-config"},
            "rules": [{"nonResourceURLs": ["/config/*"], "verbs": ["get"]}]});
        self.ask("POST", &format!("{RBAC}/clusterroles"), &role).await.unwrap();
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": account},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "tidegate:node-config"},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}]});
        self.ask("POST", &format!("{RBAC}/clusterrolebindings"), &binding).await.unwrap();
    }

    pub(crate) async fn unbind(&self, account: &str) {
        let path = format!("{RBAC}/clusterrolebindings/{account}");
        self.ask("DELETE", &path, &Value::Null).await.unwrap();
    }

    pub(crate) async fn create_pool(&self, stanza: &Value) {
        let pool = json!({"apiVersion": API_VERSION, "kind": names::MACHINE_CONFIG_POOL,
            "metadata": {"name": "worker"},
            "spec": {"changeManagement": stanza,
                "machineConfigSelector": {"matchLabels": {ROLE: "worker"}},
                "nodeSelector": {"matchLabels": {WORKER: ""}}}});
        self.ask("POST", &collection(&kinds::MACHINE_CONFIG_POOL, None), &pool).await.unwrap();
    }

    /// What nodes are to hold, once the server has another second than that of the last rendering: a tie is broken by other rules.
    pub(crate) async fn configure(&self, content: &str) {
        let newest = async || {
            let found = self.list(&kinds::MACHINE_CONFIG).await;
            found.iter().filter_map(stamp).max().unwrap_or_default()
        };
        let newest = newest().await;
        let probe = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "probe"}});
        until("a second passes", async || {
            let made = self.ask("POST", "/api/v1/namespaces?dryRun=All", &probe).await.unwrap();
            stamp(&made) > Some(newest.clone())
        })
        .await;
        let config = json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
            "metadata": {"name": "50-motd", "labels": {ROLE: "worker"}},
            "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
                {"path": "/etc/motd", "contents": {"source": format!("data:,{content}")}}]}}}});
        let path = collection(&kinds::MACHINE_CONFIG, None);
        if self.ask("PATCH", &format!("{path}/50-motd"), &config).await.is_err() {
            self.ask("POST", &path, &config).await.unwrap();
        }
    }

    /// The newest rendered configuration, once it is another one.
    pub(crate) async fn newest_but(&self, old: &str) -> String {
        until("another is rendered", async || {
            self.pool().await["spec"]["configuration"]["name"] != old
        })
        .await;
        self.pool().await["spec"]["configuration"]["name"].as_str().unwrap().to_owned()
    }

    /// Whether the pool says that a configuration waits.
    pub(crate) async fn is_pending(&self, config: &str) -> bool {
        let pool = self.pool().await;
        let conditions = pool["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|condition| {
            condition["type"] == names::CHANGES_PENDING
                && condition["reason"] == names::HELD
                && condition["message"].to_string().contains(config)
        })
    }

    pub(crate) async fn pin(&self, pin: &Value) {
        let cleared = json!({"spec": {"machineConfig": null}});
        let path = format!("{}/worker", collection(&kinds::MACHINE_CONFIG_POOL, None));
        self.ask("PATCH", &path, &cleared).await.unwrap();
        self.ask("PATCH", &path, &json!({"spec": {"machineConfig": pin}})).await.unwrap();
    }

    /// A node that has joined with a configuration.
    pub(crate) async fn join(&self, name: &str, config: &str) {
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {WORKER: ""},
                "annotations": {CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done"}}});
        self.ask("POST", NODES, &node).await.unwrap();
    }

    pub(crate) async fn annotate(&self, node: &str, annotations: &Value) {
        let change = json!({"metadata": {"annotations": annotations}});
        self.ask("PATCH", &format!("{NODES}/{node}"), &change).await.unwrap();
    }

    async fn pool(&self) -> Value {
        let path = format!("{}/worker", collection(&kinds::MACHINE_CONFIG_POOL, None));
        self.ask("GET", &path, &Value::Null).await.unwrap()
    }

    async fn list(&self, kind: &Kind) -> Vec<Value> {
        let page = self.ask("GET", &collection(kind, None), &Value::Null).await.unwrap();
        page["items"].as_array().cloned().unwrap_or_default()
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, kube::Error> {
        let content = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        self.0.request(request.body(body).unwrap()).await
    }
}

/// When an object was made.
fn stamp(object: &Value) -> Option<String> {
    object["metadata"]["creationTimestamp"].as_str().map(str::to_owned)
}

/// Looks until it is so.
pub(crate) async fn until(what: &str, is: impl AsyncFn() -> bool) {
    let began = tokio::time::Instant::now();
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
