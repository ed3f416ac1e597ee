use serde_json::json;

use super::*;
use crate::mirror::place;

fn instant(text: &str) -> Instant {
    Instant::parse(&format!("2026-11-15T{text}Z")).unwrap()
}

/// Lengths without chance: each thing takes as long as its number says.
fn lengths() -> Lengths {
    Lengths { seed: 1, boot: 300..301, pod_start: 60..61, pod_end: 20..21, pod_return: 10..11 }
}

fn objects(list: &[Value]) -> Objects {
    list.iter().map(|object| (place(object), Arc::new(object.clone()))).collect()
}

/// A node from words: a name, then what is special about it.
fn node(words: &str) -> Value {
    let mut words = words.split_whitespace();
    let mut node = json!({"metadata": {"name": words.next(), "uid": "n", "labels": {}},
        "status": {"conditions": [{"type": "Ready", "status": "True",
            "lastTransitionTime": "2026-11-15T11:00:00Z"}]}});
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("down", _) => node["status"]["conditions"][0]["status"] = json!("False"),
            ("cordoned", _) => node["spec"] = json!({"unschedulable": true}),
            ("tainted", key) => {
                node["spec"] = json!({"taints": [{"key": key, "effect": "NoSchedule"}]});
            }
            ("back", at) => {
                let at = instant(at).to_string();
                node["status"]["conditions"][0]["lastTransitionTime"] = json!(at);
            }
            (label, value) => node["metadata"]["labels"][label] = json!(value),
        }
    }
    node
}

/// A pod from words: a name, then what is special about it.
fn pod(words: &str) -> Value {
    let mut words = words.split_whitespace();
    let name = words.next().unwrap();
    let mut pod = json!({"metadata": {"namespace": "shop", "name": name, "uid": name,
            "resourceVersion": "1", "creationTimestamp": "2026-11-15T11:59:30Z"},
        "spec": {"nodeName": "a"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("pending", _) => pod["status"] = json!({"phase": "Pending"}),
            ("unready", _) => pod["status"]["conditions"][0]["status"] = json!("False"),
            ("on", "") => pod["spec"] = json!({}),
            ("on", node) => pod["spec"]["nodeName"] = json!(node),
            ("wants", label) => pod["spec"]["nodeSelector"] = json!({label: "yes"}),
            ("of", kind) => {
                pod["metadata"]["ownerReferences"] =
                    json!([{"kind": kind, "name": "web", "controller": true}]);
            }
            ("ends", at) => {
                pod["metadata"]["deletionTimestamp"] = json!(instant(at).to_string());
                pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
            }
            (other, _) => panic!("{other}"),
        }
    }
    pod
}

fn said(plan: &Plan) -> Vec<String> {
    let deeds = plan.deeds.iter().map(|(pod, deed)| {
        let name = text(pod, "/metadata/name");
        match deed {
            Deed::Bind(node) => format!("{name} on {node}"),
            Deed::Start => format!("{name} starts"),
            Deed::Ready => format!("{name} is ready"),
            Deed::Unready => format!("{name} is away"),
            Deed::Remove => format!("{name} goes"),
            Deed::Replace(pod) => {
                let place = text(pod, "/spec/nodeName");
                let stem = text(pod, "/metadata/generateName");
                format!("{stem}{} for {name} {place}", text(pod, "/metadata/name"))
            }
        }
    });
    let next = plan.next.map(|next| format!("next {}", &next.to_string()[11..19]));
    deeds.map(|line| line.trim_end().to_owned()).chain(next).collect()
}

#[track_caller]
fn check(nodes: &[&str], pods: &[&str], at: &str, expected: &[&str]) {
    let nodes: Vec<Value> = nodes.iter().map(|words| node(words)).collect();
    let pods: Vec<Value> = pods.iter().map(|words| pod(words)).collect();
    let mut memory = Memory::default();
    let plan = plan(&objects(&pods), &objects(&nodes), &mut memory, &lengths(), instant(at));
    assert_eq!(said(&plan), expected);
}

#[test]
fn pods_start_end_and_come_back_in_their_own_time() {
    check(&["a"], &["p"], "12:00:00", &[]);
    check(&["a"], &["p pending"], "12:00:00", &["next 12:00:30"]);
    check(&["a"], &["p pending"], "12:00:30", &["p starts"]);
    check(&["a down"], &["p pending"], "12:00:30", &[]);
    // It was asked at 12:00:00 and has thirty seconds, of which it takes twenty.
    check(&["a"], &["p ends=12:00:30"], "12:00:19", &["next 12:00:20"]);
    check(&["a"], &["p ends=12:00:30"], "12:00:20", &["p goes"]);
    check(&["a down"], &["p ends=12:00:30"], "12:30:00", &[]);
    check(&[], &["p ends=12:00:30"], "12:00:20", &["p goes"]);
    check(&["a down"], &["p"], "12:00:00", &["p is away"]);
    check(&["a down"], &["p unready"], "12:00:00", &[]);
    check(&["a back=12:00:00"], &["p unready"], "12:00:09", &["next 12:00:10"]);
    check(&["a back=12:00:00"], &["p unready"], "12:00:10", &["p is ready"]);
}

#[test]
fn pods_go_where_they_may_and_where_there_is_least() {
    check(&["a", "b"], &["p", "q on= pending"], "12:00:00", &["q on b"]);
    check(&["a", "b cordoned"], &["p", "q on= pending"], "12:00:00", &["q on a"]);
    check(&["a down", "b tainted=x"], &["q on= pending"], "12:00:00", &[]);
    check(&["a", "b disk=yes"], &["q on= pending wants=disk"], "12:00:00", &["q on b"]);
    // Siblings keep away from each other before they look at who else is there.
    check(
        &["a", "b"],
        &["p of=ReplicaSet", "x on=b", "y on=b", "q on= pending of=ReplicaSet"],
        "12:00:00",
        &["q on b"],
    );
    check(&["a", "b"], &["p on= pending", "q on= pending"], "12:00:00", &["p on a", "q on b"]);
}

#[test]
fn workloads_replace_their_pods_once_and_in_their_own_way() {
    let nodes = objects(&[node("a")]);
    let mut memory = Memory::default();
    let mut turn = |pods: &[&str]| {
        let pods: Vec<Value> = pods.iter().map(|words| pod(words)).collect();
        let plan = plan(&objects(&pods), &nodes, &mut memory, &lengths(), instant("12:00:00"));
        plan.deeds
            .iter()
            .filter(|(_, deed)| matches!(deed, Deed::Replace(_)))
            .flat_map(|deed| said(&Plan { deeds: vec![deed.clone()], next: None }))
            .collect::<Vec<_>>()
    };
    let (r, s, d) = ("r of=ReplicaSet", "s-0 of=StatefulSet", "d of=DaemonSet");
    assert!(turn(&[r, s, d, "bare"]).is_empty());
    let ending = |words: &str| format!("{words} ends=12:00:30");
    let all = [ending(r), ending(s), ending(d), ending("bare")];
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(turn(&all), ["web- for r"], "replicas are replaced while the old one ends");
    assert!(turn(&all).is_empty(), "and once");
    assert_eq!(turn(&[]), ["web- for d a", "s-0 for s-0"]);
    assert!(turn(&[]).is_empty());
}
