//! Does everybody who counts answer like python-dateutil?
//!
//! Reads the recorded vectors (`../vectors/dateutil.txt`, whose format is told by the script beside it).

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::reading::{Answer, Lasts, Plan, Shape};

const RECORDED: &str = include_str!("../vectors/dateutil.txt");

/// One recorded rule with its rows.
pub(crate) struct Vector<'a> {
    pub(crate) rule: Rule<'a>,
    pub(crate) rows: Vec<Row>,
}

/// What a vector is about.
pub(crate) enum Rule<'a> {
    Structured(Plan),
    Rfc5545 { text: &'a str, seconds: i64, excluded: Vec<(Date, Date)> },
}

/// One instant, and what dateutil says of it.
pub(crate) struct Row {
    pub(crate) at: i64,
    pub(crate) expect: Answer,
    /// Is nothing there for ever, as opposed to nothing before the horizon?
    pub(crate) exact: Exact,
    pub(crate) near_edge: bool,
}

/// Which of the absent answers of a row are absent for ever.
#[derive(Clone, Copy)]
pub(crate) struct Exact {
    pub(crate) stretch_start: bool,
    pub(crate) next_change: bool,
    pub(crate) next_start: bool,
}

/// All vectors, in the order of the file.
pub(crate) fn recorded() -> impl Iterator<Item = Vector<'static>> {
    let mut lines = RECORDED.lines().filter(|line| !line.starts_with('#')).peekable();
    std::iter::from_fn(move || {
        let rule = rule_of(lines.next()?);
        let mut rows = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(['+', '-'])) {
            stretch_of(line, &mut rows);
        }
        Some(Vector { rule, rows })
    })
}

fn rule_of(line: &'static str) -> Rule<'static> {
    let mut words = line.split(' ');
    let mut word = || words.next().unwrap_or_else(|| panic!("too short: {line}"));
    let number =
        |text: &str| -> i64 { text.parse().unwrap_or_else(|_| panic!("{text} in {line}")) };
    match word() {
        "S" => {
            let name = word();
            let n = number(word());
            let shape = match name {
                "daily" => Shape::Daily(n),
                "weekly" => Shape::Weekly(n, list(word(), weekday_of)),
                "monthly-date" => Shape::MonthlyByDate(n, list(word(), |d| number(d) as i8)),
                "monthly-day" => Shape::MonthlyByDay(n, list(word(), nth_of)),
                "yearly-date" => Shape::YearlyByDate(n as i8, list(word(), |d| number(d) as i8)),
                "yearly-day" => Shape::YearlyByDay(n as i8, list(word(), nth_of)),
                other => panic!("unknown shape {other}"),
            };
            let (hours, minutes) = word().split_once(':').expect("a start is HH:MM");
            let start = number(hours) * 3600 + number(minutes) * 60;
            let lasts = match word() {
                "rest" => Lasts::RestOfDay,
                seconds => Lasts::Seconds(number(seconds)),
            };
            let excluded = words.map(range_of).collect();
            Rule::Structured(Plan { shape, start, lasts, zone: TimeZone::UTC, excluded })
        }
        "R" => {
            let (text, seconds) = (word(), number(word()));
            Rule::Rfc5545 { text, seconds, excluded: words.map(range_of).collect() }
        }
        other => panic!("unknown kind {other}"),
    }
}

fn list<T>(text: &str, one: impl Fn(&str) -> T) -> Vec<T> {
    text.split(',').map(one).collect()
}

fn weekday_of(text: &str) -> u8 {
    let days = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    days.iter().position(|day| *day == text).expect("a weekday") as u8
}

fn nth_of(text: &str) -> (i8, u8) {
    let (ordinal, weekday) = text.split_at(text.len() - 2);
    (ordinal.parse().expect("an ordinal"), weekday_of(weekday))
}

fn range_of(text: &str) -> (Date, Date) {
    let (from, until) = text.split_once('/').expect("an exclusion is from/until");
    (from.parse().expect("a date"), until.parse().expect("a date"))
}

/// An edge as recorded: an instant, none for ever, or none before the horizon.
#[derive(Clone, Copy)]
enum Edge {
    At(i64),
    Never,
    Horizon,
}

impl Edge {
    fn parse(text: &str, base: i64) -> Self {
        match text {
            "n" => Edge::Never,
            "h" => Edge::Horizon,
            number => {
                Edge::At(base + number.parse::<i64>().unwrap_or_else(|_| panic!("edge {text}")))
            }
        }
    }

    fn instant(self) -> Option<i64> {
        if let Edge::At(at) = self { Some(at) } else { None }
    }

    fn is_exact(self) -> bool {
        !matches!(self, Edge::Horizon)
    }
}

fn stretch_of(line: &str, rows: &mut Vec<Row>) {
    let (sign, rest) = line.split_at(1);
    let mut words = rest.split(' ');
    let head = words.next().expect("a stretch has a head");
    let (start, end) = if let Some((start, end)) = head.split_once("..") {
        (Edge::parse(start, 0), Edge::parse(end, 0))
    } else {
        let (start, length) = head.split_once('+').expect("a stretch is start+length");
        let start = Edge::parse(start, 0);
        (start, Edge::parse(length, start.instant().expect("a start before a length")))
    };
    let base = start.instant().or(end.instant()).unwrap_or(0);
    let mut next_start = Edge::Horizon;
    for word in words {
        let (at, next) = word.split_once('>').map_or((word, None), |(at, next)| (at, Some(next)));
        let at = if at == "e-1" {
            end.instant().expect("e needs an end") - 1
        } else {
            base + at.parse::<i64>().unwrap_or_else(|_| panic!("instant {word}"))
        };
        match next {
            Some("e") => next_start = end,
            Some(next) => next_start = Edge::parse(next, base),
            None => {}
        }
        let near = |edge: Edge| edge.instant().is_some_and(|edge| (edge - at).abs() <= 1);
        rows.push(Row {
            at,
            expect: Answer {
                inside: sign == "+",
                stretch_start: start.instant(),
                next_change: end.instant(),
                next_start: next_start.instant(),
            },
            exact: Exact {
                stretch_start: start.is_exact(),
                next_change: end.is_exact(),
                next_start: next_start.is_exact(),
            },
            near_edge: near(start) || near(end),
        });
    }
}
