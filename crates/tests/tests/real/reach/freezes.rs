//! Does one write stop everything that it selects, by the server alone? (OVR-1, OVR-3, OVR-5, GATE-15, RCH-13)
//!
//! Nothing of ours runs here: there are the definitions and the policies as they are shipped, and whoever writes.

use std::{collections::BTreeSet, time::Duration};

use api::{
    machine::names::{
        CURRENT_CONFIG, DESIRED_CONFIG, PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL,
    },
    names,
};
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};
use tidy::{Tree, permits};

use super::{
    rows::{held, passes, rolls, rolls_by, settles},
    world::{GROUP, LOCK, World, daemon_set, freeze, gate_path, lock, now, open_now, replica_set},
};
use crate::rollout::writers::{OPERATOR, RIGHTS, Writer, until};

const NODES: &str = "/api/v1/nodes";

/// Every rule about single writes.
pub(super) async fn hold_first_writes(world: &World) {
    world.usual_namespaces().await;
    of_a_team_stay_in_its_namespace(world).await;
    of_the_platform_choose_namespaces(world).await;
    choose_what(world).await;
    let_nobody_pass_but_whom_they_name(world).await;
    begin_and_end_by_themselves(world).await;
    hold_locks(world).await;
}

async fn of_a_team_stay_in_its_namespace(world: &World) {
    // A gate that is open does not help (GATE-15).
    world.gate("shop", "rollouts", json!({"holds": [{"what": "Deployments"}]})).await;
    world.open(&gate_path("shop", "rollouts"), &[open_now()]).await;
    settles(world, "shop", "").await;
    world.freeze("shop", "stop", json!({"reason": "the till is broken"})).await;
    settles(
        world,
        "shop",
        "held by ChangeFreeze shop/stop until further notice, unsigned: the till is broken",
    )
    .await;
    passes(rolls(world, "lab", "web").await);
    // Only rollouts are first writes: the first install is none.
    passes(
        rolls_by(world, &world.writer, "shop", &replica_set("web", "1", &json!({"app": "web"})))
            .await,
    );
    world.thaw("shop", "stop").await;
    settles(world, "shop", "").await;
    world.remove_gate("shop", "rollouts").await;
}

async fn of_the_platform_choose_namespaces(world: &World) {
    let named = |values: &[&str]| json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": values}]});
    for (selector, expected) in [
        (Value::Null, &["shop", "lab"][..]),
        (json!({"matchLabels": {"env": "prod"}}), &["shop"][..]),
        (named(&["kube-part", "lab"]), &["lab", "kube-part"][..]),
        (named(&["tidegate-system"]), &["tidegate-system"][..]),
    ] {
        let mut spec = json!({"reason": "black friday", "until": (now() + 1.hour()).to_string()});
        if !selector.is_null() {
            spec["namespaceSelector"] = selector.clone();
        }
        world.cluster_freeze("stop", spec).await;
        until("the freeze holds", async || rolls(world, expected[0], "web").await.is_err()).await;
        for namespace in ["shop", "lab", "kube-part", "tidegate-system"] {
            let answer = rolls(world, namespace, "web").await;
            assert_eq!(
                answer.is_err(),
                expected.contains(&namespace),
                "{selector}, {namespace}: {answer:?}"
            );
        }
        held(rolls(world, expected[0], "web").await, "held by ClusterChangeFreeze stop until 20");
        world.thaw_cluster("stop").await;
        until("the freeze is gone", async || rolls(world, expected[0], "web").await.is_ok()).await;
    }
}

/// RCH-12, as on a gate.
async fn choose_what(world: &World) {
    for (holds, is_held) in [
        (json!([{"what": "Deployments"}]), true),
        (json!([{"what": "KuredLock"}]), false),
        (json!([{"what": "KuredLock"}, {"what": "Deployments", "names": ["web"]}]), true),
        (json!([{"what": "Deployments", "names": ["api"]}]), false),
        (json!([{"what": "Deployments", "selector": {"matchLabels": {"tier": "web"}}}]), true),
        (json!([{"what": "Deployments", "selector": {"matchLabels": {"tier": "db"}}}]), false),
        (
            json!([{"what": "Deployments", "names": ["api"], "selector": {"matchLabels": {"tier": "web"}}}]),
            true,
        ),
    ] {
        world.freeze("shop", "chosen", json!({"reason": "x", "holds": holds})).await;
        // Written after the first, so the first is known once this one is.
        let canary = json!([{"what": "Deployments", "names": ["canary"]}]);
        world.freeze("shop", "known", json!({"reason": "x", "holds": canary})).await;
        until("the freezes are known", async || rolls(world, "shop", "canary").await.is_err())
            .await;
        let answer = rolls(world, "shop", "web").await;
        assert_eq!(answer.is_err(), is_held, "{holds}: {answer:?}");
        world.thaw("shop", "chosen").await;
        world.thaw("shop", "known").await;
        settles(world, "shop", "").await;
        until("the freezes are gone", async || rolls(world, "shop", "canary").await.is_ok()).await;
    }
}

async fn let_nobody_pass_but_whom_they_name(world: &World) {
    let set = replica_set("web", "2", &json!({"app": "web"}));
    let exempt =
        json!({"groups": ["commanders"], "users": ["bob"], "serviceAccounts": ["shop:deployer"]});
    world.freeze("shop", "stop", json!({"reason": "x", "exempt": exempt})).await;
    settles(world, "shop", "held by ChangeFreeze shop/stop").await;
    for (who, groups) in [
        ("ann", &[RIGHTS, "commanders"][..]),
        ("bob", &[RIGHTS]),
        ("system:serviceaccount:shop:deployer", &[RIGHTS]),
    ] {
        let writer = Writer::new(&world.client, who, groups, None);
        passes(rolls_by(world, &writer, "shop", &set).await);
    }
    passes(rolls_by(world, &world.initiator, "shop", &set).await);
    // Whom the team exempts the platform does not.
    world.cluster_freeze("all", json!({"reason": "y"})).await;
    let ann = Writer::new(&world.client, "ann", &[RIGHTS, "commanders"], None);
    until("the platform's holds", async || {
        let answer = rolls_by(world, &ann, "shop", &set).await;
        answer.is_err_and(|said| said.contains("ClusterChangeFreeze all"))
    })
    .await;
    passes(rolls_by(world, &world.initiator, "shop", &set).await);
    world.thaw("shop", "stop").await;
    world.thaw_cluster("all").await;
    settles(world, "shop", "").await;
}

/// By the server's clock, to the second.
async fn begin_and_end_by_themselves(world: &World) {
    let started = world.server_time().await;
    let (from, end) = (started + 3.seconds(), started + 6.seconds());
    let spec = json!({"reason": "x", "from": from.to_string(), "until": end.to_string()});
    world.cluster_freeze("short", spec).await;
    let stamp = |made: &Value| -> Timestamp {
        made["metadata"]["managedFields"][0]["time"].as_str().unwrap().parse().unwrap()
    };
    let (mut before, mut inside, mut after) = (0, 0, 0);
    let began = tokio::time::Instant::now();
    while after < 10 {
        assert!(began.elapsed() < Duration::from_mins(1), "it does not end");
        match rolls(world, "shop", "web").await {
            Ok(made) if stamp(&made) < from => before += 1,
            Ok(made) => {
                assert!(stamp(&made) >= end, "taken at {}, {from} to {end}", stamp(&made));
                after += 1;
            }
            Err(said) => {
                assert!(said.contains(&format!("ClusterChangeFreeze short until {end}")), "{said}");
                inside += 1;
            }
        }
    }
    assert!(before > 0 && inside > 0, "{before} before, {inside} inside");
    world.thaw_cluster("short").await;
}

async fn hold_locks(world: &World) {
    let sets = &format!("{}/namespaces/kube-part/daemonsets", world.apps);
    passes(world.post(sets, &daemon_set("kured", &json!({}))).await);
    let taken = json!({LOCK: lock("n1", "2026-01-01T00:00:00Z")});
    passes(world.post(sets, &daemon_set("busy", &taken)).await);
    let note = async |set: &str, value: Value| {
        let change = json!({"metadata": {"annotations": {LOCK: value}}});
        world.writer.merge(&format!("{sets}/{set}?dryRun=All"), &change).await
    };
    let first = json!(lock("n9", "2026-02-01T00:00:00Z"));
    world.cluster_freeze("stop", json!({"reason": "no reboots"})).await;
    until("it holds", async || {
        let answer = note("kured", first.clone()).await;
        answer.is_err_and(|said| {
            said.contains("ClusterChangeFreeze stop") && said.contains("no reboots")
        })
    })
    .await;
    // What has begun ends: a lock is given back.
    passes(note("busy", Value::Null).await);
    world.thaw_cluster("stop").await;
    until("it is gone", async || note("kured", first.clone()).await.is_ok()).await;
}

/// OVR-1: one write, and from that second on nothing that it selects starts.
pub(super) async fn hold_within_a_second(world: &World) {
    world.namespace("soon", &json!({})).await;
    settles(world, "soon", "").await;
    let made = world.cluster_freeze("now", json!({"reason": "stop"})).await;
    let created: Timestamp =
        made["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap();
    let mut refused = 0;
    while refused < 20 {
        match rolls(world, "soon", "web").await {
            Err(said) => {
                assert!(said.contains("ClusterChangeFreeze now"), "{said}");
                refused += 1;
            }
            Ok(taken) => {
                let stamp = taken["metadata"]["managedFields"][0]["time"].as_str().unwrap();
                let stamp: Timestamp = stamp.parse().unwrap();
                assert_eq!(refused, 0, "once refused, nothing is taken");
                assert!(stamp <= created + 1.second(), "taken at {stamp}, frozen at {created}");
            }
        }
    }
    world.thaw_cluster("now").await;
    settles(world, "soon", "").await;
}

/// OVR-1, RCH-11: what the definitions refuse; OVR-3: what the policy on signatures does.
pub(super) async fn are_refused_where_they_say_nothing_useful(world: &World) {
    let (team, wide) = (&[names::CHANGE_FREEZE][..], &[names::CLUSTER_CHANGE_FREEZE][..]);
    let both = &[names::CHANGE_FREEZE, names::CLUSTER_CHANGE_FREEZE][..];
    let with = |key: &str, value: Value| {
        let mut spec = json!({"reason": "x"});
        spec[key] = value;
        spec
    };
    let holds = |hold: Value| with("holds", json!([hold]));
    let selected = |hold: Value| {
        let mut spec = holds(hold);
        spec["namespaceSelector"] = json!({"matchLabels": {"env": "prod"}});
        spec
    };
    for (kinds, spec, refusal) in [
        (both, json!({"reason": "x"}), ""),
        (both, json!({}), "reason"),
        (both, json!({"reason": ""}), "spec.reason"),
        (both, json!({"reason": "  "}), "spec.reason"),
        (both, json!({"reason": "two\nlines"}), "spec.reason"),
        (both, with("until", json!("soon")), "spec.until"),
        (
            both,
            json!({"reason": "x", "from": "2099-01-02T00:00:00Z", "until": "2099-01-01T00:00:00Z"}),
            "until must be later than from",
        ),
        (
            both,
            json!({"reason": "x", "from": "2099-01-02T00:00:00+02:00", "until": "2099-01-01T23:00:00Z"}),
            "",
        ),
        (both, with("until", json!("2020-01-01T00:00:00Z")), "it is over already"),
        (both, with("by", json!("jane")), "spec.by: you are writer"),
        (both, with("by", json!("writer")), ""),
        (both, with("holds", json!([])), "should have at least 1 items"),
        (both, holds(json!({"what": "Everything"})), "Unsupported value"),
        (both, holds(json!({"what": "Deployments", "names": ["web"], "selector": {}})), ""),
        (team, holds(json!({"what": "MachineConfigPools"})), "belong to the cluster"),
        (team, holds(json!({"what": "ClusterVersion"})), "belong to the cluster"),
        (wide, holds(json!({"what": "MachineConfigPools", "names": ["worker"]})), ""),
        (wide, holds(json!({"what": "ClusterVersion"})), ""),
        (wide, holds(json!({"what": "MachineConfigPools", "names": ["master"]})), "freeze that"),
        (wide, holds(json!({"what": "ClusterVersion", "names": ["x"]})), "leave names out"),
        (wide, holds(json!({"what": "MachineConfigPools", "selector": {}})), "by names"),
        (wide, selected(json!({"what": "MachineConfigPools"})), "are in no namespace"),
        (wide, selected(json!({"what": "Deployments"})), ""),
        (both, with("exempt", json!({"serviceAccounts": ["deployer"]})), "should match"),
    ] {
        for kind in kinds {
            let path = match *kind {
                names::CHANGE_FREEZE => format!("{GROUP}/namespaces/default/changefreezes"),
                _ => format!("{GROUP}/clusterchangefreezes"),
            };
            let body = freeze(kind, "tried", &spec);
            match world.post(&format!("{path}?dryRun=All"), &body).await {
                Ok(_) => assert_eq!(refusal, "", "{kind} takes {spec}"),
                Err(said) => {
                    assert!(!refusal.is_empty() && said.contains(refusal), "{kind} {spec}: {said}");
                }
            }
        }
    }
    the_guide_is_taken(world).await;
    // Nobody signs for another afterwards, and a freeze can be ended.
    let path = format!("{GROUP}/clusterchangefreezes");
    let body = freeze(names::CLUSTER_CHANGE_FREEZE, "signed", &with("by", json!("writer")));
    world.post(&path, &body).await.unwrap();
    let path = format!("{path}/signed");
    for by in [json!("jane"), Value::Null] {
        let said = world.writer.merge(&path, &json!({"spec": {"by": by}})).await.unwrap_err();
        assert!(said.contains("spec.by: who froze cannot be changed"), "{said}");
    }
    let end = json!({"spec": {"until": now().to_string()}});
    world.admin.merge(&path, &end).await.unwrap();
    world.thaw_cluster("signed").await;
}

/// What the guide shows is what the server takes.
async fn the_guide_is_taken(world: &World) {
    let guide = Tree::top().join("docs/guides/hold-what-you-have.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let shown = guide.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let shown = shown.map(|text| serde_saphyr::from_str::<Value>(text).unwrap());
    // What is no object of ours, such as a part of a status or the policy of an audit log, is shown and not applied.
    let shown: Vec<Value> =
        shown.filter(|object| object["apiVersion"] == names::API_VERSION).collect();
    assert!(shown.len() >= 10, "{shown:?}");
    let namespaces: BTreeSet<&str> =
        shown.iter().filter_map(|object| object["metadata"]["namespace"].as_str()).collect();
    for namespace in namespaces {
        world.namespace(namespace, &json!({})).await;
    }
    for mut object in shown {
        // An override lasts a month at most, and a guide for years.
        if object["kind"].as_str().is_some_and(|kind| kind.ends_with("Override")) {
            object["spec"]["until"] = json!((now() + 1.hour()).to_string());
        }
        let plural = names::plural(object["kind"].as_str().unwrap());
        let path = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{GROUP}/namespaces/{namespace}/{plural}?dryRun=All"),
            None => format!("{GROUP}/{plural}?dryRun=All"),
        };
        world.post(&path, &object).await.unwrap();
    }
}

/// The marks of Tidegate's own operator, by its account: a permit does not help while the cluster is frozen.
pub(super) async fn hold_machines(world: &World) {
    for manifest in [
        "deploy/manifests/manage-pools/manage-pools.yaml",
        "deploy/manifests/node-freezes/node-freezes.yaml",
    ] {
        for (collection, document) in permits::admission(manifest) {
            world.admin.create(collection, &document).await;
        }
    }
    let operator = Writer::new(&world.client, OPERATOR, &[RIGHTS], None);
    for name in ["w1", "m1", "fresh"] {
        let mut noted = json!({CURRENT_CONFIG: "rendered-worker-1"});
        if name != "fresh" {
            noted[DESIRED_CONFIG] = json!("rendered-worker-1");
        }
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": noted}});
        world.initiator.create(NODES, &node).await;
    }
    let mark = async |who: &Writer, node: &str, config: &str, basis: &str| {
        let now = Timestamp::now();
        let noted = json!({DESIRED_CONFIG: config, PERMIT_CHANGE: config, PERMIT_BASIS: basis,
            PERMIT_FROM: (now - 1.minutes()).to_string(), PERMIT_UNTIL: (now + 5.minutes()).to_string()});
        let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "annotations": noted}});
        who.apply(&format!("{NODES}/{node}?dryRun=All"), &body).await
    };
    let worker = async || mark(&operator, "w1", "rendered-worker-2", "window").await;
    let master = async || mark(&operator, "m1", "rendered-master-2", "window").await;
    until("the permits stand", async || mark(&world.writer, "w1", "x", "window").await.is_err())
        .await;
    passes(worker().await);
    for (holds, workers, masters) in [
        (Value::Null, true, true),
        (json!([{"what": "MachineConfigPools"}]), true, false),
        (json!([{"what": "MachineConfigPools", "names": ["worker"]}]), true, false),
        (json!([{"what": "ClusterVersion"}]), false, true),
        (
            json!([{"what": "MachineConfigPools", "names": ["infra"]}, {"what": "ClusterVersion"}]),
            false,
            true,
        ),
    ] {
        let mut spec = json!({"reason": "a storm", "by": "admin"});
        if !holds.is_null() {
            spec["holds"] = holds.clone();
        }
        world.cluster_freeze("stop", spec).await;
        until("it holds", async || worker().await.is_err() || master().await.is_err()).await;
        for (answer, is_held) in [(worker().await, workers), (master().await, masters)] {
            assert_eq!(answer.is_err(), is_held, "{holds}: {answer:?}");
            if let Err(said) = answer {
                let expected =
                    "held by ClusterChangeFreeze stop until further notice, by admin: a storm";
                assert!(said.contains(expected), "{said}");
            }
        }
        if masters {
            // What has begun finishes (GATE-10), whoever acts by hand passes, and a node is told to stay as it is.
            let begun = "already initiated: rendered-master-2";
            passes(mark(&operator, "m1", "rendered-master-2", begun).await);
        }
        passes(mark(&world.initiator, "w1", "rendered-worker-2", "by hand").await);
        let adopt = json!({"metadata": {"annotations": {DESIRED_CONFIG: "rendered-worker-1"}}});
        passes(operator.merge(&format!("{NODES}/fresh?dryRun=All"), &adopt).await);
        let label = json!({"metadata": {"labels": {"a": "b"}}});
        passes(world.writer.merge(&format!("{NODES}/w1?dryRun=All"), &label).await);
        world.thaw_cluster("stop").await;
        until("it is gone", async || worker().await.is_ok() && master().await.is_ok()).await;
    }
    // Bypass and consent set aside the stanza only (GATE-15), and what is in no namespace is chosen without a selector only (RCH-13).
    world.cluster_freeze("stop", json!({"reason": "x"})).await;
    until("it holds", async || worker().await.is_err()).await;
    for basis in ["bypass of MachineConfig/99-urgent", "consent for Node/w1"] {
        held(mark(&operator, "w1", "rendered-worker-2", basis).await, "ClusterChangeFreeze stop");
    }
    let prod = json!({"spec": {"namespaceSelector": {"matchLabels": {"env": "prod"}}}});
    world.admin.merge(&format!("{GROUP}/clusterchangefreezes/stop"), &prod).await.unwrap();
    until("it is of namespaces", async || worker().await.is_ok()).await;
    world.thaw_cluster("stop").await;
}
