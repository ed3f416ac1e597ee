//! The front door for kubectl: HTTP on loopback, and a kubeconfig that leads there.
//!
//! Everybody who comes in is an administrator, so there is no way to listen anywhere else, requests that a web page could have sent
//! (with an `Origin`, or under another host name) are refused, and so are those of other users of the machine, who do not know the token
//! ([`Access::Token`]). kubectl sends no credentials over plain HTTP, so the token is the first part of every path: the address in the
//! kubeconfig ends in it. A refusal at the door is dated like every other answer.

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header, uri::PathAndQuery};
use http_body_util::Full;
use hyper::{body::Incoming as HyperBody, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use ring::digest::{SHA256, digest};
use tokio::net::{TcpListener, TcpStream};
use tower::Service as _;

use crate::{
    call::refusal_response,
    server::Server,
    service::{Service, dated},
    status::{Refusal, SERVER_NAME},
};

/// A client that does not even send its headers in this time is let go.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// Who may come in.
#[derive(Clone, PartialEq, Eq)]
pub enum Access {
    /// Whoever reaches the port: every user of this machine. For tests.
    Everybody,
    /// Whoever knows this token: it is the first part of the path, or a bearer token.
    Token(String),
}

/// The token is in no log.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Everybody => "Everybody",
            Self::Token(_) => "Token",
        })
    }
}

/// A listening server.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    access: Access,
    service: Service,
    server: Server,
}

impl Server {
    /// Listens on a loopback port; 0 takes a free one.
    pub async fn listen(&self, port: u16, access: Access) -> io::Result<Listener> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = socket.local_addr()?;
        Ok(Listener { socket, address, access, service: self.service(), server: self.clone() })
    }
}

impl Listener {
    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig for this server. Whoever can read it can do everything here.
    pub fn kubeconfig(&self) -> String {
        kubeconfig(self.address, &self.access)
    }

    /// Serves until the future is dropped.
    pub async fn run(self) -> io::Result<()> {
        let Self { socket, access, service, server, .. } = self;
        loop {
            let stream = accepted(&socket).await;
            tokio::spawn(connection(stream, access.clone(), service.clone(), server.clone()));
        }
    }
}

/// The kubeconfig of a server at an address: always these very bytes, so that one who finds it can tell that it is nothing else.
pub fn kubeconfig(address: SocketAddr, access: &Access) -> String {
    let token = match access {
        Access::Everybody => String::new(),
        Access::Token(token) => format!("/{token}"),
    };
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: embedded\n  cluster:\n    server: http://{address}{token}\ncontexts:\n- name: embedded\n  context:\n    cluster: embedded\n    user: admin\n    namespace: default\ncurrent-context: embedded\nusers:\n- name: admin\n  user: {{}}\n"
    )
}

/// Answers local clients by a function until the future is dropped; requests that a web page could have sent never reach it.
pub async fn answer_locally<A>(socket: TcpListener, answer: A) -> io::Result<()>
where
    A: Fn(&Request<HyperBody>) -> Response<Full<Bytes>> + Clone + Send + 'static,
{
    loop {
        let stream = accepted(&socket).await;
        let answer = answer.clone();
        let answer = hyper::service::service_fn(move |request: Request<HyperBody>| {
            let answered = match suspicious(request.headers()) {
                Some(refusal) => {
                    let mut response = Response::new(Full::from(format!("{}\n", refusal.message)));
                    *response.status_mut() = StatusCode::FORBIDDEN;
                    response
                }
                None => answer(&request),
            };
            async move { Ok::<_, Infallible>(answered) }
        });
        tokio::spawn(async move {
            // A connection that ends badly is the client's business.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_PATIENCE)
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

/// The next who comes.
async fn accepted(socket: &TcpListener) -> TcpStream {
    loop {
        match socket.accept().await {
            Ok((stream, _)) => return stream,
            // A client that left before it was accepted is not our failure; running out of descriptors passes.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection(stream: TcpStream, access: Access, service: Service, server: Server) {
    let _ = stream.set_nodelay(true);
    let answer = hyper::service::service_fn(move |mut request: Request<HyperBody>| {
        let (mut service, server) = (service.clone(), server.clone());
        let refused = suspicious(request.headers()).or_else(|| access.admit(&mut request).err());
        async move {
            match refused {
                Some(refusal) => Ok(dated(refusal_response(&refusal), server.now())),
                None => service.call(request).await,
            }
        }
    });
    // A connection that ends badly is the client's business; the next one is not affected.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

impl Access {
    /// Takes the token off a request, or refuses one that has none.
    fn admit<B>(&self, request: &mut Request<B>) -> Result<(), Refusal> {
        let Self::Token(token) = self else { return Ok(()) };
        if let Some(rest) = behind(token, request.uri()) {
            *request.uri_mut() = rest;
            return Ok(());
        }
        let given = request.headers().get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
        if given.and_then(|given| given.strip_prefix("Bearer ")).is_some_and(|g| same(g, token)) {
            return Ok(());
        }
        let why = format!("{SERVER_NAME} answers those who have its kubeconfig");
        Err(Refusal::new(401, "Unauthorized", why))
    }
}

/// What a path asks for behind its first part, if that is the token.
fn behind(token: &str, uri: &Uri) -> Option<Uri> {
    let asked = uri.path_and_query()?.as_str().strip_prefix('/')?;
    let end = asked.find(['/', '?']).unwrap_or(asked.len());
    let (given, rest) = asked.split_at(end);
    if !same(given, token) {
        return None;
    }
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
    Uri::from_parts(parts).ok()
}

/// Compares without telling by the time it takes how much of a guess was right.
fn same(given: &str, token: &str) -> bool {
    digest(&SHA256, given.as_bytes()).as_ref() == digest(&SHA256, token.as_bytes()).as_ref()
}

fn suspicious(headers: &HeaderMap) -> Option<Refusal> {
    let text = |name| headers.get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let local = matches!(name, "127.0.0.1" | "localhost" | "");
    if local && !headers.contains_key(header::ORIGIN) {
        return None;
    }
    let why = format!("{SERVER_NAME} answers local clients only, not web pages");
    Some(Refusal::new(403, "Forbidden", why))
}
