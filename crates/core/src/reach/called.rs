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

    /// The kind that a room holds.
    pub fn of_room(what: What) -> Option<&'static Self> {
        CALLED.iter().find(|called| called.rooms.contains(&what))
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
