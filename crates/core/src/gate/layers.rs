//! What lies above the stanza of a gate? Freezes, which shut it, and overrides, which open it, in the order of GATE-15.
//!
//! A freeze in force beats every override of its layer and below: one of the platform passes the freezes of teams, and nothing passes a
//! freeze of the platform. Where the API server itself keeps a team's freezes, for gates on what others own, it lets no override pass, and
//! what is said here is what it does (OVR-5).
//!
//! Beside the stanza of a stock control plane stand the gates that hold its first write: each of them must permit it (GATE-15, CV-6).

use std::sync::Arc;

use api::names;
use schedule::{Instant, TimeSet};

use super::{ChangeId, Doubt, Form, Gate, problem_text};
use crate::{
    document::key::Key,
    policy::{
        freeze::{SeenFreeze, Selects},
        overrides::{Layer, Only, SeenOverride},
    },
};

/// A freeze that shuts a gate.
#[derive(Clone, Debug)]
pub(super) struct Frozen {
    pub(super) freeze: Arc<SeenFreeze>,
    /// Why nobody can tell what it holds, if nobody can.
    pub(super) doubt: Option<Doubt>,
}

/// A freeze that shuts some of the rooms of a gate on what others own, and not all.
#[derive(Clone, Debug)]
pub(super) struct Share {
    freeze: Arc<SeenFreeze>,
    /// Why nobody can tell what it holds, if nobody can.
    doubt: Option<Doubt>,
    /// Which.
    rooms: Vec<String>,
}

/// An override that names a gate.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    overriding: Arc<SeenOverride>,
    /// Why it opens nothing, if it does not.
    idle: Option<String>,
}

/// A gate on what others own that has to permit it too.
#[derive(Clone, Debug)]
pub(super) struct Within {
    pub(super) gate: Key,
    /// When it does, as the API server reads it.
    pub(super) windows: TimeSet,
    /// Why nobody can tell, if nobody can.
    pub(super) doubt: Option<Doubt>,
}

/// Whether an override of the platform passes the freezes of teams at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TeamFreezes {
    /// It does.
    Passed,
    /// The API server keeps them, and asks nobody.
    Kept,
}

/// Why nobody can tell what a freeze holds, if nobody can.
fn unclear(freeze: &SeenFreeze, selects: Selects, namespace: Option<&str>) -> Option<Doubt> {
    let key = &freeze.key;
    let message = if !freeze.is_usable() {
        let wrong = problem_text(&freeze.problems);
        format!("{key} cannot be used: {wrong}, so it holds until somebody mends it")
    } else if selects == Selects::CannotTell {
        let namespace = namespace.unwrap_or_default();
        format!(
            "{key} chooses namespaces by their labels, and those of Namespace/{namespace} are not known, so changes are held"
        )
    } else {
        return None;
    };
    Some(Doubt { reason: names::FREEZE_UNCLEAR, message })
}

impl Gate {
    /// The gate of something in a namespace, or in none, while these freezes last too (GATE-15).
    pub(crate) fn frozen(
        mut self,
        freezes: Vec<(Arc<SeenFreeze>, Selects)>,
        namespace: Option<&str>,
    ) -> Self {
        let freezes = freezes.into_iter().map(|(freeze, selects)| {
            let doubt = unclear(&freeze, selects, namespace);
            Frozen { freeze, doubt }
        });
        self.freezes = freezes.collect();
        self.folded()
    }

    /// The gate over these rooms while each of these freezes shuts some of them: where they shut all of them together, nothing is left to permit
    /// (OVR-1).
    pub(crate) fn frozen_in_part(
        mut self,
        rooms: &[String],
        freezes: Vec<(Arc<SeenFreeze>, Selects, Vec<String>)>,
        namespace: Option<&str>,
    ) -> Self {
        let shares = freezes.into_iter().map(|(freeze, selects, rooms)| {
            let doubt = unclear(&freeze, selects, namespace);
            Share { freeze, doubt, rooms }
        });
        self.shares = shares.collect();
        let shut = |room: &String| {
            let of_it = self.shares.iter().filter(|share| share.rooms.contains(room));
            TimeSet::ranges(of_it.map(|share| share.freeze.span()))
        };
        let together = rooms.iter().map(shut).reduce(TimeSet::intersection);
        self.together = together.unwrap_or_else(TimeSet::never);
        self.folded()
    }

    /// The gate while each of these permits it too, by its windows as the API server reads them; none of one whose windows are not known: that
    /// holds (RCH-2).
    pub(crate) fn within(mut self, gates: Vec<(Key, Option<TimeSet>)>) -> Self {
        let within = gates.into_iter().map(|(gate, windows)| {
            let doubt = windows.is_none().then(|| Doubt {
                reason: names::GATE_NOT_READY,
                message: format!("the windows of {gate} are not known, so changes are held"),
            });
            Within { gate, windows: windows.unwrap_or_else(TimeSet::never), doubt }
        });
        self.within = within.collect();
        self.folded()
    }

    /// The gate while these overrides last too, which all name it. A stanza that cannot be read is opened by none: nobody knows what it
    /// would hold (GATE-14).
    pub(crate) fn opened(
        mut self,
        overrides: Vec<Arc<SeenOverride>>,
        wanted: Option<&ChangeId>,
        team_freezes: TeamFreezes,
    ) -> Self {
        let openings = overrides.into_iter().map(|overriding| {
            let idle = if !overriding.is_usable() {
                let wrong = problem_text(&overriding.problems);
                Some(format!(
                    "{} opens nothing, because it cannot be used: {wrong}",
                    overriding.key
                ))
            } else if self.form == Form::Unusable {
                Some(format!("{} opens no stanza that cannot be read", overriding.key))
            } else {
                let other = overriding.only.as_ref().filter(|only| !is_of(only, wanted));
                other.map(|only| format!("{} opens nothing but {only}", overriding.key))
            };
            Opening { overriding, idle }
        });
        self.openings = openings.collect();
        self.team_freezes = team_freezes;
        self.folded()
    }
}

/// The freeze that lasts longest.
fn longest<'a>(
    freezes: impl Iterator<Item = (&'a Arc<SeenFreeze>, Option<&'a Doubt>)>,
) -> Option<&'a Arc<SeenFreeze>> {
    let freezes = freezes.map(|(freeze, _)| freeze);
    freezes.max_by_key(|freeze| (freeze.until.is_none(), freeze.until))
}

/// Whether what is wanted is the one change that may start.
fn is_of(only: &Only, wanted: Option<&ChangeId>) -> bool {
    match (only, wanted) {
        (Only::Release(name), Some(ChangeId::Release(wanted)))
        | (Only::Rendered(name), Some(ChangeId::Rendered(wanted))) => **name == **wanted,
        (Only::Release(_) | Only::Rendered(_), _) => false,
    }
}

impl<R> Gate<R> {
    /// The sets anew, from the stanza's own and what lies above it.
    pub(super) fn folded(mut self) -> Self {
        let opened = |layer: Option<Layer>| {
            let of_layer =
                self.openings().filter(|one| layer.is_none_or(|layer| one.layer() == layer));
            TimeSet::ranges(of_layer.filter_map(|one| one.span()))
        };
        let shut = |of_team: bool| {
            let of_layer =
                self.freezes().filter(|freeze| freeze.key.namespace.is_some() == of_team);
            TimeSet::ranges(of_layer.map(|freeze| freeze.span()))
        };
        let mut own = self.stanza.clone().union(opened(None));
        // D4-1: a pool lies within its cluster, whatever opens the pool.
        if let Some(cluster) = self.constraint_set() {
            own = own.intersection(cluster.clone());
        }
        let mut set = own.clone().difference(shut(true));
        if self.team_freezes == TeamFreezes::Passed {
            let mut passed = opened(Some(Layer::Platform));
            if let Some(cluster) = self.constraint_set() {
                passed = passed.intersection(cluster.clone());
            }
            set = set.union(passed);
        }
        let beside = self.within.iter().map(|within| within.windows.clone());
        let set = set.difference(shut(false)).difference(self.together.clone());
        self.set = beside.fold(set, TimeSet::intersection);
        self.own = own;
        self
    }

    /// Every gate on what others own that has to permit it too, with when it does.
    pub(crate) fn beside(&self) -> impl Iterator<Item = (&Key, &TimeSet)> {
        self.within.iter().map(|within| (&within.gate, &within.windows))
    }

    /// The first of these that does not permit it at an instant.
    pub(crate) fn shut_by(&self, at: Instant) -> Option<&Key> {
        self.beside().find(|(_, windows)| !windows.contains(at)).map(|(gate, _)| gate)
    }

    /// The same gate for somebody who goes to this change and to no other: overrides that are for another are left out.
    #[must_use]
    pub(crate) fn going_to(self, change: &ChangeId) -> Self {
        let others = |opening: &Opening| {
            opening.overriding.only.as_ref().is_some_and(|only| !is_of(only, Some(change)))
        };
        if self.constraint.is_none() && !self.openings.iter().any(others) {
            return self;
        }
        let mut gate = self;
        gate.openings.retain(|opening| !others(opening));
        gate.constraint = gate.constraint.map(|cluster| Arc::new(cluster.going_to(change)));
        gate.folded()
    }

    /// Every override that opens it, over or not.
    pub fn openings(&self) -> impl Iterator<Item = &Arc<SeenOverride>> {
        let open = self.openings.iter().filter(|opening| opening.idle.is_none());
        open.map(|opening| &opening.overriding)
    }

    /// Every override that names it and is in force at an instant or will be, or cannot be used; with why it opens nothing, if it does not.
    pub(crate) fn named_by(
        &self,
        at: Instant,
    ) -> impl Iterator<Item = (&SeenOverride, Option<&str>)> {
        let ahead = self.openings.iter().filter(move |opening| {
            opening.overriding.is_ahead(at) || !opening.overriding.is_usable()
        });
        ahead.map(|opening| (&*opening.overriding, opening.idle.as_deref()))
    }

    /// The override without which nothing could start at an instant; the one that lasts longest, if there are several.
    pub fn override_at(&self, at: Instant) -> Option<&Arc<SeenOverride>> {
        let frozen = || {
            let mut of_team = self.freezes().filter(|freeze| freeze.key.namespace.is_some());
            of_team.any(|freeze| freeze.holds(at))
        };
        if self.stanza.contains(at) && !frozen() {
            return None;
        }
        let in_force = self.openings().filter(|one| one.is_in_force(at));
        let longest = in_force.max_by_key(|one| (one.layer() == Layer::Platform, one.until));
        longest.filter(|one| {
            !self.stanza.contains(at)
                || one.layer() == Layer::Platform && self.team_freezes == TeamFreezes::Passed
        })
    }

    /// The first instant after another at which a freeze or an override begins or ends.
    pub fn next_edge_above(&self, after: Instant) -> Option<Instant> {
        let freezes = self.freezes().chain(self.shares());
        let freezes = freezes.filter_map(|freeze| freeze.next_edge(after));
        freezes.chain(self.openings().filter_map(|one| one.next_edge(after))).min()
    }

    /// Every freeze that selects what it is the gate of, over or not.
    pub fn freezes(&self) -> impl Iterator<Item = &Arc<SeenFreeze>> {
        self.freezes.iter().map(|frozen| &frozen.freeze)
    }

    /// Every freeze that holds some of its rooms and not all, over or not.
    pub fn shares(&self) -> impl Iterator<Item = &Arc<SeenFreeze>> {
        self.shares.iter().map(|share| &share.freeze)
    }

    /// The freeze that holds one of its rooms at an instant, and not all of them.
    pub fn share_at(&self, room: &str, at: Instant) -> Option<&Arc<SeenFreeze>> {
        let of_it = self.shares.iter().filter(|share| share.rooms.iter().any(|own| own == room));
        of_it.map(|share| &share.freeze).find(|freeze| freeze.is_in_force(at))
    }

    /// What the freezes say that hold at an instant: the one that lasts longest, or those that do so together.
    pub(crate) fn frozen_sentence(&self, at: Instant) -> Option<String> {
        if let Some(longest) = longest(self.whole_at(at)) {
            return Some(longest.sentence());
        }
        let said: Vec<String> = self.shares_at(at).map(|(freeze, _)| freeze.sentence()).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// The freezes in force at an instant that hold everything, and that no override passes.
    fn whole_at(&self, at: Instant) -> impl Iterator<Item = (&Arc<SeenFreeze>, Option<&Doubt>)> {
        let in_force = self.freezes.iter().filter(move |frozen| {
            frozen.freeze.is_in_force(at) && !self.passes(&frozen.freeze, at)
        });
        in_force.map(|frozen| (&frozen.freeze, frozen.doubt.as_ref()))
    }

    /// Those that hold a part each, where they hold everything together.
    fn shares_at(&self, at: Instant) -> impl Iterator<Item = (&Arc<SeenFreeze>, Option<&Doubt>)> {
        let together = self.together.contains(at);
        let in_force =
            self.shares.iter().filter(move |share| together && share.freeze.is_in_force(at));
        in_force.map(|share| (&share.freeze, share.doubt.as_ref()))
    }

    /// Whether an override passes a freeze at an instant: one of the platform passes those of teams.
    pub(super) fn passes(&self, freeze: &SeenFreeze, at: Instant) -> bool {
        freeze.key.namespace.is_some()
            && self.team_freezes == TeamFreezes::Passed
            && self.openings().any(|one| one.layer() == Layer::Platform && one.is_in_force(at))
    }

    /// Every freeze that is in force at an instant and that no override passes, with why nobody can tell what it holds, if nobody can.
    pub(crate) fn frozen_at(
        &self,
        at: Instant,
    ) -> impl Iterator<Item = (&Arc<SeenFreeze>, Option<&Doubt>)> {
        self.whole_at(at).chain(self.shares_at(at))
    }

    /// The freeze that holds at an instant; the one that lasts longest, if there are several.
    pub fn freeze_at(&self, at: Instant) -> Option<&Arc<SeenFreeze>> {
        longest(self.frozen_at(at))
    }

    /// Whether nothing may be initiated by whoever asks at an instant, not even what bypasses the gate or an administrator consented to
    /// (GATE-15).
    pub(crate) fn is_frozen(&self, at: Instant) -> bool {
        self.freezes().any(|freeze| freeze.holds(at) && !self.passes(freeze, at))
    }
}
