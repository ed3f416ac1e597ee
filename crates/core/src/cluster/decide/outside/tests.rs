//! Rows for GATE-13: what began outside a window is told, once.
use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{
        decide::{self, tests::apply},
        kinds::{self, Row, tests::gated},
    },
    gate::{enforced::Enforcement, gate, plan::Plan},
};

/// A cluster version that is held but for a day: Monday the 16th.
fn version() -> Value {
    json!({
        "metadata": {"name": "version", "resourceVersion": "1", "creationTimestamp": "2026-11-15T00:00:00Z"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}},
        "status": {"history": [{"version": "4.20.8", "state": "Completed", "startedTime": "2026-11-15T00:00:00Z"}]},
    })
}

fn settle(kind: &'static Row, document: &mut Value, now: &str) -> Plan {
    let decide = |document: &Value| {
        let seen = gated(kind, document);
        let now = Instant::parse(now).unwrap();
        decide::gated(&seen, &gate(&seen.stanza, None), Enforcement::Advisory, now)
    };
    let plan = decide(document);
    for operation in plan.status.iter().flat_map(|patch| &patch.operations) {
        apply(document, operation);
    }
    let again = decide(document);
    assert_eq!((again.status, again.notes), (None, vec![]), "a restart tells nothing twice");
    plan
}

fn told(plan: &Plan) -> Vec<&str> {
    let notes = plan.notes.iter();
    let notes = notes.filter(|note| note.reason == names::INITIATED_OUTSIDE_WINDOW);
    notes.map(|note| note.message.as_str()).collect()
}

fn condition(document: &Value) -> Option<(String, String)> {
    let conditions = document.pointer("/status/conditions")?.as_array()?;
    let found = conditions.iter().find(|known| known["type"] == names::INITIATED_OUTSIDE_WINDOW)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    Some((text("status"), text("lastTransitionTime")))
}

fn begin(document: &mut Value, history: &str, version: &str, at: &str) {
    let entry = json!({"version": version, "state": "Partial", "startedTime": at});
    document.pointer_mut(history).unwrap().as_array_mut().unwrap().insert(0, entry);
}

#[test]
fn an_update_that_begins_while_the_gate_is_shut_is_told_once_with_its_instant() {
    let mut version = version();
    settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-15T01:00:00Z");
    assert_eq!(condition(&version), None, "a healthy resource looks as others leave it");
    begin(&mut version, "/status/history", "4.21.3", "2026-11-16T02:00:00Z");
    let plan = settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-16T02:00:05Z");
    let message = "release 4.21.3 began at 2026-11-16T02:00:00Z, while changes were held";
    assert_eq!(told(&plan), [message]);
    assert_eq!(condition(&version), Some(("True".into(), "2026-11-16T02:00:00Z".into())));
    // It ends, the gate opens and closes: it stays what it was, and nobody is told again.
    version["status"]["history"][0]["state"] = json!("Completed");
    for (strategy, now) in [
        ("Restrictive", "2026-11-17T00:00:00Z"),
        ("Permissive", "2026-11-18T00:00:00Z"),
        ("Restrictive", "2026-11-19T00:00:00Z"),
    ] {
        version["spec"]["changeManagement"]["strategy"] = json!(strategy);
        let plan = settle(&kinds::CLUSTER_VERSION, &mut version, now);
        assert_eq!((told(&plan), condition(&version).unwrap().0.as_str()), (vec![], "True"));
    }
    // One that begins while the gate is open is as it should be, whenever that is looked at.
    begin(&mut version, "/status/history", "4.21.4", "2026-11-18T12:00:00Z");
    let plan = settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-19T00:00:01Z");
    assert_eq!((told(&plan), condition(&version).unwrap().0.as_str()), (vec![], "False"));
    begin(&mut version, "/status/history", "4.21.5", "2026-11-19T12:00:00Z");
    assert_eq!(
        told(&settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-19T13:00:00Z")).len(),
        1
    );
}

#[test]
fn what_the_gate_was_counts_and_not_what_it_is() {
    let mut version = version();
    version["spec"]["changeManagement"]["strategy"] = json!("Permissive");
    settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-15T01:00:00Z");
    begin(&mut version, "/status/history", "4.21.3", "2026-11-16T02:00:00Z");
    version["spec"]["changeManagement"]["strategy"] = json!("Restrictive");
    let plan = settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-16T03:00:00Z");
    assert_eq!((told(&plan).len(), condition(&version)), (0, None), "permitted when it began");
}

/// GATE-10, OVR-2: an override for one release opens its gate for that release alone, and is not there to be asked any more once the release
/// has begun. The permit beside the mark says by what it began; a permit that is not of this mark, or was not good then, says nothing.
#[test]
fn an_update_that_a_permit_let_begin_is_not_outside() {
    use api::machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL};
    let image = "registry/release@sha256:0";
    let mark = |release: &str, uid: &str| {
        json!({"version": release, "image": image, "uid": uid, "after": "2026-11-15T00:00:00Z",
            "at": "2026-11-16T02:00:00Z"})
        .to_string()
    };
    let own = mark("4.21.3", "u1");
    let permitted = json!({
        names::ACCEPTED_RELEASE: own, PERMIT_CHANGE: own,
        PERMIT_FROM: "2026-11-16T01:59:00Z", PERMIT_UNTIL: "2026-11-16T02:01:00Z",
        PERMIT_BASIS: "override: ClusterChangeOverride/version-1",
    });
    let check = |key: &str, value: Value, outside: bool| {
        let mut version = version();
        version["metadata"]["uid"] = json!("u1");
        settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-15T01:00:00Z");
        version["metadata"]["annotations"] = permitted.clone();
        version["metadata"]["annotations"][key] = value.clone();
        // The one who installs it takes it up a moment later.
        begin(&mut version, "/status/history", "4.21.3", "2026-11-16T02:05:00Z");
        let plan = settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-16T02:05:05Z");
        let found = (told(&plan).len(), condition(&version).map(|(status, _)| status));
        let expected = if outside { (1, Some("True".to_owned())) } else { (0, None) };
        assert_eq!(found, expected, "{key}: {value}");
    };
    check(PERMIT_BASIS, json!("override: ClusterChangeOverride/version-1"), false);
    check(PERMIT_BASIS, json!("window"), false);
    check(PERMIT_FROM, Value::Null, false);
    // Nobody permitted it, or something else.
    check(PERMIT_BASIS, Value::Null, true);
    check(PERMIT_BASIS, json!(""), true);
    check(PERMIT_BASIS, json!("because"), true);
    check(PERMIT_BASIS, json!("consent for Node/w1"), true);
    check(PERMIT_CHANGE, Value::Null, true);
    check(PERMIT_CHANGE, json!(mark("4.21.2", "u1")), true);
    check(PERMIT_UNTIL, Value::Null, true);
    check(PERMIT_UNTIL, json!("soon"), true);
    check(PERMIT_UNTIL, json!("2026-11-16T02:00:00Z"), true);
    check(PERMIT_FROM, json!("2026-11-16T02:00:01Z"), true);
    // Nobody marked it: the mark is of another release, or of another object (GATE-16).
    check(names::ACCEPTED_RELEASE, Value::Null, true);
    check(names::ACCEPTED_RELEASE, json!(mark("4.21.2", "u1")), true);
    let restored = json!(mark("4.21.3", "u2"));
    check(names::ACCEPTED_RELEASE, restored, true);
}

/// The alarm of an update that nobody permitted ends with one that somebody did.
#[test]
fn a_permitted_update_ends_the_alarm_of_the_one_before() {
    use api::machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_UNTIL};
    let mut version = version();
    version["metadata"]["uid"] = json!("u1");
    settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-15T01:00:00Z");
    begin(&mut version, "/status/history", "4.21.3", "2026-11-16T02:00:00Z");
    let plan = settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-16T02:00:05Z");
    assert_eq!(told(&plan).len(), 1);
    let mark =
        json!({"version": "4.21.4", "image": "i", "uid": "u1", "after": "2026-11-16T02:00:00Z",
        "at": "2026-11-17T02:00:00Z"})
        .to_string();
    version["metadata"]["annotations"] = json!({names::ACCEPTED_RELEASE: mark, PERMIT_CHANGE: mark,
        PERMIT_UNTIL: "2026-11-17T02:01:00Z", PERMIT_BASIS: "override: ClusterChangeOverride/o"});
    begin(&mut version, "/status/history", "4.21.4", "2026-11-17T02:00:03Z");
    let plan = settle(&kinds::CLUSTER_VERSION, &mut version, "2026-11-17T02:00:05Z");
    assert_eq!(told(&plan).len(), 0);
    assert_eq!(condition(&version), Some(("False".into(), "2026-11-17T02:00:00Z".into())));
    let said = &version["status"]["conditions"];
    let by = "release 4.21.4 began at 2026-11-17T02:00:00Z, by a permit; basis: override: ClusterChangeOverride/o";
    assert!(said.to_string().contains(by), "{said}");
}

#[test]
fn what_is_not_recorded_is_not_claimed() {
    // The installation is the first entry; and what began before the gate stood was not its business.
    let mut installed = version();
    installed["status"]["history"][0]["startedTime"] = json!("2026-11-15T02:00:00Z");
    assert_eq!(
        told(&settle(&kinds::CLUSTER_VERSION, &mut installed, "2026-11-15T03:00:00Z")).len(),
        0
    );
    let mut earlier = version();
    begin(&mut earlier, "/status/history", "4.21.3", "2026-11-14T00:00:00Z");
    assert_eq!(
        told(&settle(&kinds::CLUSTER_VERSION, &mut earlier, "2026-11-15T03:00:00Z")).len(),
        0
    );
    let mut ahead = version();
    begin(&mut ahead, "/status/history", "4.21.3", "2026-11-17T00:00:00Z");
    assert_eq!(
        told(&settle(&kinds::CLUSTER_VERSION, &mut ahead, "2026-11-16T00:00:00Z")).len(),
        0,
        "another clock"
    );
    let mut without = version();
    without["spec"] = json!({});
    begin(&mut without, "/status/history", "4.21.3", "2026-11-16T00:00:00Z");
    assert_eq!(
        told(&settle(&kinds::CLUSTER_VERSION, &mut without, "2026-11-16T03:00:00Z")).len(),
        0,
        "GATE-1"
    );
}

#[test]
fn hosted_clusters_and_pools_that_others_roll_out_are_seen_too() {
    let mut hosted = version();
    hosted["status"] = json!({"version": {"desired": {"version": "4.20.8"}, "history": [
        {"version": "4.20.8", "state": "Completed", "startedTime": "2026-11-15T00:00:00Z"}]}});
    settle(&kinds::HOSTED_CLUSTER, &mut hosted, "2026-11-15T01:00:00Z");
    begin(&mut hosted, "/status/version/history", "4.21.3", "2026-11-16T02:00:00Z");
    assert_eq!(told(&settle(&kinds::HOSTED_CLUSTER, &mut hosted, "2026-11-16T02:00:05Z")).len(), 1);

    let mut pool = version();
    pool["spec"]["configuration"] = json!({"name": "rendered-worker-b"});
    pool["status"] = json!({"conditions": [
        {"type": "Updating", "status": "False", "lastTransitionTime": "2026-11-16T02:00:00Z"}]});
    assert_eq!(
        told(&settle(&kinds::MACHINE_CONFIG_POOL, &mut pool, "2026-11-16T02:00:05Z")).len(),
        0
    );
    pool["status"]["conditions"][0]["status"] = json!("True");
    assert_eq!(
        told(&settle(&kinds::MACHINE_CONFIG_POOL, &mut pool, "2026-11-16T02:00:06Z")),
        ["rendered-worker-b began at 2026-11-16T02:00:00Z, while changes were held"]
    );
}

/// GATE-10: a node that goes without a record was told to by somebody who did not ask.
#[test]
fn machines_that_go_without_a_record_are_told_while_the_gate_is_shut() {
    use crate::{
        cluster::seen::{Part, Seen},
        pool::PoolPlan,
    };
    let machine = |name: &str, desired: &str, permitted: &str| {
        let document = json!({"metadata": {"name": name, "annotations": {
            "machineconfiguration.openshift.io/currentConfig": "a",
            "machineconfiguration.openshift.io/desiredConfig": desired,
            api::machine::names::PERMIT_CHANGE: permitted,
        }}});
        let Seen::Part(part) = kinds::NODE.see(&document) else { panic!() };
        let Part::Node(machine) = &part.part else { panic!() };
        SeenMachine::clone(machine)
    };
    let ledger =
        json!([{"node": "old", "config": "b", "until": "2026-11-15T00:05:00Z"}]).to_string();
    let mut pool = version();
    pool["metadata"]["annotations"] = json!({api::machine::names::LEDGER: ledger});
    let unrecorded = |machines: &[SeenMachine]| {
        let seen = gated(&kinds::MACHINE_CONFIG_POOL, &json!({"metadata": pool["metadata"]}));
        super::unrecorded(seen.pool.as_deref().unwrap(), machines)
    };
    let asked = [machine("done", "a", ""), machine("asked", "b", "b"), machine("old", "b", "")];
    assert_eq!(unrecorded(&asked), [""; 0]);
    let stray = [machine("stray", "b", ""), machine("reused", "b", "a")];
    let stray = unrecorded(&stray);
    assert_eq!(stray, ["Node/stray to b", "Node/reused to b"]);

    let mut pool = version();
    let mut settle = |unrecorded: &[String], strategy: &str, now: &str| {
        pool["spec"]["changeManagement"]["strategy"] = json!(strategy);
        let decide = |pool: &Value| {
            let seen = gated(&kinds::MACHINE_CONFIG_POOL, pool);
            let planned = PoolPlan { unrecorded: unrecorded.to_vec(), ..PoolPlan::default() };
            decide::pool(&seen, planned, &gate(&seen.stanza, None), Instant::parse(now).unwrap())
        };
        let plan = decide(&pool);
        for operation in plan.status.iter().flat_map(|patch| &patch.operations) {
            apply(&mut pool, operation);
        }
        assert_eq!(decide(&pool).status, None, "STAT-3");
        (told(&plan).len(), condition(&pool))
    };
    let row = |told: usize, status: &str, since: &str| {
        (told, Some((status.to_owned(), since.to_owned())))
    };
    assert_eq!(settle(&[], "Restrictive", "2026-11-16T00:00:00Z"), (0, None));
    assert_eq!(settle(&stray, "Permissive", "2026-11-16T01:00:00Z"), (0, None), "the gate is open");
    let began = "2026-11-16T02:00:00Z";
    assert_eq!(settle(&stray, "Restrictive", began), row(1, "True", began));
    assert_eq!(settle(&stray, "Restrictive", "2026-11-16T03:00:00Z"), row(0, "True", began));
    let mended = "2026-11-16T04:00:00Z";
    assert_eq!(settle(&[], "Restrictive", mended), row(0, "False", mended));
    assert_eq!(settle(&[], "Restrictive", "2026-11-16T05:00:00Z"), row(0, "False", mended));
}
