//! `tidegate node allow`: how does one machine go while its pool is held? (POOL-7)

use api::{kinds, machine::names};
use clap::{Args, FromArgMatches as _, Subcommand};
use serde_json::json;
use tidegate_core::{key::Key, pool::steer};

use super::{
    Listed, Verb,
    change::{Change, Manner, on_what_is_so},
    worker_nodes::told,
};
use crate::{
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
    let cluster = reach.connect()?;
    let snapshot = cluster.snapshot(Extent::Pools)?;
    let Some(node) = snapshot.node(name) else {
        anyhow::bail!("there is no Node/{name} in this cluster")
    };
    let Some(pool) = snapshot.home(node) else {
        anyhow::bail!("Node/{name} belongs to no machine config pool, or to several");
    };
    let patch =
        steer::allow(node, pool, &snapshot.shelf(pool)).map_err(|refused| told(&refused))?;
    let target = snapshot.target(pool).unwrap_or_default();
    let object = Key::new(&kinds::NODE, None, name);
    let change = Change {
        object: &object,
        meaning: format!(
            "Node/{name} may go to {target}, whatever the gate of {} says",
            pool.object()
        ),
        patch,
        undo: json!({"metadata": {"annotations": {names::ALLOWED_CONFIG: node.allowed}}}),
        way_back: None,
    };
    manner.make(&change, &cluster)
}
