//! How many requests a second, how long a list, how long until everybody heard?

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use kube::{
    Client,
    api::{DynamicObject, WatchEvent, WatchParams},
    client::Body,
};
use serde_json::Value;

use crate::{
    Outcome, talk,
    workload::{DEFINITIONS, JSON, MERGE, OBJECTS, WIDGETS, definition, observed, widget},
};

/// Requests under way at once. The real server needs several to be busy; more than these gained nothing on any server.
const AT_ONCE: usize = 32;
const WATCHERS: usize = 1_000;
const UPDATES: usize = 1_000;

/// The figures of one server.
pub(crate) struct Speed {
    /// A second.
    pub(crate) create: f64,
    /// A second.
    pub(crate) patch: f64,
    /// Seconds, the best of five.
    pub(crate) list: f64,
    /// Seconds from the first update until the last watcher saw the last.
    pub(crate) watch: f64,
}

/// How often the servers take turns. What else the machine does changes over minutes; this way it meets all of them.
const ROUNDS: usize = 10;

/// Measures the servers side by side.
pub(crate) async fn measure<const N: usize>(clients: [&Client; N]) -> Outcome<[Speed; N]> {
    for client in clients {
        send(client, "POST", DEFINITIONS, JSON, &definition()).await?;
        // A real server takes a moment to serve a new kind.
        while send(client, "GET", WIDGETS, "", &Value::Null).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let create = rates(clients, |index| ("POST", WIDGETS.to_owned(), JSON, widget(index))).await?;
    let patch = rates(clients, |index| {
        let (path, body) = observed(index, index);
        ("PATCH", path, MERGE, body)
    })
    .await?;
    let mut speeds = Vec::new();
    for (index, client) in clients.into_iter().enumerate() {
        let (create, patch) = (create[index], patch[index]);
        let (list, watch) = (list(client).await?, watch(client).await?);
        talk(&format!(
            "  create {create:.0}/s, patch {patch:.0}/s, list {list:.3} s, watch {watch:.1} s"
        ));
        speeds.push(Speed { create, patch, list, watch });
    }
    speeds.try_into().map_err(|_| "as many figures as servers".into())
}

/// How many of these requests a second each server answers, each about another object.
async fn rates<const N: usize>(
    clients: [&Client; N],
    request: impl Fn(usize) -> (&'static str, String, &'static str, Value),
) -> Outcome<[f64; N]> {
    let mut spent = [0.0; N];
    for round in 0..ROUNDS {
        let share = OBJECTS / ROUNDS;
        for (client, spent) in clients.into_iter().zip(&mut spent) {
            let start = Instant::now();
            let mut answers = stream::iter(round * share..(round + 1) * share)
                .map(|index| {
                    let (method, path, kind, body) = request(index);
                    async move { send(client, method, &path, kind, &body).await }
                })
                .buffer_unordered(AT_ONCE);
            while let Some(answer) = answers.next().await {
                answer?;
            }
            *spent += start.elapsed().as_secs_f64();
        }
    }
    Ok(spent.map(|seconds| OBJECTS as f64 / seconds))
}

/// The best of five.
async fn list(client: &Client) -> Outcome<f64> {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let bytes = send(client, "GET", WIDGETS, "", &Value::Null).await?;
        best = best.min(start.elapsed().as_secs_f64());
        let items =
            serde_json::from_slice::<Value>(&bytes)?["items"].as_array().map_or(0, Vec::len);
        if items != OBJECTS {
            return Err(format!("the list has {items} objects").into());
        }
    }
    Ok(best)
}

/// Updates one object while everybody watches; each watcher must see every update, in order.
async fn watch(client: &Client) -> Outcome<f64> {
    let list: Value = serde_json::from_slice(
        &send(client, "GET", &format!("{WIDGETS}?limit=1"), "", &Value::Null).await?,
    )?;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS {
        let request = kube::core::Request::new(WIDGETS).watch(&WatchParams::default(), version)?;
        let events = client.request_events::<DynamicObject>(request).await?.boxed();
        watchers.push(tokio::spawn(in_order(events)));
    }
    let start = Instant::now();
    for update in 1..=UPDATES {
        let (path, body) = observed(0, OBJECTS + update);
        send(client, "PATCH", &path, MERGE, &body).await?;
    }
    for watcher in watchers {
        watcher.await??;
    }
    Ok(start.elapsed().as_secs_f64())
}

async fn in_order(
    mut events: stream::BoxStream<'static, kube::Result<WatchEvent<DynamicObject>>>,
) -> Result<(), String> {
    for update in 1..=UPDATES {
        let widget = loop {
            let event = events.next().await.ok_or("the watch ended")?;
            match event.map_err(|problem| problem.to_string())? {
                WatchEvent::Modified(widget) => break widget,
                WatchEvent::Bookmark(_) => {}
                other => return Err(format!("something else than an update was seen: {other:?}")),
            }
        };
        if widget.data["status"]["observed"] != OBJECTS + update {
            return Err(format!("update {update} was seen as {}", widget.data["status"]));
        }
    }
    Ok(())
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    content_type: &str,
    body: &Value,
) -> Outcome<Vec<u8>> {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let mut request = http::Request::builder().method(method).uri(path);
    if !content_type.is_empty() {
        request = request.header("content-type", content_type);
    }
    let answer = client.send(request.body(Body::from(bytes))?).await?;
    let status = answer.status();
    let bytes = answer.into_body().collect_bytes().await?;
    if !status.is_success() {
        return Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&bytes)).into());
    }
    Ok(bytes.to_vec())
}
