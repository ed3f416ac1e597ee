//! What do the verbs of the command do? The same functions, on the cluster of the script.

use std::fmt::Write as _;

use serde_json::Value;
use tidegate_core::{
    cluster::{
        overriding::{self, WantedStanza},
        phase,
    },
    document::{
        key,
        problem::{Object, Problem},
    },
    pool::{seen::SeenPool, steer},
};

use super::live::Live;

/// Whether these words are a verb: `node NAME ROLE` is one that joins.
pub(crate) fn is_one(words: &[&str]) -> bool {
    !matches!(words, ["node", name, ..] if *name != "allow")
}

/// Runs a verb; gives back what it means, or why it was refused.
pub(crate) async fn run(words: &[&str], live: &mut Live) -> Result<String, String> {
    match words {
        ["worker-nodes", "start", config @ ..] => {
            let fleet = live.snapshot().await;
            let pool = fleet.pool("worker").ok_or("there is no pool worker")?;
            let wanted = config.first().copied();
            let patch = steer::start(pool, &fleet.shelf(pool), wanted);
            steered(pool, patch, "goes to", live).await
        }
        ["worker-nodes", "rollback"] => {
            let fleet = live.snapshot().await;
            let pool = fleet.pool("worker").ok_or("there is no pool worker")?;
            let patch = steer::rollback(pool, &fleet.shelf(pool));
            steered(pool, patch, "goes back to", live).await
        }
        ["worker-nodes", "pause"] => gated(WantedStanza::Restrictive, None, live).await,
        ["worker-nodes", "pause", "because", reason] => {
            gated(WantedStanza::Restrictive, Some(reason), live).await
        }
        ["worker-nodes", "resume"] => gated(WantedStanza::Clear, None, live).await,
        ["worker-nodes", "status"] => Ok(machines(live).await),
        ["node", "allow", name] => allow(name, live).await,
        ["prune"] => Ok(prune(live).await),
        words => Err(format!("{words:?} is no verb")),
    }
}

async fn steered(
    pool: &SeenPool,
    patch: Result<Value, Box<Problem>>,
    goes: &str,
    live: &mut Live,
) -> Result<String, String> {
    let patch = match patch {
        Ok(patch) => patch,
        Err(refused) => return Ok(refusal(&refused)),
    };
    let mut patch = patch;
    let world = live.snapshot().await;
    let waits = world.resource(&pool.key()).is_some_and(|seen| seen.stanza.waits_for_a_start());
    if waits {
        steer::assisted(&mut patch);
    }
    live.change(&format!("mcp/{}", pool.name), "", &patch).await?;
    let target = patch.pointer("/spec/machineConfig/name").and_then(Value::as_str);
    Ok(format!("{} {goes} {}, as its gate permits\n", pool.object(), target.unwrap_or("nothing")))
}

async fn gated(
    wanted: WantedStanza,
    reason: Option<&str>,
    live: &mut Live,
) -> Result<String, String> {
    let world = live.snapshot().await;
    let object = key::named("mcp/worker", None)?;
    let seen = world.resource(&object).ok_or("there is no such resource")?;
    let policy = seen.policy().and_then(|named| world.policy(&named).cloned());
    // As the verb does: a pool that names no policy has nothing to go back to but going on.
    let wanted = match wanted {
        WantedStanza::Clear if seen.policy().is_none() && !seen.stanza.is_version_managed() => {
            WantedStanza::Permissive
        }
        wanted => wanted,
    };
    let change = overriding::change(seen, policy.as_ref(), wanted, reason, live.now())?;
    live.change("mcp/worker", "", &change.patch).await?;
    Ok(format!("{}\n", change.meaning))
}

async fn allow(name: &str, live: &mut Live) -> Result<String, String> {
    let fleet = live.snapshot().await;
    let node = fleet.node(name).ok_or("there is no such node")?;
    let pool = fleet.home(node).ok_or("it belongs to no pool")?;
    match steer::allow(node, pool, &fleet.shelf(pool)) {
        Err(refused) => Ok(refusal(&refused)),
        Ok(patch) => {
            let target = fleet.target(pool).unwrap_or_default();
            live.change(&format!("node/{name}"), "", &patch).await?;
            Ok(format!("Node/{name} may go to {target}\n"))
        }
    }
}

fn refusal(problem: &Problem) -> String {
    let object = problem.object.as_ref().map(Object::to_string).unwrap_or_default();
    let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
    format!("refused: {object}: {}{hint}\n", problem.detail)
}

async fn machines(live: &Live) -> String {
    let fleet = live.snapshot().await;
    let mut shown = String::new();
    for pool in fleet.pools() {
        let _ = writeln!(
            shown,
            "{} goes to {}",
            pool.object(),
            fleet.target(pool).unwrap_or("nothing")
        );
        for machine in phase::machines(&fleet, pool) {
            let (name, phase) = (&machine.node.name, &machine.phase);
            let detail = phase.detail().map_or_else(String::new, |detail| format!(": {detail}"));
            let _ = writeln!(shown, "  {name} {}{detail}", phase.as_str());
        }
    }
    shown
}

/// What may be deleted, and why the rest may not (POOL-9).
async fn prune(live: &Live) -> String {
    let fleet = live.snapshot().await;
    let mut verdicts = fleet.prune();
    // By age and not by name, which is a hash.
    let age = |name: &str| fleet.pools().map(|pool| fleet.shelf(pool).age(name)).max();
    verdicts.sort_by_key(|verdict| age(verdict.config));
    let mut shown = String::new();
    for verdict in verdicts {
        let why: Vec<String> = verdict.kept_by.iter().map(ToString::to_string).collect();
        let why = if why.is_empty() { "may be deleted".into() } else { why.join("; ") };
        let _ = writeln!(shown, "{}: {why}", verdict.config);
    }
    shown
}
