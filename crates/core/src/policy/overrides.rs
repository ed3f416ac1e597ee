//! What does an override open, and until when? (OVR-2, GATE-15)
//!
//! It opens the gate of one object and never shuts any. Total, and doubt opens nothing: one that cannot be used, whose target is not there
//! or which has ended changes nothing, and says so.

use api::{
    kinds,
    names::READY,
    schema::{Kind, gated_named},
};
use schedule::{Instant, Span};
use serde_json::Value;

use crate::{
    document::{conditions::Conditions, key::Key, problem::Problem},
    policy::read,
};

/// For how many seconds an override that is over is kept, so that people can look at it (OVR-6).
const KEPT: i64 = 86_400;

/// An override as it was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenOverride {
    /// Which object.
    pub key: Key,
    /// What it opens, as far as it says so.
    pub target: Option<Key>,
    /// When it was created, which is when it begins; none if nobody knows that, and then it has begun.
    pub from: Option<Instant>,
    /// When it ends; none if that cannot be read.
    pub until: Option<Instant>,
    /// The one change that may start, if it lets no other.
    pub only: Option<Only>,
    /// Why, in the words of its author.
    pub reason: String,
    /// Where it was asked for.
    pub ticket: Option<String>,
    /// Who signed it.
    pub by: Option<String>,
    /// Who approved it.
    pub approved_by: Option<String>,
    /// What is wrong with it. If anything is, it opens nothing.
    pub problems: Vec<Problem>,
    /// Where its condition stands.
    pub conditions: Conditions,
}

/// The one change that an override lets start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Only {
    /// A release, by its version or its image.
    Release(String),
    /// A rendered configuration, by its name.
    Rendered(String),
}

/// Whose word an override is (GATE-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// That of a team: it opens gates of its namespace, and passes no freeze.
    Team,
    /// That of the platform: it passes the freezes of teams.
    Platform,
}

impl SeenOverride {
    /// Reads an override.
    pub fn new(kind: &'static Kind, document: &Value) -> Self {
        let text = |path: &str| document.pointer(path).and_then(Value::as_str);
        let owned = |path: &str| text(path).map(str::to_owned);
        let instant = |path: &str| Instant::parse(text(path)?).ok();
        let own = text("/metadata/namespace");
        let target = || {
            let kind = gated_named(text("/spec/target/kind")?)?;
            // A team opens what is in its own namespace, whatever it writes.
            let namespace = own.or_else(|| text("/spec/target/namespace"));
            Some(Key::new(kind, namespace, text("/spec/target/name")?))
        };
        let only = || {
            let release = owned("/spec/only/release").map(Only::Release);
            release.or_else(|| owned("/spec/only/renderedConfig").map(Only::Rendered))
        };
        let problems = read::overriding(kind, document).into_iter().filter(Problem::is_error);
        Self {
            key: Key::new(kind, own, text("/metadata/name").unwrap_or_default()),
            target: target(),
            from: instant("/metadata/creationTimestamp"),
            // Who deletes it ends it, whatever keeps the object there.
            until: instant("/spec/until").map(|until| {
                instant("/metadata/deletionTimestamp").map_or(until, |deleted| deleted.min(until))
            }),
            only: only(),
            reason: text("/spec/reason").unwrap_or_default().to_owned(),
            ticket: owned("/spec/ticket"),
            by: owned("/spec/by"),
            approved_by: owned("/spec/approvedBy"),
            problems: problems.collect(),
            conditions: Conditions::of(document, &[READY]),
        }
    }

    /// Whether it can be used as it is written.
    pub fn is_usable(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whose word it is.
    pub fn layer(&self) -> Layer {
        if *self.key.kind() == kinds::CLUSTER_CHANGE_OVERRIDE {
            Layer::Platform
        } else {
            Layer::Team
        }
    }

    /// When it is in force; never, if it cannot be used.
    pub fn span(&self) -> Option<Span> {
        let until = self.until.filter(|_| self.is_usable())?;
        Some(Span { start: self.from, end: Some(until) })
    }

    /// Whether it is in force at an instant.
    pub fn is_in_force(&self, at: Instant) -> bool {
        self.is_ahead(at) && self.from.is_none_or(|from| from <= at)
    }

    /// Whether it is in force at an instant, or will be.
    pub fn is_ahead(&self, at: Instant) -> bool {
        self.span().and_then(|span| span.end).is_some_and(|until| at < until)
    }

    /// The first instant after another at which it begins or ends.
    pub fn next_edge(&self, after: Instant) -> Option<Instant> {
        let Span { start, end } = self.span()?;
        start.into_iter().chain(end).filter(|edge| *edge > after).min()
    }

    /// When it can go: a day after its end. Never, if nobody can tell when that is (OVR-6).
    pub fn goes_at(&self) -> Option<Instant> {
        Some(self.until?.saturating_add(KEPT))
    }

    /// What it says to whom it lets start, in words that stay the same as long as it lasts.
    pub fn sentence(&self) -> String {
        let until = self.until.map_or_else(String::new, |until| format!(" until {until}"));
        let by = self.by.as_deref().map_or_else(|| "unsigned".to_owned(), |by| format!("by {by}"));
        let approved = self.approved_by.as_deref();
        let approved = approved.map_or_else(String::new, |by| format!(", approved by {by}"));
        let ticket =
            self.ticket.as_deref().map_or_else(String::new, |ticket| format!(" ({ticket})"));
        let only = self.only.as_ref().map_or_else(String::new, |only| format!(" for {only} alone"));
        format!("opened by {}{until}{only}, {by}{approved}: {}{ticket}", self.key, self.reason)
    }
}

impl std::fmt::Display for Only {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Release(name) => write!(f, "release {name}"),
            Self::Rendered(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests;
