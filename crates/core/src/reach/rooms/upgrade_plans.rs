//! How are nodes held that the system-upgrade-controller upgrades?
//!
//! By the `Job` for a node: the controller creates one for each node that a `Plan` selects, as many at a time as its concurrency, and the pod of that
//! Job cordons, drains and upgrades the node. So a gate that shuts holds the next node, where the plan's own `window` goes on until all are done.
//!
//! The controller creates the Job paused, notes the node in the status of the plan and then lets the Job run: what was created in a window runs
//! (RCH-5).
//!
//! Everybody writes Jobs, so the server looks only at those that bear the label with the name of their plan, by which the controller finds them
//! again.
//!
//! Nobody touches a Plan: its annotations are copied to its Jobs and their pods, and a touch would change the template of those that run.

use api::{
    kinds,
    reach::{PendingChange, What},
};
use serde_json::Value;

use super::{
    super::target::{SeenTarget, Tells},
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
};

pub(super) const ROOM: Room = Room {
    what: What::UpgradePlans,
    slug: "upgrade-plans",
    held: "an upgrade of a node by the system-upgrade-controller: the Job that it creates for a Plan",
    writes: &[Write { group: "batch", resources: &["jobs"], operations: &["CREATE"] }],
    marked: Some(("upgrade.cattle.io/plan", None)),
    rendered: None,
    begins: "has(object.metadata.labels) && 'upgrade.cattle.io/plan' in object.metadata.labels",
    name: "object.metadata.labels['upgrade.cattle.io/plan']",
    // The controller copies those of the Plan, but for those of its own group.
    labels: "[object.metadata]",
    holds: "true",
    adds: "''",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody touches a Plan, because its annotations are copied to its Jobs: the controller tries again by itself, after pauses that grow to a quarter of an hour, \
         and whenever a node or a Job of the plan changes",
    ),
    not_held: &[
        "A node whose Job was created: it is cordoned, drained and upgraded, with the retries of that Job, whatever the window does.",
        "Plans, channels and secrets: whoever changes one says what they want, and its Jobs wait.",
        "Labels of a Plan that have `cattle.io/` in their key: a `selector` does not see them on the Job.",
        "Jobs without the label `upgrade.cattle.io/plan`, whoever makes them.",
        "Upgrades of k3s or RKE2 by hand, by an installer or by the provider of a cluster.",
        "The `window` of a Plan holds beside the gate: a node is begun when both are open.",
    ],
    tried: "the writes that system-upgrade-controller 0.1x sends, read in its source and played; not yet with the controller itself",
    targets: Some(Targets {
        kind: &kinds::UPGRADE_PLAN,
        read: plan,
        made: None,
        waits: Waits::Told,
    }),
    gated: None,
};

/// A Plan that is valid, and that its nodes do not all have, waits or is under way: its controller tells no more.
fn plan(document: &Value) -> SeenTarget {
    let labels = document.pointer("/metadata/labels");
    SeenTarget::new(document, labels, Tells::Quietly(waits(document).map(Box::new)))
}

fn waits(document: &Value) -> Option<PendingChange> {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str);
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array)?;
    let condition = |kind: &str| conditions.iter().find(|condition| condition["type"] == kind);
    let is_true = |kind: &str| condition(kind).is_some_and(|found| found["status"] == "True");
    // Its own window, and a Job that failed, hold it without us.
    let complete = condition("Complete")?;
    let by_itself = ["Waiting", "JobFailed"].iter().any(|reason| complete["reason"] == *reason);
    let wants = is_true("Validated") && is_true("LatestResolved") && !is_true("Complete");
    let version = text("/status/latestVersion").filter(|version| !version.is_empty());
    (wants && !by_itself).then(|| PendingChange {
        kind: kinds::UPGRADE_PLAN.name.to_owned(),
        namespace: text("/metadata/namespace").map(str::to_owned),
        name: text("/metadata/name").unwrap_or_default().to_owned(),
        since: None,
        change: version.map(|version| format!("nodes to {version}").chars().take(1024).collect()),
    })
}
