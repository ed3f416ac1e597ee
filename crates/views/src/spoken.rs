//! How do people say when something is, and how much? `today 21:00`, `12 hours`, `Five of seven`.
//!
//! An instant is said as the wall clock of a zone shows it, seen from another instant; a table and a log say it in full ([`crate::text`]).

use schedule::{Date, Instant, Month, Zone};

/// When something is: `today 21:00`, `tomorrow 12:00`, `Sat 21 Nov 00:00`, and with its year where that is another.
pub fn when(at: Instant, now: Instant, zone: &Zone) -> String {
    format!("{} {}", day(at, now, zone), clock(at, zone))
}

/// The same with the words of a sentence: `today at 21:00`, `on Sat 21 Nov at 00:00`.
pub fn when_in_a_sentence(at: Instant, now: Instant, zone: &Zone) -> String {
    let day = day(at, now, zone);
    let on = if day == "today" || day == "tomorrow" || day == "yesterday" { "" } else { "on " };
    format!("{on}{day} at {}", clock(at, zone))
}

/// The time of day: `21:00`. Seconds are left to those who count.
pub fn clock(at: Instant, zone: &Zone) -> String {
    let seconds = zone.time_of(at).seconds();
    format!("{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

/// The day: `today`, `tomorrow`, `Sat 21 Nov`, `Sat 2 Jan 2027`.
pub fn day(at: Instant, now: Instant, zone: &Zone) -> String {
    let (date, today) = (zone.date_of(at), zone.date_of(now));
    match date.days_since_epoch() - today.days_since_epoch() {
        -1 => "yesterday".into(),
        0 => "today".into(),
        1 => "tomorrow".into(),
        _ if date.year() == today.year() => short_date(date),
        // Of a year around the turn of another nobody has to be told.
        days if (0..120).contains(&days) => short_date(date),
        _ => format!("{} {}", short_date(date), date.year()),
    }
}

/// `Sat 21 Nov`.
pub fn short_date(date: Date) -> String {
    let day: String = date.weekday().name().chars().take(3).collect();
    format!("{day} {} {}", date.day(), short_month(date))
}

/// `Nov`.
pub fn short_month(date: Date) -> String {
    let place = usize::from(date.month()).saturating_sub(1);
    let name = Month::ALL.get(place).map_or("", |month| month.name());
    name.chars().take(3).collect()
}

/// The place of a zone, as people call it: `Berlin` for `Europe/Berlin`.
pub fn place(zone: &Zone) -> String {
    let name = zone.name();
    name.rsplit('/').next().unwrap_or(name).replace('_', " ")
}

/// A length of time in words, in its one or two largest units: `12 hours`, `2 days 15 hours`, `a minute`.
pub fn length(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let unit = |count: i64, name: &str| match count {
        1 => format!("1 {name}"),
        count => format!("{count} {name}s"),
    };
    match (days, hours, minutes) {
        (0, 0, 0) => "less than a minute".into(),
        (0, 0, minutes) => unit(minutes, "minute"),
        (0, hours, 0) => unit(hours, "hour"),
        (0, hours, minutes) => format!("{} {}", unit(hours, "hour"), unit(minutes, "minute")),
        (days, 0, _) => unit(days, "day"),
        // Of many days hours say nothing.
        (days, _, _) if days > 13 => unit(days, "day"),
        (days, hours, _) => format!("{} {}", unit(days, "day"), unit(hours, "hour")),
    }
}

/// The same short, as beside an instant: `12 h`, `2 d 15 h`, `42 min`.
pub fn short_length(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, 0, _) => format!("{days} d"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// A number in a sentence: small ones are words, large ones have their thousands apart.
pub fn count(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.get(number).map_or_else(|| thousands(number), |word| (*word).to_owned())
}

/// `9,173`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A sentence with a capital at its start.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    #[test]
    fn instants_are_said_as_the_clock_of_a_zone_shows_them() {
        let now = at("2026-11-18T09:00:00Z");
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let check = |instant: &str, zone: &Zone, expected: &str| {
            assert_eq!(when(at(instant), now, zone), expected);
        };
        check("2026-11-18T21:00:00Z", &Zone::utc(), "today 21:00");
        check("2026-11-18T23:30:00Z", &berlin, "tomorrow 00:30");
        check("2026-11-21T00:00:00Z", &Zone::utc(), "Sat 21 Nov 00:00");
        check("2027-01-02T08:00:00Z", &Zone::utc(), "Sat 2 Jan 08:00");
        check("2028-01-02T08:00:00Z", &Zone::utc(), "Sun 2 Jan 2028 08:00");
        check("2026-11-17T08:00:00Z", &Zone::utc(), "yesterday 08:00");
        let said = when_in_a_sentence(at("2026-11-21T00:00:00Z"), now, &Zone::utc());
        assert_eq!(said, "on Sat 21 Nov at 00:00");
        assert_eq!(when_in_a_sentence(now, now, &Zone::utc()), "today at 09:00");
        assert_eq!(place(&berlin), "Berlin");
    }

    #[test]
    fn lengths_and_numbers_are_said_in_words() {
        assert_eq!(length(12 * 3600), "12 hours");
        assert_eq!(length(2 * 86_400 + 15 * 3600 + 59), "2 days 15 hours");
        assert_eq!(length(17 * 86_400 + 10 * 3600), "17 days");
        assert_eq!(length(3660), "1 hour 1 minute");
        assert_eq!(length(59), "less than a minute");
        assert_eq!(short_length(2 * 86_400 + 15 * 3600), "2 d 15 h");
        assert_eq!(short_length(42 * 60), "42 min");
        assert_eq!(capital(&count(5)), "Five");
        assert_eq!(count(9173), "9,173");
        assert_eq!(thousands(1_044_000), "1,044,000");
        assert_eq!(count(13), "13");
    }
}
