//! How is a cluster asked for something? The one place through which every request goes: the operator's, the agent's, the command's.
//!
//! - EXEC-4: a request is sent once and never again by itself, it has a deadline, and an answer that did not come is not taken for a
//!   failure: [`CallError::outcome`] says whether the request may have been carried out.
//! - Every call is counted by verb and code, and every answer's `Date` is compared with the clock.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use kube::{Client, client::Body};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    clock::Clock,
    path::{POD, VERSION, encoded},
    telemetry::Telemetry,
};

mod error;
pub(crate) mod follow;
mod lines;
mod list;
mod patch;

pub use self::{
    error::{CallError, Outcome},
    follow::{Event, Follow, What},
    list::{Collection, Listed},
    patch::Patch,
};

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
#[derive(Debug, Default)]
struct Ask {
    /// Path and query.
    path: String,
    /// The type of the body, if there is one.
    content_type: &'static str,
    body: Vec<u8>,
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
    fn path(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    fn json(path: impl Into<String>, body: &Value) -> Self {
        Self { path: path.into(), content_type: JSON, body: body.to_string().into_bytes() }
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

    /// The same cluster, with another deadline.
    #[must_use]
    pub fn within(&self, patience: Duration) -> Self {
        Self { patience, ..self.clone() }
    }

    /// Reads what is at a path.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.ask(Verb::Get, Ask::path(path)).await
    }

    /// Makes a new object of a collection.
    pub async fn create(&self, collection: &str, object: &Value) -> Result<Value, CallError> {
        self.ask(Verb::Create, Ask::json(collection, object)).await
    }

    /// Makes a new object of a collection, whose fields belong to this owner.
    pub async fn create_as(
        &self,
        owner: &str,
        collection: &str,
        object: &Value,
    ) -> Result<Value, CallError> {
        let path = format!("{collection}?fieldManager={}", encoded(owner));
        self.ask(Verb::Create, Ask::json(path, object)).await
    }

    /// The same, and nothing is stored: the server says what would come of it.
    pub async fn try_create(
        &self,
        owner: &str,
        collection: &str,
        object: &Value,
    ) -> Result<Value, CallError> {
        let path = format!("{collection}?fieldManager={}&dryRun=All", encoded(owner));
        self.ask(Verb::Create, Ask::json(path, object)).await
    }

    /// Puts a whole object in the place of another.
    pub async fn update(&self, path: &str, object: &Value) -> Result<Value, CallError> {
        self.ask(Verb::Update, Ask::json(path, object)).await
    }

    /// Changes an object, and reads what it is then.
    pub async fn patch(&self, path: &str, change: Patch) -> Result<Value, CallError> {
        self.ask(Verb::Patch, change.of(path)).await
    }

    /// Ends an object, with these options.
    pub async fn delete(&self, path: &str, options: &Value) -> Result<Value, CallError> {
        self.ask(Verb::Delete, Ask::json(path, options)).await
    }

    /// Asks a pod to leave, this very one, if its budgets allow that.
    pub async fn evict(&self, namespace: &str, name: &str, uid: &str) -> Result<Value, CallError> {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"namespace": namespace, "name": name},
            "deleteOptions": {"preconditions": {"uid": uid}}});
        let path = format!("{}/eviction", POD.object(Some(namespace), name));
        self.ask(Verb::Create, Ask::json(path, &eviction)).await
    }

    /// What time it is there, if the server says: it dates refusals too.
    pub async fn time(&self) -> Result<Option<Timestamp>, CallError> {
        let sent = timeout(self.patience, self.send(Verb::Get, Ask::path(VERSION), JSON)).await;
        let sent = sent.unwrap_or(Err(CallError::Late(self.patience)));
        let code = sent.as_ref().map_or(0, |response| response.status().as_u16());
        self.telemetry.called(Verb::Get, code);
        Ok(dated(sent?.headers()))
    }

    /// Asks, and reads the answer.
    async fn ask<T: DeserializeOwned>(&self, verb: Verb, ask: Ask) -> Result<T, CallError> {
        self.ask_for(verb, ask, JSON).await
    }

    async fn ask_for<T: DeserializeOwned>(
        &self,
        verb: Verb,
        ask: Ask,
        accept: &'static str,
    ) -> Result<T, CallError> {
        let began = self.clock.exact();
        let answered = timeout(self.patience, self.answer(verb, ask, accept)).await;
        let answered = answered.unwrap_or(Err(CallError::Late(self.patience)));
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
    async fn stream(&self, ask: Ask) -> Result<Body, CallError> {
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
fn dated(headers: &HeaderMap) -> Option<Timestamp> {
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
    let headers = response.headers().clone();
    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    Err(CallError::refused(code, &headers, &body.unwrap_or_default()))
}
