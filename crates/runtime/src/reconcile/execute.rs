//! How is a plan carried out? As it stands, once, under the version it was made from.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value;
use tidegate_core::{
    plan::{Note, StatusPatch},
    seen::Seen,
};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::{
    caches::read,
    call::{Ask, CallError, Cluster, Verb},
    key::Key,
};

/// Who is named as the owner of the fields that are written.
pub(crate) const FIELD_OWNER: &str = "tidegate";

/// What one step took, and brought.
#[derive(Debug)]
pub(super) struct Took {
    pub(super) key: Key,
    pub(super) began: Instant,
    pub(super) step: Step,
}

/// What a step brought.
#[derive(Debug)]
pub(super) enum Step {
    /// The status was written; the answer is what the server kept.
    Written { seen: Seen, before: Seen, patch: StatusPatch, notes: Vec<Note> },
    /// The object was read; none if it is gone.
    Read { seen: Option<Seen> },
    /// It failed.
    Failed { error: CallError, notes: Vec<Note>, phase: Phase },
}

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Writing,
    Reading,
}

/// Writes a status.
pub(super) fn write(
    cluster: Cluster,
    key: Key,
    before: Seen,
    patch: StatusPatch,
    notes: Vec<Note>,
    began: Instant,
) -> BoxFuture<'static, Took> {
    let generation = before.identity().generation;
    let span = tracing::info_span!("reconcile", object = %key, generation, verb = "execute");
    async move {
        let ask = Ask {
            path: format!("{}?fieldManager={FIELD_OWNER}", key.status_path()),
            content_type: "application/json-patch+json",
            body: Value::Array(patch.operations.clone()).to_string().into_bytes(),
        };
        let step = match cluster.call::<Value>(Verb::Patch, ask).await {
            Ok(document) => match read(key.kind(), &document) {
                Some((_, seen)) => Step::Written { seen, before, patch, notes },
                None => Step::Read { seen: None },
            },
            Err(error) => Step::Failed { error, notes, phase: Phase::Writing },
        };
        Took { key, began, step }
    }
    .instrument(span)
    .boxed()
}

/// Reads an object from the store behind the server, not from a cache.
pub(super) fn read_back(cluster: Cluster, key: Key, began: Instant) -> BoxFuture<'static, Took> {
    let span = tracing::info_span!("reconcile", object = %key, verb = "observe");
    async move {
        let read_it = cluster.call::<Value>(Verb::Get, Ask::path(key.path())).await;
        let step = match read_it {
            Ok(document) => Step::Read { seen: read(key.kind(), &document).map(|(_, seen)| seen) },
            Err(error) if error.code() == Some(404) => Step::Read { seen: None },
            Err(error) => Step::Failed { error, notes: Vec::new(), phase: Phase::Reading },
        };
        Took { key, began, step }
    }
    .instrument(span)
    .boxed()
}
