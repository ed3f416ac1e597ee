#![expect(clippy::needless_pass_by_value, reason = "rows are written in place")]

use serde_json::{Value, json};

use super::*;

fn laid_out(config: Value) -> Result<Layout, Vec<String>> {
    let mut config = config;
    config["ignition"] = json!({"version": "3.5.0"});
    let spec = serde_json::from_value(json!({"config": config})).unwrap();
    let accounts = Accounts::parse("core:x:1000:1001::/var/core:/bin/sh", "wheel:x:10:");
    Layout::of(&spec, &accounts)
}

fn check(config: Value, expected: &[&str]) {
    let shown = config.to_string();
    let faults = laid_out(config).err().unwrap_or_default();
    assert_eq!(faults, expected, "{shown}");
}

fn file(fields: Value) -> Value {
    json!({"storage": {"files": [fields]}})
}

#[test]
fn what_a_host_must_not_take_is_refused_by_name() {
    check(file(json!({"path": "/etc/a"})), &[]);
    check(file(json!({"path": "/usr/local/bin/a", "mode": 493})), &[]);
    let folders = "/etc, /home, /mnt, /opt, /root, /srv, /usr/local, /var";
    for path in
        ["/proc/sys/x", "/usr/bin/sudo", "/boot/grub2/grub.cfg", "/etc", "/run/x", "/dev/sda"]
    {
        let fault = format!("{path:?} is in no folder that a configuration may write ({folders})");
        check(file(json!({"path": path})), &[&fault]);
    }
    check(
        file(json!({"path": "/etc/../usr/bin/sudo"})),
        &["\"/etc/../usr/bin/sudo\" is not a plain absolute path"],
    );
    check(
        file(json!({"path": "/var/lib/tidegate-agent/journal.json"})),
        &["\"/var/lib/tidegate-agent/journal.json\" belongs to the agent"],
    );
    check(
        file(json!({"path": "/etc/a", "mode": 2541})),
        &["the mode 4755 of \"/etc/a\" would let whoever runs it become another"],
    );
    check(
        file(json!({"path": "/etc/a", "user": {"name": "nobody"}})),
        &["/etc/a: no such user here"],
    );
    check(
        file(json!({"path": "/etc/a", "group": {"name": "nobody"}})),
        &["/etc/a: no such group here"],
    );
    check(
        file(json!({"path": "/etc/a", "contents": {"source": "data:;base64,@@"}})),
        &["/etc/a: the content is not valid base64: Invalid symbol 64, offset 0."],
    );
}

#[test]
fn every_fault_is_named_and_not_only_the_first() {
    let config = json!({
        "storage": {"files": [{"path": "etc/a"}, {"path": "/etc/b"}, {"path": "/etc/b"}]},
        "systemd": {"units": [{"name": "../../x.service", "contents": "x"}]},
        "passwd": {"users": [
            {"name": "root", "sshAuthorizedKeys": ["k"]},
            {"name": "core", "passwordHash": "x:0:0"},
            {"name": "core", "sshAuthorizedKeys": ["one\ntwo"]},
        ]},
    });
    check(
        config,
        &[
            "\"etc/a\" is not a plain absolute path",
            "/etc/b: is given twice",
            "\"/etc/systemd/system/../../x.service\" is not a plain absolute path",
            "user root: only core can change on a running host",
            "the password of \"core\" is no hash",
            "a key of \"core\" is more than one line",
        ],
    );
}

#[test]
fn units_keys_and_owners_come_to_files() {
    let layout = laid_out(json!({
        "storage": {"files": [{"path": "/etc/a", "user": {"name": "core"}, "group": {"name": "wheel"},
                               "contents": {"source": "data:,a"}, "mode": 384}]},
        "systemd": {"units": [
            {"name": "a.service", "contents": "x", "enabled": true, "dropins": [{"name": "b.conf", "contents": "y"}]},
            {"name": "m.service", "mask": true, "contents": "ignored", "enabled": true},
            {"name": "s.service", "enabled": false},
        ]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k1 ", "k2", "k1"]}]},
    }))
    .unwrap();
    let shown: Vec<String> = layout
        .entries
        .iter()
        .map(|(path, entry)| match entry {
            Entry::File(File { content, mode, uid, gid }) => {
                format!("{path} {mode:o} {uid}:{gid} {:?}", String::from_utf8_lossy(content))
            }
            Entry::Link(target) => format!("{path} -> {target}"),
            Entry::Absent => format!("{path} absent"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/etc/a 600 1000:10 \"a\"",
            "/etc/systemd/system/a.service 644 0:0 \"x\"",
            "/etc/systemd/system/a.service.d/b.conf 644 0:0 \"y\"",
            "/etc/systemd/system/m.service -> /dev/null",
            "/var/core/.ssh/authorized_keys.d/ignition 600 1000:1001 \"k1\\nk2\\n\"",
        ]
    );
    let folders: Vec<String> = layout
        .folders
        .iter()
        .map(|(path, Folder { mode, uid, gid })| format!("{path} {mode:o} {uid}:{gid}"))
        .collect();
    assert_eq!(
        folders,
        [
            "/var/core 700 1000:1001",
            "/var/core/.ssh 700 1000:1001",
            "/var/core/.ssh/authorized_keys.d 700 1000:1001"
        ]
    );
    let starting: Vec<(&str, Starting)> =
        layout.units.iter().map(|(name, starting)| (name.as_str(), *starting)).collect();
    assert_eq!(
        starting,
        [
            ("a.service", Starting::Enabled),
            ("m.service", Starting::Unsaid),
            ("s.service", Starting::Disabled)
        ]
    );
}
