//! Which object? A kind of ours, a namespace and a name, in the order in which objects are worked on: policies first.

use std::{cmp::Ordering, fmt, sync::Arc};

use api::{
    names,
    schema::{GATED, KINDS, Kind, Role},
};
use tidegate_core::problem::Object;

/// Which object.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its namespace, if the kind has them.
    pub namespace: Option<Arc<str>>,
    /// Its name.
    pub name: Arc<str>,
}

/// Every kind that change management knows.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().chain(GATED)
}

impl Key {
    /// The key of an object; none if it has no name or is of no kind that is known here.
    pub fn of(object: &Object) -> Option<Self> {
        Some(Self {
            kind: kinds().find(|kind| kind.name == object.kind)?,
            namespace: object.namespace.as_deref().map(Arc::from),
            name: object.name.as_deref().map(Arc::from)?,
        })
    }

    /// The path of the object.
    pub fn path(&self) -> String {
        format!("{}/{}", collection(self.kind, self.namespace.as_deref()), self.name)
    }

    /// The path of its status.
    pub fn status_path(&self) -> String {
        format!("{}/status", self.path())
    }

    /// Policies are worked on before those who name them.
    pub fn is_policy(&self) -> bool {
        self.kind.role == Role::Policy
    }

    fn rank(&self) -> (bool, &str, Option<&str>, &str) {
        (!self.is_policy(), self.kind.name, self.namespace.as_deref(), &self.name)
    }
}

/// The path of all objects of a kind, in one namespace or in all.
pub fn collection(kind: &Kind, namespace: Option<&str>) -> String {
    let plural = names::plural(kind.name);
    match namespace {
        Some(namespace) => format!("/apis/{}/namespaces/{namespace}/{plural}", kind.api_version),
        None => format!("/apis/{}/{plural}", kind.api_version),
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name)?;
        for part in [self.namespace.as_ref(), Some(&self.name)].into_iter().flatten() {
            write!(f, "/{part}")?;
        }
        Ok(())
    }
}
