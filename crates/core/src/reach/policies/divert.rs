//! What does the API server do with an update that somebody asks for outside the windows, where the gate queues? It turns the write into a wish
//! (CV-5, CV-6).
//!
//! A mutating admission policy, from Kubernetes 1.36 on: `spec.desiredUpdate` stays as it was, and what was asked for is noted in the annotation
//! `wanted-release`. The write is taken, so that one object among many does not fail a whole apply, and the same apply tomorrow changes
//! nothing. It judges by the very variables of the policy that refuses, and that looks at what is left of the write: whatever is not turned
//! into a wish here is refused there, so nothing rests on this policy but comfort.

use std::fmt::Write as _;

use api::names::{self, WANTED_RELEASE};

use super::{Parameter, called_in_chart, head, looked_at_updates, not_by_hand, variables};
use crate::reach::rooms::{Room, UPDATES};

/// The template of the chart.
pub fn template() -> String {
    let room: &Room = UPDATES;
    let suffix = format!("queue-{}", room.slug);
    let head = |kind: &str| head(kind, &suffix);
    let mut text = format!(
        "{{{{- /* Generated from crates/core/src/reach/policies/divert.rs; edit that instead. */}}}}\n\
         {{{{- if and .Values.changeGates.enabled ({}) (include \"tidegate.wanted\" (list .Values.changeGates.queueUpdates \"admissionregistration.k8s.io/v1/MutatingAdmissionPolicy\" .)) }}}}\n\
         # Outside the windows of a gate that queues updates of the control plane, the server turns a write of spec.desiredUpdate into a wish, which the\n\
         # operator lets begin when the gate opens, if it may (manageUpdates). Without this policy such a write is refused.\n\
         {}  failurePolicy: Ignore\n  reinvocationPolicy: Never\n  paramKind:\n    apiVersion: {}\n    kind: {}\n  matchConstraints:\n    resourceRules:\n{}  matchConditions:\n",
        room.rendered.unwrap_or("true"),
        head("MutatingAdmissionPolicy"),
        names::API_VERSION,
        names::CLUSTER_CHANGE_GATE,
        looked_at_updates(room),
    );
    let conditions = [
        ("begins", room.begins.to_owned()),
        ("not-by-hand", not_by_hand()),
        ("mode", "!has(params.spec.mode) || params.spec.mode != 'Warn'".to_owned()),
        ("room", format!("params.spec.holds.exists(hold, hold.what == '{}')", room.name_of())),
        // What a wish cannot say is refused.
        ("told", "!has(object.spec.desiredUpdate.acceptRisks)".to_owned()),
    ];
    for (name, expression) in conditions {
        let _ = writeln!(text, "  - name: {name}\n    expression: >-\n      {expression}");
    }
    let _ = writeln!(text, "  variables:");
    let mut all = variables(room, Parameter::ClusterChangeGate);
    all.push((
        "queued",
        format!(
            "variables.held && !variables.audits && !variables.open && variables.holds.exists(hold, (has(hold.how) ? hold.how : '{}') == 'Queue')",
            room.first_way()
        ),
    ));
    all.push(("wish", wish()));
    for (name, expression) in all {
        let _ = writeln!(text, "  - name: {name}\n    expression: >-\n      {expression}");
    }
    let key = WANTED_RELEASE.replace('/', "~1");
    let _ = write!(
        text,
        "  mutations:\n  - patchType: JSONPatch\n    jsonPatch:\n      expression: >-\n        \
         !variables.queued ? [] : \
         (has(object.metadata.annotations) ? [] : [JSONPatch{{op: \"add\", path: \"/metadata/annotations\", value: {{}}}}]) + \
         [JSONPatch{{op: \"add\", path: \"/metadata/annotations/{key}\", value: variables.wish}}] + \
         (has(oldObject.spec.desiredUpdate) ? [JSONPatch{{op: \"replace\", path: \"/spec/desiredUpdate\", value: oldObject.spec.desiredUpdate}}] : \
         [JSONPatch{{op: \"remove\", path: \"/spec/desiredUpdate\"}}])\n---\n{}  policyName: {}\n  paramRef:\n    selector: {{}}\n    parameterNotFoundAction: Allow\n{{{{- end }}}}\n",
        head("MutatingAdmissionPolicyBinding"),
        called_in_chart(&suffix),
    );
    text
}

/// What was asked for, as the text of the annotation.
fn wish() -> String {
    let part = |field: &str| {
        format!(
            "has(object.spec.desiredUpdate.{field}) && object.spec.desiredUpdate.{field} != '' ? '\"{field}\":\"' + \
             object.spec.desiredUpdate.{field}.replace('\\\\', '\\\\\\\\').replace('\"', '\\\\\"') + '\"' : ''"
        )
    };
    format!(
        "'{{' + [{}, {}, {}, has(object.spec.desiredUpdate.force) && object.spec.desiredUpdate.force ? '\"force\":true' : ''].filter(part, part != '').join(',') + '}}'",
        part("version"),
        part("image"),
        part("architecture"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CV-5: what refuses and what queues judge by one text.
    #[test]
    fn what_queues_judges_as_what_refuses() {
        let text = template();
        let policies = super::super::policies();
        let refuses =
            policies.iter().find(|policy| policy.suffix == "cluster-gate-cluster-version");
        for (name, expression) in &refuses.unwrap().variables {
            let variable = format!("  - name: {name}\n    expression: >-\n      {expression}\n");
            assert!(text.contains(&variable), "{variable}");
        }
        for mark in ["{way}", "{selects", "{allows", "{queues", "  \\"] {
            assert!(!text.contains(mark), "{mark}");
        }
    }

    #[test]
    fn what_was_asked_for_is_noted_as_text() {
        let text = wish();
        assert!(text.contains(r#"'"version":"' + object.spec.desiredUpdate.version.replace('\\', '\\\\').replace('"', '\\"')"#), "{text}");
        assert!(text.starts_with("'{' + [") && text.ends_with(".join(',') + '}'"), "{text}");
    }
}
