//! Does an audit judge rooms of somebody's own, by what the values of the chart say of them?

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

const VALUES: &str = "\
changeGates:
  custom:
  - name: certificates
    apiGroups: [cert-manager.io]
    resources: [certificates]
    operations: [CREATE, UPDATE]
    initiates: \"object.spec.duration != (oldObject == null ? '' : oldObject.spec.duration)\"
  - name: others
    apiGroups: [cert-manager.io]
    resources: [certificates]
    operations: [CREATE]
    initiates: 'true'
";

fn kept(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

fn event(verb: &str, name: &str, generation: u32, duration: &str) -> Value {
    json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "stage": "ResponseComplete",
        "auditID": format!("{verb}-{name}-{generation}"), "verb": verb, "user": {"username": "jane", "groups": ["system:authenticated"]},
        "requestURI": format!("/apis/cert-manager.io/v1/namespaces/shop/certificates/{name}"),
        "objectRef": {"resource": "certificates", "namespace": "shop", "name": name, "apiGroup": "cert-manager.io", "apiVersion": "v1"},
        "responseStatus": {"code": 200}, "requestReceivedTimestamp": format!("2026-11-16T12:00:0{generation}.000000Z"),
        "stageTimestamp": format!("2026-11-16T12:00:0{generation}.000000Z"),
        "responseObject": {"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"name": name, "namespace": "shop", "uid": "u", "generation": generation}, "spec": {"duration": duration}}})
}

fn audited(rooms: &[&str], values: Option<&Path>) -> (i32, Value, String) {
    let gate = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeGate",
        "metadata": {"name": "own", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "Custom", "rooms": rooms}]}});
    let events = [
        event("create", "web", 1, "90d"),
        event("update", "web", 2, "90d"),
        event("update", "web", 3, "30d"),
    ];
    let log: Vec<String> = events.iter().map(Value::to_string).collect();
    let name = rooms.join("-");
    let gate = kept(&format!("custom-{name}.yaml"), &gate.to_string());
    let log = kept(&format!("custom-{name}.log"), &log.join("\n"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args(["audit", "-o", "json"]).arg("-f").arg(log).arg("--gates").arg(gate);
    if let Some(values) = values {
        command.arg("--values").arg(values);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), report, said)
}

/// RCH-14: the very expression of the room, for the rooms that a gate names; a write that it does not tell begins nothing.
#[test]
fn writes_of_rooms_of_somebodys_own_are_judged_by_their_expression() {
    let values = kept("custom-values.yaml", VALUES);
    let (code, report, said) = audited(&["certificates"], Some(&values));
    assert_eq!(code, 1, "{said}");
    // The third is the creation, as the room sees it that the gate does not name.
    let counted = [&report["outside"], &report["permitted"], &report["firstWrites"]];
    assert_eq!(counted, [2, 1, 3], "{report}");
    assert_eq!(report["items"][0]["room"], "Custom", "{report}");

    let (code, report, _) = audited(&["others"], Some(&values));
    assert_eq!((code, &report["outside"]), (1, &json!(1)), "{report}");
}

/// RCH-6: what is not judged is told.
#[test]
fn without_the_values_it_says_that_it_does_not_judge_them() {
    let (_, report, said) = audited(&["certificates"], None);
    assert!(said.contains("hint: name the values by --values"), "{said}");
    assert_eq!((&report["outside"], &report["firstWrites"]), (&json!(0), &json!(0)), "{report}");
    let bad = kept("bad-values.yaml", "changeGates:\n  custom:\n  - name: A\n");
    let (code, _, said) = audited(&["certificates"], Some(&bad));
    assert_eq!(code, 2);
    assert!(said.contains("changeGates.custom[0].name: small letters"), "{said}");
}
