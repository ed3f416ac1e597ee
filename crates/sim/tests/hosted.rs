//! Does a hosted cluster get what somebody wants within its windows, and go on to scale and heal meanwhile? (HOST-1 to HOST-4, GATE-5)
//!
//! On the embedded server in virtual time, with the admission policies as they are shipped, the operator, and whoever runs hosted clusters and
//! moves machines played by `sim`: neither of these is told when anything may happen.

#![cfg(test)]

use std::{collections::BTreeMap, time::Duration};

use http::Method;
use schedule::Instant;
use serde_json::{Value, json};
use sim::{
    Lengths,
    hosting::{Hosting, listed},
};
use tidegate_core::{
    cluster::{kinds, overview, snapshot::Snapshot},
    document::key::Key,
    gate::words::joined,
    policy::{explain::Reason, verdict::Verdict},
};

/// A Wednesday.
const WEDNESDAY: &str = "2026-11-18T12:00:00Z";
const GROUP: &str = "/apis/changemanagement.openshift.io/v1alpha1/namespaces";
const HYPERSHIFT: &str = "/apis/hypershift.openshift.io/v1beta1/namespaces";
const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const MACHINES: &str = "/apis/cluster.x-k8s.io/v1beta1/namespaces";

fn image(version: &str) -> String {
    let digits = version.bytes().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    format!("registry/release:{version}@sha256:{digits:0<64}")
}

struct World {
    hosting: Hosting,
}

impl World {
    /// A hosted cluster at 4.20.6 with three nodes. Both may change on Saturdays from midnight, the nodes for so long.
    async fn new(length: &str) -> Self {
        let hosting =
            Hosting::start(Instant::parse(WEDNESDAY).unwrap(), Lengths::default()).unwrap();
        let mut world = Self { hosting };
        world.tenant("tenants", "Saturday", length);
        pass(Duration::from_hours(1)).await;
        assert_eq!(world.machines("tenants"), BTreeMap::from([("4.20.6".to_owned(), (3, 3))]));
        world.hosting.operate();
        pass(Duration::from_mins(5)).await;
        world
    }

    fn tenant(&self, namespace: &str, day: &str, length: &str) {
        let made =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        self.ask(&Method::POST, "/api/v1/namespaces", &made);
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "HostedChangeManagementPolicy",
            "metadata": {"name": "weekly"}, "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": [day]}}, "duration": length}}}});
        self.ask(
            &Method::POST,
            &format!("{GROUP}/{namespace}/hostedchangemanagementpolicies"),
            &policy,
        );
        let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekly"}});
        let host = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster", "metadata": {"name": "shop"},
            "spec": {"release": {"image": image("4.20.6")}, "changeManagement": stanza}});
        self.ask(&Method::POST, &format!("{HYPERSHIFT}/{namespace}/hostedclusters"), &host);
        let pool = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool", "metadata": {"name": "workers"},
            "spec": {"clusterName": "shop", "replicas": 3, "release": {"image": image("4.20.6")}, "changeManagement": stanza}});
        self.ask(&Method::POST, &format!("{HYPERSHIFT}/{namespace}/nodepools"), &pool);
    }

    fn ask(&self, method: &Method, path: &str, body: &Value) -> Value {
        let content = if *method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = self.hosting.api_server().ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(code < 300, "{method} {path}: {code} {answer}");
        answer
    }

    fn host(&self, change: &Value) -> Value {
        self.ask(&Method::PATCH, &format!("{HYPERSHIFT}/tenants/hostedclusters/shop"), change)
    }

    fn pool(&self, change: &Value) -> Value {
        self.ask(&Method::PATCH, &format!("{HYPERSHIFT}/tenants/nodepools/workers"), change)
    }

    /// Asks for a release of both.
    fn wants(&self, version: &str) {
        let change = json!({"spec": {"release": {"image": image(version)}}});
        self.host(&change);
        self.pool(&change);
    }

    fn release(&self) -> String {
        let host = self.host(&json!({}));
        host["status"]["version"]["desired"]["version"].as_str().unwrap_or_default().to_owned()
    }

    /// What a guest answers.
    fn inside(&self, namespace: &str, method: &Method, path: &str, body: &Value) -> Value {
        let guest = self.hosting.guests().get(namespace, "shop").unwrap();
        let content = "application/merge-patch+json";
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = guest.ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(code < 300, "{method} {path}: {code} {answer}");
        answer
    }

    fn guest(&self) -> Value {
        self.inside("tenants", &Method::GET, VERSION, &Value::Null)
    }

    /// What `tidegate status` and `tidegate explain` would say inside.
    fn told_inside(&self, at: &str) -> (overview::Row, Reason) {
        let mut snapshot = Snapshot::default();
        snapshot.add(&kinds::CLUSTER_VERSION, &self.guest());
        let seen =
            snapshot.resource(&Key::new(&api::kinds::CLUSTER_VERSION, None, "version")).unwrap();
        let at = Instant::parse(at).unwrap();
        (overview::resource(&snapshot, seen, at), snapshot.explain(seen, at))
    }

    fn nodes(&self) -> Vec<String> {
        let nodes = self.inside("tenants", &Method::GET, "/api/v1/nodes", &Value::Null);
        let release = |node: &Value| {
            let noted = &node["metadata"]["annotations"]["hypershift.openshift.io/release-version"];
            noted.as_str().unwrap_or_default().to_owned()
        };
        nodes["items"].as_array().unwrap().iter().map(release).collect()
    }

    fn pending(&self) -> String {
        let pool = self.pool(&json!({}));
        let conditions = pool["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|condition| condition["type"] == "ChangesPending");
        found.and_then(|found| found["reason"].as_str()).unwrap_or_default().to_owned()
    }

    /// How many machines there are of each release, and how many of them have their node.
    fn machines(&self, namespace: &str) -> BTreeMap<String, (usize, usize)> {
        let mut found = BTreeMap::new();
        for machine in
            listed(self.hosting.api_server(), &format!("{MACHINES}/{namespace}-shop/machines"))
        {
            let version = machine["spec"]["version"].as_str().unwrap_or_default().to_owned();
            let (there, ready) = found.entry(version).or_insert((0, 0));
            *there += 1;
            *ready += usize::from(machine["status"]["phase"] == "Running");
        }
        found
    }

    fn counts(&self) -> Vec<(String, usize, usize)> {
        let all = self.machines("tenants").into_iter();
        all.map(|(version, (there, ready))| (version, there, ready)).collect()
    }

    fn sets(&self) -> usize {
        listed(self.hosting.api_server(), &format!("{MACHINES}/tenants-shop/machinesets")).len()
    }

    /// The clock leaps to an instant, and everybody has a moment to notice.
    async fn leap(&self, to: &str) {
        let now = runtime::clock::Clock::now(self.hosting.clock());
        let seconds = Instant::parse(to).unwrap().unix() - now.unix();
        assert!(seconds > 0, "it is {now} already");
        self.hosting.clock().step(seconds);
        pass(Duration::from_millis(100)).await;
    }
}

async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

fn of(counts: &[(&str, usize, usize)]) -> Vec<(String, usize, usize)> {
    counts.iter().map(|(version, there, ready)| ((*version).to_owned(), *there, *ready)).collect()
}

/// Scenarios 1 and 2: held for days with another release, a pool scales, heals and joins with the old one; in the window the control plane goes
/// first, because nodes are never ahead of it, and the nodes in the next.
#[tokio::test(start_paused = true)]
async fn a_held_pool_scales_and_heals_with_the_old_release_and_goes_in_its_window() {
    let world = World::new("24h").await;
    world.wants("4.20.7");
    pass(Duration::from_mins(5)).await;
    assert_eq!((world.release().as_str(), world.pending().as_str()), ("4.20.6", "Held"));
    world.pool(&json!({"spec": {"replicas": 5}}));
    pass(Duration::from_mins(15)).await;
    assert_eq!(world.counts(), of(&[("4.20.6", 5, 5)]));
    world.pool(&json!({"spec": {"replicas": 4}}));
    pass(Duration::from_mins(15)).await;
    assert_eq!(world.counts(), of(&[("4.20.6", 4, 4)]));
    let machines = format!("{MACHINES}/tenants-shop/machines");
    let lost = listed(world.hosting.api_server(), &machines)[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    world.ask(&Method::DELETE, &format!("{machines}/{lost}"), &Value::Null);
    pass(Duration::from_mins(15)).await;
    assert_eq!(
        world.counts(),
        of(&[("4.20.6", 4, 4)]),
        "a machine that failed comes back, and joins"
    );
    world.leap("2026-11-20T23:59:00Z").await;
    pass(Duration::from_secs(50)).await;
    assert_eq!(world.release(), "4.20.6");
    pass(Duration::from_secs(30)).await;
    assert_eq!(world.release(), "4.20.7", "the control plane goes on the second of its window");
    pass(Duration::from_hours(2)).await;
    assert_eq!(world.counts(), of(&[("4.20.7", 4, 4)]));
    assert_eq!(world.pending(), "NothingPending");
    let pool = world.pool(&json!({}));
    assert_eq!(pool["status"]["version"], "4.20.7");
}

/// Scenarios 3, 4, 5 and 7: the window closes in the middle of a rollout.
#[tokio::test(start_paused = true)]
async fn a_window_that_closes_in_mid_rollout_holds_every_further_step_and_the_next_goes_on() {
    let world = World::new("7m").await;
    // The control plane is there already.
    world.host(&json!({"spec": {"changeManagement": {"strategy": "Permissive"}, "release": {"image": image("4.20.8")}}}));
    pass(Duration::from_hours(1)).await;
    assert_eq!(world.release(), "4.20.8");
    world.pool(&json!({"spec": {"release": {"image": image("4.20.7")}}}));
    pass(Duration::from_mins(2)).await;
    world.leap("2026-11-20T23:59:55Z").await;
    pass(Duration::from_mins(40)).await;
    let held = world.counts();
    let total: usize = held.iter().map(|(_, there, _)| there).sum();
    assert!(held.iter().any(|(version, ..)| version == "4.20.7"), "it began: {held:?}");
    assert!(held.iter().any(|(version, ..)| version == "4.20.6"), "and did not end: {held:?}");
    assert!(total <= 4, "within the surge: {held:?}");
    assert!(
        held.iter().all(|(_, there, ready)| there == ready),
        "what was under way ended: {held:?}"
    );
    world.leap("2026-11-21T12:00:00Z").await;
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.counts(), held, "a hold adds no machine and takes none");
    // Another release meanwhile is another change: nothing of it is made before the next window.
    world.pool(&json!({"spec": {"release": {"image": image("4.20.8")}}}));
    // And scaling goes on.
    world.pool(&json!({"spec": {"replicas": 6}}));
    pass(Duration::from_mins(30)).await;
    let scaled = world.counts();
    let total: usize = scaled.iter().map(|(_, there, _)| there).sum();
    assert!((6..=7).contains(&total), "{scaled:?}");
    assert_eq!(
        scaled.iter().find(|(version, ..)| version == "4.20.6"),
        held.iter().find(|(version, ..)| version == "4.20.6")
    );
    assert_eq!(world.sets(), 2);
    world.pool(&json!({"spec": {"replicas": 3}}));
    pass(Duration::from_mins(30)).await;
    world.leap("2026-11-27T23:59:50Z").await;
    let before = world.sets();
    pass(Duration::from_secs(20)).await;
    assert_eq!((before, world.sets()), (2, 3), "within ten seconds of the opening");
    for week in ["2026-12-04T23:59:50Z", "2026-12-11T23:59:50Z", "2026-12-18T23:59:50Z"] {
        pass(Duration::from_mins(30)).await;
        world.leap(week).await;
    }
    pass(Duration::from_mins(30)).await;
    assert_eq!(world.counts(), of(&[("4.20.8", 3, 3)]));
}

/// Scenario 10: the operator is dead from before the close until after the next opening.
#[tokio::test(start_paused = true)]
async fn without_an_operator_no_step_is_made_outside_a_window_and_none_is_lost() {
    let mut world = World::new("7m").await;
    world.host(&json!({"spec": {"changeManagement": {"strategy": "Permissive"}, "release": {"image": image("4.20.8")}}}));
    pass(Duration::from_hours(1)).await;
    world.pool(&json!({"spec": {"release": {"image": image("4.20.7")}}}));
    pass(Duration::from_mins(2)).await;
    world.leap("2026-11-20T23:59:55Z").await;
    pass(Duration::from_mins(2)).await;
    world.hosting.kill();
    pass(Duration::from_mins(40)).await;
    let held = world.counts();
    assert!(held.len() == 2, "{held:?}");
    world.leap("2026-11-22T12:00:00Z").await;
    pass(Duration::from_hours(1)).await;
    assert_eq!(world.counts(), held, "the server holds it with nothing of ours alive");
    world.leap("2026-11-28T00:01:00Z").await;
    world.hosting.operate();
    pass(Duration::from_mins(30)).await;
    assert_ne!(world.counts(), held, "the operator comes back in the next window, and it goes on");
    for week in ["2026-12-04T23:59:50Z", "2026-12-11T23:59:50Z"] {
        world.leap(week).await;
        pass(Duration::from_mins(30)).await;
    }
    assert_eq!(world.counts(), of(&[("4.20.7", 3, 3)]));
}

/// Scenario 9, GATE-5: two namespaces with policies of the same name.
#[tokio::test(start_paused = true)]
async fn one_tenant_never_reaches_another() {
    let world = World::new("24h").await;
    world.tenant("others", "Sunday", "24h");
    pass(Duration::from_hours(1)).await;
    for namespace in ["tenants", "others"] {
        let change = json!({"spec": {"release": {"image": image("4.20.7")}}});
        world.ask(
            &Method::PATCH,
            &format!("{HYPERSHIFT}/{namespace}/hostedclusters/shop"),
            &change,
        );
        world.ask(&Method::PATCH, &format!("{HYPERSHIFT}/{namespace}/nodepools/workers"), &change);
    }
    pass(Duration::from_mins(5)).await;
    world.leap("2026-11-20T23:59:50Z").await;
    pass(Duration::from_hours(2)).await;
    assert_eq!(world.machines("tenants"), BTreeMap::from([("4.20.7".to_owned(), (3, 3))]));
    assert_eq!(world.machines("others"), BTreeMap::from([("4.20.6".to_owned(), (3, 3))]));
    // Whoever opens their own policy opens nobody else's.
    let open = json!({"spec": {"strategy": "Restrictive"}});
    world.ask(
        &Method::PATCH,
        &format!("{GROUP}/tenants/hostedchangemanagementpolicies/weekly"),
        &open,
    );
    world.leap("2026-11-21T23:59:50Z").await;
    pass(Duration::from_hours(2)).await;
    assert_eq!(world.machines("others"), BTreeMap::from([("4.20.7".to_owned(), (3, 3))]));
}

/// Scenario 9, HOST-2: whoever is inside sees the release, what waits and both gates, and changes nothing by what they write.
#[tokio::test(start_paused = true)]
async fn a_guest_sees_what_waits_and_changes_nothing() {
    let world = World::new("24h").await;
    world.tenant("others", "Sunday", "24h");
    world.wants("4.20.7");
    pass(Duration::from_mins(5)).await;
    let guest = world.guest();
    assert_eq!(guest["status"]["desired"]["version"], "4.20.6");
    let behavior = &guest["status"]["changeManagement"]["behavior"];
    assert_eq!(behavior["current"]["endTime"], "2026-11-21T00:00:00Z", "{guest}");
    let conditions = guest["status"]["conditions"].as_array().unwrap();
    let pending = conditions.iter().find(|one| one["type"] == "ChangesPending").unwrap();
    let said = pending["message"].as_str().unwrap();
    assert!(
        said.contains("HostedCluster/shop: held until 2026-11-21T00:00:00Z: release 4.20.7"),
        "{said}"
    );
    assert!(said.contains("NodePool/workers: "), "{said}");
    let (row, reason) = world.told_inside("2026-11-19T00:00:00Z");
    assert_eq!(row.verdict, Verdict::Held);
    assert_eq!(
        joined(&row.pending.waiting),
        "release 4.20.7 of HostedCluster/shop (now 4.20.6); release 4.20.7 of NodePool/workers (now 4.20.6)"
    );
    let gates: Vec<_> =
        reason.because[0].because.iter().map(|gate| gate.until.unwrap().to_string()).collect();
    assert_eq!(gates, ["2026-11-21T00:00:00Z", "2026-11-21T00:00:00Z"]);
    assert_eq!(world.nodes(), ["4.20.6"; 3], "its nodes have joined");
    // Whatever somebody writes inside is gone a moment later, and nothing outside has moved.
    let outside = (world.host(&json!({})), world.pool(&json!({})));
    let edit = json!({"metadata": {"annotations": {"changemanagement.openshift.io/projected": "{}",
            "changemanagement.openshift.io/accepted-release": "{}"}},
        "spec": {"desiredUpdate": {"version": "4.20.7"}, "changeManagement": {"strategy": "Permissive"}}});
    world.inside("tenants", &Method::PATCH, VERSION, &edit);
    pass(Duration::from_secs(5)).await;
    let after = world.guest();
    for field in ["spec", "status"] {
        assert_eq!(after[field], guest[field]);
    }
    assert_eq!(after["metadata"]["annotations"], guest["metadata"]["annotations"]);
    assert_eq!((world.host(&json!({})), world.pool(&json!({}))), outside);
    // GATE-5: nothing of another namespace is inside.
    let other = world.inside("others", &Method::GET, VERSION, &Value::Null);
    assert!(!other.to_string().contains("tenants"), "{other}");
    assert!(!world.guest().to_string().contains("others"));
    // And what happens outside is seen inside.
    world.leap("2026-11-20T23:59:50Z").await;
    pass(Duration::from_hours(2)).await;
    let guest = world.guest();
    assert_eq!(guest["status"]["desired"]["version"], "4.20.7");
    assert_eq!(guest["status"]["history"][0]["state"], "Completed");
    assert_eq!(world.nodes(), ["4.20.7"; 3]);
    let (row, _) = world.told_inside("2026-11-21T03:00:00Z");
    assert_eq!((row.verdict, row.pending.waiting.is_empty()), (Verdict::Permitted, true));
}

/// Scenario 8, HOST-4: a person's deletion is the consent. Outside a window the new machine has the release that is proven, inside the new one.
#[tokio::test(start_paused = true)]
async fn a_machine_that_somebody_deletes_comes_back_as_its_window_says() {
    let world = World::new("2h").await;
    world.pool(&json!({"spec": {"management": {"upgradeType": "Replace", "replace": {"strategy": "OnDelete"}}}}));
    world.wants("4.20.7");
    pass(Duration::from_mins(5)).await;
    let delete = || {
        let machines = format!("{MACHINES}/tenants-shop/machines");
        let all = listed(world.hosting.api_server(), &machines);
        let old = all.iter().find(|machine| machine["spec"]["version"] == "4.20.6").unwrap();
        let name = old["metadata"]["name"].as_str().unwrap();
        world.ask(&Method::DELETE, &format!("{machines}/{name}"), &Value::Null);
    };
    delete();
    pass(Duration::from_mins(15)).await;
    assert_eq!(world.counts(), of(&[("4.20.6", 3, 3)]), "before it is handed over");
    world.leap("2026-11-20T23:59:50Z").await;
    pass(Duration::from_mins(90)).await;
    assert_eq!(world.release(), "4.20.7");
    assert_eq!(world.counts(), of(&[("4.20.6", 3, 3)]), "handed over, and nobody has deleted any");
    delete();
    pass(Duration::from_mins(15)).await;
    assert_eq!(world.counts(), of(&[("4.20.6", 2, 2), ("4.20.7", 1, 1)]), "in the window");
    world.leap("2026-11-21T12:00:00Z").await;
    delete();
    pass(Duration::from_mins(15)).await;
    assert_eq!(world.counts(), of(&[("4.20.6", 2, 2), ("4.20.7", 1, 1)]), "outside");
    world.leap("2026-11-28T00:00:10Z").await;
    for left in [1, 0] {
        delete();
        pass(Duration::from_mins(15)).await;
        let old =
            world.counts().iter().find(|(version, ..)| version == "4.20.6").map_or(0, |one| one.1);
        assert_eq!(old, left);
    }
    assert_eq!(world.counts(), of(&[("4.20.7", 3, 3)]));
    assert_eq!(world.pending(), "NothingPending");
}
