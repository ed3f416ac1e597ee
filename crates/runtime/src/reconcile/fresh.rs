//! Is what was decided a moment ago still right? Asked before each write that starts a change (GATE-11).
//!
//! A plan may hold many of them, and a server may take a second for each: long enough for somebody to pause, pin, or close the gate,
//! and for another replica to lead. So whatever the gate rests on is read again, from the store behind the server and not from a
//! cache; the decision is made again; and only what the new decision still contains is sent, as the new decision has it. After a hold
//! is committed at most the one write follows that was on its way.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::Value;
use tidegate_core::{
    cluster::seen::Seen,
    document::key::Key,
    gate::{
        action::{Action, Reserved},
        plan::Plan,
    },
};

use super::{decide, execute::Hands};
use crate::{
    call::{CallError, Collection},
    key::{collection, path},
    observe,
    store::{Knowledge, State, Trust},
};

/// What came of asking again.
#[derive(Debug)]
pub(super) enum Asked {
    /// It is still right, and reads like this now.
    Go(Box<Action>),
    /// It is not, but others of its kind may be.
    PassOver,
    /// None of its kind is.
    Stop,
    /// Nobody knows: this object could not be read.
    Lost { object: Key, error: CallError },
}

/// Whether a change is still to be started.
pub(super) async fn ask_again(hands: &Hands, key: &Key, action: &Action) -> Asked {
    if !hands.still_leads() {
        return Asked::Stop;
    }
    if let Err((object, error)) = read_anew(hands, key).await {
        return Asked::Lost { object, error };
    }
    // From here on nothing is awaited before the write.
    if !hands.still_leads() {
        return Asked::Stop;
    }
    // The next turn of the loop meets the same panic, and deals with it.
    let Some((_, plan)) = decide_anew(hands, key) else { return Asked::Stop };
    if hands.caches.store().held_back(key).is_some() {
        return Asked::Stop;
    }
    if !plan.actions.iter().any(|fresh| fresh.initiation().is_some()) {
        return Asked::Stop;
    }
    // What the new decision would only reserve now has to be reserved first (POOL-2).
    let reserved = |fresh: &Action| {
        fresh.initiation().is_some_and(|started| started.reserved == Reserved::Written)
    };
    let fresh = plan.actions.into_iter().find(|fresh| fresh.starts_the_same(action));
    fresh.filter(reserved).map_or(Asked::PassOver, |fresh| Asked::Go(Box::new(fresh)))
}

/// Decides anew, from what is known now; none if the object is gone, or if the decision panicked.
pub(super) fn decide_anew(hands: &Hands, key: &Key) -> Option<(Seen, Plan)> {
    let mut store = hands.caches.store();
    let seen = decide::known(key, &hands.duty, (hands.terms, &hands.cluster), &mut store)?;
    let plan = decide::plan(&hands.duty, &seen, &store, hands.cluster.clock().now()).ok()?;
    Some((seen, plan))
}

/// Reads whatever the gate of an object rests on. What is read may name something else, which is read then.
async fn read_anew(hands: &Hands, key: &Key) -> Result<(), (Key, CallError)> {
    let mut done = BTreeSet::new();
    loop {
        let resting = {
            let store = hands.caches.store();
            let seen = store.snapshot().get(key);
            seen.map_or_else(Vec::new, |seen| (hands.duty.rests_on)(seen, store.snapshot()))
        };
        let missing: Vec<Key> =
            resting.into_iter().filter(|object| done.insert(object.clone())).collect();
        if missing.is_empty() {
            return Ok(());
        }
        for outcome in join_all(missing.iter().map(|object| look_up(hands, object))).await {
            outcome?;
        }
    }
}

async fn look_up(hands: &Hands, object: &Key) -> Result<(), (Key, CallError)> {
    if object.is_of_all() {
        return list_anew(hands, object).await.map_err(|error| (object.clone(), error));
    }
    let known = hands.caches.store().version(object);
    let found = read_by_name(hands, object).await.map_err(|error| (object.clone(), error))?;
    if let Some(seen) = &found {
        let version = seen.identity().resource_version.parse::<u64>().ok();
        if version < known {
            // What is known was never written, as far as the server goes: nothing can be relied on.
            hands.caches.went_back();
            let error = CallError::Stale { found: version.unwrap_or(0), known: known.unwrap_or(0) };
            return Err((object.clone(), error));
        }
    }
    hands.caches.looked_up(object, found, known);
    Ok(())
}

/// Lists all objects of a kind, because what rests on there being no others has no name to ask for. A kind that the server does not have is
/// looked for by its observer.
pub(super) async fn list_anew(hands: &Hands, all: &Key) -> Result<(), CallError> {
    let kind = all.kind();
    let row = hands.caches.observed().iter().find(|row| row.kind == *kind);
    let about = hands.caches.store().on(kind);
    match (row, about) {
        (None, _) | (_, Some(Knowledge { state: State::Absent, .. })) => Ok(()),
        (Some(row), _) => {
            let everywhere = Collection::of(collection(kind, None));
            let around = (&hands.cluster, &*hands.caches);
            observe::list(row, around, &everywhere, Trust::Newer).await.map(drop)
        }
    }
}

/// Reads an object from the store behind the server; none if it is gone. Only a server that has the kind says that there is no such object:
/// whoever starts, or stands before the server, answers 404 to every path. What they say, and what an answer about something else says,
/// nobody can tell, and that is not what the absence of an object says (GATE-12).
pub(super) async fn read_by_name(hands: &Hands, object: &Key) -> Result<Option<Seen>, CallError> {
    match hands.cluster.get::<Value>(&path(object)).await {
        Ok(document) => match hands.caches.read(object.kind(), &document) {
            Some(seen) if seen.identity().key == *object => Ok(Some(seen)),
            _ => Err(CallError::garbled("an answer about something else")),
        },
        Err(error) if error.is_not_found() || is_absent(hands, object, &error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the server has said, when it was last asked, that it does not have the kind at all.
fn is_absent(hands: &Hands, object: &Key, error: &CallError) -> bool {
    let about = hands.caches.store().on(object.kind());
    error.code() == Some(404) && about.is_some_and(|about| about.state == State::Absent)
}
