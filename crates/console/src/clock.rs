//! What time is it in the cluster? A cluster judges by its own clock, so pages are made by that.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use jiff::{SignedDuration, Timestamp};
use runtime::{
    call::Cluster,
    clock::{Clock, Sleep, SystemClock},
};
use schedule::Instant;

/// The clock of this machine, put right by what the API server says.
#[derive(Clone, Debug, Default)]
pub struct TheirClock {
    /// So many milliseconds are they ahead.
    ahead: Arc<AtomicI64>,
}

impl TheirClock {
    /// Asks the API server what time it is. One that does not say leaves things as they are.
    pub async fn ask(&self, cluster: &Cluster) {
        if let Ok(Some(said)) = cluster.time().await {
            // The server tells whole seconds; half of one is the best guess.
            let here = SystemClock.exact();
            let ahead = said.duration_since(here).as_millis() + 500;
            let ahead = i64::try_from(ahead).unwrap_or(0);
            // What is within a second of being right is right.
            let known = self.ahead.load(Ordering::SeqCst);
            if (ahead - known).abs() > 1_000 {
                self.ahead.store(ahead, Ordering::SeqCst);
            }
        }
    }
}

impl Clock for TheirClock {
    fn exact(&self) -> Timestamp {
        let ahead = SignedDuration::from_millis(self.ahead.load(Ordering::SeqCst));
        let here = SystemClock.exact();
        here.saturating_add(ahead).unwrap_or(here)
    }

    fn wait(&self, until: Instant) -> Sleep<'_> {
        let ahead = self.ahead.load(Ordering::SeqCst) / 1_000;
        SystemClock.wait(until.saturating_add(-ahead))
    }
}
