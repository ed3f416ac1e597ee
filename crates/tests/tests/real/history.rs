//! Does the API server itself take entries of the history from the operator alone, and additions only? (HIST-1)
//!
//! Nothing of ours runs here: there are the definition and the policy as they are shipped, and whoever writes.

use api::{crds, kinds::CHANGE_RECORD};
use kube::Client;
use rig::{Controllers, suite};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::history::{
    chain::{Fact, Tip, written},
    verify::{Held, Source, verify},
};
use tidy::permits;

use crate::rollout::writers::{self, Writers, until};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const RECORDS: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/namespaces/default/changerecords";
const MANIFEST: &str = "deploy/manifests/history/history.yaml";
const JSON: &str = "application/json";
const JSON_PATCH: &str = "application/json-patch+json";

#[test]
fn real_server_takes_entries_from_the_operator_alone_and_additions_only() {
    suite::on_real("history", Controllers::Absent, async |cluster| {
        judge(&writers::of_real(cluster).await).await;
    });
}

#[test]
fn embedded_server_takes_entries_from_the_operator_alone_and_additions_only() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { judge(&writers::of_embedded()).await });
}

/// The next entries after one, as they are stored.
fn entries(after: &mut Tip, count: i64) -> Vec<Value> {
    let subject = api::record::Subject {
        kind: "MachineConfigPool".into(),
        name: "worker".into(),
        ..Default::default()
    };
    let entry = |second: i64| {
        let at = Instant::parse("2026-11-14T00:00:00Z").unwrap().saturating_add(second);
        let fact = Fact::about(subject.clone(), api::record::What::Held, at, "no change starts");
        let entry = after.next("default", fact);
        *after = Tip::from(&entry);
        written(&entry)
    };
    (0..count).map(entry).collect()
}

async fn judge(client: &Client) {
    let Writers { admin, operator, by_hand, stranger } = Writers::of(client);
    admin.create(DEFINITIONS, &crds::definition(&CHANGE_RECORD)).await;
    until(RECORDS, async || admin.send("GET", RECORDS, "", &Value::Null).await.is_ok()).await;
    for (collection, document) in permits::admission(MANIFEST) {
        admin.create(collection, &document).await;
    }
    let mut tip = Tip::default();
    let page = |entries: Vec<Value>| {
        json!({"apiVersion": CHANGE_RECORD.api_version, "kind": CHANGE_RECORD.name,
            "metadata": {"name": "history-000001"}, "spec": {"entries": entries}})
    };
    let first = page(entries(&mut tip, 2));
    let alone = "the operator alone writes and deletes what is recorded";
    until("nobody else writes", async || {
        let tried = stranger.send("POST", &format!("{RECORDS}?dryRun=All"), JSON, &first).await;
        tried.is_err_and(|said| said.contains(alone))
    })
    .await;
    let refused = |answer: Result<Value, String>, why: &str| {
        let said = answer.unwrap_err();
        assert!(said.contains(why), "{said}");
    };
    refused(by_hand.send("POST", RECORDS, JSON, &first).await, alone);
    operator.create(RECORDS, &first).await;
    let path = format!("{RECORDS}/history-000001");
    let add = |entries: Vec<Value>| {
        let add = entries
            .into_iter()
            .map(|entry| json!({"op": "add", "path": "/spec/entries/-", "value": entry}));
        Value::Array(add.collect())
    };
    let more = add(entries(&mut tip, 197));
    refused(stranger.send("PATCH", &path, JSON_PATCH, &more).await, alone);
    operator.send("PATCH", &path, JSON_PATCH, &more).await.unwrap();
    // Who adds with an old version conflicts.
    let old = json!([{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]);
    assert!(operator.send("PATCH", &path, JSON_PATCH, &old).await.is_err());

    let one = |operation: Value| Value::Array(vec![operation]);
    let stays = "an entry stays as it was written";
    let changed = json!({"op": "replace", "path": "/spec/entries/0/outcome", "value": "nothing"});
    refused(operator.send("PATCH", &path, JSON_PATCH, &one(changed)).await, stays);
    let gone = "entries are added, and never taken away";
    let cut = json!({"op": "remove", "path": "/spec/entries/198"});
    refused(operator.send("PATCH", &path, JSON_PATCH, &one(cut)).await, gone);
    let last = add(entries(&mut tip, 1));
    operator.send("PATCH", &path, JSON_PATCH, &last).await.unwrap();
    let full = add(entries(&mut tip, 1));
    assert!(operator.send("PATCH", &path, JSON_PATCH, &full).await.is_err(), "a page is full");

    let kept = operator.get(&path).await;
    let verified = verify(&[Source::pages("the cluster", Held::ByServer, [&kept])]).remove(0);
    assert_eq!((verified.broken, verified.entries), (None, 200));
    // An owner that is not there would have it collected; a label is nobody's business.
    let owner = json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}]}});
    refused(stranger.merge(&path, &owner).await, alone);
    stranger.merge(&path, &json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
    refused(stranger.send("DELETE", &path, "", &Value::Null).await, alone);
    refused(by_hand.send("DELETE", &path, "", &Value::Null).await, alone);
    operator.send("DELETE", &path, "", &Value::Null).await.unwrap();
}
