//! What can be done to a host? The one trait between decisions and a node, with two implementors: [`linux`] does it, [`recording`]
//! writes it down.
//!
//! Every method is one step that either happened or did not, so that a loss of power falls between two of them (NODE-1). A file
//! comes about in two: [`Host::stage`] makes it durable beside its place, [`Host::publish`] puts it in its place at once.

pub mod linux;
pub mod recording;

use std::{io, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    journal::Warrant,
    path::{HostPath, PathError},
};

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Absent,
    /// A file.
    File(File),
    /// A symbolic link, by its target.
    Link(String),
}

/// A file.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// What it holds.
    pub content: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
    /// Who owns it.
    pub uid: u32,
    /// Which group owns it.
    pub gid: u32,
}

impl std::fmt::Debug for File {
    // Contents may be secrets and must reach no log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { content, mode, uid, gid } = self;
        write!(f, "File({} bytes, {mode:o}, {uid}:{gid})", content.len())
    }
}

/// What is done to a unit of systemd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitVerb {
    /// It starts by itself from now on.
    Enable,
    /// It does not start by itself any more.
    Disable,
    /// It reads its configuration again, or is started anew if it cannot.
    Reload,
    /// It is started anew.
    Restart,
    /// It starts by itself as its files say now: what an older version of them had linked is taken away.
    Reenable,
    /// It starts by itself if the distribution wants it to.
    Preset,
}

impl UnitVerb {
    /// The word for it on the command line of systemd.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Reload => "reload",
            Self::Restart => "restart",
            Self::Reenable => "reenable",
            Self::Preset => "preset",
        }
    }
}

/// Whether a unit starts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitState {
    /// It does.
    Enabled,
    /// It does not.
    Disabled,
    /// It cannot: its files do not say what should start it.
    Static,
    /// It has no say in it, or there is no such unit.
    Neither,
}

/// How a folder is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its permissions.
    pub mode: u32,
    /// Who owns it.
    pub uid: u32,
    /// Which group owns it.
    pub gid: u32,
}

/// Who may change the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// This agent, and no other as long as it lives.
    Ours,
    /// Another one that lives.
    Anothers,
}

/// A change of the kernel's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelArguments {
    /// Those that go.
    pub remove: Vec<String>,
    /// Those that come, at the end.
    pub append: Vec<String>,
}

impl KernelArguments {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.append.is_empty()
    }
}

/// Why something could not be done to a host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The path is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The path leads somewhere else than it says.
    #[error("{path} is refused: {why}")]
    Refused {
        /// Which path.
        path: HostPath,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The file system said no.
    #[error("cannot {verb} {path}")]
    File {
        /// What was tried.
        verb: &'static str,
        /// On which path.
        path: HostPath,
        /// What the file system said.
        #[source]
        source: io::Error,
    },
    /// The host lacks a program.
    #[error("the host has no {0}")]
    Lacks(&'static str),
    /// A program could not be run or did not succeed.
    #[error("`{command}` failed: {said}")]
    Program {
        /// The program with its arguments.
        command: String,
        /// What it said, or how it ended.
        said: String,
    },
    /// A program did not end in its time.
    #[error("`{command}` did not end within {} s and was killed", .most.as_secs())]
    Overdue {
        /// The program with its arguments.
        command: String,
        /// How long it was given.
        most: Duration,
    },
    /// What the host says of itself cannot be read.
    #[error("the host's {0} cannot be read")]
    Unreadable(&'static str),
    /// The host is gone: power was lost. Only doubles say so.
    #[error("the host lost its power")]
    PowerLost,
}

impl HostError {
    /// Whether this is the end of everything until the next start, rather than a failure of one step.
    pub fn is_power_loss(&self) -> bool {
        matches!(self, Self::PowerLost)
    }
}

/// A node.
pub trait Host {
    /// What stands at a path. The last part is never followed.
    fn read(&self, path: &HostPath) -> Result<Entry, HostError>;

    /// The names in a folder; none if there is no such folder.
    fn list(&self, folder: &HostPath) -> Result<Vec<String>, HostError>;

    /// Makes an entry durable beside its place, with the folders that lead there. Nobody sees it yet.
    fn stage(&mut self, path: &HostPath, entry: &Entry) -> Result<(), HostError>;

    /// Takes away what was staged and is not wanted any more. Nothing there is no failure.
    fn unstage(&mut self, path: &HostPath) -> Result<(), HostError>;

    /// Puts what was staged in its place, in one step that is durable when it returns.
    fn publish(&mut self, path: &HostPath) -> Result<(), HostError>;

    /// Takes away what stands at a path. Nothing there is no failure.
    fn remove(&mut self, path: &HostPath) -> Result<(), HostError>;

    /// Whether there is such a folder.
    fn has_folder(&self, path: &HostPath) -> Result<bool, HostError>;

    /// Makes a folder, with those that lead there. One that is there is left as it is.
    fn make_folder(&mut self, path: &HostPath, folder: Folder) -> Result<(), HostError>;

    /// Takes away a folder that holds nothing. One that holds something stays, and nothing there is no failure.
    fn remove_folder(&mut self, path: &HostPath) -> Result<(), HostError>;

    /// Makes sure that no other agent changes the host, by a lock on a file that ends with whoever holds it.
    fn hold(&mut self, path: &HostPath) -> Result<Hold, HostError>;

    /// Shows whoever watches the agent that it lives (NODE-3).
    fn beat(&self);

    /// Gives a user the password of this hash. Repeating it changes nothing.
    fn set_password(&mut self, user: &str, hash: &str) -> Result<(), HostError>;

    /// Does something to a unit.
    fn unit(&mut self, verb: UnitVerb, name: &str) -> Result<(), HostError>;

    /// Whether a unit starts by itself.
    fn unit_state(&self, name: &str) -> Result<UnitState, HostError>;

    /// Makes systemd read its units again.
    fn reload_units(&mut self) -> Result<(), HostError>;

    /// Changes the arguments of the kernel from the next start on. Repeating it changes nothing.
    fn kernel_arguments(&mut self, change: &KernelArguments) -> Result<(), HostError>;

    /// Changes the operating system from the next start on. Repeating it changes nothing.
    fn os_image(&mut self, image: &str) -> Result<(), HostError>;

    /// Forgets what was to become of the operating system at the next start.
    fn forget_os_changes(&mut self) -> Result<(), HostError>;

    /// The image that runs; none where the host has no such thing.
    fn booted_image(&self) -> Result<Option<String>, HostError>;

    /// Which start of the node this is.
    fn boot_id(&self) -> Result<String, HostError>;

    /// Starts the node anew, for a reason that only a journal gives (NODE-2).
    fn reboot(&mut self, warrant: &Warrant) -> Result<(), HostError>;
}
