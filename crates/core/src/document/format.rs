//! How are dates, times, durations and names spelled, and what is wrong with this one?
//!
//! One function for each `format` of the schema, used both by the check of an object's shape and by its lowering: a text that
//! passes the first cannot fail in the second.

use schedule::{Date, Instant, TimeOfDay, Zone};

use crate::document::problem::{Code, FieldPath, Problem, quoted};

/// What is wrong with a text, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What is wrong.
    pub detail: String,
    /// What would be right.
    pub hint: String,
}

impl Flaw {
    fn new(detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { detail: detail.into(), hint: hint.into() }
    }

    /// The flaw as a problem of the field that holds the text.
    pub fn of(self, field: &FieldPath) -> Problem {
        Problem::new(field, Code::BadFormat, self.detail).hint(self.hint)
    }
}

/// The longest window: 366 days (TIME-8).
pub const LONGEST_WINDOW: u32 = 366 * 86_400;

/// Checks a text against a `format` of the schema. Formats that are not ours hold for every text, as Kubernetes has it.
pub fn check(format: &str, text: &str) -> Result<(), Flaw> {
    match format {
        "time-of-day" => time_of_day(text).map(drop),
        "date" => date(text).map(drop),
        "date-time" => date_time(text).map(drop),
        "time-zone" => zone(text).map(drop),
        "go-duration" => duration(text).map(drop),
        "dns-subdomain" => dns_name(text, 253, Dots::Allowed),
        "dns-label" => dns_name(text, 63, Dots::Refused),
        _ => Ok(()),
    }
}

/// `HH:MM`, from 00:00 to 23:59 (TIME-8).
pub fn time_of_day(text: &str) -> Result<TimeOfDay, Flaw> {
    let hint = "write HH:MM, from 00:00 to 23:59, in quotes";
    let digits = text.len() == 5
        && text.bytes().enumerate().all(
            |(i, byte)| {
                if i == 2 { byte == b':' } else { byte.is_ascii_digit() }
            },
        );
    if !digits {
        return Err(Flaw::new(format!("{} is not a time of day", quoted(text)), hint));
    }
    TimeOfDay::parse(text).map_err(|_| {
        let hint = if text == "24:00" {
            "a day ends where the next begins: 00:00, or leave the field out for the rest of the day"
        } else {
            hint
        };
        Flaw::new(format!("there is no time of day {text}"), hint)
    })
}

/// `YYYY-MM-DD`, a day that exists.
pub fn date(text: &str) -> Result<Date, Flaw> {
    let hint = "write YYYY-MM-DD, such as 2026-12-24";
    let digits = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, byte)| if matches!(i, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    if !digits {
        return Err(Flaw::new(format!("{} is not a date", quoted(text)), hint));
    }
    Date::parse(text).map_err(|_| {
        Flaw::new(format!("there is no day {text}"), "write a day that the calendar has")
    })
}

/// An instant as RFC 3339 has it.
pub fn date_time(text: &str) -> Result<Instant, Flaw> {
    Instant::parse(text).map_err(|_| {
        Flaw::new(
            format!("{} is not an instant", quoted(text)),
            "write RFC 3339: date, time and offset, such as 2026-12-24T18:00:00Z",
        )
    })
}

/// An IANA zone. An unknown one is refused, never read as UTC (TIME-12).
pub fn zone(text: &str) -> Result<Zone, Flaw> {
    Zone::named(text).map_err(|_| {
        Flaw::new(
            format!("there is no time zone {} in the IANA database", quoted(text)),
            "write a name such as Europe/Berlin or America/New_York, or leave the field out for UTC",
        )
    })
}

/// A duration as Kubernetes writes them: `8h`, `1h30m`, `90m`, `45s`. Whole seconds, more than zero, at most 366 days (TIME-8).
pub fn duration(text: &str) -> Result<u32, Flaw> {
    const HINT: &str = "write hours, minutes and seconds, such as 8h, 1h30m or 45s; a day is 24h";
    if text.starts_with('-') {
        return Err(Flaw::new(
            format!("{} is negative", quoted(text)),
            "a window lasts more than zero",
        ));
    }
    let nanoseconds = nanoseconds(text).map_err(|unit| match unit {
        Some(unit) if matches!(unit.as_str(), "d" | "day" | "days" | "w" | "y") => Flaw::new(
            format!("{} uses the unit {unit:?}, which durations do not have", quoted(text)),
            HINT,
        ),
        Some(unit) if !unit.is_empty() => {
            Flaw::new(format!("{} uses the unit {unit:?}, which is not known", quoted(text)), HINT)
        }
        Some(_) => Flaw::new(format!("{} has a number without a unit", quoted(text)), HINT),
        None => Flaw::new(format!("{} is not a duration", quoted(text)), HINT),
    })?;
    if nanoseconds == 0 {
        return Err(Flaw::new(
            format!("{} is zero", quoted(text)),
            "a window lasts more than zero",
        ));
    }
    if nanoseconds > u128::from(LONGEST_WINDOW) * SECOND {
        return Err(Flaw::new(
            format!("{} is longer than 366 days", quoted(text)),
            "a window lasts at most 366 days, which is 8784h",
        ));
    }
    if nanoseconds % SECOND != 0 {
        return Err(Flaw::new(
            format!("{} has a fraction of a second", quoted(text)),
            "windows are kept to the second",
        ));
    }
    Ok((nanoseconds / SECOND) as u32)
}

/// How a duration is written in the same style: `8h`, `1h30m`, `45s`.
pub fn duration_text(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let parts = [(hours, 'h'), (minutes, 'm'), (seconds, 's')];
    let given = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}"));
    let text = given.collect::<Vec<_>>().concat();
    if text.is_empty() { "0s".into() } else { text }
}

const SECOND: u128 = 1_000_000_000;

/// Reads the Go form, in nanoseconds; otherwise the unit that was not understood, if that was the fault.
fn nanoseconds(text: &str) -> Result<u128, Option<String>> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    // Longer texts cannot be durations below 366 days, and the bound keeps the sums below far from overflow.
    if rest.is_empty() || text.len() > 64 {
        return Err(None);
    }
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(None);
        }
        let scale = match unit {
            "h" => 3600 * SECOND,
            "m" => 60 * SECOND,
            "s" => SECOND,
            "ms" => 1_000_000,
            other => return Err(Some(other.to_owned())),
        };
        let read = |digits: &str| -> Result<u128, Option<String>> {
            match digits {
                "" => Ok(0),
                // Twenty digits of hours are beyond any limit below; saturating keeps the answer "too long".
                long if long.len() > 18 => Ok(u128::from(u64::MAX)),
                short => short.parse().map_err(|_| None),
            }
        };
        total += read(whole)? * scale;
        let fraction: String = fraction.chars().take(9).collect();
        total += read(&fraction)? * scale / 10_u128.pow(fraction.len() as u32);
        rest = after;
    }
    Ok(total)
}

#[derive(Clone, Copy)]
enum Dots {
    Allowed,
    Refused,
}

fn dns_name(text: &str, longest: usize, dots: Dots) -> Result<(), Flaw> {
    let allowed = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !part.is_empty()
            && part.len() <= longest
            && part.bytes().all(inner)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let fits = match dots {
        Dots::Allowed => text.split('.').all(allowed),
        Dots::Refused => allowed(text),
    };
    if fits && text.len() <= longest {
        return Ok(());
    }
    let dots = if matches!(dots, Dots::Allowed) { ", `-` and `.`" } else { " and `-`" };
    Err(Flaw::new(
        format!("{} is not a name that Kubernetes accepts", quoted(text)),
        format!(
            "use at most {longest} lower-case letters, digits{dots}, with a letter or digit at both ends"
        ),
    ))
}

#[cfg(test)]
mod tests;
