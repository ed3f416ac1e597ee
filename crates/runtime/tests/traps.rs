//! The traps of the client under us, each measured before it was closed: none of them may come back.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use api::schema::Role;
use http::{Request, Response};
use kube::client::Body;
use runtime::{
    caches::Caches,
    call::{CallError, Cluster, Collection, Outcome, Patch},
    client::connect,
    clock::{Clock, SetClock, SystemClock},
    observe::Observer,
    telemetry::Telemetry,
    tempo::Tempo,
};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::kinds::{self, Row},
    document::key::Key,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

fn gates() -> Vec<&'static Row> {
    kinds::ALL.iter().copied().filter(|row| row.role != Role::Part).collect()
}

fn cluster(client: kube::Client, clock: impl Clock) -> Cluster {
    Cluster::new(client, Arc::new(clock), Arc::new(Telemetry::default()), Duration::from_secs(10))
}

/// A cluster whose every answer is given by a function of the request's path and query.
fn answered(answer: impl Fn(&str) -> (u16, Value) + Clone + Send + Sync + 'static) -> Cluster {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (code, body) = answer(&request.uri().to_string());
        let response =
            Response::builder().status(code).body(Body::from(body.to_string().into_bytes()));
        async move { Ok::<_, Infallible>(response.unwrap()) }
    });
    let clock = SetClock::starting_at(Instant::parse("2026-11-15T12:00:00Z").unwrap());
    cluster(kube::Client::new(service, "default"), clock)
}

/// EXEC-4, finding 2: the client repeats writes that are answered with 429, 503 or 504 unless told not to.
#[tokio::test]
async fn a_refused_write_is_not_sent_again_by_itself() {
    for code in [429, 503, 504] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    let mut read = [0; 4096];
                    while stream.read(&mut read).await.is_ok_and(|length| length > 0) {
                        counted.fetch_add(1, Ordering::SeqCst);
                        let answer = format!(
                            "HTTP/1.1 {code} No\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\n{{}}"
                        );
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                });
            }
        });
        let config = kube::Config::new(format!("http://{address}").parse().unwrap());
        let cluster = cluster(connect(config).unwrap(), SystemClock);
        let patch = Patch::json("t", &[]);
        let error = cluster.patch("/apis/x/v1/things/a/status", patch).await.unwrap_err();
        assert_eq!(error.code(), Some(code));
        assert_eq!(requests.load(Ordering::SeqCst), 1, "{code}");
    }
}

/// EXEC-4, finding 3: the client waits for ever.
#[tokio::test(start_paused = true)]
async fn a_call_ends_when_its_time_is_over_and_its_outcome_is_unknown() {
    let service = tower::service_fn(|_: Request<Body>| async {
        std::future::pending::<()>().await;
        Ok::<_, Infallible>(Response::new(Body::empty()))
    });
    let clock = SetClock::starting_at(Instant::EPOCH);
    let cluster = cluster(kube::Client::new(service, "default"), clock);
    let began = tokio::time::Instant::now();
    let error = cluster.patch("/x", Patch::json("t", &[])).await.unwrap_err();
    assert!(matches!(error, CallError::Late(_)), "{error}");
    assert_eq!(error.outcome(), Outcome::Unknown);
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    assert!(
        cluster.follow(&Collection::of("/x"), "1", None).await.is_err(),
        "nor does opening a watch"
    );
}

/// Which refusals leave doubt, and how long a server may ask to be left alone.
#[tokio::test(start_paused = true)]
async fn refusals_say_whether_anything_happened() {
    for (code, outcome) in [
        (400, Outcome::NotDone),
        (409, Outcome::NotDone),
        (429, Outcome::NotDone),
        (500, Outcome::Unknown),
        (504, Outcome::Unknown),
    ] {
        let cluster = answered(move |_| (code, json!({"reason": "No", "message": "no"})));
        let error = cluster.patch("/x", Patch::json("t", &[])).await.unwrap_err();
        assert_eq!(error.outcome(), outcome, "{code}");
    }
    let refused = CallError::Refused {
        code: 429,
        reason: String::new(),
        message: String::new(),
        retry_after: Some(Duration::from_hours(1)),
    };
    assert_eq!(refused.retry_after(), Duration::from_mins(1));
}

/// Finding 5: 410 as the status of a watch was tried again with the same version, for ever.
#[tokio::test(start_paused = true)]
async fn gone_as_a_status_leads_to_a_new_list() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let recorded = Arc::clone(&asked);
    let cluster = answered(move |path| {
        recorded.lock().unwrap().push(path.to_owned());
        let lists = recorded.lock().unwrap().iter().filter(|path| !path.contains("watch=")).count();
        if path.contains("watch=") {
            return (410, json!({"reason": "Expired", "message": "too old resource version"}));
        }
        let version = (lists * 100).to_string();
        (200, json!({"metadata": {"resourceVersion": version}, "items": []}))
    });
    let caches = Arc::new(Caches::of(gates()));
    let observer = Observer::new(
        &kinds::CHANGE_MANAGEMENT_POLICY,
        cluster,
        Arc::clone(&caches),
        Tempo::default(),
    );
    let _ = tokio::time::timeout(Duration::from_mins(10), observer.run()).await;
    let asked = asked.lock().unwrap();
    let (watches, lists): (Vec<_>, Vec<_>) = asked.iter().partition(|path| path.contains("watch="));
    assert!(lists.len() >= 10, "{asked:#?}");
    assert!(lists.len() < 100, "and not in a circle: {}", lists.len());
    assert!(watches[1].contains("resourceVersion=200"), "{asked:#?}");
}

/// Finding 30: one object that cannot be decoded failed the whole list.
#[tokio::test(start_paused = true)]
async fn one_bad_item_does_not_spoil_a_list_or_a_watch() {
    let cluster = answered(|path| {
        if path.contains("watch=") {
            return (500, json!({}));
        }
        let good =
            |name: &str| json!({"metadata": {"name": name, "resourceVersion": "7"}, "spec": {}});
        let items = json!([
            7, null, "text", {}, {"metadata": 7}, {"metadata": {"name": 7}},
            {"metadata": {"name": "odd", "resourceVersion": [], "managedFields": "x"}, "spec": 1, "status": []},
            good("a"), good("b"),
        ]);
        (200, json!({"metadata": {"resourceVersion": "9"}, "items": items}))
    });
    let caches = Arc::new(Caches::of(gates()));
    let observer =
        Observer::new(&kinds::MACHINE_CONFIG_POOL, cluster, Arc::clone(&caches), Tempo::default());
    let _ = tokio::time::timeout(Duration::from_secs(1), observer.run()).await;
    let store = caches.store();
    for name in ["a", "b", "odd"] {
        let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, name);
        assert!(store.snapshot().get(&key).is_some(), "{name}");
    }
    assert_eq!(store.snapshot().len(), 3);
}

/// The skew is that of the middle of a call, in whole seconds of the server.
#[tokio::test(start_paused = true)]
async fn clocks_are_compared_by_the_date_of_an_answer() {
    let service = tower::service_fn(|_: Request<Body>| async {
        let response = Response::builder()
            .header("Date", "Sun, 15 Nov 2026 12:00:00 GMT")
            .body(Body::from(b"{}".to_vec()));
        Ok::<_, Infallible>(response.unwrap())
    });
    let clock = SetClock::starting_at(Instant::parse("2026-11-15T12:05:00Z").unwrap());
    let telemetry = Arc::new(Telemetry::default());
    let client = kube::Client::new(service, "default");
    let cluster =
        Cluster::new(client, Arc::new(clock), Arc::clone(&telemetry), Duration::from_secs(10));
    cluster.get::<Value>("/x").await.unwrap();
    let mut page = runtime::telemetry::page::Page::default();
    telemetry.write(&mut page);
    assert!(page.finish().contains("\ntidegate_clock_skew_seconds 299.5\n"));
}

/// A long answer says only within which bounds the clock is, and says that.
#[tokio::test(start_paused = true)]
async fn a_slow_answer_still_shows_a_clock_that_is_far_off() {
    let service = tower::service_fn(|_: Request<Body>| async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        let response = Response::builder()
            .header("Date", "Sun, 15 Nov 2026 12:00:00 GMT")
            .body(Body::from(b"{}".to_vec()));
        Ok::<_, Infallible>(response.unwrap())
    });
    for (at, skew) in
        [("12:05:00", Some(299.0)), ("11:55:00", Some(-296.0)), ("11:59:57", Some(0.0))]
    {
        let clock = SetClock::starting_at(Instant::parse(&format!("2026-11-15T{at}Z")).unwrap());
        let telemetry = Arc::new(Telemetry::default());
        let client = kube::Client::new(service, "default");
        let cluster =
            Cluster::new(client, Arc::new(clock), Arc::clone(&telemetry), Duration::from_secs(10));
        cluster.get::<Value>("/x").await.unwrap();
        assert_eq!(telemetry.skew(), skew, "{at}");
    }
}

/// GATE-11: a list that is older than what is known confirms nothing.
#[tokio::test(start_paused = true)]
async fn an_old_list_confirms_nothing() {
    for (later, fresh) in [(9, true), (4, false)] {
        let lists = Arc::new(AtomicUsize::new(0));
        let cluster = answered(move |path| {
            if path.contains("watch=") {
                return (500, json!({}));
            }
            let version = if lists.fetch_add(1, Ordering::SeqCst) == 0 { 5 } else { later };
            (200, json!({"metadata": {"resourceVersion": version.to_string()}, "items": []}))
        });
        let caches = Arc::new(Caches::of(gates()));
        let observer = Observer::new(
            &kinds::CHANGE_MANAGEMENT_POLICY,
            cluster,
            Arc::clone(&caches),
            Tempo::default(),
        );
        let _ = tokio::time::timeout(Duration::from_secs(110), observer.run()).await;
        let age = caches.age(&kinds::CHANGE_MANAGEMENT_POLICY).unwrap().as_secs();
        assert_eq!(age < 60, fresh, "{later}: {age}");
    }
}
