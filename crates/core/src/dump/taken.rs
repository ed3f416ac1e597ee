//! Which kinds are in a dump, and what of each stays as it is? One row for each, in the order in which they are written: what matters most comes first,
//! because a dump is bounded.

use api::schema::Role;

use crate::{cluster::kinds, reach::called::CALLED};

/// A kind that is in a dump.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Its group and version.
    pub api_version: &'static str,
    /// Its name.
    pub kind: &'static str,
    /// What stays.
    pub keep: Keep,
}

/// What of an object stays as it is. Of metadata, names, labels, owners and the times of writes always do.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// All of it: people write it for others to read.
    Whole,
    /// Texts of fields with these names. Numbers and yes or no stay too, other texts are numbered, and what is below fields of the second list is
    /// left out.
    Fields(&'static [&'static str], &'static [&'static str]),
    /// Nothing but metadata.
    Metadata,
}

/// What the table of a node tells: neither its addresses nor what it has pulled.
const NODE: Keep = Keep::Fields(
    &[
        "key",
        "value",
        "effect",
        "type",
        "status",
        "reason",
        "kubeletVersion",
        "osImage",
        "kernelVersion",
        "architecture",
        "operatingSystem",
        "containerRuntimeVersion",
    ],
    &["images", "addresses", "volumesAttached", "volumesInUse", "daemonEndpoints", "config"],
);

/// Which files, units and users a configuration has, and not what is in them.
const CONFIG: Keep = Keep::Fields(
    &[
        "version",
        "path",
        "name",
        "target",
        "kernelType",
        "osImageURL",
        "baseOSExtensionsContainerImage",
        "extensions",
    ],
    &[],
);

/// Which versions a definition has, and not what they look like.
const DEFINITION: Keep = Keep::Fields(
    &[
        "group",
        "kind",
        "listKind",
        "plural",
        "singular",
        "shortNames",
        "categories",
        "scope",
        "name",
        "type",
        "status",
        "reason",
        "storedVersions",
    ],
    &["schema", "additionalPrinterColumns", "conversion", "selectableFields"],
);

/// Which images run, and what strategy rolls them out. What else a template says is numbered: whether two templates are the same is still seen.
const WORKLOAD: Keep = Keep::Fields(
    &[
        "name",
        "image",
        "type",
        "status",
        "reason",
        "kind",
        "apiVersion",
        "schedule",
        "timeZone",
        "concurrencyPolicy",
        "restartPolicy",
        "serviceAccountName",
        "matchLabels",
        "labels",
        "maxSurge",
        "maxUnavailable",
        "currentRevision",
        "updateRevision",
    ],
    &[],
);

/// What tells how far something of another controller is, and which release it wants.
const OTHERS: Keep = Keep::Fields(
    &[
        "name",
        "namespace",
        "kind",
        "apiVersion",
        "apiGroup",
        "type",
        "status",
        "reason",
        "phase",
        "version",
        "revision",
        "targetRevision",
        "lastAttemptedRevision",
        "clusterName",
        "class",
        "approval",
        "channel",
        "matchLabels",
        "labels",
        "strategy",
    ],
    &[],
);

const ADMISSION: &str = "admissionregistration.k8s.io/v1";
const RIGHTS: &str = "rbac.authorization.k8s.io/v1";
const APPS: &str = "apps/v1";

/// What is in no other table.
const MORE: [Taken; 15] = [
    whole(ADMISSION, "ValidatingAdmissionPolicy"),
    whole(ADMISSION, "ValidatingAdmissionPolicyBinding"),
    whole(ADMISSION, "MutatingAdmissionPolicy"),
    whole(ADMISSION, "MutatingAdmissionPolicyBinding"),
    whole(RIGHTS, "ClusterRole"),
    whole(RIGHTS, "ClusterRoleBinding"),
    whole(RIGHTS, "Role"),
    whole(RIGHTS, "RoleBinding"),
    Taken {
        api_version: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        keep: DEFINITION,
    },
    workload(APPS, "Deployment"),
    workload(APPS, "DaemonSet"),
    workload(APPS, "StatefulSet"),
    workload("batch/v1", "CronJob"),
    // Last of them: a Deployment leaves ten of these behind.
    workload(APPS, "ReplicaSet"),
    RELEASES,
];

/// The Secrets in which Helm keeps releases. Whoever reads a cluster asks the server for metadata, of these alone.
pub const RELEASES: Taken = Taken { api_version: "v1", kind: "Secret", keep: Keep::Metadata };

/// The label of a Secret in which Helm keeps a release, with its value, and how its name begins.
pub const RELEASE: (&str, &str, &str) = ("owner", "helm", "sh.helm.release.");

const fn whole(api_version: &'static str, kind: &'static str) -> Taken {
    Taken { api_version, kind, keep: Keep::Whole }
}

const fn workload(api_version: &'static str, kind: &'static str) -> Taken {
    Taken { api_version, kind, keep: WORKLOAD }
}

/// Every kind that is in a dump.
pub fn taken() -> Vec<Taken> {
    let row = |row: &&kinds::Row| {
        let kind = row.kind;
        let keep = match kind.role {
            Role::Part if kind == kinds::NODE.kind => NODE,
            Role::Part if kind == kinds::MACHINE_CONFIG.kind => CONFIG,
            Role::Part if kind == kinds::NAMESPACE.kind => Keep::Metadata,
            _ => Keep::Whole,
        };
        Taken { api_version: kind.api_version, kind: kind.name, keep }
    };
    let mut all: Vec<Taken> = kinds::ALL.iter().map(row).collect();
    let record = api::kinds::CHANGE_RECORD;
    all.push(whole(record.api_version, record.name));
    // What people call a release is kept in Secrets.
    let called = CALLED.iter().filter(|called| called.kind != "HelmRelease");
    let held = called.map(|called| Taken {
        api_version: called.api_version,
        kind: called.kind,
        keep: OTHERS,
    });
    for taken in MORE.into_iter().chain(held) {
        let is_there = |known: &Taken| known.kind == taken.kind && group(known) == group(&taken);
        if !all.iter().any(is_there) {
            all.push(taken);
        }
    }
    all
}

fn group(taken: &Taken) -> &'static str {
    taken.api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kinds::TARGETS;

    #[test]
    fn whatever_is_read_of_a_cluster_is_taken_and_no_secret_beyond_its_metadata() {
        let all = taken();
        let position = |kind: &str| all.iter().position(|taken| taken.kind == kind);
        for row in TARGETS.iter().chain(kinds::ALL) {
            assert!(position(row.kind.name).is_some(), "{}", row.kind.name);
        }
        assert!(position("ChangeGate") < position("Node"));
        assert!(position("Deployment") < position("ReplicaSet"));
        assert_eq!(position("ConfigMap"), None, "what they hold is nobody's business");
        let secrets: Vec<&Taken> = all.iter().filter(|taken| taken.kind == "Secret").collect();
        assert!(matches!(secrets[..], [Taken { keep: Keep::Metadata, .. }]));
        // Two kinds of one name are two.
        assert_eq!(all.iter().filter(|taken| taken.kind == "NodePool").count(), 2);
    }
}
