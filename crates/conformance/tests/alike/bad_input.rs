//! Does every server refuse bad requests alike: the same status code and the same reason?
//!
//! What a real server said is recorded in `bad-input/answers.txt`; `UPDATE_EXPECT=1` records it anew. Both servers must say that.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf, time::Duration};

use conformance::kubectl::prepare;
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use rig::{
    Cluster, Controllers, Server, User,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};

mod bodies;
mod names;
mod patches;
mod paths;
mod requests;

use requests::{Bad, bad_requests};

#[test]
fn real_server_refuses_bad_input_as_recorded() {
    suite::on_real("bad-input", Controllers::Absent, async |cluster| everything(cluster).await);
}

#[test]
fn embedded_server_refuses_bad_input_as_recorded() {
    suite::on_embedded("bad-input-embedded", Kubectl::Pinned, async |cluster| {
        everything(cluster).await;
    });
}

async fn everything(cluster: &Cluster) {
    prepare(cluster).unwrap();
    let client = hasty_client(cluster).await;
    set_stage(&client).await;
    let mut answers = Vec::new();
    for bad in bad_requests() {
        let answer = ask(&client, &bad).await;
        answers.push((bad.what, answer));
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bad-input/answers.txt");
    if cluster.server() == Server::Real && std::env::var_os("UPDATE_EXPECT").is_some() {
        let mut text = String::from(
            "# What a real server says to bad requests: written by the test, with UPDATE_EXPECT=1.\n\n",
        );
        for (what, answer) in &answers {
            writeln!(text, "{what}: {answer}").unwrap();
        }
        fs::write(&file, text).unwrap();
        return;
    }
    let recorded = fs::read_to_string(&file).unwrap();
    let mut recorded: BTreeMap<&str, &str> =
        recorded.lines().skip(1).filter_map(|line| line.rsplit_once(": ")).collect();
    let mut report = String::new();
    for (what, answer) in &answers {
        let expected = recorded.remove(what.as_str()).unwrap_or("nothing recorded");
        if expected != answer {
            writeln!(report, "{what}: recorded {expected}, given {answer}").unwrap();
        }
    }
    assert!(report.is_empty(), "on the {}:\n{report}", cluster.server());
    assert!(recorded.is_empty(), "recorded and not asked: {recorded:#?}");
}

/// A client that takes a refusal for an answer: the ordinary one asks again, for minutes, when a server says that it is busy.
async fn hasty_client(cluster: &Cluster) -> Client {
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig(User::Admin)).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// The objects that some of the requests are about.
async fn set_stage(client: &Client) {
    let tide = json!({
        "apiVersion": "example.com/v1", "kind": "Tide", "metadata": { "name": "a" }, "spec": { "harbour": "dover" },
    });
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "k": "1" } });
    for (path, body) in [
        ("apis/example.com/v1/namespaces/default/tides", tide),
        ("api/v1/namespaces/default/configmaps", map),
    ] {
        let request =
            http::Request::post(format!("/{path}")).header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
        assert_eq!(client.send(request).await.unwrap().status(), 201);
    }
}

/// Status and reason, and for a watch what it says first.
async fn ask(client: &Client, bad: &Bad) -> String {
    let mut request = http::Request::builder().method(bad.method).uri(&bad.path);
    for (name, value) in &bad.headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(bad.body.clone())).unwrap();
    let answer = match client.send(request).await {
        Ok(answer) => answer,
        Err(problem) => return format!("no answer ({problem})"),
    };
    let status = answer.status().as_u16();
    // The watches ask for an end after a second.
    let body = answer.into_body().collect_bytes();
    let Ok(bytes) = tokio::time::timeout(Duration::from_secs(30), body).await else {
        return format!("{status} and silence");
    };
    let bytes = bytes.unwrap();
    if status == 200 && bad.path.contains("watch=true") {
        let event: Value = match bytes.split(|byte| *byte == b'\n').next() {
            Some(line) if !line.is_empty() => serde_json::from_slice(line).unwrap(),
            _ => return format!("{status} and the end"),
        };
        let word = |value: &Value| value.to_string().replace('"', "");
        let [what, code, reason] =
            [&event["type"], &event["object"]["code"], &event["object"]["reason"]].map(word);
        return format!("{status} {what} {code} {reason}");
    }
    let told = match serde_json::from_slice::<Value>(&bytes) {
        Ok(told) if told["kind"] == "Status" => {
            told["reason"].as_str().unwrap_or("no reason").to_owned()
        }
        Ok(_) => "not a status".to_owned(),
        Err(_) => "not JSON".to_owned(),
    };
    format!("{status} {told}")
}
