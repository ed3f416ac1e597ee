//! When is an instant inside?

mod civil;
mod date;
mod days;
mod error;
mod instant;
mod names;

pub use date::{Date, TimeOfDay};
pub use error::Error;
pub use instant::Instant;
pub use names::{Month, Ordinal, Weekday};
