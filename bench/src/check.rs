//! P8, the part a benchmark can do: does every rule give the very starts that the `rrule` crate lists, 1970 to 2059?

use std::io::{self, Write};

use crate::clock::Effort;
use crate::peers::{OURS, rrule_crate};
use crate::rule::{DAY, Rule};
use crate::seed;

/// 2060-01-01T00:00:00Z.
const END: i64 = 32_872 * DAY;

/// What the check found.
pub struct Verdict {
    pub rules: usize,
    pub starts: usize,
    pub wrong: usize,
}

/// Quick looks at one rule in ten.
pub fn run(effort: Effort, out: &mut impl Write) -> io::Result<Verdict> {
    let step = if effort == Effort::Full { 1 } else { 10 };
    let mut rules = seed::shapes();
    rules.extend(seed::rules().into_iter().step_by(step));
    let mut verdict = Verdict { rules: rules.len(), starts: 0, wrong: 0 };
    for rule in &rules {
        let theirs = rrule_crate::starts(rule, 0, END);
        verdict.starts += theirs.len();
        if let Some(difference) = first_difference(rule, &theirs) {
            verdict.wrong += 1;
            writeln!(out, "WRONG {}: {difference}", rule.rrule())?;
        }
    }
    writeln!(
        out,
        "check: {} rules, {} starts of 1970 to 2059 compared with the rrule crate, {} rules differ",
        verdict.rules, verdict.starts, verdict.wrong
    )?;
    Ok(verdict)
}

fn first_difference(rule: &Rule, theirs: &[i64]) -> Option<String> {
    // Windows that cover all time have no start to compare, so all are made a minute long.
    let brief = Rule { length: 60, ..rule.clone() };
    let Some(engine) = (OURS.compile)(&brief) else {
        return Some("cannot be expressed".to_owned());
    };
    let mut at = -1;
    for expected in theirs.iter().copied().map(Some).chain([None]) {
        let found = engine.next(at).filter(|start| *start < END);
        if found != expected {
            return Some(format!("after {at} ours is {found:?}, rrule's {expected:?}"));
        }
        at = found?;
    }
    None
}
