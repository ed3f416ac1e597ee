//! `tidegate diff`: what does an edit gain and lose?

use std::path::PathBuf;

use clap::{Args, FromArgMatches as _};
use tidegate_core::policy::read::Policy;
use views::diff::{self, Comparison};

use super::{Listed, Verb};
use crate::{
    args::{Ahead, Formats, When},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded, Reads},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "diff",
        about: "Compare two versions of policies: windows, hours and the longest wait",
        more: "The command matches policies by kind, namespace and name; if each side holds one policy, it compares those two whatever their \
               names. A policy that is missing on one side permits nothing there. With --exit-code the exit code is 1 if anything differs. With --guardrails \
               the command tells what each version does not meet.\n\n\
               Examples:\n  \
               tidegate diff old.yaml new.yaml --for 1y\n  \
               git show HEAD:policy.yaml | tidegate diff - policy.yaml",
        listed: Listed::Yes,
        args: Diff::augment_args,
        run: |matches, edge| run(&Diff::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Diff {
    /// The policies before the edit: a file, a folder, or - for standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The policies after it
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    formats: Formats,
    /// Exit with 1 if anything differs
    #[arg(long)]
    exit_code: bool,
    /// Judge both versions by these guardrails: a file or a folder; may be given several times
    #[arg(long, value_name = "PATH")]
    guardrails: Vec<PathBuf>,
}

fn run(args: &Diff, edge: &mut Edge) -> anyhow::Result<Output> {
    let range = args.when.range(edge, Ahead::months(12))?;
    if args.old.as_os_str() == "-" && args.new.as_os_str() == "-" {
        anyhow::bail!(
            "standard input can be one side only\n  hint: write one of the two to a file"
        );
    }
    let old = source::load(std::slice::from_ref(&args.old), &mut edge.stdin);
    let new = source::load(std::slice::from_ref(&args.new), &mut edge.stdin);
    let rails = source::load_all(&args.guardrails, Reads::Everything, &mut edge.stdin);
    let world = rails.snapshot(range.start);
    let said = |policy: &Policy| {
        let breaches = world.judge_written(policy, range.start);
        breaches.iter().map(ToString::to_string).collect()
    };
    let pairs = diff::compare(&policies(&old), &policies(&new), &range, &said);
    let text = output::written(
        args.formats.output,
        || diff::report(&pairs, &range),
        |detail| {
            let show = |pair: &Comparison| diff::table(pair, &range, detail, edge.colour);
            pairs.iter().map(show).collect::<Vec<_>>().join("\n")
        },
    )?;
    let mut output = Output::done(text);
    if args.exit_code && pairs.iter().any(Comparison::differs) {
        output.exit = Exit::No;
    }
    Ok(output.with_problems(&old).with_problems(&new).with_problems(&rails))
}

fn policies(loaded: &Loaded) -> Vec<&Policy> {
    loaded.policies.iter().map(|found| &found.policy).collect()
}
