//! `tidegate convert`: how is a rule written in the other form?

use std::{fmt::Write as _, io::Read as _, path::PathBuf};

use anyhow::{Context as _, bail};
use api::policy::{ChangeManagementPolicy, MaintenanceSchedule, Permit, PolicySpec, Strategy};
use clap::{Args, FromArgMatches as _};
use schedule::{Rrule, TimeOfDay};
use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::seen::Seen,
    document::format::{self, Flaw},
    policy::{
        convert::{self, Structured},
        stanza::StanzaReading,
    },
};
use views::{
    items::{Items, Named},
    safe::printable,
};

use super::{Listed, Verb};
use crate::{
    args::{Format, Formats},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Found, Loaded, Reads},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "convert",
        about: "Turn an RRULE into a policy, policies into RRULEs, and versionManagement into changeManagement",
        more: "The command tells on standard error what the other form cannot express. It refuses an RRULE that a policy cannot hold, with the \
               reason and exit code 1. Lengths and exclusions, which no RRULE has, become notes.\n\n\
               Of a ClusterVersion, MachineConfigPool, HostedCluster or NodePool with spec.versionManagement the command writes a policy with the same \
               windows and the stanza that names it, as a merge patch, and tells what is lost.\n\n\
               Examples:\n  \
               tidegate convert 'FREQ=WEEKLY;BYDAY=SA,SU' --start-time 20:00 --duration 8h\n  \
               tidegate convert 'DTSTART;TZID=Europe/Berlin:20260103T200000\n  RRULE:FREQ=MONTHLY;BYDAY=1SA' --name patch-night\n  \
               tidegate convert -f policy.yaml\n  \
               tidegate convert -f pool.yaml --name nights",
        listed: Listed::Yes,
        args: Convert::augment_args,
        run: |matches, edge| run(&Convert::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Convert {
    /// The rule, with or without its DTSTART line; - for standard input
    #[arg(value_name = "RRULE", required_unless_present = "files", conflicts_with = "files")]
    rule: Option<String>,
    /// Policies to turn into rules, or resources to turn into the newest form: a file, a folder, or - for standard input
    #[arg(short = 'f', long = "file", id = "files", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// The name of the policy to write
    #[arg(long, default_value = "converted")]
    name: String,
    /// When its windows open, if the rule does not say: HH:MM
    #[arg(long, value_name = "HH:MM", value_parser = time_of_day)]
    start_time: Option<TimeOfDay>,
    /// How long its windows last, such as 8h [default: the rest of the day]
    #[arg(long, value_name = "LENGTH", value_parser = duration)]
    duration: Option<u32>,
    #[command(flatten)]
    formats: Formats,
}

fn time_of_day(text: &str) -> Result<TimeOfDay, String> {
    format::time_of_day(text).map_err(flaw)
}

fn duration(text: &str) -> Result<u32, String> {
    format::duration(text).map_err(flaw)
}

fn flaw(flaw: Flaw) -> String {
    let Flaw { detail, hint } = flaw;
    format!("{detail}; {hint}")
}

fn run(args: &Convert, edge: &mut Edge) -> anyhow::Result<Output> {
    match args.rule.as_deref() {
        None => to_rules(args, edge),
        Some("-") => {
            let mut text = String::new();
            edge.stdin
                .by_ref()
                .take(source::LARGEST)
                .read_to_string(&mut text)
                .context("cannot read standard input")?;
            to_policy(&text, "<stdin>", args)
        }
        Some(text) => to_policy(text, "<rule>", args),
    }
}

/// A policy as a rule, for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Item {
    #[serde(flatten)]
    object: Named,
    dtstart: Option<String>,
    rrule: Option<String>,
    notes: Vec<String>,
}

fn to_rules(args: &Convert, edge: &mut Edge) -> anyhow::Result<Output> {
    let loaded = source::load_all(&args.files, Reads::Everything, &mut edge.stdin);
    if let Some(output) = to_newest(args, &loaded)? {
        return Ok(output.with_problems(&loaded));
    }
    let items = Items { items: loaded.policies.iter().map(item).collect() };
    let mut output = Output::done("");
    match args.formats.output {
        Format::Json => output.text = output::json(&items)?,
        Format::Yaml => output.text = output::yaml(&items)?,
        Format::Table | Format::Wide => {
            for (found, item) in loaded.policies.iter().zip(&items.items) {
                let object = printable(&found.policy.object.to_string());
                // Of one policy there are only lines that calendar programs read; several must be told apart.
                if items.items.len() > 1 && item.rrule.is_some() {
                    let _ = writeln!(output.text, "# {object}");
                }
                if let (Some(start), Some(rule)) = (&item.dtstart, &item.rrule) {
                    let _ = writeln!(output.text, "{start}\n{rule}");
                }
                for note in &item.notes {
                    let _ = writeln!(output.talk, "{object}: {}", printable(note));
                }
            }
        }
    }
    if items.items.iter().any(|item| item.rrule.is_none()) {
        output.exit = Exit::No;
    }
    for (row, document) in &loaded.objects {
        if let Seen::Gated(gated) = row.see(document) {
            let key = &gated.identity.key;
            let _ = writeln!(
                output.talk,
                "{key}: there is no usable spec.versionManagement to convert"
            );
            output.exit = Exit::No;
        }
    }
    Ok(output.with_problems(&loaded))
}

/// Resources whose stanza is spelled as an earlier design does, in the newest form: a policy for each, and the stanza that names it. None if there
/// is no such resource.
fn to_newest(args: &Convert, loaded: &Loaded) -> anyhow::Result<Option<Output>> {
    let mut output = Output::done("");
    let mut documents: Vec<Value> = Vec::new();
    for (row, document) in &loaded.objects {
        let Seen::Gated(gated) = row.see(document) else { continue };
        let StanzaReading::Version(read) = &gated.stanza.reading else { continue };
        let key = &gated.identity.key;
        let name = match args.name.as_str() {
            "converted" => &*key.name,
            given => given,
        };
        if let Err(Flaw { detail, hint }) = format::check("dns-subdomain", name) {
            bail!("--name: {}\n  hint: {hint}", printable(&detail));
        }
        match convert::version::converted(key, read, name) {
            Ok(made) => {
                // Whatever is applied last would count for both.
                let other = |policy: &Value| {
                    documents.iter().any(|one| {
                        one["kind"] == policy["kind"]
                            && one["metadata"] == policy["metadata"]
                            && one["spec"] != policy["spec"]
                    })
                };
                if made.policy.as_ref().is_some_and(other) {
                    let _ = writeln!(
                        output.talk,
                        "{key}: another policy of the name {} says otherwise; hint: convert one at a time, each with a --name of its own",
                        printable(name)
                    );
                    output.exit = Exit::No;
                    continue;
                }
                documents.extend(made.policy);
                documents.push(json!({
                    "apiVersion": row.kind.api_version, "kind": row.kind.name,
                    "metadata": {"name": &*key.name, "namespace": key.namespace.as_deref()},
                    "spec": {"versionManagement": null, "changeManagement": made.stanza},
                }));
                for lost in made.lost {
                    let _ = writeln!(output.talk, "{key}: {}", printable(&lost));
                }
            }
            Err(error) => {
                let error = printable(&error.to_string());
                let _ = writeln!(output.talk, "{key}: a policy cannot hold its rule: {error}");
                output.exit = Exit::No;
            }
        }
    }
    if documents.is_empty() && output.talk.is_empty() {
        return Ok(None);
    }
    output.text = match args.formats.output {
        Format::Json => output::json(&Items { items: documents })?,
        Format::Table | Format::Wide | Format::Yaml => {
            let each: anyhow::Result<Vec<String>> = documents.iter().map(output::yaml).collect();
            each?.join("---\n")
        }
    };
    Ok(Some(output))
}

fn item(found: &Found) -> Item {
    let policy = &found.policy;
    let (dtstart, rrule, notes) = match convert::to_rule(&policy.lowered.schedule) {
        Some(rule) => (Some(rule.start), Some(rule.rule), rule.notes),
        None => (None, None, vec!["there are no recurring windows to write as a rule".to_owned()]),
    };
    Item { object: Named::from(&policy.object), dtstart, rrule, notes }
}

fn to_policy(text: &str, name: &str, args: &Convert) -> anyhow::Result<Output> {
    let rule = match Rrule::parse(text) {
        Ok(rule) => rule,
        Err(error) => return Ok(refused(name, text, &error, Exit::Failure)),
    };
    let structured = match convert::structured(&rule) {
        Ok(structured) => structured,
        // The error points into the rule as it prints, which is the same rule in canonical order.
        Err(error) => return Ok(refused(name, &rule.to_string(), &error, Exit::No)),
    };
    let (policy, mut notes) = policy_of(&structured, args)?;
    notes.extend(structured.notes);
    let mut output = Output::done(match args.formats.output {
        Format::Json => output::json(&policy)?,
        Format::Table | Format::Wide | Format::Yaml => output::yaml(&policy)?,
    });
    for note in notes {
        let _ = writeln!(output.talk, "{name}: {note}");
    }
    Ok(output)
}

/// Shows where in a rule the fault is: place, part, sentence, and a caret below it.
fn refused(name: &str, text: &str, error: &schedule::Error, exit: Exit) -> Output {
    let at = error.position().unwrap_or(0).min(text.len());
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count();
    let row = text.lines().nth(line).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let start = before.rfind([';', ':', '\n']).map_or(0, |separator| separator + 1);
    let part = text.get(start..).unwrap_or_default();
    let part = part.split(['=', ';', ':', '\n']).next().unwrap_or_default().trim();
    let mut talk = format!("{name}:{}:{}: ", line + 1, column + 1);
    if !part.is_empty() {
        let _ = write!(talk, "{}: ", printable(part));
    }
    let _ = writeln!(talk, "{}", printable(&error.to_string()));
    // A rule is a line or two; a page of something else is not worth repeating.
    if row.len() <= 500 {
        let _ = writeln!(talk, "  {}\n  {}^", printable(row), " ".repeat(column));
    }
    let hint = match exit {
        Exit::No => "a policy cannot hold this rule; it could hold a simpler one",
        Exit::Done | Exit::Failure => {
            "write FREQ=DAILY, WEEKLY, MONTHLY or YEARLY with INTERVAL, BYDAY, BYMONTHDAY, BYMONTH"
        }
    };
    let _ = writeln!(talk, "  hint: {hint}");
    Output { text: String::new(), talk, exit }
}

fn policy_of(
    structured: &Structured,
    args: &Convert,
) -> anyhow::Result<(ChangeManagementPolicy, Vec<String>)> {
    if let Err(flaw) = format::check("dns-subdomain", &args.name) {
        bail!("--name: {}\n  hint: {}", flaw.detail, flaw.hint);
    }
    let mut notes = Vec::new();
    if args.duration.is_none() {
        notes.push(
            "a rule has no length: windows last the rest of the day, unless --duration is given"
                .to_owned(),
        );
    }
    let start = match (args.start_time, structured.start) {
        (Some(given), Some(said)) if given != said => {
            bail!(
                "the rule opens its windows at {said}, and --start-time says {given}\n  hint: give one of them"
            );
        }
        (given, said) => given.or(said),
    };
    let zone = structured.zone.as_ref().filter(|zone| !zone.is_utc());
    let permit = Permit {
        recurrence: Some(convert::on_the_wire(&structured.recurrence)),
        start_time: start
            .filter(|start| *start != TimeOfDay::MIDNIGHT)
            .map(|start| start.to_string()),
        duration: args.duration.map(format::duration_text),
        end_time: None,
    };
    let policy = ChangeManagementPolicy {
        api_version: api::names::API_VERSION.to_owned(),
        kind: api::names::CHANGE_MANAGEMENT_POLICY.to_owned(),
        metadata: api::meta::ObjectMeta { name: args.name.clone(), ..Default::default() },
        spec: PolicySpec {
            strategy: Strategy::MaintenanceSchedule,
            maintenance_schedule: Some(MaintenanceSchedule {
                time_zone: zone.map(|zone| zone.name().to_owned()),
                permit: Some(permit),
                exclude: None,
            }),
        },
        status: None,
    };
    Ok((policy, notes))
}
