//! What does a definition tell somebody who writes such an object? A page for each kind of ours, made from nothing but its definition and an
//! example that both servers take.

use std::fmt::Write as _;

use serde_json::Value;

/// The page of a kind; the example is YAML, and absent where people write no such objects.
pub(super) fn page(definition: &Value, example: Option<&str>) -> String {
    let names = &definition["spec"]["names"];
    let version = &definition["spec"]["versions"][0];
    let schema = &version["schema"]["openAPIV3Schema"];
    let kind = text(&names["kind"]);
    let scope = match text(&definition["spec"]["scope"]) {
        "Cluster" => "It belongs to the cluster.",
        _ => "It belongs to a namespace.",
    };
    let mut page = format!(
        "<!-- Generated from the definition in deploy/crds; edit the types in crates/api instead. -->\n# {kind}\n\n{}\n{scope}\n\n",
        text(&schema["description"]),
    );
    let short = names["shortNames"].as_array().into_iter().flatten().map(text).next();
    let short = short.unwrap_or_else(|| text(&names["singular"]));
    let group = text(&definition["spec"]["group"]);
    _ = writeln!(
        page,
        "`{group}/{}`, `kubectl get {short}`, `kubectl explain {}`\n",
        text(&version["name"]),
        text(&names["singular"]),
    );
    match example {
        Some(example) => _ = writeln!(page, "## Example\n\n```yaml\n{example}```\n"),
        None => page.push_str("The operator writes these objects, and the API server takes them from nobody else.\n\n"),
    }
    for part in ["spec", "status"] {
        let fields = &schema["properties"][part];
        if fields["properties"].is_object() {
            _ = writeln!(page, "## `{part}`\n\n| field | | what it says |\n|---|---|---|");
            rows(&mut page, part, fields);
            page.push('\n');
        }
    }
    rules_of(&mut page, schema);
    columns(&mut page, version);
    page
}

/// A row for each field below this one, deepest last; what every list and map holds is written as `[]` and `.*`.
fn rows(page: &mut String, path: &str, schema: &Value) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().map(text).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let mut shape = vec![shape(field)];
        if required.contains(&name.as_str()) {
            shape.push("required".to_owned());
        }
        if !field["default"].is_null() {
            shape.push(format!("default {}", quoted(&field["default"])));
        }
        let says = described(field);
        _ = writeln!(page, "| `{path}` | {} | {says} |", shape.join("; "));
        rows(page, &path, field);
        if field["items"]["properties"].is_object() {
            rows(page, &format!("{path}[]"), &field["items"]);
        }
        if field["additionalProperties"]["properties"].is_object() {
            rows(page, &format!("{path}.*"), &field["additionalProperties"]);
        }
    }
}

/// What a value has to be.
fn shape(field: &Value) -> String {
    let listed = |of: &Value| {
        let values: Vec<String> = of.as_array().into_iter().flatten().map(quoted).collect();
        values.join(", ")
    };
    if field["enum"].is_array() {
        return format!("one of {}", listed(&field["enum"]));
    }
    match text(&field["type"]) {
        "array" => {
            let of = match text(&field["items"]["type"]) {
                "object" => "objects".to_owned(),
                _ => format!("each {}", shape(&field["items"])),
            };
            let least = field["minItems"].as_u64().map(|least| format!("{least} to"));
            let most = field["maxItems"].as_u64().map(|most| format!("{most}"));
            let bounds = match (least, most) {
                (Some(least), Some(most)) => format!(", {least} {most}"),
                (None, Some(most)) => format!(", at most {most}"),
                _ => String::new(),
            };
            format!("list{bounds}, {of}")
        }
        "object" if field["additionalProperties"].is_object() => "map".to_owned(),
        "string" if field["format"] == "date-time" => "instant, RFC 3339".to_owned(),
        "" => "any value".to_owned(),
        other => other.to_owned(),
    }
}

/// What a field says, and the rules that the API server keeps about it, on one line.
fn described(field: &Value) -> String {
    text(&field["description"]).split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// The rules between fields, in the words in which the API server refuses.
fn rules_of(page: &mut String, schema: &Value) {
    let mut rules = Vec::new();
    gather(&mut rules, "", schema);
    if rules.is_empty() {
        return;
    }
    page.push_str("## What the API server refuses\n\n");
    for (path, message) in rules {
        _ = writeln!(page, "- `{path}`: {message}");
    }
    page.push('\n');
}

fn gather<'a>(rules: &mut Vec<(String, &'a str)>, path: &str, schema: &'a Value) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let at = format!("{path}{}", text(&rule["fieldPath"]));
        let message = text(&rule["message"]);
        let told = (at.trim_start_matches('.').to_owned(), message);
        if !message.is_empty() && !rules.contains(&told) {
            rules.push(told);
        }
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        gather(rules, &format!("{path}.{name}"), field);
    }
    if schema["items"].is_object() {
        gather(rules, &format!("{path}[]"), &schema["items"]);
    }
}

/// What `kubectl get` shows.
fn columns(page: &mut String, version: &Value) {
    page.push_str("## Columns of `kubectl get`\n\n| column | | what it says |\n|---|---|---|\n");
    for column in version["additionalPrinterColumns"].as_array().into_iter().flatten() {
        let wide = if column["priority"].as_u64().unwrap_or(0) > 0 { "`-o wide`" } else { "" };
        _ = writeln!(page, "| {} | {wide} | {} |", text(&column["name"]), described(column));
    }
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
