//! How is a cluster put together that hosts others, and has no nodes of its own? Server, operator, whoever runs hosted clusters and whoever
//! moves their machines, under one clock, behind one handle.

use std::sync::Arc;

use apiserver::{Server, Workloads};
use kube::Client;
use operator::Operator;
use runtime::clock::SetClock;
use schedule::Instant;
use tokio::task::{JoinHandle, JoinSet};

pub use crate::guest::listed;
use crate::{
    control_plane::plan::Follows,
    guest::Guests,
    lengths::Lengths,
    management::{self, Played},
    sandbox::{Sandbox, StartError},
    shipped::{self, ACCOUNTS, OPERATOR},
};

/// A cluster that hosts others. Dropping it ends it.
#[derive(Debug)]
pub struct Hosting {
    server: Server,
    clock: SetClock,
    guests: Guests,
    parts: JoinSet<&'static str>,
    operator: Option<JoinHandle<()>>,
}

impl Hosting {
    /// A cluster with everything in it but the operator, from an instant on.
    pub fn start(at: Instant, lengths: Lengths) -> Result<Self, StartError> {
        let (server, clock) = Sandbox::server(at, apiserver::Settings::default())?;
        clock.speed(1);
        management::define(&server).map_err(StartError::Definition)?;
        shipped::install(&server, Workloads::Absent, Follows::Marks)
            .map_err(StartError::Definition)?;
        let mut parts = JoinSet::new();
        let Played { guests, .. } =
            management::run(&server, &clock, &Arc::new(lengths), &mut parts);
        Ok(Self { server, clock, guests, parts, operator: None })
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

    /// The clusters that it hosts.
    pub fn guests(&self) -> &Guests {
        &self.guests
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
