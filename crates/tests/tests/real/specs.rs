//! Which specifications does an API server take, with no webhook installed, and in which words does it refuse the others? The tables
//! and the recorded refusals are in `specs/`; both servers are held to them (POL-2, GATE-3, GATE-14).
//!
//! ```text
//! at policies spec.maintenanceSchedule.permit   # the kinds, and where in the object the values below stand
//! accept: {duration: 8h}
//! reject duration: {duration: 0s}               # the field, below that place, which the refusal must name
//! > spec.maintenanceSchedule.permit.duration: Invalid value: ...
//! kept colour: {colour: red}                    # unknown, and stored all the same, so that it can be judged (GATE-14)
//! unknown colour: {colour: red}                 # refused as unknown where the client asks for strictness
//! from: {startTime: "20:00"}                    # from here on the values are merged into this one, which is stored
//! accept: {duration: 8h}
//! = {startTime: "20:00", duration: 8h}          # what the value becomes
//! reject name: {name: <<254 times a>>}          # what is long is written out by the reader
//! ```
//!
//! Lines with `>` are recorded from the real server by `UPDATE_EXPECT=1`.

mod table;

use std::{fs, path::PathBuf, time::Duration};

use api::{
    crds,
    names::plural,
    schema::{KINDS, Kind, STANZAS, Scope},
};
use http::{Method, Request};
use kube::{Client, client::Body};
use rig::{
    Cluster, Controllers, Server, User,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};
use table::{Row, Table, Verdict};

const NAMESPACE: &str = "specs";

#[test]
fn real_server_refuses_bad_specs_by_itself() {
    suite::on_real("specs", Controllers::Absent, async |cluster| all_tables(cluster).await);
}

#[test]
fn embedded_server_refuses_bad_specs_by_itself() {
    suite::on_embedded("specs-embedded", Kubectl::Unused, async |cluster| {
        all_tables(cluster).await;
    });
}

async fn all_tables(cluster: &Cluster) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("specs");
    let records = cluster.server() == Server::Real && std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();

    let client = cluster.client(User::Admin).await.unwrap();
    define(&client).await;
    let (mut report, mut cases) = (String::new(), 0);
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let mut table = Table::parse(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        for row in &mut table.rows {
            for kind in kinds(&row.kinds) {
                cases += 1;
                let answer = ask(&client, kind, row).await;
                let said = |what: &str| format!("{name}:{}: {}: {what}\n", row.line, kind.name);
                report.extend(answer.departure(row).map(|what| said(&what)));
                if records {
                    row.recorded = answer.refusal;
                } else if row.recorded != answer.refusal {
                    let (was, is) = (row.recorded.join("\n"), answer.refusal.join("\n"));
                    report += &said(&format!("recorded:\n{was}\ngiven:\n{is}"));
                }
            }
        }
        if records {
            fs::write(&file, table.to_string()).unwrap();
        }
    }
    if suite::uses_lent_cluster() {
        undefine(&client).await;
    }
    assert!(report.is_empty(), "on the {}:\n{report}", cluster.server());
    // The tables hold several hundred; a reader that lost some of them would go unnoticed otherwise.
    assert!(cases >= 500, "{cases} cases are too few to believe in");
}

fn kinds(names: &str) -> Vec<&'static Kind> {
    let all = KINDS.iter().chain(STANZAS);
    match names {
        "policies" => KINDS.iter().collect(),
        "gated" => STANZAS.iter().collect(),
        name => all.filter(|kind| kind.name == name).collect(),
    }
}

/// What a server answered.
struct Answer {
    status: u16,
    body: Value,
    /// Each cause of a refusal with its field, or the message where no causes are given.
    refusal: Vec<String>,
}

impl Answer {
    fn of(status: u16, body: Value) -> Answer {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut refusal = Vec::new();
        if status >= 400 {
            for cause in body["details"]["causes"].as_array().into_iter().flatten() {
                refusal.push(format!("{}: {}", text(&cause["field"]), text(&cause["message"])));
            }
            if refusal.is_empty() {
                let message = text(&body["message"]);
                // Before that stand the names of kind and version, which differ from row to row.
                refusal.push(message.rsplit(": ").next().unwrap_or_default().to_owned());
            }
        }
        // What a rule's interpreter says of a value that it cannot read is its own affair; the schema has refused the value besides.
        refusal.retain(|line| !line.contains(" evaluating rule: "));
        // A real server lists the causes of a refusal in no order.
        refusal.sort();
        Answer { status, body, refusal }
    }

    /// How the answer departs from what the row demands, if it does.
    fn departure(&self, row: &Row) -> Option<String> {
        let reason = self.body["reason"].as_str().unwrap_or("none");
        let path = row.path_of_field();
        let place = format!("/{}", row.place.replace('.', "/"));
        let value = self.body.pointer(&place).unwrap_or(&Value::Null);
        let (fits, wanted) = match row.verdict {
            Verdict::Accept => (self.status < 300, "is accepted".to_owned()),
            Verdict::Reject => {
                let named = self.refusal.iter().any(|line| line.starts_with(&format!("{path}: ")));
                let refused = (self.status, reason) == (422, "Invalid");
                (refused && named, format!("is invalid, by the field {path}"))
            }
            Verdict::Unknown => {
                let named = self.refusal.iter().any(|line| line.contains(&format!("{path:?}")));
                let refused = (self.status, reason) == (400, "BadRequest");
                (refused && named, format!("is a bad request, by the field {path}"))
            }
            Verdict::Kept => {
                let pointer = path.replace(['.', '['], "/").replace(']', "");
                let kept = self.body.pointer(&format!("/{pointer}"));
                (self.status < 300 && kept.is_some(), format!("is accepted with {path}"))
            }
        };
        if !fits {
            let said = self.refusal.join("; ");
            return Some(format!("{wanted}, but: {} {reason} {said} {value}", self.status));
        }
        let becomes = row.becomes.as_ref().filter(|becomes| *becomes != value);
        becomes.map(|becomes| format!("becomes {becomes}, but: {value}"))
    }
}

/// Sends the value of a row to where its kind lives. Nothing is kept but what a row starts from.
async fn ask(client: &Client, kind: &Kind, row: &Row) -> Answer {
    let query = "dryRun=All&fieldValidation=Strict";
    let collection = collection(kind);
    let is_status = row.place.starts_with("status");
    if row.from.is_none() && !is_status {
        let object = object(kind, "case", &row.place, &row.value);
        let (status, body) =
            send(client, &Method::POST, &format!("{collection}?{query}"), &object).await;
        return Answer::of(status, body);
    }
    let name = format!("from-{}", row.from_line);
    let stored = match row.from.as_ref() {
        Some(from) => object(kind, &name, &row.place, from),
        None => object(kind, &name, "metadata.name", &name.as_str().into()),
    };
    let (status, body) = send(client, &Method::POST, &collection, &stored).await;
    assert!(matches!(status, 201 | 409), "{}:{}: {status} {body}", kind.name, row.from_line);
    if is_status {
        // Replaced as a whole: a null in a merge patch takes a field away.
        let (_, mut object) =
            send(client, &Method::GET, &format!("{collection}/{name}"), &Value::Null).await;
        put(&mut object, &row.place, &row.value);
        let path = format!("{collection}/{name}/status?{query}");
        let (status, body) = send(client, &Method::PUT, &path, &object).await;
        return Answer::of(status, body);
    }
    let path = format!("{collection}/{name}?{query}");
    let change = row.place.rsplit('.').fold(row.value.clone(), |inner, key| json!({ key: inner }));
    let (status, body) = send(client, &Method::PATCH, &path, &change).await;
    Answer::of(status, body)
}

fn collection(kind: &Kind) -> String {
    let (version, plural) = (kind.api_version, plural(kind.name));
    match kind.scope {
        Scope::Cluster => format!("/apis/{version}/{plural}"),
        Scope::Namespaced => format!("/apis/{version}/namespaces/{NAMESPACE}/{plural}"),
    }
}

/// The least object of a kind, with a value put at its place.
fn object(kind: &Kind, name: &str, place: &str, value: &Value) -> Value {
    let is_policy = KINDS.iter().any(|policy| policy.name == kind.name);
    let mut object = json!({
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name},
        "spec": if is_policy { json!({"strategy": "MaintenanceSchedule"}) } else { json!({}) },
    });
    put(&mut object, place, value);
    object
}

fn put(object: &mut Value, place: &str, value: &Value) {
    let node = place.split('.').fold(object, |node, key| &mut node[key]);
    *node = value.clone();
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Creates the six kinds and the namespace, and waits until they are served. A kind that is there already belongs to somebody, and
/// fails the suite instead of being changed.
async fn define(client: &Client) {
    for kind in KINDS.iter().chain(STANZAS) {
        let (status, body) =
            send(client, &Method::POST, DEFINITIONS, &crds::definition(kind)).await;
        assert_eq!(status, 201, "{} is defined: {body}", kind.name);
    }
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    let (status, body) = send(client, &Method::POST, "/api/v1/namespaces", &namespace).await;
    assert_eq!(status, 201, "{body}");
    for kind in KINDS.iter().chain(STANZAS) {
        served(client, kind).await;
    }
}

/// Takes away what [`define`] made, from a cluster that outlives the suite.
async fn undefine(client: &Client) {
    let kinds = KINDS.iter().chain(STANZAS);
    let paths = kinds.map(|kind| format!("{DEFINITIONS}/{}.{}", plural(kind.name), kind.group()));
    for path in paths.chain([format!("/api/v1/namespaces/{NAMESPACE}")]) {
        let (status, body) = send(client, &Method::DELETE, &path, &json!({})).await;
        assert!(status < 300, "{path}: {body}");
    }
}

/// A new kind takes a moment.
async fn served(client: &Client, kind: &Kind) {
    let mut said = String::new();
    for _ in 0..600 {
        let object = object(kind, "probe", "metadata.name", &"probe".into());
        let path = format!("{}?dryRun=All", collection(kind));
        let (status, body) = send(client, &Method::POST, &path, &object).await;
        if status == 201 {
            return;
        }
        said = body.to_string();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} is not served: {said}", kind.name);
}

async fn send(client: &Client, method: &Method, path: &str, body: &Value) -> (u16, Value) {
    let content = match *method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path).header("content-type", content);
    let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
    let answer = client.send(request).await.unwrap();
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect_bytes().await.unwrap();
    // What is no JSON came from something before the server; it is shown as it is.
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
}
