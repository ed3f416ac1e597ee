//! What can be asked? One row for each verb; help, completion, man pages and dispatch are made from this table.

use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Command, builder::EnumValueParser};

use crate::{args::ColourChoice, edge::Edge, output::Output};

pub(crate) mod audit;
pub(crate) mod calendar;
pub(crate) mod completion;
pub(crate) mod console;
pub(crate) mod control_plane;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod freezing;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod next;
pub(crate) mod node;
pub(crate) mod operator;
pub(crate) mod overriding;
pub(crate) mod prune;
pub(crate) mod report;
pub(crate) mod sandbox;
pub(crate) mod simulate;
pub(crate) mod status;
pub(crate) mod validate;
pub(crate) mod worker_nodes;

/// A verb of the command.
pub(crate) struct Verb {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, in one line.
    pub(crate) about: &'static str,
    /// Examples and exit codes, shown below its help.
    pub(crate) more: &'static str,
    /// Whether help lists it.
    pub(crate) listed: Listed,
    /// Adds its arguments.
    pub(crate) args: fn(Command) -> Command,
    /// Does it.
    pub(crate) run: fn(&ArgMatches, &mut Edge) -> anyhow::Result<Output>,
}

/// Whether help lists a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// It does.
    Yes,
    /// It does not: the verb is for those who package the command.
    No,
}

/// Every verb, in the order of the help.
static VERBS: LazyLock<Vec<Verb>> = LazyLock::new(|| {
    vec![
        calendar::verb(),
        next::verb(),
        explain::verb(),
        status::verb(),
        simulate::verb(),
        overriding::verb(),
        freezing::freeze(),
        freezing::thaw(),
        freezing::hold(),
        freezing::skip_next(),
        gate::verb(),
        control_plane::verb(),
        control_plane::update(),
        worker_nodes::verb(),
        node::verb(),
        prune::verb(),
        audit::verb(),
        history::verb(),
        doctor::verb(),
        dump::verb(),
        report::verb(),
        init::verb(),
        validate::verb(),
        diff::verb(),
        convert::verb(),
        import::verb(),
        console::verb(),
        sandbox::verb(),
        operator::verb(),
        completion::verb(),
        man::verb(),
    ]
});

/// The whole command.
pub(crate) fn command() -> Command {
    let colour = Arg::new("color")
        .long("color")
        .value_name("WHEN")
        .help("Colour the output: auto, always or never")
        .global(true)
        .hide_possible_values(true)
        .value_parser(EnumValueParser::<ColourChoice>::new())
        .default_value("auto")
        .hide_default_value(true);
    let root = Command::new("tidegate")
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "Decides when a cluster may change: maintenance windows, freezes, and what they mean",
        )
        .after_help(
            "Exit codes: 0 yes or done, 1 no, 2 usage or failure.\n\n\
             Examples:\n  \
             tidegate calendar -f examples/weekend.yaml\n  \
             tidegate explain -f examples/ --at 2026-12-24T12:00:00Z\n  \
             tidegate validate policies/",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .arg(colour);
    VERBS.iter().fold(root, |root, verb| {
        // After the arguments, because shared ones bring a description of their own.
        let command = (verb.args)(Command::new(verb.name))
            .about(verb.about)
            .long_about(None)
            .after_help(verb.more)
            .hide(verb.listed == Listed::No);
        root.subcommand(command)
    })
}

/// Runs the verb that was asked for.
pub(crate) fn run(matches: &ArgMatches, edge: &mut Edge) -> anyhow::Result<Output> {
    let (name, matches) = matches.subcommand().unwrap_or(("", matches));
    match VERBS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.run)(matches, edge),
        None => anyhow::bail!("there is no verb {name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a paragraph of a help text breaks its lines itself: only lists of examples may.
    fn breaks_lines(paragraph: &str) -> bool {
        let mut lines = paragraph.lines();
        let first = lines.next().unwrap_or_default();
        !first.ends_with(':') && lines.next().is_some()
    }

    /// A terminal breaks lines where it is wide; whoever breaks them too breaks them twice.
    #[test]
    fn help_texts_leave_line_breaks_to_the_terminal() {
        assert!(breaks_lines("one line\nand another"));
        assert!(!breaks_lines("Examples:\n  tidegate next\n  tidegate status"));
        for verb in VERBS.iter() {
            let broken = verb.more.split("\n\n").find(|paragraph| breaks_lines(paragraph));
            assert_eq!(broken, None, "tidegate {}", verb.name);
        }
    }
}
