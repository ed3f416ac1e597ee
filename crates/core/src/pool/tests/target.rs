//! Where do nodes go, and what does a new one get? Row by row (POOL-4).

use api::machine::{MachineConfigSpec, names::NodeState};
use schedule::Instant;
use serde_json::json;

use super::world::{later, machine};
use crate::pool::{
    seen::{Pin, SeenNode, SeenPool, ValidAfter},
    source::Rendered,
    target::{Choice, Shelf, Target, Why, served},
};

fn pool() -> SeenPool {
    SeenPool::new(&json!({"metadata": {"name": "worker"}}))
}

fn made(name: &str, seconds: Option<i64>) -> Rendered {
    Rendered {
        name: name.into(),
        resource_version: String::new(),
        pool: "worker".into(),
        created: seconds.map(later),
        digests: std::collections::BTreeMap::new(),
        spec: MachineConfigSpec::default(),
    }
}

/// POOL-4, DET-1: by the instant, and by name where that is the same, in whatever order they are asked for.
#[test]
fn newest_is_by_instant_and_then_by_name() {
    let others = Rendered { pool: "infra".into(), ..made("x", Some(9)) };
    let configs =
        [made("a", Some(3)), made("b", Some(2)), made("c", Some(2)), made("d", None), others];
    let shelf = Shelf::new(&pool(), &configs);
    let check = |names: &[&str], expected: Option<&str>| {
        let reversed: Vec<&str> = names.iter().rev().copied().collect();
        for names in [names, reversed.as_slice()] {
            let found = shelf.newest(names.iter().copied());
            assert_eq!(found.map(|config| config.name.as_str()), expected, "{names:?}");
        }
    };
    check(&["a", "b"], Some("a"));
    check(&["b", "c"], Some("c"));
    check(&["d", "b"], Some("b"));
    check(&["d"], Some("d"));
    check(&["x", "b"], Some("b"));
    check(&["x", "gone"], None);
    assert_eq!(
        ["a", "d", "gone"].map(|name| shelf.age(name)),
        [later(3), Instant::MIN, Instant::MIN]
    );
}

#[test]
fn target_is_what_somebody_chose_or_else_the_newest() {
    let configs = [made("a", Some(1)), made("b", Some(2))];
    let check = |newest: Option<&str>,
                 pin: Option<&str>,
                 expected: Option<(&str, Choice)>,
                 problems: usize| {
        let mut pool = pool();
        pool.newest = newest.map(str::to_owned);
        pool.pin = pin.map(|name| Pin { name: name.into(), valid_after: ValidAfter::Immediate });
        let mut found = Vec::new();
        let target = Target::of(&pool, &Shelf::new(&pool, &configs), &mut found);
        let choice = target.map(|target| (target.config.name.as_str(), target.choice));
        assert_eq!((choice, found.len()), (expected, problems), "{newest:?} {pin:?}");
        assert_eq!(
            target.is_some_and(|target| target.is_pinned()),
            pin.is_some() && expected.is_some()
        );
    };
    let pinned = Choice::Pinned(ValidAfter::Immediate);
    check(None, None, None, 0);
    check(Some("gone"), None, None, 0);
    check(Some("b"), None, Some(("b", Choice::Newest)), 0);
    check(Some("b"), Some("a"), Some(("a", pinned)), 0);
    check(None, Some("a"), Some(("a", pinned)), 0);
    check(Some("b"), Some("gone"), None, 1);
}

#[test]
fn new_machine_gets_the_target_once_a_machine_has_completed_it() {
    let configs = [made("a", Some(1)), made("b", Some(2)), made("c", Some(3))];
    // Nodes as what they run and what they were told, and whether they say that they are done.
    let check =
        |nodes: &[(&str, &str, NodeState)], pool: &SeenPool, expected: Option<(&str, Why)>| {
            let nodes: Vec<SeenNode> = nodes
                .iter()
                .enumerate()
                .map(|(place, (current, desired, state))| SeenNode {
                    desired: (*desired).to_owned(),
                    state: *state,
                    ..machine(place, current)
                })
                .collect();
            let shelf = Shelf::new(pool, &configs);
            let target = Target::of(pool, &shelf, &mut Vec::new());
            let found = served(pool, &nodes.iter().collect::<Vec<_>>(), target.as_ref(), &shelf);
            let found = found.as_ref().map(|served| (served.config.as_str(), served.why));
            assert_eq!(
                found,
                expected,
                "{:?}",
                nodes.iter().map(|node| &node.current).collect::<Vec<_>>()
            );
        };
    let (done, working) = (NodeState::Done, NodeState::Working);
    let of = |target: Option<&str>, converged: Option<&str>, valid_after: Option<ValidAfter>| {
        let pin = valid_after.zip(target);
        let mut pool = pool();
        pool.newest = target.map(str::to_owned);
        pool.converged = converged.map(str::to_owned);
        pool.pin = pin.map(|(valid_after, name)| Pin { name: name.into(), valid_after });
        pool
    };
    let newest = of(Some("c"), Some("a"), None);
    check(&[("c", "c", done), ("a", "a", done)], &newest, Some(("c", Why::Proven)));
    check(&[("c", "c", working), ("a", "a", done)], &newest, Some(("a", Why::LastProven)));
    check(&[("c", "a", done), ("a", "a", done)], &newest, Some(("a", Why::LastProven)));
    check(&[("a", "a", done), ("b", "b", done)], &newest, Some(("b", Why::LastProven)));
    check(&[("a", "a", done), ("b", "b", working)], &newest, Some(("a", Why::LastProven)));
    check(&[("gone", "gone", done)], &newest, Some(("a", Why::LastConverged)));
    check(&[], &newest, Some(("a", Why::LastConverged)));
    check(&[], &of(Some("c"), Some("gone"), None), Some(("c", Why::First)));
    check(&[], &of(Some("c"), None, None), Some(("c", Why::First)));
    check(&[], &of(None, None, None), None);
    check(&[("a", "a", done)], &of(None, None, None), Some(("a", Why::LastProven)));
    let at_once = of(Some("c"), Some("a"), Some(ValidAfter::Immediate));
    check(&[("a", "a", done)], &at_once, Some(("c", Why::Immediate)));
    check(&[("c", "c", done)], &at_once, Some(("c", Why::Proven)));
    let canary = of(Some("c"), Some("a"), Some(ValidAfter::CanaryUpgrade));
    check(&[("b", "b", done)], &canary, Some(("b", Why::LastProven)));
}
