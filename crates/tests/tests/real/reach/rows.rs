//! One write after the other, each by whoever has every right: what a gate selects is held, and nothing else.

use jiff::ToSpan as _;
use serde_json::{Value, json};

use super::world::{
    LOCK, World, cluster_gate_path, daemon_set, gate_path, lock, locks, now, open_now,
    open_tomorrow, replica_set, window,
};
use crate::rollout::writers::{Writer, until};

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    doubt_holds_what_is_selected(world).await;
    windows_open(world).await;
    rollouts_only(world).await;
    names_and_labels_choose(world).await;
    modes_and_exemptions(world).await;
    gates_intersect(world).await;
    cluster_gates_choose_namespaces(world).await;
    locks_are_taken_in_windows(world).await;
}

/// A new `ReplicaSet` of a Deployment, at its second revision. Not kept: what is asked is whether the server would take it.
pub(super) async fn rolls(
    world: &World,
    namespace: &str,
    deployment: &str,
) -> Result<Value, String> {
    let labels = json!({"app": deployment, "tier": "web"});
    rolls_by(world, &world.writer, namespace, &replica_set(deployment, "2", &labels)).await
}

pub(super) async fn rolls_by(
    world: &World,
    writer: &Writer,
    namespace: &str,
    set: &Value,
) -> Result<Value, String> {
    let path = format!("{}/namespaces/{namespace}/replicasets?dryRun=All", world.apps);
    writer.send("POST", &path, "application/json", &world.here(set)).await
}

#[track_caller]
pub(super) fn held(answer: Result<Value, String>, by: &str) {
    match answer {
        Ok(_) => panic!("passes, and {by} should hold it"),
        Err(said) => assert!(said.contains(by), "{by}: {said}"),
    }
}

#[track_caller]
pub(super) fn passes(answer: Result<Value, String>) {
    if let Err(said) = answer {
        panic!("held: {said}");
    }
}

/// Parameters reach the server's policies by a watch of its own, so a gate that was written holds or opens a moment later.
pub(super) async fn settles(world: &World, namespace: &str, part: &str) {
    until(part, async || match rolls(world, namespace, "web").await {
        Ok(_) => part.is_empty(),
        Err(said) => !part.is_empty() && said.contains(part),
    })
    .await;
}

/// RCH-2
async fn doubt_holds_what_is_selected(world: &World) {
    passes(rolls(world, "shop", "web").await);
    world.gate("shop", "rollouts", json!({"holds": [{"what": "Deployments"}]})).await;
    let gate = gate_path("shop", "rollouts");
    settles(world, "shop", "held by ChangeGate shop/rollouts, whose windows are not known: nobody has written its status").await;
    passes(rolls(world, "lab", "web").await);

    let open = json!([open_now()]);
    world.write_status(&gate, json!({"windows": open, "observedGeneration": 0})).await;
    settles(world, "shop", "its status is older than its specification").await;
    let unready = json!([{"type": "Ready", "status": "False", "reason": "InvalidSpec"}]);
    world.write_status(&gate, json!({"windows": open, "conditions": unready})).await;
    settles(world, "shop", "it is not Ready").await;
    world.write_status(&gate, json!({"windows": open, "conditions": []})).await;
    settles(world, "shop", "it is not Ready").await;
    // Open by its windows, but nobody knows them any more.
    world.write_status(&gate, json!({"windows": open, "computedUntil": now() - 1.minute()})).await;
    settles(world, "shop", "no opening is known").await;
    world.write_status(&gate, json!({"windows": open, "computedUntil": now() + 300.hours()})).await;
    settles(world, "shop", "").await;
    // An edit of the gate closes at once: its generation is ahead (GATE-11).
    let edit = json!({"spec": {"nudge": false}});
    world.admin.merge(&gate, &edit).await.unwrap();
    settles(world, "shop", "its status is older than its specification").await;
    passes(rolls(world, "lab", "web").await);
}

/// RCH-10: windows decide, and one without edges asks for nothing.
async fn windows_open(world: &World) {
    let gate = gate_path("shop", "rollouts");
    let tomorrow = open_tomorrow();
    let opens = format!("which opens at {}", tomorrow.start_time.clone().unwrap());
    for (windows, expected) in [
        (vec![open_now()], ""),
        (vec![tomorrow.clone()], opens.as_str()),
        (
            vec![window(Some(now() - 2.hours()), Some(now() - 1.hour())), tomorrow.clone()],
            opens.as_str(),
        ),
        (vec![], "no opening is known"),
        (vec![window(None, None)], ""),
        (vec![window(Some(now() - 1.hour()), None)], ""),
        (vec![window(None, Some(now() + 5.hours()))], ""),
        (vec![window(None, Some(now() - 1.hour()))], "no opening is known"),
        (vec![window(Some(now() + 5.hours()), None)], "which opens at "),
        (vec![tomorrow], opens.as_str()),
    ] {
        world.open(&gate, &windows).await;
        settles(world, "shop", expected).await;
    }
}

/// RCH-6: what is not a rollout goes on; the gate is shut.
async fn rollouts_only(world: &World) {
    let labels = json!({"app": "web"});
    passes(rolls_by(world, &world.writer, "shop", &replica_set("web", "1", &labels)).await);
    let mut nobodys = replica_set("web", "2", &labels);
    nobodys["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    passes(rolls_by(world, &world.writer, "shop", &nobodys).await);
    let mut anothers = replica_set("web", "2", &labels);
    anothers["metadata"]["ownerReferences"][0]["kind"] = json!("Rollout");
    passes(rolls_by(world, &world.writer, "shop", &anothers).await);
    // Without the word of its controller that it is the first, it is not.
    let mut untold = replica_set("web", "2", &labels);
    untold["metadata"].as_object_mut().unwrap().remove("annotations");
    held(rolls_by(world, &world.writer, "shop", &untold).await, "shop/rollouts");
    // The set of a Recreate, whose old pods are gone already: the wish was judged, and what has begun ends (RCH-5).
    let noted = |desired: &str, most: &str, replicas: u32| {
        let mut set = replica_set("web", "2", &labels);
        set["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"] =
            json!(desired);
        set["metadata"]["annotations"]["deployment.kubernetes.io/max-replicas"] = json!(most);
        set["spec"]["replicas"] = json!(replicas);
        set
    };
    passes(rolls_by(world, &world.writer, "shop", &noted("3", "3", 3)).await);
    for (desired, most, replicas) in [("3", "3", 0), ("3", "4", 3), ("0", "0", 0), ("0", "1", 0)] {
        held(
            rolls_by(world, &world.writer, "shop", &noted(desired, most, replicas)).await,
            "shop/rollouts",
        );
    }
    // GATE-15
    passes(rolls_by(world, &world.initiator, "shop", &replica_set("web", "2", &labels)).await);
    world.remove_gate("shop", "rollouts").await;
    settles(world, "shop", "").await;
}

/// RCH-12
async fn names_and_labels_choose(world: &World) {
    let expressed = |key: &str, operator: &str, values: Value| json!({"selector": {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}});
    for (choice, is_held) in [
        (json!({}), true),
        (json!({"names": ["api", "web"]}), true),
        (json!({"names": ["api"]}), false),
        (json!({"selector": {}}), true),
        (json!({"selector": {"matchLabels": {"tier": "web"}}}), true),
        (json!({"selector": {"matchLabels": {"tier": "web", "app": "api"}}}), false),
        (json!({"names": ["api"], "selector": {"matchLabels": {"tier": "web"}}}), true),
        (json!({"names": ["web"], "selector": {"matchLabels": {"tier": "db"}}}), true),
        (expressed("tier", "In", json!(["db", "web"])), true),
        (expressed("tier", "In", json!(["db"])), false),
        (expressed("tier", "NotIn", json!(["db"])), true),
        (expressed("tier", "NotIn", json!(["web"])), false),
        (expressed("zone", "NotIn", json!(["a"])), true),
        (expressed("tier", "Exists", Value::Null), true),
        (expressed("zone", "Exists", Value::Null), false),
        (expressed("zone", "DoesNotExist", Value::Null), true),
        (expressed("tier", "DoesNotExist", Value::Null), false),
    ] {
        let mut hold = choice.clone();
        hold["what"] = json!("Deployments");
        // Another Deployment is held by a second gate, if not by the first, so the first is known once it is: it was written before.
        world.gate("shop", "chosen", json!({"holds": [hold]})).await;
        world
            .gate("shop", "known", json!({"holds": [{"what": "Deployments", "names": ["canary"]}]}))
            .await;
        until("the gates are known", async || rolls(world, "shop", "canary").await.is_err()).await;
        let answer = rolls(world, "shop", "web").await;
        assert_eq!(answer.is_err(), is_held, "{choice}: {answer:?}");
        world.remove_gate("shop", "chosen").await;
        world.remove_gate("shop", "known").await;
        settles(world, "shop", "").await;
        until("the gates are gone", async || rolls(world, "shop", "canary").await.is_ok()).await;
    }
}

/// RCH-14
async fn modes_and_exemptions(world: &World) {
    let path = gate_path("shop", "modes");
    world.gate("shop", "modes", json!({"mode": "Audit", "holds": [{"what": "Deployments"}]})).await;
    world
        .gate("shop", "other", json!({"holds": [{"what": "Deployments", "names": ["canary"]}]}))
        .await;
    until("both are known", async || rolls(world, "shop", "canary").await.is_err()).await;
    passes(rolls(world, "shop", "web").await);
    world.admin.merge(&path, &json!({"spec": {"mode": "Warn"}})).await.unwrap();
    until("whoever writes is warned", async || {
        warning(world).await.contains("would be held by ChangeGate shop/modes")
    })
    .await;
    passes(rolls(world, "shop", "web").await);
    world.admin.merge(&path, &json!({"spec": {"mode": "Enforce"}})).await.unwrap();
    settles(world, "shop", "shop/modes").await;
    assert_eq!(warning(world).await, "", "who is refused need not be warned");

    let account = "system:serviceaccount:shop:deployer";
    let people = [
        Writer::new(&world.client, "ann", &["system:masters", "commanders"], None),
        Writer::new(&world.client, "bob", &["system:masters"], None),
        Writer::new(&world.client, account, &["system:masters"], None),
    ];
    let set = replica_set("web", "2", &json!({"app": "web"}));
    for (exempt, who) in [
        (json!({"groups": ["commanders"]}), 0),
        (json!({"users": ["bob"]}), 1),
        (json!({"serviceAccounts": ["shop:deployer"]}), 2),
    ] {
        let cleared = json!({"groups": null, "users": null, "serviceAccounts": null});
        world.admin.merge(&path, &json!({"spec": {"exempt": cleared}})).await.unwrap();
        world.admin.merge(&path, &json!({"spec": {"exempt": exempt}})).await.unwrap();
        until("the exempt pass", async || {
            rolls_by(world, &people[who], "shop", &set).await.is_ok()
        })
        .await;
        for (other, writer) in people.iter().enumerate().filter(|(other, _)| *other != who) {
            let answer = rolls_by(world, writer, "shop", &set).await;
            assert!(answer.is_err(), "{exempt}: person {other} passes");
        }
    }
    // RCH-1: no gate sees the exemptions of another.
    world.gate("shop", "third", json!({"holds": [{"what": "Deployments"}]})).await;
    until("it holds", async || {
        rolls_by(world, &people[2], "shop", &set)
            .await
            .is_err_and(|said| said.contains("shop/third"))
    })
    .await;
    for name in ["modes", "other", "third"] {
        world.remove_gate("shop", name).await;
    }
    settles(world, "shop", "").await;
}

/// What the server says beside the answer to a rollout.
async fn warning(world: &World) -> String {
    let body = world.here(&replica_set("web", "2", &json!({"app": "web"}))).to_string();
    let path = format!("{}/namespaces/shop/replicasets?dryRun=All", world.apps);
    let request = http::Request::post(path)
        .header("Content-Type", "application/json")
        .body(kube::client::Body::from(body.into_bytes()))
        .unwrap();
    let response = world.client.send(request).await.unwrap();
    let warnings =
        response.headers().get_all("Warning").iter().filter_map(|line| line.to_str().ok());
    warnings.collect::<Vec<_>>().join("\n")
}

/// RCH-1: every gate must permit, and the refusal names the one that held.
async fn gates_intersect(world: &World) {
    let team = gate_path("shop", "team");
    world.gate("shop", "team", json!({"holds": [{"what": "Deployments"}]})).await;
    world.cluster_gate("platform", json!({"holds": [{"what": "Deployments"}]})).await;
    let platform = cluster_gate_path("platform");
    let tomorrow = open_tomorrow();
    for (team_opens, platform_opens, expected) in [
        (open_now(), tomorrow.clone(), "held by ClusterChangeGate platform, which opens at "),
        (tomorrow.clone(), open_now(), "held by ChangeGate shop/team, which opens at "),
        (open_now(), open_now(), ""),
        (tomorrow.clone(), tomorrow.clone(), "held by "),
    ] {
        world.open(&team, &[team_opens]).await;
        world.open(&platform, &[platform_opens]).await;
        settles(world, "shop", expected).await;
    }
    // A team that exempts everybody, or deletes its gate, has weakened nothing of the platform's.
    world
        .admin
        .merge(&team, &json!({"spec": {"exempt": {"groups": ["system:masters"]}}}))
        .await
        .unwrap();
    world.open(&team, &[open_now()]).await;
    settles(world, "shop", "held by ClusterChangeGate platform").await;
    world.remove_gate("shop", "team").await;
    settles(world, "shop", "held by ClusterChangeGate platform").await;
    world.remove_cluster_gate("platform").await;
    settles(world, "shop", "").await;
}

/// RCH-13
async fn cluster_gates_choose_namespaces(world: &World) {
    let named = |values: &[&str]| json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": values}]});
    for (selector, expected) in [
        (json!({"matchLabels": {"env": "prod"}}), &["shop"][..]),
        (json!({"matchLabels": {"env": "test"}}), &["lab"][..]),
        (Value::Null, &["shop", "lab"][..]),
        (json!({}), &["shop", "lab"][..]),
        (named(&["kube-part", "lab"]), &["lab", "kube-part"][..]),
        (named(&["tidegate-system"]), &["tidegate-system"][..]),
    ] {
        let mut spec = json!({"holds": [{"what": "Deployments"}]});
        if !selector.is_null() {
            spec["namespaceSelector"] = selector.clone();
        }
        world.cluster_gate("chosen", spec).await;
        until("the gate holds", async || rolls(world, expected[0], "web").await.is_err()).await;
        for namespace in ["shop", "lab", "kube-part", "tidegate-system"] {
            let answer = rolls(world, namespace, "web").await;
            assert_eq!(
                answer.is_err(),
                expected.contains(&namespace),
                "{selector}, {namespace}: {answer:?}"
            );
        }
        world.remove_cluster_gate("chosen").await;
        until("the gate is gone", async || rolls(world, expected[0], "web").await.is_ok()).await;
    }
}

/// The lock of kured is taken in windows and given back at any time, in both of its forms and by every path.
async fn locks_are_taken_in_windows(world: &World) {
    let sets = &format!("{}/namespaces/kube-part/daemonsets", world.apps);
    for (name, annotations) in [
        ("kured", json!({})),
        ("held", json!({LOCK: lock("n1", "2026-01-01T00:00:00Z")})),
        (
            "several",
            json!({LOCK: locks(&[("n1", "2026-01-01T00:00:00Z"), ("n2", "2026-01-02T00:00:00Z")])}),
        ),
    ] {
        passes(world.post(sets, &daemon_set(name, &annotations)).await);
    }
    // A gate of the cluster holds kured in namespaces of the system too.
    world.cluster_gate("reboots", json!({"holds": [{"what": "KuredLock"}]})).await;
    let gate = cluster_gate_path("reboots");
    let note = async |set: &str, subresource: &str, value: Value| {
        let change = json!({"metadata": {"annotations": {LOCK: value}}});
        world.writer.merge(&format!("{sets}/{set}{subresource}?dryRun=All"), &change).await
    };
    let first = json!(lock("n9", "2026-02-01T00:00:00Z"));
    until("it holds", async || note("kured", "", first.clone()).await.is_err()).await;
    // The status of a DaemonSet carries annotations; that of the stand-in is of a custom kind, and does not.
    if world.has_workloads() {
        held(note("kured", "/status", first.clone()).await, "ClusterChangeGate reboots");
    }
    held(
        world.post(&format!("{sets}?dryRun=All"), &daemon_set("new", &json!({LOCK: first}))).await,
        "reboots",
    );
    // Another node takes it, or the same once more.
    held(note("held", "", first.clone()).await, "reboots");
    held(note("held", "", json!(lock("n1", "2026-02-01T00:00:00Z"))).await, "reboots");
    // Given back: gone, or without the node that has it, whatever else is there.
    passes(note("held", "", Value::Null).await);
    passes(note("several", "", Value::Null).await);
    let (n1, n2) = (("n1", "2026-01-01T00:00:00Z"), ("n2", "2026-01-02T00:00:00Z"));
    let (late, n3) = (("n1", "2026-03-01T00:00:00Z"), ("n3", "2026-03-01T00:00:00Z"));
    for left in [&[n1][..], &[n2], &[n2, n1], &[]] {
        passes(note("several", "", json!(locks(left))).await);
    }
    // Two that ran out make room for one: fewer than before, and a lock is taken all the same.
    for taken in [&[n1, n2, n3][..], &[n1, n3], &[n3], &[late, n2], &[late]] {
        held(note("several", "", json!(locks(taken))).await, "reboots");
    }
    // What kured would read as a lock is one, however it is spelt.
    for spelt in [
        r#"{"nodeID" :"n9","metadata":{},"created":"2026-02-01T00:00:00Z","TTL":0}"#,
        r#"{"nodeid":"n9","metadata":{},"created":"2026-02-01T00:00:00Z","TTL":0}"#,
        r#"{"nodeID":"n9","metadata":{},"created":"2026-02-01T00:00:00Z","TTL":0}"#,
    ] {
        held(note("held", "", json!(spelt)).await, "reboots");
    }
    let twice = lock("n1", "2026-01-01T00:00:00Z").replacen('{', r#"{"NodeID":"n9","#, 1);
    held(note("held", "", json!(twice)).await, "reboots");
    // Everything else about the DaemonSet is free.
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "kured", "image": "kured:2"}]}}}});
    passes(world.writer.merge(&format!("{sets}/held?dryRun=All"), &image).await);
    world.open(&gate, &[open_now()]).await;
    until("it opens", async || note("kured", "", first.clone()).await.is_ok()).await;
    passes(note("kured", "/status", first.clone()).await);
    // Not the rollouts, which this gate does not name.
    world.open(&gate, &[open_tomorrow()]).await;
    until("it closes", async || note("kured", "", first.clone()).await.is_err()).await;
    passes(rolls(world, "shop", "web").await);
    world.remove_cluster_gate("reboots").await;
    until("it is gone", async || note("kured", "", first.clone()).await.is_ok()).await;
    // RCH-12: nobody leaves by taking the label away first.
    let hold = json!({"what": "KuredLock", "selector": {"matchLabels": {"app": "kured"}}});
    world.cluster_gate("reboots", json!({"holds": [hold]})).await;
    until("it holds", async || note("kured", "", first.clone()).await.is_err()).await;
    let relabel = json!({"metadata": {"labels": {"app": "other"}}});
    let relabelled = |set: &str| format!("{sets}/{set}?dryRun=All");
    held(world.writer.merge(&relabelled("kured"), &relabel).await, "ClusterChangeGate reboots");
    passes(world.writer.merge(&relabelled("held"), &relabel).await);
    world.remove_cluster_gate("reboots").await;
    until("it is gone", async || note("kured", "", first.clone()).await.is_ok()).await;
}

/// RCH-4: open at the second at which a window begins, shut at the second at which it ends, with nothing of ours alive.
pub(super) async fn edges_are_exact(world: &World) {
    world.namespace("shop", &json!({})).await;
    world.gate("shop", "rollouts", json!({"holds": [{"what": "Deployments"}]})).await;
    let now = world.server_time().await;
    let (start, end) = (now + 4.seconds(), now + 8.seconds());
    world.open(&gate_path("shop", "rollouts"), &[window(Some(start), Some(end))]).await;
    settles(world, "shop", "which opens at").await;
    let stamp = |made: &Value| -> jiff::Timestamp {
        made["metadata"]["managedFields"][0]["time"].as_str().unwrap().parse().unwrap()
    };
    let (mut inside, mut after) = (0, 0);
    while after < 20 {
        match rolls(world, "shop", "web").await {
            Ok(made) => {
                inside += 1;
                let at = stamp(&made);
                assert!(start <= at && at < end, "taken at {at}, outside {start} to {end}");
            }
            Err(said) if inside == 0 => {
                assert!(said.contains(&format!("opens at {start}")), "{said}");
            }
            Err(said) => {
                after += 1;
                assert!(said.contains("no opening is known"), "{said}");
            }
        }
    }
    assert!(inside > 0 && world.server_time().await >= end, "{inside} were taken");
}
