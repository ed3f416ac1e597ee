//! What does somebody want, and what does that stand for? (CV-4)
//!
//! A version alone is looked up among the updates that the cluster knows, and that list changes by itself. So what it stands for is written
//! down when the wish is first seen, and the same is begun however long the gate holds it.

use serde_json::{Value, json};

use super::{Named, text};
use crate::document::problem::quoted;

/// What somebody wants: `spec.desiredUpdate`, the annotation `wanted-release` of a stock cluster, or `spec.release.image` of a hosted one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The release, as they wrote it.
    pub release: Named,
    /// The architecture, if they named one.
    pub architecture: String,
    /// Whether they set failed checks of the release aside. Change management is none of those.
    pub checks: Checks,
    /// Why nobody can read it; empty if somebody can. Only a text may be so: the annotation of a stock cluster.
    pub unreadable: String,
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
            unreadable: String::new(),
        })
    }

    /// Reads a wish that is a text with the JSON that somebody would write into `spec.desiredUpdate`; none if it is blank, or wants nothing to
    /// change. What cannot be read is a wish of which nobody can tell what it is for: it starts nothing, and it is told (CV-4).
    pub(crate) fn noted(text: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return None;
        }
        let wish = read_noted(text);
        wish.unwrap_or_else(|unreadable| Some(Self { unreadable, ..Self::default() }))
    }

    /// A wish for a release.
    pub fn of(version: &str, image: &str) -> Self {
        Self { release: Named { version: version.into(), image: image.into() }, ..Self::default() }
    }
}

/// The wish that a text holds; why it cannot be read, if it cannot.
fn read_noted(text: &str) -> Result<Option<Wish>, String> {
    let update: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(fields) = &update else {
        return Err("it is not a JSON object".to_owned());
    };
    for (field, value) in fields {
        let (is_right, should) = match field.as_str() {
            "version" | "image" | "architecture" | "mode" => (value.is_string(), "a text"),
            "force" => (value.is_boolean(), "true or false"),
            other => return Err(format!("{} is no field that a wish can have", quoted(other))),
        };
        if !is_right {
            return Err(format!("{field} must be {should}"));
        }
    }
    if Named::of(&update).is_empty() {
        return Err("it names neither version nor image".to_owned());
    }
    Ok(Wish::read(&update))
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
        let wish = noted.get("wish").unwrap_or(&Value::Null);
        let unreadable = text(wish, "unreadable").to_owned();
        let wish = Wish { unreadable, ..Wish::read(wish).unwrap_or_default() };
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
            ("unreadable", &wish.unreadable),
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
