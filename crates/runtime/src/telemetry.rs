//! What did the runtime do? Counters of its own, and the page that they are read from.
//!
//! Labels come from closed lists and from names of objects, never from texts.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use api::metrics;
use jiff::Timestamp;

use crate::call::Verb;

pub mod page;

use page::{Histogram, Page};

/// What came of one reconcile: the label `outcome`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReconcileOutcome {
    /// Everything reads as it should.
    Unchanged,
    /// The status was written.
    Written,
    /// Somebody was faster.
    Conflict,
    /// Nobody knows whether it was written.
    Unknown,
    /// The server refused.
    Refused,
    /// The server took it and kept less than was written.
    Pruned,
    /// The decision panicked.
    Panicked,
}

impl ReconcileOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Written => "written",
            Self::Conflict => "conflict",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
            Self::Pruned => "pruned",
            Self::Panicked => "panicked",
        }
    }
}

/// The counters.
#[derive(Debug, Default)]
pub struct Telemetry {
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    reconciles: BTreeMap<(&'static str, ReconcileOutcome), u64>,
    reconcile_seconds: Histogram,
    lateness: Histogram,
    calls: BTreeMap<(&'static str, u16), u64>,
    skew: Option<f64>,
    queue_length: usize,
    progress: Option<Timestamp>,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            reconciles: BTreeMap::new(),
            reconcile_seconds: Histogram::of(&metrics::RECONCILE_SECONDS),
            lateness: Histogram::of(&metrics::EDGE_LATENESS_SECONDS),
            calls: BTreeMap::new(),
            skew: None,
            queue_length: 0,
            progress: None,
        }
    }
}

impl Telemetry {
    fn lock(&self) -> MutexGuard<'_, Counted> {
        // Counters are whole between any two statements: a panic elsewhere spoils none.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call was answered with this code; 0 if there was no answer.
    pub fn called(&self, verb: Verb, code: u16) {
        *self.lock().calls.entry((verb.as_str(), code)).or_default() += 1;
    }

    /// Our clock is so many seconds ahead of the server's.
    pub fn clock_skew(&self, seconds: f64) {
        self.lock().skew = Some(seconds);
    }

    /// So many seconds our clock is ahead of the server's, if that is known.
    pub fn skew(&self) -> Option<f64> {
        self.lock().skew
    }

    /// An object was reconciled.
    pub fn reconciled(&self, kind: &'static str, verdict: ReconcileOutcome, took: Duration) {
        let mut counted = self.lock();
        *counted.reconciles.entry((kind, verdict)).or_default() += 1;
        counted.reconcile_seconds.add(took.as_secs_f64());
    }

    /// An object was woken so long after its edge.
    pub fn woke(&self, late: Duration) {
        self.lock().lateness.add(late.as_secs_f64());
    }

    /// So many objects wait to be looked at.
    pub fn queue_length(&self, length: usize) {
        self.lock().queue_length = length;
    }

    /// The loop turned.
    pub fn progressed(&self, at: Timestamp) {
        self.lock().progress = Some(at);
    }

    /// How often reconciles came to a verdict.
    pub fn reconciles(&self, verdict: ReconcileOutcome) -> u64 {
        let counted = self.lock();
        counted.reconciles.iter().filter(|((_, of), _)| *of == verdict).map(|(_, n)| n).sum()
    }

    /// How many calls were made with a verb.
    pub fn calls(&self, verb: Verb) -> u64 {
        let counted = self.lock();
        counted.calls.iter().filter(|((of, _), _)| *of == verb.as_str()).map(|(_, n)| n).sum()
    }

    /// Writes the counters.
    pub fn write(&self, page: &mut Page) {
        let counted = self.lock();
        page.begin(&metrics::RECONCILES);
        for ((kind, verdict), count) in &counted.reconciles {
            page.sample(&metrics::RECONCILES, &[kind, verdict.as_str()], *count as f64);
        }
        page.histogram(&metrics::RECONCILE_SECONDS, &counted.reconcile_seconds);
        page.begin(&metrics::QUEUE_LENGTH);
        page.sample(&metrics::QUEUE_LENGTH, &[], counted.queue_length as f64);
        page.histogram(&metrics::EDGE_LATENESS_SECONDS, &counted.lateness);
        page.begin(&metrics::API_REQUESTS);
        for ((verb, code), count) in &counted.calls {
            page.sample(&metrics::API_REQUESTS, &[verb, &code.to_string()], *count as f64);
        }
        page.begin(&metrics::CLOCK_SKEW_SECONDS);
        if let Some(skew) = counted.skew {
            page.sample(&metrics::CLOCK_SKEW_SECONDS, &[], skew);
        }
    }

    /// Writes when the loop turned last.
    pub fn write_progress(&self, page: &mut Page) {
        page.begin(&metrics::LAST_PROGRESS_TIMESTAMP_SECONDS);
        if let Some(progress) = self.lock().progress {
            let seconds = progress.as_millisecond() as f64 / 1000.0;
            page.sample(&metrics::LAST_PROGRESS_TIMESTAMP_SECONDS, &[], seconds);
        }
    }
}
