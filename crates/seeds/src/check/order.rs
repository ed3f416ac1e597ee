//! Did the oldest go first? Judged when room is reserved in the ledger, because that is when the choice is made (POOL-3).

use std::collections::BTreeMap;

use api::machine::names::{self, CURRENT_CONFIG, ZONE};
use serde_json::Value;

use super::{
    super::stage::Kind, Checker, is_cordoned, is_done, is_healthy, is_unavailable, noted, pool_of,
    target, told,
};

pub(super) const LEDGER: &str = names::LEDGER;

/// The nodes that a pool has begun, with where they go.
pub(super) fn ledger(pool: &Value) -> BTreeMap<String, String> {
    let written: Value = serde_json::from_str(noted(pool, LEDGER)).unwrap_or_default();
    // On masters the list stands beside the change that has begun.
    let written = written.as_array().or(written["nodes"].as_array()).cloned().unwrap_or_default();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    written.iter().map(|entry| (text(entry, "node"), text(entry, "config"))).collect()
}

impl Checker {
    pub(super) fn pool(
        &mut self,
        (at, sent): (i64, i64),
        name: &str,
        old: Option<&Value>,
        new: &Value,
    ) {
        self.behaves(at, &format!("MachineConfigPool/{name}"), &new["status"]["changeManagement"]);
        self.gated((at, sent), name, old, new);
        let Some(old) = old else { return };
        let (before, after) = (ledger(old), ledger(new));
        // Nobody can choose rightly among what they do not know yet.
        let settled = self
            .recent(Kind::Pool, name, sent)
            .iter()
            .all(|pool| pool.is_some_and(|pool| target(pool) == target(new)));
        if !settled || !self.readings((name, target(new)), (at, sent)).into_iter().all(|open| open)
        {
            return;
        }
        let reserved = after.iter().filter(|(node, config)| before.get(*node) != Some(config));
        let changed = |node: &str| self.objects[&(Kind::Node, node.to_owned())].changed();
        let mut wrong = Vec::new();
        for (node, config) in reserved {
            let Some(chosen) = self.get(Kind::Node, node) else { continue };
            // One that takes no workloads costs no room and may go first; and whether it does may not be known yet.
            if is_unavailable(chosen) || changed(node) >= sent - self.slack {
                continue;
            }
            let passed_over = self.members(name).find(|(other, waiting)| {
                !after.contains_key(*other)
                    && changed(other) < sent - self.slack
                    && is_done(waiting)
                    && is_healthy(waiting)
                    && !is_cordoned(waiting)
                    // Masters finish what they began, whatever is newest by now: who is there does not wait (CV-2).
                    && told(waiting) != target(new)
                    && told(waiting) != config
                    && self.rank(other, waiting) < self.rank(node, chosen)
            });
            if let Some((other, _)) = passed_over {
                wrong.push(format!("{node} was chosen although it was the turn of {other}"));
            }
        }
        for what in wrong {
            self.accuse(at, "POOL-3", what);
        }
    }

    /// Age of the configuration it runs, zone with none last, its own age, its name.
    fn rank(&self, name: &str, node: &Value) -> (String, bool, String, String, String) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        // One that another pool rendered tells nothing about age here: whoever comes from elsewhere is as old as can be.
        let current = noted(node, CURRENT_CONFIG);
        let own = current.starts_with(&format!("rendered-{}-", pool_of(node)));
        let config = self.get(Kind::Config, current).filter(|_| own);
        let age = config
            .map_or_else(String::new, |config| text(&config["metadata"]["creationTimestamp"]));
        let zone = text(&node["metadata"]["labels"][ZONE]);
        let created = text(&node["metadata"]["creationTimestamp"]);
        (age, zone.is_empty(), zone, created, name.to_owned())
    }
}
