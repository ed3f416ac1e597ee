//! `tidegate audit`: what started outside its window, and what would a gate have refused, by an audit log of the API server?

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::PathBuf,
};

use anyhow::Context as _;
use apiserver::Known;
use clap::{Args, FromArgMatches as _};
use tidegate_core::{
    audit::{self, Auditor, Before, Judged, Question, Told, Write},
    held::{self, Holder},
    reach::rooms::CUSTOM,
};
use views::audit::Audit;

use super::{Listed, Verb};
use crate::{
    args::Formats,
    cluster::Reach,
    edge::Edge,
    output::{self, Exit, Output},
    values::rooms_of,
};

/// The longest line that is read: two objects of the largest size that the API server takes, each escaped.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "audit",
        about: "Judge an audit log of the API server: who started what outside a window, and what a gate would have refused",
        more: "Each first write in the log is judged at its requestReceivedTimestamp, by the gates, policies, freezes and overrides as they are now: those of the \
               cluster that kubectl would use, or of files with --gates. A gate in these files that no cluster has yet is replayed: the command tells what it \
               would have refused. A gate whose mode is Warn or Audit lets everything pass: what it would note is listed, and is no fault. Events of level Metadata do not hold what was written, and about them the command cannot tell; log at RequestResponse what \
               rooms look at. The log is JSON, one event or EventList on a line; a compressed one is piped in by zcat.\n\n\
               Exit codes: 0 nothing started outside, 1 something did or would have been refused, 2 the command cannot \
               tell, as where there is no gate and no freeze, or no event to judge.\n\n\
               Examples:\n  \
               tidegate audit -f /var/log/kubernetes/audit.log\n  \
               zcat audit-*.gz | tidegate audit -f - -o json\n  \
               tidegate audit -f audit.log --gates my-gate.yaml --gates policies/\n  \
               tidegate audit -f audit.log --values values.yaml",
        listed: Listed::Yes,
        args: AuditArgs::augment_args,
        run: |matches, edge| run(&AuditArgs::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct AuditArgs {
    /// An audit log, or - for standard input; may be given several times, in the order of time
    #[arg(short = 'f', long = "file", value_name = "PATH", required = true)]
    logs: Vec<PathBuf>,
    /// A file or folder of gates, policies, freezes, overrides and namespaces, instead of a cluster; may be given several times
    #[arg(long, value_name = "PATH")]
    gates: Vec<PathBuf>,
    /// A file with values of the chart: the rooms of your own that it has are judged too
    #[arg(long, value_name = "PATH")]
    values: Option<PathBuf>,
    /// The namespace of the operator, which gates of the cluster leave alone
    #[arg(long, value_name = "NAME", default_value = "tidegate-system")]
    operator_namespace: String,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

fn run(args: &AuditArgs, edge: &mut Edge) -> anyhow::Result<Output> {
    let stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if args.logs.iter().filter(stdin).count() + args.gates.iter().filter(stdin).count() > 1 {
        anyhow::bail!(
            "standard input is named more than once\n  hint: - can stand for one log, or for one file of gates"
        );
    }
    let at = edge.now;
    let (documents, snapshot, loaded) = args.reach.documents(&args.gates, edge, at)?;
    let documents = documents.iter().map(|(row, document)| (*row, document));
    let holders = held::holders(&snapshot, documents);
    let own = args.values.as_deref().map(rooms_of).transpose()?;
    let mut auditor =
        Auditor::new(&holders, &snapshot).with_rooms(own.as_deref().unwrap_or_default());
    let mut evaluator =
        Evaluator { operators: &args.operator_namespace, compiled: BTreeMap::new() };
    for path in &args.logs {
        if path.as_os_str() == "-" {
            read(&mut BufReader::new(&mut edge.stdin), &mut auditor, &mut evaluator)
        } else {
            let file = File::open(path);
            file.and_then(|file| read(&mut BufReader::new(file), &mut auditor, &mut evaluator))
        }
        .with_context(|| format!("cannot read {}", path.display()))?;
    }
    let audit = Audit { tally: auditor.finish(), holders: holders.len() };
    let text = output::written(
        args.formats.output,
        || audit.report(),
        |detail| audit.drawing(detail, edge.colour),
    )?;
    // What is known to have started outside is worth more than what nobody can tell.
    let exit = Exit::of([audit.verdict()]);
    let mut output = Output { exit, ..Output::done(text) };
    let named = |holder: &Holder| holder.gate().is_some() && holder.may_hold(CUSTOM, None);
    if own.is_none() && holders.iter().any(named) {
        output.talk.push_str(
            "warning: a gate holds rooms of your own, and what they look at stands in the values of the chart, so that their first writes are not judged\n  \
             hint: name the values by --values\n",
        );
    }
    Ok(output.with_problems(&loaded))
}

/// Hands over a log line by line, so that one of any size is read.
fn read(
    log: &mut impl BufRead,
    auditor: &mut Auditor<'_>,
    evaluator: &mut Evaluator<'_>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = log.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            auditor.unreadable("it is longer than 16 MiB");
            skip_line(log)?;
            continue;
        }
        auditor.line(&line, &mut |judged, question, write| evaluator.ask(judged, question, write));
    }
}

fn skip_line(log: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = log.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        log.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// Evaluates what rooms ask, by the embedded server, and compiles each expression once.
struct Evaluator<'a> {
    operators: &'a str,
    compiled: BTreeMap<(String, &'static str), Result<apiserver::Question, String>>,
}

impl Evaluator<'_> {
    fn ask(&mut self, judged: Judged<'_>, question: Question<'_>, write: &Write<'_>) -> Told {
        let (kind, parameter) = match question {
            Question::Begins => ("begins", &serde_json::Value::Null),
            Question::Holds(parameter, document) => (parameter.kind(), document),
        };
        let operators = self.operators;
        // No room has the name of one of somebody's own: those of the table end in nothing like it.
        let own = judged.own.map(|own| own.name.as_str()).unwrap_or_default();
        let key = (format!("{}/{own}", judged.room.slug), kind);
        let compiled = self.compiled.entry(key).or_insert_with(|| {
            apiserver::Question::new(&audit::variables(judged, question, operators))
        });
        let write = apiserver::Write {
            object: Known::Object(write.object),
            old_object: match write.before {
                Before::Nothing => Known::None,
                Before::Object(before) => Known::Object(before),
                Before::Unknown => Known::Unknown,
            },
            namespace_object: write.namespace.map_or(Known::Unknown, Known::Object),
            request: write.request,
        };
        match compiled {
            Ok(compiled) => compiled.ask(&write, parameter),
            Err(why) => ["begins", "held"].map(|name| (name.to_owned(), Err(why.clone()))).into(),
        }
    }
}
