//! How are the machine-config kinds, their labels and their annotations called?

/// The group and version of `MachineConfig` and `MachineConfigPool`.
pub const API_VERSION: &str = "machineconfiguration.openshift.io/v1";

/// The group and version of `MachineConfiguration`.
pub const OPERATOR_API_VERSION: &str = "operator.openshift.io/v1";

/// A piece of configuration, or the whole that a pool's pieces were merged into.
pub const MACHINE_CONFIG: &str = "MachineConfig";

/// A node, as the cluster knows it.
pub const NODE: &str = "Node";

/// Settings for all nodes of the cluster, node disruption policies among them.
pub const MACHINE_CONFIGURATION: &str = "MachineConfiguration";

/// The only name that a `MachineConfiguration` may have.
pub const MACHINE_CONFIGURATION_NAME: &str = "cluster";

/// Condition of a `MachineConfiguration`: the node disruption policy that is wanted cannot be used, and the one that acts is older (NDP-1).
pub const NODE_DISRUPTION_POLICY_DEGRADED: &str = "NodeDisruptionPolicyDegraded";

/// Label on a `MachineConfig`: the role, and by that usually the pool, that it is for.
pub const ROLE: &str = "machineconfiguration.openshift.io/role";

/// The pool of the control plane.
pub const MASTER: &str = "master";

/// The pool that custom pools inherit from.
pub const WORKER: &str = "worker";

/// The pool of nodes that only vote.
pub const ARBITER: &str = "arbiter";

/// Label on a `Node`: the failure domain it stands in.
pub const ZONE: &str = "topology.kubernetes.io/zone";

/// Label on a `Node`: its operating system.
pub const OPERATING_SYSTEM: &str = "kubernetes.io/os";

/// Annotation on a `Node`: the rendered configuration it runs. Written by the agent.
pub const CURRENT_CONFIG: &str = "machineconfiguration.openshift.io/currentConfig";

/// Annotation on a `Node`: the rendered configuration it must go to. Writing it is the commit point (POOL-1).
pub const DESIRED_CONFIG: &str = "machineconfiguration.openshift.io/desiredConfig";

/// Annotation on a `Node`: how far the agent is. Written by the agent.
pub const STATE: &str = "machineconfiguration.openshift.io/state";

/// Annotation on a `Node`: why it is in that state, cut at [`LONGEST_REASON`] characters; empty when done.
pub const REASON: &str = "machineconfiguration.openshift.io/reason";

/// How many characters of a reason are kept.
pub const LONGEST_REASON: usize = 2000;

/// Annotation on a `Node`: `drain-<config>` or `uncordon-<config>`, as the agent asks for it.
pub const DESIRED_DRAIN: &str = "machineconfiguration.openshift.io/desiredDrain";

/// Annotation on a `Node`: the last such request that was satisfied.
pub const LAST_APPLIED_DRAIN: &str = "machineconfiguration.openshift.io/lastAppliedDrain";

/// Annotation on a `Node` that is cordoned for a drain: since when, and whether it was cordoned before, as a JSON object (DRAIN-1).
pub const DRAIN_RECORD: &str = "changemanagement.openshift.io/drain";

/// Annotation on a `Node` that is being drained: which pods cannot leave, why, and since when.
pub const DRAIN_BLOCKED: &str = "changemanagement.openshift.io/drain-blocked";

/// Annotation on a `MachineConfig`: with any non-empty value its pools progress until every node has its content (POOL-5).
pub const BYPASS: &str = "machineconfiguration.openshift.io/bypass-change-management";

/// Annotation on a generated `MachineConfig`: which controller made it.
pub const GENERATED_BY: &str = "machineconfiguration.openshift.io/generated-by-controller-version";

/// Annotation on a rendered `MachineConfig`: the release it belongs to.
pub const RELEASE_VERSION: &str = "machineconfiguration.openshift.io/release-image-version";

/// Annotation on a rendered `MachineConfig`: each source and the digest of what it held, as a JSON object (POOL-5).
pub const SOURCE_DIGESTS: &str = "changemanagement.openshift.io/source-digests";

/// Annotation on a `MachineConfigPool`: the nodes whose change has begun and not ended, as a JSON list (POOL-2); on the pool of the
/// control plane a JSON object that also names the change itself, while one is under way (GATE-10).
pub const LEDGER: &str = "changemanagement.openshift.io/begun";

/// Annotation on a `MachineConfigPool`: the configuration that a rollback restores (POOL-8).
pub const PREVIOUS_CONFIG: &str = "changemanagement.openshift.io/previous-machine-config";
/// On a pool: somebody started an update that pauses again by itself when every node has arrived (D4-4).
pub const ASSISTED_UPDATE: &str = "changemanagement.openshift.io/assisted-update";

/// Annotation on a `Node`: the one rendered configuration that an administrator lets it go to, whatever the gate says (POOL-7).
pub const ALLOWED_CONFIG: &str = "changemanagement.openshift.io/allowed-config";

/// Annotation on a `Node`, written together with [`DESIRED_CONFIG`]: when the permit for that write ends (GATE-7).
pub const PERMIT_UNTIL: &str = "changemanagement.openshift.io/permit-until";

/// Annotation on a `Node`: when the window opened under which its desired configuration was written. The server refuses a change of that
/// before this instant: a writer whose clock is ahead must not open a window early (GATE-7).
pub const PERMIT_FROM: &str = "changemanagement.openshift.io/permit-from";

/// Annotation on a `Node`, written together with [`DESIRED_CONFIG`]: what the permit for that write rests on, in words (GATE-16).
pub const PERMIT_BASIS: &str = "changemanagement.openshift.io/permit-basis";

/// Annotation on a `Node`, written together with [`DESIRED_CONFIG`]: the rendered configuration that the permit was given for. It is the
/// record of what was begun (GATE-10), and an agent takes an order only where it equals [`DESIRED_CONFIG`] (GATE-16).
pub const PERMIT_CHANGE: &str = "changemanagement.openshift.io/permit-change";

/// Annotation on `ClusterVersion` and on master `Node`s: the release whose update has begun and whose masters have not converged on it
/// yet (GATE-10).
pub const BEGUN_RELEASE: &str = "changemanagement.openshift.io/begun-release";

/// Annotation on a `Node`: the topology of the control plane, for its agent: the only node of a cluster is not drained, because nobody
/// could take its workloads (DRAIN-2).
pub const CONTROL_PLANE_TOPOLOGY: &str = "machineconfiguration.openshift.io/controlPlaneTopology";

/// The value of [`CONTROL_PLANE_TOPOLOGY`] on the only node of a cluster.
pub const SINGLE_REPLICA: &str = "SingleReplica";

/// How far an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// At its desired configuration.
    Done,
    /// On its way.
    Working,
    /// A step failed; it is tried again.
    Degraded,
    /// The change cannot be made on a running node.
    Unreconcilable,
    /// Not said, or by something newer than this build.
    Unknown,
}

impl NodeState {
    /// The state of this name.
    pub fn of(name: &str) -> Self {
        match name {
            "Done" => Self::Done,
            "Working" => Self::Working,
            "Degraded" => Self::Degraded,
            "Unreconcilable" => Self::Unreconcilable,
            _ => Self::Unknown,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "Done",
            Self::Working => "Working",
            Self::Degraded => "Degraded",
            Self::Unreconcilable => "Unreconcilable",
            Self::Unknown => "Unknown",
        }
    }
}

/// A configuration that cannot exist, because names of objects have no capital letters: by it is tried, as a dry run, whether the server
/// refuses an order that nobody permitted (GATE-13).
pub const IMPOSSIBLE_CONFIG: &str = "Tidegate-tries-whether-this-is-refused";

/// A configuration of a pool that nobody has: by it is tried, as a dry run, whether the server keeps nodes from changing while they are frozen.
pub const PROBED_CONFIG: &str = "rendered-tidegate-probe-0";
