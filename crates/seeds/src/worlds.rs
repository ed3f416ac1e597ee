//! Which worlds are played, and what must be true of each? `./test` runs these beside the suites that wait for a server.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use operator::Updates;

use crate::{
    cast::Make,
    check::Violation,
    planted::{Planted, planted},
    rehearsal::rehearse,
    story::{Outcome, Plot, play},
    world::World,
};

/// The seeds of a run; `./test` asks for as many.
const ORDINARY: std::ops::Range<u64> = 0..200;

/// Seeds that once found something, with what they found: they run every time.
const KNOWN: &[(u64, &str)] = &[
    (3, "a follower spun once the time to recompute had passed"),
    (4, "those who wait for a rebuild were woken in an order that was drawn"),
    (10, "what people wrote in the second in which an update began rode along with it"),
    (17, "a clock that was hours ahead kept room in the ledger for hours"),
    (24, "the stand-in for an agent never said that a node which was called back rests"),
    (100, "one who led again had forgotten that the outcome of a mark was unknown"),
];

/// Plays seeds on two threads, which is what the smallest node has. Whoever plays thousands learns at once which one broke.
fn play_all(seeds: &[u64], plot: Plot) -> Vec<Outcome> {
    let next = AtomicU64::new(0);
    let outcomes = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let mut outcome = play(*seed, plot);
                    match outcome.violations.first() {
                        Some(first) => println!("seed {seed} broke {}: {}", first.rule, first.what),
                        // Nobody reads it, and thousands are played at a time.
                        None => outcome.story = Vec::new(),
                    }
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|outcome| outcome.seed);
    outcomes
}

fn asked() -> Vec<u64> {
    let ordinary = range("SEEDS").unwrap_or(ORDINARY);
    if std::env::var("SEEDS").is_ok_and(|asked| !asked.contains("..")) {
        return ordinary.collect();
    }
    let known = KNOWN.iter().map(|(seed, _)| *seed).filter(|seed| !ordinary.contains(seed));
    known.chain(ordinary.clone()).collect()
}

/// `5..9` or `5`, as somebody says it.
fn range(variable: &str) -> Option<std::ops::Range<u64>> {
    let asked = std::env::var(variable).ok()?;
    let (from, to) = asked.split_once("..").unwrap_or((&asked, ""));
    let from = from.parse().unwrap();
    Some(from..if to.is_empty() { from + 1 } else { to.parse().unwrap() })
}

/// How many lines of a story people are told when many seeds are played; whoever plays one is told all.
const TOLD: usize = 60;

fn complaint(variable: &str, outcome: &Outcome, told: usize) -> String {
    let Outcome { seed, violations, story, .. } = outcome;
    let broken: Vec<String> = violations
        .iter()
        .map(|violation| format!("  {}: {}", violation.rule, violation.what))
        .collect();
    let end = story[story.len().saturating_sub(told)..].join("\n  ");
    let broken = broken.join("\n");
    format!(
        "seed {seed} broke:\n{broken}\nthe end of its story:\n  {end}\n\
         alone: {variable}={seed} cargo test -p tidegate-seeds -- --nocapture\n"
    )
}

#[test]
fn nothing_is_initiated_outside_a_window_and_everything_finishes() {
    let attempts = std::env::var("TIDEGATE_HOSTILE_ATTEMPTS_A_VISIT").ok();
    let attempts = attempts.map(|attempts| attempts.parse().unwrap());
    let outcomes = play_all(&asked(), Plot { attempts, ..Plot::honest() });
    all_promises_are_kept("SEEDS", &outcomes);
}

/// The same where as much is begun as can be.
#[test]
fn a_throng_begins_nothing_outside_a_window_and_finishes() {
    let seeds: Vec<u64> = range("THRONGS").unwrap_or(0..2).collect();
    let outcomes = play_all(&seeds, Plot { world: World::Throng, ..Plot::honest() });
    all_promises_are_kept("THRONGS", &outcomes);
}

/// The same where most is done to masters: updates, edits during them, consent, pins, nodes that come and go.
#[test]
fn masters_begin_nothing_outside_a_window_and_finish() {
    let seeds: Vec<u64> = range("MASTERS").unwrap_or(0..20).collect();
    let outcomes = play_all(&seeds, Plot { world: World::Masters, ..Plot::honest() });
    all_promises_are_kept("MASTERS", &outcomes);
}

/// The same where operators start updates of the control plane, which people ask for whenever they like (CV-4).
#[test]
fn updates_begin_nothing_outside_a_window_and_finish() {
    let seeds: Vec<u64> = range("UPDATES").unwrap_or(0..10).collect();
    let make = Make { updates: Updates::Started, ..Make::honest() };
    let outcomes = play_all(&seeds, Plot { world: World::Updating, make, ..Plot::honest() });
    all_promises_are_kept("UPDATES", &outcomes);
    let marks = outcomes.iter().map(|outcome| outcome.updates).sum::<u64>();
    assert!(marks > 0, "no update began in any of them");
}

/// Whoever plays many wants the sums, and the rules that were broken.
fn all_promises_are_kept(variable: &str, outcomes: &[Outcome]) {
    let broken: Vec<&Outcome> = outcomes.iter().filter(|one| !one.violations.is_empty()).collect();
    let initiations: u64 = outcomes.iter().map(|outcome| outcome.initiations).sum();
    let hours: i64 = outcomes.iter().map(|outcome| outcome.hours).sum();
    let attempts: u64 = outcomes.iter().map(|outcome| outcome.attempts.0).sum();
    let taken: u64 = outcomes.iter().map(|outcome| outcome.attempts.1).sum();
    println!(
        "{} seeds, {initiations} initiations in {} virtual days, {attempts} attempts of strangers \
         ({taken} taken, and harmless), {} seeds broke a promise; all they did comes to {:016x}",
        outcomes.len(),
        hours / 24,
        broken.len(),
        outcomes.iter().fold(0, |all: u64, one| all.rotate_left(1) ^ one.trace),
    );
    let mut rules: std::collections::BTreeMap<&str, Vec<u64>> = std::collections::BTreeMap::new();
    for outcome in &broken {
        for violation in &outcome.violations {
            let seeds = rules.entry(violation.rule).or_default();
            if seeds.last() != Some(&outcome.seed) {
                seeds.push(outcome.seed);
            }
        }
    }
    for (rule, seeds) in &rules {
        println!("  {rule} broken by seeds {seeds:?}");
    }
    let told = if outcomes.len() == 1 { usize::MAX } else { TOLD };
    let complaints: Vec<String> =
        broken.iter().take(3).map(|outcome| complaint(variable, outcome, told)).collect();
    assert!(broken.is_empty(), "{}", complaints.join("\n"));
}

/// DET-1: the same seed, the same bytes.
#[test]
fn same_seed_tells_the_same_story() {
    for seed in [3, 4, 11] {
        let (once, twice) = (play(seed, Plot::honest()), play(seed, Plot::honest()));
        assert_eq!(once.trace, twice.trace, "seed {seed}");
        assert_eq!((once.initiations, once.story), (twice.initiations, twice.story));
    }
    assert_ne!(play(3, Plot::honest()).trace, play(4, Plot::honest()).trace);
}

/// Each bug must be found by the promise it breaks, within so many seeds.
const FOUND_WITHIN: u64 = 16;

/// What honest ones break in a world of a kind, by its seed.
type Honest = Mutex<BTreeMap<(World, u64), Vec<Violation>>>;

/// Whether a bug is found by the promise it breaks within few seeds, and honest ones keep every promise in that very world: a world in
/// which they fail too proves nothing. Nor does a bug of two parts that breaks it by one of them.
fn find(bug: &Planted, honest: &Honest) -> Result<String, String> {
    let Planted { name, rule, plot, parts } = bug;
    let mut tried = Vec::new();
    let finds = |seed: &u64| {
        let broken = play(*seed, *plot).violations;
        let rules: BTreeSet<&str> = broken.iter().map(|violation| violation.rule).collect();
        let finds = rules.contains(rule);
        tried.push(rules);
        finds
    };
    let Some(seed) = (0..FOUND_WITHIN).find(finds) else {
        return Err(format!("{name}: not {rule}, but {tried:?} within {FOUND_WITHIN} seeds"));
    };
    let breaks = |part: &Plot| {
        let part = Plot { sought: Some(rule), ..*part };
        play(seed, part).violations.iter().any(|violation| violation.rule == *rule)
    };
    if parts.iter().any(breaks) {
        return Err(format!("{name}: seed {seed} breaks {rule} by a part of it alone"));
    }
    let world = plot.world;
    let known = honest.lock().unwrap().get(&(world, seed)).cloned();
    let broken = known.unwrap_or_else(|| play(seed, Plot { world, ..Plot::honest() }).violations);
    honest.lock().unwrap().insert((world, seed), broken.clone());
    match broken.first() {
        None => Ok(format!("{name}: {rule}, {world:?}, seed {seed}")),
        Some(Violation { rule, what }) => {
            Err(format!("{name}: honest ones break {rule} too in {world:?}, seed {seed}: {what}"))
        }
    }
}

/// `PLANTED=words|others` plants only the bugs with these words, or others, in their names.
#[test]
fn every_planted_bug_is_found() {
    let asked = std::env::var("PLANTED").unwrap_or_default();
    let is_asked = |bug: &Planted| asked.split('|').any(|words| bug.name.contains(words));
    let bugs: Vec<Planted> = planted().into_iter().filter(is_asked).collect();
    assert!(!asked.is_empty() || bugs.len() >= 40, "{} bugs are planted", bugs.len());
    let next = AtomicU64::new(0);
    let (missed, honest) = (Mutex::new(Vec::new()), Honest::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(bug) = bugs.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    match find(bug, &honest) {
                        Ok(found) => println!("{found}"),
                        Err(why) => missed.lock().unwrap().push(why),
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// EXEC-2: crash after any write, restart: same final state.
#[test]
fn an_operator_killed_after_any_write_leaves_the_same_state() {
    let undisturbed = rehearse(None);
    assert!(undisturbed.writes > 15, "there is something to kill it after: {undisturbed:?}");
    for write in 1..=undisturbed.writes {
        let disturbed = rehearse(Some(write));
        assert_eq!(disturbed.violations, [], "killed after write {write}");
        assert_eq!(disturbed.state, undisturbed.state, "killed after write {write}");
    }
}
