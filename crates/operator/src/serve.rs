//! How does it go? `/metrics`, `/healthz` and `/readyz`, for those who scrape and probe.
//!
//! Nothing here names an object but the metrics, and nothing can be changed through it.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use schedule::Instant;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use crate::{metrics, run::View};

/// A client that does not even send its headers in this time is let go.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);
/// So many connections at once: a few collectors and the kubelet, and room for those who only hold on.
const AT_ONCE: usize = 64;
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

/// Answers until the future is dropped.
pub async fn serve(listener: TcpListener, view: View) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        // Nobody closes the semaphore. Who finds no room waits to be accepted.
        let place = Arc::clone(&room).acquire_owned().await.ok();
        let (stream, _) = accepted(&listener).await;
        let view = view.clone();
        tokio::spawn(async move {
            connection(stream, view).await;
            drop(place);
        });
    }
}

/// The next who comes.
pub(crate) async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // Out of descriptors, most likely: that passes.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection(stream: TcpStream, view: View) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = answer(request.method(), request.uri().path(), &view);
        async move { Ok::<_, Infallible>(response) }
    });
    // A connection that ends badly is the client's business.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// The answer to a request.
pub fn answer(method: &Method, path: &str, view: &View) -> Response<Full<Bytes>> {
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

pub(crate) fn probe(outcome: Result<(), String>) -> Response<Full<Bytes>> {
    match outcome {
        Ok(()) => plain(StatusCode::OK, "ok\n"),
        Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

pub(crate) fn plain(code: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = code;
    let format = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}
