//! Which first writes are known? One room for each, in a file of its own.
//!
//! A room is data: the write that starts a change, as a rule of the API server and an expression over it, the words by which people name
//! what is held, and what is *not* held (RCH-6). Policies, chart and reference are rendered from this table; a new room is a new row.

mod applications;
mod daemon_sets;
mod deployments;
mod helm_releases;
mod kured;
mod leaving;
mod stateful_sets;

use api::reach::{OFFERS, Offer, PendingChange, What};
use serde_json::Value;

/// Every room, in the order in which they are shown.
pub const ROOMS: &[Room] = &[
    deployments::ROOM,
    stateful_sets::ROOM,
    daemon_sets::ROOM,
    helm_releases::ROOM,
    applications::ROOM,
    kured::ROOM,
];

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
    /// A label, with its value, that whatever begins something always has: the server looks at nothing else. For kinds that everybody
    /// writes, because a server that starts refuses for a second whatever it would look at (RCH-7).
    pub marked: Option<(&'static str, &'static str)>,
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
    /// What is added to a refusal, because a person who meets it would ask: an expression with a text.
    pub adds: &'static str,
    /// What a gate of the cluster does in namespaces of the system.
    pub system: SystemNamespaces,
    /// How what waits is woken at an opening.
    pub nudge: Nudge,
    /// What this room does not hold (RCH-6).
    pub not_held: &'static [&'static str],
    /// Which stock controller this was tried with.
    pub tried: &'static str,
    /// What waits, as far as the objects tell.
    pub pending: fn(&Documents<'_>) -> Option<PendingChange>,
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
        /// The annotation: some controllers look again at whatever changes, others ask for one of their own.
        annotation: &'static str,
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

    /// Its name on the wire.
    pub fn name_of(&self) -> &'static str {
        self.offer().map_or("", |offer| offer.name)
    }

    /// The way in which it holds if none is named.
    pub fn first_way(&self) -> &'static str {
        self.offer().and_then(|offer| offer.ways.first()).map_or("", |(_, way)| way)
    }
}

/// The room of this name.
pub fn room(what: What) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.what == what)
}

#[cfg(test)]
mod tests;
