//! How does a cluster without the upstream operator learn of these kinds? Their definitions, made from the types.
//!
//! Where upstream is installed it brings its own, and these are not needed.

use serde_json::{Value, json};

use super::{machine_config_schema, machine_configuration_schema, names};
use crate::{crds::structural, names::plural};

/// The definition of every kind here.
pub fn definitions() -> [Value; 2] {
    [machine_config(), machine_configuration()]
}

fn machine_config() -> Value {
    let columns = json!([
        {"name": "GeneratedByController", "type": "string",
         "jsonPath": ".metadata.annotations.machineconfiguration\\.openshift\\.io/generated-by-controller-version",
         "description": "The controller that made it"},
        {"name": "IgnitionVersion", "type": "string", "jsonPath": ".spec.config.ignition.version",
         "description": "The version of the format"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
         "description": "When it was created"},
    ]);
    let version = json!({
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": structural(machine_config_schema())},
    });
    definition(names::MACHINE_CONFIG, names::API_VERSION, &["mc"], version)
}

fn machine_configuration() -> Value {
    let version = json!({
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": structural(machine_configuration_schema())},
    });
    definition(names::MACHINE_CONFIGURATION, names::OPERATOR_API_VERSION, &[], version)
}

fn definition(kind: &str, api_version: &str, short_names: &[&str], mut version: Value) -> Value {
    let (group, name) = api_version.split_once('/').unwrap_or(("", api_version));
    for (key, value) in [("name", json!(name)), ("served", json!(true)), ("storage", json!(true))] {
        version[key] = value;
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{group}", plural(kind))},
        "spec": {
            "group": group,
            "names": {
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural(kind),
                "singular": kind.to_lowercase(),
                "shortNames": short_names,
            },
            "scope": "Cluster",
            "versions": [version],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(schema: &Value, path: &str) {
        assert!(schema["type"].is_string(), "{path}: {schema}");
        assert!(schema.get("additionalProperties") != Some(&json!(false)), "{path}");
        let ours = schema.as_object().unwrap().keys().find(|key| key.starts_with("x-tidegate"));
        assert_eq!(ours, None, "{path}");
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            assert!(name == "metadata" || inner["description"].is_string(), "{path}");
            visit(inner, &path);
        }
        if let Some(inner) = schema.get("items") {
            visit(inner, &format!("{path}[]"));
        }
    }

    #[test]
    fn definitions_are_structural_and_documented() {
        for definition in definitions() {
            let name = definition["metadata"]["name"].as_str().unwrap();
            visit(&definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"], name);
        }
    }

    /// NDP-1
    #[test]
    fn server_itself_refuses_what_a_policy_may_not_ask_for() {
        let [_, configuration] = definitions();
        let schema = &configuration["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let policy = &schema["properties"]["spec"]["properties"]["nodeDisruptionPolicy"];
        let rules = |part: &Value| part["x-kubernetes-validations"].as_array().map_or(0, Vec::len);
        assert_eq!(rules(schema), 1, "one name");
        assert_eq!(rules(policy), 4, "fifty entries, nothing special");
        let actions = &policy["properties"]["files"]["items"]["properties"]["actions"];
        assert_eq!(
            (rules(actions), rules(&actions["items"])),
            (2, 4),
            "alone, and a service exactly with its type"
        );
    }

    #[test]
    fn whatever_ignition_holds_reaches_the_judge() {
        let [config, _] = definitions();
        let schema = &config["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let part = &schema["properties"]["spec"]["properties"]["config"];
        assert_eq!(part["x-kubernetes-preserve-unknown-fields"], true);
        assert_eq!(part.get("properties"), None);
    }
}
