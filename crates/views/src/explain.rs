//! May changes be initiated, and why or why not? A verdict and the tree of its reasons.

use std::fmt::Write as _;

use api::{policy::Behavior, schema::gated_named};
use schedule::{Instant, Zone};
use serde::Serialize;
use tidegate_core::{
    cluster::{overview, snapshot::Snapshot},
    document::{key::Key, problem::Object},
    gate::enforced::Enforcement,
    policy::{
        behavior::behavior,
        explain::{Fact, Reason, explain},
        read::Policy,
        verdict::Verdict,
    },
};

use crate::{
    control_plane::{self, Asked, Plane},
    drawing::{Colour, Detail, Style},
    heading::headline,
    items::Named,
    safe::printable,
};

/// Something that was asked about, with everything that is said of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked about.
    pub object: Object,
    /// The present state and the next one.
    pub behavior: Behavior,
    /// The verdict and why.
    pub reason: Reason,
    /// The zone in which people are told times.
    pub zone: Zone,
    /// Whether anything refuses what it holds, where a controller said so (GATE-13).
    pub enforced: Option<Enforcement>,
    /// What the status of a gate on what others own says about that.
    pub kept: Option<String>,
    /// What the server does otherwise, because nobody has written it into the status of the gate yet (RCH-2).
    pub differs: Option<String>,
    /// Why what waits would not start if changes were permitted (CV-4).
    pub stopped: Option<String>,
    /// What is wanted of the control plane, what was let begin and how far that is; none of anything else.
    pub plane: Option<Plane>,
}

impl Answer {
    /// The answer for programs.
    pub fn item(&self, at: Instant) -> Item<'_> {
        Item {
            object: Named::from(&self.object),
            at: at.to_string(),
            verdict: self.reason.verdict.as_str(),
            behavior: self.behavior.clone(),
            reasons: tree(&self.reason, &self.zone),
            enforced: self.enforced.map(Enforcement::reason),
            differs: self.differs.clone(),
            stopped: self.stopped.clone(),
            control_plane: self.plane.as_ref().map(Plane::item),
        }
    }

    /// The answer for people.
    pub fn drawing(&self, at: Instant, detail: Detail, colour: Colour) -> String {
        let Self { object, behavior, reason, zone, enforced, kept, differs, stopped, plane } = self;
        let mut text = headline(object, reason.verdict, reason.until, zone, at, colour);
        draw(&reason.because, zone, "  ", detail, colour, &mut text);
        if let Some(next) = &behavior.next {
            let until =
                next.end_time.as_ref().map_or_else(String::new, |end| format!(" until {end}"));
            let _ = writeln!(
                text,
                "  then, from {}{until}: {}",
                next.start_time.as_deref().unwrap_or_default(),
                printable(&next.reason)
            );
        }
        if let Some(plane) = plane {
            text.push_str(&plane.beneath(at));
        } else if let Some(why) = stopped {
            let _ = writeln!(
                text,
                "  what waits would not start if changes were permitted: {}",
                printable(why)
            );
        }
        if let Some(differs) = differs {
            let _ = writeln!(text, "  {}", printable(differs));
        }
        if let Some(enforced) = enforced {
            let kind = gated_named(&object.kind);
            let about =
                || kind.map_or_else(|| enforced.sentence().to_owned(), |kind| enforced.about(kind));
            let said = kept.as_deref().map_or_else(about, printable);
            let _ = writeln!(text, "  {}: {said}", enforced.reason());
        }
        text
    }
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Item<'a> {
    #[serde(flatten)]
    object: Named,
    at: String,
    verdict: &'static str,
    behavior: Behavior,
    reasons: Tree,
    #[serde(skip_serializing_if = "Option::is_none")]
    enforced: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differs: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    #[serde(rename = "controlPlane", skip_serializing_if = "Option::is_none")]
    control_plane: Option<control_plane::Item<'a>>,
}

#[derive(Serialize)]
struct Tree {
    verdict: &'static str,
    text: String,
    until: Option<String>,
    because: Vec<Tree>,
}

/// What is said of a policy that was read from a file.
pub fn of_policy(policy: &Policy, at: Instant) -> Answer {
    Answer {
        object: policy.object.clone(),
        behavior: behavior(&policy.lowered, at),
        reason: explain(policy, at),
        zone: policy.lowered.zone.clone(),
        enforced: None,
        kept: None,
        differs: None,
        stopped: None,
        plane: None,
    }
}

/// What is said of a resource or a policy of a cluster; nothing if it is not there.
pub fn of_object(key: &Key, world: &Snapshot, at: Instant) -> Option<Answer> {
    let object = key.object();
    if let Some(seen) = world.resource(key) {
        let gate = world.gate(seen);
        let zone = gate.lowered().map_or_else(Zone::utc, |lowered| lowered.zone.clone());
        let behavior = world.behavior(seen, at);
        let (reason, enforced) = (world.explain(seen, at), seen.enforcement());
        let overview::Row { unmet: stopped, kept, differs, .. } =
            overview::resource(world, seen, at);
        let plane =
            is_control_plane(key, world).then(|| Plane::new(world, Asked::ByTheCluster, at));
        let plane = plane.and_then(Result::ok);
        return Some(Answer {
            object,
            behavior,
            reason,
            zone,
            enforced,
            kept,
            differs,
            stopped,
            plane,
        });
    }
    let seen = world.policy(key)?;
    let verdict = seen.verdict(at);
    let doubt = |said: String| Reason {
        verdict: Verdict::CannotTell,
        fact: Fact::Doubt(said),
        until: None,
        because: Vec::new(),
    };
    // What a controller has not read, nobody relies on, whatever it says (POL-6).
    match (&seen.judged.policy, seen.ready()) {
        (Some(policy), Ok(())) => Some(of_policy(policy, at)),
        (Some(policy), Err(why)) => {
            let mut answer = of_policy(policy, at);
            answer.reason.verdict = verdict;
            answer.reason.until = None;
            answer.reason.because.insert(0, doubt(format!("{object} {why}, so changes are held")));
            Some(answer)
        }
        (None, _) => {
            let behavior = overview::policy(seen, at).behavior;
            let because = vec![doubt(seen.reason(at))];
            let fact = Fact::Policy(object.clone());
            let reason = Reason { verdict, fact, until: None, because };
            let (zone, enforced, stopped) = (Zone::utc(), None, None);
            let (kept, differs, plane) = (None, None, None);
            Some(Answer { object, behavior, reason, zone, enforced, kept, differs, stopped, plane })
        }
    }
}

/// Whether it is the control plane of this very cluster; inside a hosted one its release is told where it is installed (HOST-2).
fn is_control_plane(key: &Key, world: &Snapshot) -> bool {
    let version = world.control_plane().filter(|version| version.projected.is_none());
    version.is_some_and(|version| version.identity.key == *key)
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

fn draw(
    reasons: &[Reason],
    zone: &Zone,
    indent: &str,
    detail: Detail,
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
        let words = printable(&reason.text(zone));
        let _ = write!(text, "{indent}{branch} {}  {words}", colour.paint(style, sign));
        match reason.until {
            Some(until) if detail == Detail::Full => {
                let _ = write!(text, "  [until {until}]");
            }
            _ => {}
        }
        text.push('\n');
        draw(&reason.because, zone, &format!("{indent}{below}"), detail, colour, text);
    }
}
