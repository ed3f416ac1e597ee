//! Which objects does a label selector choose?

use std::collections::BTreeMap;

use serde_json::Value;

use crate::document::problem::{Code, FieldPath, Problem};

/// A label selector, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Not given: chooses nothing.
    Nothing,
    /// Given and empty. Kubernetes reads it as everything; for a pool nobody can mean that, so it chooses nothing and is reported. What a
    /// typo like `matchLabel` leaves is empty too, once the server has dropped the field, so nobody can tell what it should choose.
    Everything,
    /// All of these.
    Terms(Vec<Term>),
    /// All of these, and something that cannot be understood: nobody can tell what it chooses.
    Doubtful(Vec<Term>),
}

/// One demand on the labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    key: String,
    demand: Demand,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Demand {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads a selector; one that cannot be understood chooses nothing for certain.
    pub(crate) fn read(
        given: Option<&Value>,
        path: &FieldPath,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let Some(given) = given.filter(|given| !given.is_null()) else { return Self::Nothing };
        let mut terms = Vec::new();
        let mut is_doubtful = !is_selector(given);
        if is_doubtful {
            let detail = "the selector cannot be understood";
            let problem = Problem::new(path, Code::BadFormat, detail);
            problems.push(problem.hint("use matchLabels and matchExpressions, and nothing else"));
        }
        let labels = given.get("matchLabels").and_then(Value::as_object);
        for (key, value) in labels.into_iter().flatten() {
            // One that is no text was told of above.
            if let Some(wanted) = value.as_str() {
                terms.push(Term { key: key.clone(), demand: Demand::In(vec![wanted.to_owned()]) });
            }
        }
        let expressions = given.get("matchExpressions").and_then(Value::as_array);
        for (place, expression) in expressions.into_iter().flatten().enumerate() {
            match Term::read(expression) {
                Ok(term) => terms.push(term),
                Err(detail) => {
                    let path = path.key("matchExpressions").index(place);
                    problems.push(
                        Problem::new(&path, Code::BadFormat, detail)
                            .hint("use operator In, NotIn, Exists or DoesNotExist, with values for the first two"),
                    );
                    is_doubtful = true;
                }
            }
        }
        if is_doubtful {
            return Self::Doubtful(terms);
        }
        if terms.is_empty() { Self::Everything } else { Self::Terms(terms) }
    }

    /// Whether it chooses an object with these labels.
    pub fn chooses(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Nothing | Self::Everything | Self::Doubtful(_) => false,
            Self::Terms(terms) => terms.iter().all(|term| term.holds(labels)),
        }
    }

    /// Whether nobody can tell if it chooses an object with these labels: what can be read of it does.
    pub fn may_choose(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Nothing | Self::Terms(_) => false,
            Self::Everything => true,
            Self::Doubtful(terms) => terms.iter().all(|term| term.holds(labels)),
        }
    }
}

/// Whether a selector has the two fields that Kubernetes knows, as it knows them, and no others: a server that keeps what it does not know
/// keeps typos too.
fn is_selector(given: &Value) -> bool {
    let Some(fields) = given.as_object() else { return false };
    fields.iter().all(|(field, value)| match field.as_str() {
        "matchLabels" => {
            let labels = value.as_object();
            value.is_null() || labels.is_some_and(|labels| labels.values().all(Value::is_string))
        }
        "matchExpressions" => value.is_null() || value.is_array(),
        _ => false,
    })
}

impl Term {
    fn read(expression: &Value) -> Result<Self, String> {
        let key = expression.get("key").and_then(Value::as_str).unwrap_or_default();
        if key.is_empty() {
            return Err("the expression names no label".into());
        }
        let values: Vec<String> = expression
            .get("values")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|value| Some(value.as_str()?.to_owned()))
            .collect();
        let operator = expression.get("operator").and_then(Value::as_str).unwrap_or_default();
        let demand = match (operator, values.is_empty()) {
            ("In", false) => Demand::In(values),
            ("NotIn", false) => Demand::NotIn(values),
            ("Exists", true) => Demand::Exists,
            ("DoesNotExist", true) => Demand::DoesNotExist,
            _ => return Err(format!("the expression about {key} cannot be understood")),
        };
        Ok(Self { key: key.to_owned(), demand })
    }

    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let found = labels.get(&self.key);
        match &self.demand {
            Demand::In(values) => found.is_some_and(|found| values.contains(found)),
            Demand::NotIn(values) => found.is_none_or(|found| !values.contains(found)),
            Demand::Exists => found.is_some(),
            Demand::DoesNotExist => found.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_choose_as_kubernetes_does() {
        let check = |selector: Value, labels: Value, chosen: bool| {
            let mut problems = Vec::new();
            let read = Selector::read(Some(&selector), &FieldPath::root(), &mut problems);
            assert_eq!(problems, [], "{selector}");
            let labels = super::super::source::texts(Some(&labels));
            assert_eq!(read.chooses(&labels), chosen, "{selector} {labels:?}");
        };
        let role = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "role", "operator": operator, "values": values}]});
        check(json!({"matchLabels": {"role": "worker"}}), json!({"role": "worker"}), true);
        check(json!({"matchLabels": {"role": "worker"}}), json!({"role": "infra"}), false);
        check(
            json!({"matchLabels": {"role": "worker", "a": "b"}}),
            json!({"role": "worker"}),
            false,
        );
        check(role("In", json!(["worker", "infra"])), json!({"role": "infra"}), true);
        check(role("NotIn", json!(["worker"])), json!({}), true);
        check(role("Exists", json!([])), json!({"role": ""}), true);
        check(role("DoesNotExist", json!([])), json!({"role": ""}), false);
        check(json!({}), json!({"role": "worker"}), false);
    }

    #[test]
    fn a_selector_that_is_not_understood_chooses_nothing_for_certain_and_says_where() {
        let mut problems = Vec::new();
        let given = json!({"matchLabels": {"zone": "a"},
            "matchExpressions": [{"key": "role", "operator": "Like", "values": ["w*"]}]});
        let path = FieldPath::of("spec.nodeSelector");
        let read = Selector::read(Some(&given), &path, &mut problems);
        for (zone, expected) in [("a", true), ("b", false)] {
            let labels = BTreeMap::from([("zone".to_owned(), zone.to_owned())]);
            assert_eq!((read.chooses(&labels), read.may_choose(&labels)), (false, expected));
        }
        assert_eq!(problems[0].field.to_string(), "spec.nodeSelector.matchExpressions[0]");
    }

    /// GATE-12: nobody can tell what a typo should have chosen, whether the server has dropped it or kept it.
    #[test]
    fn what_a_typo_leaves_may_choose_anything() {
        for given in [
            json!({}),
            json!({"matchLabels": {}}),
            json!({"matchLabel": {"role": "infra"}}),
            json!({"matchLabels": ["role"]}),
            json!({"matchLabels": {"role": 1}}),
            json!({"matchExpressions": {"key": "role"}}),
            json!("role=infra"),
        ] {
            let read = Selector::read(Some(&given), &FieldPath::root(), &mut Vec::new());
            let labels = BTreeMap::from([("role".to_owned(), "infra".to_owned())]);
            let found = (read.chooses(&labels), read.may_choose(&labels));
            assert_eq!(found, (false, true), "{given}");
        }
    }
}
