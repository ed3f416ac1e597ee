//! What is a new node given to ignite with? The rendered configuration that the canary rule chose (POOL-4), and the annotations it
//! joins with: it runs what it was given, and has nothing left to do.
//!
//! Ignition says which version of its format it reads, and cannot read a newer one. What rendered configurations hold has been in the
//! format since 3.0.0, so they are written in whichever version is asked for; only the special bits of permissions are newer.

use api::machine::{
    ignition::{Contents, File, Ignition},
    names::{CURRENT_CONFIG, DESIRED_CONFIG, NodeState, STATE},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::source::Rendered;
use crate::document::problem::quoted;

/// Where the agent finds the annotations of its first start.
pub const ANNOTATIONS_FILE: &str = "/etc/machine-config-daemon/node-annotations.json";

/// Where first boot finds the whole configuration, with what Ignition has no word for: kernel, extensions, image.
pub const ENCAPSULATED_FILE: &str = "/etc/ignition-machine-config-encapsulated.json";

/// A version of the format that is written here: 3, this, and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format {
    minor: u32,
}

/// The name of the format in HTTP.
pub const MEDIA_TYPE: &str = "application/vnd.coreos.ignition+json";

impl Format {
    /// The newest, for whoever does not mind.
    pub const NEWEST: Self = Self { minor: 5 };
    const OLDEST: Self = Self { minor: 0 };
    /// The first in which permissions may have the bits for set-user, set-group and sticky.
    const SPECIAL_BITS: Self = Self { minor: 4 };

    /// The version to write a configuration in, as the header `Accept` asks for it; or else a sentence for whoever asked.
    pub fn negotiated(accept: &str, config: &Rendered) -> Result<Self, String> {
        let needed = Self::needed(config);
        let asked = asked(accept)?;
        if asked < needed {
            let (name, newest) = (&config.name, Self::NEWEST);
            return Err(format!(
                "{name} sets special bits of permissions, which Ignition {asked} ignores; ask for version {needed} to {newest}"
            ));
        }
        Ok(asked)
    }

    /// The oldest version that can say what a configuration holds.
    fn needed(config: &Rendered) -> Self {
        let files = config.spec.config.iter().flat_map(|config| &config.storage.files);
        let special = files.filter_map(|file| file.mode).any(|mode| mode > 0o777);
        if special { Self::SPECIAL_BITS } else { Self::OLDEST }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "3.{}.0", self.minor)
    }
}

/// What a header `Accept` asks for. Whoever names the format is taken at their word, even if anything else would do for them too: an older
/// Ignition takes any answer and then fails on it.
fn asked(accept: &str) -> Result<Format, String> {
    let ranges: Vec<Range<'_>> = accept.split(',').filter_map(Range::read).collect();
    let named: Vec<&Range<'_>> = ranges.iter().filter(|range| range.media == MEDIA_TYPE).collect();
    if named.is_empty() {
        let general = ["*/*", "application/*", "application/json"];
        let any = ranges.is_empty() || ranges.iter().any(|range| general.contains(&range.media));
        return if any { Ok(Format::NEWEST) } else { Err(choices(accept)) };
    }
    let usable = named.iter().filter_map(|range| Some((range.weight, range.format()?)));
    usable.max().map(|(_, format)| format).ok_or_else(|| choices(accept))
}

fn choices(accept: &str) -> String {
    let (oldest, newest) = (Format::OLDEST, Format::NEWEST);
    let accept: String = accept.chars().filter(|c| !c.is_control()).take(200).collect();
    format!(
        "nothing here is of the type {}; ask for {MEDIA_TYPE};version={newest}, or down to {oldest}",
        quoted(&accept)
    )
}

/// One alternative of a header `Accept`.
struct Range<'a> {
    media: &'a str,
    version: Option<&'a str>,
    /// In thousandths.
    weight: u32,
}

impl<'a> Range<'a> {
    /// Reads an alternative; none if it is empty or not wanted at all.
    fn read(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().filter(|media| !media.is_empty())?;
        let mut range = Self { media, version: None, weight: 1000 };
        for part in parts {
            match part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("version", version)) => range.version = Some(version.trim_matches('"')),
                Some(("q", weight)) => range.weight = thousandths(weight),
                Some(_) | None => {}
            }
        }
        (range.weight > 0).then_some(range)
    }

    /// The version to answer with; none for one of another major version. Whoever reads a newer one than is written here reads ours too.
    fn format(&self) -> Option<Format> {
        let Some(version) = self.version else { return Some(Format::NEWEST) };
        let minor = version.strip_prefix("3.")?.split('.').next()?.parse().ok()?;
        Some(Format { minor }.min(Format::NEWEST))
    }
}

/// A weight between 0 and 1 with up to three decimals; one that is none counts as 1, which is what leaving it out means.
fn thousandths(text: &str) -> u32 {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let decimals = format!("{decimals:0<3}");
    match (whole, decimals.get(..3).and_then(|decimals| decimals.parse().ok())) {
        ("0", Some(decimals)) => decimals,
        _ => 1000,
    }
}

/// The Ignition document for a new node.
pub fn ignition(config: &Rendered, format: Format) -> Value {
    let mut ignition = config.spec.config.clone().unwrap_or_default();
    ignition.ignition.version = format.to_string();
    let annotations = json!({
        CURRENT_CONFIG: config.name,
        DESIRED_CONFIG: config.name,
        STATE: NodeState::Done.as_str(),
    });
    let encapsulated = json!({
        "apiVersion": api::machine::names::API_VERSION,
        "kind": api::machine::names::MACHINE_CONFIG,
        "metadata": {"name": config.name},
        "spec": config.spec,
    });
    put(&mut ignition, ANNOTATIONS_FILE, &annotations);
    put(&mut ignition, ENCAPSULATED_FILE, &encapsulated);
    json!(ignition)
}

/// A file in place of one that a source may have written there.
fn put(ignition: &mut Ignition, path: &str, content: &Value) {
    let files = &mut ignition.storage.files;
    files.retain(|file| file.path != path);
    files.push(File {
        path: path.to_owned(),
        mode: Some(0o600),
        overwrite: Some(true),
        contents: Contents {
            source: Some(format!("data:;base64,{}", STANDARD.encode(content.to_string()))),
        },
        ..File::default()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(mode: u32) -> Rendered {
        let spec = json!({"config": {"ignition": {"version": "3.5.0"}, "storage": {"files": [
            {"path": "/etc/a", "mode": mode},
        ]}}});
        Rendered {
            name: "rendered-worker-a".into(),
            resource_version: String::new(),
            pool: "worker".into(),
            created: None,
            digests: std::collections::BTreeMap::new(),
            spec: serde_json::from_value(spec).unwrap(),
        }
    }

    /// POOL-4
    #[test]
    fn the_version_is_the_newest_that_the_asker_reads() {
        let check = |accept: &str, expected: &str| {
            let found = Format::negotiated(accept, &rendered(0o644));
            assert_eq!(found.map(|format| format.to_string()).as_deref(), Ok(expected), "{accept}");
        };
        check("", "3.5.0");
        check("*/*", "3.5.0");
        check("application/json", "3.5.0");
        check("application/vnd.coreos.ignition+json", "3.5.0");
        check("application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1", "3.4.0");
        check("application/vnd.coreos.ignition+json; version=3.0.0", "3.0.0");
        check("application/vnd.coreos.ignition+json;version=\"3.2.0\"", "3.2.0");
        check("application/vnd.coreos.ignition+json;version=3.9.0", "3.5.0");
        check("application/vnd.coreos.ignition+json;version=3.6.0-experimental", "3.5.0");
        check(
            "application/vnd.coreos.ignition+json;version=3.1.0;q=0.5, application/vnd.coreos.ignition+json;version=3.3.0",
            "3.3.0",
        );
        check(
            "application/vnd.coreos.ignition+json;version=2.4.0, application/vnd.coreos.ignition+json;version=3.1.0;q=0.25",
            "3.1.0",
        );
    }

    /// POOL-4
    #[test]
    fn what_the_asker_cannot_read_is_refused_and_not_sent() {
        let check = |accept: &str, mode: u32, part: &str| {
            let said = Format::negotiated(accept, &rendered(mode)).unwrap_err();
            assert!(said.contains(part), "{accept}: {said}");
        };
        let old = "application/vnd.coreos.ignition+json; version=2.4.0, */*; q=0.1";
        check(old, 0o644, "ask for application/vnd.coreos.ignition+json;version=3.5.0");
        check("text/html", 0o644, "\"text/html\"");
        check("application/vnd.coreos.ignition+json;version=x", 0o644, "ask for");
        let new = "application/vnd.coreos.ignition+json;version=3.3.0";
        check(new, 0o4755, "special bits");
        let exact = "application/vnd.coreos.ignition+json;version=3.4.0";
        assert_eq!(Format::negotiated(exact, &rendered(0o4755)), Ok(Format { minor: 4 }));
    }
}
