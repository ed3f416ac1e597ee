//! What does a new node get to ignite with, and who may ask? `GET /config/<pool>`, as the server of machine configurations answers it.
//! And what does the agent of a node get that runs? `GET /own/<configuration>` (see [`own`]).
//!
//! - POOL-4: the canary rule chooses the configuration.
//! - The cluster itself says who asks (`TokenReview`) and whether they may (`SubjectAccessReview` of `get` on the path), so that rights are
//!   ordinary roles. A configuration holds secrets: nobody gets one unasked for, and no answer is kept by anybody on the way.
//! - Any replica answers, from what it knows, and only while it can rely on that.
//! - Every refusal says what to do. What is asked with, and what is answered, is in no log.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use front::{Answer, plain};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use runtime::call::Cluster;
use tidegate_core::pool::serve::{Format, MEDIA_TYPE, ignition};
use tokio::sync::Semaphore;

use crate::{
    rollout::{Given, given},
    run::View,
    serve::probe,
};

mod asker;
pub mod listen;
pub mod own;

use asker::{Asker, Denial, Purpose};

/// So many are looked up at once: strangers must not be able to keep the API server busy.
const LOOKED_UP_AT_ONCE: usize = 16;
/// A node that starts asks again by itself; a connection that waits longer is only in the way.
const PATIENCE: Duration = Duration::from_secs(30);

/// What answers nodes. Clones are one.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    view: View,
    cluster: Cluster,
    looked_up: Arc<Semaphore>,
}

impl NodeConfig {
    pub(crate) fn new(view: View, cluster: Cluster) -> Self {
        Self { view, cluster, looked_up: Arc::new(Semaphore::new(LOOKED_UP_AT_ONCE)) }
    }

    /// The answer to a request.
    pub async fn answer<B>(&self, request: &Request<B>) -> Answer {
        let answer = tokio::time::timeout(PATIENCE, self.decide(request)).await;
        let mut response = answer.unwrap_or_else(|_| {
            later("the API server did not answer the TokenReview in time; retry")
        });
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
        response
    }

    async fn decide<B>(&self, request: &Request<B>) -> Answer {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut response = said(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        if has_body(request.headers()) {
            return said(StatusCode::PAYLOAD_TOO_LARGE, "send no body");
        }
        let path = request.uri().path();
        let pool = match path {
            "/healthz" => return probe(self.view.health()),
            "/readyz" => return probe(self.view.knows()),
            path => path.strip_prefix("/config/").filter(|pool| is_name(pool)),
        };
        if let Some(config) = path.strip_prefix("/own/").filter(|config| is_name(config)) {
            return own::answer(self, config, request.headers(), path).await;
        }
        let Some(pool) = pool else {
            return said(StatusCode::NOT_FOUND, "ask for /config/ and the name of a pool");
        };
        let asker = match self.asker(request.headers(), path, Purpose::Join).await {
            Ok(asker) => asker,
            Err(refusal) => {
                tracing::info!(pool, code = refusal.code().as_u16(), "a node was refused");
                return refusal.response();
            }
        };
        let response = self.configuration(pool, request.headers(), &asker);
        let code = response.status().as_u16();
        if code != 200 {
            tracing::info!(pool, code, asker = asker.0.name, "a node was not served");
        }
        response
    }

    /// Who asks for a path, if they may have it.
    async fn asker(
        &self,
        headers: &HeaderMap,
        path: &str,
        purpose: Purpose,
    ) -> Result<Asker, Denial> {
        let token = asker::token(headers)?;
        // Nobody closes the semaphore, and if somebody did there would still be an answer.
        let _one_of_few = self.looked_up.acquire().await.ok();
        let asker = Asker::of(&self.cluster, token, purpose).await?;
        asker.may_get(&self.cluster, path).await?;
        Ok(asker)
    }

    fn configuration(&self, pool: &str, headers: &HeaderMap, asker: &Asker) -> Answer {
        // Whether rollouts may go on is another question: a node that starts is none.
        if let Err(why) = self.view.knows() {
            return later(&format!("this replica is not ready: {why}; ask again in a moment"));
        }
        let store = self.view.caches.store();
        let (config, why) = match given(pool, &store, self.view.clock.now()) {
            Given::Config(config, why) => (config, why),
            Given::NothingYet => {
                return later(&format!(
                    "MachineConfigPool/{pool} has no rendered configuration yet; its status says why, if that lasts"
                ));
            }
            Given::NoPool => {
                return said(
                    StatusCode::NOT_FOUND,
                    &format!("there is no MachineConfigPool/{pool}; ask for one that exists"),
                );
            }
        };
        let accept: Vec<&str> =
            headers.get_all(header::ACCEPT).iter().filter_map(|part| part.to_str().ok()).collect();
        let format = match Format::negotiated(&accept.join(","), config) {
            Ok(format) => format,
            Err(why) => return said(StatusCode::NOT_ACCEPTABLE, &why),
        };
        tracing::info!(pool, config = config.name, ?why, %format, asker = asker.0.name, "a node is served");
        let document = ignition(config, format).to_string();
        drop(store);
        let mut response = Response::new(Full::new(Bytes::from(document)));
        if let Ok(kind) = HeaderValue::from_str(&format!("{MEDIA_TYPE};version={format}")) {
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        response
    }
}

/// Whether there is something behind the headers, which nobody here would read.
fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}

/// Whether this can be the name of a pool: what it is put into is a path, a message and a log.
fn is_name(text: &str) -> bool {
    let fine =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    (1..=253).contains(&text.len()) && text.bytes().all(fine) && !text.contains("..")
}

fn said(code: StatusCode, text: &str) -> Answer {
    plain(code, format!("{text}\n"))
}

/// A refusal that passes: whoever starts a node asks again.
fn later(text: &str) -> Answer {
    let mut response = said(StatusCode::SERVICE_UNAVAILABLE, text);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}
