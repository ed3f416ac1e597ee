//! Does the one client ask as it should, and believe no more than it was told?

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::client::Body;
use runtime::{
    call::{CallError, Cluster, Collection, Patch, What},
    clock::SetClock,
    telemetry::Telemetry,
};
use schedule::Instant;
use serde_json::{Value, json};

/// What a server was asked: method, path and query, type and body.
type Asked = Arc<Mutex<Vec<(String, String, String)>>>;

/// A server that writes down what it is asked, and answers by a function of path and query.
fn server(
    answer: impl Fn(&str) -> (u16, String) + Clone + Send + Sync + 'static,
) -> (Cluster, Asked) {
    let asked = Asked::default();
    let noted = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (answer, noted) = (answer.clone(), Arc::clone(&noted));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let content = head.headers.get("content-type");
            let content = content.map_or("", |content| content.to_str().unwrap()).to_owned();
            let body = String::from_utf8(body.to_vec()).unwrap();
            noted.lock().unwrap().push((format!("{} {}", head.method, head.uri), content, body));
            let (code, body) = answer(&head.uri.to_string());
            let response = Response::builder().status(code).body(Body::from(body.into_bytes()));
            Ok::<_, Infallible>(response.unwrap())
        }
    });
    let client = kube::Client::new(service, "default");
    let clock = Arc::new(SetClock::starting_at(Instant::EPOCH));
    let telemetry = Arc::new(Telemetry::default());
    (Cluster::new(client, clock, telemetry, Duration::from_secs(10)), asked)
}

/// Two of the three pagers that there once were sent the token as it came: a server that writes `+` into it would have read a space, and
/// one with `&` another question.
#[tokio::test]
async fn a_list_goes_on_from_whatever_token_the_server_gave() {
    const ODD: &str = "a+b/c=d&limit=1#?%41 ü";
    let (cluster, asked) = server(|path| {
        let next = path.contains("continue=");
        let (name, token) = if next { ("b", "") } else { ("a", ODD) };
        let metadata = json!({"resourceVersion": "7", "continue": token});
        (200, json!({"metadata": metadata, "items": [{"metadata": {"name": name}}]}).to_string())
    });
    let pods = Collection::of("/api/v1/pods").only("spec.nodeName", "a=b&c").in_pages_of(250);
    let listed = cluster.list_all::<Value>(&pods).await.unwrap();
    assert_eq!((listed.items.len(), &*listed.version), (2, "7"));
    let mut names = 0;
    cluster.list_metadata(&pods, |_: Value| names += 1).await.unwrap();
    assert_eq!(names, 2);
    let first = "GET /api/v1/pods?limit=250&fieldSelector=spec.nodeName%3Da%3Db%26c";
    let second = format!("{first}&continue=a%2Bb%2Fc%3Dd%26limit%3D1%23%3F%2541%20%C3%BC");
    let asked: Vec<String> = asked.lock().unwrap().iter().map(|(line, ..)| line.clone()).collect();
    assert_eq!(asked, [first, &second, first, &second]);
}

/// DRAIN-1: a node was once taken for empty because somebody on the way had answered `{}`.
#[tokio::test]
async fn what_is_no_list_is_not_taken_for_an_empty_one() {
    let check = async |answer: &'static str, empty: bool| {
        let (cluster, _) = server(move |_| (200, answer.to_owned()));
        match cluster.list_all::<Value>(&Collection::of("/api/v1/pods")).await {
            Ok(listed) => assert!(empty && listed.items.is_empty(), "{answer}"),
            Err(error) => assert!(!empty && matches!(error, CallError::Garbled(_)), "{answer}"),
        }
    };
    check(r#"{"metadata": {"resourceVersion": "7"}, "items": []}"#, true).await;
    check(r#"{"metadata": {"resourceVersion": "7"}, "items": null}"#, true).await;
    check("{}", false).await;
    check(r#"{"kind": "Status", "metadata": {}, "status": "Success"}"#, false).await;
    check(r#"{"items": []}"#, false).await;
    check(r#"{"metadata": {}, "items": []}"#, false).await;
    check(r#"{"metadata": {"resourceVersion": ""}, "items": []}"#, false).await;
    check("<html>", false).await;
}

#[tokio::test]
async fn a_watch_tells_events_bookmarks_refusals_and_its_end() {
    const LINES: &str = concat!(
        r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"},"spec":{"x":1}}}"#,
        "\n\n",
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}}"#,
        "\n",
        r#"{"type":"DELETED","object":{"metadata":{"namespace":"n","name":"a","resourceVersion":"7"}}}"#,
        "\n",
    );
    const ERROR: &str = concat!(
        r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}"#,
        "\n",
    );
    let things = Collection::of("/api/v1/nodes").only("metadata.name", "n");
    let (cluster, asked) = server(|_| (200, LINES.to_owned()));
    let mut follow = cluster.follow(&things, "4", Some(Duration::from_mins(1))).await.unwrap();
    let first = follow.next().await.unwrap().unwrap();
    assert_eq!((first.what, &*first.version), (What::Changed, "5"));
    assert_eq!(first.object::<Value>().unwrap()["spec"]["x"], 1);
    let second = follow.next().await.unwrap().unwrap();
    assert_eq!((second.what, &*second.version, second.name), (What::Bookmark, "6", None));
    let third = follow.next().await.unwrap().unwrap();
    assert_eq!((third.what, third.namespace.as_deref()), (What::Deleted, Some("n")));
    assert!(follow.next().await.unwrap().is_none(), "the end is told");
    assert_eq!(
        asked.lock().unwrap()[0].0,
        "GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=4&fieldSelector=metadata.name%3Dn"
    );

    let mut follow = cluster.follow(&things, "4", None).await.unwrap();
    follow.next_change().await.unwrap();
    let change = follow.next_change().await.unwrap().unwrap();
    assert_eq!(change.what, What::Deleted, "a bookmark is no change");

    let (cluster, _) = server(|_| (200, ERROR.to_owned()));
    let mut follow = cluster.follow(&things, "4", None).await.unwrap();
    let error = follow.next().await.unwrap_err();
    assert_eq!((error.code(), error.told()), (Some(410), "too old".to_owned()));

    // GATE-11: an event that has no version confirms nothing.
    for line in [
        r#"{"type":"MODIFIED","object":{}}"#,
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":""}}}"#,
    ] {
        let (cluster, _) = server(move |_| (200, format!("{line}\n")));
        let mut follow = cluster.follow(&things, "4", None).await.unwrap();
        let error = follow.next().await.unwrap_err();
        assert!(matches!(error, CallError::Garbled(_)), "{line}: {error}");
    }

    let (cluster, _) = server(|_| (410, json!({"message": "too old"}).to_string()));
    let error = cluster.follow(&things, "4", None).await.unwrap_err();
    assert_eq!(
        (error.code(), error.told()),
        (Some(410), "too old".to_owned()),
        "nor is it another at the start"
    );
}

#[tokio::test]
async fn every_change_says_what_it_is_and_whose() {
    let (cluster, asked) = server(|_| (200, "{}".to_owned()));
    let change = json!({"a": 1});
    let at = "/api/v1/nodes/n";
    for patch in [
        Patch::json("me", &[json!({"op": "remove", "path": "/a"})]),
        Patch::merge("me", &change),
        Patch::apply("me", &change),
        Patch::apply_by_force("me", &change),
        Patch::merge("me", &change).as_dry_run(),
    ] {
        cluster.patch(at, patch).await.unwrap();
    }
    cluster.create("/api/v1/nodes", &change).await.unwrap();
    cluster.create_as("me", "/api/v1/nodes", &change).await.unwrap();
    cluster.update(at, &change).await.unwrap();
    cluster.delete(at, &json!({"preconditions": {"uid": "u"}})).await.unwrap();
    cluster.evict("a", "b", "u").await.unwrap();
    let asked = asked.lock().unwrap();
    let asked: Vec<(&str, &str, &str)> =
        asked.iter().map(|(line, content, body)| (&**line, &**content, &**body)).collect();
    let (json, one) = ("application/json", r#"{"a":1}"#);
    assert_eq!(
        asked,
        [
            (
                "PATCH /api/v1/nodes/n?fieldManager=me",
                "application/json-patch+json",
                r#"[{"op":"remove","path":"/a"}]"#
            ),
            ("PATCH /api/v1/nodes/n?fieldManager=me", "application/merge-patch+json", one),
            ("PATCH /api/v1/nodes/n?fieldManager=me", "application/apply-patch+yaml", one),
            (
                "PATCH /api/v1/nodes/n?fieldManager=me&force=true",
                "application/apply-patch+yaml",
                one
            ),
            (
                "PATCH /api/v1/nodes/n?fieldManager=me&dryRun=All",
                "application/merge-patch+json",
                one
            ),
            ("POST /api/v1/nodes", json, one),
            ("POST /api/v1/nodes?fieldManager=me", json, one),
            ("PUT /api/v1/nodes/n", json, one),
            ("DELETE /api/v1/nodes/n", json, r#"{"preconditions":{"uid":"u"}}"#),
            (
                "POST /api/v1/namespaces/a/pods/b/eviction",
                json,
                r#"{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":"a","name":"b"},"deleteOptions":{"preconditions":{"uid":"u"}}}"#
            ),
        ]
    );
}

/// A cluster judges by its own clock, and says what it shows even to those whom it refuses.
#[tokio::test]
async fn a_refusal_is_dated_too() {
    let service = tower::service_fn(|_: Request<Body>| async {
        let response =
            Response::builder().status(401).header("Date", "Sun, 15 Nov 2026 12:00:00 GMT");
        Ok::<_, Infallible>(response.body(Body::empty()).unwrap())
    });
    let client = kube::Client::new(service, "default");
    let clock = Arc::new(SetClock::starting_at(Instant::EPOCH));
    let cluster = Cluster::new(client, clock, Arc::default(), Duration::from_secs(10));
    let time = cluster.time().await.unwrap().unwrap();
    assert_eq!(time.to_string(), "2026-11-15T12:00:00Z");
}
