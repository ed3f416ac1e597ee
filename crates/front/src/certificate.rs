//! How is a connection protected? By a certificate whose files are looked at again with each connection: whoever renews them restarts
//! nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use tokio_rustls::rustls::{
    self, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

/// How a connection is protected.
#[derive(Debug)]
pub enum Protection {
    /// By TLS.
    Tls(Certificate),
    /// Not at all.
    Clear,
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

/// Why a certificate is of no use.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be used.
    #[error("{} cannot be used: {why}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The key does not match the certificate.
    #[error("the key does not match the certificate {}", path.display())]
    Pair {
        /// The certificate.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: rustls::Error,
    },
}

impl Protection {
    /// How an address that is protected like this begins.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Tls(_) => "https",
            Self::Clear => "http",
        }
    }
}

impl Certificate {
    /// Reads the files.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, CertificateError> {
        let stamps = stamps(chain, key);
        let read = Mutex::new((stamps, configured(chain, key)?));
        Ok(Self { chain: chain.to_owned(), key: key.to_owned(), read })
    }

    /// What connections are accepted with. Files that changed are read again; if they cannot be used, the old ones serve on, and the next
    /// connection looks again: a pair is rarely written in one step.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
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

fn configured(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>, CertificateError> {
    let unusable = |path: &Path, why: &dyn ToString| CertificateError::File {
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
    let no_pair = |source| CertificateError::Pair { path: chain.to_owned(), source };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(no_pair)?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(no_pair)?;
    Ok(Arc::new(config))
}
