//! How long does something take? Thread CPU time, best of several: wall time on a shared machine measures the neighbours.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds this thread has computed for.
fn thread_ns() -> u64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

/// How thoroughly to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Full,
}

impl Effort {
    fn rounds(self) -> u32 {
        match self {
            Self::Quick => 5,
            Self::Full => 15,
        }
    }
}

/// A sample shorter than this would measure the clock, which costs a quarter of a microsecond.
const SAMPLE_NS: u64 = 3_000_000;

/// The best CPU time of one call.
pub fn once(mut work: impl FnMut()) -> u64 {
    let before = thread_ns();
    work();
    thread_ns() - before
}

/// The best CPU time of one call to `work`, in nanoseconds, each sample at least three milliseconds long.
pub fn best(effort: Effort, mut work: impl FnMut()) -> f64 {
    let pilot = once(&mut work).max(1);
    let calls = (SAMPLE_NS / pilot).clamp(1, 1_000_000);
    // A call of half a second is its own sample, and need not be repeated often.
    let rounds = if pilot > 200_000_000 { 1 } else { effort.rounds() };
    let mut least = u64::MAX;
    for _ in 0..rounds {
        let spent = once(|| {
            for _ in 0..calls {
                work();
            }
        });
        least = least.min(spent / calls);
    }
    // The pilot of a slow call counts too.
    black_box(if calls == 1 { least.min(pilot) } else { least }) as f64
}

/// How many of `most` queries fit a sample, if one costs `pilot` nanoseconds.
pub fn how_many(pilot: u64, most: usize) -> usize {
    ((SAMPLE_NS / pilot.max(1)) as usize).clamp(3, most)
}
