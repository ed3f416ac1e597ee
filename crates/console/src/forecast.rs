//! What would happen in the months ahead, and how much may that cost whoever answers? (DET-1)
//!
//! A forecast is a function of a cluster, an instant and what was asked. It is made beside the thread that answers, one at a time, of so much and
//! no more, and whoever asks for more is told so: a page that anybody may load must not keep the others waiting.

use std::time::Duration;

use schedule::Instant;
use tidegate_core::{
    cluster::snapshot::Snapshot,
    simulate::{self, Forecast, Settings},
};

use crate::{asked::Asked, desk::Desk, session::Session};

/// How many times nodes may take a change in one forecast. A hundred thousand take about a second; a year of five thousand nodes with a change every
/// month is sixty thousand.
const MOST_RUNS: usize = 100_000;

/// How long somebody waits for one.
const PATIENCE: Duration = Duration::from_secs(10);

const DAY: i64 = 86_400;

/// The spans that can be asked for, in days.
pub(crate) const SPANS: &[(&str, &str, i64)] = &[
    ("30d", "30 days", 30),
    ("90d", "90 days", 90),
    ("180d", "180 days", 180),
    ("1y", "a year", 365),
];

/// What may arrive besides that which waits: every so many days.
pub(crate) const EVERY: &[(&str, &str, i64)] = &[
    ("7d", "a change a week", 7),
    ("14d", "a change every two weeks", 14),
    ("30d", "a change every 30 days", 30),
];

/// What became of asking.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// What would happen.
    Told(Box<(Forecast, Settings)>),
    /// It cannot be told, for this reason.
    Untold(String),
}

/// What is asked about a cluster at an instant, or why that cannot be told.
pub(crate) fn settings(cluster: &Snapshot, at: Instant, asked: &Asked) -> Result<Settings, String> {
    let chosen = |name: &str, known: &[(&str, &str, i64)]| match asked.query.get(name) {
        None => Ok(None),
        Some(text) => {
            let found = known.iter().find(|(value, ..)| *value == text);
            let days = found.map(|(_, _, days)| Some(*days));
            days.ok_or_else(|| {
                let values: Vec<&str> = known.iter().map(|(value, ..)| *value).collect();
                format!("{name}: {text:?} is none of {}", values.join(", "))
            })
        }
    };
    let days = chosen("for", SPANS)?.unwrap_or(365);
    let end = at.saturating_add(days * DAY);
    let mut settings = Settings::usual(at..end);
    if let Some(every) = chosen("every", EVERY)? {
        let times = (0..=days / every).map(|place| at.saturating_add(place * every * DAY));
        settings.arrivals = times.filter(|arrives| *arrives < end).collect();
    }
    if let Some(pool) = asked.query.get("pool") {
        views::pool::find(cluster, pool)?;
        settings.pools.insert(pool.to_owned());
    }
    let machines = match settings.pools.first() {
        Some(pool) => cluster.machines_of(pool).count(),
        None => cluster.machines().count(),
    };
    // What waits now is a change too.
    let runs = machines.saturating_mul(settings.arrivals.len() + 1);
    if runs > MOST_RUNS {
        return Err(format!(
            "{machines} nodes would take {} changes, and a page tells {MOST_RUNS} at most; ask for a shorter time, fewer changes or one pool, or run \
             tidegate simulate, which tells ten times as much",
            settings.arrivals.len() + 1
        ));
    }
    Ok(settings)
}

/// Makes a forecast of what is known, beside the thread that answers.
pub(crate) async fn ask(desk: &Desk, session: &Session, asked: &Asked) -> Outcome {
    let (cluster, at) = (desk.seen_by(session), desk.now());
    let settings = match settings(&cluster, at, asked) {
        Ok(settings) => settings,
        Err(why) => return Outcome::Untold(why),
    };
    let Ok(place) = desk.forecasts().try_acquire_owned() else {
        return Outcome::Untold("another forecast is being made; ask again in a moment".into());
    };
    let making = tokio::task::spawn_blocking(move || {
        let forecast = simulate::simulate(&cluster, &settings);
        // The place is free when the work has ended, not when somebody is tired of waiting for it.
        drop(place);
        (forecast, settings)
    });
    match tokio::time::timeout(PATIENCE, making).await {
        Ok(Ok(told)) => Outcome::Told(Box::new(told)),
        Ok(Err(error)) => Outcome::Untold(format!("the forecast failed: {error}")),
        Err(_) => Outcome::Untold(format!(
            "the forecast takes longer than {} s; ask for a shorter time, fewer changes or one pool, or run tidegate simulate",
            PATIENCE.as_secs()
        )),
    }
}
