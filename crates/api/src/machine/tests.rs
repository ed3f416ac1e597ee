use serde_json::json;

use super::*;

/// A `spec` as upstream writes it, and as it is written here.
fn check(given: &Value, written: &Value) {
    let spec: MachineConfigSpec = serde_json::from_value(given.clone()).unwrap();
    assert_eq!(&serde_json::to_value(&spec).unwrap(), written);
    let again: MachineConfigSpec = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(again, spec, "what is written is read back");
}

#[test]
fn nulls_and_empty_fields_are_left_out() {
    check(
        &json!({"config": null, "extensions": null, "fips": false, "kernelArguments": null,
                "kernelType": "", "osImageURL": "", "baseOSExtensionsContainerImage": ""}),
        &json!({}),
    );
    check(
        &json!({"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": null}, "systemd": null}}),
        &json!({"config": {"ignition": {"version": "3.2.0"}}}),
    );
    check(
        &json!({"config": {"ignition": {"version": "3.2.0"}, "systemd": {"units": [
            {"name": "a.service", "enabled": false, "dropins": []}]}}}),
        &json!({"config": {"ignition": {"version": "3.2.0"}, "systemd": {"units": [
            {"name": "a.service", "enabled": false}]}}}),
    );
}

/// NDP-1
#[test]
fn schema_of_disruption_policies_carries_its_rules() {
    let schema = machine_configuration_schema();
    let files = schema
        .pointer("/properties/spec/properties/nodeDisruptionPolicy/properties/files")
        .unwrap();
    let actions = files.pointer("/items/properties/actions").unwrap();
    assert_eq!(actions["x-tidegate-rules"].as_array().unwrap().len(), 2);
    assert_eq!(actions["items"]["x-tidegate-union"]["discriminator"], "type");
    assert_eq!(files["x-kubernetes-list-map-keys"], json!(["path"]));
}

#[test]
fn schemas_are_closed_where_a_misspelling_would_be_lost() {
    for part in ["/properties/spec", "/properties/spec/properties/fips"] {
        assert!(machine_config_schema().pointer(part).is_some(), "{part}");
    }
    assert_eq!(ignition_schema().pointer("/additionalProperties"), Some(&json!(false)));
    assert_eq!(
        ignition_schema()
            .pointer("/properties/storage/properties/files/items/additionalProperties"),
        Some(&json!(false))
    );
}
