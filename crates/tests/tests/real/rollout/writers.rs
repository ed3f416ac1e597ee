//! Who writes to a cluster? The operator's account, an administrator, somebody who acts by hand with the right to it, and a stranger,
//! on a real server and on the embedded one.

use std::time::Duration;

use apiserver::{RuntimeClock, Server};
use jiff::Timestamp;
use kube::{Client, client::Body};
use rig::{Cluster, User};
use runtime::client::{configuration, connect};
use serde_json::Value;

/// The account that the manifests name.
const OPERATOR: &str = "system:serviceaccount:tidegate-system:tidegate";
/// Everybody here may write nodes: what is shown is what the policy refuses, not what a role does.
const RIGHTS: &str = "system:masters";
const INITIATORS: &str = "tidegate:initiators";

/// How long anything may take that takes a few calls.
const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct Writers {
    pub(crate) admin: Writer,
    pub(crate) operator: Writer,
    pub(crate) by_hand: Writer,
    pub(crate) stranger: Writer,
}

pub(crate) struct Writer(Client);

impl Writers {
    pub(crate) async fn of_real(cluster: &Cluster) -> Self {
        let client = async |name: Option<&str>, groups: &[&str]| {
            let mut config = configuration(Some(cluster.kubeconfig(User::Admin))).await.unwrap();
            config.auth_info.impersonate = name.map(str::to_owned);
            let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
            config.auth_info.impersonate_groups = name.map(|_| groups);
            Writer(connect(config).unwrap())
        };
        Self {
            admin: client(None, &[]).await,
            operator: client(Some(OPERATOR), &[RIGHTS]).await,
            by_hand: client(Some("jane"), &[RIGHTS, INITIATORS]).await,
            stranger: client(Some("joe"), &[RIGHTS]).await,
        }
    }

    pub(crate) fn of_embedded() -> Self {
        let clock = RuntimeClock::starting_at(Timestamp::now());
        let server = Server::new(clock, apiserver::Settings::default());
        let client = |name: &str, groups: &[&str]| {
            Writer(Client::new(server.service_as(name, groups), "default"))
        };
        Self {
            admin: client("admin", &[RIGHTS]),
            operator: client(OPERATOR, &[RIGHTS]),
            by_hand: client("jane", &[RIGHTS, INITIATORS]),
            stranger: client("joe", &[RIGHTS]),
        }
    }
}

impl Writer {
    pub(crate) fn client(&self) -> Client {
        self.0.clone()
    }

    /// Sends a request; a refusal in the server's words.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let mut request = http::Request::builder().method(method).uri(path);
        if !content.is_empty() {
            request = request.header("Content-Type", content);
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let response = self.0.send(request.body(Body::from(body)).unwrap()).await.unwrap();
        let accepted = response.status().is_success();
        let body = response.into_body().collect_bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        if accepted { Ok(answer) } else { Err(answer["message"].to_string()) }
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) {
        self.send("POST", path, "application/json", object).await.unwrap();
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.send("GET", path, "", &Value::Null).await.unwrap()
    }

    pub(crate) async fn merge(&self, path: &str, change: &Value) -> Result<Value, String> {
        self.send("PATCH", path, "application/merge-patch+json", change).await
    }

    /// A server-side apply by one owner, as every initiating write is.
    pub(crate) async fn apply(&self, path: &str, change: &Value) -> Result<Value, String> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{sign}fieldManager=gate&force=true");
        self.send("PATCH", &path, "application/apply-patch+yaml", change).await
    }
}

/// Looks until it is so: a server over a network has no moment at which everything is settled.
pub(crate) async fn until(what: &str, is: impl AsyncFn() -> bool) {
    let began = tokio::time::Instant::now();
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
