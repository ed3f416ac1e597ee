//! The rule by its definition: every day is looked at, period by period. Slow, and written without a look at the engine.

use super::super::{Clock, End, Frequency, Rrule};
use crate::civil::{date_of, day_of, days_in, month_of, weekday_of};
use crate::{Date, TimeOfDay, Zone};

/// All days of the rule from the year `first` to the end of the year `last`, for windows that start at a time in a zone.
pub(crate) fn days(rule: &Rrule, first: i32, last: i32, time: TimeOfDay, zone: &Zone) -> Vec<i32> {
    let begins = match (&rule.start, &rule.end) {
        (Some(start), _) => Some(start.date.days_since_epoch()),
        (None, Some(End::Count(_))) => Some(0),
        (None, _) => None,
    };
    let (from, until) = (day_of(first, 1, 1), day_of(last, 12, 31));
    // COUNT counts from the beginning; whole periods are needed at either rim.
    let scan_from = begins.map_or(from, |begins| begins.min(from)) - 400;
    let mut found = Vec::new();
    let mut period = Vec::new();
    let mut key = None;
    for day in scan_from..=until + 400 {
        let now = period_of(rule, day);
        if key != Some(now) {
            found.extend(chosen(rule, &period));
            period.clear();
            key = Some(now);
        }
        if now % i64::from(rule.interval.unwrap_or(1)) == 0 && selected(rule, day) {
            period.push(day);
        }
    }
    found.retain(|day| begins.is_none_or(|begins| *day >= begins));
    match &rule.end {
        None => {}
        Some(End::Count(count)) => found.truncate(*count as usize),
        Some(End::Until(until)) => found.retain(|day| {
            let date = Date::from_days_since_epoch(*day).unwrap();
            match until.clock {
                Clock::WholeDay => date <= until.date,
                Clock::Floating(at) => (date, time) <= (until.date, at),
                Clock::Utc(at) | Clock::Zoned(at, _) => {
                    zone.first_instant_of(date, time)
                        <= Zone::utc().first_instant_of(until.date, at)
                }
            }
        }),
    }
    found.retain(|day| (from..=until).contains(day));
    found
}

/// The number of the period a day belongs to, counted from the one DTSTART is in.
fn period_of(rule: &Rrule, day: i32) -> i64 {
    let anchor = rule.start.as_ref().map_or(0, |start| start.date.days_since_epoch());
    let week_start = rule.week_start.map_or(0, |weekday| weekday as u32);
    let first_of_week = |day: i32| {
        let mut first = day;
        while weekday_of(first) != week_start {
            first -= 1;
        }
        first
    };
    i64::from(match rule.frequency {
        Frequency::Daily => day - anchor,
        Frequency::Weekly => (first_of_week(day) - first_of_week(anchor)) / 7,
        Frequency::Monthly => month_of(day).0 - month_of(anchor).0,
        Frequency::Yearly => date_of(day).0 - date_of(anchor).0,
    })
}

fn selected(rule: &Rrule, day: i32) -> bool {
    let anchor = rule.start.as_ref().map_or(0, |start| start.date.days_since_epoch());
    let (year, month, date) = date_of(day);
    let (_, start_month, start_date) = date_of(anchor);
    let month_days = days_in(month_of(day).0) as i32;
    let names_a_day = !rule.by_day.is_empty() || !rule.by_month_day.is_empty();
    let month_passes = match rule.frequency {
        Frequency::Yearly if rule.by_month.is_empty() && !names_a_day => month == start_month,
        _ => rule.by_month.is_empty() || rule.by_month.contains(&month),
    };
    let date_passes = match rule.frequency {
        Frequency::Yearly | Frequency::Monthly if !names_a_day => date == start_date,
        _ => {
            let (from_start, from_end) = (date as i8, (i32::from(date) - month_days - 1) as i8);
            rule.by_month_day.is_empty()
                || rule.by_month_day.contains(&from_start)
                || rule.by_month_day.contains(&from_end)
        }
    };
    let same_span = |other: i32| {
        let (other_year, other_month, _) = date_of(other);
        other_year == year
            && (rule.frequency == Frequency::Yearly && rule.by_month.is_empty()
                || other_month == month)
    };
    // How many of this weekday there are in the month or year up to the day, or from it on.
    let count = |step: i32| {
        let mut other = day;
        let mut count = 0;
        while same_span(other) {
            count += 1;
            other += step;
        }
        count
    };
    let day_passes = if rule.frequency == Frequency::Weekly && !names_a_day {
        weekday_of(day) == weekday_of(anchor)
    } else {
        rule.by_day.is_empty()
            || rule.by_day.iter().any(|by_day| {
                by_day.weekday as u32 == weekday_of(day)
                    && match by_day.ordinal {
                        0 => true,
                        nth @ 1.. => count(-7) == i32::from(nth),
                        nth => -count(7) == i32::from(nth),
                    }
            })
    };
    month_passes && date_passes && day_passes
}

/// What BYSETPOS leaves of a period.
fn chosen(rule: &Rrule, period: &[i32]) -> Vec<i32> {
    if rule.by_set_pos.is_empty() {
        return period.to_vec();
    }
    let mut days = Vec::new();
    for position in &rule.by_set_pos {
        let place = if *position > 0 {
            i32::from(*position) - 1
        } else {
            period.len() as i32 + i32::from(*position)
        };
        days.extend(usize::try_from(place).ok().and_then(|place| period.get(place)));
    }
    days.sort_unstable();
    days.dedup();
    days
}
