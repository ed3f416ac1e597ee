//! Is anything initiated where nobody saw the server refuse? (GATE-13)

use std::time::Duration;

use apiserver::{Fault, RequestMatch, Scripted};
use operator::{Proof, Settings};
use serde_json::json;

use super::{
    budget::{SHIPPED, install, refuse_late_marks},
    common::{POOLS, Running, World, condition, managing, pass, settle},
    rollout::{blocked, marked, waiting_machines},
};

async fn unproven() -> (World, Running) {
    let (world, waived) = waiting_machines(3).await;
    drop(waived);
    let operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    (world, operator)
}

fn told(world: &World) -> (String, String) {
    let condition = blocked(&world.get(&format!("{POOLS}/worker")));
    let text = |field: &str| {
        let first = condition.first().and_then(|it| it[field].as_str());
        first.unwrap_or_default().to_owned()
    };
    (text("status"), text("message"))
}

#[tokio::test(start_paused = true)]
async fn without_a_policy_that_refuses_nothing_is_initiated_and_everybody_is_told() {
    let (world, operator) = unproven().await;
    pass(Duration::from_mins(70)).await;
    assert!(marked(&world).is_empty());
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(PolicyMissing)"), "{status} {message}");
    let why = operator.view.ready().unwrap_err();
    assert!(why.starts_with("nothing is rolled out: "), "{why}");
    assert_eq!(operator.view.health(), Ok(()));
    assert_eq!(operator.view.knows(), Ok(()));

    // It comes, and what waits starts by itself.
    refuse_late_marks(&world);
    pass(Duration::from_secs(35)).await;
    assert_eq!(operator.view.ready(), Ok(()));
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(told(&world).0, "False");

    // It goes, and nothing is initiated any more.
    let binding = shipped(&world, BINDINGS);
    world.delete(&binding);
    pass(Duration::from_secs(65)).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": 3}}));
    pass(Duration::from_mins(10)).await;
    assert_eq!(marked(&world), ["n1"]);
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(PolicyMissing)"), "{status} {message}");
}

/// A freeze refuses everything, and hides from nobody that what was not permitted is refused: nothing is told as unproven while it lasts, and
/// nothing has to be proven anew when it ends.
#[tokio::test(start_paused = true)]
async fn a_freeze_hides_no_proof() {
    const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";
    let (world, operator) = unproven().await;
    refuse_late_marks(&world);
    let manifest = include_str!("../../../../deploy/manifests/node-freezes/node-freezes.yaml");
    install(&world, manifest, |_| true);
    let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop"}, "spec": {"reason": "a storm"}});
    world.create(FREEZES, &freeze);
    pass(Duration::from_mins(70)).await;
    assert_eq!(operator.view.ready(), Ok(()));
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(condition(&pool, "Enforced"), "True Proven");
    assert!(marked(&world).is_empty());
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_secs(5)).await;
    assert_eq!(marked(&world), ["n1"]);
}

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// Where the shipped object of a collection is.
fn shipped(world: &World, collection: &str) -> String {
    let name = world.get(collection)["items"][0]["metadata"]["name"].clone();
    format!("{collection}/{}", name.as_str().unwrap())
}

/// What people do to a policy that refuses too much for their taste, and what is told of it.
type Weakening = (&'static str, fn(&World), &'static str);

const WEAKENINGS: [Weakening; 6] = [
    ("no policy", |world| world.delete(&shipped(world, POLICIES)), "PolicyMissing"),
    ("no binding", |world| world.delete(&shipped(world, BINDINGS)), "PolicyMissing"),
    (
        "another policy is bound",
        |world| {
            let another = json!({"spec": {"policyName": "another"}});
            world.merge(&shipped(world, BINDINGS), &another);
        },
        "PolicyMissing",
    ),
    ("it only warns", only_warn, "NotRefused"),
    // The first of them, which is tried, would still be refused.
    (
        "it is bound for one machine",
        |world| {
            let one = json!({"spec": {"matchResources": {"objectSelector": {"matchLabels": {"kubernetes.io/hostname": "n1"}}}}});
            world.merge(
                "/api/v1/nodes/n1",
                &json!({"metadata": {"labels": {"kubernetes.io/hostname": "n1"}}}),
            );
            world.merge(&shipped(world, BINDINGS), &one);
        },
        "PolicyMissing",
    ),
    (
        "it matches something else",
        |world| {
            let rules = json!([{"apiGroups": [""], "apiVersions": ["*"],
                "operations": ["CREATE"], "resources": ["pods"]}]);
            let other = json!({"spec": {"matchConstraints": {"resourceRules": rules}}});
            world.merge(&shipped(world, POLICIES), &other);
        },
        "NotRefused",
    ),
];

fn only_warn(world: &World) {
    let warns = json!({"spec": {"validationActions": ["Warn"]}});
    world.merge(&shipped(world, BINDINGS), &warns);
}

/// A policy that goes or is weakened at any moment is noticed within 65 seconds, and from then on nothing is initiated.
#[tokio::test(start_paused = true)]
async fn a_policy_that_goes_or_is_weakened_is_noticed_within_65_seconds() {
    for (how, weaken, reason) in WEAKENINGS {
        for after in [1, 29, 31, 100] {
            let (world, operator) = unproven().await;
            refuse_late_marks(&world);
            pass(Duration::from_mins(61)).await;
            assert_eq!((operator.view.ready(), marked(&world).len()), (Ok(()), 1), "{how}");
            pass(Duration::from_secs(after)).await;
            weaken(&world);
            pass(Duration::from_secs(65)).await;
            let pool = world.get(&format!("{POOLS}/worker"));
            assert_eq!(condition(&pool, "Enforced"), format!("False {reason}"), "{how}, {after} s");
            world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": 3}}));
            pass(Duration::from_mins(10)).await;
            assert_eq!(marked(&world), ["n1"], "{how}, {after} s");
            let (status, message) = told(&world);
            assert!(status == "True" && message.contains(reason), "{how}: {status} {message}");
        }
    }
}

/// A server takes a second to heed a policy that changed: what it still refuses right after the change proves little.
#[tokio::test(start_paused = true)]
async fn a_refusal_right_after_a_change_is_not_relied_on() {
    let (world, operator) = unproven().await;
    refuse_late_marks(&world);
    pass(Duration::from_mins(10)).await;
    let policy = shipped(&world, POLICIES);
    world.merge(&policy, &json!({"metadata": {"labels": {"seen": "once"}}}));
    world.writes();
    pass(Duration::from_mins(3)).await;
    let tries = world.writes().iter().filter(|line| line.contains("dryRun=All")).count();
    assert_eq!(tries, 4, "a mark and a record when it is seen, and both once more");
    assert_eq!(operator.view.ready(), Ok(()));
}

/// Who cannot look at admission policies tries instead, as often.
#[tokio::test(start_paused = true)]
async fn who_cannot_look_tries_more_often() {
    let (world, waived) = waiting_machines(3).await;
    drop(waived);
    refuse_late_marks(&world);
    for resource in ["validatingadmissionpolicies", "validatingadmissionpolicybindings"] {
        for nth in 1..=200 {
            let matching = RequestMatch {
                verb: Some("list".into()),
                resource: Some(resource.into()),
                ..RequestMatch::default()
            };
            let fault = Fault::ServerError(503);
            world.server.script_fault(Scripted { matching, nth, fault });
        }
    }
    let operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    pass(Duration::from_mins(10)).await;
    assert_eq!(operator.view.ready(), Ok(()));
    only_warn(&world);
    pass(Duration::from_secs(65)).await;
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(condition(&pool, "Enforced"), "False NotRefused");
}

/// What was refused once is not claimed for ever: after three tries without an answer nobody knows, and everybody is told so.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_tried_any_more_is_not_claimed_any_more() {
    let (world, operator) = unproven().await;
    refuse_late_marks(&world);
    pass(Duration::from_mins(10)).await;
    let enforced = || condition(&world.get(&format!("{POOLS}/worker")), "Enforced");
    assert_eq!(enforced(), "True Proven");
    for nth in 1..=200 {
        let matching = RequestMatch {
            verb: Some("patch".into()),
            resource: Some("nodes".into()),
            ..RequestMatch::default()
        };
        let fault = Fault::ServerError(503);
        world.server.script_fault(Scripted { matching, nth, fault });
    }
    pass(Duration::from_mins(10)).await;
    assert!(operator.view.ready().is_err());
    assert_eq!(enforced(), "Unknown NotTried");
    world.server.heal();
    pass(Duration::from_mins(1)).await;
    assert_eq!(enforced(), "True Proven");
    // Who starts anew has tried nothing yet, and takes nothing back.
    drop(operator);
    world.writes();
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("three") });
    settle().await;
    let written: Vec<String> =
        world.writes().into_iter().filter(|line| line.contains("/status")).collect();
    assert_eq!((written, enforced()), (vec![], "True Proven".to_owned()));
}

/// A proof is a dry run: nothing is stored, and nobody is told of a node that goes nowhere.
#[tokio::test(start_paused = true)]
async fn trying_leaves_no_trace() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    refuse_late_marks(&world);
    let before = world.get("/api/v1/nodes/n1");
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    settle().await;
    world.writes();
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.get("/api/v1/nodes/n1"), before);
    let writes = world.writes();
    assert_eq!(writes.len(), 8, "two every five minutes: {writes:?}");
    assert!(writes.iter().all(|line| line.contains("dryRun=All")), "{writes:?}");
}

/// While there is no node there is nothing to try it on, and nothing to begin.
#[tokio::test(start_paused = true)]
async fn without_machines_nothing_has_to_be_proven() {
    let world = World::new();
    let operator = world.start_with(Settings { proof: Proof::Required, ..managing("one") });
    settle().await;
    assert_eq!(operator.view.ready(), Ok(()));
}

/// What the server refuses is tried with what this build ships: that of 0.1.0 left doors open (it knew neither `nodes/status` nor records).
#[tokio::test(start_paused = true)]
async fn a_policy_of_an_older_release_proves_nothing() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    let old = include_str!("../../../seeds/src/permits-0.1.0.yaml");
    install(&world, old, |_| true);
    install(&world, SHIPPED, |name| name.ends_with("-records"));
    world.create(
        BINDINGS,
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "tidegate-permits"},
            "spec": {"policyName": "tidegate-permits", "validationActions": ["Deny"]}}),
    );
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    world.clock.step(3600);
    pass(Duration::from_mins(6)).await;
    assert!(marked(&world).is_empty());
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(NotRefused)"), "{status} {message}");
}

/// Records that anybody can write prove nothing, so where nothing keeps them nothing is initiated either (GATE-10).
#[tokio::test(start_paused = true)]
async fn without_the_policy_that_keeps_records_nothing_is_initiated() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    install(&world, SHIPPED, |name| !name.ends_with("-records"));
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    world.clock.step(3600);
    pass(Duration::from_mins(6)).await;
    assert!(marked(&world).is_empty());
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(PolicyMissing)"), "{status} {message}");

    install(&world, SHIPPED, |name| name.ends_with("-records"));
    pass(Duration::from_secs(35)).await;
    assert_eq!(marked(&world), ["n1"]);
}

/// OVR-5: where the freeze of nodes is not kept, nothing would stop at once, so nothing begins and everybody is told.
#[tokio::test(start_paused = true)]
async fn where_the_freeze_of_nodes_is_not_kept_nothing_is_initiated() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    refuse_late_marks(&world);
    let manifest = include_str!("../../../../deploy/manifests/node-freezes/node-freezes.yaml");
    install(&world, manifest, |_| true);
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tidegate-probe"}});
    world.create("/api/v1/namespaces", &namespace);
    let probes = Some("tidegate-probe".to_owned());
    let settings = Settings { proof: Proof::Required, probes, ..managing("two") };
    let operator = world.start_with(settings);
    pass(Duration::from_mins(2)).await;
    let enforced = || condition(&world.get(&format!("{POOLS}/worker")), "Enforced");
    assert_eq!((enforced().as_str(), operator.view.ready()), ("True Proven", Ok(())));
    let binding = format!("{BINDINGS}/tidegate-cluster-freeze-nodes");
    let kept = world.get(&binding);
    world.delete(&binding);
    pass(Duration::from_secs(65)).await;
    assert_eq!(enforced(), "False PolicyMissing");
    world.clock.step(3600);
    pass(Duration::from_mins(6)).await;
    assert!(marked(&world).is_empty());
    let again = json!({"apiVersion": kept["apiVersion"], "kind": kept["kind"],
        "metadata": {"name": kept["metadata"]["name"]}, "spec": kept["spec"]});
    world.create(BINDINGS, &again);
    pass(Duration::from_secs(65)).await;
    assert_eq!((enforced().as_str(), marked(&world)), ("True Proven", vec!["n1".to_owned()]));
}
