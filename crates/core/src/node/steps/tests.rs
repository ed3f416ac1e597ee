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

fn word(step: &Step<'_>) -> String {
    match step {
        Step::WriteFile(file) => format!("write {}", file.path),
        Step::RemoveFile(path) => format!("remove {path}"),
        Step::WriteUnit { before, after } => {
            let verb = if before.is_some() { "change" } else { "add" };
            format!("{verb} {}", after.name)
        }
        Step::RemoveUnit(unit) => format!("remove {}", unit.name),
        Step::WriteUsers(passwd) => format!("{} users", passwd.users.len()),
        Step::OsImage(images) => format!("image {}", images.after),
        Step::KernelArguments(arguments) => format!("arguments {}", arguments.after.join(" ")),
        Step::KernelType(kernels) => format!("kernel {}", kernels.after),
        Step::Extensions(extensions) => format!("extensions {}", extensions.after.join(" ")),
        Step::Reload(service) => format!("reload {service}"),
        Step::Restart(service) => format!("restart {service}"),
        plain => format!("{plain:?}"),
    }
}

fn check(before: &Value, after: &Value, policies: &Policies, expected: &[&str]) {
    let (before, after) = (spec(before), spec(after));
    let found = steps(&before, &after, policies);
    let words: Vec<String> = found.list.iter().map(word).collect();
    assert_eq!(words, expected);
    assert_eq!(found.cause.is_some(), expected.contains(&"Reboot"));
}

/// NODE-2
#[test]
fn everything_at_once_goes_in_one_order_around_one_reboot() {
    let before = config(&json!({
        "storage": {"files": [file("/etc/gone", "1"), file("/etc/same", "1"), file("/etc/b", "1")]},
        "systemd": {"units": [{"name": "gone.service", "contents": "x"}, {"name": "y.service", "enabled": true}]},
    }));
    let mut after = config(&json!({
        "storage": {"files": [file("/etc/same", "1"), file("/etc/b", "2"), file("/etc/a", "1")]},
        "systemd": {"units": [{"name": "y.service", "enabled": false}, {"name": "new.service", "contents": "x"}]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k"]}]},
    }));
    after["osImageURL"] = "i2".into();
    after["kernelArguments"] = json!(["a", "b"]);
    after["kernelType"] = "realtime".into();
    after["extensions"] = json!(["ipsec"]);
    check(
        &before,
        &after,
        &defaults(),
        &[
            "Drain",
            "write /etc/a",
            "write /etc/b",
            "remove /etc/gone",
            "remove gone.service",
            "add new.service",
            "change y.service",
            "1 users",
            "image i2",
            "arguments a b",
            "kernel realtime",
            "extensions ipsec",
            "RecordCurrent",
            "Reboot",
            "Uncordon",
        ],
    );
}

/// NDP-1
#[test]
fn policies_spare_the_machine_what_they_name() {
    let files = |list: Vec<Value>| config(&json!({"storage": {"files": list}}));
    let none = files(vec![]);
    check(&none, &none, &defaults(), &["RecordCurrent"]);
    check(
        &none,
        &files(vec![file("/var/lib/kubelet/config.json", "1")]),
        &defaults(),
        &["write /var/lib/kubelet/config.json", "RecordCurrent"],
    );
    check(
        &none,
        &files(vec![file("/etc/containers/policy.json", "1")]),
        &defaults(),
        &["write /etc/containers/policy.json", "RecordCurrent", "reload crio.service"],
    );
    let user = serde_json::from_value(json!({"files": [{"path": "/etc/app", "actions": [
        {"type": "Drain"}, {"type": "DaemonReload"},
        {"type": "Restart", "restart": {"serviceName": "app.service"}}]}]}));
    check(
        &none,
        &files(vec![file("/etc/app/x", "1")]),
        &merged(&user.unwrap()),
        &[
            "Drain",
            "write /etc/app/x",
            "RecordCurrent",
            "DaemonReload",
            "restart app.service",
            "Uncordon",
        ],
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
    let write = "write /etc/containers/registries.conf";
    check(&one, &two, &defaults(), &[write, "RecordCurrent", "reload crio.service"]);
    check(
        &two,
        &one,
        &defaults(),
        &["Drain", write, "RecordCurrent", "reload crio.service", "Uncordon"],
    );
    let none = config(&json!({}));
    check(
        &none,
        &one,
        &defaults(),
        &["Drain", write, "RecordCurrent", "reload crio.service", "Uncordon"],
    );
}
