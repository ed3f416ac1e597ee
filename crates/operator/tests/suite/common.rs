//! A cluster with our kinds in it, an operator on it, and a clock to move.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use api::{
    crds, names,
    schema::{FREEZES, GATED, GUARDRAILS, KINDS, Kind, OVERRIDES, Scope},
};
use apiserver::{Body, Fault, RequestMatch, Scripted, Server, Workloads};
use http::Method;
use http_body_util::{Either, Full};
use jiff::Timestamp;
use operator::{Operator, Pools, Proof, Settings, View};
use runtime::clock::{Clock, SetClock};
use schedule::Instant;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

/// A Friday, an hour before midnight.
pub(crate) const FRIDAY: &str = "2026-11-13T23:00:00Z";

/// A cluster and what was asked of it.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) clock: SetClock,
    asked: Arc<Mutex<Vec<String>>>,
    workloads: Workloads,
}

/// An operator that runs, and ends like a killed process when dropped.
pub(crate) struct Running {
    pub(crate) view: View,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The clock of the operator, as the server reads it.
struct ServerClock(SetClock);

impl apiserver::Clock for ServerClock {
    fn now(&self) -> Timestamp {
        self.0.exact()
    }
}

impl World {
    /// A cluster without any of our kinds.
    pub(crate) fn empty() -> Self {
        Self::serving(Workloads::Absent)
    }

    fn serving(workloads: Workloads) -> Self {
        let clock = SetClock::starting_at(Instant::parse(FRIDAY).unwrap());
        let settings = apiserver::Settings { history: 50_000, workloads, ..Default::default() };
        let server = Server::new(ServerClock(clock.clone()), settings);
        Self { server, clock, asked: Arc::default(), workloads }
    }

    /// A cluster with all of our kinds.
    pub(crate) fn new() -> Self {
        Self::empty().with_our_kinds()
    }

    /// The same, on a server that has workloads itself.
    pub(crate) fn with_workloads() -> Self {
        Self::serving(Workloads::Served).with_our_kinds()
    }

    fn with_our_kinds(self) -> Self {
        let world = self;
        KINDS
            .iter()
            .chain(GATED)
            .chain(FREEZES)
            .chain(OVERRIDES)
            .chain(GUARDRAILS)
            .for_each(|kind| world.define(kind));
        world
    }

    /// Adds the definition of a kind: ours for policies and freezes, one that takes everything for those of others.
    pub(crate) fn define(&self, kind: &'static Kind) {
        let ours = KINDS
            .iter()
            .chain(FREEZES)
            .chain(OVERRIDES)
            .chain(GUARDRAILS)
            .any(|ours| ours.name == kind.name);
        let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = if ours { crds::definition(kind) } else { loose(kind, &anything) };
        self.create(CRDS, &definition);
    }

    pub(crate) fn create(&self, path: &str, object: &Value) -> Value {
        self.ask(&Method::POST, path, "application/json", object)
    }

    pub(crate) fn merge(&self, path: &str, change: &Value) -> Value {
        self.ask(&Method::PATCH, path, "application/merge-patch+json", change)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.ask(&Method::GET, path, "", &Value::Null)
    }

    pub(crate) fn delete(&self, path: &str) {
        self.ask(&Method::DELETE, path, "", &Value::Null);
    }

    fn ask(&self, method: &Method, path: &str, content: &str, body: &Value) -> Value {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = self.server.ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(code < 300, "{method} {path}: {code} {answer}");
        answer
    }

    /// A client whose requests are recorded.
    pub(crate) fn client(&self) -> kube::Client {
        self.client_hearing(|answer| answer)
    }

    /// The same, which hears of answers what something on the way lets pass.
    pub(crate) fn client_hearing(
        &self,
        hear: impl FnMut(http::Response<Body>) -> http::Response<Body> + Clone + Send + 'static,
    ) -> kube::Client {
        let (asked, workloads) = (Arc::clone(&self.asked), self.workloads);
        let service = self.server.service_as(ACCOUNT, &["system:authenticated"]);
        let service = service.map_request(move |request: http::Request<_>| {
            asked.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
            if workloads == Workloads::Served { request } else { standing_in(request) }
        });
        kube::Client::new(service.map_response(hear), "default")
    }

    /// The same, which something on the way answers in the server's stead, wherever it has an answer: a code and a text.
    pub(crate) fn client_past(
        &self,
        answers: impl Fn(&http::Request<kube::client::Body>) -> Option<(u16, &'static str)>
        + Clone
        + Send
        + 'static,
    ) -> kube::Client {
        let inner = self.server.service_as(ACCOUNT, &["system:authenticated"]);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (answer, inner) = (answers(&request), inner.clone());
            async move {
                match answer {
                    Some((code, text)) => {
                        let body = Either::Left(Full::new(bytes::Bytes::from(text)));
                        Ok(http::Response::builder().status(code).body(body).unwrap())
                    }
                    None => inner
                        .oneshot(standing_in(request))
                        .await
                        .map(|answer| answer.map(Either::Right)),
                }
            }
        });
        kube::Client::new(service, "default")
    }

    /// Starts an operator that is alone.
    pub(crate) fn start(&self) -> Running {
        self.start_with(Settings::alone("one"))
    }

    pub(crate) fn start_with(&self, settings: Settings) -> Running {
        self.start_by(&self.clock, settings)
    }

    /// Starts an operator with a clock of its own.
    pub(crate) fn start_by(&self, clock: &SetClock, settings: Settings) -> Running {
        Self::start_on(self.client(), clock, settings)
    }

    /// Starts an operator with a line to the server of its own.
    pub(crate) fn start_on(client: kube::Client, clock: &SetClock, settings: Settings) -> Running {
        let operator = Operator::new(client, Arc::new(clock.clone()), settings);
        let view = operator.view();
        let task = tokio::spawn(async move {
            operator.run(std::future::pending()).await.unwrap();
        });
        Running { view, task }
    }

    /// What was asked since the last time.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    /// What was asked since the last time, of those that write.
    pub(crate) fn writes(&self) -> Vec<String> {
        let leases = "/apis/coordination.k8s.io/";
        let writes = |line: &String| !line.starts_with("GET ") && !line.contains(leases);
        self.requests().into_iter().filter(writes).collect()
    }

    /// What was asked since the last time, of those that patch a status.
    pub(crate) fn status_writes(&self) -> Vec<String> {
        self.writes().into_iter().filter(|line| line.starts_with("PATCH ")).collect()
    }

    /// The notes of all events, with the reason in front.
    pub(crate) fn events(&self) -> Vec<String> {
        let list = self.get("/apis/events.k8s.io/v1/events");
        let said = list["items"].as_array().unwrap().iter().map(|event| {
            let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
            format!("{} {}: {}", text("/regarding/name"), text("/reason"), text("/note"))
        });
        said.collect()
    }
}

/// An operator that is alone and manages pools, on a server whose admission policy nobody has installed.
pub(crate) fn managing(identity: &str) -> Settings {
    Settings { proof: Proof::Waived, ..Settings::alone(identity).with(Pools::Managed) }
}

/// The account that the manifests name.
const ACCOUNT: &str = "system:serviceaccount:tidegate-system:tidegate";

pub(crate) const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The embedded server has no `apps/v1` of its own: there its kinds are defined in this group, and whoever asks for the one gets the other.
pub(crate) const STAND_IN: &str = "apps.example.com";

fn standing_in<B>(mut request: http::Request<B>) -> http::Request<B> {
    let asked = request.uri().to_string();
    if asked.contains("/apis/apps/v1/") {
        let there = asked.replace("/apis/apps/v1/", &format!("/apis/{STAND_IN}/v1/"));
        *request.uri_mut() = there.parse().unwrap();
    }
    request
}

/// The definition of a kind of others, with a schema.
pub(crate) fn loose(kind: &Kind, schema: &Value) -> Value {
    let plural = names::plural(kind.name);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", kind.group())},
        "spec": {
            "group": kind.group(),
            "names": {
                "kind": kind.name, "listKind": format!("{}List", kind.name), "plural": plural,
                "singular": kind.name.to_lowercase(),
            },
            "scope": if kind.scope == Scope::Cluster { "Cluster" } else { "Namespaced" },
            "versions": [{
                "name": kind.version(), "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

/// Lets time pass. Tokio's clock is paused: it moves on when nobody has anything left to do.
pub(crate) async fn pass(length: Duration) {
    tokio::time::sleep(length).await;
}

/// Lets everything settle that needs no time of its own.
pub(crate) async fn settle() {
    pass(Duration::from_secs(1)).await;
}

pub(crate) const POLICIES: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies";
pub(crate) const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";

pub(crate) fn weekend(name: &str) -> Value {
    json!({
        "apiVersion": names::API_VERSION,
        "kind": "ChangeManagementPolicy",
        "metadata": {"name": name},
        "spec": {
            "strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {"permit": {"recurrence": {
                "frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]},
            }}},
        },
    })
}

pub(crate) fn pool(name: &str, stanza: &Value) -> Value {
    json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": name},
        "spec": if stanza.is_null() { json!({}) } else { json!({"changeManagement": stanza}) },
    })
}

pub(crate) fn by_policy(name: &str) -> Value {
    json!({"strategy": "ByPolicy", "byPolicy": {"name": name}})
}

/// The state that a status tells.
pub(crate) fn state(object: &Value) -> &str {
    let gated = object.pointer("/status/changeManagement/behavior/current/state");
    let state = gated.or_else(|| object.pointer("/status/behavior/current/state"));
    state.and_then(Value::as_str).unwrap_or("none")
}

/// A condition, as `status reason`.
pub(crate) fn condition(object: &Value, kind: &str) -> String {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    found.map_or("none".into(), |condition| {
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        format!("{} {}", text("status"), text("reason"))
    })
}

/// Each of the next requests of this kind meets the fault.
pub(crate) fn strike_each(world: &World, verb: &str, resource: &str, fault: &Fault) {
    for nth in 1..=200 {
        let matching = RequestMatch {
            verb: Some(verb.into()),
            resource: Some(resource.into()),
            ..RequestMatch::default()
        };
        world.server.script_fault(Scripted { matching, nth, fault: fault.clone() });
    }
}
