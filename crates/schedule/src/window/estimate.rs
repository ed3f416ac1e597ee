//! What is certain of windows, whatever their zone does and whenever their rule begins?
//!
//! Seen on the wall clock of its zone a schedule is a UTC one, except that windows of elapsed time are longer or shorter there when
//! the clock changes meanwhile. A UTC schedule that allows for that repeats after days or weeks, where the zone itself takes 400
//! years; so it settles in microseconds what the zone's own walk settles in tens of milliseconds.

use super::{Reach, Windows};
use crate::days::Days;
use crate::zone::Zone;

/// On which side of the truth an estimate lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimate {
    /// Everything that is inside, and perhaps more.
    AtMost,
    /// Nothing that is not inside, and perhaps less.
    AtLeast,
}

impl Estimate {
    /// The estimate of a set whose complement is estimated by this one.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::AtMost => Self::AtLeast,
            Self::AtLeast => Self::AtMost,
        }
    }
}

impl Windows {
    /// UTC windows that are open at least, or at most, when the wall clock of the zone reads a time at which these are open. The time
    /// that is meant is the one that [`Zone::reached`] gives.
    pub(crate) fn estimate(&self, estimate: Estimate) -> Self {
        let (always, never) = (|| Self::always(&Zone::utc()), || Self::never(&Zone::utc()));
        let days = match (&self.days, estimate) {
            // Without its beginning and end it repeats; one that only RFC 5545 can say does not exist without them.
            (Days::Bounded(rule), Estimate::AtMost) => match &rule.days {
                Days::General(_) => return always(),
                days => days,
            },
            (Days::Bounded(_) | Days::Never, _) => return never(),
            (Days::Always, _) => return always(),
            (days, _) => days,
        };
        let Reach(reach) = self.reach;
        let reach = match estimate {
            _ if reach & Reach::WALL != 0 => (reach & !Reach::WALL) - self.start,
            Estimate::AtMost => reach + self.zone.sway(),
            Estimate::AtLeast => reach.saturating_sub(self.zone.sway()),
        };
        if reach == 0 {
            return never();
        }
        let (days, start, reach) = (days.clone(), self.start, Reach(reach));
        let windows = Self { days, start, reach, zone: Zone::utc() };
        if windows.is_always() { always() } else { windows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Length, Month, Ordinal, Recurrence, Rrule, TimeOfDay, Weekday};

    /// Zones whose clocks were changed by half an hour, two hours, a day, at midnight and in war.
    const ZONES: [&str; 7] = [
        "Europe/Berlin",
        "America/New_York",
        "Antarctica/Troll",
        "Australia/Lord_Howe",
        "America/Havana",
        "Pacific/Apia",
        "Asia/Manila",
    ];

    fn rules() -> Vec<Recurrence> {
        use Weekday::{Saturday, Sunday};
        vec![
            Recurrence::every_day(),
            Recurrence::weekly(1, &[Saturday, Sunday]).unwrap(),
            Recurrence::monthly_by_day(1, &[(Ordinal::Last, Sunday)]).unwrap(),
            Recurrence::yearly_by_day(Month::March, &[(Ordinal::Second, Sunday)]).unwrap(),
        ]
    }

    /// Around every change of the clock, and a length later, the truth lies between its two estimates.
    #[test]
    fn windows_lie_between_their_estimates_whenever_the_clock_changes() {
        let mut asked = [0_u32; 2];
        let lengths = [
            Length::RestOfDay,
            Length::Until(TimeOfDay::parse("02:30").unwrap()),
            Length::Elapsed(1),
            Length::Elapsed(3 * 3_600),
            Length::Elapsed(26 * 3_600),
            Length::Elapsed(9 * 86_400),
        ];
        for name in ZONES {
            let zone = Zone::named(name).unwrap();
            let changes: Vec<i64> = (-90 * 366..140 * 366)
                .map(|day| day * 86_400)
                .filter(|&day| zone.reached(day + 86_400) - zone.reached(day) != 86_400)
                .collect();
            for (rule, length) in
                rules().iter().flat_map(|rule| lengths.map(|length| (rule, length)))
            {
                for start in ["00:00", "02:10", "23:30"] {
                    let start = TimeOfDay::parse(start).unwrap();
                    let windows = Windows::new(rule, start, length, zone.clone()).unwrap();
                    let least = windows.estimate(Estimate::AtLeast);
                    let most = windows.estimate(Estimate::AtMost);
                    for at in
                        changes.iter().flat_map(|day| (-8..60).map(move |step| day + step * 1_793))
                    {
                        let read = zone.reached(at);
                        let inside = windows.contains(at);
                        assert!(inside || !least.contains(read), "{name} {rule:?} {length:?} {at}");
                        assert!(!inside || most.contains(read), "{name} {rule:?} {length:?} {at}");
                        asked[usize::from(inside)] += 1;
                    }
                }
            }
        }
        assert!(asked.iter().all(|count| *count > 100_000), "{asked:?}");
    }

    #[test]
    fn what_begins_is_estimated_by_what_always_was() {
        let windows = |text: &str| {
            let rule = Rrule::parse(text).unwrap();
            Windows::from_rrule(&rule, TimeOfDay::MIDNIGHT, Length::Elapsed(3_600), Zone::utc())
                .unwrap()
        };
        let saturdays = windows("DTSTART:20260103T200000Z\nRRULE:FREQ=WEEKLY");
        assert!(saturdays.estimate(Estimate::AtLeast).is_never());
        let always_was = Windows::new(
            &Recurrence::weekly(1, &[Weekday::Saturday]).unwrap(),
            TimeOfDay::parse("20:00").unwrap(),
            Length::Elapsed(3_600),
            Zone::utc(),
        );
        assert_eq!(saturdays.estimate(Estimate::AtMost), always_was.unwrap());
        // One that only RFC 5545 can say has its beginning within it: taken for periodic it would seem empty before.
        let fridays =
            windows("DTSTART:20260103T200000Z\nRRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR");
        assert!(fridays.estimate(Estimate::AtMost).is_everything());
    }
}
