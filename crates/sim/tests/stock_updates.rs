//! Does the gate stop whoever would begin an update too early? A stock cluster in one process: the real operator, the admission policies that are
//! shipped, and a cluster version operator that never heard of us and begins whatever `spec.desiredUpdate` names at once (CV-5, CV-6).

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::time::Duration;

use http::Method;
use schedule::Instant;
use serde_json::{Value, json};
use sim::{
    Sandbox, Settings,
    control_plane::plan::{image, updates},
    stock::Item,
};

const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const OURS: &str = "/apis/changemanagement.openshift.io/v1alpha1";

/// How many seconds pass in one: an update takes hours.
const SPEED: u32 = 600;

/// On a Friday evening, three hours before the window opens.
const FRIDAY: &str = "2026-11-20T21:00:00Z";

fn ask(
    sandbox: &Sandbox,
    method: &Method,
    path: &str,
    content: &str,
    body: &Value,
) -> Result<Value, String> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let (code, answer) = sandbox.api_server().ask(method.clone(), path, content, &body);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    if code < 300 { Ok(answer) } else { Err(answer["message"].to_string()) }
}

/// A control plane at 4.20.8 that nothing holds yet.
async fn cluster() -> Sandbox {
    let at = Instant::parse(FRIDAY).unwrap();
    let release = json!({"version": "4.20.8", "image": image("4.20.8")});
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version"}, "spec": {"channel": "stable-4.20"},
        "status": {"desired": release, "availableUpdates": updates("4.20.8"), "history": [
            {"state": "Completed", "version": "4.20.8", "image": image("4.20.8"), "verified": true,
                "startedTime": "2026-05-01T00:00:00Z", "completionTime": "2026-05-01T01:00:00Z"}]}});
    let items = vec![Item { origin: "test".into(), object: version }];
    let settings = Settings { speed: SPEED, ..Settings::starting_at(at).stock() };
    Sandbox::start(settings, items).await.unwrap()
}

/// What `oc adm upgrade --to` writes.
fn upgrade(sandbox: &Sandbox, version: &str) -> Result<Value, String> {
    let wish = json!({"spec": {"desiredUpdate": {"version": version}}});
    ask(sandbox, &Method::PATCH, VERSION, "application/merge-patch+json", &wish)
}

/// The newest update: its release, how far it is, and when it began.
fn newest(sandbox: &Sandbox) -> (String, String, String) {
    let version = ask(sandbox, &Method::GET, VERSION, "", &Value::Null).unwrap();
    let newest = &version["status"]["history"][0];
    let text = |field: &str| newest[field].as_str().unwrap_or_default().to_owned();
    (text("version"), text("state"), text("startedTime"))
}

/// So long by the clock of the sandbox.
async fn pass(length: Duration) {
    tokio::time::sleep(length / SPEED).await;
}

/// It is eager: where nothing holds it, what somebody asks for on a Friday begins on that Friday, and nothing of ours alarms, because nothing says when.
#[tokio::test(start_paused = true)]
async fn whoever_never_heard_of_us_begins_at_once_where_nothing_holds_it() {
    let sandbox = cluster().await;
    upgrade(&sandbox, "4.20.10").unwrap();
    pass(Duration::from_mins(5)).await;
    let (release, state, began) = newest(&sandbox);
    assert_eq!((release.as_str(), state.as_str()), ("4.20.10", "Partial"));
    assert!(("2026-11-20T21:00:00Z".."2026-11-20T21:10:00Z").contains(&began.as_str()), "{began}");
}

/// The same one, the same Friday, and a gate: the write that it would act on is refused with the opening; what is queued begins in the window,
/// and once begun it finishes although the window is over.
#[tokio::test(start_paused = true)]
async fn whoever_would_begin_too_early_is_stopped_by_the_gate() {
    let sandbox = cluster().await;
    let create = |kinds: &str, kind: &str, name: &str, spec: Value| {
        let object = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": kind,
            "metadata": {"name": name}, "spec": spec});
        let path = format!("{OURS}/{kinds}");
        ask(&sandbox, &Method::POST, &path, "application/json", &object).unwrap();
    };
    let permit = json!({"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}},
        "startTime": "00:00", "duration": "30m"});
    create(
        "changemanagementpolicies",
        "ChangeManagementPolicy",
        "saturday",
        json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": permit}}),
    );
    create(
        "clusterchangegates",
        "ClusterChangeGate",
        "plane",
        json!({"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}},
            "holds": [{"what": "ClusterVersion", "how": "Refuse"}]}),
    );
    pass(Duration::from_mins(10)).await;
    let refused = upgrade(&sandbox, "4.20.10").unwrap_err();
    let expected = "held by ClusterChangeGate plane, which opens at 2026-11-21T00:00:00Z";
    assert!(refused.contains(expected), "{refused}");
    let queued = json!({"metadata": {"annotations":
        {"changemanagement.openshift.io/wanted-release": r#"{"version":"4.20.10"}"#}}});
    ask(&sandbox, &Method::PATCH, VERSION, "application/merge-patch+json", &queued).unwrap();
    pass(Duration::from_mins(165)).await;
    assert_eq!(newest(&sandbox).0, "4.20.8", "whoever installs releases was told of nothing");
    pass(Duration::from_mins(20)).await;
    let (release, state, began) = newest(&sandbox);
    assert_eq!((release.as_str(), state.as_str()), ("4.20.10", "Partial"));
    assert!(("2026-11-21T00:00:00Z".."2026-11-21T00:05:00Z").contains(&began.as_str()), "{began}");
    // The window is over: another is refused, and this one finishes.
    pass(Duration::from_mins(40)).await;
    let refused = upgrade(&sandbox, "4.21.3").unwrap_err();
    assert!(refused.contains("which opens at 2026-11-28T00:00:00Z"), "{refused}");
    pass(Duration::from_hours(4)).await;
    assert_eq!(newest(&sandbox).1, "Completed");
}
