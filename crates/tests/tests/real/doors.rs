//! By which door could somebody start a change, write a record or speak for a node, and is it shut?
//!
//! GATE-7, GATE-16, NODE-3, POOL-7, with the policies as they are shipped and nothing of ours running, on both servers. Everybody here has
//! every right that a role can give: what is shown is what the policies refuse. Rows are products of who, path and state of the permit; what
//! each must come to follows from a rule of a few lines that shares nothing with the policies.
//!
//! On the real server the same doors are tried by people and programs with the rights that they have on a cluster ([`identities`]).

mod duties;
mod hostile;
mod identities;
mod marks;
mod orders;
mod ordinary;
mod records;
mod who;

use api::{
    crds,
    machine::definitions::definitions,
    names,
    schema::{GATED, KINDS},
};
use kube::Client;
use rig::{
    Cluster, Controllers,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};
use tidy::permits;
use who::Who;

use super::rollout::writers::{self, Writer, until};

const NODES: &str = "/api/v1/nodes";

#[test]
fn real_server_gives_orders_to_nobody_but_the_operator() {
    on_real("doors-orders", async |client| orders::are_judged(client).await);
}

#[test]
fn embedded_server_gives_orders_to_nobody_but_the_operator() {
    on_embedded(async |client| orders::are_judged(client).await);
}

#[test]
fn real_server_keeps_records_from_everybody_else() {
    on_real("doors-records", async |client| records::are_judged(client).await);
}

#[test]
fn embedded_server_keeps_records_from_everybody_else() {
    on_embedded(async |client| records::are_judged(client).await);
}

#[test]
fn real_server_lets_nobody_but_the_operator_mark_an_update() {
    on_real("doors-marks", async |client| {
        marks::are_judged(client, marks::CLUSTER_VERSION).await;
    });
}

#[test]
fn embedded_server_lets_nobody_but_the_operator_mark_an_update() {
    on_embedded(async |client| marks::are_judged(client, marks::CLUSTER_VERSION).await);
}

#[test]
fn real_server_lets_nobody_but_the_operator_mark_a_hosted_cluster() {
    on_real("doors-hosted", async |client| {
        marks::are_judged(client, marks::HOSTED_CLUSTER).await;
    });
}

#[test]
fn embedded_server_lets_nobody_but_the_operator_mark_a_hosted_cluster() {
    on_embedded(async |client| marks::are_judged(client, marks::HOSTED_CLUSTER).await);
}

#[test]
fn real_server_lets_nobody_but_the_operator_mark_a_node_pool() {
    on_real("doors-pools", async |client| {
        marks::are_judged(client, marks::NODE_POOL).await;
    });
}

#[test]
fn embedded_server_lets_nobody_but_the_operator_mark_a_node_pool() {
    on_embedded(async |client| marks::are_judged(client, marks::NODE_POOL).await);
}

#[test]
fn real_server_lets_ordinary_work_pass() {
    on_real("doors-ordinary", async |client| ordinary::work_passes(client).await);
}

#[test]
fn embedded_server_lets_ordinary_work_pass() {
    on_embedded(async |client| ordinary::work_passes(client).await);
}

#[test]
fn real_server_withstands_hostile_writers() {
    on_real("doors-hostile", async |client| hostile::writers_move_nothing(client, 400).await);
}

#[test]
fn embedded_server_withstands_hostile_writers() {
    on_embedded(async |client| hostile::writers_move_nothing(client, 2_000).await);
}

/// The embedded server knows no roles.
#[test]
fn real_server_refuses_by_role_what_roles_refuse_and_the_rest_by_policy() {
    suite::on_real("doors-identities", Controllers::Absent, async |cluster| {
        let client = writers::of_real(cluster).await;
        install(&client).await;
        identities::are_held(cluster, &client).await;
    });
}

#[test]
fn real_server_takes_what_people_do_with_kubectl() {
    suite::on_real("doors-kubectl", Controllers::Absent, async |cluster| people(cluster).await);
}

#[test]
fn embedded_server_takes_what_people_do_with_kubectl() {
    suite::on_embedded("doors-kubectl-embedded", Kubectl::Pinned, async |cluster| {
        people(cluster).await;
    });
}

async fn people(cluster: &Cluster) {
    let client = writers::of_real(cluster).await;
    install(&client).await;
    ordinary::people_use_kubectl(cluster, &client).await;
}

fn on_real(name: &str, suite: impl AsyncFnOnce(&Client)) {
    suite::on_real(name, Controllers::Absent, async |cluster| {
        let client = writers::of_real(cluster).await;
        install(&client).await;
        suite(&client).await;
    });
}

fn on_embedded(suite: impl AsyncFnOnce(&Client)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = writers::of_embedded();
        install(&client).await;
        suite(&client).await;
    });
}

/// The kinds that bear records, the policies and their bindings. They stand once each was seen refusing.
async fn install(client: &Client) {
    let admin = Who::Administrator.at(client, "probe");
    for definition in KINDS.iter().chain(GATED).map(crds::definition).chain(definitions()) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        admin.create(path, &definition).await;
    }
    for kind in GATED {
        let served = format!("/apis/{}/{}", kind.api_version, names::plural(kind.name));
        until(&served, async || admin.send("GET", &served, "", &Value::Null).await.is_ok()).await;
    }
    for (collection, document) in
        permits::shipped().into_iter().chain(permits::shipped_for_agents())
    {
        admin.create(collection, &document).await;
    }
    Who::Initiator.at(client, "probe").create(NODES, &node("probe", &json!({}))).await;
    let agent = Who::Agent.at(client, "probe");
    for (what, writer, change) in [
        ("permits", &admin, json!({api::machine::names::DESIRED_CONFIG: "x"})),
        ("records", &admin, json!({api::machine::names::BEGUN_RELEASE: "x"})),
        ("reports", &admin, json!({api::machine::names::STATE: "x"})),
        ("agents", &agent, json!({"example.com/x": "x"})),
    ] {
        let body = json!({"metadata": {"annotations": change}});
        until(what, async || refuses(what, writer, &body).await).await;
    }
}

async fn refuses(policy: &str, writer: &Writer, change: &Value) -> bool {
    let answer = writer.merge(&format!("{NODES}/probe?dryRun=All"), change).await;
    answer.is_err_and(|said| said.contains(&format!("tidegate-{policy}")))
}

fn node(name: &str, annotations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": annotations}})
}
