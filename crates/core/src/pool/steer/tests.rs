use std::collections::BTreeMap;

use api::machine::MachineConfigSpec;
use serde_json::json;

use super::*;
use crate::pool::source::Rendered;

fn config(name: &str) -> Rendered {
    Rendered {
        name: name.into(),
        resource_version: String::new(),
        pool: "worker".into(),
        created: None,
        digests: BTreeMap::new(),
        spec: MachineConfigSpec::default(),
    }
}

fn pool(spec: &Value, previous: Option<&str>) -> SeenPool {
    SeenPool::new(&json!({
        "metadata": {
            "name": "worker",
            "resourceVersion": "7",
            "annotations": {names::PREVIOUS_CONFIG: previous.unwrap_or_default()},
        },
        "spec": spec,
        "status": {"configuration": {"name": "r1"}},
    }))
}

/// The name that a verb pins, and what it records for a rollback; or the words it refuses with.
fn check(found: Result<Value, Box<Problem>>, expected: Result<(&str, Option<&str>), &str>) {
    match (found, expected) {
        (Ok(patch), Ok((name, previous))) => {
            assert_eq!(patch["spec"]["machineConfig"]["name"], name);
            assert_eq!(patch["metadata"]["annotations"][names::PREVIOUS_CONFIG], json!(previous));
            assert_eq!(patch["metadata"]["resourceVersion"], "7");
        }
        (Err(problem), Err(words)) => {
            assert!(problem.detail.contains(words), "{}", problem.detail);
            assert!(problem.hint.is_some());
        }
        (found, expected) => panic!("{found:?}, and not {expected:?}"),
    }
}

/// POOL-8
#[test]
fn start_records_what_the_pool_had_and_rollback_restores_it_or_refuses() {
    let configs = [config("r1"), config("r2"), config("r3")];
    let newest = json!({"configuration": {"name": "r3"}});
    let pinned = json!({"configuration": {"name": "r3"}, "machineConfig": {"name": "r2"}});
    let shelf = |pool: &SeenPool| Shelf::new(pool, &configs);
    let started = |spec: &Value, previous, wanted| {
        let pool = pool(spec, previous);
        start(&pool, &shelf(&pool), wanted)
    };
    check(started(&newest, None, None), Ok(("r3", Some("r1"))));
    check(started(&newest, None, Some("r2")), Ok(("r2", Some("r1"))));
    check(started(&pinned, None, None), Ok(("r3", Some("r2"))));
    check(started(&pinned, Some("r1"), Some("r2")), Ok(("r2", Some("r1"))));
    check(started(&newest, None, Some("r9")), Err("no rendered configuration \"r9\""));
    check(started(&json!({}), None, None), Err("nothing has been rendered yet"));
    let rolled = |spec: &Value, previous| {
        let pool = pool(spec, previous);
        rollback(&pool, &shelf(&pool))
    };
    check(rolled(&pinned, Some("r1")), Ok(("r1", Some("r2"))));
    check(rolled(&newest, Some("r1")), Ok(("r1", None)));
    check(rolled(&pinned, None), Err("no earlier configuration is recorded"));
    check(rolled(&pinned, Some("r0")), Err("\"r0\" does not exist any more"));
}

/// POOL-7
#[test]
fn allowing_a_machine_names_the_target() {
    let configs = [config("r1"), config("r3")];
    let pool = pool(&json!({"configuration": {"name": "r3"}}), None);
    let shelf = Shelf::new(&pool, &configs);
    let node = |desired: &str| {
        SeenNode::new(
            &json!({"metadata": {"name": "n1", "annotations": {names::DESIRED_CONFIG: desired}}}),
        )
    };
    let patch = allow(&node("r1"), &pool, &shelf).unwrap();
    assert_eq!(patch["metadata"]["annotations"][names::ALLOWED_CONFIG], "r3");
    assert!(allow(&node("r3"), &pool, &shelf).unwrap_err().detail.contains("already"));
}
