//! What does a script act on? A cluster, a clock, and an operator that can be stopped.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::{
    crds,
    machine::definitions::definitions,
    names,
    schema::{FREEZES, GATED, GUARDRAILS, KINDS, Kind, MACHINES, OVERRIDES, Scope},
};
use http::Request;
use kube::Client;
use operator::{
    HostedClusters, Operator, Pools, Settings, Updates, View,
    rollout::{self, Given},
};
use rig::{Cluster, User};
use runtime::clock::{Clock as _, SetClock};
use schedule::Instant;
use serde_json::{Value, json};
use sim::control_plane::plan::Follows;
use tidegate_core::{
    cluster::{
        kinds::{self, Controller, Row},
        snapshot::Snapshot,
    },
    document::key::{self, Key},
};
use tokio::task::JoinHandle;

use super::{letters::Letters, wire::Wire};

/// How long anything may take. Nothing does; a test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The namespace of workloads.
pub(crate) const SHOP: &str = "shop";

/// Who acts in a script, unless it says who.
const WHO: &str = "administrator";

/// What Cluster API was handed, by namespace and name of the pool: machines are counted, and not made.
pub(crate) type Deployments = BTreeMap<String, Value>;

/// Whether whoever installs releases does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Installing {
    /// What is to be done.
    GoesOn,
    /// Nothing.
    Stuck,
}

/// By which clock whoever installs releases writes down when an update began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallersClock {
    /// That of the script.
    Script,
    /// That of the server, which stamps everything else: so many seconds ahead of the script when an update began last.
    Server { ahead: i64 },
}

pub(crate) struct Live {
    client: Client,
    /// What the operator asks with: each request once, or a refused eviction would be sent again behind its back (EXEC-4).
    plain: Client,
    clock: SetClock,
    /// What the operator has asked for and was not told yet.
    wire: Wire,
    running: Option<(View, JoinHandle<()>)>,
    /// What operators that have ended wrote.
    written: u64,
    /// What has been told of it.
    counted: u64,
    started: bool,
    /// What the operator looks at.
    pools: Pools,
    /// Whether it starts updates of the control plane.
    updates: Updates,
    /// What whoever installs releases follows; none if the script plays its part.
    cvo: Option<Follows>,
    /// Whether it does anything.
    installing: Installing,
    /// By which clock it does.
    installers_clock: InstallersClock,
    /// Whether it lets changes of hosted clusters begin, and what whoever runs those has handed over; none if nobody plays that.
    hosted: HostedClusters,
    hypershift: Option<Deployments>,
    /// What scripts call rendered configurations, whose names tell nobody anything.
    letters: Letters,
}

impl Live {
    /// A cluster with all kinds, and no operator yet.
    pub(crate) async fn new(cluster: &Cluster) -> Self {
        let client = cluster.client(User::Admin).await.unwrap();
        let kubeconfig = cluster.kubeconfig(User::Admin);
        let config = runtime::client::configuration(Some(kubeconfig)).await.unwrap();
        let plain = runtime::client::connect(config).unwrap();
        let clock = SetClock::starting_at(Instant::EPOCH);
        clock.speed(0);
        let live = Self {
            client,
            plain,
            clock,
            wire: Wire::default(),
            running: None,
            written: 0,
            counted: 0,
            started: false,
            pools: Pools::Watched,
            updates: Updates::Watched,
            cvo: None,
            installing: Installing::GoesOn,
            installers_clock: InstallersClock::Script,
            hosted: HostedClusters::Watched,
            hypershift: None,
            letters: Letters::default(),
        };
        let ours = KINDS
            .iter()
            .chain(GATED)
            .chain(FREEZES)
            .chain(OVERRIDES)
            .chain(GUARDRAILS)
            .map(crds::definition);
        for definition in ours.chain(definitions()) {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            live.ask("POST", path, &definition).await.unwrap();
        }
        for kind in kinds() {
            live.until(&format!("{} is served", kind.name), async || {
                live.ask("GET", &Self::path(kind, None, ""), &Value::Null).await.is_ok()
            })
            .await;
        }
        for name in ["clusters", SHOP] {
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            live.ask("POST", "/api/v1/namespaces", &namespace).await.unwrap();
        }
        live
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) async fn at(&mut self, instant: Instant) {
        self.rest().await;
        self.clock.set(instant);
        if !self.started {
            self.start().await;
        }
        self.settle().await;
    }

    pub(crate) async fn advance(&mut self, seconds: i64) {
        self.rest().await;
        self.clock.step(seconds);
        self.settle().await;
    }

    pub(crate) async fn start(&mut self) {
        self.started = true;
        // A script has its own time and both servers have the node's. The shipped policy compares the two, and would refuse what the
        // script permits: so it is not installed, and `Enforced` reads NotTried. Sandbox, seeds and the suites on a real server have it.
        let proof = operator::Proof::Waived;
        let settings = Settings { proof, ..Settings::alone("scenario").with(self.pools) };
        let settings = match self.updates {
            Updates::Watched => settings,
            Updates::Started => settings.starting_updates(),
            Updates::Queued => settings.starting_queued_updates(),
        };
        let settings = match self.hosted {
            HostedClusters::Watched => settings,
            HostedClusters::Started => settings.starting_hosted(),
        };
        let client = self.wire.between(self.plain.clone(), self.clock.clone());
        let operator = Operator::new(client, Arc::new(self.clock.clone()), settings);
        let view = operator.view();
        let task = tokio::spawn(async move {
            operator.run(std::future::pending()).await.unwrap();
        });
        self.running = Some((view, task));
        self.settle().await;
    }

    /// Ends the operator as if it had been killed.
    pub(crate) fn stop(&mut self) {
        if let Some((view, task)) = self.running.take() {
            self.written += patches(&view);
            task.abort();
        }
    }

    /// Takes everything away that a script has made.
    pub(crate) async fn clear(&mut self) {
        self.stop();
        for kind in kinds() {
            for object in self.list(kind).await {
                let metadata = &object["metadata"];
                let path = Self::path(
                    kind,
                    metadata["namespace"].as_str(),
                    metadata["name"].as_str().unwrap(),
                );
                self.gone(&path).await;
            }
        }
        // A hosted cluster has a namespace of its own.
        let namespaces = self.ask("GET", "/api/v1/namespaces", &Value::Null).await.unwrap();
        for namespace in namespaces["items"].as_array().into_iter().flatten() {
            let name = namespace["metadata"]["name"].as_str().unwrap();
            let path = format!("/apis/events.k8s.io/v1/namespaces/{name}/events");
            self.ask("DELETE", &path, &Value::Null).await.unwrap();
        }
        (self.written, self.counted, self.started) = (0, 0, false);
        (self.pools, self.letters) = (Pools::Watched, Letters::default());
        (self.updates, self.cvo) = (Updates::Watched, None);
        (self.installing, self.installers_clock) = (Installing::GoesOn, InstallersClock::Script);
        (self.hosted, self.hypershift) = (HostedClusters::Watched, None);
    }

    /// Deletes an object at once. Whoever collects garbage may have been faster.
    pub(crate) async fn gone(&self, path: &str) {
        let answer = self.ask("DELETE", path, &json!({"gracePeriodSeconds": 0})).await;
        assert!(answer.as_ref().err().is_none_or(|why| why.contains("not found")), "{answer:?}");
    }

    /// Creates an object or changes it to this.
    pub(crate) async fn apply(&mut self, document: &Value) -> Result<(), String> {
        let name = document["kind"].as_str().unwrap_or_default();
        let kind = kinds().find(|kind| kind.name == name).ok_or("which kind?")?;
        let namespace = document.pointer("/metadata/namespace").and_then(Value::as_str);
        let name =
            document.pointer("/metadata/name").and_then(Value::as_str).ok_or("which name?")?;
        let path = Self::path(kind, namespace, name);
        let answer = if let Ok(known) = self.ask("GET", &path, &Value::Null).await {
            let mut whole = document.clone();
            whole["metadata"]["resourceVersion"] = known["metadata"]["resourceVersion"].clone();
            self.ask("PUT", &format!("{path}?fieldManager={WHO}"), &whole).await?
        } else {
            let path = format!("{}?fieldManager={WHO}", Self::path(kind, namespace, ""));
            self.ask("POST", &path, document).await?
        };
        self.seen(kind, &answer).await;
        Ok(())
    }

    /// Merges a change into an object.
    pub(crate) async fn change(
        &mut self,
        called: &str,
        part: &str,
        change: &Value,
    ) -> Result<(), String> {
        let (kind, path) = Self::called(called)?;
        let path = format!("{path}{part}?fieldManager={WHO}");
        let answer = self.ask("PATCH", &path, change).await?;
        self.seen(kind, &answer).await;
        Ok(())
    }

    pub(crate) async fn delete(&mut self, called: &str) -> Result<(), String> {
        let (kind, path) = Self::called(called)?;
        self.ask("DELETE", &path, &Value::Null).await?;
        let object = named(called)?;
        if let Some((view, _)) = &self.running {
            let gone = || {
                view.caches.store().snapshot().all().all(|(_, seen)| seen.identity().key != object)
            };
            self.until(&format!("{} is forgotten", kind.name), async || gone()).await;
        }
        self.settle().await;
        Ok(())
    }

    pub(crate) async fn get(&self, called: &str) -> Result<Value, String> {
        let (_, path) = Self::called(called)?;
        self.ask("GET", &path, &Value::Null).await
    }

    /// From here on the operator rolls configurations out to nodes too.
    pub(crate) fn manage_pools(&mut self) {
        self.pools = Pools::Managed;
    }

    /// From here on the operator starts updates of the control plane too.
    pub(crate) fn manage_updates(&mut self) {
        self.updates = Updates::Started;
    }

    /// From here on the operator lets changes of hosted clusters begin too.
    pub(crate) fn manage_hosted(&mut self) {
        self.hosted = HostedClusters::Started;
    }

    /// Whoever runs hosted clusters.
    pub(crate) fn hypershift(&mut self) -> &mut Option<Deployments> {
        &mut self.hypershift
    }

    /// From here on somebody installs releases, who follows this.
    pub(crate) fn let_install(&mut self, follows: Follows) {
        self.cvo = Some(follows);
    }

    /// From here on whoever installs releases does so.
    pub(crate) fn hang(&mut self, installing: Installing) {
        self.installing = installing;
    }

    /// By which clock whoever installs releases acts.
    pub(crate) fn installers_clock(&mut self) -> &mut InstallersClock {
        &mut self.installers_clock
    }

    /// Whether whoever installs releases does anything.
    pub(crate) fn installing(&self) -> Installing {
        self.installing
    }

    /// What whoever installs releases follows; none if nobody plays it.
    pub(crate) fn cvo(&self) -> Option<Follows> {
        self.cvo
    }

    /// What a new node of a pool is given to begin with.
    pub(crate) fn served(&self, pool: &str) -> Result<String, String> {
        let (view, _) = self.running.as_ref().ok_or("the operator does not run")?;
        let store = view.caches.store();
        match rollout::given(pool, &store, self.clock.now()) {
            Given::Config(config, _) => Ok(config.name.clone()),
            Given::NothingYet => Err("nothing was rendered".into()),
            Given::NoPool => Err(format!("there is no pool {pool}")),
        }
    }

    /// Waits until the server has another second than that in which the newest configuration was rendered: a tie would be broken by
    /// other rules.
    pub(crate) async fn second_passes(&self) {
        let configs = self.list(&kinds::MACHINE_CONFIG).await;
        let newest = configs
            .iter()
            .filter_map(|config| config["metadata"]["creationTimestamp"].as_str())
            .max();
        self.later_than(newest.unwrap_or_default()).await;
    }

    /// Waits until the server stamps a later second than this.
    pub(crate) async fn later_than(&self, stamp: &str) {
        self.until("a second passes", async || self.stamp().await.as_str() > stamp).await;
    }

    /// What the server would stamp now.
    pub(crate) async fn stamp(&self) -> String {
        let probe = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "probe"}});
        let made = self.ask("POST", "/api/v1/namespaces?dryRun=All", &probe).await.unwrap();
        made["metadata"]["creationTimestamp"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn letters(&mut self) -> &mut Letters {
        &mut self.letters
    }

    /// Pools, nodes and rendered configurations, as somebody who asks sees them.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for kind in kinds() {
            for object in self.list(kind).await {
                snapshot.add(kind, &object);
            }
        }
        snapshot
    }

    /// The page of metrics.
    pub(crate) fn page(&self) -> String {
        let (view, _) = self.running.as_ref().expect("the operator runs");
        operator::metrics::page(view)
    }

    /// How many statuses were written since this was last asked. An answer may come after the watch has told of the write, so it is
    /// waited for; one that comes later still is counted the next time.
    pub(crate) async fn writes(&mut self, expected: &str) -> String {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        loop {
            let total = self.written + self.running.as_ref().map_or(0, |(view, _)| patches(view));
            let told = format!("{}\n", total - self.counted);
            if told == expected || tokio::time::Instant::now() > deadline {
                self.counted = total;
                return told;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// What was written so far is nobody's business.
    pub(crate) fn forget_writes(&mut self) {
        self.counted = self.written + self.running.as_ref().map_or(0, |(view, _)| patches(view));
    }

    /// What people were told, oldest first. Events are written after everything else, so they are waited for.
    pub(crate) async fn events(&self, expected: &str) -> String {
        let mut told = String::new();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        loop {
            let page =
                self.ask("GET", "/apis/events.k8s.io/v1/events", &Value::Null).await.unwrap();
            let mut lines: Vec<(String, String, String)> = page["items"]
                .as_array()
                .into_iter()
                .flatten()
                // Controllers beside the server tell of themselves, in the older way that has no such time.
                .filter(|event| event["eventTime"].is_string())
                .map(|event| {
                    let text = |path: &str| {
                        event.pointer(path).and_then(Value::as_str).unwrap_or_default()
                    };
                    let time = text("/eventTime").get(..19).unwrap_or_default().to_owned();
                    let said = format!(
                        "{time}Z {} {}/{} {}: {}",
                        text("/type"),
                        text("/regarding/kind"),
                        text("/regarding/name"),
                        text("/reason"),
                        text("/note")
                    );
                    (time, self.letters.plain(&said), said)
                })
                .collect();
            lines.sort();
            told.clear();
            for (_, _, line) in lines {
                told.push_str(&line);
                told.push('\n');
            }
            if told == expected || tokio::time::Instant::now() > deadline {
                return told;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the operator has seen a version of an object, and has nothing left to do.
    pub(crate) async fn seen(&self, kind: &'static Kind, answer: &Value) {
        let version: u64 = answer["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        if let Some((view, _)) = &self.running {
            let known = || {
                let store = view.caches.store();
                let mut all = store.snapshot().all().map(|(_, seen)| seen.identity());
                let name = answer["metadata"]["name"].as_str();
                let found = all.find(|identity| {
                    identity.key.kind() == kind && Some(&*identity.key.name) == name
                });
                found.is_some_and(|identity| {
                    identity.resource_version.parse().is_ok_and(|known: u64| known >= version)
                })
            };
            self.until(&format!("{} is seen", kind.name), async || known()).await;
        }
        self.settle().await;
    }

    /// Waits until nothing is on its way: what was begun at one time of the script must not end at another, or whoever counts from its
    /// end waits for a time that the script never sets. An answer is often followed by the next request, so one look is not enough.
    pub(crate) async fn rest(&self) {
        const LOOKS: usize = 5;
        let quiet = std::cell::Cell::new(0);
        self.until("what the operator asks is answered", async || {
            quiet.set(if self.wire.is_quiet() { quiet.get() + 1 } else { 0 });
            quiet.get() == LOOKS
        })
        .await;
    }

    /// Waits until deciding about everything that is known wants nothing written.
    async fn settle(&self) {
        let Some((view, _)) = &self.running else { return };
        let settled = || {
            // Asked first: it looks into the store too.
            let ready = view.ready().is_ok();
            let store = view.caches.store();
            let controllers = self.controllers();
            let idle = store.snapshot().all().all(|(key, seen)| {
                let found = controllers.iter().find(|found| found.row.kind == *key.kind());
                found.is_none_or(|found| {
                    let decide = found.duty.decide;
                    let plan = store.around(key, |around| decide(seen, around, self.clock.now()));
                    plan.status.is_none() && plan.actions.is_empty()
                })
            });
            ready && idle
        };
        self.until_or("everything is settled", async || settled(), || self.unsettled()).await;
    }

    /// What deciding about everything that is known still wants, for whoever waits for nothing.
    fn unsettled(&self) -> String {
        let Some((view, _)) = &self.running else { return String::new() };
        let ready = format!("{:?}", view.ready());
        let store = view.caches.store();
        let plans = store.snapshot().all().filter_map(|(key, seen)| {
            let found = self.controllers().into_iter().find(|one| one.row.kind == *key.kind())?;
            let decide = found.duty.decide;
            let plan = store.around(key, |around| decide(seen, around, self.clock.now()));
            let idle = plan.status.is_none() && plan.actions.is_empty();
            (!idle).then(|| format!("{key}: {:?} {:?}", plan.actions, plan.status))
        });
        plans.fold(ready, |all, plan| format!("{all}\n{plan}"))
    }

    /// Every controller of the operator.
    fn controllers(&self) -> Vec<Controller> {
        let controllers = kinds::controllers(self.pools);
        let controllers = match self.updates {
            Updates::Watched => controllers,
            Updates::Started => kinds::starting_updates(controllers),
            Updates::Queued => kinds::starting_queued_updates(controllers),
        };
        match self.hosted {
            HostedClusters::Watched => controllers,
            HostedClusters::Started => kinds::starting_hosted(controllers),
        }
    }

    pub(crate) async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        self.until_or(what, holds, String::new).await;
    }

    async fn until_or(
        &self,
        what: &str,
        holds: impl AsyncFn() -> bool,
        found: impl Fn() -> String,
    ) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !holds().await {
            assert!(
                tokio::time::Instant::now() < deadline,
                "{what}: not within {PATIENCE:?} {}",
                found()
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn called(called: &str) -> Result<(&'static Kind, String), String> {
        let key = named(called)?;
        Ok((key.kind(), Self::path(key.kind(), key.namespace.as_deref(), &key.name)))
    }

    pub(crate) async fn list(&self, kind: &Kind) -> Vec<Value> {
        let page = self.ask("GET", &Self::path(kind, None, ""), &Value::Null).await.unwrap();
        page["items"].as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn path(kind: &Kind, namespace: Option<&str>, name: &str) -> String {
        let plural = names::plural(kind.name);
        let collection = match (kind.scope, namespace) {
            (Scope::Namespaced, Some(namespace)) => format!("namespaces/{namespace}/{plural}"),
            (Scope::Namespaced | Scope::Cluster, _) => plural,
        };
        let group = if kind.group().is_empty() { "/api" } else { "/apis" };
        format!("{group}/{}/{collection}/{name}", kind.api_version).trim_end_matches('/').to_owned()
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let content = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        self.send(method, path, content, body).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, String> {
        let bytes = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        let answer = self.client.request::<Value>(request.body(bytes).unwrap()).await;
        answer.map_err(|error| match error {
            kube::Error::Api(status) => status.message.clone(),
            other => panic!("{method} {path}: {other}"),
        })
    }
}

/// Every kind that scripts use. Namespaces are the server's.
pub(crate) fn kinds() -> impl Iterator<Item = &'static Row> {
    kinds::ALL.iter().copied().filter(|row| row.kind != kinds::NAMESPACE.kind)
}

/// What a script calls an object: as people do, and nodes and their configurations besides.
pub(crate) fn named(called: &str) -> Result<Key, String> {
    let part = called.split_once('/').and_then(|(word, name)| {
        let kind = MACHINES
            .iter()
            .find(|kind| kind.short_name == word || kind.name.eq_ignore_ascii_case(word))?;
        Some(Key::new(kind, None, name))
    });
    part.map_or_else(|| key::named(called, None), Ok)
}

fn patches(view: &View) -> u64 {
    let page = operator::metrics::page(view);
    let lines = page.lines().filter(|line| line.starts_with("tidegate_api_requests_total{"));
    let patches =
        lines.filter(|line| line.contains("verb=\"patch\"") && line.contains("code=\"200\""));
    patches.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}
