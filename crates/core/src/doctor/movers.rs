//! Which controllers in a cluster change things, and does anything hold them? (RCH-6)
//!
//! A mover is known by what it leaves in a cluster: a definition, or the image of a workload. What this table does not know is not found, so
//! whoever shows it says which movers were looked for.

use api::reach::{Mode, What};
use serde_json::Value;

use crate::{
    document::key::Key,
    held::Holder,
    reach::{
        policies::Parameter,
        rooms::{Room, room},
    },
};

/// A controller that changes things.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    /// What it is called.
    pub name: &'static str,
    /// What it changes.
    pub changes: &'static str,
    /// How it is found.
    pub marks: &'static [Mark],
    /// The rooms that hold it; none if no room knows its first write.
    pub rooms: &'static [What],
    /// What no room holds of it.
    pub beyond: Option<&'static str>,
}

/// What a mover leaves in a cluster.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// Every cluster has it.
    Always,
    /// A definition of this name.
    Definition(&'static str),
    /// A workload with an image whose name has this part.
    Image(&'static str),
    /// A job by the clock with an image whose name has this part.
    CronImage(&'static str),
}

/// Every mover that is looked for.
pub const MOVERS: &[Mover] = &[
    Mover {
        name: "workload controllers of Kubernetes",
        changes: "rolls out Deployments, StatefulSets and DaemonSets when anybody changes their template",
        marks: &[Mark::Always],
        rooms: &[What::Deployments, What::StatefulSets, What::DaemonSets],
        beyond: None,
    },
    Mover {
        name: "Argo CD",
        changes: "syncs Applications: applies whatever Git says",
        marks: &[Mark::Definition("applications.argoproj.io"), Mark::Image("argoproj/argocd")],
        rooms: &[What::Applications],
        beyond: None,
    },
    Mover {
        name: "Flux helm-controller",
        changes: "installs and upgrades releases of Helm",
        marks: &[
            Mark::Definition("helmreleases.helm.toolkit.fluxcd.io"),
            Mark::Image("fluxcd/helm-controller"),
        ],
        rooms: &[What::HelmReleases],
        beyond: None,
    },
    Mover {
        name: "Flux kustomize-controller",
        changes: "applies whatever its sources say",
        marks: &[
            Mark::Definition("kustomizations.kustomize.toolkit.fluxcd.io"),
            Mark::Image("fluxcd/kustomize-controller"),
        ],
        rooms: &[What::FluxRevisions],
        beyond: Some(
            "a change of a Kustomization itself is applied at once; the rooms of workloads hold the rollouts that it causes",
        ),
    },
    Mover {
        name: "kured",
        changes: "drains and reboots nodes",
        marks: &[Mark::Image("kubereboot/kured"), Mark::Image("weaveworks/kured")],
        rooms: &[What::KuredLock],
        beyond: None,
    },
    Mover {
        name: "Karpenter",
        changes: "replaces and removes nodes",
        marks: &[Mark::Definition("nodepools.karpenter.sh"), Mark::Image("karpenter/controller")],
        rooms: &[What::KarpenterDisruption],
        beyond: Some(
            "the deletion of an expired node is not held, its drain is; machines of the spot market that are being deleted are drained at once",
        ),
    },
    Mover {
        name: "Cluster API",
        changes: "replaces machines of a cluster",
        marks: &[
            Mark::Definition("machinedeployments.cluster.x-k8s.io"),
            Mark::Image("cluster-api/cluster-api-controller"),
        ],
        rooms: &[What::MachineDeployments],
        beyond: None,
    },
    Mover {
        name: "Cluster API control planes by kubeadm",
        changes: "replaces machines of a control plane",
        marks: &[
            Mark::Definition("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"),
            Mark::Image("cluster-api/kubeadm-control-plane-controller"),
        ],
        rooms: &[What::KubeadmControlPlanes],
        beyond: None,
    },
    Mover {
        name: "Cluster API topologies",
        changes: "upgrades whole clusters by the version of their topology, or by another class",
        marks: &[Mark::Definition("clusterclasses.cluster.x-k8s.io")],
        rooms: &[What::ClusterTopologies],
        beyond: Some(
            "a change of a ClusterClass rolls out every cluster of that class, and is held where KubeadmControlPlanes and MachineDeployments are",
        ),
    },
    Mover {
        name: "HyperShift",
        changes: "updates hosted control planes and rolls out their nodes",
        marks: &[
            Mark::Definition("hostedclusters.hypershift.openshift.io"),
            Mark::Image("hypershift-operator"),
        ],
        rooms: &[What::HostedClusters, What::NodePools],
        beyond: Some(
            "where Tidegate manages hosted clusters (manageHosted), stanzas hold their marks instead of these rooms; an upgrade of HyperShift itself, \
             shared configuration and the content of ConfigMaps are held by the room MachineDeployments alone, step by step",
        ),
    },
    Mover {
        name: "system-upgrade-controller",
        changes: "upgrades nodes by plans",
        marks: &[
            Mark::Definition("plans.upgrade.cattle.io"),
            Mark::Image("rancher/system-upgrade-controller"),
        ],
        rooms: &[What::UpgradePlans],
        beyond: None,
    },
    Mover {
        name: "Operator Lifecycle Manager",
        changes: "upgrades operators",
        marks: &[Mark::Definition("installplans.operators.coreos.com")],
        rooms: &[What::InstallPlans],
        beyond: None,
    },
    Mover {
        name: "machine-config-operator",
        changes: "changes and reboots nodes by pools",
        marks: &[
            Mark::Definition("machineconfigpools.machineconfiguration.openshift.io"),
            Mark::Image("machine-config-operator"),
        ],
        rooms: &[What::MachineConfigPools],
        beyond: Some("where Tidegate manages pools, their stanza holds them too"),
    },
    Mover {
        name: "cluster-version-operator",
        changes: "updates the control plane",
        marks: &[
            Mark::Definition("clusterversions.config.openshift.io"),
            Mark::Image("cluster-version-operator"),
        ],
        rooms: &[What::ClusterVersion],
        beyond: Some("where updates begin by marks, the stanza of ClusterVersion holds them"),
    },
    Mover {
        name: "Argo Rollouts",
        changes: "rolls out Rollouts",
        marks: &[Mark::Definition("rollouts.argoproj.io"), Mark::Image("argoproj/argo-rollouts")],
        rooms: &[],
        beyond: Some("no room knows its first write"),
    },
    Mover {
        name: "Kruise",
        changes: "rolls out CloneSets and others in place of the workloads of Kubernetes",
        marks: &[Mark::Definition("clonesets.apps.kruise.io"), Mark::Image("kruise-manager")],
        rooms: &[],
        beyond: Some("no room knows its first write"),
    },
    Mover {
        name: "jobs by the clock that run kubectl or helm",
        changes: "changes whatever its script says",
        marks: &[Mark::CronImage("kubectl"), Mark::CronImage("helm")],
        rooms: &[],
        beyond: Some("what it does is held where a room knows the first write; the rest is not"),
    },
];

/// A mover that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub mover: &'static Mover,
    /// By what it was found.
    pub by: Vec<String>,
    /// What holds each of its rooms.
    pub held: Vec<HeldRoom>,
}

/// What holds a room.
#[derive(Clone, Debug)]
pub struct HeldRoom {
    /// The room.
    pub room: &'static Room,
    /// The gates that hold it, of whatever scope.
    pub by: Vec<Key>,
    /// Those that only warn or audit.
    pub watched_by: Vec<Key>,
    /// Where it is held.
    pub extent: Extent,
    /// Where it is warned of or audited.
    pub watched: Extent,
}

/// Where something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Nowhere.
    Nowhere,
    /// In some namespaces, or some of it.
    Somewhere,
    /// All of it, but in namespaces of the system.
    Everywhere,
}

impl Found {
    /// How far it is held: as far as the room that is held least. Where no room knows its first write, nowhere.
    pub fn extent(&self) -> Extent {
        self.held.iter().map(|room| room.extent).min().unwrap_or(Extent::Nowhere)
    }
}

/// Every mover that some documents of a cluster show.
pub fn found(documents: &[Value], holders: &[Holder]) -> Vec<Found> {
    let each = MOVERS.iter().filter_map(|mover| {
        let by: Vec<String> =
            mover.marks.iter().filter_map(|mark| seen(*mark, documents.iter())).collect();
        let rooms = mover.rooms.iter().filter_map(|what| room(*what));
        let held = rooms.map(|room| held_room(room, holders)).collect();
        (!by.is_empty()).then_some(Found { mover, by, held })
    });
    each.collect()
}

fn seen<'a>(mark: Mark, mut documents: impl Iterator<Item = &'a Value>) -> Option<String> {
    match mark {
        Mark::Always => Some("every cluster has them".to_owned()),
        Mark::Definition(name) => documents
            .any(|one| one["kind"] == "CustomResourceDefinition" && one["metadata"]["name"] == name)
            .then(|| format!("CustomResourceDefinition/{name}")),
        Mark::Image(part) => {
            let kinds = ["Deployment", "DaemonSet", "StatefulSet"];
            let found = documents.find(|one| {
                kinds.iter().any(|kind| one["kind"] == *kind)
                    && has_image(one.pointer("/spec/template/spec"), part)
            });
            found.map(called)
        }
        Mark::CronImage(part) => {
            let pods = "/spec/jobTemplate/spec/template/spec";
            let found = documents
                .find(|one| one["kind"] == "CronJob" && has_image(one.pointer(pods), part));
            found.map(called)
        }
    }
}

/// Whether a container has an image whose name, without registry host and version, has a part.
fn has_image(pods: Option<&Value>, part: &str) -> bool {
    let of_it = |key: &str| pods.and_then(|pods| pods.get(key)?.as_array()).into_iter().flatten();
    let images = of_it("containers").chain(of_it("initContainers"));
    images.filter_map(|container| container["image"].as_str()).any(|image| {
        let name = image.split('@').next().unwrap_or_default();
        let (path, last) = name.rsplit_once('/').unwrap_or(("", name));
        let last = last.split(':').next().unwrap_or_default();
        format!("{path}/{last}").contains(part)
    })
}

fn called(document: &Value) -> String {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, namespace) = (text("/kind"), text("/metadata/namespace"));
    format!("{kind}/{namespace}/{}", text("/metadata/name"))
}

fn held_room(room: &'static Room, holders: &[Holder]) -> HeldRoom {
    let gates = holders.iter().filter(|holder| {
        holder.gate().is_some() && holder.rooms.iter().any(|held| held.what == room.what)
    });
    let (by, watching): (Vec<&Holder>, Vec<&Holder>) =
        gates.partition(|gate| matches!(gate.mode, Mode::Enforce | Mode::Unknown));
    let extent = |gates: &[&Holder]| match gates {
        [] => Extent::Nowhere,
        gates if gates.iter().any(|gate| holds_all(gate, room)) => Extent::Everywhere,
        _ => Extent::Somewhere,
    };
    let (held, watched) = (extent(&by), extent(&watching));
    let keys = |gates: Vec<&Holder>| gates.into_iter().map(|gate| gate.key.clone()).collect();
    HeldRoom { room, by: keys(by), watched_by: keys(watching), extent: held, watched }
}

fn holds_all(gate: &Holder, room: &Room) -> bool {
    let holds = gate.document.pointer("/spec/holds").and_then(Value::as_array);
    let all = |hold: &Value| {
        hold["what"] == room.name_of() && hold["names"].is_null() && hold["selector"].is_null()
    };
    gate.parameter == Parameter::ClusterChangeGate
        && gate.document.pointer("/spec/namespaceSelector").is_none_or(Value::is_null)
        && holds.into_iter().flatten().any(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        cluster::{kinds, snapshot::Snapshot},
        held,
    };

    fn workload(kind: &str, image: &str) -> Value {
        json!({"kind": kind, "metadata": {"namespace": "tools", "name": "it"},
            "spec": {"template": {"spec": {"containers": [{"image": image}]}}}})
    }

    fn gate(spec: &Value) -> Vec<Holder> {
        let document = json!({"metadata": {"name": "g"}, "spec": spec});
        let mut snapshot = Snapshot::default();
        snapshot.add(&kinds::CLUSTER_CHANGE_GATE, &document);
        held::holders(&snapshot, [(&kinds::CLUSTER_CHANGE_GATE, &document)])
    }

    /// RCH-6
    #[test]
    fn movers_are_found_by_what_they_leave_and_told_whether_anything_holds_them() {
        let check = |documents: &[Value], expected: &[&str]| {
            let found = found(documents, &[]);
            let names: Vec<&str> = found.iter().map(|one| one.mover.name).skip(1).collect();
            assert_eq!(names, expected);
            assert!(found.iter().all(|one| one.extent() == Extent::Nowhere));
        };
        check(&[], &[]);
        check(
            &[workload("DaemonSet", "example.com:5000/kubereboot/kured:1.13@sha256:0")],
            &["kured"],
        );
        check(&[workload("Pod", "kubereboot/kured")], &[]);
        check(&[workload("Deployment", "example.com/web:kured")], &[]);
        let crd = json!({"kind": "CustomResourceDefinition", "metadata": {"name": "nodepools.karpenter.sh"}});
        check(&[crd], &["Karpenter"]);
        let cron = json!({"kind": "CronJob", "metadata": {"namespace": "tools", "name": "restart"}, "spec": {"jobTemplate":
            {"spec": {"template": {"spec": {"containers": [{"image": "bitnami/kubectl:1.30"}]}}}}}});
        check(&[cron], &["jobs by the clock that run kubectl or helm"]);
    }

    #[test]
    fn a_room_is_held_everywhere_somewhere_or_nowhere() {
        let check = |spec: Value, extent: Extent, watched: usize| {
            let held = held_room(room(What::KuredLock).unwrap(), &gate(&spec));
            assert_eq!((held.extent, held.watched_by.len()), (extent, watched));
        };
        let stanza = json!({"strategy": "Restrictive"});
        let of = |hold: Value| json!({"changeManagement": stanza, "holds": [hold]});
        check(of(json!({"what": "KuredLock"})), Extent::Everywhere, 0);
        check(of(json!({"what": "KuredLock", "names": ["kured"]})), Extent::Somewhere, 0);
        check(of(json!({"what": "Deployments"})), Extent::Nowhere, 0);
        let mut audits = of(json!({"what": "KuredLock"}));
        audits["mode"] = json!("Audit");
        check(audits, Extent::Nowhere, 1);
        let mut chosen = of(json!({"what": "KuredLock"}));
        chosen["namespaceSelector"] = json!({"matchLabels": {"env": "prod"}});
        check(chosen, Extent::Somewhere, 0);
    }

    #[test]
    fn a_mover_is_held_as_far_as_the_least_of_its_rooms() {
        let check = |statefulsets: Value, daemonsets: Value, extent: Extent| {
            let holds = json!([{"what": "Deployments"}, statefulsets, daemonsets]);
            let spec = json!({"changeManagement": {"strategy": "Restrictive"}, "holds": holds});
            assert_eq!(found(&[], &gate(&spec))[0].extent(), extent, "{spec}");
        };
        let all = json!({"what": "StatefulSets"});
        let one = json!({"what": "DaemonSets", "names": ["one"]});
        check(all.clone(), json!({"what": "DaemonSets"}), Extent::Everywhere);
        check(all.clone(), one.clone(), Extent::Somewhere);
        check(json!({"what": "KuredLock"}), one, Extent::Nowhere);
    }
}
