//! What would be initiated if there were no change management? (POOL-6)
//!
//! One row for each kind: which of its fields say that something waits, and which that something is under way. Only material changes
//! count: scaling and certificates never appear here, because nothing that is never held can be pending (GATE-8).

use std::collections::BTreeSet;

use api::{
    machine::names::LEDGER,
    names,
    schema::{Kind, KindId},
};
use schedule::Instant;
use serde_json::Value;

use crate::{
    change::ChangeId,
    gate::Basis,
    pool::{ledger::Ledger, status::UPDATING},
    problem::Problem,
    verdict::Verdict,
};

/// What waits, and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Changes that have not been initiated.
    pub waiting: Vec<Waiting>,
    /// Changes that have been initiated and are not finished; the gate no longer asks about them (CV-1, POOL-1).
    pub begun: Vec<UnderWay>,
    /// What decides whether that which waits starts now.
    pub course: Course,
    /// When something was last initiated, if that is known.
    pub initiated: Option<Instant>,
}

/// A change that has not been initiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// An update of a control plane.
    Release {
        /// The release, by its version or its image.
        to: String,
        /// The one that was accepted last, if any was.
        now: Option<String>,
    },
    /// A rendered configuration that machines of a pool lack.
    Machines {
        /// The configuration.
        to: ChangeId,
        /// Which of them.
        machines: Machines,
        /// What it brings, where that can be told.
        differences: Differences,
    },
    /// A rendered configuration that a pool would have if nobody had chosen another.
    Pinned {
        /// The configuration.
        to: ChangeId,
        /// The one that was chosen.
        chosen: String,
    },
    /// What the controller of hosted machines says it would do.
    Hosted {
        /// The change.
        to: ChangeId,
        /// What it says, if anything.
        said: Option<String>,
    },
}

impl Waiting {
    /// Which change.
    pub fn change(&self) -> ChangeId {
        match self {
            Self::Release { to, now: _ } => ChangeId::release(to),
            Self::Machines { to, .. } | Self::Pinned { to, .. } | Self::Hosted { to, .. } => {
                to.clone()
            }
        }
    }
}

/// A change that has been initiated and is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Which change.
    pub change: ChangeId,
    /// On which machines, if it is one of machines.
    pub machines: Option<Machines>,
}

/// So many of the machines of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machines {
    /// So many.
    pub count: i64,
    /// Of so many.
    pub of: i64,
}

/// What a configuration brings to those that lack it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The sources, by name.
    pub sources: BTreeSet<(String, Edit)>,
    /// What is different on a machine, as people name it.
    pub fields: BTreeSet<String>,
}

/// What became of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// It is new.
    Added,
    /// It holds something else.
    Changed,
    /// It is gone.
    Removed,
}

/// What decides whether that which waits starts now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// The gate, and nothing else.
    #[default]
    Gate,
    /// All of it goes on while the gate is shut, by these rights (POOL-5, POOL-7, CV-2).
    Anyway(BTreeSet<Basis>),
    /// None of it would start if the gate were open, for this reason of the resource's own.
    Stopped(Stop),
}

/// Why a pool begins no machine, whatever its gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `spec.paused`.
    Paused,
    /// Something is wrong.
    Blocked(Vec<Problem>),
    /// This pool must settle first.
    After(String),
    /// Somebody chose this configuration.
    Pinned(String),
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
    /// Which change.
    pub what: ChangeId,
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
        | KindId::MachineConfiguration
        | KindId::ChangeFreeze
        | KindId::ClusterChangeFreeze
        | KindId::ChangeGate
        | KindId::ClusterChangeGate => None,
    }
}

/// The newest entry of a history of releases. The first of all is the installation, which nobody holds.
fn updated(document: &Value, history: &str) -> Option<Began> {
    let [newest, _, ..] = document.pointer(history)?.as_array()?.as_slice() else { return None };
    let text = |field: &str| newest.get(field).and_then(Value::as_str);
    let release =
        text("version").filter(|version| !version.is_empty()).or_else(|| text("image"))?;
    Some(Began { what: ChangeId::release(release), at: Instant::parse(text("startedTime")?).ok()? })
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
        what: ChangeId::rendered(target),
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
        | KindId::MachineConfiguration
        | KindId::ChangeFreeze
        | KindId::ClusterChangeFreeze
        | KindId::ChangeGate
        | KindId::ClusterChangeGate => Pending::default(),
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
        let to = ChangeId::rendered(target);
        waiting.push(Waiting::Pinned { to, chosen: chosen.to_owned() });
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
            let machines = Some(Machines { count: going, of: machines });
            begun.push(UnderWay { change: ChangeId::rendered(target), machines });
        }
        if going < lacking {
            waiting.push(Waiting::Machines {
                to: ChangeId::rendered(target),
                machines: Machines { count: lacking - going, of: machines },
                differences: Differences::default(),
            });
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
    let release = document.pointer("/spec/release/image").and_then(Value::as_str);
    let updates = [
        ("UpdatingVersion", ChangeId::release(release.unwrap_or_default())),
        ("UpdatingConfig", ChangeId::Revision),
        ("UpdatingPlatformMachineTemplate", ChangeId::Template),
    ];
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
    let holds = |name: &str| {
        conditions.into_iter().flatten().find(|condition| {
            condition.get("type").and_then(Value::as_str) == Some(name)
                && condition.get("status").and_then(Value::as_str) == Some("True")
        })
    };
    let waiting = updates.into_iter().filter_map(|(name, to)| {
        let condition = holds(name)?;
        let said = condition.get("message").and_then(Value::as_str).filter(|said| !said.is_empty());
        Some(Waiting::Hosted { to, said: said.map(str::to_owned) })
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

fn update(wanted: Release<'_>, accepted: Release<'_>) -> Vec<Waiting> {
    if wanted.is_empty() || wanted.is_same(accepted) {
        return Vec::new();
    }
    let now = Some(accepted.name()).filter(|name| !name.is_empty()).map(str::to_owned);
    vec![Waiting::Release { to: wanted.name().to_owned(), now }]
}

fn under_way(document: &Value, newest: &str, accepted: Release<'_>) -> Vec<UnderWay> {
    let newest = document.pointer(newest);
    let state = newest.and_then(|entry| entry.get("state")).and_then(Value::as_str);
    let change = (state == Some("Partial")).then(|| ChangeId::release(accepted.name()));
    change.map(|change| UnderWay { change, machines: None }).into_iter().collect()
}

#[cfg(test)]
mod tests;
