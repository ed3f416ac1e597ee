//! Who allocates, and how much stays? A counting allocator that is off, and then nearly free, unless asked.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicI64 = AtomicI64::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);

struct Counting;

#[global_allocator]
static HEAP: Counting = Counting;

#[expect(
    unsafe_code,
    reason = "the allocator interface is unsafe; every call is passed to the system's own unchanged"
)]
// SAFETY: each method hands its arguments to `System` and returns what `System` returned.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Relaxed) {
            CALLS.fetch_add(1, Relaxed);
            LIVE.fetch_add(layout.size() as i64, Relaxed);
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if COUNTING.load(Relaxed) {
            LIVE.fetch_sub(layout.size() as i64, Relaxed);
        }
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if COUNTING.load(Relaxed) {
            CALLS.fetch_add(1, Relaxed);
            LIVE.fetch_add(size as i64 - layout.size() as i64, Relaxed);
        }
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What a piece of work did to the heap.
pub struct Traffic {
    /// Calls that asked for memory.
    pub calls: i64,
    /// Bytes still held when it ended.
    pub live: i64,
}

/// Counts while `work` runs. The benchmark is single-threaded, so nothing else is counted.
pub fn traffic<T>(work: impl FnOnce() -> T) -> (T, Traffic) {
    let (calls, live) = (CALLS.load(Relaxed), LIVE.load(Relaxed));
    COUNTING.store(true, Relaxed);
    let kept = work();
    COUNTING.store(false, Relaxed);
    (kept, Traffic { calls: CALLS.load(Relaxed) - calls, live: LIVE.load(Relaxed) - live })
}
