//! `tidegate override`: how does somebody set a policy aside, and back?

use clap::{ArgGroup, Args, FromArgMatches as _};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    cluster::{overriding::WantedStanza, snapshot::Snapshot},
    document::key,
};
use views::{change::Change, proposal};

use super::{Listed, Verb};
use crate::{
    args,
    change::{Manner, retry_on_conflict},
    cluster::{Extent, Reach},
    edge::Edge,
    output::Output,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "override",
        about: "Override the policy of a resource, for a while or until further notice, or end the override",
        more: "The resource keeps the name of its policy under every strategy, so --clear always finds the way back. The command prints its patch \
               and how to undo it; with --dry-run it does nothing else.\n\n\
               Examples:\n  \
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
    #[arg(long, value_name = "TEXT", required_unless_present = "clear", value_parser = reason)]
    reason: Option<String>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    manner: Manner,
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
    let cluster = args.reach.connect()?;
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

fn strategy(patch: &Value) -> Option<&str> {
    patch.pointer("/spec/changeManagement/strategy").and_then(Value::as_str)
}
