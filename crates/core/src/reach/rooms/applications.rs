//! How are syncs of Argo CD held?
//!
//! By the field `operation` of an `Application`: whoever starts a sync (the page, the command, automatic sync, self-healing, an
//! `ApplicationSet`) writes it, and the application controller acts on it. A refused automatic sync shows as the condition `SyncError`.
//!
//! The controller copies the operation into `status.operationState` and works on the copy, so a copy that nobody admitted begins a sync too. It
//! is told from the controller's own by the operation that was there before: only a sync that is none of a dry run may be copied as one.
//! A dry run changes nothing and passes.

use api::{
    kinds,
    reach::{PendingChange, What},
};
use serde_json::Value;

use super::{
    super::target::{SeenTarget, Tells},
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
    leaving::{leaves, relabels},
};

/// Whether an operation stands at a place, which begins with `object` or `oldObject`, and is no dry run.
macro_rules! wanted {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".operation) && ",
            $at,
            ".operation != null && !(has(",
            $at,
            ".operation.sync) && has(",
            $at,
            ".operation.sync.dryRun) && ",
            $at,
            ".operation.sync.dryRun))"
        )
    };
}

/// Whether the controller would go on with a sync that is no dry run.
macro_rules! runs {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".status) && has(",
            $at,
            ".status.operationState) && ",
            $at,
            ".status.operationState != null && \
             !(has(",
            $at,
            ".status.operationState.phase) && ",
            $at,
            ".status.operationState.phase in ['Succeeded', 'Failed', 'Error']) && \
             !(has(",
            $at,
            ".status.operationState.operation) && has(",
            $at,
            ".status.operationState.operation.sync) && has(",
            $at,
            ".status.operationState.operation.sync.dryRun) && ",
            $at,
            ".status.operationState.operation.sync.dryRun))"
        )
    };
}

macro_rules! syncs {
    () => {
        concat!(
            "(", wanted!("object"), " && (oldObject == null || !has(oldObject.operation) || oldObject.operation != object.operation)) || \
             (", runs!("object"), " && (oldObject == null || (!", runs!("oldObject"), " && !", wanted!("oldObject"), ")))"
        )
    };
}

pub(super) const ROOM: Room = Room {
    what: What::Applications,
    slug: "applications",
    held: "a sync by Argo CD: the field `operation` of an Application, or its `status.operationState` by hand",
    writes: &[Write {
        group: "argoproj.io",
        resources: &["applications", "applications/status"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(syncs!(), " || (oldObject != null && ", relabels!(), ")"),
    name: "object.metadata.name",
    labels: "[object.metadata] + (oldObject == null ? [] : [oldObject.metadata])",
    holds: concat!(syncs!(), " || (oldObject != null && ", leaves!(), ")"),
    adds: "''",
    system: SystemNamespaces::Held,
    nudge: Nudge::Touch {
        group: "argoproj.io",
        resource: "applications",
        asks: Some(("argocd.argoproj.io/refresh", "normal")),
    },
    not_held: &[
        "A sync that has begun: it ends, with its retries, whatever the window does. So does one that was written in the window and not yet begun.",
        "Refreshing and comparing, and dry runs.",
        "A change of the Application itself, such as another revision: it is compared, and its sync waits.",
        "Argo CD's deletion of what an Application made, when the Application is deleted.",
        "What people do to the objects of an Application without Argo CD; the rooms of workloads hold that.",
        "Another operation than the one that was admitted, by somebody who may write Applications and is faster than the controller.",
        "An automatic sync in the very second in which the controller wrote the same Application is refused though the gate is open, and tried again at the next \
         refresh.",
        "A sync that is started by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will \
         write, and then forges another dated inside a window.",
    ],
    tried: "the writes that Argo CD 3 sends, played; not yet with its application controller",
    targets: Some(Targets {
        kind: &kinds::APPLICATION,
        read: |document| {
            let tells = Tells::Alone(pending(document).map(Box::new));
            SeenTarget::new(document, document.pointer("/metadata/labels"), tells)
        },
        made: None,
        waits: Waits::Told,
    }),
    gated: None,
};

/// What an automatic sync would bring waits. What nobody asked for does not, however much it differs.
fn pending(target: &Value) -> Option<PendingChange> {
    let text = |path: &str| target.pointer(path).and_then(Value::as_str);
    let automated =
        target.pointer("/spec/syncPolicy/automated").filter(|value| value.is_object())?;
    let differs = text("/status/sync/status") == Some("OutOfSync");
    let asked = target.get("operation").is_some_and(Value::is_object);
    if automated["enabled"] == false || !differs || asked {
        return None;
    }
    let newest = |place: &Value| {
        let several =
            place["revisions"].as_array().and_then(|revisions| revisions.first()?.as_str());
        several
            .or(place["revision"].as_str())
            .filter(|revision| !revision.is_empty())
            .map(str::to_owned)
    };
    let history = target.pointer("/status/history").and_then(Value::as_array);
    let before = history.and_then(|history| newest(history.last()?));
    let after = target.pointer("/status/sync").and_then(newest);
    let change = after.map(|after| match before {
        Some(before) if before == after => format!("drift from {after}"),
        Some(before) => format!("{before} -> {after}"),
        None => after,
    });
    let conditions = target.pointer("/status/conditions").and_then(Value::as_array);
    let refused =
        conditions.into_iter().flatten().find(|condition| condition["type"] == "SyncError");
    Some(PendingChange {
        kind: "Application".to_owned(),
        namespace: text("/metadata/namespace").map(str::to_owned),
        name: text("/metadata/name")?.to_owned(),
        since: refused
            .and_then(|refused| refused["lastTransitionTime"].as_str())
            .map(str::to_owned),
        change: change.map(|change| change.chars().take(1024).collect()),
    })
}
