//! Which writes does a policy or hook look at?

use serde_json::Value;

use super::{HookRule, Verb};
use crate::{
    call::Call,
    meta,
    registry::{Nature, ResourceType},
    selector::Labels,
};

/// Reads the rules of `matchConstraints` and `matchResources`.
pub(crate) struct Rules<'a>(pub(crate) Option<&'a Value>);

fn has(list: &[&str], wanted: &str) -> bool {
    list.iter().any(|item| *item == "*" || *item == wanted)
}

/// `pods`, `pods/status`, `pods/*`, `*/status`, `*`, `*/*`.
fn names(patterns: &[&str], plural: &str, subresource: &str) -> bool {
    patterns.iter().any(|pattern| {
        let (resource, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
        let whole = *pattern == "*" && subresource.is_empty() || *pattern == "*/*";
        whole || (resource == "*" || resource == plural) && (sub == subresource || sub == "*")
    })
}

pub(crate) fn hook(rule: &HookRule, group: &str, plural: &str, verb: Verb) -> bool {
    has(&texts(&rule.groups), group)
        && names(&texts(&rule.resources), plural, verb.subresource())
        && has(&texts(&rule.operations), verb.operation())
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn strings<'a>(rule: &'a Value, key: &str) -> Vec<&'a str> {
    let list = rule.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

impl Rules<'_> {
    /// Whether the rules and selectors choose this write. Without rules of its own, a binding takes what its policy takes.
    pub(crate) fn choose(
        &self,
        call: &Call<'_>,
        verb: Verb,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> bool {
        let Some(matching) = self.0 else { return true };
        let rule = |rule: &Value| one(rule, call, verb, object.or(old));
        let list = |key: &str| matching.get(key).and_then(Value::as_array);
        if list("excludeResourceRules").into_iter().flatten().any(rule) {
            return false;
        }
        let chosen = match list("resourceRules") {
            Some(rules) if !rules.is_empty() => rules.iter().any(rule),
            _ => true,
        };
        chosen
            && selected(matching.get("objectSelector"), object, old)
            && namespace_selected(matching.get("namespaceSelector"), call, object.or(old))
    }
}

impl Rules<'_> {
    /// Whether the rules name writes of this sort at all, whatever is written.
    pub(crate) fn may_choose(&self, ty: &ResourceType, verb: Verb) -> bool {
        let rules = self.0.and_then(|rules| rules.get("resourceRules")).and_then(Value::as_array);
        rules.is_none_or(|rules| {
            rules.is_empty() || rules.iter().any(|rule| of_sort(rule, ty, verb))
        })
    }
}

/// Versions are not compared: the same object in another version is equivalent, and conversion changes nothing.
fn of_sort(rule: &Value, ty: &ResourceType, verb: Verb) -> bool {
    has(&strings(rule, "apiGroups"), &ty.group)
        && names(&strings(rule, "resources"), &ty.plural, verb.subresource())
        && has(&strings(rule, "operations"), verb.operation())
}

fn one(rule: &Value, call: &Call<'_>, verb: Verb, subject: Option<&Value>) -> bool {
    let ty = &call.kind.ty;
    let scope = match rule.get("scope").and_then(Value::as_str) {
        Some("Cluster") => !ty.namespaced,
        Some("Namespaced") => ty.namespaced,
        _ => true,
    };
    let wanted = strings(rule, "resourceNames");
    let name = call.path.name.as_deref().or(subject.map(meta::name)).unwrap_or_default();
    of_sort(rule, ty, verb) && scope && (wanted.is_empty() || wanted.contains(&name))
}

fn is_empty(selector: &Value) -> bool {
    selector.as_object().is_none_or(serde_json::Map::is_empty)
}

fn selected(selector: Option<&Value>, object: Option<&Value>, old: Option<&Value>) -> bool {
    let Some(selector) = selector.filter(|s| !is_empty(s)) else {
        return true;
    };
    let labels = Labels::from_object(selector);
    [object, old].into_iter().flatten().any(|o| labels.matches(o))
}

fn namespace_selected(selector: Option<&Value>, call: &Call<'_>, subject: Option<&Value>) -> bool {
    let Some(selector) = selector.filter(|s| !is_empty(s)) else {
        return true;
    };
    let labels = Labels::from_object(selector);
    if call.kind.ty.nature == Nature::Namespace {
        return subject.is_some_and(|o| labels.matches(o));
    }
    let Some(namespace) = &call.path.namespace else {
        return true;
    };
    let key = (String::new(), namespace.clone());
    call.state.store.get("namespaces", &key).is_some_and(|s| labels.matches(&s.value()))
}
