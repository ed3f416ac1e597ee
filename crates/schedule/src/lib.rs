//! When is an instant inside?
//!
//! Maintenance windows, freezes and overrides as **sets of instants**. Everything a caller wants to know (open now? until when? which
//! windows come next? why not?) is a question to a [`TimeSet`], answered by calendar arithmetic and not by walking a calendar.
//!
//! ```
//! use schedule::{Instant, Length, Recurrence, Schedule, TimeOfDay, TimeSet, Weekday, Windows, Zone};
//!
//! // Saturdays from 20:00 for eight hours, Berlin time.
//! let berlin = Zone::named("Europe/Berlin")?;
//! let saturdays = Recurrence::weekly(1, &[Weekday::Saturday])?;
//! let windows = Windows::new(&saturdays, TimeOfDay::parse("20:00")?, Length::Elapsed(8 * 3_600), berlin.clone())?;
//! let set = TimeSet::from(Schedule::new(Some(windows), &[], &berlin)?);
//!
//! let now = Instant::parse("2026-11-15T12:00:00Z")?;
//! assert!(!set.contains(now));
//! assert_eq!(set.next_change(now), Some(Instant::parse("2026-11-21T19:00:00Z")?));
//!
//! // Nothing before December, whatever the schedule says.
//! let december = Instant::parse("2026-12-01T00:00:00Z")?;
//! let held = set.difference(TimeSet::before(december));
//! assert_eq!(held.next_change(now), Some(Instant::parse("2026-12-05T19:00:00Z")?));
//! # Ok::<(), schedule::Error>(())
//! ```
//!
//! # What this crate does not do
//!
//! No clock: the instant is always an argument. No sub-daily recurrences: a window has a length instead. No leap seconds. No years
//! outside 1 to 9999. No reading of files, and no zone data from the host: the IANA database is compiled in.

mod calendar;
mod civil;
mod date;
mod days;
mod error;
mod exclude;
mod instant;
mod names;
mod recurrence;
mod rrule;
mod schedule;
mod set;
mod window;
mod zone;

pub use date::{Date, TimeOfDay};
pub use error::Error;
pub use exclude::Exclusion;
pub use instant::Instant;
pub use names::{Month, Ordinal, Weekday};
pub use recurrence::{Form, Recurrence};
pub use rrule::{Lowered, Rrule};
pub use schedule::Schedule;
pub use set::{Cause, Least, Parts, Rolling, Span, Spans, State, Stretch, TimeSet, Why};
pub use window::{Length, Windows};
pub use zone::Zone;
