//! What waits of all that gates may hold? An index that is kept with each object, because a gate asks about thousands of them and each changes
//! alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use api::{
    reach::{Mode, PendingChange, Way},
    schema::Kind,
};
use schedule::Instant;

use super::{Snapshot, part};
use crate::{
    cluster::seen::{Part, Seen, SeenGated},
    document::key::Key,
    policy::freeze::SeenFreeze,
    reach::{
        held::{Place, Target, held_by},
        rooms::{self, Room},
        seen::{SeenGate, Touch},
        selector::Selects,
        target::{self, SeenTarget, Tells},
    },
};

/// What was made of what, and what waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// What was made, by the identity of what it was made for.
    made: BTreeMap<String, BTreeSet<Key>>,
    /// What others are made for, by its identity.
    owners: BTreeMap<String, Key>,
    waits: BTreeMap<Key, PendingChange>,
    /// What waits in silence, and was held by a gate or a freeze that went or changed since; with when it had been touched until then.
    let_go: BTreeMap<Key, Option<Instant>>,
}

impl Snapshot {
    /// What waits at an object, if something does.
    pub fn waiting(&self, key: &Key) -> Option<&PendingChange> {
        self.waiting.waits.get(key)
    }

    /// Everything that waits, in the order of kinds, namespaces and names.
    pub fn all_waiting(&self) -> impl ExactSizeIterator<Item = (&Key, &PendingChange)> {
        self.waiting.waits.iter()
    }

    /// Whether something that tells of no refusal was held by a gate or a freeze that went or changed, and nobody has touched it since. Since
    /// when it is free nobody knows then.
    pub fn was_let_go(&self, key: &Key) -> bool {
        let target = self.seen.get(key).and_then(target_of);
        let remembered = self.waiting.let_go.get(key).zip(target);
        remembered.is_some_and(|(nudged, target)| target.nudged == *nudged)
    }

    /// Remembers what waits in silence behind a gate or a freeze that went, or is another now.
    pub(super) fn keep_let_go(&mut self, key: &Key, before: &Seen) {
        if !differs(before, self.seen.get(key)) {
            return;
        }
        let waiting = self.waiting.waits.keys().filter_map(|key| {
            let (target, room) = (target_of(self.seen.get(key)?)?, rooms::of_kind(key.kind())?);
            let asked = Target { room, name: &key.name, labels: &target.labels };
            let held = target.is_silent() && held_it(before, &asked, &self.place(key, None));
            held.then(|| (key.clone(), target.nudged))
        });
        let waiting: Vec<(Key, Option<Instant>)> = waiting.collect();
        self.waiting.let_go.extend(waiting);
    }

    /// Every object of a kind that gates may hold, in a namespace or in all.
    pub fn targets<'a>(
        &'a self,
        kind: &'static Kind,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a SeenTarget)> + use<'a> {
        let first = Key::new(kind, namespace, "");
        let all = self.seen.range(first..).take_while(move |(key, _)| {
            key.kind() == kind && (namespace.is_none() || key.namespace.as_deref() == namespace)
        });
        all.filter_map(|(key, seen)| Some((key, target_of(seen)?)))
    }

    /// Whether a gate selects an object that gates may hold.
    pub fn is_held_by(
        &self,
        gate: &SeenGated,
        (key, target): (&Key, &SeenTarget),
        home: Option<&str>,
    ) -> Selects {
        let (Some(known), Some(room)) = (gate.gate.as_deref(), rooms::of_kind(key.kind())) else {
            return Selects::No;
        };
        let asked = Target { room, name: &key.name, labels: &target.labels };
        held_by(known, gate.identity.key.namespace.as_deref(), &asked, &self.place(key, home)).0
    }

    /// Where an object is.
    pub fn place<'a>(&'a self, key: &'a Key, home: Option<&'a str>) -> Place<'a> {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        Place { namespace, labels: self.namespace(namespace), home }
    }

    /// Every gate that may select what is in a namespace.
    pub fn gates_over<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a SeenGated> + use<'a> {
        let kind: &'static Kind = &api::kinds::CHANGE_GATE;
        let own =
            self.seen.range(Key::new(kind, Some(namespace), "")..).take_while(move |(key, _)| {
                key.kind() == kind && key.namespace.as_deref() == Some(namespace)
            });
        let all = own.chain(self.of_kind(&api::kinds::CLUSTER_CHANGE_GATE));
        all.filter_map(|(_, seen)| super::gated(seen).map(|gated| &**gated))
    }

    /// The rooms of somebody's own that gates name (RCH-14).
    pub fn custom_rooms(&self) -> BTreeSet<&str> {
        let gates = self.of_kind(&api::kinds::CLUSTER_CHANGE_GATE);
        let gates = gates.filter_map(|(_, seen)| super::gated(seen)?.gate.as_deref());
        let holds = gates.flat_map(|gate| &gate.chosen);
        holds.flat_map(|hold| &hold.rooms).map(String::as_str).collect()
    }

    /// The kinds that are looked at because some gate or freeze holds them, or because something waits that one held.
    pub fn kinds_held(&self) -> BTreeSet<&'static Kind> {
        let gates = api::schema::GATES.iter().flat_map(|kind| self.of_kind(kind));
        let gates = gates.filter_map(|(_, seen)| super::gated(seen)?.gate.as_deref());
        let named = gates.flat_map(|gate| &gate.chosen).filter_map(|hold| rooms::room(hold.room));
        let frozen = self
            .freezes()
            .flat_map(|freeze| rooms::ROOMS.iter().filter(|room| freeze.may_hold(room.name_of())));
        let waits = self.all_waiting().filter_map(|(key, _)| {
            let refused = target_of(self.seen.get(key)?)?.refused.is_some();
            rooms::of_kind(key.kind()).filter(|_| refused || self.was_let_go(key))
        });
        named.chain(frozen).chain(waits).flat_map(Room::kinds).collect()
    }

    /// Keeps what waits true after an object came, changed or went.
    pub(super) fn keep_waiting(&mut self, key: &Key, before: Option<&Seen>) {
        let was = before.and_then(|before| Some((before, target_of(before)?)));
        let is = self.seen.get(key).and_then(|seen| Some((seen, target_of(seen)?)));
        if was.is_none() && is.is_none() {
            return;
        }
        let mut owners = BTreeSet::new();
        if let Some((seen, target)) = was {
            self.waiting.leave(key, seen, target, &mut owners);
        }
        if let Some((seen, target)) = is {
            self.waiting.enter(key, seen, target, &mut owners);
        }
        // What tells by itself; of what wants something its own turn comes below.
        let alone = is.and_then(|(_, target)| target::waits(key, target, std::iter::empty()));
        self.waiting.set(key, alone);
        for uid in owners {
            let Some(owner) = self.waiting.owners.get(&uid).cloned() else { continue };
            self.judge(&owner, &uid);
            self.waiting.forget_let_go(&owner);
        }
        self.waiting.forget_let_go(key);
    }

    fn judge(&mut self, owner: &Key, uid: &str) {
        // An owner makes nothing in another namespace, whatever somebody there writes.
        let made = self.waiting.made.get(uid).into_iter().flatten();
        let made = made.filter(|made| made.namespace == owner.namespace);
        let made = made.filter_map(|made| self.seen.get(made).and_then(target_of));
        let target = self.seen.get(owner).and_then(target_of);
        let waits = target.and_then(|target| target::waits(owner, target, made));
        self.waiting.set(owner, waits);
    }

    /// The object that another was made for, if it was seen.
    pub(super) fn owner(&self, target: &SeenTarget) -> Option<&Key> {
        self.waiting.owners.get(target.owner()?)
    }
}

impl Waiting {
    fn leave(
        &mut self,
        key: &Key,
        seen: &Seen,
        target: &SeenTarget,
        owners: &mut BTreeSet<String>,
    ) {
        match (&target.tells, target.owner()) {
            (Tells::Wants { .. }, _) => {
                let uid = &seen.identity().uid;
                if self.owners.get(uid) == Some(key) {
                    self.owners.remove(uid);
                }
            }
            (_, Some(owner)) => {
                if let Some(made) = self.made.get_mut(owner) {
                    made.remove(key);
                    if made.is_empty() {
                        self.made.remove(owner);
                    }
                }
                owners.insert(owner.to_owned());
            }
            (Tells::Alone(_) | Tells::Quietly(_) | Tells::Made { .. }, None) => {}
        }
    }

    fn enter(
        &mut self,
        key: &Key,
        seen: &Seen,
        target: &SeenTarget,
        owners: &mut BTreeSet<String>,
    ) {
        match (&target.tells, target.owner()) {
            (Tells::Wants { .. }, _) => {
                let uid = seen.identity().uid.clone();
                self.owners.insert(uid.clone(), key.clone());
                owners.insert(uid);
            }
            (_, Some(owner)) => {
                self.made.entry(owner.to_owned()).or_default().insert(key.clone());
                owners.insert(owner.to_owned());
            }
            (Tells::Alone(_) | Tells::Quietly(_) | Tells::Made { .. }, None) => {}
        }
    }

    /// What waits no longer needs nobody.
    fn forget_let_go(&mut self, key: &Key) {
        if !self.waits.contains_key(key) {
            self.let_go.remove(key);
        }
    }

    fn set(&mut self, key: &Key, waits: Option<PendingChange>) {
        match waits {
            Some(waits) => self.waits.insert(key.clone(), waits),
            None => self.waits.remove(key),
        };
    }
}

/// What is kept of an object that gates may hold, if it is one.
pub(super) fn target_of(seen: &Seen) -> Option<&SeenTarget> {
    match part(seen)? {
        Part::Target(target) => Some(target),
        Part::Config(_)
        | Part::Node(_)
        | Part::Disruption(_)
        | Part::Freeze(_)
        | Part::Override(_)
        | Part::Guardrail(_)
        | Part::Namespace(_)
        | Part::Text(_) => None,
    }
}

fn freeze_of(seen: &Seen) -> Option<&Arc<SeenFreeze>> {
    match seen {
        Seen::Part(part) => part.freeze(),
        Seen::Policy(_) | Seen::Gated(_) => None,
    }
}

/// Whether a gate or a freeze holds otherwise than before.
fn differs(before: &Seen, after: Option<&Seen>) -> bool {
    match freeze_of(before) {
        Some(freeze) => after.and_then(freeze_of) != Some(freeze),
        None => permits(Some(before)).is_some() && permits(Some(before)) != permits(after),
    }
}

/// Whether a gate or a freeze selected something, and would have had it touched.
fn held_it(holder: &Seen, target: &Target<'_>, place: &Place<'_>) -> bool {
    if let Some(freeze) = freeze_of(holder) {
        return freeze.holds_target(target, place) != Selects::No;
    }
    let Some((gated, gate)) =
        super::gated(holder).and_then(|gated| Some((gated, gated.gate.as_deref()?)))
    else {
        return false;
    };
    let (selects, hold) = held_by(gate, gated.identity.key.namespace.as_deref(), target, place);
    let queues = hold.is_none_or(|hold| hold.way == Way::Queue);
    let enforces = matches!(gate.mode, Mode::Enforce | Mode::Unknown);
    selects != Selects::No && queues && enforces && gate.touch == Touch::Touched
}

/// What of a gate decides whether what waits may begin: what it holds, and when it is open as the server reads it.
pub(super) fn permits(seen: Option<&Seen>) -> Option<impl PartialEq + use<'_>> {
    let gated = super::gated(seen?)?;
    let gate: &SeenGate = gated.gate.as_deref()?;
    let SeenGate {
        ahead, observed, everywhere, namespaces, chosen, is_unclear, mode, touch, ..
    } = gate;
    let ready = gated.conditions.get(api::names::READY).map(|ready| ready.status);
    let generation = gated.identity.generation;
    Some((
        (ahead, observed, everywhere, namespaces, chosen),
        (is_unclear, *mode, *touch, ready, generation),
    ))
}
