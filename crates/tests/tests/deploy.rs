//! Does what people deploy fit together: chart, manifests, alerts, dashboard, image, and the metrics they all speak of?
//!
//! `UPDATE_EXPECT=1 cargo test -p tidegate-tests --test deploy` writes what is rendered or copied anew.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{fmt::Write as _, fs, path::PathBuf};

use api::metrics::{self, METRICS};
use rig::suite;
use serde_json::Value;
use tidegate_core::reach::policies;
use tidy::{Tree, alerts, containerfile, dashboards, fields, rooms, verify};

mod deploy {
    mod values;
}

fn tree() -> Tree {
    Tree::read().expect("the repository is readable")
}

fn chart() -> PathBuf {
    Tree::top().join("deploy/chart")
}

fn check_file(path: &str, text: &str) {
    expect_test::expect_file![Tree::top().join(path)].assert_eq(text);
}

fn documents(text: &str) -> Vec<Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    documents.into_iter().filter(|document| !document.is_null()).collect()
}

// ---- Files alone -------------------------------------------------------------------------------------------

#[test]
fn alerts_ask_for_what_is_served_and_say_what_to_do() {
    verify(&alerts::check_rules(&tree()));
    verify(&alerts::check_buckets(&tree()));
}

#[test]
fn every_alert_was_seen_to_fire_and_to_stay_silent() {
    verify(&alerts::check_tests(&tree()));
}

#[test]
fn dashboard_asks_for_what_is_served() {
    verify(&dashboards::check(&tree()));
}

#[test]
fn every_metric_has_a_panel() {
    verify(&dashboards::unshown(&tree()));
}

#[test]
fn image_is_small_and_not_run_by_root() {
    verify(&containerfile::check(&tree()));
}

#[test]
fn chart_bears_the_version_of_the_program() {
    let chart: Value =
        serde_saphyr::from_str(tree().text("deploy/chart/Chart.yaml").unwrap()).unwrap();
    assert_eq!(chart["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn limits_in_the_values_are_those_of_the_rules() {
    let tree = tree();
    let values: Value =
        serde_saphyr::from_str(tree.text("deploy/chart/values.yaml").unwrap()).unwrap();
    let values = values["monitoring"]["alerts"]["limits"].as_object().unwrap();
    let values = values.iter().map(|(name, seconds)| {
        let words = name.chars().fold(String::new(), |mut words, c| {
            if c.is_uppercase() {
                words.push('_');
            }
            words.extend(c.to_lowercase());
            words
        });
        (format!("tidegate:{words}:limit"), format!("vector({seconds})"))
    });
    assert_eq!(values.collect::<Vec<_>>(), alerts::limits(&tree));
}

/// A chart can hold no file from outside its folder, so it holds copies.
#[test]
fn copies_in_the_chart_have_no_drift() {
    check_copies();
}

fn check_copies() {
    let tree = tree();
    for (original, extension) in [("crds", ".yaml"), ("alerts", ".yaml"), ("dashboards", ".json")] {
        let folder = format!("deploy/{original}/");
        let copies = format!("deploy/chart/files/{original}/");
        let direct = |path: &str, folder: &str| {
            path.strip_prefix(folder).filter(|name| !name.contains('/')).map(str::to_owned)
        };
        let names = |folder: &str| -> Vec<String> {
            tree.ending(extension).filter_map(|(path, _)| direct(path, folder)).collect()
        };
        assert!(!names(&folder).is_empty(), "{folder} holds nothing");
        fs::create_dir_all(Tree::top().join(&copies)).unwrap();
        for name in names(&folder) {
            check_file(&format!("{copies}{name}"), tree.text(&format!("{folder}{name}")).unwrap());
        }
        let idle: Vec<String> =
            names(&copies).into_iter().filter(|name| !names(&folder).contains(name)).collect();
        assert!(idle.is_empty(), "{copies} holds {idle:?}, which {folder} does not");
    }
}

/// RCH-14
#[test]
fn policies_of_the_rooms_have_no_drift() {
    check_policies();
}

fn check_policies() {
    let nodes = policies::freezes::template_of_nodes();
    check_file("deploy/chart/templates/gates.yaml", &policies::template());
    check_file("deploy/chart/templates/nodefreezes.yaml", &nodes);
    let updates = policies::freezes::template_of_updates();
    check_file("deploy/chart/templates/updatefreezes.yaml", &updates);
    let hosted = policies::freezes::template_of_hosted();
    check_file("deploy/chart/templates/hostedfreezes.yaml", &hosted);
    check_file("deploy/chart/templates/queueupdates.yaml", &policies::divert::template());
    check_file("deploy/chart/templates/stockmasters.yaml", &policies::template_of_masters());
    check_file("deploy/chart/templates/stockhosted.yaml", &policies::template_of_stock_hosted());
    check_file("deploy/chart/templates/customrooms.yaml", &policies::custom::template());
    let guardrails = policies::guardrails::template();
    check_file("deploy/chart/templates/guardrails.yaml", &guardrails);
}

/// GATE-14
#[test]
fn warning_of_unknown_fields_has_no_drift() {
    check_file("deploy/chart/templates/fields.yaml", &fields::template());
}

/// RCH-6
#[test]
fn reference_of_the_rooms_has_no_drift() {
    check_file("docs/reference/rooms.md", &rooms::reference());
}

#[test]
fn reference_of_the_metrics_has_no_drift() {
    let mut text = String::from(
        "# Metrics\n\n\
         Generated from the table in `crates/api/src/metrics.rs`; edit that instead.\n\n\
         Served at `/metrics` by the operator.\n\
         The figures of `change_management_*` are computed when they are asked for, from the schedule and the clock.\n\
         The label `namespace` is there only for objects that live in a namespace.\n\n\
         | metric | type | labels | meaning |\n|---|---|---|---|\n",
    );
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            metric.name,
            metric.form.as_str(),
            labels.join(", "),
            metric.help
        );
    }
    text.push_str(
        "\nHistograms have these buckets, by their upper ends in seconds; the last has none.\n\n",
    );
    for metric in METRICS {
        if let metrics::Form::Histogram(ends) = metric.form {
            let ends: Vec<String> = ends.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "- `{}`: {}", metric.name, ends.join(", "));
        }
    }
    check_file("docs/reference/metrics.md", &text);
}

// ---- The chart, as Helm reads it ---------------------------------------------------------------------------

#[test]
fn chart_passes_the_lint_of_helm() {
    suite::with_helm("chart-lint", |helm| {
        let chart = chart();
        let said = helm.run(["lint", "--strict", &chart.display().to_string()]).unwrap();
        assert!(said.contains("0 chart(s) failed"), "{said}");
    });
}

/// The file, what it is rendered from, and with which values.
const FILES: &[(&str, &[&str], &[&str])] = &[
    ("0-namespace.yaml", &["namespace"], &["namespace.create=true"]),
    // What Helm would keep or not is no business of kubectl's.
    ("crds.yaml", &["crds"], &["crds.keep=false"]),
    // Policies of the server need a newer one than the operator does.
    ("operator.yaml", &[], &["crds.install=false", "warnOfUnknownFields=false"]),
    ("fields/fields.yaml", &["fields"], &["warnOfUnknownFields=true"]),
    (
        "manage-pools/manage-pools.yaml",
        &["rbac", "deployment", "permits", "records"],
        &["managePools=true"],
    ),
    ("manage-pools/reports.yaml", &["reports"], &["managePools=true"]),
    (
        "node-config/node-config.yaml",
        &["rbac", "deployment", "networkpolicy", "nodeconfig"],
        &[
            "managePools=true",
            "nodeConfig.enabled=true",
            "nodeConfig.tlsSecret=tidegate-node-config",
        ],
    ),
    (
        "agent/agent.yaml",
        &["namespace", "agent"],
        &[
            "managePools=true",
            "nodeConfig.enabled=true",
            "nodeConfig.tlsSecret=tidegate-node-config",
            "agent.enabled=true",
            "agent.authorityConfigMap=tidegate-node-config-authority",
            "namespace.create=true",
        ],
    ),
    ("change-gates/0-crds.yaml", &["gatecrds"], &["changeGates.enabled=true"]),
    (
        "change-gates/change-gates.yaml",
        &["gates", "gateroles", "gateproof"],
        &["changeGates.enabled=true"],
    ),
    // Mutating policies need a newer server than the others do.
    (
        "queue-updates/queue-updates.yaml",
        &["queueupdates"],
        &["changeGates.enabled=true", "changeGates.queueUpdates=true"],
    ),
    ("guardrails/0-crds.yaml", &["guardrailcrds"], &["guardrails.enabled=true"]),
    (
        "console/console.yaml",
        &["console"],
        &[
            "console.enabled=true",
            "console.names[0]=console.example.com",
            "console.tlsSecret=tidegate-console",
        ],
    ),
    ("history/0-crds.yaml", &["historycrds"], &["history.enabled=true"]),
    // The Deployment too: it carries the flag.
    ("history/history.yaml", &["history", "deployment"], &["history.enabled=true"]),
    ("guardrails/guardrails.yaml", &["guardrails"], &["guardrails.enabled=true"]),
    (
        "node-freezes/node-freezes.yaml",
        &["nodefreezes"],
        &["changeGates.enabled=true", "managePools=true"],
    ),
    (
        "manage-updates/manage-updates.yaml",
        &["rbac", "deployment", "updates"],
        &["managePools=true", "manageUpdates=true"],
    ),
    // On a stock OpenShift: without pools of ours.
    (
        "queued-updates/queued-updates.yaml",
        &["rbac", "deployment", "stockrecords"],
        &["changeGates.enabled=true", "manageUpdates=true"],
    ),
    // They read gates and freezes, so those have to be defined before.
    (
        "control-plane-nodes/control-plane-nodes.yaml",
        &["stockmasters"],
        &["changeGates.enabled=true", "manageUpdates=true"],
    ),
    (
        "update-freezes/update-freezes.yaml",
        &["updatefreezes"],
        &["changeGates.enabled=true", "managePools=true", "manageUpdates=true"],
    ),
    (
        "manage-hosted/manage-hosted.yaml",
        &["rbac", "deployment", "hosted"],
        &["changeGates.enabled=true", "manageHosted=true"],
    ),
    // On a stock HyperShift: without marks of ours.
    ("stock-hosted/stock-hosted.yaml", &["stockhosted"], &["changeGates.enabled=true"]),
    (
        "hosted-freezes/hosted-freezes.yaml",
        &["hostedfreezes"],
        &["changeGates.enabled=true", "manageHosted=true"],
    ),
    (
        "monitoring/monitoring.yaml",
        &["servicemonitor", "prometheusrule"],
        &["monitoring.serviceMonitor.enabled=true", "monitoring.alerts.enabled=true"],
    ),
];

#[test]
fn manifests_have_no_drift() {
    // What is rendered follows from the copies, so in one run they are written anew first.
    check_copies();
    check_policies();
    suite::with_helm("manifests", |helm| {
        for (file, templates, values) in FILES {
            let mut arguments: Vec<String> =
                ["template", "tidegate", "--namespace=tidegate-system"].map(str::to_owned).to_vec();
            arguments.push(chart().display().to_string());
            arguments
                .extend(templates.iter().map(|name| format!("--show-only=templates/{name}.yaml")));
            arguments.extend(values.iter().map(|value| format!("--set={value}")));
            let rendered = helm.run(arguments).unwrap();
            check_file(&format!("deploy/manifests/{file}"), &plain(&rendered));
        }
    });
}

/// What Helm rendered, without what only Helm has a use for.
fn plain(rendered: &str) -> String {
    let mut text = String::from(
        "# Rendered from deploy/chart with its default values; change that instead.\n",
    );
    let for_helm = ["# Source: ", "app.kubernetes.io/managed-by: Helm"];
    let rendered = rendered.replace("  annotations:\n    helm.sh/resource-policy: keep\n", "");
    let lines = rendered.lines().filter(|line| {
        !line.trim().is_empty() && !for_helm.iter().any(|mark| line.trim().starts_with(mark))
    });
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[test]
fn rules_of_the_chart_are_the_rules_that_were_tested() {
    let tree = tree();
    let tested: Vec<Value> = tree
        .ending(".yaml")
        .filter(|(path, _)| path.starts_with("deploy/alerts/") && !path.contains("/tests/"))
        .flat_map(|(_, text)| {
            let file: Value = serde_saphyr::from_str(text).unwrap();
            file["groups"].as_array().unwrap().clone()
        })
        .collect();
    let rule = |groups: &Value, name: &str| {
        let rules =
            groups.as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap());
        rules.into_iter().find(|rule| rule["alert"] == name || rule["record"] == name).cloned()
    };
    suite::with_helm("chart-alerts", |helm| {
        let groups = |values: &[&str]| {
            let values = [&["monitoring.alerts.enabled=true"][..], values].concat();
            let objects = documents(&helm.render(&chart(), "t", &values).unwrap());
            let rules = objects.iter().find(|object| object["kind"] == "PrometheusRule").unwrap();
            rules["spec"]["groups"].clone()
        };
        assert_eq!(groups(&[]), Value::from(tested));
        let changed = groups(&[
            "monitoring.alerts.limits.noWindowSeconds=7776000",
            "monitoring.alerts.rules.TidegateGateStuck.for=12h",
            "monitoring.alerts.rules.TidegateGateStuck.severity=critical",
            "monitoring.alerts.rules.TidegateOverrideInForce.enabled=false",
        ]);
        let stuck = rule(&changed, "TidegateGateStuck").unwrap();
        assert_eq!(
            (&stuck["for"], &stuck["labels"]["severity"]),
            (&"12h".into(), &"critical".into())
        );
        assert_eq!(rule(&changed, "TidegateOverrideInForce"), None);
        let limit = rule(&changed, "tidegate:no_window_seconds:limit").unwrap();
        assert_eq!(limit["expr"], "vector(7776000)");
    });
}

/// A flag that the program does not know would keep every pod from starting.
#[test]
fn program_knows_the_arguments_of_the_chart() {
    let tree = tree();
    let reference = tree.text("docs/reference/cli.md").unwrap();
    let (_, help) = reference.split_once("\n## tidegate operator\n").unwrap();
    let help = help.split("\n## ").next().unwrap();
    suite::with_helm("chart-arguments", |helm| {
        let all = &["managePools=true", "nodeConfig.enabled=true", "nodeConfig.tlsSecret=cert"];
        let updates = &["managePools=true", "manageUpdates=true"];
        let hosted = &["changeGates.enabled=true", "manageHosted=true"];
        let queued = &["changeGates.enabled=true", "manageUpdates=true"];
        for (values, count) in [(&[][..], 5), (all, 9), (updates, 7), (hosted, 6), (queued, 6)] {
            let objects = documents(&helm.render(&chart(), "t", values).unwrap());
            let deployment = objects.iter().find(|object| object["kind"] == "Deployment").unwrap();
            let arguments = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
            let arguments = arguments.as_array().unwrap();
            assert_eq!((&arguments[0], arguments.len()), (&"operator".into(), count));
            for argument in arguments.iter().skip(1).map(|argument| argument.as_str().unwrap()) {
                let known = match argument.split_once('=') {
                    Some((flag, _)) => format!("{flag} <"),
                    None => format!(" {argument} "),
                };
                assert!(help.contains(&known), "{argument}: not in\n{help}");
            }
        }
    });
}

/// The rendered role may hold none of what lets its bearer become more than it is.
#[test]
fn role_of_the_operator_opens_no_back_door() {
    suite::with_helm("chart-role", |helm| {
        let objects = documents(&helm.render(&chart(), "t", &[]).unwrap());
        let rights = rig::rights::granted(&objects);
        assert!(rights.len() > 20, "{rights:?}");
        for right in rights {
            let text = right.to_string();
            let (verb, resource) = text.split_once(' ').unwrap();
            assert!(!text.contains('*'), "{text}");
            for forbidden in
                ["secrets", "pods", "nodes", "serviceaccounts", "roles", "clusterroles"]
            {
                assert!(!resource.starts_with(forbidden), "{text}");
            }
            let writes =
                ["create", "update", "patch", "delete", "deletecollection"].contains(&verb);
            let reads = ["get", "list", "watch"].contains(&verb);
            assert!(
                writes || reads,
                "{text}: escalate, bind and impersonate are not for operators"
            );
            let status = resource.contains("/status.");
            let own = resource.starts_with("events.events.k8s.io")
                || resource.starts_with("leases.coordination.k8s.io");
            assert!(reads || status || own, "{text}: writes what is not its own");
            assert!(!verb.starts_with("delete"), "{text}");
        }
    });
}
