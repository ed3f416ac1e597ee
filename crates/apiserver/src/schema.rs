//! What shape may an object of a kind have?
//!
//! One structural schema type serves CRDs (as written by their authors) and built-in kinds (from the client library's own
//! definitions). Nodes are shared, so that the many uses of one definition cost nothing.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

pub(crate) mod cel;
pub(crate) mod default;
pub(crate) mod format;
pub(crate) mod prune;
pub(crate) mod structural;
pub(crate) mod validate;

/// How a list merges under server-side apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ListKind {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// `allOf`, `anyOf`, `oneOf` and `not`.
#[derive(Debug, Default)]
pub(crate) struct Junctors {
    pub(crate) all: Vec<Arc<Schema>>,
    pub(crate) any: Vec<Arc<Schema>>,
    pub(crate) one: Vec<Arc<Schema>>,
    pub(crate) not: Option<Arc<Schema>>,
}

/// One node of a structural schema.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the wire format has these flags, each on its own"
)]
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean`, or empty when anything goes.
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) properties: BTreeMap<String, Arc<Schema>>,
    /// The schema of map values.
    pub(crate) values: Option<Arc<Schema>>,
    pub(crate) items: Option<Arc<Schema>>,
    pub(crate) required: Vec<String>,
    pub(crate) default: Option<Value>,
    pub(crate) nullable: bool,
    pub(crate) int_or_string: bool,
    pub(crate) preserve_unknown: bool,
    pub(crate) embedded_resource: bool,
    pub(crate) list: ListKind,
    /// The key of strategic merge patches; `Some("")` merges a list of scalars.
    pub(crate) patch_merge_key: Option<String>,
    /// A map or object that has one owner as a whole.
    pub(crate) atomic_map: bool,
    /// Value checks (bounds, lengths, enumerations), read where they are checked; null when there are none.
    pub(crate) checks: Value,
    pub(crate) pattern: Option<regex::Regex>,
    pub(crate) junctors: Option<Box<Junctors>>,
    pub(crate) rules: Vec<cel::Rule>,
    /// Whether this node or one below has rules, so that trees without any are not walked.
    pub(crate) has_rules: bool,
    /// The name of the definition, for Go-like type names in decoding errors.
    pub(crate) definition: String,
}

const CHECKS: [&str; 13] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "enum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

impl Schema {
    /// The schema of a whole custom kind: what its author wrote, with the metadata that every object has.
    pub(crate) fn of_kind(document: &Value, metadata: Arc<Self>) -> Arc<Self> {
        let mut root = Self::parse(document);
        if let Some(schema) = Arc::get_mut(&mut root) {
            schema.properties.insert("metadata".to_owned(), metadata);
        }
        root
    }

    /// Reads a CRD's schema node. Unknown keywords are ignored here and refused when the CRD is created.
    pub(crate) fn parse(node: &Value) -> Arc<Self> {
        let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let flag = |key: &str| node.get(key).and_then(Value::as_bool).unwrap_or_default();
        let strings = |key: &str| -> Vec<String> {
            node.get(key)
                .and_then(Value::as_array)
                .map(|a| a.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default()
        };
        let properties: BTreeMap<String, Arc<Self>> = node
            .get("properties")
            .and_then(Value::as_object)
            .map(|p| p.iter().map(|(k, v)| (k.clone(), Self::parse(v))).collect())
            .unwrap_or_default();
        let values = match node.get("additionalProperties") {
            Some(Value::Bool(true)) => {
                Some(Arc::new(Self { preserve_unknown: true, ..Self::default() }))
            }
            Some(schema @ Value::Object(_)) => Some(Self::parse(schema)),
            _ => None,
        };
        let items = node.get("items").filter(|i| i.is_object()).map(Self::parse);
        let list = match node.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("map") => ListKind::Map(strings("x-kubernetes-list-map-keys")),
            Some("set") => ListKind::Set,
            _ => ListKind::Atomic,
        };
        let mut checks = serde_json::Map::new();
        for key in CHECKS {
            if let Some(value) = node.get(key) {
                checks.insert(key.to_owned(), value.clone());
            }
        }
        let mut schema = Self {
            kind: text("type"),
            format: text("format"),
            required: strings("required"),
            default: node.get("default").cloned(),
            nullable: flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            list,
            patch_merge_key: None,
            atomic_map: node.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic"),
            checks: if checks.is_empty() { Value::Null } else { Value::Object(checks) },
            pattern: node
                .get("pattern")
                .and_then(Value::as_str)
                .and_then(|p| regex::Regex::new(p).ok()),
            junctors: Junctors::parse(node),
            rules: Vec::new(),
            has_rules: false,
            definition: String::new(),
            properties,
            values,
            items,
        };
        schema.rules = cel::Rule::read_all(node);
        schema.has_rules = !schema.rules.is_empty() || schema.children().any(|c| c.has_rules);
        Arc::new(schema)
    }

    fn children(&self) -> impl Iterator<Item = &Arc<Self>> {
        self.properties.values().chain(self.values.as_ref()).chain(self.items.as_ref())
    }

    /// The schema of the field `key` of a value under this node.
    pub(crate) fn field(&self, key: &str) -> Option<&Arc<Self>> {
        self.properties.get(key).or(self.values.as_ref())
    }
}

impl Junctors {
    fn parse(node: &Value) -> Option<Box<Self>> {
        let list = |key: &str| -> Vec<Arc<Schema>> {
            let branches = node.get(key).and_then(Value::as_array);
            branches.map(|b| b.iter().map(Schema::parse).collect()).unwrap_or_default()
        };
        let found = Self {
            all: list("allOf"),
            any: list("anyOf"),
            one: list("oneOf"),
            not: node.get("not").map(Schema::parse),
        };
        let none = found.all.is_empty()
            && found.any.is_empty()
            && found.one.is_empty()
            && found.not.is_none();
        (!none).then(|| Box::new(found))
    }
}

/// `spec` + `replicas` = `spec.replicas`; a key that is not an identifier is put in brackets by the caller.
pub(crate) fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}
