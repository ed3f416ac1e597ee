//! `tidegate worker-nodes`: how does somebody steer the machines of a pool?

use std::{fmt::Write as _, time::Duration};

use api::{kinds, machine::names};
use clap::{Args, FromArgMatches as _, Subcommand};
use schedule::Instant;
use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::{
    explain::change::each,
    key::Key,
    overriding::{self, Wanted},
    overview::{self, Row},
    phase::{self, Machine, Phase},
    pool::{seen::SeenPool, steer},
    problem::Problem,
    snapshot::Snapshot,
    verdict::Verdict,
};
use views::{
    drawing::{Colour, Style},
    items::Items,
    safe::printable,
    text,
};

use super::{
    Listed, Verb,
    change::{Change, Manner, on_what_is_so},
};
use crate::{
    args::{At, Format, Formats},
    cluster::{Cluster, Extent, Reach, Shown},
    edge::Edge,
    output::{self, Output},
};

/// How long a follower sleeps at most.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);

/// How wide a bar of progress is.
const BAR: usize = 20;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "worker-nodes",
        about: "Steer the machines of a pool: start, pause, resume, roll back, and see how far each is",
        more: "The policy stays named whatever is done here. Patches are printed, and how to undo them; with --dry-run nothing\n\
               else happens.\n\n\
               Examples:\n  \
               tidegate worker-nodes status -w\n  \
               tidegate worker-nodes start --pool infra\n  \
               tidegate worker-nodes start rendered-worker-5f1d --dry-run\n  \
               tidegate worker-nodes pause --reason \"latency is up\"\n  \
               tidegate worker-nodes resume\n  \
               tidegate worker-nodes rollback",
        listed: Listed::Yes,
        args: WorkerNodes::augment_args,
        run: |matches, edge| run(&WorkerNodes::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct WorkerNodes {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand, Debug)]
enum Step {
    /// Let a pool go to a configuration, the newest if none is named, and record what it had
    Start {
        /// The rendered configuration [default: the newest]
        #[arg(value_name = "CONFIG")]
        config: Option<String>,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Begin no more machines, whatever the policy says; those that have begun finish
    Pause {
        /// Why, in your own words; shown wherever the pause is
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Follow the policy again, or go on for ever if none is named
    Resume {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Go back to the configuration that was recorded when the pool was last started
    Rollback {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Show pools and machines: phase, progress, what blocks, what is next
    Status {
        /// Only this pool
        #[arg(long, value_name = "NAME")]
        pool: Option<String>,
        /// Keep looking, and show what changes; Ctrl-C ends it
        #[arg(short, long, conflicts_with = "at")]
        watch: bool,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        at: At,
        #[command(flatten)]
        formats: Formats,
    },
}

/// Which pool.
#[derive(Args, Debug)]
struct Which {
    /// The pool
    #[arg(long, value_name = "NAME", default_value = "worker")]
    pool: String,
    #[command(flatten)]
    reach: Reach,
}

fn run(args: &WorkerNodes, edge: &mut Edge) -> anyhow::Result<Output> {
    match &args.step {
        Step::Start { config, which, manner } => {
            on_what_is_so(|| start(which, config.as_deref(), manner))
        }
        Step::Rollback { which, manner } => on_what_is_so(|| rollback(which, manner)),
        Step::Pause { reason, which, manner } => {
            on_what_is_so(|| steered(which, Wanted::Restrictive, reason.as_deref(), manner, edge))
        }
        Step::Resume { which, manner } => {
            on_what_is_so(|| steered(which, Wanted::Clear, None, manner, edge))
        }
        Step::Status { pool, watch, reach, at, formats } => {
            let cluster = reach.connect()?;
            let pool = pool.as_deref();
            if *watch {
                return follow(&cluster, pool, formats.output, edge);
            }
            let at = at.given().unwrap_or_else(|| cluster.now(edge));
            let seen = seen(&cluster.snapshot(Extent::Rollouts)?, pool, at)?;
            Ok(Output::done(written(&seen, formats.output, at, edge.colour)?))
        }
    }
}

fn start(which: &Which, config: Option<&str>, manner: &Manner) -> anyhow::Result<Output> {
    let cluster = which.reach.connect()?;
    let snapshot = cluster.snapshot(Extent::Pools)?;
    let pool = found(&snapshot, &which.pool)?;
    let patch =
        steer::start(pool, &snapshot.shelf(pool), config).map_err(|refused| told(&refused))?;
    let goes_to = pinned(&patch);
    let previous =
        patch.pointer("/metadata/annotations").and_then(|all| all.get(names::PREVIOUS_CONFIG));
    let change = Change {
        object: &pool.key(),
        meaning: format!("{} goes to {goes_to}, as its gate permits", pool.object()),
        undo: as_it_was(pool),
        way_back: previous
            .filter(|previous| previous.is_string())
            .map(|_| format!("tidegate worker-nodes rollback --pool {}", pool.name)),
        patch,
    };
    manner.make(&change, &cluster)
}

fn rollback(which: &Which, manner: &Manner) -> anyhow::Result<Output> {
    let cluster = which.reach.connect()?;
    let snapshot = cluster.snapshot(Extent::Pools)?;
    let pool = found(&snapshot, &which.pool)?;
    let patch = steer::rollback(pool, &snapshot.shelf(pool)).map_err(|refused| told(&refused))?;
    let change = Change {
        object: &pool.key(),
        meaning: format!("{} goes back to {}, as its gate permits", pool.object(), pinned(&patch)),
        undo: as_it_was(pool),
        way_back: None,
        patch,
    };
    manner.make(&change, &cluster)
}

/// Pauses or resumes: the same patch as an override, so the policy stays named (GATE-3).
fn steered(
    which: &Which,
    wanted: Wanted,
    reason: Option<&str>,
    manner: &Manner,
    edge: &Edge,
) -> anyhow::Result<Output> {
    let cluster = which.reach.connect()?;
    let snapshot = cluster.snapshot(Extent::Gates)?;
    let object = object_of(&which.pool);
    let Some(seen) = snapshot.resource(&object) else {
        anyhow::bail!("there is no {object} in this cluster");
    };
    if let Some(why) = overriding::led_elsewhere(seen, &snapshot) {
        anyhow::bail!(why);
    }
    let policy = seen.policy().and_then(|named| snapshot.policy(&named).cloned());
    // A pool that names no policy has nothing to go back to but going on.
    let wanted = if wanted == Wanted::Clear && seen.policy().is_none() {
        Wanted::Permissive
    } else {
        wanted
    };
    let overriding::Change { patch, undo, meaning } =
        overriding::change(seen, policy.as_ref(), wanted, reason, cluster.now(edge))
            .map_err(anyhow::Error::msg)?;
    let way_back = match wanted {
        Wanted::Restrictive => Some(format!("tidegate worker-nodes resume --pool {}", which.pool)),
        _ => None,
    };
    manner.make(&Change { object: &object, meaning, patch, undo, way_back }, &cluster)
}

fn found<'a>(snapshot: &'a Snapshot, name: &str) -> anyhow::Result<&'a SeenPool> {
    let names = || snapshot.pools().map(|pool| pool.name.as_str()).collect::<Vec<_>>().join(", ");
    snapshot.pool(name).ok_or_else(|| match names() {
        none if none.is_empty() => anyhow::anyhow!("this cluster has no machine config pools"),
        names => anyhow::anyhow!("there is no {}; the pools are {names}", object_of(name)),
    })
}

pub(super) fn told(problem: &Problem) -> anyhow::Error {
    let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
    let object = problem.object.as_ref().map_or_else(String::new, |object| format!("{object}: "));
    anyhow::anyhow!("{object}{}{hint}", problem.detail)
}

fn object_of(pool: &str) -> Key {
    Key::new(&kinds::MACHINE_CONFIG_POOL, None, pool)
}

fn pinned(patch: &Value) -> &str {
    patch.pointer("/spec/machineConfig/name").and_then(Value::as_str).unwrap_or_default()
}

/// The patch that restores what a pool goes to and what it remembers.
fn as_it_was(pool: &SeenPool) -> Value {
    let pin = pool.pin.as_ref().map(|pin| json!({"name": pin.name}));
    json!({
        "metadata": {"annotations": {names::PREVIOUS_CONFIG: pool.previous}},
        "spec": {"machineConfig": pin},
    })
}

/// What a pool and its machines look like.
pub(crate) struct Seen {
    /// What the pool is called.
    pub(crate) name: String,
    /// Its gate, and what waits behind it.
    pub(crate) row: Option<Row>,
    /// The configuration that it goes to.
    pub(crate) target: Option<String>,
    /// Its machines, by name.
    pub(crate) machines: Vec<Seat>,
}

/// A machine and how far it is.
pub(crate) struct Seat {
    /// What the machine is called.
    pub(crate) name: String,
    /// How far it is.
    pub(crate) phase: Phase,
    /// What it has.
    pub(crate) current: String,
    /// What it goes to.
    pub(crate) desired: String,
}

/// Every pool, or the one of a name.
pub(crate) fn seen(
    snapshot: &Snapshot,
    pool: Option<&str>,
    at: Instant,
) -> anyhow::Result<Vec<Seen>> {
    if let Some(name) = pool {
        found(snapshot, name)?;
    }
    let wanted = snapshot.pools().filter(|seen| pool.is_none_or(|name| seen.name == name));
    Ok(wanted.map(|pool| look(pool, snapshot, at)).collect())
}

fn look(pool: &SeenPool, snapshot: &Snapshot, at: Instant) -> Seen {
    let row = snapshot.resource(&pool.key()).map(|seen| overview::resource(snapshot, seen, at));
    let seat = |machine: Machine<'_>| Seat {
        name: machine.node.name.clone(),
        phase: machine.phase,
        current: machine.node.current.clone(),
        desired: machine.node.desired.clone(),
    };
    Seen {
        name: pool.name.clone(),
        row,
        target: snapshot.target(pool).map(str::to_owned),
        machines: phase::machines(snapshot, pool).into_iter().map(seat).collect(),
    }
}

fn follow(
    cluster: &Cluster,
    pool: Option<&str>,
    format: Format,
    edge: &mut Edge,
) -> anyhow::Result<Output> {
    let colour = edge.colour;
    cluster.follow(Extent::Rollouts, edge, |snapshot, now| {
        let seen = seen(snapshot, pool, now)?;
        Ok(Shown {
            facts: written(&seen, Format::Json, now, Colour::Off)?,
            text: written(&seen, format, now, colour)?,
            sleep: LONGEST_SLEEP,
        })
    })
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Item<'a> {
    pool: &'a str,
    state: Option<&'static str>,
    target: Option<&'a str>,
    machines: usize,
    done: usize,
    pending: Vec<String>,
    nodes: Vec<Node<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    phase: &'static str,
    current: &'a str,
    desired: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

fn written(pools: &[Seen], format: Format, at: Instant, colour: Colour) -> anyhow::Result<String> {
    let items = || Items { items: pools.iter().map(item).collect() };
    Ok(match format {
        Format::Json => output::json(&items())?,
        Format::Yaml => output::yaml(&items())?,
        Format::Table | Format::Wide if pools.is_empty() => {
            "this cluster has no machine config pools\n".into()
        }
        Format::Table | Format::Wide => {
            pools.iter().map(|pool| drawn(pool, at, colour)).collect::<Vec<_>>().join("\n")
        }
    })
}

fn item(pool: &Seen) -> Item<'_> {
    Item {
        pool: &pool.name,
        state: pool.row.as_ref().map(|row| row.verdict.state()),
        target: pool.target.as_deref(),
        machines: pool.machines.len(),
        done: done(pool),
        pending: pool.row.iter().flat_map(|row| each(&row.pending.waiting)).collect(),
        nodes: pool
            .machines
            .iter()
            .map(|seat| Node {
                name: &seat.name,
                phase: seat.phase.as_str(),
                current: &seat.current,
                desired: &seat.desired,
                detail: seat.phase.detail(),
            })
            .collect(),
    }
}

/// How many machines have what the pool goes to.
pub(crate) fn done(pool: &Seen) -> usize {
    pool.machines.iter().filter(|seat| seat.phase == Phase::Done).count()
}

fn drawn(pool: &Seen, at: Instant, colour: Colour) -> String {
    let mut text = colour.paint(Style::Strong, &format!("{}", object_of(&pool.name)));
    let _ = write!(text, "  {}", bar(done(pool), pool.machines.len()));
    if let Some(target) = &pool.target {
        let _ = write!(text, "  to {}", printable(target));
    }
    text.push('\n');
    if let Some(row) = &pool.row {
        let current = &row.behavior.current;
        let style = match row.verdict {
            Verdict::Permitted => Style::Open,
            Verdict::Held | Verdict::CannotTell => Style::Paused,
        };
        let until = current.end_time.as_deref().and_then(|end| Instant::parse(end).ok());
        let until = until
            .map_or_else(String::new, |end| format!(" until {end}, {}", text::relative(end, at)));
        let word = colour.paint(style, row.verdict.state());
        let _ = writeln!(text, "  {word}{until}: {}", printable(&current.reason));
        for waiting in &row.pending.waiting {
            let _ = writeln!(text, "  pending: {}", printable(&waiting.to_string()));
        }
    }
    let mut rows =
        vec![vec!["NODE".to_owned(), "PHASE".to_owned(), "CONFIG".to_owned(), "DETAIL".to_owned()]];
    for seat in &pool.machines {
        let config = if seat.current == seat.desired {
            seat.current.clone()
        } else {
            format!("{} -> {}", seat.current, seat.desired)
        };
        rows.push(vec![
            printable(&seat.name),
            seat.phase.as_str().to_owned(),
            printable(&config),
            printable(seat.phase.detail().unwrap_or_default()),
        ]);
    }
    if rows.len() > 1 {
        text.push_str(&text::table(2, &rows));
    }
    text
}

/// How many of how many, as a bar and as a number.
pub(crate) fn bar(done: usize, all: usize) -> String {
    let filled = (done * BAR).checked_div(all).unwrap_or(0);
    format!("{}{} {done}/{all}", "█".repeat(filled), "░".repeat(BAR - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_when_all_are_done() {
        assert_eq!(bar(0, 0), format!("{} 0/0", "░".repeat(20)));
        assert_eq!(bar(12, 12), format!("{} 12/12", "█".repeat(20)));
        assert_eq!(bar(11, 12), format!("{}░░ 11/12", "█".repeat(18)));
    }
}
