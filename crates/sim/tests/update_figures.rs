//! Do the figures about updates hold, in small numbers? The example `update_figures` measures the same with large ones.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the functions beside a test fail as it does"
)]

use std::time::Duration;

#[path = "../examples/update_figures/measure.rs"]
mod measure;

/// CV-4: a mark is there within a second of its opening.
#[tokio::test(start_paused = true)]
async fn a_mark_is_there_within_a_second_of_its_opening() {
    let delays = measure::delays(2).await;
    assert!(delays.iter().all(|delay| *delay <= Duration::from_secs(1)), "{delays:?}");
}

/// GATE-7: the server takes every mark that has a right to it and no other, whoever writes it and whatever they claim.
#[tokio::test(start_paused = true)]
async fn no_mark_is_taken_outside_its_permit() {
    let tried = measure::tries(400).await;
    assert_eq!(tried.outside, 0, "{tried:?}");
    assert_eq!(tried.taken, tried.rightful, "{tried:?}");
    assert!(tried.taken > 50 && tried.rightful < 350, "{tried:?}");
}

/// POL-7: while nothing happens nothing is written.
#[tokio::test(start_paused = true)]
async fn an_idle_cluster_is_written_zero_times() {
    assert_eq!(measure::idle(Duration::from_hours(4)).await, 0);
}

/// CV-1: from the wish to the last master; the example plays a year of them.
#[tokio::test(start_paused = true)]
async fn an_update_of_the_month_comes_to_its_end() {
    assert_eq!(measure::months(1).await, 1);
}
