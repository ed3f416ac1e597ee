//! `tidegate override`: how does somebody set a policy aside, and back?

use std::fmt::Write as _;

use clap::{ArgGroup, Args, FromArgMatches as _};
use schedule::Instant;
use serde::Serialize;
use serde_json::Value;
use tidegate_core::{
    overriding::{Change, Wanted, change},
    problem::Object,
    world,
};

use super::{Listed, Verb};
use crate::{
    args::{self, Format, Formats},
    cluster::Reach,
    edge::Edge,
    output::{self, Output},
    text,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "override",
        about: "Set the policy of a resource aside, for a while or until further notice, and back",
        more: "The policy stays named under every strategy, so --clear always finds the way back. The patch is printed, and\n\
               how to undo it; with --dry-run nothing else happens.\n\n\
               Examples:\n  \
               tidegate override mcp/worker --permissive-until +24h --reason \"CVE-2026-1234\"\n  \
               tidegate override clusterversion/version --restrictive-until 2026-12-27 --reason \"holiday sale\"\n  \
               tidegate override np/clusters/pool-1 --restrictive --reason \"something is wrong\" --dry-run\n  \
               tidegate override mcp/worker --clear",
        listed: Listed::Yes,
        args: Override::augment_args,
        run: |matches, edge| run(&Override::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
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
    /// Go back to the policy
    #[arg(long, group = "wanted")]
    clear: bool,
    /// Why, in your own words; shown wherever the override is
    #[arg(long, value_name = "TEXT", required_unless_present = "clear", value_parser = reason)]
    reason: Option<String>,
    /// Print the patch and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Report<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    name: &'a str,
    applied: bool,
    meaning: &'a str,
    patch: &'a Value,
    undo: &'a Value,
}

fn reason(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("say why".into());
    }
    Ok(text.to_owned())
}

fn wanted(args: &Override, now: Instant) -> Wanted {
    match args {
        Override { permissive_until: Some(until), .. } => {
            Wanted::PermissiveUntil(until.instant(now))
        }
        Override { restrictive_until: Some(until), .. } => {
            Wanted::RestrictiveUntil(until.instant(now))
        }
        Override { permissive: true, .. } => Wanted::Permissive,
        Override { restrictive: true, .. } => Wanted::Restrictive,
        Override { .. } => Wanted::Clear,
    }
}

fn run(args: &Override, edge: &mut Edge) -> anyhow::Result<Output> {
    let (kind, object) =
        world::named(&args.resource, args.reach.namespace()).map_err(anyhow::Error::msg)?;
    let cluster = args.reach.connect()?;
    let world = cluster.world()?;
    let Some(seen) = world.resource(&object) else {
        if world.policy(&object).is_some() {
            anyhow::bail!(
                "{object} is a policy: override a resource that names it, or edit the policy"
            );
        }
        anyhow::bail!("there is no {object} in this cluster");
    };
    let policy = seen.policy().and_then(|named| world.policy(&named).cloned());
    let change =
        change(seen, policy.as_ref(), wanted(args, edge.now), args.reason.as_deref(), edge.now)
            .map_err(anyhow::Error::msg)?;
    if !args.dry_run {
        cluster.patch(kind, &object, &change.patch)?;
    }
    let report = Report {
        kind: &object.kind,
        namespace: object.namespace.as_deref(),
        name: object.name.as_deref().unwrap_or_default(),
        applied: !args.dry_run,
        meaning: &change.meaning,
        patch: &change.patch,
        undo: &change.undo,
    };
    Ok(Output::done(match args.formats.output {
        Format::Json => output::json(&report)?,
        Format::Yaml => output::yaml(&report)?,
        Format::Table | Format::Wide => told(args, &object, &change)?,
    }))
}

fn told(args: &Override, object: &Object, change: &Change) -> anyhow::Result<String> {
    let mut told = String::new();
    let would = if args.dry_run { "nothing was changed; with this patch " } else { "" };
    let _ = writeln!(told, "{would}{}", output::printable(&change.meaning));
    let _ = writeln!(
        told,
        "\npatch:\n{}",
        text::indented(2, &serde_json::to_string_pretty(&change.patch)?)
    );
    let _ = writeln!(told, "\nundo:\n  {}", undo(&args.resource, object, &change.undo));
    Ok(told)
}

/// The command that takes it back.
fn undo(called: &str, object: &Object, patch: &Value) -> String {
    let strategy = patch.pointer("/spec/changeManagement/strategy").and_then(Value::as_str);
    let silent =
        patch.pointer("/metadata/annotations").and_then(|all| all.get(api::names::OVERRIDE_REASON));
    if strategy == Some("ByPolicy") && silent.is_none_or(Value::is_null) {
        return format!("tidegate override {called} --clear");
    }
    let plural = api::names::plural(&object.kind);
    let namespace =
        object.namespace.as_ref().map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    let name = object.name.as_deref().unwrap_or_default();
    // A quote in a reason must not end the quoting of a shell.
    let patch = patch.to_string().replace('\'', r"'\''");
    format!("kubectl patch {plural} {name}{namespace} --type merge -p '{patch}'")
}
