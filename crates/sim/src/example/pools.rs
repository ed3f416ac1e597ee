//! What do the control plane and the pools look like, and what are their nodes made of?

use api::machine::names::{API_VERSION, GENERATED_BY, MACHINE_CONFIG, ROLE};
use schedule::Instant;
use serde_json::{Value, json};

use super::{role, stanza};
use crate::control_plane::plan::{image, updates};

/// The release that the cluster runs, and those before it.
const RELEASES: &[(&str, i64)] = &[("4.20.8", 150), ("4.20.3", 60), ("4.19.12", 0)];

/// The version of the control plane.
pub(super) fn cluster_version(installed: Instant, policies: &[String]) -> Option<Value> {
    let history: Vec<Value> = RELEASES
        .iter()
        .map(|(version, day)| {
            let started = installed.saturating_add(day * 86_400);
            json!({"state": "Completed", "version": version, "image": image(version), "verified": true,
                "startedTime": started.to_string(),
                "completionTime": started.saturating_add(4_500).to_string()})
        })
        .collect();
    let (version, _) = RELEASES.first()?;
    Some(json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "spec": with_stanza(json!({
            "clusterID": "6f0d1c2e-41b7-4a0e-9d55-7b1f2a9c3e10", "channel": "stable-4.20",
            "desiredUpdate": {"version": version}}), stanza("berlin-nights", policies)),
        "status": {"desired": {"version": version, "image": image(version)}, "history": history,
            "observedGeneration": 1, "availableUpdates": updates(version)},
    }))
}

/// Every pool: its name, the policy it would like, and how many of its nodes may be away.
const POOLS: &[(&str, Option<&str>, u32)] = &[
    ("master", Some("berlin-nights"), 1),
    ("worker", Some("weekend"), 2),
    ("infra", Some("monthly-first-saturday"), 1),
    ("batch", Some("weekend"), 1),
];

pub(super) fn pools(policies: &[String]) -> Vec<Value> {
    let pool = |(name, wanted, most): &(&str, Option<&str>, u32)| {
        let built_in = ["master", "worker"].contains(name);
        // A pool of its own takes what all workers have, and more.
        let configs = if built_in {
            json!({"matchLabels": {ROLE: name}})
        } else {
            json!({"matchExpressions": [{"key": ROLE, "operator": "In", "values": ["worker", name]}]})
        };
        let wanted = wanted.map_or(Value::Null, |wanted| stanza(wanted, policies));
        json!({"apiVersion": API_VERSION, "kind": "MachineConfigPool", "metadata": {"name": name},
            "spec": with_stanza(json!({
                "machineConfigSelector": configs,
                "nodeSelector": {"matchLabels": {role(name): ""}},
                "maxUnavailable": most, "paused": false}), wanted)})
    };
    POOLS.iter().map(pool).collect()
}

fn with_stanza(mut spec: Value, stanza: Value) -> Value {
    if !stanza.is_null() {
        spec["changeManagement"] = stanza;
    }
    spec
}

/// A few configurations for each role.
pub(super) fn configs() -> Vec<Value> {
    let mut configs = Vec::new();
    for name in ["master", "worker"] {
        // What a release brings is generated, and the next one replaces it.
        let mut generated = config(&format!("00-{name}"), name, kubelet(name));
        generated["metadata"]["annotations"] = json!({GENERATED_BY: env!("CARGO_PKG_VERSION")});
        configs.push(generated);
        configs.push(config(&format!("01-{name}-container-runtime"), name, container_runtime()));
        configs.push(config(&format!("99-{name}-ssh"), name, ssh()));
    }
    let chrony = "server 0.pool.ntp.org iburst\nserver 1.pool.ntp.org iburst\ndriftfile /var/lib/chrony/drift\n";
    configs.push(config("50-worker-chrony", "worker", files(&[("/etc/chrony.conf", chrony)])));
    let sysctl = "net.core.somaxconn = 4096\n";
    configs.push(config(
        "60-infra-sysctl",
        "infra",
        files(&[("/etc/sysctl.d/60-ingress.conf", sysctl)]),
    ));
    let mut huge = files(&[]);
    huge["kernelArguments"] = json!(["hugepagesz=2M", "hugepages=512"]);
    configs.push(config("60-batch-hugepages", "batch", huge));
    configs
}

fn config(name: &str, role: &str, mut spec: Value) -> Value {
    spec["config"]["ignition"] = json!({"version": "3.4.0"});
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
        "metadata": {"name": name, "labels": {ROLE: role}}, "spec": spec})
}

fn kubelet(role: &str) -> Value {
    let conf =
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 250\n";
    let mut spec = files(&[("/etc/kubernetes/kubelet.conf", conf)]);
    let unit = format!(
        "[Unit]\nDescription=Kubernetes Kubelet\nWants=crio.service\n\n[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf --node-labels=node-role.kubernetes.io/{role}\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n"
    );
    spec["config"]["systemd"] =
        json!({"units": [{"name": "kubelet.service", "enabled": true, "contents": unit}]});
    spec
}

fn container_runtime() -> Value {
    files(&[
        ("/etc/crio/crio.conf.d/00-default", "[crio.runtime]\npids_limit = 4096\n"),
        (
            "/etc/containers/registries.conf",
            "unqualified-search-registries = [\"registry.access.redhat.com\", \"docker.io\"]\n",
        ),
    ])
}

fn ssh() -> Value {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBexampleexampleexampleexampleexampleexample admin@example.com";
    json!({"config": {"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": [key]}]}}})
}

fn files(contents: &[(&str, &str)]) -> Value {
    let file = |(path, text): &(&str, &str)| {
        json!({"path": path, "mode": 0o644, "overwrite": true,
            "contents": {"source": format!("data:,{}", encoded(text))}})
    };
    let files: Vec<Value> = contents.iter().map(file).collect();
    json!({"config": {"storage": {"files": files}}})
}

/// Text as it stands in a `data:` URL.
fn encoded(text: &str) -> String {
    let mut url = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/=:".contains(&byte) {
            url.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            // Writing to a string cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}
