//! Whose release is it? Where a control plane of the cluster, a stock one, and a hosted one keep what somebody wants and what was found (CV-4,
//! HOST-1).

use api::names::WANTED_RELEASE;
use serde_json::Value;

use super::{
    Named, text, version,
    wish::{Checks, Wish},
};
use crate::document::problem::FieldPath;

/// Whose release it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// That of the cluster: `ClusterVersion`.
    #[default]
    Cluster,
    /// That of a cluster whose definitions and operators are those that OpenShift ships: whoever installs releases acts on `spec.desiredUpdate`
    /// at once, so that field is the mark, and the wish is the annotation `wanted-release`.
    Stock,
    /// That of a hosted cluster: `HostedCluster`. Its wish is an image, and its status repeats what the `ClusterVersion` inside says.
    Hosted,
}

/// The annotation by which the owner of a hosted cluster sets aside what speaks against one image.
pub const FORCED: &str = "hypershift.openshift.io/force-upgrade-to";

/// How the tags of releases end, after the version.
const ARCHITECTURES: [&str; 6] = ["-x86_64", "-aarch64", "-ppc64le", "-s390x", "-multi", "-amd64"];

impl Of {
    /// Whose release a `ClusterVersion` tells, by the schema that the API server has of it: one that would drop our stanza is that of a stock
    /// cluster, whose operators never heard of us (CV-4). One that keeps whatever is written is ours to use.
    pub fn by_definition(schema: &Value) -> Self {
        let keeps = |schema: &Value| {
            let unknown = schema.get("x-kubernetes-preserve-unknown-fields");
            unknown.and_then(Value::as_bool) == Some(true) || schema.get("properties").is_none()
        };
        let spec = schema.pointer("/properties/spec");
        let has_stanza = spec.is_some_and(|spec| {
            keeps(spec) || spec.pointer("/properties/changeManagement").is_some()
        });
        if keeps(schema) || has_stanza { Self::Cluster } else { Self::Stock }
    }

    /// Where what was found about its release stands.
    pub(super) fn found(self) -> &'static str {
        match self {
            Self::Cluster | Self::Stock => "/status",
            Self::Hosted => "/status/version",
        }
    }

    /// The condition that says whether it takes a higher minor version, and the one that says how far it is.
    pub(super) fn conditions(self) -> (&'static str, &'static str) {
        match self {
            Self::Cluster | Self::Stock => ("Upgradeable", "Progressing"),
            Self::Hosted => ("ClusterVersionUpgradeable", "ClusterVersionProgressing"),
        }
    }

    /// What somebody wants of it.
    pub(super) fn wish(self, document: &Value) -> Option<Wish> {
        match self {
            Self::Cluster => document.pointer("/spec/desiredUpdate").and_then(Wish::read),
            Self::Stock => noted(document).and_then(Wish::noted),
            Self::Hosted => hosted(document),
        }
    }

    /// A release as its status names it.
    pub(super) fn named(self, release: &Value) -> Named {
        match self {
            Self::Cluster | Self::Stock => Named::of(release),
            Self::Hosted => {
                let pulled = pulled(text(release, "image"));
                let version = text(release, "version");
                let version = if version.is_empty() { pulled.version } else { version.into() };
                Named { version, ..pulled }
            }
        }
    }

    /// The field of a part of a wish, as people write it.
    pub fn field(self, part: &str) -> String {
        self.path(part).to_string()
    }

    /// The same, as a path.
    pub fn path(self, part: &str) -> FieldPath {
        match self {
            Self::Cluster => FieldPath::of("spec.desiredUpdate").key(part),
            Self::Stock => self.whole().key(part),
            Self::Hosted => self.whole(),
        }
    }

    /// The field of a wish as a whole.
    pub(super) fn whole(self) -> FieldPath {
        match self {
            Self::Cluster => FieldPath::of("spec.desiredUpdate"),
            Self::Stock => FieldPath::of("metadata.annotations").key(WANTED_RELEASE),
            Self::Hosted => FieldPath::of("spec.release.image"),
        }
    }

    /// The field that tells the version which it has, as people write it.
    pub(super) fn release_field(self) -> &'static str {
        match self {
            Self::Cluster | Self::Stock => "status.desired.version",
            Self::Hosted => "status.version.desired.version",
        }
    }

    /// What sets aside what speaks against a release.
    pub(super) fn force(self) -> &'static str {
        match self {
            Self::Cluster => "spec.desiredUpdate.force",
            Self::Stock => "force in the annotation changemanagement.openshift.io/wanted-release",
            Self::Hosted => "the annotation hypershift.openshift.io/force-upgrade-to",
        }
    }

    /// How somebody says which version an image is.
    pub(crate) fn how_to_name(self) -> &'static str {
        match self {
            Self::Cluster | Self::Stock => "write the version beside the image",
            Self::Hosted => {
                "write the version as the tag of the image, before its digest, as in registry/release:4.20.7@sha256:<64 hexadecimal digits>"
            }
        }
    }

    /// How somebody mends a version that is not that of the image.
    pub(super) fn how_to_rename(self) -> &'static str {
        match self {
            Self::Cluster | Self::Stock => {
                "name the release by its version, or by its image, and leave the other out"
            }
            Self::Hosted => "leave the tag of the image out: its digest says what it is",
        }
    }
}

/// What somebody wants of a stock cluster: the text of an annotation.
fn noted(document: &Value) -> Option<&str> {
    document.pointer("/metadata/annotations")?.get(WANTED_RELEASE)?.as_str()
}

/// What somebody wants of a hosted cluster: `spec.release.image`.
fn hosted(document: &Value) -> Option<Wish> {
    let image = document.pointer("/spec/release/image").and_then(Value::as_str)?;
    let release = pulled(image);
    if release.is_empty() {
        return None;
    }
    let forced = document.pointer("/metadata/annotations").and_then(|noted| noted.get(FORCED));
    let is_forced = forced.and_then(Value::as_str) == Some(image);
    let checks = if is_forced { Checks::SetAside } else { Checks::Count };
    Some(Wish { release, checks, ..Wish::default() })
}

/// A release by its image as it is pulled: a tag beside a digest says which version somebody takes it for, and pulls nothing.
pub fn pulled(image: &str) -> Named {
    let (name, digest) = image.split_once('@').map_or((image, None), |(a, b)| (a, Some(b)));
    let path = name.rfind('/').map_or(0, |slash| slash + 1);
    let tag = name.get(path..).and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
    let plain = tag.map(|tag| {
        let ended = ARCHITECTURES.iter().find_map(|end| tag.strip_suffix(end));
        ended.unwrap_or(tag)
    });
    let version = plain.filter(|tag| version::read(tag).is_some()).unwrap_or_default().to_owned();
    let image = match (tag, digest) {
        (Some(tag), Some(digest)) => {
            let bare = name.strip_suffix(tag).and_then(|bare| bare.strip_suffix(':'));
            format!("{}@{digest}", bare.unwrap_or(name))
        }
        _ => image.to_owned(),
    };
    Named { version, image }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::SeenPlane, *};

    #[test]
    fn a_tag_beside_a_digest_names_the_version_and_pulls_nothing() {
        for (image, version, pulls) in [
            ("", "", ""),
            ("r@sha256:0", "", "r@sha256:0"),
            ("a.io/b/r:4.20.7-x86_64@sha256:0", "4.20.7", "a.io/b/r@sha256:0"),
            ("a.io:5000/b/r@sha256:0", "", "a.io:5000/b/r@sha256:0"),
            ("a.io:5000/b/r:4.21.0-rc.2-multi@sha256:0", "4.21.0-rc.2", "a.io:5000/b/r@sha256:0"),
            ("a.io/r:latest@sha256:0", "", "a.io/r@sha256:0"),
            // Without a digest it is what was written: that nobody can tell what it is tomorrow is told elsewhere.
            ("a.io/r:4.20.7-x86_64", "4.20.7", "a.io/r:4.20.7-x86_64"),
        ] {
            let found = pulled(image);
            assert_eq!((found.version.as_str(), found.image.as_str()), (version, pulls), "{image}");
        }
    }

    /// CV-4: what can store our stanza is ours to ask, and what cannot is stock.
    #[test]
    fn a_definition_without_our_stanza_is_that_of_a_stock_cluster() {
        let spec = |spec: Value| json!({"type": "object", "properties": {"spec": spec}});
        for (schema, expected) in [
            (spec(json!({"properties": {"channel": {}}})), Of::Stock),
            (spec(json!({"properties": {"channel": {}, "changeManagement": {}}})), Of::Cluster),
            (
                spec(
                    json!({"properties": {"a": {}}, "x-kubernetes-preserve-unknown-fields": true}),
                ),
                Of::Cluster,
            ),
            (spec(json!({"type": "object"})), Of::Cluster),
            (json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}), Of::Cluster),
            (json!({"properties": {"metadata": {}}}), Of::Stock),
        ] {
            assert_eq!(Of::by_definition(&schema), expected, "{schema}");
        }
    }

    /// HOST-1: what is read of a hosted control plane, each from its own field.
    #[test]
    fn a_hosted_control_plane_is_read_where_it_keeps_things() {
        let document = json!({"metadata": {"uid": "u1", "annotations": {FORCED: "r:4.21.1@sha256:1"}},
            "spec": {"release": {"image": "r:4.21.1@sha256:1"}},
            "status": {"conditions": [
                {"type": "ClusterVersionUpgradeable", "status": "False", "reason": "A", "message": "b"},
                {"type": "ClusterVersionProgressing", "status": "True", "message": "half-way"}],
                "version": {"desired": {"image": "r:4.20.1@sha256:0", "version": "4.20.1"},
                "availableUpdates": [{"image": "r@sha256:1", "version": "4.21.1"}],
                "history": [{"state": "Partial", "version": "4.20.1", "image": "r@sha256:0", "startedTime": "2026-01-01T00:00:00Z"}]}}});
        let plane = SeenPlane::hosted(&document);
        let wish = plane.waiting().expect("another release is wanted");
        assert_eq!((wish.release.name(), wish.release.image.as_str()), ("4.21.1", "r@sha256:1"));
        assert_eq!(wish.checks, Checks::SetAside);
        assert_eq!(plane.accepted.image, "r@sha256:0");
        assert_eq!(plane.not_upgradeable.as_ref().map(|not| not.reason.as_str()), Some("A"));
        assert_eq!(plane.progress.as_deref(), Some("half-way"));
        assert!(plane.is_under_way());
        // A cluster that is being created has no release yet, and creation is not held.
        let mut created = document;
        created["status"] = json!({});
        assert!(SeenPlane::hosted(&created).waiting().is_none());
    }
}
