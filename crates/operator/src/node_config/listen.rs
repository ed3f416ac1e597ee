//! How do new machines reach the answers? A listener of its own, with TLS, and bounds on what a stranger can make it do.
//!
//! A configuration holds secrets and so does the question, so only the loopback address is served in the clear. The files of the
//! certificate are looked at again with each connection: whoever renews them restarts nothing.

use std::{
    convert::Infallible,
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

use super::NodeConfig;
use crate::serve::accepted;

/// So many connections at once: a rack that starts, and room for strangers who only hold on.
const AT_ONCE: usize = 256;
/// A client that does not greet or send its headers in this time is let go.
const HELLO: Duration = Duration::from_secs(10);
/// From the first byte to the last: a configuration of a megabyte, slowly.
const WHOLE: Duration = Duration::from_mins(2);
/// What a request may be long: a path, and a token of a few kilobytes.
const LONGEST_REQUEST: usize = 32 * 1024;

/// How a connection is protected.
#[derive(Debug)]
pub enum Protection {
    /// By TLS.
    Tls(Certificate),
    /// Not at all: only for the loopback address.
    Loopback,
}

/// The files of a certificate and its key, and what was last read from them.
#[derive(Debug)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    read: Mutex<(Stamps, Arc<ServerConfig>)>,
}

/// When files were last written, and how long they are.
type Stamps = [Option<(SystemTime, u64)>; 2];

/// Why there is no listener.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Configurations would be sent in the clear.
    #[error(
        "configurations hold secrets and would be sent in the clear on {0}\n  hint: name the files of a certificate and its key, or use a loopback address"
    )]
    Unprotected(SocketAddr),
    /// A file cannot be used.
    #[error("{} cannot be used: {why}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The certificate and the key are no pair.
    #[error("{} and its key are no pair", path.display())]
    Pair {
        /// The certificate.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: rustls::Error,
    },
}

impl Protection {
    /// The protection of an address.
    pub fn of(address: SocketAddr, files: Option<(&Path, &Path)>) -> Result<Self, ListenError> {
        match files {
            Some((chain, key)) => Certificate::read(chain, key).map(Self::Tls),
            None if address.ip().is_loopback() => Ok(Self::Loopback),
            None => Err(ListenError::Unprotected(address)),
        }
    }

    /// How an address that is protected like this begins.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Tls(_) => "https",
            Self::Loopback => "http",
        }
    }
}

impl Certificate {
    /// Reads the files.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, ListenError> {
        let stamps = stamps(chain, key);
        let read = Mutex::new((stamps, configured(chain, key)?));
        Ok(Self { chain: chain.to_owned(), key: key.to_owned(), read })
    }

    /// What connections are accepted with. Files that changed are read again; if they cannot be used, the old ones serve on, and the next
    /// connection looks again: a pair is rarely written in one step.
    fn current(&self) -> Arc<ServerConfig> {
        let now = stamps(&self.chain, &self.key);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != now {
            match configured(&self.chain, &self.key) {
                Ok(config) => {
                    tracing::info!(chain = %self.chain.display(), "the certificate was read again");
                    *read = (now, config);
                }
                Err(error) => {
                    tracing::warn!(%error, "the certificate has changed and cannot be used");
                }
            }
        }
        Arc::clone(&read.1)
    }
}

fn stamps(chain: &Path, key: &Path) -> Stamps {
    [chain, key].map(|path| {
        let file = fs::metadata(path).ok()?;
        Some((file.modified().ok()?, file.len()))
    })
}

fn configured(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>, ListenError> {
    let unusable = |path: &Path, why: &dyn ToString| ListenError::File {
        path: path.to_owned(),
        why: why.to_string(),
    };
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(chain, &error))?;
    if certificates.is_empty() {
        return Err(unusable(chain, &"there is no certificate in it"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
    let no_pair = |source| ListenError::Pair { path: chain.to_owned(), source };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(no_pair)?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(no_pair)?;
    Ok(Arc::new(config))
}

/// Answers until the future is dropped.
pub async fn serve(
    listener: TcpListener,
    protection: Protection,
    service: NodeConfig,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        // Nobody closes the semaphore. Who finds no room waits to be accepted.
        let place = Arc::clone(&room).acquire_owned().await.ok();
        let stream = accepted(&listener).await;
        let tls = match &protection {
            Protection::Tls(certificate) => Some(TlsAcceptor::from(certificate.current())),
            Protection::Loopback => None,
        };
        let service = service.clone();
        tokio::spawn(async move {
            // A connection that ends badly or takes too long is the client's business.
            let _ = timeout(WHOLE, connection(stream, tls, service)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, service: NodeConfig) {
    match tls {
        None => exchange(stream, service).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HELLO, tls.accept(stream)).await {
                exchange(stream, service).await;
            }
        }
    }
}

/// One question, one answer.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(stream: S, service: NodeConfig) {
    let answering = service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.answer(&request).await) }
    });
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HELLO)
        .max_buf_size(LONGEST_REQUEST)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answering)
        .await;
}
