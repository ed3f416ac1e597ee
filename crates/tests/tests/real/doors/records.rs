//! Who writes what was recorded, what a node says of itself, and consent? (GATE-10, GATE-16, NODE-3, POOL-7)

use api::machine::names::{
    ALLOWED_CONFIG, API_VERSION, BEGUN_RELEASE, CONTROL_PLANE_TOPOLOGY, CURRENT_CONFIG,
    DESIRED_DRAIN, DRAIN_BLOCKED, DRAIN_RECORD, LAST_APPLIED_DRAIN, LEDGER, MACHINE_CONFIG,
    PERMIT_BASIS, PERMIT_FROM, PERMIT_UNTIL, REASON, SOURCE_DIGESTS, STATE,
};
use kube::Client;
use serde_json::{Value, json};

use super::{NODES, node, orders::planted, who::Who};

const RECORDS: [&str; 13] = [
    PERMIT_FROM,
    PERMIT_UNTIL,
    PERMIT_BASIS,
    LEDGER,
    BEGUN_RELEASE,
    "changemanagement.openshift.io/accepted-release",
    "changemanagement.openshift.io/accepted-config",
    "changemanagement.openshift.io/wanted-image",
    "changemanagement.openshift.io/nudged-at",
    DRAIN_RECORD,
    DRAIN_BLOCKED,
    LAST_APPLIED_DRAIN,
    CONTROL_PLANE_TOPOLOGY,
];
const REPORTS: [&str; 4] = [CURRENT_CONFIG, STATE, REASON, DESIRED_DRAIN];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Change,
    Empty,
    TakeAway,
    Apply,
    Put,
    Status,
    StatusPut,
    Create,
}

impl Path {
    const ALL: [Self; 8] = [
        Self::Change,
        Self::Empty,
        Self::TakeAway,
        Self::Apply,
        Self::Put,
        Self::Status,
        Self::StatusPut,
        Self::Create,
    ];
}

/// The whole rule. An annotation that is nobody's is anybody's, but for agents.
fn may(who: Who, key: &str, path: Path) -> bool {
    if matches!(who, Who::Operator | Who::Initiator) {
        return true;
    }
    if REPORTS.contains(&key) {
        return who == Who::Agent && path != Path::Create;
    }
    if key == ALLOWED_CONFIG {
        return !who.is_kubelet() && !who.is_agent();
    }
    !RECORDS.contains(&key) && !who.is_agent()
}

pub(crate) async fn are_judged(client: &Client) {
    let by_hand = Who::Initiator.at(client, "pier");
    let keys = || RECORDS.into_iter().chain(REPORTS).chain([ALLOWED_CONFIG, "example.com/own"]);
    let all: serde_json::Map<String, Value> =
        keys().map(|key| (key.to_owned(), json!("before"))).collect();
    let whole = node("pier", &Value::Object(all));
    by_hand.create(NODES, &whole).await;
    let pier = format!("{NODES}/pier");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (who, key) in Who::ALL.into_iter().flat_map(|who| keys().map(move |key| (who, key))) {
        for path in Path::ALL {
            // The server's own guard knows nodes by name, and lets a kubelet write to no other.
            let server_refuses =
                who == Who::KubeletElsewhere || who == Who::Kubelet && path == Path::Create;
            if server_refuses && may(who, key, path) {
                continue;
            }
            count += 1;
            let writer = who.at(client, "pier");
            let change = |value: Value| json!({"metadata": {"annotations": {key: value}}});
            let status = format!("{pier}/status");
            let answer = match path {
                Path::Change => writer.merge(&pier, &change(json!("after"))).await,
                Path::Empty => writer.merge(&pier, &change(json!(""))).await,
                Path::TakeAway => writer.merge(&pier, &change(Value::Null)).await,
                Path::Status => writer.merge(&status, &change(json!("after"))).await,
                Path::Apply => {
                    let at = format!("{pier}?fieldManager={who:?}&force=true");
                    let applied = node("pier", &json!({key: "after"}));
                    writer.send("PATCH", &at, "application/apply-patch+yaml", &applied).await
                }
                Path::Put | Path::StatusPut => {
                    let mut changed = by_hand.get(&pier).await;
                    changed["metadata"]["annotations"][key] = json!("after");
                    let at = if path == Path::Put { &pier } else { &status };
                    writer.send("PUT", at, "application/json", &changed).await
                }
                Path::Create => {
                    let anew = node("mole", &json!({key: "after"}));
                    writer.send("POST", NODES, "application/json", &anew).await
                }
            };
            let may = may(who, key, path);
            if answer.is_ok() != may {
                wrong.push(format!(
                    "{who:?} by {path:?} writes {key}: may: {may}, the server said {answer:?}"
                ));
            }
            if answer.is_ok() {
                drop(by_hand.send("DELETE", &format!("{NODES}/mole"), "", &Value::Null).await);
                by_hand.merge(&pier, &whole).await.unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1_000, "{count}");
    others_than_nodes_are_judged(client).await;
    what_was_rendered_stays(client).await;
    agents_write_nothing_else(client).await;
    nobody_applies_in_the_operators_name(client).await;
    what_fills_a_node_silences_nobody(client).await;
}

/// Pools bear the ledger, the cluster's version what was begun of it.
async fn others_than_nodes_are_judged(client: &Client) {
    for (kind, path, key) in [
        (
            "MachineConfigPool",
            "/apis/machineconfiguration.openshift.io/v1/machineconfigpools",
            LEDGER,
        ),
        ("ClusterVersion", "/apis/config.openshift.io/v1/clusterversions", BEGUN_RELEASE),
    ] {
        let (_, version) = path.split_once("/apis/").unwrap();
        let (version, _) = version.rsplit_once('/').unwrap();
        let object = |name: &str, annotations: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "annotations": annotations}, "spec": {}});
        let by_hand = Who::Initiator.at(client, "one");
        by_hand.create(path, &object("one", json!({}))).await;
        for who in Who::ALL {
            let writer = who.at(client, "one");
            let may = matches!(who, Who::Operator | Who::Initiator);
            let change = json!({"metadata": {"annotations": {key: format!("{who:?}")}}});
            let changed = writer.merge(&format!("{path}/one"), &change).await;
            assert_eq!(changed.is_ok(), may, "{who:?} changes {key} of {kind}: {changed:?}");
            let anew = object("two", json!({key: "x"}));
            let made = writer.send("POST", path, "application/json", &anew).await;
            assert_eq!(made.is_ok(), may, "{who:?} makes {kind} with {key}: {made:?}");
            drop(by_hand.send("DELETE", &format!("{path}/two"), "", &Value::Null).await);
            let other = json!({"metadata": {"labels": {"a": format!("{who:?}")}}});
            let labelled = writer.merge(&format!("{path}/one"), &other).await;
            assert!(labelled.is_ok(), "{who:?} labels {kind}: {labelled:?}");
        }
    }
}

/// A permit is given for a name, and nodes that are under way fetch what it names later: nobody puts anything else there meanwhile.
async fn what_was_rendered_stays(client: &Client) {
    let path = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
    let config = |name: &str| {
        json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG, "metadata": {"name": name},
            "spec": {"kernelArguments": ["one"]}})
    };
    let by_hand = Who::Initiator.at(client, "one");
    for name in ["rendered-worker-1", "50-own"] {
        by_hand.create(path, &config(name)).await;
    }
    let (rendered, own) = (format!("{path}/rendered-worker-1"), format!("{path}/50-own"));
    for who in Who::ALL {
        let writer = who.at(client, "one");
        let may = !who.is_hostile();
        for (what, change) in [
            ("content", json!({"spec": {"kernelArguments": [format!("{who:?}")]}})),
            ("nothing", json!({"spec": null})),
            ("digests", json!({"metadata": {"annotations": {SOURCE_DIGESTS: format!("{who:?}")}}})),
        ] {
            let changed = writer.merge(&rendered, &change).await;
            assert_eq!(changed.is_ok(), may, "{who:?} writes {what}: {changed:?}");
        }
        by_hand.merge(&rendered, &config("rendered-worker-1")).await.unwrap();
        let label = json!({"metadata": {"labels": {"a": format!("{who:?}")}}});
        let labelled = writer.merge(&rendered, &label).await;
        assert!(labelled.is_ok(), "{who:?} labels it: {labelled:?}");
        let edited = json!({"spec": {"kernelArguments": [format!("{who:?}")]}});
        let edited = writer.merge(&own, &edited).await;
        assert!(edited.is_ok(), "{who:?} edits what people write: {edited:?}");
    }
}

/// NODE-3: with the token of an agent nothing of a node is written but what an agent says.
async fn agents_write_nothing_else(client: &Client) {
    let pier = format!("{NODES}/pier");
    let agent = Who::Agent.at(client, "pier");
    for (what, path, change) in [
        (
            "a label",
            &*pier,
            json!({"metadata": {"labels": {"node-role.kubernetes.io/master": ""}}}),
        ),
        ("a finalizer", &pier, json!({"metadata": {"finalizers": ["example.com/stay"]}})),
        (
            "an owner",
            &pier,
            json!({"metadata": {"ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": "other", "uid": "u"}]}}),
        ),
        ("a taint", &pier, json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})),
        ("a cordon", &pier, json!({"spec": {"unschedulable": true}})),
        (
            "a condition",
            &format!("{pier}/status"),
            json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        ),
        ("a capacity", &format!("{pier}/status"), json!({"status": {"capacity": {"cpu": "9"}}})),
    ] {
        let refused = agent.merge(path, &change).await;
        assert!(
            refused.as_ref().is_err_and(|said| said.contains("tidegate-agents")),
            "{what}: {refused:?}"
        );
    }
    let gone = agent.send("DELETE", &pier, "", &Value::Null).await;
    assert!(gone.as_ref().is_err_and(|said| said.contains("tidegate-agents")), "deleted: {gone:?}");
    let said = json!({"metadata": {"annotations": {STATE: "Working", REASON: "why", CURRENT_CONFIG: "a", DESIRED_DRAIN: "drain-x"}}});
    agent.merge(&pier, &said).await.unwrap();
}

/// Whoever owned fields in the operator's name would have the operator's next mark take them away.
async fn nobody_applies_in_the_operators_name(client: &Client) {
    let pier = format!("{NODES}/pier");
    for who in Who::ALL.into_iter().filter(|who| who.is_hostile()) {
        let writer = who.at(client, "pier");
        for owner in ["tidegate", "tidegate-rollout"] {
            let at = format!("{pier}?fieldManager={owner}&force=true");
            let config = node("pier", &json!({"example.com/own": "before"}));
            let refused = writer.send("PATCH", &at, "application/apply-patch+yaml", &config).await;
            assert!(refused.is_err(), "{who:?} applies as {owner}: {refused:?}");
            let mut whole = Who::Initiator.at(client, "pier").get(&pier).await;
            let entry = planted(owner, "2026-01-01T00:00:00Z");
            whole["metadata"]["managedFields"].as_array_mut().unwrap().push(entry);
            let refused = writer.send("PUT", &pier, "application/json", &whole).await;
            assert!(refused.is_err(), "{who:?} plants {owner}: {refused:?}");
        }
    }
}

/// Whoever fills a node makes each look at it too dear: its agent could not say any more how far it is, and the change would never end.
async fn what_fills_a_node_silences_nobody(client: &Client) {
    let pier = format!("{NODES}/pier");
    let stranger = Who::Stranger.at(client, "pier");
    let report = json!({"metadata": {"annotations": {STATE: "Working", REASON: "many"}}});
    let many = |count: u32| -> Value {
        (0..count).map(|number| (format!("k{number:05}"), json!(""))).collect()
    };
    for (what, count, may) in
        [("annotations", 36_000, false), ("annotations", 900, true), ("labels", 10_000, true)]
    {
        let filled = stranger.merge(&pier, &json!({"metadata": {what: many(count)}})).await;
        assert_eq!(filled.is_ok(), may, "{count} {what}: {:?}", filled.err());
        let said = Who::Agent.at(client, "pier").merge(&pier, &report).await;
        assert!(said.is_ok(), "after {count} {what}: {:?}", said.err());
    }
}
