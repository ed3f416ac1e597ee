//! `tidegate override`: how does somebody set a policy aside, and back?

use anyhow::bail;
use clap::{ArgGroup, Args, FromArgMatches as _};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    cluster::{overriding::WantedStanza, snapshot::Snapshot},
    document::key::{self, Key},
    policy::{opening::WantedOverride, overrides::Layer},
};
use views::{change::Change, freezing, opening, proposal};

use super::{Listed, Verb};
use crate::{
    args,
    change::{Manner, retry_on_conflict},
    cluster::{Cluster, Extent, Reach},
    edge::Edge,
    output::Output,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "override",
        about: "Override the policy of a resource, for a while or until further notice, or end the override",
        more: "With --open-for or --open-until the command writes one object, a ClusterChangeOverride, or a ChangeOverride for what is in a namespace, \
               which opens the resource until then and ends by itself; no freeze of the platform lets it pass. With the others it edits the stanza of the \
               resource, which keeps the name of its policy under every strategy, so --clear always finds the way back. The command prints what it \
               writes and how to undo it; with --dry-run it does nothing else.\n\n\
               Examples:\n  \
               tidegate override mcp/worker --open-for 2h --reason \"CVE-2026-1234\" --only rendered-worker-5f2c\n  \
               tidegate override cg/shop/till --open-until 2026-11-20T06:00:00Z --reason \"hotfix\" --ticket OPS-77\n  \
               tidegate override mcp/worker --end worker-20261116t120000z\n  \
               tidegate override mcp/worker --permissive-until +24h --reason \"CVE-2026-1234\"\n  \
               tidegate override clusterversion/version --restrictive-until 2026-12-27 --reason \"holiday sale\"\n  \
               tidegate override np/clusters/pool-1 --restrictive --reason \"something is wrong\" --dry-run\n  \
               tidegate override mcp/worker --clear",
        listed: Listed::Yes,
        args: Override::augment_args,
        run: |matches, edge| {
            let args = Override::from_arg_matches(matches)?;
            retry_on_conflict(|| run(&args, edge))
        },
    }
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("wanted").required(true).multiple(false))]
struct Override {
    /// The resource: KIND/NAME, or KIND/NAMESPACE/NAME
    #[arg(value_name = "RESOURCE")]
    resource: String,
    /// Open it for so long, such as 2h or 3d, by an object that ends by itself
    #[arg(long, value_name = "LENGTH", value_parser = args::ahead, group = "wanted")]
    open_for: Option<args::Ahead>,
    /// Open it until then, by an object that ends by itself: RFC 3339, a date, or +24h from now
    #[arg(long, value_name = "TIME", value_parser = args::until, group = "wanted")]
    open_until: Option<args::Until>,
    /// End the override of this name before its time: one that --open-for or --open-until wrote
    #[arg(long, value_name = "NAME", group = "wanted")]
    end: Option<String>,
    /// Permit changes until then: RFC 3339, a date, or +24h from now
    #[arg(long, value_name = "TIME", value_parser = args::until, group = "wanted")]
    permissive_until: Option<args::Until>,
    /// Hold changes until then: RFC 3339, a date, or +24h from now
    #[arg(long, value_name = "TIME", value_parser = args::until, group = "wanted")]
    restrictive_until: Option<args::Until>,
    /// Permit changes until this is taken back
    #[arg(long, group = "wanted")]
    permissive: bool,
    /// Hold changes until this is taken back
    #[arg(long, group = "wanted")]
    restrictive: bool,
    /// End the override: follow the policy again
    #[arg(long, group = "wanted")]
    clear: bool,
    /// Why, in your own words; shown wherever the override is
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["clear", "end"], value_parser = reason)]
    reason: Option<String>,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    manner: Manner,
}

/// What else is said of an override that is an object, as the help heads it.
const OPENING: &str = "With --open-for and --open-until";

/// What else is said of an override that is an object.
#[derive(Args, Debug)]
struct Opening {
    /// Let only this start: a release, or a rendered configuration
    #[arg(long, help_heading = OPENING, value_name = "CHANGE")]
    only: Option<String>,
    /// Where this was asked for
    #[arg(long, help_heading = OPENING, value_name = "TEXT")]
    ticket: Option<String>,
    /// Sign it, with the name by which the API server knows you
    #[arg(long, help_heading = OPENING, value_name = "USER")]
    by: Option<String>,
    /// What the override is called [default: the name of the resource and the instant]
    #[arg(long, help_heading = OPENING, value_name = "NAME")]
    name: Option<String>,
    /// Open what is in a namespace by the word of the platform, which passes the freezes of teams
    #[arg(long, help_heading = OPENING)]
    platform: bool,
}

impl Opening {
    /// The first that was given, for whoever edits a stanza, which holds none of them.
    fn given(&self) -> Option<&'static str> {
        let Self { only, ticket, by, name, platform } = self;
        let given = [
            ("--only", only.is_some()),
            ("--ticket", ticket.is_some()),
            ("--by", by.is_some()),
            ("--name", name.is_some()),
            ("--platform", *platform),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

fn reason(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("say why".into());
    }
    Ok(text.to_owned())
}

fn wanted(args: &Override, now: Instant) -> WantedStanza {
    match args {
        Override { permissive_until: Some(until), .. } => {
            WantedStanza::PermissiveUntil(until.instant(now))
        }
        Override { restrictive_until: Some(until), .. } => {
            WantedStanza::RestrictiveUntil(until.instant(now))
        }
        Override { permissive: true, .. } => WantedStanza::Permissive,
        Override { restrictive: true, .. } => WantedStanza::Restrictive,
        Override { .. } => WantedStanza::Clear,
    }
}

fn run(args: &Override, edge: &Edge) -> anyhow::Result<Output> {
    let object = key::named(&args.resource, args.reach.namespace()).map_err(anyhow::Error::msg)?;
    let opens = args.open_for.is_some() || args.open_until.is_some();
    if let Some(given) = args.opening.given().filter(|_| !opens) {
        bail!("{given} goes with --open-for or --open-until");
    }
    let cluster = args.reach.connect()?;
    if let Some(name) = &args.end {
        let snapshot = cluster.snapshot(Extent::Gates)?;
        let found = opening::end(&snapshot, &object, name).map_err(anyhow::Error::msg)?;
        let document = cluster.read(&found)?;
        return args.manner.write(&cluster, &opening::ended(found, &document));
    }
    if opens {
        return open(args, &object, &cluster, cluster.now(edge));
    }
    let proposed = |snapshot: &Snapshot| {
        let now = cluster.now(edge);
        let wanted = wanted(args, now);
        let change = proposal::set_aside(snapshot, &object, wanted, args.reason.as_deref(), now)?;
        let reason =
            snapshot.resource(&object).and_then(|seen| seen.stanza.override_reason.as_ref());
        let back_to_policy = strategy(&change.undo) == Some("ByPolicy") && reason.is_none();
        let way_back =
            back_to_policy.then(|| format!("tidegate override {} --clear", args.resource));
        Ok(Change { way_back, ..change })
    };
    args.manner.make(&cluster, Extent::Gates, proposed)
}

fn open(args: &Override, object: &Key, cluster: &Cluster, now: Instant) -> anyhow::Result<Output> {
    let Opening { only, ticket, by, name, platform } = &args.opening;
    let length = args.open_for.map(|length| length.after(now));
    let until = length.or_else(|| args.open_until.map(|until| until.instant(now)));
    let name = name.clone().unwrap_or_else(|| freezing::stamped(&object.name, now));
    let wanted = WantedOverride {
        target: object,
        layer: if *platform { Layer::Platform } else { Layer::Team },
        name: &name,
        until: until.unwrap_or(now),
        reason: args.reason.as_deref().unwrap_or_default(),
        ticket: ticket.as_deref(),
        only: only.as_deref(),
        by: by.as_deref(),
    };
    let snapshot = cluster.snapshot(Extent::Gates)?;
    let writing = opening::open(&snapshot, &wanted, now).map_err(anyhow::Error::msg)?;
    args.manner.write(cluster, &writing)
}

fn strategy(patch: &Value) -> Option<&str> {
    patch.pointer("/spec/changeManagement/strategy").and_then(Value::as_str)
}
