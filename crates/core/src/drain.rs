//! Which workloads have to leave a node, which cannot, and why? (DRAIN-1)
//!
//! Pods leave through the eviction API. A budget that says no is asked again and never overridden, unless a disruption policy says so,
//! and then not before its grace period is over, counted from the cordon. What blocks is told apart, because each is somebody else's to
//! mend. An administrator's own cordon survives. Whether a node is emptied at all is `request.rs`, and who could take its pods
//! `elsewhere.rs` (DRAIN-2); a pod that cannot be evicted delays nobody but itself.
//!
//! Pure: a pass over what is on the node yields what to do now, what is waited for, and when to look again.

pub mod elsewhere;
pub mod node;
pub mod pod;
pub mod request;

use std::{collections::BTreeMap, fmt};

use schedule::Instant;

use self::pod::{Pod, PodName};

/// What a drain may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What becomes of pods that nobody would make anew.
    pub bare: Treatment,
    /// What becomes of pods that keep something on the node.
    pub local_storage: Treatment,
    /// What budgets are worth.
    pub budgets: Budgets,
}

/// What becomes of pods of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They leave like all others.
    Evict,
    /// They stop the drain before it begins.
    Refuse,
}

/// What budgets are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budgets {
    /// They are kept, however long it takes.
    Kept,
    /// A disruption policy lets a pod be deleted in spite of its budget, this many seconds after the cordon.
    OverriddenAfter(i64),
}

impl Default for Settings {
    /// As upstream drains a node for a new configuration.
    fn default() -> Self {
        Self { bare: Treatment::Evict, local_storage: Treatment::Evict, budgets: Budgets::Kept }
    }
}

/// Why a pod has not left.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blockage {
    /// Its budget has nothing to give.
    Budget {
        /// Which budget, if the server named it.
        name: Option<String>,
        /// What the server said.
        said: String,
    },
    /// More than one budget covers it; the server evicts no such pod until somebody mends that.
    SeveralBudgets,
    /// It is over, and somebody's finalizer holds it.
    Finalizer(Vec<String>),
    /// It is about to end, within the time it was given.
    Terminating,
    /// Nobody would make it anew.
    Bare,
    /// It keeps something on the node.
    LocalStorage,
    /// It was told to end, and its node does not answer.
    Unreachable,
    /// The server refused for another reason.
    Refused(String),
    /// Nobody has answered, or not yet: a webhook that hangs looks like this.
    NoAnswer,
}

impl Blockage {
    /// One word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Budget { .. } => "Budget",
            Self::SeveralBudgets => "SeveralBudgets",
            Self::Finalizer(_) => "Finalizer",
            Self::Terminating => "Terminating",
            Self::Bare => "BarePod",
            Self::LocalStorage => "LocalStorage",
            Self::Unreachable => "Unreachable",
            Self::Refused(_) => "Refused",
            Self::NoAnswer => "NoAnswer",
        }
    }
}

impl fmt::Display for Blockage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget { name: Some(name), said: _ } => {
                write!(f, "its budget {name} allows no disruption")
            }
            Self::Budget { name: None, said } => write!(f, "its budget allows none: {said}"),
            Self::SeveralBudgets => {
                f.write_str("several budgets cover it, and the server evicts no such pod")
            }
            Self::Finalizer(names) => {
                write!(f, "it has ended, and is held by {}", names.join(", "))
            }
            Self::Terminating => f.write_str("it is ending"),
            Self::Bare => f.write_str("nobody would make it anew"),
            Self::LocalStorage => f.write_str("it keeps its own storage on the node"),
            Self::Unreachable => f.write_str("it was told to end, and the node does not answer"),
            Self::Refused(said) => write!(f, "the server refused: {said}"),
            Self::NoAnswer => f.write_str(
                "its eviction is not answered; a webhook may hang, or the server be gone",
            ),
        }
    }
}

/// What came of an eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was accepted, or there was nothing left to evict.
    Accepted,
    /// It was refused.
    Blocked(Blockage),
    /// It is on its way: nobody knows yet.
    Sent,
}

/// How the server answers an eviction.
pub fn outcome(code: u16, reason: &str, message: &str) -> Outcome {
    match code {
        200..=299 | 404 => Outcome::Accepted,
        // The namespace goes, and the pod with it.
        403 if message.contains("is being terminated") || reason == "NamespaceTerminating" => {
            Outcome::Accepted
        }
        429 => {
            let name = message
                .split_once("disruption budget ")
                .and_then(|(_, rest)| rest.split_whitespace().next())
                .map(|name| name.trim_end_matches('.').to_owned());
            Outcome::Blocked(Blockage::Budget { name, said: message.to_owned() })
        }
        500 if message.contains("more than one PodDisruptionBudget") => {
            Outcome::Blocked(Blockage::SeveralBudgets)
        }
        _ => Outcome::Blocked(Blockage::Refused(format!("{message} ({code})"))),
    }
}

/// What is remembered of the eviction of one pod. Forgetting it costs an attempt and the time since when it is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// When it was first blocked.
    pub since: Instant,
    /// When it was last tried.
    pub last: Instant,
    /// How often in a row it was blocked.
    pub blocked: u32,
    /// How many seconds the server wants to be left alone.
    pub wanted: i64,
    /// What came of it.
    pub outcome: Outcome,
}

/// What is remembered, by the identity of the pod.
pub type Memory = BTreeMap<String, Tried>;

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// The pod is evicted.
    Evict(Leaver),
    /// The pod is deleted in spite of its budget: a disruption policy says so.
    Delete(Leaver),
}

/// A pod that is sent away: this very one, and no namesake that took its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaver {
    /// Its name.
    pub pod: PodName,
    /// Its identity.
    pub uid: String,
}

/// A pod that has not left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingPod {
    /// Which pod.
    pub pod: PodName,
    /// Why.
    pub why: Blockage,
    /// Since when.
    pub since: Instant,
}

/// What one look at a node yields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// What is to be done now.
    pub moves: Vec<Move>,
    /// What is waited for.
    pub waiting: Vec<RemainingPod>,
    /// How many pods have to leave in all.
    pub left: usize,
    /// After how many seconds a look is worth while.
    pub again: i64,
}

impl Pass {
    /// Whether everybody has left.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }
}

/// After how many seconds at most a refused eviction is tried again: as often as kubectl does. The first tries come sooner, because the
/// other pod of a budgeted pair is often back within a second or two.
pub const RETRY: i64 = 5;

/// For how many seconds after an eviction a look each second is worth while: most pods end that soon.
const BRISK: i64 = 10;

/// For how long a server may ask to be left alone: an hour would be a gate that nobody closed.
const WANTED_AT_MOST: i64 = 60;

/// Looks at the pods of a cordoned node.
pub fn pass(
    pods: &[Pod],
    node: &node::Node,
    memory: &Memory,
    settings: &Settings,
    now: Instant,
) -> Pass {
    let leaving: Vec<&Pod> = pods.iter().filter(|pod| pod.has_to_leave()).collect();
    let mut pass = Pass { left: leaving.len(), ..Pass::default() };
    // A drain that cannot end disturbs nobody: all pods are judged before the first is asked to go.
    for pod in leaving.iter().filter(|pod| pod.deleted.is_none()) {
        if let Some(why) = refusal(pod, settings) {
            let since = node.since().unwrap_or(now);
            pass.waiting.push(RemainingPod { pod: pod.name.clone(), why, since });
        }
    }
    if !pass.waiting.is_empty() {
        return pass;
    }
    pass.again = RETRY;
    for pod in leaving {
        let tried = memory.get(&pod.uid);
        pass.again = pass.again.min(again(tried, now));
        if let Some(ends) = pod.deleted {
            let why = ending(pod, node, ends, now);
            pass.waiting.push(RemainingPod { pod: pod.name.clone(), why, since: ends.min(now) });
            continue;
        }
        match tried {
            Some(tried @ Tried { since, outcome: Outcome::Blocked(why), .. }) => {
                if may_override(why, node, settings, now) {
                    pass.moves.push(Move::Delete(leaver(pod)));
                } else if tried.is_due(now) {
                    pass.moves.push(Move::Evict(leaver(pod)));
                }
                let (why, since) = (why.clone(), *since);
                pass.waiting.push(RemainingPod { pod: pod.name.clone(), why, since });
            }
            Some(Tried { since, outcome: Outcome::Sent, .. }) => {
                let (why, since) = (Blockage::NoAnswer, *since);
                pass.waiting.push(RemainingPod { pod: pod.name.clone(), why, since });
            }
            // An accepted eviction that the pod does not show yet is on its way.
            Some(tried @ Tried { outcome: Outcome::Accepted, .. }) if !tried.is_due(now) => {}
            Some(_) | None => pass.moves.push(Move::Evict(leaver(pod))),
        }
    }
    // Those that were not answered go last: they must not take the place of those that will be.
    pass.moves.sort_by_key(|one| {
        let tried = memory.get(&one.leaver().uid);
        tried.is_some_and(|tried| tried.outcome == Outcome::Blocked(Blockage::NoAnswer))
    });
    pass
}

/// After how many seconds a pod is worth another look.
fn again(tried: Option<&Tried>, now: Instant) -> i64 {
    let Some(tried) = tried else { return RETRY };
    match &tried.outcome {
        Outcome::Blocked(_) => {
            (1..RETRY).find(|seconds| tried.is_due(now.saturating_add(*seconds))).unwrap_or(RETRY)
        }
        Outcome::Accepted | Outcome::Sent => {
            if now < tried.last.saturating_add(BRISK) {
                1
            } else {
                RETRY
            }
        }
    }
}

impl Tried {
    /// How many seconds have to pass before the next try: 1, 2, 4, and then [`RETRY`]; longer if the server asks for it.
    fn delay(&self) -> i64 {
        let own = match &self.outcome {
            Outcome::Blocked(_) => {
                1_i64.checked_shl(self.blocked.saturating_sub(1)).unwrap_or(RETRY)
            }
            Outcome::Accepted | Outcome::Sent => RETRY,
        };
        own.clamp(1, RETRY).max(self.wanted.min(WANTED_AT_MOST))
    }

    /// Whether it is time to try again. A clock that went back must not make anybody wait until it has caught up.
    fn is_due(&self, now: Instant) -> bool {
        now < self.last || now >= self.last.saturating_add(self.delay())
    }
}

impl Move {
    /// Who is sent away.
    pub fn leaver(&self) -> &Leaver {
        match self {
            Self::Evict(leaver) | Self::Delete(leaver) => leaver,
        }
    }
}

fn leaver(pod: &Pod) -> Leaver {
    Leaver { pod: pod.name.clone(), uid: pod.uid.clone() }
}

fn refusal(pod: &Pod, settings: &Settings) -> Option<Blockage> {
    if pod.is_finished() {
        return None;
    }
    if settings.local_storage == Treatment::Refuse && pod.local_storage {
        return Some(Blockage::LocalStorage);
    }
    (settings.bare == Treatment::Refuse && pod.is_bare()).then_some(Blockage::Bare)
}

/// Why a pod that was told to end is still there.
fn ending(pod: &Pod, node: &node::Node, ends: Instant, now: Instant) -> Blockage {
    if now < ends {
        Blockage::Terminating
    } else if node.is_unreachable {
        Blockage::Unreachable
    } else if pod.finalizers.is_empty() {
        Blockage::Terminating
    } else {
        Blockage::Finalizer(pod.finalizers.clone())
    }
}

/// Whether a disruption policy lets the pod go in spite of its budgets.
fn may_override(why: &Blockage, node: &node::Node, settings: &Settings, now: Instant) -> bool {
    let of_budgets = matches!(why, Blockage::Budget { .. } | Blockage::SeveralBudgets);
    match settings.budgets {
        Budgets::Kept => false,
        Budgets::OverriddenAfter(grace) => {
            of_budgets && node.since().is_some_and(|since| now >= since.saturating_add(grace))
        }
    }
}

/// Takes note of what came of an eviction, and of how many seconds the server wants to be left alone.
pub fn remember(memory: &mut Memory, uid: &str, outcome: Outcome, wanted: i64, now: Instant) {
    let known = memory.get(uid).filter(|known| known.outcome != Outcome::Accepted);
    let since = known.map_or(now, |known| known.since);
    let before = known.map_or(0, |known| known.blocked);
    let blocked = match outcome {
        Outcome::Accepted => 0,
        Outcome::Blocked(_) => before.saturating_add(1),
        Outcome::Sent => before,
    };
    memory.insert(uid.to_owned(), Tried { since, last: now, blocked, wanted, outcome });
}

/// What blocks, for people: one line, the same as long as nothing changes (POL-7).
pub fn told(waiting: &[RemainingPod]) -> String {
    let lines = waiting.iter().filter(|one| one.why != Blockage::Terminating).take(5).map(|one| {
        let RemainingPod { pod, why, since } = one;
        format!("{}: pod {pod}: {why}, since {since}", why.code())
    });
    lines.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
