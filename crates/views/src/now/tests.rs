//! Rows of clusters, and what is said of each.

use serde_json::{Value, json};
use tidegate_core::cluster::kinds;

use super::*;

const NOW: &str = "2026-11-18T09:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn weekend(name: &str) -> Value {
    json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
        "kind": "ChangeManagementPolicy", "metadata": {"name": name},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
            "permit": {"recurrence": {"frequency": "Weekly",
                "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}}}}})
}

fn by(policy: &str) -> Value {
    json!({"strategy": "ByPolicy", "byPolicy": {"name": policy}})
}

/// A cluster with two policies of the same windows, and pools with these stanzas.
fn cluster(stanzas: &[Value]) -> Snapshot {
    let mut cluster = Snapshot::default();
    for name in ["weekend", "saturdays"] {
        cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &weekend(name), at(NOW));
    }
    for (place, stanza) in stanzas.iter().enumerate() {
        let pool = json!({"metadata": {"name": format!("pool-{place}")},
            "spec": {"changeManagement": stanza}});
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool);
    }
    cluster
}

fn now(cluster: &Snapshot) -> Now {
    Now::new(&Rows::new(cluster, at(NOW)), cluster, at(NOW))
}

#[test]
fn a_cluster_is_told_in_one_sentence() {
    #[track_caller]
    fn check(stanzas: &[Value], expected: &str, title: &str) {
        let now = now(&cluster(stanzas));
        assert_eq!(now.sentence(at(NOW), &Zone::utc()), expected);
        assert_eq!(now.title(), title);
    }
    let open = || json!({"strategy": "Permissive"});
    let never = || json!({"strategy": "Restrictive"});
    check(&[], "Nothing is gated yet.", "nothing gated");
    check(&[open(), Value::Null], "Everything may change. Nothing is held.", "all open");
    check(
        &[by("weekend"), by("weekend"), open()],
        "Two of three are held. The next gates open in 2 days 15 hours.",
        "2 held",
    );
    check(
        &[by("weekend"), never()],
        "Everything is held. The next gate opens in 2 days 15 hours.",
        "2 held",
    );
    check(&[never(), open()], "One of two is held. No gate opens by itself.", "1 held");
    check(&[by("gone")], "Not everything is known. Held until it is.", "1 held");
    let mut frozen = cluster(&[by("weekend"), open()]);
    let freeze = json!({"metadata": {"name": "stop", "creationTimestamp": "2026-11-18T08:00:00Z"},
        "spec": {"reason": "Black Friday.", "until": "2026-12-01T00:00:00Z"}});
    frozen.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze);
    let told = now(&frozen).sentence(at(NOW), &Zone::utc());
    assert_eq!(told, "Frozen until Tue 1 Dec 00:00: Black Friday.");
}

/// Same state, same end, same decider is one cause, whatever the policies are called; what people do by hand is one cause whenever it ends.
#[test]
fn resources_are_grouped_by_cause() {
    let until = |until: &str| {
        json!({"strategy": "RestrictiveUntil", "restrictiveUntil": until,
        "byPolicy": {"name": "weekend"}})
    };
    let stanzas = [
        by("weekend"),
        by("saturdays"),
        by("weekend"),
        until("2026-11-20T08:00:00Z"),
        until("2026-11-19T08:00:00Z"),
        by("gone"),
        Value::Null,
    ];
    let causes = now(&cluster(&stanzas)).causes;
    let found: Vec<(Manner, usize, usize, bool)> = causes
        .iter()
        .map(|cause| (cause.key.manner, cause.rows.len(), cause.policies.len(), cause.same_end))
        .collect();
    assert_eq!(
        found,
        [
            (Manner::Held, 3, 2, true),
            (Manner::HeldByHand, 2, 1, true),
            (Manner::Open, 1, 0, true),
            (Manner::Unknown, 1, 1, true),
        ],
        "both held by hand go on with the policy's own pause, so they end together"
    );
}

#[test]
fn what_needs_somebody_is_told_once_with_a_count() {
    let cluster = cluster(&[by("gone"), by("gone"), by("weekend")]);
    let troubles = now(&cluster).troubles;
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert_eq!(troubles[0].count, 2);
    assert_eq!(
        troubles[0].what,
        "ChangeManagementPolicy/gone does not exist, so changes are held; create it or name another"
    );
}

/// LIVE-2
#[test]
fn what_comes_next_is_told_in_order() {
    let mut cluster = cluster(&[by("weekend"), by("saturdays")]);
    let freeze = json!({"metadata": {"name": "stop"}, "spec": {"reason": "a storm",
        "from": "2026-11-19T00:00:00Z", "until": "2026-11-20T00:00:00Z"}});
    cluster.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze);
    let overriding = json!({"metadata": {"name": "now", "creationTimestamp": "2026-11-18T08:00:00Z"},
        "spec": {"target": {"kind": "MachineConfigPool", "name": "pool-0"},
            "until": "2026-11-18T10:00:00Z", "reason": "CVE"}});
    cluster.add(&kinds::CLUSTER_CHANGE_OVERRIDE, &overriding);
    let now = now(&cluster);
    let found: Vec<(String, Turn, usize)> =
        now.edges.iter().map(|edge| (edge.at.to_string(), edge.turn, edge.count)).collect();
    assert_eq!(
        found,
        [
            ("2026-11-18T10:00:00Z".to_owned(), Turn::Shuts, 1),
            ("2026-11-18T10:00:00Z".to_owned(), Turn::OverrideEnds, 1),
            ("2026-11-19T00:00:00Z".to_owned(), Turn::FreezeBegins, 1),
            ("2026-11-21T00:00:00Z".to_owned(), Turn::Opens, 1),
        ]
    );
    assert_eq!(now.deeds.len(), 2);
    assert_eq!(now.counts.overridden, 1);
    assert_eq!(
        now.details(at(NOW), &Zone::utc()),
        [
            "MachineConfigPool/pool-1 opens on Sat 21 Nov at 00:00.",
            "No change waits.",
            "One resource is overridden.",
        ]
    );
}
