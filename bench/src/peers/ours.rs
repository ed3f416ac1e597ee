//! The engine under test.

use schedule::{
    Date, Exclusion, Instant, Length, Month, Ordinal, Recurrence, Rolling, Rrule, Schedule,
    TimeOfDay, TimeSet, Weekday, Windows, Zone,
};

use super::Engine;
use crate::naive::State;
use crate::rule::{Rule, Shape};

const LEGAL: &str = "the generator draws legal rules only";

fn instant(at: i64) -> Instant {
    Instant::from_unix(at).expect("benchmark instants are within range")
}

/// One schedule, asked as a user would: the schedule itself for its state, the set for its spans.
pub struct Ours {
    schedule: Schedule,
    set: TimeSet,
}

impl Engine for Ours {
    fn next(&self, at: i64) -> Option<i64> {
        self.schedule.windows().next_start(instant(at)).map(Instant::unix)
    }

    fn windows(&self, from: i64, until: i64) -> Vec<(i64, i64)> {
        spans(&self.set, from, until)
    }

    fn open_seconds(&self, from: i64, until: i64) -> i64 {
        open_seconds(&self.set, from, until)
    }

    fn state(&self, at: i64) -> State {
        state(&self.schedule, at)
    }
}

fn open_seconds(set: &TimeSet, from: i64, until: i64) -> i64 {
    let clipped =
        |edge: Option<Instant>, rim: i64| edge.map_or(rim, |edge| edge.unix().clamp(from, until));
    let spans = set.spans(instant(from)..instant(until));
    spans.map(|span| clipped(span.end, until) - clipped(span.start, from)).sum()
}

fn spans(set: &TimeSet, from: i64, until: i64) -> Vec<(i64, i64)> {
    set.spans(instant(from)..instant(until))
        .map(|span| {
            let start = span.start.map_or(from, |start| start.unix().max(from));
            (start, span.end.map_or(until, |end| end.unix().min(until)))
        })
        .collect()
}

fn state(schedule: &Schedule, at: i64) -> State {
    let now = schedule.state(instant(at));
    let next = match now.until {
        Some(end) if now.inside => schedule.state(end).until,
        until => until,
    };
    State { open: now.inside, until: now.until.map(Instant::unix), next: next.map(Instant::unix) }
}

fn weekday(number: u8) -> Weekday {
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday][usize::from(number)]
}

fn month(number: u8) -> Month {
    use Month::{
        April, August, December, February, January, July, June, March, May, November, October,
        September,
    };
    [
        January, February, March, April, May, June, July, August, September, October, November,
        December,
    ][usize::from(number) - 1]
}

fn ordinals(days: &[(i8, u8)]) -> Vec<(Ordinal, Weekday)> {
    days.iter()
        .map(|(ordinal, day)| {
            let ordinal = match ordinal {
                1 => Ordinal::First,
                2 => Ordinal::Second,
                3 => Ordinal::Third,
                4 => Ordinal::Fourth,
                5 => Ordinal::Fifth,
                _ => Ordinal::Last,
            };
            (ordinal, weekday(*day))
        })
        .collect()
}

fn recurrence(shape: &Shape) -> Recurrence {
    match shape {
        Shape::Daily { every } => Recurrence::daily(*every),
        Shape::Weekly { every, days } => {
            let days: Vec<_> = days.iter().map(|day| weekday(*day)).collect();
            Recurrence::weekly((*every).into(), &days)
        }
        Shape::MonthlyByDate { every, dates } => {
            Recurrence::monthly_by_date((*every).into(), dates)
        }
        Shape::MonthlyByDay { every, days } => {
            Recurrence::monthly_by_day((*every).into(), &ordinals(days))
        }
        Shape::YearlyByDate { month: number, dates } => {
            Recurrence::yearly_by_date(month(*number), dates)
        }
        Shape::YearlyByDay { month: number, days } => {
            Recurrence::yearly_by_day(month(*number), &ordinals(days))
        }
    }
    .expect(LEGAL)
}

fn windows(rule: &Rule, zone: &Zone) -> Windows {
    let start = TimeOfDay::from_seconds(rule.start).expect(LEGAL);
    Windows::new(&recurrence(&rule.shape), start, Length::Elapsed(rule.length), zone.clone())
        .expect(LEGAL)
}

/// A schedule as a policy holds it.
pub fn schedule(rule: &Rule, zone: &Zone) -> Schedule {
    let date = |day| Date::from_days_since_epoch(day).expect(LEGAL);
    let exclude: Vec<_> = rule
        .exclusions
        .iter()
        .map(|(from, until)| Exclusion { from: date(*from), until: date(*until), reason: None })
        .collect();
    Schedule::new(Some(windows(rule, zone)), &exclude, zone).expect(LEGAL)
}

pub fn zone(name: &str) -> Zone {
    if name == "UTC" {
        Zone::utc()
    } else {
        Zone::named(name).expect("the zone is in the bundled database")
    }
}

pub fn compile_in(rule: &Rule, name: &str) -> Ours {
    let schedule = schedule(rule, &zone(name));
    Ours { set: TimeSet::from(schedule.clone()), schedule }
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    Some(Box::new(compile_in(rule, "UTC")))
}

/// A rule that only RFC 5545 can spell.
pub fn from_rrule(text: &str) -> Option<Box<dyn Engine>> {
    let rrule = Rrule::parse(text).ok()?;
    let start = TimeOfDay::from_seconds(7_200).ok()?;
    let windows = Windows::from_rrule(&rrule, start, Length::Elapsed(14_400), Zone::utc()).ok()?;
    let schedule = Schedule::new(Some(windows), &[], &Zone::utc()).ok()?;
    Some(Box::new(Ours { set: TimeSet::from(schedule.clone()), schedule }))
}

/// The set of a rule in a zone.
pub fn set_in(rule: &Rule, name: &str) -> TimeSet {
    TimeSet::from(schedule(rule, &zone(name)))
}

/// The least that any 32 days from an instant on hold, in stretches of four hours or more.
pub fn least(set: &TimeSet, from: i64) -> i64 {
    let rolling = Rolling::new(32 * 86_400, 4 * 3_600).expect("32 days are a span");
    set.least(rolling, instant(from)).seconds
}

/// The policy that takes longest to look at: a window a day and a thousand exclusions a few years apart, in a zone.
pub fn worst_of_all() -> TimeSet {
    let zone = Zone::named("Africa/Casablanca").expect("the zone is in the bundled database");
    let daily = Recurrence::every_day();
    let start = TimeOfDay::parse("01:00").expect("a time of day");
    let windows =
        Windows::new(&daily, start, Length::Elapsed(5 * 3_600), zone.clone()).expect("windows");
    let exclusions: Vec<Exclusion> = (0..1_000)
        .filter_map(|place| {
            let from = Date::from_days_since_epoch(21_000 + place * 2_900).ok()?;
            Exclusion::new(from, None, None).ok()
        })
        .collect();
    TimeSet::from(Schedule::new(Some(windows), &exclusions, &zone).expect("a schedule"))
}

/// Two schedules, and when both are open.
pub struct Meet(TimeSet);

impl Meet {
    pub fn new(worker: &Rule, control: &Rule) -> Self {
        Self::in_zone(worker, control, &Zone::utc())
    }

    pub fn in_zone(worker: &Rule, control: &Rule, zone: &Zone) -> Self {
        let worker = TimeSet::from(schedule(worker, zone));
        Self(worker.intersection(TimeSet::from(schedule(control, zone))))
    }

    pub fn windows(&self, from: i64, until: i64) -> Vec<(i64, i64)> {
        spans(&self.0, from, until)
    }

    pub fn open_seconds(&self, from: i64, until: i64) -> i64 {
        open_seconds(&self.0, from, until)
    }
}

/// Many policies, asked one at a time.
pub struct Fleet(Vec<Schedule>);

impl Fleet {
    pub fn new(rules: &[Rule]) -> Self {
        Self::new_in(rules, "UTC")
    }

    pub fn new_in(rules: &[Rule], name: &str) -> Self {
        let zone = zone(name);
        let mut held = Vec::with_capacity(rules.len());
        held.extend(rules.iter().map(|rule| schedule(rule, &zone)));
        Self(held)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn state(&self, index: usize, at: i64) -> State {
        state(&self.0[index], at)
    }
}

/// The same policies as sets, for their memory.
pub fn sets(rules: &[Rule]) -> Vec<TimeSet> {
    let mut held = Vec::with_capacity(rules.len());
    held.extend(rules.iter().map(|rule| TimeSet::from(schedule(rule, &Zone::utc()))));
    held
}
