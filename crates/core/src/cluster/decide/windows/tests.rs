//! Rows for D4-2.

use api::kinds;
use serde_json::json;

use super::*;
use crate::{
    cluster::{kinds as rows, snapshot::Snapshot},
    document::key::Key,
};

#[expect(clippy::needless_pass_by_value, reason = "rows are written in place")]
fn check(cluster: Value, pool: Value, now: &str, expected: Value) {
    let mut world = Snapshot::default();
    world.add(&rows::CLUSTER_VERSION, &json!({"metadata": {"name": "version"}, "spec": cluster}));
    world.add(&rows::MACHINE_CONFIG_POOL, &json!({"metadata": {"name": "worker"}, "spec": pool}));
    let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
    let seen = world.resource(&key).unwrap();
    let now = Instant::parse(now).unwrap();
    let found = told(seen, &world.gate(seen), ConditionStatus::True, now);
    assert_eq!(json!(found), expected, "{cluster} {pool}");
}

const NOW: &str = "2026-11-18T12:00:00Z";

/// The words of the design, its instants as RFC 3339 beside them.
#[test]
fn the_next_window_is_told_in_the_words_of_the_design() {
    let weekend = json!({"versionManagement": {"maintenanceWindows": {"permit": "FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA"}}});
    let next = json!({
        "nextWindow": "2026-11-21 00:00:00UTC", "nextWindowDuration": "48h",
        "nextWindowStartTime": "2026-11-21T00:00:00Z", "nextWindowEndTime": "2026-11-23T00:00:00Z"});
    let with = |own: Value, cluster: Value| {
        let mut told = own;
        told["changesPending"] = json!(true);
        if !cluster.is_null() {
            told["clusterConstraint"] = cluster;
        }
        told
    };
    let none = |why: &str| json!({"nextWindow": format!("None. {why}")});
    let paused = json!({"versionManagement": {"pausedUntil": true}});
    // The example of the design: the cluster has windows, and the pool is paused.
    check(
        weekend.clone(),
        paused.clone(),
        NOW,
        with(none("Paused with pausedUntil"), next.clone()),
    );
    check(weekend.clone(), json!({}), NOW, with(next.clone(), next.clone()));
    check(json!({}), weekend.clone(), NOW, with(next.clone(), Value::Null));
    check(
        paused.clone(),
        weekend.clone(),
        NOW,
        with(
            none("Paused with pausedUntil of ClusterVersion/version"),
            none("Paused with pausedUntil"),
        ),
    );
    // While one is open the next is the one after it, up to its end.
    let open = "2026-11-22T23:30:00Z";
    let after = json!({
        "nextWindow": "2026-11-28 00:00:00UTC", "nextWindowDuration": "48h",
        "nextWindowStartTime": "2026-11-28T00:00:00Z", "nextWindowEndTime": "2026-11-30T00:00:00Z"});
    check(json!({}), weekend, open, with(after, Value::Null));
    let aside = json!({"versionManagement": {"enforcing": false, "pausedUntil": true}});
    check(json!({}), aside, NOW, with(none("Changes are always permitted"), Value::Null));
    let past = json!({"versionManagement": {"maintenanceWindows": {"permit": "FREQ=DAILY;UNTIL=20200101"}}});
    check(json!({}), past, NOW, with(none("No window is ahead"), Value::Null));
    let wrong = json!({"versionManagement": {"pausedUntil": "soon"}});
    check(json!({}), wrong, NOW, with(none("The stanza cannot be used"), Value::Null));
    check(json!({}), json!({}), NOW, Value::Null);
}
