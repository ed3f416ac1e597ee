//! Does an update of the control plane begin on the second of its window, in the server's own time and by the policies that are shipped, and finish whatever
//! the window does? (CV-1, CV-2, CV-4, GATE-7, GATE-10)
//!
//! The operator is the real one. Whoever installs releases is the one of the sandbox, whose clock is hours ahead once something has begun: a payload
//! takes hours. Agents are played.

mod late;

use std::{sync::Arc, time::Duration};

use api::{
    crds,
    machine::{
        definitions::definitions,
        names::{
            API_VERSION, BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, MACHINE_CONFIG,
            PERMIT_BASIS, ROLE, STATE,
        },
    },
    names::{self, ACCEPTED_RELEASE},
    schema::{FREEZES, GATED, KINDS, OVERRIDES},
};
use jiff::{Timestamp, ToSpan as _};
use kube::Client;
use operator::{Operator, Pools, Settings};
use rig::{Controllers, suite};
use runtime::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use sim::{
    Lengths,
    control_plane::plan::{Deed, Follows, Seen, image, plan, updates},
};
use tidy::permits;

use super::rollout::{
    CONFIGS, NODES, POOLS, finish, under_way,
    writers::{self, Writer, Writers, until},
};

const VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";
const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const POLICY: &str = "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies/window";

/// How many openings are timed, unless `TIDEGATE_OPENINGS` says: what a figure takes is more than what a test needs.
const OPENINGS: usize = 2;

/// How far ahead the clock of whoever installs releases is once something has begun, in seconds.
const HOURS_LATER: i64 = 6 * 3600;

#[test]
fn real_server_lets_an_update_begin_in_its_window_and_finish() {
    suite::on_real("updates", Controllers::Absent, async |cluster| {
        story(&writers::of_real(cluster).await).await;
    });
}

#[test]
fn embedded_server_lets_an_update_begin_in_its_window_and_finish() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { story(&writers::of_embedded()).await });
}

async fn story(client: &Client) {
    let writers = Writers::of(client);
    prepare(&writers).await;
    let running = start(writers.operator.client());
    joined(&writers, "worker", &["w1"]).await;
    let asked = std::env::var("TIDEGATE_OPENINGS").ok();
    openings(&writers, asked.map_or(OPENINGS, |asked| asked.parse().unwrap())).await;
    one_change(&writers).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
    late::is_refused(&writers).await;
}

fn start(client: Client) -> tokio::task::JoinHandle<()> {
    let settings = Settings::alone("suite").with(Pools::Managed).starting_updates();
    let operator = Operator::new(client, Arc::new(SystemClock), settings);
    tokio::spawn(async move { operator.run(std::future::pending()).await.unwrap() })
}

/// A control plane at 4.20.6 whose policy is shut for days, and a pool of workers that is never let change; the policies stand once they were seen
/// refusing.
async fn prepare(Writers { admin, operator, .. }: &Writers) {
    let ours = KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES).map(crds::definition);
    for definition in ours.chain(definitions()) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        admin.create(path, &definition).await;
    }
    let served = KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES);
    for kind in served.chain([&api::kinds::MACHINE_CONFIG]) {
        let served = format!("/apis/{}/{}", kind.api_version, names::plural(kind.name));
        until(&served, async || admin.send("GET", &served, "", &Value::Null).await.is_ok()).await;
    }
    for (collection, document) in
        permits::shipped().into_iter().chain(permits::shipped_for_updates())
    {
        admin.create(collection, &document).await;
    }
    let policy = json!({"apiVersion": names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "window"}, "spec": shut()});
    let policies = POLICY.trim_end_matches("/window");
    admin.create(policies, &policy).await;
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "window"}});
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version"}, "spec": {"changeManagement": stanza}});
    admin.create(VERSIONS, &version).await;
    let installed = |version: &str, at: &str| {
        json!({"state": "Completed", "version": version, "image": image(version), "verified": true,
            "startedTime": at, "completionTime": at})
    };
    let status = json!({"desired": {"version": "4.20.6", "image": image("4.20.6")},
        "availableUpdates": updates("4.20.6"),
        "history": [installed("4.20.6", "2026-02-01T00:00:00Z"), installed("4.20.5", "2026-01-01T00:00:00Z")]});
    admin.merge(&format!("{VERSION}/status"), &json!({"status": status})).await.unwrap();
    admin.create(CONFIGS, &config("00-worker", "worker", "/etc/motd", "one")).await;
    admin.create(POOLS, &pool("worker", &json!({"strategy": "Restrictive"}))).await;
    let forged = json!({"metadata": {"annotations": {ACCEPTED_RELEASE: "{}"}}});
    until("marks are refused", async || {
        operator.merge(&format!("{VERSION}?dryRun=All"), &forged).await.is_err()
    })
    .await;
}

/// Nodes that run what their pool is to have.
async fn joined(Writers { admin, by_hand, .. }: &Writers, role: &str, names: &[&str]) {
    let pool = format!("{POOLS}/{role}");
    until("the pool is rendered", async || {
        admin.get(&pool).await["spec"]["configuration"]["name"].is_string()
    })
    .await;
    let config = admin.get(&pool).await["spec"]["configuration"]["name"].clone();
    for name in names {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
            "labels": {self::role(role): ""},
            "annotations": {CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done"}}});
        by_hand.create(NODES, &node).await;
    }
    until("all nodes are counted", async || {
        admin.get(&pool).await["status"]["machineCount"] == names.len()
    })
    .await;
}

fn role(name: &str) -> String {
    format!("node-role.kubernetes.io/{name}")
}

fn pool(name: &str, stanza: &Value) -> Value {
    json!({"apiVersion": API_VERSION, "kind": names::MACHINE_CONFIG_POOL, "metadata": {"name": name},
        "spec": {"maxUnavailable": 1, "changeManagement": stanza,
            "machineConfigSelector": {"matchLabels": {ROLE: name}},
            "nodeSelector": {"matchLabels": {role(name): ""}}}})
}

fn config(name: &str, role: &str, path: &str, content: &str) -> Value {
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG, "metadata": {"name": name, "labels": {ROLE: role}},
        "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
            {"path": path, "contents": {"source": format!("data:,{content}")}}]}}}})
}

fn shown(at: Timestamp) -> String {
    at.strftime("%FT%TZ").to_string()
}

/// A whole second, so far ahead.
fn ahead(seconds: i64) -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second() + seconds).unwrap()
}

/// Shut for a day before and a day after now.
fn shut() -> Value {
    let (from, until) = (shown(ahead(-86_400)), shown(ahead(86_400)));
    json!({"strategy": "MaintenanceSchedule",
        "maintenanceSchedule": {"exclude": [{"from": from, "until": until, "reason": "shut"}]}})
}

/// Lets the policy open at one instant and shut at another, both to the second; it is known before it opens.
async fn window(admin: &Writer, opens: Timestamp, shuts: Timestamp) {
    let span = |from: Timestamp, until: Timestamp| json!({"from": shown(from), "until": shown(until), "reason": "shut"});
    let exclude = [span(opens - 24.hours(), opens), span(shuts, shuts + 24.hours())];
    let spec =
        json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"exclude": exclude}});
    admin.merge(POLICY, &json!({"spec": spec})).await.unwrap();
    until("the opening is told", async || {
        says(&admin.get(VERSION).await, "ChangesPaused").contains(&shown(opens))
    })
    .await;
    assert!(Timestamp::now() < opens, "the machine is too busy to see a window open");
}

/// Shuts the policy for days, and waits until that is known.
async fn close(admin: &Writer) {
    let spec = shut();
    let until_when =
        spec["maintenanceSchedule"]["exclude"][0]["until"].as_str().unwrap().to_owned();
    admin.merge(POLICY, &json!({"spec": spec})).await.unwrap();
    until("it is shut", async || {
        says(&admin.get(VERSION).await, "ChangesPaused").contains(&until_when)
    })
    .await;
}

/// What a condition says, status first.
fn says(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let one = conditions.into_iter().find(|one| one["type"] == kind);
    one.map_or_else(String::new, |one| {
        format!("{} {}", one["status"].as_str().unwrap(), one["message"].as_str().unwrap())
    })
}

/// Asks for the next release of its minor version.
async fn wish(admin: &Writer) -> String {
    let version = admin.get(VERSION).await;
    let next = version["status"]["availableUpdates"][0]["version"].as_str().unwrap().to_owned();
    let wish = json!({"spec": {"desiredUpdate": {"version": next}}});
    admin.merge(VERSION, &wish).await.unwrap();
    next
}

/// The mark of a release, if it is there.
fn mark(version: &Value, release: &str) -> Option<Value> {
    let noted = version["metadata"]["annotations"][ACCEPTED_RELEASE].as_str()?;
    let mark: Value = serde_json::from_str(noted).unwrap();
    (mark["version"] == release).then_some(mark)
}

/// When the server took what the operator initiates by, by its own clock.
fn stamp(version: &Value) -> &str {
    let managed = version["metadata"]["managedFields"].as_array().unwrap();
    let own = managed.iter().find(|entry| entry["manager"] == "tidegate-rollout").unwrap();
    own["time"].as_str().unwrap()
}

/// Waits for the mark of a release in a window, and gives back how long after the opening it was there. The server took it neither before the second of the
/// opening nor after that of the end.
async fn marked(admin: &Writer, release: &str, opens: Timestamp, shuts: Timestamp) -> Duration {
    until("it is marked", async || mark(&admin.get(VERSION).await, release).is_some()).await;
    let delay = Duration::try_from(opens.duration_until(Timestamp::now())).unwrap();
    let version = admin.get(VERSION).await;
    let (opens, shuts) = (shown(opens), shown(shuts));
    let asked = mark(&version, release).unwrap()["at"].as_str().unwrap().to_owned();
    for instant in [stamp(&version), &asked] {
        assert!(
            (opens.as_str()..shuts.as_str()).contains(&instant),
            "{instant}: {opens} to {shuts}"
        );
    }
    delay
}

/// Whoever installs releases does what is to be done, until it rests.
async fn installs(admin: &Writer, ahead: i64) {
    /// An update has fewer steps than that.
    const STEPS: usize = 50;
    for _ in 0..STEPS {
        let version = admin.get(VERSION).await;
        let masters = admin.send("GET", &format!("{POOLS}/master"), "", &Value::Null).await.ok();
        let configs = admin.get(CONFIGS).await;
        let configs = configs["items"].as_array().unwrap();
        let config =
            |name: &str| configs.iter().find(|config| config["metadata"]["name"] == name).cloned();
        let now = SystemClock.now().saturating_add(ahead);
        let seen = Seen {
            version: &version,
            masters: masters.as_ref(),
            kubelets: None,
            config: &config,
            now,
        };
        let deeds = plan(seen, Follows::Marks, &Lengths::default()).deeds;
        if deeds.is_empty() {
            return;
        }
        for deed in deeds {
            let done = match &deed {
                Deed::Status(change) => admin.merge(&format!("{VERSION}/status"), change).await,
                Deed::Generate(config) if config["metadata"]["uid"].is_null() => {
                    admin.send("POST", CONFIGS, "application/json", config).await
                }
                Deed::Generate(config) => {
                    let path =
                        format!("{CONFIGS}/{}", config["metadata"]["name"].as_str().unwrap());
                    let change = json!({"metadata": {"annotations": config["metadata"]["annotations"]},
                        "spec": config["spec"]});
                    admin.merge(&path, &change).await
                }
            };
            // The operator was faster: what is there then is looked at anew.
            assert!(done.as_ref().err().is_none_or(|why| why.contains("modified")), "{done:?}");
        }
    }
    panic!("whoever installs releases never rests");
}

/// Updates without anything for masters: how soon after its opening is each marked?
async fn openings(Writers { admin, .. }: &Writers, count: usize) {
    let mut delays = Vec::new();
    for _ in 0..count {
        let release = wish(admin).await;
        let opens = ahead(4);
        let shuts = opens + 10.seconds();
        window(admin, opens, shuts).await;
        // Told before the window, and nothing has begun.
        let version = admin.get(VERSION).await;
        let said = says(&version, "ChangesPending");
        let held = format!("True held until {}: release {release}", shown(opens));
        assert!(said.starts_with(&held), "{said}");
        delays.push(marked(admin, &release, opens, shuts).await);
        installs(admin, 0).await;
        installs(admin, HOURS_LATER).await;
        let newest = admin.get(VERSION).await["status"]["history"][0].clone();
        assert_eq!((&newest["version"], &newest["state"]), (&json!(release), &json!("Completed")));
        close(admin).await;
    }
    delays.sort();
    let late = delays[(delays.len() * 99).div_ceil(100) - 1];
    println!(
        "{count} openings: a mark is there after {late:?} (99 of 100), {:?} (half)",
        delays[count / 2]
    );
}

/// The window shuts a few seconds after the mark: payload and masters finish, and nothing else begins.
async fn one_change(writers: &Writers) {
    let admin = &writers.admin;
    admin.create(CONFIGS, &config("50-motd", "master", "/etc/motd", "one")).await;
    admin.create(POOLS, &pool("master", &json!({"strategy": "Permissive"}))).await;
    let masters = format!("{POOLS}/master");
    joined(writers, "master", &["m1", "m2"]).await;
    // CV-2: whatever is written into the pool of the masters, what somebody wrote for them waits for the window of ClusterVersion.
    admin
        .merge(&format!("{CONFIGS}/50-motd"), &config("50-motd", "master", "/etc/motd", "two"))
        .await
        .unwrap();
    until("the edit waits", async || {
        says(&admin.get(&masters).await, "ChangesPending").contains("50-motd changed")
    })
    .await;
    let release = wish(admin).await;
    let opens = ahead(4);
    let shuts = opens + 6.seconds();
    window(admin, opens, shuts).await;
    assert!(under_way(admin).await.is_empty(), "nothing has begun");
    marked(admin, &release, opens, shuts).await;
    let record = admin.get(VERSION).await["metadata"]["annotations"][BEGUN_RELEASE].clone();
    assert!(record.as_str().is_some_and(|record| record.contains("50-motd")), "{record}");
    installs(admin, 0).await;
    until("the window is shut", async || {
        says(&admin.get(VERSION).await, "ChangesPaused").starts_with("True")
            && Timestamp::now() >= shuts
    })
    .await;
    // Its payload is there, and it generates what nodes are made of; while the masters get that, somebody writes for them again.
    let is_covered = async |name: &str, path: &str| {
        let node = admin.get(&format!("{NODES}/{name}")).await;
        let told = node["metadata"]["annotations"][DESIRED_CONFIG].as_str().unwrap().to_owned();
        admin.get(&format!("{CONFIGS}/{told}")).await.to_string().contains(path)
    };
    let release_file = format!("data:,{release}\"");
    installs(admin, HOURS_LATER).await;
    finish_until(admin, "a master is told the release", async || {
        is_covered("m1", &release_file).await || is_covered("m2", &release_file).await
    })
    .await;
    admin.create(CONFIGS, &config("60-late", "master", "/etc/late", "three")).await;
    finish_until(admin, "both masters have it", async || {
        let mut all = under_way(admin).await.is_empty();
        for name in ["m1", "m2"] {
            all &= is_covered(name, &release_file).await;
        }
        all
    })
    .await;
    for name in ["m1", "m2"] {
        assert!(!is_covered(name, "/etc/late").await, "{name}: what was written later waits");
        let node = admin.get(&format!("{NODES}/{name}")).await;
        let basis = node["metadata"]["annotations"][PERMIT_BASIS].as_str().unwrap().to_owned();
        assert_eq!(basis, format!("already initiated: release {release}"), "{name}");
    }
    let worker = admin.get(&format!("{NODES}/w1")).await["metadata"]["annotations"].clone();
    assert!(worker[DESIRED_CONFIG].is_string());
    assert_eq!(worker[DESIRED_CONFIG], worker[CURRENT_CONFIG], "workers do not start");
    until("the edit is told as one that waits", async || {
        says(&admin.get(&masters).await, "ChangesPending").contains("60-late added")
    })
    .await;
    // The next window brings the rest, and the update ends.
    let opens = ahead(4);
    window(admin, opens, opens + 20.seconds()).await;
    finish_until(admin, "the masters have the rest", async || {
        under_way(admin).await.is_empty()
            && is_covered("m1", "/etc/late").await
            && is_covered("m2", "/etc/late").await
    })
    .await;
    until("the update ends", async || {
        installs(admin, HOURS_LATER).await;
        let newest = admin.get(VERSION).await["status"]["history"][0].clone();
        newest["version"] == *release && newest["state"] == "Completed"
    })
    .await;
    until("its record goes", async || {
        admin.get(VERSION).await["metadata"]["annotations"][BEGUN_RELEASE].is_null()
    })
    .await;
    close(admin).await;
}

/// Plays the agents until it is so.
async fn finish_until(admin: &Writer, what: &str, is: impl AsyncFn() -> bool) {
    until(what, async || {
        for name in under_way(admin).await {
            finish(admin, &name).await;
        }
        is().await
    })
    .await;
}
