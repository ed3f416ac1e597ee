//! Which texts fit a named format?
//!
//! Only the formats that the real server enforces are checked; unknown formats pass.

use jiff::civil::Date;

/// Whether `text` has the format, for the formats that the server knows.
pub(crate) fn fits(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => date_time(text),
        "date" => date(text),
        "duration" => go_duration(text),
        "uuid" => uuid(text),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "email" => text.split_once('@').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()),
        "hostname" => {
            !text.is_empty() && text.len() <= 253 && text.split('.').all(crate::name::is_label)
        }
        "byte" => base64(text),
        _ => true,
    }
}

fn date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// A date, `T`, a time with seconds, and an offset; looser than RFC 3339 in its letters alone.
fn date_time(text: &str) -> bool {
    let Some((day, time)) = text.split_once(['T', 't']) else { return false };
    let Some((clock, rest)) = time.split_at_checked(8) else { return false };
    let offset = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let fraction = rest.strip_suffix(offset).unwrap_or_default();
    let two = |text: &str, most: &str| {
        text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()) && text <= most
    };
    let mut parts = clock.split(':');
    let clock_fits =
        ["23", "59", "59"].iter().all(|most| parts.next().is_some_and(|part| two(part, most)));
    let fraction_fits = fraction.is_empty()
        || fraction.strip_prefix('.').is_some_and(|f| !f.is_empty() && !f.contains('.'));
    let offset_fits = matches!(offset, "Z" | "z")
        || offset
            .strip_prefix(['+', '-'])
            .and_then(|o| o.split_once(':'))
            .is_some_and(|(hours, minutes)| two(hours, "99") && two(minutes, "99"));
    date(day) && clock_fits && fraction_fits && offset_fits
}

/// `1h30m`, `1.5s`, `-2ms`: what Go's `time.ParseDuration` accepts, plus the words that Kubernetes adds for days.
fn go_duration(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['-', '+']);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if digits.len() == rest.len() {
            return false;
        }
        let digits = digits.trim_start_matches(' ');
        let Some(unit) = ["ns", "us", "µs", "ms", "s", "m", "h", "d", "w"]
            .iter()
            .find(|u| digits.starts_with(**u) && !(**u == "m" && digits.starts_with("ms")))
        else {
            return false;
        };
        rest = digits.get(unit.len()..).unwrap_or_default();
    }
    true
}

fn uuid(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| *c != '-').collect();
    plain.len() == 32 && plain.bytes().all(|b| b.is_ascii_hexdigit())
}

fn base64(text: &str) -> bool {
    text.len().is_multiple_of(4)
        && text
            .trim_end_matches('=')
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}
