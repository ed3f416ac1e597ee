//! Which release does somebody want of the control plane, which was let begin, and what stands in the way? (CV-1, CV-4)
//!
//! A *wish* is what somebody wrote: `spec.desiredUpdate`, the annotation `wanted-release` where that is the mark itself, or `spec.release.image` of a hosted cluster (HOST-1). It is pinned when it is first seen, because what a version stands for is looked up
//! in a graph that forgets. A *mark* is the one write that starts it, and whoever installs releases follows marks alone. Between the two
//! stand preconditions, which are told before the window opens and not in it, and the gate.

use api::machine::names::PERMIT_CHANGE;
use serde_json::Value;

pub mod judge;
pub mod mark;
pub mod of;
pub mod version;
pub mod wish;

use mark::Mark;
use of::Of;
use wish::{Pin, Wish};

/// A release, by version or image or both; what nobody tells is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The version, such as `4.20.7`.
    pub version: String,
    /// The image, by digest where it can be relied on.
    pub image: String,
}

impl Named {
    fn of(release: &Value) -> Self {
        Self { version: text(release, "version").into(), image: text(release, "image").into() }
    }

    /// Whether nobody tells anything of it.
    pub fn is_empty(&self) -> bool {
        self.version.is_empty() && self.image.is_empty()
    }

    /// Images are compared where both are known: a version can be built twice.
    pub fn is_same(&self, other: &Self) -> bool {
        if !self.image.is_empty() && !other.image.is_empty() {
            self.image == other.image
        } else {
            !self.version.is_empty() && self.version == other.version
        }
    }

    /// What people call it: its version, or its image where that is all that is known.
    pub fn name(&self) -> &str {
        if self.version.is_empty() { &self.image } else { &self.version }
    }
}

/// An update as whoever installs releases wrote it down: an entry of `status.history`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The release.
    pub release: Named,
    /// When it began, as it is written there.
    pub started: String,
    /// How far it is.
    pub progress: Progress,
}

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not at its end, or given up.
    Partial,
    /// At its end.
    Completed,
}

/// Why the cluster says of itself that it takes no higher minor version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUpgradeable {
    /// One CamelCase word.
    pub reason: String,
    /// A sentence, if there is one.
    pub message: String,
}

/// What of a control plane decisions about updates read: of `ClusterVersion`, or of a `HostedCluster`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenPlane {
    /// Whose release it is.
    pub of: Of,
    /// What somebody wants; none if that is nothing.
    pub wish: Option<Wish>,
    /// What was pinned when it was first seen.
    pub pin: Option<Pin>,
    /// What was let begin last.
    pub mark: Option<Mark>,
    /// When an update began of which it is known that it was marked, although its mark is gone.
    pub marked: Option<String>,
    /// The release that has been accepted: the one that the control plane is at, or on its way to.
    pub accepted: Named,
    /// Its architecture, where that is told: `Multi`, or nothing.
    pub architecture: String,
    /// The updates that were begun, newest first.
    pub history: Vec<Entry>,
    /// The updates that the cluster knows of; none if that could not be found out.
    pub known: Option<Vec<Named>>,
    /// Why it takes no higher minor version; none if nothing speaks against one.
    pub not_upgradeable: Option<NotUpgradeable>,
    /// How far what was begun is, as whoever installs it says; none while nothing is.
    pub progress: Option<String>,
}

impl SeenPlane {
    /// Reads a `ClusterVersion`.
    pub fn new(document: &Value) -> Self {
        Self::read(Of::Cluster, document)
    }

    /// Reads a `ClusterVersion` whose operator acts on `spec.desiredUpdate` at once (CV-4).
    pub fn stock(document: &Value) -> Self {
        let mut plane = Self::read(Of::Stock, document);
        plane.mark = plane.written_mark(document);
        plane.marked = None;
        plane
    }

    /// The mark of a stock cluster: what `spec.desiredUpdate` names, whoever wrote that; with when the gate was asked, if the record beside it is of
    /// the same release. It is open for as long as nothing has begun that it names.
    fn written_mark(&self, document: &Value) -> Option<Mark> {
        let update = document.pointer("/spec/desiredUpdate").and_then(Wish::read)?;
        let noted =
            document.pointer("/metadata/annotations").and_then(|all| all.get(PERMIT_CHANGE));
        let noted = noted.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
        let uid = document.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        let recorded = noted.and_then(|noted: Value| Mark::read(&noted, uid));
        let newest = self.history.first().map(|newest| newest.started.clone());
        recorded.filter(|mark| mark.release.is_same(&update.release)).or_else(|| {
            Some(Mark {
                release: update.release,
                after: newest.unwrap_or_default(),
                before: mark::Before::Unmarked,
                at: None,
                until: None,
                checks: update.checks,
            })
        })
    }

    /// Reads a `HostedCluster`.
    pub fn hosted(document: &Value) -> Self {
        Self::read(Of::Hosted, document)
    }

    fn read(of: Of, document: &Value) -> Self {
        let found = document.pointer(of.found()).unwrap_or(&Value::Null);
        let list = |field: &str| found.get(field).and_then(Value::as_array);
        let noted = |key: &str| {
            let noted = document.pointer("/metadata/annotations")?.get(key)?.as_str()?;
            serde_json::from_str::<Value>(noted).ok()
        };
        let uid = document.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        let accepted = noted(api::names::ACCEPTED_RELEASE);
        let marked = accepted.as_ref().filter(|noted| {
            text(noted, "uid") == uid && noted.get("afterMarked") == Some(&Value::Bool(true))
        });
        // What is recommended under a condition that holds stands in both lists.
        let lists = [list("availableUpdates"), list("conditionalUpdates")];
        let known = lists.iter().any(Option::is_some).then(|| {
            let listed = lists.iter().flatten().copied().flatten();
            listed.map(|update| of.named(update.get("release").unwrap_or(update))).collect()
        });
        let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
        let condition = |kind: &str, status: &str| {
            conditions.into_iter().flatten().find(|condition| {
                text(condition, "type") == kind && text(condition, "status") == status
            })
        };
        let (upgradeable, progressing) = of.conditions();
        let upgradeable = condition(upgradeable, "False");
        let progress = condition(progressing, "True").map(|condition| text(condition, "message"));
        let desired = found.get("desired").unwrap_or(&Value::Null);
        Self {
            of,
            wish: of.wish(document),
            pin: noted(api::names::WANTED_IMAGE).map(|noted| Pin::read(&noted)),
            mark: accepted.as_ref().and_then(|noted| Mark::read(noted, uid)),
            marked: marked.map(|noted| text(noted, "after").to_owned()),
            accepted: of.named(desired),
            architecture: text(desired, "architecture").into(),
            history: list("history").into_iter().flatten().map(|one| Entry::of(of, one)).collect(),
            known,
            not_upgradeable: upgradeable.map(|condition| NotUpgradeable {
                reason: text(condition, "reason").into(),
                message: text(condition, "message").into(),
            }),
            progress: progress.filter(|said| !said.is_empty()).map(str::to_owned),
        }
    }

    /// What somebody wants and nothing has begun: neither accepted nor marked. What the cluster has is never let begin once more, whatever was
    /// let begin meanwhile.
    pub fn waiting(&self) -> Option<&Wish> {
        let wish = self.wish.as_ref()?;
        if self.of == Of::Hosted && self.accepted.is_empty() {
            // It has never reported a release, so it is being created, and creation is not held.
            return None;
        }
        // The same release for another architecture is another payload.
        let is_other_payload = !wish.architecture.is_empty()
            && wish.release.image.is_empty()
            && wish.architecture != self.architecture;
        let has = wish.release.is_same(&self.accepted) && !is_other_payload;
        let is_marked = self.open_mark().is_some_and(|mark| wish.release.is_same(&mark.release));
        (!has && !is_marked).then_some(wish)
    }

    /// The mark that nobody has followed yet: nothing has begun since it was written.
    pub fn open_mark(&self) -> Option<&Mark> {
        let newest = self.history.first();
        self.mark.as_ref().filter(|mark| {
            let since = newest.map_or("", |newest| newest.started.as_str());
            since == mark.after
                && !newest.is_some_and(|newest| newest.release.is_same(&mark.release))
        })
    }

    /// Whether something was let begin, or began, and has not ended.
    pub fn is_under_way(&self) -> bool {
        let newest = self.history.first();
        self.open_mark().is_some() || newest.is_some_and(|one| one.progress == Progress::Partial)
    }

    /// The mark by which the newest update began; none if nobody marked it.
    pub fn mark_of_newest(&self) -> Option<&Mark> {
        let newest = self.history.first()?;
        self.mark
            .as_ref()
            .filter(|mark| newest.release.is_same(&mark.release) && newest.started != mark.after)
    }

    /// Whether the newest update began by a mark, be it there or not any more.
    pub fn is_newest_marked(&self) -> bool {
        let newest = self.history.first().map(|newest| newest.started.as_str());
        self.mark_of_newest().is_some() || newest.is_some() && newest == self.marked.as_deref()
    }

    /// Whether the newest update began without a mark. The first of all is the installation, which nobody holds.
    pub fn began_unmarked(&self) -> bool {
        self.history.len() > 1 && !self.is_newest_marked()
    }
}

impl Entry {
    fn of(of: Of, entry: &Value) -> Self {
        Self {
            release: of.named(entry),
            started: text(entry, "startedTime").into(),
            progress: match text(entry, "state") {
                "Completed" => Progress::Completed,
                _ => Progress::Partial,
            },
        }
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
