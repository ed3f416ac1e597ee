//! Who rolls Deployments out? One loop that does what kube-controller-manager does about Deployments and `ReplicaSets`, as `plan` decides.
//!
//! It never heard of us. What the server refuses it tries again, each time after twice as long, and it says why in the condition `Progressing`;
//! after nearly three minutes it gives up until the Deployment is touched (RCH-4).

pub mod plan;

use std::{collections::BTreeMap, sync::Arc};

use runtime::{
    call::{CallError, Cluster, Patch},
    path::{self, POD, Resource},
};
use schedule::Instant;
use serde_json::{Value, json};

use self::plan::{Deed, Seen, owner};
use crate::mirror::{Mirror, Place, text};

/// Who it is to the server.
pub const USER: &str = "system:serviceaccount:kube-system:deployment-controller";
/// The name that it writes by.
const OWNER: &str = "kube-controller-manager";

/// How many seconds it waits before each further try. The real one waits 5 ms and twice as long each time, fifteen times: what lies within its
/// first second is one try here, because the clock of a sandbox knows no less.
const PAUSES: &[i64] = &[1, 1, 3, 5, 10, 20, 41, 82];
/// After so many seconds it has given up, also where somebody set the clock and all tries lay in between.
const PATIENCE: i64 = 163;

pub(crate) const DEPLOYMENTS: Resource<'_> = Resource::new("apps/v1", "Deployment");
pub(crate) const SETS: Resource<'_> = Resource::new("apps/v1", "ReplicaSet");

/// Whoever rolls Deployments out.
#[derive(Debug)]
pub(crate) struct Controller {
    pub(crate) cluster: Cluster,
    pub(crate) deployments: Mirror,
    pub(crate) sets: Mirror,
    pub(crate) pods: Mirror,
}

/// A Deployment that was refused something.
#[derive(Clone, Debug)]
struct Refused {
    /// The version of the Deployment, which a touch changes.
    version: String,
    /// When it was first refused.
    since: Instant,
    /// How often it was.
    times: usize,
    /// When it is tried again; never if that was the last time.
    until: Option<Instant>,
    /// What the server said.
    message: String,
}

impl Refused {
    fn again(before: Option<&Self>, version: String, message: String, now: Instant) -> Self {
        let before = before.filter(|before| before.version == version);
        let (times, since) = before.map_or((0, now), |one| (one.times, one.since));
        let until = PAUSES.get(times).map(|pause| now.saturating_add(*pause));
        Self { version, since, times: times + 1, until, message }
    }

    /// When it is tried again, unless it was given up.
    fn next(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|_| now <= self.since.saturating_add(PATIENCE))
    }

    fn waits(&self, version: &str, now: Instant) -> bool {
        self.version == version && self.next(now).is_none_or(|next| now < next)
    }
}

impl Controller {
    /// Rolls Deployments out, for ever.
    pub(crate) async fn run(self) {
        let clock = Arc::clone(self.cluster.clock());
        let [mut a, mut b, mut c] =
            [&self.deployments, &self.sets, &self.pods].map(Mirror::changes);
        let mut refused: BTreeMap<Place, Refused> = BTreeMap::new();
        loop {
            for changes in [&mut a, &mut b, &mut c] {
                changes.mark_seen();
            }
            let now = clock.now();
            let deployments = self.deployments.objects();
            refused.retain(|place, _| deployments.contains_key(place));
            let sets: Vec<Value> =
                self.sets.objects().values().map(|set| (**set).clone()).collect();
            let pods = self.pods.objects();
            let pods = below(pods.values().map(|pod| &**pod), &identities(&sets));
            for set in &sets {
                for deed in plan::set(set, &pods) {
                    self.perform(text(set, "/metadata/namespace"), &deed)
                        .await
                        .unwrap_or_else(|error| tracing::debug!(%error, "a set is not as it was"));
                }
            }
            let mut next: Option<Instant> = None;
            for (place, deployment) in &deployments {
                let sets = below(&sets, &[text(deployment, "/metadata/uid")]);
                let pods = below(&pods, &identities(&sets));
                let seen = Seen { deployment, sets: &sets, pods: &pods };
                let due = self.deployment(place, seen, &mut refused, now).await;
                next = next.into_iter().chain(due).min();
            }
            tokio::select! {
                biased;
                () = a.changed() => {}
                () = b.changed() => {}
                () = c.changed() => {}
                () = clock.wait(next.unwrap_or(Instant::MAX)), if next.is_some() => {}
            }
        }
    }

    /// One look at a Deployment. When something is due.
    async fn deployment(
        &self,
        place: &Place,
        seen: Seen<'_>,
        refused: &mut BTreeMap<Place, Refused>,
        now: Instant,
    ) -> Option<Instant> {
        if seen.deployment.pointer("/metadata/deletionTimestamp").is_some() {
            return None;
        }
        let version = touched(seen.deployment);
        if !refused.get(place).is_some_and(|one| one.waits(&version, now)) {
            let mut failed = None;
            for deed in plan::deployment(seen) {
                if let Err(error) = self.perform(&place.0, &deed).await {
                    failed = Some(error);
                    break;
                }
            }
            match failed {
                None => drop(refused.remove(place)),
                // Somebody was faster: what is there then is looked at anew.
                Some(error) if error.code() == Some(409) => return None,
                Some(error) => {
                    let one = Refused::again(refused.get(place), version, error.told(), now);
                    refused.insert(place.clone(), one);
                }
            }
        }
        let one = refused.get(place);
        if let Some(change) = plan::status(seen, one.map(|one| &*one.message), now) {
            self.tell(place, &change).await;
        }
        one.and_then(|one| one.next(now))
    }

    async fn tell(&self, (namespace, name): &Place, change: &Value) {
        let at = path::status(&DEPLOYMENTS.object(Some(namespace), name));
        if let Err(error) = self.cluster.patch(&at, Patch::merge(OWNER, change)).await {
            tracing::debug!(%error, name, "a deployment is not as it was");
        }
    }

    async fn perform(&self, namespace: &str, deed: &Deed) -> Result<(), CallError> {
        let cluster = &self.cluster;
        let set = |name: &str| SETS.object(Some(namespace), name);
        match deed {
            Deed::CreateSet(set) => {
                cluster.create_as(OWNER, &SETS.collection(Some(namespace)), set).await
            }
            Deed::ChangeSet(name, change) => {
                cluster.patch(&set(name), Patch::merge(OWNER, change)).await
            }
            Deed::DeleteSet(name) => cluster.delete(&set(name), &json!({})).await,
            Deed::Note(change) => {
                let name = text(change, "/metadata/name");
                let at = DEPLOYMENTS.object(Some(namespace), name);
                cluster.patch(&at, Patch::merge(OWNER, change)).await
            }
            Deed::CreatePod(pod) => {
                cluster.create_as(OWNER, &POD.collection(Some(namespace)), pod).await
            }
            Deed::DeletePod(name, uid) => {
                let options = json!({"apiVersion": "v1", "kind": "DeleteOptions",
                    "preconditions": {"uid": uid}});
                cluster.delete(&POD.object(Some(namespace), name), &options).await
            }
            Deed::SetStatus(name, change) => {
                cluster.patch(&path::status(&set(name)), Patch::merge(OWNER, change)).await
            }
        }
        .map(drop)
    }
}

/// What belongs to one of these.
fn below<'a>(objects: impl IntoIterator<Item = &'a Value>, owners: &[&str]) -> Vec<Value> {
    let own = |object: &&Value| owners.contains(&owner(object));
    objects.into_iter().filter(own).cloned().collect()
}

fn identities(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| text(object, "/metadata/uid")).collect()
}

/// What a touch changes and a status does not.
fn touched(deployment: &Value) -> String {
    format!("{} {}", deployment["metadata"]["generation"], deployment["metadata"]["annotations"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_tried_for_nearly_three_minutes_and_again_when_it_is_touched() {
        let start = Instant::parse("2026-11-18T09:00:00Z").unwrap();
        let mut now = start;
        let mut one = Refused::again(None, "1".into(), "no".into(), now);
        let mut tries = 1;
        while let Some(until) = one.until {
            assert!(one.waits("1", now) && !one.waits("1", until) && !one.waits("2", now));
            now = until;
            one = Refused::again(Some(&one), "1".into(), "no".into(), now);
            tries += 1;
        }
        assert_eq!((tries, now), (9, start.saturating_add(PATIENCE)));
        assert!(one.waits("1", Instant::MAX), "it was given up");
        let first = Refused::again(None, "1".into(), "no".into(), start);
        let later = start.saturating_add(12 * 3_600);
        assert!(first.waits("1", later) && first.next(later).is_none(), "so it was meanwhile");
        let touched = Refused::again(Some(&one), "2".into(), "no".into(), now);
        assert_eq!(touched.until, Some(now.saturating_add(1)));
    }
}
