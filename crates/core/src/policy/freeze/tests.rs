use api::names;
use serde_json::json;

use super::*;
use crate::{
    cluster::{
        kinds::{self, Row},
        snapshot::Snapshot,
    },
    gate::{Basis, Gate, Hold},
    policy::verdict::Verdict,
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

const NOW: &str = "2026-11-16T12:00:00Z";
const CREATED: &str = "2026-11-16T11:00:00Z";

fn object(row: &Row, namespace: Option<&str>, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": row.api_version, "kind": row.name, "spec": spec,
        "metadata": {"name": name, "namespace": namespace, "generation": 1, "creationTimestamp": CREATED}})
}

/// A freeze of the cluster, or of a namespace.
fn frozen(namespace: Option<&str>, mut spec: Value) -> (&'static Row, Value) {
    spec["reason"] = json!("a storm");
    let row = match namespace {
        Some(_) => &kinds::CHANGE_FREEZE,
        None => &kinds::CLUSTER_CHANGE_FREEZE,
    };
    (row, object(row, namespace, "stop", &spec))
}

fn worker(cluster: &Snapshot) -> Gate {
    let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
    cluster.gate(cluster.resource(&key).unwrap())
}

fn with_worker(stanza: &Value) -> Snapshot {
    let mut cluster = Snapshot::default();
    let row = &kinds::MACHINE_CONFIG_POOL;
    cluster.add(row, &object(row, None, "worker", &json!({"changeManagement": stanza})));
    cluster
}

/// What a freeze does to each of these, in this order: version, master, worker, infra, hosted in `a`, gate in `a`, hosted in `b`, gate in
/// `kube-x`, gate of the cluster. `x` is held, `?` is that nobody can tell. Namespace `a` was seen, with label `env=prod`; `b` was not.
#[test]
fn what_a_freeze_selects() {
    #[track_caller]
    fn check((row, freeze): (&'static Row, Value), expected: &str) {
        let mut cluster = Snapshot::default();
        cluster.add(row, &freeze);
        let labels = json!({"env": "prod", "kubernetes.io/metadata.name": "a"});
        cluster.add(&kinds::NAMESPACE, &json!({"metadata": {"name": "a", "labels": labels}}));
        let stanza = json!({"changeManagement": {"strategy": "Permissive"}});
        let mut gate = stanza.clone();
        gate["holds"] = json!([{"what": "Deployments"}]);
        let objects: [(&'static Row, _, _, _); 9] = [
            (&kinds::CLUSTER_VERSION, None, "version", &stanza),
            (&kinds::MACHINE_CONFIG_POOL, None, "master", &stanza),
            (&kinds::MACHINE_CONFIG_POOL, None, "worker", &stanza),
            (&kinds::MACHINE_CONFIG_POOL, None, "infra", &stanza),
            (&kinds::HOSTED_CLUSTER, Some("a"), "hosted", &stanza),
            (&kinds::CHANGE_GATE, Some("a"), "gate", &gate),
            (&kinds::HOSTED_CLUSTER, Some("b"), "hosted", &stanza),
            (&kinds::CHANGE_GATE, Some("kube-x"), "gate", &gate),
            (&kinds::CLUSTER_CHANGE_GATE, None, "gate", &gate),
        ];
        let mut found = String::new();
        for (row, namespace, name, spec) in objects {
            cluster.add(row, &object(row, namespace, name, spec));
            let gated = cluster.resource(&Key::new(row, namespace, name)).unwrap();
            found.push(match cluster.gate(gated).verdict(at(NOW)) {
                Verdict::Held => 'x',
                Verdict::Permitted => '.',
                Verdict::CannotTell => '?',
            });
        }
        assert_eq!(found, expected, "{freeze}");
    }

    let named = |name: &str| json!({"matchLabels": {"kubernetes.io/metadata.name": name}});
    let labelled = |value: &str| json!({"namespaceSelector": {"matchLabels": {"env": value}}});
    let demanded = |operator: &str, values: Value| {
        let demand = json!({"key": "env", "operator": operator, "values": values});
        json!({"namespaceSelector": {"matchExpressions": [demand]}})
    };
    check(frozen(None, json!({})), "xxxxxxx.x");
    check(frozen(None, json!({"until": NOW})), ".........");
    check(frozen(None, json!({"from": "2026-11-16T12:00:01Z"})), ".........");
    check(frozen(None, json!({"from": NOW, "until": "2026-11-16T12:00:01Z"})), "xxxxxxx.x");
    check(frozen(None, json!({"holds": [{"what": "ClusterVersion"}]})), "xx.......");
    check(frozen(None, json!({"holds": [{"what": "MachineConfigPools"}]})), "..xx.....");
    check(
        frozen(None, json!({"holds": [{"what": "MachineConfigPools", "names": ["infra"]}]})),
        "...x.....",
    );
    check(frozen(None, json!({"holds": [{"what": "Deployments"}]})), ".....x..x");
    // Where hosted clusters begin by marks, their rooms are what people freeze.
    check(frozen(None, json!({"holds": [{"what": "HostedClusters"}]})), "....x.x..");
    check(
        frozen(Some("a"), json!({"holds": [{"what": "HostedClusters", "names": ["hosted"]}]})),
        "....x....",
    );
    check(
        frozen(Some("a"), json!({"holds": [{"what": "HostedClusters", "names": ["b"]}]})),
        ".........",
    );
    check(frozen(None, json!({"holds": [{"what": "NodePools"}]})), ".........");
    // A part of what a gate holds is for the server to judge.
    check(frozen(None, json!({"holds": [{"what": "Deployments", "names": ["web"]}]})), ".........");
    check(frozen(None, json!({"namespaceSelector": named("a")})), "....xx...");
    check(frozen(None, json!({"namespaceSelector": named("kube-x")})), ".......x.");
    // RCH-13: by their labels, and nobody can tell of a namespace that nobody saw.
    check(frozen(None, json!({"namespaceSelector": {}})), "....xxx..");
    check(frozen(None, labelled("prod")), "....xx?..");
    check(frozen(None, labelled("test")), "......?..");
    check(frozen(None, demanded("In", json!(["prod"]))), "....xx?..");
    check(frozen(None, demanded("NotIn", json!(["prod"]))), "......?..");
    check(frozen(None, demanded("Exists", json!([]))), "....xx?..");
    check(frozen(None, demanded("DoesNotExist", json!([]))), "......?..");
    check(frozen(Some("a"), json!({})), "....xx...");
    check(frozen(Some("kube-x"), json!({})), ".......x.");
    check(frozen(Some("c"), json!({})), ".........");
    // POL-8: what cannot be used holds whatever it may select, and nobody can tell until when.
    check(frozen(None, json!({"until": "soon"})), "???????.?");
    check(frozen(None, json!({"from": 7})), "???????.?");
    check(frozen(None, json!({"from": NOW, "until": NOW})), "???????.?");
    check(frozen(None, json!({"namespaceSelector": "all"})), "???????.?");
    check(frozen(None, json!({"holds": "everything"})), "???????.?");
    check(frozen(None, json!({"holds": [{"what": "Submarines"}]})), "???????.?");
    check(frozen(Some("a"), json!({"until": "soon"})), "....??...");
}

/// OVR-1, GATE-15: whatever lies below, and it ends by itself.
#[test]
fn a_gate_is_shut_while_it_is_frozen_and_says_so() {
    let stanzas = [Value::Null, json!({"strategy": "Permissive"})];
    for (stanza, basis) in stanzas.iter().zip([Basis::NoStanza, Basis::Strategy]) {
        let mut cluster = with_worker(stanza);
        let until = "2026-11-16T14:00:00Z";
        let (row, freeze) = frozen(None, json!({"until": until, "by": "jane"}));
        cluster.add(row, &freeze);
        let gate = worker(&cluster);
        let hold = Hold { reason: names::FROZEN, until: Some(at(until)) };
        assert_eq!(gate.permit(at(NOW)), Err(hold));
        let seen = cluster.resource(&Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker"));
        let seen = seen.unwrap();
        let behavior = cluster.behavior(seen, at(NOW));
        assert_eq!(behavior.current.start_time.as_deref(), Some(CREATED));
        assert_eq!(behavior.current.end_time.as_deref(), Some(until));
        let expected =
            format!("frozen by ClusterChangeFreeze/stop until {until}, by jane: a storm");
        assert_eq!(behavior.current.reason, expected);
        let tree = cluster.explain(seen, at(NOW));
        assert_eq!((tree.verdict, tree.because[0].verdict), (Verdict::Held, Verdict::Held));
        assert_eq!(tree.because[0].text(&schedule::Zone::utc()), expected);
        assert_eq!(tree.because[1].verdict, Verdict::Permitted, "the stanza itself permits");
        let after = gate.permit(at(until)).unwrap();
        assert_eq!((after.basis(), after.opened()), (&basis, Some(at(until))));
        // Nobody was frozen before it was there.
        assert!(gate.set().contains(at("2026-11-16T10:59:59Z")));
        cluster.remove(&Key::new(row, None, "stop"));
        assert!(worker(&cluster).set().is_always());
    }
}

/// A permit that was given before ends when the freeze begins, and the server refuses the write from then on (GATE-7).
#[test]
fn a_permit_ends_where_a_freeze_begins() {
    let mut cluster = with_worker(&json!({"strategy": "Permissive"}));
    let (row, freeze) = frozen(None, json!({"from": "2026-11-16T12:00:30Z"}));
    cluster.add(row, &freeze);
    let permit = worker(&cluster).permit(at(NOW)).unwrap();
    assert_eq!(permit.write_by(), at("2026-11-16T12:00:30Z"));
}

/// One that began with its creation holds from when it can be read: a clock that is behind the server's opens nothing.
#[test]
fn a_freeze_that_can_be_read_holds_whatever_the_clock_says() {
    let mut cluster = with_worker(&Value::Null);
    let until = "2026-11-16T14:00:00Z";
    let (row, freeze) = frozen(None, json!({"until": until}));
    cluster.add(row, &freeze);
    let behind = at("2026-11-16T10:59:57Z");
    let gate = worker(&cluster);
    let hold = Hold { reason: names::FROZEN, until: Some(at(until)) };
    assert_eq!((gate.permit(behind), gate.is_frozen(behind)), (Err(hold), true));
    // What its author wrote down is an instant like any other.
    let (row, freeze) = frozen(None, json!({"from": CREATED, "until": until}));
    cluster.add(row, &freeze);
    let gate = worker(&cluster);
    assert_eq!((gate.permit(behind).is_ok(), gate.is_frozen(behind)), (true, false));
}

/// Of two freezes the one that lasts longer is told; the gate opens when both are over. However many there are, it is one set.
#[test]
fn freezes_that_overlap_end_with_the_last() {
    let mut cluster = with_worker(&Value::Null);
    let row = &kinds::CLUSTER_CHANGE_FREEZE;
    for (name, until) in [("a", "2026-11-16T15:00:00Z"), ("b", "2026-11-16T14:00:00Z")] {
        let spec = json!({"reason": name, "until": until});
        cluster.add(row, &object(row, None, name, &spec));
    }
    let gate = worker(&cluster);
    assert_eq!(gate.permit(at(NOW)).unwrap_err().until, Some(at("2026-11-16T15:00:00Z")));
    assert_eq!(gate.freeze_at(at(NOW)).unwrap().reason, "a");
    for number in 0..10_000 {
        let spec = json!({"reason": "again", "until": "2026-11-16T16:00:00Z"});
        cluster.add(row, &object(row, None, &format!("n{number}"), &spec));
    }
    let hold = worker(&cluster).permit(at(NOW)).unwrap_err();
    assert_eq!(hold.until, Some(at("2026-11-16T16:00:00Z")));
}

/// GATE-12: where nobody can tell what comes after, the end of the freeze is not promised.
#[test]
fn doubt_about_the_policy_stays_doubt() {
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "missing"}});
    let mut cluster = with_worker(&stanza);
    let (row, freeze) = frozen(None, json!({}));
    cluster.add(row, &freeze);
    assert_eq!(worker(&cluster).verdict(at(NOW)), Verdict::CannotTell);
}

/// POL-8, GATE-9: a freeze that cannot be used says which field is wrong.
#[test]
fn a_freeze_that_cannot_be_used_names_its_field() {
    let mut cluster = with_worker(&Value::Null);
    let (row, freeze) = frozen(None, json!({"from": NOW, "until": CREATED}));
    cluster.add(row, &freeze);
    let gate = worker(&cluster);
    assert_eq!(gate.reason(at(NOW)), names::FREEZE_UNCLEAR);
    let said = gate.doubt_at(at(NOW)).unwrap().message.clone();
    assert_eq!(
        said,
        "ClusterChangeFreeze/stop cannot be used: spec.until: until must be later than from, which is 2026-11-16T12:00:00Z, so it holds until somebody mends it"
    );
    let tree = crate::gate::explain::explain(&freeze_key(), &gate, at(NOW));
    let first = tree.because.first().unwrap();
    assert_eq!((first.verdict, first.until), (Verdict::CannotTell, None), "an end that is over");
    assert_eq!(first.text(&schedule::Zone::utc()), said);
}

fn freeze_key() -> Key {
    Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker")
}

/// POL-8: nobody knows what the author of one meant that cannot be used, so it holds whatever it may select.
#[test]
fn a_freeze_that_cannot_be_used_holds_whatever_it_may_select() {
    for spec in [
        json!({"holds": []}),
        json!({"holds": [{"what": "MachineConfigPools", "names": []}]}),
        json!({"holds": [{"what": "KuredLock"}], "until": "soon"}),
        json!({"namespaceSelector": "everywhere"}),
    ] {
        let mut cluster = with_worker(&json!({"strategy": "Permissive"}));
        let (row, freeze) = frozen(None, spec.clone());
        cluster.add(row, &freeze);
        assert_eq!(worker(&cluster).verdict(at(NOW)), Verdict::CannotTell, "{spec}");
        assert!(worker(&cluster).permit(at(NOW)).is_err(), "{spec}");
    }
}

/// OVR-5: the windows of a gate are its own, because the server lets pass whom a freeze exempts.
#[test]
fn windows_of_a_gate_are_not_cut_by_freezes() {
    let mut cluster = Snapshot::default();
    let row = &kinds::CHANGE_GATE;
    let spec =
        json!({"changeManagement": {"strategy": "Permissive"}, "holds": [{"what": "Deployments"}]});
    cluster.add(row, &object(row, Some("a"), "gate", &spec));
    let (frozen, freeze) = frozen(Some("a"), json!({}));
    cluster.add(frozen, &freeze);
    let gate = cluster.gate(cluster.resource(&Key::new(row, Some("a"), "gate")).unwrap());
    assert!(gate.set().next_change(at(NOW)).is_none() && !gate.set().contains(at(NOW)));
    assert!(gate.own_set().is_always());
}

/// OVR-1: several freezes may hold all that a gate holds, each a part of it; before and after, the part is told.
#[test]
fn freezes_that_each_hold_a_part_shut_a_gate_together() {
    let mut cluster = Snapshot::default();
    let spec = json!({"changeManagement": {"strategy": "Permissive"},
        "holds": [{"what": "Deployments"}, {"what": "StatefulSets"}]});
    cluster.add(&kinds::CHANGE_GATE, &object(&kinds::CHANGE_GATE, Some("a"), "gate", &spec));
    let freezes = [
        (None, "Deployments", None, "2026-11-16T14:00:00Z"),
        (Some("a"), "StatefulSets", Some("2026-11-16T13:00:00Z"), "2026-11-16T15:00:00Z"),
    ];
    for (namespace, what, from, until) in freezes {
        let mut spec = json!({"holds": [{"what": what}], "until": until});
        if let Some(from) = from {
            spec["from"] = json!(from);
        }
        let (row, freeze) = frozen(namespace, spec);
        cluster.add(row, &freeze);
    }
    let key = Key::new(&kinds::CHANGE_GATE, Some("a"), "gate");
    let gate = cluster.gate(cluster.resource(&key).unwrap());
    let check = |hour: &str, verdict: Verdict, parts: &[&str]| {
        let at = at(&format!("2026-11-16T{hour}:00:00Z"));
        assert_eq!(gate.verdict(at), verdict, "{hour}");
        let found: Vec<&str> = ["Deployments", "StatefulSets"]
            .into_iter()
            .filter(|room| gate.share_at(room, at).is_some())
            .collect();
        assert_eq!(found, parts, "{hour}");
        assert_eq!(gate.freeze_at(at).is_some(), verdict == Verdict::Held, "{hour}");
    };
    check("12", Verdict::Permitted, &["Deployments"]);
    check("13", Verdict::Held, &["Deployments", "StatefulSets"]);
    check("14", Verdict::Permitted, &["StatefulSets"]);
    check("15", Verdict::Permitted, &[]);
    let one = at("2026-11-16T13:00:00Z");
    assert_eq!(gate.next_edge_above(at(NOW)), Some(one));
    assert_eq!(gate.reason(one), names::FROZEN);
    let said = crate::gate::explain::sentence(&gate, one);
    let parts: Vec<&str> = said.split("; ").collect();
    assert_eq!(parts.len(), 2, "{said}");
    assert!(parts.iter().any(|part| part.starts_with("frozen by ClusterChangeFreeze/stop ")));
    assert!(parts.iter().any(|part| part.starts_with("frozen by ChangeFreeze/a/stop ")), "{said}");
    assert_eq!(gate.own_set().next_change(at(NOW)), None, "the server reads freezes itself");
}
