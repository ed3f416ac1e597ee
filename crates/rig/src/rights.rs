//! Which rights does a program use, which does its role grant, and where do the two differ?
//!
//! A right is what the authorizer of an API server decides on: a verb on a resource, or on a subresource, of a group. Rights used are read
//! from requests, rights granted from the rules of rendered roles; least privilege means that both differences are empty.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use http::Method;
use serde_json::Value;

/// A verb on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    group: String,
    resource: String,
    verb: String,
}

impl Right {
    /// The right to do `verb` to `resource` (as in `nodepools` or `nodepools/status`) of `group`, which is empty for the core.
    pub fn new(verb: &str, group: &str, resource: &str) -> Right {
        Right { verb: verb.to_owned(), group: group.to_owned(), resource: resource.to_owned() }
    }

    /// The right that a request needs; none if it asks for no resource, such as the version or the list of kinds, which everybody may read.
    pub fn of_request(method: &Method, path: &str, query: &str) -> Option<Right> {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let group = match segments.next()? {
            "api" => "",
            "apis" => segments.next()?,
            _ => return None,
        };
        let _version = segments.next()?;
        let rest: Vec<&str> = segments.collect();
        let rest = match rest[..] {
            // A namespace is a resource too, and these two are its subresources.
            ["namespaces", _, "status" | "finalize"] => &rest[..],
            ["namespaces", _, _, ..] => &rest[2..],
            _ => &rest[..],
        };
        let (resource, name, subresource) = (*rest.first()?, rest.get(1), rest.get(2));
        let watches = query.split('&').any(|part| matches!(part, "watch=true" | "watch=1"));
        let verb = match (method, name) {
            (&Method::GET | &Method::HEAD, _) if watches => "watch",
            (&Method::GET | &Method::HEAD, Some(_)) => "get",
            (&Method::GET | &Method::HEAD, None) => "list",
            (&Method::POST, _) => "create",
            (&Method::PUT, _) => "update",
            (&Method::PATCH, _) => "patch",
            (&Method::DELETE, Some(_)) => "delete",
            (&Method::DELETE, None) => "deletecollection",
            _ => return None,
        };
        let resource = subresource.map_or(resource.to_owned(), |sub| format!("{resource}/{sub}"));
        Some(Right::new(verb, group, &resource))
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Right { group, resource, verb } = self;
        write!(f, "{verb} {resource}")?;
        if group.is_empty() { Ok(()) } else { write!(f, ".{group}") }
    }
}

/// Every right that the roles among `objects` grant. A wildcard stands for itself: nothing uses it, so it shows up as idle.
pub fn granted<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeSet<Right> {
    let roles = objects.into_iter().filter(|object| {
        matches!(object["kind"].as_str(), Some("ClusterRole" | "Role"))
            && object["apiVersion"] == "rbac.authorization.k8s.io/v1"
    });
    of_rules(roles.flat_map(|role| role["rules"].as_array().into_iter().flatten()))
}

/// Every right in the rules of a role, or in the rules that a server says somebody has.
pub fn of_rules<'a>(rules: impl IntoIterator<Item = &'a Value>) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for rule in rules {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                rights.extend(words(&rule["verbs"]).map(|verb| Right::new(verb, group, resource)));
            }
        }
    }
    rights
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Where a role and the program that bears it differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Used, and not granted: the program fails on a cluster.
    pub missing: Vec<Right>,
    /// Granted, and not used: whoever takes over the program may do more than it did.
    pub idle: Vec<Right>,
}

impl Difference {
    /// Compares what is used with what is granted.
    pub fn between(used: &BTreeSet<Right>, granted: &BTreeSet<Right>) -> Difference {
        Difference {
            missing: used.difference(granted).cloned().collect(),
            idle: granted.difference(used).cloned().collect(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.idle.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for right in &self.missing {
            writeln!(f, "used, and not granted: {right}")?;
        }
        for right in &self.idle {
            writeln!(f, "granted, and not used: {right}")?;
        }
        Ok(())
    }
}

/// Writes down the rights that clients use. Clones share the list.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    used: Arc<Mutex<BTreeSet<Right>>>,
}

impl Recorder {
    /// Notes a request, whatever its answer will be: a request that is forbidden shows a right that is missing.
    pub fn note<B>(&self, request: &http::Request<B>) {
        let uri = request.uri();
        let right =
            Right::of_request(request.method(), uri.path(), uri.query().unwrap_or_default());
        self.used.lock().unwrap_or_else(PoisonError::into_inner).extend(right);
    }

    /// The rights used so far.
    pub fn used(&self) -> BTreeSet<Right> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests;
