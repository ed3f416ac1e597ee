//! Does a server take what the reference pages show of each kind? The pages are made by `definitions.rs`.

use std::fs;

use api::{
    crds,
    names::plural,
    schema::{FREEZES, GATES, GUARDRAILS, KINDS, OVERRIDES, Scope},
};
use jiff::{Timestamp, ToSpan as _};
use rig::{
    Cluster, Controllers,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};
use tidy::Tree;

use super::rollout::writers::{self, RIGHTS, Writer, until};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

#[test]
fn real_server_takes_what_the_reference_shows() {
    suite::on_real("kinds", Controllers::Absent, async |cluster| examples_are_taken(cluster).await);
}

#[test]
fn embedded_server_takes_what_the_reference_shows() {
    suite::on_embedded("kinds-embedded", Kubectl::Unused, async |cluster| {
        examples_are_taken(cluster).await;
    });
}

async fn examples_are_taken(cluster: &Cluster) {
    let client = writers::of_real(cluster).await;
    let admin = Writer::new(&client, "admin", &[RIGHTS], None);
    let people_write = KINDS.iter().chain(GATES).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS);
    for kind in people_write {
        admin.create(DEFINITIONS, &crds::definition(kind)).await;
        let plural = plural(kind.name);
        let path = Tree::top().join(format!("docs/examples/kinds/{plural}.yaml"));
        let text = fs::read_to_string(&path).unwrap();
        let mut example: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(example["kind"], kind.name, "{}", path.display());
        // An override lasts a month at most, and a page for years.
        if kind.name.ends_with("Override") {
            example["spec"]["until"] = json!((Timestamp::now() + 1.hour()).to_string());
        }
        let namespace = example["metadata"]["namespace"].as_str().map(str::to_owned);
        let collection = match (kind.scope, namespace) {
            (Scope::Namespaced, Some(namespace)) => {
                let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
                // Several examples are of one team.
                _ = admin.send("POST", "/api/v1/namespaces", "application/json", &made).await;
                format!("/apis/{}/namespaces/{namespace}/{plural}", kind.api_version)
            }
            (Scope::Cluster, None) => format!("/apis/{}/{plural}", kind.api_version),
            (_, namespace) => panic!("{}: namespace {namespace:?}", path.display()),
        };
        until(kind.name, async || admin.send("GET", &collection, "", &Value::Null).await.is_ok())
            .await;
        let strict = format!("{collection}?fieldValidation=Strict");
        let taken = admin.send("POST", &strict, "application/json", &example).await;
        assert!(taken.is_ok(), "{}: {taken:?}", path.display());
    }
}
