//! What was let begin? The annotation `accepted-release`: the one write that starts an update, which its followers act on (CV-4, GATE-10).
//!
//! GATE-16: it names the very object that it was written for, so that one which was restored elsewhere starts nothing. It also names the
//! update before it: followed is what something began after, whatever clocks say.

use schedule::Instant;
use serde_json::{Value, json};

use super::{Named, text};

/// An update that was let begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The release, with the digest of its image.
    pub release: Named,
    /// When the newest update had begun that was there then, as `status.history` has it; empty if there was none.
    pub after: String,
    /// When the gate was asked.
    pub at: Option<Instant>,
}

impl Mark {
    /// Reads a mark; none if it is not of the object with this identity, or does not name a release whole.
    pub(crate) fn read(noted: &Value, uid: &str) -> Option<Self> {
        let release = Named::of(noted);
        let whole = !release.version.is_empty() && !release.image.is_empty();
        (whole && text(noted, "uid") == uid).then(|| Self {
            release,
            after: text(noted, "after").into(),
            at: Instant::parse(text(noted, "at")).ok(),
        })
    }

    /// The text of the annotation, for the object with this identity.
    pub fn text(&self, uid: &str) -> String {
        let Self { release: Named { version, image }, after, at } = self;
        let mut noted = json!({"version": version, "image": image, "uid": uid, "after": after});
        if let Some(at) = at {
            noted["at"] = json!(at.to_string());
        }
        noted.to_string()
    }
}
