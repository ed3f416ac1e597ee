//! How is a cluster used that somebody else runs?
//!
//! By its kubeconfig, with an explicit yes (see [`crate::suite`]). Whoever it describes must be an administrator; the other users are
//! impersonated.

use std::path::Path;

use kube::config::Kubeconfig;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::{
    cluster::{self, ClientError, Cluster, Server},
    control_plane::{BETWEEN_LOOKS, PATIENCE, StartError},
    users::{self, User},
};

/// A cluster that somebody lent by kubeconfig, with the folder that holds the users' files.
#[derive(Debug)]
pub(crate) struct Lent {
    cluster: Cluster,
    _folder: TempDir,
}

impl Lent {
    /// Takes the cluster that `kubeconfig` describes, and gives the users their rights there.
    pub(crate) async fn take(kubeconfig: &Path, kubectl: &Path) -> Result<Lent, StartError> {
        let lent = Kubeconfig::read_from(kubeconfig).map_err(ClientError::from)?;
        let folder = tempfile::Builder::new().prefix("tidegate-users-").tempdir()?;
        let users = cluster::impersonate(folder.path(), &lent)?;
        let cluster = Cluster::new(Server::Real, kubectl.to_owned(), users);
        users::bind_roles(&cluster.client(User::Admin).await?).await?;
        let deadline = Instant::now() + PATIENCE;
        while !users::have_rights(&cluster).await {
            if Instant::now() >= deadline {
                return Err(StartError::Rights);
            }
            sleep(BETWEEN_LOOKS).await;
        }
        Ok(Lent { cluster, _folder: folder })
    }

    /// The cluster, as its users see it.
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }
}
