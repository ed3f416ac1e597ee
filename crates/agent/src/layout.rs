//! What does a configuration come to on a host? Every file and link with its bytes, the units that start by themselves, the arguments
//! of the kernel and the operating system.
//!
//! Total: everything that a host cannot or must not take is named, all of it, and then nothing is done. A path outside the folders
//! that belong to an administrator, or with the right to become somebody else, is refused whoever rendered it; what is refused is said
//! in one place for all (NODE-3).

use std::collections::{BTreeMap, BTreeSet};

use api::machine::{
    MachineConfigSpec,
    ignition::{self, Ignition},
};
pub use tidegate_core::node::refusals::{CORE, UNITS};
use tidegate_core::node::{
    content,
    refusals::{self, Unsupported},
};

use crate::{
    accounts::Accounts,
    host::{Entry, File, Folder},
    journal::Was,
    path::HostPath,
};

/// What a configuration comes to on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// What stands where.
    pub entries: BTreeMap<HostPath, Entry>,
    /// Folders that belong to somebody, if they have to be made.
    pub folders: BTreeMap<HostPath, Folder>,
    /// Units by name, and whether each starts by itself, if that is said.
    pub units: BTreeMap<String, Starting>,
    /// The arguments of the kernel.
    pub kernel_arguments: Vec<String>,
    /// The image of the operating system; empty if it is left alone.
    pub image: String,
    /// The hash of the password of [`CORE`], if it is said.
    pub password: Option<String>,
}

/// A layout without the contents: enough to tell what another one changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// What stands where.
    pub entries: BTreeMap<HostPath, Was>,
    /// Units by name, and whether each starts by itself, if that is said.
    pub units: BTreeMap<String, Starting>,
    /// The arguments of the kernel.
    pub kernel_arguments: Vec<String>,
    /// The image of the operating system; empty if it is left alone.
    pub image: String,
    /// The hash of the password of [`CORE`], if it is said.
    pub password: Option<String>,
}

/// Whether a unit starts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starting {
    /// It does.
    Enabled,
    /// It does not.
    Disabled,
    /// Left as it is.
    Unsaid,
}

/// What a unit is a link to when it must never start.
const NOWHERE: &str = "/dev/null";

/// Keys of the configuration, beside those that the user added.
const KEYS: &str = ".ssh/authorized_keys.d/ignition";

impl Layout {
    /// Lays a configuration out.
    pub fn of(spec: &MachineConfigSpec, accounts: &Accounts) -> Result<Self, Vec<String>> {
        let mut layout = Self {
            kernel_arguments: spec
                .kernel_arguments
                .iter()
                .flat_map(|text| text.split_whitespace())
                .map(str::to_owned)
                .collect(),
            image: spec.os_image_url.clone(),
            ..Self::default()
        };
        let mut faults = Vec::new();
        if let Some(Ignition { ignition: _, passwd, storage, systemd }) = &spec.config {
            for file in &storage.files {
                layout.file(file, accounts).unwrap_or_else(|fault| faults.push(fault));
            }
            for unit in &systemd.units {
                layout.unit(unit).unwrap_or_else(|fault| faults.push(fault));
            }
            for user in &passwd.users {
                layout.keys(user, accounts).unwrap_or_else(|fault| faults.push(fault));
            }
        }
        if faults.is_empty() { Ok(layout) } else { Err(faults) }
    }

    /// The layout without the contents, which are given back: two megabytes a time add up.
    pub fn outline(self) -> Outline {
        let Self { entries, folders: _, units, kernel_arguments, image, password } = self;
        let entries = entries.into_iter().map(|(path, entry)| (path, Was::of(&entry))).collect();
        Outline { entries, units, kernel_arguments, image, password }
    }

    fn file(&mut self, file: &ignition::File, accounts: &Accounts) -> Result<(), String> {
        let path = allowed(&file.path)?;
        let mode = file.mode.unwrap_or(0o644);
        refusals::mode(&file.path, mode).map_err(said)?;
        let content = content::bytes(&file.contents)
            .map_err(|wrong| format!("{path}: the content {wrong}"))?
            .into_owned();
        let user = |name: &str| accounts.user(name).map(|user| user.uid);
        let uid = owner(&file.user, user).ok_or_else(|| format!("{path}: no such user here"))?;
        let group = |name: &str| accounts.group(name);
        let gid = owner(&file.group, group).ok_or_else(|| format!("{path}: no such group here"))?;
        self.put(path, Entry::File(File { content, mode, uid, gid }))
    }

    fn unit(&mut self, unit: &ignition::Unit) -> Result<(), String> {
        let ignition::Unit { name, enabled, mask, contents, dropins } = unit;
        let place = allowed(&format!("{UNITS}/{name}"))?;
        if mask == &Some(true) {
            self.put(place, Entry::Link(NOWHERE.to_owned()))?;
        } else if let Some(text) = contents.as_deref().filter(|text| !text.is_empty()) {
            self.put(place, text_file(text))?;
        }
        for dropin in dropins {
            let place = allowed(&format!("{UNITS}/{name}.d/{}", dropin.name))?;
            if let Some(text) = dropin.contents.as_deref().filter(|text| !text.is_empty()) {
                self.put(place, text_file(text))?;
            }
        }
        let starting = match enabled {
            // systemd enables nothing that is masked, and nobody could tell the difference.
            _ if mask == &Some(true) => Starting::Unsaid,
            Some(true) => Starting::Enabled,
            Some(false) => Starting::Disabled,
            None => Starting::Unsaid,
        };
        self.units.insert(name.clone(), starting);
        Ok(())
    }

    fn keys(&mut self, user: &ignition::User, accounts: &Accounts) -> Result<(), String> {
        let ignition::User { name, password_hash, ssh_authorized_keys } = user;
        if name != CORE {
            return Err(format!("user {name}: only {CORE} can change on a running host"));
        }
        if let Some(hash) = password_hash {
            refusals::password(name, hash).map_err(said)?;
            self.password = Some(hash.clone());
        }
        if ssh_authorized_keys.is_empty() {
            return Ok(());
        }
        let account =
            accounts.user(name).ok_or_else(|| format!("user {name}: no such user here"))?;
        let mut seen = BTreeSet::new();
        let mut content = String::new();
        for key in ssh_authorized_keys.iter().filter(|key| seen.insert(key.trim())) {
            refusals::key(name, key).map_err(said)?;
            content.push_str(key.trim());
            content.push('\n');
        }
        let home = account.home.trim_end_matches('/');
        let place = allowed(&format!("{home}/{KEYS}"))?;
        let (uid, gid) = (account.uid, account.gid);
        // From the home on, which a user may not have yet. A folder that belongs to root would keep users from their own keys.
        for (end, _) in place.as_str().match_indices('/').filter(|(end, _)| *end >= home.len()) {
            if let Some(Ok(folder)) = place.as_str().get(..end).map(allowed) {
                self.folders.insert(folder, Folder { mode: 0o700, uid, gid });
            }
        }
        let file = File { content: content.into_bytes(), mode: 0o600, uid, gid };
        self.put(place, Entry::File(file))
    }

    fn put(&mut self, path: HostPath, entry: Entry) -> Result<(), String> {
        if self.entries.contains_key(&path) {
            return Err(format!("{path}: is given twice"));
        }
        self.entries.insert(path, entry);
        Ok(())
    }
}

fn allowed(text: &str) -> Result<HostPath, String> {
    refusals::place(text).map_err(said)?;
    HostPath::parse(text).map_err(|error| error.to_string())
}

fn said(refusal: Unsupported) -> String {
    refusal.detail
}

fn owner(owner: &ignition::Owner, named: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    match (owner.id, owner.name.as_deref()) {
        (Some(id), _) => Some(id),
        (None, Some(name)) if !name.is_empty() => named(name),
        (None, _) => Some(0),
    }
}

fn text_file(text: &str) -> Entry {
    Entry::File(File { content: text.as_bytes().to_vec(), mode: 0o644, uid: 0, gid: 0 })
}

#[cfg(test)]
mod tests;
