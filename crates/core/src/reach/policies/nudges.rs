//! Who touches what waits? (RCH-4, GATE-16)
//!
//! The operator gets the right to patch what people roll out, and uses it for annotations alone: the server holds it to that. When something
//! was last touched nobody else writes, but for a rollback, which brings the annotations of its revision along.

use api::names::NUDGED_AT;

use super::{called_in_chart, head, not_by_hand};
use crate::reach::rooms::{Nudge, ROOMS};

/// The policy with its binding, as text of the chart.
pub(super) fn kept() -> String {
    let touched = |(group, resource, _): &Touched| {
        format!(
            "    - apiGroups: [{group}]\n      apiVersions: [\"*\"]\n      operations: [UPDATE]\n      resources: [{resource}]\n"
        )
    };
    let rules: String = touches().iter().map(touched).collect();
    let asks = touches().into_iter().filter_map(|(_, _, asks)| asks);
    let own: Vec<String> =
        [NUDGED_AT].into_iter().chain(asks).map(|key| format!("'{key}'")).collect();
    let own = own.join(", ");
    let head = |kind: &str| head(kind, "nudges");
    let operator =
        "'system:serviceaccount:{{ .Release.Namespace }}:{{ include \"tidegate.account\" . }}'";
    let by_hand = not_by_hand();
    let name = called_in_chart("nudges");
    let value = |object: &str| {
        format!(
            "has({object}.metadata.annotations) && '{NUDGED_AT}' in {object}.metadata.annotations ? {object}.metadata.annotations['{NUDGED_AT}'] : ''"
        )
    };
    let (after, before) = (value("object"), value("oldObject"));
    let same = |field: &str| {
        format!(
            "(has(object.{field}) ? [object.{field}] : []) == (has(oldObject.{field}) ? [oldObject.{field}] : [])"
        )
    };
    let kept = [
        "spec",
        "operation",
        "status",
        "metadata.labels",
        "metadata.finalizers",
        "metadata.ownerReferences",
    ];
    let kept: Vec<String> = kept.iter().map(|field| same(field)).collect();
    let kept = kept.join(" && ");
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n{rules}  matchConditions:\n  - name: touches\n    expression: >-\n      \
         request.userInfo.username == {operator} || ({after}) != ({before})\n  - name: not-by-hand\n    expression: >-\n      {by_hand}\n  \
         variables:\n  - name: noted\n    expression: \"has(object.metadata.annotations) ? object.metadata.annotations : {{}}\"\n  \
         - name: notedBefore\n    expression: \"has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {{}}\"\n  validations:\n  \
         - expression: >-\n      request.userInfo.username == {operator} || !('{NUDGED_AT}' in variables.noted) || \
         (has(object.spec.template) && has(oldObject.spec.template) && object.spec.template != oldObject.spec.template)\n    message: >-\n      \
         only the operator writes when it touched something: {NUDGED_AT}; hint: any other annotation has its controller look again too\n    \
         reason: Forbidden\n  - expression: >-\n      request.userInfo.username != {operator} || ({kept} && \
         variables.noted.all(key, key in [{own}] || (key in variables.notedBefore && variables.notedBefore[key] == variables.noted[key])) && \
         variables.notedBefore.all(key, key in [{own}] || key in variables.noted))\n    message: >-\n      \
         the operator touches what waits by its annotations, and changes nothing else of it\n    reason: Forbidden\n---\n{}  \
         policyName: {name}\n  validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        head("ValidatingAdmissionPolicyBinding"),
    )
}

type Touched = (&'static str, &'static str, Option<&'static str>);

fn touches() -> Vec<Touched> {
    let touched = ROOMS.iter().filter_map(|room| match room.nudge {
        Nudge::Touch { group, resource, asks } => Some((group, resource, asks.map(|(key, _)| key))),
        Nudge::None(_) => None,
    });
    touched.collect()
}
