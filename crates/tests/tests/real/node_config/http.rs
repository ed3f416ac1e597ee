//! How does a node ask that has nothing but a socket?

use std::{fmt::Write as _, net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName},
    },
};

/// What was answered; the code is 0 if nothing that makes sense was.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

pub(crate) enum Connection {
    Plain(SocketAddr),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl Connection {
    /// A connection to a server that this certificate vouches for; none if it vouches for another.
    pub(crate) async fn tls(
        address: SocketAddr,
        trusted: CertificateDer<'static>,
    ) -> Option<Connection> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.ok()?;
        Some(Connection::Tls(Box::new(stream)))
    }
}

/// Asks once and reads to the end.
pub(crate) async fn ask(
    connection: Connection,
    method: &str,
    path: &str,
    token: Option<&str>,
    accept: &str,
) -> Answer {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in [
        ("Authorization", token.map(|token| format!("Bearer {token}"))),
        ("Accept", Some(accept.to_owned()).filter(|accept| !accept.is_empty())),
    ] {
        if let Some(value) = value {
            let _ = write!(request, "{name}: {value}\r\n");
        }
    }
    request.push_str("\r\n");
    let answered = match connection {
        Connection::Plain(address) => {
            exchange(TcpStream::connect(address).await.unwrap(), &request).await
        }
        Connection::Tls(stream) => exchange(*stream, &request).await,
    };
    let (head, body) = answered.split_once("\r\n\r\n").unwrap_or((&answered, ""));
    let mut lines = head.lines();
    let code = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let headers = lines.filter_map(|line| line.split_once(": "));
    Answer {
        code,
        headers: headers.map(|(key, value)| (key.to_lowercase(), value.to_owned())).collect(),
        body: body.to_owned(),
    }
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answered = Vec::new();
    // A server that hangs up without a goodbye has still said what it said.
    let _ = stream.read_to_end(&mut answered).await;
    String::from_utf8_lossy(&answered).into_owned()
}
