//! What has to be known of rules and dates to tell which years are alike? (GRD-2)

use crate::civil::{CYCLE_DAYS, DAY};
use crate::days::{Days, lcm};
use crate::zone::Zone;

/// How far from its first or last day a rule may be unlike itself elsewhere: a window lasts 366 days, and a clock may be a day off.
const REACH: i64 = 368 * DAY;

/// What has to be known of a set to tell which of its years are alike.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    /// Where it is like nowhere else: around dated parts.
    pub(crate) dated: Vec<(i64, i64)>,
    /// The zones in which its rules are read.
    pub(crate) zones: Vec<Zone>,
    /// What its rules count, apart from weekdays and the months of a year.
    pub(crate) counts: Vec<Count>,
    /// After how many days its rules repeat.
    pub(crate) period: i64,
}

/// What a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Count {
    Days(i64),
    Months(i32),
}

impl Calendar {
    /// Of nothing.
    pub(crate) fn new() -> Self {
        Self { period: 1, ..Self::default() }
    }

    /// A date at which something begins or ends.
    pub(crate) fn edge(&mut self, at: i64) {
        // What has no beginning or no end has no edge there.
        if at != i64::MIN && at != i64::MAX {
            self.dated.push((at, at));
        }
    }

    /// Windows on such days in a zone, from the start of the first to the end of the last one if the rule has them.
    pub(crate) fn windows(&mut self, days: &Days, zone: &Zone, ends: Option<(i64, i64)>) {
        if let Some((first, last)) = ends {
            self.dated.push((first, first.saturating_add(REACH)));
            self.dated.push((last.saturating_sub(REACH), last));
        }
        match days {
            Days::Never | Days::Always => return,
            Days::Bounded(rule) => return self.windows(&rule.days, zone, None),
            Days::Monthly(rule) => {
                let every = rule.every();
                if 12 % every != 0 {
                    self.counts.push(Count::Months(every));
                }
            }
            Days::Daily { .. } | Days::Weekly(_) | Days::General(_) => {
                let period = days.period().unwrap_or(1);
                if 7 % period != 0 {
                    self.counts.push(Count::Days(period));
                }
            }
        }
        self.period = lcm(self.period, days.period().unwrap_or(1));
        if !zone.is_utc() {
            self.zones.push(zone.clone());
            self.period = lcm(self.period, i64::from(CYCLE_DAYS));
        }
    }

    /// The same, sorted, with nothing in it twice and dated parts that touch as one.
    pub(crate) fn settled(mut self) -> Self {
        let Self { dated, zones, counts, .. } = &mut self;
        zones.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        zones.dedup();
        counts.sort_unstable();
        counts.dedup();
        dated.sort_unstable();
        dated.dedup_by(|next, merged| {
            let touches = next.0 <= merged.1;
            if touches {
                merged.1 = merged.1.max(next.1);
            }
            touches
        });
        self
    }
}
