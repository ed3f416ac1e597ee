//! What keeps overrides honest (OVR-3)? Who signs is who writes, who approves is somebody else, and one that is over before it is there, or
//! lasts longer than an exception does, says so.
//!
//! Nobody's first write is judged by them: the operator folds an override into the windows of its target, and the server reads those.

use api::overrides::MOST_DAYS;

use super::{called_in_chart, head};

/// The policy with its binding.
pub(super) fn signed() -> String {
    let head = |kind: &str| head(kind, "overrides");
    let hours = MOST_DAYS * 24;
    let validations = [
        (
            "request.operation != 'CREATE' || !has(object.spec.by) || object.spec.by == request.userInfo.username".to_owned(),
            Some("'spec.by: you are ' + request.userInfo.username + ', and who opens signs with their own name; hint: leave it out, or write that'"),
            "spec.by: who opens signs with their own name; hint: leave it out".to_owned(),
        ),
        (
            "request.operation != 'CREATE' || !has(object.spec.approvedBy)".to_owned(),
            None,
            "spec.approvedBy: an override is approved after it was written; hint: leave it out, and let somebody else add their name".to_owned(),
        ),
        (
            "request.operation != 'UPDATE' || !has(object.spec.approvedBy) || has(oldObject.spec.approvedBy) || object.spec.approvedBy == request.userInfo.username"
                .to_owned(),
            Some("'spec.approvedBy: you are ' + request.userInfo.username + ', and who approves signs with their own name'"),
            "spec.approvedBy: who approves signs with their own name".to_owned(),
        ),
        (
            // The definition compares the fields that it knows; what it does not know is kept, and is judged (GATE-14).
            "request.operation != 'UPDATE' || (object.spec.all(field, field in ['until', 'approvedBy'] || \
             (field in oldObject.spec && object.spec[field] == oldObject.spec[field])) && \
             oldObject.spec.all(field, field in ['until', 'approvedBy'] || field in object.spec))"
                .to_owned(),
            None,
            "spec: an override stays as it was written, but for an earlier until and one approvedBy; hint: delete it and write another".to_owned(),
        ),
        (
            "request.operation != 'CREATE' || timestamp(object.spec.until) > timestamp(object.metadata.creationTimestamp)".to_owned(),
            None,
            "spec.until: it is over already, so nothing would be opened; hint: write a later instant".to_owned(),
        ),
        (
            format!("request.operation != 'CREATE' || timestamp(object.spec.until) - timestamp(object.metadata.creationTimestamp) <= duration('{hours}h')"),
            None,
            format!("spec.until: an override lasts {MOST_DAYS} days at most; hint: write an earlier instant, or a policy that permits more"),
        ),
    ];
    let validations = validations.map(|(expression, said, message)| {
        let said = said.map_or_else(String::new, |said| format!("    messageExpression: >-\n      {said}\n"));
        format!("  - expression: >-\n      {expression}\n{said}    message: >-\n      {message}\n    reason: Forbidden\n")
    });
    format!(
        "{}  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:\n    - apiGroups: [changemanagement.openshift.io]\n      apiVersions: [\"*\"]\n      \
         operations: [CREATE, UPDATE]\n      resources: [changeoverrides, clusterchangeoverrides]\n  validations:\n{}---\n{}  policyName: {}\n  \
         validationActions: [Deny]\n",
        head("ValidatingAdmissionPolicy"),
        validations.concat(),
        head("ValidatingAdmissionPolicyBinding"),
        called_in_chart("overrides"),
    )
}
