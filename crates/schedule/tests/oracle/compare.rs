//! Does the engine answer like python-dateutil, on every recorded row? (SCHED-1, SCHED-2, TIME-4 to TIME-10, TIME-13)

use schedule::{Rrule, Zone};

use crate::engine::{Asked, windows_of_rrule};
use crate::reading::{Answer, horizons, shown};
use crate::vectors::{Exact, Row, Rule, recorded};

/// Fewer rows than this and the file was cut short.
const PAIRS_AT_LEAST: usize = 400_000;

/// An answer beyond the horizon is as good as none, unless dateutil knows that there is none for ever.
fn within(found: Answer, exact: Exact) -> Answer {
    let near = found.between(horizons());
    let pick = |exact, whole: Option<i64>, near| if exact { whole } else { near };
    Answer {
        inside: found.inside,
        stretch_start: pick(exact.stretch_start, found.stretch_start, near.stretch_start),
        next_change: pick(exact.next_change, found.next_change, near.next_change),
        next_start: pick(exact.next_start, found.next_start, near.next_start),
    }
}

fn compare(asked: &Asked, row: &Row) -> Result<(), String> {
    let found = within(asked.answer(row.at), row.exact);
    if found == row.expect {
        Ok(())
    } else {
        Err(format!(
            "at {} ({}):\n  found    {found:?}\n  recorded {:?}",
            row.at,
            shown(row.at),
            row.expect
        ))
    }
}

#[test]
fn engine_agrees_with_dateutil_on_every_recorded_row() {
    let (mut pairs, mut near_edge, mut wrong) = (0, 0, 0);
    let mut first_of_rule = Vec::new();
    for vector in recorded() {
        let (name, asked) = match &vector.rule {
            Rule::Structured(plan) => (format!("{plan:?}"), Asked::plan(plan)),
            Rule::Rfc5545 { text, seconds, excluded } => {
                let rule = Rrule::parse(&text.replace('|', "\n"))
                    .unwrap_or_else(|e| panic!("{text}: {e}"));
                let windows = windows_of_rrule(&rule, *seconds);
                let name = format!("{text} for {seconds} s, excluded {excluded:?}");
                (name, Asked::windows(windows, excluded, &Zone::utc()))
            }
        };
        let mut first = None;
        for row in &vector.rows {
            pairs += 1;
            near_edge += usize::from(row.near_edge);
            if let Err(message) = compare(&asked, row) {
                wrong += 1;
                first.get_or_insert(message);
            }
        }
        first_of_rule.extend(first.map(|message| format!("{name}\n {message}")));
    }
    println!(
        "{pairs} pairs compared, {near_edge} within a second of an edge of a stretch, {wrong} mismatches"
    );
    let shown = first_of_rule.iter().take(10).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert_eq!(wrong, 0, "{} rules disagree, the first of them:\n{shown}", first_of_rule.len());
    assert!(pairs >= PAIRS_AT_LEAST, "{pairs} pairs are too few");
    assert!(near_edge * 2 >= pairs, "only {near_edge} of {pairs} are near an edge");
}
