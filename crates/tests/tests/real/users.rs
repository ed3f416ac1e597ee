//! Has every user of a real server the rights it should begin with, and is nothing left when the server is gone?

use std::{
    net::TcpStream,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use rig::{Cluster, Controllers, User, suite};
use serde_json::{Value, from_value, json};

#[test]
fn users_begin_with_their_rights_and_nothing_is_left_behind() {
    let mut traces = None;
    suite::on_real("users", Controllers::Absent, async |cluster| {
        traces = Some(Traces::of(cluster));
        rights(cluster).await;
    });
    if let Some(traces) = traces {
        traces.are_gone();
        assert!(!traces.kubeconfig.exists(), "{} is left", traces.kubeconfig.display());
    }
}

#[test]
fn panicking_suite_leaves_no_server_behind() {
    let mut traces = None;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        suite::on_real("users-panic", Controllers::Running, async |cluster| {
            traces = Some(Traces::of(cluster));
            panic!("on purpose");
        });
    }));
    // Where there is no server the suite was left out, and nothing panicked.
    assert_eq!(outcome.is_err(), traces.is_some());
    if let Some(traces) = traces {
        traces.are_gone();
        // The logs of a failed suite are kept for whoever asks why; this one failed on purpose.
        let _ = std::fs::remove_dir_all(traces.kubeconfig.parent().unwrap());
    }
}

async fn rights(cluster: &Cluster) {
    for (user, writes_maps, writes_nodes) in [
        (User::Admin, true, true),
        (User::Operator, false, false),
        (User::Agent, false, false),
        (User::Editor, true, false),
    ] {
        let client = cluster.client(user).await.unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        maps.list(&ListParams::default()).await.unwrap_or_else(|no| panic!("{user:?} reads: {no}"));
        let name = json!({ "metadata": { "generateName": "rights-" } });
        let created = maps.create(&PostParams::default(), &from_value(name.clone()).unwrap()).await;
        assert_eq!(allowed(created), writes_maps, "{user:?} writes config maps");
        let nodes: Api<Node> = Api::all(client);
        let created = nodes.create(&PostParams::default(), &from_value(name).unwrap()).await;
        assert_eq!(allowed(created), writes_nodes, "{user:?} writes nodes");
    }
}

fn allowed<T>(answer: kube::Result<T>) -> bool {
    match answer {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.code == 403 => false,
        Err(problem) => panic!("neither allowed nor forbidden: {problem}"),
    }
}

/// What a running server can be known by.
struct Traces {
    kubeconfig: PathBuf,
    address: String,
}

impl Traces {
    fn of(cluster: &Cluster) -> Traces {
        let kubeconfig = cluster.kubeconfig(User::Admin).to_owned();
        let address = address(&kubeconfig);
        TcpStream::connect(&address).expect("the server listens while the suite runs");
        Traces { kubeconfig, address }
    }

    fn are_gone(&self) {
        if suite::uses_lent_cluster() {
            return;
        }
        assert!(TcpStream::connect(&self.address).is_err(), "{} still answers", self.address);
    }
}

fn address(kubeconfig: &Path) -> String {
    let kubeconfig: Value =
        serde_json::from_str(&std::fs::read_to_string(kubeconfig).unwrap()).unwrap();
    let url = kubeconfig["clusters"][0]["cluster"]["server"].as_str().unwrap();
    url.trim_start_matches("https://").to_owned()
}
