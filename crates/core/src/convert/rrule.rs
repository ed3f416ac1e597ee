//! Which structured recurrence says the same as an RFC 5545 rule?
//!
//! The rule has been parsed and judged by the engine; what comes here is the text it prints. Each form that a structured recurrence
//! can hold is recognised; for everything else the reasons are given, all of them.

use schedule::{Date, Month, Ordinal, Recurrence, TimeOfDay, Weekday};

use super::short;

/// What a rule says in the structured form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structured {
    /// The days on which windows open.
    pub recurrence: Recurrence,
    /// The time at which they open, if the rule says so.
    pub start: Option<TimeOfDay>,
    /// The zone, if the rule names one.
    pub zone: Option<String>,
    /// What is not quite the same.
    pub notes: Vec<String>,
}

/// Reads a rule that the engine has accepted. Otherwise every reason why the structured form cannot hold it.
pub fn structured(text: &str) -> Result<Structured, Vec<String>> {
    let mut reasons = Vec::new();
    let parts = Parts::read(text, &mut reasons);
    let mut notes = Vec::new();
    if let Some(count) = &parts.count {
        reasons.push(format!("COUNT={count}: a recurrence goes on for ever"));
    }
    if let Some(until) = &parts.until {
        reasons.push(format!(
            "UNTIL={until}: a recurrence goes on for ever; an exclusion could end it"
        ));
    }
    if let Some(start) = parts.start {
        notes.push(format!(
            "DTSTART: a recurrence has no first day, so there are windows before {start} too"
        ));
    }
    let recurrence = match parts.frequency.as_str() {
        "DAILY" => parts.daily(&mut reasons),
        "WEEKLY" => parts.weekly(&mut reasons),
        "MONTHLY" => parts.monthly(&mut reasons),
        "YEARLY" => parts.yearly(&mut reasons),
        other => {
            reasons.push(format!("FREQ={other}: a recurrence is by day, week, month or year"));
            None
        }
    };
    match recurrence {
        Some(recurrence) if reasons.is_empty() => {
            Ok(Structured { recurrence, start: parts.time, zone: parts.zone, notes })
        }
        _ => Err(reasons),
    }
}

#[derive(Debug)]
struct Parts {
    frequency: String,
    interval: u32,
    /// Weekdays with their ordinals; zero for every one.
    days: Vec<(i32, Weekday)>,
    dates: Vec<i32>,
    months: Vec<u8>,
    positions: Vec<i32>,
    count: Option<String>,
    until: Option<String>,
    week_start: Weekday,
    start: Option<Date>,
    time: Option<TimeOfDay>,
    zone: Option<String>,
}

impl Parts {
    fn read(text: &str, reasons: &mut Vec<String>) -> Self {
        let mut parts = Self {
            frequency: String::new(),
            interval: 1,
            days: Vec::new(),
            dates: Vec::new(),
            months: Vec::new(),
            positions: Vec::new(),
            count: None,
            until: None,
            week_start: Weekday::Monday,
            start: None,
            time: None,
            zone: None,
        };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix("DTSTART") {
                Some(start) => parts.read_start(start, reasons),
                None => parts.read_rule(line.strip_prefix("RRULE:").unwrap_or(line), reasons),
            }
        }
        parts
    }

    fn read_start(&mut self, text: &str, reasons: &mut Vec<String>) {
        let (options, value) = text.rsplit_once(':').unwrap_or(("", text));
        self.zone =
            options.split(';').find_map(|part| part.strip_prefix("TZID=")).map(str::to_owned);
        let part = |range: std::ops::Range<usize>| {
            value.get(range).and_then(|text| text.parse::<i32>().ok())
        };
        let date = || {
            Date::new(part(0..4)?, u8::try_from(part(4..6)?).ok()?, u8::try_from(part(6..8)?).ok()?)
                .ok()
        };
        self.start = date();
        if let (Some(hour), Some(minute)) = (part(9..11), part(11..13)) {
            if part(13..15).is_some_and(|second| second != 0) {
                reasons.push("DTSTART: a window opens on a full minute".into());
            }
            self.time = u32::try_from(hour * 3600 + minute * 60)
                .ok()
                .and_then(|seconds| TimeOfDay::from_seconds(seconds).ok());
        }
    }

    fn read_rule(&mut self, text: &str, reasons: &mut Vec<String>) {
        for part in text.split(';') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let numbers = || value.split(',').filter_map(|number| number.parse::<i32>().ok());
            match name {
                "FREQ" => value.clone_into(&mut self.frequency),
                "INTERVAL" => self.interval = value.parse().unwrap_or(1),
                "BYDAY" => self.days = value.split(',').filter_map(numbered_day).collect(),
                "BYMONTHDAY" => self.dates = numbers().collect(),
                "BYMONTH" => self.months = numbers().filter_map(|n| u8::try_from(n).ok()).collect(),
                "BYSETPOS" => self.positions = numbers().collect(),
                "COUNT" => self.count = Some(value.to_owned()),
                "UNTIL" => self.until = Some(value.to_owned()),
                "WKST" => self.week_start = weekday(value).unwrap_or(Weekday::Monday),
                other => reasons.push(format!("{other}: a recurrence has nothing like it")),
            }
        }
    }

    fn start_or_epoch(&self) -> Option<Date> {
        self.start.or_else(|| Date::new(1970, 1, 1).ok())
    }

    fn daily(&self, reasons: &mut Vec<String>) -> Option<Recurrence> {
        self.refuse_positions(reasons);
        let plain = self.days.is_empty() && self.dates.is_empty() && self.months.is_empty();
        if plain {
            let start = self.start_or_epoch()?.days_since_epoch();
            self.check_phase(start, "days", reasons);
            return self.built(Recurrence::daily(self.short_interval(reasons)?), reasons);
        }
        if self.interval > 1 {
            reasons.push("INTERVAL: every so many days together with a choice of days".into());
            return None;
        }
        // Every day that is also one of these is the same rule by week, month or year.
        if self.dates.is_empty() && self.months.is_empty() {
            return self.weekly_of(1, reasons);
        }
        if self.months.is_empty() { self.monthly(reasons) } else { self.yearly(reasons) }
    }

    fn weekly(&self, reasons: &mut Vec<String>) -> Option<Recurrence> {
        self.refuse_positions(reasons);
        if !self.months.is_empty() {
            reasons.push("BYMONTH: a weekly recurrence holds in every month".into());
        }
        if !self.dates.is_empty() {
            reasons.push("BYMONTHDAY: a weekly recurrence has no dates".into());
        }
        // The week that holds 1970-01-01 is week 0, and begins on a Monday (TIME-5).
        let week = (self.start_or_epoch()?.days_since_epoch() + 3).div_euclid(7);
        self.check_phase(week, "weeks", reasons);
        if self.interval > 1 && self.week_start != Weekday::Monday {
            let start = short(self.week_start);
            reasons.push(format!(
                "WKST={start}: weeks begin on Monday, and with INTERVAL that matters"
            ));
        }
        self.weekly_of(self.short_interval(reasons)?, reasons)
    }

    fn weekly_of(&self, interval: u16, reasons: &mut Vec<String>) -> Option<Recurrence> {
        if self.days.iter().any(|(ordinal, _)| *ordinal != 0) {
            reasons.push("BYDAY: a weekly recurrence has no numbered weekdays".into());
            return None;
        }
        let mut days: Vec<Weekday> = self.days.iter().map(|(_, day)| *day).collect();
        if days.is_empty() {
            days.push(self.start_or_epoch()?.weekday());
        }
        self.built(Recurrence::weekly(interval, &days), reasons)
    }

    fn monthly(&self, reasons: &mut Vec<String>) -> Option<Recurrence> {
        if !self.months.is_empty() {
            reasons.push(
                "BYMONTH: a monthly recurrence holds in every month; a yearly one has one month"
                    .into(),
            );
        }
        let start = self.start_or_epoch()?;
        let month = (start.year() - 1970) * 12 + i32::from(start.month()) - 1;
        self.check_phase(month, "months", reasons);
        let interval = self.short_interval(reasons)?;
        match self.days_of_month(reasons)? {
            DaysOfMonth::Dates(dates) => {
                self.built(Recurrence::monthly_by_date(interval, &dates), reasons)
            }
            DaysOfMonth::Days(days) => {
                self.built(Recurrence::monthly_by_day(interval, &days), reasons)
            }
            DaysOfMonth::Every(days) if interval == 1 => {
                self.built(Recurrence::weekly(1, &days), reasons)
            }
            DaysOfMonth::Every(days) => {
                self.built(Recurrence::monthly_by_day(interval, &each(&days)), reasons)
            }
        }
    }

    fn yearly(&self, reasons: &mut Vec<String>) -> Option<Recurrence> {
        if self.interval > 1 {
            reasons
                .push(format!("INTERVAL={}: a yearly recurrence comes every year", self.interval));
        }
        let start = self.start_or_epoch()?;
        let bare = self.days.is_empty() && self.dates.is_empty();
        let month = match self.months.as_slice() {
            [month] => *month,
            [] if bare => start.month(),
            [] if self.days.iter().any(|(ordinal, _)| *ordinal != 0)
                || !self.positions.is_empty() =>
            {
                reasons
                    .push("BYDAY: a numbered weekday is one of its month, not of its year".into());
                return None;
            }
            // Every year on these days of all months is every month.
            [] => return self.monthly(reasons),
            months => {
                let count = months.len();
                reasons.push(format!(
                    "BYMONTH: a yearly recurrence has one month, and these are {count}"
                ));
                return None;
            }
        };
        let month = *Month::ALL.get(usize::from(month) - 1)?;
        match self.days_of_month(reasons)? {
            DaysOfMonth::Dates(dates) => {
                self.built(Recurrence::yearly_by_date(month, &dates), reasons)
            }
            DaysOfMonth::Days(days) => self.built(Recurrence::yearly_by_day(month, &days), reasons),
            DaysOfMonth::Every(days) => {
                self.built(Recurrence::yearly_by_day(month, &each(&days)), reasons)
            }
        }
    }

    /// What BYDAY, BYMONTHDAY and BYSETPOS select together in a month.
    fn days_of_month(&self, reasons: &mut Vec<String>) -> Option<DaysOfMonth> {
        let before = reasons.len();
        let plain: Vec<Weekday> =
            self.days.iter().filter(|(ordinal, _)| *ordinal == 0).map(|(_, day)| *day).collect();
        let selected = match (self.days.is_empty(), self.dates.is_empty()) {
            (true, true) => DaysOfMonth::Dates(vec![self.start_or_epoch()?.day()]),
            (true, false) => {
                let negative = self.dates.iter().any(|date| *date < 0);
                if negative {
                    reasons.push("BYMONTHDAY: a date counted from the end of the month".into());
                }
                DaysOfMonth::Dates(
                    self.dates.iter().filter_map(|date| u8::try_from(*date).ok()).collect(),
                )
            }
            (false, true) if plain.is_empty() => DaysOfMonth::Days(numbered(&self.days, reasons)),
            (false, true) if plain.len() == self.days.len() => match self.positions.as_slice() {
                [] => DaysOfMonth::Every(plain),
                positions if plain.len() == 1 => {
                    let days: Vec<_> =
                        positions.iter().flat_map(|n| plain.iter().map(|day| (*n, *day))).collect();
                    return Some(DaysOfMonth::Days(numbered(&days, reasons)))
                        .filter(|_| reasons.len() == before);
                }
                _ => {
                    reasons.push("BYSETPOS: it picks among several weekdays".into());
                    return None;
                }
            },
            (false, true) => {
                reasons.push("BYDAY: numbered weekdays together with others".into());
                return None;
            }
            (false, false) => DaysOfMonth::Days(self.weekday_within_dates(&plain, reasons)?),
        };
        self.refuse_positions(reasons);
        Some(selected).filter(|_| reasons.len() == before)
    }

    /// A weekday among seven dates in a row that begin a week of the month is a numbered weekday.
    fn weekday_within_dates(
        &self,
        plain: &[Weekday],
        reasons: &mut Vec<String>,
    ) -> Option<Vec<(Ordinal, Weekday)>> {
        let mut dates = self.dates.clone();
        dates.sort_unstable();
        dates.dedup();
        let ordinals = [Ordinal::First, Ordinal::Second, Ordinal::Third, Ordinal::Fourth];
        let week = ordinals
            .iter()
            .zip(0..)
            .find(|(_, week)| dates == (week * 7 + 1..=week * 7 + 7).collect::<Vec<i32>>());
        match week {
            Some((ordinal, _)) if plain.len() == self.days.len() => {
                Some(plain.iter().map(|day| (*ordinal, *day)).collect())
            }
            _ => {
                reasons.push(
                    "BYDAY with BYMONTHDAY: a weekday that must also be one of some dates".into(),
                );
                None
            }
        }
    }

    fn refuse_positions(&self, reasons: &mut Vec<String>) {
        if !self.positions.is_empty() {
            reasons.push("BYSETPOS: it picks among the days of a period".into());
        }
    }

    /// Intervals are counted from 1970 and not from DTSTART (TIME-3), so the two must agree.
    fn check_phase(&self, start: i32, what: &str, reasons: &mut Vec<String>) {
        let interval = self.interval.max(1) as i32;
        if start.rem_euclid(interval) != 0 {
            reasons.push(format!(
                "DTSTART with INTERVAL={interval}: {what} are counted from 1970-01-01, which gives other ones"
            ));
        }
    }

    fn short_interval(&self, reasons: &mut Vec<String>) -> Option<u16> {
        let interval = u16::try_from(self.interval).ok();
        if interval.is_none() {
            reasons.push(format!("INTERVAL={}: too many", self.interval));
        }
        interval
    }

    fn built(
        &self,
        recurrence: Result<Recurrence, schedule::Error>,
        reasons: &mut Vec<String>,
    ) -> Option<Recurrence> {
        recurrence.map_err(|error| reasons.push(format!("FREQ={}: {error}", self.frequency))).ok()
    }
}

/// What a rule selects in a month.
enum DaysOfMonth {
    Dates(Vec<u8>),
    Days(Vec<(Ordinal, Weekday)>),
    /// Every one of these weekdays.
    Every(Vec<Weekday>),
}

/// All weekdays of a month, one by one.
fn each(days: &[Weekday]) -> Vec<(Ordinal, Weekday)> {
    let counted =
        [Ordinal::First, Ordinal::Second, Ordinal::Third, Ordinal::Fourth, Ordinal::Fifth];
    days.iter().flat_map(|day| counted.iter().map(|ordinal| (*ordinal, *day))).collect()
}

fn numbered(days: &[(i32, Weekday)], reasons: &mut Vec<String>) -> Vec<(Ordinal, Weekday)> {
    let mut found = Vec::new();
    for (number, day) in days {
        let ordinal = match number {
            1 => Ordinal::First,
            2 => Ordinal::Second,
            3 => Ordinal::Third,
            4 => Ordinal::Fourth,
            5 => Ordinal::Fifth,
            -1 => Ordinal::Last,
            other => {
                let day = short(*day);
                reasons.push(format!("{other}{day}: weekdays are First to Fifth, or Last"));
                continue;
            }
        };
        found.push((ordinal, *day));
    }
    found
}

fn numbered_day(text: &str) -> Option<(i32, Weekday)> {
    let (number, day) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let number = if number.is_empty() { 0 } else { number.trim_start_matches('+').parse().ok()? };
    Some((number, weekday(day)?))
}

fn weekday(text: &str) -> Option<Weekday> {
    Weekday::ALL.iter().copied().find(|day| short(*day) == text)
}
