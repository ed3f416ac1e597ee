//! `tidegate import`: what does a calendar of holidays and freezes exclude?

use std::{fmt::Write as _, fs::File, io::Read, path::PathBuf};

use anyhow::{Context as _, bail};
use api::{
    freeze::ClusterChangeFreezeSpec,
    policy::{ChangeManagementPolicy, Exclusion, MaintenanceSchedule, PolicySpec, Strategy},
};
use clap::{Args, FromArgMatches as _, ValueEnum};
use schedule::{Date, Zone};
use serde::Serialize;
use tidegate_core::{
    document::format::{self, Flaw},
    policy::import::{self, Asked, Form, Imported},
};
use views::safe::printable;

use super::{Listed, Verb};
use crate::{
    edge::Edge,
    output::{self, Exit, Output},
    source,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "import",
        about: "Turn a calendar of holidays and freezes (iCalendar) into exclusions of a policy, or into freezes",
        more: "Each event becomes an exclusion: whole days, instants, or a recurrence where a policy can say the rule; other rules are written out, day by day, for ten years or \
               until --until. What the command does not understand it names on standard error, with line and property, and leaves out. It reads no clock: the same \
               file gives the same output, and the digest of the file stands on top. It writes nothing: pipe the output to a file, or to kubectl apply. Everything but what \
               the calendar excludes is permitted by the policy; add a permit for windows.\n\n\
               Exit codes: 0 everything was understood, 1 something was left out or means something else, 2 nothing could be read, or it is more than a policy holds.\n\n\
               Examples:\n  \
               tidegate import holidays.ics --time-zone Europe/Berlin --from 2027-01-01 > policy.yaml\n  \
               curl -s https://example.com/freezes.ics | tidegate import - --as freezes --until 2028-01-01",
        listed: Listed::Yes,
        args: Import::augment_args,
        run: |matches, edge| run(&Import::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Import {
    /// The calendar, an .ics file, or - for standard input
    #[arg(value_name = "PATH")]
    calendar: PathBuf,
    /// What to write
    #[arg(long = "as", value_name = "WHAT", default_value = "exclusions")]
    form: What,
    /// The name of the policy, or the beginning of the names of freezes
    #[arg(long, default_value = "imported")]
    name: String,
    /// The IANA time zone of days, and of times that name none [default: that of the calendar, or UTC]
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    time_zone: Option<Zone>,
    /// Leave out what is over before this day: YYYY-MM-DD
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
    /// Leave out what begins on this day or later, and write rules out until then: YYYY-MM-DD
    #[arg(long, value_name = "DATE", value_parser = date)]
    until: Option<Date>,
}

/// What a calendar is turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// One policy with exclusions.
    Exclusions,
    /// A `ClusterChangeFreeze` for each occurrence.
    Freezes,
}

fn zone(text: &str) -> Result<Zone, String> {
    format::zone(text).map_err(flaw)
}

fn date(text: &str) -> Result<Date, String> {
    format::date(text).map_err(flaw)
}

fn flaw(flaw: Flaw) -> String {
    let Flaw { detail, hint } = flaw;
    format!("{detail}; {hint}")
}

fn run(args: &Import, edge: &mut Edge) -> anyhow::Result<Output> {
    if let Err(flaw) = format::check("dns-subdomain", &format!("{}-1000", args.name)) {
        bail!("--name: {}\n  hint: {}", flaw.detail, flaw.hint);
    }
    let path = args.calendar.display().to_string();
    let text = if args.calendar.as_os_str() == "-" {
        read(&mut edge.stdin)
    } else {
        File::open(&args.calendar).map_err(Into::into).and_then(|mut file| read(&mut file))
    };
    let text = text.with_context(|| format!("cannot read {path}"))?;
    let asked = Asked {
        zone: args.time_zone.clone(),
        from: args.from,
        until: args.until,
        form: match args.form {
            What::Exclusions => Form::Exclusions,
            What::Freezes => Form::Instants,
        },
    };
    let imported = import::calendar(&text, &asked);
    if imported.too_much {
        bail!(
            "{path}: the calendar comes to more than {} exclusions, which is what a policy holds\n  hint: narrow it with --from and --until",
            import::MOST
        );
    }
    if imported.exclusions.is_empty() {
        let told = told(&path, &imported);
        bail!(
            "{told}{path}: there is no event to import\n  hint: check the file, --from and --until"
        );
    }
    let objects = match args.form {
        What::Exclusions => output::yaml(&policy(&args.name, &imported))?,
        What::Freezes => freezes(&args.name, &imported)?,
    };
    let exit = if imported.notes.is_empty() { Exit::Done } else { Exit::No };
    let text = format!("# Made by tidegate import of {}\n{objects}", imported.digest);
    Ok(Output { text, talk: told(&path, &imported), exit })
}

/// As much of a calendar as is read of any file, or a refusal: what is half read would be half a year.
fn read(from: &mut impl Read) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(source::LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > source::LARGEST {
        let most = source::LARGEST / 1024 / 1024;
        bail!(
            "it is larger than {most} MiB\n  hint: export a calendar of holidays or freezes alone, or fewer years"
        );
    }
    String::from_utf8(bytes).context("it is not UTF-8 text, which a calendar is")
}

/// What was not understood, a line for each.
fn told(path: &str, imported: &Imported) -> String {
    let mut talk = String::new();
    for note in &imported.notes {
        let _ = writeln!(
            talk,
            "{path}:{}: {}: {}",
            note.line,
            printable(&note.property),
            printable(&note.detail)
        );
    }
    if imported.more_notes > 0 {
        let _ = writeln!(talk, "{path}: and {} more like these", imported.more_notes);
    }
    talk
}

fn policy(name: &str, imported: &Imported) -> ChangeManagementPolicy {
    let zone = Some(&imported.zone).filter(|zone| !zone.is_utc());
    ChangeManagementPolicy {
        api_version: api::names::API_VERSION.to_owned(),
        kind: api::names::CHANGE_MANAGEMENT_POLICY.to_owned(),
        metadata: api::meta::ObjectMeta { name: name.to_owned(), ..Default::default() },
        spec: PolicySpec {
            strategy: Strategy::MaintenanceSchedule,
            maintenance_schedule: Some(MaintenanceSchedule {
                time_zone: zone.map(|zone| zone.name().to_owned()),
                permit: None,
                exclude: Some(imported.exclusions.clone()),
            }),
        },
        status: None,
    }
}

/// A freeze as it is applied.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Freeze {
    api_version: &'static str,
    kind: &'static str,
    metadata: api::meta::ObjectMeta,
    spec: ClusterChangeFreezeSpec,
}

fn freezes(name: &str, imported: &Imported) -> anyhow::Result<String> {
    let mut text = String::new();
    for (place, Exclusion { from, until, reason, .. }) in imported.exclusions.iter().enumerate() {
        let freeze = Freeze {
            api_version: api::names::API_VERSION,
            kind: api::names::CLUSTER_CHANGE_FREEZE,
            metadata: api::meta::ObjectMeta {
                name: format!("{name}-{}", place + 1),
                ..Default::default()
            },
            spec: ClusterChangeFreezeSpec {
                from: from.clone(),
                until: until.clone(),
                reason: reason.clone().unwrap_or_else(|| "imported from a calendar".to_owned()),
                namespace_selector: None,
                holds: None,
                exempt: None,
                by: None,
            },
        };
        if place > 0 {
            text.push_str("---\n");
        }
        text.push_str(&output::yaml(&freeze)?);
    }
    Ok(text)
}
