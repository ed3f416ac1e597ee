//! `tidegate prune`: which rendered configurations may be deleted, and why may the rest not? (POOL-9)

use std::fmt::Write as _;

use clap::{Args, FromArgMatches as _};
use serde::Serialize;
use views::{items::Items, safe::printable, text};

use super::{Listed, Verb};
use crate::{
    args::{Format, Formats},
    cluster::{Extent, Reach},
    edge::Edge,
    output::{self, Output},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "prune",
        about: "List the rendered configurations that may be deleted, and why the rest may not",
        more: "Nothing is deleted here: the command that would is printed.\n\n\
               Examples:\n  \
               tidegate prune\n  \
               tidegate prune -o json",
        listed: Listed::Yes,
        args: Prune::augment_args,
        run: |matches, edge| run(&Prune::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Prune {
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    formats: Formats,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Item {
    name: String,
    deletable: bool,
    reasons: Vec<String>,
}

fn run(args: &Prune, _: &mut Edge) -> anyhow::Result<Output> {
    let snapshot = args.reach.connect()?.snapshot(Extent::PoolsAndUpdate)?;
    let items: Vec<Item> = snapshot
        .prune()
        .iter()
        .map(|verdict| Item {
            name: verdict.config.to_owned(),
            deletable: verdict.may_be_deleted(),
            reasons: verdict.kept_by.iter().map(ToString::to_string).collect(),
        })
        .collect();
    Ok(Output::done(match args.formats.output {
        Format::Json => output::json(&Items { items })?,
        Format::Yaml => output::yaml(&Items { items })?,
        Format::Table | Format::Wide => drawn(&items),
    }))
}

fn drawn(items: &[Item]) -> String {
    if items.is_empty() {
        return "there are no rendered configurations\n".into();
    }
    let mut rows = vec![vec!["CONFIG".to_owned(), "DELETABLE".to_owned(), "WHY NOT".to_owned()]];
    for item in items {
        let word = if item.deletable { "yes" } else { "no" };
        rows.push(vec![printable(&item.name), word.to_owned(), item.reasons.join("; ")]);
    }
    let mut text = text::table(0, &rows);
    let free: Vec<&str> =
        items.iter().filter(|item| item.deletable).map(|item| item.name.as_str()).collect();
    if !free.is_empty() {
        let _ =
            writeln!(text, "\ndelete with:\n  kubectl delete machineconfigs {}", free.join(" "));
    }
    text
}
