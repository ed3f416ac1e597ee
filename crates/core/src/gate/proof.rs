//! Which admission policies were seen refusing, and what follows for a gate? (GATE-13)
//!
//! Proof is for each room and each kind of gate or freeze: that is a policy. A gate that is open now keeps what its rooms were found to be, and
//! what nobody has tried since this program started stays as the status has it.

use std::collections::BTreeMap;

use api::{reach::Mode, schema::Kind};
use schedule::Instant;

use super::enforced::{Enforcement, Kept};
use crate::reach::{
    policies::Parameter,
    rooms::{self, Room},
    seen::{Held, SeenGate},
};

/// What came of trying, by what the names of policies end in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proofs(BTreeMap<String, Tried>);

/// What came of trying one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// What was found.
    pub verdict: Enforcement,
    /// Since when it has been found without a break.
    pub since: Instant,
    /// Why nobody could try, if nobody could.
    pub why: Option<String>,
}

impl Proofs {
    /// Somebody tried a policy.
    pub fn tell(&mut self, policy: &str, verdict: Enforcement, why: Option<String>, now: Instant) {
        let before = self.0.get(policy).filter(|before| before.verdict == verdict);
        let since = before.map_or(now, |before| before.since);
        self.0.insert(policy.to_owned(), Tried { verdict, since, why });
    }

    /// What came of trying a policy.
    pub fn get(&self, policy: &str) -> Option<&Tried> {
        self.0.get(policy)
    }

    /// All of it, by policy.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Tried)> {
        self.0.iter().map(|(policy, tried)| (policy.as_str(), tried))
    }

    /// What came of trying a room, by the policy of this kind of gate.
    pub fn of(&self, room: &Room, parameter: Parameter) -> Option<&Tried> {
        self.get(&parameter.policy(room))
    }
}

/// Who keeps a gate; none if nobody has tried, so that what its status says stays.
pub fn kept(gate: &SeenGate, kind: &Kind, proofs: Option<&Proofs>) -> Option<Kept> {
    let (Mode::Enforce | Mode::Unknown) = gate.mode else {
        let mode = if gate.mode == Mode::Warn { "Warn" } else { "Audit" };
        let said = format!("nothing is refused by this gate: its mode is {mode}");
        return Some(Kept { enforcement: Enforcement::Advisory, said: Some(said) });
    };
    let parameter = Parameter::of_kind(kind)?;
    let proofs = proofs?;
    let tried: Vec<(String, &Tried)> = gate
        .chosen
        .iter()
        .flat_map(|held| policies(held, parameter))
        .map(|(name, policy)| Some((name, proofs.get(&policy)?)))
        .collect::<Option<_>>()?;
    let worst =
        tried.iter().map(|(_, tried)| tried.verdict).max_by_key(|verdict| weight(*verdict))?;
    if worst == Enforcement::Proven {
        return Some(Kept::from(worst));
    }
    let concerned: Vec<&(String, &Tried)> =
        tried.iter().filter(|(_, tried)| tried.verdict == worst).collect();
    let names: Vec<&str> = concerned.iter().map(|(name, _)| name.as_str()).collect();
    let mut said = format!("{}: {}", names.join(", "), worst.sentence());
    if let Some(why) = concerned.iter().find_map(|(_, tried)| tried.why.as_deref()) {
        said = format!("{said}: {why}");
    }
    Some(Kept { enforcement: worst, said: Some(said.chars().take(1024).collect()) })
}

/// The policies by which a kind of gate holds something, with what each is called: of somebody's own rooms each has one.
fn policies(held: &Held, parameter: Parameter) -> Vec<(String, String)> {
    let Some(room) = rooms::room(held.room) else { return Vec::new() };
    if room.what == rooms::CUSTOM.what {
        let custom = |name: &String| {
            (format!("{} {name}", room.name_of()), parameter.policy_of_custom(name))
        };
        return held.rooms.iter().map(custom).collect();
    }
    vec![(room.name_of().to_owned(), parameter.policy(room))]
}

/// Which of several verdicts speaks: what is not refused before what nobody knows.
fn weight(verdict: Enforcement) -> u8 {
    match verdict {
        Enforcement::Proven => 0,
        Enforcement::NotTried => 1,
        Enforcement::Advisory => 2,
        Enforcement::NeedsNewerServer => 3,
        Enforcement::PolicyMissing => 4,
        Enforcement::NotRefused => 5,
    }
}

/// Since when a room was seen refused, as a status has it: what it says stays, because a status that changed with every try would be written
/// with every try (STAT-3).
pub fn proven(
    room: &Room,
    kind: &Kind,
    proofs: Option<&Proofs>,
    before: Option<&str>,
) -> Option<String> {
    let tried =
        Parameter::of_kind(kind).zip(proofs).and_then(|(kind, proofs)| proofs.of(room, kind));
    match tried {
        None => before.map(str::to_owned),
        Some(Tried { verdict: Enforcement::Proven, since, .. }) => {
            Some(before.map_or_else(|| since.to_string(), str::to_owned))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
