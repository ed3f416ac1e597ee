use super::*;
use crate::{change::Deed, drift::Difference, path::HostPath, plan::Drain};

const OLD: &str = "rendered-worker-old";
const NEW: &str = "rendered-worker-new";

/// A node from `key=value` words.
fn node(words: &str) -> NodeView {
    let mut node = NodeView { reason: Some(String::new()), ..NodeView::default() };
    for (key, value) in words.split_whitespace().filter_map(|word| word.split_once('=')) {
        let value = Some(value.replace("OLD", OLD).replace("NEW", NEW).replace('_', " "));
        match key {
            "current" => node.current = value,
            "desired" => node.desired = value,
            "permitted" => node.permitted = value,
            "state" => node.state = value,
            "reason" => node.reason = value,
            "drain" => node.drain = value,
            "drained" => node.drained = value,
            "topology" => node.topology = value,
            _ => panic!("{key}"),
        }
    }
    node
}

fn drift() -> Vec<Drift> {
    vec![Drift { path: HostPath::parse("/etc/a").unwrap(), what: Difference::Content }]
}

fn plan(drain: Drain) -> Plan {
    Plan { drain, deeds: vec![Deed::Reboot] }
}

fn decided(words: &str, standing: HostState<'_>, way: Way<'_>) -> NextStep {
    next(&Observed { node: &node(words), standing, way })
}

fn report(
    current: Option<&str>,
    state: Option<(&'static str, &str)>,
    drain: Option<&str>,
) -> NextStep {
    NextStep::Report(Report {
        current: current.map(str::to_owned),
        state: state.map(|(state, reason)| (state, reason.to_owned())),
        drain: drain.map(str::to_owned),
    })
}

fn at(name: &'static str) -> HostState<'static> {
    HostState::At { name, drift: &[] }
}

/// POOL-1
#[test]
fn a_new_desired_configuration_is_planned_drained_for_and_begun() {
    let needed = plan(Drain::Needed);
    let check = |words: &str, way: Way<'_>, expected: NextStep| {
        assert_eq!(decided(words, at(OLD), way), expected, "{words}");
    };
    let drain = "drain-rendered-worker-new";
    check(
        "current=OLD desired=NEW permitted=NEW state=Done",
        Way::Unknown,
        report(None, Some(("Working", "")), None),
    );
    check(
        "current=OLD desired=NEW permitted=NEW state=Working",
        Way::Unknown,
        NextStep::Plan(NEW.into()),
    );
    let known = || Way::Known(&needed);
    check(
        "current=OLD desired=NEW permitted=NEW state=Working",
        known(),
        report(None, None, Some(drain)),
    );
    check(
        "current=OLD desired=NEW permitted=NEW state=Working drain=drain-NEW",
        known(),
        NextStep::Await(Awaited::Drain),
    );
    check(
        "current=OLD desired=NEW permitted=NEW state=Working drain=drain-NEW drained=drain-OLD",
        known(),
        NextStep::Await(Awaited::Drain),
    );
    check(
        "current=OLD desired=NEW permitted=NEW state=Working drain=drain-NEW drained=drain-NEW",
        known(),
        NextStep::Begin,
    );
    // The answer to an older request counts for nothing.
    check(
        "current=OLD desired=NEW permitted=NEW state=Working drain=drain-OLD drained=drain-OLD",
        known(),
        report(None, None, Some(drain)),
    );
}

#[test]
fn a_change_that_disturbs_nobody_waits_for_nobody() {
    let quiet = plan(Drain::NotNeeded);
    let words = "current=OLD desired=NEW permitted=NEW state=Working";
    assert_eq!(decided(words, at(OLD), Way::Known(&quiet)), NextStep::Begin);
    let needed = plan(Drain::Needed);
    let single = node(&format!("{words} topology=SingleReplica"));
    let seen = Observed { node: &single, standing: at(OLD), way: Way::Known(&needed) };
    assert_eq!(next(&seen), NextStep::Begin, "the only node of a cluster");
}

#[test]
fn at_the_new_configuration_workloads_are_let_in_before_the_node_is_done() {
    let check = |words: &str, expected: NextStep| {
        assert_eq!(decided(words, at(NEW), Way::Unknown), expected, "{words}");
    };
    let uncordon = "uncordon-rendered-worker-new";
    let base = "current=OLD desired=NEW permitted=NEW state=Working";
    check(&format!("{base} drain=drain-NEW drained=drain-NEW"), report(None, None, Some(uncordon)));
    check(
        &format!("{base} drain=uncordon-NEW drained=drain-NEW"),
        NextStep::Await(Awaited::Uncordon),
    );
    check(
        &format!("{base} drain=uncordon-NEW drained=uncordon-NEW"),
        report(Some(NEW), Some(("Done", "")), None),
    );
    check(
        "current=NEW desired=NEW state=Done drain=uncordon-NEW drained=uncordon-NEW",
        NextStep::Rest,
    );
    // Nobody was asked to leave, so nobody is let in.
    check(base, report(Some(NEW), Some(("Done", "")), None));
}

#[test]
fn an_order_that_is_taken_back_lets_workloads_in_again() {
    assert_eq!(
        decided("current=OLD desired=OLD state=Working drain=drain-NEW", at(OLD), Way::Unknown),
        report(None, None, Some("uncordon-rendered-worker-old")),
    );
}

/// GATE-16
#[test]
fn an_order_without_its_record_moves_nothing_and_says_what_is_missing() {
    let known = plan(Drain::NotNeeded);
    let why = |found: &str| {
        format!(
            "desiredConfig is {NEW}, and nothing moves, because the record of a permit for it, the annotation \
             changemanagement.openshift.io/permit-change, {found}; the operator writes both within a window; a member of the group \
             tidegate:initiators gives the order by hand: kubectl annotate node n1 --overwrite \
             machineconfiguration.openshift.io/desiredConfig={NEW} changemanagement.openshift.io/permit-change={NEW}"
        )
    };
    let check = |words: &str, found: &str| {
        let mut node = NodeView { name: "n1".into(), ..node(words) };
        for way in [Way::Unknown, Way::Known(&known), Way::Barred("x"), Way::Failed("x")] {
            let seen = Observed { node: &node, standing: at(OLD), way };
            assert_eq!(next(&seen), report(None, Some(("Degraded", &why(found))), None), "{words}");
        }
        node.state = Some("Degraded".into());
        node.reason = Some(why(found));
        let seen = Observed { node: &node, standing: at(OLD), way: Way::Known(&known) };
        assert_eq!(next(&seen), NextStep::Rest, "it is said once: {words}");
    };
    check("current=OLD desired=NEW state=Done", "is missing");
    check("current=OLD desired=NEW permitted=OLD state=Done", "names rendered-worker-old");
    // The drain of an earlier order gives no right to this one.
    check(
        "current=OLD desired=NEW permitted=OLD state=Working drain=drain-NEW drained=drain-NEW",
        "names rendered-worker-old",
    );
    // To stay where the disk already is takes no record.
    assert_eq!(
        decided("current=OLD desired=OLD state=Done", at(OLD), Way::Unknown),
        NextStep::Rest
    );
    assert_eq!(
        decided("current=OLD desired=NEW state=Done", at(NEW), Way::Unknown),
        report(Some(NEW), None, None),
        "where the disk is, not where the annotation says",
    );
    // A host that was told of both in one write believes its disk, and then wants the record.
    assert_eq!(
        decided("current=NEW desired=NEW state=Done", at(OLD), Way::Unknown),
        report(Some(OLD), None, None),
    );
}

/// NODE-2
#[test]
fn without_a_desired_configuration_nothing_is_begun() {
    let needed = plan(Drain::NotNeeded);
    for way in
        [Way::Unknown, Way::Known(&needed), Way::Barred("x"), Way::Failed("x"), Way::Delayed("x")]
    {
        assert_eq!(decided("current=OLD state=Done", at(OLD), way), NextStep::Rest);
    }
}

/// NODE-1
#[test]
fn the_disk_is_believed_and_the_annotation_corrected() {
    let words = "current=OLD desired=rendered-worker-third state=Done";
    assert_eq!(decided(words, at(NEW), Way::Unknown), report(Some(NEW), None, None));
    let words = "current=OLD desired=NEW permitted=NEW state=Done";
    assert_eq!(decided(words, at(NEW), Way::Unknown), report(Some(NEW), None, None));
}

#[test]
fn drift_is_reported_and_stops_a_change_before_it_begins() {
    let drift = drift();
    let known = plan(Drain::NotNeeded);
    let why = "the host differs from rendered-worker-old: /etc/a has another content";
    let drifting = || HostState::At { name: OLD, drift: &drift };
    let told = report(None, Some(("Degraded", why)), None);
    assert_eq!(decided("current=OLD desired=OLD state=Done", drifting(), Way::Unknown), told);
    assert_eq!(
        decided(
            "current=OLD desired=NEW permitted=NEW state=Working",
            drifting(),
            Way::Known(&known)
        ),
        told
    );
    let said = NodeView {
        reason: Some(why.into()),
        ..node("current=OLD desired=NEW permitted=NEW state=Degraded")
    };
    let seen = Observed { node: &said, standing: drifting(), way: Way::Unknown };
    assert_eq!(next(&seen), NextStep::Rest, "it is said once");
    // Content that is back is as good as content that never went.
    assert_eq!(
        decided("current=OLD desired=OLD state=Degraded reason=x", at(OLD), Way::Unknown),
        report(None, Some(("Done", "")), None),
    );
}

#[test]
fn what_cannot_be_and_what_failed_are_told_apart() {
    let check = |state: &str, way: Way<'_>, expected: NextStep| {
        let words = format!("current=OLD desired=NEW permitted=NEW {state}");
        assert_eq!(decided(&words, at(OLD), way), expected, "{words}");
    };
    check(
        "state=Working",
        Way::Barred("fips"),
        report(None, Some(("Unreconcilable", "fips")), None),
    );
    check("state=Unreconcilable reason=fips", Way::Barred("fips"), NextStep::Rest);
    check(
        "state=Working",
        Way::Failed("disk_full"),
        report(None, Some(("Degraded", "disk_full")), None),
    );
    check("state=Degraded reason=full", Way::Failed("full"), NextStep::Await(Awaited::Retry));
    check("state=Degraded reason=full", Way::Unknown, report(None, Some(("Working", "")), None));
    // Nobody gives configurations now: it is on its way, says so once, and keeps saying it while it asks.
    check("state=Working", Way::Delayed("away"), report(None, Some(("Working", "away")), None));
    check("state=Working reason=away", Way::Delayed("away"), NextStep::Await(Awaited::Retry));
    check("state=Working reason=away", Way::Unknown, NextStep::Plan(NEW.to_owned()));
    let known = plan(Drain::NotNeeded);
    check(
        "state=Working reason=away",
        Way::Known(&known),
        report(None, Some(("Working", "")), None),
    );
}

#[test]
fn a_fresh_host_takes_on_what_it_was_installed_with() {
    let fresh = |installed| HostState::Fresh { installed };
    assert_eq!(decided("current=OLD", fresh(None), Way::Unknown), NextStep::Adopt(OLD.into()));
    assert_eq!(decided("", fresh(Some(OLD)), Way::Unknown), NextStep::Adopt(OLD.into()));
    assert_eq!(decided("desired=NEW", fresh(None), Way::Unknown), NextStep::AdoptNothing);
}
