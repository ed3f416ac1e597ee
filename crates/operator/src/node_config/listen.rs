//! How do new nodes reach the answers? By a listener of its own, with TLS.
//!
//! A configuration holds secrets and so does the question, so only the loopback address is served in the clear.

use std::{net::SocketAddr, path::Path};

use front::{Certificate, Limits};
pub use front::{CertificateError, Protection};
use http::Request;
use hyper::body::Incoming;
use tokio::net::TcpListener;

use super::NodeConfig;

/// So many connections at once: a rack that starts, and room for strangers who only hold on.
const AT_ONCE: usize = 256;
/// So many of them from one address: a whole rack may come through one.
const FROM_ONE_ADDRESS: usize = 64;

/// Why there is no listener.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Configurations would be sent in the clear.
    #[error(
        "configurations hold secrets and would be sent in the clear on {0}\n  hint: name the files of a certificate and its key, or use a loopback address"
    )]
    Unprotected(SocketAddr),
    /// The certificate is of no use.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// The protection of an address: by the files of a certificate and its key, if they are named.
pub fn protection(
    address: SocketAddr,
    files: Option<(&Path, &Path)>,
) -> Result<Protection, ListenError> {
    match files {
        Some((chain, key)) => Ok(Protection::Tls(Certificate::read(chain, key)?)),
        None if address.ip().is_loopback() => Ok(Protection::Clear),
        None => Err(ListenError::Unprotected(address)),
    }
}

/// Answers until `ended`.
pub async fn serve(
    listener: TcpListener,
    protection: Protection,
    service: NodeConfig,
    ended: impl Future<Output = ()>,
) {
    let limits =
        Limits { at_once: AT_ONCE, from_one_address: FROM_ONE_ADDRESS, ..Limits::default() };
    let answering = move |request: Request<Incoming>| {
        let service = service.clone();
        async move { service.answer(&request).await }
    };
    front::serve(listener, protection, limits, answering, ended).await;
}
