//! What is done on a node after a change? As the node disruption policy says, and a reboot for everything it does not name (NDP-1).
//!
//! The administrator's entries stand over those of the release: an entry of the same path or unit takes its place, others follow.
//! The merged list goes into the status of `MachineConfiguration`, and nodes act by that status alone, once it is for the newest
//! generation.

use api::machine::{
    disruption::{
        Action, ActionKind, FilePolicy, MachineConfiguration, Policies, Service, SshKeyPolicy,
        UnitPolicy,
    },
    machine_configuration_schema,
};
use serde::Deserialize as _;
use serde_json::Value;

use super::{diff::Changes, units::is_policy_unit_name};
use crate::document::{
    problem::{Code, FieldPath, Problem, quoted},
    shape,
};

/// What a release does by itself, in the order it is shown.
pub fn defaults() -> Policies {
    use ActionKind::{DaemonReload, None, Special};
    let file = |path: &str, actions: Vec<Action>| FilePolicy { path: path.into(), actions };
    let crio = || vec![reload("crio.service")];
    Policies {
        files: vec![
            file("/var/lib/kubelet/config.json", vec![plain(None)]),
            file("/etc/machine-config-daemon/no-reboot/containers-gpg.pub", crio()),
            file("/etc/containers/policy.json", crio()),
            file("/etc/containers/registries.conf", vec![plain(Special)]),
            file("/etc/containers/registries.d", crio()),
            file("/etc/crio/policies", crio()),
            file("/etc/nmstate/openshift", vec![plain(None)]),
            file(
                "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt",
                vec![restart("coreos-update-ca-trust.service"), restart("crio.service")],
            ),
            file("/etc/kubernetes/credential-providers", vec![restart("kubelet.service")]),
            file(
                "/etc/systemd/system/kubelet.service.d/40-kubelet-crio-image-credential-provider.conf",
                vec![plain(DaemonReload), restart("kubelet.service")],
            ),
            file("/etc/iri-registry", vec![restart("iri-registry.service")]),
            file("/usr/local/bin/load-registry-image.sh", vec![restart("iri-registry.service")]),
            file(
                "/etc/pki/ca-trust/source/anchors/iri-root-ca.crt",
                vec![restart("coreos-update-ca-trust.service")],
            ),
        ],
        units: vec![UnitPolicy {
            name: "iri-registry.service".into(),
            actions: vec![plain(DaemonReload), restart("iri-registry.service")],
        }],
        sshkey: SshKeyPolicy { actions: vec![plain(None)] },
    }
}

fn plain(kind: ActionKind) -> Action {
    Action { kind, reload: None, restart: None }
}

fn reload(service: &str) -> Action {
    let service = Service { service_name: service.into() };
    Action { reload: Some(service), ..plain(ActionKind::Reload) }
}

fn restart(service: &str) -> Action {
    let service = Service { service_name: service.into() };
    Action { restart: Some(service), ..plain(ActionKind::Restart) }
}

/// The administrator's entries over those of the release.
pub fn merged(user: &Policies) -> Policies {
    let Policies { files, units, sshkey } = user;
    let mut whole = defaults();
    for entry in files {
        match whole.files.iter_mut().find(|known| known.path == entry.path) {
            Some(known) => known.clone_from(entry),
            None => whole.files.push(entry.clone()),
        }
    }
    for entry in units {
        match whole.units.iter_mut().find(|known| known.name == entry.name) {
            Some(known) => known.clone_from(entry),
            None => whole.units.push(entry.clone()),
        }
    }
    if !sshkey.actions.is_empty() {
        whole.sshkey.clone_from(sshkey);
    }
    whole
}

/// What an administrator wants, or all that is wrong with it.
pub type WantedPolicies = Result<Policies, Vec<Problem>>;

/// Reads what an administrator wants. A specification that says nothing wants nothing but what the release does.
pub fn wanted(document: &Value) -> WantedPolicies {
    const FIELD: &str = "nodeDisruptionPolicy";
    let path = FieldPath::of("spec").key(FIELD);
    let given = document.get("spec").and_then(|spec| spec.get(FIELD));
    let Some(given) = given.filter(|given| !given.is_null()) else {
        return Ok(Policies::default());
    };
    let schema = machine_configuration_schema()
        .pointer("/properties/spec/properties/nodeDisruptionPolicy")
        .unwrap_or(&Value::Bool(true));
    let problems: Vec<Problem> =
        shape::check_part(schema, given, &path).into_iter().filter(Problem::is_error).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let policies = Policies::deserialize(given)
        .map_err(|error| vec![Problem::new(&path, Code::WrongType, error.to_string())])?;
    let problems = check(&policies);
    if problems.is_empty() { Ok(policies) } else { Err(problems) }
}

/// The policy that nodes act by; none while the status is for an older generation, and then they wait.
pub fn acting(object: &MachineConfiguration) -> Option<&Policies> {
    let current = object.status.observed_generation == object.metadata.generation;
    current.then_some(&object.status.node_disruption_policy_status.cluster_policies)
}

/// How many entries an administrator may give.
const MOST_ENTRIES: usize = 50;

/// What the schema refuses, for servers and files that have not asked it.
pub fn check(policies: &Policies) -> Vec<Problem> {
    let path = FieldPath::of("spec.nodeDisruptionPolicy");
    let mut problems = Vec::new();
    let Policies { files, units, sshkey } = policies;
    for (key, count) in [("files", files.len()), ("units", units.len())] {
        if count > MOST_ENTRIES {
            let detail = format!("the list has {count} entries");
            let hint =
                format!("use at most {MOST_ENTRIES}: a directory stands for all that lies in it");
            problems.push(Problem::new(&path.key(key), Code::OutOfRange, detail).hint(hint));
        }
    }
    for (place, entry) in files.iter().enumerate() {
        let path = path.key("files").index(place);
        let again = files.iter().take(place).any(|known| known.path == entry.path);
        check_once(again, &entry.path, &path.key("path"), &mut problems);
        check_actions(&entry.actions, &path.key("actions"), &mut problems);
    }
    for (place, entry) in units.iter().enumerate() {
        let path = path.key("units").index(place);
        let again = units.iter().take(place).any(|known| known.name == entry.name);
        check_once(again, &entry.name, &path.key("name"), &mut problems);
        check_unit(&entry.name, &path.key("name"), &mut problems);
        check_actions(&entry.actions, &path.key("actions"), &mut problems);
    }
    check_actions(&sshkey.actions, &path.key("sshkey").key("actions"), &mut problems);
    problems
}

fn check_once(again: bool, name: &str, path: &FieldPath, problems: &mut Vec<Problem>) {
    if again {
        let detail = format!("{} is given twice", quoted(name));
        problems.push(Problem::new(path, Code::Conflict, detail).hint("keep one of them"));
    }
}

fn check_unit(name: &str, path: &FieldPath, problems: &mut Vec<Problem>) {
    if !is_policy_unit_name(name) {
        let detail = format!("{} is not the name of a unit", quoted(name));
        let hint =
            "write it with its suffix, as in crio.service; instances of templates cannot be named";
        problems.push(Problem::new(path, Code::BadFormat, detail).hint(hint));
    }
}

fn check_actions(actions: &[Action], path: &FieldPath, problems: &mut Vec<Problem>) {
    for (place, action) in actions.iter().enumerate() {
        let path = path.index(place);
        let Action { kind, reload, restart } = action;
        let alone = matches!(kind, ActionKind::Reboot | ActionKind::None);
        if alone && actions.len() > 1 {
            let detail = format!("{kind:?} stands alone");
            problems
                .push(Problem::new(&path, Code::Conflict, detail).hint("remove the other actions"));
        }
        if matches!(kind, ActionKind::Special | ActionKind::Unknown) {
            let detail = format!("{kind:?} cannot be asked for");
            let hint = "use Reboot, Drain, Reload, Restart, DaemonReload or None";
            problems.push(Problem::new(&path.key("type"), Code::NotAllowed, detail).hint(hint));
        }
        for (key, service, wanted) in
            [("reload", reload, ActionKind::Reload), ("restart", restart, ActionKind::Restart)]
        {
            if service.is_some() != (*kind == wanted) {
                let detail =
                    format!("{key} belongs to an action of type {wanted:?}, and to that alone");
                let problem = Problem::new(&path.key(key), Code::Conflict, detail);
                problems.push(problem.hint(format!("give {key} exactly with type {wanted:?}")));
            }
            if let Some(service) = service {
                check_unit(&service.service_name, &path.key(key).key("serviceName"), problems);
            }
        }
    }
}

/// What a node does after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disruption {
    /// Nothing.
    None,
    /// These, in order. The same service may come twice: each change asks for what it needs.
    Actions(Vec<Action>),
    /// It is drained and restarted.
    Reboot(Cause),
}

/// Why a node restarts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// What it boots has changed: this field.
    System(&'static str),
    /// No policy names this file.
    File(String),
    /// No policy names this unit.
    Unit(String),
    /// A policy asks for it.
    Policy,
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(field) => write!(f, "{field} has changed"),
            Self::File(path) => write!(f, "no node disruption policy names the file {path}"),
            Self::Unit(name) => write!(f, "no node disruption policy names the unit {name}"),
            Self::Policy => f.write_str("a node disruption policy asks for it"),
        }
    }
}

/// What a change asks for.
pub fn disruption(changes: &Changes<'_>, policies: &Policies) -> Disruption {
    if let Some(change) = changes.system.first() {
        return Disruption::Reboot(Cause::System(change.field()));
    }
    let mut wanted: Vec<Action> = Vec::new();
    for change in &changes.files {
        match file_policy(policies, change.name) {
            Some(policy) => wanted.extend_from_slice(&policy.actions),
            None => return Disruption::Reboot(Cause::File(change.name.to_owned())),
        }
    }
    for change in &changes.units {
        match policies.units.iter().find(|policy| policy.name == change.name) {
            Some(policy) => wanted.extend_from_slice(&policy.actions),
            None => return Disruption::Reboot(Cause::Unit(change.name.to_owned())),
        }
    }
    if changes.passwd {
        wanted.extend_from_slice(&policies.sshkey.actions);
    }
    // What a newer release means by a word this build does not know may need a restart, so it gets one.
    let restarts = |kind| matches!(kind, ActionKind::Reboot | ActionKind::Unknown);
    if wanted.iter().any(|action| restarts(action.kind)) {
        return Disruption::Reboot(Cause::Policy);
    }
    wanted.retain(|action| action.kind != ActionKind::None);
    if wanted.is_empty() { Disruption::None } else { Disruption::Actions(wanted) }
}

/// The policy of a file: its own, or that of the nearest directory above it.
fn file_policy<'a>(policies: &'a Policies, path: &str) -> Option<&'a FilePolicy> {
    let covers = |policy: &&FilePolicy| {
        let above = policy.path.trim_end_matches('/');
        let rest = path.strip_prefix(above);
        !above.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    policies
        .files
        .iter()
        .filter(covers)
        .max_by_key(|policy| policy.path.trim_end_matches('/').len())
}

#[cfg(test)]
mod tests;
