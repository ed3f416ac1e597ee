//! Which policies look at a write, and by which bindings?

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_json::Value;

use super::{Rules, Verb, compiled::Compiled};
use crate::{
    call::Call,
    meta,
    registry::ResourceType,
    server::State,
    store::{Store, Stored},
};

const BINDINGS: &str = "validatingadmissionpolicybindings";
const POLICIES: &str = "validatingadmissionpolicies";

/// A policy that looks at a write, and the binding that makes it look.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) compiled: Arc<Compiled>,
    pub(super) binding: Arc<Value>,
}

/// Kind, subresource and operation: most policies are about others.
type Sort = (Arc<str>, &'static str, &'static str);

/// What every write asks for and hardly anybody changes: bindings as they were read and policies as they were compiled, by name, and who
/// may look at which sort of write.
#[derive(Default)]
pub(crate) struct Cache {
    bindings: BTreeMap<String, (u64, Arc<Value>)>,
    policies: BTreeMap<String, Arc<Compiled>>,
    /// At which versions of bindings and policies the next was found.
    as_of: (u64, u64),
    by_sort: HashMap<Sort, Arc<[Bound]>>,
}

impl Cache {
    fn binding(&mut self, name: &str, stored: &Stored) -> Arc<Value> {
        match self.bindings.get(name) {
            Some((version, known)) if *version == stored.version => Arc::clone(known),
            _ => {
                let fresh = Arc::new(stored.value());
                self.bindings.insert(name.to_owned(), (stored.version, Arc::clone(&fresh)));
                fresh
            }
        }
    }

    fn policy(&mut self, name: &str, stored: &Stored) -> Arc<Compiled> {
        match self.policies.get(name) {
            Some(known) if known.version == stored.version => Arc::clone(known),
            _ => {
                let fresh = Arc::new(Compiled::read(stored.value(), stored.version));
                self.policies.insert(name.to_owned(), Arc::clone(&fresh));
                fresh
            }
        }
    }

    /// Every policy that is bound and may look at writes of this sort, in order of the bindings' names.
    fn of_sort(&mut self, store: &Store, ty: &ResourceType, verb: Verb) -> Arc<[Bound]> {
        let changed = |shelf: &str| store.shelf(shelf).map_or(0, |shelf| shelf.changed);
        let as_of = (changed(BINDINGS), changed(POLICIES));
        if self.as_of != as_of {
            self.as_of = as_of;
            self.by_sort.clear();
        }
        let sort = (Arc::clone(&ty.shelf), verb.subresource(), verb.operation());
        if let Some(known) = self.by_sort.get(&sort) {
            return Arc::clone(known);
        }
        let bindings = store.shelf(BINDINGS).into_iter().flat_map(|shelf| &shelf.objects);
        let found = bindings.filter_map(|((_, name), stored)| {
            let binding = self.binding(name, stored);
            let policy = meta::text_at(&binding, &["spec", "policyName"]).to_owned();
            let stored = store.get(POLICIES, &(String::new(), policy.clone()))?;
            Some(Bound { compiled: self.policy(&policy, stored), binding })
        });
        let found: Arc<[Bound]> = found
            .filter(|bound| bound.rules().iter().all(|rules| rules.may_choose(ty, verb)))
            .collect();
        self.by_sort.insert(sort, Arc::clone(&found));
        found
    }
}

impl Bound {
    /// What the policy takes, and what the binding takes of that.
    fn rules(&self) -> [Rules<'_>; 2] {
        let constraints = meta::at(&self.compiled.policy, &["spec", "matchConstraints"]);
        [Rules(constraints), Rules(meta::at(&self.binding, &["spec", "matchResources"]))]
    }
}

/// Every binding that a write concerns, in order of name.
pub(super) fn bound(
    call: &mut Call<'_>,
    verb: Verb,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Vec<Bound> {
    let State { store, policies, .. } = &mut *call.state;
    let found = policies.of_sort(store, &call.kind.ty, verb);
    let concerned = found
        .iter()
        .filter(|bound| bound.rules().iter().all(|rules| rules.choose(call, verb, object, old)));
    concerned.cloned().collect()
}
