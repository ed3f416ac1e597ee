//! The front door for the ordinary client: a tower service, no sockets.
//!
//! `kube::Client::new(server.service(), "default")` is all it takes. Every answer is dated by the server's own clock, which may not be the
//! machine's: whoever counts from `now` asks the server, as they would ask a real one.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt as _;
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};

use crate::{
    body::Body,
    call::{Incoming, User, refusal_response},
    fault::Distortion,
    route::{self, BODY_LIMIT},
    server::Server,
    status::Refusal,
};

/// Why a request got no answer at all.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The request was carried out, and an injected fault swallowed its answer.
    #[error("the answer was lost by an injected fault; the request was carried out")]
    Answer,
    /// The request could not be read.
    #[error("the request could not be read")]
    Request(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The service; clones speak to the same server.
#[derive(Debug, Clone)]
pub struct Service {
    server: Server,
    user: User,
}

impl Server {
    /// A service for requests of an administrator.
    pub fn service(&self) -> Service {
        self.service_as("kubernetes-admin", &["system:masters", "system:authenticated"])
    }

    /// A service for requests of a named user; policies and hooks see the name.
    pub fn service_as(&self, name: &str, groups: &[&str]) -> Service {
        let user = User {
            name: name.to_owned(),
            groups: groups.iter().map(|g| (*g).to_owned()).collect(),
            extra: BTreeMap::new(),
        };
        Service { server: self.clone(), user }
    }
}

impl Service {
    /// The same user with a token that was bound to a pod on this node; policies see the claim.
    #[must_use]
    pub fn on_node(mut self, node: &str) -> Self {
        let claim = "authentication.kubernetes.io/node-name".to_owned();
        self.user.extra.insert(claim, vec![node.to_owned()]);
        self
    }

    /// Answers one request of this user without a client and without faults: method, path with query, content type, body. For tests.
    pub fn ask(
        &self,
        method: http::Method,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> (u16, Bytes) {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, content_type).body(());
        let Ok((parts, ())) = request.map(Request::into_parts) else {
            return (400, Bytes::from(Refusal::bad_request("not a path").to_value().to_string()));
        };
        let incoming = Incoming::of(parts, Bytes::copy_from_slice(body));
        let (inner, user) = (&self.server.inner, self.user.clone());
        let response = route::answer(inner, incoming, user, Distortion::default());
        let code = response.status().as_u16();
        (code, response.body().bytes().cloned().unwrap_or_default())
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Body>, Lost>> + Send>>;

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Lost;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let Self { server, user } = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let answer = match read_whole(body).await? {
                Some(bytes) => server.answer(Incoming::of(parts, bytes), user).await?,
                None => {
                    let text = format!("Request entity too large: limit is {BODY_LIMIT}");
                    refusal_response(&Refusal::new(413, "RequestEntityTooLarge", text))
                }
            };
            Ok(dated(answer, server.now()))
        })
    }
}

/// The same answer with the server's time on it; without, if that is before or after all that HTTP can write.
pub(crate) fn dated(mut answer: Response<Body>, now: Timestamp) -> Response<Body> {
    let written = DateTimePrinter::new().timestamp_to_rfc9110_string(&now).ok();
    let date = written.and_then(|written| HeaderValue::try_from(written).ok());
    answer.headers_mut().extend(date.map(|date| (header::DATE, date)));
    answer
}

/// What is read of a body that is too large, and thrown away: a client that is still writing would not hear the refusal. Beyond that it
/// has to live with a broken connection.
const PATIENCE: usize = 16 * BODY_LIMIT;

/// The whole body, or nothing if it is too large.
async fn read_whole<B>(body: B) -> Result<Option<Bytes>, Lost>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = std::pin::pin!(body);
    let (mut whole, mut length) = (BytesMut::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(part) = frame.map_err(|error| Lost::Request(error.into()))?.into_data() else {
            continue;
        };
        length += part.remaining();
        if length <= BODY_LIMIT {
            whole.put(part);
        } else if length > PATIENCE {
            break;
        } else {
            whole = BytesMut::new();
        }
    }
    Ok((length <= BODY_LIMIT).then(|| whole.freeze()))
}

impl Server {
    async fn answer(&self, incoming: Incoming, user: User) -> Result<Response<Body>, Lost> {
        let plan = self.decide(&incoming);
        if !plan.latency.is_zero() {
            tokio::time::sleep(plan.latency).await;
        }
        if let Some(refusal) = &plan.refuse {
            return Ok(refusal_response(refusal));
        }
        if plan.compact {
            self.compact();
        }
        let response = route::answer(&self.inner, incoming, user, plan.distortion);
        if plan.lose_answer { Err(Lost::Answer) } else { Ok(response) }
    }

    fn decide(&self, incoming: &Incoming) -> crate::fault::Plan {
        let mut state = self.inner.lock();
        let plan = state.faults.plan(incoming);
        for told in &plan.told {
            state.trace.fault(told);
        }
        plan
    }

    /// Answers one request without a client: method, path with query, content type, body. For tests and scripts.
    pub fn ask(
        &self,
        method: http::Method,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> (u16, Bytes) {
        self.service().ask(method, path, content_type, body)
    }
}
