//! `tidegate convert`: how is a rule written in the other form?

use clap::{Args, FromArgMatches as _};

use super::{Listed, Verb};
use crate::{edge::Edge, output::Output};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "convert",
        about: "Turn an RRULE into a policy, and a policy into an RRULE",
        more: "",
        listed: Listed::Yes,
        args: Convert::augment_args,
        run: |matches, edge| run(&Convert::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Convert {}

fn run(_args: &Convert, _edge: &mut Edge) -> anyhow::Result<Output> {
    Ok(Output::done(""))
}
