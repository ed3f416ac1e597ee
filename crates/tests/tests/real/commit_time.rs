//! Does the server itself refuse a write whose permit has ended?
//!
//! The server stamps the writer's entry in `managedFields` with its own clock before admission looks. A policy can therefore compare
//! the server's time with an end written on the object: a late, replayed or back-dated write is refused with nothing of ours running.

use std::time::Duration;

use jiff::{Timestamp, ToSpan as _};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};

#[test]
fn real_server_refuses_writes_after_the_permit() {
    suite::on_real("commit-time", Controllers::Absent, async |cluster| {
        writes_after_the_permit_are_refused(cluster).await;
    });
}

#[test]
fn real_server_opens_and_closes_a_window_by_itself() {
    suite::on_real("commit-time-window", Controllers::Absent, async |cluster| {
        window_opens_and_closes_by_itself(cluster).await;
    });
}

#[test]
fn embedded_server_refuses_writes_after_the_permit() {
    suite::on_embedded("commit-time-embedded", Kubectl::Unused, async |cluster| {
        writes_after_the_permit_are_refused(cluster).await;
    });
}

#[test]
fn embedded_server_opens_and_closes_a_window_by_itself() {
    suite::on_embedded("commit-time-window-embedded", Kubectl::Unused, async |cluster| {
        window_opens_and_closes_by_itself(cluster).await;
    });
}

const DESIRED: &str = "example.com/desired-config";
const UNTIL: &str = "example.com/permit-until";
const LONG_PAST: &str = "2001-01-01T00:00:00Z";
const FAR_AHEAD: &str = "2101-01-01T00:00:00Z";

async fn writes_after_the_permit_are_refused(cluster: &Cluster) {
    let client = cluster.client(User::Admin).await.unwrap();
    let annotation = |object: &str, name: &str| {
        format!(
            "has({object}.metadata.annotations) && '{name}' in {object}.metadata.annotations ? {object}.metadata.annotations['{name}'] : ''"
        )
    };
    let stamped_before_end = "object.metadata.managedFields.all(m, !has(m.time) || timestamp(m.time) < timestamp(variables.until))";
    install_policy(
        &client,
        "permits",
        json!({
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes"],
            }] },
            "variables": [
                { "name": "desired", "expression": annotation("object", DESIRED) },
                { "name": "before", "expression": annotation("oldObject", DESIRED) },
                { "name": "until", "expression": annotation("object", UNTIL) },
                { "name": "initiates", "expression": "variables.desired != variables.before" },
            ],
            "validations": [
                { "expression": "!variables.initiates || variables.until != ''", "message": "no permit" },
                {
                    "expression": format!("!variables.initiates || variables.until == '' || {stamped_before_end}"),
                    "messageExpression": "'the permit ended at ' + variables.until + ', the server has ' + string(object.metadata.managedFields.map(m, timestamp(m.time)).max())",
                },
            ],
        }),
        json!({ "policyName": "permits", "validationActions": ["Deny"] }),
    )
    .await;

    let nodes: Api<Node> = Api::all(client);
    for name in ["pier", "quay", "mole"] {
        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
        nodes.patch(name, &PatchParams::apply("setup"), &Patch::Apply(node)).await.unwrap();
    }
    // A new policy takes a moment; it stands when it was seen refusing.
    let probe = PatchParams { dry_run: true, ..PatchParams::apply("gate") };
    eventually("the policy refuses", async || {
        nodes
            .patch("pier", &probe, &Patch::Apply(marked("pier", "probe", None)))
            .await
            .err()
            .map(drop)
    })
    .await;

    // One row for each way to come too late, all by the same field manager.
    for (what, desired, until, expected) in [
        ("no permit", "a", None, Err("no permit")),
        ("ended permit", "a", Some(LONG_PAST), Err("the permit ended at 2001-01-01T00:00:00Z")),
        ("good permit", "a", Some(FAR_AHEAD), Ok(())),
        ("replayed with the ended permit", "b", Some(LONG_PAST), Err("the permit ended at")),
        ("nothing initiated", "a", Some(LONG_PAST), Ok(())),
        ("good permit again", "b", Some(FAR_AHEAD), Ok(())),
    ] {
        let answer = initiate(&nodes, "pier", desired, until).await;
        match (answer.map(drop), expected) {
            (Ok(()), Ok(())) => {}
            (Err(given), Err(part)) if given.contains(part) => {}
            (given, expected) => panic!("{what}: expected {expected:?}, the server said {given:?}"),
        }
    }

    back_dated_and_wiped_stamps_are_refused(&nodes).await;
    permit_ends_on_its_second(&nodes).await;
}

/// A client may send any `managedFields`, but not the entry of its own write.
async fn back_dated_and_wiped_stamps_are_refused(nodes: &Api<Node>) {
    let replace = async |name: &str, managed_fields: Value, until: &str| {
        let mut node = serde_json::to_value(nodes.get(name).await.unwrap()).unwrap();
        node["metadata"]["managedFields"] = managed_fields;
        node["metadata"]["annotations"] = json!({ DESIRED: "z", UNTIL: until });
        let node: Node = serde_json::from_value(node).unwrap();
        let params =
            PostParams { field_manager: Some("forger".to_owned()), ..PostParams::default() };
        nodes.replace(name, &params, &node).await.map_err(|problem| problem.to_string())
    };
    let back_dated = json!([{
        "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": { "f:metadata": {} },
        "manager": "forger", "operation": "Update", "time": "2000-01-01T00:00:00Z",
    }]);
    let refusal = replace("quay", back_dated, LONG_PAST).await.unwrap_err();
    assert!(refusal.contains("the permit ended at"), "back-dated: {refusal}");
    let refusal = replace("quay", json!([{}]), LONG_PAST).await.unwrap_err();
    assert!(refusal.contains("no such key"), "wiped: {refusal}");

    // Without an initiating change the wipe passes; the object is then tracked no more, and an ordinary patch has no stamp to show.
    let wipe = json!({ "metadata": { "managedFields": [{}] } });
    nodes.patch("mole", &PatchParams::default(), &Patch::Merge(wipe)).await.unwrap();
    let marks = json!({ "metadata": { "annotations": { DESIRED: "z", UNTIL: FAR_AHEAD } } });
    let answer = nodes.patch("mole", &PatchParams::default(), &Patch::Merge(marks)).await;
    let refusal = answer.unwrap_err().to_string();
    assert!(refusal.contains("no such key"), "untracked: {refusal}");
    // Server-side apply begins the tracking again.
    initiate(nodes, "mole", "z", Some(FAR_AHEAD)).await.unwrap();
}

/// Half-open: whatever is accepted was stamped before the end, whatever is refused was stamped at the end or later.
async fn permit_ends_on_its_second(nodes: &Api<Node>) {
    let now = stamp(&initiate(nodes, "pier", "clock", Some(FAR_AHEAD)).await.unwrap().metadata);
    let end = now + 3.seconds();
    let (mut accepted, mut round) = (0, 0);
    let refusal = eventually("the permit ends", async || {
        round += 1;
        match initiate(nodes, "pier", &format!("round-{round}"), Some(&end.to_string())).await {
            Ok(node) => {
                accepted += 1;
                assert!(stamp(&node.metadata) < end, "accepted at {}", stamp(&node.metadata));
                None
            }
            Err(refusal) => Some(refusal),
        }
    })
    .await;
    assert!(accepted > 0, "the permit was never good: {refusal}");
    let server_time = instant_after("the server has ", &refusal);
    assert!(server_time >= end, "refused at {server_time}, before the end at {end}");
}

async fn window_opens_and_closes_by_itself(cluster: &Cluster) {
    let client = cluster.client(User::Admin).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    install_policy(
        &client,
        "window",
        json!({
            "failurePolicy": "Fail",
            "paramKind": { "apiVersion": "v1", "kind": "ConfigMap" },
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["configmaps"],
            }] },
            "variables": [{
                "name": "now", "expression": "object.metadata.managedFields.map(m, timestamp(m.time)).max()",
            }],
            "validations": [{
                "expression": "timestamp(params.data.start) <= variables.now && variables.now < timestamp(params.data.end)",
                "messageExpression": "'closed at ' + string(variables.now)",
            }],
        }),
        json!({
            "policyName": "window",
            "validationActions": ["Deny"],
            "paramRef": { "name": "window", "namespace": "default", "parameterNotFoundAction": "Deny" },
            // Narrow: a lost parameter must never hold up a stranger.
            "matchResources": { "objectSelector": { "matchLabels": { "gated": "yes" } } },
        }),
    )
    .await;
    let write = async |name: &str, value: String| {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name, "labels": { "gated": "yes" } }, "data": { "value": value },
        });
        let params = PatchParams::apply("writer");
        maps.patch(name, &params, &Patch::Apply(map)).await.map_err(|problem| problem.to_string())
    };
    let created = write("ledger", "new".to_owned()).await.unwrap();

    let mut round = 0;
    let mut next = move || {
        round += 1;
        format!("round-{round}")
    };
    eventually("a missing parameter refuses", async || write("ledger", next()).await.err()).await;

    let now = stamp(&write("clock", "now".to_owned()).await.unwrap().metadata);
    assert!(now >= stamp(&created.metadata));
    let (start, end) = (now + 4.seconds(), now + 7.seconds());
    let window = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "window" },
        "data": { "start": start.to_string(), "end": end.to_string() },
    });
    maps.patch("window", &PatchParams::apply("setup"), &Patch::Apply(window)).await.unwrap();

    let closed = eventually("the window is known", async || {
        write("ledger", next()).await.err().filter(|refusal| refusal.contains("closed at "))
    })
    .await;
    assert!(instant_after("closed at ", &closed) < start, "{closed}");
    let opened = eventually("the window opens", async || write("ledger", next()).await.ok()).await;
    let opened = stamp(&opened.metadata);
    assert!(start <= opened && opened < end, "open at {opened}, not in {start}..{end}");
    let closed =
        eventually("the window closes", async || write("ledger", next()).await.err()).await;
    assert!(instant_after("closed at ", &closed) >= end, "{closed}");
}

/// Creates a policy and its binding.
async fn install_policy(client: &Client, name: &str, policy: Value, binding: Value) {
    for (kind, spec) in
        [("ValidatingAdmissionPolicy", policy), ("ValidatingAdmissionPolicyBinding", binding)]
    {
        let kind = GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind);
        let resource = match kind.kind.as_str() {
            "ValidatingAdmissionPolicy" => {
                ApiResource::from_gvk_with_plural(&kind, "validatingadmissionpolicies")
            }
            _ => ApiResource::from_gvk(&kind),
        };
        let mut object = DynamicObject::new(name, &resource);
        object.data = json!({ "spec": spec });
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let created = api.create(&PostParams::default(), &object).await.unwrap();
        assert_eq!(created.name_any(), name);
    }
}

fn marked(name: &str, desired: &str, until: Option<&str>) -> Value {
    let mut annotations = json!({ DESIRED: desired });
    if let Some(until) = until {
        annotations[UNTIL] = json!(until);
    }
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "annotations": annotations } })
}

/// A server-side apply by one field manager, as every initiating write is.
async fn initiate(
    nodes: &Api<Node>,
    name: &str,
    desired: &str,
    until: Option<&str>,
) -> Result<Node, String> {
    let patch = Patch::Apply(marked(name, desired, until));
    let answer = nodes.patch(name, &PatchParams::apply("gate"), &patch).await;
    answer.map_err(|problem| problem.to_string())
}

/// The server's time of the latest write.
fn stamp(metadata: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> Timestamp {
    let entries = metadata.managed_fields.iter().flatten();
    entries
        .filter_map(|entry| entry.time.as_ref())
        .map(|time| time.0)
        .max()
        .expect("a tracked object")
}

fn instant_after(mark: &str, text: &str) -> Timestamp {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("no `{mark}` in {text}"));
    let word: String =
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-+:.".contains(*c)).collect();
    word.trim_end_matches(['.', ':', '-', '+'])
        .parse()
        .unwrap_or_else(|_| panic!("no instant in {text}"))
}

/// Looks again and again, within reason.
async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("gave up: {what}");
}
