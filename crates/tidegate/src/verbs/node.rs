//! `tidegate node allow`: how does one machine go while its pool is held? (POOL-7)

use clap::{Args, FromArgMatches as _, Subcommand};
use views::proposal;

use super::{Listed, Verb};
use crate::{
    change::{Manner, on_what_is_so},
    cluster::{Extent, Reach},
    output::Output,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "node",
        about: "Let a single machine go to its pool's target while the pool is held",
        more: "The consent is for the configuration that the pool goes to now, and for nothing later.\n\n\
               Examples:\n  \
               tidegate node allow worker-3\n  \
               tidegate node allow worker-3 --dry-run",
        listed: Listed::Yes,
        args: Node::augment_args,
        run: |matches, _| {
            let args = Node::from_arg_matches(matches)?;
            on_what_is_so(|| run(&args))
        },
    }
}

#[derive(Args, Debug)]
struct Node {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand, Debug)]
enum Step {
    /// Let a machine go
    Allow {
        /// The machine
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        manner: Manner,
    },
}

fn run(args: &Node) -> anyhow::Result<Output> {
    let Step::Allow { name, reach, manner } = &args.step;
    manner.make(&reach.connect()?, Extent::Pools, |snapshot| proposal::allow(snapshot, name))
}
