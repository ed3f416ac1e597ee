//! Which first writes are known? One room for each, in a file of its own.
//!
//! A room is data: the write that starts a change, as a rule of the API server and an expression over it, the words by which people name
//! what is held, and what is *not* held (RCH-6). Policies, chart and reference are rendered from this table; a new room is a new row.

mod applications;
mod cluster_topologies;
mod cluster_version;
mod custom;
mod daemon_sets;
mod deployments;
mod flux_revisions;
mod helm_releases;
mod hosted;
mod install_plans;
mod karpenter_disruption;
mod kubeadm_control_planes;
mod kured;
mod leaving;
mod machine_config_pools;
mod machine_deployments;
mod masters;
mod ordered;
mod stateful_sets;
mod upgrade_plans;

use api::{
    machine::names::MASTER,
    reach::{OFFERS, Offer, PendingChange, What},
    schema::{Kind, Scope},
};
use serde_json::Value;

use super::target::{self, SeenTarget};
use crate::document::key::Key;

/// Every room, in the order in which they are shown.
pub const ROOMS: &[Room] = &[
    deployments::ROOM,
    stateful_sets::ROOM,
    daemon_sets::ROOM,
    helm_releases::ROOM,
    applications::ROOM,
    kured::ROOM,
    machine_config_pools::ROOM,
    cluster_version::ROOM,
    machine_deployments::ROOM,
    install_plans::ROOM,
    upgrade_plans::ROOM,
    flux_revisions::ROOM,
    karpenter_disruption::ROOM,
    kubeadm_control_planes::ROOM,
    cluster_topologies::ROOM,
    hosted::CLUSTERS,
    hosted::NODE_POOLS,
];

/// Updates of the control plane.
pub const UPDATES: &Room = &cluster_version::ROOM;

/// Nodes of the control plane of a stock cluster: held by whatever holds its updates, and no room that people name (CV-2).
pub const MASTERS: &Room = &masters::ROOM;

/// What no other room knows: rooms of somebody's own, each with a name (RCH-14).
pub const CUSTOM: &Room = &custom::ROOM;

/// Whether a write changes labels, by which things are chosen: an expression over `object` and `oldObject`.
pub(crate) const RELABELS: &str = leaving::relabels!();

/// What is known about one kind of change that others make.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// What people call it in `holds`.
    pub what: What,
    /// The last part of the names of its policies.
    pub slug: &'static str,
    /// What it holds, in a sentence.
    pub held: &'static str,
    /// The writes that the server looks at.
    pub writes: &'static [Write],
    /// A label that whatever begins something always has, with its value if that is always the same: the server looks at nothing else. For kinds
    /// that everybody writes, because a server that starts refuses for a second whatever it would look at (RCH-7).
    pub marked: Option<(&'static str, Option<&'static str>)>,
    /// The condition of the chart under which its policies are rendered; wherever gates are, if none.
    pub rendered: Option<&'static str>,
    /// Whether a write may begin something, whatever a gate says: an expression over `object`, `oldObject` and `request`. It comes first, so
    /// that other writes cost little.
    pub begins: &'static str,
    /// What people name in `names`: an expression with a text.
    pub name: &'static str,
    /// Whose labels `selector` speaks of: an expression with a list of metadata, any of which may match.
    pub labels: &'static str,
    /// Whether a `hold` that selects the write holds it: an expression that also has `hold`, the `way` in which it holds standing for
    /// `{way}`, whether its selector matches the labels of the metadata `x` for `{selects:x}`, and whether it lists the option `x` in `allow`
    /// for `{allows:x}`.
    pub holds: &'static str,
    /// What is added to a refusal, because a person who meets it would ask: an expression with a text, in which `{queues}` is whether a hold that
    /// selects the write queues.
    pub adds: &'static str,
    /// What a gate of the cluster does in namespaces of the system.
    pub system: SystemNamespaces,
    /// How what waits is woken at an opening.
    pub nudge: Nudge,
    /// What this room does not hold (RCH-6).
    pub not_held: &'static [&'static str],
    /// Which stock controller this was tried with.
    pub tried: &'static str,
    /// What can be counted of it; none where the objects are nobody's business, or tell nothing.
    pub targets: Option<Targets>,
    /// The kind by which it is counted where that is looked at anyway, because it may carry a stanza of ours.
    pub gated: Option<&'static Kind>,
}

/// What is read of the objects that a room holds.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    /// What people name.
    pub kind: &'static Kind,
    /// What is kept of it.
    pub read: Reader,
    /// What its controller makes of it, where that tells whether something waits, and what is kept of that.
    pub made: Option<(&'static Kind, Reader)>,
    /// Whether it can be told that something waits.
    pub waits: Waits,
}

/// What is kept of a document.
pub type Reader = fn(&Value) -> SeenTarget;

/// Whether objects tell that something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nothing ever waits: who wants something is refused.
    Never,
    /// They tell, for holds that queue.
    Told,
}

/// A write that the server looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The API group.
    pub group: &'static str,
    /// The resources, with their subresources: whichever can carry what begins a change.
    pub resources: &'static [&'static str],
    /// The operations.
    pub operations: &'static [&'static str],
}

/// What a gate of the cluster does in `kube-*`, `openshift-*` and the namespace of the operator (RCH-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemNamespaces {
    /// It leaves them alone, unless it names them: an update that has begun rolls workloads there.
    LeftAlone,
    /// It holds there as anywhere.
    Held,
}

/// How what waits is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// An annotation of this resource is written, and its controller looks again.
    Touch {
        /// The API group.
        group: &'static str,
        /// The resource.
        resource: &'static str,
        /// An annotation by which its controller is asked to look again, with its value. Most look again at whatever changes.
        asks: Option<(&'static str, &'static str)>,
    },
    /// Nothing can be touched; the reason, and what to do.
    None(&'static str),
}

/// What was seen of one thing that is held.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    /// What people name.
    pub target: &'a Value,
    /// What its controller made for it.
    pub made: &'a [Value],
}

impl Room {
    /// What people may write about it.
    pub fn offer(&self) -> Option<&'static Offer> {
        OFFERS.iter().find(|offer| offer.what == self.what)
    }

    /// Where what it holds is.
    pub fn scope(&self) -> Scope {
        match self.what {
            What::MachineConfigPools | What::ClusterVersion | What::KarpenterDisruption => {
                Scope::Cluster
            }
            What::Deployments
            | What::StatefulSets
            | What::DaemonSets
            | What::HelmReleases
            | What::Applications
            | What::KuredLock
            | What::MachineDeployments
            | What::InstallPlans
            | What::UpgradePlans
            | What::FluxRevisions
            | What::KubeadmControlPlanes
            | What::ClusterTopologies
            | What::HostedClusters
            | What::NodePools
            | What::Custom
            | What::Unknown => Scope::Namespaced,
        }
    }

    /// Whether its policies are a part of the installation that people apply or leave out: those for a stock `HyperShift`.
    pub fn stands_alone(&self) -> bool {
        matches!(self.what, What::HostedClusters | What::NodePools)
    }

    /// Its name on the wire.
    pub fn name_of(&self) -> &'static str {
        self.offer().map_or("", |offer| offer.name)
    }

    /// Whether it never holds what bears this name: the masters follow `ClusterVersion` (RCH-12, CV-2).
    pub fn leaves_out(&self, name: &str) -> bool {
        self.what == What::MachineConfigPools && name == MASTER
    }

    /// Whether what waits, told by kind and name, waits for it: with updates of the control plane wait its nodes (CV-2).
    pub fn tells_of(&self, kind: &str, name: &str) -> bool {
        let own = self.gated.or(self.targets.map(|targets| targets.kind));
        let is_own = own.is_some_and(|own| own.name == kind) && !self.leaves_out(name);
        let follows = self.what == UPDATES.what
            && MASTERS.gated.is_some_and(|pools| pools.name == kind)
            && name == MASTER;
        is_own || follows
    }

    /// What waits, as far as documents tell.
    pub fn pending(&self, documents: &Documents<'_>) -> Option<PendingChange> {
        let Targets { kind, read, made, .. } = self.targets?;
        let text = |path: &str| documents.target.pointer(path).and_then(Value::as_str);
        let key = Key::new(kind, text("/metadata/namespace"), text("/metadata/name")?);
        let made: Vec<SeenTarget> =
            made.map_or_else(Vec::new, |(_, read)| documents.made.iter().map(read).collect());
        let own = made.iter().filter(|made| made.owner() == text("/metadata/uid"));
        target::waits(&key, &read(documents.target), own)
    }

    /// The kinds of objects that have to be known before it can be told what waits.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> + use<> {
        let targets = self.targets;
        targets.into_iter().flat_map(|targets| {
            [targets.kind].into_iter().chain(targets.made.map(|(kind, _)| kind))
        })
    }

    /// The way in which it holds if none is named.
    pub fn first_way(&self) -> &'static str {
        self.offer().and_then(|offer| offer.ways.first()).map_or("", |(_, way)| way)
    }
}

/// What is kept of an object of a kind that some room reads; nothing of any other.
pub fn read(kind: &Kind, document: &Value) -> Option<SeenTarget> {
    ROOMS.iter().filter_map(|room| room.targets).find_map(|targets| match targets.made {
        _ if *targets.kind == *kind => Some((targets.read)(document)),
        Some((made, read)) if *made == *kind => Some(read(document)),
        _ => None,
    })
}

/// The room whose targets are of this kind.
pub fn of_kind(kind: &Kind) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.targets.is_some_and(|targets| *targets.kind == *kind))
}

/// Every room that `holds` can name: those of the table, and those of somebody's own as one.
pub fn known() -> impl Iterator<Item = &'static Room> {
    ROOMS.iter().chain([CUSTOM])
}

/// The room of this name.
pub fn room(what: What) -> Option<&'static Room> {
    known().find(|room| room.what == what)
}

#[cfg(test)]
mod tests;
