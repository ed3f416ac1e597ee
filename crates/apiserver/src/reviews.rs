//! May I? Who am I?
//!
//! There is no authorization here: everybody on loopback may do everything, and is told so.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    call::{Answer, Incoming, User, json_response},
    path::ResourcePath,
    status::Refusal,
    verbs::intake,
};

/// Group, plural and kind of the virtual kinds.
pub(crate) const REVIEWS: [(&str, &str, &str); 3] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
];

fn find(path: &ResourcePath) -> Option<&'static str> {
    let row =
        REVIEWS.iter().find(|(group, plural, _)| *group == path.group && *plural == path.resource);
    row.filter(|_| path.version == "v1" && path.name.is_none()).map(|(_, _, kind)| *kind)
}

pub(crate) fn is_review(path: &ResourcePath) -> bool {
    find(path).is_some()
}

pub(crate) fn answer(incoming: &Incoming, path: &ResourcePath, user: &User) -> Answer {
    let kind = find(path).ok_or_else(Refusal::no_such_path)?;
    if incoming.method != Method::POST {
        return Err(Refusal::method_not_allowed());
    }
    let body = intake::body(&incoming.body, incoming.content_type(), kind)?;
    let status = match kind {
        "SelfSubjectReview" => json!({"userInfo": user.shown()}),
        "SelfSubjectRulesReview" => json!({
            "incomplete": false,
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }),
        _ => json!({"allowed": true, "reason": "the embedded server does not restrict anybody"}),
    };
    let review = json!({
        "apiVersion": format!("{}/v1", path.group), "kind": kind, "metadata": {"creationTimestamp": null},
        "spec": body.get("spec").cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new())), "status": status,
    });
    Ok(json_response(StatusCode::CREATED, review.to_string().into()))
}
