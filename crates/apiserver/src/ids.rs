//! Where do uids and generated name suffixes come from?
//!
//! From one seeded generator, so that the same seed yields the same bytes (DET-1).

use std::fmt::Write as _;

/// A small deterministic generator (`SplitMix64`): fast, seedable, and good enough for names and for drawing faults.
#[derive(Debug, Clone)]
pub struct Ids {
    state: u64,
}

/// The letters that Kubernetes uses for generated suffixes: no vowels, so that no words appear.
const SUFFIX: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Ids {
    /// Starts the sequence that belongs to `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A fraction in `[0, 1)`.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A version 4 UUID.
    pub(crate) fn uid(&mut self) -> String {
        let (a, b) = (self.next_u64(), self.next_u64());
        let mut text = String::with_capacity(36);
        let b = (b & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000;
        let a = (a & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000;
        let _ = write!(
            text,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xFFFF,
            a & 0xFFFF,
            b >> 48,
            b & 0xFFFF_FFFF_FFFF
        );
        text
    }

    /// Five letters for `generateName`.
    pub(crate) fn suffix(&mut self) -> String {
        (0..5)
            .map(|_| {
                let index = (self.next_u64() % SUFFIX.len() as u64) as usize;
                SUFFIX.get(index).copied().unwrap_or(b'x') as char
            })
            .collect()
    }
}
