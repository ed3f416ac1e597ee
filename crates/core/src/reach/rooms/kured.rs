//! How is kured held?
//!
//! By its lock: before a node is cordoned, drained and rebooted, its kured writes an annotation of kured's own `DaemonSet`. A refused kured
//! does nothing else: 1.13 ends, and the kubelet starts it again, later ones ask again after their `--period`. Giving the lock back always passes, else a node that is done would keep the others from
//! ever beginning (RCH-5): an entry that was there before begins nothing. kured writes the key of an entry in one way; who writes it in
//! another, which kured would read all the same, begins something. With `--concurrency` the annotation lists several nodes.

use api::reach::What;

use super::{
    Nudge, Room, SystemNamespaces, Write,
    leaving::{leaves, relabels},
};

/// Whether a node takes the lock.
macro_rules! locks {
    () => {
        "(has(object.metadata.annotations) && 'weave.works/kured-node-lock' in object.metadata.annotations && \
             (oldObject == null || !has(oldObject.metadata.annotations) || !('weave.works/kured-node-lock' in oldObject.metadata.annotations) ? true : \
             object.metadata.annotations['weave.works/kured-node-lock'] != oldObject.metadata.annotations['weave.works/kured-node-lock'] && \
             (object.metadata.annotations['weave.works/kured-node-lock'].contains('\\\\') || \
             object.metadata.annotations['weave.works/kured-node-lock'].lowerAscii().split('nodeid').size() != object.metadata.annotations['weave.works/kured-node-lock'].split('\"nodeID\":').size() ? true : \
             object.metadata.annotations['weave.works/kured-node-lock'].contains('\"nodeID\":') ? \
             object.metadata.annotations['weave.works/kured-node-lock'].split('\"nodeID\":').exists(lock, lock.contains('\"TTL\"') ? \
             !oldObject.metadata.annotations['weave.works/kured-node-lock'].contains('\"nodeID\":' + lock.split('\"TTL\"')[0]) : \
             !object.metadata.annotations['weave.works/kured-node-lock'].startsWith(lock)) : \
             !oldObject.metadata.annotations['weave.works/kured-node-lock'].contains('\"nodeID\":'))))"
    };
}

pub(super) const ROOM: Room = Room {
    what: What::KuredLock,
    slug: "kured-lock",
    held: "a reboot by kured: the lock that a node takes on the DaemonSet of kured",
    writes: &[Write {
        group: "apps",
        resources: &["daemonsets", "daemonsets/status"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(locks!(), " || (oldObject != null && ", relabels!(), ")"),
    name: "object.metadata.name",
    labels: "[object.metadata] + (oldObject == null ? [] : [oldObject.metadata])",
    holds: concat!(locks!(), " || (oldObject != null && ", leaves!(), ")"),
    adds: "''",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody can make kured ask: it does so by itself each `--period`, an hour if nothing is said; run it with `--period=1m`. kured 1.13 ends when it is refused: its pod is \
         started again by the kubelet, within five minutes and two more, and shows `CrashLoopBackOff` meanwhile",
    ),
    not_held: &[
        "A node that has the lock: it is drained, reboots and gives the lock back.",
        "A kured with another `--lock-annotation` than `weave.works/kured-node-lock`.",
        "Reboots that nobody asked kured for: by hand, by the provider, by the node itself.",
        "A lock, or its like by hand, whose sender first plants an entry of their own manager in `managedFields`, dated the second in which they \
         will write, and then forges another dated inside a window.",
    ],
    tried: "kured 1.13.1",
    // Whether a node wants to reboot is known on that node alone.
    targets: None,
    gated: None,
};
