//! Why did a call bring nothing, and what may it have done all the same? In words that a person can read.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use crate::chain::chain;

/// Why a call brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The request cannot be written down.
    #[error("cannot build a request for {path}")]
    Unspeakable {
        /// Where it was to go.
        path: String,
        /// Why.
        #[source]
        source: http::Error,
    },
    /// The server said no.
    #[error("the server refused: {message} ({code} {reason})")]
    Refused {
        /// The status code.
        code: u16,
        /// One CamelCase word for programs.
        reason: String,
        /// A sentence for people.
        message: String,
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// There was no answer.
    #[error("there was no answer")]
    Lost(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There was no answer in time.
    #[error("there was no answer within {} s", .0.as_secs())]
    Late(Duration),
    /// There was an answer, and it is older than what is known.
    #[error("the answer is of version {found}, and {known} was seen before")]
    Stale {
        /// The version of the answer.
        found: u64,
        /// The version that is known.
        known: u64,
    },
    /// There was an answer, and nothing of what was written is in it.
    #[error(
        "the server took the write and kept nothing of it: its definition is older than this build, or something on the way takes it out"
    )]
    Unchanged,
    /// There was an answer, and what was to begin is not in it.
    #[error(
        "the server took the write and made another of it, so nothing began: where a gate queues, an admission policy turns what comes too late into a wish"
    )]
    Diverted,
    /// There was an answer, and it makes no sense.
    #[error("the answer cannot be read")]
    Garbled(#[source] serde_json::Error),
}

/// What a failed call leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing happened.
    NotDone,
    /// Nobody knows: read it back before anything else (EXEC-4).
    Unknown,
}

impl CallError {
    /// An answer that can be read, and is not what was asked for.
    pub(crate) fn garbled(what: &str) -> Self {
        Self::Garbled(serde::de::Error::custom(what))
    }

    /// Whether the request may have been carried out. A server that failed inside may have failed after the commit.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Unspeakable { .. } | Self::Stale { .. } | Self::Unchanged | Self::Diverted => {
                Outcome::NotDone
            }
            Self::Refused { code, .. } if *code < 500 => Outcome::NotDone,
            Self::Refused { .. } | Self::Lost(_) | Self::Late(_) | Self::Garbled(_) => {
                Outcome::Unknown
            }
        }
    }

    /// The status code of a refusal.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Unspeakable { .. }
            | Self::Stale { .. }
            | Self::Unchanged
            | Self::Diverted
            | Self::Lost(_)
            | Self::Late(_)
            | Self::Garbled(_) => None,
        }
    }

    /// Whether the server says that it has no such object; a 404 without that word is somebody's who does not know the path.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code: 404, reason, .. } if reason == "NotFound")
    }

    /// How long the server wants to be left alone. It may ask for a minute at most: an hour would be a gate that nobody closed.
    pub fn retry_after(&self) -> Duration {
        const AT_MOST: Duration = Duration::from_mins(1);
        // Whoever made another of a write does so again: the server reads its gates a second later than we do, or its clock is behind.
        const DIVERTED: Duration = Duration::from_secs(5);
        match self {
            Self::Diverted => DIVERTED,
            Self::Refused { retry_after: Some(wanted), .. } => (*wanted).min(AT_MOST),
            Self::Refused { retry_after: None, .. }
            | Self::Unspeakable { .. }
            | Self::Stale { .. }
            | Self::Unchanged
            | Self::Lost(_)
            | Self::Late(_)
            | Self::Garbled(_) => Duration::ZERO,
        }
    }

    /// What to tell a person who waits for the answer: the server's own words if it refused, and else what went wrong with every cause.
    pub fn told(&self) -> String {
        match self {
            Self::Refused { message, .. } => message.clone(),
            Self::Lost(source) => chain(&**source),
            Self::Late(patience) => format!("no answer within {} s", patience.as_secs()),
            Self::Unspeakable { .. }
            | Self::Stale { .. }
            | Self::Unchanged
            | Self::Diverted
            | Self::Garbled(_) => chain(self),
        }
    }

    /// The refusal of a server that answered with this code, these headers and this body.
    pub(super) fn refused(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let plain = || plain(body).or(code.canonical_reason()).unwrap_or("no reason given");
        let mut told: Told = serde_json::from_slice(body).unwrap_or_default();
        // Which budget keeps a pod stands only among the causes; elsewhere they repeat the message.
        if code == StatusCode::TOO_MANY_REQUESTS
            && let Some(message) = &mut told.message
        {
            for cause in &told.details.causes {
                message.push(' ');
                message.push_str(&cause.message);
            }
        }
        let retry_after = headers.get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|wanted| wanted.to_str().ok()?.parse().ok());
        Self::Refused {
            code: code.as_u16(),
            reason: told.reason.unwrap_or_default(),
            message: told.message.unwrap_or_else(|| plain().to_owned()),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    /// The refusal that an event of a watch tells of.
    pub(super) fn ended(line: &[u8]) -> Self {
        let Ok(Ended { object }) = serde_json::from_slice(line) else {
            // The watch is over all the same, and nobody knows how much of it is missing.
            return Self::refused(StatusCode::GONE, &HeaderMap::new(), b"");
        };
        let code = StatusCode::from_u16(object.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let plain = code.canonical_reason().unwrap_or("no reason given");
        Self::Refused {
            code: code.as_u16(),
            reason: object.told.reason.unwrap_or_default(),
            message: object.told.message.unwrap_or_else(|| plain.to_owned()),
            retry_after: None,
        }
    }
}

/// What somebody on the way said who speaks no Kubernetes, if it is one short line: a page of HTML says less than the code.
fn plain(body: &[u8]) -> Option<&str> {
    const LONGEST: usize = 200;
    let text = std::str::from_utf8(body).ok()?.trim();
    let fine = !text.is_empty() && text.len() <= LONGEST && !text.starts_with(['<', '{', '[']);
    (fine && !text.contains(char::is_control)).then_some(text)
}

/// What of a `Status` is read.
#[derive(Default, Deserialize)]
struct Told {
    reason: Option<String>,
    message: Option<String>,
    #[serde(default)]
    details: Details,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    causes: Vec<Cause>,
}

#[derive(Default, Deserialize)]
struct Cause {
    #[serde(default)]
    message: String,
}

/// The event that ends a watch.
#[derive(Deserialize)]
struct Ended {
    object: EndedObject,
}

#[derive(Deserialize)]
struct EndedObject {
    code: u16,
    #[serde(flatten)]
    told: Told,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_what_the_server_said_or_why_there_was_no_answer() {
        let check = |code: u16, body: &str, expected: &str| {
            let code = StatusCode::from_u16(code).unwrap();
            let error = CallError::refused(code, &HeaderMap::new(), body.as_bytes());
            assert_eq!(error.told(), expected);
            assert_eq!(error.code(), Some(code.as_u16()));
        };
        check(
            403,
            r#"{"kind":"Status","message":"nodes is forbidden: User \"u\" cannot list"}"#,
            "nodes is forbidden: User \"u\" cannot list",
        );
        check(
            409,
            r#"{"message":"the object has been modified","details":{"causes":[{"message":"x"}]}}"#,
            "the object has been modified",
        );
        check(
            429,
            r#"{"message":"Cannot evict pod.","details":{"causes":[{"message":"The budget b needs 2."}]}}"#,
            "Cannot evict pod. The budget b needs 2.",
        );
        check(401, "Unauthorized by the gateway\n", "Unauthorized by the gateway");
        check(502, "<html><body>no</body></html>", "Bad Gateway");
        check(404, "", "Not Found");
        check(410, "{}", "Gone");
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let lost = CallError::Lost(Box::new(refused));
        assert_eq!(lost.told(), "connection refused");
        assert_eq!(CallError::Late(Duration::from_secs(30)).told(), "no answer within 30 s");
        let garbled = serde_json::from_str::<u8>("x").unwrap_err();
        let garbled = CallError::Garbled(garbled).told();
        assert_eq!(garbled, "the answer cannot be read: expected value at line 1 column 1");
    }

    #[test]
    fn the_event_that_ends_a_watch_is_a_refusal_like_any_other() {
        let line = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}"#;
        let error = CallError::ended(line);
        assert_eq!((error.code(), error.told()), (Some(410), "too old".into()));
        assert_eq!(CallError::ended(b"{}").code(), Some(410));
    }
}
