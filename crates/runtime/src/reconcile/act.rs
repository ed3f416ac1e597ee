//! How is one write of a plan sent? As it stands, whatever it is about.
//!
//! - GATE-7: the permit of what starts a change is looked at again right before, and the request ends before the permit does.
//! - EXEC-1, EXEC-4: every write carries the version it was made from and is sent once.

use std::time::Duration;

use jiff::Timestamp;
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    document::key::Key,
    gate::{
        Permit,
        action::{Action, Initiation, Owner, Right, Write},
    },
};

use super::{execute::Hands, hold};
use crate::{
    call::{CallError, Cluster, Patch},
    clock::Clock,
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
    if let Write::Delete { .. } = &action.write {
        // It goes because of what our clock says, and nobody brings it back (OVR-6).
        if let Some(why) = hold::off(hands.cluster.skew(), None) {
            return Acted::HeldBack(why);
        }
    }
    let patience = match &action.right {
        Right::Upkeep => hands.cluster.patience(),
        Right::Initiates(initiation) => match time_left(&hands.cluster, &action.target, initiation)
        {
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
    let known = hands.caches.store().version(&action.target);
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
            let object = action.target.clone();
            let Some(seen) = hands.caches.read(object.kind(), &document) else {
                return Acted::Done;
            };
            let written = seen.identity().resource_version.parse::<u64>().ok();
            // CV-5: what came too late the server may have turned into a wish.
            let begun = action.initiation().filter(|_| object == *key);
            let is_diverted = begun.is_some_and(|begun| !seen.goes_to(&begun.change));
            if object == *key {
                // LIVE-2: what was written of the object itself others decide by, be it what it was let begin or what was rendered for it, and the watch
                // tells them nothing that is known already.
                hands.caches.changed_by_us(&object, seen);
            } else {
                hands.caches.answered(&object, seen);
            }
            // The very version that it was made from: the next decision would want the same again, at once and for ever (EXEC-4).
            if written.is_some() && written == known {
                return Acted::Failed { object, error: CallError::Unchanged };
            }
            if is_diverted {
                return Acted::Failed { object, error: CallError::Diverted };
            }
            Acted::Done
        }
    }
}

/// How long the server may take for the start of a change; why it is not to be tried, if it is not.
fn time_left(cluster: &Cluster, object: &Key, initiation: &Initiation) -> Result<Duration, String> {
    left(
        (&**cluster.clock(), cluster.seconds_ahead()),
        object,
        (&initiation.permit, initiation.until),
    )
}

/// The same, by a clock that is so many seconds ahead of the server's.
fn left(
    (clock, ahead): (&dyn Clock, i64),
    object: &Key,
    (permit, until): (&Permit, Instant),
) -> Result<Duration, String> {
    let now = clock.now();
    if !permit.is_live(now) || until <= now {
        return Err(format!("the permit for {object} ended at {until}"));
    }
    // The server would refuse it; why make a noise about a second?
    let there = now.saturating_add(-ahead.max(0));
    if permit.opened().is_some_and(|opened| there < opened) {
        return Err(format!("by the clock of the server it is {there}, and too early"));
    }
    let left = clock.exact().duration_until(Timestamp::from(until));
    Ok(Duration::try_from(left).unwrap_or(Duration::ZERO))
}

/// Sends a write as it stands, in the name of its owner.
pub async fn send(cluster: &Cluster, target: &Key, write: &Write) -> Result<Value, CallError> {
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
        Write::MergePatchBy(owner, change) => Patch::merge(owner.as_str(), change),
        Write::Apply(Owner::Upkeep, document) => Patch::apply(upkeep, document),
        Write::Apply(Owner::Initiator, document) => {
            Patch::apply_by_force(Owner::Initiator.as_str(), document)
        }
    };
    cluster.patch(&path(target), patch).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidegate_core::cluster::{kinds, snapshot::Snapshot};

    use super::*;
    use crate::clock::SetClock;

    /// GATE-7: neither after the permit nor before it was given, nor before the window opened by the server's clock.
    #[tokio::test(start_paused = true)]
    async fn a_change_starts_only_while_its_permit_is_good_by_both_clocks() {
        let at = |text: &str| Instant::parse(&format!("2026-11-{text}Z")).unwrap();
        let mut cluster = Snapshot::default();
        let policy = json!({"apiVersion": kinds::CHANGE_MANAGEMENT_POLICY.api_version,
            "kind": "ChangeManagementPolicy", "metadata": {"name": "p", "generation": 1},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}}});
        let pool = json!({"metadata": {"name": "worker", "generation": 1}, "spec": {"changeManagement":
            {"strategy": "ByPolicy", "byPolicy": {"name": "p"}}}});
        cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, at("14T00:00:00"));
        cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, at("14T00:00:00"));
        let gate = cluster.gate(cluster.gated().next().unwrap());
        let object = Key::new(&kinds::NODE, None, "n1");
        let check =
            |given: &str, until: &str, now: &str, ahead: i64, expected: Result<u64, &str>| {
                let permit = gate.permit(at(given)).unwrap();
                let clock = SetClock::starting_at(at(now));
                let found = left((&clock, ahead), &object, (&permit, at(until)));
                let row =
                    format!("given {given}, until {until}, at {now}, {ahead} s ahead: {found:?}");
                match (found, expected) {
                    (Ok(found), Ok(expected)) => assert_eq!(found.as_secs(), expected, "{row}"),
                    (Err(found), Err(expected)) => assert!(found.contains(expected), "{row}"),
                    _ => panic!("{row}"),
                }
            };
        let (noon, over, early) = ("14T12:00:00", "ended at", "too early");
        check(noon, "14T12:05:00", noon, 0, Ok(300));
        check(noon, "14T12:05:00", "14T12:04:59", 0, Ok(1));
        check(noon, "14T12:05:00", "14T12:05:00", 0, Err(over));
        check(noon, "14T12:01:00", "14T12:01:00", 0, Err(over));
        // A clock that went back behind the permit, and a permit whose window has closed.
        check(noon, "14T12:05:00", "14T11:59:59", 0, Err(over));
        check("14T23:58:00", "15T00:03:00", "15T00:00:00", 0, Err(over));
        let opening = "14T00:00:02";
        check(opening, "14T00:05:00", opening, 0, Ok(298));
        check(opening, "14T00:05:00", opening, 2, Ok(298));
        check(opening, "14T00:05:00", opening, 3, Err(early));
        // Who is behind is not early.
        check(opening, "14T00:05:00", opening, -3, Ok(298));
    }
}
