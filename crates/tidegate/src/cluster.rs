//! What does a live cluster say? The verbs' way to one: every kind that change management knows, listed, watched, patched.
//!
//! A kind that the cluster does not have is no error: most clusters have no hosted control planes.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::bail;
use api::{
    kinds, names,
    schema::{GATED, KINDS, Kind, MACHINES},
};
use clap::Args;
use kube::Client;
use runtime::{
    call::{self, CallError, Collection, Patch},
    client,
    clock::SystemClock,
    key::collection,
    path::Resource,
};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{fleet::Fleet, problem::Object, simulate, world::World};

use crate::{
    args::{self, At},
    edge::Edge,
    output::{Output, Style},
    source::{Loaded, Reads},
};

/// How long a server may think about one request. A person waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who is named as the owner of what people write by this command.
const OWNER: &str = "tidegate";

/// How long it may be before machines are looked at again, which change without a word.
const SHORT: Duration = Duration::from_millis(250);

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
    pub(crate) fn world(
        &self,
        files: &[PathBuf],
        edge: &mut Edge,
        at: Instant,
    ) -> anyhow::Result<(World, Loaded)> {
        if files.is_empty() {
            return Ok((self.connect()?.world()?, Loaded::default()));
        }
        let loaded = args::load(files, Reads::Cluster, edge)?;
        Ok((loaded.world(at), loaded))
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

    /// What a cluster says, with machines and their configurations.
    pub(crate) fn cluster(
        &self,
        files: &[PathBuf],
        edge: &mut Edge,
        at: Instant,
    ) -> anyhow::Result<(simulate::Cluster, Loaded)> {
        if files.is_empty() {
            return Ok((self.connect()?.simulated()?, Loaded::default()));
        }
        let loaded = args::load(files, Reads::Machines, edge)?;
        Ok((loaded.cluster(at), loaded))
    }

    /// A way to the cluster.
    pub(crate) fn connect(&self) -> anyhow::Result<Cluster> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let cluster = runtime.block_on(async {
            let config = client::configuration(self.kubeconfig.as_deref()).await?;
            Ok::<_, client::ConnectError>(reached(client::connect(config)?, PATIENCE))
        })?;
        Ok(Cluster { cluster, runtime })
    }
}

/// A cluster behind a client. Nobody reads what is counted in a command.
pub(crate) fn reached(client: Client, patience: Duration) -> call::Cluster {
    call::Cluster::new(client, Arc::new(SystemClock), Arc::default(), patience)
}

/// A way to a cluster.
pub(crate) struct Cluster {
    cluster: call::Cluster,
    runtime: tokio::runtime::Runtime,
}

impl Cluster {
    /// What time it is there. A cluster judges by its own clock, so that is the one to count from; the caller's, if it does not say.
    pub(crate) fn now(&self, edge: &Edge) -> Instant {
        let said = self.runtime.block_on(self.cluster.time()).ok().flatten();
        said.and_then(|now| Instant::try_from(now).ok()).unwrap_or_else(|| (edge.clock)())
    }

    /// Everything that change management knows in the cluster.
    pub(crate) fn world(&self) -> anyhow::Result<World> {
        Ok(self.runtime.block_on(self.listed())?.0)
    }

    /// The same, with the version of each kind that it was read at.
    fn look(&self) -> anyhow::Result<(World, Versions)> {
        self.runtime.block_on(self.listed())
    }

    async fn listed(&self) -> anyhow::Result<(World, Versions)> {
        let mut world = World::default();
        let mut versions = Versions::default();
        for kind in KINDS.iter().chain(GATED) {
            let Listed { items, version } = self.all(kind).await?;
            versions.0.extend(version.map(|version| (kind, version)));
            for item in items {
                world.add(kind, &item);
            }
        }
        Ok((world, versions))
    }

    /// Everything that a simulation looks at.
    fn simulated(&self) -> anyhow::Result<simulate::Cluster> {
        let mut cluster = simulate::Cluster::default();
        for kind in KINDS.iter().chain(GATED).chain(MACHINES) {
            for item in self.runtime.block_on(self.all(kind))?.items {
                cluster.add(kind, &item);
            }
        }
        Ok(cluster)
    }

    /// Every object of a kind.
    async fn all(&self, kind: &Kind) -> anyhow::Result<Listed> {
        let mut listed = self.list(kind).await?;
        for item in &mut listed.items {
            // The items of a list need not say what they are.
            if let Some(fields) = item.as_object_mut() {
                fields.insert("apiVersion".into(), kind.api_version.into());
                fields.insert("kind".into(), kind.name.into());
            }
        }
        Ok(listed)
    }

    /// Every pool, machine and configuration.
    pub(crate) fn fleet(&self) -> anyhow::Result<Fleet> {
        let items = |kind: &Kind| -> anyhow::Result<Vec<Value>> {
            Ok(self.runtime.block_on(self.list(kind))?.items)
        };
        let mut fleet = Fleet::default();
        for pool in items(&kinds::MACHINE_CONFIG_POOL)? {
            fleet.add_pool(&pool);
        }
        for config in items(&kinds::MACHINE_CONFIG)? {
            fleet.add_config(&config);
        }
        for node in items(&kinds::NODE)? {
            fleet.add_node(&node);
        }
        Ok(fleet)
    }

    /// The same with the update of the control plane, which may need configurations that nothing names.
    pub(crate) fn fleet_and_update(&self) -> anyhow::Result<Fleet> {
        let mut fleet = self.fleet()?;
        for version in self.runtime.block_on(self.list(&kinds::CLUSTER_VERSION))?.items {
            fleet.add_version(&version);
        }
        Ok(fleet)
    }

    /// Every object of a kind, as the server writes them; nothing if it does not have the kind.
    async fn list(&self, kind: &Kind) -> anyhow::Result<Listed> {
        let all = Collection::of(collection(kind, None));
        match self.cluster.list_all(&all).await {
            Ok(call::Listed { items, version }) => Ok(Listed { items, version: Some(version) }),
            Err(error) if error.code() == Some(404) => Ok(Listed::default()),
            Err(error) => bail!("cannot list {}: {}", names::plural(kind.name), error.told()),
        }
    }

    /// Changes an object by a merge patch.
    pub(crate) fn patch(&self, object: &Object, change: &Value) -> anyhow::Result<()> {
        let kind = KINDS.iter().chain(GATED).chain(MACHINES).find(|kind| kind.name == object.kind);
        let Some(kind) = kind else { bail!("cannot change {object}: its kind is not known here") };
        let name = object.name.as_deref().unwrap_or_default();
        let path = Resource::of(kind).object(object.namespace.as_deref(), name);
        let patched = self.runtime.block_on(self.cluster.patch(&path, Patch::merge(OWNER, change)));
        patched.map(drop).map_err(|error| {
            let told = format!("cannot change {object}: {}", error.told());
            match error.code() {
                Some(409) => Overtaken(told).into(),
                _ => anyhow::anyhow!(told),
            }
        })
    }

    /// Creates a cluster-wide object, or changes what is said of it.
    pub(crate) fn apply(&self, object: &Value) -> anyhow::Result<()> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let path = Resource::new(text("/apiVersion"), kind).object(None, name);
        let patch = Patch::apply_by_force(OWNER, object);
        let applied = self.runtime.block_on(self.cluster.patch(&path, patch));
        applied
            .map(drop)
            .map_err(|error| anyhow::anyhow!("cannot apply {kind}/{name}: {}", error.told()))
    }

    /// Looks until something holds, or nobody wants to wait any longer; whether it came to hold.
    pub(crate) fn until(
        &self,
        holds: impl Fn(&World, &Fleet, Instant) -> bool,
        wait: impl Fn() -> bool,
        edge: &Edge,
    ) -> anyhow::Result<bool> {
        loop {
            let (world, versions) = self.look()?;
            if holds(&world, &self.fleet()?, self.now(edge)) {
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
        edge: &mut Edge,
        mut show: impl FnMut(&World, Instant) -> anyhow::Result<Shown>,
    ) -> anyhow::Result<Output> {
        let mut before = String::new();
        loop {
            let now = self.now(edge);
            let (world, versions) = self.look()?;
            let Shown { facts, text, sleep } = show(&world, now)?;
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
        let all = Collection::of(collection(kind, None));
        if let Ok(mut follow) = self.cluster.follow(&all, version, None).await
            && let Ok(Some(_)) | Err(CallError::Refused { .. }) = follow.next_change().await
        {
            // Whatever it says, even that the version is too old: it is time to look again.
            return;
        }
        std::future::pending::<()>().await;
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
