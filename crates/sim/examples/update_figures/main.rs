//! How soon does an update begin, does one ever begin outside, and what does waiting cost? Run with
//! `cargo run --profile dist -p tidegate-sim --example update_figures`; a number behind it is how many marks are tried.
//!
//! Each figure stands beside its limit, and the program fails if one is missed.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "this program measures the crate and is no part of it"
)]

mod measure;

use std::{
    env,
    io::{Write as _, stdout},
    process::ExitCode,
    time::{Duration, Instant as Clock},
};

fn main() -> ExitCode {
    let count = env::args().nth(1).map_or(100_000, |asked| asked.parse().unwrap());
    let builder =
        || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = || builder().unwrap();
    let delays = runtime().block_on(measure::delays(100));
    let late = delays[delays.len() * 99 / 100];
    let tried = runtime().block_on(measure::tries(count));
    let idle = runtime().block_on(measure::idle(Duration::from_hours(24)));
    let began = Clock::now();
    let months = runtime().block_on(measure::months(12));
    let year = began.elapsed();
    let rows = [
        (
            "99 of 100 marks after their opening",
            format!("{late:?}"),
            late <= Duration::from_secs(1),
        ),
        (
            "marks taken without a right",
            format!(
                "{} of {count}; {} of {} rightful were taken",
                tried.outside, tried.taken, tried.rightful
            ),
            tried.outside == 0 && tried.taken == tried.rightful && tried.taken > 0,
        ),
        ("writes of an idle day", idle.to_string(), idle == 0),
        (
            "a year of monthly updates",
            format!("{year:.2?}, {months} done"),
            months == 12 && year < Duration::from_secs(10),
        ),
    ];
    let mut out = stdout().lock();
    for (name, found, met) in &rows {
        writeln!(out, "{name:<38} {found}{}", if *met { "" } else { "  MISSED" }).unwrap();
    }
    if rows.iter().all(|(_, _, met)| *met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
