//! Does an update of the control plane begin once, in its window, and never outside it, whatever goes wrong? (CV-1, CV-4, GATE-7, GATE-11)

use std::time::Duration;

use api::names::ACCEPTED_RELEASE;
use apiserver::{Fault, RequestMatch, Scripted};
use operator::{Proof, Settings};
use serde_json::{Value, json};

use super::{
    budget::{install, refuse_late_marks},
    common::{POLICIES, Running, World, by_policy, condition, managing, pass, settle, weekend},
    rollout::waiting_machines,
};

const VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";
const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const MANIFEST: &str =
    include_str!("../../../../deploy/manifests/manage-updates/manage-updates.yaml");
const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";

fn image(digit: char) -> String {
    format!("registry/release@sha256:{}", String::from(digit).repeat(64))
}

/// A cluster at 4.20.6 that changes at weekends and is asked for 4.20.7, an hour before midnight on a Friday. The server refuses marks
/// without a live permit.
fn asked() -> World {
    let world = World::new();
    install(&world, MANIFEST, |_| true);
    world.create(POLICIES, &weekend("weekend"));
    ask(&world, &by_policy("weekend"));
    world
}

/// Makes the control plane of a cluster, with a stanza and a wish.
fn ask(world: &World, stanza: &Value) {
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "spec": {"desiredUpdate": {"version": "4.20.7"}, "changeManagement": stanza}});
    world.create(VERSIONS, &version);
    let status = json!({"desired": {"version": "4.20.6", "image": image('6')},
        "availableUpdates": [{"version": "4.20.7", "image": image('7')}, {"version": "4.20.8", "image": image('8')}],
        "history": [{"state": "Completed", "version": "4.20.6", "image": image('6'), "startedTime": "2026-01-01T00:00:00Z"}]});
    world.merge(&format!("{VERSION}/status"), &json!({"status": status}));
}

/// One that starts updates, where nobody proves what the server refuses: there are no nodes to try it on.
fn starting(identity: &str) -> Settings {
    managing(identity).starting_updates()
}

fn mark(world: &World) -> Option<String> {
    let version = world.get(VERSION);
    let mark = version.pointer("/metadata/annotations")?.get(ACCEPTED_RELEASE)?.as_str()?;
    let mark: Value = serde_json::from_str(mark).ok()?;
    Some(format!("{} at {}", mark["version"].as_str()?, mark["at"].as_str()?))
}

/// The clock of everybody leaps, and they have some minutes to notice: hours of looking at nothing take long.
async fn leap(world: &World, hours: i64) {
    world.clock.step(hours * 3600);
    pass(Duration::from_mins(2)).await;
}

/// What was sent that would mark.
fn tries(world: &World) -> usize {
    world.requests().iter().filter(|line| line.contains("fieldManager=tidegate-rollout")).count()
}

fn strike(world: &World, nth: u32, fault: Fault) {
    let matching = RequestMatch {
        verb: Some("patch".into()),
        resource: Some("clusterversions".into()),
        subresource: Some(String::new()),
        ..RequestMatch::default()
    };
    world.server.script_fault(Scripted { matching, nth, fault });
}

#[tokio::test(start_paused = true)]
async fn an_update_is_marked_on_the_second_of_its_window_and_once() {
    let world = asked();
    let _operator = world.start_with(starting("one"));
    pass(Duration::from_mins(59)).await;
    assert_eq!(mark(&world), None);
    assert_eq!(condition(&world.get(VERSION), "ChangesPending"), "True Held");
    pass(Duration::from_mins(2)).await;
    assert_eq!(mark(&world).as_deref(), Some("4.20.7 at 2026-11-14T00:00:00Z"));
    assert_eq!(tries(&world), 1);
    assert!(world.events().iter().any(|event| event.starts_with("version AcceptedRelease: ")));
    // Within its hour it stays one change, and is not sent again.
    pass(Duration::from_mins(30)).await;
    assert_eq!(tries(&world), 0);
    assert_eq!(condition(&world.get(VERSION), "ChangesPending"), "True UnderWay");
    // Nobody follows it for days: it is withdrawn, and waits for the next window (CV-4).
    leap(&world, 50).await;
    assert_eq!((tries(&world), mark(&world)), (1, None));
    assert_eq!(condition(&world.get(VERSION), "ChangesPending"), "True Held");
    assert!(world.events().iter().any(|event| event.starts_with("version ReleaseNotFollowed: ")));
}

/// Scenario 6 of the design: two replicas that both believe they lead.
#[tokio::test(start_paused = true)]
async fn two_who_both_believe_they_lead_mark_once() {
    for seed in 0..5 {
        let world = asked();
        let latency = Duration::from_millis(200);
        world.server.draw_faults(apiserver::Profile { latency, ..Default::default() }, seed);
        let _both: [Running; 2] = ["one", "two"].map(|name| world.start_with(starting(name)));
        let mut seen = Vec::new();
        for _ in 0..150 {
            pass(Duration::from_secs(30)).await;
            let mark = mark(&world);
            if mark.is_some() && seen.last() != Some(&mark) {
                seen.push(mark);
            }
        }
        assert_eq!(seen.len(), 1, "seed {seed}: {seen:?}");
    }
}

/// Scenario 4: dead when the window opens.
#[tokio::test(start_paused = true)]
async fn an_operator_that_comes_back_in_the_window_begins_and_one_that_comes_too_late_waits() {
    for (hours, expected) in [(20, true), (60, false)] {
        let world = asked();
        let operator = world.start_with(starting("one"));
        pass(Duration::from_mins(30)).await;
        drop(operator);
        leap(&world, hours).await;
        assert_eq!(mark(&world), None, "nobody else marks");
        let _again = world.start_with(starting("two"));
        pass(Duration::from_mins(5)).await;
        assert_eq!(mark(&world).is_some(), expected, "{hours}");
    }
}

/// Scenario 5: a mark that would arrive after its window is given up before; the doors show that the server would refuse it.
#[tokio::test(start_paused = true)]
async fn a_mark_that_travels_too_long_is_given_up_before_the_window_closes() {
    let world = asked();
    world.merge(VERSION, &json!({"spec": {"desiredUpdate": null}}));
    let _operator = world.start_with(starting("one"));
    // Five seconds before the window closes somebody asks: the first write is the pin, the second the mark.
    leap(&world, 48).await;
    pass(Duration::from_secs(58 * 60 - 5)).await;
    strike(&world, 2, Fault::Latency(Duration::from_hours(1)));
    world.requests();
    world.merge(VERSION, &json!({"spec": {"desiredUpdate": {"version": "4.20.7"}}}));
    pass(Duration::from_hours(3)).await;
    assert_eq!(mark(&world), None, "nothing began after the window");
    assert_eq!(tries(&world), 1, "and nothing was sent again");
    assert_eq!(condition(&world.get(VERSION), "ChangesPending"), "True Held");
    leap(&world, 120).await;
    assert!(mark(&world).is_some(), "the next window is as good");
}

/// EXEC-4: an answer that is lost is read back, and the mark is not sent again.
#[tokio::test(start_paused = true)]
async fn a_mark_whose_answer_is_lost_is_read_back() {
    let world = asked();
    let _operator = world.start_with(starting("one"));
    pass(Duration::from_mins(59)).await;
    world.requests();
    strike(&world, 1, Fault::LoseAnswer);
    pass(Duration::from_mins(10)).await;
    assert!(mark(&world).is_some());
    assert_eq!(tries(&world), 1);
    assert!(
        world.events().iter().any(|event| event.starts_with("version AcceptedRelease: ")),
        "told all the same"
    );
}

/// GATE-11, scenario 3: opened and shut within a second, before the mark and after it.
#[tokio::test(start_paused = true)]
async fn a_hold_before_the_mark_holds_and_one_after_it_stops_nothing() {
    let world = asked();
    let _operator = world.start_with(starting("one"));
    settle().await;
    let strategy = |name: &str| json!({"spec": {"changeManagement": {"strategy": name}}});
    // Both before anybody was told of the first.
    world.merge(VERSION, &strategy("Permissive"));
    world.merge(VERSION, &strategy("Restrictive"));
    pass(Duration::from_hours(3)).await;
    assert_eq!(mark(&world), None);
    world.merge(VERSION, &strategy("Permissive"));
    pass(Duration::from_secs(2)).await;
    assert!(mark(&world).is_some());
    world.merge(VERSION, &strategy("Restrictive"));
    pass(Duration::from_mins(5)).await;
    assert_eq!(condition(&world.get(VERSION), "ChangesPending"), "True UnderWay");
}

/// OVR-1: a freeze holds a wish in its window, and its end lets it go.
#[tokio::test(start_paused = true)]
async fn a_freeze_holds_an_update_in_its_window() {
    let world = asked();
    let _operator = world.start_with(starting("one"));
    let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop"}, "spec": {"reason": "a storm", "holds": [{"what": "ClusterVersion"}]}});
    world.create(FREEZES, &freeze);
    pass(Duration::from_hours(2)).await;
    assert_eq!(mark(&world), None);
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_secs(5)).await;
    assert!(mark(&world).is_some());
}

/// CV-4: what is taken back before its mark never began, and another wish during an update is asked for itself.
#[tokio::test(start_paused = true)]
async fn a_wish_that_is_taken_back_never_began_and_another_is_asked_for_itself() {
    let world = asked();
    let _operator = world.start_with(starting("one"));
    pass(Duration::from_mins(50)).await;
    world.merge(VERSION, &json!({"spec": {"desiredUpdate": null}}));
    pass(Duration::from_mins(20)).await;
    assert_eq!(mark(&world), None);
    world.merge(VERSION, &json!({"spec": {"desiredUpdate": {"version": "4.20.7"}}}));
    pass(Duration::from_secs(5)).await;
    let first = mark(&world);
    assert!(first.as_ref().is_some_and(|mark| mark.starts_with("4.20.7")), "{first:?}");
    leap(&world, 50).await;
    world.merge(VERSION, &json!({"spec": {"desiredUpdate": {"version": "4.20.8"}}}));
    pass(Duration::from_hours(1)).await;
    assert_eq!(mark(&world), None, "nobody followed the first, and the window is over");
    assert_eq!(condition(&world.get(VERSION), "ChangesPending"), "True Held");
    leap(&world, 24 * 5).await;
    assert!(mark(&world).is_some_and(|mark| mark.starts_with("4.20.8")));
}

/// GATE-13: where nobody saw the server refuse a mark, nothing is marked, and that is told; it comes, and what waits begins.
#[tokio::test(start_paused = true)]
async fn where_the_server_was_not_seen_refusing_marks_nothing_begins() {
    let (world, waived) = waiting_machines(3).await;
    drop(waived);
    refuse_late_marks(&world);
    ask(&world, &json!({"strategy": "Permissive"}));
    let proven = Settings { proof: Proof::Required, ..starting("two") };
    let _operator = world.start_with(proven);
    pass(Duration::from_mins(5)).await;
    assert_eq!(mark(&world), None);
    let version = world.get(VERSION);
    assert_eq!(condition(&version, "ChangesPending"), "True Stopped");
    assert!(version["status"].to_string().contains("(PolicyMissing)"), "{version}");
    install(&world, MANIFEST, |_| true);
    pass(Duration::from_mins(2)).await;
    assert!(mark(&world).is_some(), "{}", world.get(VERSION));
    assert_eq!(condition(&world.get(VERSION), "Enforced"), "True Proven");
}

/// OVR-2: what `tidegate control-plane start` writes lets one release begin before its window, and no other.
#[tokio::test(start_paused = true)]
async fn an_override_for_a_release_lets_that_one_begin_and_no_other() {
    const OVERRIDES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangeoverrides";
    let world = asked();
    let _operator = world.start_with(starting("one"));
    settle().await;
    let opens = |name: &str, release: &str| {
        json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeOverride",
            "metadata": {"name": name}, "spec": {"target": {"kind": "ClusterVersion", "name": "version"},
                "until": "2026-11-13T23:40:00Z", "reason": "CVE", "only": {"release": release}}})
    };
    world.create(OVERRIDES, &opens("another", "4.20.8"));
    pass(Duration::from_mins(2)).await;
    assert_eq!(mark(&world), None);
    world.create(OVERRIDES, &opens("this", "4.20.7"));
    pass(Duration::from_mins(2)).await;
    assert!(mark(&world).is_some_and(|mark| mark.starts_with("4.20.7 at 2026-11-13T23:0")));
}
