//! What do the parts of a rule say, each by itself and together?

use super::super::print::short_name;
use super::super::{ByDay, End, Frequency, Moment, Rrule};
use super::moment;
use super::text::Token;
use crate::error::Error;
use crate::names::Weekday;

/// The parts that are understood.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Freq,
    Interval,
    Count,
    Until,
    Wkst,
    ByMonth,
    ByDay,
    ByMonthDay,
    BySetPos,
}

const PARTS: [(&str, Part); 9] = [
    ("FREQ", Part::Freq),
    ("INTERVAL", Part::Interval),
    ("COUNT", Part::Count),
    ("UNTIL", Part::Until),
    ("WKST", Part::Wkst),
    ("BYMONTH", Part::ByMonth),
    ("BYDAY", Part::ByDay),
    ("BYMONTHDAY", Part::ByMonthDay),
    ("BYSETPOS", Part::BySetPos),
];

/// Parts of RFC 5545 and RFC 7529 that are not honoured, and why.
const REFUSED: [(&str, &str); 7] = [
    ("BYHOUR", "rules choose days; the time of day is the window's start"),
    ("BYMINUTE", "rules choose days; the time of day is the window's start"),
    ("BYSECOND", "rules choose days; the time of day is the window's start"),
    ("BYWEEKNO", "name the days by BYMONTH, BYDAY or BYMONTHDAY"),
    ("BYYEARDAY", "name the days by BYMONTH and BYMONTHDAY"),
    ("RSCALE", "rules are read in the Gregorian calendar"),
    ("SKIP", "a date that a month does not have gives no occurrence"),
];

const SUB_DAILY: [&str; 3] = ["HOURLY", "MINUTELY", "SECONDLY"];

impl Part {
    pub(super) fn named(name: Token<'_>) -> Option<Self> {
        PARTS.iter().find(|(known, _)| name.is(known)).map(|(_, part)| *part)
    }
}

/// The values of a rule's parts, not yet read.
pub(super) struct Parts<'a> {
    whole: Token<'a>,
    values: [Option<Token<'a>>; PARTS.len()],
}

impl<'a> Parts<'a> {
    pub(super) fn split(whole: Token<'a>) -> Result<Self, Error> {
        let mut values = [None; PARTS.len()];
        for part in whole.split(';') {
            let Some((name, value)) = part.split_once('=') else {
                return Err(part.syntax(if part.text.is_empty() {
                    "a part is missing: expected a name and a value such as BYDAY=SA".to_owned()
                } else {
                    format!("{} has no value: expected NAME=VALUE", part.quoted())
                }));
            };
            let slot = Part::named(name).and_then(|known| values.get_mut(known as usize));
            let Some(slot) = slot else {
                return Err(refusal(name));
            };
            if slot.is_some() {
                return Err(name.syntax(format!("a second {}: a part occurs once", name.quoted())));
            }
            if value.text.is_empty() {
                return Err(value.syntax(format!("{} has no value", name.quoted())));
            }
            *slot = Some(value);
        }
        Ok(Self { whole, values })
    }

    fn value(&self, part: Part) -> Option<Token<'a>> {
        self.values.get(part as usize).copied().flatten()
    }

    pub(super) fn until(&self) -> Option<Token<'a>> {
        self.value(Part::Until)
    }

    /// Reads the values and checks them against each other.
    pub(super) fn rule(&self, start: Option<Moment>) -> Result<Rrule, Error> {
        let Some(value) = self.value(Part::Freq) else {
            return Err(self
                .whole
                .syntax("the rule has no FREQ: expected FREQ=WEEKLY or the like"));
        };
        let frequency = frequency(value)?;
        let rule = Rrule {
            start,
            frequency,
            interval: self
                .value(Part::Interval)
                .map(|value| count(value, 9_999))
                .transpose()?
                .map(|interval| interval as u16),
            end: self.end()?,
            week_start: self.value(Part::Wkst).map(weekday).transpose()?,
            by_month: self
                .list(Part::ByMonth, |token| count(token, 12).map(|month| month as u8))?,
            by_day: self.list(Part::ByDay, |token| self.by_day(frequency, token))?,
            by_month_day: self
                .list(Part::ByMonthDay, |token| signed(token, 31).map(|date| date as i8))?,
            by_set_pos: self.list(Part::BySetPos, |token| signed(token, 366))?,
        };
        if let Some(value) = self.value(Part::ByMonthDay)
            && frequency == Frequency::Weekly
        {
            let message = "BYMONTHDAY has no meaning with FREQ=WEEKLY: use BYDAY, or FREQ=MONTHLY";
            return Err(value.range(message));
        }
        if let Some(value) = self.value(Part::BySetPos)
            && rule.by_day.is_empty()
            && rule.by_month_day.is_empty()
            && rule.by_month.is_empty()
        {
            let message =
                "BYSETPOS chooses from what another part selects: add BYDAY, BYMONTHDAY or BYMONTH";
            return Err(value.range(message));
        }
        Ok(rule)
    }

    fn end(&self) -> Result<Option<End>, Error> {
        match (self.value(Part::Count), self.value(Part::Until)) {
            (None, None) => Ok(None),
            (Some(value), None) => Ok(Some(End::Count(count(value, u32::MAX)?))),
            (None, Some(value)) => Ok(Some(End::Until(moment::read(value)?))),
            (Some(first), Some(second)) => {
                let later = if first.at > second.at { first } else { second };
                Err(later.range("COUNT and UNTIL are both given: a rule has one end"))
            }
        }
    }

    fn list<T>(
        &self,
        part: Part,
        read: impl Fn(Token<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.value(part)
            .map_or_else(|| Ok(Vec::new()), |value| value.split(',').map(read).collect())
    }

    fn by_day(&self, frequency: Frequency, token: Token<'a>) -> Result<ByDay, Error> {
        let letters = token.text.find(|c: char| c.is_ascii_alphabetic());
        let (number, name) = token.text.split_at(letters.unwrap_or(token.text.len()));
        let weekday = weekday(Token { text: name, at: token.at + number.len() })?;
        if number.is_empty() {
            return Ok(ByDay { ordinal: 0, weekday });
        }
        let (period, most) = match frequency {
            Frequency::Weekly | Frequency::Daily => {
                let message = format!(
                    "{} counts weekdays within a month or a year, which FREQ={} has not: write {}",
                    token.quoted(),
                    frequency.name(),
                    short_name(weekday)
                );
                return Err(token.range(message));
            }
            Frequency::Yearly if self.value(Part::ByMonth).is_none() => ("year", 53),
            Frequency::Monthly | Frequency::Yearly => ("month", 5),
        };
        let number = Token { text: number, at: token.at };
        let ordinal = integer(number)?;
        if ordinal == 0 || ordinal.abs() > most {
            let message = format!(
                "{} is no weekday of a {period}: expected 1 to {most}, or -1 to -{most} from its end",
                token.quoted()
            );
            return Err(token.range(message));
        }
        Ok(ByDay { ordinal: ordinal as i8, weekday })
    }
}

/// Why a part of this name is not accepted.
fn refusal(name: Token<'_>) -> Error {
    if let Some((known, instead)) = REFUSED.iter().find(|(known, _)| name.is(known)) {
        return name.unsupported(format!("{known} is not supported: {instead}"));
    }
    if name.is("DTSTART") || name.is("TZID") {
        let message = format!(
            "{} is not a part of the rule: write a line DTSTART;TZID=Europe/Berlin:20260103T200000 before RRULE:…",
            name.quoted()
        );
        return name.syntax(message);
    }
    if name.text.is_empty() {
        return name.syntax("a part has no name: expected NAME=VALUE");
    }
    name.syntax(format!("{} is not a part of a rule", name.quoted()))
}

fn frequency(value: Token<'_>) -> Result<Frequency, Error> {
    if let Some(known) = Frequency::ALL.into_iter().find(|known| value.is(known.name())) {
        return Ok(known);
    }
    if SUB_DAILY.iter().any(|name| value.is(name)) {
        let message = format!(
            "FREQ={} is not supported: the shortest is DAILY",
            value.text.to_ascii_uppercase()
        );
        return Err(value.unsupported(message));
    }
    Err(value.syntax(format!(
        "{} is not a frequency: expected DAILY, WEEKLY, MONTHLY or YEARLY",
        value.quoted()
    )))
}

fn weekday(value: Token<'_>) -> Result<Weekday, Error> {
    let mut known = Weekday::ALL.iter().copied();
    known.find(|weekday| value.is(short_name(*weekday))).ok_or_else(|| {
        let message =
            format!("{} is not a weekday: expected MO, TU, WE, TH, FR, SA or SU", value.quoted());
        value.syntax(message)
    })
}

/// A number with or without a sign. Numbers too long to count are as large as can be, and so out of every range.
fn integer(value: Token<'_>) -> Result<i64, Error> {
    let (sign, digits) = match value.text.as_bytes() {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(value.syntax(format!("{} is not a number", value.quoted())));
    }
    Ok(digits.iter().fold(0_i64, |number, digit| {
        number.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
    }) * sign)
}

/// A number from 1 to `most`, without a sign.
fn count(value: Token<'_>, most: u32) -> Result<u32, Error> {
    let number = integer(value)?;
    u32::try_from(number)
        .ok()
        .filter(|number| (1..=most).contains(number) && !value.text.starts_with('+'))
        .ok_or_else(|| value.range(format!("{} is not between 1 and {most}", value.quoted())))
}

/// A number from 1 to `most`, or from -1 to -`most`.
fn signed(value: Token<'_>, most: i16) -> Result<i16, Error> {
    let number = integer(value)?;
    i16::try_from(number)
        .ok()
        .filter(|number| *number != 0 && number.unsigned_abs() <= most.unsigned_abs())
        .ok_or_else(|| {
            value
                .range(format!("{} is not between 1 and {most}, or -1 and -{most}", value.quoted()))
        })
}
