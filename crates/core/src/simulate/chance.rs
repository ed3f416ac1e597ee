//! How long does a node take this time? A length around the usual one, drawn from a seed, and the same whenever it is asked (DET-1).

use std::ops::Range;

/// A sequence of numbers that look random: `SplitMix64`, which needs one word and passes for chance at this size.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The chance of one thing on one occasion. It depends on nothing else, so one node more leaves the lengths of all others.
    pub fn of(seed: u64, what: &str, when: &str) -> Self {
        // FNV-1a: short texts spread well enough, and the sequence does the rest.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let text = what.bytes().chain([0]).chain(when.bytes());
        Self(text.fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// A number of a range, each as likely as another; its start if it is empty.
    pub fn within(&mut self, range: &Range<i64>) -> i64 {
        let width = (range.end - range.start).max(1).cast_unsigned();
        range.start + (self.word() % width).cast_signed()
    }

    /// A length between half of the usual one and half as much again, most often near it; never less than a second.
    pub fn around(&mut self, usual: i64) -> i64 {
        let mut draw = || self.within(&(0..1001));
        let thousandths = 500 + draw().midpoint(draw());
        (usual.saturating_mul(thousandths) / 1000).max(1)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DET-1
    #[test]
    fn lengths_stay_around_the_usual_one_and_come_again() {
        let lengths = |seed: u64| -> Vec<i64> {
            let node = |place: usize| Chance::of(seed, &format!("n{place}"), "c").around(1000);
            (0..1000).map(node).collect()
        };
        let first = lengths(1);
        assert!(first.iter().all(|length| (500..=1500).contains(length)));
        let mean = first.iter().sum::<i64>() / 1000;
        assert!((950..1050).contains(&mean), "{mean}");
        assert_eq!(first, lengths(1));
        assert_ne!(first, lengths(2));
        assert_eq!(Chance::of(1, "n", "c").around(0), 1);
    }
}
