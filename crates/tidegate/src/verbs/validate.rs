//! `tidegate validate`: what is wrong with these policies, and with the stanzas that name them?

use std::{fmt::Write as _, path::PathBuf};

use api::schema::{Role, kind_named};
use clap::{Args, FromArgMatches as _};
use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    cluster::{kinds::NAMESPACE, snapshot::Snapshot},
    document::{
        key::Key,
        problem::{Code, FieldPath, Problem, Severity},
    },
    simulate::{Settings, foresee, foresight::sentence},
};
use views::{items::Named, safe::printable};

use super::{Listed, Verb};
use crate::{
    args::{self, Ahead, At, Format, Formats, Sources},
    cluster::Reach,
    edge::Edge,
    output::{self, Exit, Output},
    source::{Finding, Loaded, Reads},
    updates::Updates,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "validate",
        about: "Check policies and stanzas: every problem of every file, with its place and a hint",
        more: "The command writes problems to standard error as file:line:column: field: what. It exits with 1 if a policy cannot be used, or the \
               stanza of a ClusterVersion, MachineConfigPool, HostedCluster or NodePool; warnings alone, such as a rule that never fires, exit \
               with 0 unless --strict is given.\n\n\
               Where the files hold the ClusterVersion, pools and nodes of a cluster, the command also warns of the first update of the control \
               plane that a pool will be in the way of, because its gate keeps its kubelets too far behind: the update that ClusterVersion asks \
               for, or those of --update and --update-every.\n\n\
               Policies are judged by every ChangeGuardrail among the files and those of --guardrails and --cluster-guardrails, as the operator judges \
               them: one that is enforced and not met is a problem, one that warns or audits a warning, with the figure found, the figure required and \
               where it is worst.\n\n\
               Examples:\n  \
               tidegate validate policies/\n  \
               helm template . | tidegate validate -\n  \
               tidegate validate cluster/ --update-every 120d\n  \
               tidegate validate policies/ --guardrails examples/guardrail-gke.yaml\n  \
               tidegate validate -f policy.yaml -o json",
        listed: Listed::Yes,
        args: Validate::augment_args,
        run: |matches, edge| run(&Validate::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Validate {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    formats: Formats,
    /// Count warnings as problems
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    updates: Updates,
    /// Judge the policies by these guardrails too, besides those among the files: a file or a folder; may be given several times
    #[arg(long, value_name = "PATH")]
    guardrails: Vec<PathBuf>,
    /// Judge the policies by the guardrails of the cluster too
    #[arg(long)]
    cluster_guardrails: bool,
    #[command(flatten)]
    reach: Reach,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Report {
    valid: bool,
    files: usize,
    documents: usize,
    items: Vec<Item>,
    problems: Vec<Row>,
}

#[derive(Serialize)]
struct Item {
    #[serde(flatten)]
    object: Named,
    file: String,
    line: usize,
}

#[derive(Serialize)]
struct Row {
    file: String,
    line: usize,
    column: usize,
    object: Option<String>,
    field: String,
    severity: &'static str,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

fn run(args: &Validate, edge: &mut Edge) -> anyhow::Result<Output> {
    let mut loaded = args.sources.load_all(Reads::Everything, edge)?;
    foresee_skew(args, edge, &mut loaded)?;
    judge_by_guardrails(args, edge, &mut loaded)?;
    let valid = !loaded.has_errors() && (!args.strict || loaded.findings.is_empty());
    let exit = if valid { Exit::Done } else { Exit::No };
    let report = || report(&loaded, valid);
    let (text, talk) = match args.formats.output {
        Format::Json => (output::json(&report())?, String::new()),
        Format::Yaml => (output::yaml(&report())?, String::new()),
        Format::Table => (summary(&loaded), output::problems(&loaded.findings)),
        Format::Wide => (list(&loaded) + &summary(&loaded), output::problems(&loaded.findings)),
    };
    Ok(Output { text, talk, exit })
}

/// Warns of pools that will be in the way of an update of the control plane (CV-3). Files that hold no cluster say nothing about that.
fn foresee_skew(args: &Validate, edge: &Edge, loaded: &mut Loaded) -> anyhow::Result<()> {
    if loaded.has_errors() {
        return Ok(());
    }
    let start = args.at.instant(edge);
    let cluster = loaded.snapshot(start);
    let settings = settings(args, start);
    let updates = args.updates.path(&cluster, &settings.range)?;
    let Some(foreseen) = foresee(&cluster, &Settings { updates, ..settings }) else {
        return Ok(());
    };
    // Without a ClusterVersion the pool that is in the way is what somebody wrote.
    let pools = foreseen.blocked().into_iter().flat_map(|hop| &hop.blocks).map(|block| &block.pool);
    let objects: Vec<_> = [&foreseen.object].into_iter().chain(pools).collect();
    let mut usable = loaded.usable.iter();
    let place = usable.find(|found| objects.contains(&&found.object));
    let place = place.map(|found| (found.object.clone(), (found.file.clone(), found.place)));
    let Some((object, place)) = place else { return Ok(()) };
    let field = if object != foreseen.object {
        "spec.changeManagement"
    } else if args.updates.are_given() {
        "status.desired.version"
    } else {
        "spec.desiredUpdate"
    };
    for (hop, block) in foreseen
        .blocked()
        .into_iter()
        .flat_map(|hop| hop.blocks.iter().map(move |block| (hop, block)))
    {
        let (detail, hint) = sentence(hop, block);
        let problem = Problem::new(&FieldPath::of(field), Code::SkewAhead, detail).hint(hint);
        let problem = Problem { object: Some(object.clone()), ..problem };
        let (file, place) = place.clone();
        loaded.findings.push(Finding { file, place, problem });
    }
    Ok(())
}

/// What the guardrails say of the policies that can be used (GRD-1, GRD-4). A policy of the files is judged in the place of the cluster's.
fn judge_by_guardrails(
    args: &Validate,
    edge: &mut Edge,
    loaded: &mut Loaded,
) -> anyhow::Result<()> {
    let at = args.at.instant(edge);
    let mut world = Snapshot::default();
    if args.cluster_guardrails {
        for (row, document) in args.reach.connect()?.documents()? {
            let helps =
                matches!(row.role, Role::Guardrail | Role::Policy) || row.kind == NAMESPACE.kind;
            if helps {
                world.add(row, &document);
            }
        }
    }
    if !args.guardrails.is_empty() {
        let more = args::load(&args.guardrails, Reads::Everything, edge)?;
        for (row, document) in &more.objects {
            world.add_written(row, document, at);
        }
        loaded.findings.extend(more.findings);
    }
    for (row, document) in &loaded.objects {
        world.add_written(row, document, at);
    }
    for found in &loaded.usable {
        let Some(kind) = kind_named(&found.object.kind) else { continue };
        let name = found.object.name.as_deref().unwrap_or_default();
        let key = Key::new(kind, found.object.namespace.as_deref(), name);
        let Some(policy) = world.policy(&key) else { continue };
        for (breach, _) in world.judge_policy(policy, at).breaches {
            let problem = Problem { object: Some(found.object.clone()), ..breach.problem() };
            loaded.findings.push(Finding { file: found.file.clone(), place: found.place, problem });
        }
    }
    Ok(())
}

/// A year, or as long as the person names updates, with the usual lengths of `simulate`.
fn settings(args: &Validate, start: Instant) -> Settings {
    let year = Ahead::months(12);
    let end = args.updates.last().map_or(start, |last| last).max(start);
    Settings::usual(start..year.after(end))
}

fn summary(loaded: &Loaded) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let errors = loaded.findings.iter().filter(|finding| finding.problem.is_error()).count();
    let warnings = loaded.findings.len() - errors;
    let mut text = format!(
        "{} in {}: {} usable, {}",
        count(loaded.documents, "document"),
        count(loaded.files, "file"),
        loaded.usable.len(),
        count(errors, "problem"),
    );
    if warnings > 0 {
        let _ = write!(text, ", {}", count(warnings, "warning"));
    }
    text.push('\n');
    text
}

fn list(loaded: &Loaded) -> String {
    let mut text = String::new();
    for found in &loaded.usable {
        let object = printable(&found.object.to_string());
        let _ = writeln!(text, "{}:{}: {object}", printable(&found.file), found.place.line);
    }
    text
}

fn report(loaded: &Loaded, valid: bool) -> Report {
    Report {
        valid,
        files: loaded.files,
        documents: loaded.documents,
        items: loaded
            .usable
            .iter()
            .map(|found| Item {
                object: Named::from(&found.object),
                file: found.file.clone(),
                line: found.place.line,
            })
            .collect(),
        problems: loaded.findings.iter().map(row).collect(),
    }
}

fn row(finding: &Finding) -> Row {
    let Finding { file, place, problem } = finding;
    Row {
        file: file.clone(),
        line: place.line,
        column: place.column,
        object: problem.object.as_ref().map(ToString::to_string),
        field: problem.field.to_string(),
        severity: match problem.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: problem.code.as_str(),
        message: problem.detail.clone(),
        hint: problem.hint.clone(),
    }
}
