//! What would the variables of a policy come to, for a write that this server never saw?
//!
//! Whoever reads of a write elsewhere, in an audit log say, asks here, and is answered by the same evaluator that judges writes of this
//! server. What nobody knows about the write is no variable at all: an expression that needs it fails, and one whose outcome does not
//! depend on it is answered, because in CEL `false && error` is `false`.

use std::collections::BTreeMap;

use kube_cel::cel::Value as Cel;
use serde_json::Value;

use super::{
    compiled::Variable,
    policy::{Computed, computed},
};
use crate::schema::cel::{object_to_cel, to_cel, with_scope};

/// Variables of a policy, compiled.
pub struct Question(Vec<Variable>);

/// A part of a write.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// There is none.
    None,
    /// This.
    Object(&'a Value),
    /// Nobody knows it.
    Unknown,
}

/// A write, as far as somebody knows it.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The object as it would be stored.
    pub object: Known<'a>,
    /// The object as it was before.
    pub old_object: Known<'a>,
    /// The namespace of the object.
    pub namespace_object: Known<'a>,
    /// The variable `request`.
    pub request: &'a Value,
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question").finish_non_exhaustive()
    }
}

impl Question {
    /// Compiles variables, each a name and an expression.
    pub fn new(variables: &[(&str, String)]) -> Result<Self, String> {
        let variables = variables.iter().map(|(name, expression)| {
            let variable = Variable::new(name, expression);
            match variable.fault() {
                Some(fault) => Err(format!("{name}: {fault}")),
                None => Ok(variable),
            }
        });
        variables.collect::<Result<_, String>>().map(Self)
    }

    /// Asks about a write, with an object as the parameter of the policy: the truths and texts among the variables, and why, where one
    /// cannot be told.
    pub fn ask(
        &self,
        write: &Write<'_>,
        parameter: &Value,
    ) -> BTreeMap<String, Result<Value, String>> {
        let Write { object, old_object, namespace_object, request } = *write;
        let parts =
            [("object", object), ("oldObject", old_object), ("namespaceObject", namespace_object)];
        with_scope(|mut scope| {
            for (name, part) in parts {
                match part {
                    Known::None => scope.add_variable_from_value(name, Cel::Null),
                    Known::Object(value) => {
                        scope.add_variable_from_value(name, object_to_cel(value));
                    }
                    Known::Unknown => {}
                }
            }
            scope.add_variable_from_value("request", to_cel(None, request));
            scope.add_variable_from_value("params", to_cel(None, parameter));
            let Computed { known, broken } = computed(&self.0, &mut scope);
            let known = known.into_iter().filter_map(|(name, value)| match value {
                Cel::Bool(is_so) => Some((name, Ok(Value::Bool(is_so)))),
                Cel::String(text) => Some((name, Ok(Value::String(text.to_string())))),
                _ => None,
            });
            let broken = broken.into_iter().map(|(name, why)| (name.to_owned(), Err(why)));
            known.chain(broken).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(old_object: Known<'_>, variable: &str) -> Result<Value, String> {
        let object = json!({"spec": {"image": "app:2"}});
        let request = json!({"operation": "UPDATE"});
        let write = Write {
            object: Known::Object(&object),
            old_object,
            namespace_object: Known::Unknown,
            request: &request,
        };
        let variables = [
            ("same", "object.spec.image == oldObject.spec.image".to_owned()),
            ("asked", variable.to_owned()),
        ];
        let question = Question::new(&variables)?;
        question.ask(&write, &json!({"spec": {"how": "Queue"}}))["asked"].clone()
    }

    #[test]
    fn what_nobody_knows_is_an_error_only_where_it_matters() {
        let old = json!({"spec": {"image": "app:1"}});
        let known = Known::Object(&old);
        assert_eq!(asked(known, "!variables.same"), Ok(json!(true)));
        assert_eq!(asked(known, "object.spec.image"), Ok(json!("app:2")));
        assert_eq!(asked(Known::None, "oldObject == null"), Ok(json!(true)));
        let spared = "params.spec.how == 'Refuse' && !variables.same";
        assert_eq!(asked(Known::Unknown, spared), Ok(json!(false)));
        let spared = "!variables.same && params.spec.how == 'Refuse'";
        assert_eq!(asked(Known::Unknown, spared), Ok(json!(false)));
        let needed = "params.spec.how == 'Queue' && !variables.same";
        assert!(asked(Known::Unknown, needed).is_err());
        assert!(asked(Known::Unknown, "oldObject == null").is_err());
    }

    #[test]
    fn what_is_no_expression_is_refused_by_name() {
        assert!(asked(Known::None, "object.").unwrap_err().starts_with("asked: "));
    }
}
