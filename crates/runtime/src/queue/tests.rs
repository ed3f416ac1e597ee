//! Rows about who comes when.

use std::time::Duration;

use api::kinds;

use super::*;

fn gated(name: &str) -> Key {
    Key::new(&kinds::MACHINE_CONFIG_POOL, None, name)
}

fn policy(name: &str) -> Key {
    Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, name)
}

fn drain(queue: &mut Queue) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(key) = queue.take() {
        names.push(key.name.to_string());
        queue.release(&key);
    }
    names
}

#[test]
fn policies_come_first_then_whoever_came_first() {
    let mut queue = Queue::default();
    for key in [gated("z"), gated("a"), policy("p"), gated("z")] {
        queue.add(key);
    }
    assert_eq!(drain(&mut queue), ["p", "z", "a"]);
}

#[test]
fn what_happens_to_an_object_in_the_hand_is_looked_at_afterwards() {
    let mut queue = Queue::default();
    queue.add(gated("a"));
    let key = queue.take().unwrap();
    queue.add(gated("a"));
    assert!(queue.take().is_none(), "in one hand at most");
    assert!(queue.is_pending(&key));
    queue.release(&key);
    assert_eq!(drain(&mut queue), ["a"]);
    assert!(!queue.is_pending(&key));
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_out_unless_somebody_hurries() {
    let mut queue = Queue::default();
    queue.delay(&gated("a"), Duration::from_secs(10));
    queue.add(gated("a"));
    queue.wake_delayed();
    assert!(queue.is_empty());
    tokio::time::advance(Duration::from_secs(10)).await;
    queue.wake_delayed();
    assert_eq!(drain(&mut queue), ["a"]);
    queue.delay(&gated("b"), Duration::from_secs(10));
    queue.hurry(gated("b"));
    assert_eq!(drain(&mut queue), ["b"]);
    assert_eq!(queue.next_delay(), None);
}

#[test]
fn edges_wake_in_their_order_and_once() {
    let mut queue = Queue::default();
    let at = |second| Instant::EPOCH.saturating_add(second);
    queue.wake_at(&gated("late"), Some(at(20)));
    queue.wake_at(&gated("soon"), Some(at(10)));
    queue.wake_at(&gated("moved"), Some(at(5)));
    queue.wake_at(&gated("moved"), Some(at(30)));
    assert_eq!(queue.next_edge(), Some(at(10)));
    assert_eq!(queue.wake_edge(at(9)), None);
    assert_eq!(queue.wake_edge(at(20)), Some(at(10)));
    assert_eq!(queue.wake_edge(at(20)), Some(at(20)));
    assert_eq!(queue.wake_edge(at(20)), None);
    assert_eq!(drain(&mut queue), ["soon", "late"]);
    queue.forget(&gated("moved"));
    assert_eq!(queue.next_edge(), None);
}
