//! `tidegate freeze`, `thaw`, `hold` and `skip-next`: how does somebody stop something, and let it go again? (OVR-4)

use clap::{ArgGroup, Args, FromArgMatches as _};
use schedule::Instant;
use tidegate_core::{document::key, policy::freezing::Wanted};
use views::freezing;

use super::{Listed, Verb};
use crate::{
    args,
    change::Manner,
    cluster::{Extent, Reach},
    edge::Edge,
    output::Output,
};

pub(crate) fn freeze() -> Verb {
    Verb {
        name: "freeze",
        about: "Let nothing start, in a namespace or in the whole cluster, for a while or until further notice",
        more: "The command writes one object, and from then on the API server refuses what that selects; what has begun finishes. It prints the object \
               and how to undo it; with --dry-run it does nothing else.\n\n\
               Examples:\n  \
               tidegate freeze --cluster --for 2h --reason \"the till is broken\"\n  \
               tidegate freeze -n shop --until 2026-12-01 --reason \"Black Friday\" --what Deployments\n  \
               tidegate freeze --cluster --reason \"no reboots\" --what KuredLock --what MachineConfigPools=worker,infra --dry-run",
        listed: Listed::Yes,
        args: Freeze::augment_args,
        run: |matches, edge| run_freeze(&Freeze::from_arg_matches(matches)?, edge),
    }
}

pub(crate) fn thaw() -> Verb {
    Verb {
        name: "thaw",
        about: "End a freeze before its time",
        more: "The command deletes the freeze and prints what it was; with --dry-run it deletes nothing.\n\n\
               Examples:\n  \
               tidegate thaw stop --cluster\n  \
               tidegate thaw stop -n shop --dry-run",
        listed: Listed::Yes,
        args: Thaw::augment_args,
        run: |matches, _| run_thaw(&Thaw::from_arg_matches(matches)?),
    }
}

pub(crate) fn hold() -> Verb {
    Verb {
        name: "hold",
        about: "Hold a pool or the control plane, whatever its policy says, by a freeze of it alone",
        more: "Examples:\n  \
               tidegate hold mcp/worker --for 3d --reason \"wait for the new driver\"\n  \
               tidegate hold clusterversion/version --until 2026-12-27 --reason \"holiday sale\"",
        listed: Listed::Yes,
        args: Hold::augment_args,
        run: |matches, edge| run_hold(&Hold::from_arg_matches(matches)?, edge),
    }
}

pub(crate) fn skip_next() -> Verb {
    Verb {
        name: "skip-next",
        about: "Let the next window of a pool or of the control plane pass unused, by a freeze as long as it",
        more: "A window that is open goes on; the command skips the one after it.\n\n\
               Examples:\n  \
               tidegate skip-next mcp/worker --reason \"the night shift is short of hands\"",
        listed: Listed::Yes,
        args: SkipNext::augment_args,
        run: |matches, edge| run_skip_next(&SkipNext::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("scope").required(true).multiple(false).args(["cluster", "namespace"]))]
struct Freeze {
    /// What the freeze is called [default: freeze- and the instant]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Freeze the whole cluster
    #[arg(long)]
    cluster: bool,
    /// Freeze only this: a room such as Deployments, or ROOM=NAME,NAME; may be given several times [default: everything]
    #[arg(long, value_name = "ROOM")]
    what: Vec<String>,
    /// Begin then: RFC 3339, a date, or +24h from now [default: at once]
    #[arg(long, value_name = "TIME", value_parser = args::until)]
    from: Option<args::Until>,
    #[command(flatten)]
    end: End,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    manner: Manner,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("scope").required(true).multiple(false).args(["cluster", "namespace"]))]
struct Thaw {
    /// The freeze
    #[arg(value_name = "NAME")]
    name: String,
    /// It is a freeze of the cluster
    #[arg(long)]
    cluster: bool,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    manner: Manner,
}

#[derive(Args, Debug)]
struct Hold {
    /// The resource: KIND/NAME
    #[arg(value_name = "RESOURCE")]
    resource: String,
    #[command(flatten)]
    end: End,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    manner: Manner,
}

#[derive(Args, Debug)]
struct SkipNext {
    /// The resource: KIND/NAME
    #[arg(value_name = "RESOURCE")]
    resource: String,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    manner: Manner,
}

/// When a freeze ends, and why it is.
#[derive(Args, Debug)]
struct End {
    /// End after so long, such as 2h or 3d [default: until somebody thaws it]
    #[arg(long = "for", id = "length", value_name = "LENGTH", value_parser = args::ahead, conflicts_with = "until")]
    length: Option<args::Ahead>,
    /// End then: RFC 3339, a date, or +24h from now [default: until somebody thaws it]
    #[arg(long, value_name = "TIME", value_parser = args::until)]
    until: Option<args::Until>,
    #[command(flatten)]
    why: Why,
}

impl End {
    fn instant(&self, start: Instant, now: Instant) -> Option<Instant> {
        let length = self.length.map(|length| length.after(start));
        length.or_else(|| self.until.map(|until| until.instant(now)))
    }
}

#[derive(Args, Debug)]
struct Why {
    /// Why, in a line; whoever is held reads it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Sign it, with the name by which the API server knows you
    #[arg(long, value_name = "USER")]
    by: Option<String>,
}

impl Why {
    /// A freeze of the cluster for this reason, of everything and without an end.
    fn wanted<'a>(&'a self, name: &'a str) -> Wanted<'a> {
        Wanted {
            namespace: None,
            name,
            from: None,
            until: None,
            reason: &self.reason,
            by: self.by.as_deref(),
            holds: None,
        }
    }
}

fn run_freeze(args: &Freeze, edge: &Edge) -> anyhow::Result<Output> {
    let cluster = args.reach.connect()?;
    let now = cluster.now(edge);
    let from = args.from.map(|from| from.instant(now));
    let name = args.name.clone().unwrap_or_else(|| freezing::stamped("freeze", now));
    let wanted = Wanted {
        namespace: args.reach.namespace(),
        from,
        until: args.end.instant(from.unwrap_or(now), now),
        holds: freezing::holds(&args.what),
        ..args.end.why.wanted(&name)
    };
    let writing = freezing::freeze(&wanted, now).map_err(anyhow::Error::msg)?;
    args.manner.write(&cluster, &writing)
}

fn run_hold(args: &Hold, edge: &Edge) -> anyhow::Result<Output> {
    let object = key::named(&args.resource, args.reach.namespace()).map_err(anyhow::Error::msg)?;
    let cluster = args.reach.connect()?;
    let now = cluster.now(edge);
    let name = freezing::stamped(&format!("hold-{}", object.name), now);
    let wanted = Wanted { until: args.end.instant(now, now), ..args.end.why.wanted(&name) };
    let snapshot = cluster.snapshot(Extent::Gates)?;
    let writing = freezing::hold(&snapshot, &object, &wanted, now).map_err(anyhow::Error::msg)?;
    args.manner.write(&cluster, &writing)
}

fn run_skip_next(args: &SkipNext, edge: &Edge) -> anyhow::Result<Output> {
    let object = key::named(&args.resource, args.reach.namespace()).map_err(anyhow::Error::msg)?;
    let cluster = args.reach.connect()?;
    let now = cluster.now(edge);
    let name = freezing::stamped(&format!("skip-{}", object.name), now);
    let snapshot = cluster.snapshot(Extent::Gates)?;
    let wanted = args.why.wanted(&name);
    let writing =
        freezing::skip_next(&snapshot, &object, &wanted, now).map_err(anyhow::Error::msg)?;
    args.manner.write(&cluster, &writing)
}

fn run_thaw(args: &Thaw) -> anyhow::Result<Output> {
    let object = freezing::named(args.reach.namespace(), &args.name);
    let cluster = args.reach.connect()?;
    let found = cluster.read(&object)?;
    args.manner.write(&cluster, &freezing::thaw(object, &found))
}
