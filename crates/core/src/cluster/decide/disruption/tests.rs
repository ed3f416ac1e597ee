//! Rows for NDP-1: a `MachineConfiguration`, its status, and an instant.

#![expect(clippy::needless_pass_by_value, reason = "rows are written in place")]

use api::machine::disruption::MachineConfiguration;
use serde_json::Value;

use super::*;
use crate::{
    cluster::{
        decide::tests::apply,
        kinds::{self, tests::part},
    },
    node::disruption::acting,
};

/// Decides and executes; then there is nothing left to do (STAT-3).
fn settle(document: &mut Value) -> Plan {
    let now = Instant::parse("2026-11-02T00:00:00Z").unwrap();
    let decided = |document: &Value| plan(&part(&kinds::MACHINE_CONFIGURATION, document), now);
    let plan = decided(document);
    for operation in plan.status.iter().flat_map(|patch| &patch.operations) {
        apply(document, operation);
    }
    assert_eq!(decided(document).status, None, "{document}");
    plan
}

fn document(policy: Value) -> Value {
    json!({
        "apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration",
        "metadata": {"name": "cluster", "generation": 1, "resourceVersion": "1"},
        "spec": {"managementState": "Managed", "nodeDisruptionPolicy": policy},
    })
}

fn edit(document: &mut Value, policy: Value) {
    document["spec"]["nodeDisruptionPolicy"] = policy;
    document["metadata"]["generation"] =
        json!(document["metadata"]["generation"].as_i64().unwrap() + 1);
}

fn acts(document: &Value) -> Option<String> {
    let object: MachineConfiguration = serde_json::from_value(document.clone()).ok()?;
    acting(&object).map(|policies| policies.files.last().unwrap().path.clone())
}

/// NDP-1
#[test]
fn the_status_is_merged_for_each_generation_and_written_once() {
    let mut cluster = document(json!({"files": [{"path": "/etc/a", "actions": []}]}));
    assert_eq!(acts(&cluster), None, "nodes wait");
    assert_eq!(settle(&mut cluster).notes, []);
    assert_eq!(acts(&cluster).as_deref(), Some("/etc/a"));
    assert_eq!(cluster["status"]["observedGeneration"], 1);
    edit(&mut cluster, json!({"files": [{"path": "/etc/b", "actions": []}]}));
    assert_eq!(acts(&cluster), None, "nodes wait again");
    settle(&mut cluster);
    assert_eq!(acts(&cluster).as_deref(), Some("/etc/b"));
    for nothing in [json!({}), Value::Null] {
        let mut cluster = document(nothing);
        settle(&mut cluster);
        let defaults = acts(&cluster);
        assert_eq!(defaults.as_deref(), Some("/etc/pki/ca-trust/source/anchors/iri-root-ca.crt"));
    }
}

/// NDP-1
#[test]
fn conditions_of_others_and_fields_of_others_stay() {
    let mut cluster = document(json!({}));
    let other = json!({"type": "BootImageUpdateDegraded", "status": "False", "reason": "x",
        "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    cluster["status"] = json!({"readyReplicas": 0, "conditions": [other.clone()]});
    settle(&mut cluster);
    assert_eq!(cluster["status"]["readyReplicas"], 0);
    assert_eq!(cluster["status"]["conditions"][0], other);
    assert_eq!(cluster["status"]["conditions"][1]["type"], NODE_DISRUPTION_POLICY_DEGRADED);
}

/// NDP-1
#[test]
fn a_policy_that_cannot_be_used_changes_nothing_but_the_condition() {
    let good = json!({"files": [{"path": "/etc/a", "actions": []}]});
    let check = |bad: Value, field: &str| {
        let mut cluster = document(good.clone());
        settle(&mut cluster);
        let before = cluster["status"].clone();
        edit(&mut cluster, bad);
        let plan = settle(&mut cluster);
        let told: Vec<&str> = plan.notes.iter().map(|note| note.reason).collect();
        assert_eq!(told, [NODE_DISRUPTION_POLICY_DEGRADED]);
        let condition = &cluster["status"]["conditions"][0];
        assert_eq!(
            (&condition["status"], &condition["reason"]),
            (&json!("True"), &json!("InvalidSpec"))
        );
        let message = condition["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("spec.nodeDisruptionPolicy{field}: ")), "{message}");
        for same in ["observedGeneration", "nodeDisruptionPolicyStatus"] {
            assert_eq!(cluster["status"][same], before[same], "{field}");
        }
        assert_eq!(acts(&cluster), None, "nobody acts by what nobody asked for");
        edit(&mut cluster, good.clone());
        let told: Vec<&str> = settle(&mut cluster).notes.iter().map(|note| note.reason).collect();
        assert_eq!(told, ["AsExpected"]);
        assert_eq!(acts(&cluster).as_deref(), Some("/etc/a"));
    };
    check(json!("none"), "");
    check(json!({"files": "all"}), ".files");
    check(json!({"files": [{"actions": []}]}), ".files[0]");
    check(json!({"fils": []}), ".fils");
    check(
        json!({"files": [{"path": "/a", "actions": [{"type": "Sleep"}]}]}),
        ".files[0].actions[0].type",
    );
    check(json!({"units": [{"name": "x", "actions": []}]}), ".units[0].name");
}

#[test]
fn another_name_is_nobodys() {
    let mut other = document(json!({}));
    other["metadata"]["name"] = json!("other");
    assert_eq!(settle(&mut other), Plan::default());
}
