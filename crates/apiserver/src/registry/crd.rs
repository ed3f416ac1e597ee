//! From a `CustomResourceDefinition` to a served kind.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Column, Nature, ResourceType, Served};
use crate::{
    meta,
    name::NameRule,
    schema::{Schema, structural},
    status::Cause,
};

/// Fills in what the author left out, as the server's own defaulting does.
pub(crate) fn default(definition: &mut Value) {
    let kind = meta::text_at(definition, &["spec", "names", "kind"]).to_owned();
    let spec = meta::entry(definition, "spec");
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        if names.get("singular").and_then(Value::as_str).unwrap_or_default().is_empty() {
            names.insert("singular".into(), kind.to_lowercase().into());
        }
        if names.get("listKind").and_then(Value::as_str).unwrap_or_default().is_empty()
            && !kind.is_empty()
        {
            names.insert("listKind".into(), format!("{kind}List").into());
        }
    }
}

/// What is wrong with a definition.
pub(crate) fn problems(definition: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let text = |path: &[&str]| meta::text_at(definition, path);
    let (group, plural) = (text(&["spec", "group"]), text(&["spec", "names", "plural"]));
    let wanted = format!("{plural}.{group}");
    if meta::name(definition) != wanted {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid(
            "metadata.name",
            &format!("{:?}", meta::name(definition)),
            detail,
        ));
    }
    for (field, value) in [
        ("spec.group", group),
        ("spec.names.plural", plural),
        ("spec.names.kind", text(&["spec", "names", "kind"])),
    ] {
        if value.is_empty() {
            causes.push(Cause::required(field, ""));
        }
    }
    if !group.is_empty() && !group.contains('.') {
        causes.push(Cause::invalid(
            "spec.group",
            &format!("{group:?}"),
            "should be a domain with at least one dot",
        ));
    }
    let scope = text(&["spec", "scope"]);
    if !matches!(scope, "Cluster" | "Namespaced") {
        let message = if scope.is_empty() {
            return with(causes, Cause::required("spec.scope", ""));
        } else {
            format!("Unsupported value: {scope:?}: supported values: \"Cluster\", \"Namespaced\"")
        };
        causes.push(Cause {
            reason: "FieldValueNotSupported",
            field: "spec.scope".into(),
            message,
        });
    }
    if text(&["spec", "conversion", "strategy"]) == "Webhook" {
        let detail = format!(
            "{} does not support conversion webhooks; use strategy None",
            crate::status::SERVER_NAME
        );
        causes.push(Cause::invalid("spec.conversion.strategy", "\"Webhook\"", &detail));
    }
    let versions = versions(definition);
    let shared = share(&versions, "schema");
    let stored = versions.iter().filter(|v| v.get("storage") == Some(&Value::Bool(true))).count();
    if stored != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &internal(&versions), detail));
        if stored == 0 {
            let detail = "must have at least one stored version";
            causes.push(Cause::invalid("status.storedVersions", "null", detail));
        }
    }
    for (index, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{index}]");
        let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
        if !crate::name::is_label(name) {
            causes.push(Cause::invalid(format!("{at}.name"), &format!("{name:?}"), "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"));
        }
        // What all versions share the real server judges once, where its internal form has it.
        let at_schema = if shared { "spec.validation".to_owned() } else { format!("{at}.schema") };
        match meta::at(version, &["schema", "openAPIV3Schema"]) {
            Some(_) if shared && index > 0 => {}
            None => causes.push(Cause::required(
                format!("{at_schema}.openAPIV3Schema"),
                "schemas are required",
            )),
            Some(schema) => {
                let path = format!("{at_schema}.openAPIV3Schema");
                causes.extend(structural::problems(schema, &path));
            }
        }
        if meta::at(version, &["subresources", "scale"]).is_some() {
            let detail =
                format!("{} does not support the scale subresource", crate::status::SERVER_NAME);
            causes.push(Cause::forbidden(format!("{at}.subresources.scale"), &detail));
        }
    }
    causes
}

/// Whether all versions say the same of this part.
fn share(versions: &[Value], part: &str) -> bool {
    versions.iter().all(|version| version.get(part) == versions.first().and_then(|v| v.get(part)))
}

/// The versions as the real server shows them in refusals: its own structures, without what all versions share.
fn internal(versions: &[Value]) -> String {
    let part = |version: &Value, name: &str| match version.get(name) {
        Some(value) if !share(versions, name) => value.clone(),
        _ => Value::Null,
    };
    let flag = |version: &Value, name: &str| version.get(name) == Some(&Value::Bool(true));
    let shown = versions.iter().map(|version| {
        json!({
            "Name": version.get("name"), "Served": flag(version, "served"),
            "Storage": flag(version, "storage"), "Deprecated": flag(version, "deprecated"),
            "DeprecationWarning": version.get("deprecationWarning"), "Schema": part(version, "schema"),
            "Subresources": part(version, "subresources"),
            "AdditionalPrinterColumns": part(version, "additionalPrinterColumns"),
            "SelectableFields": part(version, "selectableFields"),
        })
    });
    shown.collect::<Value>().to_string()
}

/// What may not change once the kind is there.
pub(crate) fn changed_names(old: &Value, new: &Value) -> Vec<Cause> {
    let fixed: [&[&str]; 4] = [
        &["spec", "group"],
        &["spec", "scope"],
        &["spec", "names", "kind"],
        &["spec", "names", "plural"],
    ];
    let changed = fixed.into_iter().filter(|path| meta::at(old, path) != meta::at(new, path));
    changed
        .map(|path| {
            let shown = meta::at(new, path).map(Value::to_string).unwrap_or_default();
            Cause::invalid(path.join("."), &shown, "field is immutable")
        })
        .collect()
}

fn with(mut causes: Vec<Cause>, cause: Cause) -> Vec<Cause> {
    causes.push(cause);
    causes
}

fn versions(definition: &Value) -> Vec<Value> {
    meta::at(definition, &["spec", "versions"])
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

/// The kind that a valid definition describes.
pub(crate) fn read(definition: &Value) -> ResourceType {
    let text = |path: &[&str]| meta::text_at(definition, path).to_owned();
    let list = |path: &[&str]| -> Vec<String> {
        let items = meta::at(definition, path).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (group, plural, kind) = (
        text(&["spec", "group"]),
        text(&["spec", "names", "plural"]),
        text(&["spec", "names", "kind"]),
    );
    let all = versions(definition);
    let is = |v: &Value, key: &str| v.get(key) == Some(&Value::Bool(true));
    let storage_version = all
        .iter()
        .find(|v| is(v, "storage"))
        .and_then(|v| v.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let mut served: Vec<Served> =
        all.iter().filter(|v| is(v, "served")).map(|v| version(v, &group, &kind)).collect();
    served.sort_by_key(|v| std::cmp::Reverse(super::precedence(&v.name)));
    ResourceType {
        singular: text(&["spec", "names", "singular"]),
        list_kind: text(&["spec", "names", "listKind"]),
        namespaced: text(&["spec", "scope"]) == "Namespaced",
        short_names: list(&["spec", "names", "shortNames"]),
        categories: list(&["spec", "names", "categories"]),
        shelf: format!("{plural}.{group}").into(),
        nature: Nature::Custom,
        name_rule: NameRule::Subdomain,
        terminating: meta::is_deleting(definition),
        versions: served,
        storage_version,
        group,
        plural,
        kind,
    }
}

fn version(version: &Value, group: &str, kind: &str) -> Served {
    let name = version.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let document = meta::at(version, &["schema", "openAPIV3Schema"]).cloned().unwrap_or_default();
    let columns = version.get("additionalPrinterColumns").and_then(Value::as_array);
    let selectable = version.get("selectableFields").and_then(Value::as_array);
    let deprecation = (version.get("deprecated") == Some(&Value::Bool(true))).then(|| {
        let own = version.get("deprecationWarning").and_then(Value::as_str).map(str::to_owned);
        own.unwrap_or_else(|| format!("{group}/{name} {kind} is deprecated"))
    });
    Served {
        schema: Schema::of_kind(
            &document,
            super::definitions::Definitions::shared().schema(super::definitions::OBJECT_META),
        ),
        document: Arc::new(document),
        status: meta::at(version, &["subresources", "status"]).is_some(),
        columns: columns.into_iter().flatten().map(column).collect(),
        selectable: selectable
            .into_iter()
            .flatten()
            .filter_map(|f| f.get("jsonPath").and_then(Value::as_str))
            .map(|p| p.trim_start_matches('.').to_owned())
            .collect(),
        deprecation,
        name,
    }
}

fn column(column: &Value) -> Column {
    let text = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Column {
        name: text("name"),
        kind: text("type"),
        format: text("format"),
        description: text("description"),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or_default(),
        json_path: text("jsonPath"),
    }
}

/// The status that the real server's controllers write once the names are accepted.
pub(crate) fn established(definition: &Value, at: &str) -> Value {
    let stored: Vec<Value> = versions(definition)
        .iter()
        .filter(|v| v.get("storage") == Some(&Value::Bool(true)))
        .filter_map(|v| v.get("name").cloned())
        .collect();
    let mut all: Vec<Value> = meta::at(definition, &["status", "storedVersions"])
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    for version in stored {
        if !all.contains(&version) {
            all.push(version);
        }
    }
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": at,
               "observedGeneration": meta::field(definition, "generation").cloned().unwrap_or_else(|| json!(1))})
    };
    let conditions = match meta::at(definition, &["status", "conditions"]).and_then(Value::as_array)
    {
        Some(known) if !known.is_empty() => Value::Array(known.clone()),
        _ => json!([
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition(
                "Established",
                "InitialNamesAccepted",
                "the initial names have been accepted"
            ),
        ]),
    };
    json!({
        "acceptedNames": meta::at(definition, &["spec", "names"]).cloned().unwrap_or_default(),
        "conditions": conditions,
        "storedVersions": all,
    })
}
