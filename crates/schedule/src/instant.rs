//! Which second is meant?

use std::fmt;

use crate::civil::{self, DAY};
use crate::error::Error;

/// An instant with second resolution (TIME-1): seconds since 1970-01-01T00:00:00Z, from the year 1 to the year 9999.
///
/// ```
/// use schedule::Instant;
///
/// let opening = Instant::parse("2026-11-14T20:00:00Z")?;
/// assert_eq!(opening.unix(), 1_794_686_400);
/// assert_eq!(opening.saturating_add(3_600).to_string(), "2026-11-14T21:00:00Z");
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    /// 1970-01-01T00:00:00Z, where every rule is anchored (TIME-3).
    pub const EPOCH: Self = Self(0);
    /// 0001-01-01T00:00:00Z, the first instant.
    pub const MIN: Self = Self(civil::day_of(1, 1, 1) as i64 * DAY);
    /// 9999-12-31T23:59:59Z, the last instant.
    pub const MAX: Self = Self(civil::day_of(10_000, 1, 1) as i64 * DAY - 1);

    /// The instant so many seconds after the epoch; refused outside the years 1 to 9999.
    #[inline]
    pub fn from_unix(seconds: i64) -> Result<Self, Error> {
        Self::of_edge(seconds).ok_or_else(|| outside(seconds))
    }

    /// Reads RFC 3339, such as `2026-11-14T20:00:00Z` or `2026-11-14T21:00:00+01:00`. Fractions of a second are cut off.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let timestamp: jiff::Timestamp = text.parse().map_err(|_| {
            Error::syntax(format!(
                "`{text}` is not an instant: expected RFC 3339 such as 2026-11-14T20:00:00Z"
            ))
            .at(0)
        })?;
        Self::try_from(timestamp)
    }

    /// Seconds since the epoch.
    #[inline]
    pub const fn unix(self) -> i64 {
        self.0
    }

    /// The instant so many seconds later (earlier, if negative), kept within the range.
    #[must_use]
    pub fn saturating_add(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds).clamp(Self::MIN.0, Self::MAX.0))
    }

    /// An edge as the engine computes it: none if it lies outside the range, where the sentinels are too.
    #[inline]
    pub(crate) fn of_edge(seconds: i64) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&seconds).then_some(Self(seconds))
    }

    /// An edge that lies between two instants, and so within the range itself.
    #[inline]
    pub(crate) fn within_range(seconds: i64) -> Self {
        debug_assert!(Self::of_edge(seconds).is_some(), "{seconds} is no instant");
        Self(seconds)
    }
}

/// Apart from the check, so that only the check is compiled into callers.
#[cold]
fn outside(seconds: i64) -> Error {
    Error::range(format!("{seconds} seconds is outside the years 1 to 9999"))
}

impl From<Instant> for jiff::Timestamp {
    fn from(at: Instant) -> Self {
        // The last day of the year 9999 lies beyond what a timestamp holds.
        Self::from_second(at.unix()).unwrap_or(Self::MAX)
    }
}

impl TryFrom<jiff::Timestamp> for Instant {
    type Error = Error;

    fn try_from(timestamp: jiff::Timestamp) -> Result<Self, Error> {
        Self::from_unix(timestamp.as_nanosecond().div_euclid(1_000_000_000) as i64)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil::date_of(self.0.div_euclid(DAY) as i32);
        let second = self.0.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_reads() {
        for text in [
            "0001-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-02-28T12:34:56Z",
            "2100-03-01T00:00:00Z",
        ] {
            assert_eq!(Instant::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Instant::MIN.to_string(), "0001-01-01T00:00:00Z");
        assert_eq!(Instant::MAX.to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(
            Instant::parse("2026-01-01T00:00:00.9+01:00").unwrap().to_string(),
            "2025-12-31T23:00:00Z"
        );
    }

    #[test]
    fn refuses_what_is_no_instant() {
        for text in ["", "yesterday", "2025-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00"] {
            assert!(Instant::parse(text).unwrap_err().is_syntax(), "{text}");
        }
        assert!(Instant::from_unix(i64::MAX).unwrap_err().is_range());
        assert_eq!(Instant::MAX.saturating_add(i64::MAX), Instant::MAX);
    }
}
