//! How is a sequence of requests sent, and what is written down?

use futures_util::StreamExt as _;
use kube::{
    Client,
    api::{DynamicObject, WatchEvent, WatchParams},
    client::Body,
};
use serde_json::{Value, json};

use super::{Step, seen::Seen};

/// Sends `steps` to the server, in a namespace of their own, and tells what it answered: one text for each request, then one for each
/// event that a watch over all tides saw.
pub async fn transcript(
    client: &Client,
    namespace: &str,
    steps: &[Step],
) -> Result<Vec<String>, kube::Error> {
    let created =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
    send(client, "POST", "/api/v1/namespaces", "application/json", &created.to_string()).await?;
    let tides = path(namespace, "tides");
    let (_, list) = send(client, "GET", &tides, "", "").await?;
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    let start = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();

    let mut seen = Seen::default();
    let mut lines = Vec::new();
    for step in steps {
        let collection = step.path.split(['/', '?']).next().unwrap_or_default();
        let body = seen.fill(collection, &step.body);
        let (status, answer) =
            send(client, step.method, &path(namespace, &step.path), step.content_type, &body)
                .await?;
        let answer = match serde_json::from_str::<Value>(&answer) {
            Ok(mut value) => {
                // What a dry run says was never stored.
                if !step.path.contains("dryRun") {
                    seen.keep(collection, &value);
                }
                seen.mask(&mut value);
                value.to_string()
            }
            Err(_) => answer,
        };
        lines.push(format!("{status} {answer}").replace(namespace, "<namespace>"));
    }

    // The last event is one of our own making, so that the watch need not be given time.
    let sentinel = json!({
        "apiVersion": "example.com/v1", "kind": "Tide", "metadata": { "name": "last" }, "spec": { "harbour": "dover" },
    });
    send(client, "POST", &tides, "application/json", &sentinel.to_string()).await?;
    lines.extend(watched(client, &tides, start, &mut seen).await?);
    Ok(lines)
}

/// The events since `start`, up to the object called `last`.
async fn watched(
    client: &Client,
    tides: &str,
    start: &str,
    seen: &mut Seen,
) -> Result<Vec<String>, kube::Error> {
    let request = kube::core::Request::new(tides)
        .watch(&WatchParams::default().timeout(30), start)
        .map_err(kube::Error::BuildRequest)?;
    let events = client.request_events::<DynamicObject>(request).await?;
    let mut events = std::pin::pin!(events);
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
        if object.metadata.name.as_deref() == Some("last") {
            return Ok(lines);
        }
        let namespace = object.metadata.namespace.clone().unwrap_or_default();
        let mut value = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
        seen.mask(&mut value);
        lines.push(format!("{what} {value}").replace(&namespace, "<namespace>"));
    }
    lines.push("the watch ended early".to_owned());
    Ok(lines)
}

fn path(namespace: &str, rest: &str) -> String {
    let group = if rest.starts_with("configmaps") { "/api/v1" } else { "/apis/example.com/v1" };
    format!("{group}/namespaces/{namespace}/{rest}")
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
