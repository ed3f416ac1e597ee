//! Which release does the control plane have, which is wanted of it, when would that begin, and what stands in the way? (CV-4)
//!
//! One view for the update that somebody asked for and for one that somebody thinks about: the second is the first with another wish, and
//! nothing is written for either.

use std::fmt::Write as _;

use api::machine::names::MASTER;
use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    cluster::{
        decide::updates::{stops, too_old},
        seen::SeenGated,
        snapshot::Snapshot,
    },
    document::problem::Problem,
    gate::{Gate, change::ChangeId, explain::sentence},
    policy::verdict::Verdict,
    release::{
        Named, Progress, SeenPlane,
        judge::{Judged, judge},
        of::Of,
        wish::Wish,
    },
};

use crate::{
    drawing::{Colour, Style},
    pool::PoolProgress,
    safe::printable,
    text,
};

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// What somebody asked for, if anybody did.
    ByTheCluster,
    /// What somebody thinks about.
    For(&'a Wish),
}

/// The control plane at an instant.
#[derive(Clone, Debug)]
pub struct Plane {
    /// The release that was accepted last.
    pub release: String,
    /// What was let begin and has not ended, in words.
    pub under_way: Option<String>,
    /// The mark by which that was let begin; none if nobody marked it.
    pub mark: Option<Marked>,
    /// How far that is, as whoever installs it says.
    pub progress: Option<String>,
    /// What waits, or would.
    pub update: Option<Update>,
    /// Why what somebody thinks about can not be waited for: it has begun, or it is there.
    pub already: Option<String>,
    /// How far the masters are.
    pub masters: Option<PoolProgress>,
}

/// The one write that let an update begin.
#[derive(Clone, Debug)]
pub struct Marked {
    /// When the gate was asked, where the mark says so.
    pub at: Option<Instant>,
    /// Whether somebody has begun to install it.
    pub followed: Followed,
}

/// Whether somebody has begun to install what was let begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Somebody has.
    Yes,
    /// Nobody has yet.
    NotYet,
}

/// An update that has not begun.
#[derive(Clone, Debug)]
pub struct Update {
    /// The release.
    pub release: String,
    /// Its image, if anybody can tell.
    pub image: Option<String>,
    /// What the gate says now.
    pub verdict: Verdict,
    /// Why, as one sentence.
    pub why: String,
    /// When it would begin, if nothing stood in its way: now, then, or never as far as anybody can tell.
    pub starts: Option<Instant>,
    /// What stands in its way, whatever the gate says.
    pub in_the_way: Vec<Problem>,
    /// What somebody should know of it.
    pub remarks: Vec<String>,
}

/// The control plane of a cluster, or the sentence that says that there is none.
pub fn seen(snapshot: &Snapshot) -> Result<(&SeenGated, &SeenPlane), String> {
    let version = snapshot.control_plane();
    let plane = version.and_then(|version| Some((&**version, &version.update.as_deref()?.plane)));
    plane.ok_or_else(|| {
        "this cluster has no ClusterVersion/version, so nothing here is updated\n  hint: is this the cluster that you mean? see kubectl config current-context"
            .to_owned()
    })
}

impl Plane {
    /// What is to be told of it.
    pub fn new(snapshot: &Snapshot, asked: Asked<'_>, at: Instant) -> Result<Self, String> {
        let (version, plane) = seen(snapshot)?;
        let (wish, already) = match asked {
            Asked::ByTheCluster => (plane.waiting(), None),
            Asked::For(wish) => match already(plane, &wish.release) {
                None => (Some(wish), None),
                already => (None, already),
            },
        };
        let update = wish.map(|wish| {
            let Judged { pin, mut unmet, mut remarks } = judge(plane, wish);
            let is_pinned = plane.pin.as_ref().is_some_and(|pin| pin.is_for(wish));
            if plane.of == Of::Stock && !is_pinned && matches!(asked, Asked::ByTheCluster) {
                remarks.push("nobody has written down yet what it stands for; if that stays so, no operator here starts queued updates (manageUpdates)".to_owned());
            }
            // What the operator found of the present wish says nothing about another; kubelets do.
            let found = match asked {
                Asked::For(_) => too_old(snapshot, plane, &pin).into_iter().collect(),
                Asked::ByTheCluster => stops(snapshot, version),
            };
            for problem in found {
                if !unmet.contains(&problem) {
                    unmet.push(problem);
                }
            }
            let named = if pin.release.is_empty() { &wish.release } else { &pin.release };
            let gate = snapshot.gate_for(version, Some(&ChangeId::release(named.name())));
            Update {
                release: named.name().to_owned(),
                image: Some(pin.release.image).filter(|image| !image.is_empty()),
                verdict: gate.verdict(at),
                why: sentence(&gate, at),
                starts: starts(&gate, at),
                in_the_way: unmet,
                remarks,
            }
        });
        let begun = version.pending.begun.iter().map(ToString::to_string);
        let under_way = begun.collect::<Vec<_>>().join("; ");
        Ok(Self {
            release: plane.accepted.name().to_owned(),
            under_way: Some(under_way).filter(|begun| !begun.is_empty()),
            mark: marked(plane),
            progress: plane.progress.clone(),
            update,
            already,
            masters: snapshot.pool(MASTER).map(|pool| PoolProgress::new(pool, snapshot, at)),
        })
    }

    /// Whether an update begins by itself (GATE-12): permitted if nothing but a window keeps it waiting, held if something stands in its
    /// way or its gate opens nobody knows when, and cannot tell where the gate itself cannot.
    pub fn outlook(&self) -> Verdict {
        match &self.update {
            None => Verdict::Permitted,
            Some(Update { verdict: Verdict::CannotTell, .. }) => Verdict::CannotTell,
            Some(Update { in_the_way, starts: Some(_), .. }) if in_the_way.is_empty() => {
                Verdict::Permitted
            }
            Some(_) => Verdict::Held,
        }
    }

    /// The view for programs.
    pub fn item(&self) -> Item<'_> {
        Item {
            release: &self.release,
            under_way: self.under_way.as_deref(),
            mark: self.mark.as_ref().map(|mark| MarkItem {
                at: mark.at.map(|at| at.to_string()),
                followed: mark.followed == Followed::Yes,
            }),
            progress: self.progress.as_deref(),
            update: self.update.as_ref().map(|update| UpdateItem {
                release: &update.release,
                image: update.image.as_deref(),
                verdict: update.verdict.as_str(),
                reason: &update.why,
                starts: update.starts.map(|at| at.to_string()),
                in_the_way: update.in_the_way.iter().map(told).collect(),
                remarks: &update.remarks,
            }),
            already: self.already.as_deref(),
            masters: self
                .masters
                .as_ref()
                .map(|masters| Masters { machines: masters.nodes.len(), done: masters.done() }),
        }
    }

    /// The view for people.
    pub fn drawing(&self, at: Instant, colour: Colour) -> String {
        let head = colour.paint(Style::Strong, "ClusterVersion/version");
        format!("{head}  release {}\n{}", printable(&self.release), self.lines(at, Some(colour)))
    }

    /// The same where release and verdict of the gate stand above.
    pub(crate) fn beneath(&self, at: Instant) -> String {
        self.lines(at, None)
    }

    /// All but the release; with what the gate says in a colour, unless that stands elsewhere.
    fn lines(&self, at: Instant, gate: Option<Colour>) -> String {
        let mut text = String::new();
        if let Some(under_way) = &self.under_way {
            let _ = writeln!(text, "  under way: {}", printable(under_way));
            if let Some(mark) = &self.mark {
                let _ = writeln!(text, "    {}", mark.sentence(at));
            }
            if let Some(progress) = &self.progress {
                let _ = writeln!(text, "    {}", printable(progress));
            }
        }
        if let Some(already) = &self.already {
            let _ = writeln!(text, "  {}", printable(already));
        }
        match &self.update {
            None if self.already.is_some() => {}
            None if self.under_way.is_none() => text.push_str("  nothing is wanted\n"),
            None => {}
            Some(update) => update.draw(at, gate, &mut text),
        }
        if let Some(masters) = &self.masters {
            let _ = writeln!(text, "  masters: {}", masters.bar());
        }
        text
    }
}

impl Marked {
    fn sentence(&self, at: Instant) -> String {
        let when = self.at.map_or_else(
            || "at an instant that its mark does not name".to_owned(),
            |mark| format!("at {mark} ({})", text::relative(mark, at)),
        );
        match self.followed {
            Followed::Yes => format!("let begin {when}"),
            Followed::NotYet => {
                format!("let begin {when}, and nobody has begun to install it yet")
            }
        }
    }
}

/// The mark of what is under way.
fn marked(plane: &SeenPlane) -> Option<Marked> {
    if let Some(mark) = plane.open_mark() {
        return Some(Marked { at: mark.at, followed: Followed::NotYet });
    }
    let mark = plane.mark_of_newest().filter(|_| plane.is_under_way())?;
    Some(Marked { at: mark.at, followed: Followed::Yes })
}

impl Update {
    fn draw(&self, at: Instant, gate: Option<Colour>, text: &mut String) {
        let Self { release, image, verdict, why, starts, in_the_way, remarks } = self;
        let _ = writeln!(text, "  wanted: release {}", printable(release));
        if let Some(image) = image {
            let _ = writeln!(text, "    image {}", printable(image));
        }
        for remark in remarks {
            let _ = writeln!(text, "    {}", printable(remark));
        }
        let style = match verdict {
            Verdict::Permitted => Style::Open,
            Verdict::Held | Verdict::CannotTell => Style::Paused,
        };
        if let Some(colour) = gate {
            let state = colour.paint(style, verdict.state());
            let _ = writeln!(text, "  {state}: {}", printable(why));
        }
        let when = match starts {
            _ if !in_the_way.is_empty() => "does not start: something stands in its way".to_owned(),
            Some(start) if *start <= at => "starts now".to_owned(),
            Some(start) => format!("starts at {start} ({})", text::relative(*start, at)),
            None => "starts nobody can tell when".to_owned(),
        };
        let _ = writeln!(text, "  {when}");
        for problem in in_the_way {
            let _ = writeln!(text, "  in the way: {}", printable(&told(problem)));
            if let Some(hint) = &problem.hint {
                let _ = writeln!(text, "    hint: {}", printable(hint));
            }
        }
    }
}

/// Why there is nothing to ask for in a release: it has begun, or the cluster has it. Said before anybody judges it, because no cluster lists
/// the release that it has among its updates.
pub(crate) fn already(plane: &SeenPlane, release: &Named) -> Option<String> {
    let marked = plane.open_mark().is_some_and(|mark| mark.release.is_same(release));
    let accepted = release.is_same(&plane.accepted);
    let newest = plane.history.first().filter(|newest| newest.progress == Progress::Partial);
    let installed = accepted && newest.is_none_or(|newest| !newest.release.is_same(release));
    if installed && !marked {
        return Some(format!("the cluster has release {} already", plane.accepted.name()));
    }
    (marked || accepted).then(|| format!("release {} has begun already", release.name()))
}

/// A problem in one line, without its hint.
pub(crate) fn told(problem: &Problem) -> String {
    match problem.field.steps() {
        [] => problem.detail.clone(),
        _ => format!("{}: {}", problem.field, problem.detail),
    }
}

/// When a gate lets something begin from an instant on.
fn starts(gate: &Gate, at: Instant) -> Option<Instant> {
    match gate.verdict(at) {
        Verdict::Permitted => Some(at),
        Verdict::Held => gate.set().next_change(at),
        Verdict::CannotTell => None,
    }
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item<'a> {
    release: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    under_way: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<MarkItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a str>,
    update: Option<UpdateItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    already: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    masters: Option<Masters>,
}

#[derive(Serialize)]
struct MarkItem {
    at: Option<String>,
    followed: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpdateItem<'a> {
    release: &'a str,
    image: Option<&'a str>,
    verdict: &'static str,
    reason: &'a str,
    starts: Option<String>,
    in_the_way: Vec<String>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct Masters {
    machines: usize,
    done: usize,
}
