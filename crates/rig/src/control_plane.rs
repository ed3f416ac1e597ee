//! How is a real control plane started, known to be ready, and stopped?
//!
//! etcd first, kube-apiserver beside it, the controllers once the server is ready. Ready means that the server said so, and that the
//! controllers hold their lease. On the way out the order is reversed: a kube-apiserver without its etcd would keep its port for a
//! minute. Files live in one temporary folder, which stays behind, named, when a start fails or a test panics.

use std::{
    io::{self, Write as _},
    net::TcpListener,
    path::Path,
    time::Duration,
};

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

use crate::{
    cluster::{self, ClientError, Cluster, Server},
    keep::Kept,
    pki::{Pki, PkiError},
    programs::{Missing, Programs},
    users::{self, User},
};

/// A cold start on a busy machine was seen to take 20 seconds; three minutes tell a broken start from a slow one.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Whether the controllers run beside the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controllers {
    /// The API server alone: nothing collects garbage, finishes namespaces or counts disruption budgets.
    Absent,
    /// kube-controller-manager collects garbage, finishes namespaces and counts disruption budgets.
    Running,
    /// The same, and it rolls workloads out.
    Rolling,
}

/// The controllers that change what a client of the API sees, and none that invents objects of its own.
const CONTROLLERS: &str = "disruption-controller,garbage-collector-controller,namespace-controller";

/// Those that roll out, in the words of their first writes: what a gate holds is theirs.
const ROLLING: &str =
    "deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller";

/// A running control plane, stopped on drop.
#[derive(Debug)]
pub struct ControlPlane {
    cluster: Cluster,
    /// In the order of their start.
    programs: Vec<Kept>,
    folder: TempDir,
}

/// Why a control plane did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A program is missing.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A file or a port could not be had.
    #[error("the control plane's folder or ports cannot be had")]
    Place(#[from] io::Error),
    /// The keys could not be made.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// A client could not be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server refused its first requests.
    #[error("the fresh server refused the rig")]
    Refused(#[from] kube::Error),
    /// The lent cluster did not heed the users' roles.
    #[error(
        "the lent cluster gave its users no rights\nhint: the kubeconfig must be an administrator's, with impersonation allowed"
    )]
    Rights,
    /// A program ended, or never became ready.
    #[error("{program} {what}; logs are in {folder}; its last lines:\n{last_lines}")]
    NotReady {
        /// The program.
        program: &'static str,
        /// What it did instead.
        what: String,
        /// Where the logs were left.
        folder: String,
        /// The end of its log.
        last_lines: String,
    },
}

impl ControlPlane {
    /// Starts a control plane and waits until it is ready.
    pub async fn start(
        programs: &Programs,
        controllers: Controllers,
    ) -> Result<ControlPlane, StartError> {
        let folder = tempfile::Builder::new().prefix("tidegate-control-plane-").tempdir()?;
        let pki = Pki::create(folder.path())?;
        let [etcd_port, peer_port, port] = free_ports()?;
        let url = format!("https://127.0.0.1:{port}");
        let kubeconfigs = cluster::write_kubeconfigs(folder.path(), &url, &pki)?;
        let cluster = Cluster::new(Server::Real, programs.path("kubectl")?, kubeconfigs);

        let mut plane = ControlPlane { cluster, programs: Vec::new(), folder };
        plane.launch(programs, "etcd", &etcd_arguments(etcd_port, peer_port))?;
        plane.launch(programs, "kube-apiserver", &apiserver_arguments(etcd_port, port))?;
        let admin = plane.cluster.client(User::Admin).await?;
        plane.wait_for("kube-apiserver", async || answers_ready(&admin).await).await?;
        users::bind_roles(&admin).await?;
        let cluster = plane.cluster.clone();
        plane.wait_for("kube-apiserver", async || users::have_rights(&cluster).await).await?;

        if controllers != Controllers::Absent {
            let kubeconfig = plane.cluster.kubeconfig(User::Admin).display().to_string();
            plane.launch(
                programs,
                "kube-controller-manager",
                &controller_arguments(&kubeconfig, controllers),
            )?;
            let leases: Api<Lease> = Api::namespaced(admin, "kube-system");
            plane.wait_for("kube-controller-manager", async || holds_lease(&leases).await).await?;
        }
        Ok(plane)
    }

    /// The cluster, as its users see it.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Where the keys, kubeconfigs and logs are while it runs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn launch(
        &mut self,
        programs: &Programs,
        name: &'static str,
        arguments: &[String],
    ) -> Result<(), StartError> {
        let program = Kept::start(name, &programs.path(name)?, arguments, self.folder.path())?;
        self.programs.push(program);
        Ok(())
    }

    async fn wait_for(
        &mut self,
        awaited: &'static str,
        ready: impl AsyncFn() -> bool,
    ) -> Result<(), StartError> {
        wait_for(&mut self.programs, &mut self.folder, awaited, ready).await
    }
}

/// Looks until `ready`, a program ends, or patience does.
pub(crate) async fn wait_for(
    programs: &mut [Kept],
    folder: &mut TempDir,
    awaited: &'static str,
    ready: impl AsyncFn() -> bool,
) -> Result<(), StartError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if timeout(Duration::from_secs(5), ready()).await.unwrap_or(false) {
            return Ok(());
        }
        let mut failed = None;
        for (index, program) in programs.iter_mut().enumerate() {
            if let Some(status) = program.ended()? {
                failed = Some((index, format!("ended with {status}")));
            }
        }
        if failed.is_none() && Instant::now() >= deadline {
            let index = programs.iter().position(|program| program.name() == awaited);
            let what = format!("was not ready after {} s", PATIENCE.as_secs());
            failed = index.map(|index| (index, what));
        }
        if let Some((index, what)) = failed {
            folder.disable_cleanup(true);
            let program = &programs[index];
            return Err(StartError::NotReady {
                program: program.name(),
                what,
                folder: folder.path().display().to_string(),
                last_lines: program.last_lines(20),
            });
        }
        sleep(BETWEEN_LOOKS).await;
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        while let Some(program) = self.programs.pop() {
            drop(program);
        }
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            let place = self.folder.path().display();
            let _ = writeln!(io::stderr(), "rig: the control plane's logs are in {place}");
        }
    }
}

async fn answers_ready(admin: &Client) -> bool {
    let request = http::Request::get("/readyz").body(Vec::new());
    let Ok(request) = request else { return false };
    admin.request_text(request).await.is_ok()
}

async fn holds_lease(leases: &Api<Lease>) -> bool {
    let lease = leases.get_opt("kube-controller-manager").await.ok().flatten();
    lease.and_then(|lease| lease.spec?.holder_identity).is_some_and(|holder| !holder.is_empty())
}

/// Ports nobody listens on now. All are held until the last is found, so that they differ.
pub(crate) fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    let mut ports = [0; N];
    let mut held = Vec::new();
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

fn etcd_arguments(port: u16, peer_port: u16) -> Vec<String> {
    let (client, peer) =
        (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{peer_port}"));
    let mut arguments = owned(&["--name=rig", "--data-dir=etcd", "--unsafe-no-fsync"]);
    arguments.extend([
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=rig={peer}"),
    ]);
    arguments
}

fn apiserver_arguments(etcd_port: u16, port: u16) -> Vec<String> {
    let mut arguments = owned(&[
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        // The service `kubernetes` cannot point at a loopback address; nobody here looks for it.
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--tls-cert-file=server.crt",
        "--tls-private-key-file=server.key",
        "--token-auth-file=users.csv",
        // Kubelets have the rights that every cluster gives them: their own node, and nothing of others'.
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--service-account-issuer=https://rig.invalid",
        "--service-account-key-file=tokens.pub",
        "--service-account-signing-key-file=tokens.key",
        "--allow-privileged=true",
        // Pods need no service account, and no node controller is there to take a new node's taint away again.
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
    ]);
    arguments.extend([
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        format!("--secure-port={port}"),
    ]);
    arguments
}

fn controller_arguments(kubeconfig: &str, controllers: Controllers) -> Vec<String> {
    let started = match controllers {
        Controllers::Rolling => format!("{CONTROLLERS},{ROLLING}"),
        Controllers::Absent | Controllers::Running => CONTROLLERS.to_owned(),
    };
    vec![
        format!("--kubeconfig={kubeconfig}"),
        format!("--controllers={started}"),
        "--secure-port=0".to_owned(),
        "--use-service-account-credentials=false".to_owned(),
    ]
}
