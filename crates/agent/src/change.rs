//! What has to be done to a host so that it comes from one layout to another?
//!
//! A function of the two layouts alone: a start after a loss of power computes it again and finds the same (NODE-1). What a
//! configuration no longer holds goes back to what stood there before any configuration did.

use api::machine::MachineConfigSpec;
use serde::{Deserialize, Serialize};

use crate::{
    host::{Entry, KernelArguments, UnitVerb},
    journal::Was,
    layout::{Layout, Outline, Starting},
    path::HostPath,
};

/// What has to be done, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Units that go: they stop starting by themselves while their files are still there.
    pub leaving: Vec<String>,
    /// Files and links.
    pub edits: Vec<Edit>,
    /// Units that begin or cease to start by themselves.
    pub units: Vec<(UnitVerb, String)>,
    /// Arguments of the kernel.
    pub kernel_arguments: KernelArguments,
    /// The image of the operating system, if it changes.
    pub image: Option<String>,
    /// The hash of the password, if it changes; one that no password has, if there is to be none.
    pub password: Option<String>,
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
    /// The machine is started anew.
    Reboot,
}

impl Change {
    /// The difference of two layouts. It takes over the contents of the new one.
    pub fn between(old: &Outline, mut new: Layout) -> Self {
        let stale = old.entries.keys().filter(|path| !new.entries.contains_key(path));
        let stale: Vec<Edit> = stale.map(|path| Edit { path: path.clone(), entry: None }).collect();
        let entries = std::mem::take(&mut new.entries).into_iter();
        let fresh = entries.filter(|(path, entry)| old.entries.get(path) != Some(&Was::of(entry)));
        let fresh = fresh.map(|(path, entry)| Edit { path, entry: Some(entry) });
        let leaving = old.units.iter().filter(|(name, starting)| {
            **starting == Starting::Enabled && !new.units.contains_key(*name)
        });
        let units = new.units.iter().filter(|(name, now)| old.units.get(*name) != Some(now));
        let units = units.filter_map(|(name, starting)| match starting {
            Starting::Enabled => Some((UnitVerb::Enable, name.clone())),
            Starting::Disabled => Some((UnitVerb::Disable, name.clone())),
            Starting::Unsaid => None,
        });
        let without = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|one| !those.contains(one)).cloned().collect()
        };
        Self {
            leaving: leaving.map(|(name, _)| name.clone()).collect(),
            edits: fresh.chain(stale).collect(),
            units: units.collect(),
            kernel_arguments: KernelArguments {
                remove: without(&old.kernel_arguments, &new.kernel_arguments),
                append: without(&new.kernel_arguments, &old.kernel_arguments),
            },
            password: (old.password != new.password)
                .then(|| new.password.clone().unwrap_or_else(|| NO_PASSWORD.to_owned())),
            image: (old.image != new.image && !new.image.is_empty()).then(|| new.image.clone()),
        }
    }

    /// Whether it takes effect only when the machine is started anew.
    pub fn needs_reboot(&self) -> bool {
        self.image.is_some() || !self.kernel_arguments.is_empty()
    }

    /// Whether systemd has to read its units again.
    pub fn touches_units(&self) -> bool {
        !self.leaving.is_empty()
            || !self.units.is_empty()
            || self.edits.iter().any(|edit| edit.path.is_beneath("/etc/systemd/system"))
    }

    /// Every unit whose state it changes.
    pub fn unit_names(&self) -> impl Iterator<Item = &String> {
        self.leaving.iter().chain(self.units.iter().map(|(_, name)| name))
    }
}

/// What differs between two configurations and cannot change on a running host, or not by this agent.
pub fn obstacles(old: &MachineConfigSpec, new: &MachineConfigSpec) -> Vec<String> {
    let kernel = |spec: &MachineConfigSpec| match spec.kernel_type.as_str() {
        "" => "default".to_owned(),
        given => given.to_owned(),
    };
    let mut found = Vec::new();
    if old.fips != new.fips {
        found.push("fips can only be decided when a machine is installed".to_owned());
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
