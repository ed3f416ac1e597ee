//! What time is it for the server?
//!
//! Time is an argument: creation timestamps, `managedFields` times and ages in tables all come from here, so that a
//! simulated year and a real afternoon run the same code (DET-1).

use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};

/// The server's only source of time.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// A clock that starts at a chosen instant and follows tokio's clock, which tests may pause and advance.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeClock {
    base: Timestamp,
    started: tokio::time::Instant,
}

impl RuntimeClock {
    /// Pretends that the present moment of the runtime is `base`.
    pub fn starting_at(base: Timestamp) -> Self {
        Self { base, started: tokio::time::Instant::now() }
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        let elapsed =
            SignedDuration::try_from(self.started.elapsed()).unwrap_or(SignedDuration::ZERO);
        self.base.saturating_add(elapsed).unwrap_or(self.base)
    }
}

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct SetClock(Mutex<Timestamp>);

impl SetClock {
    /// Stands at `at`.
    pub fn at(at: Timestamp) -> Self {
        Self(Mutex::new(at))
    }

    /// Moves to `at`, forwards or backwards.
    pub fn set(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = at;
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Kubernetes writes most instants to the second: `2026-11-15T00:00:00Z`.
pub(crate) fn rfc3339_seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
