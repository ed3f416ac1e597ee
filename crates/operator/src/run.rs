//! How do the parts run together? Observers, a watchdog, an elector, the loop and the one who tells people, until somebody ends it.
//!
//! Dropping the future that [`Operator::run`] returns ends all of it at once, like a process that was killed. A part that ends by
//! itself has failed, and then everything ends: half an operator looks alive and is not.

use std::{pin::Pin, sync::Arc};

use kube::Client;
use runtime::{
    caches::Caches,
    call::Cluster,
    clock::Clock,
    freshness,
    lease::{Candidate, Elector, Leadership},
    observe::Observer,
    progress::Progress,
    reconcile::{Parts, Proof, Reconciler},
    report::{Reports, Speaker},
    telemetry::Telemetry,
    tempo::Tempo,
};
use tidegate_core::{
    cluster::kinds::{self, Controller, HostedClusters, Pools, Row, Updates},
    gate::enforced::Enforcement,
};
use tokio::{
    sync::{oneshot, watch},
    task::JoinSet,
};

use crate::{
    draining,
    history::Recorder,
    node_config::NodeConfig,
    proof::{self, rooms::Trials},
    serve::Scraped,
    targets,
};

/// How an operator runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of this replica: no two may have the same.
    pub identity: String,
    /// Whether it stands for election.
    pub election: Election,
    /// How patient it is.
    pub tempo: Tempo,
    /// What it looks at.
    pub controllers: Vec<Controller>,
    /// The node it runs on, if that is one of the cluster's: among masters it is changed last.
    pub host: Option<String>,
    /// Whether it rolls out only where the server was seen refusing what nobody permitted (GATE-13).
    pub proof: Proof,
    /// Whether it starts updates of the control plane (CV-4).
    pub updates: Updates,
    /// The namespace in which it tries whether the server refuses what gates and freezes hold of what others own; none if it does not (GATE-13).
    pub probes: Option<String>,
    /// Whether it starts changes of hosted clusters (HOST-1).
    pub hosted: HostedClusters,
    /// The namespace in which it records what happens to what is in none; none if it records nothing (HIST-1).
    pub history: Option<String>,
}

/// Whether an operator stands for election.
#[derive(Clone, Debug)]
pub enum Election {
    /// It is the only one.
    Alone,
    /// It shares a lease with others.
    Lease {
        /// The namespace of the lease.
        namespace: String,
        /// The name of the lease.
        name: String,
    },
}

impl Settings {
    /// A replica that is alone.
    pub fn alone(identity: impl Into<String>) -> Self {
        Self {
            identity: identity.into(),
            election: Election::Alone,
            tempo: Tempo::default(),
            controllers: kinds::controllers(Pools::Watched),
            host: None,
            proof: Proof::Required,
            updates: Updates::Watched,
            probes: None,
            hosted: HostedClusters::Watched,
            history: None,
        }
    }

    /// The same, with pools treated like this.
    #[must_use]
    pub fn with(self, pools: Pools) -> Self {
        Self { controllers: kinds::controllers(pools), ..self }
    }

    /// The same, with updates of the control plane started too.
    #[must_use]
    pub fn starting_updates(self) -> Self {
        let controllers = kinds::starting_updates(self.controllers);
        Self { controllers, updates: Updates::Started, ..self }
    }

    /// The same, with updates started too that were queued on a stock cluster (CV-6).
    #[must_use]
    pub fn starting_queued_updates(self) -> Self {
        let controllers = kinds::starting_queued_updates(self.controllers);
        Self { controllers, updates: Updates::Queued, ..self }
    }

    /// The same, with changes of hosted clusters started too.
    #[must_use]
    pub fn starting_hosted(self) -> Self {
        let controllers = kinds::starting_hosted(self.controllers);
        Self { controllers, hosted: HostedClusters::Started, ..self }
    }
}

/// An operator that has not started yet.
#[derive(Debug)]
pub struct Operator {
    settings: Settings,
    view: View,
    cluster: Cluster,
    leadership: watch::Sender<Leadership>,
}

/// What others see of an operator.
#[derive(Clone, Debug)]
pub struct View {
    /// What it knows.
    pub caches: Arc<Caches>,
    /// What time it thinks it is.
    pub clock: Arc<dyn Clock>,
    /// What it has counted.
    pub telemetry: Arc<Telemetry>,
    /// Whether it moves.
    pub progress: Arc<Progress>,
    leadership: watch::Receiver<Leadership>,
    tempo: Tempo,
    proof: Proof,
    updates: Updates,
    hosted: HostedClusters,
    pub(crate) scraped: Scraped,
}

/// Why an operator ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// One of its parts ended, which none ever should.
    #[error("{0} ended by itself")]
    Ended(&'static str),
    /// One of its parts panicked.
    #[error("a part of the operator panicked")]
    Panicked(#[source] tokio::task::JoinError),
}

impl Operator {
    /// An operator of the cluster behind a client. The client must not send anything twice by itself.
    pub fn new(client: Client, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let telemetry = Arc::new(Telemetry::default());
        let cluster =
            Cluster::new(client, Arc::clone(&clock), Arc::clone(&telemetry), settings.tempo.call);
        let first = match &settings.election {
            Election::Alone => Leadership::Leading { epoch: 0 },
            Election::Lease { .. } => Leadership::Following,
        };
        let (leadership, seen) = watch::channel(first);
        let view = View {
            caches: Arc::new(Caches::on(settings.host.clone(), observed(&settings.controllers))),
            clock,
            telemetry,
            progress: Arc::default(),
            leadership: seen,
            tempo: settings.tempo,
            updates: settings.updates,
            proof: settings.proof,
            hosted: settings.hosted,
            scraped: Scraped::default(),
        };
        if let Election::Lease { namespace, .. } = &settings.election {
            view.caches.store().set_home(namespace);
        }
        Self { settings, view, cluster, leadership }
    }

    /// What others see of it.
    pub fn view(&self) -> View {
        self.view.clone()
    }

    /// What answers new nodes, from what this operator knows. Any replica may: nothing is written.
    pub fn node_config(&self) -> NodeConfig {
        NodeConfig::new(self.view.clone(), self.cluster.clone())
    }

    /// Runs until `ended`, then gives the lease back.
    pub async fn run(self, ended: impl Future<Output = ()>) -> Result<(), RunError> {
        let mut parts = self.start();
        let Self { settings, view, cluster, leadership } = self;
        let Settings { identity, election, tempo, .. } = settings;
        let (end_election, election_ends) = oneshot::channel::<()>();
        let elected = match election {
            Election::Alone => None,
            Election::Lease { namespace, name } => {
                let candidate = Candidate { namespace, name, identity };
                let (caches, progress) = (Arc::clone(&view.caches), Arc::clone(&view.progress));
                let elector =
                    Elector::new(candidate, cluster, caches, progress, &tempo, leadership.clone());
                Some(stand(elector, election_ends))
            }
        };
        let failed = async {
            match parts.join_next().await {
                Some(Ok(part)) => RunError::Ended(part),
                Some(Err(error)) => RunError::Panicked(error),
                None => RunError::Ended("everything"),
            }
        };
        let running = async {
            tokio::select! {
                biased;
                () = ended => Ok(()),
                error = failed => Err(error),
            }
        };
        let outcome = match elected {
            None => running.await,
            Some(elected) => {
                let ending = async {
                    let outcome = running.await;
                    // Nobody listens only if the elector is gone, and then there is nothing to end.
                    let _ = end_election.send(());
                    outcome
                };
                tokio::join!(ending, elected).0
            }
        };
        drop(leadership);
        outcome
    }

    /// Starts every part but the elector. Not in [`Operator::run`], whose code is made anew by each crate that calls it: the parts are most
    /// of an operator, and made once, here.
    fn start(&self) -> JoinSet<&'static str> {
        let Self { settings, view, cluster, .. } = self;
        let Settings { ref identity, tempo, ref controllers, proof, updates, hosted, .. } =
            *settings;
        let reports = Reports::default();
        let mut parts = JoinSet::new();
        for kind in view.caches.observed().iter().copied() {
            let observer = Observer::new(kind, cluster.clone(), Arc::clone(&view.caches), tempo);
            parts.spawn(async move {
                observer.run().await;
                "an observer"
            });
        }
        if let Some(namespace) = settings.probes.clone() {
            let trials = Trials {
                cluster: cluster.clone(),
                caches: Arc::clone(&view.caches),
                tempo,
                leadership: view.leadership.clone(),
                namespace,
                pools: view.pools(),
            };
            parts.spawn(async move {
                trials.run().await;
                "whoever tries what gates and freezes hold"
            });
        }
        if let Some(home) = settings.history.clone() {
            let recorder = Recorder {
                cluster: cluster.clone(),
                caches: Arc::clone(&view.caches),
                leadership: view.leadership.clone(),
                home,
                pools: view.pools(),
            };
            parts.spawn(async move {
                recorder.run().await;
                "whoever records what happens"
            });
        }
        let looking = targets::run(cluster.clone(), Arc::clone(&view.caches), tempo);
        parts.spawn(async move {
            looking.await;
            "whoever looks at what gates hold"
        });
        let watchdog = freshness::watch(cluster.clone(), Arc::clone(&view.caches), tempo);
        parts.spawn(async move {
            watchdog.await;
            "the watch over freshness"
        });
        let speaker = Speaker { cluster: cluster.clone(), identity: identity.clone() };
        let telling = reports.clone().run(speaker);
        parts.spawn(async move {
            telling.await;
            "the teller of events"
        });
        let reconciler = Reconciler::new(Parts {
            controllers: controllers.iter().copied().chain(kinds::touching()).collect(),
            cluster: cluster.clone(),
            caches: Arc::clone(&view.caches),
            clock: Arc::clone(&view.clock),
            telemetry: Arc::clone(&view.telemetry),
            progress: Arc::clone(&view.progress),
            reports,
            tempo,
            proof,
            leadership: view.leadership.clone(),
        });
        parts.spawn(async move {
            reconciler.run().await;
            "the loop"
        });
        if view.rolls_out() {
            let (caches, leading) = (Arc::clone(&view.caches), view.leadership.clone());
            let draining = draining::run(cluster.clone(), caches, leading);
            parts.spawn(async move {
                draining.await;
                "the drainer"
            });
        }
        let begins = view.rolls_out() || hosted == HostedClusters::Started;
        if begins && proof == Proof::Required {
            let duties = proof::Duties { pools: view.pools(), updates, hosted };
            let trying = proof::run(cluster.clone(), Arc::clone(&view.caches), tempo, duties);
            parts.spawn(async move {
                trying.await;
                "whoever tries what the server refuses"
            });
        }
        parts
    }
}

/// Stands for election until somebody ends it. Boxed, so that this code too is made here.
fn stand(
    elector: Elector,
    ended: oneshot::Receiver<()>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(elector.run(async {
        // A sender that is gone means the same as one that has spoken.
        let _ = ended.await;
    }))
}

/// Everything that the rows look at or read, each kind once.
fn observed(controllers: &[Controller]) -> Vec<&'static Row> {
    let mut observed: Vec<&'static Row> =
        controllers.iter().map(|controller| controller.row).collect();
    for row in controllers.iter().flat_map(|controller| controller.duty.reads) {
        if observed.iter().all(|known| known.kind != row.kind) {
            observed.push(row);
        }
    }
    observed
}

impl View {
    /// Whether it rolls configurations out to nodes: only then it looks at what a change of them disrupts. Whoever only records what has begun looks
    /// at nodes and their configurations too.
    pub(crate) fn rolls_out(&self) -> bool {
        self.caches.observed().iter().any(|row| row.kind == kinds::MACHINE_CONFIGURATION.kind)
    }

    fn pools(&self) -> Pools {
        if self.rolls_out() { Pools::Managed } else { Pools::Watched }
    }

    /// Whether it starts updates of the control plane: only then it foresees anything of them (CV-3).
    pub(crate) fn starts_updates(&self) -> bool {
        self.updates == Updates::Started
    }

    /// Whether this replica writes.
    pub fn leads(&self) -> bool {
        self.leadership.borrow().leads()
    }

    /// Whether it moves; if not, why.
    pub fn health(&self) -> Result<(), String> {
        let silence = self.progress.silence();
        if silence > self.tempo.stuck {
            return Err(format!("the loop has not turned for {} s", silence.as_secs()));
        }
        Ok(())
    }

    /// Whether it knows what it has to know; if not, what is missing.
    pub fn knows(&self) -> Result<(), String> {
        self.health()?;
        self.caches.doubt(self.tempo.stale).map_or(Ok(()), Err)
    }

    /// Whether it can do all that it is there for; if not, why.
    pub fn ready(&self) -> Result<(), String> {
        self.knows()?;
        let store = self.caches.store();
        let hosted = store.snapshot().gated().any(|gated| gated.hosted.is_some());
        let hosted = hosted && self.hosted == HostedClusters::Started;
        // Nodes that others roll out start nothing here.
        let nodes = self.rolls_out() && store.snapshot().machines().next().is_some();
        let nothing = !nodes && !hosted;
        match store.enforcement() {
            Enforcement::Proven => Ok(()),
            _ if nothing || self.proof == Proof::Waived => Ok(()),
            unproven => Err(format!("nothing is rolled out: {}", unproven.sentence())),
        }
    }
}
