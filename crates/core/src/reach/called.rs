//! What do people call what rooms hold? For the command line, where somebody names a kind.

use api::{reach::What, schema::Scope};
use serde_json::Value;

use super::{
    rooms::{ROOMS, Room, room},
    selector::Labels,
};

/// A kind whose objects rooms hold.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// Its kind.
    pub kind: &'static str,
    /// Its group and version.
    pub api_version: &'static str,
    /// What people call it, in lower case; the first is the plural.
    pub words: &'static [&'static str],
    /// The rooms that hold it.
    pub rooms: &'static [What],
    /// Where the labels stand by which it is chosen (RCH-12); none where no object of this kind bears them.
    pub labels: Option<&'static str>,
    /// Whether it lives in namespaces.
    pub scope: Scope,
}

const OWN: Option<&str> = Some("/metadata/labels");
const HYPERSHIFT: &str = "hypershift.openshift.io/v1beta1";

/// Every kind that people name.
pub const CALLED: &[Called] = &[
    Called {
        kind: "Deployment",
        api_version: "apps/v1",
        words: &["deployments", "deployment", "deploy"],
        rooms: &[What::Deployments],
        labels: Some("/spec/template/metadata/labels"),
        scope: Scope::Namespaced,
    },
    Called {
        kind: "StatefulSet",
        api_version: "apps/v1",
        words: &["statefulsets", "statefulset", "sts"],
        rooms: &[What::StatefulSets],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "DaemonSet",
        api_version: "apps/v1",
        words: &["daemonsets", "daemonset", "ds"],
        rooms: &[What::DaemonSets, What::KuredLock],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "Application",
        api_version: "argoproj.io/v1alpha1",
        words: &["applications", "application", "app"],
        rooms: &[What::Applications],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "MachineDeployment",
        api_version: "cluster.x-k8s.io/v1beta1",
        words: &["machinedeployments", "machinedeployment", "md"],
        rooms: &[What::MachineDeployments],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "KubeadmControlPlane",
        api_version: "controlplane.cluster.x-k8s.io/v1beta1",
        words: &["kubeadmcontrolplanes", "kubeadmcontrolplane", "kcp"],
        rooms: &[What::KubeadmControlPlanes],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "Cluster",
        api_version: "cluster.x-k8s.io/v1beta1",
        words: &["clusters", "cluster", "cl"],
        rooms: &[What::ClusterTopologies],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "HostedCluster",
        api_version: HYPERSHIFT,
        words: &["hostedclusters", "hostedcluster"],
        rooms: &[What::HostedClusters],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "NodePool",
        api_version: HYPERSHIFT,
        words: &["nodepools", "nodepool", "np"],
        rooms: &[What::NodePools],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "InstallPlan",
        api_version: "operators.coreos.com/v1alpha1",
        words: &["installplans", "installplan", "ip"],
        rooms: &[What::InstallPlans],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "Plan",
        api_version: "upgrade.cattle.io/v1",
        words: &["plans", "plan"],
        rooms: &[What::UpgradePlans],
        labels: OWN,
        scope: Scope::Namespaced,
    },
    source("GitRepository", &["gitrepositories", "gitrepository", "gitrepo"]),
    source("OCIRepository", &["ocirepositories", "ocirepository", "ocirepo"]),
    source("Bucket", &["buckets", "bucket"]),
    source("HelmChart", &["helmcharts", "helmchart", "hc"]),
    // Karpenter's: NodePools of hosted clusters have the same name, and a room of their own.
    Called {
        kind: "NodePool",
        api_version: "karpenter.sh/v1",
        words: &["nodepools.karpenter.sh", "nodepool.karpenter.sh"],
        rooms: &[What::KarpenterDisruption],
        labels: OWN,
        scope: Scope::Cluster,
    },
    // Helm keeps a release in Secrets, one for each revision, and what it labels them with changes.
    Called {
        kind: "HelmRelease",
        api_version: "helm.sh/v3",
        words: &["helmreleases", "helmrelease", "release"],
        rooms: &[What::HelmReleases],
        labels: None,
        scope: Scope::Namespaced,
    },
    Called {
        kind: "MachineConfigPool",
        api_version: "machineconfiguration.openshift.io/v1",
        words: &["machineconfigpools", "machineconfigpool", "mcp"],
        rooms: &[What::MachineConfigPools],
        labels: OWN,
        scope: Scope::Cluster,
    },
    Called {
        kind: "ClusterVersion",
        api_version: "config.openshift.io/v1",
        words: &["clusterversions", "clusterversion"],
        rooms: &[What::ClusterVersion],
        labels: OWN,
        scope: Scope::Cluster,
    },
];

/// A kind of source of Flux.
const fn source(kind: &'static str, words: &'static [&'static str]) -> Called {
    let api_version = "source.toolkit.fluxcd.io/v1";
    let (rooms, scope) = (&[What::FluxRevisions], Scope::Namespaced);
    Called { kind, api_version, words, rooms, labels: OWN, scope }
}

/// The kind that somebody means.
pub fn called(word: &str) -> Result<&'static Called, String> {
    let word = word.to_lowercase();
    CALLED.iter().find(|called| called.words.contains(&word.as_str())).ok_or_else(|| {
        let known: Vec<&str> = CALLED.iter().filter_map(|one| one.words.get(1).copied()).collect();
        format!("no room holds {word:?}\n  hint: what rooms hold is {}", known.join(", "))
    })
}

/// The room that somebody means: by its own name, or by that of what it holds.
pub fn room_called(word: &str) -> Result<&'static Room, String> {
    let lower = word.to_lowercase();
    let own = ROOMS.iter().find(|room| room.name_of().to_lowercase() == lower);
    let known = || CALLED.iter().find(|one| one.words.contains(&lower.as_str()));
    own.or_else(|| room(*known()?.rooms.first()?)).ok_or_else(|| {
        let known: Vec<&str> = ROOMS.iter().map(Room::name_of).collect();
        format!("there is no room {word:?}\n  hint: the rooms are {}", known.join(", "))
    })
}

impl Called {
    /// The labels by which an object of this kind is chosen; none if no object bears them.
    pub fn labels_of(&self, document: &Value) -> Option<Labels> {
        let found = document.pointer(self.labels?).and_then(Value::as_object);
        let text =
            |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        Some(found.into_iter().flatten().filter_map(text).collect())
    }

    /// Whether an object is of this kind, in whatever version; one without a version is of any group.
    pub fn is_of(&self, object: &Value) -> bool {
        let group =
            |version: &str| version.split_once('/').map_or("", |(group, _)| group).to_owned();
        let own = object["apiVersion"].as_str().map(group);
        object["kind"] == self.kind && own.is_none_or(|own| own == group(self.api_version))
    }

    /// The kind that a room holds; the first where it holds several.
    pub fn of_room(what: What) -> Option<&'static Self> {
        Self::all_of_room(what).next()
    }

    /// Every kind that a room holds.
    pub fn all_of_room(what: What) -> impl Iterator<Item = &'static Self> {
        CALLED.iter().filter(move |called| called.rooms.contains(&what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_room_holds_something_that_people_can_name() {
        for room in ROOMS {
            assert!(Called::of_room(room.what).is_some(), "{}", room.name_of());
            assert_eq!(
                room_called(&room.name_of().to_lowercase()).map(|found| found.what),
                Ok(room.what)
            );
        }
        assert_eq!(called("Deploy").map(|found| found.kind), Ok("Deployment"));
        assert_eq!(room_called("sts").map(Room::name_of), Ok("StatefulSets"));
        assert!(called("pod").unwrap_err().contains("hint: what rooms hold is deployment, "));
        assert!(room_called("pods").unwrap_err().contains("hint: the rooms are Deployments, "));
    }
}
