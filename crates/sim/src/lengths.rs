//! How long do things take? Believable lengths, drawn from a seed and a name.
//!
//! DET-1: a draw depends on nothing else, so that the same seed gives the same cluster whatever the order of events.

use std::ops::Range;

use tidegate_core::simulate::chance::Chance;

/// From how many seconds to how many each thing takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// What the draws are made from.
    pub seed: u64,
    /// A node from its shutdown until its kubelet is ready again. Virtual nodes take three minutes, large servers far more.
    pub boot: Range<i64>,
    /// A pod from its placement until it is ready: pulling an image, starting, passing its first probe.
    pub pod_start: Range<i64>,
    /// A pod from the request to end until it has ended, if its grace period is as long.
    pub pod_end: Range<i64>,
    /// A pod from the return of its node until it is ready again.
    pub pod_return: Range<i64>,
}

impl Default for Lengths {
    fn default() -> Self {
        Self { seed: 1, boot: 180..420, pod_start: 15..75, pod_end: 5..28, pod_return: 10..40 }
    }
}

impl Lengths {
    /// How long something takes this time.
    pub(crate) fn draw(&self, range: &Range<i64>, what: &str) -> i64 {
        Chance::of(self.seed, what, "").within(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_in_range_differ_by_name_and_seed_and_repeat() {
        let lengths = Lengths::default();
        let drawn: Vec<i64> =
            (0..50).map(|n| lengths.draw(&lengths.boot, &format!("worker-{n}"))).collect();
        assert!(drawn.iter().all(|length| lengths.boot.contains(length)), "{drawn:?}");
        let distinct: std::collections::BTreeSet<&i64> = drawn.iter().collect();
        assert!(distinct.len() > 25, "{drawn:?}");
        let other = Lengths { seed: 2, ..lengths.clone() };
        assert_ne!(other.draw(&other.boot, "worker-0"), drawn[0]);
        assert_eq!(lengths.draw(&lengths.boot, "worker-0"), drawn[0]);
    }
}
