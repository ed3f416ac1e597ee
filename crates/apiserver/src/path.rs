//! Which resource does a path name?

use crate::query::percent_decode;

/// A path below `/api` or `/apis`, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) resource: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Resource(ResourcePath),
    /// `/version`, `/openapi/v3/...`, `/apis/<group>/<version>` and the like, as segments.
    Document(Vec<String>),
}

/// Takes a URL path apart. Dot segments lead nowhere: they are ordinary names, which nothing has. So are empty ones; a slash at the
/// end is none.
pub(crate) fn parse(path: &str) -> Target {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<String> = if path.is_empty() {
        Vec::new()
    } else {
        path.split('/').map(|s| percent_decode(&s.replace('+', "%2B"))).collect()
    };
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() && !group.is_empty() => {
            (*group, *version, rest)
        }
        _ => return Target::Document(segments),
    };
    let target =
        |namespace: Option<&str>, resource: &str, name: Option<&str>, sub: Option<&str>| {
            Target::Resource(ResourcePath {
                group: group.to_owned(),
                version: version.to_owned(),
                namespace: namespace.map(str::to_owned),
                resource: resource.to_owned(),
                name: name.map(str::to_owned),
                subresource: sub.map(str::to_owned),
            })
        };
    match rest {
        // `namespaces/x/status` and `namespaces/x/finalize` are subresources of the namespace, not resources inside it.
        ["namespaces", name, sub @ ("status" | "finalize")] if group.is_empty() => {
            target(None, "namespaces", Some(name), Some(sub))
        }
        ["namespaces", ns, resource] => target(Some(ns), resource, None, None),
        ["namespaces", ns, resource, name] => target(Some(ns), resource, Some(name), None),
        ["namespaces", ns, resource, name, sub] => {
            target(Some(ns), resource, Some(name), Some(sub))
        }
        ["namespaces", ns, resource, name, rest @ ..] => {
            target(Some(ns), resource, Some(name), Some(&rest.join("/")))
        }
        [resource] => target(None, resource, None, None),
        [resource, name] => target(None, resource, Some(name), None),
        [resource, name, sub] => target(None, resource, Some(name), Some(sub)),
        _ => Target::Document(segments),
    }
}
