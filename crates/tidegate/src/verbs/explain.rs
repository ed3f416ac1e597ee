//! `tidegate explain`: may changes be initiated, and why or why not?

use std::fmt::Write as _;

use api::policy::Behavior;
use clap::{Args, FromArgMatches as _};
use schedule::{Instant, Zone};
use serde::Serialize;
use tidegate_core::{
    behavior::behavior,
    enforced::Enforcement,
    explain::{Fact, Reason, explain},
    key, overview,
    problem::Object,
    read::Policy,
    snapshot::Snapshot,
    verdict::Verdict,
};

use super::{Listed, Verb, next::headline};
use crate::{
    args::{At, Format, Formats, Sources, load},
    cluster::{Extent, Reach},
    edge::Edge,
    output::{self, Colour, Exit, Items, Named, Output, Style},
    source::Reads,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "explain",
        about: "Say whether changes are permitted at an instant, as a tree of reasons",
        more: "PATH may be a resource or a policy of the cluster that kubectl would ask: KIND/NAME, or KIND/NAMESPACE/NAME.\n\
               With --quiet nothing is printed and the exit code is the answer: 0 if everything named permits\n\
               changes, 1 if something does not, 2 if that cannot be told of something.\n\n\
               Examples:\n  \
               tidegate explain -f policy.yaml\n  \
               tidegate explain -f policies/ --at 2026-12-24T12:00:00Z -o json\n  \
               tidegate explain mcp/worker --at 2026-12-24\n  \
               tidegate explain -q clusterversion/version && ./upgrade.sh",
        listed: Listed::Yes,
        args: Explain::augment_args,
        run: |matches, edge| run(&Explain::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Explain {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Item {
    #[serde(flatten)]
    object: Named,
    at: String,
    verdict: &'static str,
    behavior: Behavior,
    reasons: Tree,
    #[serde(skip_serializing_if = "Option::is_none")]
    enforced: Option<&'static str>,
}

#[derive(Serialize)]
struct Tree {
    verdict: &'static str,
    text: String,
    until: Option<String>,
    because: Vec<Tree>,
}

/// Something that was asked about, with everything that is said of it.
struct Answer {
    object: Object,
    behavior: Behavior,
    reason: Reason,
    zone: Zone,
    /// Whether anything refuses what it holds, where a controller said so (GATE-13).
    enforced: Option<Enforcement>,
}

fn run(args: &Explain, edge: &mut Edge) -> anyhow::Result<Output> {
    let (names, paths) = args.sources.divided();
    let at = match names.as_slice() {
        [] => args.at.instant(edge),
        _ => args.reach.instant(&args.at, &paths, edge)?,
    };
    let (answers, loaded) = if names.is_empty() {
        let loaded = load(&paths, Reads::Policies, edge)?;
        let answers = loaded.policies.iter().map(|found| of_policy(&found.policy, at)).collect();
        (answers, loaded)
    } else {
        // What is named is looked for in the files, if there are any, and not beside them.
        let (world, loaded) = args.reach.snapshot(Extent::Gates, &paths, edge, at)?;
        let find = |name: &String| named(name, args.reach.namespace(), &world, at);
        (names.iter().map(find).collect::<anyhow::Result<Vec<_>>>()?, loaded)
    };
    if args.quiet {
        let verdicts = answers.iter().map(|answer| answer.reason.verdict);
        let output = Output { exit: Exit::of(verdicts), ..Output::done("") };
        return Ok(output.with_problems(&loaded));
    }
    let items = || Items { items: answers.iter().map(|answer| item(answer, at)).collect() };
    let text = match args.formats.output {
        Format::Json => output::json(&items())?,
        Format::Yaml => output::yaml(&items())?,
        format @ (Format::Table | Format::Wide) => {
            let show = |answer: &Answer| drawing(answer, at, format, edge.colour);
            answers.iter().map(show).collect::<Vec<_>>().join("\n")
        }
    };
    Ok(Output::done(text).with_problems(&loaded))
}

fn of_policy(policy: &Policy, at: Instant) -> Answer {
    Answer {
        object: policy.object.clone(),
        behavior: behavior(&policy.lowered, at),
        reason: explain(policy, at),
        zone: policy.lowered.scheduled.zone.clone(),
        enforced: None,
    }
}

/// What a cluster has under a name.
fn named(
    name: &str,
    namespace: Option<&str>,
    world: &Snapshot,
    at: Instant,
) -> anyhow::Result<Answer> {
    let key = key::named(name, namespace).map_err(anyhow::Error::msg)?;
    let object = key.object();
    if let Some(seen) = world.resource(&key) {
        let gate = world.gate(seen);
        let zone = gate.lowered().map_or_else(Zone::utc, |lowered| lowered.scheduled.zone.clone());
        let behavior = world.behavior(seen, at);
        let (reason, enforced) = (world.explain(seen, at), seen.enforcement());
        return Ok(Answer { object, behavior, reason, zone, enforced });
    }
    let Some(seen) = world.policy(&key) else {
        anyhow::bail!("there is no {object} in this cluster");
    };
    let verdict = seen.verdict(at);
    let doubt = |said: String| Reason {
        verdict: Verdict::CannotTell,
        fact: Fact::Doubt(said),
        until: None,
        because: Vec::new(),
    };
    // What a controller has not read, nobody relies on, whatever it says (POL-6).
    match (&seen.judged.policy, seen.ready()) {
        (Some(policy), Ok(())) => Ok(of_policy(policy, at)),
        (Some(policy), Err(why)) => {
            let mut answer = of_policy(policy, at);
            answer.reason.verdict = verdict;
            answer.reason.until = None;
            answer.reason.because.insert(0, doubt(format!("{object} {why}, so changes are held")));
            Ok(answer)
        }
        (None, _) => {
            let behavior = overview::policy(seen, at).behavior;
            let because = vec![doubt(seen.reason(at))];
            let fact = Fact::Policy(object.clone());
            let reason = Reason { verdict, fact, until: None, because };
            Ok(Answer { object, behavior, reason, zone: Zone::utc(), enforced: None })
        }
    }
}

fn item(answer: &Answer, at: Instant) -> Item {
    Item {
        object: Named::from(&answer.object),
        at: at.to_string(),
        verdict: answer.reason.verdict.as_str(),
        behavior: answer.behavior.clone(),
        reasons: tree(&answer.reason, &answer.zone),
        enforced: answer.enforced.map(Enforcement::reason),
    }
}

fn tree(reason: &Reason, zone: &Zone) -> Tree {
    Tree {
        verdict: word(reason.verdict),
        text: reason.text(zone),
        until: reason.until.map(|until| until.to_string()),
        because: reason.because.iter().map(|reason| tree(reason, zone)).collect(),
    }
}

/// The verdict of one reason, as programs have always read it here.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Permitted => "permitted",
        Verdict::Held => "paused",
        Verdict::CannotTell => "unknown",
    }
}

fn drawing(answer: &Answer, at: Instant, format: Format, colour: Colour) -> String {
    let Answer { object, behavior, reason, zone, enforced } = answer;
    let mut text = headline(object, reason.verdict, reason.until, zone, at, colour);
    draw(&reason.because, zone, "  ", format, colour, &mut text);
    if let Some(next) = &behavior.next {
        let until = next.end_time.as_ref().map_or_else(String::new, |end| format!(" until {end}"));
        let _ = writeln!(
            text,
            "  then, from {}{until}: {}",
            next.start_time.as_deref().unwrap_or_default(),
            output::printable(&next.reason)
        );
    }
    if let Some(enforced) = enforced {
        let _ = writeln!(text, "  {}: {}", enforced.reason(), enforced.about(&object.kind));
    }
    text
}

fn draw(
    reasons: &[Reason],
    zone: &Zone,
    indent: &str,
    format: Format,
    colour: Colour,
    text: &mut String,
) {
    for (place, reason) in reasons.iter().enumerate() {
        let last = place + 1 == reasons.len();
        let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        let (sign, style) = match reason.verdict {
            Verdict::Permitted => ("✓ permits", Style::Open),
            Verdict::Held => ("✗ holds", Style::Paused),
            Verdict::CannotTell => ("? cannot tell", Style::Paused),
        };
        let words = output::printable(&reason.text(zone));
        let _ = write!(text, "{indent}{branch} {}  {words}", colour.paint(style, sign));
        match reason.until {
            Some(until) if format == Format::Wide => {
                let _ = write!(text, "  [until {until}]");
            }
            _ => {}
        }
        text.push('\n');
        draw(&reason.because, zone, &format!("{indent}{below}"), format, colour, text);
    }
}
