//! Rows of nodes, and the page of their pool.

use api::machine::names;
use serde_json::{Value, json};
use tidegate_core::cluster::{kinds, snapshot::Snapshot};

use super::{World, at, policy, pool as gated, says, shown, shown_with};
use crate::{page::pool, view::Reading};

const ROLE: &str = "node-role.kubernetes.io/worker";

/// A node that has one configuration, was told to go to another, and whatever else is written on it.
fn node(name: &str, zone: &str, (has, to): (&str, &str), noted: &[(&str, &str)]) -> Value {
    let state = if has == to { "Done" } else { "Working" };
    let mut annotations =
        json!({names::CURRENT_CONFIG: has, names::DESIRED_CONFIG: to, names::STATE: state});
    for (name, value) in noted {
        annotations[*name] = json!(value);
    }
    json!({"metadata": {"name": name, "labels": {ROLE: "", names::ZONE: zone}, "annotations": annotations}})
}

/// A pool `worker` of these nodes, behind a gate that opens at 19:00, and going to `rendered-b`.
fn cluster(nodes: &[Value]) -> Snapshot {
    let mut cluster = Snapshot::default();
    cluster.add_written(
        &kinds::CHANGE_MANAGEMENT_POLICY,
        &policy("nights", "Wednesday"),
        at(super::NOW),
    );
    let mut pool = gated("worker", "nights");
    pool["spec"]["nodeSelector"] = json!({"matchLabels": {ROLE: ""}});
    pool["spec"]["configuration"] = json!({"name": "rendered-b"});
    pool["spec"]["maxUnavailable"] = json!(2);
    cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool);
    for (name, made) in [("rendered-a", "2026-10-01"), ("rendered-b", "2026-11-17")] {
        cluster.add(&kinds::MACHINE_CONFIG, &json!({"metadata": {"name": name, "creationTimestamp": format!("{made}T08:00:00Z"),
            "ownerReferences": [{"apiVersion": names::API_VERSION, "kind": "MachineConfigPool", "name": "worker", "controller": true, "uid": "u"}]},
            "spec": {}}));
    }
    for node in nodes {
        cluster.add(&kinds::NODE, node);
    }
    cluster
}

/// So many nodes that wait.
pub(super) fn waiting(count: usize) -> Snapshot {
    let node =
        |place: usize| node(&format!("node-{place:04}"), "z1", ("rendered-a", "rendered-a"), &[]);
    cluster(&(0..count).map(node).collect::<Vec<_>>())
}

/// POOL-2, POOL-3: what each has, is to have, waits for, since when; how many may be away and who is next.
#[test]
fn a_pool_tells_how_far_each_node_is() {
    let world = World::from(cluster(&[
        node("n1", "z2", ("rendered-a", "rendered-a"), &[]),
        node("n2", "z1", ("rendered-a", "rendered-a"), &[]),
        node("n3", "z1", ("rendered-b", "rendered-b"), &[]),
    ]));
    let page = shown(&world, "/pools/worker", pool::page);
    says(
        &page,
        "<h1><bdi>One of the three nodes of worker is done; two wait until today 19:00.</bdi></h1>",
    );
    says(&page, "<title>worker: 1 of 3 done · Tidegate</title>");
    says(&page, "Two nodes may be away at once; none is.");
    says(&page, "Next: <bdi>n2</bdi>, <bdi>n1</bdi>.");
    says(&page, "<bdi>its gate, until today 19:00</bdi>");
    says(&page, "yesterday 08:00");
    // What waits comes before what is done, in the order in which it goes.
    let place = |name: &str| {
        page.find(&format!("no zone</span><bdi>{name}"))
            .or_else(|| page.find(&format!("</bdi></span><bdi>{name}")))
            .unwrap()
    };
    assert!(place("n2") < place("n1") && place("n1") < place("n3"), "{page}");
    // The words are those of `tidegate worker-nodes status`.
    let row = &world.rows.resources[0];
    says(&page, &row.behavior.current.reason);
    let list = shown(&world, "/pools", pool::page);
    says(&list, "<h1>Two of three nodes lack what they are to have; none is under way.</h1>");
    says(&list, "href=\"/pools/worker\"");
}

#[test]
fn what_blocks_a_node_is_told_first() {
    let drain = "drain-rendered-b";
    let moving = ("rendered-a", "rendered-b");
    let world = World::from(cluster(&[
        node("a-done", "z1", ("rendered-b", "rendered-b"), &[]),
        node("b-moves", "z1", moving, &[]),
        node(
            "c-stuck",
            "z1",
            moving,
            &[(names::DESIRED_DRAIN, drain), (names::DRAIN_BLOCKED, "budget: pod db/0")],
        ),
        node(
            "d-fails",
            "z1",
            moving,
            &[(names::STATE, "Degraded"), (names::REASON, "disk <full>")],
        ),
    ]));
    let page = shown(&world, "/pools/worker", pool::page);
    says(&page, "<h1><bdi>Two nodes of worker cannot go on.</bdi></h1>");
    says(&page, "its workloads cannot leave: budget: pod db/0");
    says(&page, "somebody: disk &lt;full&gt;");
    says(&page, "Two nodes may be away at once; three are.");
    let place = |name: &str| page.rfind(name).unwrap();
    assert!(place("c-stuck") < place("b-moves") && place("b-moves") < place("a-done"));
    says(&page, "1 applying, 1 done, 1 draining, 1 failing");
}

/// Without configurations nobody can tell who waits, and the page says so instead of `done`.
#[test]
fn a_pool_that_is_half_known_is_doubtful() {
    let mut half = cluster(&[node("n1", "z1", ("rendered-a", "rendered-a"), &[])]);
    half.remove(&tidegate_core::document::key::Key::new(
        &api::kinds::MACHINE_CONFIG,
        None,
        "rendered-b",
    ));
    let reading = Reading { lacking: vec!["MachineConfig"], ..Reading::default() };
    let page = shown_with(&World::from(half), "/pools/worker", pool::page, &reading);
    says(&page, "Nobody can tell where worker goes: it has no rendered configuration.");
    says(&page, "Not read, or not yours to list: MachineConfig.");
    says(&page, "<b>cannot tell</b>");
    assert!(!page.contains("<b>done</b>"), "{page}");
    let empty = World::from(Snapshot::default());
    says(&shown(&empty, "/pools", pool::page), "This cluster has no machine config pools.");
    says(&shown(&empty, "/pools/worker", pool::page), "this cluster has no machine config pools");
    let world = World::from(cluster(&[]));
    says(
        &shown(&world, "/pools/gone", pool::page),
        "there is no MachineConfigPool/gone; the pools are worker",
    );
    says(&shown(&world, "/pools/worker", pool::page), "worker has no nodes.");
}

/// A pool of five thousand is a hundred rows and a count.
#[test]
fn a_large_pool_is_paged() {
    let world = World::from(waiting(5_000));
    let page = shown(&world, "/pools/worker", pool::page);
    assert_eq!(page.matches("<tr>").count(), 101);
    assert!(page.len() < 200 * 1024, "{}", page.len());
    says(&page, "after=node-0099");
    let second = shown(&world, "/pools/worker?after=node-0099", pool::page);
    says(&second, "<bdi>node-0100</bdi>");
    says(&shown(&world, "/pools", pool::page), "and 4,880 more");
}
