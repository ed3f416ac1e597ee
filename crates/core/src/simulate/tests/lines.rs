//! Pools that keep the line of those who wait, beside the same pools that look at every node each time.

use super::*;
use crate::simulate::{chance::Chance, pool::Look};

/// POOL-2, POOL-3, DET-1: whether a line is kept or every node is looked at each time, the same nodes go at the same instants by the same
/// right.
#[test]
fn line_that_is_kept_goes_as_one_that_is_looked_at_each_time() {
    let (mut kept, mut runs) = (0, 0);
    for seed in 0..60 {
        let (cluster, settings) = drawn(seed);
        let pools = start::pools(&cluster, &settings);
        let (lines, _) = clock::run(pools.clone(), None, &settings);
        let looking = pools.into_iter().map(|mut pool| {
            pool.look = Look::AtAll;
            pool
        });
        let (looks, _) = clock::run(looking.collect(), None, &settings);
        for (line, looks) in lines.iter().zip(&looks) {
            assert_eq!(line.changes, looks.changes, "seed {seed}: {}", line.seen.name);
            assert_eq!(line.nodes, looks.nodes, "seed {seed}: {}", line.seen.name);
            assert_eq!(line.problems, looks.problems, "seed {seed}: {}", line.seen.name);
            runs += line.changes.iter().map(|change| change.runs.len()).sum::<usize>();
            kept += usize::from(line.line.is_some());
        }
    }
    assert!(kept > 50 && runs > 3_000, "{kept} lines were kept, and {runs} nodes went");
}

/// A cluster in which anything may be: nodes of any age in any zone, cordoned, failing, on their way, let go by name; pools that are
/// paused, or have a budget of any size; changes that come too fast.
fn drawn(seed: u64) -> (Snapshot, Settings) {
    let mut chance = Chance::of(seed, "lines", "");
    let mut draw = |range: std::ops::Range<i64>| chance.within(&range);
    let hours = draw(1..20);
    let mut cluster = cluster(&format!("{hours}h"));
    for name in ["worker", "infra"] {
        let machines = draw(1..40) as usize;
        let mut spec = match draw(0..3) {
            0 => json!({}),
            1 => json!({"maxUnavailable": draw(0..8)}),
            _ => json!({"maxUnavailable": format!("{}%", draw(1..101))}),
        };
        if draw(0..12) == 0 {
            spec["paused"] = json!(true);
        }
        if draw(0..6) == 0 {
            spec["changeManagement"] = json!({"strategy": "Permissive"});
        }
        add_pool(&mut cluster, name, machines, &spec);
        let (old, new) = (format!("rendered-{name}-a"), format!("rendered-{name}-b"));
        for place in 0..machines {
            let (what, zone, born) = (draw(0..40), draw(0..4), draw(0..30));
            change(&mut cluster, &format!("{name}-{place}"), |node| {
                if zone > 0 {
                    node.labels.insert(names::ZONE.into(), format!("zone-{zone}"));
                }
                node.created = (born > 0).then(|| noon().saturating_add(-born * 86_400));
                match what {
                    0 => node.cordon = Cordon::Cordoned,
                    1 => node.desired.clone_from(&new),
                    2 => {
                        node.desired.clone_from(&new);
                        node.state = NodeState::Degraded;
                        node.cordon = Cordon::Emptied;
                    }
                    3 if seed.is_multiple_of(5) => node.allowed = Some(new.clone()),
                    4 => {
                        node.current.clone_from(&new);
                        node.desired.clone_from(&new);
                    }
                    5 => node.current = String::new(),
                    _ => node.current.clone_from(&old),
                }
            });
        }
    }
    let interval = draw(1..9);
    (cluster, Settings { seed, ..every(interval, 30) })
}
