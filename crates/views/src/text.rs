//! How are times and tables written for people?

use schedule::Instant;
use tidegate_core::policy::explain;

/// A length of time in the two largest units that matter: `6d 8h`, `1h30m`, `45s`.
pub fn length(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes, seconds % 60) {
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, 0) => format!("{m}m"),
        (0, 0, m, s) => format!("{m}m{s}s"),
        (0, h, 0, _) => format!("{h}h"),
        (0, h, m, _) => format!("{h}h{m}m"),
        (d, 0, _, _) => format!("{d}d"),
        (d, h, _, _) => format!("{d}d {h}h"),
    }
}

/// Where an instant is, seen from now: `in 6d 8h`, `3h ago`, `now`.
pub fn relative(at: Instant, now: Instant) -> String {
    let seconds = at.unix() - now.unix();
    match seconds {
        0 => "now".into(),
        1.. => format!("in {}", length(seconds)),
        _ => format!("{} ago", length(-seconds)),
    }
}

/// The day of the week in UTC: `Sat`.
pub fn weekday(at: Instant) -> &'static str {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    // The epoch was a Thursday.
    let day = usize::try_from(at.unix().div_euclid(86_400).rem_euclid(7)).unwrap_or(0);
    DAYS.get(day).copied().unwrap_or_default()
}

/// Hours, with a quarter of an hour at the least: `8h`, `7.5h`, `0h`.
pub fn hours(seconds: i64) -> String {
    let hundredths = (seconds * 100 + 1800) / 3600;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{}h", text.trim_end_matches('0').trim_end_matches('.'))
}

/// An edge of a span in UTC with the zone's wall clock beside it, or a word for none.
pub fn edge(at: Option<Instant>, zone: &schedule::Zone, none: &str) -> String {
    at.map_or_else(|| none.to_owned(), |at| explain::when(at, zone))
}

/// Rows under their headings, in columns as wide as their widest entry.
pub fn table(indent: usize, rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width + 2 - cell.chars().count()));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A text of several lines, each so far to the right.
pub fn indented(indent: usize, text: &str) -> String {
    let lines = text.lines().map(|line| format!("{}{line}", " ".repeat(indent)));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_week_follow_each_other() {
        let check = |date: &str, day: &str| {
            assert_eq!(weekday(Instant::parse(&format!("{date}T23:59:59Z")).unwrap()), day);
        };
        check("2026-11-21", "Sat");
        check("2026-11-22", "Sun");
        check("1970-01-01", "Thu");
        check("1969-12-31", "Wed");
    }

    #[test]
    fn lengths_are_short_and_exact_enough() {
        let check = |seconds: i64, text: &str| assert_eq!(length(seconds), text);
        check(0, "0s");
        check(59, "59s");
        check(90, "1m30s");
        check(8 * 3600, "8h");
        check(5400, "1h30m");
        check(6 * 86_400 + 8 * 3600 + 59, "6d 8h");
        assert_eq!(hours(27_000), "7.5h");
        assert_eq!(hours(0), "0h");
        assert_eq!(hours(100 * 3600), "100h");
    }
}
