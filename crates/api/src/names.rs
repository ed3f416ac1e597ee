//! How is each thing called on the wire? Every constant name of the API, in one place.

/// The API group of the policies. No group is reserved upstream: this one is ours.
pub const GROUP: &str = "changemanagement.openshift.io";

/// The served version.
pub const VERSION: &str = "v1alpha1";

/// `apiVersion` of both kinds of policy.
pub const API_VERSION: &str = "changemanagement.openshift.io/v1alpha1";

/// The cluster-scoped policy, which `ClusterVersion` and `MachineConfigPool` refer to.
pub const CHANGE_MANAGEMENT_POLICY: &str = "ChangeManagementPolicy";

/// The namespaced policy, which `HostedCluster` and `NodePool` refer to.
pub const HOSTED_CHANGE_MANAGEMENT_POLICY: &str = "HostedChangeManagementPolicy";

/// Condition: the policy has been understood, and for this generation (POL-6).
pub const READY: &str = "Ready";

/// Condition: changes may not be initiated now (POL-6).
pub const CHANGES_RESTRICTED: &str = "ChangesRestricted";

/// Reason of [`READY`] when nothing is wrong.
pub const AS_EXPECTED: &str = "AsExpected";

/// Reason of [`CHANGES_RESTRICTED`] while the policy is not ready: doubt closes the gate (POL-6).
pub const POLICY_NOT_READY: &str = "PolicyNotReady";

/// The plural of a kind's name in lower case, as in paths and on the command line.
pub fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    singular.strip_suffix('y').map_or_else(|| format!("{singular}s"), |stem| format!("{stem}ies"))
}
