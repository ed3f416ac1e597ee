//! The schemas of the built-in kinds, from the client library's own definitions.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use k8s_openapi::{
    api::{
        admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding},
        apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
        coordination::v1::Lease,
        core::v1::{ConfigMap, Event, Namespace, Node, Pod, Secret, ServiceAccount},
        policy::v1::{Eviction, PodDisruptionBudget},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::DeleteOptions,
};
use schemars::SchemaGenerator;
use serde_json::Value;

use super::merge_keys;
use crate::schema::Schema;

/// Definitions by name, as JSON with `#/components/schemas/` references, and as structural schemas.
#[derive(Debug)]
pub(crate) struct Definitions {
    pub(crate) documents: BTreeMap<String, Value>,
    schemas: BTreeMap<String, Arc<Schema>>,
}

pub(crate) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

impl Definitions {
    /// The one set of definitions of this process: immutable, and too large to build per server.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Definitions> = OnceLock::new();
        SHARED.get_or_init(Self::build)
    }

    fn build() -> Self {
        let mut generator = SchemaGenerator::default();
        generator.subschema_for::<Namespace>();
        generator.subschema_for::<Node>();
        generator.subschema_for::<Pod>();
        generator.subschema_for::<ConfigMap>();
        generator.subschema_for::<Secret>();
        generator.subschema_for::<ServiceAccount>();
        generator.subschema_for::<Event>();
        generator.subschema_for::<k8s_openapi::api::events::v1::Event>();
        generator.subschema_for::<Lease>();
        generator.subschema_for::<PodDisruptionBudget>();
        generator.subschema_for::<Deployment>();
        generator.subschema_for::<ReplicaSet>();
        generator.subschema_for::<StatefulSet>();
        generator.subschema_for::<DaemonSet>();
        generator.subschema_for::<Eviction>();
        generator.subschema_for::<DeleteOptions>();
        generator.subschema_for::<CustomResourceDefinition>();
        generator.subschema_for::<ValidatingAdmissionPolicy>();
        generator.subschema_for::<ValidatingAdmissionPolicyBinding>();
        let documents: BTreeMap<String, Value> = generator
            .definitions()
            .iter()
            .map(|(name, schema)| {
                let mut schema = schema.clone();
                relink(&mut schema);
                (name.clone(), schema)
            })
            .collect();
        let mut built = Self { documents, schemas: BTreeMap::new() };
        let names: Vec<String> = built.documents.keys().cloned().collect();
        for name in names {
            built.resolve(&name, &mut Vec::new());
        }
        built
    }

    /// The structural schema of a definition; an unknown name accepts anything.
    pub(crate) fn schema(&self, name: &str) -> Arc<Schema> {
        self.schemas.get(name).cloned().unwrap_or_else(anything)
    }

    fn resolve(&mut self, name: &str, open: &mut Vec<String>) -> Arc<Schema> {
        if let Some(done) = self.schemas.get(name) {
            return Arc::clone(done);
        }
        // A definition inside itself (the JSON schema of a CRD) is accepted as it is; it is judged by its own rules.
        if open.iter().any(|n| n == name) {
            return anything();
        }
        let Some(document) = self.documents.get(name).cloned() else {
            return anything();
        };
        open.push(name.to_owned());
        let schema = Arc::new(self.node(&document, name, open));
        open.pop();
        self.schemas.insert(name.to_owned(), Arc::clone(&schema));
        schema
    }

    fn node(&mut self, node: &Value, definition: &str, open: &mut Vec<String>) -> Schema {
        let mut schema = Schema {
            kind: node.get("type").and_then(Value::as_str).unwrap_or_default().to_owned(),
            format: node.get("format").and_then(Value::as_str).unwrap_or_default().to_owned(),
            int_or_string: node.get("x-kubernetes-int-or-string").is_some(),
            // Null is how Go spells a missing value; built-in kinds accept it everywhere.
            nullable: true,
            definition: definition.to_owned(),
            ..Schema::default()
        };
        if let Some(fields) = node.get("properties").and_then(Value::as_object) {
            for (key, child) in fields {
                let mut sub = self.child(child, definition, open);
                if let Some(rule) = merge_keys::find(definition, key) {
                    let mut own = shallow(&sub);
                    rule.apply(&mut own);
                    sub = Arc::new(own);
                }
                schema.properties.insert(key.clone(), sub);
            }
        }
        if let Some(values) = node.get("additionalProperties").filter(|v| v.is_object()) {
            schema.values = Some(self.child(values, definition, open));
        }
        if let Some(items) = node.get("items") {
            schema.items = Some(self.child(items, definition, open));
        }
        let shapeless =
            schema.properties.is_empty() && schema.values.is_none() && schema.items.is_none();
        if shapeless && matches!(schema.kind.as_str(), "object" | "") {
            schema.preserve_unknown = true;
        }
        if merge_keys::ATOMIC_DEFINITIONS.contains(&definition) {
            schema.atomic_map = true;
        }
        schema
    }

    fn child(&mut self, node: &Value, definition: &str, open: &mut Vec<String>) -> Arc<Schema> {
        let target = node.get("$ref").and_then(Value::as_str).or_else(|| {
            let inner = node.get("allOf")?.as_array()?.first()?;
            inner.get("$ref")?.as_str()
        });
        match target.and_then(|t| t.rsplit('/').next()) {
            Some(name) => self.resolve(name, open),
            None => Arc::new(self.node(node, definition, open)),
        }
    }
}

fn anything() -> Arc<Schema> {
    Arc::new(Schema { preserve_unknown: true, nullable: true, ..Schema::default() })
}

/// A copy of one node that shares its children.
fn shallow(schema: &Schema) -> Schema {
    Schema {
        kind: schema.kind.clone(),
        format: schema.format.clone(),
        properties: schema.properties.clone(),
        values: schema.values.clone(),
        items: schema.items.clone(),
        nullable: schema.nullable,
        int_or_string: schema.int_or_string,
        preserve_unknown: schema.preserve_unknown,
        atomic_map: schema.atomic_map,
        definition: schema.definition.clone(),
        ..Schema::default()
    }
}

fn relink(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get_mut("$ref") {
                *target = target.replace("#/$defs/", "#/components/schemas/");
            }
            // OpenAPI does not let a reference have siblings; the real server wraps it.
            if map.get("$ref").is_some_and(Value::is_string) && map.len() > 1 {
                let target = map.remove("$ref").unwrap_or_default();
                map.insert("allOf".into(), serde_json::json!([{ "$ref": target }]));
            }
            map.values_mut().for_each(relink);
        }
        Value::Array(items) => items.iter_mut().for_each(relink),
        _ => {}
    }
}
