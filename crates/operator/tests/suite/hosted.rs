//! Does a release of a hosted cluster begin once, in its window, and never outside it? Does one namespace ever reach another's? (HOST-1,
//! GATE-5, GATE-7, GATE-11, GATE-13)

use std::time::Duration;

use api::names::ACCEPTED_RELEASE;
use operator::{Proof, Settings};
use serde_json::{Value, json};

use super::{
    budget::install,
    common::{World, by_policy, condition, pass, settle},
};

const MANIFEST: &str =
    include_str!("../../../../deploy/manifests/manage-hosted/manage-hosted.yaml");
const FREEZES: &str =
    include_str!("../../../../deploy/manifests/hosted-freezes/hosted-freezes.yaml");

const GROUP: &str = "/apis/changemanagement.openshift.io/v1alpha1";

fn clusters(namespace: &str) -> String {
    format!("/apis/hypershift.openshift.io/v1beta1/namespaces/{namespace}/hostedclusters")
}

fn image(digit: char) -> String {
    format!("registry/release@sha256:{}", String::from(digit).repeat(64))
}

/// Two tenants, each with a hosted cluster at 4.20.6 and a policy of the same name: that of `first` opens on Saturdays, that of `second` on
/// Sundays. It is an hour before midnight on a Friday, and both are asked for 4.20.7.
fn asked() -> World {
    let world = World::new();
    for (namespace, day) in [("first", "Saturday"), ("second", "Sunday")] {
        let made =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        world.create("/api/v1/namespaces", &made);
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
            "kind": "HostedChangeManagementPolicy", "metadata": {"name": "weekly", "namespace": namespace},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": [day]}}}}}});
        let policies = format!("{GROUP}/namespaces/{namespace}/hostedchangemanagementpolicies");
        world.create(&policies, &policy);
        let cluster = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
            "metadata": {"name": "shop", "namespace": namespace},
            "spec": {"release": {"image": image('7')}, "changeManagement": by_policy("weekly")}});
        world.create(&clusters(namespace), &cluster);
        let status = json!({"version": {"desired": {"version": "4.20.6", "image": image('6')},
            "availableUpdates": [{"version": "4.20.7", "image": image('7')}, {"version": "4.20.8", "image": image('8')}],
            "history": [{"state": "Completed", "version": "4.20.6", "image": image('6'), "startedTime": "2026-01-01T00:00:00Z"}]}});
        world.merge(&format!("{}/shop/status", clusters(namespace)), &json!({"status": status}));
    }
    world
}

/// One that starts changes of hosted clusters alone: it rolls nothing out to nodes of its own cluster, and has seen the server refuse.
fn starting(identity: &str) -> Settings {
    Settings::alone(identity).starting_hosted()
}

fn mark(world: &World, namespace: &str) -> Option<String> {
    let cluster = world.get(&format!("{}/shop", clusters(namespace)));
    let mark = cluster.pointer("/metadata/annotations")?.get(ACCEPTED_RELEASE)?.as_str()?;
    let mark: Value = serde_json::from_str(mark).ok()?;
    Some(format!("{} at {}", mark["version"].as_str()?, mark["at"].as_str()?))
}

/// How often something was sent since the last time that would mark the cluster of a namespace.
fn marks(world: &World, namespace: &str) -> usize {
    let is_mark = |line: &&String| {
        line.contains("fieldManager=tidegate-rollout") && line.contains(&clusters(namespace))
    };
    world.requests().iter().filter(is_mark).count()
}

fn told(world: &World, namespace: &str, kind: &str) -> String {
    condition(&world.get(&format!("{}/shop", clusters(namespace))), kind)
}

#[tokio::test(start_paused = true)]
async fn a_hosted_release_is_marked_on_the_second_of_the_window_of_its_own_namespace() {
    let world = asked();
    install(&world, MANIFEST, |_| true);
    let _operator = world.start_with(starting("one"));
    pass(Duration::from_mins(59)).await;
    for namespace in ["first", "second"] {
        assert_eq!(mark(&world, namespace), None);
        assert_eq!(told(&world, namespace, "ChangesPending"), "True Held");
        assert_eq!(told(&world, namespace, "Enforced"), "True Proven");
    }
    pass(Duration::from_mins(2)).await;
    assert_eq!(mark(&world, "first").as_deref(), Some("4.20.7 at 2026-11-14T00:00:00Z"));
    assert_eq!(mark(&world, "second"), None, "a policy of another namespace opens nothing here");
    assert_eq!(told(&world, "first", "ChangesPending"), "True UnderWay");
    assert_eq!(marks(&world, "first"), 1);
    world.clock.step(23 * 3600);
    pass(Duration::from_mins(58)).await;
    assert_eq!(mark(&world, "second"), None);
    pass(Duration::from_mins(2)).await;
    assert_eq!(mark(&world, "second").as_deref(), Some("4.20.7 at 2026-11-15T00:00:00Z"));
    assert_eq!(marks(&world, "second"), 1);
    // Nobody followed the first within its hour: it was asked about again, while its window was still open.
    assert_eq!(mark(&world, "first").as_deref(), Some("4.20.7 at 2026-11-14T23:01:01Z"));
}

/// GATE-13: where nobody saw the server refuse a mark, nothing begins, and that is told; it comes, and what waits begins.
#[tokio::test(start_paused = true)]
async fn where_the_server_was_not_seen_refusing_no_hosted_release_begins() {
    let world = asked();
    let _operator = world.start_with(starting("one"));
    pass(Duration::from_mins(70)).await;
    assert_eq!(mark(&world, "first"), None);
    assert_eq!(told(&world, "first", "ChangesPending"), "True Stopped");
    assert_eq!(told(&world, "first", "Enforced"), "False PolicyMissing");
    install(&world, MANIFEST, |_| true);
    pass(Duration::from_mins(2)).await;
    assert!(
        mark(&world, "first").is_some(),
        "{}",
        world.get(&format!("{}/shop", clusters("first")))
    );
    assert_eq!(told(&world, "first", "Enforced"), "True Proven");
}

/// OVR-1, OVR-5: a freeze of a team holds its own clusters, by the operator and by the server itself; its end lets them go.
#[tokio::test(start_paused = true)]
async fn a_freeze_of_a_team_holds_its_own_hosted_clusters() {
    let world = asked();
    install(&world, MANIFEST, |_| true);
    install(&world, FREEZES, |_| true);
    let _operator = world.start_with(starting("one"));
    let freezes = |namespace: &str| format!("{GROUP}/namespaces/{namespace}/changefreezes");
    for namespace in ["first", "second"] {
        let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeFreeze",
            "metadata": {"name": "stop", "namespace": namespace}, "spec": {"reason": "a fair"}});
        world.create(&freezes(namespace), &freeze);
    }
    pass(Duration::from_hours(2)).await;
    assert_eq!(mark(&world, "first"), None);
    world.delete(&format!("{}/stop", freezes("second")));
    pass(Duration::from_mins(1)).await;
    assert_eq!(mark(&world, "first"), None, "another team's freeze is over");
    world.delete(&format!("{}/stop", freezes("first")));
    pass(Duration::from_mins(1)).await;
    assert!(mark(&world, "first").is_some());
}

/// CV-4: what is taken back before its mark never began; opened and shut within a second, nothing begins (GATE-11).
#[tokio::test(start_paused = true)]
async fn a_hosted_wish_that_is_taken_back_never_began() {
    let world = asked();
    install(&world, MANIFEST, |_| true);
    let _operator = world.start_with(starting("one"));
    settle().await;
    let at = format!("{}/shop", clusters("first"));
    let strategy = |name: &str| json!({"spec": {"changeManagement": {"strategy": name}}});
    world.merge(&at, &strategy("Permissive"));
    world.merge(&at, &strategy("Restrictive"));
    pass(Duration::from_mins(30)).await;
    assert_eq!(mark(&world, "first"), None);
    world.merge(&at, &json!({"spec": {"release": {"image": image('6')}}}));
    world.merge(&at, &strategy("Permissive"));
    pass(Duration::from_mins(5)).await;
    assert_eq!(mark(&world, "first"), None);
    assert_eq!(told(&world, "first", "ChangesPending"), "False NothingPending");
    world.merge(&at, &json!({"spec": {"release": {"image": image('8')}}}));
    pass(Duration::from_secs(30)).await;
    assert!(mark(&world, "first").is_some_and(|mark| mark.starts_with("4.20.8")));
}

/// GATE-1: without the duty, only statuses are written, and no mark ever.
#[tokio::test(start_paused = true)]
async fn an_operator_that_was_not_asked_to_marks_nothing() {
    let world = asked();
    let _operator = world.start_with(Settings { proof: Proof::Waived, ..Settings::alone("one") });
    pass(Duration::from_mins(70)).await;
    assert_eq!(mark(&world, "first"), None);
    assert_eq!(told(&world, "first", "Enforced"), "False Advisory");
    let sent = world.requests();
    let written = sent.iter().filter(|line| line.starts_with("PATCH "));
    assert!(written.into_iter().all(|line| line.contains("/status")), "{sent:?}");
}
