//! What has to be done on the way to a configuration?

use api::machine::{MachineConfigSpec, disruption::Policies};
use tidegate_core::node::diff::diff;

use crate::change::Deed;

/// What has to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether workloads have to leave first.
    pub drain: Drain,
    /// What is done once the files are in place, in order.
    pub deeds: Vec<Deed>,
}

/// Whether workloads have to leave first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// They have to.
    Needed,
    /// They need not notice.
    NotNeeded,
}

impl Plan {
    /// Whether workloads have to leave first.
    pub fn needs_drain(&self) -> bool {
        self.drain == Drain::Needed
    }
}

/// What has to be done on the way from one configuration to another.
pub fn plan(old: &MachineConfigSpec, new: &MachineConfigSpec, _: &Policies) -> Plan {
    if diff(old, new).is_empty() {
        return Plan { drain: Drain::NotNeeded, deeds: Vec::new() };
    }
    Plan { drain: Drain::Needed, deeds: vec![Deed::Reboot] }
}

/// The policies of the release.
pub fn default_policies() -> Policies {
    Policies::default()
}
