//! What can a person say on the command line? The arguments that several verbs share.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum, builder::PossibleValue};
use schedule::{Date, Instant};
use tidegate_core::document::key::kind_called;

use crate::{
    edge::Edge,
    source::{self, Loaded, Reads},
};

/// The policies a verb reads.
#[derive(Args, Debug)]
pub(crate) struct Sources {
    /// A policy file, a folder of them, or - for standard input; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,

    /// Policy files or folders, as with -f
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

impl Sources {
    /// Whether any was named.
    pub(crate) fn are_named(&self) -> bool {
        !self.files.is_empty() || !self.paths.is_empty()
    }

    /// Reads the policies of all.
    pub(crate) fn load(&self, edge: &mut Edge) -> anyhow::Result<Loaded> {
        self.load_all(Reads::Policies, edge)
    }

    /// Reads the welcome documents of all.
    pub(crate) fn load_all(&self, reads: Reads, edge: &mut Edge) -> anyhow::Result<Loaded> {
        let paths: Vec<PathBuf> = self.files.iter().chain(&self.paths).cloned().collect();
        load(&paths, reads, edge)
    }

    /// Those that name an object of a cluster, such as `mcp/worker`, and those that are paths. What is there as a file is a path.
    pub(crate) fn divided(&self) -> (Vec<String>, Vec<PathBuf>) {
        let named = |path: &Path| {
            let text = path.to_str().filter(|_| !path.exists())?;
            let (kind, _) = text.split_once('/')?;
            kind_called(kind).map(|_| text.to_owned())
        };
        let objects = self.paths.iter().filter_map(|path| named(path)).collect();
        let paths = self.paths.iter().filter(|path| named(path).is_none());
        (objects, self.files.iter().chain(paths).cloned().collect())
    }
}

/// Reads the welcome documents of some paths.
pub(crate) fn load(paths: &[PathBuf], reads: Reads, edge: &mut Edge) -> anyhow::Result<Loaded> {
    if paths.is_empty() {
        bail!("no policy was named\n  hint: -f FILE, -f FOLDER, or -f - for standard input");
    }
    Ok(source::load_all(paths, reads, &mut edge.stdin))
}

/// When a verb looks.
#[derive(Args, Debug)]
pub(crate) struct At {
    /// Answer for this instant instead of now: RFC 3339, or a date for its midnight in UTC
    #[arg(long, value_name = "TIME", value_parser = moment)]
    at: Option<Moment>,
}

impl At {
    /// The instant meant.
    pub(crate) fn instant(&self, edge: &Edge) -> Instant {
        self.given().unwrap_or(edge.now)
    }

    /// The instant, if the person said one.
    pub(crate) fn given(&self) -> Option<Instant> {
        self.at.as_ref().map(|moment| moment.instant)
    }
}

/// Which time a verb looks at.
#[derive(Args, Debug)]
pub(crate) struct When {
    #[command(flatten)]
    at: At,

    /// Start of the range [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<Moment>,

    /// End of the range, which is not part of it
    #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with = "length")]
    until: Option<Moment>,

    /// Length of the range, such as 30d, 12h, 2w, 6mo or 1y
    #[arg(long = "for", id = "length", value_name = "LENGTH", value_parser = ahead)]
    length: Option<Ahead>,
}

impl When {
    /// The instant that counts as now.
    pub(crate) fn now(&self, edge: &Edge) -> Instant {
        self.at.instant(edge)
    }

    /// Whether the person said how far to look.
    pub(crate) fn is_bounded(&self) -> bool {
        self.until.is_some() || self.length.is_some()
    }

    /// The start that was asked for.
    pub(crate) fn start(&self) -> Option<Moment> {
        self.from
    }

    /// The range meant, with the length of the verb's choice where none was said.
    pub(crate) fn range(&self, edge: &Edge, default: Ahead) -> anyhow::Result<Range<Instant>> {
        /// A century of windows is more than anyone reads, and bounds what a verb prints.
        const LONGEST: i64 = 100 * 366 * 86_400;
        let start = self.from.map_or_else(|| self.now(edge), |moment| moment.instant);
        let end = match self.until {
            Some(until) => until.instant,
            None => self.length.unwrap_or(default).after(start),
        };
        if end <= start {
            bail!(
                "the range from {start} until {end} is empty\n  hint: --until must be after --from"
            );
        }
        if end.unix() - start.unix() > LONGEST {
            bail!(
                "the range from {start} until {end} is longer than 100 years\n  hint: ask for less"
            );
        }
        Ok(start..end)
    }
}

/// A point in time as a person gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The instant meant.
    pub(crate) instant: Instant,
    /// The date, if it was given as one.
    pub(crate) date: Option<Date>,
}

/// An instant, or how far it is from now.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// An instant.
    At(Instant),
    /// So far from now.
    In(Ahead),
}

impl Until {
    /// The instant meant.
    pub(crate) fn instant(self, now: Instant) -> Instant {
        match self {
            Self::At(instant) => instant,
            Self::In(ahead) => ahead.after(now),
        }
    }
}

/// Reads an instant, a date, or `+24h`.
pub(crate) fn until(text: &str) -> Result<Until, String> {
    match text.strip_prefix('+') {
        Some(length) => ahead(length).map(Until::In),
        None => moment(text).map(|moment| Until::At(moment.instant)),
    }
}

pub(crate) fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(date) = Date::parse(text) {
        let instant = Instant::from_unix(i64::from(date.days_since_epoch()) * 86_400);
        return instant
            .map(|instant| Moment { instant, date: Some(date) })
            .map_err(|error| error.to_string());
    }
    let fault = |error: schedule::Error| {
        // A text that looks like a date is one that the calendar does not have.
        let dated = text.len() == 10 && !text.contains('T');
        let error = if dated { Date::parse(text).err().unwrap_or(error) } else { error };
        format!("{error}")
    };
    Instant::parse(text).map(|instant| Moment { instant, date: None }).map_err(fault)
}

/// How far to look: months by the calendar, then seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    months: i32,
    seconds: i64,
}

impl Ahead {
    /// So many days.
    pub(crate) const fn days(days: i64) -> Self {
        Self { months: 0, seconds: days * 86_400 }
    }

    /// So many months by the calendar.
    pub(crate) const fn months(months: i32) -> Self {
        Self { months, seconds: 0 }
    }

    /// So many times as far.
    pub(crate) fn times(self, count: u32) -> Self {
        let months = self.months.saturating_mul(i32::try_from(count).unwrap_or(i32::MAX));
        Self { months, seconds: self.seconds.saturating_mul(i64::from(count)) }
    }

    /// The instant so far after another.
    pub(crate) fn after(self, start: Instant) -> Instant {
        let day = start.unix().div_euclid(86_400);
        let moved = i32::try_from(day)
            .ok()
            .and_then(|day| Date::from_days_since_epoch(day).ok())
            .map_or(day, |date| self.moved(date));
        start.saturating_add((moved - day) * 86_400).saturating_add(self.seconds)
    }

    /// The day so many months after a date; the last of its month where that has no such day.
    fn moved(self, date: Date) -> i64 {
        let months = date.year() * 12 + i32::from(date.month()) - 1 + self.months;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u8 + 1);
        (1..=date.day())
            .rev()
            .find_map(|day| Date::new(year, month, day).ok())
            .map_or(i64::from(i32::MAX), |date| i64::from(date.days_since_epoch()))
    }
}

/// Reads a length of less than a month, in seconds.
pub(crate) fn seconds(text: &str) -> Result<i64, String> {
    let refused = || format!("{text:?} is not a length of time: expected 90s, 5m, 2h or 1h30m");
    match read_ahead(text) {
        Some(Ahead { months: 0, seconds }) if seconds <= 31 * 86_400 => Ok(seconds),
        _ => Err(refused()),
    }
}

/// Reads how far to look, such as `30d` or `1y`.
pub(crate) fn ahead(text: &str) -> Result<Ahead, String> {
    read_ahead(text)
        .with_context(|| {
            format!("{text:?} is not a length of time: expected 30d, 12h, 2w, 6mo or 1y")
        })
        .map_err(|error| error.to_string())
}

fn read_ahead(text: &str) -> Option<Ahead> {
    let mut total = Ahead { months: 0, seconds: 0 };
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i32 = rest.get(..digits)?.parse().ok().filter(|number| *number <= 1_000_000)?;
        let after = rest.get(digits..)?;
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let seconds = match after.get(..letters)? {
            "y" => {
                total.months += number.checked_mul(12).filter(|months| *months <= 120_000)?;
                0
            }
            "mo" => {
                total.months += number;
                0
            }
            "w" => 7 * 86_400,
            "d" => 86_400,
            "h" => 3600,
            "m" => 60,
            "s" => 1,
            _ => return None,
        };
        total.seconds += i64::from(number) * seconds;
        rest = after.get(letters..)?;
    }
    (total.months > 0 || total.seconds > 0).then_some(total)
}

/// How a verb writes its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Wide,
    Json,
    Yaml,
}

/// The format of the output.
#[derive(Args, Debug)]
pub(crate) struct Formats {
    /// How to write the output
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

/// Whether to colour the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColourChoice {
    /// Where a person looks.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ValueEnum for ColourChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Auto, Self::Always, Self::Never]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }))
    }
}

/// What becomes of a first write that a gate does not permit.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum GateMode {
    Enforce,
    Warn,
    Audit,
}

impl From<GateMode> for api::reach::Mode {
    fn from(mode: GateMode) -> Self {
        match mode {
            GateMode::Enforce => Self::Enforce,
            GateMode::Warn => Self::Warn,
            GateMode::Audit => Self::Audit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_the_calendar() {
        let check = |start: &str, length: &str, end: &str| {
            let found = ahead(length).unwrap().after(Instant::parse(start).unwrap());
            assert_eq!(found.to_string(), end, "{start} {length}");
        };
        check("2026-11-15T12:00:00Z", "30d", "2026-12-15T12:00:00Z");
        check("2026-11-15T12:00:00Z", "1y", "2027-11-15T12:00:00Z");
        check("2024-02-29T12:00:00Z", "1y", "2025-02-28T12:00:00Z");
        check("2026-12-31T00:00:00Z", "2mo", "2027-02-28T00:00:00Z");
        check("2026-11-15T12:00:00Z", "1w12h", "2026-11-23T00:00:00Z");
        check("2026-11-15T12:00:00Z", "90m", "2026-11-15T13:30:00Z");
        check("9999-01-01T00:00:00Z", "5y", "9999-12-31T23:59:59Z");
        for bad in ["", "0d", "d", "3", "3x", "-1d", "1 d", "99999999999d", "1M"] {
            assert!(ahead(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn moments_are_instants_or_dates() {
        assert_eq!(moment("2026-11-15").unwrap().instant.to_string(), "2026-11-15T00:00:00Z");
        let zoned = moment("2026-11-15T01:00:00+01:00").unwrap();
        assert_eq!(zoned.instant.to_string(), "2026-11-15T00:00:00Z");
        assert!(moment("2025-02-30").unwrap_err().contains("no day 30"));
        assert!(moment("tomorrow").is_err());
    }
}
