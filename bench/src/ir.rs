//! How many instructions does a query take? Counted by callgrind, so that the same build gives the same number anywhere.
//!
//! A child of ourselves runs under valgrind twice, with k queries and with none; the difference is the queries.

use std::hint::black_box;
use std::io::{self, Write};
use std::process::Command;

use crate::goals::{self, Goal, Verdict};
use crate::peers::{self, Engine, OURS, RRULE_ALIGNED, RRULE_AS_IS, ours};
use crate::rule::{Rule, Shape};
use crate::seed::{self, FROM, NOW, UNTIL_10};
use crate::workloads::worst::RARE;

/// The shapes of the table; the goals group them.
const SHAPES: [(&str, f64); 14] = [
    ("daily 1", 80.0),
    ("daily 5", 80.0),
    ("Sat w1", 110.0),
    ("MTW w2", 110.0),
    ("Mon w26", 110.0),
    ("1,15 m1", 350.0),
    ("31st m11", 350.0),
    ("1st Sat m1", 350.0),
    ("5th Mon m11", 350.0),
    ("Dec 24-26", 350.0),
    ("Feb 29", 350.0),
    ("1st Sun Nov", 350.0),
    ("5th Mon Feb", 2_000.0),
    ("Feb 30", 50.0),
];

/// Rivals worth counting, and how many queries each can bear under valgrind.
const COUNTED: [(&str, usize); 5] = [
    (peers::MATERIALISED, 1_000),
    (peers::ON_CHRONO, 1_000),
    ("cron", 200),
    (RRULE_ALIGNED, 50),
    (RRULE_AS_IS, 2),
];

/// Limits that no rival sets, a little above what was found: the lists of W3, whose ratios are times and cannot be gated, and the
/// building of a zoned set that never opens, which would take millions of instructions if it were proved day by day (TIME-14); and the least
/// that any 32 days hold (GRD-2), of a weekend in UTC, of one in a zone whose clock changes, and of the worst schedule that is legal.
const OURS_ALONE: [(&str, &str, f64); 7] = [
    ("meet", "dense", 305_000.0),
    ("meet", "sparse", 115_000.0),
    ("build", "UTC", 10_000.0),
    ("build", "Europe/Berlin", 16_000.0),
    ("least", "UTC", 4_600.0),
    ("least", "Europe/Berlin", 1_500_000.0),
    ("least", "worst", 220_000_000.0),
];

/// Policies asked for their state.
const FLEET: usize = 5_000;

/// Whether a missed goal is only shown, or fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Table,
    Gate,
}

/// The parent: prints the table; the result is whether every goal was met.
pub fn run(mode: Mode, out: &mut impl Write) -> io::Result<bool> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        writeln!(out, "SKIPPED: instruction counts need valgrind on the path")?;
        return Ok(true);
    }
    let mut goals = Vec::new();
    let mut table = String::from("| peer |");
    for (shape, _) in SHAPES {
        table += &format!(" {shape} |");
    }
    table += &format!("\n|---|{}\n| {} |", "---|".repeat(SHAPES.len()), OURS.name);
    for (shape, most) in SHAPES {
        let found = difference(&["next", OURS.name, shape], 1_000)?;
        table += &format!(" {found:.0} |");
        goals.push(Goal::at_most(
            "P3",
            &format!("Ir per query, {shape},"),
            Some(found),
            most,
            goals::count,
        ));
    }
    table += "\n";
    if mode == Mode::Table {
        for (peer, queries) in COUNTED {
            table += &format!("| {peer} |");
            for (shape, _) in SHAPES {
                // A scanning peer walks thousands of years for a date that never comes.
                let found = if shape == "Feb 30" && queries < 100 {
                    None
                } else {
                    expressible(peer, shape)
                        .then(|| difference(&["next", peer, shape], queries))
                        .transpose()?
                };
                table += &found.map_or_else(|| " - |".to_owned(), |found| format!(" {found:.0} |"));
            }
            table += "\n";
        }
    }
    for (index, text) in RARE.iter().enumerate() {
        if ours::from_rrule(text).is_none() {
            continue;
        }
        let found = difference(&["rare", &index.to_string(), "-"], 1_000)?;
        goals.push(Goal::at_most(
            "P3",
            &format!("Ir per query, {text},"),
            Some(found),
            2_000.0,
            goals::count,
        ));
    }
    let state = difference(&["state", "-", "-"], FLEET)?;
    goals.push(Goal::at_most("P6", "W4 Ir per policy", Some(state), 600.0, goals::count));
    for (what, name, most) in OURS_ALONE {
        // The worst takes as long as a hundred thousand of the others.
        let queries = if name == "worst" { 1 } else { 100 };
        let found = difference(&[what, "-", name], queries)?;
        let what = format!("Ir, {what} {name},");
        goals.push(Goal::at_most("own", &what, Some(found), most, goals::count));
    }
    writeln!(
        out,
        "### Instructions per W1 query (callgrind)\n\n{table}\n{}",
        goals::markdown(&goals)
    )?;
    Ok(goals.iter().all(|goal| goal.verdict != Verdict::Missed))
}

fn expressible(peer: &str, shape: &str) -> bool {
    let rule = seed::shapes().into_iter().find(|rule| rule.id == shape);
    match (peers::named(peer), rule) {
        (Some(peer), Some(rule)) => (peer.compile)(&rule).is_some(),
        _ => false,
    }
}

fn difference(what: &[&str; 3], queries: usize) -> io::Result<f64> {
    let with = instructions(what, queries)?;
    let without = instructions(what, 0)?;
    Ok(with.saturating_sub(without) as f64 / queries as f64)
}

fn instructions(what: &[&str; 3], queries: usize) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .arg("ir-child")
        .args(what)
        .arg(queries.to_string())
        .output()?;
    let talk = String::from_utf8_lossy(&output.stderr);
    talk.lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("callgrind printed no count:\n{talk}")))
}

/// The child: builds everything whatever the count, then asks that many times.
pub fn child(what: &str, name: &str, shape: &str, queries: usize) -> Option<()> {
    let instants = seed::instants();
    let ask = |engine: Box<dyn Engine>| {
        for at in instants.iter().take(queries) {
            black_box(engine.next(*at));
        }
    };
    match what {
        "next" => {
            let rule = seed::shapes().into_iter().find(|rule| rule.id == shape)?;
            ask((peers::named(name)?.compile)(&rule)?);
        }
        "rare" => ask(ours::from_rrule(RARE.get(name.parse::<usize>().ok()?)?)?),
        "state" => {
            let fleet = ours::Fleet::new(&seed::policies(FLEET));
            for index in 0..queries {
                black_box(fleet.state(index, black_box(NOW)));
            }
        }
        "list" => {
            let rule = seed::shapes().into_iter().find(|rule| rule.id == shape)?;
            let engine = (peers::named(name)?.compile)(&rule)?;
            for _ in 0..queries {
                black_box(engine.open_seconds(black_box(FROM), black_box(UNTIL_10)));
            }
        }
        "meet" => {
            let (worker, control) =
                seed::pairs().into_iter().find(|(worker, _)| worker.id == shape)?;
            let meet = ours::Meet::new(&worker, &control);
            for _ in 0..queries {
                black_box(meet.open_seconds(black_box(FROM), black_box(UNTIL_10)));
            }
        }
        "least" => {
            let saturdays = Shape::Weekly { every: 1, days: vec![5] };
            let nights = Rule::new("nights", saturdays, 20 * 3_600, 8 * 3_600);
            let set = match shape {
                "worst" => ours::worst_of_all(),
                zone => ours::set_in(&nights, zone),
            };
            for _ in 0..queries {
                black_box(ours::least(black_box(&set), NOW));
            }
        }
        "build" => {
            let zone = ours::zone(shape);
            let night = |day| {
                let shape = Shape::Weekly { every: 1, days: vec![day] };
                Rule::new("night", shape, 20 * 3_600, 8 * 3_600)
            };
            let (wednesday, saturday) = (night(2), night(5));
            for _ in 0..queries {
                black_box(ours::Meet::in_zone(black_box(&wednesday), &saturday, &zone));
            }
        }
        _ => return None,
    }
    Some(())
}
