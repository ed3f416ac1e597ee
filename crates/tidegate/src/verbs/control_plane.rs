//! `tidegate control-plane`, `tidegate update`: how does somebody steer the release of the control plane? (CV-4)

use clap::{Args, FromArgMatches as _, Subcommand};
use tidegate_core::release::wish::Wish;
use views::{
    control_plane::{Asked, Plane},
    updating::{self, Start},
};

use super::{Listed, Verb};
use crate::{
    args::{self, At, Formats},
    change::{Manner, retry_on_conflict},
    cluster::{Extent, Reach},
    edge::Edge,
    output::{self, Exit, Output},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "control-plane",
        about: "Control the update of the control plane: ask for a release, take that back, start it now, and show what stands in the way",
        more: "A wish is spec.desiredUpdate of ClusterVersion. Where the operator starts updates (--manage-updates), it pins the wish to an image, \
               says at once what stands in its way, and lets it begin when the gate of ClusterVersion permits. The command prints what it writes and \
               how to undo it; with --dry-run it does nothing else. What could never begin is refused before anything is written.\n\n\
               On a stock OpenShift, whose ClusterVersion cannot store spec.changeManagement, spec.desiredUpdate would begin at once: there a wish is the \
               annotation changemanagement.openshift.io/wanted-release, which the operator lets begin when every ClusterChangeGate on ClusterVersion \
               permits.\n\n\
               Examples:\n  \
               tidegate control-plane status\n  \
               tidegate control-plane wish 4.20.10\n  \
               tidegate control-plane wish 4.20.10 --image registry.example.com/release@sha256:0123... --dry-run\n  \
               tidegate control-plane start --reason \"CVE-2026-1234\"\n  \
               tidegate control-plane withdraw",
        listed: Listed::Yes,
        args: ControlPlane::augment_args,
        run: |matches, edge| run(&ControlPlane::from_arg_matches(matches)?, edge),
    }
}

/// What would happen if somebody asked.
pub(crate) fn update() -> Verb {
    Verb {
        name: "update",
        about: "Say what would happen if a release were asked for: when it would start, and what stands in its way",
        more: "The command writes nothing; `tidegate control-plane wish` asks for the release. The exit code is 0 if nothing but a window keeps it \
               waiting, 1 if something stands in its way or no window is ahead, and 2 if nobody can tell.\n\n\
               Examples:\n  \
               tidegate update --to 4.20.10\n  \
               tidegate update --to 4.21.3 --at 2026-12-24 -o json",
        listed: Listed::Yes,
        args: Update::augment_args,
        run: |matches, edge| foresee(&Update::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct ControlPlane {
    #[command(subcommand)]
    step: PlaneVerb,
}

#[derive(Subcommand, Debug)]
enum PlaneVerb {
    /// Show the release, what is wanted, when it starts, what stands in its way, and how far the masters are
    Status {
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        at: At,
        #[command(flatten)]
        formats: Formats,
    },
    /// Ask for a release; it begins when the gate of the control plane permits
    Wish {
        #[command(flatten)]
        release: Release,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        manner: Manner,
    },
    /// Take back what was asked for and has not begun
    Withdraw {
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        manner: Manner,
    },
    /// Let what was asked for begin before its window: an override for that release alone, which ends by itself
    Start {
        /// Why, in your own words; shown wherever the override is
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// How long it may take to begin, such as 2h
        #[arg(long = "for", value_name = "LENGTH", value_parser = args::ahead, default_value = "1h")]
        length: args::Ahead,
        /// Where this was asked for
        #[arg(long, value_name = "TEXT")]
        ticket: Option<String>,
        /// Sign it, with the name by which the API server knows you
        #[arg(long, value_name = "USER")]
        by: Option<String>,
        /// What the override is called [default: the name of the resource and the instant]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        manner: Manner,
    },
}

/// Which release.
#[derive(Args, Debug)]
struct Release {
    /// The version, such as 4.20.10
    #[arg(value_name = "VERSION")]
    version: String,
    /// Its image, by digest: for a version that is none of the updates which the cluster knows
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
}

#[derive(Args, Debug)]
struct Update {
    /// The version, such as 4.20.10
    #[arg(long, value_name = "VERSION")]
    to: String,
    /// Its image, by digest: for a version that is none of the updates which the cluster knows
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
}

fn run(args: &ControlPlane, edge: &mut Edge) -> anyhow::Result<Output> {
    match &args.step {
        PlaneVerb::Status { reach, at, formats } => {
            shown(Asked::ByTheCluster, (reach, at, formats), edge)
                .map(|(text, _)| Output::done(text))
        }
        PlaneVerb::Wish { release, reach, manner } => {
            let wish = wish(&release.version, release.image.as_deref());
            retry_on_conflict(|| {
                manner.make(&reach.connect()?, Extent::Gates, |snapshot| {
                    updating::wish(snapshot, &wish)
                })
            })
        }
        PlaneVerb::Withdraw { reach, manner } => {
            retry_on_conflict(|| manner.make(&reach.connect()?, Extent::Gates, updating::withdraw))
        }
        PlaneVerb::Start { reason, length, ticket, by, name, reach, manner } => {
            let cluster = reach.connect()?;
            let now = cluster.now(edge);
            let start = Start {
                name: name.as_deref(),
                until: length.after(now),
                reason,
                ticket: ticket.as_deref(),
                by: by.as_deref(),
            };
            let snapshot = cluster.snapshot(Extent::Gates)?;
            let writing = updating::start(&snapshot, start, now).map_err(anyhow::Error::msg)?;
            manner.write(&cluster, &writing)
        }
    }
}

fn foresee(args: &Update, edge: &mut Edge) -> anyhow::Result<Output> {
    let wish = wish(&args.to, args.image.as_deref());
    let looked = (&args.reach, &args.at, &args.formats);
    let (text, exit) = shown(Asked::For(&wish), looked, edge)?;
    Ok(Output { exit, ..Output::done(text) })
}

fn wish(version: &str, image: Option<&str>) -> Wish {
    Wish::of(version, image.unwrap_or_default())
}

/// What is shown of the control plane, and whether nothing stands in the way of its update.
fn shown(
    asked: Asked<'_>,
    (reach, at, formats): (&Reach, &At, &Formats),
    edge: &mut Edge,
) -> anyhow::Result<(String, Exit)> {
    let cluster = reach.connect()?;
    let at = at.given().unwrap_or_else(|| cluster.now(edge));
    let snapshot = cluster.snapshot(Extent::Rollouts)?;
    let plane = Plane::new(&snapshot, asked, at).map_err(anyhow::Error::msg)?;
    let text =
        output::written(formats.output, || plane.item(), |_| plane.drawing(at, edge.colour))?;
    Ok((text, Exit::of([plane.outlook()])))
}
