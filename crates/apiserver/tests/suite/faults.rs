//! What goes wrong, goes wrong where it was told to, and in the same way twice.

use std::time::Duration;

use apiserver::{Fault, Lost, Profile, RequestMatch, RuntimeClock, Scripted, Server, Settings};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::Service as _;

use super::common::{START, WIDGETS, get, patch, post, server, widget, widget_definition};

async fn send(
    server: &Server,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<(u16, Value), Lost> {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .body(Full::new(Bytes::from(body.to_string())))
        .expect("a valid request");
    let response = server.service().call(request).await?;
    let code = response.status().as_u16();
    let bytes = response
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    Ok((code, serde_json::from_slice(&bytes).unwrap_or_default()))
}

#[tokio::test]
async fn scripted_fault_strikes_the_third_status_patch() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 1));
    server.script_fault(Scripted {
        matching: RequestMatch {
            verb: Some("patch".into()),
            resource: Some("widgets".into()),
            subresource: Some("status".into()),
            name: Some("a".into()),
        },
        nth: 3,
        fault: Fault::TooManyRequests(7),
    });
    let mut codes = Vec::new();
    for observed in 0..4 {
        let (code, body) = send(
            &server,
            "PATCH",
            &format!("{WIDGETS}/a/status"),
            &json!({"status": {"observed": observed}}),
        )
        .await
        .unwrap();
        if code == 429 {
            assert_eq!(body["details"]["retryAfterSeconds"], 7);
        }
        codes.push(code);
    }
    assert_eq!(codes, [200, 200, 429, 200]);
}

#[tokio::test]
async fn lost_answer_is_a_write_that_happened() {
    let server = server();
    server.script_fault(Scripted {
        matching: RequestMatch::default(),
        nth: 1,
        fault: Fault::LoseAnswer,
    });
    let lost = send(&server, "POST", WIDGETS, &widget("a", 1)).await;
    assert!(matches!(lost, Err(Lost::Answer)));
    assert_eq!(get(&server, &format!("{WIDGETS}/a")).0, 200);
}

#[tokio::test]
async fn stale_list_shows_an_earlier_moment() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 1));
    post(&server, WIDGETS, &widget("b", 1));
    server.script_fault(Scripted {
        matching: RequestMatch::default(),
        nth: 1,
        fault: Fault::StaleList(1),
    });
    let (_, list) = send(&server, "GET", WIDGETS, &Value::Null).await.unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn rewound_store_forgets_and_counts_on_from_there() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 1));
    let backup = server.backup();
    let version = server.resource_version();
    post(&server, WIDGETS, &widget("b", 1));
    server.rewind(&backup);
    assert_eq!(get(&server, &format!("{WIDGETS}/b")).0, 404);
    assert_eq!(server.resource_version(), version);
    assert_eq!(
        patch(&server, &format!("{WIDGETS}/a"), "merge", &json!({"spec": {"size": 2}})).0,
        200
    );
    assert_eq!(server.resource_version(), version + 1);
}

/// A run of random writes under faults; what it leaves is the hash of everything that happened.
async fn run(seed: u64) -> u64 {
    let clock = RuntimeClock::starting_at(START.parse().expect("a valid instant"));
    let server = Server::new(clock, Settings { seed, ..Settings::default() });
    post(&server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &widget_definition());
    let profile = Profile {
        latency: Duration::from_millis(300),
        lose_answer: 0.05,
        conflict: 0.05,
        too_many_requests: 0.05,
        server_error: 0.05,
        stale_list: 0.2,
        compact: 0.02,
        ..Profile::default()
    };
    server.draw_faults(profile, seed);
    for index in 0..200 {
        let name = format!("w{}", index % 17);
        let _ = send(&server, "POST", WIDGETS, &widget(&name, index % 9)).await;
        let _ = send(
            &server,
            "PATCH",
            &format!("{WIDGETS}/{name}"),
            &json!({"spec": {"size": index % 7}}),
        )
        .await;
        let _ = send(&server, "GET", WIDGETS, &Value::Null).await;
        if index % 5 == 0 {
            let _ = send(&server, "DELETE", &format!("{WIDGETS}/{name}"), &Value::Null).await;
        }
    }
    server.trace_hash()
}

#[tokio::test(start_paused = true)]
async fn same_seed_gives_the_same_bytes() {
    let first = run(7).await;
    assert_eq!(first, run(7).await);
    assert_ne!(first, run(8).await);
}
