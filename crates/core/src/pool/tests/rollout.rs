//! Who goes, when, and by what right: one row or one short story for each rule.

use api::machine::names::{self, NodeState};
use serde_json::json;

use super::world::{World, file_source, frozen, later, noon, open, shut, touch, window};
use crate::{
    gate::{Basis, pending::Course},
    pool::{
        Effect, PoolPlan,
        seen::{Cordon, Health},
        target::Why,
    },
};

/// The nodes that a plan marks, with what each permit rests on.
fn marks(plan: &PoolPlan) -> Vec<(String, String)> {
    plan.effects
        .iter()
        .filter_map(|action| match action {
            Effect::SetDesiredConfig { node, permit, .. } => {
                Some((node.clone(), permit.basis().to_string()))
            }
            _ => None,
        })
        .collect()
}

fn marked(plan: &PoolPlan) -> Vec<String> {
    marks(plan).into_iter().map(|(node, _)| node).collect()
}

/// A pool with a change that waits: rendered, pointed to, and not begun.
fn waiting(machines: usize) -> World {
    let mut world = World::new("worker", machines);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    world
}

/// POOL-1
#[test]
fn rendering_goes_on_while_the_gate_is_shut_and_no_machine_is_touched() {
    let mut world = World::new("worker", 3);
    let first = world.newest();
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    assert_ne!(world.newest(), first);
    assert_eq!(world.rendered.len(), 2);
    assert_eq!(world.moving(), [""; 0]);
}

/// POOL-1, POOL-2
#[test]
fn closing_window_leaves_in_flight_node_alone() {
    let mut world = waiting(3);
    let gate = window(600);
    world.settle(&gate, noon());
    assert_eq!(world.moving(), ["n0"]);
    world.settle(&gate, later(600));
    assert_eq!(world.moving(), ["n0"], "it goes on");
    world.finish();
    world.settle(&gate, later(700));
    assert_eq!(world.moving(), [""; 0], "and nobody follows");
    assert_eq!(world.seen().ledger.text(), "[]");
}

/// POOL-2
#[test]
fn unavailable_machines_take_room_whatever_made_them_so() {
    let check = |limit: serde_json::Value, change: fn(&mut World), expected: usize| {
        let mut world = waiting(10);
        world.set("/spec/maxUnavailable", &limit);
        change(&mut world);
        assert_eq!(marked(&world.plan(&open(), noon())).len(), expected, "{limit}");
    };
    check(json!(3), |_| {}, 3);
    check(json!("35%"), |_| {}, 3);
    check(json!(0), |_| {}, 1);
    check(json!(3), |world| world.node("n4").cordon = Cordon::Cordoned, 2);
    check(json!(3), |world| world.node("n4").health = Health::Unhealthy, 2);
    check(json!(1), |world| world.node("n4").health = Health::Unhealthy, 0);
    check(json!(3), |world| world.node("n4").state = NodeState::Working, 2);
    check(
        json!(3),
        |world| {
            let newest = world.newest();
            let node = world.node("n4");
            node.desired = newest;
            node.state = NodeState::Degraded;
        },
        2,
    );
    check(json!("2"), |_| {}, 0);
}

/// POOL-2
#[test]
fn a_stuck_machine_goes_to_the_repaired_configuration_before_any_other() {
    let mut world = waiting(3);
    world.settle(&open(), noon());
    let stuck = world.node("n0");
    stuck.state = NodeState::Degraded;
    touch(stuck);
    world.put(&file_source("50-change", "/etc/change", "repaired"));
    world.settle(&shut(), later(60));
    assert_eq!(marked(&world.plan(&open(), later(120))), ["n0"]);
}

/// POOL-3
#[test]
fn oldest_configuration_goes_first_then_zone_then_age_then_name() {
    let mut world = waiting(6);
    let second = world.newest();
    for name in ["n0", "n3"] {
        let node = world.node(name);
        node.current.clone_from(&second);
        node.desired.clone_from(&second);
    }
    world.put(&file_source("50-change", "/etc/change", "2"));
    world.settle(&shut(), later(60));
    world.node("n5").labels.clear();
    world.set("/spec/maxUnavailable", &json!(6));
    // Zones: n1, n4 in b; n2 in c; n5 in none; then those that have the second configuration, both in a.
    assert_eq!(marked(&world.plan(&open(), later(90))), ["n1", "n4", "n2", "n5", "n0", "n3"]);
}

/// POOL-4
#[test]
fn pinned_configuration_is_the_only_target() {
    let mut world = waiting(3);
    let chosen = world.newest();
    world.put(&file_source("50-change", "/etc/change", "2"));
    world.settle(&shut(), later(60));
    world.set("/spec/machineConfig", &json!({"name": chosen}));
    world.settle(&open(), later(90));
    assert_eq!(world.nodes[0].desired, chosen);
    world.set("/spec/machineConfig", &json!({"name": "rendered-worker-missing"}));
    world.finish();
    let plan = world.plan(&open(), later(120));
    assert_eq!(marked(&plan), [""; 0]);
    assert_eq!(plan.problems[0].field.to_string(), "spec.machineConfig.name");
}

/// POOL-4
#[test]
fn new_machines_get_what_is_proven_until_the_target_is() {
    let mut world = World::new("worker", 2);
    let first = world.newest();
    let served = |world: &World| world.plan(&shut(), noon()).served.unwrap();
    assert_eq!((served(&world).config, served(&world).why), (first.clone(), Why::Proven));
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    let second = world.newest();
    assert_eq!((served(&world).config, served(&world).why), (first.clone(), Why::LastProven));
    world.set("/spec/machineConfig", &json!({"name": second, "validAfter": "Immediate"}));
    assert_eq!((served(&world).config, served(&world).why), (second.clone(), Why::Immediate));
    world.set("/spec/machineConfig", &json!({"name": second, "validAfter": "CanaryUpgrade"}));
    assert_eq!(served(&world).config, first);
    world.settle(&open(), noon());
    assert_eq!(served(&world).config, first, "begun is not proven");
    world.finish();
    assert_eq!((served(&world).config, served(&world).why), (second, Why::Proven));
    world.nodes.clear();
    assert_eq!((served(&world).config, served(&world).why), (first, Why::LastConverged));
}

/// POOL-5
#[test]
fn bypass_goes_on_until_every_machine_has_the_content_and_no_longer() {
    let mut world = waiting(3);
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "CVE-2026-1"});
    world.put(&urgent);
    world.settle(&shut(), later(1));
    for round in 0..3 {
        assert_eq!(world.moving().len(), 1, "round {round}: within the budget");
        world.finish();
        world.settle(&shut(), later(10 + round));
    }
    assert_eq!(world.moving(), [""; 0]);
    assert!(world.nodes.iter().all(|node| node.current == world.newest()));
    world.put(&file_source("50-change", "/etc/change", "2"));
    world.settle(&shut(), later(60));
    assert_eq!(world.moving(), [""; 0], "the annotation alone opens nothing");
    world.put(&{
        urgent["spec"]["kernelArguments"] = json!(["audit=1"]);
        urgent
    });
    world.settle(&shut(), later(90));
    assert_eq!(world.moving().len(), 1, "new content does");
}

/// POOL-5: a node that comes from another pool has what that pool gave it, and what nobody knows opens no gate.
#[test]
fn machine_from_another_pool_goes_by_bypass_only_for_what_it_lacks() {
    let mut world = waiting(1);
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "CVE-2026-1"});
    world.put(&urgent);
    world.settle(&shut(), later(1));
    world.finish();
    world.settle(&shut(), later(10));
    let newest = world.newest().clone();
    let mut theirs = world.rendered.iter().find(|config| config.name == newest).unwrap().clone();
    (theirs.name, theirs.pool) = ("rendered-infra-1".into(), "infra".into());
    let check = |rendered: Option<&crate::pool::source::Rendered>, expected: usize| {
        let mut world = world.clone();
        world.rendered.extend(rendered.cloned());
        for node in &mut world.nodes {
            (node.current, node.desired) = (theirs.name.clone(), theirs.name.clone());
        }
        world.settle(&shut(), later(60));
        assert_eq!(world.moving().len(), expected, "{rendered:?}");
    };
    check(Some(&theirs), 0);
    check(None, 0);
    let mut lacks = theirs.clone();
    lacks.digests.remove("90-urgent");
    check(Some(&lacks), 1);
}

/// POOL-5
#[test]
fn what_rides_along_with_a_bypass_is_shown() {
    let mut world = waiting(3);
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "CVE-2026-1"});
    world.put(&urgent);
    world.settle(&shut(), later(1));
    let plan = world.plan(&shut(), later(2));
    assert!(plan.status.is_none());
    let (_, message) = world.condition("Updating");
    assert!(
        message
            .contains("MachineConfig/90-urgent bypasses that on 2 nodes; riding along: 50-change"),
        "{message}"
    );
}

/// POOL-5
#[test]
fn pin_that_lacks_the_content_wins_and_the_conflict_is_reported() {
    let mut world = waiting(3);
    let pinned = world.newest();
    world.set("/spec/machineConfig", &json!({"name": pinned}));
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "yes"});
    world.put(&urgent);
    world.settle(&shut(), later(1));
    assert_eq!(world.moving(), [""; 0]);
    let (status, message) = world.condition("RolloutBlocked");
    assert_eq!(status, "True");
    assert!(message.contains("MachineConfig/90-urgent asks to bypass"), "{message}");
    assert!(message.contains(&pinned), "{message}");
    world.settle(&open(), later(2));
    assert_eq!(world.nodes[0].desired, pinned, "and the pinned one is rolled out when it may be");
}

/// POOL-7
#[test]
fn consent_lets_one_machine_go_and_is_spent() {
    let mut world = waiting(3);
    let target = world.newest();
    world.node("n2").allowed = Some(target.clone());
    world.node("n2").cordon = Cordon::Cordoned;
    let plan = world.plan(&shut(), noon());
    assert_eq!(marks(&plan), [("n2".to_owned(), "consent for Node/n2".to_owned())]);
    world.settle(&shut(), noon());
    assert_eq!(world.moving(), ["n2"]);
    assert_eq!(world.node("n2").allowed, None, "spent");
    world.node("n1").allowed = Some("rendered-worker-other".into());
    world.finish();
    world.node("n2").cordon = Cordon::Open;
    let plan = world.plan(&shut(), later(60));
    assert_eq!(marked(&plan), [""; 0]);
    let stale =
        plan.problems.iter().find(|problem| problem.object.as_ref().unwrap().kind == "Node");
    assert_eq!(stale.unwrap().object.as_ref().unwrap().to_string(), "Node/n1");
}

/// GATE-15, OVR-1: bypass and consent set the stanza aside, and pass no freeze.
#[test]
fn nobody_bypasses_a_freeze_or_consents_to_pass_it() {
    let mut world = waiting(3);
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "CVE-2026-1"});
    world.put(&urgent);
    world.settle(&frozen(), later(1));
    let target = world.newest();
    world.node("n2").allowed = Some(target);
    world.settle(&frozen(), later(2));
    assert_eq!(world.moving(), [""; 0]);
    let plan = world.plan(&frozen(), later(3));
    assert_eq!(plan.pending.course, Course::Gate, "nothing goes on anyway");
    let (_, message) = world.condition("Updating");
    assert!(!message.contains("90-urgent"), "{message}");
    world.settle(&shut(), later(4));
    assert_eq!(world.moving().len(), 1, "both wait for its end and for nothing else");
}

/// POOL-7, POOL-2
#[test]
fn consent_does_not_widen_the_budget() {
    let mut world = waiting(3);
    let target = world.newest();
    for name in ["n0", "n1", "n2"] {
        world.node(name).allowed = Some(target.clone());
    }
    assert_eq!(marked(&world.plan(&shut(), noon())).len(), 1);
}

/// CV-2
#[test]
fn masters_finish_what_one_of_them_began() {
    let mut world = World::new("master", 3);
    world.put(&file_source("50-change", "/etc/change", "1"));
    let gate = window(600);
    world.settle(&gate, noon());
    let begun = world.newest();
    assert_eq!(world.moving(), ["n0"]);
    world.put(&file_source("50-change", "/etc/change", "of a user"));
    world.finish();
    world.settle(&gate, later(900));
    assert_eq!(world.moving(), ["n1"]);
    assert_eq!(world.node("n1").desired, begun, "this change, and not the one that came later");
    world.finish();
    world.settle(&gate, later(1000));
    world.finish();
    world.settle(&gate, later(1100));
    assert_eq!(world.moving(), [""; 0]);
    assert!(world.nodes.iter().all(|node| node.current == begun));
    assert_ne!(world.newest(), begun, "the user's change waits for the gate");
}

#[test]
fn master_that_hosts_the_operator_goes_last() {
    let mut world = World::new("master", 3);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.operator_node = Some("n0".into());
    let mut order = Vec::new();
    for round in 0..3 {
        world.settle(&open(), later(round));
        order.extend(world.moving().into_iter().map(str::to_owned));
        world.finish();
    }
    assert_eq!(order, ["n1", "n2", "n0"]);
}

#[test]
fn paused_pool_begins_nothing_whatever_asks_for_it() {
    let mut world = waiting(3);
    world.set("/spec/paused", &json!(true));
    let target = world.newest();
    world.node("n0").allowed = Some(target.clone());
    world.settle(&open(), noon());
    assert_eq!(world.moving(), [""; 0]);
    let (status, message) = world.condition("Updating");
    assert_eq!(
        (status.as_str(), message),
        ("False", format!("Pool is paused; will not update to {target}"))
    );
}

/// POOL-2, EXEC-2
#[test]
fn crash_between_reservation_and_mark_is_repaired() {
    let mut world = waiting(3);
    let plan = world.plan(&open(), noon());
    world.act(&plan.effects[0], noon()).unwrap();
    assert_eq!(world.moving(), [""; 0], "reserved, and not marked");
    let repaired = world.plan(&open(), later(10));
    assert_eq!(marked(&repaired), ["n0"]);
    let Effect::SetDesiredConfig { until, .. } = &repaired.effects[0] else {
        panic!("the entry stands")
    };
    assert_eq!(*until, later(300), "and ends when it was to end");
    world.settle(&open(), later(10));
    assert_eq!(world.moving(), ["n0"]);
}

/// POOL-2
#[test]
fn one_that_was_stuck_when_it_was_reserved_waits_for_room_once_it_is_well() {
    let mut world = waiting(3);
    world.settle(&open(), noon());
    world.node("n0").state = NodeState::Degraded;
    world.put(&file_source("50-change", "/etc/change", "repaired"));
    world.settle(&shut(), later(1));
    let plan = world.plan(&open(), later(2));
    assert_eq!(marked(&plan), ["n0"], "it took no room of its own");
    world.act(&plan.effects[0], later(2)).unwrap();
    world.finish();
    assert_eq!(marked(&world.plan(&open(), later(3))), ["n0"], "there is room");
    world.node("n1").cordon = Cordon::Cordoned;
    assert_eq!(marked(&world.plan(&open(), later(3))), [""; 0], "and now there is none");
}

/// POOL-2, GATE-7
#[test]
fn reservation_that_may_not_be_marked_is_given_back_only_when_nobody_can_mark_it() {
    let mut world = waiting(3);
    let gate = window(60);
    let plan = world.plan(&gate, noon());
    world.act(&plan.effects[0], noon()).unwrap();
    let held = world.plan(&shut(), later(30));
    assert_eq!(marked(&held), [""; 0]);
    assert!(held.effects.is_empty(), "somebody may still be about to mark it");
    assert_eq!(held.wake, Some(later(62)));
    assert!(world.plan(&shut(), later(61)).effects.is_empty(), "the server may be a second behind");
    world.settle(&shut(), later(62));
    assert_eq!(world.seen().ledger.text(), "[]");
}

/// POOL-2: one that left the pool after it was reserved is still somebody's to mark, so its room is taken until nobody can.
#[test]
fn machine_that_left_keeps_its_room_while_somebody_may_still_mark_it() {
    let mut world = waiting(3);
    let plan = world.plan(&open(), noon());
    world.act(&plan.effects[0], noon()).unwrap();
    world.nodes.retain(|node| node.name != "n0");
    let check = |world: &mut World, seconds: i64, reserved: bool, moving: &[&str]| {
        world.settle(&open(), later(seconds));
        assert_eq!(world.seen().ledger.get("n0").is_some(), reserved, "after {seconds} s");
        assert_eq!(world.moving(), moving, "after {seconds} s");
    };
    check(&mut world, 1, true, &[]);
    check(&mut world, 301, true, &[]);
    check(&mut world, 302, false, &["n1"]);
}

/// POOL-2, GATE-11: a leader whose clock is ahead neither frees what the server would still let another mark, nor reserves beside it.
#[test]
fn clock_that_is_known_to_be_ahead_frees_no_reservation_of_another() {
    let mut world = waiting(3);
    let plan = world.plan(&open(), noon());
    world.act(&plan.effects[0], noon()).unwrap();
    // Another leader, 400 s ahead, has a node before the reserved one.
    world.seconds_ahead = 400;
    world.node("n2").labels.insert(names::ZONE.into(), "0".into());
    let plan = world.plan(&open(), later(410));
    assert!(plan.effects.iter().all(|action| !matches!(action, Effect::WriteLedger { .. })));
    assert_eq!(marked(&plan), ["n0"], "as it was reserved, and no other");
    assert_eq!(plan.wake, Some(later(702)));
    world.seconds_ahead = 0;
    assert_eq!(marked(&world.plan(&open(), later(410))), ["n2"], "a right clock knows it is over");
}

/// POOL-2, LIVE-1
#[test]
fn what_a_clock_that_was_ahead_reserved_is_given_back_at_once() {
    let mut world = waiting(3);
    let plan = world.plan(&open(), later(3_600));
    world.act(&plan.effects[0], later(3_600)).unwrap();
    assert_eq!(
        world.moving(),
        [""; 0],
        "the server refused the mark: no permit is good for an hour"
    );
    world.settle(&shut(), noon());
    assert_eq!(world.seen().ledger.text(), "[]", "the clock is right again");
    world.settle(&open(), noon());
    assert_eq!(world.moving(), ["n0"]);
}

/// GATE-7
#[test]
fn every_mark_ends_with_its_permit_or_its_lease() {
    let world = waiting(3);
    let check = |gate, until| {
        let plan = world.plan(&gate, noon());
        let Some(Effect::SetDesiredConfig { until: found, permit, .. }) = plan.effects.last()
        else {
            panic!("nothing is marked")
        };
        assert_eq!(*found, until);
        assert!(permit.is_live(noon()));
    };
    check(window(60), later(60));
    check(window(6000), later(300));
    check(open(), later(300));
}

/// GATE-7, POOL-5
#[test]
fn permits_beside_the_gate_name_what_they_rest_on_and_last_a_lease() {
    let mut world = waiting(1);
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "CVE-2026-1"});
    world.put(&urgent);
    let plan = world.plan(&shut(), noon());
    for action in &plan.effects {
        world.act(action, noon()).unwrap();
    }
    let plan = world.plan(&shut(), later(1));
    let Some(Effect::SetDesiredConfig { permit, until, .. }) = plan.effects.last() else {
        panic!()
    };
    assert_eq!(permit.basis(), &Basis::Bypass("90-urgent".into()));
    assert_eq!(permit.basis().to_string(), "bypass of MachineConfig/90-urgent");
    assert_eq!((permit.opened(), permit.expires(), *until), (None, Some(later(301)), later(301)));
    assert!(!permit.is_live(noon()) && permit.is_live(later(300)) && !permit.is_live(later(301)));
}

/// GATE-8, NDP-1: a change that would disturb nobody waits like any other.
#[test]
fn node_disruption_policy_never_opens_the_gate() {
    let mut world = World::new("worker", 3);
    world.put(&file_source("50-quiet", "/var/lib/kubelet/config.json", "1"));
    world.settle(&shut(), noon());
    let [before, after] = [&world.rendered[0].spec, &world.rendered[1].spec];
    let changes = crate::node::diff::diff(before, after);
    let policies = crate::node::disruption::defaults();
    let wanted = crate::node::disruption::disruption(&changes, &policies);
    assert_eq!(wanted, crate::node::disruption::Disruption::None);
    assert_eq!(world.moving(), [""; 0]);
}

#[test]
fn pool_that_waits_for_another_begins_nothing_and_says_so() {
    let mut world = waiting(3);
    world.waits_for = Some("master");
    world.settle(&open(), noon());
    assert_eq!(world.moving(), [""; 0]);
    assert!(world.condition("Updating").1.ends_with("MachineConfigPool/master must settle first"));
}

/// POOL-4
#[test]
fn new_machine_joins_with_what_it_was_given_and_nothing_to_do() {
    let world = waiting(1);
    let document =
        crate::pool::serve::ignition(&world.rendered[0], crate::pool::serve::Format::NEWEST);
    let ignition: api::machine::ignition::Ignition = serde_json::from_value(document).unwrap();
    let text = |path: &str| {
        let file = ignition.storage.files.iter().find(|file| file.path == path).unwrap();
        let bytes = crate::node::content::bytes(&file.contents).unwrap().into_owned();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()
    };
    let annotations = text(crate::pool::serve::ANNOTATIONS_FILE);
    assert_eq!(annotations[names::CURRENT_CONFIG], world.rendered[0].name);
    assert_eq!(annotations[names::DESIRED_CONFIG], world.rendered[0].name);
    assert_eq!(annotations[names::STATE], "Done");
    assert_eq!(text(crate::pool::serve::ENCAPSULATED_FILE)["spec"]["kernelType"], "default");
    assert!(ignition.storage.files.iter().any(|file| file.path == "/etc/base"));
}

/// GATE-1
#[test]
fn pool_without_a_stanza_rests_on_that() {
    let plan = waiting(1).plan(&open(), noon());
    let Some(Effect::SetDesiredConfig { permit, .. }) = plan.effects.last() else { panic!() };
    assert_eq!(permit.basis(), &Basis::NoStanza);
}
