//! Was a node emptied that nobody had begun? (DRAIN-2)

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN};
use serde_json::Value;

use super::{super::stage::Kind, Checker, is_cordoned, is_healthy, noted};

impl Checker {
    /// An operator wrote a node: whether it cordoned one that it must not empty.
    pub(super) fn cordoned(&mut self, at: i64, name: &str, old: &Value, new: &Value) {
        if is_cordoned(old) || !is_cordoned(new) {
            return;
        }
        if !self.has_others(at, name) {
            let what = format!("{name} was cordoned, and nobody else can take its pods");
            self.accuse(at, "DRAIN-2", what);
        }
        let desired = noted(old, DESIRED_CONFIG);
        let begun = self.begun.get(name).is_some_and(|(_, config)| config == desired);
        let asked = noted(old, DESIRED_DRAIN) == format!("drain-{desired}");
        if !begun || !asked || desired == noted(old, CURRENT_CONFIG) {
            let asked = noted(old, DESIRED_DRAIN);
            let what = format!("{name} was cordoned for {asked:?}, and no such change was begun");
            self.accuse(at, "DRAIN-2", what);
        }
    }

    /// Whether another node takes workloads, or did until a moment ago.
    fn has_others(&self, at: i64, name: &str) -> bool {
        /// What is known of nodes is older than what is known of gates: they are asked about once a minute.
        const KNOWN: i64 = 120;
        let others =
            self.objects.iter().filter(|((kind, other), _)| *kind == Kind::Node && other != name);
        others.into_iter().any(|(_, past)| {
            let versions = past.since(at - KNOWN).flatten();
            versions.into_iter().any(|node| is_healthy(node) && !is_cordoned(node))
        })
    }

    /// An operator sent a pod away.
    pub(crate) fn evicted(&mut self, (at, sent): (i64, i64), pod: &str) {
        let node = pod.trim_start_matches("on-");
        // It was sent while the node was still on its way, or before anybody could know that a kubelet had registered it anew.
        let just = self.arrived.get(node).is_some_and(|arrived| sent - self.slack <= *arrived);
        let gone = self.get(Kind::Node, node).is_none();
        if !self.begun.contains_key(node) && !just && !gone {
            let what = format!("{pod} was sent away from {node}, and no change was begun there");
            self.accuse(at, "DRAIN-2", what);
        }
    }
}
