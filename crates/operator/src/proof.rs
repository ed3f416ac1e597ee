//! Does the server refuse a change that nobody permitted? It is tried, and what was not seen is not believed (GATE-13).
//!
//! A machine is told to go to a configuration that cannot exist, beside a permit that names no change, as a dry run: nothing is stored, and
//! the admission policy that is shipped beside the operator refuses it; that of 0.1.0, which left doors open, does not. Then a record is
//! written that no machine has, and the policy that keeps records refuses that: what was begun is read from them (GATE-10). Without both
//! refusals the operator's own care is all that keeps a window, so it initiates nothing and says why.

use std::sync::Arc;

use api::{kinds, machine::names};
use runtime::{
    caches::Caches,
    call::{Ask, CallError, Cluster, Verb},
    key::Key,
    tempo::Tempo,
};
use serde_json::{Value, json};
use tidegate_core::enforced::Enforcement;
use tokio::time::sleep;

/// No configuration is called that: names of objects have no capital letters.
const IMPOSSIBLE: &str = "Tidegate-tries-whether-this-is-refused";
/// How the admission policies end that the chart makes.
const PERMITS: &str = "-permits'";
const RECORDS: &str = "-records'";
/// For how many seconds the permit is good that names no change. What must refuse it is that alone.
const GOOD_FOR: i64 = 120;
/// So many tries in a row without an answer, and what was seen before counts for nothing.
const PATIENCE: u32 = 3;

const DISCOVERY: &str = "/apis/admissionregistration.k8s.io/v1";
const PLURAL: &str = "validatingadmissionpolicies";
const BINDINGS: &str = "validatingadmissionpolicybindings";

/// Tries for ever: at once, every few minutes, and more often until it was refused.
pub async fn run(cluster: Cluster, caches: Arc<Caches>, tempo: Tempo) {
    let mut changes = caches.changes();
    let mut unanswered = 0;
    loop {
        changes.mark_seen();
        let machine = caches.store().of_kind(&kinds::NODE).next().map(|(key, _)| key.clone());
        let Some(machine) = machine else {
            changes.changed().await;
            continue;
        };
        let verdict = tried(&cluster, &machine).await;
        let before = caches.store().enforcement();
        let verdict = match verdict {
            Ok(verdict) => {
                unanswered = 0;
                verdict
            }
            Err(error) => {
                tracing::warn!(%machine, %error, "it could not be tried whether the server refuses a change without a permit");
                unanswered += 1;
                if unanswered < PATIENCE { before } else { Enforcement::NotTried }
            }
        };
        if verdict != before {
            tracing::info!(verdict = verdict.reason(), "{}", verdict.sentence());
        }
        caches.store().set_enforcement(verdict);
        caches.nudge();
        let fine = verdict == Enforcement::Proven && unanswered == 0;
        let pause = if fine { tempo.proof } else { tempo.retry_at_most };
        sleep(pause).await;
    }
}

/// What comes of a change that nobody permitted, and of a record that no machine has.
async fn tried(cluster: &Cluster, machine: &Key) -> Result<Enforcement, CallError> {
    let until = cluster.clock().now().saturating_add(GOOD_FOR);
    let order = json!({
        names::DESIRED_CONFIG: IMPOSSIBLE,
        names::PERMIT_UNTIL: until.to_string(),
        names::PERMIT_FROM: null,
        names::PERMIT_BASIS: null,
        names::PERMIT_CHANGE: null,
    });
    for (annotations, policy) in [(order, PERMITS), (json!({names::LEDGER: IMPOSSIBLE}), RECORDS)] {
        let change = json!({"metadata": {"annotations": annotations}});
        let ask = Ask {
            path: format!("{}?dryRun=All&fieldManager=tidegate-proof", machine.path()),
            content_type: "application/merge-patch+json",
            body: change.to_string().into_bytes(),
        };
        match cluster.call::<Value>(Verb::Patch, ask).await {
            Ok(_) => return why_not(cluster, policy).await,
            Err(CallError::Refused { message, .. }) if is_of(policy, &message) => {}
            // Whatever refused it, it was not what has to.
            Err(error) => return Err(error),
        }
    }
    Ok(Enforcement::Proven)
}

/// Whether the words are those of an admission policy that is shipped beside the operator.
fn is_of(policy: &str, message: &str) -> bool {
    message.contains("ValidatingAdmissionPolicy '") && message.contains(policy)
}

/// Why the server let it pass that a policy should refuse.
async fn why_not(cluster: &Cluster, policy: &str) -> Result<Enforcement, CallError> {
    let served = match cluster.call::<Value>(Verb::Get, Ask::path(DISCOVERY)).await {
        Ok(served) => names_at(served.get("resources"), "/name").contains(&PLURAL),
        Err(error) if error.code() == Some(404) => false,
        Err(error) => return Err(error),
    };
    if !served {
        return Ok(Enforcement::NeedsNewerServer);
    }
    for (plural, place) in [(PLURAL, "/metadata/name"), (BINDINGS, "/spec/policyName")] {
        let listed = cluster.call::<Value>(Verb::List, Ask::path(format!("{DISCOVERY}/{plural}")));
        match listed.await {
            Ok(found) => {
                let names = names_at(found.get("items"), place);
                if !names.iter().any(|name| format!("'{name}'").ends_with(policy)) {
                    return Ok(Enforcement::PolicyMissing);
                }
            }
            // Who may not look cannot tell one from the other.
            Err(error) if error.code() == Some(403) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Enforcement::NotRefused)
}

/// The names in a list of documents, each at this place.
fn names_at<'a>(documents: Option<&'a Value>, place: &str) -> Vec<&'a str> {
    let documents = documents.and_then(Value::as_array).into_iter().flatten();
    documents.filter_map(|document| document.pointer(place)?.as_str()).collect()
}
