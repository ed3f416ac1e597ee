//! What is still to be recorded, and when is an object looked at again?

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{HOME, Pages, at};
use crate::{
    cluster::{
        kinds::{self, Pools},
        snapshot::Snapshot,
    },
    history::due::Histories,
};

fn freeze(version: &str, until: Option<&str>) -> Value {
    let mut spec = json!({"reason": "a storm"});
    if let Some(until) = until {
        spec["until"] = until.into();
    }
    json!({"metadata": {"name": "storm", "uid": "u1", "resourceVersion": version,
        "creationTimestamp": "2026-11-14T00:00:00Z"}, "spec": spec})
}

/// Records what is due, and tells it.
fn round(
    histories: &mut Histories,
    server: &mut Pages,
    cluster: &Snapshot,
    second: i64,
) -> Vec<&'static str> {
    let due = histories.due(cluster, |_| true, HOME, at(second));
    let mut words = Vec::new();
    for (namespace, facts) in due {
        assert_eq!(namespace, HOME, "what is in no namespace is recorded in that of the operator");
        words.extend(facts.iter().map(|fact| fact.what.as_str()));
        let chain = histories.chains.entry(namespace).or_default();
        let page = server.take(&chain.append(HOME, facts).unwrap()).unwrap();
        chain.answered(&page);
    }
    words
}

/// HIST-1: an end that was ahead is recorded when it comes, although the object has not changed; what is gone, when it is.
#[test]
fn what_was_ahead_is_recorded_when_it_comes() {
    let (mut histories, mut server) =
        (Histories::new(BTreeMap::new(), Pools::Managed), Pages::default());
    let mut cluster = Snapshot::default();
    cluster.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze("1", Some("2026-11-14T01:00:00Z")));
    let mut check = |cluster: &Snapshot, second: i64, expected: &[&str]| {
        let found = round(&mut histories, &mut server, cluster, second);
        assert_eq!(found, expected, "at second {second}");
    };
    check(&cluster, 10, &["Frozen"]);
    check(&cluster, 11, &[]);
    check(&cluster, 3599, &[]);
    check(&cluster, 3600, &["FreezeEnded"]);
    check(&cluster, 3601, &[]);
    // One that ended is told of no more when the operator deletes it (OVR-6).
    check(&Snapshot::default(), 90_000, &[]);
    // Another of the same name that somebody deletes is.
    let mut another = freeze("7", None);
    another["metadata"]["uid"] = "u2".into();
    another["metadata"]["creationTimestamp"] = "2026-11-15T02:00:00Z".into();
    let mut cluster = Snapshot::default();
    cluster.add(&kinds::CLUSTER_CHANGE_FREEZE, &another);
    check(&cluster, 100_000, &["Frozen"]);
    check(&Snapshot::default(), 100_001, &["Removed"]);
    check(&Snapshot::default(), 100_002, &[]);
}

/// HIST-1: a team's history is its namespace's.
#[test]
fn what_is_in_a_namespace_is_recorded_there() {
    let mut team = freeze("1", None);
    team["metadata"]["namespace"] = "shop".into();
    let mut cluster = Snapshot::default();
    cluster.add(&kinds::CHANGE_FREEZE, &team);
    cluster.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze("2", None));
    let due = Histories::new(BTreeMap::new(), Pools::Managed).due(&cluster, |_| true, HOME, at(10));
    let due: Vec<_> =
        due.iter().map(|(namespace, facts)| (namespace.as_str(), facts.len())).collect();
    assert_eq!(due, [("shop", 1), (HOME, 1)]);
}

/// What is due of one object after another, in lines.
fn course(rows: &[(i64, &'static kinds::Row, Value, &[&str])]) {
    let (mut histories, mut server) =
        (Histories::new(BTreeMap::new(), Pools::Managed), Pages::default());
    for (version, (second, row, document, expected)) in rows.iter().enumerate() {
        let mut document = document.clone();
        document["metadata"]["resourceVersion"] = version.to_string().into();
        let mut cluster = Snapshot::default();
        if !document["spec"].is_null() {
            cluster.add(row, &document);
        }
        // Whoever begins to lead now says the same.
        let mut fresh = Histories::new([(HOME.to_owned(), server.chain())].into(), Pools::Managed);
        let due = |histories: &mut Histories| -> Vec<String> {
            let due = histories.due(&cluster, |_| true, HOME, at(*second));
            let facts = due.get(HOME).into_iter().flatten();
            facts.map(|fact| format!("{} {}", fact.what.as_str(), fact.outcome)).collect()
        };
        let told = due(&mut histories);
        assert_eq!(due(&mut fresh), told, "row {version}");
        assert_eq!(told, *expected, "row {version}");
        round(&mut histories, &mut server, &cluster, *second);
        assert_eq!(due(&mut histories), [""; 0], "row {version}, a second time");
    }
}

fn frozen(spec: Value) -> Value {
    let mut made = json!({"metadata": {"name": "storm", "uid": "u1", "creationTimestamp": "2026-11-14T00:00:00Z"}});
    made["spec"] = spec;
    made
}

/// RCH-7, OVR-1: whoever weakens a freeze leaves a line, each time; what ended because somebody changed it did not end by itself; and what is in force again stands again.
#[test]
fn each_weakening_of_a_freeze_leaves_a_line() {
    const FREEZE: &kinds::Row = &kinds::CLUSTER_CHANGE_FREEZE;
    let until = |until: &str| frozen(json!({"reason": "a storm", "until": until}));
    let long = || until("2026-11-14T05:00:00Z");
    let holds = "nothing that it selects starts until 2026-11-14T05:00:00Z";
    let part = frozen(
        json!({"reason": "a storm", "until": "2026-11-14T05:00:00Z", "holds": [{"what": "Deployments"}]}),
    );
    let calm = frozen(json!({"reason": "a breeze", "until": "2026-11-14T05:00:00Z"}));
    let gone = || frozen(Value::Null);
    course(&[
        (10, FREEZE, long(), &[&format!("Frozen {holds}")]),
        (
            20,
            FREEZE,
            part.clone(),
            &[&format!("Changed {holds}; holds [{{\"what\":\"Deployments\"}}]")],
        ),
        (30, FREEZE, long(), &[&format!("Changed {holds}")]),
        (40, FREEZE, part, &[&format!("Changed {holds}; holds [{{\"what\":\"Deployments\"}}]")]),
        (50, FREEZE, calm, &[&format!("Changed {holds}")]),
        // Its end is moved behind it, to before it was created.
        (
            60,
            FREEZE,
            until("2026-11-13T05:00:00Z"),
            &[
                "Changed nothing that it selects starts until 2026-11-13T05:00:00Z",
                "FreezeEnded somebody changed it, and by that it ended at 2026-11-14T00:00:00Z",
            ],
        ),
        // And back: it is in force again, and who deletes it is told.
        (70, FREEZE, long(), &[&format!("Changed {holds}")]),
        (80, FREEZE, gone(), &["Removed it is not there any more"]),
    ]);
    let ended = "FreezeEnded it ended by itself";
    course(&[
        (10, FREEZE, long(), &[&format!("Frozen {holds}")]),
        (
            20,
            FREEZE,
            until("2026-11-14T00:01:00Z"),
            &["Changed nothing that it selects starts until 2026-11-14T00:01:00Z"],
        ),
        (60, FREEZE, until("2026-11-14T00:01:00Z"), &[ended]),
        (70, FREEZE, gone(), &[]),
    ]);
    // Whoever moves its beginning ahead thaws.
    let later = frozen(json!({"reason": "a storm", "from": "2026-11-14T04:00:00Z"}));
    let text = "nothing that it selects starts from 2026-11-14T04:00:00Z until further notice";
    course(&[
        (
            10,
            FREEZE,
            frozen(json!({"reason": "a storm"})),
            &["Frozen nothing that it selects starts until further notice"],
        ),
        (20, FREEZE, later.clone(), &[&format!("Changed {text}")]),
        (14_400, FREEZE, later, &[&format!("Frozen {text}")]),
    ]);
}

/// RCH-7: of a gate is told what it says, and each time that it says another thing.
#[test]
fn each_weakening_of_a_gate_leaves_a_line() {
    const GATE: &kinds::Row = &kinds::CLUSTER_CHANGE_GATE;
    let gate = |mode: &str, exempt: Value| {
        let mut spec = json!({"mode": mode, "holds": [{"what": "Deployments"}],
            "changeManagement": {"strategy": "Restrictive"}});
        if !exempt.is_null() {
            spec["exempt"] = exempt;
        }
        frozen(spec)
    };
    let says = |mode: &str, more: &str| {
        format!(
            "Changed mode {mode}, changeManagement {{\"strategy\":\"Restrictive\"}}, holds [{{\"what\":\"Deployments\"}}]{more}"
        )
    };
    course(&[
        (10, GATE, gate("Enforce", Value::Null), &[&says("Enforce", "")]),
        (20, GATE, gate("Audit", Value::Null), &[&says("Audit", "")]),
        (30, GATE, gate("Enforce", Value::Null), &[&says("Enforce", "")]),
        (
            40,
            GATE,
            gate("Enforce", json!({"users": ["eve"]})),
            &[&says("Enforce", ", exempt {\"users\":[\"eve\"]}")],
        ),
        (50, GATE, frozen(Value::Null), &["Removed it is not there any more"]),
    ]);
}

/// GATE-16: a stamp that anybody may have made anew records nothing anew; another permit does.
#[test]
fn a_node_that_is_stamped_again_was_begun_once() {
    use api::machine::names as machines;
    const NODE: &kinds::Row = &kinds::NODE;
    let node = |until: &str, config: &str, current: &str, managed: Value| {
        let mut node = frozen(json!({}));
        node["metadata"]["name"] = "n1".into();
        node["metadata"]["managedFields"] = managed;
        node["metadata"]["annotations"] = json!({machines::CURRENT_CONFIG: current, machines::DESIRED_CONFIG: config,
            machines::STATE: "Done", machines::PERMIT_CHANGE: config, machines::PERMIT_BASIS: "window",
            machines::PERMIT_FROM: "2026-11-14T00:00:00Z", machines::PERMIT_UNTIL: until});
        node
    };
    let stamp = |second: &str, operation: &str| {
        let owned = json!({"f:metadata": {"f:annotations": {format!("f:{}", machines::PERMIT_CHANGE): {}}}});
        json!([{"manager": "tidegate-rollout", "operation": operation, "fieldsV1": owned,
            "time": format!("2026-11-14T00:00:{second}Z")}])
    };
    let (one, other) = ("2026-11-14T05:00:00Z", "2026-11-14T06:00:00Z");
    let (begun, done) = ("Initiated begun by the operator", "Finished done");
    course(&[
        (10, NODE, node(one, "b", "a", stamp("05", "Apply")), &[begun]),
        (20, NODE, node(one, "b", "a", stamp("15", "Apply")), &[]),
        (21, NODE, node(one, "b", "a", stamp("16", "Update")), &[]),
        (22, NODE, node(one, "b", "a", json!([])), &[]),
        (30, NODE, node(one, "b", "b", stamp("25", "Apply")), &[done]),
        (40, NODE, node(one, "b", "b", stamp("35", "Apply")), &[]),
        // Back, and there again.
        (50, NODE, node(one, "a", "b", stamp("45", "Apply")), &[begun]),
        (55, NODE, node(one, "b", "a", stamp("51", "Apply")), &[begun]),
        (57, NODE, node(other, "b", "a", stamp("56", "Apply")), &[begun]),
    ]);
    // Whoever takes the stamp away takes nothing from the record.
    course(&[
        (10, NODE, node(one, "b", "a", json!([])), &[begun]),
        (20, NODE, node(one, "b", "a", stamp("15", "Apply")), &[]),
    ]);
}

/// GATE-13: what began outside is recorded once, whether the condition that tells it is written or not.
#[test]
fn what_began_outside_is_told_once_and_as_what_it_was() {
    const VERSION: &kinds::Row = &kinds::CLUSTER_VERSION;
    let release = |version: &str, digit: &str, started: &str, state: &str| {
        json!({"version": version, "image": format!("registry/release@sha256:{}", digit.repeat(64)),
            "startedTime": started, "state": state})
    };
    let began = "2026-11-14T00:01:00Z";
    let version = |state: &str, end: Option<&str>, conditions: Value| {
        let history = [
            release("4.2.0", "2", began, "Partial"),
            release("4.1.0", "1", "2026-01-01T00:00:00Z", "Completed"),
        ];
        let current = json!({"state": state, "startTime": "2026-11-13T00:00:00Z", "endTime": end, "reason": "why"});
        let mut version = frozen(json!({"changeManagement": {"strategy": "Restrictive"}}));
        version["metadata"]["name"] = "version".into();
        version["status"] = json!({"desired": history[0], "history": history, "conditions": conditions,
            "changeManagement": {"behavior": {"current": current, "history": []}}});
        version
    };
    let outside = json!([{"type": api::names::INITIATED_OUTSIDE_WINDOW, "status": "True", "reason": "GateShut",
        "message": "it began", "lastTransitionTime": began}]);
    let (held, told) =
        ("Held no change starts", "InitiatedOutside begun by others while changes were held");
    course(&[
        (70, VERSION, version("ChangesPaused", None, json!([])), &[held, told]),
        (80, VERSION, version("ChangesPaused", None, outside.clone()), &[]),
    ]);
    // A status that has not come that far says nothing yet.
    let open = "Permitted changes may start";
    course(&[
        (70, VERSION, version("ChangesUnpaused", Some("2026-11-14T00:00:30Z"), json!([])), &[open]),
        (80, VERSION, version("ChangesUnpaused", Some("2026-11-14T00:00:30Z"), outside), &[told]),
    ]);
    course(&[(
        70,
        VERSION,
        version("ChangesUnpaused", None, json!([])),
        &[open, "Initiated begun by others"],
    )]);
}
