//! Who writes to a cluster, and how? Everybody speaks by impersonation, with the same headers to a real server and to the embedded one.

use std::time::Duration;

use apiserver::{RuntimeClock, Server};
use http::Request;
use jiff::Timestamp;
use kube::{Client, client::Body};
use rig::{Cluster, User};
use runtime::client::{configuration, connect};
use serde_json::Value;

/// The account that the manifests name.
pub(crate) const OPERATOR: &str = "system:serviceaccount:tidegate-system:tidegate";
/// Everybody here may write nodes: what is shown is what the policy refuses, not what a role does.
pub(crate) const RIGHTS: &str = "system:masters";
pub(crate) const INITIATORS: &str = "tidegate:initiators";

/// How long anything may take that takes a few calls.
const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct Writers {
    pub(crate) admin: Writer,
    pub(crate) operator: Writer,
    pub(crate) by_hand: Writer,
    pub(crate) stranger: Writer,
}

/// Somebody who writes.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    /// The headers that say who.
    who: Vec<(String, String)>,
}

/// What the server itself lets do everything, so that it may speak for others.
pub(crate) async fn of_real(cluster: &Cluster) -> Client {
    connect(configuration(Some(cluster.kubeconfig(User::Admin))).await.unwrap()).unwrap()
}

/// The same on a server of its own inside the process, in real time.
pub(crate) fn of_embedded() -> Client {
    let clock = RuntimeClock::starting_at(Timestamp::now());
    Client::new(Server::new(clock, apiserver::Settings::default()).service(), "default")
}

impl Writers {
    pub(crate) fn of(client: &Client) -> Self {
        Self {
            admin: Writer::new(client, "admin", &[RIGHTS], None),
            operator: Writer::new(client, OPERATOR, &[RIGHTS], None),
            by_hand: Writer::new(client, "jane", &[RIGHTS, INITIATORS], None),
            stranger: Writer::new(client, "joe", &[RIGHTS], None),
        }
    }
}

impl Writer {
    /// One of this name and these groups; the token of a pod says on which node it runs.
    pub(crate) fn new(client: &Client, name: &str, groups: &[&str], node: Option<&str>) -> Self {
        let groups =
            groups.iter().map(|group| ("Impersonate-Group".to_owned(), (*group).to_owned()));
        let node = node.map(|node| {
            let key = "Impersonate-Extra-Authentication.kubernetes.io%2fnode-name";
            (key.to_owned(), node.to_owned())
        });
        let name = ("Impersonate-User".to_owned(), name.to_owned());
        Self { client: client.clone(), who: [name].into_iter().chain(groups).chain(node).collect() }
    }

    /// Whoever a client is by itself, with a token of their own.
    pub(crate) fn itself(client: &Client) -> Self {
        Self { client: client.clone(), who: Vec::new() }
    }

    pub(crate) fn client(&self) -> Client {
        let Self { client, who } = self.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            for (key, value) in &who {
                let key: http::HeaderName = key.parse().unwrap();
                request.headers_mut().append(key, value.parse().unwrap());
            }
            let client = client.clone();
            async move { client.send(request).await }
        });
        Client::new(service, "default")
    }

    /// Sends a request; a refusal in the server's words.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let mut request = Request::builder().method(method).uri(path);
        for (key, value) in &self.who {
            request = request.header(key, value);
        }
        if !content.is_empty() {
            request = request.header("Content-Type", content);
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let response = self.client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
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
