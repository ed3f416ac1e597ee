//! Who moves machines? One loop that does what Cluster API does, as `plan` decides.
//!
//! It never heard of us: what the server refuses it tries again, each time after a longer while, until the deployment changes or what was refused passes.

pub mod plan;

use std::{collections::BTreeMap, sync::Arc};

use runtime::{
    call::{CallError, Cluster, Patch},
    path::{self, Resource},
};
use schedule::Instant;
use serde_json::{Value, json};

use self::plan::{DEPLOYMENT, Deed, SET, Seen};
use crate::{
    lengths::Lengths,
    mirror::{Mirror, Place, text},
};

/// Who it is to the server.
pub const USER: &str = "system:serviceaccount:capi-system:capi-manager";
/// The name that it writes by.
const OWNER: &str = "capi-machinedeployment";
/// The longest that it waits between two tries, in seconds.
const LONGEST: i64 = 1_000;

pub(crate) const DEPLOYMENTS: Resource<'_> =
    Resource::new("cluster.x-k8s.io/v1beta1", "MachineDeployment");
pub(crate) const SETS: Resource<'_> = Resource::new("cluster.x-k8s.io/v1beta1", "MachineSet");
pub(crate) const MACHINES: Resource<'_> = Resource::new("cluster.x-k8s.io/v1beta1", "Machine");
pub(crate) const SECRETS: Resource<'_> = Resource::new("v1", "Secret");

/// Whoever moves machines.
#[derive(Debug)]
pub(crate) struct Mover {
    pub(crate) cluster: Cluster,
    pub(crate) lengths: Arc<Lengths>,
    pub(crate) deployments: Mirror,
    pub(crate) sets: Mirror,
    pub(crate) machines: Mirror,
    pub(crate) secrets: Mirror,
}

/// A deployment that was refused something.
#[derive(Clone, Debug)]
struct Refused {
    /// The version of the deployment, which a touch changes.
    version: String,
    pause: i64,
    until: Instant,
}

/// What came of a look at a deployment.
enum Steps {
    /// Something was written.
    Made,
    /// Nothing is to be written, or nothing may be before this instant.
    Wait(Option<Instant>),
}

impl Mover {
    /// Moves machines, for ever.
    pub(crate) async fn run(self) {
        let clock = Arc::clone(self.cluster.clock());
        let mirrors = [&self.deployments, &self.sets, &self.machines, &self.secrets];
        let [mut a, mut b, mut c, mut d] = mirrors.map(Mirror::changes);
        let mut refused: BTreeMap<Place, Refused> = BTreeMap::new();
        loop {
            for changes in [&mut a, &mut b, &mut c, &mut d] {
                changes.mark_seen();
            }
            let now = clock.now();
            let mut next: Option<Instant> = None;
            for (place, deployment) in self.deployments.objects() {
                let due = self.deployment(&place, &deployment, &mut refused, now).await;
                next = next.into_iter().chain(due).min();
            }
            tokio::select! {
                biased;
                () = a.changed() => {}
                () = b.changed() => {}
                () = c.changed() => {}
                () = d.changed() => {}
                () = clock.wait(next.unwrap_or(Instant::MAX)), if next.is_some() => {}
            }
        }
    }

    /// One look at a deployment and all that is below it. When something is due.
    async fn deployment(
        &self,
        place: &Place,
        deployment: &Value,
        refused: &mut BTreeMap<Place, Refused>,
        now: Instant,
    ) -> Option<Instant> {
        let below = |mirror: &Mirror| -> Vec<Value> {
            let objects = mirror.objects().into_values().filter(|object| {
                let label =
                    object.pointer("/metadata/labels").and_then(|labels| labels.get(DEPLOYMENT));
                text(object, "/metadata/namespace") == place.0
                    && label.and_then(Value::as_str) == Some(&place.1)
                    && object.pointer("/metadata/deletionTimestamp").is_none()
            });
            objects.map(|object| (*object).clone()).collect()
        };
        let (sets, machines) = (below(&self.sets), below(&self.machines));
        let seen = Seen { deployment, sets: &sets, machines: &machines };
        let mut due = None;
        if plan::is_on_delete(deployment) {
            // HOST-4: a deletion is answered before its set makes up for it; where that is refused, the set does.
            match self.steps(place, seen, refused, now).await {
                Steps::Made => return Some(now.saturating_add(1)),
                Steps::Wait(until) => due = until,
            }
        }
        for set in &sets {
            let own: Vec<&Value> = machines
                .iter()
                .filter(|machine| machine["metadata"]["labels"][SET] == set["metadata"]["name"])
                .collect();
            for deed in plan::set(set, &own) {
                self.perform(&place.0, &deed)
                    .await
                    .unwrap_or_else(|error| tracing::debug!(%error, "a set is not as it was"));
            }
        }
        let secrets = self.secrets.objects();
        for machine in &machines {
            let named = text(machine, "/spec/bootstrap/dataSecretName").to_owned();
            let has = secrets.contains_key(&(place.0.clone(), named));
            let (deed, at) = plan::machine(machine, has, now, &self.lengths);
            due = due.into_iter().chain(at).min();
            if let Some(deed) = deed {
                self.perform(&place.0, &deed)
                    .await
                    .unwrap_or_else(|error| tracing::debug!(%error, "a machine is not as it was"));
            }
        }
        if let Some(deed) = plan::status(seen) {
            self.tell(place, &deed).await;
        }
        if !plan::is_on_delete(deployment)
            && let Steps::Wait(until) = self.steps(place, seen, refused, now).await
        {
            due = due.into_iter().chain(until).min();
        }
        due
    }

    /// What the controller of deployments does, unless it waits because it was refused.
    async fn steps(
        &self,
        place: &Place,
        seen: Seen<'_>,
        refused: &mut BTreeMap<Place, Refused>,
        now: Instant,
    ) -> Steps {
        let version = spec_version(seen.deployment);
        let waits = refused.get(place).filter(|one| one.version == version && now < one.until);
        if let Some(waits) = waits {
            return Steps::Wait(Some(waits.until));
        }
        let deeds = plan::deployment(seen);
        for deed in &deeds {
            if let Err(error) = self.perform(&place.0, deed).await {
                if error.code() == Some(409) {
                    // Somebody was faster: what is there then is looked at anew.
                    return Steps::Wait(Some(now.saturating_add(1)));
                }
                let before = refused.get(place).filter(|one| one.version == version);
                let pause = before.map_or(1, |one| (one.pause * 2).min(LONGEST));
                let until = now.saturating_add(pause);
                refused.insert(place.clone(), Refused { version, pause, until });
                return Steps::Wait(Some(until));
            }
        }
        refused.remove(place);
        if deeds.is_empty() { Steps::Wait(None) } else { Steps::Made }
    }

    async fn tell(&self, (namespace, name): &Place, deed: &Deed) {
        let Deed::Status(change) = deed else { return };
        let at = path::status(&DEPLOYMENTS.object(Some(namespace), name));
        if let Err(error) = self.cluster.patch(&at, Patch::merge(OWNER, change)).await {
            tracing::debug!(%error, name, "a deployment is not as it was");
        }
    }

    async fn perform(&self, namespace: &str, deed: &Deed) -> Result<(), CallError> {
        let cluster = &self.cluster;
        let at = |resource: Resource<'static>, name: &str| resource.object(Some(namespace), name);
        match deed {
            Deed::CreateSet(set) => cluster.create(&SETS.collection(Some(namespace)), set).await,
            Deed::ScaleSet(name, change) => {
                cluster.patch(&at(SETS, name), Patch::merge(OWNER, change)).await
            }
            Deed::CreateMachine(machine) => {
                cluster.create(&MACHINES.collection(Some(namespace)), machine).await
            }
            Deed::DeleteMachine(name) => cluster.delete(&at(MACHINES, name), &json!({})).await,
            Deed::SetStatus(name, change) => {
                cluster.patch(&path::status(&at(SETS, name)), Patch::merge(OWNER, change)).await
            }
            Deed::MachineStatus(name, change) => {
                cluster.patch(&path::status(&at(MACHINES, name)), Patch::merge(OWNER, change)).await
            }
            Deed::Status(_) => return Ok(()),
        }
        .map(drop)
    }
}

/// What a touch changes and a status does not.
fn spec_version(deployment: &Value) -> String {
    format!("{} {}", deployment["metadata"]["generation"], deployment["metadata"]["annotations"])
}

/// The kinds, as far as they are looked at here. They are none of ours: whoever has Cluster API has them.
pub fn definitions() -> Vec<Value> {
    let kinds = [("MachineDeployment", "md"), ("MachineSet", "ms"), ("Machine", "ma")];
    let definition = |(kind, short): (&str, &str)| {
        let plural = api::names::plural(kind);
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.cluster.x-k8s.io")},
            "spec": {"group": "cluster.x-k8s.io", "scope": "Namespaced",
                "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural,
                    "singular": kind.to_lowercase(), "shortNames": [short]},
                "versions": [{"name": "v1beta1", "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
    };
    kinds.map(definition).into()
}
