//! What is to be done about a policy or a gated resource now? From what was seen and an instant to a plan.
//!
//! Pure and total: the same values give the same plan, and deciding twice is deciding once, because a plan that has been executed
//! leaves nothing to do (POL-7, STAT-3). A policy that cannot be used is never told to permit anything (STAT-4).

use api::{
    meta::{Condition, ConditionStatus},
    names,
    policy::{Behavior, PolicyStatus, State, Strategy},
};
use schedule::{Instant, TimeSet};
use serde_json::{Value, json};

pub mod ahead;
mod begun;
pub mod disruption;
mod gates;
mod guardrails;
pub mod handover;
pub mod holding;
mod marks;
pub mod nudge;
pub mod outside;
pub mod stock;
pub mod updates;
pub mod windows;
mod writes;

use crate::{
    cluster::{
        seen::SeenGated,
        snapshot::{Judgement, Snapshot},
    },
    document::{
        conditions::Conditions,
        identity::Identity,
        patch::{Presence, StatusPatch, made_from},
        problem::{Code, Problem, problem_text},
    },
    gate::{
        self, Gate,
        action::{Action, Write},
        enforced::Kept,
        note::{Note, Weight},
        pending::{Course, Pending, Stage, Stop},
        plan::Plan,
    },
    policy::{
        behavior::{Before, recorded},
        explain,
        freeze::SeenFreeze,
        guardrail::SeenGuardrail,
        overrides::SeenOverride,
        seen::SeenPolicy,
        stanza::Form,
        strategy,
        verdict::Verdict,
    },
    pool::{Effect, PoolPlan},
};

/// What is to be done about a policy (POL-3 to POL-8), given what the guardrails say of it (GRD-5, GRD-6).
pub fn policy(seen: &SeenPolicy, judgement: &Judgement, now: Instant) -> Plan {
    let known = &seen.status;
    let refused = guardrails::refused(seen, judgement);
    // Whoever edits a policy past a guardrail is held by it: doubt closes the gate.
    let usable = seen.judged.policy.as_ref().filter(|_| refused.is_none());
    let wrong = match &refused {
        Some(breach) => guardrails::closes(breach),
        None => problem_text(&seen.judged.problems),
    };
    let set = if refused.is_some() { TimeSet::never() } else { seen.set() };
    let reason = |at| match &refused {
        Some(_) => wrong.clone(),
        None => seen.reason(at),
    };
    let restricted = condition(&known.conditions, names::CHANGES_RESTRICTED);
    let before = Before {
        behavior: known.behavior.as_ref(),
        strategy: strategy_of_reason(restricted),
        changed: seen.identity.changed,
    };
    let behavior = recorded(&set, &reason, before, now);
    let generation = Some(seen.identity.generation);
    let scheduled = usable.is_some_and(|policy| policy.lowered.parts.recurring().next().is_some());
    let never = never_fires(&seen.judged.problems).filter(|_| scheduled);
    let ready = match (usable, &never) {
        (Some(_), Some(never)) => {
            let message = format!("the policy is understood, but {never}");
            (ConditionStatus::True, names::NEVER_FIRES, Some(message))
        }
        (Some(_), None) => {
            (ConditionStatus::True, names::AS_EXPECTED, Some("the policy is understood".into()))
        }
        (None, _) if refused.is_some() => {
            (ConditionStatus::False, names::GUARDRAILS_NOT_MET, Some(wrong.clone()))
        }
        (None, _) => (ConditionStatus::False, names::INVALID_SPEC, Some(wrong.clone())),
    };
    let paused = match usable {
        None => {
            (ConditionStatus::True, names::POLICY_NOT_READY, Some(behavior.current.reason.clone()))
        }
        Some(policy) => {
            let reason = strategy::row(policy.lowered.strategy).map_or("Unknown", |row| row.name);
            let message = match &never {
                Some(never) => format!("{}; {never}", message(&behavior)),
                None => message(&behavior),
            };
            (of_state(behavior.current.state), reason, Some(message))
        }
    };
    let met = guardrails::met(judgement);
    let met = met.map(|met| made(names::GUARDRAILS_MET, met, generation, &known.conditions, now));
    let ours = [
        Some(made(names::READY, ready, generation, &known.conditions, now)),
        Some(made(names::CHANGES_RESTRICTED, paused, generation, &known.conditions, now)),
        met,
    ];
    let status =
        PolicyStatus { conditions: ours.into_iter().flatten().collect(), behavior: Some(behavior) };
    let mut notes: Vec<Note> = guardrails::note(known, &status.conditions).into_iter().collect();
    let was_ready = condition(&known.conditions, names::READY).map(|ready| ready.status);
    match (was_ready, usable) {
        (None | Some(ConditionStatus::True | ConditionStatus::Unknown), None) => {
            notes.push(Note {
                weight: Weight::Warning,
                reason: names::POLICY_NOT_READY,
                message: format!("changes are held: {wrong}"),
            });
        }
        (Some(ConditionStatus::False), Some(_)) => notes.push(Note {
            weight: Weight::Normal,
            reason: names::READY,
            message: "the policy can be used again".into(),
        }),
        (None | Some(_), _) => {}
    }
    notes.extend(transition(known.behavior.as_ref(), status.behavior.as_ref()));
    let patch = (status != *known).then(|| StatusPatch {
        operations: vec![
            made_from(&seen.identity.resource_version),
            json!({"op": "add", "path": "/status", "value": status}),
        ],
    });
    // What is over is no reason to refuse it any longer, and what is over changes with the edges of its windows.
    let wake = match (usable, &refused) {
        (_, Some(_)) => seen.set().next_change(now),
        (usable, None) => usable.and_then(|policy| explain::explain(policy, now).holds_until()),
    };
    Plan { status: patch, notes, wake, ..Plan::default() }
}

/// What is to be done about a guardrail: whether it is understood, and the policy that it names is there, is told.
pub fn guardrail(
    identity: &Identity,
    seen: &SeenGuardrail,
    snapshot: &Snapshot,
    now: Instant,
) -> Plan {
    let within = seen.spec.within.as_ref();
    let missing = within.filter(|within| snapshot.windows_of(&within.name).is_none());
    let said = match missing {
        _ if !seen.is_usable() => {
            let message = format!("{}; nothing meets it", problem_text(&seen.problems));
            (ConditionStatus::False, names::INVALID_SPEC, Some(message))
        }
        Some(within) => {
            let name = &within.name;
            let message = format!(
                "spec.within: there is no ChangeManagementPolicy {name} that can be used, so nothing meets it"
            );
            (ConditionStatus::False, names::POLICY_NOT_FOUND, Some(message))
        }
        None => {
            let message = "the guardrail is understood".to_owned();
            (ConditionStatus::True, names::AS_EXPECTED, Some(message))
        }
    };
    let ready = made(names::READY, said, Some(identity.generation), seen.conditions.ours(), now);
    let status = part_of_status(identity, &seen.conditions, Vec::new(), &[ready]);
    Plan { status, ..Plan::default() }
}

/// What is to be done about a freeze: it goes a day after its end (OVR-6).
pub fn freeze(identity: &Identity, freeze: &SeenFreeze, now: Instant) -> Plan {
    match freeze.goes_at() {
        Some(goes) if goes <= now => gone(identity),
        goes => Plan { wake: goes, ..Plan::default() },
    }
}

/// What is to be done about an override: whether it is understood, and what it opens is there, is told; and it goes a day after its end
/// (OVR-2, OVR-6).
pub fn overriding(
    identity: &Identity,
    seen: &SeenOverride,
    snapshot: &Snapshot,
    now: Instant,
) -> Plan {
    if seen.goes_at().is_some_and(|goes| goes <= now) {
        return gone(identity);
    }
    let target = seen.target.as_ref();
    let missing = target.filter(|target| snapshot.resource(target).is_none());
    let followed = target.and_then(|target| {
        let decides = &snapshot.decides(snapshot.resource(target)?).identity.key;
        (decides != target).then(|| format!("{target} follows {decides}: override that instead"))
    });
    let said = match missing {
        _ if !seen.is_usable() => {
            (ConditionStatus::False, names::INVALID_SPEC, Some(problem_text(&seen.problems)))
        }
        Some(target) => {
            let message = format!("{target} does not exist, so nothing is opened");
            (ConditionStatus::False, names::TARGET_NOT_FOUND, Some(message))
        }
        None if let Some(guardrail) = snapshot.kept_shut(seen) => {
            let message =
                format!("{} lets it open nothing before somebody approves it", guardrail.key);
            (ConditionStatus::False, names::NOT_APPROVED, Some(message))
        }
        // CV-2
        None if followed.is_some() => (ConditionStatus::False, names::TARGET_FOLLOWS, followed),
        None => {
            let message = "the override is understood".to_owned();
            (ConditionStatus::True, names::AS_EXPECTED, Some(message))
        }
    };
    let ready = made(names::READY, said, Some(identity.generation), seen.conditions.ours(), now);
    let status = part_of_status(identity, &seen.conditions, Vec::new(), &[ready]);
    Plan { status, wake: seen.goes_at(), ..Plan::default() }
}

/// The end of an object that nobody needs any more.
pub(super) fn gone(identity: &Identity) -> Plan {
    let (uid, version) = (identity.uid.clone(), identity.resource_version.clone());
    let delete = Action::upkeep(identity.key.clone(), Write::Delete { uid, version });
    Plan { actions: vec![delete], ..Plan::default() }
}

/// What is to be done about a resource under change management (GATE-1 to GATE-6), given what is known of who keeps its gate
/// (GATE-13).
pub fn gated(seen: &SeenGated, gate: &Gate, kept: impl Into<Kept>, now: Instant) -> Plan {
    about(seen, gate, &kept.into(), Newest::Recorded, now)
}

/// What tells how the newest change of a resource began.
#[derive(Clone, Copy)]
enum Newest<'a> {
    /// The record of whoever began it.
    Recorded,
    /// Its nodes: those that no permitted write told to go.
    Machines(&'a [String]),
}

fn about(seen: &SeenGated, gate: &Gate, kept: &Kept, newest: Newest<'_>, now: Instant) -> Plan {
    let known = &seen.conditions;
    let paused_before = known.get(names::CHANGES_PAUSED);
    // A freeze is told also of what has no stanza.
    let absent =
        gate.form() == Form::NoStanza && !gate.freezes().any(|freeze| freeze.is_ahead(now));
    // Where updates are started here, one that cannot be is told of: nobody else would.
    let unmet = matches!(seen.pending.course, Course::Stopped(Stop::Unmet(_)));
    if absent && !unmet && paused_before.is_none() && seen.behavior.is_none() {
        // GATE-1: as if there were no change management at all.
        return Plan::default();
    }
    let reason = |at| gate::explain::sentence(gate, at);
    let policy_changed = gate.policy().and_then(|policy| policy.identity.changed);
    // One that is over leaves what never had a stanza as it was.
    let removed = absent && !seen.never_had_a_stanza();
    let before = Before {
        behavior: seen.behavior.as_ref(),
        strategy: strategy_of_reason(paused_before),
        changed: seen.identity.changed.max(policy_changed),
    };
    let behavior = recorded(gate.set(), &reason, before, now);
    let word = if removed { names::STANZA_REMOVED } else { gate.reason(now) };
    let paused = made(
        names::CHANGES_PAUSED,
        (of_state(behavior.current.state), word, Some(message(&behavior))),
        None,
        known.ours(),
        now,
    );
    let verdict = gate.verdict(now);
    let pending =
        made(names::CHANGES_PENDING, pending(seen, &behavior, verdict), None, known.ours(), now);
    let enforced = match gate.form() {
        Form::NoStanza => unenforced(seen, gate, now),
        _ => Some(enforced(seen, kept, now)),
    };
    let outside = match newest {
        _ if absent => None,
        Newest::Recorded => outside::condition(seen, &behavior, now),
        Newest::Machines(unrecorded) => outside::of_machines(seen, unrecorded, verdict, now),
    };
    let mut notes: Vec<Note> = Vec::new();
    let changed_word = paused_before.is_none_or(|before| before.reason != word);
    if changed_word && (removed || verdict == Verdict::CannotTell) {
        notes.push(Note {
            weight: Weight::Warning,
            reason: word,
            message: behavior.current.reason.clone(),
        });
    } else {
        notes.extend(transition(seen.behavior.as_ref(), Some(&behavior)));
    }
    let held_before = known.get(names::CHANGES_PENDING).map(|before| before.reason.as_str());
    if pending.reason == names::HELD && held_before != Some(names::HELD) {
        notes.push(Note {
            weight: Weight::Normal,
            reason: "ChangesHeld",
            message: pending.message.clone().unwrap_or_default(),
        });
    }
    notes.extend(outside.as_ref().and_then(|outside| outside::note(known, outside)));
    let ahead = ahead::condition(seen, now);
    notes.extend(ahead.as_ref().and_then(|found| ahead::note(seen, found)));
    let ready = seen.gate.is_some().then(|| gates::ready(seen, gate, now));
    let conditions: Vec<Condition> = [ready, Some(paused), Some(pending), enforced, outside, ahead]
        .into_iter()
        .flatten()
        .collect();
    let (fields, again) = match &seen.gate {
        None => {
            let waits = conditions.iter().find(|one| one.kind == names::CHANGES_PENDING);
            let waits = waits.map_or(ConditionStatus::Unknown, |one| one.status);
            let mut fields = stanza_fields(seen, &behavior);
            fields.extend(windows::fields(seen, gate, waits, now));
            (fields, windows::next_edge(gate, now))
        }
        Some(known) => gates::fields(seen, known, gate, &behavior, now),
    };
    let apart = seen.gate.as_ref().and_then(|_| gates::apart(&fields, known, &conditions));
    let status = part_of_status(&seen.identity, &seen.conditions, fields, &conditions);
    let wake = gate::explain::explain(&seen.identity.key, gate, now).holds_until();
    // A freeze or an override that begins while nothing changes by it changes what is said of it, and so does the end of a stanza's own span within a
    // window.
    let said = match gate.form() {
        Form::PermissiveUntil(until) | Form::RestrictiveUntil(until) => Some(until),
        _ => None,
    };
    let said = said.filter(|until| *until > now);
    let edges = wake.into_iter().chain(again).chain(said).chain(gate.next_edge_above(now));
    let wake = edges.min();
    Plan { status, notes, wake, apart, ..Plan::default() }
}

/// What is to be done about a pool whose nodes are rolled out here: what the rollout wants, and the status as one write. What waits
/// is what the rollout says waits (POOL-6).
pub fn pool(seen: &SeenGated, planned: PoolPlan, gate: &Gate, now: Instant) -> Plan {
    let PoolPlan { effects, status, pending, mut notes, wake, enforcement, unrecorded, .. } =
        planned;
    let seen = SeenGated { pending, ..seen.clone() };
    let about = about(&seen, gate, &enforcement.into(), Newest::Machines(&unrecorded), now);
    let wake = wake.into_iter().chain(about.wake).min();
    let before_status = effects.iter().any(Effect::comes_before_status);
    let ledger = seen.pool.as_ref().map(|pool| pool.ledger.clone()).unwrap_or_default();
    let actions = writes::writes(effects, &seen.identity.key, &ledger);
    if before_status {
        // Transitions are told with the status.
        return Plan { actions, notes, wake, ..Plan::default() };
    }
    notes.extend(about.notes);
    let status = match (status, about.status) {
        (Some(counted), Some(held)) => Some(counted.and(held)),
        (one, other) => one.or(other),
    };
    Plan { actions, status, notes, wake, ..Plan::default() }
}

type Said = (ConditionStatus, &'static str, Option<String>);

fn pending(seen: &SeenGated, behavior: &Behavior, verdict: Verdict) -> Said {
    let Pending { waiting, begun, course, .. } = &seen.pending;
    let (what, begun) = (gate::words::joined(waiting), gate::words::joined(begun));
    let stage = seen.pending.stage(verdict);
    let found = seen.gate.as_deref().and_then(|gate| gate.found.as_ref());
    if let (Stage::Nothing, Some(why)) = (stage, found.and_then(|found| found.untold.as_ref())) {
        let message = format!("nobody can tell whether something waits: {why}");
        return (ConditionStatus::Unknown, names::NOT_COUNTED, Some(message));
    }
    let message = match (stage, course) {
        (Stage::Nothing, _) => "nothing waits".into(),
        (Stage::UnderWay, _) => format!("nothing waits; under way: {begun}"),
        (Stage::Initiating, Course::Anyway(rights)) => {
            let rights = Course::rights(rights);
            format!("goes on although changes are held: {what} ({rights})")
        }
        (Stage::Initiating, _) => format!("may start now: {what}"),
        (Stage::Stopped, Course::Stopped(why)) => {
            format!("changes are permitted, but {why}: {what}")
        }
        (Stage::Stopped | Stage::Held, _) => {
            let when = match (&behavior.current.end_time, verdict) {
                (_, Verdict::CannotTell) => "and nobody can tell until when",
                (Some(end), _) => &format!("until {end}"),
                (None, _) => "with no end in sight",
            };
            let held = format!("held {when}: {what} ({})", behavior.current.reason);
            match course {
                // CV-4: whoever is told on Saturday night is told too late.
                Course::Stopped(why @ Stop::Unmet(_)) => {
                    format!("{held}; and it would not start then: {why}")
                }
                Course::Gate | Course::Anyway(_) | Course::Stopped(_) => held,
            }
        }
    };
    let status = match stage {
        Stage::Nothing => ConditionStatus::False,
        Stage::UnderWay | Stage::Initiating | Stage::Held | Stage::Stopped => ConditionStatus::True,
    };
    (status, stage.reason(), Some(message))
}

/// Whether something refuses what the gate holds (GATE-13).
fn enforced(seen: &SeenGated, kept: &Kept, now: Instant) -> Condition {
    let Kept { enforcement, .. } = kept;
    let said = (enforcement.status(), enforcement.reason(), Some(kept.about(seen.kind)));
    made(names::ENFORCED, said, None, seen.conditions.ours(), now)
}

/// The same where there is no gate any more that anybody could keep; nothing where there never was one.
fn unenforced(seen: &SeenGated, gate: &Gate, now: Instant) -> Option<Condition> {
    seen.enforcement()?;
    let message = format!("there is no {}, so nothing is held", gate.field());
    let said = (ConditionStatus::Unknown, names::STANZA_REMOVED, Some(message));
    Some(made(names::ENFORCED, said, None, seen.conditions.ours(), now))
}

/// What is said of a policy whose windows never come (TIME-7).
fn never_fires(problems: &[Problem]) -> Option<String> {
    let problem = problems.iter().find(|problem| problem.code == Code::NeverFires)?;
    Some(format!("no window ever opens: {}: {}", problem.field, problem.detail))
}

fn of_state(state: State) -> ConditionStatus {
    match state {
        State::ChangesPaused => ConditionStatus::True,
        State::ChangesUnpaused => ConditionStatus::False,
    }
}

/// Why, and when it ends (GATE-6). Instants only (POL-7).
fn message(behavior: &Behavior) -> String {
    let current = &behavior.current;
    match &current.end_time {
        Some(end) => format!("{}; until {end}", current.reason),
        None => current.reason.clone(),
    }
}

/// The event of a state that has changed: transitions only, and none for an object that is seen for the first time.
fn transition(before: Option<&Behavior>, after: Option<&Behavior>) -> Option<Note> {
    let (before, after) = (before?, after?);
    (before.current.state != after.current.state).then(|| Note {
        weight: Weight::Normal,
        reason: match after.current.state {
            State::ChangesPaused => "ChangesPaused",
            State::ChangesUnpaused => "ChangesUnpaused",
        },
        message: message(after),
    })
}

fn condition<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// A condition that keeps the instant of its last transition as long as its status stays.
fn made<'a>(
    kind: &str,
    (status, reason, message): Said,
    observed_generation: Option<i64>,
    known: impl IntoIterator<Item = &'a Condition>,
    now: Instant,
) -> Condition {
    let same = known.into_iter().find(|known| known.kind == kind && known.status == status);
    let since = same.and_then(|same| same.last_transition_time.clone());
    Condition {
        kind: kind.to_owned(),
        status,
        reason: reason.to_owned(),
        message: Some(message.unwrap_or_default()),
        observed_generation,
        last_transition_time: Some(since.unwrap_or_else(|| now.to_string())),
    }
}

/// The strategy of the stretch that a condition was written in: its reason says it, so that history can (POL-5).
fn strategy_of_reason(condition: Option<&Condition>) -> Strategy {
    let Some(reason) = condition.map(|condition| condition.reason.as_str()) else {
        return Strategy::Restrictive;
    };
    let named = strategy::STRATEGIES.iter().find(|row| row.name == reason);
    match (named, reason) {
        (Some(row), _) => row.strategy,
        (
            None,
            names::NO_STANZA | names::STANZA_REMOVED | names::OVERRIDDEN | "PermissiveUntil",
        ) => Strategy::Permissive,
        (None, _) => Strategy::Restrictive,
    }
}

fn stanza_fields(seen: &SeenGated, behavior: &Behavior) -> Vec<(&'static str, Value)> {
    if seen.behavior.as_ref() == Some(behavior) {
        return Vec::new();
    }
    vec![(seen.stanza.gating.answer, json!({"behavior": behavior}))]
}

/// A patch of some fields of a status and some of its conditions; everything else in it is others'. A field of null was there, and goes.
fn part_of_status(
    identity: &Identity,
    known: &Conditions,
    fields: Vec<(&str, Value)>,
    conditions: &[Condition],
) -> Option<StatusPatch> {
    let mut operations = vec![made_from(&identity.resource_version)];
    if known.status == Presence::Absent {
        operations.push(json!({"op": "add", "path": "/status", "value": {}}));
    }
    for (path, value) in fields {
        operations.push(match value {
            Value::Null => json!({"op": "remove", "path": path}),
            value => json!({"op": "add", "path": path, "value": value}),
        });
    }
    let stale: Vec<&Condition> =
        conditions.iter().filter(|wanted| known.get(&wanted.kind) != Some(wanted)).collect();
    if known.list == Presence::Absent && !stale.is_empty() {
        operations.push(json!({"op": "add", "path": "/status/conditions", "value": []}));
    }
    for wanted in stale {
        operations.push(match known.place(&wanted.kind) {
            Some(place) => json!({"op": "replace", "path": format!("/status/conditions/{place}"), "value": wanted}),
            None => json!({"op": "add", "path": "/status/conditions/-", "value": wanted}),
        });
    }
    let idle = usize::from(known.status == Presence::Absent) + 1;
    (operations.len() > idle).then_some(StatusPatch { operations })
}

#[cfg(test)]
pub(crate) mod tests;
