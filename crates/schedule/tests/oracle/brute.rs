//! Does the engine agree with a reading of the specification that only knows how to walk? (SCHED-1, SCHED-2)

use proptest::prelude::*;

use crate::engine::{Asked, unix};
use crate::plans::plan;
use crate::reading::{Plan, Reading, WrittenOut, horizons, shown};

const MINUTE: i64 = 60;
/// 2011 to 2013 hold the day that Samoa left out; any other three years do as well.
const FIRST_MINUTE: i64 = 1_293_840_000;
const YEARS: i64 = 40;

/// Every minute of a year: is it inside?
fn minutes_agree(
    plan: &Plan,
    asked: &Asked,
    written: &WrittenOut,
    year: i64,
) -> Result<(), TestCaseError> {
    let first = FIRST_MINUTE + year * 365 * 86_400;
    let until = first + 366 * 86_400;
    let mut spans = written.spans.iter().skip_while(|span| span.1 <= first).peekable();
    for at in (first..until).step_by(MINUTE as usize) {
        while spans.next_if(|span| span.1 <= at).is_some() {}
        let inside = spans.peek().is_some_and(|span| span.0 <= at);
        prop_assert_eq!(asked.set.contains(unix(at)), inside, "{:?} at {}", plan, shown(at));
    }
    Ok(())
}

/// Every query at one instant.
fn all_queries_agree(
    plan: &Plan,
    asked: &Asked,
    written: &WrittenOut,
    at: i64,
) -> Result<(), TestCaseError> {
    let found = asked.answer(at).between(horizons());
    prop_assert_eq!(found, written.at(at), "{:?} at {} ({})", plan, at, shown(at));
    let begun = written.starts.partition_point(|&start| start <= at);
    let previous = begun.checked_sub(1).map(|index| written.starts[index]);
    let found = asked.windows.previous_start(unix(at)).map(schedule::Instant::unix);
    let low = horizons().0;
    prop_assert_eq!(
        found.filter(|&t| t > low),
        previous.filter(|&t| t > low),
        "{:?} at {}",
        plan,
        shown(at)
    );
    Ok(())
}

proptest! {
    #![proptest_config(crate::plans::config(96))]

    #[test]
    fn every_minute_of_a_year_agrees_with_the_walk(plan in plan(), year in 0..YEARS) {
        let (asked, written) = (Asked::plan(&plan), plan.write_out(Reading::Specified));
        minutes_agree(&plan, &asked, &written, year)?;
    }

    #[test]
    fn every_query_agrees_with_the_walk_around_every_edge(
        plan in plan(),
        others in proptest::collection::vec(0_i64..4_102_444_800, 50),
    ) {
        let (asked, written) = (Asked::plan(&plan), plan.write_out(Reading::Specified));
        let (_, high) = horizons();
        let edges = written.spans.iter().flat_map(|span| [span.0, span.1]).chain(written.starts.iter().copied());
        let edges: Vec<i64> = edges.filter(|edge| (0..high - 86_400 * 3_660).contains(edge)).collect();
        let step = (edges.len() / 400).max(1);
        for edge in edges.iter().step_by(step) {
            for at in edge - 1..=edge + 1 {
                all_queries_agree(&plan, &asked, &written, at)?;
            }
        }
        for at in others {
            all_queries_agree(&plan, &asked, &written, at)?;
        }
    }

    #[test]
    fn spans_list_what_the_walk_wrote_down(plan in plan(), from in 0_i64..4_000_000_000, days in 1_i64..800) {
        let (asked, written) = (Asked::plan(&plan), plan.write_out(Reading::Specified));
        let (low, high) = horizons();
        let until = from + days * 86_400;
        let found: Vec<_> = asked
            .set
            .spans(unix(from)..unix(until))
            .map(|span| (
                span.start.map(schedule::Instant::unix).filter(|&t| t > low),
                span.end.map(schedule::Instant::unix).filter(|&t| t < high),
            ))
            .collect();
        let expect: Vec<_> = written
            .spans
            .iter()
            .filter(|span| span.1 > from && span.0 < until)
            .map(|span| (Some(span.0).filter(|&t| t > low), Some(span.1).filter(|&t| t < high)))
            .collect();
        prop_assert_eq!(found, expect, "{:?} from {} until {}", plan, shown(from), shown(until));
    }
}
