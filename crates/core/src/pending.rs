//! What would be initiated if there were no change management? (POOL-6)
//!
//! One row for each kind: which of its fields say that something waits, and which that something is under way. Only material changes
//! count: scaling and certificates never appear here, because nothing that is never held can be pending (GATE-8).

use api::{
    machine::names::LEDGER,
    names,
    schema::{Kind, KindId},
};
use schedule::Instant;
use serde_json::Value;

use crate::{
    pool::{ledger::Ledger, status::UPDATING},
    verdict::Verdict,
};

/// What waits, and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Changes that have not been initiated, each in a few words.
    pub waiting: Vec<String>,
    /// Changes that have been initiated and are not finished; the gate no longer asks about them (CV-1, POOL-1).
    pub begun: Vec<String>,
    /// What decides whether that which waits starts now.
    pub course: Course,
    /// When something was last initiated, if that is known.
    pub initiated: Option<Instant>,
}

/// What decides whether that which waits starts now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// The gate, and nothing else.
    #[default]
    Gate,
    /// All of it goes on while the gate is shut, by this right (POOL-5, POOL-7, CV-2).
    Anyway(String),
    /// None of it would start if the gate were open, for this reason of the resource's own.
    Stopped(String),
}

/// How far a resource is with what it has pending: the one answer behind the condition `ChangesPending` and its metric (GATE-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing waits, and nothing is under way.
    Nothing,
    /// Nothing waits, and what was initiated has not ended.
    UnderWay,
    /// Something waits and may start now.
    Initiating,
    /// Something waits for the gate.
    Held,
    /// Something waits, and would not start if the gate were open.
    Stopped,
}

impl Stage {
    /// The value of `change_management_change_pending`.
    pub fn figure(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::UnderWay | Self::Initiating => 1,
            Self::Held | Self::Stopped => 2,
        }
    }

    /// The reason of the condition `ChangesPending`, which holds exactly when the figure is not 0.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Nothing => names::NOTHING_PENDING,
            Self::UnderWay => names::UNDER_WAY,
            Self::Initiating => names::INITIATING,
            Self::Held => names::HELD,
            Self::Stopped => names::STOPPED,
        }
    }
}

impl Pending {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How far it is, with what the gate says.
    pub fn stage(&self, verdict: Verdict) -> Stage {
        match (self.is_empty(), &self.course, verdict) {
            (true, ..) if self.begun.is_empty() => Stage::Nothing,
            (true, ..) => Stage::UnderWay,
            (false, Course::Anyway(_), _) | (false, Course::Gate, Verdict::Permitted) => {
                Stage::Initiating
            }
            (false, Course::Stopped(_), Verdict::Permitted) => Stage::Stopped,
            (false, Course::Gate | Course::Stopped(_), Verdict::Held | Verdict::CannotTell) => {
                Stage::Held
            }
        }
    }
}

/// A change that was initiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Began {
    /// What, in a few words.
    pub what: String,
    /// When, by the record of who initiated it.
    pub at: Instant,
}

/// The newest change of a resource that was initiated, where whoever did it records the instant. Node pools record none.
pub(crate) fn began(kind: &Kind, document: &Value) -> Option<Began> {
    match kind.id {
        KindId::ClusterVersion => updated(document, "/status/history"),
        KindId::HostedCluster => updated(document, "/status/version/history"),
        KindId::MachineConfigPool => updating(document),
        KindId::NodePool
        | KindId::ChangeManagementPolicy
        | KindId::HostedChangeManagementPolicy
        | KindId::MachineConfig
        | KindId::Node
        | KindId::MachineConfiguration => None,
    }
}

/// The newest entry of a history of releases. The first of all is the installation, which nobody holds.
fn updated(document: &Value, history: &str) -> Option<Began> {
    let [newest, _, ..] = document.pointer(history)?.as_array()?.as_slice() else { return None };
    let text = |field: &str| newest.get(field).and_then(Value::as_str);
    let release =
        text("version").filter(|version| !version.is_empty()).or_else(|| text("image"))?;
    Some(Began {
        what: format!("release {release}"),
        at: Instant::parse(text("startedTime")?).ok()?,
    })
}

/// Where others roll a pool out, its condition `Updating` says since when.
fn updating(document: &Value) -> Option<Began> {
    let conditions = document.pointer("/status/conditions")?.as_array()?;
    let text = |condition: &Value, field: &str| {
        condition.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let updating = conditions.iter().find(|condition| {
        text(condition, "type") == UPDATING && text(condition, "status") == "True"
    })?;
    let target = document.pointer("/spec/configuration/name").and_then(Value::as_str)?;
    Some(Began {
        what: target.to_owned(),
        at: Instant::parse(&text(updating, "lastTransitionTime")).ok()?,
    })
}

/// What a resource has pending.
pub fn pending(kind: &Kind, document: &Value) -> Pending {
    match kind.id {
        KindId::ClusterVersion => cluster_version(document),
        KindId::MachineConfigPool => machine_config_pool(document),
        KindId::HostedCluster => hosted_cluster(document),
        KindId::NodePool => node_pool(document),
        // They change nothing by themselves.
        KindId::ChangeManagementPolicy
        | KindId::HostedChangeManagementPolicy
        | KindId::MachineConfig
        | KindId::Node
        | KindId::MachineConfiguration => Pending::default(),
    }
}

/// `spec.desiredUpdate` is a request; `status.desired` is what has been accepted, and acceptance is where an update begins.
fn cluster_version(document: &Value) -> Pending {
    let wanted = Release::at(document, "/spec/desiredUpdate");
    let accepted = Release::at(document, "/status/desired");
    Pending {
        waiting: update(wanted, accepted),
        begun: under_way(document, "/status/history/0", accepted),
        ..Pending::default()
    }
}

fn hosted_cluster(document: &Value) -> Pending {
    let wanted = Release::at(document, "/spec/release");
    let accepted = Release::at(document, "/status/version/desired");
    Pending {
        // A cluster that has never reported a version is being created, and creation is not held.
        waiting: if accepted.is_empty() { Vec::new() } else { update(wanted, accepted) },
        begun: under_way(document, "/status/version/history/0", accepted),
        ..Pending::default()
    }
}

/// The rendered configuration moves while a pool is held; machines that do not have it yet are what waits.
fn machine_config_pool(document: &Value) -> Pending {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let count = |path: &str| document.pointer(path).and_then(Value::as_i64).unwrap_or(0);
    let target = text("/spec/configuration/name");
    let reached = text("/status/configuration/name");
    let (machines, updated) = (count("/status/machineCount"), count("/status/updatedMachineCount"));
    let chosen = text("/spec/machineConfig/name");
    let (mut waiting, mut begun) = (Vec::new(), Vec::new());
    if !chosen.is_empty() && chosen != target && !target.is_empty() && machines > 0 {
        // The counts are about what was chosen, and say nothing about the newest.
        waiting.push(format!("{target}, while spec.machineConfig names {chosen}"));
    } else if !target.is_empty() && machines > 0 && (target != reached || updated < machines) {
        // The count belongs to the target only once the pool's controller has seen it. A pool whose machines all have the target
        // may still not have reached it, because one of them takes no workloads.
        let counted = count("/metadata/generation") <= count("/status/observedGeneration");
        let lacking = match machines - updated.min(machines) {
            0 if !counted => machines,
            lacking => lacking,
        };
        let going = under_way_to(document, target).min(lacking);
        if going > 0 {
            begun.push(format!("{target} on {going} of {machines} machines"));
        }
        if going < lacking {
            waiting.push(format!("{target} on {} of {machines} machines", lacking - going));
        }
    }
    Pending { waiting, begun, ..Pending::default() }
}

/// How many machines a pool has begun with a configuration, where its ledger says so.
fn under_way_to(document: &Value, config: &str) -> i64 {
    let noted = document.pointer("/metadata/annotations");
    let ledger = noted.and_then(|noted| noted.get(LEDGER)).and_then(Value::as_str);
    let ledger = Ledger::read(ledger.unwrap_or_default()).unwrap_or_default();
    ledger.iter().filter(|(_, entry)| entry.config == config).map(|_| 1).sum()
}

/// The conditions that the controller of node pools computes before it looks at any pause.
fn node_pool(document: &Value) -> Pending {
    const UPDATES: &[(&str, &str)] = &[
        ("UpdatingVersion", "a new release"),
        ("UpdatingConfig", "a new configuration"),
        ("UpdatingPlatformMachineTemplate", "a new machine template"),
    ];
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
    let holds = |name: &str| {
        conditions.into_iter().flatten().find(|condition| {
            condition.get("type").and_then(Value::as_str) == Some(name)
                && condition.get("status").and_then(Value::as_str) == Some("True")
        })
    };
    let waiting = UPDATES.iter().filter_map(|(name, what)| {
        let condition = holds(name)?;
        let said = condition.get("message").and_then(Value::as_str).filter(|said| !said.is_empty());
        Some(said.map_or_else(|| (*what).to_owned(), |said| format!("{what}: {said}")))
    });
    Pending { waiting: waiting.collect(), ..Pending::default() }
}

/// A release, by version or image or both.
#[derive(Clone, Copy)]
struct Release<'a> {
    version: &'a str,
    image: &'a str,
}

impl<'a> Release<'a> {
    fn at(document: &'a Value, path: &str) -> Self {
        let text = |field: &str| {
            let found = document.pointer(path).and_then(|release| release.get(field));
            found.and_then(Value::as_str).unwrap_or_default()
        };
        Self { version: text("version"), image: text("image") }
    }

    fn is_empty(self) -> bool {
        self.version.is_empty() && self.image.is_empty()
    }

    /// Images are compared where both are known: a version can be built twice.
    fn is_same(self, other: Self) -> bool {
        if !self.image.is_empty() && !other.image.is_empty() {
            self.image == other.image
        } else {
            self.version == other.version
        }
    }

    fn name(self) -> &'a str {
        if self.version.is_empty() { self.image } else { self.version }
    }
}

fn update(wanted: Release<'_>, accepted: Release<'_>) -> Vec<String> {
    if wanted.is_empty() || wanted.is_same(accepted) {
        return Vec::new();
    }
    match accepted.name() {
        "" => vec![format!("release {}", wanted.name())],
        now => vec![format!("release {} (now {now})", wanted.name())],
    }
}

fn under_way(document: &Value, newest: &str, accepted: Release<'_>) -> Vec<String> {
    let newest = document.pointer(newest);
    let state = newest.and_then(|entry| entry.get("state")).and_then(Value::as_str);
    if state == Some("Partial") { vec![format!("release {}", accepted.name())] } else { Vec::new() }
}

#[cfg(test)]
mod tests;
