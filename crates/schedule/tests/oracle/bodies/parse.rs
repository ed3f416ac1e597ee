//! Can any text make a parser panic, or read otherwise than it prints?
//!
//! The body of the fuzz target `parse`, shared with the seeded loop in the oracle's tests: it needs nothing but the engine.

use schedule::{Date, Error, Instant, Rrule, TimeOfDay, Zone};

/// Words that rules are made of, and words that they must not be made of. A byte of input picks one.
const WORDS: &[&str] = &[
    "FREQ=",
    "DAILY",
    "WEEKLY",
    "MONTHLY",
    "YEARLY",
    "HOURLY",
    "SECONDLY",
    ";",
    ";",
    ";",
    ",",
    ",",
    "=",
    ":",
    "\n",
    "\r\n",
    " ",
    "INTERVAL=",
    "COUNT=",
    "UNTIL=",
    "BYDAY=",
    "BYMONTHDAY=",
    "BYMONTH=",
    "BYSETPOS=",
    "WKST=",
    "BYHOUR=",
    "BYWEEKNO=",
    "BYYEARDAY=",
    "DTSTART:",
    "DTSTART;TZID=",
    "RRULE:",
    "EXDATE:",
    "Europe/Berlin:",
    "America/New_York:",
    "Mars/Base:",
    "UTC:",
    "Z",
    "19970902T090000",
    "19970902T090000Z",
    "19970902",
    "20260229T000000Z",
    "99991231T235959Z",
    "00010101T000000",
    "T",
    "MO",
    "TU",
    "WE",
    "TH",
    "FR",
    "SA",
    "SU",
    "1",
    "2",
    "5",
    "-1",
    "-",
    "+",
    "0",
    "53",
    "31",
    "-31",
    "366",
    "-366",
    "12",
    "13",
    "65535",
    "65536",
    "4294967296",
    "99999999999999999999",
    "é",
    "\u{0}",
    "freq=daily",
    "X-NAME=1",
    "2026-11-15",
    "23:59",
    "2026-11-15T00:00:00Z",
    "FREQ=DAILY",
    "FREQ=WEEKLY;BYDAY=MO,SU",
    "DTSTART:20260101T000000Z\nRRULE:",
];

/// Feeds the bytes to every parser, as they are and as a choice of words.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        every_parser(text);
    }
    let words: String =
        bytes.iter().take(40).map(|&byte| WORDS[usize::from(byte) % WORDS.len()]).collect();
    every_parser(&words);
}

fn every_parser(text: &str) {
    read(text, Rrule::parse(text), Rrule::parse);
    read(text, Date::parse(text), Date::parse);
    read(text, Instant::parse(text), Instant::parse);
    read(text, TimeOfDay::parse(text), TimeOfDay::parse);
    if let Ok(zone) = Zone::named(text) {
        assert!(
            Zone::named(zone.name()).is_ok(),
            "{text:?} is known as {} and that is not known",
            zone.name()
        );
    }
}

/// What is read prints as something that reads the same; what is refused is refused at a place in the text.
fn read<T: PartialEq + std::fmt::Debug + std::fmt::Display>(
    text: &str,
    result: Result<T, Error>,
    again: impl Fn(&str) -> Result<T, Error>,
) {
    match result {
        Ok(value) => {
            let printed = value.to_string();
            match again(&printed) {
                Ok(second) => {
                    assert_eq!(value, second, "{text:?} prints as {printed:?}");
                    assert_eq!(printed, second.to_string(), "{text:?} prints in two ways");
                }
                Err(error) => panic!("{text:?} prints as {printed:?}, which is refused: {error}"),
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "{text:?} is refused without a word");
            if let Some(position) = error.position() {
                assert!(
                    text.is_char_boundary(position),
                    "{text:?}: byte {position} of {} is none: {error}",
                    text.len()
                );
            }
        }
    }
}
