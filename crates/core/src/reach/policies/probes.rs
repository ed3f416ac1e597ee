//! Where does the operator try whether the server refuses, and what keeps it to trying? (GATE-13)
//!
//! It gets rights in a namespace of its own, where nothing of anybody's is. There its gates and freezes alone are asked, so that what somebody
//! else freezes answers for nobody, and nowhere else do they hold anything. The server holds it to dry runs there, and keeps the name of
//! its gates and freezes for it: nothing is told of them.

use api::names::PROBE;

use super::{PARAMETERS, called_in_chart, head, not_by_hand};

/// The namespace in which is tried, in the words of the chart.
const PLACE: &str = "{{ include \"tidegate.probes\" . }}";

/// Whether a gate or a freeze is asked about what is written: those of the operator where it tries, those of others everywhere else.
pub(super) fn place() -> String {
    format!(
        "(has(request.namespace) && request.namespace == '{PLACE}') == (params.metadata.name == '{PROBE}')"
    )
}

/// The policies that keep the operator to trying, with their bindings, as text of the chart.
pub(super) fn kept() -> String {
    let operator =
        "'system:serviceaccount:{{ .Release.Namespace }}:{{ include \"tidegate.account\" . }}'";
    let by_hand = not_by_hand();
    let ours: Vec<String> =
        PARAMETERS.iter().map(|parameter| api::names::plural(parameter.kind())).collect();
    let ours = ours.join(", ");
    let policy = |suffix: &str, rules: &str, conditions: &str, validation: &str| {
        format!(
            "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n{rules}  matchConditions:\n{conditions}  validations:\n{validation}    \
             reason: Forbidden\n---\n{}  policyName: {}\n  validationActions: [Deny]\n",
            head("ValidatingAdmissionPolicy", suffix),
            head("ValidatingAdmissionPolicyBinding", suffix),
            called_in_chart(suffix),
        )
    };
    let tries = policy(
        "tries",
        "    - apiGroups: [\"\"]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [secrets]\n    \
         - apiGroups: [apps]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [replicasets, statefulsets, daemonsets]\n    \
         - apiGroups: [argoproj.io]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [applications]\n    \
         - apiGroups: [cluster.x-k8s.io]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [machinesets]\n    \
         - apiGroups: [operators.coreos.com]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [installplans]\n    \
         - apiGroups: [batch]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [jobs]\n",
        &format!(
            "  - name: place\n    expression: >-\n      has(request.namespace) && request.namespace == '{PLACE}'\n  \
             - name: operator\n    expression: >-\n      request.userInfo.username == {operator}\n"
        ),
        "  - expression: has(request.dryRun) && request.dryRun\n    message: >-\n      the operator only tries here: what it sends is a dry run\n",
    );
    let names = policy(
        "probes",
        &format!(
            "    - apiGroups: [changemanagement.openshift.io]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [{ours}]\n"
        ),
        &format!(
            // RCH-8: what it derives from another object bears the name of that.
            "  - name: crosses\n    expression: >-\n      (request.userInfo.username == {operator} && !(has(object.spec) && has(object.spec.derivedFrom) && object.metadata.name != '{PROBE}')) != (object.metadata.name == '{PROBE}')\n  \
             - name: not-by-hand\n    expression: >-\n      {by_hand}\n"
        ),
        &format!(
            "  - expression: \"false\"\n    message: >-\n      by {PROBE} the operator tries whether the API server refuses, and makes no other gate or freeze; hint: choose another name\n"
        ),
    );
    format!("{tries}---\n{names}")
}
