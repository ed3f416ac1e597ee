//! Which object? A kind of ours, a namespace and a name, in the order in which objects are worked on: policies first.

use std::{fmt, sync::Arc};

use api::schema::{GATED, KINDS, Kind, MACHINES, Role};
use tidegate_core::problem::Object;

use crate::path::{self, Resource};

/// Which object. The order of keys is the order of work: policies, then those who name them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The place of its kind among all that are known.
    rank: usize,
    /// Its namespace, if the kind has them.
    pub namespace: Option<Arc<str>>,
    /// Its name.
    pub name: Arc<str>,
}

/// Every kind that change management knows, policies first.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().chain(GATED)
}

/// Those, and what is read for decisions about them.
fn known() -> impl Iterator<Item = &'static Kind> {
    kinds().chain(MACHINES)
}

impl Key {
    /// A key of a kind that is known here.
    pub fn new(kind: &Kind, namespace: Option<&str>, name: &str) -> Option<Self> {
        let rank = known().position(|known| known.id == kind.id)?;
        Some(Self { rank, namespace: namespace.map(Arc::from), name: Arc::from(name) })
    }

    /// The key of an object; none if it has no name or is of no kind that is known here.
    pub fn of(object: &Object) -> Option<Self> {
        let kind = known().find(|kind| kind.name == object.kind)?;
        Self::new(kind, object.namespace.as_deref(), object.name.as_deref()?)
    }

    /// Its kind.
    pub fn kind(&self) -> &'static Kind {
        // Only `new` makes a rank, from a place in the three lists.
        let Some(place) = self.rank.checked_sub(KINDS.len()) else { return &KINDS[self.rank] };
        place.checked_sub(GATED.len()).map_or_else(|| &GATED[place], |place| &MACHINES[place])
    }

    /// The path of the object.
    pub fn path(&self) -> String {
        Resource::of(self.kind()).object(self.namespace.as_deref(), &self.name)
    }

    /// The path of its status.
    pub fn status_path(&self) -> String {
        path::status(&self.path())
    }

    /// Policies are worked on before those who name them.
    pub fn is_policy(&self) -> bool {
        self.kind().role == Role::Policy
    }
}

/// The path of all objects of a kind, in one namespace or in all.
pub fn collection(kind: &Kind, namespace: Option<&str>) -> String {
    Resource::of(kind).collection(namespace)
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name)?;
        for part in [self.namespace.as_ref(), Some(&self.name)].into_iter().flatten() {
            write!(f, "/{part}")?;
        }
        Ok(())
    }
}
