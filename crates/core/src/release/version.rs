//! Which release is newer, and by how much? Versions of the form that is called semantic.

use std::{cmp::Ordering, fmt};

/// A version, such as `4.20.7` or `4.21.0-rc.2`. What follows a plus sign tells builds apart and says nothing about age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second.
    pub minor: u64,
    /// The third.
    pub patch: u64,
    before: Vec<Step>,
}

/// A part of what stands before a release, in the order of their age: numbers are older than words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Number(u64),
    Word(String),
}

impl Version {
    /// Reads a version; none if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, build) =
            text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        let (numbers, before) =
            text.split_once('-').map_or((text, None), |(numbers, before)| (numbers, Some(before)));
        let mut numbers = numbers.split('.').map(number);
        let (major, minor, patch) = (numbers.next()??, numbers.next()??, numbers.next()??);
        if numbers.next().is_some() || build.is_some_and(|build| !build.split('.').all(is_word)) {
            return None;
        }
        let before = match before {
            None => Vec::new(),
            Some(before) => before.split('.').map(step).collect::<Option<_>>()?,
        };
        Some(Self { major, minor, patch, before })
    }

    /// Whether both belong to one minor version.
    pub fn is_of_the_minor_of(&self, other: &Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }
}

fn number(text: &str) -> Option<u64> {
    let plain = text == "0" || !text.starts_with('0');
    // `parse` takes a sign.
    (plain && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn step(text: &str) -> Option<Step> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text).map(Step::Number);
    }
    is_word(text).then(|| Step::Word(text.to_owned()))
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        let by_numbers = numbers(self).cmp(&numbers(other));
        // What comes before a release is older than the release.
        let steps = match (self.before.is_empty(), other.before.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.before.cmp(&other.before),
        };
        by_numbers.then(steps)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, before } = self;
        write!(f, "{major}.{minor}.{patch}")?;
        for (place, step) in before.iter().enumerate() {
            f.write_str(if place == 0 { "-" } else { "." })?;
            match step {
                Step::Number(number) => write!(f, "{number}")?,
                Step::Word(word) => f.write_str(word)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered_as_semver_has_them() {
        let ascending = [
            "0.0.0",
            "4.9.30",
            "4.20.0-0.nightly",
            "4.20.0-ec.1",
            "4.20.0-rc.2",
            "4.20.0-rc.10",
            "4.20.0-rc.10.1",
            "4.20.0",
            "4.20.7",
            "4.20.10",
            "4.21.0",
            "5.0.0",
        ];
        let read: Vec<Version> =
            ascending.iter().map(|text| Version::parse(text).expect(text)).collect();
        assert!(read.is_sorted_by(|a, b| a < b), "{read:?}");
        for (text, version) in ascending.iter().zip(&read) {
            assert_eq!(version.to_string(), *text);
        }
        assert_eq!(Version::parse("4.20.7+build-1.x"), Version::parse("4.20.7"));
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in [
            "",
            "4",
            "4.20",
            "4.20.",
            "4.20.7.1",
            "v4.20.7",
            "4.020.7",
            "4.20.x",
            "4.20.7-",
            "4.20.7-a..b",
            "4.20.7-rc.01",
            "4.20.7+",
            "+4.20.7",
            "4.+20.7",
            " 4.20.7",
            "4.20.7\n",
            "99999999999999999999.0.0",
        ] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }
}
