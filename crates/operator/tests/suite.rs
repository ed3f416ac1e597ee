//! The operator on the embedded server, on tokio's paused clock: days pass in milliseconds, and nothing sleeps.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

mod suite {
    pub(crate) mod common;

    mod budget;
    mod clocks;
    mod doubt;
    mod draining;
    mod faults;
    mod freezes;
    mod gates;
    mod guardrails;
    mod history;
    mod holds;
    mod hosted;
    mod kinds;
    mod leaders;
    mod overrides;
    mod poison;
    mod proof;
    mod queued;
    mod rollout;
    mod scrape;
    mod silence;
    mod statuses;
    mod stop;
    mod unread;
    mod updates;
    mod version;
}
