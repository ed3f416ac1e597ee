//! How does it go? `/metrics`, `/healthz` and `/readyz`, for those who scrape and probe.
//!
//! Nothing here names an object but the metrics, and nothing can be changed through it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use front::{Answer, Limits, Protection, plain};
use http::{Method, Request, StatusCode, header};
use hyper::body::Incoming;
use schedule::Instant;
use tokio::net::TcpListener;

use crate::{metrics, run::View};

/// For so long the next scrape gets the same page: a page plans every pool, and whoever asks in a circle must not keep the loop from its
/// work.
const SAME_PAGE: Duration = Duration::from_secs(1);

/// The last page of metrics. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scraped {
    last: Arc<Mutex<Option<Scrape>>>,
}

#[derive(Debug)]
struct Scrape {
    page: Bytes,
    at: tokio::time::Instant,
    /// What the clock said: one that was set makes another page.
    now: Instant,
}

impl Scraped {
    /// The page, made anew unless the last one was made just now.
    fn page(&self, view: &View) -> Bytes {
        let now = view.clock.now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scrape) = &*last
            && scrape.at.elapsed() < SAME_PAGE
            && scrape.now == now
        {
            return scrape.page.clone();
        }
        let page = Bytes::from(metrics::page(view));
        *last = Some(Scrape { page: page.clone(), at: tokio::time::Instant::now(), now });
        page
    }
}

/// Answers until `ended`. In the clear: nothing here is secret.
pub async fn serve(listener: TcpListener, view: View, ended: impl Future<Output = ()>) {
    let answering = move |request: Request<Incoming>| {
        let answer = answer(request.method(), request.uri().path(), &view);
        std::future::ready(answer)
    };
    front::serve(listener, Protection::Clear, Limits::default(), answering, ended).await;
}

/// The answer to a request.
pub fn answer(method: &Method, path: &str, view: &View) -> Answer {
    if method != Method::GET && method != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
    }
    match path {
        "/metrics" => {
            let mut response = plain(StatusCode::OK, view.scraped.page(view));
            let format =
                header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, format);
            response
        }
        "/healthz" => probe(view.health()),
        "/readyz" => probe(view.ready()),
        _ => plain(StatusCode::NOT_FOUND, "ask for /metrics, /healthz or /readyz\n"),
    }
}

pub(crate) fn probe(outcome: Result<(), String>) -> Answer {
    match outcome {
        Ok(()) => plain(StatusCode::OK, "ok\n"),
        Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}
