//! Would a bug be found? Operators that were tampered with from outside, each with the promise that must catch it.
//!
//! Nothing in the product can be switched to misbehave: a line between operator and server bends requests, a row of the table of
//! controllers decides wrongly, a clock is wrong. A checker that nobody has seen fail is no evidence.

use api::machine::names::{LAST_APPLIED_DRAIN, LEDGER, PERMIT_UNTIL};
use operator::{
    controllers::{MANAGING_POOLS, gate_of},
    rollout,
};
use runtime::{reconcile::Controller, store::Store, tempo::Tempo};
use schedule::{Instant, TimeSet};
use serde_json::{Value, json};
use std::time::Duration;
use tidegate_core::{
    decide,
    gate::{Form, Gate},
    plan::Plan,
    pool::{
        self, Action, PoolView, Topology, capacity::Limit, membership::Membership,
        membership::membership, merge::Base, render::chosen, source::Rendered, source::SeenConfig,
    },
    seen::{Seen, SeenGated},
};

use super::{
    cast::Make,
    stage::Admission,
    story::Plot,
    weather::{Bend, Packet},
};

/// A bug, and the promise that it breaks.
pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) plot: Plot,
}

/// Every bug that must be found.
pub(crate) fn planted() -> Vec<Planted> {
    assert_eq!(MANAGING_POOLS[POOLS].kind.name, api::names::MACHINE_CONFIG_POOL);
    let honest = Plot::honest();
    let bent = |bend: Bend| Plot { make: Make { bend, ..honest.make }, ..honest };
    let deciding = |controllers: &'static [Controller]| Plot {
        make: Make { controllers, ..honest.make },
        ..honest
    };
    let unguarded = |plot: Plot| Plot { admission: Admission::Missing, ..plot };
    let of = |name, rule, plot| Planted { name, rule, plot };
    vec![
        of("sends a mark again by itself", "EXEC-4", bent(insist)),
        of("forgets the version it planned from", "EXEC-4", bent(forget_versions)),
        of("marks without a reservation", "EXEC-1", bent(lose_reservations)),
        of("marks minutes later, and the server does not look", "GATE-7", unguarded(bent(dawdle))),
        of("lengthens its permits", "GATE-7", bent(stretch_permits)),
        of("has a clock that is an hour ahead", "GATE-7", unguarded(Plot { off: 3_600, ..honest })),
        of("never asks the gate", "GATE-7", deciding(ALWAYS_OPEN)),
        of("overlooks exclusions", "GATE-7", deciding(WITHOUT_EXCLUSIONS)),
        of("lets one machine more go", "POOL-2", deciding(ONE_MORE)),
        of("takes the newest first", "POOL-3", deciding(NEWEST_FIRST)),
        of("overlooks what somebody chose", "POOL-4", deciding(WITHOUT_PIN)),
        of("passes over a machine for ever", "LIVE-2", deciding(PASSING_OVER)),
        of("never says that a machine is empty", "LIVE-1", bent(keep_silent)),
        of(
            "forgets to wake",
            "LIVE-2",
            Plot { make: Make { controllers: ASLEEP, tempo: drowsy, ..honest.make }, ..honest },
        ),
        of("writes although nothing changed", "STAT-3", deciding(RESTLESS)),
    ]
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

const ALWAYS_OPEN: &[Controller] = &with(always_open);
const WITHOUT_EXCLUSIONS: &[Controller] = &with(without_exclusions);
const ONE_MORE: &[Controller] = &with(one_more);
const NEWEST_FIRST: &[Controller] = &with(newest_first);
const WITHOUT_PIN: &[Controller] = &with(without_pin);
const PASSING_OVER: &[Controller] = &with(passing_over);
const ASLEEP: &[Controller] = &with(asleep);
const RESTLESS: &[Controller] = &with(restless);

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
    let mut gate = gate_of(seen, gated, store);
    let mut gated = SeenGated::clone(gated);
    tamper(&mut gated, &mut gate);
    let planned = rollout::planned(&gated, &gate, store, now).unwrap_or_default();
    decide::pool(&gated, planned, &gate, now)
}

fn always_open(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |_, gate| {
        (gate.set, gate.form) = (TimeSet::always(), Form::Permissive);
    })
}

fn without_exclusions(seen: &Seen, store: &Store, now: Instant) -> Plan {
    tampered(seen, store, now, |_, gate| {
        let windows = gate.lowered().and_then(|lowered| lowered.scheduled.windows.clone());
        if let (Form::ByPolicy, Some(windows)) = (gate.form, windows) {
            gate.set = windows;
        }
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

/// Turns the ages of configurations round.
fn newest_first(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    let Some(own) = gated.pool.as_deref() else { return Plan::default() };
    let gate = gate_of(seen, gated, store);
    let (mut sources, mut rendered) = (Vec::new(), Vec::new());
    for config in store.configs() {
        match config {
            SeenConfig::Source(source) => sources.push(source),
            SeenConfig::Rendered(config) => {
                let turned = |at: Instant| Instant::EPOCH.saturating_add(-at.unix());
                let created = config.created.map(turned);
                rendered.push(Rendered { created, ..config.clone() });
            }
        }
    }
    let pools: Vec<_> = store.pools().collect();
    let nodes = store.machines().map(|machine| &machine.node);
    let mine =
        nodes.filter(|node| membership(node, pools.iter().copied()) == Membership::Of(&own.name));
    let base = Base { controller_version: "0.1.0".into(), ..Base::default() };
    let rendering = store.rendering(own, &base);
    let view = PoolView {
        pool: own,
        nodes: &mine.collect::<Vec<_>>(),
        rendered: &rendered.iter().collect::<Vec<_>>(),
        sources: &chosen(own, sources),
        rendering: &rendering,
        base: &base,
        operator_node: None,
        refusals: store.refusals(),
        held_back: None,
        waits_for: None,
        control_plane_update: None,
        seconds_ahead: 0,
        topology: Topology::Several,
    };
    decide::pool(gated, pool::decide(&view, &gate, now), &gate, now)
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
