//! What is decided wrongly? The row of pools with another decision.

use std::{sync::Arc, time::Duration};

use runtime::tempo::Tempo;
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{
        decide,
        kinds::{self, Duty, Surroundings, machine_config_pool::planned},
        seen::{Part as SeenAs, Seen, SeenGated, SeenPart},
        snapshot::Snapshot,
    },
    document::key::Key,
    gate::{
        Gate,
        action::{Action, Right, Write},
        change::ChangeId,
        plan::Plan,
    },
    policy::{
        overrides::SeenOverride,
        part::{Part, PartKind},
        seen::SeenPolicy,
        stanza::Form,
    },
    pool::{capacity::Limit, seen::SeenNode},
};

#[expect(clippy::large_types_passed_by_value, reason = "a hook of the cast")]
pub(super) fn drowsy(tempo: Tempo) -> Tempo {
    Tempo { recompute: Duration::from_hours(1_000), ..tempo }
}

/// Nobody is asked which versions there are, however long a watch says nothing.
#[expect(clippy::large_types_passed_by_value, reason = "a hook of the cast")]
pub(super) fn deaf(tempo: Tempo) -> Tempo {
    Tempo { silence: Duration::from_hours(1_000), ..tempo }
}

/// Asks again about something that decides nothing.
pub(super) fn some_machine(_: &Seen, snapshot: &Snapshot) -> Vec<Key> {
    let machines = snapshot.of_kind(&kinds::NODE);
    machines.map(|(key, _)| key.clone()).take(1).collect()
}

/// What is decided about pools.
pub(crate) fn duty() -> Duty {
    kinds::MACHINE_CONFIG_POOL.managed.unwrap()
}

fn honest(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    (duty().decide)(seen, around, now)
}

/// Decides about a pool that was tampered with, or under another gate.
fn tampered(
    seen: &Seen,
    around: &Surroundings<'_>,
    now: Instant,
    tamper: impl FnOnce(&mut SeenGated, &mut Gate),
) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    if let Some(follow) = around.snapshot.follow(gated) {
        return Plan { actions: vec![follow], ..Plan::default() };
    }
    let mut gate = around.snapshot.gate(gated);
    let mut gated = SeenGated::clone(gated);
    tamper(&mut gated, &mut gate);
    let planned = planned(&gated, &gate, around, now).unwrap_or_default();
    decide::pool(&gated, planned, &gate, now)
}

pub(super) fn always_open(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |_, gate| open(gate))
}

pub(super) fn without_exclusions(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |_, gate| {
        let Some(policy) = gate.policy().filter(|_| gate.form() == Form::ByPolicy) else { return };
        let mut policy = SeenPolicy::clone(policy);
        let Some(read) = &mut policy.judged.policy else { return };
        let is_windows = |part: &&Part| matches!(part.kind, PartKind::Windows(_));
        let windows = read.lowered.parts.walk().find(is_windows).map(|part| part.set.clone());
        let Some(windows) = windows else { return };
        read.lowered.set = windows;
        let name = policy.identity.key.name.to_string();
        *gate = as_if(&json!({"strategy": "ByPolicy", "byPolicy": {"name": name}}), Some(policy));
    })
}

/// As if nobody had frozen anything.
pub(super) fn without_freezes(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let frozen: Vec<Key> = around.snapshot.freezes().map(|freeze| freeze.key.clone()).collect();
    let mut thawed = around.snapshot.clone();
    for freeze in &frozen {
        thawed.remove(freeze);
    }
    honest(seen, &Surroundings { snapshot: &thawed, ..*around }, now)
}

/// As if overrides said something else, or were not there.
fn with_overrides(
    seen: &Seen,
    around: &Surroundings<'_>,
    now: Instant,
    tamper: impl Fn(&mut SeenOverride) -> bool,
) -> Plan {
    let mut snapshot = around.snapshot.clone();
    for one in around.snapshot.overrides() {
        let Some(Seen::Part(known)) = snapshot.remove(&one.key) else { continue };
        let mut one = SeenOverride::clone(one);
        if tamper(&mut one) {
            let part = SeenAs::Override(Arc::new(one));
            snapshot.put(Seen::Part(Arc::new(SeenPart { part, ..SeenPart::clone(&known) })));
        }
    }
    honest(seen, &Surroundings { snapshot: &snapshot, ..*around }, now)
}

/// As if those that ended had not.
pub(super) fn overrides_for_ever(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    with_overrides(seen, around, now, |one| {
        one.until = Some(now.saturating_add(3_600));
        true
    })
}

/// As if those for one change were for all.
pub(super) fn overrides_for_all(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    with_overrides(seen, around, now, |one| {
        one.only = None;
        true
    })
}

/// As if there were none.
pub(super) fn without_overrides(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    with_overrides(seen, around, now, |_| false)
}

/// As if nobody had frozen what somebody opened.
pub(super) fn overrides_pass_freezes(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    if around.snapshot.gate(gated).openings().any(|one| one.is_in_force(now)) {
        return without_freezes(seen, around, now);
    }
    honest(seen, around, now)
}

pub(super) fn one_more(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |gated, _| {
        if let Some(pool) = &mut gated.pool {
            pool.limit = pool.limit.map(|limit| match limit {
                Limit::Count(count) => Limit::Count(count + 1),
                Limit::Percent(percent) => Limit::Percent(percent + 35),
            });
        }
    })
}

pub(super) fn without_pin(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |gated, _| {
        if let Some(pool) = &mut gated.pool {
            pool.pin = None;
        }
    })
}

pub(super) fn passing_over(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let mut plan = honest(seen, around, now);
    let passed =
        |action: &Action| action.initiation().is_some() && action.target.name.ends_with('3');
    plan.actions.retain(|action| !passed(action));
    plan
}

pub(super) fn asleep(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    Plan { wake: None, ..honest(seen, around, now) }
}

/// The nodes that carry the label of a pool.
fn labelled<'a>(pool: &str, around: &Surroundings<'a>) -> Vec<&'a SeenNode> {
    let label = format!("node-role.kubernetes.io/{pool}");
    let nodes = around.snapshot.machines().map(|machine| &machine.node);
    nodes.filter(|node| node.labels.contains_key(&label)).collect()
}

/// Puts whoever comes last in the place of whoever is chosen now; who has room already is left alone.
pub(super) fn newest_first(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let mut plan = honest(seen, around, now);
    let Seen::Gated(gated) = seen else { return plan };
    let Some(pool) = gated.pool.as_deref() else { return plan };
    let mut chosen: Vec<String> = Vec::new();
    let mut swapped: Vec<(String, String)> = Vec::new();
    for action in plan.actions.iter().filter(|action| action.initiation().is_some()) {
        chosen.push(action.target.name.to_string());
    }
    for action in &mut plan.actions {
        let Right::Initiates(initiation) = &mut action.right else { continue };
        let Write::Apply(_, document) = &mut action.write else { continue };
        let node = action.target.name.to_string();
        if pool.ledger.get(&node).is_some() {
            continue;
        }
        let waits = |other: &&&SeenNode| {
            other.is_done()
                && other.is_ready()
                && initiation.change != ChangeId::rendered(&other.desired)
                && !chosen.contains(&other.name)
                && pool.ledger.get(&other.name).is_none()
        };
        let nodes = labelled(&pool.name, around);
        let Some(last) = nodes.iter().filter(waits).max_by_key(|other| &other.name) else {
            continue;
        };
        swapped.push((node, last.name.clone()));
        chosen.push(last.name.clone());
        action.target.name = last.name.as_str().into();
        initiation.uid.clone_from(&last.uid);
        document["metadata"]["name"] = json!(last.name);
        document["metadata"]["uid"] = json!(last.uid);
        document["metadata"]["resourceVersion"] = json!(last.resource_version);
    }
    for action in &mut plan.actions {
        if let Write::JsonPatch(operations) = &mut action.write {
            for value in operations.iter_mut().filter_map(|one| one.get_mut("value")) {
                let Some(mut text) = value.as_str().map(str::to_owned) else { continue };
                for (from, to) in &swapped {
                    text = text.replace(&format!("{from:?}"), &format!("{to:?}"));
                }
                *value = json!(text);
            }
        }
    }
    plan
}

fn open(gate: &mut Gate) {
    *gate = as_if(&json!({"strategy": "Permissive"}), None);
}

/// The gate of a pool that has this stanza. Nobody can bend a gate, so a bug is to have seen something else.
fn as_if(stanza: &Value, policy: Option<SeenPolicy>) -> Gate {
    let mut snapshot = Snapshot::default();
    snapshot.add(&kinds::MACHINE_CONFIG_POOL, &json!({"spec": {"changeManagement": stanza}}));
    policy.map(|policy| snapshot.put(Seen::Policy(Arc::new(policy))));
    snapshot.gate(snapshot.gated().next().unwrap())
}

/// A stanza that cannot be read is none.
pub(super) fn open_if_unreadable(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |_, gate| {
        if gate.form() == Form::Unusable {
            open(gate);
        }
    })
}

/// A policy that cannot be used holds nobody.
pub(super) fn open_if_unusable(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |_, gate| {
        if gate.form() != Form::Unusable && gate.doubt().is_some() {
            open(gate);
        }
    })
}

/// Masters that differ are in the middle of something.
pub(super) fn begun_by_looks(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let masters = labelled("master", around);
    let differ = masters.iter().any(|node| node.desired != masters[0].desired);
    tampered(seen, around, now, |gated, gate| {
        if differ && gated.pool.as_ref().is_some_and(|pool| pool.name == "master") {
            open(gate);
        }
    })
}

/// One node that was named lets all others go.
pub(super) fn named_for_all(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    tampered(seen, around, now, |gated, gate| {
        let Some(pool) = gated.pool.as_deref() else { return };
        if labelled(&pool.name, around).iter().any(|node| node.allowed.is_some()) {
            open(gate);
        }
    })
}

/// While a release is installed, everything for masters belongs to it.
pub(super) fn release_covers_all(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let version = around.snapshot.control_plane();
    let installing = version.is_some_and(|version| !version.pending.begun.is_empty());
    tampered(seen, around, now, |gated, gate| {
        if installing && gated.pool.as_ref().is_some_and(|pool| pool.name == "master") {
            open(gate);
        }
    })
}

/// Counts down in a status.
pub(super) fn restless(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let mut plan = honest(seen, around, now);
    if plan.actions.is_empty() && plan.status.is_none() {
        let version = &seen.identity().resource_version;
        plan.status = Some(tidegate_core::document::patch::StatusPatch {
            operations: vec![
                json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version}),
                json!({"op": "add", "path": "/status/observedGeneration", "value": now.unix()}),
            ],
        });
    }
    plan
}
