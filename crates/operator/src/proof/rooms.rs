//! Does the server refuse what gates and freezes hold of what others own? Each of their policies is tried by a first write that is a dry run
//! (GATE-13).
//!
//! It is tried in a namespace where nothing of anybody's is. There stand gates and freezes of the operator that are always shut, one of each
//! kind, each of which selects what bears its mark and nothing else: what answers is the policy that was meant. The leader alone tries and keeps
//! these up; what it saw is told by the status of every gate.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::{
    kinds,
    machine::names as machine,
    meta::{Condition, ConditionStatus},
    names,
    schema::Scope,
};
use runtime::{
    caches::Caches,
    call::{CallError, Cluster, Patch},
    key::path,
    lease::Leadership,
    path::{DEFINITION, Resource, status},
    tempo::Tempo,
};
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{self, kinds::Pools},
    document::key::Key,
    gate::{enforced::Enforcement, proof::Proofs},
    reach::{
        policies::{PARAMETERS, Parameter, freezes},
        rooms::ROOMS,
        trial::{self, FirstWrite, Write},
    },
};
use tokio::{sync::watch, time::sleep};

use super::{
    PATIENCE, is_of,
    listed::{self, Entry, Listed, Try},
};

/// In whose name is tried and kept up.
const OWNER: &str = "tidegate-proof";

/// How often something that the server let pass is tried once more before that is believed, and after which pause: gates, freezes and policies
/// reach what the server decides by a moment after they were written.
const TWICE: u32 = 3;
const MOMENT: Duration = Duration::from_secs(1);

/// Where is tried, and by whom.
#[derive(Debug)]
pub struct Trials {
    /// The cluster.
    pub cluster: Cluster,
    /// What is known.
    pub caches: Arc<Caches>,
    /// How patient it is.
    pub tempo: Tempo,
    /// Whether this replica writes.
    pub leadership: watch::Receiver<Leadership>,
    /// The namespace in which is tried.
    pub namespace: String,
    /// Whether nodes are told to change here.
    pub pools: Pools,
}

impl Trials {
    /// Tries for ever: at once, every few minutes, and when a policy, a binding or a definition changed.
    pub async fn run(mut self) {
        let mut last: Option<Try> = None;
        let mut unanswered: BTreeMap<String, u32> = BTreeMap::new();
        loop {
            // Whoever sent it is gone only when the operator is.
            if self.leadership.wait_for(|seen| seen.leads()).await.is_err() {
                return std::future::pending().await;
            }
            // Where no gate can be there is nothing to try.
            let gates = self.caches.store().listed(&kinds::CHANGE_GATE);
            if gates != cluster::kinds::Listed::Known {
                // Who has just started has not listed them yet.
                let is_early = gates == cluster::kinds::Listed::Unknown;
                sleep(if is_early { MOMENT } else { self.tempo.absent }).await;
                continue;
            }
            let standing = self.look().await;
            let fine = unanswered.is_empty() && self.is_settled();
            if fine && last.as_ref().is_some_and(|last| last.is_good_for(&standing, &self.tempo)) {
                sleep(self.tempo.policies).await;
                continue;
            }
            last = Some(Try::now(standing.clone(), last));
            let proofs = self.tried(&standing, &mut unanswered).await;
            let news = self.caches.store().set_proofs(proofs);
            if news {
                self.caches.nudge();
            }
            sleep(self.tempo.policies).await;
        }
    }

    /// Whether nothing was found that somebody has to mend: else it is tried at every look, so that it is soon told when that was done.
    fn is_settled(&self) -> bool {
        let store = self.caches.store();
        let open = |verdict: Enforcement| verdict.status() == ConditionStatus::False;
        // Those of a stock HyperShift are installed or left out, and what was left out is nobody's to mend.
        let left_out = |policy: &str, verdict: Enforcement| {
            verdict == Enforcement::PolicyMissing
                && ROOMS.iter().any(|room| room.stands_alone() && policy.ends_with(room.slug))
        };
        let mends = |proofs: &Proofs| {
            let mut all = proofs.all();
            all.any(|(policy, tried)| open(tried.verdict) && !left_out(policy, tried.verdict))
        };
        store.proofs().is_some_and(|proofs| !mends(proofs))
    }

    async fn look(&self) -> Listed {
        let mut standing = listed::look(&self.cluster).await;
        if let Listed::Seen(seen) = &mut standing {
            for parameter in PARAMETERS {
                let name = format!("{}.{}", names::plural(parameter.kind()), names::GROUP);
                let path = DEFINITION.object(None, &name);
                let found = self.cluster.get::<Entry>(&path).await;
                let version = match &found {
                    Ok(entry) => entry.metadata.resource_version.as_str(),
                    Err(error) if error.is_not_found() => "none",
                    Err(_) => return Listed::Unseen,
                };
                seen.also(&name, version);
            }
            // A gate may name a room of somebody's own that no other did.
            for name in self.caches.store().snapshot().custom_rooms() {
                seen.also(&format!("custom {name}"), "named");
            }
        }
        standing
    }

    async fn tried(&self, standing: &Listed, unanswered: &mut BTreeMap<String, u32>) -> Proofs {
        let now = self.cluster.clock().now();
        let mut proofs = self.caches.store().proofs().cloned().unwrap_or_default();
        let kept = match standing {
            Listed::Unserved => Ok(()),
            Listed::Seen(_) | Listed::Unseen => self.keep_probes().await,
        };
        for (policy, at, first) in self.trials() {
            let found = match (standing, &kept) {
                (Listed::Unserved, _) => Ok(Enforcement::NeedsNewerServer),
                (Listed::Seen(seen), _) if !seen.binds(&policy) => Ok(Enforcement::PolicyMissing),
                (_, Err(error)) => Err(Untried::of(error)),
                _ => self.first_write(&policy, at.as_deref(), first).await,
            };
            let (verdict, why) = match found {
                Ok(verdict) => {
                    unanswered.remove(&policy);
                    (verdict, None)
                }
                Err(Untried::Cannot(why)) => {
                    unanswered.remove(&policy);
                    (Enforcement::NotTried, Some(why))
                }
                Err(Untried::Unanswered(why)) => {
                    let times = unanswered.entry(policy.clone()).or_default();
                    *times = times.saturating_add(1);
                    // What was seen before counts until nobody could tell for a while; what was never seen is not claimed.
                    if *times < PATIENCE && proofs.get(&policy).is_some() {
                        continue;
                    }
                    (Enforcement::NotTried, Some(why))
                }
            };
            let before = proofs.get(&policy).map(|tried| tried.verdict);
            if before != Some(verdict) {
                let why = why.as_deref().unwrap_or_default();
                tracing::info!(policy, verdict = verdict.reason(), why, "{}", verdict.sentence());
            }
            proofs.tell(&policy, verdict, why, now);
        }
        proofs
    }

    /// Every policy that is tried, where, and by which write; no write where the operator has no right that would serve.
    fn trials(&self) -> Vec<(String, Option<String>, Option<FirstWrite>)> {
        let of = |parameter: Parameter| {
            ROOMS.iter().filter(move |room| parameter.judges(room)).map(move |room| {
                let first = trial::for_nothing(room.what, parameter.slug());
                (parameter.policy(room), Some(self.namespace.clone()), first)
            })
        };
        let rooms = PARAMETERS.into_iter().flat_map(of);
        rooms
            .chain(self.custom().into_iter().map(|policy| (policy, None, None)))
            .chain(self.node().map(|first| (freezes::NODES.to_owned(), None, Some(first))))
            .collect()
    }

    /// The policies of rooms of somebody's own that gates name.
    fn custom(&self) -> Vec<String> {
        let store = self.caches.store();
        let named = store.snapshot().custom_rooms().into_iter();
        named.map(|name| Parameter::ClusterChangeGate.policy_of_custom(name)).collect()
    }

    /// The order of a node that no pool would give, where nodes are changed here.
    fn node(&self) -> Option<FirstWrite> {
        if self.pools == Pools::Watched {
            return None;
        }
        let store = self.caches.store();
        let (node, _) = store.snapshot().of_kind(&kinds::NODE).next()?;
        let order =
            json!({"metadata": {"annotations": {machine::DESIRED_CONFIG: machine::PROBED_CONFIG}}});
        let write = Write::Patch(node.name.to_string(), order);
        Some(FirstWrite { api_version: kinds::NODE.api_version, kind: kinds::NODE.name, write })
    }

    /// What comes of a first write; why nobody can tell, if nobody can.
    async fn first_write(
        &self,
        policy: &str,
        namespace: Option<&str>,
        first: Option<FirstWrite>,
    ) -> Result<Enforcement, Untried> {
        let Some(first) = first else {
            let why = "its first write is to something that others own, and the operator has no right to it; hint: tidegate doctor tries it with yours";
            return Err(Untried::Cannot(why.to_owned()));
        };
        let kind = Resource::new(first.api_version, first.kind);
        for again in 0..=TWICE {
            let answer = match &first.write {
                Write::Create(object) => {
                    let all = kind.collection(namespace);
                    self.cluster.try_create(OWNER, &all, object).await
                }
                Write::Patch(name, change) => {
                    let change = Patch::merge(OWNER, change).as_dry_run();
                    self.cluster.patch(&kind.object(namespace, name), change).await
                }
                Write::PatchStatus(name, change) => {
                    let change = Patch::merge(OWNER, change).as_dry_run();
                    self.cluster.patch(&status(&kind.object(namespace, name)), change).await
                }
            };
            match answer {
                Ok(_) if again < TWICE => sleep(MOMENT).await,
                Ok(_) => break,
                Err(CallError::Refused { message, .. }) if is_of(policy, &message) => {
                    return Ok(Enforcement::Proven);
                }
                // Whatever refused it, it was not what has to.
                Err(error) => return Err(Untried::of(&error)),
            }
        }
        Ok(Enforcement::NotRefused)
    }

    /// Keeps the gates and freezes by which is tried as they have to be. Nothing is written while they are.
    async fn keep_probes(&self) -> Result<(), CallError> {
        for parameter in PARAMETERS {
            let wanted = trial::probe(parameter);
            let kind = [
                &kinds::CHANGE_GATE,
                &kinds::CLUSTER_CHANGE_GATE,
                &kinds::CHANGE_FREEZE,
                &kinds::CLUSTER_CHANGE_FREEZE,
            ];
            let Some(kind) = kind.into_iter().find(|kind| kind.name == parameter.kind()) else {
                continue;
            };
            let own = (kind.scope == Scope::Namespaced).then_some(self.namespace.as_str());
            let path = path(&Key::new(kind, own, names::PROBE));
            let found = match self.cluster.get::<Value>(&path).await {
                Ok(found) if covers(&found["spec"], &wanted["spec"]) => found,
                Err(error) if !error.is_not_found() => return Err(error),
                Ok(_) | Err(_) => {
                    self.cluster.patch(&path, Patch::apply_by_force(OWNER, &wanted)).await?
                }
            };
            if matches!(parameter, Parameter::ChangeGate | Parameter::ClusterChangeGate) {
                self.keep_shut(&path, &found).await?;
            }
        }
        Ok(())
    }

    /// The status of a gate that is always shut, for the generation that it has.
    async fn keep_shut(&self, path: &str, found: &Value) -> Result<(), CallError> {
        let generation = &found["metadata"]["generation"];
        let shut = json!({"observedGeneration": generation, "conditions": [{"type": names::READY, "status": "True"}]});
        let windows = found.pointer("/status/windows").and_then(Value::as_array);
        if covers(&found["status"], &shut) && windows.is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let ready = Condition {
            kind: names::READY.to_owned(),
            status: ConditionStatus::True,
            reason: names::AS_EXPECTED.to_owned(),
            message: Some("by this gate it is tried whether the API server refuses".to_owned()),
            observed_generation: generation.as_i64(),
            last_transition_time: Some(self.cluster.clock().now().to_string()),
        };
        let said = json!({"status": {"observedGeneration": generation, "windows": null, "conditions": [ready]}});
        self.cluster.patch(&status(path), Patch::merge(OWNER, &said)).await.map(drop)
    }
}

/// Why something was not tried.
enum Untried {
    /// It cannot be, until somebody changes something: there is no such kind, or no right to it.
    Cannot(String),
    /// The server did not answer.
    Unanswered(String),
}

impl Untried {
    fn of(error: &CallError) -> Self {
        match error.code() {
            Some(429 | 500..) | None => Self::Unanswered(error.told()),
            Some(_) => Self::Cannot(error.told()),
        }
    }
}

/// Whether a value has all that another has: servers add what is left out.
fn covers(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| found.get(key).is_some_and(|found| covers(found, wanted))),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| covers(found, wanted))
        }
        (found, wanted) => found == wanted,
    }
}
