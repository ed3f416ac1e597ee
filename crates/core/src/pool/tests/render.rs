//! What pools are rendered to, and what is refused: rows of sources.

use api::machine::{MachineConfigSpec, names};
use serde_json::{Value, json};

use super::world::{World, file_source, noon, open, shut};
use crate::{
    document::problem::Code,
    node::content,
    pool::{
        Effect,
        merge::Base,
        render::{Fresh, LARGEST, Rendering, render},
        seen::SeenPool,
        source::{Rendered, SeenConfig, Source},
    },
};

fn pool(name: &str, selector: &Value) -> SeenPool {
    SeenPool::new(&json!({
        "metadata": {"name": name, "uid": "u"},
        "spec": {"machineConfigSelector": selector},
    }))
}

fn worker() -> SeenPool {
    pool("worker", &json!({"matchLabels": {names::ROLE: "worker"}}))
}

fn source(name: &str, role: &str, spec: &Value) -> Source {
    let document = json!({"metadata": {"name": name, "labels": {names::ROLE: role}}, "spec": spec});
    let SeenConfig::Source(source) = SeenConfig::new(&document) else { panic!("{name}") };
    source
}

fn ignition(parts: &Value) -> Value {
    let mut config = json!({"ignition": {"version": "3.2.0"}});
    for (key, part) in parts.as_object().unwrap() {
        config[key] = part.clone();
    }
    json!({"config": config})
}

fn rendered(pool: &SeenPool, sources: &[Source]) -> Fresh {
    let Rendering { config, problems } = render(pool, sources, &Base::default(), None);
    assert_eq!(problems, []);
    config.unwrap()
}

fn text_of(spec: &MachineConfigSpec, path: &str) -> String {
    let files = &spec.config.as_ref().unwrap().storage.files;
    let file = files.iter().find(|file| file.path == path).unwrap();
    String::from_utf8(content::bytes(&file.contents).unwrap().into_owned()).unwrap()
}

fn file(path: &str, text: &str) -> Value {
    ignition(&json!({"storage": {"files": [
        {"path": path, "mode": 420, "contents": {"source": format!("data:,{text}")}}]}}))
}

#[test]
fn own_configurations_of_a_custom_pool_win_over_what_it_inherits() {
    let infra = pool(
        "infra",
        &json!({"matchExpressions": [
            {"key": names::ROLE, "operator": "In", "values": ["worker", "infra"]}]}),
    );
    let sources = [
        source("99-late", "worker", &file("/etc/a", "worker")),
        source("01-early", "infra", &file("/etc/a", "infra")),
        source("50-master", "master", &file("/etc/a", "master")),
    ];
    let fresh = rendered(&infra, &sources);
    assert_eq!(text_of(&fresh.spec, "/etc/a"), "infra");
    let merged: Vec<&str> = fresh.sources.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(merged, ["99-late", "01-early"]);
}

#[test]
fn later_configurations_win_field_by_field() {
    let unit = |unit: Value| ignition(&json!({"systemd": {"units": [unit]}}));
    let sources = [
        source("10-a", "worker", &file("/etc/a", "1")),
        source(
            "20-b",
            "worker",
            &ignition(&json!({"storage": {"files": [{"path": "/etc/a", "mode": 384}]}})),
        ),
        source(
            "30-c",
            "worker",
            &unit(json!({"name": "x.service", "enabled": true, "contents": "[Unit]",
                         "dropins": [{"name": "10-x.conf", "contents": "one"}]})),
        ),
        source(
            "40-d",
            "worker",
            &unit(json!({"name": "x.service", "enabled": false, "mask": true,
                         "dropins": [{"name": "10-x.conf", "contents": ""},
                                     {"name": "20-y.conf", "contents": "two"}]})),
        ),
        source(
            "50-keys",
            "worker",
            &ignition(&json!({"passwd": {"users": [
                {"name": "core", "sshAuthorizedKeys": ["one", "two"]}]}})),
        ),
        source(
            "60-keys",
            "worker",
            &ignition(&json!({"passwd": {"users": [
                {"name": "core", "passwordHash": "h", "sshAuthorizedKeys": ["two", "three"]}]}})),
        ),
        source(
            "70-kernel",
            "worker",
            &json!({"kernelArguments": ["a", "b"], "kernelType": "realtime"}),
        ),
        source(
            "80-kernel",
            "worker",
            &json!({"kernelArguments": ["b"], "kernelType": "default", "extensions": ["usbguard"],
                    "osImageURL": "image-of-a-user"}),
        ),
    ];
    let fresh = rendered(&worker(), &sources);
    assert_eq!(
        serde_json::to_value(&fresh.spec).unwrap(),
        json!({
            "osImageURL": "image-of-a-user",
            "config": {
                "ignition": {"version": "3.5.0"},
                "passwd": {"users": [{"name": "core", "passwordHash": "h",
                                      "sshAuthorizedKeys": ["one", "two", "three"]}]},
                "storage": {"files": [{"path": "/etc/a", "overwrite": true, "mode": 384,
                                       "contents": {"source": "data:,1"}}]},
                "systemd": {"units": [{"name": "x.service", "enabled": false, "mask": true,
                    "contents": "[Unit]",
                    "dropins": [{"name": "10-x.conf", "contents": ""},
                                {"name": "20-y.conf", "contents": "two"}]}]},
            },
            "kernelArguments": ["a", "b", "b"],
            "extensions": ["usbguard"],
            "kernelType": "realtime",
        })
    );
}

#[test]
fn image_of_a_generated_configuration_is_the_one_of_the_release() {
    let base = Base {
        os_image_url: "image-of-the-release".into(),
        controller_version: "v7".into(),
        ..Base::default()
    };
    let mut generated = source("00-worker", "worker", &json!({"osImageURL": "stale"}));
    generated.generated_by = Some("v7".into());
    let whole = render(&worker(), [&generated], &base, None).config.unwrap();
    assert_eq!(whole.spec.os_image_url, "image-of-the-release");
    generated.generated_by = Some("v6".into());
    let refused = render(&worker(), [&generated], &base, None);
    assert_eq!(refused.config, None);
    assert_eq!(refused.problems[0].object.as_ref().unwrap().to_string(), "MachineConfig/00-worker");
}

#[test]
fn name_tells_the_content_and_nothing_else() {
    let one = source("10-a", "worker", &file("/etc/a", "1"));
    let mut same = one.clone();
    same.bypass = Some("yes".into());
    let fresh = rendered(&worker(), std::slice::from_ref(&one));
    assert!(fresh.name.starts_with("rendered-worker-"));
    assert_eq!(fresh.name.len(), "rendered-worker-".len() + 32);
    assert_eq!(rendered(&worker(), &[same]).name, fresh.name);
    let other = source("10-a", "worker", &file("/etc/a", "2"));
    assert_ne!(rendered(&worker(), &[other]).name, fresh.name);
    // A name is a promise: one that changes with a release rolls every node.
    assert_eq!(fresh.name, "rendered-worker-64b086526faaf32a967ce80280e7b305");
}

/// POOL-5
#[test]
fn rendered_object_is_owned_by_its_pool_and_says_what_its_sources_held() {
    let one = source("10-a", "worker", &file("/etc/a", "1"));
    let document =
        rendered(&worker(), std::slice::from_ref(&one)).document(&worker(), &Base::default());
    assert_eq!(document["metadata"]["labels"], Value::Null);
    let SeenConfig::Rendered(stored) = SeenConfig::new(&document) else { panic!("is a source") };
    assert_eq!(stored.pool, "worker");
    assert!(stored.contains(&one));
    assert!(!stored.contains(&source("10-a", "worker", &file("/etc/a", "2"))));
}

/// A specification, and the field and the words of the problem that refuses it.
fn check_refused(spec: &Value, field: &str, words: &str) {
    let broken = source("50-broken", "worker", spec);
    let fine = source("10-fine", "worker", &file("/etc/a", "1"));
    let Rendering { config, problems } =
        render(&worker(), [&broken, &fine], &Base::default(), None);
    assert_eq!(config, None, "{spec}");
    let [problem] = problems.as_slice() else { panic!("{spec}: {problems:?}") };
    assert_eq!(problem.object.as_ref().unwrap().to_string(), "MachineConfig/50-broken");
    assert_eq!(problem.field.to_string(), field, "{spec}");
    assert!(problem.detail.contains(words), "{spec}: {}", problem.detail);
    let plain = problem.code == Code::WrongType;
    assert!(plain || problem.hint.is_some(), "{spec}");
}

#[test]
fn broken_ignition_is_refused_with_object_and_field() {
    let config = |parts: &Value| ignition(parts);
    check_refused(
        &json!({"config": {"ignition": {"version": "2.2.0"}}}),
        "spec.config.ignition.version",
        "\"2.2.0\" of Ignition is not understood",
    );
    check_refused(
        &json!({"config": {"ignition": {}}}),
        "spec.config.ignition",
        "version is missing",
    );
    for part in ["directories", "links", "disks", "filesystems", "raid", "luks"] {
        check_refused(
            &config(&json!({"storage": {part: [{"path": "/x"}]}})),
            &format!("spec.config.storage.{part}"),
            part,
        );
    }
    check_refused(
        &config(&json!({"storage": {"fils": []}})),
        "spec.config.storage.fils",
        "did you mean files?",
    );
    check_refused(
        &config(&json!({"passwd": {"groups": [{"name": "g"}]}})),
        "spec.config.passwd.groups",
        "groups cannot be changed",
    );
    check_refused(
        &config(&json!({"passwd": {"users": [{"name": "eve"}]}})),
        "spec.config.passwd.users[0].name",
        "the user \"eve\" cannot be changed",
    );
    check_refused(
        &config(&json!({"kernelArguments": {"shouldExist": ["a"]}})),
        "spec.config.kernelArguments",
        "kernelArguments cannot be changed",
    );
    check_refused(
        &config(&json!({"systemd": {"units": [{"name": "x"}]}})),
        "spec.config.systemd.units[0].name",
        "not the name of a unit",
    );
    check_refused(
        &config(
            &json!({"systemd": {"units": [{"name": "x.service", "dropins": [{"name": "a"}]}]}}),
        ),
        "spec.config.systemd.units[0].dropins[0].name",
        "not the name of a drop-in",
    );
    check_refused(&json!({"kernelType": "fast"}), "spec.kernelType", "no kernel \"fast\"");
    check_refused(&json!({"extensions": ["vim"]}), "spec.extensions[0]", "no extension \"vim\"");
    check_refused(&json!({"fips": "yes"}), "spec.fips", "true or false");
}

#[test]
fn files_that_cannot_be_written_are_refused() {
    let check = |file: Value, field: &str, words: &str| {
        let spec = ignition(&json!({"storage": {"files": [file]}}));
        check_refused(&spec, &format!("spec.config.storage.files[0].{field}"), words);
    };
    for path in ["etc/a", "/etc/../a", "/etc//a", "/etc/a/", "/etc/./a", "/"] {
        check(json!({"path": path}), "path", "not a plain absolute path");
    }
    check(json!({"path": "/run/machine-config-daemon-force"}), "path", "skip their checks");
    check(json!({"path": "/etc/a", "mode": 9999}), "mode", "out of range");
    check(json!({"path": "/etc/a", "append": [{"source": "data:,x"}]}), "append", "append");
    check(
        json!({"path": "/etc/a", "contents": {"source": "https://example.com/x"}}),
        "contents.source",
        "not a data URL",
    );
    check(
        json!({"path": "/etc/a", "contents": {"source": "data:;base64,%zz"}}),
        "contents.source",
        "percent sign",
    );
    check(
        json!({"path": "/etc/a", "contents": {"source": "data:,x", "compression": "gzip"}}),
        "contents.compression",
        "compression cannot",
    );
    // NODE-3: what agents refuse.
    for path in ["/usr/bin/sudo", "/boot/grub2/grub.cfg", "/run/x", "/proc/sys/x", "/etc", "/a"] {
        check(json!({"path": path}), "path", "is in no folder that a configuration may write");
    }
    check(json!({"path": "/var/lib/tidegate-agent/x"}), "path", "belongs to the agent");
    let long = format!("/etc/{}", "x".repeat(256));
    check(json!({"path": long}), "path", "longer than a file system takes");
    check(json!({"path": "/etc/a", "mode": 2541}), "mode", "the mode 4755 of \"/etc/a\"");
    check(json!({"path": "/etc/a", "mode": 1517}), "mode", "the mode 2755 of \"/etc/a\"");
    check(
        json!({"path": "/etc/a", "user": {"name": "chrony"}}),
        "user.name",
        "\"chrony\" need not",
    );
    check(
        json!({"path": "/etc/a", "group": {"name": "wheel"}}),
        "group.name",
        "\"wheel\" need not",
    );
    let twice = json!({"storage": {"files": [{"path": "/etc/a"}, {"path": "/etc/a"}]}});
    check_refused(&ignition(&twice), "spec.config.storage.files[1].path", "given twice");
}

/// NODE-3
#[test]
fn owners_that_every_machine_knows_are_taken() {
    for owner in [json!({"name": "root"}), json!({"name": "core"}), json!({"id": 992})] {
        let both = json!({"storage": {"files": [
            {"path": "/etc/a", "mode": 1023, "user": owner, "group": owner}]}});
        assert_eq!(source("50-owned", "worker", &ignition(&both)).problems, [], "{owner}");
    }
    let user = |fields: Value| ignition(&json!({"passwd": {"users": [fields]}}));
    check_refused(
        &user(json!({"name": "core", "passwordHash": "x:0:0"})),
        "spec.config.passwd.users[0].passwordHash",
        "is no hash",
    );
    check_refused(
        &user(json!({"name": "core", "sshAuthorizedKeys": ["one", "two\nthree"]})),
        "spec.config.passwd.users[0].sshAuthorizedKeys[1]",
        "more than one line",
    );
}

/// NODE-3
#[test]
fn sources_that_contradict_each_other_are_refused_with_the_last_of_them() {
    let unit = |fields: Value| {
        let mut unit = fields;
        unit["name"] = "a.service".into();
        ignition(&json!({"systemd": {"units": [{"name": "b.service"}, unit]}}))
    };
    let check = |first: &Value, second: &Value, expected: &str| {
        let sources = [source("10-one", "worker", first), source("20-two", "worker", second)];
        let problems = render(&worker(), &sources, &Base::default(), None).problems;
        let told = problems.iter().map(|problem| {
            assert!(problem.hint.is_some());
            let object = problem.object.as_ref().unwrap();
            format!("{object} {}: {}", problem.field, problem.detail)
        });
        assert_eq!(told.collect::<Vec<_>>().join("; "), expected);
    };
    let field = "spec.config.systemd.units[1]";
    let (on, text) = (unit(json!({"enabled": true})), unit(json!({"contents": "[Service]"})));
    let install = unit(json!({"contents": "[Service]\n[Install]\nWantedBy=a.target"}));
    let dropin = unit(json!({"contents": "[Service]", "enabled": true,
        "dropins": [{"name": "a.conf", "contents": "[Install]"}]}));
    let masked = unit(json!({"mask": true}));
    check(&on, &install, "");
    check(&on, &dropin, "");
    check(&on, &on, "");
    check(&text, &masked, "");
    let why = "a.service cannot be enabled: it has no [Install] section";
    check(&on, &text, &format!("MachineConfig/20-two {field}.enabled: {why}"));
    check(&text, &on, &format!("MachineConfig/20-two {field}.enabled: {why}"));
    for path in ["/etc/systemd/system/a.service", "/etc/systemd/system/a.service.d/x.conf"] {
        let why = format!("\"{path}\" is given as a file and belongs to the unit a.service");
        check(&on, &file(path, "x"), &format!("MachineConfig/10-one {field}.name: {why}"));
    }
    check(&on, &file("/etc/systemd/system/c.service", "x"), "");
    check(
        &file("/etc/app", "x"),
        &file("/etc/app/a.conf", "x"),
        "MachineConfig/20-two spec.config.storage.files[0].path: \"/etc/app\" is given as a file and as a folder",
    );
    check(&file("/etc/app", "x"), &file("/etc/app.d/a.conf", "x"), "");
}

#[test]
fn empty_parts_that_tools_write_are_taken() {
    let spec = ignition(&json!({
        "ignition": {"version": "3.2.0", "config": {"replace": null}, "proxy": {}, "timeouts": {}},
        "storage": {"directories": [], "links": null, "files": [
            {"path": "/etc/a", "contents": {"source": "data:,x", "compression": "", "verification": {}}}]},
        "passwd": {},
    }));
    assert_eq!(source("50-empty", "worker", &spec).problems, []);
}

#[test]
fn pools_that_choose_wrongly_are_refused() {
    let check = |pool: &SeenPool, words: &str| {
        let problems = render(pool, [], &Base::default(), None).problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].field.to_string(), "spec.machineConfigSelector");
        assert!(problems[0].detail.contains(words), "{}", problems[0].detail);
    };
    check(&worker(), "chooses no MachineConfig");
    check(&pool("worker", &Value::Null), "chooses no MachineConfig");
    check(&pool("worker", &json!({})), "every MachineConfig");
    check(
        &pool("infra", &json!({"matchLabels": {names::ROLE: "infra"}})),
        "inherits what workers have",
    );
}

#[test]
fn what_no_running_machine_can_take_is_refused_as_a_whole() {
    let whole = |spec: &Value, running: Option<&Rendered>| {
        let one = source("50-x", "worker", spec);
        let Rendering { config, problems } = render(&worker(), [&one], &Base::default(), running);
        assert_eq!(config.is_none(), !problems.is_empty());
        problems.iter().map(|problem| problem.detail.clone()).collect::<Vec<_>>().join("; ")
    };
    let mut running = Rendered {
        name: "rendered-worker-old".into(),
        resource_version: String::new(),
        pool: "worker".into(),
        created: None,
        digests: std::collections::BTreeMap::new(),
        spec: MachineConfigSpec::default(),
    };
    assert_eq!(whole(&json!({"fips": true}), None), "", "a first installation may choose");
    assert!(whole(&json!({"fips": true}), Some(&running)).contains("fips cannot be changed"));
    running.spec.fips = true;
    assert_eq!(whole(&json!({"fips": true}), Some(&running)), "");
    assert!(whole(&json!({}), Some(&running)).contains("fips cannot be changed"));
    // NODE-3: agents exchange no kernels and install no packages.
    running.spec.fips = false;
    assert_eq!(whole(&json!({"kernelType": "default"}), Some(&running)), "");
    let other = json!({"kernelType": "realtime", "extensions": ["usbguard"]});
    assert_eq!(whole(&other, None), "", "a first installation may choose");
    assert_eq!(
        whole(&other, Some(&running)),
        "kernelType cannot be changed on a running node; extensions cannot be changed on a running node"
    );
    running.spec.kernel_type = "realtime".into();
    running.spec.extensions = vec!["usbguard".into()];
    assert_eq!(whole(&other, Some(&running)), "");
    let devel = json!({"kernelType": "realtime", "extensions": ["kernel-devel"]});
    assert!(whole(&devel, None).contains("kernel-devel does not go"));
    assert!(whole(&file("/etc/a", &"x".repeat(LARGEST)), None).contains("is the most"));
}

#[test]
fn configuration_that_removes_what_another_adds_leaves_no_trace_of_it() {
    let mut world = World::new("worker", 1);
    let first = world.newest();
    let mut added = file_source("50-add", "/etc/added", "1");
    added["spec"]["config"]["systemd"] =
        json!({"units": [{"name": "x.service", "enabled": true, "contents": "[Unit]"}]});
    world.put(&added);
    world.settle(&open(), noon());
    world.finish();
    // Masked, disabled and emptied: the unit is still named, so that nodes take it away.
    world.put(&json!({
        "metadata": {"name": "60-remove", "labels": {names::ROLE: "worker"}},
        "spec": ignition(&json!({
            "systemd": {"units": [{"name": "x.service", "enabled": false, "mask": true, "contents": ""}]},
            "storage": {"files": [{"path": "/etc/added", "contents": {"source": "data:,"}}]},
        })),
    }));
    world.settle(&open(), noon());
    let newest = world.newest();
    let spec = &world.rendered.iter().find(|config| config.name == newest).unwrap().spec;
    assert_eq!(text_of(spec, "/etc/added"), "");
    assert_eq!(spec.config.as_ref().unwrap().systemd.units[0].mask, Some(true));
    // Gone with its source: the first content again, under its first name, and nothing to create.
    world.sources.retain(|source| source.name == "00-base");
    world.finish();
    let plan = world.plan(&open(), noon());
    assert!(!plan.effects.iter().any(|action| matches!(action, Effect::CreateRendered(_))));
    world.settle(&open(), noon());
    assert_eq!(world.nodes[0].desired, first);
}

/// POOL-5
#[test]
fn other_sources_with_the_same_content_are_recorded_and_move_nobody() {
    let mut world = World::new("worker", 1);
    let before = world.newest();
    let mut twin = file_source("60-twin", "/etc/base", "0");
    twin["metadata"]["annotations"] = json!({names::BYPASS: "yes"});
    world.put(&twin);
    world.settle(&shut(), noon());
    assert_eq!(world.newest(), before);
    assert_eq!(world.moving(), [""; 0]);
    assert!(world.rendered[0].digests.contains_key("60-twin"));
}

#[test]
fn a_source_that_breaks_leaves_the_pool_where_it_is() {
    let mut world = World::new("worker", 2);
    let before = world.newest();
    let mut broken = file_source("50-broken", "/etc/x", "1");
    broken["spec"]["config"]["storage"]["links"] = json!([{"path": "/etc/y", "target": "/etc/x"}]);
    world.put(&broken);
    world.settle(&open(), noon());
    assert_eq!(world.newest(), before);
    let (status, message) = world.condition("RenderDegraded");
    assert_eq!(status, "True");
    assert!(
        message.starts_with("MachineConfig/50-broken: spec.config.storage.links: "),
        "{message}"
    );
    assert_eq!(world.condition("Degraded").0, "True");
    world.sources.retain(|source| source.name != "50-broken");
    world.settle(&open(), noon());
    assert_eq!(world.condition("Degraded").0, "False");
}
