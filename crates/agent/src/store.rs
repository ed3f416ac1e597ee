//! What does the agent remember across restarts? Its own folder on the host: the configuration that is in place, the one that is
//! coming, the journal, and contents that may have to come back.
//!
//! Each document is replaced in one step (NODE-1), so that it is whole whenever it is read.

use api::machine::MachineConfigSpec;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    digest,
    host::{Entry, File, Hold, Host, HostError, UnitState},
    journal::{Journal, Kept, Was},
    path::{HostPath, PathError},
};

/// The agent's own folder.
pub use tidegate_core::node::refusals::AGENT_FOLDER as STATE;

/// A configuration as it is on the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The name of the rendered configuration.
    pub name: String,
    /// What it holds.
    pub spec: MachineConfigSpec,
    /// What stood at its places before any configuration did.
    #[serde(default)]
    pub originals: Vec<Kept>,
    /// Whether units started by themselves before any configuration said so. One that is missing here was said by the configuration that
    /// the host was installed with, and nobody knows.
    #[serde(default)]
    pub units: Vec<(String, UnitState)>,
    /// Folders that were made for it, and go with it if nothing else is in them.
    #[serde(default)]
    pub folders: Vec<HostPath>,
}

impl Record {
    /// Nothing: how a host is that no configuration was ever put on.
    pub fn nothing() -> Self {
        Self::found(String::new(), MachineConfigSpec::default())
    }

    /// A configuration of which nothing is known but what it holds.
    pub fn found(name: String, spec: MachineConfigSpec) -> Self {
        Self { name, spec, originals: Vec::new(), units: Vec::new(), folders: Vec::new() }
    }
}

/// Why the memory fails.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The host said no.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A document is no longer what was written.
    #[error(
        "{path} cannot be read\n  hint: it is the agent's own; move it away, and the node is compared with its configuration anew"
    )]
    Spoilt {
        /// Which document.
        path: HostPath,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A content that was kept is gone or is another one.
    #[error("the kept content of {0} is gone")]
    Gone(HostPath),
}

impl From<PathError> for StoreError {
    fn from(error: PathError) -> Self {
        Self::Host(error.into())
    }
}

impl StoreError {
    /// Whether this is the end of everything until the next start.
    pub fn is_power_loss(&self) -> bool {
        matches!(self, Self::Host(error) if error.is_power_loss())
    }
}

type Result<T> = std::result::Result<T, StoreError>;

/// The configuration that is in place; none before the first was taken on.
pub fn current(host: &impl Host) -> Result<Option<Record>> {
    load(host, "current.json")
}

/// Takes note that a configuration is in place.
pub fn set_current(host: &mut impl Host, record: &Record) -> Result<()> {
    save(host, "current.json", record)
}

/// The configuration that is coming.
pub fn coming(host: &impl Host) -> Result<Option<Record>> {
    load(host, "next.json")
}

/// Takes note of the configuration that is coming.
pub fn set_coming(host: &mut impl Host, record: &Record) -> Result<()> {
    save(host, "next.json", record)
}

/// The change that has begun and not ended.
pub fn journal(host: &impl Host) -> Result<Option<Journal>> {
    load(host, "journal.json")
}

/// Takes note of how far a change is.
pub fn set_journal(host: &mut impl Host, journal: &Journal) -> Result<()> {
    save(host, "journal.json", journal)
}

/// A configuration that the host came back from: it is not tried again by itself, or the node would restart for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Which configuration.
    pub to: String,
    /// What happened.
    pub why: String,
}

/// The configuration that the host came back from, if the last change ended so.
pub fn rejected(host: &impl Host) -> Result<Option<Rejected>> {
    load(host, "rejected.json")
}

/// Takes note of a configuration that the host came back from.
pub fn set_rejected(host: &mut impl Host, rejected: &Rejected) -> Result<()> {
    save(host, "rejected.json", rejected)
}

/// Forgets that the host came back from anything: it has arrived somewhere else.
pub fn clear_rejected(host: &mut impl Host) -> Result<()> {
    Ok(host.remove(&place("rejected.json")?)?)
}

/// Forgets a change that has ended, and every content that nothing needs any more. The journal goes first and decides: without it
/// the rest is litter, which can wait for the end of the next change.
pub fn forget_change(host: &mut impl Host) -> Result<()> {
    host.remove(&place("journal.json")?)?;
    match sweep(host) {
        Err(lost) if lost.is_power_loss() => Err(lost),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn sweep(host: &mut impl Host) -> Result<()> {
    host.remove(&place("next.json")?)?;
    let needed = current(host)?.map(|record| record.originals).unwrap_or_default();
    let needed: Vec<&str> = needed.iter().filter_map(|kept| kept.was.digest()).collect();
    let folder = place("kept")?;
    for name in host.list(&folder)? {
        if !needed.contains(&name.as_str()) {
            host.remove(&folder.join(&name)?)?;
        }
    }
    Ok(())
}

/// Makes sure that no other agent works on the host.
pub fn hold(host: &mut impl Host) -> Result<Hold> {
    Ok(host.hold(&place("lock")?)?)
}

/// Keeps what stands at a place, so that it can come back.
pub fn keep(host: &mut impl Host, path: &HostPath, entry: &Entry) -> Result<Kept> {
    if let Entry::File(file) = entry {
        let kept = place("kept")?.join(&digest::of(&file.content))?;
        put(host, &kept, file.content.clone())?;
    }
    Ok(Kept { path: path.clone(), was: Was::of(entry) })
}

/// What stood at a place, with its content.
pub fn kept(host: &impl Host, kept: &Kept) -> Result<Entry> {
    let Kept { path, was } = kept;
    match was {
        Was::Absent => Ok(Entry::Absent),
        Was::Link { target } => Ok(Entry::Link(target.clone())),
        Was::File { digest, mode, uid, gid } => match host.read(&place("kept")?.join(digest)?)? {
            Entry::File(file) if digest::of(&file.content) == *digest => {
                Ok(Entry::File(File { content: file.content, mode: *mode, uid: *uid, gid: *gid }))
            }
            _ => Err(StoreError::Gone(path.clone())),
        },
    }
}

fn place(name: &str) -> std::result::Result<HostPath, PathError> {
    HostPath::parse(&format!("{STATE}/{name}"))
}

fn load<T: DeserializeOwned>(host: &impl Host, name: &str) -> Result<Option<T>> {
    let path = place(name)?;
    let Entry::File(file) = host.read(&path)? else { return Ok(None) };
    let read = serde_json::from_slice(&file.content);
    read.map(Some).map_err(|source| StoreError::Spoilt { path, source })
}

fn save(host: &mut impl Host, name: &str, document: &impl Serialize) -> Result<()> {
    let path = place(name)?;
    let content = serde_json::to_vec(document);
    let content = content.map_err(|source| StoreError::Spoilt { path: path.clone(), source })?;
    put(host, &path, content)
}

/// Only root may read it: configurations hold secrets.
fn put(host: &mut impl Host, path: &HostPath, content: Vec<u8>) -> Result<()> {
    host.stage(path, &Entry::File(File { content, mode: 0o600, uid: 0, gid: 0 }))?;
    Ok(host.publish(path)?)
}
