//! Is anything ever initiated outside a window, whatever goes wrong, and does everything finish all the same?
//!
//! Random worlds and random faults, the real operator on the embedded server in virtual time, and a checker that reads nothing but the
//! commits. `SEEDS=17 cargo test -p tidegate-seeds` plays one seed and tells all of a story that goes wrong,
//! `SEEDS=0..5000` plays many. Strangers try a few things each time they come; with `TIDEGATE_HOSTILE_ATTEMPTS_A_VISIT=40` they try
//! so many. `THRONGS=0..400` plays worlds in which as much is begun as can be.

#![cfg(test)]

mod cast;
mod check;
mod dice;
mod intent;
mod machines;
mod owner;
mod people;
mod planted;
mod policies;
mod rehearsal;
mod shipped;
mod stage;
mod story;
mod strangers;
mod weather;
mod windows;
mod world;
mod worlds;

/// Everything here is made of small objects that live for a moment, and the allocator of the system took a third of the time of a seed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
