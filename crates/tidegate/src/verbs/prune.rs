//! `tidegate prune`: which rendered configurations may be deleted, and why may the rest not? (POOL-9)

use clap::{Args, FromArgMatches as _};
use views::{items::Items, prune};

use super::{Listed, Verb};
use crate::{
    args::Formats,
    cluster::{Extent, Reach},
    edge::Edge,
    output::{self, Output},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "prune",
        about: "List the rendered configurations that may be deleted, and why the rest may not",
        more: "Nothing is deleted here: the command that would is printed.\n\n\
               Examples:\n  \
               tidegate prune\n  \
               tidegate prune -o json",
        listed: Listed::Yes,
        args: Prune::augment_args,
        run: |matches, edge| run(&Prune::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Prune {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

fn run(args: &Prune, _: &mut Edge) -> anyhow::Result<Output> {
    let items = prune::items(&args.reach.connect()?.snapshot(Extent::PoolsAndUpdate)?);
    let listed = || items.iter().collect::<Items<_>>();
    output::written(args.formats.output, listed, |_| prune::drawing(&items)).map(Output::done)
}
