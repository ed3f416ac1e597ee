//! The objects, and the bare loop over them.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use api::{
    crds, names,
    schema::{GATED, KINDS},
};
use futures_util::{StreamExt as _, stream};
use runtime::{
    caches::read,
    call::{Cluster, Collection, Patch},
    client::{configuration, connect},
    clock::SystemClock,
    key::{collection, status_path},
    store::{Store, Trust},
    telemetry::Telemetry,
};
use serde_json::{Value, json};
use tidegate_core::{
    cluster::kinds::{self, Row, known},
    document::key::Key,
};

use crate::HANDS;

pub(crate) struct World {
    cluster: Cluster,
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl World {
    pub(crate) async fn new(kubeconfig: &Path) -> Self {
        let client = connect(configuration(Some(kubeconfig)).await.unwrap()).unwrap();
        let patience = Duration::from_mins(1);
        let telemetry = Arc::new(Telemetry::default());
        Self { cluster: Cluster::new(client, Arc::new(SystemClock), telemetry, patience) }
    }

    async fn create(&self, path: String, object: Value) {
        self.cluster.create(&path, &object).await.unwrap();
    }

    pub(crate) async fn fill(&self, policies: usize, resources: usize) {
        for kind in KINDS.iter().chain(GATED) {
            self.create(CRDS.into(), crds::definition(kind)).await;
            let all = Collection::of(collection(kind, None));
            while self.cluster.version_of(&all).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        let policy = |number: usize| {
            json!({
                "apiVersion": names::API_VERSION, "kind": kinds::CHANGE_MANAGEMENT_POLICY.name,
                "metadata": {"name": format!("policy-{number}")},
                "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": {
                    "frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]},
                }}}},
            })
        };
        let resource = |number: usize| {
            json!({
                "apiVersion": kinds::MACHINE_CONFIG_POOL.api_version, "kind": kinds::MACHINE_CONFIG_POOL.name,
                "metadata": {"name": format!("pool-{number}"), "labels": {"team": "a"}},
                "spec": {
                    "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": format!("policy-{}", number % policies)}},
                    "configuration": {"name": "rendered-2"}, "paused": false,
                },
            })
        };
        let policies = (0..policies)
            .map(|number| (collection(&kinds::CHANGE_MANAGEMENT_POLICY, None), policy(number)));
        let resources = (0..resources)
            .map(|number| (collection(&kinds::MACHINE_CONFIG_POOL, None), resource(number)));
        let all: Vec<_> = policies.chain(resources).collect();
        stream::iter(all)
            .for_each_concurrent(HANDS, |(path, object)| self.create(path, object))
            .await;
    }

    async fn list(
        &self,
        kind: &'static Row,
    ) -> (BTreeMap<Key, tidegate_core::cluster::seen::Seen>, String) {
        let mut listed = BTreeMap::new();
        let each = |mut document: Value| {
            document["apiVersion"] = json!(kind.api_version);
            document["kind"] = json!(kind.name);
            listed.extend(read(kind, &document));
        };
        let version = self.cluster.list(&Collection::of(collection(kind, None)), each).await;
        (listed, version.unwrap())
    }

    /// Sends what the operator would send at an instant, and says how long that took.
    pub(crate) async fn bare(&self, at: &str) -> Duration {
        let now = schedule::Instant::parse(at).unwrap();
        let mut store = Store::default();
        for kind in [&kinds::CHANGE_MANAGEMENT_POLICY, &kinds::MACHINE_CONFIG_POOL] {
            let (listed, version) = self.list(kind).await;
            store.replace(kind, listed, &version, Trust::Newer);
        }
        let patches: Vec<(String, Patch)> = store
            .snapshot()
            .all()
            .filter_map(|(key, seen)| {
                let duty = known(key.kind())?.watched?;
                let patch = store.around(key, |around| (duty.decide)(seen, around, now)).status?;
                Some((status_path(key), Patch::json("tidegate", &patch.operations)))
            })
            .collect();
        assert_eq!(patches.len(), store.snapshot().len(), "every status changes at {at}");
        drop(store);
        let began = Instant::now();
        stream::iter(patches)
            .for_each_concurrent(HANDS, async |(path, change)| {
                self.cluster.patch(&path, change).await.unwrap();
            })
            .await;
        began.elapsed()
    }
}
