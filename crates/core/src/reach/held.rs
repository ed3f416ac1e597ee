//! Which gate selects what? (RCH-12, RCH-13)
//!
//! [`held_by`] is the one answer, as the server judges it; [`is_chosen`] and [`is_left_alone`] are its parts that freezes share.

use api::{reach::LabelSelector, schema::Scope};

use super::{
    rooms::{Room, SystemNamespaces},
    seen::{Held, SeenGate},
    selector::{Labels, Selects, chooses, chooses_namespace, names_namespaces},
};

/// Something that gates may hold, and what they ask about it.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The room that knows its first write.
    pub room: &'static Room,
    /// What people name.
    pub name: &'a str,
    /// The labels by which it is chosen.
    pub labels: &'a Labels,
}

/// Where it is.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// The labels of that, if anybody saw them.
    pub labels: Option<&'a Labels>,
    /// The namespace of the operator, where that is known.
    pub home: Option<&'a str>,
}

/// Whether names and labels choose something: either, and everything without both (RCH-11).
pub fn is_chosen(
    names: Option<&[String]>,
    selector: Option<&LabelSelector>,
    target: &Target<'_>,
) -> bool {
    if target.room.leaves_out(target.name) {
        return false;
    }
    let by_name = names.map(|names| names.iter().any(|name| name == target.name));
    let by_label = selector.map(|selector| chooses(selector, target.labels));
    match (by_name, by_label) {
        (None, None) => true,
        (by_name, by_label) => by_name == Some(true) || by_label == Some(true),
    }
}

/// RCH-13: whether what belongs to the whole cluster leaves a room alone there, unless it names namespaces.
pub fn is_left_alone(room: &Room, place: &Place<'_>) -> bool {
    let Place { namespace, home, .. } = place;
    let of_system = namespace.starts_with("kube-")
        || namespace.starts_with("openshift-")
        || *home == Some(*namespace);
    room.system == SystemNamespaces::LeftAlone && of_system
}

/// Whether a gate selects something, and by which of its holds, as the server judges it (RCH-12, RCH-13). `own` is the namespace of the gate,
/// if it has one.
pub fn held_by<'g>(
    gate: &'g SeenGate,
    own: Option<&str>,
    target: &Target<'_>,
    place: &Place<'_>,
) -> (Selects, Option<&'g Held>) {
    let hold = gate.chosen.iter().find(|hold| {
        hold.room == target.room.what
            && is_chosen(hold.names.as_deref(), hold.selector.as_ref(), target)
    });
    let is_in_none = target.room.scope() == Scope::Cluster;
    let reached = match (own, &gate.namespaces) {
        // RCH-13: what is in no namespace is chosen by gates of the cluster that choose none.
        (Some(_), _) | (None, Some(_)) if is_in_none => Selects::No,
        (Some(own), _) => Selects::when(own == place.namespace),
        (None, None) if gate.everywhere => Selects::when(!is_left_alone(target.room, place)),
        // It chooses, and nobody can read how.
        (None, None) => Selects::CannotTell,
        (None, Some(selector)) => {
            let spared = !names_namespaces(selector) && is_left_alone(target.room, place);
            chooses_namespace(selector, place.namespace, place.labels).min(Selects::when(!spared))
        }
    };
    match hold {
        Some(_) => (reached, hold),
        // Written by something newer: nobody here knows what it chooses.
        None if gate.is_unclear => (reached.min(Selects::CannotTell), None),
        None => (Selects::No, None),
    }
}

#[cfg(test)]
mod tests;
