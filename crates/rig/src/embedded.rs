//! How does a suite get the embedded server?
//!
//! On a thread and runtime of its own, behind its loopback port, so that a suite may block, run kubectl, and find everything as it finds
//! it on a real server. It knows no users: everybody is the administrator there. Clock and controllers are the ordinary ones.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc,
    thread::JoinHandle,
};

use apiserver::{Access, RuntimeClock, Settings, Workloads};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::{
    cluster::{Cluster, Server},
    users::User,
};

/// A running embedded server, stopped on drop.
#[derive(Debug)]
pub struct Embedded {
    cluster: Cluster,
    /// The thread ends when this does.
    running: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Embedded {
    /// Starts a server; `kubectl` is the program that its suites use.
    pub fn start(kubectl: &Path) -> io::Result<Embedded> {
        let folder = tempfile::Builder::new().prefix("tidegate-embedded-").tempdir()?;
        let (running, ended) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let clock = RuntimeClock::starting_at(Timestamp::now());
                let server = apiserver::Server::new(
                    clock,
                    Settings { workloads: Workloads::Served, ..Settings::default() },
                );
                match server.listen(0, Access::Everybody).await {
                    Ok(listener) => {
                        // Nobody hears this when the starter is gone; then the end is near too.
                        let _ = tell.send(Ok(listener.address()));
                        tokio::select! {
                            _ = ended => {}
                            _ = listener.run() => {}
                        }
                    }
                    Err(problem) => {
                        let _ = tell.send(Err(problem));
                    }
                }
            });
        });
        let address = told.recv().map_err(io::Error::other)??;
        let kubeconfigs = write_kubeconfigs(folder.path(), &format!("http://{address}"))?;
        let cluster = Cluster::new(Server::Embedded, kubectl.to_owned(), kubeconfigs);
        Ok(Embedded { cluster, running: Some(running), thread: Some(thread), _folder: folder })
    }

    /// The cluster, as its users see it.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so on standard error.
            let _ = thread.join();
        }
    }
}

fn write_kubeconfigs(folder: &Path, url: &str) -> io::Result<BTreeMap<User, PathBuf>> {
    let path = folder.join("kubeconfig");
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "embedded", "cluster": { "server": url } }],
        "users": [{ "name": "anyone", "user": {} }],
        "contexts": [{ "name": "embedded", "context": { "cluster": "embedded", "user": "anyone" } }],
        "current-context": "embedded",
    });
    fs::write(&path, kubeconfig.to_string())?;
    Ok(User::ALL.into_iter().map(|user| (user, path.clone())).collect())
}
