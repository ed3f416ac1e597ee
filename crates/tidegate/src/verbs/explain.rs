//! `tidegate explain`: may changes be initiated, and why or why not?

use api::kinds;
use clap::{Args, FromArgMatches as _};
use schedule::Instant;
use tidegate_core::{cluster::snapshot::Snapshot, document::key};
use views::{
    explain::{Answer, of_object, of_policy},
    items::Items,
};

use super::{Listed, Verb};
use crate::{
    args::{At, Formats, Sources, load},
    cluster::{Extent, Reach},
    edge::Edge,
    output::{self, Exit, Output},
    source::Reads,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "explain",
        about: "Say whether changes are permitted at an instant, as a tree of reasons",
        more: "PATH may be a resource or a policy of the cluster that kubectl would use: KIND/NAME, or KIND/NAMESPACE/NAME. With --quiet the \
               command prints nothing, and its exit code is the answer: 0 if everything named permits changes, 1 if something does not, 2 if the \
               command cannot tell for something.\n\n\
               Examples:\n  \
               tidegate explain -f policy.yaml\n  \
               tidegate explain -f policies/ --at 2026-12-24T12:00:00Z -o json\n  \
               tidegate explain mcp/worker --at 2026-12-24\n  \
               tidegate explain -q clusterversion/version && ./upgrade.sh",
        listed: Listed::Yes,
        args: Explain::augment_args,
        run: |matches, edge| run(&Explain::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Explain {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

fn run(args: &Explain, edge: &mut Edge) -> anyhow::Result<Output> {
    let (names, paths) = args.sources.divided();
    let at = match names.as_slice() {
        [] => args.at.instant(edge),
        _ => args.reach.instant(&args.at, &paths, edge)?,
    };
    let (answers, loaded) = if names.is_empty() {
        let loaded = load(&paths, Reads::Policies, edge)?;
        let answers = loaded.policies.iter().map(|found| of_policy(&found.policy, at)).collect();
        (answers, loaded)
    } else {
        // What is named is looked for in the files, if there are any, and not beside them.
        let (world, loaded) = args.reach.snapshot(extent(args, &names)?, &paths, edge, at)?;
        let find = |name: &String| named(name, args.reach.namespace(), &world, at);
        (names.iter().map(find).collect::<anyhow::Result<Vec<_>>>()?, loaded)
    };
    if args.quiet {
        let verdicts = answers.iter().map(|answer| answer.reason.verdict);
        let output = Output { exit: Exit::of(verdicts), ..Output::done("") };
        return Ok(output.with_problems(&loaded));
    }
    let text = output::written(
        args.formats.output,
        || answers.iter().map(|answer| answer.item(at)).collect::<Items<_>>(),
        |detail| {
            let show = |answer: &Answer| answer.drawing(at, detail, edge.colour);
            answers.iter().map(show).collect::<Vec<_>>().join("\n")
        },
    )?;
    Ok(Output::done(text).with_problems(&loaded))
}

/// What has to be read: of the control plane people are also told how far its nodes are, and whether kubelets are in its way.
fn extent(args: &Explain, names: &[String]) -> anyhow::Result<Extent> {
    let mut extent = Extent::Gates;
    for name in names.iter().filter(|_| !args.quiet) {
        let key = key::named(name, args.reach.namespace()).map_err(anyhow::Error::msg)?;
        if key.kind() == &kinds::CLUSTER_VERSION {
            extent = Extent::Rollouts;
        }
    }
    Ok(extent)
}

/// What a cluster has under a name.
fn named(
    name: &str,
    namespace: Option<&str>,
    world: &Snapshot,
    at: Instant,
) -> anyhow::Result<Answer> {
    let key = key::named(name, namespace).map_err(anyhow::Error::msg)?;
    let answer = of_object(&key, world, at);
    answer.ok_or_else(|| anyhow::anyhow!("there is no {} in this cluster", key.object()))
}
