//! `tidegate worker-nodes`: how does somebody steer the nodes of a pool?

use std::time::Duration;

use clap::{Args, FromArgMatches as _, Subcommand};
use schedule::Instant;
use views::{
    drawing::Colour,
    pool::{self, PoolProgress},
    proposal,
};

use super::{Listed, Verb};
use crate::{
    args::{At, Format, Formats},
    change::{Manner, retry_on_conflict},
    cluster::{Cluster, Extent, Reach, Shown},
    edge::Edge,
    output::{self, Output},
};

/// How long a follower sleeps at most.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);

pub(crate) fn verb() -> Verb {
    Verb {
        name: "worker-nodes",
        about: "Control the rollout of a pool: start, pause, resume, roll back, and show the progress of each node",
        more: "The pool keeps the name of its policy whatever is done here. The command prints its patches and how to undo them; with --dry-run \
               it does nothing else.\n\n\
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
    step: PoolVerb,
}

#[derive(Subcommand, Debug)]
enum PoolVerb {
    /// Make a configuration the target of a pool, and record the previous one for rollback
    Start {
        /// The rendered configuration [default: the newest]
        #[arg(value_name = "CONFIG")]
        config: Option<String>,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Start no more nodes, whatever the policy says; nodes in flight finish
    Pause {
        /// Why, in your own words; shown wherever the pause is
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// End the pause: follow the policy again, or permit changes at any time if the pool names none
    Resume {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Make the configuration the target that start recorded
    Rollback {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        manner: Manner,
    },
    /// Show pools and nodes: phase, progress, what blocks, what is next
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
        PoolVerb::Start { config, which, manner } => retry_on_conflict(|| {
            manner.make(&which.reach.connect()?, Extent::Pools, |snapshot| {
                proposal::start(snapshot, &which.pool, config.as_deref())
            })
        }),
        PoolVerb::Rollback { which, manner } => retry_on_conflict(|| {
            manner.make(&which.reach.connect()?, Extent::Pools, |snapshot| {
                proposal::rollback(snapshot, &which.pool)
            })
        }),
        PoolVerb::Pause { reason, which, manner } => retry_on_conflict(|| {
            let cluster = which.reach.connect()?;
            manner.make(&cluster, Extent::Gates, |snapshot| {
                proposal::pause(snapshot, &which.pool, reason.as_deref(), cluster.now(edge))
            })
        }),
        PoolVerb::Resume { which, manner } => retry_on_conflict(|| {
            let cluster = which.reach.connect()?;
            manner.make(&cluster, Extent::Gates, |snapshot| {
                proposal::resume(snapshot, &which.pool, cluster.now(edge))
            })
        }),
        PoolVerb::Status { pool, watch, reach, at, formats } => {
            let cluster = reach.connect()?;
            let pool = pool.as_deref();
            if *watch {
                return follow(&cluster, pool, formats.output, edge);
            }
            let at = at.given().unwrap_or_else(|| cluster.now(edge));
            let snapshot = cluster.snapshot(Extent::Rollouts)?;
            let pools = pool::pools(&snapshot, pool, at).map_err(anyhow::Error::msg)?;
            Ok(Output::done(written(&pools, formats.output, at, edge.colour)?))
        }
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
        let pools = pool::pools(snapshot, pool, now).map_err(anyhow::Error::msg)?;
        Ok(Shown {
            facts: written(&pools, Format::Json, now, Colour::Off)?,
            text: written(&pools, format, now, colour)?,
            sleep: LONGEST_SLEEP,
        })
    })
}

fn written(
    pools: &[PoolProgress],
    format: Format,
    at: Instant,
    colour: Colour,
) -> anyhow::Result<String> {
    output::written(format, || pool::items(pools), |_| pool::drawing(pools, at, colour))
}
