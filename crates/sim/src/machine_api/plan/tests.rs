use super::*;

fn deployed(replicas: i64, surge: &Value, missing: &Value, version: &str) -> Value {
    json!({"metadata": {"name": "md", "namespace": "n", "uid": "u", "generation": 1},
        "spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": missing}},
            "template": {"spec": {"version": version}}}})
}

/// A set at a revision, with so many wanted, there and available, of so many wanted in all.
fn had(
    revision: i64,
    version: &str,
    (spec, there, available): (i64, i64, i64),
    desired: i64,
) -> Value {
    json!({"metadata": {"name": format!("md-{revision}"), "annotations":
            {REVISION: revision.to_string(), DESIRED: desired.to_string(), MOST: (desired + 1).to_string()}},
        "spec": {"replicas": spec, "template": {"spec": {"version": version}}},
        "status": {"replicas": there, "availableReplicas": available}})
}

fn told(deeds: &[Deed]) -> Vec<String> {
    let one = |deed: &Deed| match deed {
        Deed::CreateSet(set) => {
            format!("{} is made with {}", text(set, "/metadata/name"), set["spec"]["replicas"])
        }
        Deed::ScaleSet(name, change) => {
            let noted = change["metadata"]["annotations"][DESIRED].as_str().unwrap_or_default();
            format!("{name} gets {} of {noted}", change["spec"]["replicas"])
        }
        other => format!("{other:?}"),
    };
    deeds.iter().map(one).collect()
}

/// The rows of the algorithm: R wanted, S beyond, U missing.
#[test]
fn a_rollout_grows_the_new_set_and_shrinks_the_old_within_its_limits() {
    let check = |deployment: &Value, sets: &[Value], expected: &[&str]| {
        let deeds = super::deployment(Seen { deployment, sets, machines: &[] });
        assert_eq!(told(&deeds), expected, "{sets:?}");
    };
    let three = deployed(3, &json!(1), &json!(0), "b");
    check(&deployed(3, &json!(1), &json!(0), "a"), &[], &["md-1 is made with 3"]);
    check(&three, &[had(1, "a", (3, 3, 3), 3)], &["md-2 is made with 1"]);
    // Nothing before the new machine is there, then one by one.
    check(&three, &[had(1, "a", (3, 3, 3), 3), had(2, "b", (1, 1, 0), 3)], &[]);
    check(&three, &[had(1, "a", (3, 3, 3), 3), had(2, "b", (1, 1, 1), 3)], &["md-1 gets 2 of 3"]);
    check(&three, &[had(1, "a", (2, 2, 2), 3), had(2, "b", (1, 1, 1), 3)], &["md-2 gets 2 of 3"]);
    check(&three, &[had(1, "a", (0, 0, 0), 3), had(2, "b", (3, 3, 3), 3)], &[]);
    // Shares: surge rounds up, missing rounds down, and neither would never move.
    check(
        &deployed(10, &json!("25%"), &json!("25%"), "b"),
        &[had(1, "a", (10, 10, 10), 10)],
        &["md-2 is made with 3"],
    );
    check(
        &deployed(1, &json!(0), &json!(0), "b"),
        &[had(1, "a", (1, 1, 1), 1)],
        &["md-2 is made with 0"],
    );
    // Scaling in the middle of one: out goes to the new, in takes the old first, and what is wanted changes with it.
    let mut more = three.clone();
    more["spec"]["replicas"] = json!(5);
    check(
        &more,
        &[had(1, "a", (2, 2, 2), 3), had(2, "b", (2, 2, 2), 3)],
        &["md-2 gets 4 of 5", "md-1 gets 2 of 5"],
    );
    let mut fewer = three;
    fewer["spec"]["replicas"] = json!(2);
    check(
        &fewer,
        &[had(1, "a", (2, 2, 2), 3), had(2, "b", (2, 2, 2), 3)],
        &["md-2 gets 2 of 2", "md-1 gets 0 of 2"],
    );
}

/// What is not available may be what goes, or may not: nothing goes before it can be spared, and one goes when nothing else can happen.
#[test]
fn machines_that_are_not_available_slow_a_rollout_down_and_do_not_stop_it() {
    let check = |missing: i64, sets: &[Value], expected: &[&str]| {
        let deployment = deployed(3, &json!(1), &json!(missing), "b");
        let deeds = super::deployment(Seen { deployment: &deployment, sets, machines: &[] });
        assert_eq!(told(&deeds), expected, "{sets:?}");
    };
    // The new one is there and may be the only one to spare: the deadlock is broken.
    let stuck = [had(1, "a", (3, 3, 2), 3), had(2, "b", (1, 1, 1), 3)];
    check(0, &stuck, &["md-1 gets 2 of 3"]);
    // Not while something moves, and not while the new one is not there.
    check(0, &[had(1, "a", (3, 4, 2), 3), had(2, "b", (1, 1, 1), 3)], &[]);
    check(0, &[had(1, "a", (3, 3, 2), 3), had(2, "b", (1, 1, 0), 3)], &[]);
    // What is not available goes first, of whichever set; a set without any that is available can lose them all.
    check(
        1,
        &[had(1, "a", (1, 1, 1), 3), had(2, "c", (2, 2, 0), 3), had(3, "b", (1, 1, 1), 3)],
        &["md-2 gets 0 of 3"],
    );
    check(0, &[had(1, "a", (3, 3, 3), 3), had(2, "b", (1, 1, 1), 3)], &["md-1 gets 2 of 3"]);
}

/// As long as the newest set is refused the counts by sets tell nothing new, and the count by machines does.
#[test]
fn what_waits_for_its_first_step_is_told_by_the_count_of_machines() {
    let mut deployment = deployed(3, &json!(1), &json!(0), "a");
    let told = |deployment: &Value, sets: &[Value]| match super::status(Seen {
        deployment,
        sets,
        machines: &[],
    }) {
        Some(Deed::Status(change)) => change["status"].clone(),
        other => panic!("{other:?}"),
    };
    let first = [had(1, "a", (3, 3, 3), 3)];
    deployment["status"] = told(&deployment, &first);
    assert!(is_complete(&deployment));
    assert_eq!(super::status(Seen { deployment: &deployment, sets: &first, machines: &[] }), None);
    deployment["spec"]["template"]["spec"]["version"] = json!("b");
    deployment["metadata"]["generation"] = json!(2);
    let status = told(&deployment, &first);
    assert_eq!((&status["updatedReplicas"], &status["observedGeneration"]), (&json!(3), &json!(1)));
    assert_eq!(status["v1beta2"]["upToDateReplicas"], 0);
    deployment["status"] = status;
    assert!(!is_complete(&deployment));
    let second = [had(1, "a", (3, 3, 3), 3), had(2, "b", (1, 1, 0), 3)];
    let status = told(&deployment, &second);
    assert_eq!((&status["updatedReplicas"], &status["observedGeneration"]), (&json!(1), &json!(2)));
}

/// HOST-4: a person's deletion is the consent.
#[test]
fn with_on_delete_only_holes_are_filled() {
    let mut deployment = deployed(3, &json!(1), &json!(0), "b");
    deployment["spec"]["strategy"] = json!({"type": "OnDelete"});
    let noted = |mut set: Value| {
        set["metadata"]["annotations"][MOST] = json!("3");
        set
    };
    let plan = |sets: &[Value]| {
        let machines: Vec<Value> = sets
            .iter()
            .flat_map(|set| {
                let machine = json!({"metadata": {"labels": {SET: set["metadata"]["name"]}}});
                let has = usize::try_from(count(set, "/status/replicas")).unwrap();
                std::iter::repeat_n(machine, has)
            })
            .collect();
        told(&super::deployment(Seen { deployment: &deployment, sets, machines: &machines }))
    };
    assert_eq!(plan(&[noted(had(1, "a", (3, 3, 3), 3))]), ["md-2 is made with 0"]);
    let full = [noted(had(1, "a", (3, 3, 3), 3)), noted(had(2, "b", (0, 0, 0), 3))];
    assert_eq!(plan(&full), Vec::<String>::new());
    let deleted = [noted(had(1, "a", (3, 2, 2), 3)), noted(had(2, "b", (0, 0, 0), 3))];
    assert_eq!(plan(&deleted), ["md-1 gets 2 of 3"]);
    let hole = [noted(had(1, "a", (2, 2, 2), 3)), noted(had(2, "b", (0, 0, 0), 3))];
    assert_eq!(plan(&hole), ["md-2 gets 1 of 3"]);
}

#[test]
fn a_set_makes_what_is_missing_and_lets_those_go_first_that_are_not_ready() {
    let set = had(1, "a", (2, 3, 2), 2);
    let machine =
        |name: &str, phase: &str| json!({"metadata": {"name": name}, "status": {"phase": phase}});
    let three = [machine("a", "Running"), machine("b", ""), machine("c", "Running")];
    let three: Vec<&Value> = three.iter().collect();
    let deeds = super::set(&set, &three);
    assert_eq!(deeds, [Deed::DeleteMachine("b".into())]);
    let one = &three[..1];
    let deeds = super::set(&set, one);
    assert!(matches!(deeds.as_slice(), [Deed::CreateMachine(_), Deed::SetStatus(..)]), "{deeds:?}");
}

#[test]
fn a_machine_joins_after_some_minutes_if_somebody_has_its_user_data() {
    let at = |text: &str| Instant::parse(text).unwrap();
    let made = json!({"metadata": {"name": "m", "creationTimestamp": "2026-11-14T00:00:00Z"}});
    let lengths = Lengths::default();
    let (deed, due) = super::machine(&made, true, at("2026-11-14T00:00:00Z"), &lengths);
    assert_eq!(deed, None);
    let (deed, _) = super::machine(&made, true, due.unwrap(), &lengths);
    assert!(matches!(deed, Some(Deed::MachineStatus(..))));
    assert_eq!(super::machine(&made, false, at("2026-11-15T00:00:00Z"), &lengths), (None, None));
}
