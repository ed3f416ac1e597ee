//! Would a bug be found? Operators, agents and policies that were tampered with from outside, each with the promise that must catch it.
//!
//! Nothing in the product can be switched to misbehave: a line between operator and server bends what is said and what is heard, a row of
//! the table of controllers decides wrongly, a clock is wrong, an admission policy has a hole. A checker that nobody has seen fail is no
//! evidence. Where a second guard would catch a bug, both are planted, and the name says so; what is harmless alone is played too.

use operator::Proof;
use tidegate_core::cluster::kinds::Decide;

use super::{
    machines::Agents,
    policies,
    stage::Admission,
    story::Plot,
    weather::{Bend, Ears},
    world::World,
};

mod bends;
mod decisions;
mod drains;

pub(crate) use drains::Drainer;

use bends::{date_ahead, dawdle, forget_versions, insist, keep_silent, stretch_permits};
pub(crate) use decisions::duty;
use decisions::{
    always_open, asleep, begun_by_looks, deaf, drowsy, named_for_all, newest_first, one_more,
    open_if_unreadable, open_if_unusable, overrides_for_all, overrides_for_ever,
    overrides_pass_freezes, passing_over, release_covers_all, restless, some_machine,
    without_exclusions, without_freezes, without_overrides, without_pin,
};

/// A bug, and the promise that it breaks.
pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) plot: Plot,
    /// Parts of it: by each alone the promise is kept in the very story in which the bug breaks it.
    pub(crate) parts: Vec<Plot>,
}

impl Planted {
    fn unlike(mut self, part: Plot) -> Self {
        self.parts.push(part);
        self
    }
}

/// A plot in which everybody is honest, in a world of a kind.
fn a(world: World) -> Plot {
    Plot { world, ..Plot::honest() }
}

impl Plot {
    fn bent(mut self, bend: Bend) -> Self {
        self.make.bend = bend;
        self
    }

    fn hears(mut self, ears: Ears) -> Self {
        self.make.ears = ears;
        self
    }

    fn decides(mut self, decide: Decide) -> Self {
        self.make.pools.decide = decide;
        self
    }

    fn asks_about_a_machine(mut self) -> Self {
        self.make.pools.rests_on = some_machine;
        self
    }

    fn guarded(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    fn off(self, off: i64) -> Self {
        Self { off, ..self }
    }

    fn breaks(self, rule: &'static str, name: &'static str) -> Planted {
        Planted { name, rule, plot: Self { sought: Some(rule), ..self }, parts: Vec::new() }
    }
}

/// Every bug that must be found.
pub(crate) fn planted() -> Vec<Planted> {
    let all = [marks(), choices(), records(), stops(), freezes(), overrides(), doors(), drains()];
    all.into_iter().flatten().collect()
}

/// What marks say, and when.
fn marks() -> Vec<Planted> {
    use World::{Brief, Fair, Late, Rivals};
    vec![
        a(Rivals).bent(insist).breaks("EXEC-4", "an operator sends a mark again by itself"),
        // What it meant to empty, or to begin, is somewhere else by then.
        a(Late)
            .bent(forget_versions)
            .breaks("DRAIN-2", "an operator forgets the version it planned from"),
        a(Fair)
            .hears(Ears::Secretive)
            .breaks("EXEC-1", "an operator keeps its reservations to itself, and believes them"),
        a(Brief)
            .bent(dawdle)
            .guarded(policies::untimed)
            .breaks("GATE-7", "an operator marks late, and the server does not look"),
        a(Brief)
            .bent(dawdle)
            .guarded(policies::by_any_stamp)
            .breaks("GATE-7", "an operator marks late, and an old stamp will do"),
        a(Brief).bent(stretch_permits).breaks("GATE-7", "an operator lengthens its permits"),
        a(Fair).hears(Ears::OwnTime).off(3_600).guarded(policies::untimed).breaks(
            "GATE-7",
            "an operator's clock is an hour ahead, and nobody looks at the server's",
        ),
        a(Fair)
            .hears(Ears::OwnTime)
            .off(60)
            .breaks("GATE-11", "an operator does not look how wrong its clock is"),
    ]
}

/// Which nodes go, and whether they do.
fn choices() -> Vec<Planted> {
    use World::{Excluding, Fair, Misspelt};
    vec![
        a(Fair).decides(always_open).breaks("GATE-7", "an operator never asks the gate"),
        a(Excluding)
            .decides(without_exclusions)
            .breaks("GATE-7", "an operator overlooks exclusions"),
        a(Misspelt)
            .decides(open_if_unreadable)
            .breaks("GATE-14", "an operator takes a stanza that it cannot read for none"),
        a(Misspelt)
            .decides(open_if_unusable)
            .breaks("GATE-14", "an operator lets a policy that it cannot use hold nobody"),
        a(Misspelt)
            .guarded(policies::pruning)
            .breaks("GATE-14", "a definition throws away what it does not know"),
        a(Fair).decides(one_more).breaks("POOL-2", "an operator lets one node more go"),
        a(Fair).decides(newest_first).breaks("POOL-3", "an operator takes the newest first"),
        a(Fair).decides(without_pin).breaks("POOL-4", "an operator overlooks what somebody chose"),
        a(Fair).decides(passing_over).breaks("LIVE-2", "an operator passes over a node for ever"),
        a(Fair).decides(asleep).drowsy().breaks("LIVE-2", "an operator forgets to wake"),
        a(Fair).decides(restless).breaks("STAT-3", "an operator writes although nothing changed"),
    ]
}

/// What has begun is recorded, and never inferred (GATE-10).
fn records() -> Vec<Planted> {
    use World::Masters;
    vec![
        a(Masters)
            .decides(begun_by_looks)
            .breaks("GATE-7", "an operator reads begun off masters that differ"),
        a(Masters)
            .decides(named_for_all)
            .breaks("GATE-7", "an operator lets all go where one was named"),
        a(Masters)
            .decides(release_covers_all)
            .breaks("GATE-7", "an operator lets a release cover everything"),
    ]
}

/// Stop stops, and silence closes (GATE-11).
fn stops() -> Vec<Planted> {
    use World::{Hushed, Silent, Unguarded};
    vec![
        a(Silent).asks_about_a_machine().breaks("GATE-11", "an operator does not ask again"),
        a(Hushed)
            .hears(Ears::Remembering)
            .breaks("GATE-11", "an operator hears old answers when it asks again"),
        // Old answers alone last until what can hold is looked at again, twenty seconds into a silence: too many marks follow a hold, and
        // none later than 65 seconds (GATE-11). Whoever does not look, or looks at an old list, begins nodes in a gate that has long
        // been shut.
        a(Hushed)
            .hears(Ears::Believing)
            .deaf()
            .breaks(
                "GATE-7",
                "an operator believes a watch because it opened, does not look what it missed, and hears old answers",
            )
            .unlike(a(Hushed).hears(Ears::Believing))
            .unlike(a(Hushed).hears(Ears::Remembering).deaf()),
        a(Hushed)
            .hears(Ears::Listing)
            .breaks("GATE-7", "an operator believes old lists, and hears old answers")
            .unlike(a(Hushed).hears(Ears::Remembering)),
        a(Unguarded)
            .trusting()
            .breaks("GATE-13", "an operator does not try whether the server refuses"),
    ]
}

/// Whatever lies below: by the operator, and by the server with no operator alive (OVR-1, OVR-5).
fn freezes() -> Vec<Planted> {
    use World::Frozen;
    vec![
        a(Frozen)
            .decides(without_freezes)
            .guarded(policies::without_freezes)
            .breaks("OVR-1", "an operator overlooks freezes, and the server does too")
            .unlike(a(Frozen).decides(without_freezes))
            .unlike(a(Frozen).guarded(policies::without_freezes)),
    ]
}

/// Overrides open one gate for one change until an instant, and no freeze lets them pass (OVR-2, GATE-15).
fn overrides() -> Vec<Planted> {
    use World::Hurried;
    vec![
        a(Hurried)
            .decides(overrides_for_ever)
            .breaks("OVR-2", "an operator overlooks the end of an override"),
        a(Hurried)
            .decides(overrides_for_all)
            .breaks("OVR-2", "an operator lets an override for one change open for others"),
        a(Hurried)
            .decides(overrides_pass_freezes)
            .guarded(policies::without_freezes)
            .breaks("OVR-1", "an operator lets an override pass a freeze, and the server does too")
            .unlike(a(Hurried).decides(overrides_pass_freezes))
            .unlike(a(Hurried).guarded(policies::without_freezes)),
        a(Hurried).decides(without_overrides).breaks("STAT-4", "an operator overlooks overrides"),
    ]
}

/// Every path by which an order may come (GATE-7, GATE-16).
fn doors() -> Vec<Planted> {
    use World::{Fair, Joining, Stamped};
    vec![
        a(Fair)
            .guarded(policies::without_status)
            .breaks("GATE-7", "a policy overlooks nodes/status"),
        a(Joining)
            .guarded(policies::without_create)
            .breaks("GATE-7", "a policy overlooks nodes that are created"),
        a(Joining)
            .guarded(policies::without_removal)
            .breaks("GATE-7", "a policy overlooks an order that is taken away"),
        a(Joining)
            .guarded(policies::join_as_written)
            .breaks("GATE-7", "a policy believes in a node that joins"),
        a(Stamped).bent(date_ahead).decides(always_open).guarded(policies::by_newest_stamp).breaks(
            "GATE-7",
            "an operator dates ahead, and a policy takes the newest stamp for now",
        ),
        a(Stamped)
            .guarded(policies::every_stamp)
            .breaks("LIVE-2", "a policy lets a stamp from ahead stop a node"),
        a(Fair).guarded(policies::without_records).breaks("GATE-16", "no policy keeps the records"),
        a(Fair)
            .guarded(policies::with_own_consent)
            .breaks("GATE-16", "a policy lets a node consent to itself"),
        Plot { agents: Agents::Trusting, ..a(Fair) }
            .guarded(policies::without_status)
            .breaks("GATE-16", "agents take orders that no record names, by a status that is open"),
    ]
}

/// A request is a claim, and no order (DRAIN-2).
fn drains() -> Vec<Planted> {
    use World::{Asking, Fair, Lone};
    vec![
        Plot { drainer: Drainer::Credulous, ..a(Fair) }
            .guarded(policies::without_records)
            .breaks("DRAIN-2", "an operator empties whatever asks"),
        // By the one who may ask for it: nobody else writes what an agent says.
        Plot { drainer: Drainer::Inattentive, ..a(Asking) }
            .breaks("DRAIN-2", "an operator empties a node for another change than was begun"),
        Plot { drainer: Drainer::Heedless, ..a(Lone) }
            .breaks("DRAIN-2", "an operator empties a node whose pods nobody else can take"),
        a(Fair).bent(keep_silent).breaks("LIVE-1", "an operator never says that a node is empty"),
    ]
}

impl Plot {
    fn drowsy(mut self) -> Self {
        self.make.tempo = drowsy;
        self
    }

    fn deaf(mut self) -> Self {
        self.make.tempo = deaf;
        self
    }

    fn trusting(mut self) -> Self {
        self.make.proof = Proof::Waived;
        self
    }
}
