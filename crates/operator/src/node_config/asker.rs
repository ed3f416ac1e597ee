//! Who asks, and may they? The cluster knows: a token is shown to it, and then it is asked for the right.
//!
//! Tokens of service accounts and of bootstrapping nodes work alike, and who may do what stands in roles. Nothing is remembered here: a
//! token that was withdrawn is refused as soon as the cluster refuses it. An answer that did not come is no answer, and nobody gets anything by it.

use front::Answer;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use runtime::{
    call::{CallError, Cluster},
    path::{ACCESS_REVIEW, Resource, TOKEN_REVIEW},
    person::{Person, Unproven},
};
use serde_json::json;

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
pub(super) struct Asker(pub(super) Person);

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
        let audience = match purpose {
            Purpose::Join => None,
            Purpose::Own => Some(own::AUDIENCE),
        };
        let person = Person::of(cluster, token, audience).await.map_err(|why| match why {
            Unproven::Unknown => {
                Denial::Unknown("the cluster does not know the token, or it has expired")
            }
            Unproven::Elsewhere => Denial::Unknown(
                "the cluster does not know the token, or it has expired, or it is not for the audience tidegate-node-config",
            ),
            Unproven::Unanswered(error) => unanswered(TOKEN_REVIEW, &error),
        })?;
        Ok(Self(person))
    }

    /// The node that their token was issued for.
    pub(super) fn node(&self) -> Option<&str> {
        let claimed = self.0.user.get("extra")?.get(NODE_CLAIM)?.as_array()?;
        match claimed.as_slice() {
            [one] => one.as_str(),
            _ => None,
        }
    }

    /// Whether they may have a path.
    pub(super) async fn may_get(&self, cluster: &Cluster, path: &str) -> Result<(), Denial> {
        let asked = json!({"nonResourceAttributes": {"path": path, "verb": "get"}});
        match self.0.may(cluster, &asked).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Denial::Forbidden(self.0.name.clone(), path.to_owned())),
            Err(error) => Err(unanswered(ACCESS_REVIEW, &error)),
        }
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
