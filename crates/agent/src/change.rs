//! What has to be done to a host so that it comes from one layout to another?
//!
//! A function of the two layouts and of what is remembered alone: a start after a loss of power computes it again and finds the same
//! (NODE-1). What a configuration no longer holds goes back to what stood there before any configuration did; what it no longer says of a
//! unit, too.

use api::machine::MachineConfigSpec;
use serde::{Deserialize, Serialize};

use crate::{
    host::{Entry, Folder, KernelArguments, UnitState, UnitVerb},
    journal::Was,
    layout::{Layout, Outline, Starting, UNITS},
    path::HostPath,
};

/// What has to be done, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostChange {
    /// Units that go: they stop starting by themselves while their files are still there.
    pub leaving: Vec<String>,
    /// Folders that belong to somebody, and have to be there before what lies in them.
    pub folders: Vec<(HostPath, Folder)>,
    /// Files and links.
    pub edits: Vec<Edit>,
    /// Folders that nothing needs any more, those within others first.
    pub stale_folders: Vec<HostPath>,
    /// Units that begin or cease to start by themselves.
    pub units: Vec<(UnitVerb, String)>,
    /// Units of which nothing is said any more, and that start by themselves as they did before; if they are still there.
    pub returning: Vec<(UnitVerb, String)>,
    /// Arguments of the kernel.
    pub kernel_arguments: KernelArguments,
    /// The image of the operating system, if it changes.
    pub image: Option<String>,
    /// The hash of the password, if it changes; one that no password has, if there is to be none.
    pub password: Option<String>,
}

/// What is remembered of a host, since before its configuration came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remembered<'a> {
    /// Whether units started by themselves; those that are missing are unknown.
    pub units: &'a [(String, UnitState)],
    /// The folders that were made for the configuration.
    pub folders: &'a [HostPath],
}

/// What stands in place of a hash for a user without a password.
pub const NO_PASSWORD: &str = "*";

/// One place that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which place.
    pub path: HostPath,
    /// What is to stand there. None: what stood there before any configuration did, or nothing.
    pub entry: Option<Entry>,
}

/// What is done once the change is made, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// systemd reads its units again.
    ReloadUnits,
    /// A unit reads its configuration again.
    Reload(String),
    /// A unit is started anew.
    Restart(String),
    /// The node is started anew.
    Reboot,
}

impl HostChange {
    /// The difference of two layouts. It takes over the contents of the new one.
    pub fn between(old: &Outline, mut new: Layout, remembered: Remembered<'_>) -> Self {
        let stale = old.entries.keys().filter(|path| !new.entries.contains_key(path));
        let stale: Vec<Edit> = stale.map(|path| Edit { path: path.clone(), entry: None }).collect();
        let entries = std::mem::take(&mut new.entries).into_iter();
        let fresh = entries.filter(|(path, entry)| old.entries.get(path) != Some(&Was::of(entry)));
        let fresh: Vec<Edit> =
            fresh.map(|(path, entry)| Edit { path, entry: Some(entry) }).collect();
        let holds = |folder: &HostPath| {
            fresh.iter().any(|edit| edit.path.is_beneath(folder.as_str()) && edit.path != *folder)
        };
        let folders = new.folders.iter().filter(|(path, _)| holds(path));
        let folders = folders.map(|(path, folder)| (path.clone(), *folder)).collect();
        let needless = remembered.folders.iter().filter(|path| !new.folders.contains_key(path));
        let mut stale_folders: Vec<HostPath> = needless.cloned().collect();
        stale_folders.sort_by(|one, other| other.cmp(one));
        let without = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|one| !those.contains(one)).cloned().collect()
        };
        let mut change = Self {
            folders,
            edits: fresh.into_iter().chain(stale).collect(),
            stale_folders,
            kernel_arguments: KernelArguments {
                remove: without(&old.kernel_arguments, &new.kernel_arguments),
                append: without(&new.kernel_arguments, &old.kernel_arguments),
            },
            password: (old.password != new.password)
                .then(|| new.password.clone().unwrap_or_else(|| NO_PASSWORD.to_owned())),
            image: (old.image != new.image && !new.image.is_empty()).then(|| new.image.clone()),
            ..Self::default()
        };
        for (name, starting) in &new.units {
            if let Some(verb) = change.verb(name, *starting, old.units.get(name)) {
                change.units.push((verb, name.clone()));
            }
        }
        let silent = |name: &String| matches!(new.units.get(name), None | Some(Starting::Unsaid));
        for (name, said) in old.units.iter().filter(|(name, _)| silent(name)) {
            change.give_back(name, *said, old, &new, remembered.units);
        }
        change
    }

    /// What has to be done to a unit that the new configuration names.
    fn verb(&self, name: &str, now: Starting, before: Option<&Starting>) -> Option<UnitVerb> {
        let touched = self.edits.iter().any(|edit| is_of_unit(&edit.path, name));
        match (now, before) {
            // What should start it may be another than before.
            (Starting::Enabled, Some(Starting::Enabled)) => touched.then_some(UnitVerb::Reenable),
            (Starting::Enabled, Some(Starting::Disabled)) => Some(UnitVerb::Enable),
            (Starting::Enabled, Some(Starting::Unsaid) | None) => {
                Some(if touched { UnitVerb::Reenable } else { UnitVerb::Enable })
            }
            (Starting::Disabled, Some(Starting::Disabled)) | (Starting::Unsaid, _) => None,
            (Starting::Disabled, _) => Some(UnitVerb::Disable),
        }
    }

    /// A unit of which nothing is said any more starts by itself if it did before any configuration said something.
    fn give_back(
        &mut self,
        name: &str,
        said: Starting,
        old: &Outline,
        new: &Layout,
        remembered: &[(String, UnitState)],
    ) {
        let found = remembered.iter().find(|(known, _)| known == name).map(|(_, state)| *state);
        let touched = self.edits.iter().any(|edit| is_of_unit(&edit.path, name));
        // Its file came with the configuration, and so did the unit.
        let ours = HostPath::parse(&format!("{UNITS}/{name}"))
            .is_ok_and(|path| old.entries.contains_key(&path));
        let verb = match (said, found) {
            (Starting::Enabled, Some(UnitState::Enabled)) if !touched => return,
            (Starting::Enabled, Some(UnitState::Enabled)) => UnitVerb::Reenable,
            (Starting::Disabled, Some(UnitState::Enabled)) => UnitVerb::Enable,
            (Starting::Enabled, Some(_)) => return self.leaving.push(name.to_owned()),
            (Starting::Disabled, Some(_)) | (Starting::Unsaid, _) => return,
            // Nobody knows: it came with the host's first configuration. It is left alone where the unit is still named.
            (_, None) if new.units.contains_key(name) => return,
            (Starting::Enabled, None) if ours => return self.leaving.push(name.to_owned()),
            (Starting::Disabled, None) if ours => return,
            // One of the distribution, which says what it wants.
            (_, None) => UnitVerb::Preset,
        };
        self.returning.push((verb, name.to_owned()));
    }

    /// Whether it takes effect only when the node is started anew.
    pub fn needs_reboot(&self) -> bool {
        self.image.is_some() || !self.kernel_arguments.is_empty()
    }

    /// Whether systemd has to read its units again.
    pub fn touches_units(&self) -> bool {
        !self.leaving.is_empty()
            || !self.units.is_empty()
            || !self.returning.is_empty()
            || self.edits.iter().any(|edit| edit.path.is_beneath(UNITS))
    }

    /// Every unit whose state it changes.
    pub fn unit_names(&self) -> impl Iterator<Item = &String> {
        let named = self.units.iter().chain(&self.returning).map(|(_, name)| name);
        self.leaving.iter().chain(named)
    }
}

/// Whether a place is the file of a unit, an addition to it, or that of the template it is made from.
pub fn is_of_unit(path: &HostPath, name: &str) -> bool {
    let Some(rest) = path.as_str().strip_prefix(UNITS).and_then(|rest| rest.strip_prefix('/'))
    else {
        return false;
    };
    let of = |unit: &str| {
        rest.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest.starts_with(".d/"))
    };
    let template = name.split_once('@').zip(name.rsplit_once('.'));
    let template = template.map(|((stem, _), (_, kind))| format!("{stem}@.{kind}"));
    of(name) || template.is_some_and(|template| of(&template))
}

/// What differs between two configurations and cannot change on a running host, or not by this agent.
pub fn obstacles(old: &MachineConfigSpec, new: &MachineConfigSpec) -> Vec<String> {
    let kernel = |spec: &MachineConfigSpec| match spec.kernel_type.as_str() {
        "" => "default".to_owned(),
        given => given.to_owned(),
    };
    let mut found = Vec::new();
    if old.fips != new.fips {
        found.push("fips can only be decided when a node is installed".to_owned());
    }
    if kernel(old) != kernel(new) {
        found.push(format!("kernelType {}: this agent exchanges no kernels", kernel(new)));
    }
    if old.extensions != new.extensions {
        found.push("extensions: this agent installs no packages".to_owned());
    }
    found
}

#[cfg(test)]
mod tests;
