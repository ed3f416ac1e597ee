//! What has to be done around putting a configuration in place: do workloads leave first, and who has to notice afterwards? (NDP-1)
//!
//! What is put in place, and in which order, is the agent's affair alone: it works that out from what the host is to look like.

use api::machine::{
    MachineConfigSpec,
    disruption::{ActionKind, Policies},
    ignition::File,
};

use super::{
    content,
    diff::{Changes, diff},
    disruption::{Disruption, disruption},
    registries,
};

/// The file that lists the registries of images: its policy is `Special`.
const REGISTRIES: &str = "/etc/containers/registries.conf";

/// The service that reads it.
const CRIO: &str = "crio.service";

/// What has to be done around a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// Whether workloads have to leave first.
    pub drain: Drain,
    /// What is done once everything is in place, in order.
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

/// Who has to notice that something else is in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// systemd reads its units again.
    DaemonReload,
    /// A service reads its configuration again.
    Reload(String),
    /// A service starts anew.
    Restart(String),
    /// The node restarts.
    Reboot,
}

/// What has to be done around the change from one rendered configuration to another, under the acting policies.
pub fn around(
    before: &MachineConfigSpec,
    after: &MachineConfigSpec,
    policies: &Policies,
) -> Around {
    let changes = diff(before, after);
    let wanted = disruption(&changes, policies);
    let drain = if drains(&wanted, &changes) { Drain::Needed } else { Drain::NotNeeded };
    Around { drain, deeds: deeds(wanted) }
}

fn drains(wanted: &Disruption, changes: &Changes<'_>) -> bool {
    match wanted {
        Disruption::None => false,
        Disruption::Reboot(_) => true,
        Disruption::Actions(actions) => actions.iter().any(|action| match action.kind {
            ActionKind::Drain => true,
            ActionKind::Special => !only_mirrors_added(changes),
            ActionKind::Reboot
            | ActionKind::Reload
            | ActionKind::Restart
            | ActionKind::DaemonReload
            | ActionKind::None
            | ActionKind::Unknown => false,
        }),
    }
}

/// Whether the registries of images changed in a way that no running workload can notice.
fn only_mirrors_added(changes: &Changes<'_>) -> bool {
    let change = changes.files.iter().find(|change| change.name == REGISTRIES);
    let text = |file: Option<&File>| {
        let bytes = content::bytes(&file?.contents).ok()?;
        String::from_utf8(bytes.into_owned()).ok()
    };
    let sides = change.and_then(|change| Some((text(change.before)?, text(change.after)?)));
    sides.is_some_and(|(before, after)| registries::only_mirrors_added(&before, &after))
}

fn deeds(wanted: Disruption) -> Vec<Deed> {
    let actions = match wanted {
        Disruption::None => Vec::new(),
        Disruption::Reboot(_) => return vec![Deed::Reboot],
        Disruption::Actions(actions) => actions,
    };
    let deeds = actions.into_iter().filter_map(|action| match action.kind {
        ActionKind::DaemonReload => Some(Deed::DaemonReload),
        ActionKind::Reload => action.reload.map(|service| Deed::Reload(service.service_name)),
        ActionKind::Restart => action.restart.map(|service| Deed::Restart(service.service_name)),
        ActionKind::Special => Some(Deed::Reload(CRIO.into())),
        ActionKind::Drain | ActionKind::Reboot | ActionKind::None | ActionKind::Unknown => None,
    });
    deeds.collect()
}

#[cfg(test)]
mod tests;
