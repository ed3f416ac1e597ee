//! How is one write of a plan sent? As it stands, whatever it is about.
//!
//! - GATE-7: the permit of what starts a change is looked at again right before, and the request ends before the permit does.
//! - EXEC-1, EXEC-4: every write carries the version it was made from and is sent once.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tidegate_core::{
    action::{Action, Initiation, Owner, Right, Write},
    key::Key,
};

use super::execute::Hands;
use crate::{
    call::{CallError, Cluster, Patch},
    key::{collection, path},
};

/// What became of one write.
#[derive(Debug)]
pub(super) enum Acted {
    /// It is done, and the answer is known.
    Done,
    /// It was not tried, for this reason.
    HeldBack(String),
    /// It failed, at this object.
    Failed { object: Key, error: CallError },
}

/// Sends one write of the plan about the object of this key.
pub(super) async fn act(hands: &Hands, key: &Key, action: &Action) -> Acted {
    let patience = match &action.right {
        Right::Upkeep => hands.cluster.patience(),
        Right::Initiates(initiation) => match time_left(hands, &action.target, initiation) {
            Err(why) => return Acted::HeldBack(why),
            Ok(left) => {
                let Initiation { permit, until, .. } = &**initiation;
                let (basis, object) = (permit.basis(), &action.target);
                tracing::info!(pool = %key, %object, %basis, %until, "a change is initiated");
                left.min(hands.cluster.patience())
            }
        },
    };
    let cluster = hands.cluster.within(patience);
    match (send(&cluster, &action.target, &action.write).await, &action.write) {
        (Ok(_), Write::Create(_) | Write::Delete { .. }) => Acted::Done,
        // Somebody else ended it before.
        (Err(error), Write::Delete { .. }) if error.is_not_found() => Acted::Done,
        (Err(error), Write::Create(_)) if error.code() == Some(409) => Acted::Done,
        // What was not created cannot be read back.
        (Err(error), Write::Create(_)) => Acted::Failed { object: key.clone(), error },
        (Err(error), _) => Acted::Failed { object: action.target.clone(), error },
        (Ok(document), _) => {
            // What the server answered is known from here on.
            if let Some(seen) = hands.caches.read(action.target.kind(), &document) {
                hands.caches.answered(&action.target, seen);
            }
            Acted::Done
        }
    }
}

/// How long the server may take for the start of a change; why it is not to be tried, if it is not.
fn time_left(hands: &Hands, object: &Key, initiation: &Initiation) -> Result<Duration, String> {
    let Initiation { permit, until, .. } = initiation;
    let clock = hands.cluster.clock();
    let now = clock.now();
    if !permit.is_live(now) || *until <= now {
        return Err(format!("the permit for {object} ended at {until}"));
    }
    // The server would refuse it; why make a noise about a second?
    let there = now.saturating_add(-hands.cluster.seconds_ahead().max(0));
    if permit.opened().is_some_and(|opened| there < opened) {
        return Err(format!("by the clock of the server it is {there}, and too early"));
    }
    let left = clock.exact().duration_until(Timestamp::from(*until));
    Ok(Duration::try_from(left).unwrap_or(Duration::ZERO))
}

/// Sends a write as it stands, in the name of its owner.
async fn send(cluster: &Cluster, target: &Key, write: &Write) -> Result<Value, CallError> {
    let upkeep = Owner::Upkeep.as_str();
    let patch = match write {
        Write::Create(document) => {
            let all = collection(target.kind(), target.namespace.as_deref());
            return cluster.create_as(upkeep, &all, document).await;
        }
        Write::Delete { uid, version } => {
            let options = json!({"preconditions": {"uid": uid, "resourceVersion": version}});
            return cluster.delete(&path(target), &options).await;
        }
        Write::JsonPatch(operations) => Patch::json(upkeep, operations),
        Write::MergePatch(change) => Patch::merge(upkeep, change),
        Write::Apply(Owner::Upkeep, document) => Patch::apply(upkeep, document),
        Write::Apply(Owner::Initiator, document) => {
            Patch::apply_by_force(Owner::Initiator.as_str(), document)
        }
    };
    cluster.patch(&path(target), patch).await
}
