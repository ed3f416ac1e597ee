//! What does a live cluster say? The verbs' way to one: every kind that change management knows, listed, watched, patched.
//!
//! A kind that the cluster does not have is no error: most clusters have no hosted control planes.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::bail;
use api::{
    names,
    schema::{Kind, Role},
};
use clap::Args;
use kube::Client;
use runtime::{
    call::{self, CallError, Collection, Patch},
    client,
    clock::SystemClock,
    key::{collection, path},
    path::{DEFINITION, Resource, status},
};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{
        kinds::{self, Row},
        snapshot::Snapshot,
    },
    doctor::probes::Probe,
    document::key::Key,
    dump::taken::{Keep, RELEASE, RELEASES, Taken},
    reach::trial::Write,
    release::of::Of,
};
use views::drawing::Style;

use crate::{
    args::{self, At},
    edge::Edge,
    output::Output,
    source::{Loaded, Reads},
};

/// How long a server may think about one request. A person waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who is named as the owner of what people write by this command.
const OWNER: &str = "tidegate";

/// Who is named as the owner of what is only tried: a stamp of its own, whoever wrote the object before.
const PROBER: &str = "tidegate-doctor";

/// How long it may be before nodes are looked at again, which change without a word.
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
    fn kinds(self) -> Vec<&'static Row> {
        let gates = || kinds::ALL.iter().copied().filter(|row| row.role != Role::Part);
        let parts = [&kinds::MACHINE_CONFIG, &kinds::NODE];
        match self {
            Self::Gates => gates().collect(),
            Self::Pools => [&kinds::MACHINE_CONFIG_POOL].into_iter().chain(parts).collect(),
            Self::PoolsAndUpdate => {
                let pools = [&kinds::MACHINE_CONFIG_POOL, &kinds::CLUSTER_VERSION];
                pools.into_iter().chain(parts).collect()
            }
            Self::Rollouts => gates().chain(parts).collect(),
            Self::Everything => {
                let all = kinds::ALL.iter().copied();
                all.filter(|row| row.kind != kinds::NAMESPACE.kind).collect()
            }
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

/// Objects with their kinds.
pub(crate) type Documents = Vec<(&'static Row, Value)>;

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

    /// The same, with the documents that it was made from, namespaces among them.
    pub(crate) fn documents(
        &self,
        files: &[PathBuf],
        edge: &mut Edge,
        at: Instant,
    ) -> anyhow::Result<(Documents, Snapshot, Loaded)> {
        if files.is_empty() {
            let documents = self.connect()?.documents()?;
            let mut snapshot = Snapshot::default();
            for (row, document) in &documents {
                snapshot.add(row, document);
            }
            return Ok((documents, snapshot, Loaded::default()));
        }
        let mut loaded = args::load(files, Reads::Cluster, edge)?;
        loaded.leave_unclear_holders_out();
        let snapshot = loaded.snapshot(at);
        Ok((std::mem::take(&mut loaded.objects), snapshot, loaded))
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
        let (calls, address) = runtime.block_on(async {
            let config = client::configuration(self.kubeconfig.as_deref()).await?;
            let address = config.cluster_url.to_string();
            Ok::<_, client::ConnectError>((reached(client::connect(config)?, PATIENCE), address))
        })?;
        Ok(Cluster { calls, address, runtime, plane: OnceCell::new() })
    }
}

/// What is listed beside gates: where movers are found.
pub(crate) const MOVING: [(Resource<'_>, &str); 5] = [
    (DEFINITION, "movers that are known by their definitions"),
    (Resource::new("apps/v1", "Deployment"), "movers that run as Deployments"),
    (Resource::new("apps/v1", "DaemonSet"), "movers that run as DaemonSets"),
    (Resource::new("apps/v1", "StatefulSet"), "movers that run as StatefulSets"),
    (Resource::new("batch/v1", "CronJob"), "jobs by the clock"),
];

/// A cluster behind a client. Nobody reads what is counted in a command.
pub(crate) fn reached(client: Client, patience: Duration) -> call::Cluster {
    call::Cluster::new(client, Arc::new(SystemClock), Arc::default(), patience)
}

/// A way to a cluster.
pub(crate) struct Cluster {
    calls: call::Cluster,
    address: String,
    runtime: tokio::runtime::Runtime,
    /// Whose control plane it has, once somebody asked.
    plane: OnceCell<Of>,
}

impl Cluster {
    /// What time it is there. A cluster judges by its own clock, so that is the one to count from; the caller's, if it does not say.
    pub(crate) fn now(&self, edge: &Edge) -> Instant {
        let said = self.runtime.block_on(self.calls.time()).ok().flatten();
        said.and_then(|now| Instant::try_from(now).ok()).unwrap_or_else(|| (edge.clock)())
    }

    /// Where its API server is reached.
    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    /// How many seconds the caller's clock is ahead of the cluster's, which tells whole seconds; none if it does not say.
    pub(crate) fn seconds_ahead(&self, edge: &Edge) -> Option<i64> {
        let said = self.runtime.block_on(self.calls.time()).ok().flatten()?;
        let said = Instant::try_from(said).ok()?;
        Some((edge.clock)().unix() - said.unix())
    }

    /// What the cluster says.
    pub(crate) fn snapshot(&self, extent: Extent) -> anyhow::Result<Snapshot> {
        Ok(self.look(extent)?.0)
    }

    /// Every object that says when something may change, every object that asks, and every namespace that may be read.
    pub(crate) fn documents(&self) -> anyhow::Result<Documents> {
        let mut documents = Vec::new();
        for row in Extent::Gates.kinds().into_iter().chain([&kinds::NAMESPACE]) {
            let listed = self.runtime.block_on(self.all(row))?;
            let row = self.runtime.block_on(self.row(row, &listed.items))?;
            documents.extend(listed.items.into_iter().map(|item| (row, item)));
        }
        Ok(documents)
    }

    /// The same, with the version at which each kind was read that change management knows.
    fn look(&self, extent: Extent) -> anyhow::Result<(Snapshot, Versions)> {
        self.runtime.block_on(self.listed(extent))
    }

    async fn listed(&self, extent: Extent) -> anyhow::Result<(Snapshot, Versions)> {
        let mut snapshot = Snapshot::default();
        let mut versions = Versions::default();
        for kind in extent.kinds() {
            self.list_into((&mut snapshot, &mut versions), kind).await?;
        }
        // Nearly nobody needs the right to read namespaces.
        if snapshot.freezes().any(|freeze| freeze.asks_for_labels()) {
            self.list_into((&mut snapshot, &mut versions), &kinds::NAMESPACE).await?;
        }
        Ok((snapshot, versions))
    }

    async fn list_into(
        &self,
        (snapshot, versions): (&mut Snapshot, &mut Versions),
        kind: &'static Row,
    ) -> anyhow::Result<()> {
        let Listed { items, version } = self.all(kind).await?;
        // Parts change all the time.
        if kind.role != Role::Part {
            versions.0.extend(version.map(|version| (kind, version)));
        }
        let row = self.row(kind, &items).await?;
        for item in items {
            snapshot.add(row, &item);
        }
        Ok(())
    }

    /// How these objects of a kind are read: what a control plane wants stands elsewhere where it is a stock one (CV-4).
    async fn row(&self, kind: &'static Row, items: &[Value]) -> anyhow::Result<&'static Row> {
        if kind.kind != kinds::CLUSTER_VERSION.kind || items.is_empty() {
            return Ok(kind);
        }
        let of = if let Some(of) = self.plane.get() {
            *of
        } else {
            let of = self.whose_plane(kind).await?;
            *self.plane.get_or_init(|| of)
        };
        Ok(if of == Of::Stock { &kinds::STOCK_CLUSTER_VERSION } else { kind })
    }

    /// Whose control plane it is, by the definition of `ClusterVersion`: whoever cannot store our stanza never heard of us, and acts on
    /// `spec.desiredUpdate` at once. The server tells everybody what its kinds look like; a definition itself not everybody may read. Nobody guesses:
    /// what would be queued on one cluster begins on the other.
    async fn whose_plane(&self, kind: &Kind) -> anyhow::Result<Of> {
        let (group, version) = kind.api_version.split_once('/').unwrap_or(("", kind.api_version));
        let path = format!("/openapi/v3/apis/{group}/{version}");
        let told = self.calls.get::<Value>(&path).await;
        let schemas = told.as_ref().ok().and_then(|told| told.pointer("/components/schemas"));
        let schemas = schemas.and_then(Value::as_object).into_iter().flatten();
        let wanted = json!([{"group": group, "version": version, "kind": kind.name}]);
        let found = schemas
            .map(|(_, schema)| schema)
            .find(|schema| schema.get("x-kubernetes-group-version-kind") == Some(&wanted));
        let why = match (&told, found) {
            (_, Some(schema)) => return Ok(Of::by_definition(schema)),
            (Err(error), None) => error.told(),
            (Ok(_), None) => format!("{path} does not tell of {}", kind.name),
        };
        bail!(
            "cannot tell whether {} is that of a stock OpenShift: {why}\n  hint: ask for the right to get {path}",
            kind.name
        )
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

    /// Every object of a kind, as the server writes them; nothing if it does not have the kind.
    async fn list(&self, kind: &Kind) -> anyhow::Result<Listed> {
        let all = Collection::of(collection(kind, None));
        match self.calls.list_all(&all).await {
            Ok(call::Listed { items, version }) => Ok(Listed { items, version: Some(version) }),
            Err(error) if error.code() == Some(404) => {
                self.is_api_server().await?;
                Ok(Listed::default())
            }
            // Who may not read them is told that nobody can tell what a freeze holds that chooses by their labels.
            Err(error) if error.code() == Some(403) && *kind == kinds::NAMESPACE.kind => {
                Ok(Listed::default())
            }
            // They judge what is written, and answer nobody's question when something may change.
            Err(error) if error.code() == Some(403) && kind.role == Role::Guardrail => {
                Ok(Listed::default())
            }
            Err(error) => bail!("cannot list {}: {}", names::plural(kind.name), error.told()),
        }
    }

    /// That it is an API server which says that it does not have something. Whatever else answers at an address has nothing either, and nobody
    /// may take that for a cluster in which nothing is held (GATE-12).
    async fn is_api_server(&self) -> anyhow::Result<()> {
        let address = &self.address;
        match self.calls.get::<Value>("/version").await {
            Ok(version) if version.get("gitVersion").is_some() => Ok(()),
            // Some let nobody see their version.
            Err(error) if matches!(error.code(), Some(401 | 403)) => Ok(()),
            Ok(_) | Err(_) => bail!(
                "what answers at {address} is not a Kubernetes API server: it has neither the kinds that are asked for nor /version\n  \
                 hint: look at the server in the kubeconfig, and at proxies on the way to it"
            ),
        }
    }

    /// Changes an object by a merge patch.
    pub(crate) fn patch(&self, object: &Key, change: &Value) -> anyhow::Result<()> {
        let patch = Patch::merge(OWNER, change);
        let patched = self.runtime.block_on(self.calls.patch(&path(object), patch));
        patched.map(drop).map_err(|error| {
            let told = format!("cannot change {object}: {}", error.told());
            match error.code() {
                Some(409) => Overtaken(told).into(),
                _ => anyhow::anyhow!(told),
            }
        })
    }

    /// One object.
    pub(crate) fn read(&self, object: &Key) -> anyhow::Result<Value> {
        let read = self.runtime.block_on(self.calls.get(&path(object)));
        read.map_err(|error| anyhow::anyhow!("cannot read {object}: {}", error.told()))
    }

    /// Creates an object that is not there yet.
    pub(crate) fn create(&self, key: &Key, object: &Value) -> anyhow::Result<()> {
        let all = collection(key.kind(), key.namespace.as_deref());
        let created = self.runtime.block_on(self.calls.create_as(OWNER, &all, object));
        created.map(drop).map_err(|error| anyhow::anyhow!("cannot create {key}: {}", error.told()))
    }

    /// Asks the server whether it would take a new object: it judges, and keeps nothing.
    pub(crate) fn try_create(&self, key: &Key, object: &Value) -> anyhow::Result<()> {
        let all = collection(key.kind(), key.namespace.as_deref());
        let all = format!("{all}?dryRun=All&fieldManager={OWNER}");
        let tried = self.runtime.block_on(self.calls.create(&all, object));
        tried.map(drop).map_err(|error| {
            anyhow::anyhow!("the API server would not take {key}: {}", error.told())
        })
    }

    /// Tries whether the server would take an object of another kind.
    pub(crate) fn try_object(&self, collection: &str, object: &Value) -> Result<(), CallError> {
        self.runtime.block_on(self.calls.try_create(OWNER, collection, object)).map(drop)
    }

    /// Tries a first write, which the server judges and does not keep.
    pub(crate) fn try_write(&self, probe: &Probe) -> Result<(), CallError> {
        let kind = Resource::new(probe.first.api_version, probe.first.kind);
        let namespace = probe.namespace.as_deref();
        let answer = match &probe.first.write {
            Write::Create(object) => {
                let all = kind.collection(namespace);
                self.runtime.block_on(self.calls.try_create(PROBER, &all, object))
            }
            Write::Patch(name, change) => {
                let change = Patch::merge(PROBER, change).as_dry_run();
                self.runtime.block_on(self.calls.patch(&kind.object(namespace, name), change))
            }
            Write::PatchStatus(name, change) => {
                let change = Patch::merge(PROBER, change).as_dry_run();
                let path = status(&kind.object(namespace, name));
                self.runtime.block_on(self.calls.patch(&path, change))
            }
        };
        answer.map(drop)
    }

    /// Every object of a kind of others, in a namespace or in all; why not, if the server does not say.
    pub(crate) fn others(
        &self,
        kind: Resource<'_>,
        namespace: Option<&str>,
    ) -> Result<Vec<Value>, CallError> {
        let all = Collection::of(kind.collection(namespace));
        self.runtime.block_on(self.calls.list_all(&all)).map(|listed| listed.items)
    }

    /// Every object of a kind that a dump takes; none if the cluster does not have the kind. Of Secrets the server is asked for the metadata of
    /// Helm's alone.
    pub(crate) fn taken(&self, taken: &Taken) -> anyhow::Result<Vec<Value>> {
        let kind = Resource::new(taken.api_version, taken.kind);
        let all = Collection::of(kind.collection(None));
        let listed = if matches!(taken.keep, Keep::Metadata) {
            let (label, value, _) = RELEASE;
            let is_secret = taken.kind == RELEASES.kind;
            let all = if is_secret { all.labelled(label, value) } else { all };
            let mut found = Vec::new();
            let each = |one: Outline| found.push(json!({"metadata": one.metadata}));
            self.runtime.block_on(self.calls.list_metadata(&all, each)).map(|_| found)
        } else {
            self.runtime.block_on(self.calls.list_all(&all)).map(|listed| listed.items)
        };
        match listed {
            Ok(items) => Ok(items),
            Err(error) if error.code() == Some(404) => {
                self.runtime.block_on(self.is_api_server())?;
                Ok(Vec::new())
            }
            Err(error) => bail!("{}", error.told()),
        }
    }

    /// The version that the API server tells.
    pub(crate) fn version(&self) -> Option<String> {
        let told = self.runtime.block_on(self.calls.get::<Value>("/version")).ok()?;
        told["gitVersion"].as_str().map(str::to_owned)
    }

    /// Whose control plane these `ClusterVersion`s are of; none if there is none.
    pub(crate) fn plane_of(&self, items: &[Value]) -> anyhow::Result<Option<Of>> {
        if items.is_empty() {
            return Ok(None);
        }
        self.runtime.block_on(self.row(&kinds::CLUSTER_VERSION, items))?;
        Ok(self.plane.get().copied())
    }

    /// An object of a kind of others; none if there is none.
    pub(crate) fn other(
        &self,
        kind: Resource<'_>,
        namespace: Option<&str>,
        name: &str,
    ) -> anyhow::Result<Option<Value>> {
        let path = kind.object(namespace, name);
        match self.runtime.block_on(self.calls.get(&path)) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.code() == Some(404) => {
                self.runtime.block_on(self.is_api_server())?;
                Ok(None)
            }
            Err(error) => bail!("cannot read {}/{name}: {}", kind.kind(), error.told()),
        }
    }

    /// Ends the object of this uid: one of the same name that came later is another.
    pub(crate) fn delete(&self, object: &Key, uid: &str) -> anyhow::Result<()> {
        let options = serde_json::json!({"preconditions": {"uid": uid}});
        let deleted = self.runtime.block_on(self.calls.delete(&path(object), &options));
        let deleted = deleted.map(drop);
        deleted.map_err(|error| anyhow::anyhow!("cannot delete {object}: {}", error.told()))
    }

    /// Creates a cluster-wide object, or changes what is said of it.
    pub(crate) fn apply(&self, object: &Value) -> anyhow::Result<()> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let path = Resource::new(text("/apiVersion"), kind).object(None, name);
        let change = Patch::apply_by_force(OWNER, object);
        let applied = self.runtime.block_on(self.calls.patch(&path, change));
        applied
            .map(drop)
            .map_err(|error| anyhow::anyhow!("cannot apply {kind}/{name}: {}", error.told()))
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
        let all = Collection::of(collection(kind, None));
        if let Ok(mut follow) = self.calls.follow(&all, version, None).await
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
struct Versions(Vec<(&'static Row, String)>);

/// What a collection holds, and the version it was read at; none if the server does not have it.
#[derive(Default)]
struct Listed {
    items: Vec<Value>,
    version: Option<String>,
}

/// What is read of an object of which nothing else is asked for.
#[derive(serde::Deserialize)]
struct Outline {
    metadata: Value,
}
