//! What does an ordinary client see of each fault?
//!
//! Everything here goes through `kube`: its client, its watch streams, and the watcher that controllers stand on.

use std::{pin::pin, time::Duration};

use apiserver::{Fault, Profile, RequestMatch, RuntimeClock, Scripted, Server, Settings};
use futures_util::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    client::retry::RetryPolicy,
    core::response::StatusCause,
    runtime::{WatchStreamExt as _, watcher},
};
use serde_json::json;
use tokio::time::{Instant, timeout};
use tower::{BoxError, ServiceBuilder, retry::RetryLayer};

use super::common::START;

/// A server on the runtime's clock, and a client for its maps.
fn start() -> (Server, Api<ConfigMap>) {
    let clock = RuntimeClock::starting_at(START.parse().expect("a valid instant"));
    let server = Server::new(clock, Settings::default());
    let maps = Api::default_namespaced(Client::new(server.service(), "default"));
    (server, maps)
}

fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map
}

async fn create(maps: &Api<ConfigMap>, name: &str) -> kube::Result<ConfigMap> {
    maps.create(&PostParams::default(), &map(name)).await
}

async fn relabel(maps: &Api<ConfigMap>, name: &str, colour: &str) -> kube::Result<ConfigMap> {
    let patch = json!({ "metadata": { "labels": { "colour": colour } } });
    maps.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await
}

async fn names(maps: &Api<ConfigMap>) -> Vec<String> {
    let list = maps.list(&ListParams::default()).await.expect("nothing is scripted for this list");
    list.iter().map(ResourceExt::name_any).collect()
}

/// Strikes the first request of this verb from now on.
fn strike(server: &Server, verb: &str, fault: Fault) {
    let matching = RequestMatch { verb: Some(verb.to_owned()), ..RequestMatch::default() };
    server.script_fault(Scripted { matching, nth: 1, fault });
}

/// Code and reason of a refusal; zero if there was no answer at all.
fn refusal<T: std::fmt::Debug>(answer: kube::Result<T>) -> (u16, String) {
    match answer.expect_err("the server refuses") {
        kube::Error::Api(status) => (status.code, status.reason.clone()),
        other => (0, other.to_string()),
    }
}

type Events = futures_util::stream::BoxStream<'static, kube::Result<WatchEvent<ConfigMap>>>;

async fn watch(maps: &Api<ConfigMap>, version: &str) -> Events {
    let params = WatchParams::default().disable_bookmarks();
    maps.watch(&params, version).await.expect("the watch is accepted").boxed()
}

/// The next event in short; `nothing` if none comes for two virtual minutes.
async fn next(events: &mut Events) -> String {
    match timeout(Duration::from_mins(2), events.next()).await {
        Err(_) => "nothing".to_owned(),
        Ok(None) => "the end".to_owned(),
        Ok(Some(Err(_))) => "cut".to_owned(),
        Ok(Some(Ok(WatchEvent::Added(map)))) => format!("added {}", map.name_any()),
        Ok(Some(Ok(WatchEvent::Modified(map)))) => format!("modified {}", map.name_any()),
        Ok(Some(Ok(WatchEvent::Deleted(map)))) => format!("deleted {}", map.name_any()),
        Ok(Some(Ok(WatchEvent::Error(status)))) => format!("{} {}", status.code, status.reason),
        Ok(Some(Ok(WatchEvent::Bookmark(_)))) => "a bookmark".to_owned(),
    }
}

/// What a controller's watcher tells of objects, through all its restarts, until it saw `last`.
async fn watched_until(
    events: impl Stream<Item = watcher::Result<ConfigMap>>,
    last: &str,
) -> Vec<String> {
    let mut events = pin!(events);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let Ok(map) = event {
            seen.push(map.name_any());
            if map.name_any() == last {
                break;
            }
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn latency_delays_the_write_with_its_answer() {
    let (server, maps) = start();
    strike(&server, "create", Fault::Latency(Duration::from_secs(5)));
    let begun = Instant::now();
    let writing = tokio::spawn({
        let maps = maps.clone();
        async move { create(&maps, "a").await }
    });
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(names(&maps).await.is_empty(), "nothing is written before its time");
    writing.await.unwrap().unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(names(&maps).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn slow_list_keeps_its_own_fault() {
    let (server, maps) = start();
    create(&maps, "a").await.unwrap();
    strike(&server, "list", Fault::Latency(Duration::from_secs(5)));
    strike(&server, "list", Fault::StaleList(1));
    let slow = tokio::spawn({
        let maps = maps.clone();
        async move { names(&maps).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(names(&maps).await, ["a"], "the fault is not this request's");
    assert!(slow.await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn lost_answer_is_an_error_of_the_transport_and_a_write() {
    let (server, maps) = start();
    strike(&server, "create", Fault::LoseAnswer);
    let lost = create(&maps, "a").await;
    assert!(matches!(lost, Err(kube::Error::Service(_))), "{lost:?}");
    assert_eq!(refusal(create(&maps, "a").await), (409, "AlreadyExists".to_owned()));

    strike(&server, "delete", Fault::LoseAnswer);
    assert!(maps.delete("a", &DeleteParams::default()).await.is_err());
    assert!(maps.get_opt("a").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn injected_refusals_carry_nothing_out() {
    for (fault, code, reason) in [
        (Fault::Conflict, 409, "Conflict"),
        (Fault::TooManyRequests(7), 429, "TooManyRequests"),
        (Fault::ServerError(500), 500, "InternalError"),
        (Fault::ServerError(503), 503, "ServiceUnavailable"),
        (Fault::ServerError(504), 504, "Timeout"),
    ] {
        let (server, maps) = start();
        create(&maps, "a").await.unwrap();
        strike(&server, "patch", fault);
        assert_eq!(refusal(relabel(&maps, "a", "red").await), (code, reason.to_owned()));
        assert!(maps.get("a").await.unwrap().labels().is_empty());
        relabel(&maps, "a", "red").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn client_waits_as_long_as_retry_after_says() {
    let (server, _) = start();
    strike(&server, "create", Fault::TooManyRequests(7));
    let patient = ServiceBuilder::new()
        .layer(RetryLayer::new(RetryPolicy::server_retry()))
        .map_err(BoxError::from)
        .service(server.service());
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(patient, "default"));
    let begun = Instant::now();
    create(&maps, "a").await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(7));

    strike(&server, "create", Fault::TooManyRequests(7));
    let hurried = Api::<ConfigMap>::default_namespaced(Client::new(server.service(), "default"));
    let Err(kube::Error::Api(status)) = create(&hurried, "b").await else {
        panic!("a client without patience is told");
    };
    let details = status.details.expect("a refusal says how long to wait");
    assert_eq!(details.retry_after_seconds, 7);
    assert_eq!(details.causes, Vec::<StatusCause>::new());
}

#[tokio::test(start_paused = true)]
async fn cut_watch_breaks_after_its_events() {
    let (server, maps) = start();
    strike(&server, "watch", Fault::CutWatch(2));
    let mut events = watch(&maps, "0").await;
    for name in ["a", "b", "c"] {
        create(&maps, name).await.unwrap();
    }
    assert_eq!(next(&mut events).await, "added a");
    assert_eq!(next(&mut events).await, "added b");
    assert_eq!(next(&mut events).await, "cut");
    assert_eq!(next(&mut events).await, "the end");
}

#[tokio::test(start_paused = true)]
async fn silent_watch_stays_open_and_says_nothing() {
    let (server, maps) = start();
    strike(&server, "watch", Fault::SilenceWatch(1));
    let mut events = watch(&maps, "0").await;
    create(&maps, "a").await.unwrap();
    create(&maps, "b").await.unwrap();
    assert_eq!(next(&mut events).await, "added a");
    for _ in 0..4 {
        assert_eq!(next(&mut events).await, "nothing", "not even the end of its time");
    }
}

#[tokio::test(start_paused = true)]
async fn watcher_gets_over_cut_and_silent_watches() {
    for fault in [Fault::CutWatch(1), Fault::SilenceWatch(1)] {
        let (server, maps) = start();
        strike(&server, "watch", fault.clone());
        let events = watcher(maps.clone(), watcher::Config::default()).default_backoff();
        let seeing = tokio::spawn(watched_until(events.applied_objects(), "d"));
        for name in ["a", "b", "c", "d"] {
            tokio::time::sleep(Duration::from_secs(1)).await;
            create(&maps, name).await.unwrap();
        }
        assert_eq!(seeing.await.unwrap(), ["a", "b", "c", "d"], "after {fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn stale_list_is_an_earlier_moment_from_which_a_watch_catches_up() {
    let (server, maps) = start();
    for name in ["a", "b", "c"] {
        create(&maps, name).await.unwrap();
    }
    strike(&server, "list", Fault::StaleList(2));
    let stale = maps.list(&ListParams::default()).await.unwrap();
    assert_eq!(stale.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a"]);
    assert_eq!(names(&maps).await, ["a", "b", "c"], "the next list is fresh again");
    let mut events = watch(&maps, &stale.metadata.resource_version.unwrap()).await;
    assert_eq!(next(&mut events).await, "added b");
    assert_eq!(next(&mut events).await, "added c");
}

#[tokio::test(start_paused = true)]
async fn compaction_expires_watches_and_pages_that_are_behind() {
    let (server, maps) = start();
    create(&maps, "a").await.unwrap();
    let page = maps.list(&ListParams::default().limit(1)).await.unwrap();
    let behind = page.metadata.resource_version.unwrap();
    create(&maps, "b").await.unwrap();
    let page = maps.list(&ListParams::default().limit(1)).await.unwrap();
    create(&maps, "c").await.unwrap();
    strike(&server, "watch", Fault::Compact);
    let mut events = watch(&maps, &behind).await;
    assert_eq!(next(&mut events).await, "410 Expired");
    assert_eq!(next(&mut events).await, "the end");
    let rest = ListParams::default().continue_token(&page.metadata.continue_.unwrap());
    assert_eq!(refusal(maps.list(&rest).await), (410, "Expired".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn watcher_lists_again_after_a_compaction() {
    let (server, maps) = start();
    strike(&server, "watch", Fault::CutWatch(1));
    let events = watcher(maps.clone(), watcher::Config::default()).default_backoff();
    let seeing = tokio::spawn(watched_until(events.applied_objects(), "c"));
    for name in ["a", "b"] {
        tokio::time::sleep(Duration::from_millis(1)).await;
        create(&maps, name).await.unwrap();
    }
    // Cut after the first; by the time it comes back, what it missed is forgotten.
    server.compact();
    tokio::time::sleep(Duration::from_mins(1)).await;
    create(&maps, "c").await.unwrap();
    assert_eq!(seeing.await.unwrap(), ["a", "a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn rewound_store_is_invisible_to_a_watch() {
    let (server, maps) = start();
    create(&maps, "a").await.unwrap();
    let backup = server.backup();
    create(&maps, "b").await.unwrap();
    create(&maps, "c").await.unwrap();
    let ahead = maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut open = watch(&maps, &ahead).await;
    server.rewind(&backup);
    assert_eq!(names(&maps).await, ["a"]);

    // Two writes bring the store to where the watches think they are; neither learns of them, nor that anything was lost.
    let mut late = watch(&maps, &ahead).await;
    create(&maps, "d").await.unwrap();
    create(&maps, "e").await.unwrap();
    assert_eq!(next(&mut open).await, "nothing");
    assert_eq!(next(&mut late).await, "nothing");
    create(&maps, "f").await.unwrap();
    let mut fresh = watch(&maps, &ahead).await;
    assert_eq!(next(&mut fresh).await, "added f");
}

#[tokio::test(start_paused = true)]
async fn every_fault_of_a_profile_strikes() {
    let certain = Profile::default;
    let wait = Duration::from_secs(9);
    for (profile, told) in [
        (Profile { latency: wait, ..certain() }, "Latency"),
        (Profile { lose_answer: 1.0, ..certain() }, "LoseAnswer"),
        (Profile { conflict: 1.0, ..certain() }, "Conflict"),
        (Profile { too_many_requests: 1.0, ..certain() }, "TooManyRequests"),
        (Profile { server_error: 1.0, ..certain() }, "ServerError"),
        (Profile { cut_watch: 1.0, ..certain() }, "CutWatch"),
        (Profile { silence_watch: 1.0, ..certain() }, "SilenceWatch"),
        (Profile { stale_list: 1.0, ..certain() }, "StaleList"),
        (Profile { compact: 1.0, ..certain() }, "Compact"),
    ] {
        let (server, maps) = start();
        server.draw_faults(profile, 3);
        // Whether they succeed is the business of the tests above.
        let _ = create(&maps, "a").await;
        let _ = maps.list(&ListParams::default()).await;
        let _ = maps.watch(&WatchParams::default(), "0").await.map(drop);
        let faults: Vec<String> =
            server.trace_tail().into_iter().filter(|line| line.starts_with('!')).collect();
        assert!(!faults.is_empty(), "{told} never struck");
        assert!(faults.iter().all(|line| line[2..].starts_with(told)), "{told}: {faults:#?}");
        server.heal();
        create(&maps, "b").await.unwrap();
    }
}

/// Whoever compares clocks with this server is told its own time, by every answer, also by one that says no or that took a while.
#[tokio::test(start_paused = true)]
async fn every_answer_tells_the_time_of_the_server() {
    let (server, maps) = start();
    let client = maps.into_client();
    let dated = async |path: &str| {
        let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap();
        let answer = client.send(request).await.unwrap();
        answer.headers()[http::header::DATE].to_str().unwrap().to_owned()
    };
    let told = |seconds: i64| {
        let at: jiff::Timestamp = START.parse().unwrap();
        let at = at + jiff::SignedDuration::from_secs(seconds);
        at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    };
    for path in ["/api/v1/configmaps", "/api/v1/configmaps?watch=true", "/api/v1/nothing", "/"] {
        assert_eq!(dated(path).await, told(0), "{path}");
    }
    let slow = Scripted {
        matching: RequestMatch::default(),
        nth: 1,
        fault: Fault::Latency(Duration::from_secs(90)),
    };
    server.script_fault(slow);
    assert_eq!(dated("/api/v1/configmaps").await, told(90), "as late as it is answered");
}
