use serde_json::{Value, json};

use super::*;
use crate::node::disruption::{defaults, merged};

fn spec(value: &Value) -> MachineConfigSpec {
    serde_json::from_value(value.clone()).unwrap()
}

fn config(parts: &Value) -> Value {
    let mut config = json!({"ignition": {"version": "3.5.0"}});
    for (key, part) in parts.as_object().unwrap() {
        config[key] = part.clone();
    }
    json!({"config": config})
}

fn file(path: &str, text: &str) -> Value {
    json!({"path": path, "contents": {"source": format!("data:,{text}")}})
}

fn word(deed: &Deed) -> String {
    match deed {
        Deed::Reload(service) => format!("reload {service}"),
        Deed::Restart(service) => format!("restart {service}"),
        plain @ (Deed::DaemonReload | Deed::Reboot) => format!("{plain:?}"),
    }
}

fn check(before: &Value, after: &Value, policies: &Policies, drain: Drain, expected: &[&str]) {
    let found = around(&spec(before), &spec(after), policies);
    let words: Vec<String> = found.deeds.iter().map(word).collect();
    assert_eq!(
        (found.drain, words.as_slice()),
        (drain, expected.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice())
    );
}

/// NDP-1
#[test]
fn everything_at_once_is_one_reboot() {
    let before = config(&json!({
        "storage": {"files": [file("/etc/gone", "1"), file("/etc/b", "1")]},
        "systemd": {"units": [{"name": "gone.service", "contents": "x"}]},
    }));
    let mut after = config(&json!({
        "storage": {"files": [file("/etc/b", "2"), file("/etc/a", "1")]},
        "systemd": {"units": [{"name": "new.service", "contents": "x"}]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k"]}]},
    }));
    after["osImageURL"] = "i2".into();
    after["kernelArguments"] = json!(["a", "b"]);
    check(&before, &after, &defaults(), Drain::Needed, &["Reboot"]);
}

/// NDP-1
#[test]
fn policies_spare_the_machine_what_they_name() {
    let files = |list: Vec<Value>| config(&json!({"storage": {"files": list}}));
    let none = files(vec![]);
    check(&none, &none, &defaults(), Drain::NotNeeded, &[]);
    let one = |path: &str| files(vec![file(path, "1")]);
    let quiet = Drain::NotNeeded;
    check(&none, &one("/var/lib/kubelet/config.json"), &defaults(), quiet, &[]);
    let reload = &["reload crio.service"];
    check(&none, &one("/etc/containers/policy.json"), &defaults(), quiet, reload);
    let user = serde_json::from_value(json!({"files": [{"path": "/etc/app", "actions": [
        {"type": "Drain"}, {"type": "DaemonReload"},
        {"type": "Restart", "restart": {"serviceName": "app.service"}}]}]}));
    check(
        &none,
        &one("/etc/app/x"),
        &merged(&user.unwrap()),
        Drain::Needed,
        &["DaemonReload", "restart app.service"],
    );
}

/// NDP-1
#[test]
fn registries_drain_unless_only_mirrors_came() {
    let text = |mirror: &str| {
        let toml = format!(
            "[[registry]]\nlocation = \"q\"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = \"m\"\n{mirror}"
        );
        let escaped = toml.replace('%', "%25").replace('\n', "%0A").replace('"', "%22");
        config(&json!({"storage": {"files": [file(REGISTRIES, &escaped)]}}))
    };
    let (one, two) = (text(""), text("[[registry.mirror]]\nlocation = \"m2\"\n"));
    let reload = &["reload crio.service"];
    check(&one, &two, &defaults(), Drain::NotNeeded, reload);
    check(&two, &one, &defaults(), Drain::Needed, reload);
    check(&config(&json!({})), &one, &defaults(), Drain::Needed, reload);
}
