//! Who asks, and may they? The cluster knows: a token is shown to it, and then it is asked for the right.
//!
//! Tokens of service accounts and of bootstrapping nodes work alike, and who may do what stands in roles. Nothing is remembered here: a
//! token that was withdrawn is refused as soon as the cluster refuses it. An answer that did not come is no answer, and nobody gets anything by it.

use front::Answer;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use runtime::{
    call::{CallError, Cluster},
    path::{ACCESS_REVIEW, Resource, TOKEN_REVIEW},
};
use serde_json::{Value, json};

use super::{later, own, said};

/// What is asked for, and with which tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// What a new node starts with: with any token of the cluster, because such a node has only what it was handed.
    Join,
    /// What a node needs that runs: with a token for this purpose alone.
    Own,
}

/// The claim of a token that says on which node its pod runs.
const NODE_CLAIM: &str = "authentication.kubernetes.io/node-name";

/// Somebody whom the cluster knows.
pub(super) struct Asker {
    /// What the cluster calls them.
    pub(super) name: String,
    /// All that it says of them, as it is asked for their rights with.
    user: Value,
}

/// Why somebody gets nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// Nobody knows who they are: why, and what to do.
    Unknown(&'static str),
    /// They are known, and may not: who, and what they asked for.
    Forbidden(String, String),
    /// The cluster did not answer: why, and what to do.
    Unanswered(String),
}

/// The token in the headers.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, Denial> {
    let Some(given) = headers.get(header::AUTHORIZATION) else {
        return Err(Denial::Unknown("there is no token"));
    };
    let scheme = given.to_str().ok().and_then(|given| given.split_once(' '));
    let token = scheme.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let token = token.map(|(_, token)| token.trim()).filter(|token| !token.is_empty());
    token.ok_or(Denial::Unknown("the header Authorization holds no bearer token"))
}

impl Asker {
    /// Whoever a token belongs to.
    pub(super) async fn of(
        cluster: &Cluster,
        token: &str,
        purpose: Purpose,
    ) -> Result<Self, Denial> {
        let spec = match purpose {
            Purpose::Join => json!({"token": token}),
            Purpose::Own => json!({"token": token, "audiences": [own::AUDIENCE]}),
        };
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": spec,
        });
        let reviewed = cluster.create(&TOKEN_REVIEW.collection(None), &review).await;
        let reviewed = reviewed.map_err(|error| unanswered(TOKEN_REVIEW, &error))?;
        // A cluster that knows nothing of purposes says nothing of them, and would take any token.
        let audiences = reviewed.pointer("/status/audiences").and_then(Value::as_array);
        let is_for_this = audiences.is_some_and(|all| all.iter().any(|one| *one == own::AUDIENCE));
        if purpose == Purpose::Own && !is_for_this {
            return Err(Denial::Unknown(
                "the cluster does not know the token, or it has expired, or it is not for the audience tidegate-node-config",
            ));
        }
        let user = reviewed.pointer("/status/user");
        let name = user.and_then(|user| user.get("username")).and_then(Value::as_str);
        match (reviewed.pointer("/status/authenticated"), user, name) {
            (Some(Value::Bool(true)), Some(user), Some(name)) if !name.is_empty() => {
                Ok(Self { name: name.to_owned(), user: user.clone() })
            }
            _ => Err(Denial::Unknown("the cluster does not know the token, or it has expired")),
        }
    }

    /// The node that their token was issued for.
    pub(super) fn node(&self) -> Option<&str> {
        let claimed = self.user.get("extra")?.get(NODE_CLAIM)?.as_array()?;
        match claimed.as_slice() {
            [one] => one.as_str(),
            _ => None,
        }
    }

    /// Whether they may have a path.
    pub(super) async fn may_get(&self, cluster: &Cluster, path: &str) -> Result<(), Denial> {
        let known = |field: &str| self.user.get(field).cloned().unwrap_or(Value::Null);
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": self.name,
                "uid": known("uid"),
                "groups": known("groups"),
                "extra": known("extra"),
                "nonResourceAttributes": {"path": path, "verb": "get"},
            },
        });
        let asked = cluster.create(&ACCESS_REVIEW.collection(None), &review).await;
        let answer = asked.map_err(|error| unanswered(ACCESS_REVIEW, &error))?;
        if answer.pointer("/status/allowed") == Some(&Value::Bool(true)) {
            return Ok(());
        }
        Err(Denial::Forbidden(self.name.clone(), path.to_owned()))
    }
}

/// The cluster gave no answer that could be used. Whoever reads this may be at the console of a node that does not start.
fn unanswered(review: Resource<'_>, error: &CallError) -> Denial {
    let (kind, plural) = (review.kind(), review.plural());
    // The error may quote what was sent, and that holds the token: its code is all that is told.
    let code = error.code();
    tracing::warn!(kind, code, "the cluster did not say who asks for a configuration");
    Denial::Unanswered(match code {
        Some(404 | 405) => {
            format!("this cluster does not serve {kind}, so nobody can be told apart")
        }
        Some(403) => format!("the operator may not create {plural}; give its account that right"),
        Some(code) => format!("the cluster answered {code} to a {kind}; ask again in a moment"),
        None => format!("the cluster did not answer a {kind}; ask again in a moment"),
    })
}

impl Denial {
    /// Its status code.
    pub(super) fn code(&self) -> StatusCode {
        match self {
            Self::Unknown(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(..) => StatusCode::FORBIDDEN,
            Self::Unanswered(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// What is told.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Unknown(why) => {
                format!(
                    "{why}\nhint: send `Authorization: Bearer <token>` with a token of this cluster"
                )
            }
            Self::Forbidden(who, path) => format!(
                "{who} may not get {path}\nhint: bind the ClusterRole tidegate:node-config, or another with that path among its nonResourceURLs"
            ),
            Self::Unanswered(why) => why.clone(),
        }
    }

    /// What is answered.
    pub(super) fn response(&self) -> Answer {
        match self {
            Self::Unknown(_) => {
                let mut response = said(self.code(), &self.text());
                let scheme = HeaderValue::from_static("Bearer realm=\"tidegate\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
                response
            }
            Self::Forbidden(..) => said(self.code(), &self.text()),
            Self::Unanswered(why) => later(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_token_is_one() {
        let check = |given: Option<&str>, expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(header::AUTHORIZATION, HeaderValue::from_str(given).unwrap());
            }
            assert_eq!(token(&headers).ok(), expected, "{given:?}");
        };
        check(Some("Bearer abc"), Some("abc"));
        check(Some("bearer  abc "), Some("abc"));
        check(Some("Bearer "), None);
        check(Some("Bearer"), None);
        check(Some("Basic abc"), None);
        check(None, None);
    }

    #[test]
    fn what_the_cluster_said_is_told_by_its_code_alone() {
        let refused = |code: u16| CallError::Refused {
            code,
            reason: String::new(),
            message: "the token s3cret".into(),
            retry_after: None,
        };
        for (code, part) in
            [(403, "create tokenreviews"), (404, "does not serve TokenReview"), (500, "500")]
        {
            let Denial::Unanswered(said) = unanswered(TOKEN_REVIEW, &refused(code)) else {
                panic!("{code}");
            };
            assert!(said.contains(part) && !said.contains("s3cret"), "{said}");
        }
    }
}
