//! What does a suite hold in its hand?
//!
//! A [`Cluster`]: clients and kubeconfig files for each user, the kubectl to use, and the name of the server for messages. Nothing in it
//! tells a suite how the server came to be, so each suite runs on every server unchanged.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use serde_json::json;

use crate::{pki::Pki, users::User};

/// Which server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// A real kube-apiserver.
    Real,
    /// The server inside the process.
    Embedded,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Server::Real => "real server",
            Server::Embedded => "embedded server",
        })
    }
}

/// A running cluster, as its users see it.
#[derive(Debug, Clone)]
pub struct Cluster {
    server: Server,
    kubectl: PathBuf,
    kubeconfigs: BTreeMap<User, PathBuf>,
}

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The kubeconfig file is of no use.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[from] KubeconfigError),
    /// The client could not be set up.
    #[error("the client cannot be set up")]
    Client(#[from] kube::Error),
}

impl Cluster {
    /// A cluster whose users are described by kubeconfig files.
    pub fn new(server: Server, kubectl: PathBuf, kubeconfigs: BTreeMap<User, PathBuf>) -> Cluster {
        Cluster { server, kubectl, kubeconfigs }
    }

    /// Which server answers.
    pub fn server(&self) -> Server {
        self.server
    }

    /// The kubectl that belongs to the cluster.
    pub fn kubectl(&self) -> &Path {
        &self.kubectl
    }

    /// The kubeconfig file of a user.
    pub fn kubeconfig(&self, user: User) -> &Path {
        &self.kubeconfigs[&user]
    }

    /// A client that speaks as `user`.
    pub async fn client(&self, user: User) -> Result<Client, ClientError> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig(user))?;
        let config =
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config)?)
    }
}

/// Writes one kubeconfig for each user of a server at `url`. JSON, which every reader of YAML reads.
pub(crate) fn write_kubeconfigs(
    folder: &Path,
    url: &str,
    pki: &Pki,
) -> io::Result<BTreeMap<User, PathBuf>> {
    fs::write(folder.join("ca.crt"), &pki.authority_pem)?;
    let mut files = BTreeMap::new();
    for (user, token) in &pki.tokens {
        let path = folder.join(format!("{}.kubeconfig", user.name()));
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{
                "name": "rig",
                "cluster": { "server": url, "certificate-authority": folder.join("ca.crt") },
            }],
            "users": [{ "name": user.name(), "user": { "token": token } }],
            "contexts": [{ "name": "rig", "context": { "cluster": "rig", "user": user.name() } }],
            "current-context": "rig",
        });
        fs::write(&path, kubeconfig.to_string())?;
        files.insert(*user, path);
    }
    Ok(files)
}

/// Writes one kubeconfig for each user of a cluster that somebody lent: the administrator is whoever `lent` describes, the others are
/// impersonated.
pub(crate) fn impersonate(folder: &Path, lent: &Kubeconfig) -> io::Result<BTreeMap<User, PathBuf>> {
    let mut files = BTreeMap::new();
    for user in User::ALL {
        let mut kubeconfig = serde_json::to_value(lent)?;
        let entries = kubeconfig["users"].as_array_mut().into_iter().flatten();
        for entry in entries.filter(|_| user != User::Admin) {
            entry["user"]["as"] = json!(user.name());
        }
        let path = folder.join(format!("{}.kubeconfig", user.name()));
        fs::write(&path, kubeconfig.to_string())?;
        files.insert(user, path);
    }
    Ok(files)
}
