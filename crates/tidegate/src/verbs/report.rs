//! `tidegate report`: what would somebody see who cannot reach the cluster?

use std::path::PathBuf;

use api::kinds::CHANGE_RECORD;
use clap::{Args, FromArgMatches as _, ValueEnum};
use console::Report;
use runtime::path::Resource;
use schedule::Zone;
use serde_json::Value;
use tidegate_core::history::verify::Held;

use super::{Listed, Verb};
use crate::{
    args::At,
    cluster::{Extent, Reach},
    edge::Edge,
    output::Output,
    source::{self, Reads},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "report",
        about: "Write the pages of the console into one file that can be mailed: no script, no link elsewhere",
        more: "The command reads the cluster that kubectl would use, or files with -f: a folder, a must-gather, or the output of `kubectl get -o yaml`. \
               It writes nothing there. The file holds what is open, held and pending, why and until when, the calendar, every pool with its nodes, a forecast of a year, \
               and the history where it is recorded. The same objects and the same --at give the same bytes.\n\n\
               Examples:\n  \
               tidegate report > report.html\n  \
               tidegate report -f must-gather/ --at 2026-12-24T12:00:00Z --tz Europe/Berlin > report.html",
        listed: Listed::Yes,
        args: ReportArgs::augment_args,
        run: |matches, edge| run(&ReportArgs::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct ReportArgs {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    /// The time zone in which times are told, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", value_parser = zone, default_value = "UTC")]
    tz: Zone,
    /// How to write the output
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Html)]
    output: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Html,
}

fn zone(name: &str) -> Result<Zone, String> {
    Zone::named(name).map_err(|error| error.to_string())
}

fn run(args: &ReportArgs, edge: &mut Edge) -> anyhow::Result<Output> {
    let at = args.reach.instant(&args.at, &args.files, edge)?;
    let (snapshot, loaded) = args.reach.snapshot(Extent::Everything, &args.files, edge, at)?;
    let records = records(args, edge)?;
    let names: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
    let place = if names.is_empty() { "cluster".to_owned() } else { names.join(", ") };
    let report = Report {
        snapshot: &snapshot,
        records: records.as_ref().map(Option::as_deref).map_err(String::as_str),
        held: if args.files.is_empty() { Held::ByServer } else { Held::Now },
        place: &place,
        at,
        zone: &args.tz,
    };
    let text = match args.output {
        ReportFormat::Html => report.html(),
    };
    Ok(Output::done(text).with_problems(&loaded))
}

/// The pages of the history, or why they cannot be read; none if there is no such kind, or nobody wrote one down.
fn records(
    args: &ReportArgs,
    edge: &mut Edge,
) -> anyhow::Result<Result<Option<Vec<Value>>, String>> {
    if args.files.is_empty() {
        let listed = args.reach.connect()?.others(Resource::of(&CHANGE_RECORD), None);
        // Somebody who may not read it still gets the rest, and reads why.
        return Ok(match listed {
            Ok(pages) => Ok(Some(pages)),
            Err(error) if error.code() == Some(404) => Ok(None),
            Err(error) => Err(error.told()),
        });
    }
    // Standard input has been read.
    let files: Vec<PathBuf> =
        args.files.iter().filter(|path| path.as_os_str() != "-").cloned().collect();
    let read = source::load_all(&files, Reads::Anything, &mut edge.stdin);
    let records: Vec<Value> = read
        .written
        .into_iter()
        .map(|written| written.object)
        .filter(|object| object["kind"] == CHANGE_RECORD.name)
        .collect();
    Ok(Ok((!records.is_empty()).then_some(records)))
}
