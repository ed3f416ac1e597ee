//! Is the least that a set holds of any span what a reading finds that looks at every span? (GRD-2)

use proptest::prelude::*;
use schedule::{Instant, Rolling, Span, TimeSet};

use crate::bodies::laws::Source;
use crate::engine::{Asked, unix};
use crate::plans::{config, plan};

const DAY: i64 = 86_400;

/// What counts of the span from `start` on, second by second.
fn counted_by_seconds(set: &TimeSet, span: i64, stretch: i64, start: i64) -> i64 {
    let (mut run, mut sum) = (0, 0);
    for second in start..=start + span {
        if second < start + span && set.contains(unix(second)) {
            run += 1;
            continue;
        }
        sum += if run >= stretch { run } else { 0 };
        run = 0;
    }
    sum
}

/// The same of many spans, from a list of what the set holds.
struct Listed(Vec<(i64, i64)>);

impl Listed {
    fn new(set: &TimeSet, from: i64, until: i64) -> Self {
        let edge = |at: Option<Instant>, open: i64| at.map_or(open, Instant::unix);
        let spans = set.spans(unix(from)..unix(until));
        Self(spans.map(|span| (edge(span.start, from), edge(span.end, until))).collect())
    }

    fn counted(&self, span: i64, stretch: i64, start: i64) -> i64 {
        let end = start + span;
        let first = self.0.partition_point(|listed| listed.1 <= start);
        let within = self.0.iter().skip(first).take_while(|listed| listed.0 < end);
        within
            .map(|listed| listed.1.min(end) - listed.0.max(start))
            .filter(|length| *length >= stretch)
            .sum()
    }
}

/// Spans of a set that lies within a few minutes.
fn short_ranges() -> impl Strategy<Value = Vec<(i64, i64)>> {
    proptest::collection::vec((0_i64..200, 1_i64..40), 0..8)
}

fn ranges(spans: &[(i64, i64)], shift: i64) -> TimeSet {
    let span =
        |(start, length): &(i64, i64)| Span::new(unix(shift + start), unix(shift + start + length));
    TimeSet::ranges(spans.iter().map(span))
}

proptest! {
    #![proptest_config(config(400))]

    /// Every second is a start, every second is looked at: what the definition says, word for word.
    #[test]
    fn every_span_second_by_second(
        spans in short_ranges(), around in any::<bool>(), span in 1_i64..90, stretch in 0_i64..30, from in -50_i64..300,
    ) {
        let stretch = stretch.min(span);
        let set = if around { ranges(&spans, 0).complement() } else { ranges(&spans, 0) };
        let found = set.least(Rolling::new(span, stretch).unwrap(), unix(from));
        // Beyond the last of them nothing happens any more.
        let starts = from..=from.max(400);
        let (least, start) =
            starts.map(|start| (counted_by_seconds(&set, span, stretch, start), start)).min().unwrap();
        prop_assert_eq!((found.seconds, found.start), (least, unix(start)));
    }

    /// Time has no favourite second: a set that comes later is worst as much later.
    #[test]
    fn what_is_moved_is_least_as_much_later(
        spans in short_ranges(), span in 1_i64..90, stretch in 0_i64..30, shift in 0_i64..100_000_000,
    ) {
        let rolling = Rolling::new(span, stretch.min(span)).unwrap();
        let (here, there) = (ranges(&spans, 0).complement(), ranges(&spans, shift).complement());
        let (here, there) = (here.least(rolling, unix(0)), there.least(rolling, unix(shift)));
        prop_assert_eq!((here.seconds, here.start.unix() + shift), (there.seconds, there.start.unix()));
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Whatever is listed somewhere in eight thousand years holds no less, and the worst span holds what was found.
    #[test]
    fn nothing_anywhere_holds_less(
        plan in plan(), from in 0_i64..60_000, years in 0_i64..7_800, span in prop_oneof![1_i64..40, 1_i64..=366],
        stretch in prop_oneof![Just(0_i64), 0_i64..100_000],
    ) {
        let set = Asked::plan(&plan).set;
        let (from, span) = (from * DAY, span * DAY);
        let stretch = stretch.min(span);
        let found = set.least(Rolling::new(span, stretch).unwrap(), unix(from));
        let start = found.start.unix();
        prop_assert!(start >= from);
        let there = Listed::new(&set, start, start + span);
        prop_assert_eq!(there.counted(span, stretch, start), found.seconds, "{:?} {:?}", plan, found);
        let end = Instant::MAX.unix() - span;
        for first in [from, (from + years * 366 * DAY).min(end - DAY)] {
            let until = (first + 20 * 366 * DAY).min(end);
            let listed = Listed::new(&set, first, until + span);
            let edges = listed.0.iter().flat_map(|listed| [listed.0, listed.1]);
            let starts = edges.flat_map(|edge| {
                [edge, edge - span, edge - stretch, edge + stretch - span, edge - span / 2]
            });
            let starts = starts.flat_map(|start| start - 1..=start + 1);
            for start in starts.filter(|start| (first..until).contains(start)) {
                let counted = listed.counted(span, stretch, start);
                prop_assert!(counted >= found.seconds, "{:?}: {} at {}, {:?}", plan, counted, unix(start), found);
            }
        }
    }

    /// Whoever permits more permits no less in any span, and what nobody forbids is the span itself.
    #[test]
    fn more_is_never_less(
        bytes in proptest::collection::vec(any::<u8>(), 0..60), more in proptest::collection::vec(any::<u8>(), 0..60),
        span in 1_i64..=366, stretch in 0_i64..100_000, from in 0_i64..60_000,
    ) {
        let rolling = Rolling::new(span * DAY, stretch.min(span * DAY)).unwrap();
        let from = unix(from * DAY);
        let (a, b) = (Source(&bytes).expression(2).build(), Source(&more).expression(2).build());
        let of = |set: &TimeSet| set.least(rolling, from).seconds;
        let both = a.clone().union(b.clone());
        prop_assert!(of(&both) >= of(&a).max(of(&b)));
        prop_assert!(of(&a.clone().intersection(b.clone())) <= of(&a).min(of(&b)));
        prop_assert_eq!(of(&TimeSet::always()), span * DAY);
        // A part is contained in the whole, and where it is not, there is an instant that tells.
        prop_assert_eq!(a.first_outside(&both, from), None);
        match both.first_outside(&a, from).and_then(|span| span.start) {
            // The last second of all is the end of what is looked at.
            None => {
                let rest = both.difference(a);
                let next = rest.next_change(from).is_none_or(|at| at >= Instant::MAX.saturating_add(-1));
                prop_assert!(next && !rest.contains(from));
            }
            Some(at) => prop_assert!(at >= from && both.contains(at) && !a.contains(at)),
        }
    }
}
