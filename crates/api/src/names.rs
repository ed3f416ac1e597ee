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

/// The version of the control plane, which names a [`CHANGE_MANAGEMENT_POLICY`].
pub const CLUSTER_VERSION: &str = "ClusterVersion";

/// The name of the one [`CLUSTER_VERSION`] that every cluster has. Another that somebody made beside it decides nothing.
pub const THE_CLUSTER: &str = "version";

/// A pool of nodes that share a configuration, which names a [`CHANGE_MANAGEMENT_POLICY`].
pub const MACHINE_CONFIG_POOL: &str = "MachineConfigPool";

/// A hosted control plane, which names a [`HOSTED_CHANGE_MANAGEMENT_POLICY`] of its namespace (GATE-5).
pub const HOSTED_CLUSTER: &str = "HostedCluster";

/// The nodes of a hosted cluster, which name a [`HOSTED_CHANGE_MANAGEMENT_POLICY`] of their namespace (GATE-5).
pub const NODE_POOL: &str = "NodePool";

/// What a team holds in its namespace of what others own.
pub const CHANGE_GATE: &str = "ChangeGate";

/// What the platform holds of what others own.
pub const CLUSTER_CHANGE_GATE: &str = "ClusterChangeGate";

/// What a team lets nothing start in its namespace by (OVR-1).
pub const CHANGE_FREEZE: &str = "ChangeFreeze";

/// What the platform lets nothing start by (OVR-1).
pub const CLUSTER_CHANGE_FREEZE: &str = "ClusterChangeFreeze";

/// What a team opens a gate of its namespace by (OVR-2).
pub const CHANGE_OVERRIDE: &str = "ChangeOverride";

/// What the platform opens a gate by (OVR-2).
pub const CLUSTER_CHANGE_OVERRIDE: &str = "ClusterChangeOverride";

/// What the platform demands of what people write about when things change (GRD-1).
pub const CHANGE_GUARDRAIL: &str = "ChangeGuardrail";

/// A page of the history: what happened, one entry after the other (HIST-1).
pub const CHANGE_RECORD: &str = "ChangeRecord";

/// Condition of a policy: it meets every guardrail that selects it (GRD-6). It is there while one does.
pub const GUARDRAILS_MET: &str = "GuardrailsMet";

/// Reason of [`READY`] of a policy that was edited after a guardrail came that is enforced, and does not meet it (GRD-5).
pub const GUARDRAILS_NOT_MET: &str = "GuardrailsNotMet";

/// Reason of [`GUARDRAILS_MET`]: some days hold too few hours of windows (GRD-2).
pub const TOO_FEW_HOURS: &str = "TooFewHours";

/// Reason of [`GUARDRAILS_MET`]: the strategy is none of those that are allowed (GRD-3).
pub const STRATEGY_NOT_ALLOWED: &str = "StrategyNotAllowed";

/// Reason of [`GUARDRAILS_MET`]: an exclusion is too long (GRD-3).
pub const EXCLUSION_TOO_LONG: &str = "ExclusionTooLong";

/// Reason of [`GUARDRAILS_MET`]: windows lie outside those that must contain them (GRD-3).
pub const NOT_WITHIN: &str = "NotWithin";

/// Reason of [`GUARDRAILS_MET`]: a guardrail cannot be used, or what it names is not there, so nobody can tell.
pub const GUARDRAIL_UNCLEAR: &str = "GuardrailUnclear";

/// Reason of [`READY`] of an override that a guardrail lets open nothing before somebody approves it (GRD-3).
pub const NOT_APPROVED: &str = "NotApproved";

/// The group whose members pass every gate (GATE-15).
pub const INITIATORS: &str = "tidegate:initiators";

/// Condition of a gated resource: changes may not be initiated now (GATE-6).
pub const CHANGES_PAUSED: &str = "ChangesPaused";

/// Condition of a gated resource: something would be initiated if there were no change management (GATE-6, POOL-6).
pub const CHANGES_PENDING: &str = "ChangesPending";

/// Reason of [`READY`] when the specification cannot be used (POL-8).
pub const INVALID_SPEC: &str = "InvalidSpec";

/// Reason of [`CHANGES_PAUSED`] when there is no stanza and never was one (GATE-1).
pub const NO_STANZA: &str = "NoStanza";

/// Reason of [`CHANGES_PAUSED`], and of an event, when there was a stanza and there is none any more: the gate stands open, and
/// somebody may not know.
pub const STANZA_REMOVED: &str = "StanzaRemoved";

/// Reason of [`CHANGES_PAUSED`] when the stanza cannot be used: doubt closes the gate.
pub const INVALID_STANZA: &str = "InvalidStanza";

/// Reason of [`CHANGES_PAUSED`] when the named policy does not exist (GATE-2).
pub const POLICY_NOT_FOUND: &str = "PolicyNotFound";

/// Reason of a hold when the windows of a gate on what others own are not known (RCH-2).
pub const GATE_NOT_READY: &str = "GateNotReady";

/// Reason of [`CHANGES_PAUSED`] while a freeze is in force (OVR-1).
pub const FROZEN: &str = "Frozen";

/// Reason of [`CHANGES_PAUSED`] when nobody can tell what a freeze holds, or when: it cannot be used, or the namespaces that it chooses are
/// not known (POL-8, GATE-12).
pub const FREEZE_UNCLEAR: &str = "FreezeUnclear";

/// Reason of [`CHANGES_PAUSED`] while an override opens a gate that is shut otherwise (OVR-2).
pub const OVERRIDDEN: &str = "Overridden";

/// Reason of [`READY`] of an override whose target does not exist: it opens nothing.
pub const TARGET_NOT_FOUND: &str = "TargetNotFound";

/// Reason of [`READY`] of an override whose target goes by the gate of another object: it opens nothing (CV-2).
pub const TARGET_FOLLOWS: &str = "TargetFollows";

/// Reason of [`CHANGES_PENDING`] when nothing waits.
pub const NOTHING_PENDING: &str = "NothingPending";

/// Reason of [`CHANGES_PENDING`] of a gate when nobody can tell whether something waits, because what it holds cannot be read.
pub const NOT_COUNTED: &str = "NotCounted";

/// Reason of [`CHANGES_PENDING`] when something waits for the gate.
pub const HELD: &str = "Held";

/// Reason of [`CHANGES_PENDING`] when something waits and may start.
pub const INITIATING: &str = "Initiating";

/// Reason of [`CHANGES_PENDING`] when something waits, may start, and does not, because the resource itself says so.
pub const STOPPED: &str = "Stopped";

/// Reason of [`CHANGES_PENDING`] when nothing waits any more, and what was initiated has not ended.
pub const UNDER_WAY: &str = "UnderWay";

/// Reason of [`READY`] when the policy is understood and its windows never come (TIME-7).
pub const NEVER_FIRES: &str = "NeverFires";

/// Condition of a gated resource: something refuses what its gate holds (GATE-13).
pub const ENFORCED: &str = "Enforced";

/// Condition of a gated resource, and reason of an event: the newest change that was seen began while the gate was shut, whoever
/// began it (GATE-13). It appears with the first such change.
pub const INITIATED_OUTSIDE_WINDOW: &str = "InitiatedOutsideWindow";

/// Reason of [`INITIATED_OUTSIDE_WINDOW`] when it is so.
pub const GATE_SHUT: &str = "GateShut";
/// The reason of `ChangesPaused` where the windows of the cluster that a pool belongs to hold it (D4-1).
pub const CLUSTER_CONSTRAINT: &str = "ClusterConstraint";

/// Condition of the control plane, and reason of an event: pools will stand in the way of the update that is wished for, because their kubelets
/// will be too old for it (CV-3). It appears with the first such update; its message begins with the instant at which it would start.
pub const SKEW_AHEAD: &str = "SkewAhead";

/// Reason of [`SKEW_AHEAD`] when it is so.
pub const KUBELETS_TOO_OLD: &str = "KubeletsTooOld";

/// Annotation on a gated resource: why somebody overrode its policy, in their own words.
pub const OVERRIDE_REASON: &str = "changemanagement.openshift.io/override-reason";

/// Annotation on `ClusterVersion` of a stock OpenShift: the release that somebody wants, as a JSON object with what they would write into
/// `spec.desiredUpdate` (CV-4). Written by people, by the command, or by the API server, which notes here what it does not let begin (CV-5).
pub const WANTED_RELEASE: &str = "changemanagement.openshift.io/wanted-release";

/// Annotation on `ClusterVersion` and `HostedCluster`: what the update that is wanted stood for when it was first seen, as a JSON object with `version`,
/// `image` and the `wish` as it was written (CV-4). Written by the operator.
pub const WANTED_IMAGE: &str = "changemanagement.openshift.io/wanted-image";

/// Annotation on `ClusterVersion` and `HostedCluster`: the mark, a JSON object that names the release which was let begin by `version` and `image`, the `uid` of
/// the object that it was written for, and the update `after` which it comes (CV-4, GATE-16). Whoever installs releases follows it.
pub const ACCEPTED_RELEASE: &str = "changemanagement.openshift.io/accepted-release";

/// Annotation on a `NodePool`: the mark, a JSON object that names the release and the configuration which were let begin (HOST-1, GATE-16).
/// Whoever hands templates to Cluster API follows it.
pub const ACCEPTED_CONFIG: &str = "changemanagement.openshift.io/accepted-config";

/// Annotation on the `ClusterVersion` inside a hosted cluster: of which `HostedCluster` it is a projection, and the gates of that and of its `NodePools`,
/// as a JSON object (HOST-2). Whoever runs hosted clusters writes it; nobody outside ever reads it.
pub const PROJECTED: &str = "changemanagement.openshift.io/projected";

/// Annotation on what waited for a gate: when the operator last touched it, so that its controller looks again (RCH-4, GATE-16).
pub const NUDGED_AT: &str = "changemanagement.openshift.io/nudged-at";

/// What the gates and freezes are called by which the operator tries whether the API server refuses (GATE-13). Nobody else makes one of this
/// name, they hold nothing of anybody's, and nothing is told of them.
pub const PROBE: &str = "tidegate-probe";

/// Label on what is tried: which kind of gate or freeze is to refuse it.
pub const TRIED_BY: &str = "changemanagement.openshift.io/tried-by";

/// The plural of a kind's name in lower case, as in paths and on the command line.
pub fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    singular.strip_suffix('y').map_or_else(|| format!("{singular}s"), |stem| format!("{stem}ies"))
}
