//! Rows about what counts when messages cross.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::cluster::kinds;

use super::*;
use crate::caches::read;

fn policy(name: &str, version: u64) -> (Key, Seen) {
    let document = json!({
        "apiVersion": kinds::CHANGE_MANAGEMENT_POLICY.api_version, "kind": kinds::CHANGE_MANAGEMENT_POLICY.name,
        "metadata": {"name": name, "uid": name, "resourceVersion": version.to_string(), "generation": 1},
        "spec": {"strategy": "Permissive"},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "observedGeneration": 1}]},
    });
    read(&kinds::CHANGE_MANAGEMENT_POLICY, &document).unwrap()
}

fn pool(name: &str, policy: &str, version: u64) -> (Key, Seen) {
    let stanza = match policy {
        "" => Value::Null,
        name => json!({"strategy": "ByPolicy", "byPolicy": {"name": name}}),
    };
    let document = json!({
        "apiVersion": kinds::MACHINE_CONFIG_POOL.api_version, "kind": kinds::MACHINE_CONFIG_POOL.name,
        "metadata": {"name": name, "resourceVersion": version.to_string()},
        "spec": {"changeManagement": stanza},
    });
    read(&kinds::MACHINE_CONFIG_POOL, &document).unwrap()
}

fn version(store: &Store, key: &Key) -> String {
    store.snapshot().get(key).map_or("gone".into(), |seen| seen.identity().resource_version.clone())
}

#[test]
fn an_older_event_does_not_undo_what_a_write_answered() {
    let mut store = Store::default();
    let (key, seen) = policy("a", 5);
    assert!(!store.learn(&key, seen).is_empty());
    assert!(!store.answered(&key, policy("a", 9).1).is_empty());
    assert!(store.learn(&key, policy("a", 7).1).is_empty());
    assert_eq!(version(&store, &key), "9");
    assert!(store.forget(&key, "8").is_empty(), "nor does a deletion that came before");
    assert!(!store.forget(&key, "10").is_empty());
    assert!(
        store.answered(&key, policy("a", 9).1).is_empty(),
        "and an answer brings nothing back to life"
    );
    assert_eq!(version(&store, &key), "gone");
}

#[test]
fn versions_are_numbers_and_not_text() {
    let mut store = Store::default();
    let (key, seen) = policy("a", 99);
    store.learn(&key, seen);
    assert!(!store.learn(&key, policy("a", 100).1).is_empty());
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
    let changed =
        store.replace(&kinds::CHANGE_MANAGEMENT_POLICY, listed.clone(), "10", Trust::Newer);
    let names: Vec<String> = changed.iter().map(|key| key.name.to_string()).collect();
    assert_eq!(names, ["fresh", "gone"]);
    assert_eq!(store.snapshot().len(), 3, "the newer one was written after the list");
    store.replace(&kinds::CHANGE_MANAGEMENT_POLICY, listed, "10", Trust::Nothing);
    assert_eq!(store.snapshot().len(), 2, "unless versions went back");
}

#[test]
fn the_index_follows_the_stanza() {
    let mut store = Store::default();
    let (a, b) = (policy("a", 1).0, policy("b", 1).0);
    let (key, seen) = pool("worker", "a", 1);
    store.learn(&key, seen);
    assert_eq!(store.snapshot().naming(&a).collect::<Vec<_>>(), [&key]);
    store.learn(&key, pool("worker", "b", 2).1);
    assert_eq!((store.snapshot().naming(&a).count(), store.snapshot().naming(&b).count()), (0, 1));
    store.learn(&key, pool("worker", "", 3).1);
    assert_eq!(store.snapshot().naming(&b).count(), 0);
    store.learn(&key, pool("worker", "a", 4).1);
    store.forget(&key, "5");
    assert_eq!(store.snapshot().naming(&a).count(), 0);
}

/// GATE-11: only the kinds that are asked about count, and the words do not change with the seconds.
#[tokio::test(start_paused = true)]
async fn knowledge_that_is_too_old_is_doubted_kind_by_kind() {
    let stale = Duration::from_secs(90);
    let mut store = Store::default();
    let (pools, policies) =
        (&api::kinds::MACHINE_CONFIG_POOL, &api::kinds::CHANGE_MANAGEMENT_POLICY);
    store.replace(&kinds::MACHINE_CONFIG_POOL, [pool("worker", "a", 1)].into(), "1", Trust::Newer);
    let doubt = |store: &Store| store.doubt([pools, policies], stale);
    assert_eq!(doubt(&store), Some("ChangeManagementPolicy has not been listed yet".into()));
    assert_eq!(store.doubt([pools], stale), None, "nobody asked about policies");
    store.replace(&kinds::CHANGE_MANAGEMENT_POLICY, [policy("a", 1)].into(), "1", Trust::Newer);
    assert_eq!(doubt(&store), None);
    tokio::time::advance(Duration::from_secs(91)).await;
    store.confirm(&kinds::MACHINE_CONFIG_POOL);
    let said = doubt(&store);
    assert!(said.as_ref().unwrap().contains("ChangeManagementPolicy for 90 s"), "{said:?}");
    tokio::time::advance(Duration::from_secs(7)).await;
    assert_eq!(doubt(&store), said);
    store.confirm(&kinds::CHANGE_MANAGEMENT_POLICY);
    assert_eq!(doubt(&store), None);
    store.absent(&kinds::CHANGE_MANAGEMENT_POLICY);
    tokio::time::advance(Duration::from_hours(1)).await;
    assert_eq!(store.doubt([policies], stale), None, "what is not served cannot be old");
}

#[test]
fn what_vanished_while_it_was_read_is_gone_and_what_came_again_is_not() {
    let mut store = Store::default();
    let (key, seen) = policy("a", 5);
    store.learn(&key, seen);
    let known = store.version(&key);
    store.learn(&key, policy("a", 9).1);
    assert!(store.vanished(&key, known).is_empty(), "somebody made it anew meanwhile");
    assert!(!store.vanished(&key, Some(9)).is_empty());
    assert_eq!((version(&store, &key).as_str(), store.newest()), ("gone", 9));
}
