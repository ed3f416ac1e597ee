//! How does kured come to reboot nodes beside a control plane?
//!
//! Each node of a suite gets a machine: namespaces of the kernel in which the real kured runs as its pod would, with the token of its account, and
//! in which rebooting means to leave a mark. kured takes no kubeconfig and always answers on one port, so it needs a `/run` and a network of its own;
//! the API server is reached through a socket of the file system. Nothing outside the machine is touched.
//!
//! `TIDEGATE_KURED` names a folder with the programs to use instead; else they come from the per-user cache, else from a build of the pinned module.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    net::{TcpStream, UnixListener},
    task::JoinHandle,
};

use crate::{
    cluster::Cluster, control_plane::StartError, keep::Kept, module::KURED, programs::Missing,
    users::User,
};

const NAME: &str = "kured";

/// What a machine is made of: a user, mounts, a network and processes of its own, gone with whoever started it.
const UNSHARE: [&str; 7] = ["-r", "-m", "-n", "-p", "--fork", "--mount-proc", "--kill-child"];

/// A kured to start.
#[derive(Debug)]
pub struct Kured {
    folder: PathBuf,
}

/// A machine on which kured runs, ended on drop.
#[derive(Debug)]
pub struct Machine {
    program: Option<Kept>,
    serving: JoinHandle<()>,
    arguments: Vec<String>,
    before: String,
    folder: TempDir,
}

impl Kured {
    /// Finds the programs, building them when there is no other way. `environment` answers like `std::env::var_os`.
    pub fn find(environment: impl Fn(&str) -> Option<OsString>) -> Result<Kured, Missing> {
        let named = environment(KURED.instead).filter(|folder| !folder.is_empty());
        let folder = match named {
            Some(folder) => PathBuf::from(folder),
            None => KURED.folder(environment)?,
        };
        if !namespaces_can_be_made() {
            return Err(Missing::Namespaces { name: NAME });
        }
        Ok(Kured { folder })
    }

    /// The version that is pinned, such as `v1.13.1`.
    pub fn version() -> &'static str {
        KURED.version()
    }

    /// What its installation is made of: its account, its rights, and the `DaemonSet` that bears its lock.
    pub fn installation(&self) -> io::Result<Vec<Value>> {
        let mut documents = Vec::new();
        for file in ["daemonset.yaml", "rights.yaml"] {
            let text = fs::read_to_string(self.folder.join(file))?;
            let read: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(io::Error::other)?;
            documents.extend(read.into_iter().filter(|document| !document.is_null()));
        }
        Ok(documents)
    }

    /// A machine that is the node of this name in `cluster`, where kured is installed. kured asks each second whether it wants to reboot.
    pub async fn machine(&self, cluster: &Cluster, node: &str) -> Result<Machine, StartError> {
        let folder = tempfile::Builder::new().prefix("tidegate-kured-").tempdir()?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("token"), cluster.token("kube-system", NAME).await?)?;
        let (address, authority) = server(cluster.kubeconfig(User::Admin))?;
        let serving = serve(&folder.path().join("socket"), address)?;
        let mut arguments: Vec<String> = UNSHARE.map(str::to_owned).to_vec();
        arguments.extend([
            self.folder.join("machine").display().to_string(),
            path("socket"),
            path("token"),
            authority,
            self.folder.join(NAME).display().to_string(),
            format!("--node-id={node}"),
            "--period=1s".to_owned(),
            format!("--reboot-sentinel={}", path("wanted")),
            format!("--reboot-command=/usr/bin/touch {}", path("rebooted")),
        ]);
        let mut machine =
            Machine { program: None, serving, arguments, before: String::new(), folder };
        machine.start()?;
        Ok(machine)
    }
}

impl Machine {
    /// From now on it wants to reboot.
    pub fn want_reboot(&self) -> io::Result<()> {
        fs::write(self.folder.path().join("wanted"), "")
    }

    /// Whether kured has told it to reboot.
    pub fn is_told_to_reboot(&self) -> bool {
        self.folder.path().join("rebooted").exists()
    }

    /// Reboots: whatever runs there ends, what wanted it is done, and kured starts anew.
    pub fn reboot(&mut self) -> io::Result<()> {
        self.before = self.log();
        self.program = None;
        for file in ["wanted", "rebooted"] {
            fs::remove_file(self.folder.path().join(file))?;
        }
        self.start()
    }

    /// All that kured has said there.
    pub fn log(&self) -> String {
        let now = fs::read(self.folder.path().join("kured.log")).unwrap_or_default();
        format!("{}{}", self.before, String::from_utf8_lossy(&now))
    }

    fn start(&mut self) -> io::Result<()> {
        let program = Kept::start(NAME, Path::new("unshare"), &self.arguments, self.folder.path())?;
        self.program = Some(program);
        Ok(())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.program = None;
        self.serving.abort();
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            crate::module::say(&format!(
                "the log of {NAME} is in {}",
                self.folder.path().display()
            ));
        }
    }
}

/// Where a kubeconfig of the rig says that its server is, and the file of its authority.
fn server(kubeconfig: &Path) -> io::Result<(String, String)> {
    let text = fs::read_to_string(kubeconfig)?;
    let kubeconfig: Value = serde_json::from_str(&text).map_err(io::Error::other)?;
    let cluster = &kubeconfig["clusters"][0]["cluster"];
    let address = cluster["server"].as_str().and_then(|url| url.strip_prefix("https://"));
    let authority = cluster["certificate-authority"].as_str();
    let both = address.zip(authority).map(|(one, other)| (one.to_owned(), other.to_owned()));
    both.ok_or_else(|| io::Error::other("the kubeconfig names no server with an authority"))
}

/// Carries what comes to a socket of the file system to an address, and back.
fn serve(socket: &Path, address: String) -> io::Result<JoinHandle<()>> {
    let listener = UnixListener::bind(socket)?;
    Ok(tokio::spawn(async move {
        while let Ok((mut inside, _)) = listener.accept().await {
            let address = address.clone();
            tokio::spawn(async move {
                if let Ok(mut outside) = TcpStream::connect(address).await {
                    // Whoever speaks there notices that it ended.
                    let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
                }
            });
        }
    }))
}

/// Whether this user may make namespaces.
fn namespaces_can_be_made() -> bool {
    let tried = Command::new("unshare")
        .args(UNSHARE)
        .arg("true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_server_is_stands_in_the_kubeconfig() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        let cluster = r#"{"clusters":[{"cluster":{"server":"https://127.0.0.1:1","certificate-authority":"/ca"}}]}"#;
        fs::write(&path, cluster).unwrap();
        assert_eq!(server(&path).unwrap(), ("127.0.0.1:1".to_owned(), "/ca".to_owned()));
        fs::write(&path, "{}").unwrap();
        assert!(server(&path).unwrap_err().to_string().contains("names no server"));
    }
}
