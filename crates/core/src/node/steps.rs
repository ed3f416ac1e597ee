//! What does the agent do to bring a machine from one configuration to another, and in which order?
//!
//! Workloads leave first, if anything asks for it; then what is written, then what is booted, then what the policy wants done. Each
//! step can be done twice, because power may fail between any two of them (NODE-1), and a machine restarts only on its way to a desired
//! configuration (NODE-2).

use api::machine::{
    MachineConfigSpec,
    disruption::{ActionKind, Policies},
    ignition::{File, Passwd, Unit},
};

use super::{
    content,
    diff::{Change, Changes, Pair, SystemChange, diff},
    disruption::{Cause, Disruption, disruption},
    registries,
};

/// The file that lists the registries of images: its policy is `Special`.
const REGISTRIES: &str = "/etc/containers/registries.conf";

/// The service that reads it.
const CRIO: &str = "crio.service";

/// What the agent does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps<'a> {
    /// The steps, in order.
    pub list: Vec<Step<'a>>,
    /// Why the machine restarts, if it does.
    pub cause: Option<Cause>,
}

/// One thing that the agent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Asks for the machine to be cordoned and drained, and waits for it.
    Drain,
    /// Writes a file whole.
    WriteFile(&'a File),
    /// Removes a file, or restores what the operating system has there.
    RemoveFile(&'a str),
    /// Writes a unit with exactly these drop-ins, and enables, disables or masks it as said. `before` tells which drop-ins go.
    WriteUnit {
        /// What it was, if it was there.
        before: Option<&'a Unit>,
        /// What it becomes.
        after: &'a Unit,
    },
    /// Disables and removes a unit with its drop-ins, and takes a mask away.
    RemoveUnit(&'a Unit),
    /// Writes the keys and the password of `core`.
    WriteUsers(&'a Passwd),
    /// Goes to another image of the operating system.
    OsImage(Pair<&'a str>),
    /// Goes to other arguments of the kernel.
    KernelArguments(Pair<&'a [String]>),
    /// Goes to another kernel.
    KernelType(Pair<&'a str>),
    /// Goes to other extensions.
    Extensions(Pair<&'a [String]>),
    /// Remembers on disk that this configuration is applied. What comes after may be repeated, what came before need not be.
    RecordCurrent,
    /// Lets systemd read its units again.
    DaemonReload,
    /// Lets a service read its configuration again.
    Reload(String),
    /// Starts a service anew.
    Restart(String),
    /// Restarts the machine; what follows is done after it is back.
    Reboot,
    /// Asks for the machine to be uncordoned, and waits for it.
    Uncordon,
}

/// The steps from one rendered configuration to another under the acting policies.
pub fn steps<'a>(
    before: &'a MachineConfigSpec,
    after: &'a MachineConfigSpec,
    policies: &Policies,
) -> Steps<'a> {
    let changes = diff(before, after);
    if changes.is_empty() {
        return Steps { list: vec![Step::RecordCurrent], cause: None };
    }
    let wanted = disruption(&changes, policies);
    let drains = drains(&wanted, &changes);
    let mut list = Vec::new();
    if drains {
        list.push(Step::Drain);
    }
    written(&changes, &mut list);
    booted(&changes, &mut list);
    list.push(Step::RecordCurrent);
    let cause = acted(wanted, &mut list);
    if drains {
        list.push(Step::Uncordon);
    }
    Steps { list, cause }
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

fn written<'a>(changes: &Changes<'a>, list: &mut Vec<Step<'a>>) {
    let Changes { files, units, passwd, system: _ } = changes;
    for Change { name, before: _, after } in files {
        list.push(after.map_or(Step::RemoveFile(name), Step::WriteFile));
    }
    for Change { name: _, before, after } in units {
        match (before, after) {
            (_, Some(after)) => list.push(Step::WriteUnit { before: *before, after }),
            (Some(before), None) => list.push(Step::RemoveUnit(before)),
            (None, None) => {}
        }
    }
    list.extend(passwd.iter().map(|passwd| Step::WriteUsers(passwd.after)));
}

fn booted<'a>(changes: &Changes<'a>, list: &mut Vec<Step<'a>>) {
    list.extend(changes.system.iter().filter_map(|change| match *change {
        SystemChange::OsImage(images) => Some(Step::OsImage(images)),
        SystemChange::KernelArguments(arguments) => Some(Step::KernelArguments(arguments)),
        SystemChange::KernelType(kernels) => Some(Step::KernelType(kernels)),
        SystemChange::Extensions(extensions) => Some(Step::Extensions(extensions)),
        // Rendering refuses it, and no step could do it.
        SystemChange::Fips => None,
    }));
}

fn acted(wanted: Disruption, list: &mut Vec<Step<'_>>) -> Option<Cause> {
    let actions = match wanted {
        Disruption::None => return None,
        Disruption::Reboot(cause) => {
            list.push(Step::Reboot);
            return Some(cause);
        }
        Disruption::Actions(actions) => actions,
    };
    for action in actions {
        list.extend(match action.kind {
            ActionKind::DaemonReload => Some(Step::DaemonReload),
            ActionKind::Reload => action.reload.map(|service| Step::Reload(service.service_name)),
            ActionKind::Restart => {
                action.restart.map(|service| Step::Restart(service.service_name))
            }
            ActionKind::Special => Some(Step::Reload(CRIO.into())),
            ActionKind::Drain | ActionKind::Reboot | ActionKind::None | ActionKind::Unknown => None,
        });
    }
    None
}

#[cfg(test)]
mod tests;
