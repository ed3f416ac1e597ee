//! Does a gate or a freeze select something that others own? (RCH-11, RCH-12, RCH-13)
//!
//! For questions about an object and not about a write, which the API server judges by the same rules in its own language.

use std::collections::BTreeMap;

use api::reach::{LabelOperator, LabelRequirement, LabelSelector, LabelValue};
use serde::Deserialize as _;
use serde_json::Value;

use super::rooms::{Room, SystemNamespaces};

/// The label by which every namespace is named: the server writes it.
pub const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Labels of an object.
pub type Labels = BTreeMap<String, String>;

/// Something that gates may hold.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The room that knows its first write.
    pub room: &'a Room,
    /// What people name.
    pub name: &'a str,
    /// The labels by which it is chosen, if anybody saw them.
    pub labels: Option<&'a Labels>,
    /// Its namespace, if it is in one.
    pub namespace: Option<&'a str>,
    /// The labels of that, if anybody saw them.
    pub namespace_labels: Option<&'a Labels>,
    /// The namespace of the operator.
    pub operators: &'a str,
}

/// Whether something is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selects {
    /// It is not.
    No,
    /// Nobody can tell: labels are not known, or what they are compared with cannot be read.
    CannotTell,
    /// It is.
    Yes,
}

impl Selects {
    fn when(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// Whether a gate or a freeze with this specification, in a namespace of its own or in none, selects something. Without `holds`, as a freeze
/// may be, everything is selected.
pub fn selects(spec: &Value, own: Option<&str>, target: &Target<'_>) -> Selects {
    let chosen = match spec.get("holds").and_then(Value::as_array) {
        None => Selects::Yes,
        Some(holds) => {
            let of_room = holds.iter().filter(|hold| hold["what"] == target.room.name_of());
            of_room.map(|hold| chosen(hold, target)).max().unwrap_or(Selects::No)
        }
    };
    chosen.min(reaches(spec, own, target))
}

fn chosen(hold: &Value, target: &Target<'_>) -> Selects {
    let names = hold.get("names").and_then(Value::as_array);
    let is_named = names.map(|list| Selects::when(list.iter().any(|name| name == target.name)));
    let labelled = selector(hold, "selector").map(|selector| match selector {
        Err(Unknown) => Selects::CannotTell,
        Ok(selector) => matches(&selector, |key| {
            let labels = target.labels.ok_or(Unknown)?;
            Ok(labels.get(key).map(String::as_str))
        }),
    });
    is_named.into_iter().chain(labelled).max().unwrap_or(Selects::Yes)
}

/// RCH-13
fn reaches(spec: &Value, own: Option<&str>, target: &Target<'_>) -> Selects {
    if own.is_some() {
        return Selects::when(own == target.namespace);
    }
    let chosen = selector(spec, "namespaceSelector");
    let Some(namespace) = target.namespace else {
        return Selects::when(chosen.is_none());
    };
    let of_system = namespace.starts_with("kube-")
        || namespace.starts_with("openshift-")
        || namespace == target.operators;
    let left_alone = of_system && target.room.system == SystemNamespaces::LeftAlone;
    match chosen {
        None => Selects::when(!left_alone),
        Some(Err(Unknown)) => Selects::CannotTell,
        Some(Ok(selector)) if left_alone && !names_namespaces(&selector) => Selects::No,
        Some(Ok(selector)) => matches(&selector, |key| match target.namespace_labels {
            _ if key == NAMESPACE_NAME => Ok(Some(namespace)),
            Some(labels) => Ok(labels.get(key).map(String::as_str)),
            None => Err(Unknown),
        }),
    }
}

/// Nobody knows it.
struct Unknown;

/// A selector, if there is one that somebody can read.
fn selector(place: &Value, field: &str) -> Option<Result<LabelSelector, Unknown>> {
    let given = place.get(field).filter(|given| !given.is_null())?;
    Some(LabelSelector::deserialize(given).map_err(|_| Unknown))
}

fn names_namespaces(selector: &LabelSelector) -> bool {
    let named = |demand: &LabelRequirement| {
        demand.key == NAMESPACE_NAME && demand.operator == LabelOperator::In
    };
    selector.match_labels.contains_key(NAMESPACE_NAME)
        || selector.match_expressions.iter().any(named)
}

/// Whether a selector matches, where a label may be not known.
fn matches<'a>(
    selector: &LabelSelector,
    label: impl Fn(&str) -> Result<Option<&'a str>, Unknown>,
) -> Selects {
    let judged = |key: &str, holds: &dyn Fn(Option<&str>) -> bool| {
        label(key).map_or(Selects::CannotTell, |value| Selects::when(holds(value)))
    };
    let equal = selector
        .match_labels
        .iter()
        .map(|(key, LabelValue(wanted))| judged(key, &|value| value == Some(wanted.as_str())));
    let demanded = selector.match_expressions.iter().map(|demand| {
        let LabelRequirement { key, operator, values } = demand;
        let listed = |value: &str| values.iter().any(|listed| listed == value);
        judged(key, &|value| match operator {
            LabelOperator::In => value.is_some_and(listed),
            LabelOperator::NotIn => !value.is_some_and(listed),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::DoesNotExist => value.is_none(),
        })
    });
    equal.chain(demanded).min().unwrap_or(Selects::Yes)
}

#[cfg(test)]
mod tests {
    use api::reach::What;
    use serde_json::json;

    use super::*;
    use crate::reach::rooms::room;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[track_caller]
    fn check(spec: &Value, own: Option<&str>, namespace: &str, expected: Selects) {
        let own_labels = labels(&[("tier", "web")]);
        let namespace_labels = (namespace == "shop").then(|| labels(&[("env", "prod")]));
        let target = Target {
            room: room(What::Deployments).unwrap(),
            name: "web",
            labels: Some(&own_labels),
            namespace: Some(namespace),
            namespace_labels: namespace_labels.as_ref(),
            operators: "tidegate-system",
        };
        assert_eq!(selects(spec, own, &target), expected, "{spec}");
    }

    /// RCH-11, RCH-12
    #[test]
    fn names_and_labels_choose_and_either_is_enough() {
        use Selects::{No, Yes};
        let check = |hold: Value, expected| {
            check(&json!({"holds": [hold]}), Some("shop"), "shop", expected);
        };
        check(json!({"what": "Deployments"}), Yes);
        check(json!({"what": "StatefulSets"}), No);
        check(json!({"what": "Deployments", "names": ["web", "api"]}), Yes);
        check(json!({"what": "Deployments", "names": ["api"]}), No);
        let chooses = |value: &str| json!({"matchLabels": {"tier": value}});
        check(json!({"what": "Deployments", "selector": chooses("web")}), Yes);
        check(json!({"what": "Deployments", "selector": chooses("db")}), No);
        check(json!({"what": "Deployments", "names": ["web"], "selector": chooses("db")}), Yes);
        check(json!({"what": "Deployments", "selector": 1}), Selects::CannotTell);
        let asked = |operator: &str, values: &[&str]| {
            json!({"what": "Deployments", "selector": {"matchExpressions":
            [{"key": "tier", "operator": operator, "values": values}]}})
        };
        check(asked("In", &["web"]), Yes);
        check(asked("NotIn", &["web"]), No);
        check(asked("Exists", &[]), Yes);
        check(asked("DoesNotExist", &[]), No);
    }

    /// RCH-13
    #[test]
    fn namespaces_are_chosen_by_labels_and_those_of_the_system_by_name() {
        use Selects::{CannotTell, No, Yes};
        let all = json!({"holds": [{"what": "Deployments"}]});
        check(&all, Some("shop"), "shop", Yes);
        check(&all, Some("till"), "shop", No);
        check(&json!({}), None, "shop", Yes);
        for system in ["kube-system", "openshift-dns", "tidegate-system"] {
            check(&all, None, system, No);
        }
        let with = |selector: Value| json!({"holds": [{"what": "Deployments"}], "namespaceSelector": selector});
        check(&with(json!({"matchLabels": {"env": "prod"}})), None, "shop", Yes);
        check(&with(json!({"matchLabels": {"env": "test"}})), None, "shop", No);
        check(&with(json!({"matchLabels": {"env": "prod"}})), None, "till", CannotTell);
        let named = json!({"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "In", "values": ["kube-system"]}]});
        check(&with(named.clone()), None, "kube-system", Yes);
        check(&with(named), None, "till", No);
        check(&with(json!({"matchLabels": {"env": "prod"}})), None, "kube-system", No);
    }
}
