//! How does Cluster API come to move machines beside a control plane?
//!
//! As `HyperShift` runs it: the manager of its core alone, without its admission webhooks, which `HyperShift` does not install either. The definitions
//! come out of the same module. What its installation adds to them is added here: the labels by which it finds the contracts of others, and the
//! conversion between its versions, which the API server asks of the manager over the loopback address.
//!
//! `TIDEGATE_CLUSTER_API` names a folder with the program and the definitions to use instead; else they come from the per-user cache, else from
//! a build of the pinned module.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use k8s_openapi::ByteString;
use kube::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    cluster::Cluster,
    control_plane::{StartError, free_ports, wait_for},
    keep::Kept,
    module::CLUSTER_API,
    pki,
    programs::Missing,
    users::User,
};

const NAME: &str = "cluster-api";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A Cluster API to start.
#[derive(Debug)]
pub struct ClusterApi {
    folder: PathBuf,
}

/// A running manager, stopped on drop.
#[derive(Debug)]
pub struct Running {
    programs: Vec<Kept>,
    folder: TempDir,
}

impl ClusterApi {
    /// Finds the program and its definitions, building them when there is no other way. `environment` answers like `std::env::var_os`.
    pub fn find(environment: impl Fn(&str) -> Option<OsString>) -> Result<ClusterApi, Missing> {
        let named = environment(CLUSTER_API.instead).filter(|folder| !folder.is_empty());
        let folder = match named {
            Some(folder) => PathBuf::from(folder),
            None => CLUSTER_API.folder(environment)?,
        };
        Ok(ClusterApi { folder })
    }

    /// The version that is pinned, such as `v1.13.4`.
    pub fn version() -> &'static str {
        CLUSTER_API.version()
    }

    /// Defines its kinds in `cluster`, starts it there and waits until it answers.
    pub async fn start(&self, cluster: &Cluster) -> Result<Running, StartError> {
        let folder = tempfile::Builder::new().prefix("tidegate-cluster-api-").tempdir()?;
        let authority = pki::write_serving(folder.path(), "tls.crt", "tls.key")?;
        let [webhooks, health] = free_ports()?;
        let client = cluster.client(User::Admin).await?;
        for file in CLUSTER_API.files() {
            let definition = definition(&self.folder.join(file), webhooks, &authority)?;
            define(&client, &definition).await?;
        }
        let arguments = [
            // The program finds out by this where it is; nothing else of a pod is there.
            "POD_NAMESPACE=capi-system".to_owned(),
            self.folder.join(NAME).display().to_string(),
            format!("--kubeconfig={}", cluster.kubeconfig(User::Admin).display()),
            format!("--webhook-cert-dir={}", folder.path().display()),
            format!("--webhook-port={webhooks}"),
            format!("--health-addr=127.0.0.1:{health}"),
            "--diagnostics-address=127.0.0.1:0".to_owned(),
            "--insecure-diagnostics".to_owned(),
            // Guests of the rig have no volumes, and the embedded server not even the kind.
            "--feature-gates=MachineWaitForVolumeDetachConsiderVolumeAttachments=false".to_owned(),
        ];
        let program = Kept::start(NAME, Path::new("env"), &arguments, folder.path())?;
        let mut manager = Running { programs: vec![program], folder };
        wait_for(&mut manager.programs, &mut manager.folder, NAME, async || {
            answers_ready(health).await.unwrap_or(false)
        })
        .await?;
        Ok(manager)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.programs.clear();
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            crate::module::say(&format!(
                "the log of {NAME} is in {}",
                self.folder.path().display()
            ));
        }
    }
}

/// A definition of the module as its installation would have it.
fn definition(path: &Path, port: u16, authority: &str) -> io::Result<Value> {
    let text = fs::read_to_string(path).map_err(|problem| {
        io::Error::new(problem.kind(), format!("{}: {problem}", path.display()))
    })?;
    let mut definition: Value = serde_saphyr::from_str(&text).map_err(io::Error::other)?;
    let labels = &mut definition["metadata"]["labels"];
    for contract in ["v1beta1", "v1beta2"] {
        labels[format!("cluster.x-k8s.io/{contract}")] = json!(contract);
    }
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {
            "url": format!("https://127.0.0.1:{port}/convert"),
            "caBundle": ByteString(authority.as_bytes().to_vec()),
        },
    }});
    Ok(definition)
}

/// Creates a definition, and waits until the server has it.
pub(crate) async fn define(client: &Client, definition: &Value) -> Result<(), StartError> {
    let request = |builder: http::request::Builder, body: Vec<u8>| {
        builder.body(body).map_err(|problem| StartError::Place(io::Error::other(problem)))
    };
    let create = http::Request::post(DEFINITIONS).header("Content-Type", "application/json");
    let create = request(create, definition.to_string().into_bytes())?;
    let made: Value = client.request(create).await?;
    let name = made["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    loop {
        let look = request(http::Request::get(format!("{DEFINITIONS}/{name}")), Vec::new())?;
        let seen: Value = client.request(look).await?;
        let conditions = seen["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True") {
            return Ok(());
        }
        tokio::time::sleep(crate::control_plane::BETWEEN_LOOKS).await;
    }
}

/// Asks a port of this machine whether it is ready, in the plainest HTTP.
async fn answers_ready(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(b"GET /readyz HTTP/1.0\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.split(' ').nth(1) == Some("200"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_folder_goes_before_the_pinned_one() {
        let found = ClusterApi::find(|name| match name {
            "TIDEGATE_CLUSTER_API" => Some("/opt/cluster-api".into()),
            _ => panic!("{name} was asked for though the folder was named"),
        });
        assert_eq!(found.unwrap().folder, Path::new("/opt/cluster-api"));
    }

    #[test]
    fn definitions_get_what_an_installation_adds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machines.yaml");
        let problem = definition(&path, 1, "").unwrap_err().to_string();
        assert!(problem.contains("machines.yaml: No such file"), "{problem}");
        fs::write(&path, "metadata:\n  name: machines.cluster.x-k8s.io\nspec:\n  group: a\n")
            .unwrap();
        let found = definition(&path, 9443, "pem").unwrap();
        assert_eq!(found["metadata"]["labels"]["cluster.x-k8s.io/v1beta2"], "v1beta2");
        assert_eq!(
            found["spec"]["conversion"]["webhook"]["clientConfig"],
            json!({"url": "https://127.0.0.1:9443/convert", "caBundle": "cGVt"})
        );
        assert_eq!(found["spec"]["group"], "a");
    }
}
