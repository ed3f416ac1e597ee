//! `tidegate history`: what was decided, frozen, overridden and begun, and is the record of it as it was written? (HIST-1)

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use api::kinds::CHANGE_RECORD;
use clap::{Args, FromArgMatches as _, Subcommand, ValueEnum};
use runtime::path::Resource;
use serde_json::Value;
use tidegate_core::history::{
    verify::{Held, Source, verify},
    wanted::{Called, Wanted},
};
use views::{
    drawing::Detail,
    history::{History, Soundness, Verification},
};

use super::{Listed, Verb};
use crate::{
    args::{Formats, Moment, moment},
    cluster::Reach,
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded, Reads},
};

/// The largest file of lines that is read: all that a history holds, a hundred times.
const LARGEST: u64 = 512 * 1024 * 1024;

/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(crate) fn verb() -> Verb {
    Verb {
        name: "history",
        about: "Show what was decided, frozen, overridden and begun, or verify the record of it",
        more: "The operator records it in objects of the kind ChangeRecord: those of a namespace in that namespace, those of the cluster in its own. Each entry \
               carries the hash of the one before. `history verify` makes every hash anew and names the first that does not hold. The record is tamper-evident and \
               not tamper-proof: whoever may write these objects can make a whole history anew, and nobody sees entries that were cut off at its end, unless somebody \
               kept an export. So keep the lines of -o jsonl elsewhere, and verify with --kept: whatever stands there and not in the cluster is told.\n\n\
               Exit codes of `history verify`: 0 every link holds, 1 one does not or something is lost, 2 the command cannot tell, as where there is no entry or a file is damaged.\n\n\
               Examples:\n  \
               tidegate history\n  \
               tidegate history mcp/worker node --from 2026-11-01 --until 2026-12-01\n  \
               tidegate history -o jsonl > history-2026-11.jsonl\n  \
               tidegate history verify\n  \
               tidegate history verify --kept history-2026-11.jsonl",
        listed: Listed::Yes,
        args: HistoryArgs::augment_args,
        run: |matches, edge| run(&HistoryArgs::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
struct HistoryArgs {
    #[command(subcommand)]
    step: Option<Step>,

    /// Only entries about these: KIND, KIND/NAME or KIND/NAMESPACE/NAME, such as mcp/worker
    #[arg(value_name = "OBJECT", value_parser = Called::read)]
    objects: Vec<Called>,

    /// Only what happened from then on: RFC 3339, or a date for its midnight in UTC
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<Moment>,

    /// Only what happened before then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Moment>,

    #[command(flatten)]
    place: Place,

    /// How to write the output
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = HistoryFormat::Table)]
    output: HistoryFormat,
}

#[derive(Subcommand, Debug)]
enum Step {
    /// Say whether the record is as it was written, and where not
    Verify(VerifyArgs),
}

#[derive(Args, Debug)]
struct VerifyArgs {
    #[command(flatten)]
    place: Place,

    /// An export that you kept: everything in it must still be there; may be given several times. Of several -f, those after the first are taken so too
    #[arg(long, value_name = "PATH")]
    kept: Vec<PathBuf>,

    #[command(flatten)]
    formats: Formats,
}

/// Where the record is.
#[derive(Args, Debug)]
struct Place {
    /// A file of records or of lines of -o jsonl, a folder of records, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HistoryFormat {
    Table,
    Wide,
    Json,
    Yaml,
    Jsonl,
}

fn run(args: &HistoryArgs, edge: &mut Edge) -> anyhow::Result<Output> {
    if let Some(Step::Verify(args)) = &args.step {
        return verified(args, edge);
    }
    let (sources, loaded) = args.place.sources(&[], edge)?;
    let entries = sources.iter().flat_map(|source| &source.entries).map(|stored| &stored.entry);
    let namespace = args.place.reach.namespace();
    let entries = entries.filter(|entry| namespace.is_none_or(|own| entry["chain"] == own));
    let wanted = Wanted {
        objects: args.objects.clone(),
        from: args.from.map(|moment| moment.instant),
        until: args.until.map(|moment| moment.instant),
    };
    let history = History::new(entries, &wanted);
    let text = match args.output {
        HistoryFormat::Table => history.drawing(Detail::Short, edge.colour),
        HistoryFormat::Wide => history.drawing(Detail::Full, edge.colour),
        HistoryFormat::Json => output::json(&history.items())?,
        HistoryFormat::Yaml => output::yaml(&history.items())?,
        HistoryFormat::Jsonl => history.lines(),
    };
    Ok(told(Output::done(text), &loaded))
}

fn verified(args: &VerifyArgs, edge: &mut Edge) -> anyhow::Result<Output> {
    let (sources, loaded) = args.place.sources(&args.kept, edge)?;
    let mut chains = verify(&sources);
    if let Some(namespace) = args.place.reach.namespace() {
        chains.retain(|one| one.chain.is_empty() || one.chain == namespace);
    }
    let verification = Verification { chains };
    let text = output::written(
        args.formats.output,
        || verification.report(),
        |_| verification.drawing(edge.colour),
    )?;
    let exit = match verification.soundness() {
        Soundness::Intact => Exit::Done,
        Soundness::Broken => Exit::No,
        Soundness::CannotTell => Exit::Failure,
    };
    Ok(told(Output { exit, ..Output::done(text) }, &loaded))
}

/// Tells what is wrong with what was read. What is known to be broken stays so.
fn told(output: Output, loaded: &[Loaded]) -> Output {
    let exit = output.exit;
    let output = loaded.iter().fold(output, Output::with_problems);
    if exit == Exit::No { Output { exit, ..output } } else { output }
}

impl Place {
    /// Every entry that is there, as it is stored, by where it was read, and what is wrong with the files.
    fn sources(
        &self,
        kept: &[PathBuf],
        edge: &mut Edge,
    ) -> anyhow::Result<(Vec<Source>, Vec<Loaded>)> {
        let (mut sources, mut loaded) = (Vec::new(), Vec::new());
        if self.files.is_empty() {
            sources.push(self.held_by_server()?);
        }
        for (index, path) in self.files.iter().chain(kept).enumerate() {
            let held = if index == 0 && sources.is_empty() { Held::Now } else { Held::Kept };
            sources.push(read(path, held, &mut loaded, edge)?);
        }
        Ok((sources, loaded))
    }

    fn held_by_server(&self) -> anyhow::Result<Source> {
        let kind = Resource::of(&CHANGE_RECORD);
        match self.reach.connect()?.others(kind, self.reach.namespace()) {
            Ok(records) => Ok(Source::pages("the cluster", Held::ByServer, &records)),
            Err(error) if error.code() == Some(404) => bail!(
                "this cluster has no kind {}, so nothing is recorded\n  hint: install Tidegate with history.enabled=true",
                CHANGE_RECORD.name
            ),
            Err(error) => bail!("cannot list {}: {}", kind.plural(), error.told()),
        }
    }
}

/// What a file or a folder holds. What is wrong with it is told with its name.
fn read(
    path: &Path,
    held: Held,
    loaded: &mut Vec<Loaded>,
    edge: &mut Edge,
) -> anyhow::Result<Source> {
    let name = if path.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let text = if path.as_os_str() == "-" {
        text_of(&mut edge.stdin, path)?
    } else if fs::metadata(path).is_ok_and(|file| file.is_file()) {
        let mut file =
            File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        text_of(&mut file, path)?
    } else {
        Vec::new()
    };
    if let Some(lines) = lines(&name, &text)? {
        return Ok(Source::lines(&name, held, lines));
    }
    // The source of standard input is read already, and every other path is read there with its name.
    let paths = [path.to_owned()];
    let read = source::load_all(&paths, Reads::Anything, &mut text.as_slice());
    let records = read.written.iter().map(|written| &written.object);
    let records = records.filter(|object| object["kind"] == CHANGE_RECORD.name);
    let source = Source::pages(&name, held, records);
    loaded.push(read);
    Ok(source)
}

fn text_of(stream: &mut dyn Read, path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stream.take(LARGEST + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() as u64 > LARGEST {
        bail!("{} is larger than 512 MiB\n  hint: split it into several files", path.display());
    }
    Ok(bytes)
}

/// The entries of a text that has one on each line, with the numbers of the lines; none if it is another text. Whoever verifies tells what is on a line
/// and no entry: it has no number. What is no JSON was damaged, and nothing can be told of it.
fn lines(name: &str, text: &[u8]) -> anyhow::Result<Option<Vec<(usize, Value)>>> {
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let lines: Vec<_> =
        lines.map(|(index, line)| (index + 1, serde_json::from_slice(line))).collect();
    let is_entry =
        |value: &Value| value.get("previousHash").is_some() && value.get("kind").is_none();
    if !lines.iter().any(|(_, line)| line.as_ref().is_ok_and(is_entry)) {
        return Ok(None);
    }
    let read = lines.into_iter().map(|(number, line)| match line {
        Ok(entry) => Ok((number, entry)),
        Err(error) => bail!(
            "{name}:{number}: this line is no entry: {error}\n  hint: {}",
            if number == 1 && text.starts_with(BYTE_ORDER_MARK) {
                "the file begins with a byte order mark; take the export as tidegate writes it"
            } else {
                "the file was cut or damaged; take another copy of this export"
            }
        ),
    });
    read.collect::<anyhow::Result<_>>().map(Some)
}
