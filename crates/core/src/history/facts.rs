//! What has happened, as far as the cluster remembers it? (HIST-1)
//!
//! Everything here is read from objects, and nothing from the memory of whoever did it:
//!
//! - decisions from the stretches in the status of what is gated, of which the last five and the present one stand there (POL-5);
//! - initiations from the record that each leaves (GATE-10): the permit on a node with the server's stamp of that write, the mark of a release or of
//!   a configuration with the instant at which the gate was asked; what others began from their own record, and whether the gate was shut then
//!   from the condition that tells it (GATE-13);
//! - freezes and overrides from the objects, which stay for a day after their end (OVR-6).
//!
//! Who asks again gets the same facts, with the same instants, but for what has none of its own: that something has ended or was approved is
//! told with the instant of whoever looks, and recorded once.

use api::{
    kinds,
    names::PROBE,
    policy::State,
    record::{Subject, What},
    schema::{FREEZES, GATED, Kind, OVERRIDES},
};
use schedule::Instant;

use super::chain::Fact;
use crate::{
    cluster::{
        decide::outside::{self, Judged},
        kinds::Pools,
        seen::{Part, Seen, SeenGated},
        snapshot::Snapshot,
    },
    document::{identity::Identity, key::Key, problem::problem_text},
    gate::{change::ChangeId, pending::Began},
    policy::{freeze::SeenFreeze, overrides::SeenOverride, strategy::STRATEGIES},
    pool::seen::SeenNode,
    release::Progress,
};

/// Everything that an object remembers, as somebody sees it at an instant who rolls pools out or leaves that to others. What is later than that
/// is still ahead.
pub fn facts(seen: &Seen, pools: Pools, now: Instant) -> Vec<Fact> {
    if is_probe(&seen.identity().key) {
        return Vec::new();
    }
    match seen {
        Seen::Gated(gated) => {
            let mut facts = decisions(gated);
            facts.extend(says(gated, now));
            facts.extend(initiations(gated, pools, now));
            facts
        }
        Seen::Part(part) => match &part.part {
            Part::Node(machine) => of_node(&machine.node, now),
            Part::Freeze(freeze) => of_freeze(&part.identity, freeze, now),
            Part::Override(one) => of_override(&part.identity, one, now),
            Part::Config(_)
            | Part::Disruption(_)
            | Part::Guardrail(_)
            | Part::Namespace(_)
            | Part::Target(_)
            | Part::Text(_) => Vec::new(),
        },
        Seen::Policy(_) => Vec::new(),
    }
}

/// Whether it is a gate or a freeze by which the operator tries whether the server refuses: it alone can make one of that name, and nothing is told of
/// them. Anybody may give that name to anything else.
fn is_probe(key: &Key) -> bool {
    let mut tried = FREEZES.iter().chain([&kinds::CHANGE_GATE, &kinds::CLUSTER_CHANGE_GATE]);
    &*key.name == PROBE && tried.any(|kind| kind == key.kind())
}

/// Whether an object is known to be there no more: all of its kind were listed, as `is_settled` says, and none has its name and identity.
pub fn is_gone(
    cluster: &Snapshot,
    is_settled: impl Fn(&'static Kind) -> bool,
    subject: &Subject,
) -> bool {
    let mut kinds = GATED.iter().chain(FREEZES).chain(OVERRIDES);
    let Some(kind) = kinds.find(|kind| kind.name == subject.kind) else { return false };
    let key = Key::new(kind, subject.namespace.as_deref(), &subject.name);
    let there = cluster.get(&key).map(|seen| subject_of(seen.identity()));
    is_settled(kind) && there.as_ref() != Some(subject)
}

/// What its gate decided.
fn decisions(gated: &SeenGated) -> Vec<Fact> {
    let Some(behavior) = &gated.behavior else { return Vec::new() };
    let past = behavior.history.iter().rev().map(|past| {
        let row = STRATEGIES.iter().find(|row| row.strategy == past.strategy);
        let strategy = row.map_or("unknown", |row| row.name);
        (past.state, past.start_time.as_deref(), format!("strategy {strategy}"))
    });
    let current = &behavior.current;
    let current = (current.state, current.start_time.as_deref(), current.reason.clone());
    let decision = |(state, start, basis): (State, Option<&str>, String)| {
        // What has always been so did not begin.
        let at = Instant::parse(start?).ok()?;
        let (what, outcome) = match state {
            State::ChangesUnpaused => (What::Permitted, "changes may start"),
            State::ChangesPaused => (What::Held, "no change starts"),
        };
        let fact = Fact::about(subject_of(&gated.identity), what, at, outcome);
        Some(Fact { basis: Some(basis), ..fact })
    };
    past.chain([current]).filter_map(decision).collect()
}

/// What a gate says, which is told when it is another than was told last (RCH-7).
fn says(gated: &SeenGated, now: Instant) -> Option<Fact> {
    let terms = gated.gate.as_ref()?.terms.as_ref()?;
    Some(Fact::about(subject_of(&gated.identity), What::Changed, now, terms))
}

/// What began of a control plane, or of hosted nodes.
fn initiations(gated: &SeenGated, pools: Pools, now: Instant) -> Vec<Fact> {
    let subject = || subject_of(&gated.identity);
    let mut facts = Vec::new();
    let marked = gated.plane().and_then(|plane| {
        let mark = plane.mark.as_ref()?;
        let newest = plane.history.first().map(|newest| newest.progress);
        let ended = plane.mark_of_newest().is_some() && newest == Some(Progress::Completed);
        Some((mark.at?, ChangeId::release(mark.release.name()), ended))
    });
    let handed = gated.node_pool().and_then(|pool| {
        let mark = pool.mark.as_ref()?;
        Some((
            mark.at?,
            ChangeId::rendered(&mark.target.config),
            pool.current == mark.target.config,
        ))
    });
    for (at, change, ended) in marked.iter().chain(&handed) {
        let ended = if *ended { Ended::Yes(now) } else { Ended::No };
        let basis = gated.permit_basis.clone();
        facts.extend(initiated(subject(), (*at, change.to_string()), basis, ended));
    }
    // Where pools are rolled out here, what a pool says of that is told by its nodes.
    let by_others = pools == Pools::Watched || gated.pool.is_none();
    if let Some(Began { what, at, basis: None }) = gated.began.as_ref().filter(|_| by_others)
        && marked.iter().chain(&handed).all(|(marked, ..)| marked != at)
    {
        let told = match outside::judged(gated, *at) {
            Judged::Shut => {
                Some((What::InitiatedOutside, "begun by others while changes were held"))
            }
            Judged::Open => Some((What::Initiated, "begun by others")),
            Judged::NotYet => None,
        };
        facts.extend(told.map(|(what_happened, outcome)| Fact {
            change: Some(what.to_string()),
            ..Fact::about(subject(), what_happened, *at, outcome)
        }));
    }
    facts
}

/// What a node was told to go to, and whether it has arrived. What tells one permit from another is what the operator alone can write (GATE-16);
/// the server's stamp only says when, because whoever may write the node may have it stamped again.
fn of_node(node: &SeenNode, now: Instant) -> Vec<Fact> {
    let Some(change) = &node.permit_change else { return Vec::new() };
    let subject = Subject {
        kind: kinds::NODE.name.to_owned(),
        namespace: None,
        name: node.name.clone(),
        uid: Some(node.uid.clone()).filter(|uid| !uid.is_empty()),
    };
    let ended = if node.current == *change && node.is_done() { Ended::Yes(now) } else { Ended::No };
    let edges = [("from", node.permit_from), ("until", node.permit_until)];
    let edges = edges.into_iter().filter_map(|(word, edge)| Some(format!("{word} {}", edge?)));
    let edges = edges.collect::<Vec<_>>().join(" ");
    let permit =
        Some(edges).filter(|edges| !edges.is_empty()).map(|edges| format!("permit {edges}"));
    let words: Vec<String> = node.permit_basis.iter().cloned().chain(permit).collect();
    let basis = Some(words.join("; ")).filter(|words| !words.is_empty());
    // Whoever took the stamp away, or dated it outside of the permit or ahead of now, takes nothing from the record: it is told when it is noticed.
    let stamped =
        node.permit_at.filter(|at| *at <= now && node.permit_from.is_none_or(|from| from <= *at));
    initiated(subject, (stamped.unwrap_or(now), change.clone()), basis, ended)
}

/// Whether what began has ended, and when somebody saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Yes(Instant),
    No,
}

fn initiated(
    subject: Subject,
    (at, change): (Instant, String),
    basis: Option<String>,
    ended: Ended,
) -> Vec<Fact> {
    let fact = Fact::about(subject.clone(), What::Initiated, at, "begun by the operator");
    let mut facts = vec![Fact { change: Some(change.clone()), basis, ..fact }];
    if let Ended::Yes(seen) = ended {
        let fact = Fact::about(subject, What::Finished, seen.max(at), "done");
        let basis = Some(format!("begun at {at}"));
        facts.push(Fact { since: at, change: Some(change), basis, ..fact });
    }
    facts
}

/// A freeze holds nothing before it is there, whatever its author wrote: an instant before its creation would be an alibi.
fn of_freeze(identity: &Identity, freeze: &SeenFreeze, now: Instant) -> Vec<Fact> {
    let Some(begin) = freeze.from.max(freeze.created) else { return Vec::new() };
    let from = freeze.begins_as_written().map_or_else(String::new, |from| format!(" from {from}"));
    let outcome = match freeze.until {
        _ if !freeze.is_usable() => {
            format!("it holds until somebody mends it: {}", problem_text(&freeze.problems))
        }
        Some(until) => format!("nothing that it selects starts{from} until {until}"),
        None => format!("nothing that it selects starts{from} until further notice"),
    };
    let outcome = match &freeze.selection {
        Some(selection) => format!("{outcome}; {selection}"),
        None => outcome,
    };
    let told = |what: What, at: Instant, outcome: &str| Fact {
        basis: Some(freeze.reason.clone()),
        by: freeze.by.clone(),
        ..Fact::about(subject_of(identity), what, at, outcome)
    };
    let until = freeze.until.filter(|_| freeze.is_usable());
    let mut facts = Vec::new();
    if until.is_none_or(|until| until > begin) {
        facts.push(told(What::Frozen, begin, &outcome));
    }
    facts.push(told(What::Changed, now, &outcome));
    facts.extend(until.map(|until| {
        let ended = told(What::FreezeEnded, until.max(begin), "it ended by itself");
        Fact { since: now, ..ended }
    }));
    facts
}

fn of_override(identity: &Identity, one: &SeenOverride, now: Instant) -> Vec<Fact> {
    let Some(from) = one.from else { return Vec::new() };
    let target = one.target.as_ref().map(ToString::to_string);
    let outcome = match one.until {
        Some(until) if one.is_usable() => format!("open until {until}"),
        _ => format!("it opens nothing: {}", problem_text(&one.problems)),
    };
    let reason = match &one.ticket {
        Some(ticket) => format!("{} ({ticket})", one.reason),
        None => one.reason.clone(),
    };
    let told = |what: What, at: Instant, outcome: &str| Fact {
        change: target.clone(),
        basis: Some(reason.clone()),
        by: one.by.clone(),
        ..Fact::about(subject_of(identity), what, at, outcome)
    };
    let mut facts =
        vec![told(What::Overridden, from, &outcome), told(What::Changed, now, &outcome)];
    if one.approved_by.is_some() {
        let approved = told(What::Approved, now.max(from), "somebody else approved it");
        facts.push(Fact { since: from, by: one.approved_by.clone(), ..approved });
    }
    facts.extend(one.until.filter(|_| one.is_usable()).map(|until| {
        let ended = told(What::OverrideEnded, until.max(from), "it ended by itself");
        Fact { since: now, ..ended }
    }));
    facts
}

fn subject_of(identity: &Identity) -> Subject {
    let Key { namespace, name, .. } = &identity.key;
    Subject {
        kind: identity.key.kind().name.to_owned(),
        namespace: namespace.as_deref().map(str::to_owned),
        name: name.to_string(),
        uid: Some(identity.uid.clone()).filter(|uid| !uid.is_empty()),
    }
}
