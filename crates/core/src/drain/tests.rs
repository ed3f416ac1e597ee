use serde_json::{Value, json};

use super::{node::Node, *};

fn instant(text: &str) -> Instant {
    Instant::parse(&format!("2026-11-15T{text}Z")).unwrap()
}

/// A pod from words: a name, then what is special about it.
fn pod(words: &str) -> Pod {
    let mut words = words.split_whitespace();
    let name = words.next().unwrap();
    let mut pod = json!({
        "metadata": {"namespace": "shop", "name": name, "uid": format!("uid-{name}"),
            "ownerReferences": [{"kind": "ReplicaSet", "controller": true}]},
        "status": {"phase": "Running"},
    });
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("bare", _) => pod["metadata"]["ownerReferences"] = Value::Null,
            ("daemon", _) => pod["metadata"]["ownerReferences"][0]["kind"] = json!("DaemonSet"),
            ("mirror", _) => {
                pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
            }
            ("disk", _) => pod["spec"] = json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            ("held", by) => pod["metadata"]["finalizers"] = json!([by]),
            ("phase", phase) => pod["status"]["phase"] = json!(phase),
            ("ends", at) => {
                pod["metadata"]["deletionTimestamp"] = json!(instant(at).to_string());
            }
            (other, _) => panic!("{other}"),
        }
    }
    Pod::of(&pod)
}

fn node(fields: &Value) -> Node {
    Node::of(fields)
}

fn cordoned() -> Node {
    node(&json!({"metadata": {"name": "n", "uid": "u", "resourceVersion": "7", "annotations": {
            "changemanagement.openshift.io/drain": r#"{"since":"2026-11-15T12:00:00Z","cordonedBefore":false}"#}},
        "spec": {"unschedulable": true}}))
}

/// What a pass says: moves as `evict name`, what is waited for as `name: Code`.
fn said(pass: &Pass) -> Vec<String> {
    let moves = pass.moves.iter().map(|one| match one {
        Move::Evict(leaver) => format!("evict {}", leaver.pod.name),
        Move::Delete(leaver) => format!("delete {}", leaver.pod.name),
    });
    let waiting = pass.waiting.iter().map(|one| format!("{}: {}", one.pod.name, one.why.code()));
    moves.chain(waiting).collect()
}

fn check(pods: &[&str], settings: Settings, expected: &[&str]) {
    let pods: Vec<Pod> = pods.iter().map(|words| pod(words)).collect();
    let pass = pass(&pods, &cordoned(), &Memory::new(), &settings, instant("12:10:00"));
    assert_eq!(said(&pass), expected);
}

/// DRAIN-1
#[test]
fn everybody_leaves_but_those_whom_the_node_would_have_back_at_once() {
    let as_upstream = Settings::default();
    check(
        &["a", "b bare", "c disk", "d daemon", "e mirror bare"],
        as_upstream,
        &["evict a", "evict b", "evict c"],
    );
    check(&["d daemon", "e mirror bare"], as_upstream, &[]);
    check(&["d daemon phase=Failed"], as_upstream, &["evict d"]);
}

/// DRAIN-1
#[test]
fn a_drain_that_cannot_end_disturbs_nobody() {
    let careful = Settings {
        bare: Treatment::Refuse,
        local_storage: Treatment::Refuse,
        budgets: Budgets::Kept,
    };
    check(&["a", "b bare", "c disk"], careful, &["b: BarePod", "c: LocalStorage"]);
    check(
        &["a", "b bare phase=Succeeded", "c disk phase=Failed"],
        careful,
        &["evict a", "evict b", "evict c"],
    );
}

/// DRAIN-1
#[test]
fn what_holds_a_pod_that_was_told_to_end_is_told_apart() {
    let as_upstream = Settings::default();
    check(&["a ends=12:10:30 held=x"], as_upstream, &["a: Terminating"]);
    check(&["a ends=12:09:00 held=example.com/x"], as_upstream, &["a: Finalizer"]);
    check(&["a ends=12:09:00"], as_upstream, &["a: Terminating"]);
    let mut silent = cordoned();
    silent.is_unreachable = true;
    let pods = [pod("a ends=12:09:00 held=x")];
    let pass = pass(&pods, &silent, &Memory::new(), &as_upstream, instant("12:10:00"));
    assert_eq!(said(&pass), ["a: Unreachable"]);
}

#[test]
fn answers_of_the_server_are_told_apart() {
    let check = |code: u16, reason: &str, message: &str, expected: &str| {
        let found = match outcome(code, reason, message) {
            Outcome::Accepted => "accepted".to_owned(),
            Outcome::Blocked(why) => format!("{}: {why}", why.code()),
            Outcome::Sent => "sent".to_owned(),
        };
        assert_eq!(found, expected, "{code} {message}");
    };
    check(201, "", "", "accepted");
    check(404, "NotFound", "pods \"a\" not found", "accepted");
    check(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods and has 2 currently",
        "Budget: its budget web allows no disruption",
    );
    check(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        "Budget: its budget allows none: Cannot evict pod as it would violate the pod's disruption budget.",
    );
    check(
        500,
        "InternalError",
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        "SeveralBudgets: several budgets cover it, and the server evicts no such pod",
    );
    check(403, "Forbidden", "namespace shop is being terminated", "accepted");
    check(403, "Forbidden", "no", "Refused: the server refused: no (403)");
}

fn budget() -> Outcome {
    Outcome::Blocked(Blockage::Budget { name: Some("web".into()), said: String::new() })
}

/// DRAIN-1
#[test]
fn a_refused_eviction_is_tried_again_and_a_budget_never_overridden() {
    let pods = [pod("a")];
    let mut memory = Memory::new();
    let at = |memory: &Memory, text: &str| {
        said(&pass(&pods, &cordoned(), memory, &Settings::default(), instant(text)))
    };
    remember(&mut memory, "uid-a", budget(), 0, instant("12:10:00"));
    assert_eq!(at(&memory, "12:10:00"), ["a: Budget"]);
    assert_eq!(at(&memory, "12:10:01"), ["evict a", "a: Budget"]);
    for (tried, early, due) in [
        ("12:10:01", "12:10:02", "12:10:03"),
        ("12:10:03", "12:10:06", "12:10:07"),
        ("12:10:07", "12:10:11", "12:10:12"),
        ("12:10:12", "12:10:16", "12:10:17"),
    ] {
        remember(&mut memory, "uid-a", budget(), 0, instant(tried));
        assert_eq!(at(&memory, early), ["a: Budget"], "{early}");
        assert_eq!(at(&memory, due), ["evict a", "a: Budget"], "{due}");
    }
    assert_eq!(at(&memory, "23:59:59"), ["evict a", "a: Budget"], "however long it takes");
    let pass = pass(&pods, &cordoned(), &memory, &Settings::default(), instant("12:10:13"));
    assert_eq!(
        told(&pass.waiting),
        "Budget: pod shop/a: its budget web allows no disruption, since 2026-11-15T12:10:00Z",
    );
}

/// DRAIN-1
#[test]
fn a_policy_overrides_a_budget_after_its_grace_counted_from_the_cordon() {
    let pods = [pod("a"), pod("b ends=12:01:00 held=x")];
    let settings = Settings { budgets: Budgets::OverriddenAfter(900), ..Settings::default() };
    let mut memory = Memory::new();
    remember(&mut memory, "uid-a", budget(), 0, instant("12:14:59"));
    let at = |text: &str| said(&pass(&pods, &cordoned(), &memory, &settings, instant(text)));
    assert_eq!(at("12:14:59"), ["a: Budget", "b: Finalizer"]);
    assert_eq!(at("12:15:00"), ["delete a", "a: Budget", "b: Finalizer"]);
    // Nobody knows when an unknown cordon began, so its grace never ends.
    let since_when = node(&json!({"spec": {"unschedulable": true}}));
    let pass = pass(&pods, &since_when, &memory, &settings, instant("23:00:00"));
    assert_eq!(said(&pass), ["evict a", "a: Budget", "b: Finalizer"]);
}

#[test]
fn an_accepted_eviction_is_given_time() {
    let pods = [pod("a")];
    let mut memory = Memory::new();
    remember(&mut memory, "uid-a", Outcome::Accepted, 0, instant("12:10:00"));
    let at = |text: &str| pass(&pods, &cordoned(), &memory, &Settings::default(), instant(text));
    assert_eq!(said(&at("12:10:01")), Vec::<String>::new());
    assert!(!at("12:10:01").is_done(), "it has not left yet");
    assert_eq!(said(&at("12:10:06")), ["evict a"]);
}

/// A node after a merge patch, as a server would have it.
fn patched(node: &Value, patch: &Value) -> Value {
    let mut node = node.clone();
    if let Some(unschedulable) = patch.pointer("/spec/unschedulable") {
        node["spec"]["unschedulable"] = unschedulable.clone();
    }
    for (key, value) in patch["metadata"]["annotations"].as_object().unwrap() {
        if value.is_null() {
            node["metadata"]["annotations"].as_object_mut().unwrap().remove(key);
        } else {
            node["metadata"]["annotations"][key] = value.clone();
        }
    }
    node
}

/// DRAIN-1
#[test]
fn a_cordon_that_was_there_before_survives() {
    let now = instant("12:00:00");
    let key = |name: &str| format!("machineconfiguration.openshift.io/{name}");
    for (before, after) in
        [(json!(true), json!(true)), (json!(false), json!(false)), (Value::Null, json!(false))]
    {
        let mut document = json!({"metadata": {"annotations": {key("desiredDrain"): "drain-x"}},
            "spec": {"unschedulable": before}});
        assert_eq!(node(&document).request(), node::Request::Drain);
        document = patched(&document, &node(&document).cordon(now).unwrap());
        assert_eq!(document["spec"]["unschedulable"], true);
        assert_eq!(node(&document).since(), Some(now));
        assert_eq!(node(&document).cordon(instant("13:00:00")), None, "once is enough");
        document = patched(&document, &node(&document).drained());
        assert_eq!(node(&document).request(), node::Request::Nothing);
        document["metadata"]["annotations"][key("desiredDrain")] = json!("uncordon-x");
        assert_eq!(node(&document).request(), node::Request::Uncordon);
        document = patched(&document, &node(&document).uncordoned());
        assert_eq!(document["spec"]["unschedulable"], after, "from {before}");
        assert_eq!(node(&document).since(), None);
        assert_eq!(node(&document).request(), node::Request::Nothing);
    }
}

/// DRAIN-1, LIVE-1: a node that failed keeps its record until it asks again; its administrator may open it meanwhile.
#[test]
fn a_cordon_that_was_taken_back_does_not_survive() {
    let now = instant("12:00:00");
    for before in [json!(true), json!(false)] {
        let document = json!({"metadata": {"annotations": {
                "machineconfiguration.openshift.io/desiredDrain": "drain-x"}},
            "spec": {"unschedulable": before}});
        let mut document = patched(&document, &node(&document).cordon(now).unwrap());
        document["spec"]["unschedulable"] = json!(false);
        document = patched(&document, &node(&document).cordon(instant("13:00:00")).unwrap());
        assert_eq!(document["spec"]["unschedulable"], true, "it is put back");
        assert_eq!(node(&document).since(), Some(now), "and counts from the first");
        document = patched(&document, &node(&document).drained());
        document = patched(&document, &node(&document).uncordoned());
        assert_eq!(document["spec"]["unschedulable"], false, "from {before}");
    }
}

#[test]
fn a_request_to_uncordon_without_a_drain_leaves_the_cordon_alone() {
    let document = json!({"metadata": {"annotations": {
            "machineconfiguration.openshift.io/desiredDrain": "uncordon-x"}},
        "spec": {"unschedulable": true}});
    let patch = node(&document).uncordoned();
    assert_eq!(patch.pointer("/spec"), None, "whoever cordoned it, it was no drain");
}

#[test]
fn a_request_that_nobody_understands_is_named() {
    let document = json!({"metadata": {"annotations": {
        "machineconfiguration.openshift.io/desiredDrain": "dance-x"}}});
    assert_eq!(node(&document).request(), node::Request::Unknown("dance-x".into()));
}

/// DRAIN-1
#[test]
fn a_clock_that_went_back_keeps_no_refused_pod_waiting() {
    let mut memory = Memory::new();
    let blocked = Outcome::Blocked(Blockage::SeveralBudgets);
    remember(&mut memory, "uid-a", blocked, 0, instant("12:10:00"));
    let pods = [pod("a")];
    for (at, expected) in [
        ("12:10:00", &["a: SeveralBudgets"][..]),
        ("12:10:01", &["evict a", "a: SeveralBudgets"]),
        ("11:00:00", &["evict a", "a: SeveralBudgets"]),
    ] {
        let pass = pass(&pods, &cordoned(), &memory, &Settings::default(), instant(at));
        assert_eq!(said(&pass), expected, "{at}");
    }
}

/// DRAIN-1
#[test]
fn a_server_that_wants_to_be_left_alone_is_for_a_minute_at_most() {
    let pods = [pod("a")];
    for (wanted, early, due) in [
        (0, "12:10:00", "12:10:01"),
        (3, "12:10:02", "12:10:03"),
        (10, "12:10:09", "12:10:10"),
        (86_400, "12:10:59", "12:11:00"),
    ] {
        let mut memory = Memory::new();
        remember(&mut memory, "uid-a", budget(), wanted, instant("12:10:00"));
        let at = |text: &str| {
            said(&pass(&pods, &cordoned(), &memory, &Settings::default(), instant(text)))
        };
        assert_eq!(at(early), ["a: Budget"], "{wanted}");
        assert_eq!(at(due), ["evict a", "a: Budget"], "{wanted}");
    }
}

/// DRAIN-2
#[test]
fn a_pod_whose_eviction_is_not_answered_delays_itself_alone() {
    let pods = [pod("a"), pod("b"), pod("c")];
    let mut memory = Memory::new();
    let at = |memory: &Memory, text: &str| {
        said(&pass(&pods, &cordoned(), memory, &Settings::default(), instant(text)))
    };
    remember(&mut memory, "uid-a", Outcome::Sent, 0, instant("12:10:00"));
    assert_eq!(at(&memory, "12:10:00"), ["evict b", "evict c", "a: NoAnswer"]);
    assert_eq!(
        at(&memory, "12:10:30"),
        ["evict b", "evict c", "a: NoAnswer"],
        "it is not sent twice"
    );
    remember(&mut memory, "uid-a", Outcome::Blocked(Blockage::NoAnswer), 0, instant("12:10:35"));
    assert_eq!(
        at(&memory, "12:10:40"),
        ["evict b", "evict c", "evict a", "a: NoAnswer"],
        "and then it goes last"
    );
    let pass = pass(&pods, &cordoned(), &memory, &Settings::default(), instant("12:10:36"));
    assert!(told(&pass.waiting).ends_with("since 2026-11-15T12:10:00Z"), "from the first");
}

/// DRAIN-1
#[test]
fn a_drain_is_looked_at_again_as_soon_as_that_is_worth_while() {
    let check = |words: &str, tried: Option<(Outcome, &str)>, now: &str, expected: i64| {
        let pods = [pod(words)];
        let mut memory = Memory::new();
        if let Some((outcome, at)) = tried {
            remember(&mut memory, "uid-a", outcome, 0, instant(at));
        }
        let pass = pass(&pods, &cordoned(), &memory, &Settings::default(), instant(now));
        assert_eq!(pass.again, expected, "{words} at {now}");
    };
    // Most pods end within seconds, and a few take their time.
    check("a ends=12:30:00", Some((Outcome::Accepted, "12:10:00")), "12:10:01", 1);
    check("a ends=12:30:00", Some((Outcome::Accepted, "12:10:00")), "12:10:09", 1);
    check("a ends=12:30:00", Some((Outcome::Accepted, "12:10:00")), "12:10:10", 5);
    check("a ends=12:30:00", None, "12:10:00", 5);
    check("a", Some((Outcome::Sent, "12:10:00")), "12:10:02", 1);
    check("a", Some((budget(), "12:10:00")), "12:10:00", 1);
}

/// DRAIN-2
#[test]
fn a_drain_that_nobody_can_take_gives_its_own_cordon_back() {
    const APPLIED: &str = "machineconfiguration.openshift.io/lastAppliedDrain";
    const BLOCKED: &str = "changemanagement.openshift.io/drain-blocked";
    let now = instant("12:00:00");
    let begin = |before: Value| {
        let document = json!({"metadata": {"annotations": {
                "machineconfiguration.openshift.io/desiredDrain": "drain-x"}},
            "spec": {"unschedulable": before}});
        patched(&document, &node(&document).cordon(now).unwrap())
    };
    for (before, after) in [(json!(true), json!(true)), (json!(false), json!(false))] {
        let waiting = begin(before.clone());
        let waiting = patched(&waiting, &node(&waiting).waits("nobody").unwrap());
        assert_eq!(waiting["spec"]["unschedulable"], after);
        assert_eq!(waiting["metadata"]["annotations"][BLOCKED], "nobody");
        assert_eq!(node(&waiting).request(), node::Request::Drain, "it is still asked for");
        assert_eq!(node(&waiting).waits("nobody"), None, "told once");
        // An administrator's cordon is still known as theirs when the drain goes on.
        let going = patched(&waiting, &node(&waiting).cordon(now).unwrap());
        let over = patched(&going, &node(&going).uncordoned());
        assert_eq!(over["spec"]["unschedulable"], after);

        let stayed = begin(before);
        let stayed = patched(&stayed, &node(&stayed).stayed("nobody ever"));
        assert_eq!(stayed["spec"]["unschedulable"], after);
        assert_eq!(stayed["metadata"]["annotations"][APPLIED], "drain-x");
        assert_eq!(stayed["metadata"]["annotations"][BLOCKED], "nobody ever");
        assert_eq!(node(&stayed).since(), None);
    }
}
