//! The front door for kubectl: HTTP on loopback, and a kubeconfig that leads there.
//!
//! There is no authentication, so there is no way to listen anywhere else, and requests that a web page could have sent
//! (with an `Origin`, or under another host name) are refused. Every answer is dated by the server's own clock, which may not be the
//! machine's: whoever counts from `now` asks the server, as they would ask a real one.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use http::{HeaderValue, Request, Response, header};
use hyper::{body::Incoming as HyperBody, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};
use tokio::net::{TcpListener, TcpStream};
use tower::Service as _;

use crate::{
    body::Body,
    call::refusal_response,
    server::Server,
    service::{Lost, Service},
    status::{Refusal, SERVER_NAME},
};

/// A client that does not even send its headers in this time is let go.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// A listening server.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    service: Service,
    server: Server,
}

impl Server {
    /// Listens on a loopback port; 0 takes a free one.
    pub async fn listen(&self, port: u16) -> io::Result<Listener> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = socket.local_addr()?;
        Ok(Listener { socket, address, service: self.service(), server: self.clone() })
    }
}

impl Listener {
    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig for this server.
    pub fn kubeconfig(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: embedded\n  cluster:\n    server: http://{}\ncontexts:\n- name: embedded\n  context:\n    cluster: embedded\n    user: admin\n    namespace: default\ncurrent-context: embedded\nusers:\n- name: admin\n  user: {{}}\n",
            self.address
        )
    }

    /// Serves until the future is dropped.
    pub async fn run(self) -> io::Result<()> {
        loop {
            let stream = match self.socket.accept().await {
                Ok((stream, _)) => stream,
                // A client that left before it was accepted is not our failure; running out of descriptors passes.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            };
            tokio::spawn(connection(stream, self.service.clone(), self.server.clone()));
        }
    }
}

async fn connection(stream: TcpStream, service: Service, server: Server) {
    let _ = stream.set_nodelay(true);
    let answer = hyper::service::service_fn(move |request: Request<HyperBody>| {
        let (mut service, server) = (service.clone(), server.clone());
        async move {
            let mut answer = match suspicious(&request) {
                Some(refusal) => refusal_response(&refusal),
                None => service.call(request).await?,
            };
            answer.headers_mut().extend(date(server.now()).map(|date| (header::DATE, date)));
            Ok::<Response<Body>, Lost>(answer)
        }
    });
    // A connection that ends badly is the client's business; the next one is not affected.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

/// An instant as HTTP writes it; none if it is before or after all that HTTP can write.
fn date(now: Timestamp) -> Option<HeaderValue> {
    let written = DateTimePrinter::new().timestamp_to_rfc9110_string(&now).ok()?;
    HeaderValue::try_from(written).ok()
}

fn suspicious(request: &Request<HyperBody>) -> Option<Refusal> {
    let text =
        |name| request.headers().get(name).and_then(|v: &header::HeaderValue| v.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let local = matches!(name, "127.0.0.1" | "localhost" | "");
    if local && text(header::ORIGIN).is_none() {
        return None;
    }
    let why = format!("{SERVER_NAME} answers local clients only, not web pages");
    Some(Refusal::new(403, "Forbidden", why))
}
