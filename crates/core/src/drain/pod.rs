//! What of a pod does a drain look at?

use std::fmt;

use schedule::Instant;
use serde_json::Value;

/// A pod, by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodName {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for PodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What of a pod a drain looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its name.
    pub name: PodName,
    /// Which very pod.
    pub uid: String,
    /// Its phase.
    pub phase: String,
    /// When it was told to end by, if it was.
    pub deleted: Option<Instant>,
    /// Who holds it after its end.
    pub finalizers: Vec<String>,
    /// The kind of its controller, if it has one.
    pub controller: Option<String>,
    /// Whether the node itself runs it, from a file.
    pub is_mirror: bool,
    /// Whether it keeps something on the node.
    pub local_storage: bool,
}

impl Pod {
    /// Reads a pod.
    pub fn of(pod: &Value) -> Self {
        let text = |pointer: &str| {
            pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let list =
            |pointer: &str| pod.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        let deleted = pod.pointer("/metadata/deletionTimestamp").and_then(Value::as_str);
        let owner = list("/metadata/ownerReferences")
            .find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
        Self {
            name: PodName { namespace: text("/metadata/namespace"), name: text("/metadata/name") },
            uid: text("/metadata/uid"),
            phase: text("/status/phase"),
            // A stamp that cannot be read still says that the pod is to end.
            deleted: deleted.map(|stamp| Instant::parse(stamp).unwrap_or(Instant::MIN)),
            finalizers: list("/metadata/finalizers")
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            controller: owner
                .and_then(|owner| owner.get("kind"))
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_mirror: pod
                .pointer("/metadata/annotations")
                .is_some_and(|annotations| annotations.get(MIRROR).is_some()),
            local_storage: list("/spec/volumes").any(|volume| volume.get("emptyDir").is_some()),
        }
    }

    /// Whether a drain concerns it: not what the node itself runs, nor what a daemon set would put back at once.
    pub fn has_to_leave(&self) -> bool {
        let daemon = self.controller.as_deref() == Some("DaemonSet") && !self.is_finished();
        !self.is_mirror && !daemon
    }

    /// Whether it is over: such a pod can always go.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether no controller would recreate it.
    pub fn is_bare(&self) -> bool {
        self.controller.is_none()
    }
}

/// The kubelet marks the pods that it runs from files.
const MIRROR: &str = "kubernetes.io/config.mirror";
