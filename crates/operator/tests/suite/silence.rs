//! Is a hold honoured when nobody tells of it? (GATE-11)

use std::time::Duration;

use apiserver::{Fault, RequestMatch, Scripted};
use serde_json::json;

use super::common::{
    POLICIES, POOLS, World, by_policy, condition, pass, pool, settle, state, weekend,
};

const VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";

fn strike(world: &World, verb: &str, times: u32, fault: &Fault) {
    for resource in ["machineconfigpools", "changemanagementpolicies", "clusterversions"] {
        for nth in 1..=times {
            let matching = RequestMatch {
                verb: Some(verb.into()),
                resource: Some(resource.into()),
                ..RequestMatch::default()
            };
            world.server.script_fault(Scripted { matching, nth, fault: fault.clone() });
        }
    }
}

/// An edit behind watches that say nothing, and behind lists that show what was so before it, is in the status within 65 seconds.
#[tokio::test(start_paused = true)]
async fn an_edit_that_nobody_tells_of_is_honoured_within_65_seconds() {
    for stale in [None, Some(1), Some(3), Some(20)] {
        let world = World::new();
        let mut always = weekend("always");
        always["spec"] = json!({"strategy": "Permissive"});
        world.create(POLICIES, &always);
        world.create(POOLS, &pool("by-policy", &by_policy("always")));
        world.create(POOLS, &pool("by-itself", &json!({"strategy": "Permissive"})));
        world.create(
            VERSIONS,
            &json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
                "metadata": {"name": "version"},
                "spec": {"changeManagement": {"strategy": "Permissive"}}}),
        );
        let operator = world.start();
        settle().await;
        strike(&world, "watch", 100, &Fault::SilenceWatch(0));
        pass(Duration::from_secs(130)).await;
        assert_eq!(operator.view.ready(), Ok(()), "silence alone is no trouble");
        if let Some(behind) = stale {
            strike(&world, "list", 2, &Fault::StaleList(behind));
        }
        let closed = json!({"spec": {"changeManagement": {"strategy": "Restrictive"}}});
        world.merge(&format!("{POLICIES}/always"), &json!({"spec": {"strategy": "Restrictive"}}));
        world.merge(&format!("{POOLS}/by-itself"), &closed);
        world.merge(&format!("{VERSIONS}/version"), &closed);
        pass(Duration::from_secs(65)).await;
        for path in [
            format!("{POOLS}/by-policy"),
            format!("{POOLS}/by-itself"),
            format!("{VERSIONS}/version"),
        ] {
            assert_eq!(
                condition(&world.get(&path), "ChangesPaused"),
                "True Restrictive",
                "{path}, {stale:?}"
            );
        }
    }
}

/// A list that shows what was so before takes nothing back.
#[tokio::test(start_paused = true)]
async fn an_old_list_takes_nothing_back() {
    let world = World::new();
    world.create(POOLS, &pool("worker", &json!({"strategy": "Permissive"})));
    let _operator = world.start();
    settle().await;
    for number in 0..20 {
        world.create(POOLS, &pool(&format!("later-{number}"), &json!({"strategy": "Permissive"})));
    }
    let closed = json!({"spec": {"changeManagement": {"strategy": "Restrictive"}}});
    world.merge(&format!("{POOLS}/worker"), &closed);
    settle().await;
    world.writes();
    // The watch breaks, history is gone, and three lists show how it was before all of that.
    strike(&world, "list", 3, &Fault::StaleList(60));
    strike(&world, "watch", 1, &Fault::Compact);
    for _ in 0..60 {
        pass(Duration::from_secs(2)).await;
        assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesPaused");
        assert_eq!(state(&world.get(&format!("{POOLS}/later-7"))), "ChangesUnpaused");
    }
    assert_eq!(world.writes(), [""; 0], "nothing was written back and forth");
}

/// What is quiet costs little: which versions there are is asked, not what stands in them.
#[tokio::test(start_paused = true)]
async fn a_quiet_cluster_is_asked_for_versions_and_not_for_objects() {
    let world = World::new();
    world.create(POOLS, &pool("worker", &json!({"strategy": "Permissive"})));
    let operator = world.start();
    settle().await;
    let before = operator.view.telemetry.calls(runtime::call::Verb::List);
    pass(Duration::from_mins(10)).await;
    let looks = operator.view.telemetry.calls(runtime::call::Verb::List) - before;
    // Each kind three times a minute at most, and the look whether the store went back.
    let kinds = operator.view.caches.observed().len() as u64;
    assert!((80..=kinds * 30 + 20).contains(&looks), "{looks} for {kinds} kinds");
}
