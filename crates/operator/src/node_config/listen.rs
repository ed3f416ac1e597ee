//! How do new machines reach the answers? A listener of its own, with TLS, and bounds on what a stranger can make it do.
//!
//! A configuration holds secrets and so does the question, so only the loopback address is served in the clear. The files of the
//! certificate are looked at again with each connection: whoever renews them restarts nothing.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs, io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
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
/// So many of them from one address, so that one stranger cannot keep a rack from starting. Not fewer, because a whole rack may come
/// through one address: that of a load balancer, or of the machine that forwards for a Service.
const FROM_ONE_ADDRESS: usize = 64;
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
    let neighbours = Neighbours::default();
    loop {
        // Nobody closes the semaphore. Who finds no room waits to be accepted.
        let place = Arc::clone(&room).acquire_owned().await.ok();
        let (stream, from) = accepted(&listener).await;
        let Some(neighbour) = neighbours.let_in(from.ip()) else {
            // A machine that starts asks again by itself.
            tracing::debug!(%from, "too many connections from one address");
            continue;
        };
        let tls = match &protection {
            Protection::Tls(certificate) => Some(TlsAcceptor::from(certificate.current())),
            Protection::Loopback => None,
        };
        let service = service.clone();
        tokio::spawn(async move {
            // A connection that ends badly or takes too long is the client's business.
            let _ = timeout(WHOLE, connection(stream, tls, service)).await;
            drop((neighbour, place));
        });
    }
}

/// How many connections there are from each address. Clones are one.
#[derive(Clone, Debug, Default)]
struct Neighbours {
    count: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// One connection; it counts until it is dropped.
#[derive(Debug)]
struct Neighbour {
    all: Neighbours,
    from: IpAddr,
}

impl Neighbours {
    /// Lets a connection in, unless there are too many from where it comes.
    fn let_in(&self, from: IpAddr) -> Option<Neighbour> {
        let from = household(from);
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let here = count.entry(from).or_default();
        if *here >= FROM_ONE_ADDRESS {
            return None;
        }
        *here += 1;
        drop(count);
        Some(Neighbour { all: self.clone(), from })
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let mut count = self.all.count.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(here) = count.get_mut(&self.from) {
            *here -= 1;
            if *here == 0 {
                count.remove(&self.from);
            }
        }
    }
}

/// Whoever has one address of IPv6 has all that share its first half.
fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_a_part_of_the_room_and_gives_it_back() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let neighbours = Neighbours::default();
        let fill = |from: &str| -> Vec<Neighbour> {
            (0..AT_ONCE).map_while(|_| neighbours.let_in(address(from))).collect()
        };
        let stranger = fill("192.0.2.1");
        assert_eq!(stranger.len(), FROM_ONE_ADDRESS);
        assert!(
            neighbours.let_in(address("::ffff:192.0.2.1")).is_none(),
            "the same in other words"
        );
        let other = fill("192.0.2.2");
        assert_eq!(other.len(), FROM_ONE_ADDRESS, "others have room");
        let sixes = fill("2001:db8::1");
        assert_eq!(sixes.len(), FROM_ONE_ADDRESS);
        assert!(neighbours.let_in(address("2001:db8::2")).is_none(), "one household");
        assert!(neighbours.let_in(address("2001:db8:0:1::1")).is_some());
        drop((stranger, other, sixes));
        assert!(neighbours.let_in(address("192.0.2.1")).is_some());
        assert!(neighbours.count.lock().unwrap().is_empty(), "nobody is remembered who is gone");
    }
}
