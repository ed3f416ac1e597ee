//! How is a cluster asked for something? The one place through which every request goes.
//!
//! - EXEC-4: a request is sent once and never again by itself, it has a deadline, and an answer that did not come is not taken for a
//!   failure: [`CallError::outcome`] says whether the request may have been carried out.
//! - Every call is counted by verb and code, and every answer's `Date` is compared with the clock.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use kube::{Client, client::Body};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::time::timeout;

use crate::{clock::Clock, telemetry::Telemetry};

/// A cluster, as whoever asks it for something holds it.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    clock: Arc<dyn Clock>,
    telemetry: Arc<Telemetry>,
    patience: Duration,
}

const JSON: &str = "application/json";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What is asked: the label `verb` of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// One object.
    Get,
    /// All objects of a kind, a page at a time.
    List,
    /// What happens from a version on.
    Watch,
    /// A new object.
    Create,
    /// A whole object in place of another.
    Update,
    /// A change of an object.
    Patch,
    /// The end of an object.
    Delete,
}

/// A request without its verb.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Path and query.
    pub path: String,
    /// The type of the body, if there is one.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// Why a call brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The request cannot be written down.
    #[error("the request for {path} is none")]
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
    /// Whether the request may have been carried out. A server that failed inside may have failed after the commit.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Unspeakable { .. } | Self::Stale { .. } => Outcome::NotDone,
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
            | Self::Lost(_)
            | Self::Late(_)
            | Self::Garbled(_) => None,
        }
    }

    /// How long the server wants to be left alone. It may ask for a minute at most: an hour would be a gate that nobody closed.
    pub fn retry_after(&self) -> Duration {
        const AT_MOST: Duration = Duration::from_mins(1);
        match self {
            Self::Refused { retry_after: Some(wanted), .. } => (*wanted).min(AT_MOST),
            Self::Refused { retry_after: None, .. }
            | Self::Unspeakable { .. }
            | Self::Stale { .. }
            | Self::Lost(_)
            | Self::Late(_)
            | Self::Garbled(_) => Duration::ZERO,
        }
    }
}

impl Verb {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }

    fn method(self) -> Method {
        match self {
            Self::Get | Self::List | Self::Watch => Method::GET,
            Self::Create => Method::POST,
            Self::Update => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

impl Ask {
    /// A request without a body.
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    /// A request with a body of JSON.
    pub fn json(path: impl Into<String>, body: &serde_json::Value) -> Self {
        let body = body.to_string().into_bytes();
        Self { path: path.into(), content_type: "application/json", body }
    }
}

impl Cluster {
    /// A cluster behind a client. The client must not send anything twice by itself: [`crate::client::connect`] makes one that does
    /// not, and one made from a service has no such layer.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        telemetry: Arc<Telemetry>,
        patience: Duration,
    ) -> Self {
        Self { client, clock, telemetry, patience }
    }

    /// The clock that this cluster is compared with.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// How long a call may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Asks, and reads the answer.
    pub async fn call<T: DeserializeOwned>(&self, verb: Verb, ask: Ask) -> Result<T, CallError> {
        self.call_within(verb, ask, self.patience).await
    }

    /// Asks with a deadline of its own.
    pub async fn call_within<T: DeserializeOwned>(
        &self,
        verb: Verb,
        ask: Ask,
        patience: Duration,
    ) -> Result<T, CallError> {
        self.call_for(verb, ask, JSON, patience).await
    }

    /// Lists what all objects have in common, their names and versions among it: a fraction of a list.
    pub async fn list_metadata<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, CallError> {
        self.call_for(Verb::List, ask, METADATA, self.patience).await
    }

    async fn call_for<T: DeserializeOwned>(
        &self,
        verb: Verb,
        ask: Ask,
        accept: &'static str,
        patience: Duration,
    ) -> Result<T, CallError> {
        let began = self.clock.exact();
        let answered = timeout(patience, self.answer(verb, ask, accept)).await;
        let answered = answered.unwrap_or(Err(CallError::Late(patience)));
        let code = match &answered {
            Ok(answer) => answer.code.as_u16(),
            Err(error) => error.code().unwrap_or(0),
        };
        self.telemetry.called(verb, code);
        let answer = answered?;
        self.compare_clocks(answer.stamp, began);
        serde_json::from_slice(&answer.body).map_err(CallError::Garbled)
    }

    /// Asks for a stream. The deadline is that of the first byte; the reader has to bound the rest.
    pub async fn stream(&self, ask: Ask) -> Result<Body, CallError> {
        let opened = timeout(self.patience, async {
            let response = self.send(Verb::Watch, ask, JSON).await?;
            accepted(response).await.map(Response::into_body)
        });
        let opened = opened.await.unwrap_or(Err(CallError::Late(self.patience)));
        let code = opened.as_ref().map_or_else(|error| error.code().unwrap_or(0), |_| 200);
        self.telemetry.called(Verb::Watch, code);
        opened
    }

    async fn answer(
        &self,
        verb: Verb,
        ask: Ask,
        accept: &'static str,
    ) -> Result<Answer, CallError> {
        let response = accepted(self.send(verb, ask, accept).await?).await?;
        let code = response.status();
        let stamp = dated(response.headers());
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| CallError::Lost(error.into()))?.to_bytes();
        Ok(Answer { code, stamp, body })
    }

    async fn send(
        &self,
        verb: Verb,
        ask: Ask,
        accept: &'static str,
    ) -> Result<Response<Body>, CallError> {
        let Ask { path, content_type, body } = ask;
        let mut request = Request::builder()
            .method(verb.method())
            .uri(&path)
            .header(header::ACCEPT, accept)
            // Compressed watches have been unreadable for clients before; nothing here is large enough to need it.
            .header(header::ACCEPT_ENCODING, "identity");
        if !content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        let request = request
            .body(Body::from(body))
            .map_err(|source| CallError::Unspeakable { path, source })?;
        self.client.send(request).await.map_err(|error| CallError::Lost(error.into()))
    }

    /// How many whole seconds our clock is ahead of the server's, as far as is known; less than nothing if it is behind.
    pub(crate) fn seconds_ahead(&self) -> i64 {
        self.telemetry.skew().map_or(0, |ahead| ahead.round() as i64)
    }

    /// How many seconds our clock is ahead of the server's, if that is known.
    pub(crate) fn skew(&self) -> Option<f64> {
        self.telemetry.skew()
    }

    /// The `Date` of an answer is cut to the second and somewhere between question and answer: compared with the middle of both. An
    /// answer that took long says within which bounds the clock is, and no more; before anything is known, bounds that are far apart
    /// say nothing.
    fn compare_clocks(&self, stamp: Option<Timestamp>, began: Timestamp) {
        /// A clock may be so many seconds off (GATE-11): whoever took longer to answer could hide that.
        const FAR_APART: f64 = 5.0;
        let ended = self.clock.exact();
        let (Some(stamp), took) = (stamp, began.duration_until(ended).as_secs_f64()) else {
            return;
        };
        let ahead = stamp.duration_until(began).as_secs_f64();
        let known = self.telemetry.skew();
        if (0.0..1.0).contains(&took) {
            self.telemetry.clock_skew(ahead + took / 2.0 - 0.5);
        } else if took >= 1.0 && (known.is_some() || took < FAR_APART) {
            self.telemetry.clock_skew(known.unwrap_or(0.0).clamp(ahead - 1.0, ahead + took));
        }
    }
}

/// When a server says it answered, to the second.
pub fn dated(headers: &HeaderMap) -> Option<Timestamp> {
    let stamp = headers.get(header::DATE)?.to_str().ok()?;
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(stamp).ok()
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("patience", &self.patience).finish_non_exhaustive()
    }
}

struct Answer {
    code: StatusCode,
    /// The server's time.
    stamp: Option<Timestamp>,
    body: bytes::Bytes,
}

/// The response, if it is one; the server's refusal otherwise.
async fn accepted(response: Response<Body>) -> Result<Response<Body>, CallError> {
    let code = response.status();
    if code.is_success() {
        return Ok(response);
    }
    let retry_after = response.headers().get(header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|wanted| wanted.to_str().ok()?.parse().ok());
    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let told: Told =
        body.ok().and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_default();
    Err(refused(code, told, retry_after.map(Duration::from_secs)))
}

fn refused(code: StatusCode, mut told: Told, retry_after: Option<Duration>) -> CallError {
    let plain = code.canonical_reason().unwrap_or("no reason given");
    // Which budget keeps a pod stands only among the causes; elsewhere they repeat the message.
    if code == StatusCode::TOO_MANY_REQUESTS
        && let Some(message) = &mut told.message
    {
        for cause in &told.details.causes {
            message.push(' ');
            message.push_str(&cause.message);
        }
    }
    CallError::Refused {
        code: code.as_u16(),
        reason: told.reason.unwrap_or_default(),
        message: told.message.unwrap_or_else(|| plain.to_owned()),
        retry_after,
    }
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
