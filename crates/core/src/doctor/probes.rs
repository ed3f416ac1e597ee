//! Does the API server refuse the first write of a room now? The write that tries it, as a dry run that nobody keeps, and what its answer proves (GATE-13).
//!
//! A gate is tried on something that it selects, with the rights of whoever asks. One that is open now refuses nothing, so nothing is proven then.

use api::{names::PROBE, reach::What, schema::Scope};
use serde_json::Value;

use crate::{
    held::Holder,
    reach::{
        called::Called,
        rooms::Room,
        selector::{Labels, Selects},
        selects::{Asked, selects},
        trial::{self, FirstWrite},
    },
};

/// A first write that is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Its namespace, if it is in one.
    pub namespace: Option<String>,
    /// What is written.
    pub first: FirstWrite,
}

/// What a try proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The server refused, by this gate.
    Proven,
    /// The server would have taken it: nothing holds.
    NotRefused,
    /// The server refused for another reason, such as another gate: this one was not seen.
    Otherwise(String),
    /// Nobody could try, and why.
    NotTried(String),
}

/// The first write by which a gate is tried in a room, on one of some objects; or why there is none.
pub fn probe<'a>(
    gate: &Holder,
    room: &Room,
    objects: impl Iterator<Item = &'a Value> + Clone,
    labels_of_namespace: impl Fn(&str) -> Option<&'a Labels>,
    operators: &str,
) -> Result<Probe, String> {
    let spec = gate.document.get("spec").unwrap_or(&Value::Null);
    let own = gate.key.namespace.as_deref();
    let holds = spec.get("holds").and_then(Value::as_array);
    let hold = holds.into_iter().flatten().find(|hold| hold["what"] == room.name_of());
    let hold = hold.ok_or("it does not hold this room")?;
    if room.what == What::HelmReleases {
        return release(hold, own);
    }
    let kinds: Vec<&Called> = Called::all_of_room(room.what).collect();
    let first = *kinds.first().ok_or("nobody knows which objects it holds")?;
    let nodes = objects.clone();
    let mut known = objects.filter_map(|object| {
        let kind = kinds.iter().copied().find(|kind| kind.is_of(object))?;
        Some((kind, object))
    });
    let chosen = known.find(|(kind, object)| {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let namespace = text("/metadata/namespace");
        let labels = kind.labels_of(object);
        let target = Asked {
            room,
            name: text("/metadata/name"),
            labels: labels.as_ref(),
            namespace: Some(namespace).filter(|_| kind.scope == Scope::Namespaced),
            namespace_labels: labels_of_namespace(namespace),
            operators,
        };
        selects(spec, own, &target) == Selects::Yes
    });
    let (kind, chosen) =
        chosen.ok_or_else(|| format!("there is no {} that it selects", first.kind))?;
    let text = |path: &str| chosen.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let namespace = Some(text("/metadata/namespace").to_owned()).filter(|own| !own.is_empty());
    if room.what == What::MachineConfigPools {
        let pool = text("/metadata/name");
        let first = trial::order(pool, nodes);
        let first = first.ok_or_else(|| format!("there is no Node of the pool {pool}"))?;
        return Ok(Probe { namespace, first });
    }
    if room.what == What::KarpenterDisruption {
        let pool = text("/metadata/name");
        let first = trial::disruption(pool, nodes);
        let first = first.ok_or_else(|| format!("there is no Node of the pool {pool}"))?;
        return Ok(Probe { namespace, first });
    }
    let how = hold["how"].as_str().unwrap_or_else(|| room.first_way());
    let first = trial::on(room.what, how, kind, chosen).ok_or("nobody knows how to try it")?;
    Ok(Probe { namespace, first })
}

/// The record of a release that is pending.
fn release(hold: &Value, own: Option<&str>) -> Result<Probe, String> {
    if hold.get("selector").is_some_and(|selector| !selector.is_null()) {
        return Err("what labels a release has is known when Helm stores it".to_owned());
    }
    let namespace =
        own.ok_or("it is of the platform, and nobody knows where a release would be")?;
    let name = hold.pointer("/names/0").and_then(Value::as_str).unwrap_or(PROBE);
    Ok(Probe { namespace: Some(namespace.to_owned()), first: trial::release(name) })
}

/// What the answer to a try proves: nothing if it was taken, or the code and the message of the refusal.
pub fn proof(gate: &Holder, answer: Result<(), (Option<u16>, &str)>) -> Proof {
    let Err((code, said)) = answer else { return Proof::NotRefused };
    let name = match &gate.key.namespace {
        Some(namespace) => format!("{namespace}/{}", gate.key.name),
        None => gate.key.name.to_string(),
    };
    let named = format!("held by {} {name}", gate.key.kind().name);
    // A name may begin as another does.
    let ends =
        |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-.".contains(c));
    if said.split(&named).skip(1).any(ends) {
        return Proof::Proven;
    }
    match code {
        // What would be made under a name that is taken passed admission before anybody looked at the name.
        Some(409) if said.contains("already exists") => Proof::NotRefused,
        Some(403 | 422) if said.contains("held by ") => Proof::Otherwise(said.to_owned()),
        _ => Proof::NotTried(said.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        cluster::{kinds, snapshot::Snapshot},
        held,
        reach::{rooms::ROOMS, trial::Write},
    };
    use api::machine::names::DESIRED_CONFIG;

    fn gate(holds: &Value) -> Holder {
        let document = json!({"metadata": {"name": "g", "namespace": "shop"},
            "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [holds]}});
        let mut snapshot = Snapshot::default();
        snapshot.add(&kinds::CHANGE_GATE, &document);
        held::holders(&snapshot, [(&kinds::CHANGE_GATE, &document)]).remove(0)
    }

    fn tried(holds: &Value, room: What, objects: &[Value]) -> Result<Probe, String> {
        let room = ROOMS.iter().find(|known| known.what == room).unwrap();
        probe(&gate(holds), room, objects.iter(), |_| None, "tidegate-system")
    }

    /// The same of a gate of the platform on what is in no namespace.
    fn wide(room: What, objects: &[Value]) -> Result<Probe, String> {
        let room = ROOMS.iter().find(|known| known.what == room).unwrap();
        let document = json!({"metadata": {"name": "g"},
            "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": room.name_of()}]}});
        let mut snapshot = Snapshot::default();
        snapshot.add(&kinds::CLUSTER_CHANGE_GATE, &document);
        let gate = held::holders(&snapshot, [(&kinds::CLUSTER_CHANGE_GATE, &document)]).remove(0);
        probe(&gate, room, objects.iter(), |_| None, "tidegate-system")
    }

    fn object(kind: &str, name: &str) -> Value {
        json!({"kind": kind, "metadata": {"name": name, "namespace": "shop", "uid": "u"},
            "spec": {"selector": {}, "template": {"metadata": {"labels": {"app": name}}}}})
    }

    /// GATE-13
    #[test]
    fn each_room_is_tried_by_its_own_first_write() {
        let web = [object("Deployment", "api"), object("Deployment", "web")];
        let made =
            tried(&json!({"what": "Deployments", "names": ["web"]}), What::Deployments, &web)
                .unwrap();
        let Write::Create(set) = &made.first.write else { panic!("{made:?}") };
        assert_eq!(
            (made.first.kind, &set["metadata"]["ownerReferences"][0]["name"]),
            ("ReplicaSet", &json!("web"))
        );
        let refused =
            tried(&json!({"what": "Deployments", "how": "Refuse"}), What::Deployments, &web)
                .unwrap();
        assert!(
            matches!(&refused.first.write, Write::Patch(name, _) if name == "api"),
            "{refused:?}"
        );
        let kured =
            tried(&json!({"what": "KuredLock"}), What::KuredLock, &[object("DaemonSet", "kured")])
                .unwrap();
        assert!(
            matches!(&kured.first.write, Write::Patch(_, change) if change.to_string().contains("nodeID")),
            "{kured:?}"
        );
        let release = tried(&json!({"what": "HelmReleases"}), What::HelmReleases, &[]).unwrap();
        assert_eq!((release.first.kind, release.namespace.as_deref()), ("Secret", Some("shop")));
        let node = json!({"kind": "Node", "metadata": {"name": "n1",
            "annotations": {DESIRED_CONFIG: "rendered-worker-0123"}}});
        let pool = json!({"kind": "MachineConfigPool", "metadata": {"name": "worker"}});
        let version = json!({"kind": "ClusterVersion", "metadata": {"name": "version"}});
        let order = wide(What::MachineConfigPools, &[pool.clone(), node]).unwrap();
        assert_eq!((order.first.kind, &order.namespace), ("Node", &None));
        let Write::Patch(name, change) = &order.first.write else { panic!("{order:?}") };
        let told = &change["metadata"]["annotations"][DESIRED_CONFIG];
        assert_eq!((name.as_str(), told), ("n1", &json!("rendered-worker-tidegateprobe")));
        let unknown = wide(What::MachineConfigPools, &[pool]).unwrap_err();
        assert_eq!(unknown, "there is no Node of the pool worker");
        let update = wide(What::ClusterVersion, &[version]).unwrap();
        assert!(
            matches!(&update.first.write, Write::Create(made) if made["spec"]["desiredUpdate"]["version"] == "0.0.1"),
            "{update:?}"
        );
        let pool = json!({"kind": "NodePool", "metadata": {"name": "general"}});
        let node = |name: &str, taints: Value| json!({"kind": "Node", "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "general"}}, "spec": {"taints": taints}});
        let own = json!({"key": "own", "effect": "NoExecute"});
        let nodes = [
            node("n1", json!([{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}])),
            node("n2", json!([own])),
        ];
        let disruption =
            wide(What::KarpenterDisruption, &[&[pool.clone()][..], &nodes].concat()).unwrap();
        let Write::Patch(name, change) = &disruption.first.write else { panic!("{disruption:?}") };
        assert_eq!(name, "n2", "one that is under way proves nothing");
        assert_eq!(
            change["spec"]["taints"],
            json!([own, {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}])
        );
        assert_eq!(
            wide(What::KarpenterDisruption, &[pool]).unwrap_err(),
            "there is no Node of the pool general"
        );
        let bucket = [object("Bucket", "apps")];
        let revision = tried(&json!({"what": "FluxRevisions"}), What::FluxRevisions, &bucket);
        let revision = revision.unwrap();
        assert_eq!(revision.first.kind, "Bucket", "whichever kind of source there is");
        assert!(
            matches!(&revision.first.write, Write::PatchStatus(name, _) if name == "apps"),
            "{revision:?}"
        );
        let plan = [object("InstallPlan", "install-1")];
        let approved = tried(&json!({"what": "InstallPlans"}), What::InstallPlans, &plan).unwrap();
        assert!(
            matches!(&approved.first.write, Write::Create(made) if made["spec"]["approved"] == true && made["metadata"]["name"] == "install-1"),
            "{approved:?}"
        );
        let upgrade = [object("Plan", "k3s")];
        let job = tried(&json!({"what": "UpgradePlans"}), What::UpgradePlans, &upgrade).unwrap();
        assert!(
            matches!(&job.first.write, Write::Create(made) if made["metadata"]["labels"]["upgrade.cattle.io/plan"] == "k3s"),
            "{job:?}"
        );
        let plane = [object("KubeadmControlPlane", "prod")];
        let version =
            tried(&json!({"what": "KubeadmControlPlanes"}), What::KubeadmControlPlanes, &plane);
        assert!(matches!(&version.unwrap().first.write, Write::Patch(name, _) if name == "prod"));
        let missing =
            tried(&json!({"what": "StatefulSets"}), What::StatefulSets, &web).unwrap_err();
        assert_eq!(missing, "there is no StatefulSet that it selects");
    }

    /// GATE-13
    #[test]
    fn whole_clusters_are_tried_by_the_release_that_somebody_asks_for() {
        let mut cluster = object("Cluster", "prod");
        let topology = json!({"what": "ClusterTopologies"});
        assert_eq!(
            tried(&topology, What::ClusterTopologies, std::slice::from_ref(&cluster)).unwrap_err(),
            "nobody knows how to try it",
            "without a topology nothing is held"
        );
        cluster["spec"]["topology"] = json!({"class": "a", "version": "v1.35.0"});
        let version = tried(&topology, What::ClusterTopologies, &[cluster]).unwrap();
        assert!(
            matches!(&version.first.write, Write::Patch(name, change) if name == "prod" && change["spec"]["topology"]["version"] == "v0.0.1"),
            "{version:?}"
        );
        // NodePools of Karpenter are another kind.
        let mut karpenter = object("NodePool", "general");
        karpenter["apiVersion"] = json!("karpenter.sh/v1");
        let mut hosted = object("NodePool", "hosted");
        hosted["apiVersion"] = json!("hypershift.openshift.io/v1alpha1");
        let pools = json!({"what": "NodePools"});
        let release = tried(&pools, What::NodePools, &[karpenter.clone(), hosted]).unwrap();
        assert!(matches!(&release.first.write, Write::Patch(name, _) if name == "hosted"));
        assert_eq!(
            tried(&pools, What::NodePools, &[karpenter]).unwrap_err(),
            "there is no NodePool that it selects"
        );
        let hosted = [object("HostedCluster", "prod")];
        let release = tried(&json!({"what": "HostedClusters"}), What::HostedClusters, &hosted);
        assert!(matches!(&release.unwrap().first.write, Write::Patch(name, _) if name == "prod"));
    }

    #[test]
    fn only_the_gate_itself_proves_itself() {
        let check = |answer: Result<(), (Option<u16>, &str)>, expected: &Proof| {
            assert_eq!(proof(&gate(&json!({"what": "Deployments"})), answer), *expected);
        };
        let refused =
            "denied request: held by ChangeGate shop/g, which opens at 2026-11-21T00:00:00Z";
        check(Err((Some(403), refused)), &Proof::Proven);
        check(Err((Some(403), "held by ChangeGate shop/g: no stamp")), &Proof::Proven);
        check(Ok(()), &Proof::NotRefused);
        check(Err((Some(409), "installplans \"a\" already exists")), &Proof::NotRefused);
        let other = "held by ChangeGate shop/g2, which opens at 2026-11-21T00:00:00Z";
        check(Err((Some(403), other)), &Proof::Otherwise(other.to_owned()));
        let rights = "replicasets.apps is forbidden: User \"a\" cannot create resource";
        check(Err((Some(403), rights)), &Proof::NotTried(rights.to_owned()));
        check(
            Err((None, "no answer within 30 s")),
            &Proof::NotTried("no answer within 30 s".to_owned()),
        );
    }
}
