//! How does it go? `/metrics`, `/healthz` and `/readyz`, for those who scrape and probe.
//!
//! Nothing here names an object but the metrics, and nothing can be changed through it.

use std::{convert::Infallible, io, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use crate::{metrics, run::View};

/// A client that does not even send its headers in this time is let go.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// Answers until the future is dropped.
pub async fn serve(listener: TcpListener, view: View) -> io::Result<()> {
    loop {
        let stream = accepted(&listener).await;
        tokio::spawn(connection(stream, view.clone()));
    }
}

/// The next who comes.
pub(crate) async fn accepted(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
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
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".into());
    }
    match path {
        "/metrics" => {
            let mut response = plain(StatusCode::OK, metrics::page(view));
            let format =
                header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, format);
            response
        }
        "/healthz" => probe(view.health()),
        "/readyz" => probe(view.ready()),
        _ => plain(StatusCode::NOT_FOUND, "ask for /metrics, /healthz or /readyz\n".into()),
    }
}

pub(crate) fn probe(outcome: Result<(), String>) -> Response<Full<Bytes>> {
    match outcome {
        Ok(()) => plain(StatusCode::OK, "ok\n".into()),
        Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

pub(crate) fn plain(code: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    let format = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}
