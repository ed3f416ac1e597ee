//! What can somebody do about a gate, a pool or a node? The change that would do it, before anybody sends it; or why there is none.

use api::{kinds, machine::names};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{
        overriding::{self, WantedStanza},
        snapshot::Snapshot,
    },
    document::{key::Key, problem::Problem},
    pool::{seen::SeenPool, steer},
};

use crate::{
    change::Change,
    pool::{find, key},
};

/// Lets a pool go to a configuration, the newest if none is named.
pub fn start(snapshot: &Snapshot, pool: &str, config: Option<&str>) -> Result<Change, String> {
    let pool = find(snapshot, pool)?;
    let patch =
        steer::start(pool, &snapshot.shelf(pool), config).map_err(|refused| told(&refused))?;
    let (patch, undo, note) = with_pause(snapshot, pool, patch);
    let previous =
        patch.pointer("/metadata/annotations").and_then(|all| all.get(names::PREVIOUS_CONFIG));
    Ok(Change {
        object: pool.key(),
        meaning: format!("{} goes to {}, as its gate permits{note}", pool.object(), pinned(&patch)),
        undo,
        way_back: previous
            .filter(|previous| previous.is_string())
            .map(|_| format!("tidegate worker-nodes rollback --pool {}", pool.name)),
        patch,
    })
}

/// Lets a pool go back to the configuration that was recorded when it was last started.
pub fn rollback(snapshot: &Snapshot, pool: &str) -> Result<Change, String> {
    let pool = find(snapshot, pool)?;
    let patch = steer::rollback(pool, &snapshot.shelf(pool)).map_err(|refused| told(&refused))?;
    let (patch, undo, note) = with_pause(snapshot, pool, patch);
    Ok(Change {
        object: pool.key(),
        meaning: format!(
            "{} goes back to {}, as its gate permits{note}",
            pool.object(),
            pinned(&patch)
        ),
        undo,
        way_back: None,
        patch,
    })
}

/// Holds a pool: the same patch as an override, so the policy stays named (GATE-3).
pub fn pause(
    snapshot: &Snapshot,
    pool: &str,
    reason: Option<&str>,
    now: Instant,
) -> Result<Change, String> {
    let change = set_aside(snapshot, &key(pool), WantedStanza::Restrictive, reason, now)?;
    let way_back = Some(format!("tidegate worker-nodes resume --pool {pool}"));
    Ok(Change { way_back, ..change })
}

/// Lets a pool follow its policy again; one that names no policy has nothing to go back to but going on.
pub fn resume(snapshot: &Snapshot, pool: &str, now: Instant) -> Result<Change, String> {
    let key = key(pool);
    let named = snapshot.resource(&key).and_then(|seen| seen.policy());
    let is_older = snapshot.resource(&key).is_some_and(|seen| seen.stanza.is_version_managed());
    let wanted = match named {
        None if !is_older => WantedStanza::Permissive,
        _ => WantedStanza::Clear,
    };
    set_aside(snapshot, &key, wanted, None, now)
}

/// Sets the policy of a resource aside, or back.
pub fn set_aside(
    snapshot: &Snapshot,
    object: &Key,
    wanted: WantedStanza,
    reason: Option<&str>,
    now: Instant,
) -> Result<Change, String> {
    let Some(seen) = snapshot.resource(object) else {
        if snapshot.policy(object).is_some() {
            return Err(format!(
                "{object} is a policy: override a resource that names it, or edit the policy"
            ));
        }
        return Err(format!("there is no {object} in this cluster"));
    };
    if let Some(why) = overriding::led_elsewhere(seen, snapshot) {
        return Err(why);
    }
    let policy = seen.policy().and_then(|named| snapshot.policy(&named).cloned());
    let overriding::StanzaChange { patch, undo, meaning } =
        overriding::change(seen, policy.as_ref(), wanted, reason, now)?;
    Ok(Change { object: object.clone(), meaning, patch, undo, way_back: None })
}

/// Lets a single node go to its pool's target while the pool is held (POOL-7).
pub fn allow(snapshot: &Snapshot, name: &str) -> Result<Change, String> {
    let node =
        snapshot.node(name).ok_or_else(|| format!("there is no Node/{name} in this cluster"))?;
    let pool = snapshot
        .home(node)
        .ok_or_else(|| format!("Node/{name} belongs to no machine config pool, or to several"))?;
    let patch =
        steer::allow(node, pool, &snapshot.shelf(pool)).map_err(|refused| told(&refused))?;
    let target = snapshot.target(pool).unwrap_or_default();
    Ok(Change {
        object: Key::new(&kinds::NODE, None, name),
        meaning: format!(
            "Node/{name} may go to {target}, whatever the gate of {} says",
            pool.object()
        ),
        patch,
        undo: json!({"metadata": {"annotations": {names::ALLOWED_CONFIG: node.allowed}}}),
        way_back: None,
    })
}

/// A problem as a sentence, with its hint on a line of its own.
fn told(problem: &Problem) -> String {
    let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
    let object = problem.object.as_ref().map_or_else(String::new, |object| format!("{object}: "));
    format!("{object}{}{hint}", problem.detail)
}

fn pinned(patch: &Value) -> &str {
    patch.pointer("/spec/machineConfig/name").and_then(Value::as_str).unwrap_or_default()
}

/// The same for a pool that is paused until somebody starts it: the pause ends, and comes back by itself (D4-4). With its way back and a
/// note for whoever reads what it means.
fn with_pause(
    snapshot: &Snapshot,
    pool: &SeenPool,
    mut patch: Value,
) -> (Value, Value, &'static str) {
    let mut undo = as_it_was(pool);
    let waits = snapshot.resource(&pool.key()).is_some_and(|seen| seen.stanza.waits_for_a_start());
    if !waits {
        return (patch, undo, "");
    }
    steer::assisted(&mut patch);
    steer::unassisted(&mut undo);
    (patch, undo, "; it pauses again when every node has arrived")
}

/// The patch that restores what a pool goes to and what it remembers.
fn as_it_was(pool: &SeenPool) -> Value {
    let pin = pool.pin.as_ref().map(|pin| json!({"name": pin.name}));
    json!({
        "metadata": {"annotations": {names::PREVIOUS_CONFIG: pool.previous}},
        "spec": {"machineConfig": pin},
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use tidegate_core::cluster::kinds;

    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    /// A policy that permits Saturdays.
    pub(crate) fn saturdays() -> Value {
        json!({
            "apiVersion": api::names::API_VERSION, "kind": api::names::CHANGE_MANAGEMENT_POLICY,
            "metadata": {"name": "weekend", "generation": 1},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
        })
    }

    /// A pool of one node that has what the pool goes to.
    fn cluster(stanza: &Value) -> Snapshot {
        let role = json!({"node-role.kubernetes.io/worker": ""});
        let mut cluster = Snapshot::default();
        let pool = json!({"metadata": {"name": "worker", "uid": "u", "generation": 1}, "spec": {
            "nodeSelector": {"matchLabels": role}, "configuration": {"name": "rendered-worker-a"},
            "changeManagement": stanza}});
        let config = json!({"metadata": {"name": "rendered-worker-a", "ownerReferences": [
            {"apiVersion": names::API_VERSION, "kind": "MachineConfigPool", "name": "worker", "controller": true, "uid": "u"}]},
            "spec": {}});
        let node = json!({"metadata": {"name": "n", "labels": role, "annotations": {
            names::CURRENT_CONFIG: "rendered-worker-a", names::DESIRED_CONFIG: "rendered-worker-a", names::STATE: "Done"}}});
        cluster.add_written(
            &kinds::CHANGE_MANAGEMENT_POLICY,
            &saturdays(),
            at("2026-11-20T00:00:00Z"),
        );
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool);
        cluster.add(&kinds::MACHINE_CONFIG, &config);
        cluster.add(&kinds::NODE, &node);
        cluster
    }

    fn by_policy() -> Value {
        json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}})
    }

    fn strategy(patch: &Value) -> Option<&str> {
        patch.pointer("/spec/changeManagement/strategy").and_then(Value::as_str)
    }

    /// GATE-3
    #[test]
    fn a_pause_names_its_way_back_and_leaves_the_policy_named() {
        let now = at("2026-11-20T12:00:00Z");
        let paused = pause(&cluster(&by_policy()), "worker", Some("latency"), now).unwrap();
        assert_eq!(strategy(&paused.patch), Some("Restrictive"));
        assert_eq!(paused.patch.pointer("/spec/changeManagement/byPolicy"), None, "stays as it is");
        assert_eq!(strategy(&paused.undo), Some("ByPolicy"));
        let way_back = paused.way_back.as_deref();
        assert_eq!(way_back, Some("tidegate worker-nodes resume --pool worker"));
    }

    #[test]
    fn a_pool_without_a_policy_can_only_go_on() {
        let now = at("2026-11-20T12:00:00Z");
        let check = |stanza: Value, expected: &str| {
            let resumed = resume(&cluster(&stanza), "worker", now).unwrap();
            assert_eq!(strategy(&resumed.patch), Some(expected), "{stanza}");
        };
        let paused = json!({"strategy": "Restrictive", "byPolicy": {"name": "weekend"}});
        check(paused, "ByPolicy");
        check(json!({"strategy": "Restrictive"}), "Permissive");
    }

    #[test]
    fn what_cannot_be_done_says_why() {
        let cluster = cluster(&by_policy());
        let now = at("2026-11-20T12:00:00Z");
        let why = |proposed: Result<Change, String>| proposed.err().unwrap_or_default();
        assert_eq!(
            why(start(&cluster, "infra", None)),
            "there is no MachineConfigPool/infra; the pools are worker"
        );
        assert_eq!(
            why(rollback(&Snapshot::default(), "worker")),
            "this cluster has no machine config pools"
        );
        assert_eq!(
            why(pause(&cluster, "infra", None, now)),
            "there is no MachineConfigPool/infra in this cluster"
        );
        assert_eq!(why(allow(&cluster, "gone")), "there is no Node/gone in this cluster");
        let policy = Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, "weekend");
        assert_eq!(
            why(set_aside(&cluster, &policy, WantedStanza::Restrictive, Some("x"), now)),
            "ChangeManagementPolicy/weekend is a policy: override a resource that names it, or edit the policy"
        );
    }
}
