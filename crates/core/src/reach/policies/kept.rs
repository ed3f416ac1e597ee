//! Which objects that policies read does the server keep as they are? Gates that were derived, and the definitions of parameters.

use api::names;

use super::{PARAMETERS, called_in_chart, head, not_by_hand};

/// What keeps gates that were derived (RCH-8): whoever could write one would open it by an object of theirs. Its status is what the server
/// goes by, an owner that is not there has it collected, and without it nothing holds until it is derived again. With its namespace it may go.
pub(super) fn derived() -> String {
    let head = |kind: &str| head(kind, "derived-gates");
    let operator =
        "'system:serviceaccount:{{ .Release.Namespace }}:{{ include \"tidegate.account\" . }}'";
    let is_derived = |object: &str| {
        format!("({object} != null && has({object}.spec) && has({object}.spec.derivedFrom))")
    };
    let differs = |part: &str| {
        format!(
            "(has(object.{part}) ? [object.{part}] : []) != (has(oldObject.{part}) ? [oldObject.{part}] : [])"
        )
    };
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [changemanagement.openshift.io]\n      apiVersions: [\"*\"]\n      \
         operations: [CREATE, UPDATE, DELETE]\n      resources: [changegates, changegates/status]\n  matchConditions:\n  - name: derived\n    expression: >-\n      \
         {} || {}\n  - name: changes\n    expression: >-\n      object == null || oldObject == null || {} || {} || {}\n  \
         - name: not-by-hand\n    expression: >-\n      {}\n  validations:\n  - expression: >-\n      \
         request.userInfo.username == {operator} || (object == null && namespaceObject != null && has(namespaceObject.metadata.deletionTimestamp))\n    message: >-\n      \
         spec.derivedFrom: only the operator derives gates, changes and deletes them; hint: edit the object that it was derived from, or make a gate of your own beside it\n    \
         reason: Forbidden\n---\n{}  policyName: {}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        is_derived("object"),
        is_derived("oldObject"),
        differs("spec"),
        differs("status"),
        differs("metadata.ownerReferences"),
        not_by_hand(),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("derived-gates"),
    )
}

/// What keeps the definitions of the parameters while policies read them (RCH-7): without one, the API server would admit everything for
/// seconds, and after its next start refuse every write that the policies look at, whoever sends it.
pub(super) fn guard() -> String {
    let definitions: Vec<String> = PARAMETERS
        .iter()
        .map(|parameter| format!("'{}.{}'", names::plural(parameter.kind()), names::GROUP))
        .collect();
    let head = |kind: &str| head(kind, "gate-definitions");
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [apiextensions.k8s.io]\n      apiVersions: [\"*\"]\n      \
         operations: [DELETE]\n      resources: [customresourcedefinitions]\n  matchConditions:\n  - name: ours\n    expression: >-\n      \
         oldObject != null && oldObject.metadata.name in [{}]\n  - name: not-by-hand\n    expression: >-\n      {}\n  validations:\n  - expression: \"false\"\n    message: >-\n      \
         admission policies read this definition, and without it the server would refuse every write that they look at; hint: remove the policies \
         first, by changeGates.enabled=false or by kubectl delete -f deploy/manifests/change-gates/change-gates.yaml\n    reason: Forbidden\n---\n{}  \
         policyName: {}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        definitions.join(", "),
        not_by_hand(),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("gate-definitions"),
    )
}
