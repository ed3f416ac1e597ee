//! How do others reach what a program answers? A listener, TLS if there is a certificate, and bounds on what a stranger can make it do.
//!
//! An answer is a function of a request. Each connection is one question and one answer. A crate of its own and not a part of the runtime,
//! because agents link that, are root on hosts, and answer nobody.

mod certificate;
mod limits;
mod neighbours;

use std::{convert::Infallible, error::Error, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use self::neighbours::Neighbours;
pub use self::{
    certificate::{Certificate, CertificateError, Protection},
    limits::Limits,
};

/// What most are answered: no answer is larger than a few megabytes, so it is made whole. Whoever tells what happens as it happens answers
/// with a body of another kind.
pub type Answer = Response<Full<Bytes>>;

/// Answers until `ended`; then nobody new is let in, and who is being answered gets a moment to be answered.
pub async fn serve<F, B>(
    listener: TcpListener,
    protection: Protection,
    limits: Limits,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    ended: impl Future<Output = ()>,
) where
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(limits.at_once));
    let neighbours = Neighbours::new(limits.from_one_address);
    let (end, ending) = watch::channel(());
    let letting_in = async {
        loop {
            // Nobody closes the semaphore. Who finds no room waits to be accepted.
            let place = Arc::clone(&room).acquire_owned().await.ok();
            let (stream, from) = accepted(&listener).await;
            let Some(neighbour) = neighbours.let_in(from.ip()) else {
                tracing::debug!(%from, "too many connections from one address");
                continue;
            };
            let tls = match &protection {
                Protection::Tls(certificate) => Some(TlsAcceptor::from(certificate.current())),
                Protection::Clear => None,
            };
            let (answer, ending) = (answer.clone(), ending.clone());
            tokio::spawn(async move {
                // A connection that ends badly or takes too long is the client's business.
                let _ =
                    timeout(limits.whole, connection(stream, tls, limits, answer, ending)).await;
                drop((neighbour, place));
            });
        }
    };
    tokio::select! {
        biased;
        () = ended => {}
        () = letting_in => {}
    }
    drop((listener, end));
    let everybody = u32::try_from(limits.at_once).unwrap_or(u32::MAX);
    // Who takes longer is cut off, as by the end of the program.
    let _ = timeout(limits.farewell, room.acquire_many(everybody)).await;
}

/// A plain text.
pub fn plain(code: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = code;
    let format = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}

/// The next who comes.
async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            // Out of descriptors, most likely: that passes.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection<F, B>(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    answer: impl Fn(Request<Incoming>) -> F,
    ending: watch::Receiver<()>,
) where
    F: Future<Output = Response<B>>,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    match tls {
        None => exchange(stream, limits, answer, ending).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(limits.hello, tls.accept(stream)).await {
                exchange(stream, limits, answer, ending).await;
            }
        }
    }
}

/// One question, one answer.
async fn exchange<F, B>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    limits: Limits,
    answer: impl Fn(Request<Incoming>) -> F,
    mut ending: watch::Receiver<()>,
) where
    F: Future<Output = Response<B>>,
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let answering = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.hello)
        .max_buf_size(limits.longest_request)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answering);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        // Whoever has not asked yet is let go; who has is answered.
        _ = ending.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
