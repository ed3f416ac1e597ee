//! Where does a story play? An embedded server, and beside it a notary who sees every commit at the instant it happens.
//!
//! Everything that is written goes through here or through the operators' lines, and both tell the notary in the very step of the
//! commit: on one thread nothing can come between.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};

use api::{
    crds,
    machine::definitions::definitions,
    schema::{FREEZES, GATED, GUARDRAILS, KINDS, OVERRIDES},
};
use apiserver::{RuntimeClock, Server, Service};
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{check::Checker, shipped, weather::Weather};

/// What is looked at, and where it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Policy,
    Pool,
    Config,
    Node,
    /// `ClusterVersion`.
    Version,
    /// `ClusterChangeFreeze`.
    Freeze,
    /// `ClusterChangeOverride`.
    Override,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Policy,
        Self::Pool,
        Self::Config,
        Self::Node,
        Self::Version,
        Self::Freeze,
        Self::Override,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Policy => "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies",
            Self::Pool => "/apis/machineconfiguration.openshift.io/v1/machineconfigpools",
            Self::Config => "/apis/machineconfiguration.openshift.io/v1/machineconfigs",
            Self::Node => "/api/v1/nodes",
            Self::Version => "/apis/config.openshift.io/v1/clusterversions",
            Self::Freeze => "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes",
            Self::Override => "/apis/changemanagement.openshift.io/v1alpha1/clusterchangeoverrides",
        }
    }

    pub(crate) fn of(self, name: &str) -> String {
        format!("{}/{name}", self.path())
    }

    /// The kind and the name that a path leads to; the name is empty for a whole collection.
    pub(crate) fn found(path: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|kind| {
            let rest = path.strip_prefix(kind.path())?;
            if !rest.is_empty() && !rest.starts_with('/') {
                return None;
            }
            Some((kind, rest.trim_start_matches('/').split('/').next().unwrap_or_default()))
        })
    }
}

/// The account of the operator, as the manifests name it.
pub(crate) const OPERATOR: &str = "system:serviceaccount:tidegate-system:tidegate";
const AGENT: &str = "system:serviceaccount:tidegate-system:tidegate-agent";

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    People,
    Machine,
    /// Somebody who means harm.
    Stranger(Who),
    /// An operator by number, and when it sent what was carried out now.
    Operator(u32, i64),
}

/// What somebody who means harm may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Writes nodes.
    Patcher,
    /// Writes the status of nodes, and nothing else.
    StatusOnly,
    /// The kubelet of a node: that node and its status; it may also remove the node and register anew.
    Kubelet,
    /// Has the token of a node's agent.
    Agent,
    /// Writes annotations of pools and of `ClusterVersion`, and their status.
    Tuner,
}

/// Whether the server refuses marks without a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guards {
    Away,
    Standing,
}

pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) weather: Weather,
    checker: Mutex<Checker>,
    /// Told whenever something was committed, or an operator has to end.
    pub(crate) moved: Notify,
    /// What is on the disk of each node; none if nobody ever put anything there.
    disks: Mutex<BTreeMap<String, Option<String>>>,
    admin: Service,
}

/// What becomes of the shipped definitions and admission documents: each as it is, changed, or left out.
pub(crate) type Admission = fn(Value) -> Option<Value>;

/// As they are shipped.
#[expect(clippy::unnecessary_wraps, reason = "one of several fates of a document")]
pub(crate) fn installed(document: Value) -> Option<Value> {
    Some(document)
}

impl Stage {
    pub(crate) fn new(seed: u64, start: i64, weather: Weather, checker: Checker) -> Self {
        let start = Timestamp::from_second(start).unwrap();
        let settings = apiserver::Settings { seed, history: 2_000, ..Default::default() };
        let server = Server::new(RuntimeClock::starting_at(start), settings);
        let admin = server.service();
        let (checker, disks) = (Mutex::new(checker), Mutex::default());
        Self { server, weather, checker, moved: Notify::new(), disks, admin }
    }

    /// Brings in the kinds, and every admission policy that is shipped (GATE-7, GATE-16).
    pub(crate) fn furnish(&self, admission: Admission) {
        let create = |path: &str, document: &Value| {
            self.ask(&self.admin, &Method::POST, path, "application/json", document).unwrap();
        };
        let ours = KINDS
            .iter()
            .chain(GATED)
            .chain(FREEZES)
            .chain(OVERRIDES)
            .chain(GUARDRAILS)
            .map(crds::definition);
        for definition in ours.chain(definitions()) {
            if let Some(definition) = admission(definition) {
                create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
            }
        }
        let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        create("/api/v1/namespaces", &shop);
        for (collection, document) in shipped::admission() {
            if let Some(document) = admission(document) {
                create(collection, &document);
            }
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.server.now().as_second()
    }

    pub(crate) fn checker(&self) -> MutexGuard<'_, Checker> {
        self.checker.lock().unwrap()
    }

    pub(crate) fn disks(&self) -> MutexGuard<'_, BTreeMap<String, Option<String>>> {
        self.disks.lock().unwrap()
    }

    /// Somebody who may do everything.
    pub(crate) fn admin(&self) -> &Service {
        &self.admin
    }

    /// An administrator who acts by hand, past every gate (GATE-15).
    pub(crate) fn by_hand(&self) -> Service {
        let groups = ["system:masters", "system:authenticated", "tidegate:initiators"];
        self.server.service_as("kubernetes-admin", &groups)
    }

    /// The agent of a node, with its token.
    pub(crate) fn agent(&self, node: &str) -> Service {
        let groups = ["system:serviceaccounts", "system:authenticated"];
        self.server.service_as(AGENT, &groups).on_node(node)
    }

    /// The kubelet of a node.
    pub(crate) fn kubelet(&self, node: &str) -> Service {
        let groups = ["system:nodes", "system:authenticated"];
        self.server.service_as(&format!("system:node:{node}"), &groups)
    }

    /// Asks the server for something, past all faults.
    #[expect(clippy::unused_self, reason = "asked of the stage, like everything else")]
    pub(crate) fn ask(
        &self,
        who: &Service,
        method: &Method,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = who.ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if code < 300 { Ok(answer) } else { Err(format!("{code} {}", answer["message"])) }
    }

    pub(crate) fn create(&self, by: By, kind: Kind, object: &Value) -> Result<(), String> {
        self.create_as(&self.admin, by, kind, object)
    }

    pub(crate) fn create_as(
        &self,
        who: &Service,
        by: By,
        kind: Kind,
        object: &Value,
    ) -> Result<(), String> {
        self.ask(who, &Method::POST, kind.path(), "application/json", object)?;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        self.note(by, kind, name);
        if by == By::People {
            self.keeps((kind, name), "/spec", &object["spec"]);
        }
        Ok(())
    }

    pub(crate) fn merge(
        &self,
        by: By,
        kind: Kind,
        name: &str,
        change: &Value,
    ) -> Result<(), String> {
        let agent = self.agent(name);
        let who = if by == By::Machine { &agent } else { &self.admin };
        let content = "application/merge-patch+json";
        self.ask(who, &Method::PATCH, &kind.of(name), content, change)?;
        self.note(by, kind, name);
        Ok(())
    }

    /// Puts a value in place of another; null takes it away.
    pub(crate) fn put(
        &self,
        by: By,
        (kind, name): (Kind, &str),
        pointer: &str,
        value: &Value,
    ) -> Result<(), String> {
        let operation = match value {
            Value::Null => json!([{"op": "remove", "path": pointer}]),
            value => json!([{"op": "add", "path": pointer, "value": value}]),
        };
        let content = "application/json-patch+json";
        self.ask(&self.admin, &Method::PATCH, &kind.of(name), content, &operation)?;
        self.note(by, kind, name);
        self.keeps((kind, name), pointer, value);
        Ok(())
    }

    /// What the server took it keeps: a field that it throws away would open what it was to close (GATE-14).
    fn keeps(&self, (kind, name): (Kind, &str), pointer: &str, given: &Value) {
        let mut checker = self.checker();
        let stored = checker.get(kind, name).and_then(|object| object.pointer(pointer)).cloned();
        if lacks(given, &stored.unwrap_or_default()) {
            let what = format!("{kind:?}/{name}: the server took {given}, and kept less");
            checker.accuse(self.now(), "GATE-14", what);
        }
    }

    /// Somebody takes away what lets the server refuse marks, or puts it back.
    pub(crate) fn guard(&self, guards: Guards) {
        let unguarded = guards == Guards::Away;
        if self.checker().unguarded.is_some() == unguarded {
            return;
        }
        for (collection, document) in shipped::admission() {
            let name = document["metadata"]["name"].as_str().unwrap_or_default();
            if !name.ends_with("-permits") || document["spec"]["policyName"].is_null() {
                continue;
            }
            let (method, path, body) = match guards {
                Guards::Away => (Method::DELETE, format!("{collection}/{name}"), Value::Null),
                Guards::Standing => (Method::POST, collection.to_owned(), document.clone()),
            };
            self.ask(&self.admin, &method, &path, "application/json", &body).unwrap();
        }
        let mut checker = self.checker();
        let said = if unguarded { "nothing refuses" } else { "the server refuses again" };
        checker.tell(self.now(), said);
        checker.unguarded = unguarded.then(|| self.now());
    }

    pub(crate) fn merge_status(&self, by: By, kind: Kind, name: &str, change: &Value) {
        let path = format!("{}/status", kind.of(name));
        let kubelet = self.kubelet(name);
        let who = if by == By::Machine { &kubelet } else { &self.admin };
        let content = "application/merge-patch+json";
        self.ask(who, &Method::PATCH, &path, content, change).unwrap();
        self.note(by, kind, name);
    }

    pub(crate) fn delete(&self, by: By, kind: Kind, name: &str) {
        self.ask(&self.admin, &Method::DELETE, &kind.of(name), "", &Value::Null).unwrap();
        self.note(by, kind, name);
    }

    /// A workload comes to a node, unless one is there.
    pub(crate) fn place_pod(&self, node: &str) {
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("on-{node}"), "namespace": "shop", "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "till", "uid": "till",
                 "controller": true}]},
            "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "till", "image": "till"}]}});
        let path = "/api/v1/namespaces/shop/pods";
        let _ = self.ask(&self.admin, &Method::POST, path, "application/json", &pod);
    }

    /// Tells the checker what became of an object, in the step in which it did.
    pub(crate) fn note(&self, by: By, kind: Kind, name: &str) {
        let path = kind.of(name);
        let found = self.ask(&self.admin, &Method::GET, &path, "", &Value::Null).ok();
        let found = found.map(|mut object| {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
            object
        });
        self.checker().commit(self.now(), by, (kind, name), found);
        self.moved.notify_one();
    }
}

/// Whether something lacks a field that was given.
fn lacks(given: &Value, stored: &Value) -> bool {
    match given {
        Value::Object(fields) => fields.iter().any(|(key, value)| lacks(value, &stored[key])),
        Value::Null => false,
        _ => stored.is_null(),
    }
}
