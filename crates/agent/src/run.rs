//! How does the agent live? It looks, decides, does one thing, and looks again; then it waits until its node changes.
//!
//! Everything that is decided is decided by [`next`]. Nothing here is remembered that a restart must not lose: plans and failures are
//! made anew. EXEC-4: a write whose outcome nobody knows is read back, because every turn begins with reading.

use std::{sync::Arc, time::Duration};

use api::{
    kinds,
    machine::{
        MachineConfigSpec,
        disruption::{MachineConfiguration, Policies},
        names::NodeState,
    },
};
use runtime::{
    backoff::Backoff,
    call::{CallError, Cluster, Collection, Patch},
    chain::chain,
    clock::Clock,
    path::Resource,
};
use schedule::Instant;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tidegate_core::{
    document::problem::FieldPath,
    node::{
        disruption,
        refusals::{contradictions, refusals},
    },
};
use tokio::time::{sleep, timeout};

use crate::{
    accounts::Accounts,
    change::obstacles,
    drift::drift,
    host::{Entry, Hold, Host, HostError},
    journal::Journal,
    layout::Layout,
    next::{HostState, NextStep, Observed, Way, next},
    node::{self, NodeView, Report},
    path::HostPath,
    plan::Plan,
    store::{self, Record, StoreError},
    supply::{Supply, SupplyError},
    transaction::{self, ChangeError, Progress},
};

/// The agent of one node.
#[derive(Debug)]
pub struct Agent<H> {
    host: H,
    cluster: Cluster,
    supply: Supply,
    node: String,
    prepared: Option<Prepared>,
    failure: Option<Failure>,
    backoff: Backoff,
}

/// What was found out about the way from one configuration to another.
#[derive(Debug)]
struct Prepared {
    from: String,
    to: String,
    way: Result<(Record, Plan), String>,
}

/// What failed on the way to a configuration, and when it is tried again, by the cluster's clock.
#[derive(Debug)]
struct Failure {
    to: String,
    why: String,
    fault: Fault,
    until: Instant,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// That of the host or of the configuration.
    Own,
    /// Nobody's here: whoever gives configurations is away.
    Elsewhere,
}

impl Failure {
    /// Whether it is too early to try again. A clock that went back does not make the wait longer than any wait is.
    fn lasts(&self, now: Instant) -> bool {
        now < self.until && self.until <= now.saturating_add(LONGEST_DELAY.as_secs() as i64)
    }
}

/// What came of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Something was done; there may be more to do.
    Did(NextStep),
    /// There is nothing to do until the node changes from this version, or it is time to look again.
    Idle {
        /// Why there is nothing to do.
        step: NextStep,
        /// The version of the node that was seen.
        version: String,
    },
    /// The node is about to be started anew.
    Restarting,
}

/// Why a turn failed.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The cluster did not answer, or refused.
    #[error("the cluster cannot be asked for {what}")]
    Cluster {
        /// What was asked for.
        what: String,
        /// What it said.
        #[source]
        source: CallError,
    },
    /// The host or the memory of the agent fails.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A configuration that is needed is not there or cannot be read.
    #[error("MachineConfig {name} {why}")]
    Config {
        /// Which one.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Whoever gives configurations is away.
    #[error("waiting for MachineConfig {name}")]
    Away {
        /// Which one is waited for.
        name: String,
        /// What was said.
        #[source]
        source: SupplyError,
    },
    /// The policies that act are about an older specification.
    #[error(
        "MachineConfiguration cluster cannot be read, or its status is about an older generation"
    )]
    Unsettled,
}

impl From<StoreError> for AgentError {
    fn from(error: StoreError) -> Self {
        Self::Change(error.into())
    }
}

impl From<HostError> for AgentError {
    fn from(error: HostError) -> Self {
        Self::Change(error.into())
    }
}

/// How long the agent waits without looking: drift has no event of its own. Not by the cluster's clock, because a clock that runs a
/// thousand times as fast would have it read its files all the time.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// Upstream tries again after five seconds at first and after a minute at last.
const FIRST_DELAY: Duration = Duration::from_secs(5);
const LONGEST_DELAY: Duration = Duration::from_mins(1);

/// How much longer than the server promised a watch may be silent.
const GRACE: Duration = Duration::from_secs(5);

/// What a host was installed with; whoever served its first configuration put this there.
const INSTALLED: &str = "/etc/machine-config-daemon/node-annotations.json";

impl<H: Host> Agent<H> {
    /// The agent of the node of this name.
    pub fn new(host: H, cluster: Cluster, node: &str) -> Self {
        let backoff = Backoff::new(FIRST_DELAY, LONGEST_DELAY, node);
        let (node, supply) = (node.to_owned(), Supply::default());
        Self { host, cluster, supply, node, prepared: None, failure: None, backoff }
    }

    /// The same, with its configurations from there.
    #[must_use]
    pub fn supplied_by(self, supply: Supply) -> Self {
        Self { supply, ..self }
    }

    /// The host.
    pub fn host(&mut self) -> &mut H {
        &mut self.host
    }

    /// Takes turns for ever, or until the node is started anew.
    pub async fn run(&mut self) {
        self.take_hold().await;
        loop {
            self.host.beat();
            self.run_until_restart().await;
            sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until no other agent works on the host: an old pod may outlive its deletion, and two of them would share one journal.
    async fn take_hold(&mut self) {
        let mut told = false;
        loop {
            self.host.beat();
            match store::hold(&mut self.host) {
                Ok(Hold::Ours) => return,
                Ok(Hold::Anothers) if told => {}
                Ok(Hold::Anothers) => {
                    told = true;
                    tracing::warn!("another agent works on this host; this one waits for its end");
                }
                Err(error) => tracing::warn!(why = chain(&error), "the host cannot be locked"),
            }
            sleep(FIRST_DELAY).await;
        }
    }

    /// Takes turns until the node is about to be started anew.
    pub async fn run_until_restart(&mut self) {
        let mut told = NextStep::GoOn;
        loop {
            match self.turn().await {
                Ok(Turn::Restarting) => {
                    tracing::info!("the node is about to be started anew");
                    return;
                }
                Ok(Turn::Did(step)) => tracing::info!(?step, "done"),
                Ok(Turn::Idle { step, version }) => {
                    if step != told {
                        tracing::info!(?step, "waiting");
                        told = step;
                    }
                    self.wait(&version).await;
                }
                Err(error) => {
                    let why = chain(&error);
                    tracing::warn!(why, "a turn failed");
                    self.report_trouble(&error, why).await;
                    let delay = self.backoff.lengthen();
                    self.pause(delay).await;
                }
            }
        }
    }

    /// Looks, decides and does one thing.
    pub async fn turn(&mut self) -> Result<Turn, AgentError> {
        self.host.beat();
        // A change under way needs no cluster.
        if let Some(journal) = store::journal(&self.host)? {
            return self.go_on(&journal);
        }
        let current = store::current(&self.host)?;
        let node = self.look().await?;
        let installed = installed(&self.host)?;
        let differing = match &current {
            Some(record) => drift(&self.host, &transaction::layout(&self.host, record)?.entries),
            None => Vec::new(),
        };
        let standing = match &current {
            Some(record) => HostState::At { name: &record.name, drift: &differing },
            None => HostState::Fresh { installed: installed.as_deref() },
        };
        let here = current.as_ref().map_or("", |record| record.name.as_str());
        let desired = node.desired.as_deref().unwrap_or_default();
        let rejected = store::rejected(&self.host)?.filter(|rejected| rejected.to == desired);
        let way = match &rejected {
            Some(rejected) => Way::Failed(&rejected.why),
            None => self.way(here, desired),
        };
        let step = next(&Observed { node: &node, standing, way });
        self.execute(step, &node, current).await
    }

    async fn execute(
        &mut self,
        step: NextStep,
        node: &NodeView,
        current: Option<Record>,
    ) -> Result<Turn, AgentError> {
        let version = node.version.clone();
        match &step {
            NextStep::Rest | NextStep::Await(_) | NextStep::GoOn => {
                return Ok(Turn::Idle { step, version });
            }
            NextStep::Report(report) => self.report(&node.uid, report).await?,
            NextStep::Adopt(name) => {
                let record = self.config(name).await?;
                store::set_current(&mut self.host, &record)?;
            }
            NextStep::AdoptNothing => {
                store::set_current(&mut self.host, &Record::nothing())?;
            }
            NextStep::Plan(name) => {
                let from = current.map(|record| record.name).unwrap_or_default();
                self.prepare(from, name).await?;
            }
            NextStep::Begin => {
                let prepared = self.prepared.take().and_then(|prepared| prepared.way.ok());
                if let (Some(current), Some((coming, plan))) = (current, prepared) {
                    transaction::begin(&mut self.host, current, coming, plan.deeds)?;
                }
            }
        }
        Ok(Turn::Did(step))
    }

    fn go_on(&mut self, journal: &Journal) -> Result<Turn, AgentError> {
        match transaction::go_on(&mut self.host, journal)? {
            Progress::Further(_) => {}
            Progress::Restarting => return Ok(Turn::Restarting),
            Progress::AtNew(_) => {
                self.failure = None;
                self.backoff.reset();
            }
            Progress::AtOld { why } => self.failed(&journal.to, why, Fault::Own),
        }
        Ok(Turn::Did(NextStep::GoOn))
    }

    fn failed(&mut self, to: &str, why: String, fault: Fault) {
        let until = later(self.clock().now(), self.backoff.lengthen());
        self.prepared = None;
        self.failure = Some(Failure { to: to.to_owned(), why, fault, until });
    }

    /// What is known about the way from one configuration to another.
    fn way(&self, from: &str, to: &str) -> Way<'_> {
        if let Some(failure) = &self.failure
            && failure.to == to
            && failure.lasts(self.clock().now())
        {
            return match failure.fault {
                Fault::Own => Way::Failed(&failure.why),
                Fault::Elsewhere => Way::Delayed(&failure.why),
            };
        }
        match &self.prepared {
            Some(Prepared { from: known, to: wanted, way }) if known == from && wanted == to => {
                match way {
                    Ok((_, plan)) => Way::Known(plan),
                    Err(why) => Way::Barred(why),
                }
            }
            Some(_) | None => Way::Unknown,
        }
    }

    /// Finds out what has to be done on the way to a configuration, and remembers it.
    async fn prepare(&mut self, from: String, to: &str) -> Result<(), AgentError> {
        match self.find_way(to).await {
            Ok(way) => self.prepared = Some(Prepared { from, to: to.to_owned(), way }),
            Err(error @ (AgentError::Config { .. } | AgentError::Unsettled)) => {
                self.failed(to, chain(&error), Fault::Own);
            }
            Err(error @ AgentError::Away { .. }) => {
                self.failed(to, chain(&error), Fault::Elsewhere);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What has to be done on the way to a configuration; why this host cannot go there, if it cannot.
    pub(crate) async fn find_way(
        &self,
        to: &str,
    ) -> Result<Result<(Record, Plan), String>, AgentError> {
        let policies = self.disruption_policies().await?.ok_or(AgentError::Unsettled)?;
        let coming = self.config(to).await?;
        // Read now and not before: an answer of two megabytes is three times that while it arrives.
        let current = store::current(&self.host)?.unwrap_or_else(Record::nothing);
        let mut faults = obstacles(&current.spec, &coming.spec);
        faults.extend(refused(&coming.spec));
        if faults.is_empty() {
            let accounts = Accounts::of(&self.host)?;
            faults.extend(Layout::of(&coming.spec, &accounts).err().unwrap_or_default());
        }
        if !faults.is_empty() {
            return Ok(Err(format!("this host cannot take {to}: {}", faults.join("; "))));
        }
        let plan = Plan::between(&current.spec, &coming.spec, &policies);
        Ok(Ok((coming, plan)))
    }

    pub(crate) async fn look(&self) -> Result<NodeView, AgentError> {
        let node: Value = self.get(&format!("node {}", self.node), &self.path()).await?;
        Ok(NodeView::of(&node))
    }

    pub(crate) async fn config(&self, name: &str) -> Result<Record, AgentError> {
        let named = name.to_owned();
        match self.supply.config(&self.cluster, name).await {
            Ok(config) => Ok(Record::found(named, config.spec)),
            Err(SupplyError::Unusable(why)) => Err(AgentError::Config { name: named, why }),
            Err(SupplyError::Cluster(source)) => {
                Err(AgentError::Cluster { what: format!("MachineConfig {name}"), source })
            }
            Err(source @ SupplyError::Away { .. }) => Err(AgentError::Away { name: named, source }),
        }
    }

    /// The policies that act: those of the status, once it is about the newest specification (NDP-1). None until then. A cluster
    /// without the kind has those of the release.
    async fn disruption_policies(&self) -> Result<Option<Policies>, AgentError> {
        let path = Resource::of(&kinds::MACHINE_CONFIGURATION).object(None, "cluster");
        let found: MachineConfiguration = match self.get("MachineConfiguration", &path).await {
            Err(AgentError::Cluster { source: CallError::Refused { code: 404, .. }, .. }) => {
                return Ok(Some(disruption::defaults()));
            }
            Err(AgentError::Cluster { source: CallError::Garbled(_), .. }) => return Ok(None),
            found => found?,
        };
        Ok(disruption::acting(&found).cloned())
    }

    async fn report(&self, uid: &str, report: &Report) -> Result<(), AgentError> {
        let patch = Patch::merge(node::OWNER, &node::patch(uid, report));
        let written = self.cluster.patch(&self.path(), patch).await;
        let what = format!("a change of node {}", self.node);
        written.map(drop).map_err(|source| AgentError::Cluster { what, source })
    }

    /// Tells the cluster that something is wrong with the host, if that is still possible.
    async fn report_trouble(&self, error: &AgentError, why: String) {
        if matches!(error, AgentError::Cluster { .. }) {
            return;
        }
        let Ok(node) = self.look().await else { return };
        if !node.says(NodeState::Degraded, &why) {
            let state = Some((NodeState::Degraded.as_str(), why));
            let report = Report { state, ..Report::default() };
            if let Err(error) = self.report(&node.uid, &report).await {
                tracing::warn!(
                    why = chain(&error),
                    "the agent cannot report its trouble to the API server"
                );
            }
        }
    }

    /// Where its node is.
    fn path(&self) -> String {
        Resource::of(&kinds::NODE).object(None, &self.node)
    }

    async fn get<T: DeserializeOwned>(&self, what: &str, path: &str) -> Result<T, AgentError> {
        let found = self.cluster.get(path).await;
        found.map_err(|source| AgentError::Cluster { what: what.to_owned(), source })
    }

    /// Waits until the node changes, or it is time to look again.
    async fn wait(&mut self, version: &str) {
        let nodes = Collection::of(Resource::of(&kinds::NODE).collection(None));
        let own = nodes.only("metadata.name", &self.node);
        let retry = self.failure.as_ref().filter(|failure| failure.lasts(self.clock().now()));
        let retry = retry.map(|failure| failure.until);
        let began = tokio::time::Instant::now();
        let watched = async {
            let mut node = self.cluster.follow(&own, version, Some(LOOK_AGAIN)).await.ok()?;
            node.next_change().await.ok()?
        };
        let heard = tokio::select! {
            biased;
            heard = timeout(LOOK_AGAIN + GRACE, watched) => heard.ok().flatten(),
            () = self.reached(retry.unwrap_or(Instant::MAX)), if retry.is_some() => return,
        };
        // A watch that ends at once without a word must not be asked in a circle.
        if heard.is_none() && began.elapsed() < Duration::from_secs(1) {
            sleep(FIRST_DELAY).await;
        }
    }

    /// Waits for so long, by the cluster's clock.
    async fn pause(&self, delay: Duration) {
        self.reached(later(self.clock().now(), delay)).await;
    }

    /// Waits until the cluster's clock reaches an instant, or is set back so far that nobody could have meant to wait for it.
    async fn reached(&self, until: Instant) {
        let clock = self.clock();
        let longest = LONGEST_DELAY.as_secs() as i64;
        while clock.now() < until && until <= clock.now().saturating_add(longest) {
            clock.wait(until).await;
        }
    }

    fn clock(&self) -> &Arc<dyn Clock> {
        self.cluster.clock()
    }
}

/// What rendering refuses too (NODE-3): whoever rendered this did not. Only what is coming is held to it; what is in place stays.
fn refused(spec: &MachineConfigSpec) -> Vec<String> {
    let Some(config) = &spec.config else { return Vec::new() };
    let parts = refusals(config, &FieldPath::root()).into_iter().map(|problem| problem.detail);
    parts.chain(contradictions(config).into_iter().map(|one| one.refusal.detail)).collect()
}

/// Clocks tell whole seconds; a wait is never shorter than it was meant.
fn later(now: Instant, delay: Duration) -> Instant {
    now.saturating_add(delay.as_secs_f64().ceil() as i64)
}

/// The configuration that a host was installed with, if it says so.
fn installed(host: &impl Host) -> Result<Option<String>, HostError> {
    let Entry::File(file) = host.read(&HostPath::parse(INSTALLED)?)? else { return Ok(None) };
    let annotations: Value = serde_json::from_slice(&file.content).unwrap_or_default();
    let name = annotations.get(api::machine::names::CURRENT_CONFIG).and_then(Value::as_str);
    Ok(name.filter(|name| !name.is_empty()).map(str::to_owned))
}
