//! What watchers are told.

use apiserver::{RuntimeClock, Server, Settings};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::Service as _;

use super::common::{WIDGETS, delete, patch, post, server, widget, widget_definition};

/// An open watch, read event by event.
pub(crate) struct Reader {
    body: apiserver::Body,
    left: Vec<u8>,
}

impl Reader {
    pub(crate) async fn open(server: &Server, path: &str) -> Self {
        let request = Request::get(path).body(Full::<Bytes>::default()).expect("a valid request");
        let response = server.service().call(request).await.expect("no fault is scripted");
        assert_eq!(response.status(), 200);
        Self { body: response.into_body(), left: Vec::new() }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.left.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.left.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("each line is an event"));
            }
            let frame = self.body.frame().await?.ok()?;
            self.left.extend_from_slice(&frame.into_data().expect("no trailers"));
        }
    }

    /// Type and name of the next event.
    async fn brief(&mut self) -> (String, String) {
        let event = self.next().await.expect("the watch is open");
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        (text(&event["type"]), text(&event["object"]["metadata"]["name"]))
    }
}

fn pair(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

#[tokio::test]
async fn watch_tells_what_exists_then_what_happens_in_order() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 1));
    let mut watch = Reader::open(&server, &format!("{WIDGETS}?watch=true")).await;
    assert_eq!(watch.brief().await, pair("ADDED", "a"));
    post(&server, WIDGETS, &widget("b", 1));
    patch(&server, &format!("{WIDGETS}/a"), "merge", &json!({"spec": {"size": 2}}));
    delete(&server, &format!("{WIDGETS}/b"), &Value::Null);
    assert_eq!(watch.brief().await, pair("ADDED", "b"));
    assert_eq!(watch.brief().await, pair("MODIFIED", "a"));
    let gone = watch.next().await.unwrap();
    assert_eq!(
        (&gone["type"], &gone["object"]["metadata"]["name"]),
        (&json!("DELETED"), &json!("b"))
    );
    let version: u64 =
        gone["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    assert_eq!(version, server.resource_version(), "a deletion has a version of its own");
}

#[tokio::test]
async fn leaving_the_selection_is_a_deletion() {
    let server = server();
    let from = server.resource_version();
    let path = format!("{WIDGETS}?watch=1&resourceVersion={from}&labelSelector=on%3Dyes");
    let mut watch = Reader::open(&server, &path).await;
    post(&server, WIDGETS, &widget("a", 1));
    let a = format!("{WIDGETS}/a");
    patch(&server, &a, "merge", &json!({"metadata": {"labels": {"on": "yes"}}}));
    patch(&server, &a, "merge", &json!({"spec": {"size": 2}}));
    patch(&server, &a, "merge", &json!({"metadata": {"labels": {"on": "no"}}}));
    patch(&server, &a, "merge", &json!({"spec": {"size": 3}}));
    patch(&server, &a, "merge", &json!({"metadata": {"labels": {"on": "yes"}}}));
    assert_eq!(watch.brief().await, pair("ADDED", "a"));
    assert_eq!(watch.brief().await, pair("MODIFIED", "a"));
    let left = watch.next().await.unwrap();
    assert_eq!(left["type"], "DELETED");
    assert_eq!(left["object"]["metadata"]["labels"]["on"], "yes", "as it was last seen");
    assert_eq!(watch.brief().await, pair("ADDED", "a"));
}

#[tokio::test]
async fn forgotten_history_is_an_error_inside_the_stream() {
    let server = server();
    let from = server.resource_version();
    post(&server, WIDGETS, &widget("a", 1));
    server.compact();
    let mut watch =
        Reader::open(&server, &format!("{WIDGETS}?watch=true&resourceVersion={from}")).await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "ERROR");
    assert_eq!(
        (&event["object"]["code"], &event["object"]["reason"]),
        (&json!(410), &json!("Expired"))
    );
}

#[tokio::test(start_paused = true)]
async fn streaming_list_ends_with_a_bookmark_and_bookmarks_go_on() {
    let clock = RuntimeClock::starting_at("2026-03-01T12:00:00Z".parse().unwrap());
    let server = Server::new(clock, Settings::default());
    post(&server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &widget_definition());
    post(&server, WIDGETS, &widget("a", 1));
    let path = format!(
        "{WIDGETS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=150"
    );
    let mut watch = Reader::open(&server, &path).await;
    assert_eq!(watch.brief().await, pair("ADDED", "a"));
    let end = watch.next().await.unwrap();
    assert_eq!(end["type"], "BOOKMARK");
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    post(
        &server,
        "/api/v1/namespaces",
        &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}),
    );
    let later = watch.next().await.unwrap();
    assert_eq!(later["type"], "BOOKMARK");
    assert_eq!(
        later["object"]["metadata"]["resourceVersion"],
        server.resource_version().to_string()
    );
    assert_eq!(watch.brief().await.0, "BOOKMARK");
    assert!(watch.next().await.is_none(), "the watch ends when its time is over");
}

#[tokio::test]
async fn many_watchers_see_every_update_in_order() {
    let server = Server::new(
        apiserver::SetClock::at("2026-03-01T12:00:00Z".parse().unwrap()),
        Settings { history: 2_000, ..Settings::default() },
    );
    post(&server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &widget_definition());
    post(&server, WIDGETS, &widget("a", 0));
    let from = server.resource_version();
    let mut watches = Vec::new();
    for _ in 0..100 {
        watches.push(
            Reader::open(&server, &format!("{WIDGETS}?watch=true&resourceVersion={from}")).await,
        );
    }
    for size in 1..=100 {
        patch(
            &server,
            &format!("{WIDGETS}/a/status"),
            "merge",
            &json!({"status": {"observed": size}}),
        );
    }
    for watch in &mut watches {
        for size in 1..=100 {
            assert_eq!(watch.next().await.unwrap()["object"]["status"]["observed"], size);
        }
    }
}
