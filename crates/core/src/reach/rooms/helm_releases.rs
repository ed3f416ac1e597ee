//! How are releases of Helm held?
//!
//! By their record: before Helm touches what a chart renders it stores the release as pending, in a `Secret` or `ConfigMap` of the namespace of
//! the release. Refused that, it ends at once and has changed nothing but definitions of kinds that
//! the chart brings in `crds/`. The command and the helm-controller of Flux share this code.
//!
//! Everybody writes Secrets, so the server looks only at those that bear Helm's label, by which Helm finds them again.
//!
//! A rollback is stored in the same way, and may be allowed. Uninstalling cannot be held: Helm goes on when it cannot store that it does.

use api::reach::What;

use super::{Nudge, Room, SystemNamespaces, Write};

pub(super) const ROOM: Room = Room {
    what: What::HelmReleases,
    slug: "helm-releases",
    held: "an install, upgrade or rollback by Helm: the record of the release, while it is pending",
    writes: &[Write {
        group: "\"\"",
        resources: &["secrets", "configmaps"],
        operations: &["CREATE"],
    }],
    marked: Some(("owner", Some("helm"))),
    rendered: None,
    begins: "has(object.metadata.labels) && 'status' in object.metadata.labels && object.metadata.labels['status'].startsWith('pending-') && \
             (request.resource.resource == 'secrets' ? has(object.type) && object.type == 'helm.sh/release.v1' : \
             'owner' in object.metadata.labels && object.metadata.labels['owner'] == 'helm')",
    name: "'name' in object.metadata.labels ? object.metadata.labels['name'] : ''",
    labels: "[object.metadata]",
    holds: "!({allows:Rollback} && object.metadata.labels['status'] == 'pending-rollback') && \
            !({allows:FirstInstall} && object.metadata.labels['status'] == 'pending-install' && 'version' in object.metadata.labels && object.metadata.labels['version'] == '1')",
    adds: "'; run it again then'",
    system: SystemNamespaces::LeftAlone,
    nudge: Nudge::None(
        "nothing waits: who was refused runs Helm again; a helm-controller whose retries are used up is told by `flux reconcile helmrelease NAME --force`",
    ),
    not_held: &[
        "`helm uninstall`: Helm goes on when it cannot store that it uninstalls.",
        "A release that is pending already: it ends, whatever the window does. But what `--rollback-on-failure` and a helm-controller do when it fails is a \
         rollback of its own, and is held unless `allow` lists `Rollback`.",
        "With `allow: [Rollback]` rollbacks, to whichever revision; with `allow: [FirstInstall]` the first revision of a release, so also of one that was \
         uninstalled and is installed again.",
        "`helm test`, dry runs and `helm template`.",
        "A namespace that `--create-namespace` makes: Helm does so before it stores the release.",
        "Releases that Helm stores elsewhere (`HELM_DRIVER=sql` or `memory`), and those of another namespace: a helm-controller with `storageNamespace` stores \
         them there.",
        "Definitions of kinds in the folder `crds/` of a chart: Helm creates those that are missing before it stores the release, and a helm-controller with \
         `crds: CreateReplace` replaces them, at each try.",
        "What a helm-controller corrects because somebody changed it: it stores no release for that.",
        "The objects of a chart, when somebody changes them without Helm.",
        "A release by a client that stores another state or other labels than Helm does.",
    ],
    tried: "Helm 4.3; the helm-controller of Flux stores the same record, and was not tried",
    // Releases are secrets, which nobody reads for a number.
    targets: None,
    gated: None,
};
