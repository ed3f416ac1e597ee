//! What does a live cluster say? The verbs' way to one: every kind that change management knows, listed, watched, patched.
//!
//! A kind that the cluster does not have is no error: most clusters have no hosted control planes.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::bail;
use api::{
    kinds, names,
    schema::{GATED, KINDS, Kind, MACHINES, Role},
};
use clap::Args;
use futures_util::StreamExt as _;
use http::Request;
use kube::{Client, client::Body};
use runtime::{call::dated, client};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{key::Key, snapshot::Snapshot};

use crate::{
    args::{self, At},
    edge::Edge,
    output::{Output, Style},
    source::{Loaded, Reads},
};

/// How long a server may think about one request. A person waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it may be before machines are looked at again, which change without a word.
const SHORT: Duration = Duration::from_millis(250);

/// How much of a cluster is looked at. A person may lack the right to read what a verb does not need.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    /// Policies, and what they gate.
    Gates,
    /// Pools, their nodes and their configurations.
    Pools,
    /// The same, and the update of the control plane, which may need configurations that nothing names.
    PoolsAndUpdate,
    /// Policies and what they gate, nodes and configurations.
    Rollouts,
    /// All that is known.
    Everything,
}

impl Extent {
    fn kinds(self) -> Vec<&'static Kind> {
        let gates = || KINDS.iter().chain(GATED);
        let parts = [&kinds::MACHINE_CONFIG, &kinds::NODE];
        match self {
            Self::Gates => gates().collect(),
            Self::Pools => [&kinds::MACHINE_CONFIG_POOL].into_iter().chain(parts).collect(),
            Self::PoolsAndUpdate => {
                let pools = [&kinds::MACHINE_CONFIG_POOL, &kinds::CLUSTER_VERSION];
                pools.into_iter().chain(parts).collect()
            }
            Self::Rollouts => gates().chain(parts).collect(),
            Self::Everything => gates().chain(MACHINES).collect(),
        }
    }

    /// What is read of files.
    fn reads(self) -> Reads {
        match self {
            Self::Gates => Reads::Cluster,
            Self::Pools | Self::PoolsAndUpdate | Self::Rollouts | Self::Everything => {
                Reads::Machines
            }
        }
    }
}

/// Which cluster.
#[derive(Args, Debug)]
pub(crate) struct Reach {
    /// The kubeconfig of the cluster [default: as kubectl finds it]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,
    /// The namespace of objects named without one
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
}

impl Reach {
    /// The cluster of a kubeconfig.
    pub(crate) fn of(kubeconfig: &Path) -> Self {
        Self { kubeconfig: Some(kubeconfig.to_owned()), namespace: None }
    }

    /// The namespace of objects named without one.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// What a cluster says: the one that files describe, if any are named, or the live one.
    pub(crate) fn snapshot(
        &self,
        extent: Extent,
        files: &[PathBuf],
        edge: &mut Edge,
        at: Instant,
    ) -> anyhow::Result<(Snapshot, Loaded)> {
        if files.is_empty() {
            return Ok((self.connect()?.snapshot(extent)?, Loaded::default()));
        }
        let loaded = args::load(files, extent.reads(), edge)?;
        Ok((loaded.snapshot(at), loaded))
    }

    /// The instant that a verb looks at: the one it was told, else the one it is where it looks.
    pub(crate) fn instant(
        &self,
        at: &At,
        files: &[PathBuf],
        edge: &Edge,
    ) -> anyhow::Result<Instant> {
        if at.given().is_some() || !files.is_empty() {
            return Ok(at.instant(edge));
        }
        Ok(self.connect()?.now(edge))
    }

    /// A way to the cluster.
    pub(crate) fn connect(&self) -> anyhow::Result<Cluster> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(async {
            let config = client::configuration(self.kubeconfig.as_deref()).await?;
            client::connect(config)
        })?;
        Ok(Cluster { client, runtime })
    }
}

/// A way to a cluster.
pub(crate) struct Cluster {
    client: Client,
    runtime: tokio::runtime::Runtime,
}

impl Cluster {
    /// What time it is there. A cluster judges by its own clock, so that is the one to count from; the caller's, if it does not say.
    pub(crate) fn now(&self, edge: &Edge) -> Instant {
        let asked = async {
            let request = Request::get("/version").body(Body::empty()).ok()?;
            let answer = tokio::time::timeout(PATIENCE, self.client.send(request)).await.ok()?;
            Instant::try_from(dated(answer.ok()?.headers())?).ok()
        };
        self.runtime.block_on(asked).unwrap_or_else(|| (edge.clock)())
    }

    /// What the cluster says.
    pub(crate) fn snapshot(&self, extent: Extent) -> anyhow::Result<Snapshot> {
        Ok(self.look(extent)?.0)
    }

    /// The same, with the version at which each kind was read that change management knows.
    fn look(&self, extent: Extent) -> anyhow::Result<(Snapshot, Versions)> {
        self.runtime.block_on(self.listed(extent))
    }

    async fn listed(&self, extent: Extent) -> anyhow::Result<(Snapshot, Versions)> {
        let mut snapshot = Snapshot::default();
        let mut versions = Versions::default();
        for kind in extent.kinds() {
            let Listed { items, version } = self.all(kind).await?;
            // Parts change all the time.
            if kind.role != Role::Part {
                versions.0.extend(version.map(|version| (kind, version)));
            }
            for item in items {
                snapshot.add(kind, &item);
            }
        }
        Ok((snapshot, versions))
    }

    /// Every object of a kind.
    async fn all(&self, kind: &Kind) -> anyhow::Result<Listed> {
        let mut listed = self.list(&collection(kind, None)).await?;
        for item in &mut listed.items {
            // The items of a list need not say what they are.
            if let Some(fields) = item.as_object_mut() {
                fields.insert("apiVersion".into(), kind.api_version.into());
                fields.insert("kind".into(), kind.name.into());
            }
        }
        Ok(listed)
    }

    /// Everything in a collection; nothing if the server does not have it.
    async fn list(&self, collection: &str) -> anyhow::Result<Listed> {
        let mut items = Vec::new();
        let mut more = String::new();
        loop {
            let request = Request::get(format!("{collection}?limit=500{more}")).body(Vec::new())?;
            let mut page = match self.ask(request).await {
                Ok(page) => page,
                Err(Refusal { code: 404, .. }) => return Ok(Listed::default()),
                Err(refusal) => {
                    let plural = collection.rsplit('/').next().unwrap_or_default();
                    bail!("cannot list {plural}: {refusal}")
                }
            };
            if let Some(Value::Array(found)) = page.get_mut("items").map(Value::take) {
                items.extend(found);
            }
            let text = |path: &str| page.pointer(path).and_then(Value::as_str).map(str::to_owned);
            match text("/metadata/continue") {
                Some(token) if !token.is_empty() => more = format!("&continue={token}"),
                _ => return Ok(Listed { items, version: text("/metadata/resourceVersion") }),
            }
        }
    }

    /// Changes an object by a merge patch.
    pub(crate) fn patch(&self, object: &Key, change: &Value) -> anyhow::Result<()> {
        let path = runtime::key::path(object);
        let request = Request::patch(format!("{path}?fieldManager=tidegate"))
            .header(http::header::CONTENT_TYPE, "application/merge-patch+json")
            .body(serde_json::to_vec(change)?)?;
        self.runtime.block_on(self.ask(request)).map(drop).map_err(|refusal| match refusal.code {
            409 => Overtaken(format!("cannot change {object}: {refusal}")).into(),
            _ => anyhow::anyhow!("cannot change {object}: {refusal}"),
        })
    }

    /// Creates a cluster-wide object, or changes what is said of it.
    pub(crate) fn apply(&self, object: &Value) -> anyhow::Result<()> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let path = format!("/apis/{}/{}/{name}", text("/apiVersion"), names::plural(kind));
        let request = Request::patch(format!("{path}?fieldManager=tidegate&force=true"))
            .header(http::header::CONTENT_TYPE, "application/apply-patch+yaml")
            .body(serde_json::to_vec(object)?)?;
        self.runtime
            .block_on(self.ask(request))
            .map(drop)
            .map_err(|refusal| anyhow::anyhow!("cannot apply {kind}/{name}: {refusal}"))
    }

    /// Looks until something holds, or nobody wants to wait any longer; whether it came to hold.
    pub(crate) fn until(
        &self,
        holds: impl Fn(&Snapshot, Instant) -> bool,
        wait: impl Fn() -> bool,
        edge: &Edge,
    ) -> anyhow::Result<bool> {
        loop {
            let (snapshot, versions) = self.look(Extent::Rollouts)?;
            if holds(&snapshot, self.now(edge)) {
                return Ok(true);
            }
            if !wait() {
                return Ok(false);
            }
            self.wait(&versions, SHORT);
        }
    }

    /// Shows the cluster for ever: again whenever what it says differs.
    pub(crate) fn follow(
        &self,
        extent: Extent,
        edge: &mut Edge,
        mut show: impl FnMut(&Snapshot, Instant) -> anyhow::Result<Shown>,
    ) -> anyhow::Result<Output> {
        let mut before = String::new();
        loop {
            let now = self.now(edge);
            let (snapshot, versions) = self.look(extent)?;
            let Shown { facts, text, sleep } = show(&snapshot, now)?;
            if facts != before {
                let at = edge.colour.paint(Style::Faint, &format!("at {now}"));
                writeln!(edge.stdout, "{at}\n{text}")?;
                edge.stdout.flush()?;
                before = facts;
            }
            self.wait(&versions, sleep);
        }
    }

    /// Waits until something that change management knows changes after it was looked at, or until so much time has gone by.
    fn wait(&self, since: &Versions, at_most: Duration) {
        let changed = async {
            let watches =
                since.0.iter().map(|(kind, version)| Box::pin(self.changed(kind, version)));
            match watches.collect::<Vec<_>>() {
                none if none.is_empty() => std::future::pending().await,
                watches => drop(futures_util::future::select_all(watches).await),
            }
        };
        // Either is a reason to look again.
        let _ = self.runtime.block_on(async { tokio::time::timeout(at_most, changed).await });
    }

    /// Ends when an object of a kind has changed since a version; never if the kind cannot be watched.
    async fn changed(&self, kind: &Kind, version: &str) {
        let path = format!("{}?watch=true&resourceVersion={version}", collection(kind, None));
        if let Ok(request) = Request::get(path).body(Vec::new())
            && let Ok(events) = self.client.request_events::<Value>(request).await
            && let Some(Ok(_)) = std::pin::pin!(events).next().await
        {
            // Whatever it says, even that the version is too old: it is time to look again.
            return;
        }
        std::future::pending::<()>().await;
    }

    async fn ask(&self, request: Request<Vec<u8>>) -> Result<Value, Refusal> {
        let answered = tokio::time::timeout(PATIENCE, self.client.request::<Value>(request)).await;
        match answered {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(kube::Error::Api(status))) => {
                Err(Refusal { code: status.code, message: status.message.clone() })
            }
            Ok(Err(error)) => Err(Refusal { code: 0, message: chain(&error) }),
            Err(_) => Err(Refusal {
                code: 0,
                message: format!("no answer within {} s", PATIENCE.as_secs()),
            }),
        }
    }
}

/// Somebody changed an object between the look at it and the change that followed from it.
#[derive(Debug)]
pub(crate) struct Overtaken(pub(crate) String);

impl std::fmt::Display for Overtaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Overtaken {}

/// What a verb shows of a cluster.
pub(crate) struct Shown {
    /// What it says, without how long ago or how far away: it is shown again when this differs.
    pub(crate) facts: String,
    /// What people see.
    pub(crate) text: String,
    /// How long it may be before somebody looks again.
    pub(crate) sleep: Duration,
}

/// The version at which each kind was read.
#[derive(Default)]
struct Versions(Vec<(&'static Kind, String)>);

/// What a collection holds, and the version it was read at; none if the server does not have it.
#[derive(Default)]
struct Listed {
    items: Vec<Value>,
    version: Option<String>,
}

/// The server said no, or nothing.
#[derive(Debug)]
struct Refusal {
    code: u16,
    message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// An error with its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut inner = error.source();
    while let Some(source) = inner {
        let said = source.to_string();
        // Some errors repeat what they wrap.
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        inner = source.source();
    }
    text
}

fn collection(kind: &Kind, namespace: Option<&str>) -> String {
    let plural = names::plural(kind.name);
    // What Kubernetes began with has no group, and another root.
    let root = if kind.api_version.contains('/') { "apis" } else { "api" };
    match namespace {
        Some(namespace) => format!("/{root}/{}/namespaces/{namespace}/{plural}", kind.api_version),
        None => format!("/{root}/{}/{plural}", kind.api_version),
    }
}
