//! Where does a story play? An embedded server, and beside it a notary who sees every commit at the instant it happens.
//!
//! Everything that is written goes through here or through the operators' lines, and both tell the notary in the very step of the
//! commit: on one thread nothing can come between.

use std::sync::{Mutex, MutexGuard};

use api::{
    crds,
    machine::definitions::definitions,
    schema::{GATED, KINDS},
};
use apiserver::{RuntimeClock, Server};
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tidegate_tests::permits;
use tokio::sync::Notify;

use super::{check::Checker, weather::Weather};

/// What is looked at, and where it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Policy,
    Pool,
    Config,
    Node,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Policy, Self::Pool, Self::Config, Self::Node];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Policy => "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies",
            Self::Pool => "/apis/machineconfiguration.openshift.io/v1/machineconfigpools",
            Self::Config => "/apis/machineconfiguration.openshift.io/v1/machineconfigs",
            Self::Node => "/api/v1/nodes",
        }
    }

    pub(crate) fn of(self, name: &str) -> String {
        format!("{}/{name}", self.path())
    }

    /// The kind and the name that a path leads to; the name is empty for a whole collection.
    pub(crate) fn found(path: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|kind| {
            let rest = path.strip_prefix(kind.path())?;
            Some((kind, rest.trim_start_matches('/').split('/').next().unwrap_or_default()))
        })
    }
}

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    People,
    Machine,
    Operator(u32),
}

pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) weather: Weather,
    checker: Mutex<Checker>,
    /// Told whenever something was committed, or an operator has to end.
    pub(crate) moved: Notify,
}

/// Whether the server itself refuses late marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Installed,
    Missing,
}

impl Stage {
    pub(crate) fn new(seed: u64, start: i64, weather: Weather, checker: Checker) -> Self {
        let start = Timestamp::from_second(start).unwrap();
        let settings = apiserver::Settings { seed, history: 2_000, ..Default::default() };
        let server = Server::new(RuntimeClock::starting_at(start), settings);
        Self { server, weather, checker: Mutex::new(checker), moved: Notify::new() }
    }

    /// Brings in the kinds, and the policy that refuses late marks, as it is shipped (GATE-7).
    pub(crate) fn furnish(&self, admission: Admission) {
        for definition in KINDS.iter().chain(GATED).map(crds::definition).chain(definitions()) {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            self.ask(&Method::POST, path, "application/json", &definition).unwrap();
        }
        if admission == Admission::Missing {
            return;
        }
        for (collection, document) in permits::shipped() {
            self.ask(&Method::POST, collection, "application/json", &document).unwrap();
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.server.now().as_second()
    }

    pub(crate) fn checker(&self) -> MutexGuard<'_, Checker> {
        self.checker.lock().unwrap()
    }

    fn ask(
        &self,
        method: &Method,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        // Whoever plays the people and the machines here may do everything, also join with an order.
        let everybody = self.server.service_as("jane", &["system:masters", "tidegate:initiators"]);
        let (code, answer) = everybody.ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if code < 300 { Ok(answer) } else { Err(format!("{code} {}", answer["message"])) }
    }

    pub(crate) fn create(&self, by: By, kind: Kind, object: &Value) -> Result<(), String> {
        self.ask(&Method::POST, kind.path(), "application/json", object)?;
        self.note(by, kind, object["metadata"]["name"].as_str().unwrap_or_default());
        Ok(())
    }

    pub(crate) fn merge(
        &self,
        by: By,
        kind: Kind,
        name: &str,
        change: &Value,
    ) -> Result<(), String> {
        let content = "application/merge-patch+json";
        self.ask(&Method::PATCH, &kind.of(name), content, change)?;
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
        self.ask(&Method::PATCH, &kind.of(name), "application/json-patch+json", &operation)?;
        self.note(by, kind, name);
        Ok(())
    }

    pub(crate) fn merge_status(&self, by: By, kind: Kind, name: &str, change: &Value) {
        let path = format!("{}/status", kind.of(name));
        self.ask(&Method::PATCH, &path, "application/merge-patch+json", change).unwrap();
        self.note(by, kind, name);
    }

    pub(crate) fn delete(&self, by: By, kind: Kind, name: &str) {
        self.ask(&Method::DELETE, &kind.of(name), "", &Value::Null).unwrap();
        self.note(by, kind, name);
    }

    /// Tells the checker what became of an object, in the step in which it did.
    pub(crate) fn note(&self, by: By, kind: Kind, name: &str) {
        let found = self.ask(&Method::GET, &kind.of(name), "", &Value::Null).ok();
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
