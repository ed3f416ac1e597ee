//! How is one thing done that a plan says?
//!
//! - GATE-7, GATE-16: what starts a change is a server-side apply with the permit's end, its window's start and the record of the change beside it. The permit is looked at again right before,
//!   and the request ends before the permit does.
//! - EXEC-1, EXEC-4: every write carries the version it was made from and is sent once.

use std::time::Duration;

use api::{kinds, machine::names, schema::Kind};
use jiff::Timestamp;
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    gate::Permit,
    key::Key,
    pool::{Action, update::Record},
};

use super::execute::{FIELD_OWNER, Hands};
use crate::{
    caches::read,
    call::{CallError, Patch},
    key::{collection, path},
};

/// Who is named as the owner of what machines must go to. An owner of its own: the server stamps the time of a write on its owner's
/// entry, and that stamp is what the permit is compared with.
pub const ROLLOUT_OWNER: &str = "tidegate-rollout";

/// What became of one thing.
#[derive(Debug)]
pub(super) enum Acted {
    /// It is done, and the answer is known.
    Done,
    /// It was not tried, for this reason.
    HeldBack(String),
    /// It failed, at this object.
    Failed { object: Key, error: CallError },
}

/// Does one thing about the pool of this key.
pub(super) async fn act(hands: &Hands, pool: &Key, action: &Action) -> Acted {
    match action {
        Action::CreateRendered(document) => create(hands, pool, document).await,
        Action::RecordSources { name, digests } => {
            let change = json!({"metadata": {"annotations": {names::SOURCE_DIGESTS: digests}}});
            merge(hands, (&kinds::MACHINE_CONFIG, name), &change).await
        }
        Action::FollowControlPlane(operations)
        | Action::SetConfiguration(operations)
        | Action::WriteLedger { operations, .. } => {
            let patch = Patch::json(FIELD_OWNER, operations);
            known(hands, pool.clone(), hands.cluster.patch(&path(pool), patch).await)
        }
        Action::SetDesiredConfig { node, uid, resource_version, config, until, permit } => {
            let mut noted = json!({
                names::DESIRED_CONFIG: config,
                names::PERMIT_UNTIL: until.to_string(),
                names::PERMIT_BASIS: permit.basis().to_string(),
                names::PERMIT_CHANGE: config,
            });
            if let Some(opened) = permit.opened() {
                noted[names::PERMIT_FROM] = opened.to_string().into();
            }
            let mark = applied((node, uid, resource_version), &noted);
            initiate(hands, pool, node, mark, (permit, *until)).await
        }
        Action::Adopt { node, uid, resource_version, config } => {
            adopt(hands, (node, uid, resource_version), config).await
        }
        Action::Note { node, uid, resource_version, annotations } => {
            let change = json!({"metadata": {
                "uid": uid,
                "resourceVersion": resource_version,
                "annotations": annotations,
            }});
            merge(hands, (&kinds::NODE, node), &change).await
        }
        Action::RecordRelease { name, resource_version, record } => {
            let change = json!({"metadata": {
                "resourceVersion": resource_version,
                "annotations": {names::BEGUN_RELEASE: record.as_ref().map(Record::text)},
            }});
            merge(hands, (&kinds::CLUSTER_VERSION, name), &change).await
        }
    }
}

/// The document that is applied to write these annotations to a machine, seen by this name, uid and version.
fn applied((name, uid, resource_version): (&str, &str, &str), annotations: &Value) -> Value {
    json!({
        "apiVersion": kinds::NODE.api_version,
        "kind": kinds::NODE.name,
        "metadata": {
            "name": name,
            "uid": uid,
            "resourceVersion": resource_version,
            "annotations": annotations,
        },
    })
}

/// The commit point of a change to a machine.
async fn initiate(
    hands: &Hands,
    pool: &Key,
    node: &str,
    mark: Value,
    (permit, until): (&Permit, Instant),
) -> Acted {
    let object = Key::new(&kinds::NODE, None, node);
    let clock = hands.cluster.clock();
    let now = clock.now();
    if !permit.is_live(now) || until <= now {
        return Acted::HeldBack(format!("the permit for {object} ended at {until}"));
    }
    // The server would refuse it; why make a noise about a second?
    let there = now.saturating_add(-hands.cluster.seconds_ahead().max(0));
    if permit.opened().is_some_and(|opened| there < opened) {
        return Acted::HeldBack(format!("by the clock of the server it is {there}, and too early"));
    }
    let left = clock.exact().duration_until(Timestamp::from(until));
    let left = Duration::try_from(left).unwrap_or(Duration::ZERO);
    let basis = permit.basis();
    tracing::info!(%pool, %object, %basis, %until, "a change is initiated");
    let cluster = hands.cluster.within(left.min(hands.cluster.patience()));
    let patch = Patch::apply_by_force(ROLLOUT_OWNER, &mark);
    let answer = cluster.patch(&path(&object), patch).await;
    known(hands, object, answer)
}

/// A machine is told to stay where it is (GATE-16). Applied, and not patched: what is then ordered has another owner, to whom this one
/// yields.
async fn adopt(hands: &Hands, machine: (&str, &str, &str), config: &str) -> Acted {
    let object = Key::new(&kinds::NODE, None, machine.0);
    let stay = applied(machine, &json!({names::DESIRED_CONFIG: config}));
    let answer = hands.cluster.patch(&path(&object), Patch::apply(FIELD_OWNER, &stay)).await;
    known(hands, object, answer)
}

/// A rendered configuration that exists already is the same: its name tells its content.
async fn create(hands: &Hands, pool: &Key, document: &Value) -> Acted {
    let all = collection(&kinds::MACHINE_CONFIG, None);
    match hands.cluster.create_as(FIELD_OWNER, &all, document).await {
        Ok(_) => Acted::Done,
        Err(error) if error.code() == Some(409) => Acted::Done,
        Err(error) => Acted::Failed { object: pool.clone(), error },
    }
}

async fn merge(hands: &Hands, (kind, name): (&Kind, &str), change: &Value) -> Acted {
    let object = Key::new(kind, None, name);
    let answer = hands.cluster.patch(&path(&object), Patch::merge(FIELD_OWNER, change)).await;
    known(hands, object, answer)
}

/// What the server answered is known from here on.
fn known(hands: &Hands, object: Key, answer: Result<Value, CallError>) -> Acted {
    match answer {
        Ok(document) => {
            if let Some((_, seen)) = read(object.kind(), &document) {
                hands.caches.answered(&object, seen);
            }
            Acted::Done
        }
        Err(error) => Acted::Failed { object, error },
    }
}
