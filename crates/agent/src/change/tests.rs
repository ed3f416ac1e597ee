use serde_json::{Value, json};

use super::*;
use crate::accounts::Accounts;

fn spec(value: &Value) -> MachineConfigSpec {
    serde_json::from_value(value.clone()).unwrap()
}

fn between(old: &Value, new: &Value) -> HostChange {
    let layout = |value| Layout::of(&spec(value), &Accounts::default()).unwrap();
    HostChange::between(&layout(old).outline(), layout(new), Remembered::default())
}

fn units(words: &[(UnitVerb, String)]) -> String {
    let shown: Vec<String> =
        words.iter().map(|(verb, name)| format!("{} {name}", verb.as_str())).collect();
    shown.join(", ")
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
    assert_eq!(between(&one, &one), HostChange::default());
}

#[test]
fn a_mode_alone_is_a_difference() {
    let one = config(json!({"storage": {"files": [{"path": "/etc/a", "mode": 384}]}}));
    let other = config(json!({"storage": {"files": [{"path": "/etc/a", "mode": 420}]}}));
    assert_eq!(between(&one, &other).edits.len(), 1);
}

fn unit(fields: &Value) -> Value {
    let mut unit = fields.clone();
    unit["name"] = "a.service".into();
    config(json!({"systemd": {"units": [unit]}}))
}

/// A configuration that says nothing of a unit any more leaves it as it was before any configuration.
#[test]
fn units_start_by_themselves_as_they_did_before() {
    let check = |old: &Value, new: &Value, found: Option<UnitState>, expected: [&str; 3]| {
        let layout = |value| Layout::of(&spec(value), &Accounts::default()).unwrap();
        let remembered: Vec<(String, UnitState)> =
            found.into_iter().map(|state| ("a.service".to_owned(), state)).collect();
        let remembered = Remembered { units: &remembered, folders: &[] };
        let change = HostChange::between(&layout(old).outline(), layout(new), remembered);
        let shown = [change.leaving.join(", "), units(&change.units), units(&change.returning)];
        assert_eq!(shown, expected, "{old} to {new}, found {found:?}");
    };
    let (none, unsaid) = (config(json!({})), unit(&json!({})));
    let (on, off) = (unit(&json!({"enabled": true})), unit(&json!({"enabled": false})));
    let ours = unit(&json!({"enabled": true, "contents": "[Install]"}));
    let ours_off = unit(&json!({"enabled": false, "contents": "[Install]"}));
    let (enabled, disabled) = (Some(UnitState::Enabled), Some(UnitState::Disabled));
    let neither = Some(UnitState::Neither);
    // It comes.
    check(&none, &on, None, ["", "enable a.service", ""]);
    check(&none, &off, None, ["", "disable a.service", ""]);
    check(&on, &off, disabled, ["", "disable a.service", ""]);
    check(&off, &on, disabled, ["", "enable a.service", ""]);
    // It goes.
    for gone in [&none, &unsaid] {
        check(&on, gone, enabled, ["", "", ""]);
        check(&on, gone, disabled, ["a.service", "", ""]);
        check(&off, gone, enabled, ["", "", "enable a.service"]);
        check(&off, gone, disabled, ["", "", ""]);
        check(&ours, gone, neither, ["a.service", "", ""]);
        // The file of the distribution is seen again, and it may say something else about what starts it.
        check(&ours, gone, enabled, ["", "", "reenable a.service"]);
    }
    // Nobody knows what it was: it came with the host.
    check(&on, &none, None, ["", "", "preset a.service"]);
    check(&off, &none, None, ["", "", "preset a.service"]);
    check(&ours, &none, None, ["a.service", "", ""]);
    check(&ours_off, &none, None, ["", "", ""]);
    check(&on, &unsaid, None, ["", "", ""]);
}

#[test]
fn what_starts_a_unit_is_read_again_when_its_files_change() {
    let check = |old: &Value, new: &Value, expected: &str| {
        assert_eq!(units(&between(old, new).units), expected, "{old} to {new}");
    };
    let text = |target: &str| format!("[Install]\nWantedBy={target}\n");
    let one = unit(&json!({"enabled": true, "contents": text("multi-user.target")}));
    let other = unit(&json!({"enabled": true, "contents": text("basic.target")}));
    let more = unit(&json!({"enabled": true, "contents": text("multi-user.target"),
        "dropins": [{"name": "a.conf", "contents": text("basic.target")}]}));
    check(&one, &one, "");
    check(&one, &other, "reenable a.service");
    check(&one, &more, "reenable a.service");
    check(&more, &one, "reenable a.service");
    check(&unit(&json!({"contents": "x"})), &one, "reenable a.service");
    check(&unit(&json!({"enabled": false, "contents": "x"})), &one, "enable a.service");
    let of = |path: &str, name: &str| is_of_unit(&HostPath::parse(path).unwrap(), name);
    assert!(of("/etc/systemd/system/g@.service", "g@tty1.service"), "the template of an instance");
    assert!(of("/etc/systemd/system/g@.service.d/a.conf", "g@tty1.service"));
    assert!(!of("/etc/systemd/system/a.service", "b.service"));
    assert!(!of("/etc/systemd/system/a.service.wants/x", "a.service"));
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
            "fips can only be decided when a node is installed",
            "kernelType realtime: this agent exchanges no kernels",
            "extensions: this agent installs no packages",
        ],
    );
}
