//! What does somebody want, and what does that stand for? (CV-4)
//!
//! A version alone is looked up among the updates that the cluster knows, and that list changes by itself. So what it stands for is written
//! down when the wish is first seen, and the same is begun however long the gate holds it.

use serde_json::{Value, json};

use super::{Named, text};

/// What somebody wants: `spec.desiredUpdate`, or `spec.release.image` of a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The release, as they wrote it.
    pub release: Named,
    /// The architecture, if they named one.
    pub architecture: String,
    /// Whether they set failed checks of the release aside. Change management is none of those.
    pub checks: Checks,
}

/// Whether what speaks against a release counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// It does.
    #[default]
    Count,
    /// Somebody set it aside: `force`.
    SetAside,
}

impl Wish {
    /// Reads a wish; none if nothing is wanted. Whoever only looks whether a release would do (`mode: Preflight`) wants nothing to change
    /// (CV-5).
    pub(crate) fn read(update: &Value) -> Option<Self> {
        let release = Named::of(update);
        if release.is_empty() || text(update, "mode") == "Preflight" {
            return None;
        }
        let force = update.get("force").and_then(Value::as_bool) == Some(true);
        Some(Self {
            release,
            architecture: text(update, "architecture").into(),
            checks: if force { Checks::SetAside } else { Checks::Count },
        })
    }

    /// A wish for a release.
    pub fn of(version: &str, image: &str) -> Self {
        Self { release: Named { version: version.into(), image: image.into() }, ..Self::default() }
    }
}

/// What a wish stands for, as it was written down when it was first seen: the annotation `wanted-image`. What nobody could tell is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    /// The release.
    pub release: Named,
    /// The wish, as it was written then: what stands for one wish stands for no other, however alike they are.
    pub wish: Wish,
}

impl Pin {
    pub(crate) fn read(noted: &Value) -> Self {
        let wish = noted.get("wish").and_then(Wish::read).unwrap_or_default();
        Self { release: Named::of(noted), wish }
    }

    /// The text of the annotation.
    pub fn text(&self) -> String {
        let Self { release, wish } = self;
        let mut noted = named(&[("version", &release.version), ("image", &release.image)]);
        let asked = &wish.release;
        let parts = [
            ("version", &asked.version),
            ("image", &asked.image),
            ("architecture", &wish.architecture),
        ];
        noted["wish"] = named(&parts);
        if wish.checks == Checks::SetAside {
            noted["wish"]["force"] = json!(true);
        }
        noted.to_string()
    }

    /// Whether it was written for this wish.
    pub fn is_for(&self, wish: &Wish) -> bool {
        self.wish == *wish
    }
}

/// The fields of which something is said.
fn named(fields: &[(&str, &String)]) -> Value {
    let told = fields.iter().filter(|(_, value)| !value.is_empty());
    Value::Object(told.map(|(field, value)| ((*field).to_owned(), json!(value))).collect())
}

/// Whether an image is named by its digest: only that tells today what it will be on Saturday.
pub fn has_digest(image: &str) -> bool {
    let digest = image.split_once("@sha256:").map(|(_, digest)| digest);
    digest.is_some_and(|digest| {
        digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
