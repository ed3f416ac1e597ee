//! Does the server refuse a change that nobody permitted? It is tried, and what was not seen is not believed (GATE-13).
//!
//! A node is told to go to a configuration that cannot exist, beside a permit that names no change, as a dry run: nothing is stored, and
//! the admission policy that is shipped beside the operator refuses it; that of 0.1.0, which left doors open, does not. Then a record is
//! written that no node has, and the policy that keeps records refuses that: what was begun is read from them (GATE-10). Without both
//! refusals the operator's own care is all that keeps a window, so it initiates nothing and says why.

pub mod listed;
pub mod rooms;

use std::sync::Arc;

use api::{
    kinds,
    machine::names::{self, IMPOSSIBLE_CONFIG as IMPOSSIBLE},
    names::{ACCEPTED_CONFIG, ACCEPTED_RELEASE},
};
use runtime::{
    caches::Caches,
    call::{CallError, Cluster, Patch},
    key::path,
    path::ADMISSION_POLICY,
    tempo::Tempo,
};
use serde_json::{Value, json};
use tidegate_core::{
    cluster::kinds::{HostedClusters, Pools, Updates},
    document::key::Key,
    gate::enforced::Enforcement,
};
use tokio::time::sleep;

use self::listed::{Listed, Try};

/// What the names of the admission policies end in that the chart makes.
const PERMITS: &str = "permits";
const RECORDS: &str = "records";
/// The same of the policy on marks of updates.
const UPDATES: &str = "updates";
/// The same of the policy on marks of hosted clusters.
const HOSTED: &str = "hosted";
/// For how many seconds the permit is good that names no change. What must refuse it is that alone.
const GOOD_FOR: i64 = 120;
/// So many tries in a row without an answer, and what was seen before counts for nothing.
const PATIENCE: u32 = 3;

/// What is started: each has a policy of its own.
#[derive(Clone, Copy, Debug)]
pub struct Duties {
    /// Whether nodes are told to change here.
    pub pools: Pools,
    /// Whether updates of the control plane are.
    pub updates: Updates,
    /// Whether changes of hosted clusters are.
    pub hosted: HostedClusters,
}

/// What it is tried on.
#[derive(Debug)]
struct Subjects {
    /// A node, if there is one.
    machine: Option<Key>,
    /// `ClusterVersion`, if its updates are started.
    version: Option<Key>,
    /// A hosted cluster and a pool of nodes, if their changes are started.
    hosted: Vec<Key>,
}

impl Subjects {
    /// Those that are known now; none if there is nothing to try it on.
    fn known(caches: &Caches, duties: Duties) -> Option<Self> {
        let store = caches.store();
        let first = |kind| store.snapshot().of_kind(kind).next().map(|(key, _)| key.clone());
        let machine = match duties.pools {
            Pools::Managed => first(&kinds::NODE),
            Pools::Watched => None,
        };
        let version = (machine.is_some() && duties.updates == Updates::Started)
            .then(|| Key::new(&kinds::CLUSTER_VERSION, None, api::names::THE_CLUSTER));
        let hosted = match duties.hosted {
            HostedClusters::Watched => Vec::new(),
            HostedClusters::Started => [first(&kinds::HOSTED_CLUSTER), first(&kinds::NODE_POOL)]
                .into_iter()
                .flatten()
                .collect(),
        };
        let some = machine.is_some() || !hosted.is_empty();
        some.then_some(Self { machine, version, hosted })
    }

    /// How the policies end that have to stand.
    fn policies(&self) -> impl Iterator<Item = &'static str> {
        let nodes = self.machine.iter().flat_map(|_| [PERMITS, RECORDS]);
        let updates = self.version.iter().map(|_| UPDATES);
        let hosted = (!self.hosted.is_empty()).then_some(HOSTED);
        nodes.chain(updates).chain(hosted)
    }
}

/// Tries for ever: at once, every few minutes, when an admission policy or a binding changed, and more often until it was refused.
pub async fn run(cluster: Cluster, caches: Arc<Caches>, tempo: Tempo, duties: Duties) {
    let mut changes = caches.changes();
    let mut unanswered = 0;
    let mut last: Option<Try> = None;
    loop {
        changes.mark_seen();
        let Some(subjects) = Subjects::known(&caches, duties) else {
            changes.changed().await;
            continue;
        };
        let before = caches.store().enforcement();
        let standing = listed::look(&cluster).await;
        let is_fine = before == Enforcement::Proven && unanswered == 0;
        if is_fine && last.as_ref().is_some_and(|last| last.is_good_for(&standing, &tempo)) {
            sleep(tempo.policies).await;
            continue;
        }
        last = Some(Try::now(standing.clone(), last));
        let verdict = match &standing {
            Listed::Unserved => Ok(Enforcement::NeedsNewerServer),
            Listed::Seen(seen) if !subjects.policies().all(|it| seen.binds(it)) => {
                Ok(Enforcement::PolicyMissing)
            }
            Listed::Seen(_) | Listed::Unseen => tried(&cluster, &subjects).await,
        };
        let verdict = match verdict {
            Ok(verdict) => {
                unanswered = 0;
                Some(verdict)
            }
            Err(error) => {
                tracing::warn!(?subjects, %error, "it could not be tried whether the server refuses a change without a permit");
                unanswered += 1;
                (unanswered >= PATIENCE).then_some(Enforcement::NotTried)
            }
        };
        if let Some(verdict) = verdict {
            if verdict != before {
                tracing::info!(verdict = verdict.reason(), "{}", verdict.sentence());
            }
            caches.store().set_enforcement(verdict);
            caches.nudge();
        }
        sleep(tempo.policies).await;
    }
}

/// What comes of a change that nobody permitted, and of a record that no node has.
async fn tried(cluster: &Cluster, subjects: &Subjects) -> Result<Enforcement, CallError> {
    let until = cluster.clock().now().saturating_add(GOOD_FOR);
    let order = json!({
        names::DESIRED_CONFIG: IMPOSSIBLE,
        names::PERMIT_UNTIL: until.to_string(),
        names::PERMIT_FROM: null,
        names::PERMIT_BASIS: null,
        names::PERMIT_CHANGE: null,
    });
    let record = json!({names::LEDGER: IMPOSSIBLE});
    // CV-4, HOST-1: a mark beside a permit that names no change.
    let mark = |of: &Key| {
        let is_pool = *of.kind() == kinds::NODE_POOL;
        let key = if is_pool { ACCEPTED_CONFIG } else { ACCEPTED_RELEASE };
        json!({
            key: IMPOSSIBLE,
            names::PERMIT_UNTIL: until.to_string(),
            names::PERMIT_FROM: null,
            names::PERMIT_CHANGE: null,
        })
    };
    let nodes = subjects.machine.iter().flat_map(|machine| {
        [(machine, order.clone(), PERMITS), (machine, record.clone(), RECORDS)]
    });
    let updates = subjects.version.iter().map(|version| (version, mark(version), UPDATES));
    let hosted = subjects.hosted.iter().map(|hosted| (hosted, mark(hosted), HOSTED));
    for (object, annotations, policy) in nodes.chain(updates).chain(hosted) {
        let change = json!({"metadata": {"annotations": annotations}});
        let patch = Patch::merge("tidegate-proof", &change).as_dry_run();
        match cluster.patch(&path(object), patch).await {
            Ok(_) => return why_not(cluster).await,
            Err(CallError::Refused { message, .. }) if is_of(policy, &message) => {}
            // Where there is no control plane to update there is nothing to mark.
            Err(error) if error.is_not_found() && [UPDATES, HOSTED].contains(&policy) => {}
            // Whatever refused it, it was not what has to.
            Err(error) => return Err(error),
        }
    }
    Ok(Enforcement::Proven)
}

/// Whether the words are those of an admission policy that is shipped beside the operator.
fn is_of(policy: &str, message: &str) -> bool {
    let mut named = message.split("ValidatingAdmissionPolicy '").skip(1);
    named.any(|rest| rest.split_once('\'').is_some_and(|(name, _)| listed::is_called(name, policy)))
}

/// Why the server let it pass. Who may not list admission policies is told here whether there could be any.
async fn why_not(cluster: &Cluster) -> Result<Enforcement, CallError> {
    let served = match cluster.get::<Value>(&ADMISSION_POLICY.group()).await {
        Ok(group) => {
            let plural = ADMISSION_POLICY.plural();
            let resources = group.get("resources").and_then(Value::as_array);
            resources.into_iter().flatten().any(|it| it["name"] == plural)
        }
        Err(error) if error.code() == Some(404) => false,
        Err(error) => return Err(error),
    };
    Ok(if served { Enforcement::NotRefused } else { Enforcement::NeedsNewerServer })
}
