//! Would a wrong engine be caught? Each plausible misreading of the specification must disagree with the recorded vectors.
//!
//! A mutant is not a changed engine but the brute-force reading with one mistake in it: if the vectors refuse the misreading,
//! they refuse any engine that shares it. The true reading agrees with every row, so the check is about the mistake alone.

use crate::reading::{Lasts, Plan, Reading, Shape, shown};
use crate::vectors::{Rule, recorded};

/// Rows compared, rows that disagree, rules with at least one such row, and the first of them for the message.
#[derive(Default)]
struct Tally {
    rules: usize,
    rows: usize,
    wrong_rules: usize,
    wrong_rows: usize,
    first: Option<String>,
}

fn tally(reading: Reading, concerns: impl Fn(&Plan) -> bool) -> Tally {
    let mut tally = Tally::default();
    for vector in recorded() {
        let Rule::Structured(plan) = &vector.rule else { continue };
        if !concerns(plan) {
            continue;
        }
        let written = plan.write_out(reading);
        let wrong_before = tally.wrong_rows;
        for row in &vector.rows {
            let found = written.at(row.at);
            if found != row.expect {
                tally.wrong_rows += 1;
                tally.first.get_or_insert_with(|| {
                    format!("{plan:?} at {}: {found:?}, recorded {:?}", shown(row.at), row.expect)
                });
            }
        }
        tally.rules += 1;
        tally.rows += vector.rows.len();
        tally.wrong_rules += usize::from(tally.wrong_rows > wrong_before);
    }
    println!(
        "{reading:?}: {} of {} rows and {} of {} rules disagree",
        tally.wrong_rows, tally.rows, tally.wrong_rules, tally.rules
    );
    tally
}

/// A mutant is caught by rows, and the same rows accept the specification.
fn caught(mutant: Reading, concerns: impl Fn(&Plan) -> bool) {
    let found = tally(mutant, concerns);
    assert!(found.wrong_rows > 0, "{mutant:?} passes all {} rows", found.rows);
    assert!(found.wrong_rules >= 10, "{mutant:?} is caught by {} rules only", found.wrong_rules);
}

#[test]
fn specified_reading_agrees_with_every_recorded_row() {
    let found = tally(Reading::Specified, |_| true);
    assert_eq!(found.wrong_rows, 0, "{}", found.first.unwrap_or_default());
    assert!(found.rows > 200_000, "only {} rows", found.rows);
}

#[test]
fn week_starting_on_sunday_is_caught() {
    caught(Reading::WeekFromSunday, |plan| matches!(plan.shape, Shape::Weekly(..)));
}

#[test]
fn seven_day_blocks_from_the_epoch_are_caught() {
    caught(Reading::SevenDayBlocks, |plan| matches!(plan.shape, Shape::Weekly(..)));
}

#[test]
fn fifth_read_as_last_is_caught() {
    caught(Reading::FifthIsLast, |plan| {
        matches!(plan.shape, Shape::MonthlyByDay(..) | Shape::YearlyByDay(..))
    });
}

#[test]
fn thirty_first_clamped_to_the_last_day_is_caught() {
    caught(Reading::ClampedDates, |plan| {
        matches!(plan.shape, Shape::MonthlyByDate(..) | Shape::YearlyByDate(..))
    });
}

#[test]
fn inclusive_end_is_caught() {
    caught(Reading::InclusiveEnd, |plan| {
        plan.lasts != Lasts::RestOfDay && plan.excluded.is_empty()
    });
}

#[test]
fn exclusion_that_drops_the_whole_window_is_caught() {
    caught(Reading::ExclusionDropsWindow, |plan| !plan.excluded.is_empty());
}
