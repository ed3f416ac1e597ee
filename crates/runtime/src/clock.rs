//! What time is it, and when is it time? The only `now` of everything that talks to a cluster.
//!
//! The clock is an argument, so that the same operator runs on the wall clock, in a sandbox whose time is set and sped up, and in a
//! simulation on tokio's paused time (DET-1). A wait may end early, and never lasts longer than [`LOOK_AGAIN`]: whoever waits looks
//! at the clock again. One long sleep to a far edge would miss that somebody set the clock, or that the node was asleep.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use schedule::Instant;

use crate::changes::Changes;

/// The longest wait without a look at the clock: steps of the clock and suspended nodes are noticed after this long.
pub const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// A wait for an instant.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The only source of civil time.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The present moment.
    fn exact(&self) -> Timestamp;

    /// Waits until an instant, or less.
    fn wait(&self, until: Instant) -> Sleep<'_>;

    /// The present second (TIME-1).
    fn now(&self) -> Instant {
        Instant::try_from(self.exact()).unwrap_or(Instant::MAX)
    }
}

/// The clock of the node.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn exact(&self) -> Timestamp {
        Timestamp::now()
    }

    fn wait(&self, until: Instant) -> Sleep<'_> {
        let left = left(self.exact(), until);
        Box::pin(tokio::time::sleep(left.min(LOOK_AGAIN)))
    }
}

/// A clock that follows tokio's, from an instant and at a speed of somebody's choice. Clones are one clock.
#[derive(Clone, Debug)]
pub struct SetClock {
    reading: Arc<Mutex<Reading>>,
    changes: Changes,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    /// What the clock said.
    then: Timestamp,
    /// When it said so.
    read: tokio::time::Instant,
    /// How many of its seconds pass in one; none stands still.
    speed: u32,
}

impl Reading {
    fn exact(&self) -> Timestamp {
        let passed = self.read.elapsed().saturating_mul(self.speed);
        let passed = SignedDuration::try_from(passed).unwrap_or(SignedDuration::MAX);
        self.then.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }
}

impl SetClock {
    /// Says `at` now, and goes on as fast as tokio's clock.
    pub fn starting_at(at: Instant) -> Self {
        let reading = Reading { then: at.into(), read: tokio::time::Instant::now(), speed: 1 };
        Self { reading: Arc::new(Mutex::new(reading)), changes: Changes::default() }
    }

    /// Moves to `at`, forwards or backwards, and wakes everybody who waits.
    pub fn set(&self, at: Instant) {
        self.change(|reading| reading.then = at.into());
    }

    /// Moves by so many seconds, and wakes everybody who waits.
    pub fn step(&self, seconds: i64) {
        self.change(|reading| {
            let moved = reading.then.saturating_add(SignedDuration::from_secs(seconds));
            reading.then = moved.unwrap_or(Timestamp::MAX);
        });
    }

    /// Lets so many seconds pass in one; 0 stands still.
    pub fn speed(&self, speed: u32) {
        self.change(|reading| reading.speed = speed);
    }

    fn change(&self, change: impl FnOnce(&mut Reading)) {
        let mut reading = self.reading();
        reading.then = reading.exact();
        reading.read = tokio::time::Instant::now();
        change(&mut reading);
        drop(reading);
        self.changes.tell();
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SetClock {
    fn exact(&self) -> Timestamp {
        self.reading().exact()
    }

    fn wait(&self, until: Instant) -> Sleep<'_> {
        let mut changes = self.changes.follow();
        let reading = *self.reading();
        let left = left(reading.exact(), until);
        // Rounded up: a wait that ends a nanosecond early would only be waited for again.
        let left = match reading.speed {
            0 => LOOK_AGAIN,
            speed => left.div_ceil(speed).min(LOOK_AGAIN),
        };
        Box::pin(async move {
            // Either way it is time to look at the clock.
            let _ = tokio::time::timeout(left, changes.changed()).await;
        })
    }
}

trait DivCeil {
    fn div_ceil(self, by: u32) -> Self;
}

impl DivCeil for Duration {
    fn div_ceil(self, by: u32) -> Self {
        let by = u64::from(by.max(1));
        let nanos = u64::try_from(self.as_nanos()).unwrap_or(u64::MAX);
        Self::from_nanos(nanos.div_ceil(by))
    }
}

/// How long it is until an instant; nothing if it has come.
fn left(now: Timestamp, until: Instant) -> Duration {
    let left = now.duration_until(until.into());
    Duration::try_from(left).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_set_clock_follows_the_runtime() {
        let clock = SetClock::starting_at(instant("2026-11-15T12:00:00Z"));
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), instant("2026-11-15T12:01:30Z"));
        clock.speed(60);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(clock.now(), instant("2026-11-15T12:03:30Z"));
        clock.speed(0);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(clock.now(), instant("2026-11-15T12:03:30Z"));
        clock.step(-30);
        assert_eq!(clock.now(), instant("2026-11-15T12:03:00Z"));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_at_the_instant_and_not_before() {
        let clock = SetClock::starting_at(instant("2026-11-15T12:00:00Z"));
        clock.speed(7);
        let until = instant("2026-11-15T12:00:20Z");
        while clock.now() < until {
            clock.wait(until).await;
        }
        let late = Timestamp::from(until).duration_until(clock.exact());
        assert!(late < SignedDuration::from_millis(20), "{late}");
    }

    #[tokio::test(start_paused = true)]
    async fn setting_the_clock_wakes_those_who_wait() {
        let clock = SetClock::starting_at(instant("2026-11-15T12:00:00Z"));
        clock.speed(0);
        let edge = instant("2026-12-24T00:00:00Z");
        let setter = async {
            tokio::task::yield_now().await;
            clock.set(edge);
        };
        let started = tokio::time::Instant::now();
        tokio::join!(clock.wait(edge), setter);
        assert_eq!(started.elapsed(), Duration::ZERO);
        assert_eq!(clock.now(), edge);
    }

    #[tokio::test(start_paused = true)]
    async fn no_wait_is_longer_than_the_bound() {
        let started = tokio::time::Instant::now();
        SystemClock.wait(Instant::MAX).await;
        assert_eq!(started.elapsed(), LOOK_AGAIN);
        let clock = SetClock::starting_at(instant("2026-11-15T12:00:00Z"));
        clock.wait(Instant::MAX).await;
        assert_eq!(started.elapsed(), 2 * LOOK_AGAIN);
    }
}
