//! How is a cluster put together that hosts others, and has no nodes of its own? Server, operator, whoever runs hosted clusters and whoever
//! moves their machines, under one clock, behind one handle.

use std::{sync::Arc, time::Duration};

use apiserver::{Server, Workloads};
use http::Method;
use kube::Client;
use operator::Operator;
use runtime::{
    call::{Cluster, Collection},
    clock::SetClock,
    path::DEFINITION,
};
use schedule::Instant;
use serde_json::Value;
use tokio::task::{JoinHandle, JoinSet};

use crate::{
    hosted::{self, Host},
    lengths::Lengths,
    machine_api::{self, DEPLOYMENTS, MACHINES, Mover, SECRETS, SETS},
    mirror::Mirror,
    sandbox::{Sandbox, StartError},
    shipped::{self, ACCOUNTS, OPERATOR},
    stock::Refused,
};

/// How long one of them waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cluster that hosts others. Dropping it ends it.
#[derive(Debug)]
pub struct Hosting {
    server: Server,
    clock: SetClock,
    parts: JoinSet<&'static str>,
    operator: Option<JoinHandle<()>>,
}

impl Hosting {
    /// A cluster with everything in it but the operator, from an instant on.
    pub fn start(at: Instant, lengths: Lengths) -> Result<Self, StartError> {
        let (server, clock) = Sandbox::server(at, apiserver::Settings::default())?;
        clock.speed(1);
        for definition in machine_api::definitions() {
            let (code, answer) = server.ask(
                Method::POST,
                &DEFINITION.collection(None),
                "application/json",
                definition.to_string().as_bytes(),
            );
            if code >= 300 {
                return Err(StartError::Definition(Refused {
                    origin: "Cluster API".into(),
                    object: definition["metadata"]["name"].to_string(),
                    message: String::from_utf8_lossy(&answer).into_owned(),
                }));
            }
        }
        shipped::install(&server, Workloads::Absent).map_err(StartError::Definition)?;
        let parts = run(&server, &clock, Arc::new(lengths));
        Ok(Self { server, clock, parts, operator: None })
    }

    /// Starts the operator, with the rights that it has where it is installed.
    pub fn operate(&mut self) {
        let client = Client::new(self.server.service_as(OPERATOR, ACCOUNTS), "default");
        let settings = operator::Settings::alone("hosting").starting_hosted();
        let operator = Operator::new(client, Arc::new(self.clock.clone()), settings);
        self.operator = Some(tokio::spawn(async {
            if let Err(error) = operator.run(std::future::pending()).await {
                tracing::error!(%error, "the operator failed");
            }
        }));
    }

    /// Ends the operator, like a process that was killed.
    pub fn kill(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.abort();
        }
    }

    /// The server.
    pub fn api_server(&self) -> &Server {
        &self.server
    }

    /// The clock that everything follows.
    pub fn clock(&self) -> &SetClock {
        &self.clock
    }

    /// How many parts run that never should end.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }
}

impl Drop for Hosting {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts whoever runs hosted clusters and whoever moves their machines.
fn run(server: &Server, clock: &SetClock, lengths: Arc<Lengths>) -> JoinSet<&'static str> {
    let masters = ["system:masters", "system:authenticated"];
    let cluster = |user: &str| {
        let client = Client::new(server.service_as(user, &masters), "default");
        Cluster::new(client, Arc::new(clock.clone()), Arc::default(), PATIENCE)
    };
    let mut parts = JoinSet::new();
    let mut mirror = |path: String| {
        let mirror = Mirror::default();
        let keeping = mirror.clone().keep(cluster("tidegate-sandbox"), Collection::of(path));
        parts.spawn(async {
            keeping.await;
            "a mirror"
        });
        mirror
    };
    let [clusters, pools, maps] = hosted::collections().map(&mut mirror);
    let [deployments, sets, machines, secrets] =
        [DEPLOYMENTS, SETS, MACHINES, SECRETS].map(|kind| mirror(kind.collection(None)));
    let host = Host {
        cluster: cluster(hosted::USER),
        lengths: Arc::clone(&lengths),
        clusters,
        pools,
        maps,
        deployments: deployments.clone(),
        sets: sets.clone(),
        secrets: secrets.clone(),
    };
    let mover = Mover {
        cluster: cluster(machine_api::USER),
        lengths,
        deployments,
        sets,
        machines,
        secrets,
    };
    parts.spawn(async {
        host.run().await;
        "whoever runs hosted clusters"
    });
    parts.spawn(async {
        mover.run().await;
        "whoever moves machines"
    });
    parts
}

/// The objects of a collection, as a server has them: for whoever looks at it from outside.
pub fn listed(server: &Server, path: &str) -> Vec<Value> {
    let (_, answer) = server.ask(Method::GET, path, "", &[]);
    let list: Value = serde_json::from_slice(&answer).unwrap_or_default();
    list.get("items").and_then(Value::as_array).cloned().unwrap_or_default()
}
