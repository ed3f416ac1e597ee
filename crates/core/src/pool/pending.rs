//! What waits in a pool, and what is under way? Judged against the newest rendered configuration, chosen or not (POOL-6).

use std::collections::BTreeMap;

use super::{PoolView, source::Rendered, target::Shelf};
use crate::{
    gate::{
        change::ChangeId,
        pending::{Course, Differences, Edit, Machines, Pending, UnderWay, Waiting},
        permit::LEASE,
    },
    node::diff::diff,
    skew::Foreseen,
};

/// What a pool has pending.
pub(crate) fn pending(view: &PoolView<'_>, shelf: &Shelf<'_>) -> Pending {
    let Some(newest) = view.pool.newest.as_deref() else { return Pending::default() };
    let mut waiting: BTreeMap<&str, i64> = BTreeMap::new();
    let mut begun: BTreeMap<&str, i64> = BTreeMap::new();
    for node in &view.nodes {
        if node.desired != newest && !node.is_silent() {
            *waiting.entry(&node.desired).or_default() += 1;
        }
        if node.current != node.desired && !node.desired.is_empty() {
            *begun.entry(&node.desired).or_default() += 1;
        }
    }
    let of = view.nodes.len() as i64;
    let count: i64 = waiting.values().sum();
    let lacking = || {
        let from = waiting.keys().filter_map(|name| shelf.get(name));
        let differences = shelf.get(newest).map(|newest| differences(from, newest));
        Waiting::Machines {
            to: ChangeId::rendered(newest),
            machines: Machines { count, of },
            differences: differences.unwrap_or_default(),
        }
    };
    let under_way = |(config, count): (&str, i64)| UnderWay {
        change: ChangeId::rendered(config),
        machines: Some(Machines { count, of }),
    };
    Pending {
        waiting: if count == 0 { Vec::new() } else { vec![lacking()] },
        begun: begun.into_iter().map(under_way).collect(),
        course: Course::Gate,
        // A permit that no window cuts short ends a lease after the write it is for; one that a window does ends in that window, which
        // counts as permitted by itself.
        initiated: view
            .nodes
            .iter()
            .filter_map(|node| node.permit_until)
            .max()
            .map(|until| until.saturating_add(-LEASE)),
        foreseen: Foreseen::NotAsked,
    }
}

/// Which sources, and which fields, differ between what nodes have and the newest.
fn differences<'a>(from: impl Iterator<Item = &'a Rendered>, newest: &'a Rendered) -> Differences {
    let mut found = Differences::default();
    for config in from {
        for name in config.digests.keys().chain(newest.digests.keys()) {
            let edit = match (config.digests.get(name), newest.digests.get(name)) {
                (Some(before), Some(after)) if before != after => Edit::Changed,
                (None, Some(_)) => Edit::Added,
                (Some(_), None) => Edit::Removed,
                (Some(_), Some(_)) | (None, None) => continue,
            };
            found.sources.insert((name.clone(), edit));
        }
        found.fields.extend(diff(&config.spec, &newest.spec).names());
    }
    found
}
