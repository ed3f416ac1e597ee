//! What was let begin? The annotation `accepted-release`: the one write that starts an update, which its followers act on (CV-4, GATE-10).
//!
//! GATE-16: it names the very object that it was written for, so that one which was restored elsewhere starts nothing. It also names the
//! update before it: followed is what something began after, whatever clocks say.
//!
//! A mark that nobody follows ends: who comes back after hours must not begin what the gate, a freeze or the wish would hold by then. Its
//! followers honour the end, and the operator withdraws the mark after it, so that everything is asked again.

use schedule::Instant;
use serde_json::{Value, json};

use super::{Named, text, wish::Checks};

/// How long a mark waits for somebody to follow it, in seconds. Whoever installs releases follows within seconds; one whose pod moves to another
/// node takes minutes. An hour leaves room for a bad one of these, and is short beside what windows and freezes are made for.
pub const FOLLOWED_WITHIN: i64 = 3600;

/// How much later than its end a mark is withdrawn, in seconds: the server compares the end with its own clock, and a clock that is further off
/// starts nothing anyway (GATE-11).
const GRACE: i64 = 5;

/// An update that was let begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The release, with the digest of its image.
    pub release: Named,
    /// When the newest update had begun that was there then, as `status.history` has it; empty if there was none.
    pub after: String,
    /// Whether that update had been marked itself: its own mark is gone once this one is there (GATE-13).
    pub before: Before,
    /// When the gate was asked.
    pub at: Option<Instant>,
    /// When it ends, if nobody has followed it by then; none if it was written by hand and does not say.
    pub until: Option<Instant>,
    /// Whether whoever wished set failed checks of the release aside: a follower reads marks alone.
    pub checks: Checks,
}

/// Whether the update before one was marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// Nobody knows of a mark.
    #[default]
    Unmarked,
    /// It was.
    Marked,
}

impl Mark {
    /// Reads a mark; none if it is not of the object with this identity, or does not name a release whole.
    pub(crate) fn read(noted: &Value, uid: &str) -> Option<Self> {
        let release = Named::of(noted);
        let whole = !release.version.is_empty() && !release.image.is_empty();
        let flag = |field: &str| noted.get(field).and_then(Value::as_bool) == Some(true);
        (whole && text(noted, "uid") == uid).then(|| Self {
            release,
            after: text(noted, "after").into(),
            before: if flag("afterMarked") { Before::Marked } else { Before::Unmarked },
            at: Instant::parse(text(noted, "at")).ok(),
            // An end that cannot be read is over: doubt starts nothing.
            until: noted.get("until").map(|until| {
                until.as_str().and_then(|until| Instant::parse(until).ok()).unwrap_or(Instant::MIN)
            }),
            checks: if flag("force") { Checks::SetAside } else { Checks::Count },
        })
    }

    /// The text of the annotation, for the object with this identity.
    pub fn text(&self, uid: &str) -> String {
        let Self { release: Named { version, image }, after, before, at, until, checks } = self;
        let mut noted = json!({"version": version, "image": image, "uid": uid, "after": after});
        if let Some(at) = at {
            noted["at"] = json!(at.to_string());
        }
        if let Some(until) = until {
            noted["until"] = json!(until.to_string());
        }
        if *before == Before::Marked {
            noted["afterMarked"] = json!(true);
        }
        if *checks == Checks::SetAside {
            noted["force"] = json!(true);
        }
        noted.to_string()
    }

    /// What takes its place once it has ended: nobody follows it, and it keeps what is known of the update before.
    pub fn withdrawn(&self, uid: &str, now: Instant) -> String {
        let Self { after, before, .. } = self;
        let mut noted = json!({"uid": uid, "after": after, "withdrawn": now.to_string()});
        if *before == Before::Marked {
            noted["afterMarked"] = json!(true);
        }
        noted.to_string()
    }

    /// Whether it may still be followed.
    pub fn is_good(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// When it is to be withdrawn, if nobody has followed it by then.
    pub fn ends(&self) -> Option<Instant> {
        self.until.map(|until| until.saturating_add(GRACE))
    }
}
