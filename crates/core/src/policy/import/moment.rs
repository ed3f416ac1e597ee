//! When is that? Dates, times and lengths of RFC 5545.

use schedule::{Date, Instant, TimeOfDay, Zone};

use super::lines::Line;

/// A day, or a time of a day in a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Day(Date),
    Time(Date, TimeOfDay, Zone),
}

impl Moment {
    /// The instant at which it begins; days are those of a zone.
    pub(super) fn instant(&self, days_of: &Zone) -> Instant {
        match self {
            Self::Day(date) => days_of.first_instant_of(*date, TimeOfDay::MIDNIGHT),
            Self::Time(date, time, zone) => zone.first_instant_of(*date, *time),
        }
    }
}

/// The moments of a property, which may list several.
pub(super) fn moments(line: &Line, floating: &Zone) -> Result<Vec<Moment>, String> {
    let zone = match line.parameter("TZID") {
        None => floating.clone(),
        Some(name) => Zone::named(name)
            .map_err(|_| format!("there is no time zone {name:?} in the IANA database"))?,
    };
    let value = line.value.as_deref().ok_or("the line has no value, or is longer than 64 KiB")?;
    if line.parameter("VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("PERIOD")) {
        return Err("periods are not read".into());
    }
    value.split(',').map(|text| moment(text.trim(), &zone)).collect()
}

fn moment(text: &str, zone: &Zone) -> Result<Moment, String> {
    let none = || {
        format!("{text:?} is neither a date such as 20261224 nor a time such as 20261224T180000Z")
    };
    let digits = |range: std::ops::Range<usize>| {
        text.get(range).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let number = |range| digits(range).and_then(|part| part.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (digits(0..4), digits(4..6), digits(6..8)) else {
        return Err(none());
    };
    let date = Date::parse(&format!("{year}-{month}-{day}"))
        .map_err(|_| format!("there is no day {year}-{month}-{day}"))?;
    if text.len() == 8 {
        return Ok(Moment::Day(date));
    }
    let (Some("T"), Some(hours), Some(minutes), Some(seconds)) =
        (text.get(8..9), number(9..11), number(11..13), number(13..15))
    else {
        return Err(none());
    };
    let time = (hours < 24 && minutes < 60 && seconds < 61)
        .then(|| TimeOfDay::from_seconds(hours * 3_600 + minutes * 60 + seconds.min(59)).ok());
    let time = time.flatten().ok_or_else(|| format!("there is no such time of day in {text:?}"))?;
    match text.get(15..) {
        Some("") => Ok(Moment::Time(date, time, zone.clone())),
        Some("Z") => Ok(Moment::Time(date, time, Zone::utc())),
        _ => Err(none()),
    }
}

/// A length in seconds: `P1W`, `P3D`, `PT8H`, `P1DT12H30M`.
pub(super) fn duration(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is no length such as P1D or PT8H");
    let rest = text.strip_prefix('+').unwrap_or(text).strip_prefix('P').ok_or_else(wrong)?;
    let (mut total, mut number, mut in_time) = (0_i64, None::<i64>, false);
    for sign in rest.chars() {
        let unit = match (sign, in_time) {
            ('0'..='9', _) => {
                let digit = i64::from(sign.to_digit(10).unwrap_or_default());
                let grown = number.unwrap_or(0).saturating_mul(10).saturating_add(digit);
                number = Some(grown.min(1_000_000_000));
                continue;
            }
            ('T', false) if number.is_none() => {
                in_time = true;
                continue;
            }
            ('W', false) => 7 * 86_400,
            ('D', false) => 86_400,
            ('H', true) => 3_600,
            ('M', true) => 60,
            ('S', true) => 1,
            _ => return Err(wrong()),
        };
        total = total.saturating_add(number.take().ok_or_else(wrong)?.saturating_mul(unit));
    }
    if number.is_some() || total == 0 { Err(wrong()) } else { Ok(total) }
}
