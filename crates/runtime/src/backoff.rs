//! How long to wait after a failure? Twice as long as the last time, up to a bound, and not in step with others.

use std::time::Duration;

/// The delays after failures in a row.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    at_most: Duration,
    failures: u32,
    seed: u64,
}

impl Backoff {
    /// Delays that begin at `first`; `name` spreads those who fail together.
    pub fn new(first: Duration, at_most: Duration, name: &str) -> Self {
        Self { first, at_most, failures: 0, seed: spread(name.as_bytes()) }
    }

    /// The next delay, longer than the last.
    pub fn lengthen(&mut self) -> Duration {
        let delay = delay(self.first, self.at_most, self.failures, self.seed);
        self.failures = self.failures.saturating_add(1);
        delay
    }

    /// It worked.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

/// The delay after so many earlier failures: doubled each time and bounded, less up to a fifth that `seed` chooses. The seed is made
/// from names and not drawn, so that the same run waits the same (DET-1).
pub fn delay(first: Duration, at_most: Duration, failures: u32, seed: u64) -> Duration {
    let grown = first.saturating_mul(1_u32.checked_shl(failures.min(20)).unwrap_or(u32::MAX));
    let share = spread(&(seed ^ u64::from(failures)).to_le_bytes()) % 200;
    grown.min(at_most).mul_f64(1.0 - share as f64 / 1000.0)
}

/// FNV-1a: the same everywhere and always.
pub fn spread(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_bound_and_begin_anew() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30), "a");
        for bound in [1, 2, 4, 8, 16, 30, 30] {
            let (delay, bound) = (backoff.lengthen(), Duration::from_secs(bound));
            assert!(delay <= bound && delay > bound.mul_f64(0.79), "{delay:?} of {bound:?}");
        }
        backoff.reset();
        assert!(backoff.lengthen() <= Duration::from_secs(1));
    }

    #[test]
    fn those_who_fail_together_do_not_try_together() {
        let second = Duration::from_secs(1);
        let delays: std::collections::BTreeSet<Duration> =
            (0..50).map(|seed| delay(second, second, 3, spread(&[seed]))).collect();
        assert!(delays.len() > 25, "{}", delays.len());
    }
}
