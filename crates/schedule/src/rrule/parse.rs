//! What does this text say, and if it says nothing, where does it go wrong?
//!
//! Parts that cannot be honoured are refused by name and position, never skipped: a skipped part would be a window at the wrong
//! time (TIME-13). Reading is total: any text gives a rule or an error, at a cost linear in its length.

mod moment;
mod parts;
mod text;

use text::{Token, Unfolded};

use super::{Clock, End, Rrule};
use crate::date::TimeOfDay;
use crate::error::Error;
use crate::zone::Zone;

/// The longest input that is looked at. The longest useful rule has a few hundred bytes.
const LONGEST: usize = 64 * 1024;

pub(super) fn parse(input: &str) -> Result<Rrule, Error> {
    if input.len() > LONGEST {
        let message = format!("the rule has {} bytes: at most {LONGEST} are read", input.len());
        return Err(Error::range(message).at(LONGEST));
    }
    if let Some((at, found)) = input.char_indices().find(|(_, found)| !found.is_ascii()) {
        return Err(
            Error::syntax(format!("`{found}` has no place in a rule: expected ASCII")).at(at)
        );
    }
    let unfolded = Unfolded::new(input);
    let whole = Token { text: &unfolded.text, at: 0 };
    block(whole).map_err(|error| unfolded.locate(error))
}

/// Reads the lines of the block, in any order.
fn block(whole: Token<'_>) -> Result<Rrule, Error> {
    let mut start = None;
    let mut rule = None;
    // A block of lines ends with a line break more often than not.
    let trimmed = Token { text: whole.text.trim_end_matches(['\r', '\n']), ..whole };
    for line in trimmed.split('\n') {
        let line = Token { text: line.text.strip_suffix('\r').unwrap_or(line.text), ..line };
        match Line::of(line)? {
            Line::Start(..) if start.is_some() => {
                return Err(line.syntax("a second DTSTART: a rule has one"));
            }
            Line::Rule(_) if rule.is_some() => {
                return Err(line.syntax("a second RRULE: one rule is read at a time"));
            }
            Line::Start(parameters, value) => start = Some(moment::start(parameters, value)?),
            Line::Rule(value) => rule = Some(parts::Parts::split(value)?),
        }
    }
    let Some(parts) = rule else {
        let message = "there is no rule: expected a line such as RRULE:FREQ=WEEKLY;BYDAY=SA";
        return Err(Error::syntax(message).at(trimmed.end()));
    };
    let rule = parts.rule(start)?;
    if let Some(until) = parts.until() {
        check_until(&rule).map_err(|error| error.at(until.at))?;
    }
    Ok(rule)
}

enum Line<'a> {
    /// The parameters, each still with its semicolon, and the value.
    Start(Token<'a>, Token<'a>),
    Rule(Token<'a>),
}

impl<'a> Line<'a> {
    fn of(line: Token<'a>) -> Result<Self, Error> {
        let name_ends = line.text.find([':', ';', '=']).unwrap_or(line.text.len());
        let (name, rest) = line.around(name_ends);
        let separator = line.text.as_bytes().get(name_ends);
        if separator == Some(&b'=') || parts::Part::named(name).is_some() {
            return Ok(Self::Rule(line));
        }
        if name.text.is_empty() {
            return Err(line.syntax(
                "expected a rule such as FREQ=WEEKLY;BYDAY=SA, or a line DTSTART… or RRULE:…",
            ));
        }
        match name.text.to_ascii_uppercase().as_str() {
            "RRULE" => match separator {
                Some(b':') => Ok(Self::Rule(rest)),
                Some(_) => Err(rest.unsupported(format!(
                    "parameter {} of RRULE is not supported: expected RRULE:FREQ=…",
                    rest.quoted()
                ))),
                None => Err(Error::syntax("expected `:` after RRULE").at(name.end())),
            },
            "DTSTART" => {
                let value_begins = unquoted_colon(line.text)
                    .ok_or_else(|| Error::syntax("expected `:` and a date").at(line.end()))?;
                let (head, value) = line.around(value_begins);
                let parameters = Token {
                    text: head.text.get(name_ends..).unwrap_or_default(),
                    at: head.at + name_ends,
                };
                Ok(Self::Start(parameters, value))
            }
            "RDATE" | "EXDATE" | "EXRULE" => Err(line.unsupported(format!(
                "{} is not supported: write single dates as exclusions or as a second schedule",
                name.quoted()
            ))),
            "DTEND" | "DURATION" => Err(line.unsupported(format!(
                "{} is not supported: the length of a window is not part of its rule",
                name.quoted()
            ))),
            _ => Err(line.syntax(format!(
                "{} is neither a rule nor a line DTSTART… or RRULE:…",
                name.quoted()
            ))),
        }
    }
}

/// Where the first colon stands that is not within double quotes.
fn unquoted_colon(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b':' && !quoted
    })
}

/// UNTIL has the kind of value that DTSTART asks for, and lets at least the day of DTSTART fire.
///
/// A date is accepted beside any DTSTART, though RFC 5545 wants the same kind of value: it is common, and has one sensible reading,
/// that this day is the last in the rule's own zone.
fn check_until(rule: &Rrule) -> Result<(), Error> {
    let Some(End::Until(until)) = &rule.end else {
        return Ok(());
    };
    let start = rule.start.as_ref().map(|start| &start.clock);
    let wanted = match (start, &until.clock) {
        (_, Clock::WholeDay)
        | (None | Some(Clock::Utc(_) | Clock::Zoned(..)), Clock::Utc(_))
        | (Some(Clock::Floating(_)), Clock::Floating(_)) => None,
        (Some(Clock::WholeDay), _) => Some("DTSTART is a date, so UNTIL must be one: 20301231"),
        (Some(Clock::Floating(_)), _) => {
            Some("DTSTART has no zone, so UNTIL must have none: 20301231T235959")
        }
        (Some(Clock::Utc(_) | Clock::Zoned(..)), _) => {
            Some("DTSTART has a zone, so UNTIL must be in UTC: 20301231T235959Z")
        }
        (None, _) => Some("without DTSTART, UNTIL must be a date or in UTC: 20301231T235959Z"),
    };
    if let Some(wanted) = wanted {
        return Err(Error::range(wanted));
    }
    let time = rule.start_time().unwrap_or(TimeOfDay::MIDNIGHT);
    let zone = rule.zone().unwrap_or(Zone::utc());
    let last = rule.until_day(time, &zone);
    match (rule.start_date(), last) {
        (Some(start), Some(last)) if last < start.days_since_epoch() => {
            Err(Error::range("UNTIL is before DTSTART, so the rule could never fire"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
