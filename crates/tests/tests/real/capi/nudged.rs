//! Does a rollout of Cluster API that was refused for a while begin when its gate opens, because the operator touches it? (RCH-4)

use std::{sync::Arc, time::Duration};

use api::names;
use operator::{Operator, Settings};
use runtime::{clock::SystemClock, tempo::Tempo};
use serde_json::json;

use super::management::{GATES, Management, NEW, OLD, until};
use crate::reach::kept::{POLICY, define_ours};

pub(super) async fn by_the_operator(management: &Management) {
    let pool = management.pool("nudged", 2, (1, 0)).await;
    define_ours(&management.admin).await;
    let policy = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "agreed"}, "spec": {"strategy": "Restrictive"}});
    management.admin.create(POLICY, &policy).await;
    let gate = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_GATE, "metadata": {"name": "nudged"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "agreed"}}, "nudge": true,
            "holds": [{"what": "MachineDeployments", "names": ["nudged"]}]}});
    management.admin.create(GATES, &gate).await;
    let second = Duration::from_secs(1);
    let tempo = Tempo { absent: second, freshness: second, ..Tempo::default() };
    let settings = Settings { tempo, ..Settings::alone("suite") };
    let operator = Operator::new(management.operator.client(), Arc::new(SystemClock), settings);
    let running = tokio::spawn(async move {
        operator.run(std::future::pending()).await.unwrap();
    });
    let gate = format!("{GATES}/nudged");
    until("the gate is known", async || {
        let status = management.admin.get(&gate).await["status"].clone();
        status["conditions"].to_string().contains("Restrictive")
    })
    .await;
    pool.hand_over(NEW).await;
    // Each time it waits twice as long: after ten times the next is seconds away.
    until("it is refused for a while", async || pool.refusals().await >= 11).await;
    assert_eq!(pool.sets().await, [(OLD.to_owned(), 2)]);
    until("the gate tells what waits", async || {
        let pending = management.admin.get(&gate).await["status"]["pending"][0].clone();
        pending["name"] == "nudged" && pending["change"] == format!("2 machines to {NEW}")
    })
    .await;

    let open = json!({"spec": {"strategy": "Permissive"}});
    management.admin.merge(&format!("{POLICY}/agreed"), &open).await.unwrap();
    let opened = management.server_time().await;
    pool.runs(NEW, 2).await;
    let deployment = management.admin.get(&pool.path()).await;
    assert!(deployment["metadata"]["annotations"][names::NUDGED_AT].is_string(), "{deployment}");
    let steps = management.history.steps("nudged");
    let began = steps.iter().find(|step| step.moves).unwrap();
    println!("cluster-api: begun {} after its opening", began.at.duration_since(opened));
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
}
