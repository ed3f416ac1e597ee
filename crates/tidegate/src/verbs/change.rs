//! How does a verb that changes something say what it does? The meaning first, then the patch, then how to undo it.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use tidegate_core::key::Key;
use views::{
    safe::{escaped, printable},
    text,
};

use crate::{
    args::{Format, Formats},
    cluster::{Cluster, Overtaken},
    output::{self, Output},
};

/// How often a change is thought through because its object has changed meanwhile. The status of a busy pool does so all the time.
const ATTEMPTS: usize = 5;

/// Looks and changes, and looks again if what was looked at is no longer so: a patch names the version that it was made from.
pub(crate) fn on_what_is_so(
    mut change: impl FnMut() -> anyhow::Result<Output>,
) -> anyhow::Result<Output> {
    for _ in 1..ATTEMPTS {
        match change() {
            Err(error) if error.is::<Overtaken>() => {}
            settled => return settled,
        }
    }
    change()
}

/// How a change is made.
#[derive(Args, Debug)]
pub(crate) struct Manner {
    /// Print the patch and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    formats: Formats,
}

/// A change of one object.
pub(crate) struct Change<'a> {
    /// The object.
    pub(crate) object: &'a Key,
    /// What it will mean, in a sentence without its full stop.
    pub(crate) meaning: String,
    /// The merge patch.
    pub(crate) patch: Value,
    /// The merge patch that takes it back.
    pub(crate) undo: Value,
    /// The command that takes it back, where there is a better one than that patch.
    pub(crate) way_back: Option<String>,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Report<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    name: &'a str,
    applied: bool,
    meaning: &'a str,
    patch: &'a Value,
    undo: &'a Value,
}

impl Manner {
    /// Makes a change, or not, and tells about it.
    pub(crate) fn make(&self, change: &Change<'_>, cluster: &Cluster) -> anyhow::Result<Output> {
        let Change { object, meaning, patch, undo, .. } = change;
        if !self.dry_run {
            cluster.patch(object, patch)?;
        }
        let report = Report {
            kind: object.kind().name,
            namespace: object.namespace.as_deref(),
            name: &object.name,
            applied: !self.dry_run,
            meaning,
            patch,
            undo,
        };
        Ok(Output::done(match self.formats.output {
            Format::Json => output::json(&report)?,
            Format::Yaml => output::yaml(&report)?,
            Format::Table | Format::Wide => self.told(change)?,
        }))
    }

    fn told(&self, change: &Change<'_>) -> anyhow::Result<String> {
        let mut told = String::new();
        let would = if self.dry_run { "nothing was changed; with this patch " } else { "" };
        let _ = writeln!(told, "{would}{}", printable(&change.meaning));
        let patch = escaped(&serde_json::to_string_pretty(&change.patch)?);
        let _ = writeln!(told, "\npatch:\n{}", text::indented(2, &patch));
        let way_back = change.way_back.clone();
        let way_back = way_back.unwrap_or_else(|| kubectl(change.object, &change.undo));
        let _ = writeln!(told, "\nundo:\n  {way_back}");
        Ok(told)
    }
}

/// The command that sends a patch.
pub(crate) fn kubectl(object: &Key, patch: &Value) -> String {
    let plural = api::names::plural(object.kind().name);
    let namespace =
        object.namespace.as_ref().map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    let name = &object.name;
    // A quote in a reason must not end the quoting of a shell.
    let patch = escaped(&patch.to_string()).replace('\'', r"'\''");
    format!("kubectl patch {plural} {name}{namespace} --type merge -p '{patch}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overtaken_changes_are_thought_through_again_and_others_are_not() {
        let check = |overtaken: usize,
                     then: Result<&str, &str>,
                     expected: Result<&str, &str>,
                     looks: usize| {
            let mut seen = 0;
            let outcome = on_what_is_so(|| {
                seen += 1;
                if seen <= overtaken {
                    return Err(Overtaken("changed meanwhile".into()).into());
                }
                then.map(Output::done).map_err(|said| anyhow::anyhow!(said.to_owned()))
            });
            let outcome = outcome.map(|output| output.text).map_err(|error| error.to_string());
            assert_eq!(outcome.as_deref().map_err(String::as_str), expected);
            assert_eq!(seen, looks);
        };
        check(0, Ok("done"), Ok("done"), 1);
        check(2, Ok("done"), Ok("done"), 3);
        check(0, Err("there is no such pool"), Err("there is no such pool"), 1);
        check(1, Err("there is no such pool"), Err("there is no such pool"), 2);
        check(9, Ok("done"), Err("changed meanwhile"), 5);
    }
}
