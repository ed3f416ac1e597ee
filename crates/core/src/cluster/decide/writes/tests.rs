use std::collections::BTreeMap;

use api::machine::names;
use serde_json::json;

use super::*;
use crate::{
    cluster::kinds::{self, tests::gated},
    gate::gate,
    pool::ledger::Entry,
};

fn noon() -> Instant {
    Instant::parse("2026-11-15T12:00:00Z").unwrap()
}

/// A permit as the gate gives it to a pool with this stanza.
fn permit(stanza: &Value) -> Permit {
    let pool = gated(&kinds::MACHINE_CONFIG_POOL, &json!({"spec": {"changeManagement": stanza}}));
    gate(&pool.stanza, None).permit(noon()).unwrap()
}

fn mark(node: &str, stanza: &Value) -> Effect {
    Effect::SetDesiredConfig {
        node: node.into(),
        uid: "u1".into(),
        resource_version: "7".into(),
        config: "rendered-b".into(),
        until: noon().saturating_add(60),
        permit: permit(stanza),
    }
}

/// A ledger in which these nodes are reserved.
fn reserving(nodes: &[(&str, &str)]) -> Ledger {
    let mut ledger = Ledger::default();
    for (node, config) in nodes {
        ledger.reserve(node, Entry { config: (*config).into(), until: noon() });
    }
    ledger
}

/// GATE-7, GATE-16: the start of a change carries what the server judges it by, and is the only write with a permit.
#[test]
fn what_starts_a_change_carries_its_permit_its_end_and_its_record() {
    let until = json!({"strategy": "PermissiveUntil", "permissiveUntil": "2026-11-15T13:00:00Z"});
    let pool = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
    let [action] = &writes(vec![mark("n1", &until)], &pool, &Ledger::default())[..] else {
        panic!("one effect is one write")
    };
    assert_eq!(action.target, Key::new(&kinds::NODE, None, "n1"));
    assert_eq!(action.refused, Refused::ConcernsTheTargetAlone);
    let Write::Apply(Owner::Initiator, document) = &action.write else {
        panic!("not {:?}", action.write)
    };
    assert_eq!(
        *document,
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": "n1", "uid": "u1", "resourceVersion": "7",
        "annotations": {
            names::DESIRED_CONFIG: "rendered-b", names::PERMIT_CHANGE: "rendered-b",
            names::PERMIT_UNTIL: "2026-11-15T12:01:00Z", names::PERMIT_BASIS: "until",
        }}})
    );
    let started = action.initiation().unwrap();
    assert_eq!(started.change, ChangeId::rendered("rendered-b"));
    assert_eq!(started.uid, "u1");
    assert_eq!(
        started.note.message,
        "Node/n1 goes to rendered-b; basis: until; permit until 2026-11-15T12:01:00Z"
    );
}

/// POOL-2: room that only this plan would reserve is told apart from room that stands in the ledger.
#[test]
fn a_start_tells_whether_its_room_is_written() {
    let check = |written: &[(&str, &str)], planned: Option<&[(&str, &str)]>, expected| {
        let ledger = planned.map(|planned| Effect::WriteLedger {
            ledger: reserving(planned),
            operations: Vec::new(),
        });
        let effects = ledger.into_iter().chain([mark("n1", &json!({"strategy": "Permissive"}))]);
        let pool = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
        let actions = writes(effects.collect(), &pool, &reserving(written));
        let started = actions.last().and_then(Action::initiation).unwrap();
        assert_eq!(started.reserved, expected, "{written:?} {planned:?}");
    };
    check(&[], None, Reserved::ByThisPlan);
    check(&[], Some(&[("n1", "rendered-b")]), Reserved::ByThisPlan);
    check(&[("n1", "rendered-a")], Some(&[("n1", "rendered-b")]), Reserved::ByThisPlan);
    check(&[("n1", "rendered-b")], Some(&[]), Reserved::ByThisPlan);
    check(&[("n1", "rendered-b")], None, Reserved::Written);
    let both = [("n1", "rendered-b"), ("n2", "rendered-b")];
    check(&[("n1", "rendered-b")], Some(&both), Reserved::Written);
}

/// EXEC-1, GATE-16: whatever starts nothing has no permit, and is made from what was seen.
#[test]
fn upkeep_has_no_permit_and_yields_to_other_owners() {
    let pool = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
    let node = Key::new(&kinds::NODE, None, "n1");
    let config = Key::new(&kinds::MACHINE_CONFIG, None, "rendered-b");
    let (uid, resource_version) = ("u1".to_owned(), "7".to_owned());
    let patch = vec![json!({"op": "test"})];
    let rows = [
        (
            Effect::CreateRendered(Box::new(json!({"metadata": {"name": "rendered-b"}}))),
            (&config, Refused::EndsThePlan),
            Write::Create(json!({"metadata": {"name": "rendered-b"}})),
        ),
        (
            Effect::SetConfiguration(patch.clone()),
            (&pool, Refused::EndsThePlan),
            Write::JsonPatch(patch),
        ),
        (
            Effect::RecordSources {
                name: "rendered-b".into(),
                resource_version: resource_version.clone(),
                digests: "{}".into(),
            },
            (&config, Refused::EndsThePlan),
            Write::MergePatch(json!({"metadata": {
                "resourceVersion": "7",
                "annotations": {names::SOURCE_DIGESTS: "{}"},
            }})),
        ),
        (
            Effect::Adopt {
                node: "n1".into(),
                uid: uid.clone(),
                resource_version: resource_version.clone(),
                config: "rendered-a".into(),
            },
            (&node, Refused::ConcernsTheTargetAlone),
            Write::Apply(
                Owner::Upkeep,
                json!({"apiVersion": "v1", "kind": "Node", "metadata": {
                    "name": "n1", "uid": "u1", "resourceVersion": "7",
                    "annotations": {names::DESIRED_CONFIG: "rendered-a"}}}),
            ),
        ),
        (
            Effect::Note {
                node: "n1".into(),
                uid,
                resource_version,
                annotations: BTreeMap::from([(names::ALLOWED_CONFIG, None)]),
            },
            (&node, Refused::ConcernsTheTargetAlone),
            Write::MergePatch(json!({"metadata": {
                "uid": "u1", "resourceVersion": "7", "annotations": {names::ALLOWED_CONFIG: null}}})),
        ),
    ];
    for (effect, (target, refused), write) in rows {
        let [action] = &writes(vec![effect], &pool, &Ledger::default())[..] else { panic!() };
        let expected = Action { target: target.clone(), write, right: Right::Upkeep, refused };
        assert_eq!(*action, expected);
    }
}
