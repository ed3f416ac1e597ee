//! Does the host still hold what its configuration says? Every place that differs, and in what; never the content, which may be a
//! secret.

use std::fmt;

use crate::{
    host::{Entry, Host, HostError},
    path::HostPath,
};

/// A place that differs from the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// Which place.
    pub path: HostPath,
    /// In what it differs.
    pub what: Difference,
}

/// In what a place differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Nothing stands there.
    Missing,
    /// Something else than a file, or than a link, stands there.
    Kind,
    /// The content, or the target of the link.
    Content,
    /// The permissions.
    Mode,
    /// The owner or the group.
    Owner,
    /// It cannot be read.
    Unreadable(String),
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, what } = self;
        match what {
            Difference::Missing => write!(f, "{path} is missing"),
            Difference::Kind => write!(f, "{path} is something else than a file"),
            Difference::Content => write!(f, "{path} has another content"),
            Difference::Mode => write!(f, "{path} has another mode"),
            Difference::Owner => write!(f, "{path} has another owner"),
            Difference::Unreadable(why) => write!(f, "{path} cannot be compared: {why}"),
        }
    }
}

/// Every one of these places where the host differs from what is wanted there.
pub fn drift<'a>(
    host: &impl Host,
    wanted: impl IntoIterator<Item = (&'a HostPath, &'a Entry)>,
) -> Vec<Drift> {
    let found = wanted.into_iter().filter_map(|(path, wanted)| {
        let what = difference(host.read(path), wanted)?;
        Some(Drift { path: path.clone(), what })
    });
    found.collect()
}

fn difference(found: Result<Entry, HostError>, wanted: &Entry) -> Option<Difference> {
    match (found, wanted) {
        (Err(error), _) => Some(Difference::Unreadable(error.to_string())),
        (Ok(Entry::Absent), Entry::Absent) => None,
        (Ok(Entry::Absent), Entry::File(_) | Entry::Link(_)) => Some(Difference::Missing),
        (Ok(Entry::File(found)), Entry::File(wanted)) => {
            if found.content != wanted.content {
                Some(Difference::Content)
            } else if found.mode != wanted.mode {
                Some(Difference::Mode)
            } else if (found.uid, found.gid) != (wanted.uid, wanted.gid) {
                Some(Difference::Owner)
            } else {
                None
            }
        }
        (Ok(Entry::Link(found)), Entry::Link(wanted)) => {
            (found != *wanted).then_some(Difference::Content)
        }
        (Ok(_), Entry::Absent | Entry::File(_) | Entry::Link(_)) => Some(Difference::Kind),
    }
}
