use serde_json::{Value, json};

use super::*;

/// A node from words: its name, then what is special about it.
fn node(words: &str) -> Node {
    let mut words = words.split_whitespace();
    let mut node = json!({"metadata": {"name": words.next().unwrap(), "annotations": {}, "labels": {}},
        "spec": {"taints": []}, "status": {"conditions": []}});
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let mut annotate =
            |name: &str, value: &str| node["metadata"]["annotations"][name] = json!(value);
        match key {
            "asks" => annotate("machineconfiguration.openshift.io/desiredDrain", value),
            "answered" => annotate("machineconfiguration.openshift.io/lastAppliedDrain", value),
            "desired" => annotate("machineconfiguration.openshift.io/desiredConfig", value),
            "current" => annotate("machineconfiguration.openshift.io/currentConfig", value),
            "permit" => annotate("changemanagement.openshift.io/permit-change", value),
            "says" => annotate("changemanagement.openshift.io/drain-blocked", value),
            "drained" => annotate(
                "changemanagement.openshift.io/drain",
                r#"{"since":"2026-11-15T12:00:00Z","cordonedBefore":false}"#,
            ),
            "cordoned" => node["spec"]["unschedulable"] = json!(true),
            "ready" => node["status"]["conditions"] = json!([{"type": "Ready", "status": value}]),
            "os" => node["metadata"]["labels"]["kubernetes.io/os"] = json!(value),
            "taint" => {
                let (key, effect) = value.split_once(':').unwrap();
                let taint = json!({"key": key, "effect": effect});
                node["spec"]["taints"].as_array_mut().unwrap().push(taint);
            }
            other => panic!("{other}"),
        }
    }
    Node::of(&node)
}

fn short(verdict: &Response) -> String {
    match verdict {
        Response::Refused(refusal) => format!("refused: {refusal}"),
        Response::Wait(told) => format!("wait: {}", told.split(['(', ')']).nth(1).unwrap()),
        Response::Stay(_) => "stay".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn home(name: &str) -> Membership<'_> {
    match name {
        "" => Membership::Nowhere,
        "both" => Membership::Disputed(vec!["gpu", "infra"]),
        name => Membership::Of(name),
    }
}

/// DRAIN-2
#[test]
fn nobody_gains_evictions_by_writing_an_annotation() {
    let check = |pool: &str, words: &str, expected: &str| {
        let node = node(&format!("n {words}"));
        let open = self::node("other");
        let verdict = judge(&node, &home(pool), [&node, &open], &BTreeSet::new());
        assert_eq!(short(&verdict), expected, "{pool}: {words}");
    };
    // What was begun.
    check("worker", "asks=drain-b desired=b current=a permit=b", "drain");
    // A first configuration is a change like any other.
    check("worker", "asks=drain-b desired=b permit=b", "drain");
    // One that was tried before and failed is asked for again.
    check("worker", "asks=drain-b answered=uncordon-a desired=b current=a permit=b", "drain");
    // A name with hyphens, as all have.
    check(
        "worker",
        "asks=drain-rendered-w-1 desired=rendered-w-1 current=a permit=rendered-w-1",
        "drain",
    );

    // Members only, whatever else is there.
    let begun = "asks=drain-b desired=b current=a permit=b";
    check("", begun, "refused: the node belongs to no pool");
    check(
        "both",
        begun,
        "refused: the pools gpu, infra claim the node or may claim it, so it belongs to none",
    );
    check("", "asks=drain-x", "refused: the node belongs to no pool");

    // Nothing was begun.
    check("worker", "asks=drain-b", "refused: nobody told the node to go to a configuration");
    check(
        "worker",
        "asks=drain-b current=a",
        "refused: nobody told the node to go to a configuration",
    );
    check(
        "worker",
        "asks=drain-b permit=b",
        "refused: nobody told the node to go to a configuration",
    );
    let no_record =
        "refused: permit-change names nothing, so no permitted write has begun that change";
    check("worker", "asks=drain-b desired=b current=a", no_record);
    check("worker", "asks=drain-b desired=b", no_record);
    // A record of another change is none of this one.
    let another = "refused: permit-change names a, so no permitted write has begun that change";
    check("worker", "asks=drain-b desired=b current=a permit=a", another);

    // Adopted, or done: nothing has to make room.
    let runs = "refused: the node runs that configuration, so nothing has to make room for it";
    check("worker", "asks=drain-a desired=a current=a", runs);
    check("worker", "asks=drain-a desired=a current=a permit=a", runs);

    // A request of an earlier configuration, or of one that is not due.
    check(
        "worker",
        "asks=drain-b desired=c current=a permit=c",
        "refused: the node is told to go to c",
    );
    check(
        "worker",
        "asks=drain-a desired=b current=a permit=b",
        "refused: the node is told to go to b",
    );
    check(
        "worker",
        "asks=drain- desired=b current=a permit=b",
        "refused: the node is told to go to b",
    );
    check(
        "worker",
        "asks=drain-rendered desired=rendered-b current=a permit=rendered-b",
        "refused: the node is told to go to rendered-b",
    );

    // What makes no sense, and what is not asked.
    let unknown = "refused: it is neither drain-<configuration> nor uncordon-<configuration>";
    check("worker", "asks=dance-b desired=b current=a permit=b", unknown);
    check("", "asks=drain", unknown);
    check("worker", "asks=drain-b answered=drain-b desired=b current=a permit=b", "nothing");
    check("", "", "nothing");

    // Opening needs no proof: it takes away nothing but our own cordon, as the rows of `node` show.
    check("", "asks=uncordon-a cordoned", "uncordon");
    check("worker", "asks=uncordon-b desired=b current=a permit=b drained cordoned", "uncordon");
}

/// DRAIN-2
#[test]
fn a_node_whose_pods_nobody_can_take_is_not_emptied() {
    const MASTER: &str = "taint=node-role.kubernetes.io/master:NoSchedule";
    let check = |words: &str, others: &[&str], under_way: &[&str], expected: &str| {
        let begun = "asks=drain-b desired=b current=a permit=b";
        let node = node(&format!("n {begun} {words}"));
        let others: Vec<Node> = others.iter().map(|words| self::node(words)).collect();
        let under_way: BTreeSet<String> = under_way.iter().map(|name| (*name).to_owned()).collect();
        let verdict = judge(&node, &home("worker"), others.iter().chain([&node]), &under_way);
        assert_eq!(short(&verdict), expected, "{words}: {others:?}");
    };
    // Alone, now or for ever.
    check("", &[], &[], "stay");
    check("cordoned drained", &[], &[], "stay");
    check("", &["m1 taint=node-role.kubernetes.io/master:NoSchedule"], &[], "stay");
    check("os=linux", &["w os=windows"], &[], "stay");
    // What runs on a master tolerates what masters repel with.
    check(MASTER, &[&format!("m2 {MASTER}")], &[], "drain");
    check(MASTER, &["w"], &[], "drain");
    check("", &["m1 taint=a/b:PreferNoSchedule"], &[], "drain");

    // Somebody else is there, and cannot now.
    check("", &["o cordoned"], &[], "wait: o is cordoned");
    check("", &["o ready=False"], &[], "wait: o is not ready");
    check("", &["o ready=Unknown"], &[], "wait: o is not ready");
    check(
        "",
        &["o taint=node.kubernetes.io/disk-pressure:NoSchedule"],
        &[],
        "wait: o takes no pods for now",
    );
    check(
        "",
        &["o taint=node.cloudprovider.kubernetes.io/uninitialized:NoSchedule"],
        &[],
        "wait: o takes no pods for now",
    );
    for taint in [
        "node.cilium.io/agent-not-ready",
        "karpenter.sh/disrupted",
        "ToBeDeletedByClusterAutoscaler",
    ] {
        let started_anew = format!("o taint={taint}:NoSchedule");
        check("", &[&started_anew], &[], "wait: o takes no pods for now");
    }
    check("", &["o taint=node.kubernetes.io/not-ready:NoSchedule"], &[], "drain");
    check("", &["o cordoned drained"], &[], "wait: o is being drained");
    check("", &["o"], &["o"], "wait: o is being drained");
    check(
        "",
        &[
            "a cordoned",
            "b ready=False",
            "c cordoned",
            "d cordoned",
            "e cordoned",
            &format!("m {MASTER}"),
        ],
        &[],
        "wait: a is cordoned, b is not ready, c is cordoned, 2 more",
    );
    // One is enough, and one that says nothing of itself counts as fine.
    check("", &["a cordoned", "b ready=True"], &["a"], "drain");
    check("cordoned drained", &["a"], &["n"], "drain");
}

/// DRAIN-2
#[test]
fn what_is_not_honoured_is_told_once() {
    let asks = |words: &str| node(&format!("n {words}"));
    let stray = asks("asks=drain-b");
    assert!(needs_somebody(&stray, &home("")));
    let told = told(&stray, &refusal(&stray, &home("")).unwrap());
    assert_eq!(told, "NotHonoured: drain-b: the node belongs to no pool");
    let patch = stray.blocked(&told).unwrap();
    assert_eq!(patch.pointer("/spec"), None, "no cordon");
    let noted = patch.pointer("/metadata/annotations").and_then(Value::as_object).unwrap();
    assert_eq!(noted.keys().collect::<Vec<_>>(), ["changemanagement.openshift.io/drain-blocked"]);
    let knowing = Node::of(&json!({"metadata": {"name": "n", "annotations": {
        "machineconfiguration.openshift.io/desiredDrain": "drain-b",
        "changemanagement.openshift.io/drain-blocked": told}}}));
    assert_eq!(knowing.blocked(&told), None);
    assert!(!needs_somebody(&knowing, &home("")), "told, and left alone");
    assert!(needs_somebody(&knowing, &home("worker")), "another reason is news");
    let long = Node::of(&json!({"metadata": {"annotations": {
        "machineconfiguration.openshift.io/desiredDrain": format!("drain-\u{1b}[2J{}", "x".repeat(200_000))}}}));
    let line = super::told(&long, &NotHonoured::NoPool);
    assert!(line.len() == 500 && line.starts_with("NotHonoured: drain- [2Jxx"), "{line}");
    // What was told goes with the request.
    assert!(needs_somebody(&asks("says=something"), &home("")));
    assert!(!needs_somebody(&asks(""), &home("")));
    assert!(!needs_somebody(&asks("asks=drain-b answered=drain-b says=x"), &home("worker")));
}
