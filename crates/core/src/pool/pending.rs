//! What waits in a pool, and what is under way? Judged against the newest rendered configuration, chosen or not (POOL-6).

use std::collections::{BTreeMap, BTreeSet};

use super::{PoolView, source::Rendered, target::Shelf};
use crate::{
    gate::permit::LEASE,
    node::diff::diff,
    pending::{Course, Pending},
};

/// How many sources, and how many fields, a sentence names.
const SHOWN: usize = 5;

/// What a pool has pending.
pub(crate) fn pending(view: &PoolView<'_>, shelf: &Shelf<'_>) -> Pending {
    let Some(newest) = view.pool.newest.as_deref() else { return Pending::default() };
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    let mut begun: BTreeMap<&str, usize> = BTreeMap::new();
    for node in view.nodes {
        if node.desired != newest && !node.is_silent() {
            *waiting.entry(&node.desired).or_default() += 1;
        }
        if node.current != node.desired && !node.desired.is_empty() {
            *begun.entry(&node.desired).or_default() += 1;
        }
    }
    let machines = view.nodes.len();
    let count: usize = waiting.values().sum();
    let text = || {
        let from = waiting.keys().filter_map(|name| shelf.get(name));
        let what = shelf.get(newest).map(|newest| described(from, newest)).unwrap_or_default();
        format!("{newest} on {count} of {machines} machines{what}")
    };
    Pending {
        waiting: if count == 0 { Vec::new() } else { vec![text()] },
        begun: begun
            .into_iter()
            .map(|(config, count)| format!("{config} on {count} of {machines} machines"))
            .collect(),
        course: Course::Gate,
        // A permit that no window cuts short ends a lease after the write it is for; one that a window does ends in that window, which
        // counts as permitted by itself.
        initiated: view
            .nodes
            .iter()
            .filter_map(|node| node.permit_until)
            .max()
            .map(|until| until.saturating_add(-LEASE)),
    }
}

/// Which sources, and which fields, differ between what machines have and the newest.
fn described<'a>(from: impl Iterator<Item = &'a Rendered>, newest: &'a Rendered) -> String {
    let mut sources = BTreeSet::new();
    let mut fields = BTreeSet::new();
    for config in from {
        for name in config.digests.keys().chain(newest.digests.keys()) {
            match (config.digests.get(name), newest.digests.get(name)) {
                (Some(before), Some(after)) if before != after => {
                    sources.insert(format!("{name} changed"));
                }
                (None, Some(_)) => {
                    sources.insert(format!("{name} added"));
                }
                (Some(_), None) => {
                    sources.insert(format!("{name} removed"));
                }
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        fields.extend(diff(&config.spec, &newest.spec).names());
    }
    let sources = listed(sources.into_iter());
    let fields = listed(fields.into_iter());
    match (sources.is_empty(), fields.is_empty()) {
        (true, true) => String::new(),
        (false, true) => format!(": {sources}"),
        (true, false) => format!(": {fields}"),
        (false, false) => format!(": {sources} ({fields})"),
    }
}

/// The first few, and how many more.
pub(crate) fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let count = names.len();
    let mut shown: Vec<String> = names.take(SHOWN).collect();
    if count > SHOWN {
        shown.push(format!("and {} more", count - SHOWN));
    }
    shown.join(", ")
}
