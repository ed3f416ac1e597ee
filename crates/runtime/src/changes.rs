//! Who is told that something changed, and in which order? Everybody who waits, first come, first served.
//!
//! DET-1: tokio's own channel for this wakes those who wait in an order that it draws; then a simulation with one seed would never be
//! the same twice.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::Notify;

/// Something that changes. Clones are the same thing.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    count: AtomicU64,
    told: Notify,
}

/// Somebody who wants to know, and what they have seen.
#[derive(Debug)]
pub struct Follower {
    shared: Arc<Shared>,
    seen: u64,
}

impl Changes {
    /// Tells everybody who waits.
    pub fn tell(&self) {
        self.shared.count.fetch_add(1, Ordering::SeqCst);
        self.shared.told.notify_waiters();
    }

    /// Somebody who has seen everything until now.
    pub fn follow(&self) -> Follower {
        Follower {
            shared: Arc::clone(&self.shared),
            seen: self.shared.count.load(Ordering::SeqCst),
        }
    }
}

impl Follower {
    /// Takes note that everything until now has been seen.
    pub fn mark_seen(&mut self) {
        self.seen = self.shared.count.load(Ordering::SeqCst);
    }

    /// Whether anything has ever changed.
    pub fn is_fresh(&self) -> bool {
        self.shared.count.load(Ordering::SeqCst) == 0
    }

    /// Waits for a change that was not seen.
    pub async fn changed(&mut self) {
        let shared = Arc::clone(&self.shared);
        loop {
            let told = shared.told.notified();
            tokio::pin!(told);
            // From here on a word is heard, even one that is said before the wait below.
            told.as_mut().enable();
            let count = shared.count.load(Ordering::SeqCst);
            if count != self.seen {
                self.seen = count;
                return;
            }
            told.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn those_who_wait_are_told_in_the_order_they_came() {
        let (changes, order) = (Changes::default(), Arc::new(Mutex::new(Vec::new())));
        let mut waiting = tokio::task::JoinSet::new();
        for number in 0..20 {
            let (mut follower, order) = (changes.follow(), Arc::clone(&order));
            waiting.spawn(async move {
                follower.changed().await;
                order.lock().unwrap().push(number);
            });
        }
        tokio::task::yield_now().await;
        changes.tell();
        waiting.join_all().await;
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_was_said_before_the_wait_is_heard_once() {
        let changes = Changes::default();
        let mut follower = changes.follow();
        assert!(follower.is_fresh());
        changes.tell();
        changes.tell();
        follower.changed().await;
        let again = tokio::time::timeout(std::time::Duration::from_millis(1), follower.changed());
        assert!(again.await.is_err());
        changes.tell();
        follower.mark_seen();
        let again = tokio::time::timeout(std::time::Duration::from_millis(1), follower.changed());
        assert!(again.await.is_err());
    }
}
