//! How far are the kubelets of this cluster behind its API server? (CV-3)

use super::Snapshot;
use crate::skew::{Kubernetes, Plane, Verdict, judge};

/// The labels of nodes that carry the control plane.
const CONTROL_PLANE: [&str; 2] =
    ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

impl Snapshot {
    /// How kubelets stand with the control plane today; none if nobody says which release that has, or if no node reports a version: files
    /// rarely hold everything.
    pub fn skew(&self) -> Option<Verdict> {
        let plane = self.plane()?;
        let nodes = || self.machines().map(|machine| (&*machine.node.name, &*machine.node.kubelet));
        let is_told = nodes().any(|(_, version)| !version.is_empty());
        is_told.then(|| judge(plane, nodes()))
    }

    /// What the control plane is; none if nobody can tell. Where there is no `ClusterVersion`, its own nodes tell: their kubelets are updated
    /// with it.
    pub fn plane(&self) -> Option<Plane> {
        if let Some(version) = self.control_plane() {
            let release = version.update.as_ref()?.current.as_deref()?;
            return release.parse().ok().map(Plane::OpenShift);
        }
        let own = self.machines().filter(|machine| {
            CONTROL_PLANE.iter().any(|label| machine.node.labels.contains_key(*label))
        });
        let kubelets = own.filter_map(|machine| machine.node.kubelet.parse::<Kubernetes>().ok());
        kubelets.max().map(Plane::Kubernetes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{cluster::kinds, skew::Class};

    fn cluster(release: Option<&str>, nodes: &[(&str, &str, &str)]) -> Snapshot {
        let mut cluster = Snapshot::default();
        if let Some(release) = release {
            let status = json!({"desired": {"version": release}});
            let document = json!({"metadata": {"name": "version"}, "status": status});
            cluster.add(&kinds::CLUSTER_VERSION, &document);
        }
        for (name, role, kubelet) in nodes {
            let role = format!("node-role.kubernetes.io/{role}");
            let document = json!({
                "metadata": {"name": name, "labels": {role: ""}},
                "status": {"nodeInfo": {"kubeletVersion": kubelet}},
            });
            cluster.add(&kinds::NODE, &document);
        }
        cluster
    }

    /// CV-3
    #[test]
    fn kubelets_are_judged_by_the_control_plane_that_there_is() {
        let check = |release, nodes: &[(&str, &str, &str)], expected: Option<(Class, &str)>| {
            let found = cluster(release, nodes).skew();
            let found = found.as_ref().map(|found| (found.class, found.message.as_str()));
            assert_eq!(found.map(|(class, _)| class), expected.map(|(class, _)| class));
            if let (Some((_, found)), Some((_, expected))) = (found, expected) {
                assert!(found.contains(expected), "{found}");
            }
        };
        let (master, worker) = (("m1", "master", "v1.35.1"), ("w1", "worker", "v1.34.1"));
        check(Some("4.22.3"), &[master], Some((Class::Synced, "OpenShift 4.22 (Kubernetes 1.35)")));
        check(Some("4.22.3"), &[master, worker], Some((Class::AtLimit, "Node/w1 (v1.34.1)")));
        check(Some("4.22.3"), &[master, ("w1", "worker", "")], Some((Class::Unknown, "Node/w1")));
        check(
            Some("4.22.3"),
            &[master, ("w1", "worker", "x")],
            Some((Class::Unknown, "Node/w1 (x)")),
        );
        check(Some("4.22.3"), &[("w1", "worker", "")], None);
        check(Some("stable"), &[master], None);
        // Without a ClusterVersion the rule is that of Kubernetes.
        let master = ("m1", "control-plane", "v1.35.1");
        check(None, &[master, worker], Some((Class::Supported, "Kubernetes 1.35")));
        check(None, &[worker], None);
    }
}
