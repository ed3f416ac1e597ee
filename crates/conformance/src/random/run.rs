//! How is a sequence of requests sent, and what is written down?
//!
//! Each kind that the sequence speaks of is watched twice: by a watch that is open from before the first request, and by one that asks
//! for everything since then when all is over. Both must tell the same story on both servers.

use std::{collections::BTreeSet, time::Duration};

use futures_util::{StreamExt as _, stream::BoxStream};
use kube::{
    Client,
    api::{DynamicObject, WatchEvent, WatchParams},
    client::Body,
};
use serde_json::{Value, json};

use super::{
    RandomRequest,
    kinds::{KINDS, Kind},
    seen::Seen,
};

const JSON: &str = "application/json";
const BERTHS: &str = include_str!("berths.json");

/// Installs the kind that the sequences need beside those of the kubectl scripts.
pub async fn prepare(client: &Client) -> Result<(), kube::Error> {
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(client, "POST", definitions, JSON, BERTHS).await?;
    while send(client, "GET", "/apis/example.com/v1/berths", "", "").await?.0 != 200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Sends `steps` to the server, in a namespace of their own, and tells what it answered: one text for each request, then one for each
/// event that the watches saw.
pub async fn transcript(
    client: &Client,
    namespace: &str,
    steps: &[RandomRequest],
) -> Result<Vec<String>, kube::Error> {
    let created =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
    send(client, "POST", "/api/v1/namespaces", JSON, &created.to_string()).await?;
    let wanted: BTreeSet<&str> = steps.iter().map(|step| step.collection).collect();
    let mut watches = Vec::new();
    for (_, kind) in KINDS.iter().filter(|(_, kind)| wanted.contains(kind.plural)) {
        let path = kind.collection().replace("{case}", namespace);
        let (_, list) = send(client, "GET", &format!("{path}?limit=1"), "", "").await?;
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        let start = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let live = watch(client, &path, &start).await?;
        watches.push((kind, path, start, live));
    }

    let mut seen = Seen::default();
    let mut lines = Vec::new();
    for step in steps {
        let body = seen.fill(step.collection, &step.body).replace("{case}", namespace);
        let path = step.path.replace("{case}", namespace);
        let (status, answer) = send(client, step.method, &path, step.content_type, &body).await?;
        let answer = match serde_json::from_str::<Value>(&answer) {
            Ok(mut value) => {
                // What a dry run says was never stored.
                if !step.path.contains("dryRun") && !step.body.contains("dryRun") {
                    seen.keep(step.collection, &value);
                }
                seen.mask(&mut value);
                value.to_string()
            }
            Err(_) => answer,
        };
        lines.push(format!("{status} {answer}").replace(namespace, "<namespace>"));
    }

    for (kind, path, start, live) in watches {
        // The last event is one of our own making, so that no watch need be given time.
        let name = kind.name("last").replace("{case}", namespace);
        let sentinel =
            format!(r#"{{{},"metadata":{{"name":"{name}"}},{}}}"#, kind.words, kind.valid[0]);
        send(client, "POST", &path, JSON, &sentinel).await?;
        let replayed = watch(client, &path, &start).await?;
        for (word, events) in [("LIVE", live), ("REPLAYED", replayed)] {
            let told = watched(kind, namespace, events, &mut seen.clone()).await?;
            lines.extend(told.into_iter().map(|line| format!("{word}-{line}")));
        }
    }
    Ok(lines)
}

type Events = BoxStream<'static, Result<WatchEvent<DynamicObject>, kube::Error>>;

async fn watch(client: &Client, path: &str, start: &str) -> Result<Events, kube::Error> {
    let request = kube::core::Request::new(path)
        .watch(&WatchParams::default().timeout(30), start)
        .map_err(kube::Error::BuildRequest)?;
    Ok(client.request_events::<DynamicObject>(request).await?.boxed())
}

/// The events of this sequence, up to the object called `last`.
async fn watched(
    kind: &Kind,
    namespace: &str,
    mut events: Events,
    seen: &mut Seen,
) -> Result<Vec<String>, kube::Error> {
    let ours = kind.name("").replace("{case}", namespace);
    let last = kind.name("last").replace("{case}", namespace);
    let mut lines = Vec::new();
    while let Some(event) = events.next().await {
        let (what, object) = match event? {
            WatchEvent::Added(object) => ("ADDED", object),
            WatchEvent::Modified(object) => ("MODIFIED", object),
            WatchEvent::Deleted(object) => ("DELETED", object),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => {
                lines.push(format!("ERROR {} {}", status.code, status.reason));
                return Ok(lines);
            }
        };
        let name = object.metadata.name.clone().unwrap_or_default();
        if name == last {
            return Ok(lines);
        }
        if !name.starts_with(&ours) {
            continue;
        }
        let mut value = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
        seen.mask(&mut value);
        lines.push(format!("{what} {value}").replace(namespace, "<namespace>"));
    }
    lines.push("the watch ended early".to_owned());
    Ok(lines)
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    content_type: &str,
    body: &str,
) -> Result<(u16, String), kube::Error> {
    let mut request = http::Request::builder().method(method).uri(path);
    if !content_type.is_empty() {
        request = request.header("content-type", content_type);
    }
    let request =
        request.body(Body::from(body.as_bytes().to_vec())).map_err(kube::Error::HttpError)?;
    let answer = client.send(request).await?;
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect_bytes().await?;
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}
