//! Which kinds are there, and what differs from one to the next? One row for each, in a file of its own.
//!
//! A row is a value: it says what its kind is (group, name, scope, role), what of a document decisions read, what is pending, where its
//! stanza and its answer stand, what is decided and which other kinds that reads. Nothing else asks which kind an object is of. Most rows
//! are always known ([`ALL`]); one that is made while the program runs does the same ([`Row::kept`]).

use std::{fmt, ops::Deref, sync::Arc};

use api::schema::{Kind, Role};
use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    cluster::{
        decide,
        seen::{Own, Part, Seen, SeenGated, SeenPart},
        snapshot::{Judgement, Snapshot},
    },
    document::key::Key,
    gate::{
        enforced::Enforcement,
        pending::{Began, Pending},
        plan::Plan,
    },
    policy::{seen::SeenPolicy, stanza::Gating},
};

mod change_freeze;
mod change_gate;
mod change_guardrail;
mod change_management_policy;
mod change_override;
mod cluster_change_freeze;
mod cluster_change_gate;
mod cluster_change_override;
mod cluster_version;
mod config_map;
mod hosted_change_management_policy;
mod hosted_cluster;
mod machine_config;
pub mod machine_config_pool;
mod machine_configuration;
mod namespace;
mod node;
mod node_pool;
mod release;
mod targets;

pub use crate::cluster::surroundings::{Listed, Remembered, Surroundings};
pub use change_freeze::CHANGE_FREEZE;
pub use change_gate::CHANGE_GATE;
pub use change_guardrail::CHANGE_GUARDRAIL;
pub use change_management_policy::CHANGE_MANAGEMENT_POLICY;
pub use change_override::CHANGE_OVERRIDE;
pub use cluster_change_freeze::CLUSTER_CHANGE_FREEZE;
pub use cluster_change_gate::CLUSTER_CHANGE_GATE;
pub use cluster_change_override::CLUSTER_CHANGE_OVERRIDE;
pub use cluster_version::{CLUSTER_VERSION, STOCK_CLUSTER_VERSION};
pub use config_map::CONFIG_MAP;
pub use hosted_change_management_policy::HOSTED_CHANGE_MANAGEMENT_POLICY;
pub use hosted_cluster::HOSTED_CLUSTER;
pub use machine_config::{MACHINE_CONFIG, STOCK_MACHINE_CONFIG};
pub use machine_config_pool::MACHINE_CONFIG_POOL;
pub use machine_configuration::MACHINE_CONFIGURATION;
pub use namespace::NAMESPACE;
pub use node::NODE;
pub use node_pool::NODE_POOL;
pub use targets::{
    APPLICATION, CLUSTER, DAEMON_SET, DEPLOYMENT, KUBEADM_CONTROL_PLANE, MACHINE_DEPLOYMENT,
    REPLICA_SET, STATEFUL_SET, TARGETS, UPGRADE_PLAN, target, touching,
};

/// Every kind that is always known, in the order in which they are shown and worked on.
pub static ALL: &[&Row] = &[
    &CHANGE_MANAGEMENT_POLICY,
    &HOSTED_CHANGE_MANAGEMENT_POLICY,
    &CLUSTER_VERSION,
    &MACHINE_CONFIG_POOL,
    &HOSTED_CLUSTER,
    &NODE_POOL,
    &CHANGE_GATE,
    &CLUSTER_CHANGE_GATE,
    &CHANGE_FREEZE,
    &CLUSTER_CHANGE_FREEZE,
    &CHANGE_OVERRIDE,
    &CLUSTER_CHANGE_OVERRIDE,
    &CHANGE_GUARDRAIL,
    &MACHINE_CONFIG,
    &NODE,
    &MACHINE_CONFIGURATION,
    &NAMESPACE,
];

/// A kind with its behaviour.
#[derive(Clone, Copy)]
pub struct Row {
    /// What it is on the wire.
    pub kind: Kind,
    /// What of its documents decisions read.
    pub read: Read,
    /// What is decided about its objects where others roll configurations out to nodes; none if nothing is.
    pub watched: Option<Duty>,
    /// The same where we do.
    pub managed: Option<Duty>,
}

/// What of a document decisions read.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// When something may change.
    Policy,
    /// What asks when it may change.
    Gated(Gated),
    /// What others are made of.
    Part(fn(&Value) -> Part),
}

/// What is read of an object that asks when it may change.
#[derive(Clone, Copy, Debug)]
pub struct Gated {
    /// Where its stanza and its answer stand.
    pub gating: Gating,
    /// What would be initiated if there were no change management (POOL-6).
    pub pending: fn(&Value) -> Pending,
    /// The newest change that was initiated, where whoever did it records the instant.
    pub began: fn(&Value) -> Option<Began>,
    /// What else decisions about this kind read.
    pub own: fn(&Value) -> Own,
}

impl Gated {
    /// Of a kind whose stanza stands where it does on every kind that is always known, and about which nothing else is known.
    pub const PLAIN: Self = Self {
        gating: Gating::USUAL,
        pending: |_| Pending::default(),
        began: |_| None,
        own: |_| Own::Nothing,
    };
}

/// What is decided about the objects of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Duty {
    /// What else is read: all of it is known before the first decision.
    pub reads: &'static [&'static Row],
    /// Which objects a change of that concerns.
    pub concerns: Concerns,
    /// The decision, from an object and whatever else is known.
    pub decide: Decide,
    /// The objects that the gate of an object rests on: they are read again right before a change is initiated about it (GATE-11).
    /// Without any, nothing is ever initiated about the kind.
    pub rests_on: fn(&Seen, &Snapshot) -> Vec<Key>,
}

/// Which objects of a kind a change of what is read for them concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concerns {
    /// All of them.
    All,
    /// Those that the snapshot tells ([`Snapshot::learn`]).
    Told,
}

/// A decision about an object.
pub type Decide = fn(&Seen, &Surroundings<'_>, Instant) -> Plan;

impl Duty {
    /// To decide so, reading nothing else and initiating nothing.
    pub const fn to(decide: Decide) -> Self {
        Self { reads: &[], concerns: Concerns::All, decide, rests_on: |_, _| Vec::new() }
    }

    /// To decide so about what belongs to the whole cluster, which freezes of the platform may hold and overrides of it open (OVR-1,
    /// OVR-2).
    const fn of_cluster(decide: Decide) -> Self {
        static READS: [&Row; 3] =
            [&CLUSTER_CHANGE_FREEZE, &CLUSTER_CHANGE_OVERRIDE, &CHANGE_GUARDRAIL];
        Self { reads: &READS, ..Self::to(decide) }
    }

    /// To decide so about what lives in a namespace, which freezes of both kinds may hold and overrides of both kinds open; freezes of the
    /// platform choose namespaces by their labels.
    const fn in_namespace(decide: Decide) -> Self {
        static READS: [&Row; 6] = [
            &CHANGE_FREEZE,
            &CLUSTER_CHANGE_FREEZE,
            &CHANGE_OVERRIDE,
            &CLUSTER_CHANGE_OVERRIDE,
            &CHANGE_GUARDRAIL,
            &NAMESPACE,
        ];
        Self { reads: &READS, ..Self::to(decide) }
    }
}

/// Who rolls configurations out to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pools {
    /// Others do, and only statuses are written here.
    Watched,
    /// We do.
    Managed,
}

/// Who starts updates of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// Others do, and only statuses are written here.
    Watched,
    /// We do: what somebody wants is held, and marked when its gate permits (CV-4).
    Started,
    /// We do, where definitions and operators are those that OpenShift ships: what was queued is written into `spec.desiredUpdate` when every
    /// gate on it permits (CV-6).
    Queued,
}

/// Who starts changes of hosted clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostedClusters {
    /// Others do, and only statuses are written here.
    Watched,
    /// We do: what somebody wants is held, and marked when its gate permits (HOST-1).
    Started,
}

/// A kind whose objects are looked at, and what is decided about them.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// The kind.
    pub row: &'static Row,
    /// What is decided.
    pub duty: Duty,
}

/// Every controller, policies first.
pub fn controllers(pools: Pools) -> Vec<Controller> {
    ALL.iter().filter_map(|row| row.controller(pools)).collect()
}

/// The same, with updates of the control plane started here.
pub fn starting_updates(mut controllers: Vec<Controller>) -> Vec<Controller> {
    let versions = controllers.iter_mut().filter(|one| one.row.kind == CLUSTER_VERSION.kind);
    versions.for_each(|one| one.duty = cluster_version::STARTED);
    controllers
}

/// The same, with updates that were queued on a stock cluster started here.
pub fn starting_queued_updates(mut controllers: Vec<Controller>) -> Vec<Controller> {
    let versions = controllers.iter_mut().filter(|one| one.row.kind == CLUSTER_VERSION.kind);
    for one in versions {
        one.row = &STOCK_CLUSTER_VERSION;
        one.duty = STOCK_CLUSTER_VERSION.watched.unwrap_or(one.duty);
    }
    controllers
}

/// The same, with changes of hosted clusters started here.
pub fn starting_hosted(mut controllers: Vec<Controller>) -> Vec<Controller> {
    let clusters = controllers.iter_mut().filter(|one| one.row.kind == HOSTED_CLUSTER.kind);
    clusters.for_each(|one| one.duty = hosted_cluster::STARTED);
    let pools = controllers.iter_mut().filter(|one| one.row.kind == NODE_POOL.kind);
    pools.for_each(|one| one.duty = node_pool::STARTED);
    controllers
}

impl Row {
    /// A row of a kind that says when.
    const fn policy(kind: Kind) -> Self {
        // Guardrails judge them (GRD-6), by the labels of namespaces and by other policies; who is concerned by a change of those is told.
        static READS: [&Row; 2] = [&CHANGE_GUARDRAIL, &NAMESPACE];
        let duty = Duty::to(|seen, around, now| match seen {
            Seen::Policy(policy) => {
                decide::policy(policy, &around.snapshot.judge_policy(policy, now), now)
            }
            Seen::Gated(_) | Seen::Part(_) => Plan::default(),
        });
        let duty = Duty { reads: &READS, concerns: Concerns::Told, ..duty };
        Self { kind, read: Read::Policy, watched: Some(duty), managed: Some(duty) }
    }

    /// A row of a kind that asks when, about which this is decided.
    pub const fn gated(kind: Kind, gated: Gated, duty: Duty) -> Self {
        Self { kind, read: Read::Gated(gated), watched: Some(duty), managed: Some(duty) }
    }

    /// A row of a kind that others are made of.
    const fn part(kind: Kind, read: fn(&Value) -> Part) -> Self {
        Self { kind, read: Read::Part(read), watched: None, managed: None }
    }

    /// A row of a kind that lets nothing start while it lasts: one that has been over for a day is deleted (OVR-6).
    const fn freeze(kind: Kind, read: fn(&Value) -> Part) -> Self {
        let duty = Duty::to(|seen, _, now| match seen {
            Seen::Part(part) => part
                .freeze()
                .map_or_else(Plan::default, |freeze| decide::freeze(&part.identity, freeze, now)),
            Seen::Policy(_) | Seen::Gated(_) => Plan::default(),
        });
        Self { watched: Some(duty), managed: Some(duty), ..Self::part(kind, read) }
    }

    /// A row of a kind that opens one gate while it lasts: whether that is there is told, and one that has been over for a day is deleted
    /// (OVR-2, OVR-6).
    const fn overriding(
        kind: Kind,
        targets: &'static [&'static Row],
        read: fn(&Value) -> Part,
    ) -> Self {
        let duty = Duty::to(|seen, around, now| match seen {
            Seen::Part(part) => part.overriding().map_or_else(Plan::default, |overriding| {
                decide::overriding(&part.identity, overriding, around.snapshot, now)
            }),
            Seen::Policy(_) | Seen::Gated(_) => Plan::default(),
        });
        let duty = Duty { reads: targets, ..duty };
        Self { watched: Some(duty), managed: Some(duty), ..Self::part(kind, read) }
    }

    /// The row, for as long as the program runs: a kind that somebody once knew may be named by any key. Whoever makes rows makes one
    /// a definition, and not one an object.
    pub fn kept(self) -> &'static Self {
        Box::leak(Box::new(self))
    }

    /// Reads a document.
    pub fn see(&'static self, document: &Value) -> Seen {
        match &self.read {
            Read::Policy => Seen::Policy(Arc::new(SeenPolicy::new(&self.kind, document))),
            Read::Gated(gated) => Seen::Gated(Arc::new(gated.see(&self.kind, document))),
            Read::Part(part) => {
                Seen::Part(Arc::new(SeenPart::new(&self.kind, document, part(document))))
            }
        }
    }

    /// Its controller; none if nothing is decided about its objects.
    pub fn controller(&'static self, pools: Pools) -> Option<Controller> {
        let duty = match pools {
            Pools::Watched => self.watched,
            Pools::Managed => self.managed,
        };
        duty.map(|duty| Controller { row: self, duty })
    }
}

impl Gated {
    fn see(&'static self, kind: &'static Kind, document: &Value) -> SeenGated {
        let Self { gating, pending, began, own } = self;
        SeenGated::new(
            (kind, gating),
            document,
            (pending(document), began(document)),
            own(document),
        )
    }
}

impl Deref for Row {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.kind
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl Snapshot {
    /// Takes in an object as a cluster has it.
    pub fn add(&mut self, row: &'static Row, document: &Value) {
        self.put(row.see(document));
    }

    /// Takes in an object as somebody wrote it down. A policy that no controller has seen yet counts as read: the question is what
    /// it will do, not whether it is installed.
    pub fn add_written(&mut self, row: &'static Row, document: &Value, now: Instant) {
        if row.role != Role::Policy || document.get("status").is_some() {
            return self.add(row, document);
        }
        let mut document = document.clone();
        let plan = decide::policy(&SeenPolicy::new(row, &document), &Judgement::default(), now);
        let status = plan.status.and_then(|patch| patch.operations.last().cloned());
        let conditions = status.and_then(|status| status.pointer("/value/conditions").cloned());
        if let (Some(fields), Some(conditions)) = (document.as_object_mut(), conditions) {
            fields.insert("status".into(), json!({"conditions": conditions}));
        }
        self.add(row, &document);
    }
}

/// The row of a kind that is always known; none for one that is not.
pub fn known(kind: &Kind) -> Option<&'static Row> {
    ALL.iter().copied().find(|row| row.kind == *kind)
}

/// What is decided about a gate that nobody in the cluster asks before they begin (GATE-13).
pub fn advisory(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    gate_told(seen, around, Enforcement::Advisory, now)
}

fn gate_told(seen: &Seen, around: &Surroundings<'_>, kept: Enforcement, now: Instant) -> Plan {
    match seen {
        Seen::Policy(_) | Seen::Part(_) => Plan::default(),
        Seen::Gated(gated) => decide::gated(gated, &around.snapshot.gate(gated), kept, now),
    }
}

#[cfg(test)]
pub(crate) mod tests;
