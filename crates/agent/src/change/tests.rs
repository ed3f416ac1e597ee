use serde_json::{Value, json};

use super::*;
use crate::accounts::Accounts;

fn spec(value: &Value) -> MachineConfigSpec {
    serde_json::from_value(value.clone()).unwrap()
}

fn between(old: &Value, new: &Value) -> Change {
    let layout = |value| Layout::of(&spec(value), &Accounts::default()).unwrap();
    Change::between(&layout(old).outline(), layout(new))
}

fn config(parts: Value) -> Value {
    let mut config = parts;
    config["ignition"] = json!({"version": "3.5.0"});
    json!({"config": config})
}

#[test]
fn nothing_differs_between_a_configuration_and_itself() {
    let one = config(json!({"storage": {"files": [{"path": "/etc/a"}]},
        "systemd": {"units": [{"name": "a.service", "enabled": true}]}}));
    assert_eq!(between(&one, &one), Change::default());
}

#[test]
fn a_mode_alone_is_a_difference() {
    let one = config(json!({"storage": {"files": [{"path": "/etc/a", "mode": 384}]}}));
    let other = config(json!({"storage": {"files": [{"path": "/etc/a", "mode": 420}]}}));
    assert_eq!(between(&one, &other).edits.len(), 1);
}

#[test]
fn units_that_go_are_disabled_while_their_files_are_there() {
    let unit = |name: &str, enabled: Value| {
        config(json!({"systemd": {"units": [{"name": name, "enabled": enabled}]}}))
    };
    let check = |old: &Value, new: &Value, leaving: &[&str], units: &[(UnitVerb, &str)]| {
        let change = between(old, new);
        assert_eq!(change.leaving, leaving);
        let found: Vec<(UnitVerb, &str)> =
            change.units.iter().map(|(verb, name)| (*verb, name.as_str())).collect();
        assert_eq!(found, units);
    };
    let (on, off, unsaid) = (json!(true), json!(false), Value::Null);
    let none = config(json!({}));
    check(&unit("a.service", on.clone()), &none, &["a.service"], &[]);
    check(&unit("a.service", off.clone()), &none, &[], &[]);
    check(&none, &unit("a.service", on.clone()), &[], &[(UnitVerb::Enable, "a.service")]);
    check(
        &unit("a.service", on.clone()),
        &unit("a.service", off),
        &[],
        &[(UnitVerb::Disable, "a.service")],
    );
    check(&unit("a.service", on), &unit("a.service", unsaid), &[], &[]);
}

#[test]
fn arguments_of_the_kernel_come_and_go_one_by_one() {
    let check = |old: &[&str], new: &[&str], remove: &[&str], append: &[&str]| {
        let change = between(&json!({"kernelArguments": old}), &json!({"kernelArguments": new}));
        assert_eq!(change.kernel_arguments.remove, remove);
        assert_eq!(change.kernel_arguments.append, append);
        assert_eq!(change.needs_reboot(), !(remove.is_empty() && append.is_empty()));
    };
    check(&["quiet"], &["quiet"], &[], &[]);
    check(&["quiet", "a=1"], &["a=2"], &["quiet", "a=1"], &["a=2"]);
    check(&[], &["a b=1"], &[], &["a", "b=1"]);
}

#[test]
fn what_cannot_change_on_a_running_host_is_named() {
    let check = |old: Value, new: Value, expected: &[&str]| {
        assert_eq!(obstacles(&spec(&old), &spec(&new)), expected);
    };
    check(json!({}), json!({"kernelType": "default", "kernelArguments": ["quiet"]}), &[]);
    check(
        json!({}),
        json!({"fips": true, "kernelType": "realtime", "extensions": ["usbguard"]}),
        &[
            "fips can only be decided when a machine is installed",
            "kernelType realtime: this agent exchanges no kernels",
            "extensions: this agent installs no packages",
        ],
    );
}
