//! How are operators held that the Operator Lifecycle Manager upgrades?
//!
//! By the approval of an `InstallPlan`: with manual approval somebody sets `spec.approved`, with automatic approval the catalog operator
//! creates the plan as an approved one. Neither is taken outside the windows, so that no plan stands there that would be carried out.
//!
//! Turning an automatic plan into one that waits would hold nothing: right after it created the plan, the catalog operator writes the phase
//! `Installing` into its status, whatever became of `spec.approved`, and carries out whatever has that phase. So that phase is judged too, where
//! nobody approved the plan. A plan that was approved in a window is carried out (RCH-5).

use api::reach::What;

use super::{
    Nudge, Room, SystemNamespaces, Write,
    leaving::{leaves, relabels},
};

/// Whether somebody has approved the plan at a place.
macro_rules! approved {
    ($at:literal) => {
        concat!("(has(", $at, ".spec) && has(", $at, ".spec.approved) && ", $at, ".spec.approved)")
    };
}

/// Whether whoever carries out plans would carry out the one at a place.
macro_rules! installing {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".status) && has(",
            $at,
            ".status.phase) && ",
            $at,
            ".status.phase == 'Installing')"
        )
    };
}

/// Whether the write approves a plan, or has one carried out that nobody approved.
macro_rules! approves {
    () => {
        concat!(
            "(",
            approved!("object"),
            " && (oldObject == null || !",
            approved!("oldObject"),
            ")) || \
             (",
            installing!("object"),
            " && !",
            approved!("object"),
            " && (oldObject == null || !",
            installing!("oldObject"),
            "))"
        )
    };
}

pub(super) const ROOM: Room = Room {
    what: What::InstallPlans,
    slug: "install-plans",
    held: "an install or upgrade by the Operator Lifecycle Manager: `spec.approved` of an InstallPlan, by a person or by automatic approval",
    writes: &[Write {
        group: "operators.coreos.com",
        resources: &["installplans", "installplans/status"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(approves!(), " || (oldObject != null && ", relabels!(), ")"),
    name: "object.metadata.name",
    labels: "[object.metadata] + (oldObject == null ? [] : [oldObject.metadata])",
    holds: concat!(approves!(), " || (oldObject != null && ", leaves!(), ")"),
    adds: "request.operation == 'CREATE' ? '' : '; approve it again then'",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody has to touch anything where approval is automatic: the catalog operator tries again by itself, after pauses that grow and at the latest with its \
         next look at all namespaces, which is every quarter of an hour; a plan with manual approval waits for whoever approves it",
    ),
    not_held: &[
        "A plan that was approved: it is carried out, whatever the window does, and again if somebody sets its phase back.",
        "With manual approval the plan itself: it is there to be looked at, and nobody can approve it before the window.",
        "One operator among several of a namespace: one plan upgrades them all. Names of plans are made up when they are made, and their labels are written \
         later, so hold a namespace rather than `names` or a `selector`.",
        "Subscriptions, CatalogSources and the images that they are polled from: what they lead to is a plan.",
        "What an operator does that was upgraded, to what it manages.",
        "ClusterServiceVersions, Deployments and definitions that people write without a plan; the room `Deployments` holds the rollouts.",
        "ClusterExtensions of the Operator Lifecycle Manager v1, which knows no plans.",
        "The steps of a plan that somebody writes into its status after it was approved.",
        "An approval by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
    ],
    tried: "the writes that OLM 0.4x sends, read in its source and played; not yet with its catalog operator",
    // Old plans are kept, and of a plan that waits nobody can tell whether it waits for a gate or for somebody's approval.
    targets: None,
    gated: None,
};
