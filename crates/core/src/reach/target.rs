//! Does something wait? What is kept of each thing that gates may hold and of what its controller made of it, and what of it waits.
//!
//! Ten thousand of them, with what their controllers made, must fit into a small pod: of a template a digest and the images are kept, and
//! nothing of a document that decisions do not read.

use api::{names, reach::PendingChange};
use schedule::Instant;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::selector::Labels;
use crate::document::key::Key;

/// How the refusals of gates and freezes begin.
const HELD_BY: [&str; 4] = [
    "held by ChangeGate ",
    "held by ClusterChangeGate ",
    "held by ChangeFreeze ",
    "held by ClusterChangeFreeze ",
];

/// Something that gates may hold, or that its controller made of it, as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenTarget {
    /// The labels by which a gate chooses it (RCH-12).
    pub labels: Labels,
    /// What tells whether something waits.
    pub tells: Tells,
    /// When the operator last touched it, if ever.
    pub nudged: Option<Instant>,
    /// Since when its controller says that a gate or a freeze held it, if it says so.
    pub refused: Option<Instant>,
}

/// What tells whether something waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tells {
    /// The object alone: what waits, if something does.
    Alone(Option<Box<PendingChange>>),
    /// The same, where its controller says nothing of a refusal, and what is under way looks like what waits.
    Quietly(Option<Box<PendingChange>>),
    /// What it wants, beside what its controller made of it.
    Wants {
        /// What it wants.
        template: Template,
        /// Whether its owner lets it begin.
        begins: Begins,
        /// Since when its controller says that it was refused.
        since: Option<String>,
    },
    /// It was made for another object.
    Made {
        /// The identity of that object.
        owner: String,
        /// What was made.
        template: Template,
        /// Which of those that were made is newer.
        revision: u64,
    },
}

/// Whether the owner of something lets it begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Once the gates permit it.
    WhenPermitted,
    /// Not before somebody ends its pause.
    WhenResumed,
}

/// The template of pods, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    digest: [u8; 16],
    /// Containers and their images.
    images: Box<[(Box<str>, Box<str>)]>,
}

impl SeenTarget {
    /// What is kept of a document.
    pub fn new(document: &Value, labels: Option<&Value>, tells: Tells) -> Self {
        let text =
            |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        let labels = labels.and_then(Value::as_object).into_iter().flatten().filter_map(text);
        let annotations = document.pointer("/metadata/annotations");
        let nudged = annotations.and_then(|all| all.get(names::NUDGED_AT)).and_then(Value::as_str);
        let nudged = nudged.and_then(|at| Instant::parse(at).ok());
        Self { labels: labels.collect(), tells, nudged, refused: refused(document) }
    }

    /// What is kept of something that is chosen by its own labels, and at which nothing waits.
    pub fn labelled(document: &Value) -> Self {
        Self::new(document, document.pointer("/metadata/labels"), Tells::Alone(None))
    }

    /// Whether its controller says nothing of a refusal, ours or another's: some tell of none.
    pub fn is_silent(&self) -> bool {
        let tells_of_none =
            matches!(self.tells, Tells::Wants { since: None, .. } | Tells::Quietly(_));
        tells_of_none && self.refused.is_none()
    }

    /// Whether it is touched once at an opening and never again: what is under way would be touched for ever.
    pub fn is_touched_once(&self) -> bool {
        matches!(self.tells, Tells::Quietly(_))
    }

    /// The identity of the object that it was made for, if it was made for one.
    pub fn owner(&self) -> Option<&str> {
        match &self.tells {
            Tells::Made { owner, .. } => Some(owner),
            Tells::Alone(_) | Tells::Quietly(_) | Tells::Wants { .. } => None,
        }
    }
}

impl Template {
    /// What is kept of a template.
    pub fn new(template: &Value) -> Self {
        let parts = ["/spec/initContainers", "/spec/containers"];
        let containers = parts.iter().filter_map(|part| template.pointer(part)?.as_array());
        let image = |container: &Value| {
            let text = |key: &str| container[key].as_str().unwrap_or_default().into();
            (text("name"), text("image"))
        };
        Self { digest: digest(template), images: containers.flatten().map(image).collect() }
    }

    /// Which images change on the way to another, or that something else does.
    fn change(&self, to: &Self) -> String {
        let differs = |(name, image): &(Box<str>, Box<str>)| {
            let old =
                self.images.iter().find(|(known, _)| known == name).map(|(_, image)| &**image);
            (old != Some(&**image)).then(|| format!("{} -> {image}", old.unwrap_or("none")))
        };
        let changed: Vec<String> = to.images.iter().filter_map(differs).collect();
        if changed.is_empty() {
            return "the pod template, with the same images".to_owned();
        }
        changed.join(", ").chars().take(1024).collect()
    }
}

/// What waits at an object, given what its controller made of it.
pub fn waits<'a>(
    key: &Key,
    target: &SeenTarget,
    made: impl Iterator<Item = &'a SeenTarget>,
) -> Option<PendingChange> {
    match &target.tells {
        Tells::Made { .. } | Tells::Wants { begins: Begins::WhenResumed, .. } => None,
        Tells::Alone(waits) | Tells::Quietly(waits) => waits.as_deref().cloned(),
        Tells::Wants { template: wanted, since, .. } => {
            let made: Vec<(&Template, u64)> = made
                .filter_map(|made| match &made.tells {
                    Tells::Made { template, revision, .. } => Some((template, *revision)),
                    Tells::Alone(_) | Tells::Quietly(_) | Tells::Wants { .. } => None,
                })
                .collect();
            if made.iter().any(|(template, _)| template.digest == wanted.digest) {
                return None;
            }
            // What was never made is a first install, which nobody holds.
            let (newest, _) = made.iter().max_by_key(|(_, revision)| *revision)?;
            Some(PendingChange {
                kind: key.kind().name.to_owned(),
                namespace: key.namespace.as_deref().map(str::to_owned),
                name: key.name.to_string(),
                since: since.clone(),
                change: Some(newest.change(wanted)),
            })
        }
    }
}

/// The words are those of our admission policies; what else a controller may be refused is not our business.
fn refused(document: &Value) -> Option<Instant> {
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
    let is_ours = |condition: &&Value| {
        let said = condition["message"].as_str().unwrap_or_default();
        HELD_BY.iter().any(|held| said.contains(held))
    };
    let ours = conditions.into_iter().flatten().find(is_ours)?;
    Instant::parse(ours["lastTransitionTime"].as_str()?).ok()
}

fn digest(value: &impl Serialize) -> [u8; 16] {
    // A document that was read can be written.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let full = Sha256::digest(&bytes);
    let mut short = [0; 16];
    short.iter_mut().zip(full.iter()).for_each(|(short, full)| *short = *full);
    short
}
