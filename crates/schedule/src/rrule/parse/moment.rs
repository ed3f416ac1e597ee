//! Which date or date-time is written here?

use super::super::{Clock, Moment};
use super::text::Token;
use crate::date::{Date, TimeOfDay};
use crate::error::Error;
use crate::zone::Zone;

/// The DTSTART with these parameters, each led by a semicolon, and this value.
pub(super) fn start(parameters: Token<'_>, value: Token<'_>) -> Result<Moment, Error> {
    let mut zone = None;
    let mut kind = None;
    for parameter in parameters.split(';').skip(1) {
        let Some((name, given)) = parameter.split_once('=') else {
            return Err(parameter.syntax(format!(
                "{} is not a parameter: expected TZID=… or VALUE=…",
                parameter.quoted()
            )));
        };
        if name.is("TZID") && zone.is_none() {
            zone = Some((parameter, named(given)?));
        } else if name.is("VALUE") && kind.is_none() {
            if !given.is("DATE") && !given.is("DATE-TIME") {
                let message =
                    format!("{} is not supported: expected DATE or DATE-TIME", given.quoted());
                return Err(given.unsupported(message));
            }
            kind = Some(given);
        } else if name.is("TZID") || name.is("VALUE") {
            return Err(parameter.syntax(format!("a second {}", name.quoted())));
        } else {
            let message = format!("parameter {} of DTSTART is not supported", name.quoted());
            return Err(parameter.unsupported(message));
        }
    }
    let mut moment = read(value)?;
    let is_date = moment.clock == Clock::WholeDay;
    if let Some(kind) = kind
        && kind.is("DATE") != is_date
    {
        let message = format!("{} is not a {}", value.quoted(), kind.text.to_ascii_uppercase());
        return Err(value.syntax(message));
    }
    if let Some((parameter, zone)) = zone {
        moment.clock = match moment.clock {
            Clock::Floating(time) => Clock::Zoned(time, zone),
            Clock::Utc(_) | Clock::Zoned(..) => {
                let message = "a time in UTC (`Z`) has no TZID: leave out one of them";
                return Err(parameter.syntax(message));
            }
            Clock::WholeDay => {
                return Err(parameter.syntax("a date has no TZID: add a time such as T000000"));
            }
        };
    }
    Ok(moment)
}

/// The zone with this name, which may stand in double quotes.
fn named(given: Token<'_>) -> Result<Zone, Error> {
    let inner = given.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let (name, at) = inner.map_or((given.text, given.at), |inner| (inner, given.at + 1));
    // Quoted by the token, which cuts a long name short.
    Zone::named(name).map_err(|_| {
        let token = Token { text: name, at };
        Error::unknown_zone(format!(
            "{} is not a time zone of the IANA database: expected a name such as Europe/Berlin",
            token.quoted()
        ))
        .at(at)
    })
}

/// Reads `YYYYMMDD`, `YYYYMMDDTHHMMSS` or `YYYYMMDDTHHMMSSZ`.
pub(super) fn read(token: Token<'_>) -> Result<Moment, Error> {
    let malformed = || {
        token.syntax(format!(
            "{} is not a date: expected 20301231, 20301231T235959 or 20301231T235959Z",
            token.quoted()
        ))
    };
    let (date, rest) = token.text.split_at_checked(8).ok_or_else(malformed)?;
    let (time, zulu) = match rest.as_bytes() {
        [] => (None, false),
        [b'T' | b't', _, _, _, _, _, _] => (rest.get(1..7), false),
        [b'T' | b't', _, _, _, _, _, _, b'Z' | b'z'] => (rest.get(1..7), true),
        _ => return Err(malformed()),
    };
    let number = |digits: &str| {
        digits
            .bytes()
            .all(|digit| digit.is_ascii_digit())
            .then(|| digits.parse::<u32>().ok())
            .flatten()
            .ok_or_else(malformed)
    };
    let date = number(date)?;
    let date = Date::new((date / 10_000) as i32, (date / 100 % 100) as u8, (date % 100) as u8)
        .map_err(|error| error.at(token.at))?;
    let Some(time) = time else {
        return Ok(Moment { date, clock: Clock::WholeDay });
    };
    let time = number(time)?;
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    if hour > 23 || minute > 59 || second > 59 {
        let message = format!(
            "{} is not a time of day: hours go to 23, minutes and seconds to 59",
            token.quoted()
        );
        return Err(Error::range(message).at(token.at + 9));
    }
    let time = TimeOfDay::from_seconds(hour * 3_600 + minute * 60 + second)?;
    Ok(Moment { date, clock: if zulu { Clock::Utc(time) } else { Clock::Floating(time) } })
}
