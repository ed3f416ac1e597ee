//! Which entries does somebody ask for? Those about an object, or about a kind, in a span of time (HIST-1).

use std::ops::{Bound, RangeBounds as _};

use api::{
    kinds,
    record::{Entry, Subject},
    schema::{FREEZES, GATED, Kind, OVERRIDES},
};
use schedule::Instant;

/// What somebody asks for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The objects; any, if none is named.
    pub objects: Vec<Called>,
    /// From when on; from the beginning, if none.
    pub from: Option<Instant>,
    /// Until before when; to the end, if none.
    pub until: Option<Instant>,
}

/// What somebody calls an object, or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    kind: &'static str,
    namespace: Option<String>,
    name: Option<String>,
}

impl Called {
    /// `KIND`, `KIND/NAME` or `KIND/NAMESPACE/NAME`, the kind by its name, its plural or its short name, in any case.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let (kind, namespace, name) = match parts.as_slice() {
            [kind] => (*kind, None, None),
            [kind, name] => (*kind, None, Some(*name)),
            [kind, namespace, name] => (*kind, Some(*namespace), Some(*name)),
            _ => return Err(format!("{text:?} is not KIND, KIND/NAME or KIND/NAMESPACE/NAME")),
        };
        if [namespace, name].into_iter().flatten().any(str::is_empty) {
            return Err(format!("{text:?} names no object"));
        }
        let word = kind.to_lowercase();
        let mut kinds = recorded();
        let found = kinds.find(|kind| {
            let plural = api::names::plural(kind.name);
            [kind.name.to_lowercase().as_str(), &plural, kind.short_name].contains(&word.as_str())
        });
        let Some(found) = found else {
            let kinds = recorded().map(|row| row.short_name).collect::<Vec<_>>();
            return Err(format!(
                "nothing is recorded of a kind {kind:?}; the kinds are {}",
                kinds.join(", ")
            ));
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(Self { kind: found.name, namespace: owned(namespace), name: owned(name) })
    }

    fn is(&self, subject: &Subject) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        self.kind == subject.kind
            && same(&self.namespace, subject.namespace.as_deref())
            && same(&self.name, Some(&subject.name))
    }
}

impl Wanted {
    /// Whether an entry is asked for. One whose instant cannot be read is in no span.
    pub fn takes(&self, entry: &Entry) -> bool {
        let named =
            self.objects.is_empty() || self.objects.iter().any(|one| one.is(&entry.subject));
        if self.from.is_none() && self.until.is_none() {
            return named;
        }
        let span = (
            self.from.map_or(Bound::Unbounded, Bound::Included),
            self.until.map_or(Bound::Unbounded, Bound::Excluded),
        );
        let at = Instant::parse(&entry.at);
        named && at.is_ok_and(|at| span.contains(&at))
    }
}

/// The kinds of which anything is recorded.
fn recorded() -> impl Iterator<Item = &'static Kind> {
    const NODES: &[Kind] = &[kinds::NODE];
    GATED.iter().chain(FREEZES).chain(OVERRIDES).chain(NODES)
}
