//! Who runs hosted clusters? One loop that does what `HyperShift` does, as `plan` decides. It knows us: it follows what Tidegate let begin.

pub mod plan;

use std::{collections::BTreeSet, sync::Arc};

use api::kinds;
use runtime::{
    call::{CallError, Cluster, Patch},
    path::{self, CONFIG_MAP, NAMESPACE, Resource},
};
use schedule::Instant;
use serde_json::{Value, json};

use self::plan::Around;
use crate::{
    lengths::Lengths,
    machine_api::{DEPLOYMENTS, SECRETS},
    mirror::{Mirror, Objects, Place, text},
};

/// Who it is to the server.
pub const USER: &str = "system:serviceaccount:hypershift:operator";
/// The name that it writes by.
const OWNER: &str = "hypershift";
/// How the names of user data begin.
const USER_DATA: &str = "user-data-";

/// Whoever runs hosted clusters.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) cluster: Cluster,
    pub(crate) lengths: Arc<Lengths>,
    pub(crate) clusters: Mirror,
    pub(crate) pools: Mirror,
    pub(crate) maps: Mirror,
    pub(crate) deployments: Mirror,
    pub(crate) sets: Mirror,
    pub(crate) secrets: Mirror,
}

impl Host {
    /// Runs them, for ever.
    pub(crate) async fn run(self) {
        let clock = Arc::clone(self.cluster.clock());
        let mirrors =
            [&self.clusters, &self.pools, &self.maps, &self.deployments, &self.sets, &self.secrets];
        let [mut clusters, mut pools, mut maps, mut deployments, mut sets, mut secrets] =
            mirrors.map(Mirror::changes);
        loop {
            for changes in
                [&mut clusters, &mut pools, &mut maps, &mut deployments, &mut sets, &mut secrets]
            {
                changes.mark_seen();
            }
            let now = clock.now();
            let mut next: Option<Instant> = None;
            let hosts = self.clusters.objects();
            for (place, document) in &hosts {
                let (status, due) = plan::cluster(document, now, &self.lengths);
                next = next.into_iter().chain(due).min();
                if let Some(status) = status {
                    let at = Resource::of(&kinds::HOSTED_CLUSTER).object(Some(&place.0), &place.1);
                    self.settle(
                        self.cluster.patch(&path::status(&at), Patch::merge(OWNER, &status)).await,
                    );
                }
            }
            let mut needed = BTreeSet::new();
            for (place, document) in self.pools.objects() {
                needed.extend(self.pool(&place, &document, &hosts).await);
            }
            self.tidy(needed).await;
            tokio::select! {
                biased;
                () = clusters.changed() => {}
                () = pools.changed() => {}
                () = maps.changed() => {}
                () = deployments.changed() => {}
                () = sets.changed() => {}
                () = secrets.changed() => {}
                () = clock.wait(next.unwrap_or(Instant::MAX)), if next.is_some() => {}
            }
        }
    }

    /// What is to be done about a pool. Which user data must stay for it.
    async fn pool(
        &self,
        (namespace, name): &Place,
        document: &Value,
        clusters: &Objects,
    ) -> Option<Place> {
        let host = text(document, "/spec/clusterName");
        let host = clusters.get(&(namespace.clone(), host.to_owned()))?;
        let below = format!("{namespace}-{}", text(host, "/metadata/name").replace('.', "-"));
        let maps = self.maps.objects();
        let named = document.pointer("/spec/config").and_then(Value::as_array);
        let configs: Option<Vec<Value>> = named
            .into_iter()
            .flatten()
            .map(|one| {
                let name = one["name"].as_str().unwrap_or_default().to_owned();
                maps.get(&(namespace.clone(), name)).map(|map| (**map).clone())
            })
            .collect();
        let deployments = self.deployments.objects();
        let deployment = deployments.get(&(below.clone(), name.clone()));
        let around =
            Around { host, configs: configs.as_deref(), deployment: deployment.map(|one| &**one) };
        let plan = plan::pool(document, around);
        let needed = plan.secret.map(|secret| (below.clone(), secret));
        if let Some((_, secret)) =
            needed.as_ref().filter(|place| !self.secrets.objects().contains_key(place))
        {
            let made =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": below}});
            self.settle(self.cluster.create(&NAMESPACE.collection(None), &made).await);
            let made = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret, "namespace": below}});
            self.settle(self.cluster.create(&SECRETS.collection(Some(&below)), &made).await);
        }
        if let Some(made) = plan.create {
            self.settle(self.cluster.create(&DEPLOYMENTS.collection(Some(&below)), &made).await);
        }
        if let Some(change) = plan.patch {
            let at = DEPLOYMENTS.object(Some(&below), name);
            self.settle(self.cluster.patch(&at, Patch::merge(OWNER, &change)).await);
        }
        let at = Resource::of(&kinds::NODE_POOL).object(Some(namespace), name);
        if let Some(change) = plan.noted {
            self.settle(self.cluster.patch(&at, Patch::merge(OWNER, &change)).await);
        }
        if let Some(change) = plan.status {
            self.settle(self.cluster.patch(&path::status(&at), Patch::merge(OWNER, &change)).await);
        }
        needed
    }

    /// User data that nobody names any more goes.
    async fn tidy(&self, mut needed: BTreeSet<Place>) {
        let named = |mirror: &Mirror, into: &mut BTreeSet<Place>| {
            for (place, object) in mirror.objects() {
                let secret = text(&object, "/spec/template/spec/bootstrap/dataSecretName");
                into.insert((place.0, secret.to_owned()));
            }
        };
        named(&self.deployments, &mut needed);
        named(&self.sets, &mut needed);
        for (place, _) in self.secrets.objects() {
            let in_use = needed.iter().any(|(namespace, _)| *namespace == place.0);
            if place.1.starts_with(USER_DATA) && in_use && !needed.contains(&place) {
                self.settle(
                    self.cluster
                        .delete(&SECRETS.object(Some(&place.0), &place.1), &json!({}))
                        .await,
                );
            }
        }
    }

    /// Somebody was faster: what is there then is looked at anew.
    #[expect(clippy::unused_self, reason = "it reads as what follows a write")]
    fn settle(&self, outcome: Result<Value, CallError>) {
        if let Err(error) = outcome {
            tracing::debug!(%error, "a hosted cluster is not as it was");
        }
    }
}

/// The collections that it looks at.
pub(crate) fn collections() -> [String; 3] {
    [
        Resource::of(&kinds::HOSTED_CLUSTER).collection(None),
        Resource::of(&kinds::NODE_POOL).collection(None),
        CONFIG_MAP.collection(None),
    ]
}
