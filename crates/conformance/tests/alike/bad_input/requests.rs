//! Which requests are bad?

use super::{bodies, names, patches, paths};

/// A request that no well-behaved client sends.
pub(crate) struct Bad {
    /// What is wrong with it; the name under which the answer is recorded.
    pub(crate) what: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Vec<u8>,
}

pub(super) const JSON: &str = "application/json";
pub(super) const MERGE: &str = "application/merge-patch+json";
pub(super) const JSON_PATCH: &str = "application/json-patch+json";
pub(super) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(super) const APPLY: &str = "application/apply-patch+yaml";
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

pub(super) const MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(super) const TIDES: &str = "/apis/example.com/v1/namespaces/default/tides";

pub(crate) fn bad_requests() -> Vec<Bad> {
    let mut all = Vec::new();
    bodies::malformed_json(&mut all);
    bodies::malformed_protobuf(&mut all);
    bodies::wrong_content_types(&mut all);
    bodies::large_bodies(&mut all);
    names::unknown_versions(&mut all);
    names::bad_names(&mut all);
    names::bad_metadata(&mut all);
    patches::broken_patches(&mut all);
    paths::futures(&mut all);
    paths::paths(&mut all);
    paths::queries(&mut all);
    all
}

/// A request with a body, named by its group, its method and path, and a word for the body.
pub(super) fn with_body(
    all: &mut Vec<Bad>,
    group: &str,
    word: &str,
    method: &'static str,
    path: &str,
    kind: &'static str,
    body: &[u8],
) {
    let short = path.rsplit_once("/default").map_or(path, |(_, rest)| rest);
    let headers = if kind.is_empty() { Vec::new() } else { vec![("content-type", kind)] };
    let what = format!("{group}, {word}, {method} {short} as {kind}");
    all.push(Bad { what, method, path: path.to_owned(), headers, body: body.to_vec() });
}

pub(super) fn bare(all: &mut Vec<Bad>, group: &str, method: &'static str, path: &str) {
    let what = format!("{group}, {method} {path}");
    all.push(Bad { what, method, path: path.to_owned(), headers: Vec::new(), body: Vec::new() });
}
