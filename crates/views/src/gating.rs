//! What can somebody hold? The gate that would do it, what it would hold now, and the way back, before anybody sends it; or why there is
//! none.

use std::fmt::Write as _;

use api::{kinds as api_kinds, reach::PolicyKind};
use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    cluster::{kinds, snapshot::Snapshot},
    document::key::Key,
    held,
    policy::gating::WantedGate,
};

use crate::{
    change::Stage,
    object::{Deed, Report, Writing},
    safe::{escaped, printable},
    text,
};

/// How many of what a gate would hold are named.
const MOST_NAMES: usize = 20;

/// A gate that somebody wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Gating {
    /// The object, its meaning and the way back.
    pub writing: Writing,
    /// Whether it would be open now.
    pub now: String,
    /// What it would hold.
    pub targets: Targets,
}

/// What a gate would hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// These, each as `namespace/name`.
    Known(Vec<String>),
    /// Nobody can tell, and why.
    Unknown(String),
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct GatingReport<'a> {
    #[serde(flatten)]
    writing: Report<'a>,
    now: &'a str,
    targets: Option<usize>,
    #[serde(rename = "targetNames")]
    names: Vec<&'a str>,
    reason: Option<&'a str>,
}

/// The policy of a name, as a gate may name it: of the cluster, or of the namespace of the gate.
pub fn policy(
    snapshot: &Snapshot,
    namespace: Option<&str>,
    name: &str,
) -> Result<PolicyKind, String> {
    let of_cluster = Key::new(&api_kinds::CHANGE_MANAGEMENT_POLICY, None, name);
    let of_namespace = namespace.map(|namespace| {
        Key::new(&api_kinds::HOSTED_CHANGE_MANAGEMENT_POLICY, Some(namespace), name)
    });
    if snapshot.policy(&of_cluster).is_some() {
        return Ok(PolicyKind::ChangeManagementPolicy);
    }
    if of_namespace.is_some_and(|key| snapshot.policy(&key).is_some()) {
        return Ok(PolicyKind::HostedChangeManagementPolicy);
    }
    let usable = snapshot.policies().map(|one| &one.identity.key);
    let usable =
        usable.filter(|key| key.namespace.is_none() || key.namespace.as_deref() == namespace);
    let known: Vec<String> = usable.map(|key| key.name.to_string()).collect();
    let hint = match known.as_slice() {
        [] => "there is none; `tidegate validate` judges one in a file".to_owned(),
        known => format!("there is {}", known.join(", ")),
    };
    Err(format!(
        "spec.changeManagement.byPolicy.name: there is no policy {name}, and a gate without its policy holds until there is\n  hint: {hint}"
    ))
}

/// The gate that somebody wants.
pub fn gate(
    snapshot: &Snapshot,
    wanted: &WantedGate<'_>,
    targets: Targets,
    now: Instant,
) -> Result<Gating, String> {
    let (object, document) = wanted.written()?;
    if snapshot.resource(&object).is_some() {
        return Err(format!(
            "metadata.name: {object} is there already\n  hint: give another name by --name, or edit that"
        ));
    }
    let mut supposed = snapshot.clone();
    let state = kinds::known(object.kind()).and_then(|row| {
        supposed.add(row, &document);
        let holders = held::holders(&supposed, [(row, &document)]);
        Some(holders.first()?.at(now))
    });
    let state = state.map_or_else(String::new, |said| {
        let edge = |word: &str, edge: Option<Instant>| {
            edge.map_or_else(String::new, |edge| {
                format!(", {word} at {edge} ({})", text::relative(edge, now))
            })
        };
        let doubt = said.doubt.map_or_else(String::new, |doubt| format!(": {doubt}"));
        format!(
            "{}{}{}{doubt}",
            said.verdict.state(),
            edge("opens", said.opens),
            edge("closes", said.closes)
        )
    });
    let scope = wanted.namespace.map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    let way_back = format!("kubectl delete {} {}{scope}", object.kind().short_name, wanted.name);
    let meaning = wanted.meaning();
    let writing = Writing { object, meaning, document, deed: Deed::Made, way_back };
    Ok(Gating { writing, now: state, targets })
}

impl Gating {
    /// The gate for programs.
    pub fn report(&self, stage: Stage) -> GatingReport<'_> {
        let (names, reason): (Vec<&str>, _) = match &self.targets {
            Targets::Known(names) => (names.iter().map(String::as_str).collect(), None),
            Targets::Unknown(why) => (Vec::new(), Some(why.as_str())),
        };
        GatingReport {
            writing: self.writing.report(stage),
            now: &self.now,
            targets: reason.is_none().then_some(names.len()),
            names,
            reason,
        }
    }

    /// The gate for people, with the object as the text that goes into Git.
    pub fn told(&self, stage: Stage, object: &str) -> String {
        let Writing { meaning, way_back, .. } = &self.writing;
        let would = match stage {
            Stage::Proposed => {
                "nothing was changed, and the API server would take this object; with it "
            }
            Stage::Made => "",
        };
        let mut told = format!("{would}{}\n", printable(meaning));
        let _ = writeln!(told, "\nnow:\n  {}", printable(&self.now));
        let _ = match &self.targets {
            Targets::Known(names) => {
                let first: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
                let more = names.len().saturating_sub(first.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let listed = if first.is_empty() {
                    String::new()
                } else {
                    format!(": {}", first.join(", "))
                };
                writeln!(told, "  it holds {}{}{more}", names.len(), printable(&listed))
            }
            Targets::Unknown(why) => {
                writeln!(told, "  cannot tell what it holds: {}", printable(why))
            }
        };
        let _ = writeln!(told, "\nobject:\n{}", text::indented(2, &escaped(object)));
        let _ = writeln!(told, "\nundo:\n  {}", printable(way_back));
        if stage == Stage::Proposed {
            told.push_str(
                "\nhint: run it again with --yes to make the gate, or put the object into Git\n",
            );
        }
        told
    }
}
