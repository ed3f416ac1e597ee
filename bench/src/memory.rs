//! What does the engine hold, and what does it ask the heap for? Counted, not estimated.

use crate::heap;
use crate::peers::{Engine, OURS, Peer, RIVALS, ours};
use crate::rule::Rule;
use crate::seed::{self, FROM, NOW, POLICIES, UNTIL};

/// The figures the goals need.
pub struct Memory {
    pub text: String,
    /// Allocations per query, over every kind of query.
    pub calls: f64,
    /// Bytes per policy, heap included.
    pub bytes: f64,
}

pub fn measure() -> Memory {
    let shapes = seed::shapes();
    let instants = seed::instants();
    let mut text = String::from(
        "### Memory\n\n| peer | allocations per W1 query, least to most over the shapes |\n|---|---|\n",
    );
    for peer in std::iter::once(&OURS).chain(&RIVALS) {
        let counts: Vec<f64> =
            shapes.iter().filter_map(|rule| per_next(peer, rule, &instants)).collect();
        let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = counts.iter().copied().fold(0.0, f64::max);
        text += &format!("| {} | {least:.0} to {most:.0} |\n", peer.name);
    }
    let calls = our_calls(&shapes, &instants);
    let policies = seed::policies(POLICIES);
    let (kept, schedules) = heap::traffic(|| ours::Fleet::new(&policies));
    drop(kept);
    let (kept, sets) = heap::traffic(|| ours::sets(&policies));
    drop(kept);
    let bytes = schedules.live as f64 / POLICIES as f64;
    text += &format!(
        "\n{POLICIES} policies: {bytes:.1} bytes each as `Schedule`, {:.1} as `TimeSet`, vector and heap included. \
         Allocations per query of ours (next start, contains and next change, state, walking spans): {calls}.\n",
        sets.live as f64 / POLICIES as f64
    );
    Memory { text, calls, bytes }
}

/// The never-firing shape is left out: one query of a scanning peer takes a second.
fn per_next(peer: &Peer, rule: &Rule, instants: &[i64]) -> Option<f64> {
    if rule.id == "Feb 30" && peer.name != OURS.name {
        return None;
    }
    let engine = (peer.compile)(rule)?;
    let queries = if peer.name.ends_with("as-is") { 2 } else { 64 };
    let ((), traffic) = heap::traffic(|| {
        for at in &instants[..queries] {
            std::hint::black_box(engine.next(*at));
        }
    });
    Some(traffic.calls as f64 / queries as f64)
}

/// Every question we answer, on every shape and on policies with exclusions.
fn our_calls(shapes: &[Rule], instants: &[i64]) -> f64 {
    let policies = seed::policies(1_000);
    let engines: Vec<_> =
        shapes.iter().chain(&policies).map(|rule| ours::compile_in(rule, "UTC")).collect();
    let ((), traffic) = heap::traffic(|| {
        for engine in &engines {
            for at in &instants[..16] {
                std::hint::black_box((engine.next(*at), engine.state(*at)));
            }
            std::hint::black_box((engine.state(NOW), engine.open_seconds(FROM, UNTIL)));
        }
    });
    traffic.calls as f64 / (engines.len() * 34) as f64
}
