//! Do the schema's own expressions hold?
//!
//! `x-kubernetes-validations` rules are compiled once, when the CRD is read, and evaluated only where a value changed:
//! an unchanged value may stay invalid (ratcheting), and evaluation is the dearest part of a write. Transition rules, which
//! speak of `oldSelf`, run whenever there is an old value.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use kube_cel::{
    KubeCelExt,
    cel::{
        Context, ExecutionError, Program, Value as Cel,
        objects::{Key, Map, Opaque},
    },
};
use serde_json::Value;

use super::{ListKind, Schema, join};
use crate::status::{Cause, SERVER_NAME};

mod fields;

pub(crate) use fields::Place;

/// One compiled rule.
#[derive(Debug)]
pub(crate) struct Rule {
    expression: String,
    message: Option<String>,
    reason: String,
    field_path: String,
    program: Compiled,
    message_program: Option<Compiled>,
    transition: bool,
    optional_old: bool,
}

impl Rule {
    /// Reads and compiles the rules of one schema node.
    pub(crate) fn read_all(node: &Value) -> Vec<Self> {
        let rules = node.get("x-kubernetes-validations").and_then(Value::as_array);
        rules.into_iter().flatten().map(Self::read).collect()
    }

    fn read(rule: &Value) -> Self {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).map(str::to_owned);
        let expression = text("rule").unwrap_or_default();
        let program = compile(&expression);
        let transition = program.as_ref().is_ok_and(|p| p.references().has_variable("oldSelf"));
        Self {
            message: text("message"),
            reason: text("reason").unwrap_or_default(),
            field_path: text("fieldPath").unwrap_or_default(),
            message_program: text("messageExpression").map(|e| compile(&e)),
            transition,
            optional_old: rule.get("optionalOldSelf").and_then(Value::as_bool).unwrap_or_default(),
            program,
            expression,
        }
    }

    /// Why the rule cannot be used on values of `schema`, if so: the field of the rule, and the fault.
    pub(crate) fn problem(&self, schema: &Schema, place: Place) -> Option<(&'static str, String)> {
        let fault = |program: &Compiled| match program {
            Err(fault) => Some(fault.clone()),
            Ok(program) => {
                let fault = fields::unknown_word(program.expression(), schema, place)?;
                Some(format!("ERROR: <input>: {fault}"))
            }
        };
        let rule =
            fault(&self.program).map(|fault| ("rule", format!("compilation failed: {fault}")));
        rule.or_else(|| {
            let fault = fault(self.message_program.as_ref()?)?;
            Some(("messageExpression", format!("messageExpression compilation failed: {fault}")))
        })
    }

    /// The expression as it was written.
    pub(crate) fn expression(&self) -> &str {
        &self.expression
    }
}

/// An expression that can be run, or why it cannot: one line of text.
pub(crate) type Compiled = Result<Arc<Program>, String>;

/// How many expressions are remembered. What is shipped has some hundred; whoever sends more than this pays for compiling again.
const REMEMBERED: usize = 4096;

/// Compiles an expression. What was compiled before, by any server of the process, is remembered: the text alone decides what comes of it,
/// and a run of tests starts hundreds of servers with the same policies.
pub(crate) fn compile(expression: &str) -> Compiled {
    static KNOWN: LazyLock<Mutex<HashMap<String, Compiled>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known().get(expression) {
        return compiled.clone();
    }
    let compiled = Program::compile(expression).map(Arc::new);
    let compiled = compiled.map_err(|e| e.to_string().replace("\n|", "\n |"));
    let mut known = known();
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(expression.to_owned(), compiled.clone());
    compiled
}

thread_local! {
    static BASE: Context<'static> = Context::default().with_all();
    static TIMESTAMP: Compiled = compile("timestamp(text)");
    static DURATION: Compiled = compile("duration(text)");
}

/// Runs `work` with a fresh scope over the shared function library.
pub(crate) fn with_scope<T>(work: impl FnOnce(Context<'_>) -> T) -> T {
    BASE.with(|base| work(base.new_inner_scope()))
}

/// Evaluates all rules below `schema` and returns the violations.
pub(crate) fn check(schema: &Schema, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if schema.has_rules {
        walk(schema, new, old, "", &mut causes);
    }
    causes
}

fn walk(schema: &Schema, new: &Value, old: Option<&Value>, path: &str, causes: &mut Vec<Cause>) {
    if !schema.has_rules || new.is_null() {
        return;
    }
    let unchanged = old == Some(new);
    let due = |rule: &&Rule| {
        if rule.transition { old.is_some() || rule.optional_old } else { !unchanged }
    };
    let due: Vec<&Rule> = schema.rules.iter().filter(due).collect();
    if !due.is_empty() {
        let current = to_cel_root(schema, new, path);
        let before = old.map(|o| to_cel_root(schema, o, path));
        with_scope(|mut scope| {
            scope.add_variable_from_value("self", current);
            match before {
                Some(before) => scope.add_variable_from_value("oldSelf", before),
                None => scope.add_variable_from_value("oldSelf", Cel::Null),
            }
            for rule in due {
                causes.extend(evaluate(rule, &scope, schema, new, path));
            }
        });
    }
    match new {
        Value::Object(map) => {
            for (key, child) in map {
                if let Some(sub) = schema.field(key) {
                    let before = old.and_then(|o| o.get(key));
                    let at = if schema.properties.contains_key(key) {
                        join(path, key)
                    } else {
                        format!("{path}[{key}]")
                    };
                    walk(sub, child, before, &at, causes);
                }
            }
        }
        Value::Array(items) => {
            let Some(sub) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                let before = correlate(schema, item, old);
                walk(sub, item, before, &format!("{path}[{index}]"), causes);
            }
        }
        _ => {}
    }
}

/// The old counterpart of a list item: only lists keyed as maps have one.
pub(crate) fn correlate<'a>(
    schema: &Schema,
    item: &Value,
    old: Option<&'a Value>,
) -> Option<&'a Value> {
    let ListKind::Map(keys) = &schema.list else {
        return None;
    };
    let same = |other: &&Value| keys.iter().all(|k| other.get(k) == item.get(k));
    old.and_then(Value::as_array)?.iter().find(same)
}

fn evaluate(
    rule: &Rule,
    scope: &Context<'_>,
    schema: &Schema,
    value: &Value,
    path: &str,
) -> Option<Cause> {
    let field = match (path, rule.field_path.strip_prefix('.')) {
        ("", None) => "<nil>".to_owned(),
        ("", Some(rest)) => rest.to_owned(),
        (path, None) => path.to_owned(),
        (path, Some(rest)) => format!("{path}.{rest}"),
    };
    let shown = format!("{:?}", schema.kind);
    let program = rule.program.as_ref().ok()?;
    match program.execute(scope) {
        Ok(Cel::Bool(true)) => None,
        Ok(Cel::Bool(false)) => {
            let program = rule.message_program.as_ref().and_then(|p| p.as_ref().ok());
            let computed = program.and_then(|p| match p.execute(scope) {
                Ok(Cel::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
                _ => None,
            });
            let detail = computed
                .or_else(|| rule.message.clone())
                .unwrap_or_else(|| format!("failed rule: {}", rule.expression.trim()));
            Some(match rule.reason.as_str() {
                "FieldValueRequired" => Cause::required(field, &detail),
                "FieldValueForbidden" => Cause::forbidden(field, &detail),
                "FieldValueDuplicate" => Cause {
                    reason: "FieldValueDuplicate",
                    field,
                    message: format!("Duplicate value: {shown}"),
                },
                _ => Cause {
                    reason: "FieldValueInvalid",
                    field,
                    // A plain value is shown; an object or a list would drown the reason.
                    message: if value.is_object() || value.is_array() {
                        format!("Invalid value: {detail}")
                    } else {
                        format!("Invalid value: {value}: {detail}")
                    },
                },
            })
        }
        Ok(_) => Some(Cause::invalid(field, &shown, "internal error: rule did not yield a bool")),
        Err(error) => {
            let detail = format!("rule: {}: {}", rule.expression.trim(), explain(&error));
            Some(Cause::invalid(field, &shown, &detail))
        }
    }
}

/// The error in the words of the real server, where they are known.
pub(crate) fn explain(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::NoSuchOverload => "no such overload".to_owned(),
        ExecutionError::UndeclaredReference(name) => {
            format!("{SERVER_NAME} does not support '{name}' in expressions")
        }
        other => other.to_string(),
    }
}

/// The root of an object shows only its type and names beside what the schema declares.
fn to_cel_root(schema: &Schema, value: &Value, path: &str) -> Cel {
    if !path.is_empty() && !schema.embedded_resource {
        return to_cel(Some(schema), value);
    }
    let Value::Object(map) = value else {
        return to_cel(Some(schema), value);
    };
    let mut fields = HashMap::with_capacity(map.len());
    for (key, child) in map {
        let shown = match key.as_str() {
            "metadata" => {
                let names = ["name", "generateName"]
                    .iter()
                    .filter_map(|k| child.get(k).map(|v| (cel_key(k), to_cel(None, v))));
                Cel::Map(Map { map: Arc::new(names.collect()) })
            }
            "apiVersion" | "kind" => to_cel(None, child),
            other => match schema.field(other) {
                Some(sub) => to_cel(Some(sub), child),
                None => continue,
            },
        };
        fields.insert(cel_key(&escape(key)), shown);
    }
    Cel::Map(Map { map: Arc::new(fields) })
}

/// A JSON value as CEL sees it; with a schema, dates and durations are instants and lengths, and field names are escaped.
pub(crate) fn to_cel(schema: Option<&Schema>, value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(b) => Cel::Bool(*b),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            _ if schema.is_some_and(|s| s.kind == "number") => {
                Cel::Float(n.as_f64().unwrap_or_default())
            }
            (Some(i), _, _) => Cel::Int(i),
            (_, Some(u), _) => Cel::UInt(u),
            (_, _, f) => Cel::Float(f.unwrap_or_default()),
        },
        Value::String(text) => match schema.map(|s| s.format.as_str()) {
            Some("date-time" | "date") => instant(text),
            Some("duration") => converted(&DURATION, text),
            _ => Cel::String(Arc::new(text.clone())),
        },
        Value::Array(items) => {
            let sub = schema.and_then(|s| s.items.as_deref());
            Cel::List(Arc::new(items.iter().map(|i| to_cel(sub, i)).collect()))
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(key, child)| {
                let declared = schema.is_some_and(|s| s.properties.contains_key(key));
                let name = if declared { escape(key) } else { key.clone() };
                (
                    cel_key(&name),
                    to_cel(schema.and_then(|s| s.field(key)).map(AsRef::as_ref), child),
                )
            });
            Cel::Map(Map { map: Arc::new(fields.collect()) })
        }
    }
}

/// An object as admission policies see it. What a manager owns is compared and never looked into: the server's schema of `fieldsV1` names no
/// fields. It is the largest part of many objects, and this way nobody copies it.
pub(crate) fn object_to_cel(object: &Value) -> Cel {
    let owner = |entry: &Value| {
        fields_to_cel(entry, |key, child| match key {
            "fieldsV1" => Cel::Opaque(Arc::new(Owned(child.clone()))),
            _ => to_cel(None, child),
        })
    };
    let metadata = |key: &str, child: &Value| match child {
        Value::Array(owners) if key == "managedFields" => {
            Cel::List(Arc::new(owners.iter().map(owner).collect()))
        }
        _ => to_cel(None, child),
    };
    fields_to_cel(object, |key, child| match key {
        "metadata" => fields_to_cel(child, metadata),
        _ => to_cel(None, child),
    })
}

fn fields_to_cel(value: &Value, field: impl Fn(&str, &Value) -> Cel) -> Cel {
    let Value::Object(map) = value else { return to_cel(None, value) };
    let fields = map.iter().map(|(key, child)| (cel_key(key), field(key, child)));
    Cel::Map(Map { map: Arc::new(fields.collect()) })
}

/// The fields that a manager owns.
#[derive(Debug, PartialEq, Eq)]
struct Owned(Value);

impl Opaque for Owned {
    fn runtime_type_name(&self) -> &'static str {
        "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"
    }
}

fn instant(text: &str) -> Cel {
    if text.len() == 10 {
        return converted(&TIMESTAMP, &format!("{text}T00:00:00Z"));
    }
    converted(&TIMESTAMP, text)
}

/// Lets CEL itself parse the text; what does not parse stays a string, and format validation says so.
fn converted(program: &'static std::thread::LocalKey<Compiled>, text: &str) -> Cel {
    let plain = || Cel::String(Arc::new(text.to_owned()));
    program.with(|program| {
        let Ok(program) = program else { return plain() };
        with_scope(|mut scope| {
            scope.add_variable_from_value("text", plain());
            program.execute(&scope).unwrap_or_else(|_| plain())
        })
    })
}

fn cel_key(key: &str) -> Key {
    Key::String(Arc::new(key.to_owned()))
}

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Property names that are not CEL identifiers are spelled with double underscores.
fn escape(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
