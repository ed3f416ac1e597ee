//! What was meant when power was lost? The write-ahead record of one change, and what follows from it (NODE-1).
//!
//! It is written before the first file changes and says what stood there, so that whoever finds it can go on or go back. It is
//! taken away when the host is wholly at one configuration again.

use serde::{Deserialize, Serialize};

use crate::{
    change::Deed,
    host::{Entry, File, UnitState},
    path::HostPath,
};

/// A change that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The configuration that the host had.
    pub from: String,
    /// The configuration that it is to have.
    pub to: String,
    /// What is done once the files are in place.
    pub deeds: Vec<Deed>,
    /// How far it is.
    pub phase: Phase,
    /// What stood at each place before.
    pub before: Vec<Kept>,
    /// Whether each unit started by itself before.
    pub units: Vec<(String, UnitState)>,
    /// Whether the operating system changes too.
    pub system: System,
    /// The hash of the password before, if it changes.
    #[serde(default)]
    pub password: Option<String>,
    /// The folders that it makes.
    #[serde(default)]
    pub folders: Vec<HostPath>,
}

/// Whether the operating system changes with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum System {
    /// It does.
    Changes,
    /// It does not.
    Stays,
}

/// How far a change is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Files, units and operating system are changing; it goes on from the first.
    Applying,
    /// All of that is in place; what follows from it is being done.
    Acting,
    /// Only a new start of the node is missing.
    Rebooting {
        /// The start of the node during which that was decided.
        boot: String,
        /// How often the node was told to start anew.
        #[serde(default)]
        asked: u32,
    },
    /// A step failed; everything goes back.
    RollingBack {
        /// What failed.
        why: String,
    },
}

/// What stood at a place; the content of a file lies elsewhere, under its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Which place.
    pub path: HostPath,
    /// What stood there.
    pub was: Was,
}

/// What stood at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Was {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// The digest of its content.
        digest: String,
        /// Its permissions.
        mode: u32,
        /// Who owned it.
        uid: u32,
        /// Which group owned it.
        gid: u32,
    },
    /// A symbolic link.
    Link {
        /// Its target.
        target: String,
    },
}

/// The right to start the node anew. Only a journal gives it, and a journal has a desired configuration (NODE-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warrant {
    to: String,
}

impl Warrant {
    /// Why, in a sentence for the log of the host.
    pub fn reason(&self) -> String {
        format!("going to {}", self.to)
    }
}

impl Journal {
    /// The right to start the node anew: only once everything is in place, and for a configuration with a name.
    pub fn warrant(&self) -> Option<Warrant> {
        match &self.phase {
            Phase::Rebooting { .. } if !self.to.is_empty() => Some(Warrant { to: self.to.clone() }),
            Phase::Rebooting { .. }
            | Phase::Applying
            | Phase::Acting
            | Phase::RollingBack { .. } => None,
        }
    }

    /// Whether the node has to be started anew in the end.
    pub fn ends_in_reboot(&self) -> bool {
        self.deeds.contains(&Deed::Reboot)
    }
}

impl Was {
    /// What stands somewhere, without the content of files.
    pub fn of(entry: &Entry) -> Self {
        match entry {
            Entry::Absent => Self::Absent,
            Entry::Link(target) => Self::Link { target: target.clone() },
            Entry::File(File { content, mode, uid, gid }) => {
                let digest = crate::digest::of(content);
                Self::File { digest, mode: *mode, uid: *uid, gid: *gid }
            }
        }
    }

    /// The digest of its content, if it is a file.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Self::File { digest, .. } => Some(digest),
            Self::Absent | Self::Link { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NODE-2
    #[test]
    fn only_a_finished_change_to_a_named_configuration_warrants_a_restart() {
        let journal = |to: &str, phase: Phase| Journal {
            from: "rendered-a".into(),
            to: to.into(),
            deeds: vec![Deed::Reboot],
            phase,
            before: Vec::new(),
            units: Vec::new(),
            system: System::Stays,
            password: None,
            folders: Vec::new(),
        };
        let check = |to: &str, phase: Phase, expected: bool| {
            assert_eq!(journal(to, phase.clone()).warrant().is_some(), expected, "{phase:?}");
        };
        let rebooting = Phase::Rebooting { boot: "1".into(), asked: 0 };
        check("rendered-b", rebooting.clone(), true);
        check("", rebooting, false);
        check("rendered-b", Phase::Applying, false);
        check("rendered-b", Phase::Acting, false);
        check("rendered-b", Phase::RollingBack { why: "x".into() }, false);
    }
}
