//! Rows for D4-1, D4-3 and D4-5: what a stanza means, and what a pool makes of its cluster's.

use serde_json::json;

use super::*;
use crate::{
    cluster::{
        kinds::{self as rows, tests::gated},
        snapshot::Snapshot,
    },
    document::key::Key,
    gate::{Gate, change::ChangeId},
    policy::read,
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "rows are written in place")]
fn lowered(given: Value) -> VersionManaged {
    let document = json!({"metadata": {"name": "version"}, "spec": {"versionManagement": given}});
    super::read(&kinds::CLUSTER_VERSION, &document).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn spans(set: &TimeSet) -> Vec<String> {
    let edge = |edge: Option<Instant>| edge.map_or(String::new(), |edge| edge.to_string());
    let all = set.spans(at("2026-11-16T00:00:00Z")..at("2026-12-01T00:00:00Z"));
    all.map(|span| format!("{}..{}", edge(span.start), edge(span.end))).collect()
}

const WEEKEND: &str = "FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA";

/// D4-1, D4-3
#[test]
fn what_a_stanza_means() {
    let check = |given: Value, expected: &[&str]| {
        assert_eq!(spans(&lowered(given.clone()).parts.set), expected, "{given}");
    };
    let weekends = [
        "2026-11-21T00:00:00Z..2026-11-22T23:00:00Z",
        "2026-11-28T00:00:00Z..2026-11-29T23:00:00Z",
    ];
    let permit = |permit: &str| json!({"maintenanceWindows": {"permit": permit}});
    check(json!({}), &[".."]);
    check(json!({"pausedUntil": false}), &[".."]);
    check(json!({"maintenanceWindows": {}}), &[".."]);
    check(permit(WEEKEND), &weekends);
    check(json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": true}), &[]);
    check(json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": "true"}), &[]);
    check(json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": "false"}), &weekends);
    check(json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": "assisted"}), &[]);
    check(
        json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": true, "enforcing": false}),
        &[".."],
    );
    check(
        json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": "2026-11-22T12:00:00Z"}),
        &["2026-11-22T12:00:00Z..2026-11-22T23:00:00Z", weekends[1]],
    );
    // A day is its first second, and a pause that ends in the last hour leaves nothing of the window.
    check(
        json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": "2026-11-22"}),
        &["2026-11-22T00:00:00Z..2026-11-22T23:00:00Z", weekends[1]],
    );
    check(
        json!({"maintenanceWindows": {"permit": WEEKEND}, "pausedUntil": "2026-11-22T23:30:00Z"}),
        &weekends[1..],
    );
    // Only exclusions: open but for them, and the hour before.
    check(
        json!({"maintenanceWindows": {"exclude": [{"begin": "2026-11-20", "end": "2026-11-24"}]}}),
        &["..2026-11-19T23:00:00Z", "2026-11-24T00:00:00Z.."],
    );
    check(
        json!({"maintenanceWindows": {"permit": WEEKEND, "exclude": [{"begin": "2026-11-22"}]}}),
        &["2026-11-21T00:00:00Z..2026-11-21T23:00:00Z", weekends[1]],
    );
    // Shorter than an hour: to the end. The zone of DTSTART holds for exclusions too.
    check(
        permit("DTSTART:20261117T233000Z\nRRULE:FREQ=WEEKLY;COUNT=2"),
        &[
            "2026-11-17T23:30:00Z..2026-11-18T00:00:00Z",
            "2026-11-24T23:30:00Z..2026-11-25T00:00:00Z",
        ],
    );
    check(
        json!({"maintenanceWindows": {
            "permit": "DTSTART;TZID=Europe/Berlin:20261121T000000\nRRULE:FREQ=WEEKLY",
            "exclude": [{"begin": "2026-11-28", "end": "2026-11-29"}]}}),
        &["2026-11-20T23:00:00Z..2026-11-21T22:00:00Z"],
    );
}

/// What cannot be used is named, whatever else is right, and closes (D4-1, D4-5).
#[test]
fn what_cannot_be_used_is_named() {
    let check = |kind: &Kind, spec: Value, field: &str, words: &str| {
        let document = json!({"metadata": {"name": "it"}, "spec": spec});
        let found = super::read(kind, &document).expect_err("it is refused");
        let found: Vec<String> =
            found.iter().map(|one| format!("{}: {}", one.field, one.detail)).collect();
        let is_named = found.iter().any(|one| one.starts_with(field) && one.contains(words));
        assert!(is_named, "{spec}: {found:?}");
    };
    let version = |given: Value| json!({"versionManagement": given});
    let (cluster, pool) = (&kinds::CLUSTER_VERSION, &kinds::MACHINE_CONFIG_POOL);
    for paused in [json!("soon"), json!(1), json!([]), json!({}), json!("2026-02-30"), json!("")] {
        let field = "spec.versionManagement.pausedUntil: ";
        check(cluster, version(json!({"pausedUntil": paused})), field, "no pause that can be read");
        let aside = json!({"pausedUntil": paused, "enforcing": false});
        check(cluster, version(aside), field, "no pause that can be read");
    }
    let windows = |windows: Value| version(json!({"maintenanceWindows": windows}));
    let permit = "spec.versionManagement.maintenanceWindows.permit: ";
    check(cluster, windows(json!({"permit": "FREQ=HOURLY"})), permit, "HOURLY");
    check(cluster, windows(json!({"permit": "FREQ=DAILY;BYHOUR=9"})), permit, "at byte 11");
    check(cluster, windows(json!({"permit": 7})), permit, "a text is needed");
    let exclude = "spec.versionManagement.maintenanceWindows.exclude[0].";
    let days = |begin: &str, end: &str| windows(json!({"exclude": [{"begin": begin, "end": end}]}));
    check(cluster, days("2026-12-24", "2026-12-24"), exclude, "is not after begin");
    check(cluster, days("2026-02-30", "2026-12-24"), exclude, "2026-02-30");
    check(cluster, version(json!({"enforcin": false})), "spec.versionManagement.enforcin", "");
    let both = json!({"versionManagement": {}, "changeManagement": {"strategy": "Permissive"}});
    check(cluster, both, "spec.versionManagement: ", "are both given");
    // What nodes that are fixed cannot do.
    let replace = |strategy: &str| json!({"machineManagement": {"upgradeType": "Replace", "replace": {"strategy": strategy}}});
    for strategy in ["RollingUpdate", "OnDelete"] {
        let field = "spec.machineManagement.upgradeType: ";
        check(pool, replace(strategy), field, "the nodes of a MachineConfigPool are fixed");
    }
    check(pool, json!({"release": {"image": "r@sha256:1"}}), "spec.release: ", "of its own");
    check(pool, json!({"nodeDrainTimeout": "10m"}), "spec.nodeDrainTimeout: ", "no timeout");
    let in_place =
        json!({"metadata": {}, "spec": {"machineManagement": {"upgradeType": "InPlace"}}});
    assert!(!is_spelled(pool, &in_place));
    // On a NodePool they are its own.
    let own =
        json!({"metadata": {}, "spec": {"nodeDrainTimeout": "10m", "release": {"image": "r"}}});
    assert!(!is_spelled(&kinds::NODE_POOL, &own));
}

#[test]
fn windows_that_leave_nothing_are_worth_a_warning() {
    let warned = |permit: &str| {
        let found = lowered(json!({"maintenanceWindows": {"permit": permit}})).problems;
        found.iter().map(|one| one.detail.clone()).collect::<String>()
    };
    assert!(warned("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30").contains("never fires"));
    let hour = warned("DTSTART:20261117T230000Z\nRRULE:FREQ=WEEKLY");
    assert!(hour.contains("every window is an hour long"), "{hour}");
    assert_eq!(warned(WEEKEND), "");
}

/// Second by second around every edge, a stanza says what a reading of its words says.
#[test]
fn a_stanza_says_what_its_words_say() {
    let given = json!({"maintenanceWindows": {
        "permit": "FREQ=WEEKLY;BYDAY=MO,TU,FR", "exclude": [{"begin": "2026-11-24", "end": "2026-11-25"}]},
        "pausedUntil": "2026-11-17T10:00:00Z"});
    let set = lowered(given).parts.set;
    let day = |at: Instant| at.unix().div_euclid(86_400);
    // 1970-01-01 was a Thursday; 2026-11-24 is day 20781.
    let open = |day: i64| [4, 5, 1].contains(&day.rem_euclid(7)) && day != 20_781;
    let expected = |at: Instant| {
        let mut last = day(at);
        while open(last + 1) {
            last += 1;
        }
        let begun = at.unix() < (last + 1) * 86_400 - 3_600;
        open(day(at)) && begun && at.unix() >= self::at("2026-11-17T10:00:00Z").unix()
    };
    let mut now = at("2026-11-16T00:00:00Z");
    while now < at("2026-12-03T00:00:00Z") {
        for near in -1..=1 {
            let second = now.saturating_add(near);
            assert_eq!(set.contains(second), expected(second), "{second}");
        }
        now = now.saturating_add(1_800);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "rows are written in place")]
fn world(cluster: Value, pool: Value) -> Snapshot {
    let mut world = Snapshot::default();
    world.add(&rows::CLUSTER_VERSION, &json!({"metadata": {"name": "version"}, "spec": cluster}));
    world.add(&rows::MACHINE_CONFIG_POOL, &json!({"metadata": {"name": "worker"}, "spec": pool}));
    world
}

fn worker(world: &Snapshot) -> Gate {
    let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
    world.gate(world.resource(&key).unwrap())
}

/// D4-1: a pool's set is its own and its cluster's together.
#[test]
fn a_pool_lies_within_its_cluster() {
    let check = |cluster: Value, pool: Value, expected: &[&str]| {
        let gate = worker(&world(cluster.clone(), pool.clone()));
        assert_eq!(spans(gate.set()), expected, "{cluster} {pool}");
    };
    let version = |given: Value| json!({"versionManagement": given});
    let permit = |rule: &str| version(json!({"maintenanceWindows": {"permit": rule}}));
    let weekends = [
        "2026-11-21T00:00:00Z..2026-11-22T23:00:00Z",
        "2026-11-28T00:00:00Z..2026-11-29T23:00:00Z",
    ];
    // The cluster's windows hold a pool that says nothing, and one that says it does not enforce its own.
    check(permit(WEEKEND), json!({}), &weekends);
    let aside = version(json!({"enforcing": false, "pausedUntil": true}));
    check(permit(WEEKEND), aside.clone(), &weekends);
    check(json!({}), aside, &[".."]);
    check(
        version(json!({"enforcing": false, "maintenanceWindows": {"permit": WEEKEND}})),
        permit("FREQ=WEEKLY;BYDAY=MO"),
        &[
            "2026-11-16T00:00:00Z..2026-11-16T23:00:00Z",
            "2026-11-23T00:00:00Z..2026-11-23T23:00:00Z",
            "2026-11-30T00:00:00Z..2026-11-30T23:00:00Z",
        ],
    );
    check(permit(WEEKEND), permit("FREQ=WEEKLY;BYDAY=MO"), &[]);
    check(
        permit(WEEKEND),
        version(
            json!({"maintenanceWindows": {"exclude": [{"begin": "2026-11-20", "end": "2026-11-25"}]}}),
        ),
        &weekends[1..],
    );
    check(permit(WEEKEND), version(json!({"pausedUntil": true})), &[]);
    check(version(json!({"pausedUntil": true})), json!({}), &[]);
    // The newest spelling in one place, the older one in the other: both hold.
    check(permit(WEEKEND), json!({"changeManagement": {"strategy": "Permissive"}}), &weekends);
    check(
        json!({"changeManagement": {"strategy": "Restrictive"}}),
        version(json!({"enforcing": true})),
        &[],
    );
    // Neither is spelled so: pools are their own (GATE-1).
    check(json!({"changeManagement": {"strategy": "Restrictive"}}), json!({}), &[".."]);
}

/// What holds a pool is named, with the object that it comes from (GATE-9), and doubt about the cluster closes its pools.
#[test]
fn explain_names_the_part_that_holds() {
    let now = at("2026-11-18T12:00:00Z");
    let held = |world: &Snapshot, expected: (&str, &str)| {
        let gate = worker(world);
        let told = (gate.reason(now), crate::gate::explain::sentence(&gate, now));
        assert_eq!((told.0, told.1.as_str()), expected);
    };
    let permit = json!({"versionManagement": {"maintenanceWindows": {"permit": WEEKEND}}});
    held(
        &world(permit.clone(), json!({})),
        (
            "ClusterConstraint",
            "ClusterVersion/version holds it: spec.versionManagement: no maintenance window is open: by the rule FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA, all day, UTC",
        ),
    );
    held(
        &world(json!({}), json!({"versionManagement": {"pausedUntil": true}})),
        ("Restrictive", "spec.versionManagement: paused with pausedUntil"),
    );
    let wrong = world(json!({"versionManagement": {"pausedUntil": "soon"}}), json!({}));
    let gate = worker(&wrong);
    assert_eq!((gate.set().is_never(), gate.reason(now)), (true, "InvalidStanza"));
    assert_eq!(gate.verdict(now), crate::policy::verdict::Verdict::CannotTell);
    // In the last hour of a window it says so.
    let last = at("2026-11-22T23:30:00Z");
    let gate = worker(&world(permit, json!({})));
    let said = crate::gate::explain::sentence(&gate, last);
    assert!(said.ends_with("nothing new is begun in the last hour of a window"), "{said}");
    let tree = crate::gate::explain::explain(
        &Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker"),
        &gate,
        last,
    );
    assert_eq!(tree.until, Some(at("2026-11-28T00:00:00Z")));
}

/// `validate` says it with the field, once.
#[test]
fn a_document_is_judged_once() {
    let document = json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {"versionManagement": {"maintenanceWindows": {"permit": "FREQ=SOMETIMES"}, "pausedUntil": "soon", "enforcing": "yes"}}});
    let judged = read::document(&document);
    let found: Vec<String> = judged.problems.iter().map(|one| one.field.to_string()).collect();
    assert_eq!(found, ["spec.versionManagement.enforcing"], "{:#?}", judged.problems);
}

/// CV-2
#[test]
fn the_masters_have_the_stanza_of_the_cluster_version_in_its_spelling() {
    let mut world = world(json!({"versionManagement": {"pausedUntil": true}}), json!({}));
    let masters = json!({"metadata": {"name": "master", "resourceVersion": "3"}, "spec": {"changeManagement": {"strategy": "Permissive"}}});
    world.add(&rows::MACHINE_CONFIG_POOL, &masters);
    let pool = gated(&rows::MACHINE_CONFIG_POOL, &masters);
    assert!(world.gate(&pool).set().is_never());
    let follow = world.follow(&pool).expect("its stanza is another");
    let write = format!("{:?}", follow.write);
    assert!(write.contains("/spec/versionManagement") && write.contains("remove"), "{write}");
}

/// OVR-2: what opens the cluster for one release opens nothing for its pools.
#[test]
fn an_override_for_a_release_opens_no_pool() {
    let weekend =
        json!({"versionManagement": {"maintenanceWindows": {"permit": "FREQ=WEEKLY;BYDAY=SA,SU"}}});
    let opened = |only: Value| {
        let mut world = world(weekend.clone(), json!({}));
        let mut spec = json!({"target": {"kind": "ClusterVersion", "name": "version"},
            "until": "2026-11-18T18:00:00Z", "reason": "cve"});
        if !only.is_null() {
            spec["only"] = only;
        }
        let one = json!({"metadata": {"name": "cve", "creationTimestamp": "2026-11-18T11:00:00Z"}, "spec": spec});
        world.add(&rows::CLUSTER_CHANGE_OVERRIDE, &one);
        let gate = worker(&world);
        let now = at("2026-11-18T12:00:00Z");
        let going = gate.clone().going_to(&ChangeId::rendered("rendered-worker-2"));
        (gate.permit(now).is_ok(), going.permit(now).is_ok())
    };
    assert_eq!(
        opened(Value::Null),
        (true, true),
        "whoever opens the cluster opens it for its pools"
    );
    assert_eq!(opened(json!({"release": "4.20.3"})), (false, false));
}
