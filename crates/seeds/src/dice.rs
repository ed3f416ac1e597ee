//! What falls by chance? Everything that is drawn comes from one seed, so that a seed is a whole story (DET-1).

/// Dice that fall the same way for the same seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    /// Dice of their own for one purpose, so that drawing more here moves nothing there.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number of a half-open range.
    pub(crate) fn of(&mut self, range: std::ops::Range<i64>) -> i64 {
        range.start + (self.next() % (range.end - range.start) as u64) as i64
    }

    /// Whether something happens that happens so often in a hundred cases.
    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.next() % 100 < chance
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[(self.next() % some.len() as u64) as usize]
    }
}
