//! `tidegate next`: when are the next windows?

use clap::{Args, FromArgMatches as _};
use views::windows;

use super::{Listed, Verb};
use crate::{
    args::{Ahead, Formats, Sources, When},
    edge::Edge,
    output::{self, Output},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "next",
        about: "List the next windows, and the hours of each month",
        more: "Every window that meets the range is listed whole, with its true edges.\n\n\
               Examples:\n  \
               tidegate next -f policy.yaml\n  \
               tidegate next -f policies/ --from 2026-12-01 --until 2027-01-01 -o json\n  \
               kubectl get changemanagementpolicies -o yaml | tidegate next -f - --for 1y",
        listed: Listed::Yes,
        args: Next::augment_args,
        run: |matches, edge| run(&Next::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Next {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    formats: Formats,
}

fn run(args: &Next, edge: &mut Edge) -> anyhow::Result<Output> {
    let range = args.when.range(edge, Ahead::days(30))?;
    let now = args.when.now(edge);
    let loaded = args.sources.load(edge)?;
    let policies = || loaded.policies.iter().map(|found| &found.policy);
    let text = output::written(
        args.formats.output,
        || windows::items(policies(), &range),
        |detail| {
            let show = |policy| windows::table(policy, &range, now, detail, edge.colour);
            policies().map(show).collect::<Vec<_>>().join("\n")
        },
    )?;
    Ok(Output::done(text).with_problems(&loaded))
}
