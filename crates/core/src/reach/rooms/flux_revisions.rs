//! How are new revisions held that Flux fetches?
//!
//! By the artifact in the status of a source: the source-controller fetches what Git, a registry or a bucket has and then writes its revision and
//! digest there, and every Kustomization and `HelmRelease` on the source applies what stands there. While that write is refused they go on to correct
//! whatever differs from the revision that was applied: nothing is suspended.
//!
//! An artifact that was not there before is a new revision too. Its storage is often lost with the pod of the source-controller, which then takes the
//! artifact out of the status and fetches the newest: if the first one passed, a restart would open the gate.

use api::reach::What;

use super::{
    Nudge, Room, SystemNamespaces, Write,
    leaving::{leaves, relabels},
};

/// Whether a source has an artifact at a place.
macro_rules! has_artifact {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".status) && has(",
            $at,
            ".status.artifact) && ",
            $at,
            ".status.artifact != null)"
        )
    };
}

/// A text of the artifact at a place.
macro_rules! part {
    ($at:literal, $field:literal) => {
        concat!(
            "(has(",
            $at,
            ".status.artifact.",
            $field,
            ") ? ",
            $at,
            ".status.artifact.",
            $field,
            " : '')"
        )
    };
}

/// Whether the write brings another revision, or other content under the same one.
macro_rules! revises {
    () => {
        concat!(
            "(",
            has_artifact!("object"),
            " && (!",
            has_artifact!("oldObject"),
            " ? true : ",
            part!("object", "revision"),
            " != ",
            part!("oldObject", "revision"),
            " || ",
            part!("object", "digest"),
            " != ",
            part!("oldObject", "digest"),
            "))"
        )
    };
}

pub(super) const ROOM: Room = Room {
    what: What::FluxRevisions,
    slug: "flux-revisions",
    held: "a new revision that Flux fetched: `status.artifact` of a GitRepository, OCIRepository, Bucket or HelmChart",
    writes: &[Write {
        group: "source.toolkit.fluxcd.io",
        resources: &[
            "gitrepositories",
            "gitrepositories/status",
            "ocirepositories",
            "ocirepositories/status",
            "buckets",
            "buckets/status",
            "helmcharts",
            "helmcharts/status",
        ],
        operations: &["UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(revises!(), " || ", relabels!()),
    name: "object.metadata.name",
    labels: "[object.metadata, oldObject.metadata]",
    holds: concat!(
        "(",
        revises!(),
        " && !({allows:FirstInstall} && !",
        has_artifact!("oldObject"),
        ")) || ",
        leaves!()
    ),
    adds: "''",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody has to touch anything: the source-controller tries again by itself, after pauses that grow to a quarter of an hour and at each `interval` of the source; \
         `flux reconcile source git NAME` has it try at once",
    ),
    not_held: &[
        "Correction: what differs from the revision that was applied is put back at each `interval` of a Kustomization or HelmRelease.",
        "A change of the Kustomization or HelmRelease itself, such as another path, other values or another version of a chart from a HelmRepository that its \
         HelmChart has already: it is applied at once. The room `HelmReleases` holds releases.",
        "A revision that was let in: whoever applies it does so, whatever the window does, also if it was suspended meanwhile.",
        "With `allow: [FirstInstall]` the first artifact of a source, so also the newest revision after the storage of the source-controller was lost.",
        "Without it a source whose artifact was lost has none until the window: what runs stays as it is, and nobody corrects it meanwhile.",
        "HelmRepositories, whose artifact is an index, and ExternalArtifacts, which others than the source-controller write.",
        "Conditions of the source, which are written by themselves: `Ready` may name a revision that the artifact does not have yet.",
        "What people apply without Flux; the rooms of workloads hold the rollouts.",
        "A revision by somebody who may write the status of sources, and first plants an entry of their own manager in `managedFields`, dated the second in which \
         they will write, and then forges another dated inside a window.",
    ],
    tried: "the writes that source-controller 1.x sends, read in its source and played; not yet with the controller itself",
    // Of a source that was refused nothing tells which revision waits.
    targets: None,
    gated: None,
};
