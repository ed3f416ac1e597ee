//! Does the server itself hold what others own, by gates and its own clock, and nothing else?
//!
//! RCH-1 to RCH-3, RCH-5, RCH-10 to RCH-14, GATE-15, with the definitions and policies as they are shipped and nothing of ours running. The
//! status of gates is written here as their controller would. Rules about single writes are shown on both servers; what the stock
//! controllers of workloads and Helm do when they are refused is shown with the real ones. kured and Argo CD are played by their own writes.

mod clusters;
mod custom;
mod definitions;
mod forged;
mod freezes;
pub(crate) mod kept;
mod kured;
mod leaving;
mod machines;
mod nudged;
mod overrides;
mod probes;
mod queued;
mod releases;
mod rollouts;
mod rows;
mod stock;
mod syncs;
mod upgraders;
mod workloads;
mod world;

use rig::{Controllers, suite};
use serde_json::Value;
use tidegate_core::release::of::Of;
use tidy::Tree;
use world::World;

use super::rollout::writers;

#[test]
fn real_server_holds_first_writes_by_gates_and_no_others() {
    suite::on_real("reach-rows", Controllers::Absent, async |cluster| {
        rows::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_holds_first_writes_by_gates_and_no_others() {
    on_embedded(async |world| rows::are_judged(world).await);
}

#[test]
fn real_server_takes_no_forged_stamp() {
    suite::on_real("reach-forged", Controllers::Absent, async |cluster| {
        forged::pass_nowhere(&World::install(&writers::of_real(cluster).await).await, 250).await;
    });
}

#[test]
fn embedded_server_takes_no_forged_stamp() {
    on_embedded(async |world| forged::pass_nowhere(world, 10_000).await);
}

#[test]
fn real_server_closes_a_gate_on_its_second() {
    suite::on_real("reach-edges", Controllers::Absent, async |cluster| {
        rows::edges_are_exact(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn real_server_queues_rollouts_and_lets_everything_else_go_on() {
    suite::on_real("reach-rollouts", Controllers::Rolling, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        rollouts::wait_for_their_gate(&world).await;
        rollouts::wait_for_the_end_of_a_freeze(&world).await;
    });
}

#[test]
fn real_server_never_leaves_a_recreated_deployment_without_pods() {
    suite::on_real("reach-recreate", Controllers::Rolling, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        rollouts::recreate_is_refused_as_a_wish(&world).await;
    });
}

#[test]
fn real_server_refuses_what_a_room_does_not_know() {
    suite::on_real("reach-definitions", Controllers::Absent, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        definitions::refuse_what_a_room_does_not_know(&world).await;
        definitions::are_shown_by_kubectl(cluster, &world).await;
        definitions::let_teams_add_gates_and_nothing_more(&world).await;
    });
}

#[test]
fn embedded_server_refuses_what_a_room_does_not_know() {
    on_embedded(async |world| definitions::refuse_what_a_room_does_not_know(world).await);
}

/// RCH-3, RCH-10, RCH-12
#[test]
fn real_server_refuses_templates_of_stateful_and_daemon_sets_and_nothing_else_of_them() {
    suite::on_real("reach-templates", Controllers::Absent, async |cluster| {
        workloads::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_refuses_templates_of_stateful_and_daemon_sets_and_nothing_else_of_them() {
    on_embedded(async |world| workloads::are_judged(world).await);
}

/// RCH-5
#[test]
fn real_controllers_of_sets_go_on_while_their_templates_are_held() {
    suite::on_real("reach-sets", Controllers::Rolling, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        workloads::go_on_across_an_opening_and_a_closing(&world).await;
    });
}

/// RCH-3, RCH-5, RCH-11, RCH-12
#[test]
fn real_server_refuses_releases_of_helm_that_become_pending_and_no_others() {
    suite::on_real("reach-records", Controllers::Absent, async |cluster| {
        releases::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_refuses_releases_of_helm_that_become_pending_and_no_others() {
    on_embedded(async |world| releases::are_judged(world).await);
}

/// RCH-3, RCH-11
#[test]
fn real_helm_touches_nothing_while_its_gate_is_shut() {
    suite::with_helm("reach-helm", |helm| {
        suite::on_real("reach-helm", Controllers::Absent, async |cluster| {
            let world = World::install(&writers::of_real(cluster).await).await;
            releases::of_helm_wait_for_their_gate(helm, cluster, &world).await;
        });
    });
}

/// RCH-3, RCH-5, RCH-12
#[test]
fn real_server_refuses_syncs_of_argo_cd_and_lets_them_end() {
    suite::on_real("reach-syncs", Controllers::Absent, async |cluster| {
        syncs::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_refuses_syncs_of_argo_cd_and_lets_them_end() {
    on_embedded(async |world| syncs::are_judged(world).await);
}

/// HOST-3, RCH-3, RCH-5, RCH-8
#[test]
fn real_server_refuses_steps_of_machines_and_lets_scaling_pass() {
    suite::on_real("reach-machines", Controllers::Absent, async |cluster| {
        machines::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_refuses_steps_of_machines_and_lets_scaling_pass() {
    on_embedded(async |world| machines::are_judged(world).await);
}

/// RCH-3, RCH-5, RCH-6, RCH-12
#[test]
fn real_server_refuses_first_writes_of_upgraders_and_lets_what_began_end() {
    suite::on_real("reach-upgraders", Controllers::Absent, async |cluster| {
        upgraders::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_refuses_first_writes_of_upgraders_and_lets_what_began_end() {
    on_embedded(async |world| upgraders::are_judged(world).await);
}

/// RCH-3, RCH-5, RCH-6, RCH-10, RCH-12
#[test]
fn real_server_refuses_releases_of_whole_clusters_and_nothing_else_of_them() {
    suite::on_real("reach-clusters", Controllers::Absent, async |cluster| {
        clusters::are_judged(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_server_refuses_releases_of_whole_clusters_and_nothing_else_of_them() {
    on_embedded(async |world| clusters::are_judged(world).await);
}

/// RCH-9, RCH-11, RCH-12, RCH-14
#[test]
fn real_server_holds_rooms_of_somebodys_own_and_a_broken_one_holds_nothing_else() {
    suite::on_real("reach-custom", Controllers::Absent, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        custom::are_judged(&world).await;
        custom::are_refused_by_a_dry_run(&world).await;
    });
}

#[test]
fn embedded_server_holds_rooms_of_somebodys_own_and_a_broken_one_holds_nothing_else() {
    on_embedded(async |world| custom::are_judged(world).await);
}

/// OVR-1, OVR-5, GATE-15
#[test]
fn real_server_holds_what_a_freeze_selects_and_nothing_else() {
    suite::on_real("reach-freezes", Controllers::Absent, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        freezes::hold_within_a_second(&world).await;
        freezes::hold_first_writes(&world).await;
        freezes::hold_machines(&world).await;
    });
}

#[test]
fn embedded_server_holds_what_a_freeze_selects_and_nothing_else() {
    on_embedded(async |world| {
        freezes::hold_within_a_second(world).await;
        freezes::hold_first_writes(world).await;
        freezes::hold_machines(world).await;
    });
}

#[test]
fn real_server_refuses_freezes_that_say_nothing_useful() {
    suite::on_real("reach-freeze-definitions", Controllers::Absent, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        freezes::are_refused_where_they_say_nothing_useful(&world).await;
    });
}

#[test]
fn embedded_server_refuses_freezes_that_say_nothing_useful() {
    on_embedded(async |world| freezes::are_refused_where_they_say_nothing_useful(world).await);
}

/// OVR-2, OVR-3
#[test]
fn real_server_keeps_overrides_as_they_were_written_and_signed() {
    suite::on_real("reach-overrides", Controllers::Absent, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        overrides::are_judged(&world).await;
        overrides::are_refused_where_they_open_nothing_or_too_much(&world).await;
        overrides::stay_as_they_were_written(&world).await;
    });
}

#[test]
fn embedded_server_keeps_overrides_as_they_were_written_and_signed() {
    on_embedded(async |world| {
        overrides::are_judged(world).await;
        overrides::are_refused_where_they_open_nothing_or_too_much(world).await;
        overrides::stay_as_they_were_written(world).await;
    });
}

/// RCH-14, GATE-11
#[test]
fn real_operator_writes_the_windows_that_the_server_goes_by() {
    suite::on_real("reach-kept", Controllers::Absent, async |cluster| {
        kept::by_the_operator(&World::install(&writers::of_real(cluster).await).await).await;
    });
}

#[test]
fn embedded_operator_writes_the_windows_that_the_server_goes_by() {
    on_embedded(async |world| kept::by_the_operator(world).await);
}

/// RCH-3, RCH-12, CV-5, CV-6, GATE-10
#[test]
fn real_server_holds_a_stock_openshift_and_nothing_else_of_it() {
    suite::with_openshift("reach-stock", |definitions| {
        suite::on_real("reach-stock", Controllers::Absent, async |cluster| {
            let client = writers::of_real(cluster).await;
            let world = World::install_with(&client, stock::definitions(definitions)).await;
            stock::is_judged(&world, stock::Definitions::OfOpenShift).await;
            stock::is_queued(&world).await;
        });
    });
}

#[test]
fn embedded_server_holds_a_stock_openshift_and_nothing_else_of_it() {
    suite::with_openshift("reach-stock-embedded", |definitions| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let definitions = stock::definitions(definitions);
            let world = World::install_with(&writers::of_embedded(), definitions).await;
            stock::is_judged(&world, stock::Definitions::OfOpenShift).await;
        });
    });
}

/// CV-4: by which the command tells where a wish stands.
#[test]
fn definitions_of_openshift_are_told_from_ours() {
    let schema = "/spec/versions/0/schema/openAPIV3Schema";
    let of = |definitions: &[Value]| {
        let mut found =
            definitions.iter().filter(|one| one["spec"]["names"]["kind"] == "ClusterVersion");
        Of::by_definition(found.next().and_then(|found| found.pointer(schema)).unwrap())
    };
    let ours = Tree::top().join("deploy/crds/upstream/clusterversions.yaml");
    let ours = stock::definitions(&[std::fs::read_to_string(ours).unwrap()]);
    assert_eq!(of(&ours), Of::Cluster);
    suite::with_openshift("reach-definitions-of-openshift", |definitions| {
        assert_eq!(of(&stock::definitions(definitions)), Of::Stock);
    });
}

/// CV-4, CV-6
#[test]
fn real_operator_begins_what_was_queued_on_a_stock_openshift() {
    suite::with_openshift("reach-queued", |definitions| {
        suite::on_real("reach-queued", Controllers::Absent, async |cluster| {
            let client = writers::of_real(cluster).await;
            let world = World::install_with(&client, stock::definitions(definitions)).await;
            queued::begins(&world).await;
        });
    });
}

/// With definitions that keep whatever is written, `mode: Preflight` too.
#[test]
fn embedded_server_holds_nodes_and_updates_whatever_their_definitions_keep() {
    on_embedded(async |world| stock::is_judged(world, stock::Definitions::Loose).await);
}

/// GATE-16, RCH-15
#[test]
fn real_server_lets_the_operator_touch_what_waits_and_change_nothing_of_it() {
    suite::on_real("reach-touches", Controllers::Absent, async |cluster| {
        nudged::by_the_operator_alone(&World::install(&writers::of_real(cluster).await).await)
            .await;
    });
}

#[test]
fn embedded_server_lets_the_operator_touch_what_waits_and_change_nothing_of_it() {
    on_embedded(async |world| nudged::by_the_operator_alone(world).await);
}

/// RCH-4: scenarios 3 and 4 of the table of rooms.
#[test]
fn real_rollouts_that_their_controller_gave_up_begin_when_they_are_touched() {
    suite::on_real("reach-nudged", Controllers::Rolling, async |cluster| {
        let world = World::install(&writers::of_real(cluster).await).await;
        nudged::after_the_patience_of_their_controller(&world).await;
    });
}

/// RCH-7
#[test]
fn real_server_keeps_definitions_while_policies_read_them_and_refuses_nobody_afterwards() {
    suite::with_helm("reach-leaving", |helm| {
        suite::on_real("reach-leaving", Controllers::Absent, async |cluster| {
            leaving::in_the_right_order(helm, cluster).await;
        });
    });
}

fn on_embedded(suite: impl AsyncFnOnce(&World)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::install(&writers::of_embedded()).await;
        suite(&world).await;
    });
}
