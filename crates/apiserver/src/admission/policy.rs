//! `ValidatingAdmissionPolicy`: rules in CEL that the server itself enforces.

use std::collections::{BTreeMap, HashMap};

use kube_cel::cel::{Context, ExecutionError, Value as Cel};
use serde_json::{Value, json};

use super::{
    Verb,
    bound::{Bound, bound},
    compiled::{Compiled, Variable, list, text},
};
use crate::{
    call::Call,
    meta,
    registry::Nature,
    schema::cel::{Compiled as Expression, compile, explain, object_to_cel, to_cel, with_scope},
    selector::Labels,
    status::{Cause, Refusal},
};

/// What is wrong with a policy.
pub(crate) fn problems(policy: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let validations = list(policy, &["spec", "validations"]).count();
    let audits = list(policy, &["spec", "auditAnnotations"]).count();
    if meta::at(policy, &["spec", "matchConstraints"]).is_none() {
        causes.push(Cause::required("spec.matchConstraints", ""));
    } else if list(policy, &["spec", "matchConstraints", "resourceRules"]).count() == 0 {
        causes.push(Cause::required("spec.matchConstraints.resourceRules", ""));
    }
    if validations + audits == 0 {
        for field in ["spec.validations", "spec.auditAnnotations"] {
            let detail = "validations or auditAnnotations must contain at least one item";
            causes.push(Cause::required(field, detail));
        }
    }
    for (part, key) in [
        ("validations", "expression"),
        ("matchConditions", "expression"),
        ("variables", "expression"),
    ] {
        for (index, item) in list(policy, &["spec", part]).enumerate() {
            let expression = text(item, key);
            let field = format!("spec.{part}[{index}].{key}");
            if expression.trim().is_empty() {
                causes.push(Cause::required(field, "expression is not specified"));
            } else if let Err(error) = compile(expression) {
                let detail = format!("compilation failed: {error}");
                causes.push(Cause::invalid(field, &format!("{expression:?}"), &detail));
            }
        }
    }
    causes
}

/// A refusal by one expression.
struct Denial {
    message: String,
    reason: String,
}

/// Asks every policy that is bound.
pub(crate) fn admit(
    call: &mut Call<'_>,
    verb: Verb,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Result<(), Refusal> {
    // Policies do not judge policies: a bad one could never be removed.
    if matches!(call.kind.ty.nature, Nature::Policy | Nature::Binding) {
        return Ok(());
    }
    let asked = bound(call, verb, object, old);
    if asked.is_empty() {
        return Ok(());
    }
    for (judged, denials) in judge(call, &asked, &Shown::of(call, verb, object, old)?) {
        for denial in denials {
            enforce(call, &judged.binding, &denial, object.or(old))?;
        }
    }
    Ok(())
}

fn enforce(
    call: &mut Call<'_>,
    binding: &Value,
    denial: &Denial,
    subject: Option<&Value>,
) -> Result<(), Refusal> {
    let policy = meta::text_at(binding, &["spec", "policyName"]);
    let bound = meta::name(binding);
    let actions: Vec<&str> =
        list(binding, &["spec", "validationActions"]).filter_map(Value::as_str).collect();
    if actions.contains(&"Warn") {
        call.warnings.push(format!(
            "Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{bound}': {}",
            denial.message
        ));
    }
    if !actions.contains(&"Deny") {
        return Ok(());
    }
    let text = format!(
        "ValidatingAdmissionPolicy '{policy}' with binding '{bound}' denied request: {}",
        denial.message
    );
    let (code, reason) = match denial.reason.as_str() {
        "Unauthorized" => (401, "Unauthorized"),
        "Forbidden" => (403, "Forbidden"),
        "RequestEntityTooLarge" => (413, "RequestEntityTooLarge"),
        _ => (422, "Invalid"),
    };
    let ty = &call.kind.ty;
    let name = call
        .path
        .name
        .clone()
        .unwrap_or_else(|| subject.map(meta::name).unwrap_or_default().to_owned());
    let mut refusal = Refusal::forbidden(&ty.plural, &ty.group, &name, &text);
    refusal.code = code;
    refusal.reason = reason;
    let mut details = crate::status::details(&name, &ty.group, &ty.plural);
    if let Some(map) = details.as_object_mut() {
        map.insert("causes".into(), json!([{ "message": text }]));
    }
    Err(refusal.with_details(details))
}

/// The parameter objects of a binding; `Err` is a denial, an empty list means that the binding does not apply.
fn parameters(call: &Call<'_>, policy: &Value, binding: &Value) -> Result<Vec<Value>, String> {
    let Some(kind) = meta::at(policy, &["spec", "paramKind"]) else {
        return Ok(vec![Value::Null]);
    };
    let Some(reference) = meta::at(binding, &["spec", "paramRef"]) else {
        return Ok(vec![Value::Null]);
    };
    let (version, name) = (text(kind, "apiVersion"), text(kind, "kind"));
    let Some(resolved) = call.state.registry.by_kind(version, name) else {
        return Err(format!(
            "failed to configure policy: failed to find resource referenced by paramKind: '{version}, Kind={name}'"
        ));
    };
    let namespace = if resolved.ty.namespaced {
        let own = text(reference, "namespace");
        let found = if own.is_empty() {
            call.path.namespace.clone().unwrap_or_default()
        } else {
            own.to_owned()
        };
        if found.is_empty() {
            return Err("failed to configure binding: cannot use namespaced paramRef in policy bindings that match cluster-scoped resources".to_owned());
        }
        found
    } else {
        String::new()
    };
    let wanted = text(reference, "name");
    let labels = reference.get("selector").map(Labels::from_object);
    let shelf = call.state.store.shelf(&resolved.ty.shelf);
    let found: Vec<Value> = shelf
        .into_iter()
        .flat_map(|s| s.objects.iter())
        .filter(|((ns, n), _)| *ns == namespace && (wanted.is_empty() || n == wanted))
        .map(|(_, stored)| crate::render::presented(&resolved, stored.value()))
        .filter(|o| labels.as_ref().is_none_or(|l| l.matches(o)))
        .collect();
    if found.is_empty() && text(reference, "parameterNotFoundAction") != "Allow" {
        return Err(
            "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
                .to_owned(),
        );
    }
    Ok(found)
}

/// A write, as expressions see it.
struct Shown {
    object: Cel,
    old: Cel,
    request: Cel,
    namespace: Cel,
}

impl Shown {
    fn of(
        call: &Call<'_>,
        verb: Verb,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Self, Refusal> {
        let show = |value: Option<&Value>| value.map_or(Cel::Null, object_to_cel);
        let namespace = call.path.namespace.as_ref().and_then(|ns| {
            let stored = call.state.store.get("namespaces", &(String::new(), ns.clone()));
            stored.map(crate::store::Stored::value)
        });
        Ok(Self {
            object: show(object),
            old: show(old),
            request: to_cel(None, &request(call, verb, object.or(old))?),
            namespace: show(namespace.as_ref()),
        })
    }
}

/// What each binding says. What all of them see of the write is brought into scope once: objects can be large.
fn judge<'a>(call: &Call<'_>, asked: &'a [Bound], shown: &Shown) -> Vec<(&'a Bound, Vec<Denial>)> {
    with_scope(|mut scope| {
        scope.add_variable_from_value("object", shown.object.clone());
        scope.add_variable_from_value("oldObject", shown.old.clone());
        scope.add_variable_from_value("request", shown.request.clone());
        asked.iter().map(|bound| (bound, denials(call, bound, &scope, &shown.namespace))).collect()
    })
}

fn denials(call: &Call<'_>, bound: &Bound, scope: &Context<'_>, namespace: &Cel) -> Vec<Denial> {
    let Bound { compiled, binding } = bound;
    let parameters = match parameters(call, &compiled.policy, binding) {
        Ok(found) => found,
        Err(_) if compiled.fails_open => return Vec::new(),
        Err(message) => return vec![Denial { message, reason: String::new() }],
    };
    let each = parameters.iter().flat_map(|parameter| {
        let mut scope = scope.new_inner_scope();
        scope.add_variable_from_value("params", to_cel(None, parameter));
        evaluate(compiled, scope, namespace)
    });
    each.collect()
}

fn evaluate(compiled: &Compiled, mut scope: Context<'_>, namespace: &Cel) -> Vec<Denial> {
    let failed = |message: String| Denial { message, reason: String::new() };
    // Conditions of a match do not see the namespace: a real server has none for them, whatever is written.
    scope.add_variable_from_value("namespaceObject", Cel::Null);
    for (name, condition) in &compiled.conditions {
        match run(condition, &scope) {
            Ok(Cel::Bool(true)) => {}
            Ok(_) => return Vec::new(),
            Err(_) if compiled.fails_open => return Vec::new(),
            Err(error) => {
                return vec![failed(format!(
                    "match condition evaluation failed: expression '{name}' resulted in error: {error}"
                ))];
            }
        }
    }
    scope.add_variable_from_value("namespaceObject", namespace.clone());
    let Computed { known, broken } = computed(&compiled.variables, &mut scope);
    scope.add_variable_from_value("variables", Cel::from(known));
    let mut denials = Vec::new();
    for validation in &compiled.validations {
        match run(&validation.program, &scope) {
            Ok(Cel::Bool(true)) => {}
            Ok(_) => {
                let computed =
                    validation.message_program.as_ref().and_then(|p| match p.execute(&scope) {
                        Ok(Cel::String(text)) if !text.trim().is_empty() => {
                            Some(text.trim().to_owned())
                        }
                        _ => None,
                    });
                let message = computed
                    .or_else(|| validation.message.as_deref().map(|m| m.trim().to_owned()))
                    .unwrap_or_else(|| {
                        format!("failed expression: {}", validation.expression.trim())
                    });
                denials.push(Denial { message, reason: validation.reason.clone() });
            }
            Err(_) if compiled.fails_open => {}
            Err(error) => {
                let culprit =
                    broken.iter().find(|(name, _)| error == format!("no such key: {name}"));
                let error = match culprit {
                    Some((name, why)) => {
                        format!("composited variable {name:?} fails to evaluate: {why}")
                    }
                    None => error,
                };
                let message =
                    format!("expression '{}' resulted in error: {error}", validation.expression);
                denials.push(failed(message));
            }
        }
    }
    denials
}

/// What variables come to.
pub(super) struct Computed<'a> {
    pub(super) known: HashMap<String, Cel>,
    /// Those that failed, with why.
    pub(super) broken: BTreeMap<&'a str, String>,
}

/// Evaluates variables in order; a failed one is missing, and whoever asks for it fails with its error.
pub(super) fn computed<'a>(variables: &'a [Variable], scope: &mut Context<'_>) -> Computed<'a> {
    let mut known: HashMap<String, Cel> = HashMap::new();
    let mut broken: BTreeMap<&str, String> = BTreeMap::new();
    scope.add_variable_from_value("variables", Cel::from(known.clone()));
    let mut told = 0;
    for Variable { name, program, composed } in variables {
        // All of them are brought into scope again for one that asks for some, because that copies them.
        if told < known.len() && *composed {
            scope.add_variable_from_value("variables", Cel::from(known.clone()));
            told = known.len();
        }
        match run(program, scope) {
            Ok(value) => {
                known.insert(name.clone(), value);
            }
            Err(error) => {
                broken.insert(name, error);
            }
        }
    }
    Computed { known, broken }
}

fn run(program: &Expression, scope: &Context<'_>) -> Result<Cel, String> {
    let program = program.as_ref().map_err(Clone::clone)?;
    program.execute(scope).map_err(|e: ExecutionError| explain(&e))
}

/// The `request` variable; what is empty is absent.
fn request(call: &Call<'_>, verb: Verb, subject: Option<&Value>) -> Result<Value, Refusal> {
    let ty = &call.kind.ty;
    let version = &call.kind.version.name;
    let kind = match verb {
        Verb::Evict => json!({"group": "policy", "version": "v1", "kind": "Eviction"}),
        _ => json!({"group": ty.group, "version": version, "kind": ty.kind}),
    };
    let resource = json!({"group": ty.group, "version": version, "resource": ty.plural});
    let name = call
        .path
        .name
        .clone()
        .unwrap_or_else(|| subject.map(meta::name).unwrap_or_default().to_owned());
    let mut request = json!({
        "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
        "operation": verb.operation(), "dryRun": call.query.dry_run()?,
        "userInfo": call.user.shown(),
    });
    if let Some(map) = request.as_object_mut() {
        let namespace = call.path.namespace.clone().unwrap_or_default();
        for (key, value) in [
            ("name", name),
            ("namespace", namespace),
            ("subResource", verb.subresource().to_owned()),
        ] {
            if !value.is_empty() {
                map.insert(key.to_owned(), value.into());
            }
        }
    }
    Ok(request)
}
