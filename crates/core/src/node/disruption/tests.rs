use api::machine::{
    MachineConfigSpec,
    ignition::{File, Ignition, Unit, User},
};
use serde_json::{Value, json};

use super::*;
use crate::node::diff::diff;

fn policies(value: Value) -> Policies {
    serde_json::from_value(value).unwrap()
}

/// A configuration of these files, units and keys: each is `name=content`.
fn spec(files: &[&str], units: &[&str], keys: &[&str]) -> MachineConfigSpec {
    let split = |text: &str| {
        let (name, content) = text.split_once('=').unwrap();
        (name.to_owned(), content.to_owned())
    };
    let mut config = Ignition::default();
    for (path, content) in files.iter().copied().map(split) {
        let mut file = File { path, ..File::default() };
        file.contents.source = Some(format!("data:,{content}"));
        config.storage.files.push(file);
    }
    for (name, content) in units.iter().copied().map(split) {
        config.systemd.units.push(Unit { name, contents: Some(content), ..Unit::default() });
    }
    config.passwd.users.push(User {
        name: "core".into(),
        ssh_authorized_keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        ..User::default()
    });
    MachineConfigSpec { config: Some(config), ..MachineConfigSpec::default() }
}

fn shown(disruption: &Disruption) -> String {
    match disruption {
        Disruption::None => "none".into(),
        Disruption::Reboot(cause) => format!("reboot: {cause}"),
        Disruption::Actions(actions) => {
            let words = actions.iter().map(|action| match (&action.reload, &action.restart) {
                (Some(service), _) => format!("reload {}", service.service_name),
                (_, Some(service)) => format!("restart {}", service.service_name),
                (None, None) => format!("{:?}", action.kind),
            });
            words.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Changed files, units and keys, the administrator's policies, and what is done.
fn check(files: &[&str], units: &[&str], keys: &[&str], user: &Value, expected: &str) {
    let (before, after) = (spec(&[], &[], &[]), spec(files, units, keys));
    let whole = merged(&policies(user.clone()));
    let there = disruption(&diff(&before, &after), &whole);
    assert_eq!(shown(&there), expected, "{files:?} {units:?} {keys:?} {user}");
    let back = disruption(&diff(&after, &before), &whole);
    assert_eq!(back, there, "what goes disrupts as what comes");
}

/// NDP-1
#[test]
fn defaults_of_a_release_act_by_themselves() {
    let none = json!({});
    check(&[], &[], &[], &none, "none");
    check(&["/var/lib/kubelet/config.json=1"], &[], &[], &none, "none");
    check(&["/etc/containers/policy.json=1"], &[], &[], &none, "reload crio.service");
    check(&["/etc/containers/registries.d/x/y.yaml=1"], &[], &[], &none, "reload crio.service");
    check(&["/etc/containers/registries.conf=1"], &[], &[], &none, "Special");
    check(&["/etc/nmstate/openshift/a.yml=1"], &[], &[], &none, "none");
    check(
        &["/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt=1"],
        &[],
        &[],
        &none,
        "restart coreos-update-ca-trust.service, restart crio.service",
    );
    check(
        &[],
        &["iri-registry.service=1"],
        &[],
        &none,
        "DaemonReload, restart iri-registry.service",
    );
    check(&[], &[], &["key"], &none, "none");
}

/// NDP-1
#[test]
fn what_nothing_matches_reboots() {
    let none = json!({});
    check(
        &["/etc/containers/policy.json=1", "/etc/motd=1"],
        &[],
        &[],
        &none,
        "reboot: no node disruption policy names the file /etc/motd",
    );
    check(
        &["/etc/containers/registries.dd=1"],
        &[],
        &[],
        &none,
        "reboot: no node disruption policy names the file /etc/containers/registries.dd",
    );
    check(
        &[],
        &["x.service=1"],
        &[],
        &none,
        "reboot: no node disruption policy names the unit x.service",
    );
    let reboots = json!({"sshkey": {"actions": [{"type": "Reboot"}]}});
    check(
        &["/var/lib/kubelet/config.json=1"],
        &[],
        &["k"],
        &reboots,
        "reboot: a node disruption policy asks for it",
    );
}

/// NDP-1
#[test]
fn what_a_machine_boots_is_beyond_every_policy() {
    let all =
        merged(&policies(json!({"files": [{"path": "/etc", "actions": [{"type": "None"}]}]})));
    let base = MachineConfigSpec::default();
    let check = |change: fn(&mut MachineConfigSpec), field: &'static str| {
        let mut after = MachineConfigSpec::default();
        change(&mut after);
        let found = disruption(&diff(&base, &after), &all);
        assert_eq!(found, Disruption::Reboot(Cause::System(field)));
    };
    check(|spec| spec.os_image_url = "image".into(), "osImageURL");
    check(|spec| spec.kernel_arguments.push("a".into()), "kernelArguments");
    check(|spec| spec.kernel_type = "realtime".into(), "kernelType");
    check(|spec| spec.extensions.push("ipsec".into()), "extensions");
    check(|spec| spec.extensions_image = "image".into(), "extensions");
    check(|spec| spec.fips = true, "fips");
}

/// NDP-1
#[test]
fn several_matches_apply_in_order_and_the_longest_path_decides() {
    let user = json!({
        "files": [
            {"path": "/etc", "actions": [{"type": "Drain"}]},
            {"path": "/etc/app", "actions": [
                {"type": "Reload", "reload": {"serviceName": "my.service"}}, {"type": "DaemonReload"}]},
            {"path": "/etc/app/quiet", "actions": []},
        ],
        "units": [{"name": "x.service", "actions": [{"type": "Restart", "restart": {"serviceName": "x.service"}}]}],
        "sshkey": {"actions": [{"type": "Drain"}]},
    });
    check(&["/etc/app/a=1"], &[], &[], &user, "reload my.service, DaemonReload");
    check(&["/etc/app=1"], &[], &[], &user, "reload my.service, DaemonReload");
    check(&["/etc/apple=1"], &[], &[], &user, "Drain");
    check(&["/etc/app/quiet=1"], &[], &[], &user, "none");
    check(
        &["/etc/app/b=1", "/etc/app/a=1"],
        &["x.service=1"],
        &["key"],
        &user,
        "reload my.service, DaemonReload, reload my.service, DaemonReload, restart x.service, Drain",
    );
    check(
        &["/opt/a=1"],
        &[],
        &[],
        &user,
        "reboot: no node disruption policy names the file /opt/a",
    );
}

/// NDP-1
#[test]
fn entries_of_an_administrator_stand_over_those_of_the_release() {
    let user = policies(json!({
        "files": [
            {"path": "/etc/my-file", "actions": [{"type": "None"}]},
            {"path": "/etc/containers/policy.json", "actions": [{"type": "Reboot"}]},
        ],
        "units": [{"name": "iri-registry.service", "actions": [{"type": "None"}]}],
    }));
    let whole = merged(&user);
    let paths: Vec<&str> = whole.files.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(
        (paths.len(), paths[2], paths[13]),
        (14, "/etc/containers/policy.json", "/etc/my-file")
    );
    assert_eq!(whole.files[2].actions[0].kind, ActionKind::Reboot, "in its place");
    assert_eq!((whole.units.len(), whole.units[0].actions[0].kind), (1, ActionKind::None));
    assert_eq!(whole.sshkey, defaults().sshkey, "an empty list is no wish");
}

/// NDP-1
#[test]
fn a_policy_that_breaks_the_rules_names_its_field() {
    let check = |spec: Value, field: &str| {
        let problems = wanted(&json!({"spec": {"nodeDisruptionPolicy": spec}})).unwrap_err();
        assert_eq!(
            problems[0].field.to_string(),
            format!("spec.nodeDisruptionPolicy.{field}"),
            "{spec}"
        );
        assert!(problems[0].hint.is_some(), "{spec}");
    };
    let files = |actions: Value| json!({"files": [{"path": "/a", "actions": actions}]});
    check(files(json!([{"type": "Reboot"}, {"type": "Drain"}])), "files[0].actions[0]");
    check(files(json!([{"type": "Drain"}, {"type": "None"}])), "files[0].actions[1]");
    check(files(json!([{"type": "Special"}])), "files[0].actions[0].type");
    check(files(json!([{"type": "Explode"}])), "files[0].actions[0].type");
    check(files(json!([{"type": "Reload"}])), "files[0].actions[0]");
    check(
        files(json!([{"type": "Drain", "restart": {"serviceName": "a.service"}}])),
        "files[0].actions[0].restart",
    );
    check(
        files(json!([{"type": "Reload", "reload": {"serviceName": "a@b.service"}}])),
        "files[0].actions[0].reload.serviceName",
    );
    check(json!({"units": [{"name": "x", "actions": []}]}), "units[0].name");
    check(
        json!({"files": [{"path": "/a", "actions": []}, {"path": "/a", "actions": []}]}),
        "files[1].path",
    );
    check(json!({"sshkey": {"actions": [{"type": "Special"}]}}), "sshkey.actions[0].type");
    let many: Vec<Value> =
        (0..51).map(|n| json!({"path": format!("/{n}"), "actions": []})).collect();
    check(json!({"files": many}), "files");
}

/// NDP-1
#[test]
fn a_word_of_a_newer_release_is_a_reboot() {
    let newer =
        policies(json!({"files": [{"path": "/etc/a", "actions": [{"type": "Hibernate"}]}]}));
    let (before, after) = (spec(&[], &[], &[]), spec(&["/etc/a=1"], &[], &[]));
    assert_eq!(disruption(&diff(&before, &after), &newer), Disruption::Reboot(Cause::Policy));
}
