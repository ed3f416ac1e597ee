//! `tidegate node allow`: how does one node go while its pool is held? (POOL-7)

use clap::{Args, FromArgMatches as _, Subcommand};
use views::proposal;

use super::{Listed, Verb};
use crate::{
    change::{Manner, retry_on_conflict},
    cluster::{Extent, Reach},
    output::Output,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "node",
        about: "Let a single node go to the target of its pool while the pool is held",
        more: "The consent is for the configuration that is the target of the pool now, and for no later one.\n\n\
               Examples:\n  \
               tidegate node allow worker-3\n  \
               tidegate node allow worker-3 --dry-run",
        listed: Listed::Yes,
        args: Node::augment_args,
        run: |matches, _| {
            let args = Node::from_arg_matches(matches)?;
            retry_on_conflict(|| run(&args))
        },
    }
}

#[derive(Args, Debug)]
struct Node {
    #[command(subcommand)]
    step: NodeVerb,
}

#[derive(Subcommand, Debug)]
enum NodeVerb {
    /// Let a node go
    Allow {
        /// The node
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        manner: Manner,
    },
}

fn run(args: &Node) -> anyhow::Result<Output> {
    let NodeVerb::Allow { name, reach, manner } = &args.step;
    manner.make(&reach.connect()?, Extent::Pools, |snapshot| proposal::allow(snapshot, name))
}
