//! Rows about what counts when messages cross.

use std::time::Duration;

use api::schema::{GATED, KINDS};
use serde_json::{Value, json};

use super::*;
use crate::caches::{Caches, STALE, read};

fn policy(name: &str, version: u64) -> (Key, Seen) {
    let document = json!({
        "apiVersion": KINDS[0].api_version, "kind": KINDS[0].name,
        "metadata": {"name": name, "uid": name, "resourceVersion": version.to_string(), "generation": 1},
        "spec": {"strategy": "Permissive"},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "observedGeneration": 1}]},
    });
    read(&KINDS[0], &document).unwrap()
}

fn pool(name: &str, policy: &str, version: u64) -> (Key, Seen) {
    let stanza = match policy {
        "" => Value::Null,
        name => json!({"strategy": "ByPolicy", "byPolicy": {"name": name}}),
    };
    let document = json!({
        "apiVersion": GATED[1].api_version, "kind": GATED[1].name,
        "metadata": {"name": name, "resourceVersion": version.to_string()},
        "spec": {"changeManagement": stanza},
    });
    read(&GATED[1], &document).unwrap()
}

fn version(store: &Store, key: &Key) -> String {
    store.get(key).map_or("gone".into(), |seen| seen.identity().resource_version.clone())
}

#[test]
fn an_older_event_does_not_undo_what_a_write_answered() {
    let mut store = Store::default();
    let (key, seen) = policy("a", 5);
    assert!(store.learn(&key, seen));
    assert!(store.answered(&key, policy("a", 9).1));
    assert!(!store.learn(&key, policy("a", 7).1));
    assert_eq!(version(&store, &key), "9");
    assert!(!store.forget(&key, "8"), "nor does a deletion that came before");
    assert!(store.forget(&key, "10"));
    assert!(!store.answered(&key, policy("a", 9).1), "and an answer brings nothing back to life");
    assert_eq!(version(&store, &key), "gone");
}

#[test]
fn versions_are_numbers_and_not_text() {
    let mut store = Store::default();
    let (key, seen) = policy("a", 99);
    store.learn(&key, seen);
    assert!(store.learn(&key, policy("a", 100).1));
    assert_eq!(version(&store, &key), "100");
}

#[tokio::test(start_paused = true)]
async fn a_list_takes_away_what_it_lacks_and_keeps_what_is_newer() {
    let mut store = Store::default();
    for (name, version) in [("gone", 5), ("stays", 6), ("newer", 20)] {
        let (key, seen) = policy(name, version);
        store.learn(&key, seen);
    }
    let listed: BTreeMap<Key, Seen> = [policy("stays", 6), policy("fresh", 8)].into();
    let changed = store.replace(&KINDS[0], listed.clone(), "10", Trust::Newer);
    let names: Vec<String> = changed.iter().map(|key| key.name.to_string()).collect();
    assert_eq!(names, ["fresh", "gone"]);
    assert_eq!(store.len(), 3, "the newer one was written after the list");
    store.replace(&KINDS[0], listed, "10", Trust::Nothing);
    assert_eq!(store.len(), 2, "unless versions went back");
}

#[test]
fn the_index_follows_the_stanza() {
    let mut store = Store::default();
    let (a, b) = (policy("a", 1).0, policy("b", 1).0);
    let (key, seen) = pool("worker", "a", 1);
    store.learn(&key, seen);
    assert_eq!(store.naming(&a).collect::<Vec<_>>(), [&key]);
    store.learn(&key, pool("worker", "b", 2).1);
    assert_eq!((store.naming(&a).count(), store.naming(&b).count()), (0, 1));
    store.learn(&key, pool("worker", "", 3).1);
    assert_eq!(store.naming(&b).count(), 0);
    store.learn(&key, pool("worker", "a", 4).1);
    store.forget(&key, "5");
    assert_eq!(store.naming(&a).count(), 0);
}

/// GATE-7
#[tokio::test(start_paused = true)]
async fn knowledge_that_is_too_old_mints_no_permits() {
    let caches = Caches::of(kinds().collect());
    let now = schedule::Instant::parse("2026-11-15T12:00:00Z").unwrap();
    let stale = Duration::from_mins(2);
    let (key, seen) = pool("worker", "a", 1);
    caches.replace(&GATED[1], [(key.clone(), seen)].into(), "1", Trust::Newer);
    assert_eq!(
        caches.permit(&key, now, stale).unwrap_err().reason,
        STALE,
        "no policy was heard of yet"
    );
    caches.replace(&KINDS[0], [policy("a", 1)].into(), "1", Trust::Newer);
    assert!(caches.permit(&key, now, stale).is_ok());
    tokio::time::advance(Duration::from_secs(121)).await;
    assert_eq!(caches.permit(&key, now, stale).unwrap_err().reason, STALE);
    caches.store().confirm(&GATED[1]);
    assert_eq!(caches.permit(&key, now, stale).unwrap_err().reason, STALE, "the policy is old");
    caches.store().confirm(&KINDS[0]);
    assert!(caches.permit(&key, now, stale).is_ok());
}
