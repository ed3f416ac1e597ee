//! Which cluster, and how is it reached?
//!
//! EXEC-4: the client of `kube` sends a refused write again by itself unless told otherwise, up to fifteen times and as late as the
//! server likes. Here it is told otherwise. Deadlines belong to each call and stand in [`crate::call`].

use std::path::{Path, PathBuf};

use kube::{
    Client, Config,
    config::{InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError},
};

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The named kubeconfig is of no use.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[source] Box<KubeconfigError>),
    /// No cluster was named, and this is no pod.
    #[error(
        "no cluster is known here\n  hint: name a kubeconfig, or run in a pod with a service account"
    )]
    Nowhere(#[source] Box<InferConfigError>),
    /// The client could not be set up.
    #[error("the client cannot be set up")]
    Client(#[source] Box<kube::Error>),
}

/// Reads the configuration of a cluster: from a file if one is named, else as every Kubernetes client does.
pub async fn configuration(kubeconfig: Option<&Path>) -> Result<Config, ConnectError> {
    let Some(path) = kubeconfig else {
        return Config::infer().await.map_err(|error| ConnectError::Nowhere(Box::new(error)));
    };
    let unusable = |error| ConnectError::Kubeconfig(Box::new(error));
    let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(unusable)
}

/// A server that is spoken to like an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is, as in `https://host:port`.
    pub url: String,
    /// The file of the authority that vouches for it; none where nothing is encrypted.
    pub authority: Option<PathBuf>,
    /// The file of the token to show.
    pub token: PathBuf,
}

/// The configuration of such a server. Its files are read now.
pub async fn at(place: &Place) -> Result<Config, ConnectError> {
    let Place { url, authority, token } = place;
    let unusable = |error| ConnectError::Kubeconfig(Box::new(error));
    let described = serde_json::json!({
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": authority}}],
        "users": [{"name": "u", "user": {"tokenFile": token}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    });
    let kubeconfig = Kubeconfig::from_yaml(&described.to_string()).map_err(unusable)?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(unusable)
}

/// A client that sends every request once.
pub fn connect(mut config: Config) -> Result<Client, ConnectError> {
    config.default_retry = false;
    // Whoever checks no certificate needs none to check with; a node without a bundle has none. Trusting nobody is the safe answer if
    // one is to be checked after all.
    let unchecked = config.accept_invalid_certs || config.cluster_url.scheme_str() == Some("http");
    if unchecked && config.root_cert.is_none() {
        config.root_cert = Some(Vec::new());
    }
    Client::try_from(config).map_err(|error| ConnectError::Client(Box::new(error)))
}
