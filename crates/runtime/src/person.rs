//! Who shows a token, and may they? The cluster knows: a token is shown to it, and then it is asked for the right.
//!
//! Nothing is remembered here: a token that was withdrawn is refused as soon as the cluster refuses it. An answer that did not come is no answer,
//! and nobody gets anything by it.

use serde_json::{Value, json};

use crate::{
    call::{CallError, Cluster},
    path::{ACCESS_REVIEW, TOKEN_REVIEW},
};

/// Somebody whom the cluster knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// What the cluster calls them.
    pub name: String,
    /// All that it says of them, as it is asked for their rights with.
    pub user: Value,
}

/// Why nobody is known.
#[derive(Debug)]
pub enum Unproven {
    /// The cluster does not know the token, or it has expired.
    Unknown,
    /// The token is not for this audience.
    Elsewhere,
    /// The cluster gave no answer that could be used. The error may quote what was sent, and that holds the token.
    Unanswered(CallError),
}

impl Person {
    /// Whoever a token belongs to; for an audience, if one is named.
    pub async fn of(
        cluster: &Cluster,
        token: &str,
        audience: Option<&str>,
    ) -> Result<Self, Unproven> {
        let mut spec = json!({"token": token});
        if let Some(audience) = audience {
            spec["audiences"] = json!([audience]);
        }
        let review =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec});
        let reviewed = cluster.create(&TOKEN_REVIEW.collection(None), &review).await;
        let reviewed = reviewed.map_err(Unproven::Unanswered)?;
        // A cluster that knows nothing of purposes says nothing of them, and would take any token.
        let audiences = reviewed.pointer("/status/audiences").and_then(Value::as_array);
        let is_for =
            |wanted: &str| audiences.is_some_and(|all| all.iter().any(|one| one == wanted));
        if audience.is_some_and(|wanted| !is_for(wanted)) {
            return Err(Unproven::Elsewhere);
        }
        let user = reviewed.pointer("/status/user");
        let name = user.and_then(|user| user.get("username")).and_then(Value::as_str);
        match (reviewed.pointer("/status/authenticated"), user, name) {
            (Some(Value::Bool(true)), Some(user), Some(name)) if !name.is_empty() => {
                Ok(Self { name: name.to_owned(), user: user.clone() })
            }
            _ => Err(Unproven::Unknown),
        }
    }

    /// Whether they may do what these attributes of a `SubjectAccessReview` say, as in `{"nonResourceAttributes": {...}}`.
    pub async fn may(&self, cluster: &Cluster, attributes: &Value) -> Result<bool, CallError> {
        let known = |field: &str| self.user.get(field).cloned().unwrap_or(Value::Null);
        let mut spec = json!({"user": self.name, "uid": known("uid"), "groups": known("groups"), "extra": known("extra")});
        for (name, value) in attributes.as_object().into_iter().flatten() {
            spec[name] = value.clone();
        }
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
        let answer = cluster.create(&ACCESS_REVIEW.collection(None), &review).await?;
        Ok(answer.pointer("/status/allowed") == Some(&Value::Bool(true)))
    }
}
