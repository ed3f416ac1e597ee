//! How is something held that no other room knows? By a room of somebody's own (RCH-14).
//!
//! Whoever runs the platform says in the values of the chart which writes are looked at and which of them begin a change, as an expression of the API
//! server. Everything else is that of the other rooms: who selects, who is exempt, and the fresh rule.
//!
//! The expression is somebody else's, so it is asked last, where a gate or a freeze chose the write and is shut. One that fails then holds that write
//! and no other: whatever nothing selects, and whatever is open, passes without it.

use api::reach::What;

use super::{Nudge, Room, SystemNamespaces, leaving::leaves};

pub(super) const ROOM: Room = Room {
    what: What::Custom,
    slug: "custom-{{ $room.name }}",
    held: "whatever a room of your own says: `changeGates.custom` of the chart has its writes, and an expression `initiates` that tells which of them begin a change",
    // What is looked at stands in the values.
    writes: &[],
    marked: None,
    rendered: None,
    begins: "true",
    name: "has(object.metadata.name) ? object.metadata.name : ''",
    labels: "[object.metadata] + (oldObject == null ? [] : [oldObject.metadata])",
    holds: concat!("variables.initiates || (oldObject != null && ", leaves!(), ")"),
    adds: "{{ with $room.text }}'; ' + {{ . | toJson }}{{ else }}''{{ end }}",
    system: SystemNamespaces::LeftAlone,
    nudge: Nudge::None(
        "nothing is touched: nobody knows what would make its controller look again, so whoever was refused sends it again",
    ),
    not_held: &[
        "Whatever `initiates` does not tell, and writes that its rule does not look at: other versions of a kind are looked at with `apiVersions: [\"*\"]`, or are \
         turned into the one that it names.",
        "Deletions, evictions, `scale` and other subresources than `status`: they carry no stamp, and the chart refuses rooms for them.",
        "Gates of teams: a ClusterChangeGate alone names rooms of your own. A freeze of everything holds them, that of a team in its namespace too.",
        "`kube-*`, `openshift-*` and the namespace of the operator, unless the gate names them.",
        "What is in no namespace, by a gate with a `namespaceSelector`.",
        "A write of which the expression fails, by a gate that warns or audits: the API server then says nothing. A gate that enforces refuses it.",
        "What an audit log tells of them, unless `tidegate audit` is given the values of the chart with `--values`.",
    ],
    tried: "whatever its author tried: nobody else knows its first write, so `Enforced` says at best that its policies stand",
    targets: None,
    gated: None,
};
