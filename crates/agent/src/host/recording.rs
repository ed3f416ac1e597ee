//! What would be done to a host? A double that writes everything down and does nothing.
//!
//! It keeps what was written to it in memory, over a real host or over nothing, so that whoever writes to it finds what was
//! written. A rehearsal on a host and a node in a test are the same thing.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Entry, Folder, Hold, Host, HostError, KernelArguments, UnitState, UnitVerb, linux::Linux,
};
use crate::{journal::Warrant, path::HostPath};

/// A host that nothing is done to.
#[derive(Debug, Default)]
pub struct Recording {
    beneath: Option<Linux>,
    entries: BTreeMap<HostPath, Entry>,
    staged: BTreeMap<HostPath, Entry>,
    folders: BTreeSet<HostPath>,
    units: BTreeMap<String, UnitState>,
    image: Option<String>,
    coming_image: Option<String>,
    boots: u32,
    performed: Vec<String>,
}

impl Recording {
    /// A rehearsal on a host.
    pub fn over(host: Linux) -> Self {
        Self { beneath: Some(host), ..Self::default() }
    }

    /// Everything that was done, in order, but for what the agent does in its own folder.
    pub fn performed(&self) -> &[String] {
        &self.performed
    }

    /// Forgets what was done, and answers it.
    pub fn take_performed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.performed)
    }

    /// The node has been started anew.
    pub fn restart(&mut self) {
        self.boots += 1;
        self.image = self.coming_image.take().or(self.image.take());
    }

    /// Somebody else put something at a place.
    pub fn meddle(&mut self, path: &HostPath, entry: Entry) {
        self.entries.insert(path.clone(), entry);
    }

    /// A unit that the distribution brought.
    pub fn bring_unit(&mut self, name: &str, state: UnitState) {
        self.units.insert(name.to_owned(), state);
    }

    fn note(&mut self, line: String) {
        self.performed.push(line);
    }

    fn note_file(&mut self, verb: &str, path: &HostPath) {
        if !path.is_beneath(crate::store::STATE) {
            self.note(format!("{verb} {path}"));
        }
    }
}

impl Host for Recording {
    fn read(&self, path: &HostPath) -> Result<Entry, HostError> {
        match (self.entries.get(path), &self.beneath) {
            (Some(entry), _) => Ok(entry.clone()),
            (None, Some(host)) => host.read(path),
            (None, None) => Ok(Entry::Absent),
        }
    }

    fn list(&self, folder: &HostPath) -> Result<Vec<String>, HostError> {
        let there = self.entries.iter().filter(|(_, entry)| **entry != Entry::Absent);
        let names = there.filter_map(|(path, _)| {
            let rest = path.as_str().strip_prefix(folder.as_str())?.strip_prefix('/')?;
            (!rest.contains('/')).then(|| rest.to_owned())
        });
        Ok(names.collect())
    }

    fn stage(&mut self, path: &HostPath, entry: &Entry) -> Result<(), HostError> {
        self.staged.insert(path.clone(), entry.clone());
        Ok(())
    }

    fn unstage(&mut self, path: &HostPath) -> Result<(), HostError> {
        self.staged.remove(path);
        Ok(())
    }

    fn publish(&mut self, path: &HostPath) -> Result<(), HostError> {
        let Some(entry) = self.staged.remove(path) else {
            return Err(HostError::Refused { path: path.clone(), why: "nothing was staged there" });
        };
        self.entries.insert(path.clone(), entry);
        self.note_file("write", path);
        Ok(())
    }

    fn remove(&mut self, path: &HostPath) -> Result<(), HostError> {
        if self.read(path)? != Entry::Absent {
            self.entries.insert(path.clone(), Entry::Absent);
            self.note_file("remove", path);
        }
        Ok(())
    }

    fn has_folder(&self, path: &HostPath) -> Result<bool, HostError> {
        let inside = |(entry, what): (&HostPath, &Entry)| {
            *what != Entry::Absent && entry != path && entry.is_beneath(path.as_str())
        };
        match &self.beneath {
            _ if self.folders.contains(path) || self.entries.iter().any(inside) => Ok(true),
            Some(host) => host.has_folder(path),
            None => Ok(false),
        }
    }

    fn make_folder(&mut self, path: &HostPath, _: Folder) -> Result<(), HostError> {
        if !self.has_folder(path)? {
            self.folders.insert(path.clone());
            self.note(format!("make {path}"));
        }
        Ok(())
    }

    fn remove_folder(&mut self, path: &HostPath) -> Result<(), HostError> {
        if self.folders.remove(path) {
            if self.has_folder(path)? {
                self.folders.insert(path.clone());
            } else {
                self.note(format!("remove {path}"));
            }
        }
        Ok(())
    }

    fn hold(&mut self, _: &HostPath) -> Result<Hold, HostError> {
        Ok(Hold::Ours)
    }

    fn beat(&self) {}

    fn set_password(&mut self, user: &str, _: &str) -> Result<(), HostError> {
        self.note(format!("set the password of {user}"));
        Ok(())
    }

    fn unit(&mut self, verb: UnitVerb, name: &str) -> Result<(), HostError> {
        match verb {
            // One that cannot be enabled stays as it is, and systemd calls that a success.
            UnitVerb::Enable | UnitVerb::Reenable
                if self.unit_state(name)? == UnitState::Static => {}
            UnitVerb::Enable | UnitVerb::Reenable => {
                self.units.insert(name.to_owned(), UnitState::Enabled);
            }
            UnitVerb::Disable => drop(self.units.insert(name.to_owned(), UnitState::Disabled)),
            UnitVerb::Reload | UnitVerb::Restart | UnitVerb::Preset => {}
        }
        self.note(format!("{} {name}", verb.as_str()));
        Ok(())
    }

    fn unit_state(&self, name: &str) -> Result<UnitState, HostError> {
        match (self.units.get(name), &self.beneath) {
            (Some(state), _) => Ok(*state),
            (None, Some(host)) => host.unit_state(name),
            (None, None) => Ok(UnitState::Neither),
        }
    }

    fn reload_units(&mut self) -> Result<(), HostError> {
        self.note("daemon-reload".to_owned());
        Ok(())
    }

    fn kernel_arguments(&mut self, change: &KernelArguments) -> Result<(), HostError> {
        let removed = change.remove.iter().map(|text| format!("-{text}"));
        let appended = change.append.iter().map(|text| format!("+{text}"));
        let words: Vec<String> = removed.chain(appended).collect();
        self.note(format!("kernel arguments {}", words.join(" ")));
        Ok(())
    }

    fn os_image(&mut self, image: &str) -> Result<(), HostError> {
        self.coming_image = Some(image.to_owned());
        self.note(format!("image {image}"));
        Ok(())
    }

    fn forget_os_changes(&mut self) -> Result<(), HostError> {
        self.coming_image = None;
        self.note("forget changes of the operating system".to_owned());
        Ok(())
    }

    fn booted_image(&self) -> Result<Option<String>, HostError> {
        Ok(self.image.clone())
    }

    fn boot_id(&self) -> Result<String, HostError> {
        Ok(format!("boot-{}", self.boots))
    }

    fn reboot(&mut self, warrant: &Warrant) -> Result<(), HostError> {
        self.note(format!("reboot: {}", warrant.reason()));
        Ok(())
    }
}
