//! Does a gate or a freeze select something that others own? (RCH-11, RCH-12, RCH-13)
//!
//! For questions about an object of which not everything may be known, and not about a write, which the API server judges by the same rules in
//! its own language. What the operator asks of gates that it has read is [`held_by`](super::held::held_by).

use api::reach::LabelSelector;
use serde::Deserialize as _;
use serde_json::Value;

use super::{
    held::{Place, is_left_alone},
    rooms::{Room, known},
    selector::{Labels, Selects, chooses_namespace, judged, names_namespaces},
};

/// Something that gates may hold.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
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

/// Whether a gate or a freeze with this specification, in a namespace of its own or in none, selects something. Without `holds`, as a freeze
/// may be, everything is selected.
pub fn selects(spec: &Value, own: Option<&str>, asked: &Asked<'_>) -> Selects {
    let chosen = match spec.get("holds").filter(|holds| !holds.is_null()) {
        None => Selects::Yes,
        Some(Value::Array(holds)) => {
            let each = holds.iter().map(|hold| match hold["what"] == asked.room.name_of() {
                true => chosen(hold, asked),
                false if names_room(hold) => Selects::No,
                false => Selects::CannotTell,
            });
            each.max().unwrap_or(Selects::No)
        }
        Some(_) => Selects::CannotTell,
    };
    chosen.min(reaches(spec, own, asked))
}

/// Whether an entry of `holds` names a room that is known. What another names may be anything, this room written wrongly included (GATE-12).
pub(crate) fn names_room(hold: &Value) -> bool {
    known().any(|room| hold["what"] == room.name_of())
}

fn chosen(hold: &Value, asked: &Asked<'_>) -> Selects {
    if asked.room.leaves_out(asked.name) {
        return Selects::No;
    }
    let names = hold.get("names").and_then(Value::as_array);
    let is_named = names.map(|list| Selects::when(list.iter().any(|name| name == asked.name)));
    let labelled = selector(hold, "selector").map(|selector| match selector {
        Err(Unknown) => Selects::CannotTell,
        Ok(selector) => judged(&selector, |key, holds| {
            let label = |labels: &Labels| holds(labels.get(key).map(String::as_str));
            asked.labels.map_or(Selects::CannotTell, |labels| Selects::when(label(labels)))
        }),
    });
    is_named.into_iter().chain(labelled).max().unwrap_or(Selects::Yes)
}

/// RCH-13
fn reaches(spec: &Value, own: Option<&str>, asked: &Asked<'_>) -> Selects {
    if own.is_some() {
        return Selects::when(own == asked.namespace);
    }
    let chosen = selector(spec, "namespaceSelector");
    let Some(namespace) = asked.namespace else {
        return Selects::when(chosen.is_none());
    };
    let place = Place { namespace, labels: asked.namespace_labels, home: Some(asked.operators) };
    let left_alone = is_left_alone(asked.room, &place);
    match chosen {
        None => Selects::when(!left_alone),
        Some(Err(Unknown)) => Selects::CannotTell,
        Some(Ok(selector)) if left_alone && !names_namespaces(&selector) => Selects::No,
        Some(Ok(selector)) => chooses_namespace(&selector, namespace, asked.namespace_labels),
    }
}

/// Nobody knows it.
struct Unknown;

/// A selector, if there is one that somebody can read.
fn selector(place: &Value, field: &str) -> Option<Result<LabelSelector, Unknown>> {
    let given = place.get(field).filter(|given| !given.is_null())?;
    Some(LabelSelector::deserialize(given).map_err(|_| Unknown))
}

#[cfg(test)]
mod tests {
    use api::reach::What;
    use serde_json::json;

    use super::*;
    use crate::reach::{rooms::room, selector::NAMESPACE_NAME};

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[track_caller]
    fn check(spec: &Value, own: Option<&str>, namespace: &str, expected: Selects) {
        let own_labels = labels(&[("tier", "web")]);
        let namespace_labels = (namespace == "shop").then(|| labels(&[("env", "prod")]));
        let asked = Asked {
            room: room(What::Deployments).unwrap(),
            name: "web",
            labels: Some(&own_labels),
            namespace: Some(namespace),
            namespace_labels: namespace_labels.as_ref(),
            operators: "tidegate-system",
        };
        assert_eq!(selects(spec, own, &asked), expected, "{spec}");
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
        for unread in [json!({"what": "Deploymets"}), json!({}), json!("Deployments")] {
            check(unread, Selects::CannotTell);
        }
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
        check(&json!({"holds": "Deployments"}), Some("shop"), "shop", CannotTell);
        check(&json!({"holds": "Deployments"}), Some("till"), "shop", No);
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
