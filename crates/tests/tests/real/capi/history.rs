//! What became of the sets of each pool, version by version, as a watch tells it.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use jiff::Timestamp;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, WatchEvent, WatchParams},
};
use serde_json::Value;

/// The version that the manager itself decides by.
const VERSION: &str = "v1beta2";
const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
const DESIRED: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";
const OF_DEPLOYMENT: &str = "cluster.x-k8s.io/deployment-name";

/// Every version of every set and deployment since the beginning.
#[derive(Default)]
pub(super) struct History {
    told: Mutex<Vec<Told>>,
}

/// One version of one object.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) kind: &'static str,
    pub(super) pool: String,
    pub(super) object: Value,
    /// It was deleted, and this is its last version.
    pub(super) gone: bool,
}

/// A set got another count of machines, or was made with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The revision of the set.
    pub(super) revision: i64,
    pub(super) replicas: i64,
    /// When, by the stamp that the server gave to the write.
    pub(super) at: Timestamp,
    /// Not scaling: how many are wanted stayed as it was.
    pub(super) moves: bool,
}

impl History {
    /// Watches both kinds for as long as the runtime lives.
    pub(super) fn begin(client: &Client, namespace: &str) -> Arc<Self> {
        let history = Arc::new(Self::default());
        for kind in ["MachineSet", "MachineDeployment"] {
            let resource = GroupVersionKind::gvk("cluster.x-k8s.io", VERSION, kind);
            let resource = ApiResource::from_gvk(&resource);
            let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
            tokio::spawn(watch(Arc::clone(&history), kind, api));
        }
        history
    }

    /// All that was told of a pool, in order.
    pub(super) fn of(&self, pool: &str) -> Vec<Told> {
        let told = self.told.lock().unwrap();
        let mut told: Vec<Told> = told.iter().filter(|told| told.pool == pool).cloned().collect();
        // Two watches tell it, each in order; the server counts all writes together.
        let version = |told: &Told| -> u64 {
            told.object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
        };
        told.sort_by_key(version);
        told
    }

    /// The pools of which anything was told.
    pub(super) fn pools(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        let pools: std::collections::BTreeSet<_> = told.iter().map(|told| &told.pool).collect();
        pools.into_iter().cloned().collect()
    }

    /// What was done to the sets of a pool.
    pub(super) fn steps(&self, pool: &str) -> Vec<Step> {
        let told = self.of(pool);
        let steps = (0..told.len()).filter_map(|index| step(&told, index));
        steps.collect()
    }
}

/// Whether this version of a set is one that moved machines, compared with its version before.
pub(super) fn step(told: &[Told], index: usize) -> Option<Step> {
    let now = &told[index];
    if now.kind != "MachineSet" || now.gone {
        return None;
    }
    let name = &now.object["metadata"]["name"];
    let before = told[..index].iter().rev();
    let before = before
        .filter(|told| told.kind == "MachineSet")
        .find(|told| told.object["metadata"]["name"] == *name);
    let replicas = |told: &Told| told.object["spec"]["replicas"].as_i64().unwrap_or_default();
    let noted = |told: &Told, key: &str| told.object["metadata"]["annotations"][key].clone();
    let revision = noted(now, REVISION).as_str().and_then(|text| text.parse().ok())?;
    let moves = match before {
        Some(before) if replicas(before) == replicas(now) => return None,
        Some(before) => noted(before, DESIRED) == noted(now, DESIRED),
        None => revision != 1,
    };
    Some(Step { revision, replicas: replicas(now), at: stamp(&now.object), moves })
}

/// When the controller of deployments last wrote it.
fn stamp(set: &Value) -> Timestamp {
    let entries = set["metadata"]["managedFields"].as_array().unwrap().iter();
    let own = entries.filter(|entry| {
        entry["manager"] == "capi-machinedeployment" && entry.get("subresource").is_none()
    });
    own.map(|entry| entry["time"].as_str().unwrap().parse().unwrap()).max().unwrap()
}

async fn watch(history: Arc<History>, kind: &'static str, api: Api<DynamicObject>) {
    let mut version = "0".to_owned();
    loop {
        // A watch ends after some minutes, and the next begins where it ended.
        let Ok(stream) = api.watch(&WatchParams::default(), &version).await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let mut stream = std::pin::pin!(stream);
        while let Some(Ok(event)) = stream.next().await {
            let (object, gone) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                _ => continue,
            };
            version = object.metadata.resource_version.clone().unwrap_or_default();
            let object = serde_json::to_value(object).unwrap();
            let name = match kind {
                "MachineSet" => &object["metadata"]["labels"][OF_DEPLOYMENT],
                _ => &object["metadata"]["name"],
            };
            let pool = name.as_str().unwrap_or_default().to_owned();
            history.told.lock().unwrap().push(Told { kind, pool, object, gone });
        }
    }
}
