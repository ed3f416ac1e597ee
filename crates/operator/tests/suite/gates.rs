//! Does a gate tell what it holds and what waits, and does what waits begin when it opens? (RCH-4, RCH-12, RCH-15)
//!
//! No admission policy and no controller of workloads runs here: Deployments are written as their controller leaves them when it was
//! refused. That they begin is shown with the real ones.

use std::{collections::BTreeMap, time::Duration};

use api::{kinds, names};
use operator::{Settings, metrics};
use schedule::Instant;
use serde_json::{Value, json};

use super::common::{
    CRDS, POLICIES, Running, STAND_IN, World, by_policy, condition, loose, pass, settle, weekend,
};

const OURS: &str = "/apis/changemanagement.openshift.io/v1alpha1";
const GATE: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/namespaces/shop/changegates/rollouts";
const HELD: &str = "denied request: held by ChangeGate shop/rollouts, which opens at 2026-11-14";

/// A cluster with workloads, a policy that opens on Saturday, and two namespaces. It is Friday 23:00.
fn with_workloads() -> World {
    let world = World::new();
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for kind in [kinds::DEPLOYMENT, kinds::REPLICA_SET, kinds::STATEFUL_SET, kinds::DAEMON_SET] {
        let text = loose(&kind, &anything).to_string();
        let text = text.replace("s.apps\"", &format!("s.{STAND_IN}\""));
        let text = text.replace("\"group\":\"apps\"", &format!("\"group\":\"{STAND_IN}\""));
        world.create(CRDS, &serde_json::from_str(&text).unwrap());
    }
    world.create(POLICIES, &weekend("saturday"));
    for (name, env) in [("shop", "prod"), ("lab", "test")] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"env": env}}});
        world.create("/api/v1/namespaces", &namespace);
    }
    world
}

fn apps(namespace: &str, plural: &str) -> String {
    format!("/apis/{STAND_IN}/v1/namespaces/{namespace}/{plural}")
}

fn gate(world: &World, spec: &Value) {
    make_gate(world, "rollouts", spec);
}

fn make_gate(world: &World, name: &str, spec: &Value) {
    let mut whole =
        json!({"changeManagement": by_policy("saturday"), "holds": [{"what": "Deployments"}]});
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    let gate = json!({"apiVersion": names::API_VERSION, "kind": "ChangeGate",
        "metadata": {"name": name}, "spec": whole});
    world.create(&format!("{OURS}/namespaces/shop/changegates"), &gate);
}

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"tier": "web"}}, "spec": {"containers": [{"name": "app", "image": image}]}})
}

/// A Deployment that runs one image and wants another, as its controller leaves it when it was refused.
fn deployment(world: &World, namespace: &str, name: &str, (runs, wants): (&str, &str)) {
    let api = format!("{STAND_IN}/v1");
    let mut made = json!({"apiVersion": api, "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": 1, "template": template(wants)}});
    if runs != wants {
        made["status"] = json!({"conditions": [{"type": "Progressing", "status": "False",
            "reason": "ReplicaSetCreateError", "message": HELD, "lastTransitionTime": "2026-11-13T22:00:00Z"}]});
    }
    let status = made["status"].clone();
    let made = world.create(&apps(namespace, "deployments"), &made);
    let path = format!("{}/{name}", apps(namespace, "deployments"));
    world.merge(&format!("{path}/status"), &json!({"status": status}));
    rolled_out(world, namespace, (name, &made["metadata"]["uid"]), ("1", runs));
}

fn rolled_out(
    world: &World,
    namespace: &str,
    (name, uid): (&str, &Value),
    (revision, image): (&str, &str),
) {
    let mut template = template(image);
    template["metadata"]["labels"]["pod-template-hash"] = json!(format!("h{revision}"));
    let set = json!({"apiVersion": format!("{STAND_IN}/v1"), "kind": "ReplicaSet", "metadata": {
            "name": format!("{name}-{revision}"), "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid, "controller": true}]},
        "spec": {"template": template}});
    world.create(&apps(namespace, "replicasets"), &set);
}

fn path(name: &str) -> String {
    format!("{}/{name}", apps("shop", "deployments"))
}

/// When an object was touched, if it was.
fn nudged(world: &World, path: &str) -> Option<String> {
    let annotations = world.get(path)["metadata"]["annotations"].clone();
    annotations[names::NUDGED_AT].as_str().map(str::to_owned)
}

/// When each Deployment of a namespace was touched.
fn all_nudged(world: &World) -> BTreeMap<String, Option<String>> {
    let list = world.get(&apps("shop", "deployments"));
    let each = list["items"].as_array().unwrap().iter().map(|object| {
        let metadata = &object["metadata"];
        let at = metadata["annotations"][names::NUDGED_AT].as_str().map(str::to_owned);
        (metadata["name"].as_str().unwrap().to_owned(), at)
    });
    each.collect()
}

/// Until Saturday, when the windows open.
async fn to_the_opening() {
    pass(Duration::from_hours(1)).await;
}

async fn waiting(spec: &Value) -> (World, Running) {
    let world = with_workloads();
    gate(&world, spec);
    deployment(&world, "shop", "web", ("app:1", "app:2"));
    let operator = world.start();
    settle().await;
    (world, operator)
}

#[tokio::test(start_paused = true)]
async fn a_gate_tells_what_it_holds_and_what_waits() {
    let world = with_workloads();
    gate(
        &world,
        &json!({"holds": [{"what": "Deployments"}, {"what": "StatefulSets"}, {"what": "KuredLock"}]}),
    );
    deployment(&world, "shop", "web", ("app:1", "app:2"));
    deployment(&world, "shop", "api", ("app:1", "app:1"));
    deployment(&world, "lab", "web", ("app:1", "app:2"));
    let operator = world.start();
    settle().await;
    let told = || world.get(GATE)["status"].clone();
    assert_eq!((&told()["targets"], &told()["pendingCount"]), (&json!(2), &json!(1)));
    assert_eq!(
        told()["holds"],
        json!([
            {"what": "Deployments", "targets": 2, "pending": 1},
            {"what": "StatefulSets", "targets": 0},
            {"what": "KuredLock"},
        ])
    );
    let change = json!({"kind": "Deployment", "namespace": "shop", "name": "web",
        "since": "2026-11-13T22:00:00Z", "change": "app:1 -> app:2"});
    assert_eq!(told()["pending"], json!([change]));
    assert_eq!(condition(&world.get(GATE), "ChangesPending"), "True Held");
    let text = told()["conditions"].to_string();
    assert!(text.contains("held until 2026-11-14T00:00:00Z: 1 of Deployments: web"), "{text}");
    let page = metrics::page(&operator.view);
    let figure = "change_management_change_pending{kind=\"ChangeGate\",object=\"rollouts\",system=\"workloads\",namespace=\"shop\"} 2";
    assert!(page.contains(figure), "{page}");

    // A Deployment whose pods come and go is written all the time, and the gate is not.
    world.requests();
    for replicas in 0..20 {
        world.merge(&path("web"), &json!({"spec": {"replicas": replicas}}));
        world.merge(
            &format!("{}/status", path("web")),
            &json!({"status": {"updatedReplicas": replicas}}),
        );
        pass(Duration::from_millis(100)).await;
    }
    pass(Duration::from_mins(10)).await;
    assert_eq!(world.writes(), Vec::<String>::new(), "POL-7");

    // Somebody wants something else, and then what runs.
    world.merge(&path("web"), &json!({"spec": {"template": template("app:3")}}));
    settle().await;
    assert_eq!(told()["pending"][0]["change"], "app:1 -> app:3");
    world.merge(&path("web"), &json!({"spec": {"template": template("app:1")}}));
    settle().await;
    assert_eq!((&told()["pendingCount"], &told()["pending"]), (&json!(0), &Value::Null));
    assert_eq!(condition(&world.get(GATE), "ChangesPending"), "False NothingPending");
    world.delete(&path("api"));
    settle().await;
    assert_eq!(told()["targets"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_gate_of_the_cluster_counts_where_it_chooses() {
    let world = with_workloads();
    deployment(&world, "shop", "web", ("app:1", "app:2"));
    deployment(&world, "lab", "web", ("app:1", "app:2"));
    let gate = json!({"apiVersion": names::API_VERSION, "kind": "ClusterChangeGate", "metadata": {"name": "prod"},
        "spec": {"changeManagement": by_policy("saturday"), "holds": [{"what": "Deployments"}],
            "namespaceSelector": {"matchLabels": {"env": "prod"}}}});
    world.create(&format!("{OURS}/clusterchangegates"), &gate);
    let _operator = world.start();
    settle().await;
    let told = || world.get(&format!("{OURS}/clusterchangegates/prod"))["status"].clone();
    assert_eq!((&told()["targets"], &told()["pendingCount"]), (&json!(1), &json!(1)));
    assert!(told()["conditions"].to_string().contains("1 of Deployments: shop/web"));
    world.merge("/api/v1/namespaces/lab", &json!({"metadata": {"labels": {"env": "prod"}}}));
    settle().await;
    assert_eq!((&told()["targets"], &told()["pendingCount"]), (&json!(2), &json!(2)));
}

#[tokio::test(start_paused = true)]
async fn workloads_are_read_only_where_a_gate_or_a_freeze_holds_them() {
    let world = with_workloads();
    deployment(&world, "shop", "web", ("app:1", "app:1"));
    let operator = world.start();
    pass(Duration::from_mins(10)).await;
    let asked = |what: &str| world.requests().iter().any(|line| line.contains(what));
    assert!(!asked("/apis/apps/"));
    gate(&world, &json!({"holds": [{"what": "StatefulSets"}]}));
    pass(Duration::from_mins(1)).await;
    let lines = world.requests();
    assert!(lines.iter().any(|line| line.contains("/apis/apps/v1/statefulsets")));
    assert!(!lines.iter().any(|line| line.contains("deployments") || line.contains("replicasets")));
    world.delete(GATE);
    settle().await;
    world.requests();
    pass(Duration::from_mins(10)).await;
    assert!(!asked("/apis/apps/"), "nobody holds them any more");
    assert!(!metrics::page(&operator.view).contains("StatefulSet"));
}

/// What is not there, or may not be read, is said, and the windows are written all the same.
#[tokio::test(start_paused = true)]
async fn a_gate_tells_why_nothing_is_counted() {
    let world = with_workloads();
    gate(&world, &json!({"holds": [{"what": "Applications"}, {"what": "Deployments"}]}));
    let client = world.client_past(|request| {
        let refused = request.uri().path().ends_with("/deployments");
        refused
            .then_some((403, r#"{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}"#))
    });
    let _operator = World::start_on(client, &world.clock, Settings::alone("one"));
    pass(Duration::from_mins(1)).await;
    let told = world.get(GATE)["status"].clone();
    assert_eq!(
        told["holds"][0]["message"],
        "the API server has no kind Application in argoproj.io/v1alpha1"
    );
    let message = told["holds"][1]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the API server does not let the operator list Deployment"),
        "{message}"
    );
    assert_eq!((&told["targets"], &told["pendingCount"]), (&Value::Null, &Value::Null));
    assert_eq!(condition(&world.get(GATE), "Ready"), "True AsExpected");
    assert_eq!(condition(&world.get(GATE), "ChangesPending"), "Unknown NotCounted");
    assert!(told["windows"].as_array().is_some_and(|windows| !windows.is_empty()));
}

/// RCH-4
#[tokio::test(start_paused = true)]
async fn what_waits_is_touched_when_its_gate_opens_and_not_before() {
    let (world, _operator) = waiting(&json!({})).await;
    let version = world.get(&path("web"))["metadata"]["resourceVersion"].clone();
    pass(Duration::from_secs(3_598)).await;
    assert_eq!(world.get(&path("web"))["metadata"]["resourceVersion"], version);
    pass(Duration::from_millis(1_900)).await;
    assert_eq!(nudged(&world, &path("web")).as_deref(), Some("2026-11-14T00:00:00Z"));
    assert_eq!(condition(&world.get(GATE), "ChangesPending"), "True Initiating");

    // Nobody looked: again after three minutes, then after ever longer ones.
    pass(Duration::from_secs(170)).await;
    assert_eq!(nudged(&world, &path("web")).as_deref(), Some("2026-11-14T00:00:00Z"));
    pass(Duration::from_secs(12)).await;
    assert_eq!(nudged(&world, &path("web")).as_deref(), Some("2026-11-14T00:03:00Z"));
    let uid = world.get(&path("web"))["metadata"]["uid"].clone();
    rolled_out(&world, "shop", ("web", &uid), ("2", "app:2"));
    settle().await;
    world.requests();
    pass(Duration::from_hours(11)).await;
    assert_eq!(
        nudged(&world, &path("web")).as_deref(),
        Some("2026-11-14T00:03:00Z"),
        "it has begun"
    );
    assert_eq!(world.get(GATE)["status"]["pendingCount"], 0);
}

/// RCH-4: a thousand within half a minute, the first of them within a second.
#[tokio::test(start_paused = true)]
async fn a_thousand_that_wait_are_touched_within_half_a_minute() {
    let world = with_workloads();
    gate(&world, &json!({}));
    for number in 0..1_000 {
        deployment(&world, "shop", &format!("web-{number}"), ("app:1", "app:2"));
    }
    let _operator = world.start();
    settle().await;
    assert_eq!(world.get(GATE)["status"]["pendingCount"], 1_000);
    assert_eq!(world.get(GATE)["status"]["pending"].as_array().unwrap().len(), 20);
    to_the_opening().await;
    pass(Duration::from_secs(40)).await;
    let opening = Instant::parse("2026-11-14T00:00:00Z").unwrap();
    let after = all_nudged(&world)
        .into_values()
        .map(|at| Instant::parse(&at.expect("all are touched")).unwrap().unix() - opening.unix());
    let mut counts = BTreeMap::new();
    after.for_each(|second| *counts.entry(second).or_insert(0) += 1);
    let (first, last) = (*counts.keys().next().unwrap(), *counts.keys().last().unwrap());
    assert!(first <= 1 && last <= 30, "{counts:?}");
    assert!(counts.values().all(|count| *count < 100), "spread: {counts:?}");
}

/// STAT-3: what is only counted is told once a second, however many rollouts begin meanwhile, and the last count is the right one.
#[tokio::test(start_paused = true)]
async fn a_hundred_that_begin_at_once_are_not_a_hundred_writes() {
    let world = with_workloads();
    gate(&world, &json!({}));
    for number in 0..100 {
        deployment(&world, "shop", &format!("web-{number}"), ("app:1", "app:2"));
    }
    let _operator = world.start();
    settle().await;
    assert_eq!(world.get(GATE)["status"]["pendingCount"], 100);
    world.writes();
    for number in 0..100 {
        let name = format!("web-{number}");
        let uid = world.get(&path(&name))["metadata"]["uid"].clone();
        rolled_out(&world, "shop", (name.as_str(), &uid), ("2", "app:2"));
        pass(Duration::from_millis(20)).await;
    }
    pass(Duration::from_secs(2)).await;
    assert_eq!(world.get(GATE)["status"]["pendingCount"], 0);
    let writes: Vec<String> =
        world.writes().into_iter().filter(|line| line.contains("/changegates/")).collect();
    assert!((1..=4).contains(&writes.len()), "{writes:?}");
}

/// RCH-15, RCH-1: who wants it left alone, and who still holds it, keep it from being touched.
#[tokio::test(start_paused = true)]
async fn what_somebody_holds_or_wants_left_alone_is_not_touched() {
    for (others, expected) in [
        (vec![("more", json!({"nudge": false}))], false),
        (vec![("more", json!({"changeManagement": {"strategy": "Restrictive"}}))], false),
        (
            vec![(
                "more",
                json!({"changeManagement": {"strategy": "Restrictive"}, "mode": "Audit"}),
            )],
            true,
        ),
        (
            vec![(
                "more",
                json!({"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "Deployments", "names": ["db"]}]}),
            )],
            true,
        ),
    ] {
        let (world, _operator) = waiting(&json!({})).await;
        for (name, spec) in &others {
            make_gate(&world, name, spec);
        }
        to_the_opening().await;
        pass(Duration::from_mins(1)).await;
        assert_eq!(nudged(&world, &path("web")).is_some(), expected, "{others:?}");
    }
}

fn freeze(world: &World, spec: Value) {
    let mut spec = spec;
    spec["reason"] = json!("a storm");
    let freeze = json!({"apiVersion": names::API_VERSION, "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop"}, "spec": spec});
    world.create(&format!("{OURS}/clusterchangefreezes"), &freeze);
}

/// An opening is an opening: by the end of a freeze, by its deletion, by an override, by an edit of the policy, and by the gate going away.
#[tokio::test(start_paused = true)]
async fn whatever_opens_a_gate_has_what_waits_touched() {
    let soon = |world: &World| nudged(world, &path("web")).is_some();
    let (world, _operator) = waiting(&json!({})).await;
    freeze(&world, json!({"until": "2026-11-14T01:00:00Z"}));
    to_the_opening().await;
    pass(Duration::from_secs(3_590)).await;
    assert!(!soon(&world), "frozen");
    pass(Duration::from_secs(15)).await;
    assert!(soon(&world), "the freeze ended by itself");

    let (world, _operator) = waiting(&json!({})).await;
    freeze(&world, json!({}));
    to_the_opening().await;
    pass(Duration::from_mins(10)).await;
    assert!(!soon(&world), "frozen");
    world.delete(&format!("{OURS}/clusterchangefreezes/stop"));
    pass(Duration::from_secs(2)).await;
    assert!(soon(&world), "the freeze was deleted");

    let (world, _operator) = waiting(&json!({})).await;
    let opens = json!({"apiVersion": names::API_VERSION, "kind": "ChangeOverride", "metadata": {"name": "now"},
        "spec": {"target": {"kind": "ChangeGate", "name": "rollouts"}, "until": "2026-11-13T23:30:00Z", "reason": "a hotfix"}});
    world.create(&format!("{OURS}/namespaces/shop/changeoverrides"), &opens);
    pass(Duration::from_secs(2)).await;
    assert!(soon(&world), "overridden");

    let (world, _operator) = waiting(&json!({})).await;
    world.merge(
        &format!("{POLICIES}/saturday"),
        &json!({"spec": {"strategy": "Permissive", "maintenanceSchedule": null}}),
    );
    pass(Duration::from_secs(2)).await;
    assert!(soon(&world), "the policy permits");

    let (world, _operator) = waiting(&json!({})).await;
    world.delete(GATE);
    pass(Duration::from_secs(2)).await;
    assert!(soon(&world), "the gate is gone, and it would wait for ever");
}

/// An operator that was dead at the opening touches what waits when it comes back.
#[tokio::test(start_paused = true)]
async fn an_operator_that_comes_back_within_the_window_touches_what_waits() {
    let (world, operator) = waiting(&json!({})).await;
    drop(operator);
    to_the_opening().await;
    pass(Duration::from_hours(2)).await;
    assert_eq!(nudged(&world, &path("web")), None);
    let operator = world.start();
    pass(Duration::from_secs(3)).await;
    let at = nudged(&world, &path("web")).expect("touched");
    drop(operator);
    // And one that comes right after it does not do so again.
    let _operator = world.start();
    pass(Duration::from_mins(1)).await;
    assert_eq!(nudged(&world, &path("web")), Some(at));
}

/// RCH-15: without the right nobody touches what waits, and that is said, once.
#[tokio::test(start_paused = true)]
async fn a_touch_that_is_refused_is_told() {
    let world = with_workloads();
    gate(&world, &json!({}));
    deployment(&world, "shop", "web", ("app:1", "app:2"));
    let client = world.client_past(|request| {
        let patches = request.method() == http::Method::PATCH;
        let refused = patches && request.uri().path().ends_with("/deployments/web");
        refused.then_some((403, r#"{"kind":"Status","code":403,"reason":"Forbidden","message":"cannot patch deployments"}"#))
    });
    let _operator = World::start_on(client, &world.clock, Settings::alone("one"));
    to_the_opening().await;
    pass(Duration::from_mins(10)).await;
    assert_eq!(nudged(&world, &path("web")), None);
    let told = world.get(GATE)["status"]["holds"][0]["message"].clone();
    let expected = "nobody touches what waits, because the API server did not let the operator: cannot patch deployments";
    assert_eq!(told, expected);
    let events = world.events();
    let told: Vec<&String> = events.iter().filter(|event| event.contains("NudgeRefused")).collect();
    assert_eq!(told.len(), 1, "{events:?}");
    assert!(told[0].starts_with("web NudgeRefused: it waits, its gates are open"), "{told:?}");
}

/// Applications of Argo CD are asked to refresh, and touched as any other.
#[tokio::test(start_paused = true)]
async fn an_application_that_waits_is_asked_to_refresh() {
    let world = with_workloads();
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    world.create(CRDS, &loose(&kinds::APPLICATION, &anything));
    gate(&world, &json!({"holds": [{"what": "Applications"}]}));
    let applications = "/apis/argoproj.io/v1alpha1/namespaces/shop/applications";
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "till"}, "spec": {"syncPolicy": {"automated": {}}}});
    world.create(applications, &application);
    let till = format!("{applications}/till");
    let status = json!({"sync": {"status": "OutOfSync", "revision": "b"}, "history": [{"revision": "a"}],
        "conditions": [{"type": "SyncError", "message": HELD, "lastTransitionTime": "2026-11-13T22:30:00Z"}]});
    world.merge(&format!("{till}/status"), &json!({"status": status}));
    let _operator = world.start();
    settle().await;
    assert_eq!(world.get(GATE)["status"]["pending"][0]["change"], "a -> b");
    to_the_opening().await;
    let noted = world.get(&till)["metadata"]["annotations"].clone();
    assert_eq!(noted["argocd.argoproj.io/refresh"], "normal");
    assert_eq!(nudged(&world, &till).as_deref(), Some("2026-11-14T00:00:00Z"));
}
