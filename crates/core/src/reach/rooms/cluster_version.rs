//! How are updates of the control plane of a stock OpenShift held? (CV-5, CV-6)
//!
//! By the field `spec.desiredUpdate` of `ClusterVersion`: the cluster version operator acts on it at once, so that write begins the update. What
//! comes of one outside the windows is the choice of whoever made the gate: `Refuse`, or `Queue`, by which a mutating admission policy
//! turns it into a wish ([`divert`](crate::reach::policies::divert)). Where a server has no such policies `Queue` refuses too, because this
//! policy judges what is left of the write.
//!
//! Channel, upstream, capabilities, `mode: Preflight` and clearing begin nothing. Nor does asking for what has been accepted already.
//!
//! The nodes of the control plane follow (CV-2): where the operator notes on them that an update has begun, what holds this room holds them too
//! ([`masters`](super::masters)).

use api::{kinds, reach::What};

use super::{Nudge, Room, SystemNamespaces, Write};

/// A text of what is asked for.
macro_rules! part {
    ($at:literal, $field:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec.desiredUpdate.",
            $field,
            ") ? ",
            $at,
            ".spec.desiredUpdate.",
            $field,
            " : '')"
        )
    };
}

/// Whether something is asked for at a place: a release, by version or image, and not only whether it would do.
macro_rules! asked {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec) && has(",
            $at,
            ".spec.desiredUpdate) && ",
            $at,
            ".spec.desiredUpdate != null && \
             !(has(",
            $at,
            ".spec.desiredUpdate.mode) && ",
            $at,
            ".spec.desiredUpdate.mode == 'Preflight') && \
             (",
            part!($at, "version"),
            " != '' || ",
            part!($at, "image"),
            " != ''))"
        )
    };
}

/// Whether a text of what is asked for differs.
macro_rules! differs {
    ($field:literal) => {
        concat!(part!("object", $field), " != ", part!("oldObject", $field))
    };
}

/// Whether what is asked for differs in what decides about an update.
macro_rules! updates {
    () => {
        concat!(
            asked!("object"), " && (oldObject == null || !", asked!("oldObject"), " ? true : ",
            differs!("version"), " || ", differs!("image"), " || ", differs!("architecture"), " || \
             (has(object.spec.desiredUpdate.force) && object.spec.desiredUpdate.force) != (has(oldObject.spec.desiredUpdate.force) && oldObject.spec.desiredUpdate.force) || \
             (has(object.spec.desiredUpdate.acceptRisks) ? object.spec.desiredUpdate.acceptRisks : []) != (has(oldObject.spec.desiredUpdate.acceptRisks) ? oldObject.spec.desiredUpdate.acceptRisks : []))"
        )
    };
}

/// Whether what is asked for has been accepted already, by what whoever installs it told before this write.
macro_rules! is_there {
    () => {
        concat!(
            "(oldObject != null && has(oldObject.status) && has(oldObject.status.desired) && \
             (", part!("object", "version"), " == '' || (has(oldObject.status.desired.version) && oldObject.status.desired.version == ", part!("object", "version"), ")) && \
             (", part!("object", "image"), " == '' || (has(oldObject.status.desired.image) && oldObject.status.desired.image == ", part!("object", "image"), ")) && \
             (", part!("object", "architecture"), " == '' || (has(oldObject.status.desired.architecture) && oldObject.status.desired.architecture == ", part!("object", "architecture"), ")))"
        )
    };
}

/// Whether a write begins an update: an expression over `object` and `oldObject`.
macro_rules! begins {
    () => {
        concat!(updates!(), " && !", is_there!())
    };
}

/// The condition of the chart under which updates begin by `spec.desiredUpdate`. Where the operator rolls out masters as well, and lets updates
/// begin by marks, `spec.desiredUpdate` is a wish, which nobody holds (CV-4).
const STOCK: &str = "not (and .Values.managePools .Values.manageUpdates)";

pub(super) const ROOM: Room = Room {
    what: What::ClusterVersion,
    slug: "cluster-version",
    held: "an update of the control plane by the cluster version operator: `spec.desiredUpdate` of ClusterVersion",
    writes: &[Write {
        group: "config.openshift.io",
        resources: &["clusterversions"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    rendered: Some(STOCK),
    begins: begins!(),
    name: "object.metadata.name",
    labels: "[]",
    holds: "true",
    adds: "({queues} ? '; it could not be queued, because this server has no mutating admission policy of Tidegate (Kubernetes 1.36)' : '') + '; send it again then'",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nothing is touched: who was refused sends it again, and what was queued is begun by the operator where it may (`manageUpdates`), else by whoever asks again in the window",
    ),
    not_held: &[
        "`channel`, `upstream`, `capabilities`, `overrides`, `mode: Preflight`, and clearing `spec.desiredUpdate`.",
        "An update that has begun: it ends, with the nodes of the control plane, whatever the window does.",
        "Asking for the release that `status.desired` names already, and whatever somebody asks for who first writes that into the status.",
        "Nodes of the control plane, where the operator does not start queued updates: an update that has begun takes them along, and nobody could tell it \
         from another change of theirs. With `manageUpdates` and without `managePools` they are held too, by the policies in \
         `deploy/manifests/control-plane-nodes`, and pass while they carry `changemanagement.openshift.io/begun-release`; what people wrote for them \
         meanwhile rides along, and the gate lists it.",
        "Nodes of pools: hold `MachineConfigPools`. An update of the control plane brings them a new configuration, which waits for their gate.",
        "A cluster on which Tidegate rolls out the masters itself and starts updates by marks (`managePools` with `manageUpdates`): there `spec.desiredUpdate` is a \
         wish, and the stanza of ClusterVersion and freezes hold its mark.",
        "What the cluster version operator does to keep the release that is installed.",
        "An update by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
    ],
    tried: "the writes that `oc` and GitOps controllers send, on the definitions of OpenShift 4; not yet with the cluster version operator itself",
    targets: None,
    gated: Some(&kinds::CLUSTER_VERSION),
};
