//! `tidegate sandbox --tour`: what does all this do, in five minutes?
//!
//! Nothing is acted. Each step types the commands that anybody would type (they are verbs of this program, run on the sandbox), shows
//! what they print, and waits until the cluster has done what the step is about. Without a terminal nobody is asked to go on, so the
//! same tour runs in scripts and tests.

mod hosted;
mod steps;

use std::path::Path;

use anyhow::{Context as _, bail};
use api::machine::names::DESIRED_CONFIG;
use crossterm::{
    event::{self, Event, KeyCode},
    terminal,
};
use schedule::Instant;
use serde_json::{Value, json};
use sim::dial::Turn;
use tidegate_core::{
    cluster::{
        overview,
        phase::{self, Phase},
        snapshot::Snapshot,
    },
    gate::{
        enforced::Enforcement,
        pending::{Pending, Waiting},
    },
    policy::verdict::Verdict,
    pool::seen::SeenPool,
    release::Progress,
};
use views::{change::kubectl, drawing::Style, text, yaml};

use self::steps::{Act, Goal, POOL, STEPS, TourStop};
use super::{Open, live};
use crate::{
    cluster::{Cluster, Extent, Reach},
    edge::{Edge, Seat},
    output::Output,
    verbs,
};

/// When a tour begins unless it was told: a Wednesday morning, so that the weekend is some days away.
pub(super) const BEGINS: &str = "2026-11-18T09:00:00Z";

/// How many seconds a step may take. A node takes minutes of the sandbox, which are seconds here.
const PATIENCE: i64 = 180;

/// Leads through all steps.
pub(super) fn lead(open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    through(STEPS, open, edge)
}

/// The same through a cluster that hosts others.
pub(super) fn lead_hosted(open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    through(hosted::STEPS, open, edge)
}

fn through(steps: &[TourStop], open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    let cluster = Reach::of(&open.kubeconfig).connect()?;
    for (number, step) in (1..).zip(steps) {
        let head = format!("── {number} of {} ── {}", steps.len(), step.title);
        let head = edge.colour.paint(Style::Strong, &head);
        writeln!(edge.stdout, "\n{head}\n\n{}\n", step.text)?;
        for act in step.acts {
            perform(act, &cluster, open, edge)
                .with_context(|| format!("the tour ends at step {number}, {}", step.title))?;
        }
        edge.stdout.flush()?;
        if edge.seat == Seat::Terminal && !goes_on(number < steps.len(), edge)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Waits for a key; whether somebody wants to go on.
fn goes_on(more: bool, edge: &mut Edge) -> anyhow::Result<bool> {
    let ask = if more { "Enter goes on, q ends" } else { "That was all. Enter ends" };
    write!(edge.stdout, "{} ", edge.colour.paint(Style::Faint, ask))?;
    edge.stdout.flush()?;
    terminal::enable_raw_mode()?;
    let wanted = loop {
        match event::read() {
            Ok(Event::Key(key)) => match live::wish(key) {
                live::Wish::End => break Ok(false),
                _ if key.code == KeyCode::Enter => break Ok(true),
                _ => {}
            },
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    terminal::disable_raw_mode()?;
    writeln!(edge.stdout)?;
    Ok(wanted?)
}

fn perform(act: &Act, cluster: &Cluster, open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    match act {
        Act::Apply(object) => {
            let object = object();
            let text = text::indented(2, &yaml::write(&object));
            type_in("kubectl apply --server-side -f - <<EOF", edge)?;
            writeln!(edge.stdout, "{text}\n  EOF\n")?;
            cluster.apply(&object)
        }
        Act::Patch(change) => {
            let (object, change) = (steps::pool(), change());
            type_in(&kubectl(&object, &change), edge)?;
            writeln!(edge.stdout)?;
            cluster.patch(&object, &change)
        }
        Act::PatchOf(change) => {
            let (object, change) = change();
            type_in(&kubectl(&object, &change), edge)?;
            writeln!(edge.stdout)?;
            cluster.patch(&object, &change)
        }
        Act::Inside(words) => {
            let there = hosted::guest(open)?;
            type_in(
                &format!("tidegate {} --kubeconfig {}", steps::shell(words), hosted::FILE),
                edge,
            )?;
            let said = verb(words, &there.kubeconfig, edge)?;
            Ok(writeln!(edge.stdout, "{}\n", text::indented(2, &said))?)
        }
        Act::Nodes => {
            type_in(&format!("kubectl get nodes --kubeconfig {}", hosted::FILE), edge)?;
            let lines = hosted::guest(open)?.nodes().into_iter();
            let lines: Vec<String> =
                lines.map(|(name, release)| format!("{name:<16} {release}")).collect();
            Ok(writeln!(edge.stdout, "{}\n", text::indented(2, &lines.join("\n")))?)
        }
        Act::Image(image) => {
            type_in(&steps::set_image(image), edge)?;
            writeln!(edge.stdout)?;
            cluster.patch(&steps::deployment(), &steps::image(image))
        }
        Act::Read(path, read) => {
            type_in(&steps::get(path), edge)?;
            let deployment = cluster.read(&steps::deployment())?;
            Ok(writeln!(edge.stdout, "{}\n", text::indented(2, read(&deployment)))?)
        }
        Act::Order(machine) => order(machine, cluster, edge),
        Act::Verb(words) => {
            type_in(&format!("tidegate {}", steps::shell(words)), edge)?;
            let said = verb(words, &open.kubeconfig, edge)?;
            writeln!(edge.stdout, "{}", text::indented(2, &said))?;
            writeln!(edge.stdout)?;
            Ok(())
        }
        Act::Set(at) => {
            type_in(&format!("tidegate sandbox clock set {at}"), edge)?;
            writeln!(edge.stdout)?;
            open.dial.turn(Turn::Set(Instant::parse(at)?));
            Ok(())
        }
        Act::Speed(speed) => {
            type_in(&format!("tidegate sandbox clock speed {speed}"), edge)?;
            writeln!(edge.stdout)?;
            open.dial.turn(Turn::Speed(*speed));
            Ok(())
        }
        Act::Until(goal) => until(*goal, cluster, open, edge),
    }
}

/// Tries what people try who are in a hurry, and shows what the server says.
fn order(machine: &str, cluster: &Cluster, edge: &mut Edge) -> anyhow::Result<()> {
    let snapshot = cluster.snapshot(Extent::Pools)?;
    let goal = snapshot.pool(POOL).and_then(SeenPool::goal).context("the pool goes nowhere")?;
    type_in(&format!("kubectl annotate node {machine} --overwrite {DESIRED_CONFIG}={goal}"), edge)?;
    let change = json!({"metadata": {"annotations": {DESIRED_CONFIG: goal}}});
    match cluster.patch(&steps::machine(machine), &change) {
        Ok(()) => bail!("the server let {machine} go, though its pool is held"),
        Err(refused) => Ok(writeln!(edge.stdout, "{}\n", text::indented(2, &refused.to_string()))?),
    }
}

fn type_in(command: &str, edge: &mut Edge) -> anyhow::Result<()> {
    let command = edge.colour.paint(Style::Strong, &format!("$ {command}"));
    Ok(writeln!(edge.stdout, "{command}")?)
}

/// What a verb of this program prints about the sandbox.
fn verb(words: &[&str], kubeconfig: &Path, edge: &mut Edge) -> anyhow::Result<String> {
    let there = ["--kubeconfig".into(), kubeconfig.as_os_str().to_owned()];
    let words = ["tidegate"].iter().chain(words).map(Into::into).chain(there);
    let matches = verbs::command().try_get_matches_from(words)?;
    let Output { text, talk, .. } = verbs::run(&matches, edge)?;
    Ok(talk + &text)
}

fn until(goal: Goal, cluster: &Cluster, open: &Open, edge: &mut Edge) -> anyhow::Result<()> {
    let deadline = (edge.clock)().saturating_add(PATIENCE);
    let clock = edge.clock;
    let holds = |snapshot: &Snapshot, now: Instant| match goal {
        Goal::Proven | Goal::Queued | Goal::RolledOut => {
            rollout_reached(goal, cluster, snapshot, now)
        }
        Goal::Asked | Goal::Begun | Goal::Updated => plane_reached(goal, snapshot),
        Goal::Seen(holds, _) => holds(snapshot),
        Goal::Joined(nodes, release) => hosted::guest(open).is_ok_and(|guest| {
            let has = guest.nodes().iter().filter(|(_, has)| has == release).count();
            has >= nodes
        }),
        _ => pool_reached(goal, snapshot, now),
    };
    let reached = cluster.until(holds, || clock() < deadline, edge)?;
    if !reached {
        bail!(
            "timed out after {PATIENCE} s waiting for this: {}\n  hint: on a busy computer try again; `tidegate sandbox` without --tour shows what happens",
            goal.as_words()
        );
    }
    Ok(())
}

fn pool_reached(goal: Goal, snapshot: &Snapshot, now: Instant) -> bool {
    let Some(pool) = snapshot.pool(POOL) else { return false };
    let Some(seen) = snapshot.resource(&pool.key()) else { return false };
    let row = overview::resource(snapshot, seen, now);
    let phases: Vec<Phase> =
        phase::machines(snapshot, pool).into_iter().map(|machine| machine.phase).collect();
    let done = phases.iter().filter(|phase| **phase == Phase::Done).count();
    match goal {
        Goal::Held => row.verdict == Verdict::Held,
        Goal::Pending => row.verdict == Verdict::Held && !row.pending.waiting.is_empty(),
        Goal::Done(least) => done >= least,
        Goal::AllDone => !phases.is_empty() && done == phases.len(),
        Goal::NobodyMoves => {
            phases.iter().all(|phase| matches!(phase, Phase::Done | Phase::Waiting))
        }
        _ => false,
    }
}

/// A rollout waits when its gate says so and its controller has been refused.
fn rollout_reached(goal: Goal, cluster: &Cluster, snapshot: &Snapshot, now: Instant) -> bool {
    let Ok(deployment) = cluster.read(&steps::deployment()) else { return false };
    if let Goal::RolledOut = goal {
        return rolled_out(&deployment);
    }
    let Some(seen) = snapshot.resource(&steps::gate()) else { return false };
    let row = overview::resource(snapshot, seen, now);
    if let Goal::Proven = goal {
        return row.enforced == Some(Enforcement::Proven);
    }
    row.verdict == Verdict::Held
        && waits(&row.pending)
        && steps::refusal(&deployment).contains("held by")
}

/// Whether the Deployment is among what waits for its gate.
fn waits(pending: &Pending) -> bool {
    let name = steps::deployment().name;
    pending.waiting.iter().any(|waiting| match waiting {
        Waiting::Reached { names, .. } => names.iter().any(|one| one.ends_with(&*name)),
        _ => false,
    })
}

/// Whether a Deployment has all the pods that it wants, and no others.
fn rolled_out(deployment: &Value) -> bool {
    let at = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_i64);
    let wanted = at("/spec/replicas");
    let counts = ["replicas", "updatedReplicas", "availableReplicas"];
    counts.iter().all(|count| at(&format!("/status/{count}")) == wanted)
        && at("/status/observedGeneration") == at("/metadata/generation")
}

fn plane_reached(goal: Goal, snapshot: &Snapshot) -> bool {
    let Some(update) = snapshot.control_plane_update() else { return false };
    let has = |state: Progress| {
        let newest = update.plane.history.first();
        newest.is_some_and(|newest| {
            newest.release.is_same(&update.plane.accepted) && newest.progress == state
        })
    };
    match goal {
        Goal::Asked => update.plane.waiting().is_some() && update.plane.pin.is_some(),
        Goal::Begun => update.plane.mark_of_newest().is_some(),
        _ => has(Progress::Completed) && update.plane.mark_of_newest().is_some(),
    }
}
