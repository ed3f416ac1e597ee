//! What does a scrape see? Gauges of every resource, computed when they are asked for, and the counters of the runtime.
//!
//! METR-1 and METR-2 are kept by the core; here they get their names and labels (TIME-2).

use std::sync::Arc;

use api::{
    machine::names::MASTER,
    metrics::{self, Metric},
    names::THE_CLUSTER,
    reach::Mode,
    schema::{Role, System},
};
use runtime::{
    store::Store,
    telemetry::page::{Page, written},
};
use schedule::Instant;
use tidegate_core::{
    cluster::{
        decide::{ahead, outside},
        gauge::{self, Gauges},
        kinds::{CLUSTER_VERSION, MACHINE_CONFIG_POOL, Surroundings, machine_config_pool::planned},
        seen::{Seen, SeenGated},
    },
    document::key::Key,
    gate::{Gate, enforced::Enforcement, proof::Proofs},
    policy::stanza::Form,
};

use crate::run::View;

/// The page.
pub fn page(view: &View) -> String {
    let now = view.clock.now();
    let store = view.caches.store();
    // Eight lines of about 150 bytes for each resource.
    let mut page = Page::with_room(store.snapshot().len() * 1_200 + 8_192);
    let (mut policies, mut gated) = (Vec::new(), Vec::new());
    for (key, seen) in store.snapshot().all() {
        match seen {
            Seen::Policy(policy) => policies.push((key, policy)),
            Seen::Part(_) => {}
            Seen::Gated(resource) => {
                let (resource, gate) = &asked(view, resource, &store);
                let [kind, name, namespace] = object(key);
                gated.push(Row {
                    object: written('{', "kind", kind) + &written(',', "object", name),
                    system: system(key),
                    namespace: written(',', metrics::NAMESPACE, namespace),
                    gauges: gauge::gauges(resource, gate, now),
                    governed: gate.form() != Form::NoStanza || resource.behavior.is_some(),
                    overridden: gate.overrides(now),
                    removed: is_removed(resource, gate),
                    enforced: (gate.form() != Form::NoStanza && is_to_be_kept(resource))
                        .then(|| resource.enforcement().unwrap_or_default()),
                    outside: outside::recorded(resource),
                    // Where updates are started nothing is said of what is well.
                    ahead: ahead::recorded(resource)
                        .or_else(|| is_control_plane(key).then_some(None))
                        .filter(|_| view.starts_updates())
                        .map(|at| at.map_or(0, Instant::unix)),
                });
            }
        }
    }
    for (metric, value) in gauge::FIGURES {
        page.begin(metric);
        for row in &gated {
            let labels = [&*row.object, row.system, &*row.namespace, "}"];
            page.prepared(metric, &labels, value(&row.gauges));
        }
    }
    page.begin(&metrics::STRATEGY_ENABLED);
    for row in &gated {
        for (strategy, value) in row.gauges.strategies() {
            let labels =
                [&*row.object, row.system, ",strategy=\"", strategy, "\"", &*row.namespace, "}"];
            page.prepared(&metrics::STRATEGY_ENABLED, &labels, value);
        }
    }
    page.begin(&metrics::ENFORCED);
    for row in &gated {
        if let Some(enforced) = row.enforced {
            let labels = [&*row.object, row.system, &*row.namespace, "}"];
            page.prepared(&metrics::ENFORCED, &labels, enforced.figure());
        }
    }
    page.begin(&metrics::POLICY_PROVEN);
    // What one saw who led before is old, and would hide what the leader sees.
    let proofs = store.proofs().filter(|_| view.leads());
    for (policy, tried) in proofs.into_iter().flat_map(Proofs::all) {
        let labels = [&*written('{', "policy", policy), "}"];
        page.prepared(&metrics::POLICY_PROVEN, &labels, tried.verdict.figure());
    }
    build(&mut page, view);
    view.telemetry.write(&mut page);
    ages(&mut page, view, &store);
    page.begin(&metrics::POLICY_READY);
    for (key, policy) in policies {
        let ready = f64::from(policy.ready().is_ok());
        page.sample(&metrics::POLICY_READY, &object(key), ready);
    }
    flags(&mut page, &metrics::OVERRIDE_IN_FORCE, &gated, |row| row.overridden);
    flags(&mut page, &metrics::STANZA_REMOVED, &gated, |row| row.removed);
    let outside = &metrics::INITIATED_OUTSIDE_WINDOW_TIMESTAMP_SECONDS;
    page.begin(outside);
    for row in &gated {
        if let Some(began) = row.outside {
            page.prepared(outside, &[&*row.object, &*row.namespace, "}"], began.unix());
        }
    }
    let ahead = &metrics::SKEW_BLOCKS_AT_TIMESTAMP_SECONDS;
    page.begin(ahead);
    for row in &gated {
        if let Some(at) = row.ahead {
            page.prepared(ahead, &[&*row.object, &*row.namespace, "}"], at);
        }
    }
    drop(store);
    page.begin(&metrics::STATUS_PRUNED);
    for key in view.progress.all_pruned() {
        page.sample(&metrics::STATUS_PRUNED, &object(&key), 1.0);
    }
    view.telemetry.write_progress(&mut page);
    page.finish()
}

/// A resource with its gate. A pool that is rolled out here has pending what the rollout says (POOL-6).
fn asked(view: &View, resource: &Arc<SeenGated>, store: &Store) -> (Arc<SeenGated>, Gate) {
    let gate = store.snapshot().gate(resource);
    let plan = |around: &Surroundings<'_>| planned(resource, &gate, around, view.clock.now());
    let planned = view.rolls_out().then(|| store.around(&resource.identity.key, plan)).flatten();
    let Some(planned) = planned else { return (Arc::clone(resource), gate) };
    (Arc::new(SeenGated { pending: planned.pending, ..(**resource).clone() }), gate)
}

/// A resource, with its labels written once for all of its lines.
struct Row {
    object: String,
    system: &'static str,
    namespace: String,
    gauges: Gauges,
    /// Whether it is under change management, or was.
    governed: bool,
    overridden: bool,
    removed: bool,
    /// What its condition says, so that every replica says the same.
    enforced: Option<Enforcement>,
    outside: Option<Instant>,
    /// What its condition says of the update that is wished for (CV-3).
    ahead: Option<i64>,
}

/// Whether anything is meant to refuse: a gate on what others own may only warn or audit.
fn is_to_be_kept(resource: &SeenGated) -> bool {
    let gate = resource.gate.as_deref();
    !gate.is_some_and(|gate| matches!(gate.mode, Mode::Warn | Mode::Audit))
}

fn object(key: &Key) -> [&str; 3] {
    [key.kind().name, &key.name, key.namespace.as_deref().unwrap_or_default()]
}

/// Which half of a cluster changes with a resource, as a label. The pool of the masters is the control plane, though its kind is that
/// of nodes.
fn system(key: &Key) -> &'static str {
    let masters = *key.kind() == MACHINE_CONFIG_POOL.kind && &*key.name == MASTER;
    match key.kind().role {
        Role::Policy | Role::Part | Role::Freeze | Role::Override | Role::Guardrail => "",
        Role::Gated { system: System::WorkerNodes, .. } if !masters => ",system=\"worker-nodes\"",
        Role::Gated { system: System::Workloads, .. } => ",system=\"workloads\"",
        Role::Gated { .. } => ",system=\"control-plane\"",
    }
}

/// Whether updates of it are started here, where any are.
fn is_control_plane(key: &Key) -> bool {
    *key.kind() == CLUSTER_VERSION.kind && &*key.name == THE_CLUSTER
}

/// Whether there was a stanza and there is none any more: the status still tells of it.
fn is_removed(resource: &SeenGated, gate: &Gate) -> bool {
    let was_there = resource.behavior.is_some() && !resource.never_had_a_stanza();
    gate.form() == Form::NoStanza && was_there
}

fn flags(page: &mut Page, metric: &Metric, rows: &[Row], is: impl Fn(&Row) -> bool) {
    page.begin(metric);
    for row in rows.iter().filter(|row| row.governed) {
        page.prepared(metric, &[&*row.object, &*row.namespace, "}"], i64::from(is(row)));
    }
}

fn build(page: &mut Page, view: &View) {
    page.begin(&metrics::BUILD);
    page.sample(&metrics::BUILD, &[env!("CARGO_PKG_VERSION")], 1.0);
    page.begin(&metrics::LEADER);
    page.sample(&metrics::LEADER, &[], f64::from(view.leads()));
}

fn ages(page: &mut Page, view: &View, store: &Store) {
    page.begin(&metrics::CACHE_AGE_SECONDS);
    for kind in view.caches.observed() {
        if let Some(age) = store.age(kind) {
            let seconds = (age.as_secs_f64() * 1000.0).round() / 1000.0;
            page.sample(&metrics::CACHE_AGE_SECONDS, &[kind.name], seconds);
        }
    }
}
