//! `tidegate status`: what is pending, why does it wait, and when will it start?

use std::{path::PathBuf, time::Duration};

use clap::{Args, FromArgMatches as _};
use schedule::Instant;
use views::{drawing::Colour, status::Rows};

use super::{Listed, Verb};
use crate::{
    args::{At, Format, Formats},
    cluster::{Extent, Reach, Shown},
    edge::Edge,
    output::{self, Output},
};

/// How long a follower sleeps at most: clocks step, and relative times grow old.
const LONGEST_SLEEP: i64 = 60;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "status",
        about: "Show every resource and policy: open or held, until when, what is next, what is pending",
        more: "Reads the cluster that kubectl would, or files with -f: a folder, or what `kubectl get -o yaml` printed.\n\n\
               Examples:\n  \
               tidegate status\n  \
               tidegate status -w\n  \
               tidegate status -o json\n  \
               tidegate status -f must-gather/ --at 2026-12-24T12:00:00Z",
        listed: Listed::Yes,
        args: Status::augment_args,
        run: |matches, edge| run(&Status::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Status {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
    /// Keep looking, and show what changes; Ctrl-C ends it
    #[arg(short, long, conflicts_with_all = ["at", "files"])]
    watch: bool,
}

fn run(args: &Status, edge: &mut Edge) -> anyhow::Result<Output> {
    if args.watch {
        return follow(args, edge);
    }
    let at = args.reach.instant(&args.at, &args.files, edge)?;
    let (world, loaded) = args.reach.snapshot(Extent::Gates, &args.files, edge, at)?;
    let text = written(&Rows::new(&world, at), args.formats.output, at, edge.colour)?;
    Ok(Output::done(text).with_problems(&loaded))
}

fn follow(args: &Status, edge: &mut Edge) -> anyhow::Result<Output> {
    let (format, colour) = (args.formats.output, edge.colour);
    args.reach.connect()?.follow(Extent::Gates, edge, |world, now| {
        let rows = Rows::new(world, now);
        let next = rows.next_edge(now);
        let sleep =
            next.map_or(LONGEST_SLEEP, |next| (next.unix() - now.unix()).min(LONGEST_SLEEP));
        Ok(Shown {
            facts: written(&rows, Format::Json, now, Colour::Off)?,
            text: written(&rows, format, now, colour)?,
            sleep: Duration::from_secs(sleep.unsigned_abs()),
        })
    })
}

fn written(rows: &Rows, format: Format, at: Instant, colour: Colour) -> anyhow::Result<String> {
    output::written(format, || rows.items(), |detail| rows.drawing(at, detail, colour))
}
