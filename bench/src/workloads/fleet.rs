//! W4: what is the state of each of 100,000 policies now? Open or not, until when, next start; one thread, one instant.

use std::hint::black_box;

use super::Setting;
use crate::clock;
use crate::grid::{Cell, Grid, Row};
use crate::naive::Checksum;
use crate::peers::{Engine, MATERIALISED, OURS, Peer, RIVALS, ours};
use crate::rule::Rule;
use crate::seed::{self, NOW, POLICIES};

/// What the goals need beyond the table.
pub struct Fleet {
    pub grid: Grid,
    /// CPU milliseconds for all policies.
    pub milliseconds: f64,
}

/// The whole table.
pub fn fleet(setting: &Setting) -> Fleet {
    let policies = seed::policies(POLICIES);
    let ours = ours::Fleet::new(&policies);
    let truth = |queries: usize| {
        let mut sum = Checksum::new();
        for index in 0..queries {
            sum.add_state(ours.state(index, NOW));
        }
        sum.value()
    };
    let all = clock::best(setting.effort, || {
        let mut open = 0usize;
        for index in 0..ours.len() {
            open += usize::from(black_box(ours.state(index, black_box(NOW))).open);
        }
        black_box(open);
    });
    let mut rows = vec![Row {
        name: OURS.name.to_owned(),
        cells: vec![Cell::Time(all / POLICIES as f64)],
        note: format!("all {POLICIES}"),
    }];
    for peer in &RIVALS {
        rows.push(row(setting, peer, &policies, truth));
    }
    rows.extend(setting.external_rows("W4", &["fleet"], |_, queries| truth(queries)));
    Fleet {
        grid: Grid {
            title: "W4: state of a policy of a fleet at one instant, CPU time per policy"
                .to_owned(),
            columns: vec!["state".to_owned()],
            rows,
            counted: vec![0],
        },
        milliseconds: all / 1e6,
    }
}

/// Slow peers answer for the first policies only; what they cannot express, they leave out.
fn row(setting: &Setting, peer: &Peer, policies: &[Rule], truth: impl Fn(usize) -> i64) -> Row {
    let sample = match peer.name {
        // Enough that the lists outgrow the caches, as those of a whole fleet do.
        MATERIALISED => 60_000,
        name if name.ends_with("as-is") => 3_000,
        _ => 5_000,
    };
    let compiled: Vec<Option<Box<dyn Engine>>> =
        policies[..sample].iter().map(|rule| (peer.compile)(rule)).collect();
    let expressible = compiled.iter().flatten().count();
    let mut note = format!("sample of {sample}");
    let right = if expressible == sample {
        let mut sum = Checksum::new();
        for engine in compiled.iter().flatten() {
            sum.add_state(engine.state(NOW));
        }
        sum.value() == truth(sample)
    } else {
        note += &format!(", of which it can express {expressible}");
        agrees_where_it_can(&compiled, policies)
    };
    if !right {
        return Row { name: peer.name.to_owned(), cells: vec![Cell::Wrong], note };
    }
    let all = clock::best(setting.effort, || {
        for engine in compiled.iter().flatten() {
            black_box(engine.state(black_box(NOW)));
        }
    });
    Row { name: peer.name.to_owned(), cells: vec![Cell::Time(all / expressible as f64)], note }
}

fn agrees_where_it_can(compiled: &[Option<Box<dyn Engine>>], policies: &[Rule]) -> bool {
    compiled.iter().zip(policies).all(|(engine, rule)| match (engine, (OURS.compile)(rule)) {
        (Some(theirs), Some(ours)) => theirs.state(NOW) == ours.state(NOW),
        _ => true,
    })
}
