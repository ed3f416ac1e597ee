//! Where on a server does a kind, or an object, live? Paths and queries are made here and nowhere else.
//!
//! Names are put into a path as one part of it, whatever they hold: some are read from annotations that anybody may write.

use std::fmt::Write as _;

use api::{names, schema::Kind};

/// A kind, as far as its path goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// A pod.
pub const POD: Resource<'_> = Resource::new("v1", "Pod");
/// A namespace.
pub const NAMESPACE: Resource<'_> = Resource::new("v1", "Namespace");
/// Texts by their names.
pub const CONFIG_MAP: Resource<'_> = Resource::new("v1", "ConfigMap");
/// What people are told.
pub const EVENT: Resource<'_> = Resource::new("events.k8s.io/v1", "Event");
/// Who leads.
pub const LEASE: Resource<'_> = Resource::new("coordination.k8s.io/v1", "Lease");
/// Whose token it is.
pub const TOKEN_REVIEW: Resource<'_> = Resource::new("authentication.k8s.io/v1", "TokenReview");
/// What somebody may do.
pub const ACCESS_REVIEW: Resource<'_> =
    Resource::new("authorization.k8s.io/v1", "SubjectAccessReview");
/// What the one who asks may do.
pub const OWN_ACCESS_REVIEW: Resource<'_> =
    Resource::new("authorization.k8s.io/v1", "SelfSubjectAccessReview");
/// Who the one who asks is.
pub const OWN_REVIEW: Resource<'_> = Resource::new("authentication.k8s.io/v1", "SelfSubjectReview");
/// What the server refuses by a rule.
pub const ADMISSION_POLICY: Resource<'_> =
    Resource::new("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy");
/// Where it does.
pub const ADMISSION_BINDING: Resource<'_> =
    Resource::new("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding");
/// A kind that was added to the server.
pub const DEFINITION: Resource<'_> =
    Resource::new("apiextensions.k8s.io/v1", "CustomResourceDefinition");

/// What a server says of itself.
pub(crate) const VERSION: &str = "/version";

impl<'a> Resource<'a> {
    /// The kind of this name, in this group and version.
    pub const fn new(api_version: &'a str, kind: &'a str) -> Self {
        Self { api_version, kind }
    }

    /// A kind that change management knows.
    pub const fn of(kind: &Kind) -> Resource<'static> {
        Resource { api_version: kind.api_version, kind: kind.name }
    }

    /// The path of what the server says of its group and version.
    pub fn group(&self) -> String {
        group(self.api_version)
    }

    /// The path of all its objects, in one namespace or in all.
    pub fn collection(&self, namespace: Option<&str>) -> String {
        let (group, plural) = (self.group(), self.plural());
        match namespace {
            Some(namespace) => format!("{group}/namespaces/{}/{plural}", encoded(namespace)),
            None => format!("{group}/{plural}"),
        }
    }

    /// The path of one of them.
    pub fn object(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{}", self.collection(namespace), encoded(name))
    }

    /// What one of them is called.
    pub fn kind(&self) -> &'a str {
        self.kind
    }

    /// What they are called in paths and rights.
    pub fn plural(&self) -> String {
        names::plural(self.kind)
    }
}

/// The path of what the server says of a group and version.
pub fn group(api_version: &str) -> String {
    // What Kubernetes began with has no group, and another root.
    let root = if api_version.contains('/') { "apis" } else { "api" };
    format!("/{root}/{api_version}")
}

/// The path of a configuration at the operator, which gives a node its own.
pub fn own(config: &str) -> String {
    format!("/own/{}", encoded(config))
}

/// The path of the status of an object.
pub fn status(object: &str) -> String {
    format!("{object}/status")
}

/// A text as one part of a path or of a query. The tokens of lists are opaque, and not always fit for a query.
pub(crate) fn encoded(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            written.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(written, "%{byte:02X}");
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use api::kinds;

    use super::*;

    #[test]
    fn paths_follow_from_group_kind_and_names() {
        let check = |found: &str, expected: &str| assert_eq!(found, expected);
        check(&Resource::of(&kinds::NODE).object(None, "n1"), "/api/v1/nodes/n1");
        check(&POD.collection(None), "/api/v1/pods");
        check(&POD.object(Some("a"), "b"), "/api/v1/namespaces/a/pods/b");
        check(
            &Resource::of(&kinds::NODE_POOL).collection(Some("clusters")),
            "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/nodepools",
        );
        check(
            &ADMISSION_POLICY.collection(None),
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        );
        check(&ADMISSION_BINDING.group(), "/apis/admissionregistration.k8s.io/v1");
        check(&status("/api/v1/nodes/n1"), "/api/v1/nodes/n1/status");
    }

    #[test]
    fn a_name_leads_nowhere_but_to_its_object() {
        let config = Resource::of(&kinds::MACHINE_CONFIG);
        let all = config.collection(None);
        for (name, expected) in [
            ("rendered-worker-1", "rendered-worker-1"),
            ("../../secrets", "..%2F..%2Fsecrets"),
            ("a?watch=true", "a%3Fwatch%3Dtrue"),
            ("a b", "a%20b"),
        ] {
            assert_eq!(config.object(None, name), format!("{all}/{expected}"));
        }
    }
}
