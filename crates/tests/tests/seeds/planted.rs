//! Would a bug be found? Operators, agents and policies that were tampered with from outside, each with the promise that must catch it.
//!
//! Nothing in the product can be switched to misbehave: a line between operator and server bends what is said and what is heard, a row of
//! the table of controllers decides wrongly, a clock is wrong, an admission policy has a hole. A checker that nobody has seen fail is no
//! evidence.

use api::kinds;
use api::machine::names::{DESIRED_DRAIN, LAST_APPLIED_DRAIN, LEDGER, PERMIT_FROM, PERMIT_UNTIL};
use operator::{controllers::MANAGING_POOLS, rollout};
use runtime::{reconcile::Controller, store::Store, tempo::Tempo};
use schedule::Instant;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tidegate_core::{
    decide,
    gate::{self, Form, Gate},
    plan::Plan,
    pool::{Action, capacity::Limit, seen::SeenNode},
    seen::{Seen, SeenGated, SeenPolicy},
};

use super::{
    cast::Make,
    check::noted,
    intent::instant,
    machines::Agents,
    policies,
    stage::{Admission, By, Kind, Stage},
    story::Plot,
    strangers::forward,
    weather::{Bend, Ears, Packet},
};

/// A bug, and the promise that it breaks.
pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) plot: Plot,
}

/// Who empties machines beside the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drainer {
    /// Nobody.
    Own,
    /// One who believes every request.
    Credulous,
}

impl Drainer {
    pub(crate) fn look(self, stage: &Stage) {
        if self == Self::Own {
            return;
        }
        let asking: Vec<(String, String)> = {
            let checker = stage.checker();
            let asks = |node: &Value| noted(node, DESIRED_DRAIN).starts_with("drain-");
            let nodes = checker.all(Kind::Node).filter(|(_, node)| asks(node));
            nodes.map(|(name, node)| (name.to_owned(), noted(node, DESIRED_DRAIN).into())).collect()
        };
        for (name, asked) in asking {
            let answered = stage
                .checker()
                .get(Kind::Node, &name)
                .is_some_and(|node| noted(node, LAST_APPLIED_DRAIN) == asked);
            if answered {
                continue;
            }
            let change = json!({"spec": {"unschedulable": true},
                "metadata": {"annotations": {LAST_APPLIED_DRAIN: asked}}});
            let service = stage.by_hand();
            let path = Kind::Node.of(&name);
            let content = "application/merge-patch+json";
            if stage.ask(&service, &http::Method::PATCH, &path, content, &change).is_ok() {
                stage.note(By::Operator(0, stage.now()), Kind::Node, &name);
            }
        }
    }
}

/// Every bug that must be found.
pub(crate) fn planted() -> Vec<Planted> {
    assert_eq!(MANAGING_POOLS[POOLS].kind.name, api::names::MACHINE_CONFIG_POOL);
    let honest = Plot::honest();
    let bent = |bend: Bend| Plot { make: Make { bend, ..honest.make }, ..honest };
    let hearing = |ears: Ears| Plot { make: Make { ears, ..honest.make }, ..honest };
    let deciding = |controllers: &'static [Controller]| Plot {
        make: Make { controllers, ..honest.make },
        ..honest
    };
    let guarded = |admission: Admission| Plot { admission, ..honest };
    let untimed = |plot: Plot| Plot { admission: policies::untimed, ..plot };
    let early = Plot {
        make: Make { bend: date_ahead, controllers: ALWAYS_OPEN, ..honest.make },
        admission: policies::by_newest_stamp,
        ..honest
    };
    let of = |name, rule, plot| Planted { name, rule, plot };
    vec![
        of("an operator sends a mark again by itself", "EXEC-4", bent(insist)),
        of("an operator forgets the version it planned from", "EXEC-4", bent(forget_versions)),
        of("an operator marks without a reservation", "EXEC-1", bent(lose_reservations)),
        of("an operator marks late, and the server does not look", "GATE-7", untimed(bent(dawdle))),
        of("an operator lengthens its permits", "GATE-7", bent(stretch_permits)),
        of(
            "an operator's clock is an hour ahead, and it does not look at the server's",
            "GATE-7",
            untimed(Plot { off: 3_600, ..hearing(Ears::OwnTime) }),
        ),
        of(
            "an operator does not look how wrong its clock is",
            "GATE-11",
            Plot { off: 60, ..hearing(Ears::OwnTime) },
        ),
        of("an operator never asks the gate", "GATE-7", deciding(ALWAYS_OPEN)),
        of("an operator overlooks exclusions", "GATE-7", deciding(WITHOUT_EXCLUSIONS)),
        of("an operator lets one machine more go", "POOL-2", deciding(ONE_MORE)),
        of("an operator takes the newest first", "POOL-3", deciding(NEWEST_FIRST)),
        of("an operator overlooks what somebody chose", "POOL-4", deciding(WITHOUT_PIN)),
        of("an operator passes over a machine for ever", "LIVE-2", deciding(PASSING_OVER)),
        of("an operator never says that a machine is empty", "LIVE-1", bent(keep_silent)),
        of(
            "an operator forgets to wake",
            "LIVE-2",
            Plot { make: Make { controllers: ASLEEP, tempo: drowsy, ..honest.make }, ..honest },
        ),
        of("an operator writes although nothing changed", "STAT-3", deciding(RESTLESS)),
        of("an operator reads begun off masters that differ", "GATE-7", deciding(BEGUN_BY_LOOKS)),
        of("an operator lets all go where one was named", "GATE-7", deciding(NAMED_FOR_ALL)),
        of("an operator lets a release cover everything", "GATE-7", deciding(RELEASE_COVERS_ALL)),
        of("an operator does not ask again", "GATE-11", deciding(NOT_ASKING_AGAIN)),
        of(
            "an operator hears old answers when it asks again",
            "GATE-11",
            hearing(Ears::Remembering),
        ),
        of("an operator believes a watch because it opened", "GATE-11", hearing(Ears::Believing)),
        of(
            "an operator empties whatever asks",
            "DRAIN-2",
            Plot { drainer: Drainer::Credulous, ..guarded(policies::without_records) },
        ),
        of("a policy overlooks nodes/status", "GATE-7", guarded(policies::without_status)),
        of(
            "a policy believes in a machine that joins",
            "GATE-7",
            guarded(policies::join_as_written),
        ),
        of("a policy takes the newest stamp for now", "GATE-7", early),
        of(
            "a policy lets a stamp from ahead stop a machine",
            "LIVE-2",
            guarded(policies::every_stamp),
        ),
        of("no policy keeps the records", "GATE-16", guarded(policies::without_records)),
        of(
            "agents take orders that no record names",
            "GATE-16",
            Plot { agents: Agents::Trusting, ..guarded(policies::without_status) },
        ),
    ]
}

/// Says that the window opens in the next hour, as if it knew what stamps machines carry.
fn date_ahead(packet: &mut Packet) {
    if !packet.is_mark() {
        return;
    }
    let mut body = packet.json();
    let annotations = &mut body["metadata"]["annotations"];
    let until = annotations[PERMIT_UNTIL].as_str();
    let until = until.and_then(|until| until.parse::<jiff::Timestamp>().ok()).unwrap_or_default();
    let stamp = forward(until.as_second() - 300);
    annotations[PERMIT_FROM] = json!(instant(stamp - 60));
    annotations[PERMIT_UNTIL] = json!(instant(stamp + 60));
    packet.body = body.to_string().into_bytes();
}

fn insist(packet: &mut Packet) {
    if packet.is_mark() {
        packet.insistence = 3;
    }
}

fn forget_versions(packet: &mut Packet) {
    let mut body = packet.json();
    if let Some(operations) = body.as_array_mut() {
        operations.retain(|operation| operation["path"] != "/metadata/resourceVersion");
    } else if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    packet.body = body.to_string().into_bytes();
}

fn lose_reservations(packet: &mut Packet) {
    let mut body = packet.json();
    let Some(operations) = body.as_array_mut() else { return };
    let ledger = LEDGER.replace('/', "~1");
    operations.retain(|operation| {
        !operation["path"].as_str().is_some_and(|path| path.ends_with(&ledger))
    });
    packet.body = body.to_string().into_bytes();
}

fn dawdle(packet: &mut Packet) {
    if packet.is_mark() {
        packet.held = Duration::from_mins(7);
    }
}

fn stretch_permits(packet: &mut Packet) {
    if !packet.is_mark() {
        return;
    }
    let mut body = packet.json();
    let until = body["metadata"]["annotations"][PERMIT_UNTIL].as_str();
    let until = until.and_then(|until| until.parse::<jiff::Timestamp>().ok()).unwrap_or_default();
    let later = until + jiff::SignedDuration::from_mins(9);
    body["metadata"]["annotations"][PERMIT_UNTIL] = json!(later.to_string());
    packet.body = body.to_string().into_bytes();
    packet.held = Duration::from_mins(6);
}

fn keep_silent(packet: &mut Packet) {
    let mut body = packet.json();
    if let Some(annotations) =
        body.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
    {
        annotations.remove(LAST_APPLIED_DRAIN);
        packet.body = body.to_string().into_bytes();
    }
}

#[expect(clippy::large_types_passed_by_value, reason = "a hook of the cast")]
fn drowsy(tempo: Tempo) -> Tempo {
    Tempo { recompute: Duration::from_hours(1_000), ..tempo }
}

/// The place of the row of pools.
const POOLS: usize = 3;
const ROWS: usize = MANAGING_POOLS.len();

/// The table with another decision about pools.
const fn with(decide: fn(&Seen, &Store, Instant) -> Plan) -> [Controller; ROWS] {
    let mut rows = [MANAGING_POOLS[0]; ROWS];
    let mut place = 1;
    while place < ROWS {
        rows[place] = MANAGING_POOLS[place];
        place += 1;
    }
    rows[POOLS].decide = decide;
    rows
}

/// The table with a row that asks again about something that decides nothing.
const fn not_asking_again() -> [Controller; ROWS] {
    let mut rows = with(MANAGING_POOLS[POOLS].decide);
    rows[POOLS].rests_on = some_machine;
    rows
}

fn some_machine(_: &Seen, store: &Store) -> Vec<runtime::key::Key> {
    let machines = store.of_kind(&kinds::NODE);
    machines.map(|(key, _)| key.clone()).take(1).collect()
}

const ALWAYS_OPEN: &[Controller] = &with(always_open);
const WITHOUT_EXCLUSIONS: &[Controller] = &with(without_exclusions);
const ONE_MORE: &[Controller] = &with(one_more);
const NEWEST_FIRST: &[Controller] = &with(newest_first);
const WITHOUT_PIN: &[Controller] = &with(without_pin);
const PASSING_OVER: &[Controller] = &with(passing_over);
const ASLEEP: &[Controller] = &with(asleep);
const RESTLESS: &[Controller] = &with(restless);
const BEGUN_BY_LOOKS: &[Controller] = &with(begun_by_looks);
const NAMED_FOR_ALL: &[Controller] = &with(named_for_all);
const NOT_ASKING_AGAIN: &[Controller] = &not_asking_again();
const RELEASE_COVERS_ALL: &[Controller] = &with(release_covers_all);

fn honest(seen: &Seen, store: &Store, now: Instant) -> Plan {
    (MANAGING_POOLS[POOLS].decide)(seen, store, now)
}

/// Decides about a pool that was tampered with, or under another gate.
fn tampered(
    seen: &Seen,
    store: &Store,
    now: Instant,
    tamper: impl FnOnce(&mut SeenGated, &mut Gate),
) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    let mut gate = rollout::gate_of_pool(seen, gated, store);
    let mut gated = SeenGated::clone(gated);
    tamper(&mut gated, &mut gate);
    let planned = rollout::planned(&gated, &gate, store, now).unwrap_or_default();
    decide::pool(&gated, planned, &gate, now)
}

fn always_open(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |_, gate| open(gate))
}

fn without_exclusions(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |_, gate| {
        let Some(policy) = gate.policy().filter(|_| gate.form() == Form::ByPolicy) else { return };
        let mut policy = SeenPolicy::clone(policy);
        let Some(read) = &mut policy.judged.policy else { return };
        let Some(windows) = read.lowered.scheduled.windows.clone() else { return };
        read.lowered.set = windows;
        let name = &policy.identity.object.name;
        *gate = as_if(&json!({"strategy": "ByPolicy", "byPolicy": {"name": name}}), Some(policy));
    })
}

fn one_more(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |gated, _| {
        if let Some(pool) = &mut gated.pool {
            pool.limit = pool.limit.map(|limit| match limit {
                Limit::Count(count) => Limit::Count(count + 1),
                Limit::Percent(percent) => Limit::Percent(percent + 35),
            });
        }
    })
}

fn without_pin(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |gated, _| {
        if let Some(pool) = &mut gated.pool {
            pool.pin = None;
        }
    })
}

fn passing_over(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let mut plan = honest(seen, store, now);
    plan.actions.retain(
        |action| !matches!(action, Action::SetDesiredConfig { node, .. } if node.ends_with('3')),
    );
    plan
}

fn asleep(seen: &Seen, store: &Store, now: Instant) -> Plan {
    Plan { wake: None, ..honest(seen, store, now) }
}

/// The machines that carry the label of a pool.
fn labelled<'a>(pool: &str, store: &'a Store) -> Vec<&'a SeenNode> {
    let label = format!("node-role.kubernetes.io/{pool}");
    let nodes = store.machines().map(|machine| &machine.node);
    nodes.filter(|node| node.labels.contains_key(&label)).collect()
}

/// Puts whoever comes last in the place of whoever was chosen.
fn newest_first(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let mut plan = honest(seen, store, now);
    let Seen::Gated(gated) = seen else { return plan };
    let Some(pool) = gated.pool.as_deref() else { return plan };
    let mut chosen: Vec<String> = Vec::new();
    let mut swapped: Vec<(String, String)> = Vec::new();
    for action in &plan.actions {
        if let Action::SetDesiredConfig { node, .. } = action {
            chosen.push(node.clone());
        }
    }
    for action in &mut plan.actions {
        let Action::SetDesiredConfig { node, uid, resource_version, config, .. } = action else {
            continue;
        };
        let waits = |other: &&&SeenNode| {
            other.is_done()
                && other.is_ready()
                && other.desired != *config
                && !chosen.contains(&other.name)
                && pool.ledger.get(&other.name).is_none()
        };
        let nodes = labelled(&pool.name, store);
        let Some(last) = nodes.iter().filter(waits).max_by_key(|other| &other.name) else {
            continue;
        };
        swapped.push((node.clone(), last.name.clone()));
        chosen.push(last.name.clone());
        (*node, *uid) = (last.name.clone(), last.uid.clone());
        resource_version.clone_from(&last.resource_version);
    }
    for action in &mut plan.actions {
        if let Action::WriteLedger { operations, .. } = action {
            for value in operations.iter_mut().filter_map(|one| one.get_mut("value")) {
                let mut text = value.as_str().unwrap_or_default().to_owned();
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
    let kind = api::schema::gated_named(api::names::MACHINE_CONFIG_POOL).unwrap();
    let pool = SeenGated::new(kind, &json!({"spec": {"changeManagement": stanza}}));
    gate::gate(&pool, policy.map(Arc::new).as_ref())
}

/// Masters that differ are in the middle of something.
fn begun_by_looks(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let masters = labelled("master", store);
    let differ = masters.iter().any(|node| node.desired != masters[0].desired);
    tampered(seen, store, now, |gated, gate| {
        if differ && gated.pool.as_ref().is_some_and(|pool| pool.name == "master") {
            open(gate);
        }
    })
}

/// One machine that was named lets all others go.
fn named_for_all(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |gated, gate| {
        let Some(pool) = gated.pool.as_deref() else { return };
        if labelled(&pool.name, store).iter().any(|node| node.allowed.is_some()) {
            open(gate);
        }
    })
}

/// While a release is installed, everything for masters belongs to it.
fn release_covers_all(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let kind = api::schema::gated_named(api::names::CLUSTER_VERSION);
    let installing = kind
        .into_iter()
        .flat_map(|kind| store.of_kind(kind))
        .any(|(_, seen)| matches!(seen, Seen::Gated(gated) if !gated.pending.begun.is_empty()));
    tampered(seen, store, now, |gated, gate| {
        if installing && gated.pool.as_ref().is_some_and(|pool| pool.name == "master") {
            open(gate);
        }
    })
}

/// Counts down in a status.
fn restless(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let mut plan = honest(seen, store, now);
    if plan.actions.is_empty() && plan.status.is_none() {
        let version = &seen.identity().resource_version;
        plan.status = Some(tidegate_core::plan::StatusPatch {
            operations: vec![
                json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version}),
                json!({"op": "add", "path": "/status/observedGeneration", "value": now.unix()}),
            ],
        });
    }
    plan
}
