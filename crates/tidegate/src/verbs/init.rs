//! `tidegate init`: what would somebody write who holds nothing yet? It looks around and proposes; it writes nothing (RCH-6).

use std::{fmt::Write as _, path::PathBuf};

use anyhow::bail;
use clap::{Args, FromArgMatches as _};
use serde_json::Value;
use tidegate_core::{
    doctor::{
        movers,
        proposal::{Proposals, proposed},
    },
    held::{self, Holder},
};
use views::{safe::printable, yaml};

use super::{Listed, Verb};
use crate::{
    args::GateMode,
    cluster::{MOVING, Reach},
    edge::Edge,
    output::{Exit, Output},
    source::{self, Loaded, Reads},
};

const POLICY: &str = "ChangeManagementPolicy";

pub(crate) fn verb() -> Verb {
    Verb {
        name: "init",
        about: "Look around in a cluster, and propose gates and a policy for what nothing holds; writes nothing",
        more: "The command finds the controllers that `tidegate doctor` knows, in the cluster that kubectl would use, with your rights, or in files with -f. For each that nothing holds it \
               prints a ClusterChangeGate, with what it found above it as a comment, and a policy if there is none. The gates only note what they would refuse (--mode audit) unless you say \
               otherwise. Read it, change it, and apply it yourself.\n\n\
               Exit codes: 0 done, 2 the command could not look at something; what it found is printed all the same.\n\n\
               Examples:\n  \
               tidegate init > gates.yaml\n  \
               tidegate init --policy nights --mode enforce | kubectl apply --dry-run=server -f -\n  \
               tidegate init -f must-gather/",
        listed: Listed::Yes,
        args: Init::augment_args,
        run: |matches, edge| run(&Init::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Init {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// The policy that says when [default: the only one there is, or one that is proposed]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// What becomes of a first write that a gate does not permit
    #[arg(long, value_name = "MODE", value_enum, ignore_case = true, default_value = "audit")]
    mode: GateMode,
    #[command(flatten)]
    reach: Reach,
}

/// What was looked at.
struct Seen {
    documents: Vec<Value>,
    holders: Vec<Holder>,
    policies: Vec<String>,
    unseen: Vec<String>,
    loaded: Loaded,
    exit: Exit,
}

fn run(args: &Init, edge: &mut Edge) -> anyhow::Result<Output> {
    let Seen { documents, holders, policies, unseen, loaded, exit } =
        if args.files.is_empty() { of_cluster(args, edge)? } else { of_files(args, edge) };
    let policy = chosen(args.policy.as_deref(), &policies)?;
    let found = movers::found(&documents, &holders);
    let proposals = proposed(&found, &holders, policy.as_deref(), args.mode.into());
    let mut output = Output { exit, ..Output::done(written(&proposals)) };
    for missing in &unseen {
        let _ = writeln!(output.talk, "not looked at: {}", printable(missing));
    }
    Ok(output.with_problems(&loaded))
}

/// The policy that gates are to name; none if one has to be proposed.
fn chosen(wanted: Option<&str>, policies: &[String]) -> anyhow::Result<Option<String>> {
    match (wanted, policies) {
        (Some(wanted), _) if policies.iter().any(|known| known == wanted) => {
            Ok(Some(wanted.to_owned()))
        }
        (Some(wanted), []) => {
            bail!(
                "there is no {POLICY} {wanted:?}\n  hint: leave --policy out, and one is proposed"
            )
        }
        (Some(wanted), known) => {
            bail!("there is no {POLICY} {wanted:?}\n  hint: there is {}", known.join(", "))
        }
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only.clone())),
        (None, several) => {
            bail!(
                "there is more than one {POLICY}\n  hint: name one by --policy: {}",
                several.join(", ")
            )
        }
    }
}

fn of_cluster(args: &Init, edge: &mut Edge) -> anyhow::Result<Seen> {
    let cluster = args.reach.connect()?;
    let (objects, snapshot, loaded) = args.reach.documents(&[], edge, edge.now)?;
    let policies = objects.iter().filter(|(row, _)| row.kind.name == POLICY);
    let policies = policies.filter_map(|(_, document)| name(document)).collect();
    let holders = held::holders(&snapshot, objects.iter().map(|(row, document)| (*row, document)));
    let (mut documents, mut unseen) = (Vec::new(), Vec::new());
    for (kind, what) in MOVING {
        match cluster.others(kind, None) {
            Ok(items) => documents.extend(items.into_iter().map(|mut item| {
                // The items of a list need not say what they are.
                if let Some(fields) = item.as_object_mut() {
                    fields.insert("kind".into(), kind.kind().into());
                }
                item
            })),
            Err(error) => {
                unseen.push(format!("{what}: cannot list {}: {}", kind.kind(), error.told()));
            }
        }
    }
    let exit = if unseen.is_empty() { Exit::Done } else { Exit::Failure };
    Ok(Seen { documents, holders, policies, unseen, loaded, exit })
}

fn of_files(args: &Init, edge: &mut Edge) -> Seen {
    let loaded = source::load_all(&args.files, Reads::Anything, &mut edge.stdin);
    let documents: Vec<Value> = loaded.written.iter().map(|one| one.object.clone()).collect();
    let (rows, snapshot) = source::of_cluster(&loaded, &documents, edge.now);
    let holders = held::holders(&snapshot, rows);
    let policies = documents.iter().filter(|document| document["kind"] == POLICY);
    let policies = policies.filter_map(name).collect();
    let missing = MOVING
        .iter()
        .filter(|(kind, _)| !documents.iter().any(|document| document["kind"] == kind.kind()))
        // A dump says what it looked at: where it found none there is none.
        .filter(|(kind, _)| !loaded.dumps.iter().any(|head| head.content(kind.kind()).is_some()));
    let missing = missing.map(|(kind, what)| format!("{what}: the files hold no {}", kind.kind()));
    let asked = |name: &str| MOVING.iter().any(|(kind, _)| kind.kind() == name);
    let unseen = missing.chain(loaded.missing_of_dumps(asked)).collect();
    Seen { documents, holders, policies, unseen, loaded, exit: Exit::Done }
}

fn name(document: &Value) -> Option<String> {
    document.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned)
}

/// The objects as documents of one stream, each below the reasons for it.
fn written(proposals: &Proposals) -> String {
    let mut text = String::new();
    let comment = |text: &mut String, said: &str| {
        let _ = writeln!(text, "# {}", printable(said));
    };
    if proposals.objects.is_empty() {
        comment(&mut text, "nothing is proposed: whatever was found is held, or no room holds it");
    } else {
        comment(
            &mut text,
            "proposed by tidegate init, and written nowhere: read it, change it, apply it",
        );
    }
    for said in &proposals.remarks {
        comment(&mut text, said);
    }
    for one in &proposals.objects {
        text.push_str("---\n");
        for said in &one.why {
            comment(&mut text, said);
        }
        text.push_str(&yaml::write(&one.document));
    }
    text
}
