//! What does a choice by labels choose? (RCH-12, RCH-13)
//!
//! Of a namespace that nobody saw only the name is known; where that is not enough, nobody can tell.

use std::collections::BTreeMap;

use api::reach::{LabelOperator, LabelRequirement, LabelSelector, LabelValue};

/// The label by which every namespace is named: the server writes it.
pub const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Labels of an object.
pub type Labels = BTreeMap<String, String>;

/// Whether something is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selects {
    /// It is not.
    No,
    /// Nobody can tell: the labels are not known.
    CannotTell,
    /// It is.
    Yes,
}

impl Selects {
    /// What is known to be so, or not to be so.
    pub fn when(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// Whether a selector chooses an object with these labels.
pub fn chooses(selector: &LabelSelector, labels: &Labels) -> bool {
    judged(selector, |key, holds| Selects::when(holds(labels.get(key).map(String::as_str))))
        == Selects::Yes
}

/// Whether a selector chooses a namespace, whose labels are these if anybody saw it.
pub fn chooses_namespace(
    selector: &LabelSelector,
    namespace: &str,
    labels: Option<&Labels>,
) -> Selects {
    // What nobody saw of a namespace may be anything, but for its name.
    judged(selector, |key, holds| match labels {
        _ if key == NAMESPACE_NAME => Selects::when(holds(Some(namespace))),
        Some(labels) => Selects::when(holds(labels.get(key).map(String::as_str))),
        None => Selects::CannotTell,
    })
}

/// RCH-13: whether a selector means namespaces of the system, because it names namespaces.
pub fn names_namespaces(selector: &LabelSelector) -> bool {
    let LabelSelector { match_labels, match_expressions } = selector;
    match_labels.contains_key(NAMESPACE_NAME)
        || match_expressions
            .iter()
            .any(|demand| demand.key == NAMESPACE_NAME && demand.operator == LabelOperator::In)
}

pub(super) type Holds<'a> = &'a dyn Fn(Option<&str>) -> bool;

/// Whether a selector chooses, where each demand is judged by the key of its label and what must hold of its value.
pub(super) fn judged(
    selector: &LabelSelector,
    judge: impl Fn(&str, Holds<'_>) -> Selects,
) -> Selects {
    let LabelSelector { match_labels, match_expressions } = selector;
    let equal = match_labels
        .iter()
        .map(|(key, LabelValue(wanted))| judge(key, &|value| value == Some(wanted.as_str())));
    let demanded = match_expressions.iter().map(|LabelRequirement { key, operator, values }| {
        let listed = |value: &str| values.iter().any(|listed| listed == value);
        judge(key, &|value| match operator {
            LabelOperator::In => value.is_some_and(listed),
            LabelOperator::NotIn => !value.is_some_and(listed),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::DoesNotExist => value.is_none(),
        })
    });
    equal.chain(demanded).min().unwrap_or(Selects::Yes)
}
