//! Do the fuzz targets find nothing? Their bodies, run over seeded bytes, on machines that have no fuzzer.

pub(crate) mod laws;
pub(crate) mod parse;

/// The generator known as `SplitMix64`: a step and two mixes, the same on every machine.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.next() % most).map(|_| self.next() as u8).collect()
    }
}

/// Runs a body over many inputs; a panic names the seed that brings it back.
fn seeded_loop(body: fn(&[u8]), runs: u64, most: u64) {
    for seed in 0..runs {
        let bytes = Seeded(seed).bytes(most);
        let outcome = std::panic::catch_unwind(|| body(&bytes));
        assert!(outcome.is_ok(), "seed {seed} fails, its bytes are {bytes:?}");
    }
    println!("{runs} inputs");
}

#[test]
fn parsers_survive_seeded_bytes() {
    seeded_loop(parse::run, 60_000, 48);
}

#[test]
fn laws_hold_over_seeded_bytes() {
    seeded_loop(laws::run, 300, 220);
}

/// Found by the fuzzer: a window that closes after the last instant was said to close at it.
#[test]
fn a_window_that_outlasts_time_is_open_at_its_last_instant() {
    laws::run(&[
        42, 10, 235, 235, 235, 235, 235, 0, 187, 0, 253, 0, 161, 196, 0, 0, 0, 0, 0, 0, 255, 255,
        0, 0, 33, 188, 82, 67, 91, 188, 188, 188,
    ]);
}
