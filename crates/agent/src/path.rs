//! Which places on a host may be named? Absolute paths whose parts are plain names.
//!
//! Whatever would mean another place than it says is refused here, once: `..`, `.`, empty parts, NUL, and what no file system takes.
//! Links are the business of whoever opens the path.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place on the host, beneath its root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPath(String);

/// Why a path is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the path {path:?} cannot be used: {why}")]
pub struct PathError {
    path: String,
    why: &'static str,
}

/// The longest path and the longest part that Linux takes, the final NUL counted in the former.
const LONGEST_PATH: usize = 4095;
const LONGEST_PART: usize = 255;

impl HostPath {
    /// Reads a path.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match Self::fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => Err(PathError { path: text.chars().take(80).collect(), why }),
        }
    }

    fn fault(text: &str) -> Option<&'static str> {
        let Some(rest) = text.strip_prefix('/') else { return Some("it is not absolute") };
        if text.len() > LONGEST_PATH {
            return Some("it is longer than 4095 bytes");
        }
        rest.split('/').find_map(|part| match part {
            "" => Some("a part of it is empty"),
            "." | ".." => Some("a part of it is `.` or `..`"),
            part if part.contains('\0') => Some("it holds a NUL"),
            part if part.len() > LONGEST_PART => Some("a part of it is longer than 255 bytes"),
            _ => None,
        })
    }

    /// The path of something that lies in this folder.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        Self::parse(&format!("{}/{name}", self.0))
    }

    /// The parts, from the root.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').skip(1)
    }

    /// The last part.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// The parts of the folder it lies in, from the root.
    pub fn folder(&self) -> impl Iterator<Item = &str> {
        let folder = self.0.rsplit_once('/').map_or("", |(folder, _)| folder);
        folder.split('/').skip(1)
    }

    /// Whether it is this folder or lies beneath it.
    pub fn is_beneath(&self, folder: &str) -> bool {
        self.0.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HostPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::parse(&text)
    }
}

impl From<HostPath> for String {
    fn from(path: HostPath) -> Self {
        path.0
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_absolute_paths_are_paths() {
        let check = |text: &str, why: &str| match HostPath::parse(text) {
            Ok(path) => assert_eq!((path.as_str(), ""), (text, why)),
            Err(error) => assert_eq!(error.why, why, "{text:?}"),
        };
        check("/etc/chrony.conf", "");
        check("/etc/a..b/.hidden", "");
        check("etc/chrony.conf", "it is not absolute");
        check("", "it is not absolute");
        check("/", "a part of it is empty");
        check("/etc//chrony.conf", "a part of it is empty");
        check("/etc/", "a part of it is empty");
        check("/etc/../shadow", "a part of it is `.` or `..`");
        check("/etc/./shadow", "a part of it is `.` or `..`");
        check("/etc/..", "a part of it is `.` or `..`");
        check("/etc/a\0b", "it holds a NUL");
        check(&format!("/etc/{}", "x".repeat(255)), "");
        check(&format!("/etc/{}", "x".repeat(256)), "a part of it is longer than 255 bytes");
        check(&"/abcdefg".repeat(512), "it is longer than 4095 bytes");
    }

    #[test]
    fn a_folder_holds_what_lies_in_it_and_no_namesake() {
        let check = |path: &str, folder: &str, expected: bool| {
            assert_eq!(HostPath::parse(path).unwrap().is_beneath(folder), expected, "{path}");
        };
        check("/etc/a", "/etc", true);
        check("/etc", "/etc", true);
        check("/etcetera/a", "/etc", false);
    }
}
