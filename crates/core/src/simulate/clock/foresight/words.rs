//! How is told that a pool will stand in the way of an update? The day, the pool and its nodes, and the last window that helps (CV-3).

use crate::{
    document::format::duration_text,
    policy::stanza::Form,
    simulate::clock::{
        block::{Block, Rescue},
        plane::Hop,
    },
};

/// A pool that stands in the way of an update: what is foreseen, and what would help.
pub fn sentence(hop: &Hop, block: &Block) -> (String, String) {
    let (name, plane) = (&hop.update.name, hop.plane());
    let Block { pool, at, needs, .. } = block;
    let detail = format!(
        "the update to {name} could start at {at}, and {pool} will be in its way: {} {}, and {plane} supports {needs} and later",
        kubelets(block),
        versions(block)
    );
    (detail, hint(block))
}

/// What they are of. What cannot be read stays unknown, whatever was guessed to foresee anything at all.
fn versions(block: &Block) -> String {
    const UNREADABLE: &str = "a version that cannot be read";
    match (block.kubelet, block.unreadable) {
        (None, _) => UNREADABLE.to_owned(),
        (Some(kubelet), 0) => format!("Kubernetes {kubelet} then"),
        (Some(kubelet), _) => format!("Kubernetes {kubelet} then, or of {UNREADABLE}"),
    }
}

/// One node by name, two or three by theirs, more by their number.
fn kubelets(block: &Block) -> String {
    match block.nodes.as_slice() {
        [one] => format!("the kubelet of Node/{one} is of"),
        [one, other] => format!("the kubelets of Node/{one} and Node/{other} are of"),
        [one, other, third] => {
            format!("the kubelets of Node/{one}, Node/{other} and Node/{third} are of")
        }
        nodes => format!("the kubelets of {} of its {} nodes are of", nodes.len(), block.of),
    }
}

fn hint(block: &Block) -> String {
    let Block { pool, at, gate, stopped, rescue, .. } = block;
    // A policy that is set aside for good opens nothing, whatever its windows are.
    let aside = matches!(gate.form(), Form::Restrictive | Form::Permissive);
    let windows = match gate.named() {
        Some(policy) if !aside => policy.to_string(),
        Some(_) | None => format!("{pool}"),
    };
    let told = match rescue {
        Rescue::Window { start, begin_by, takes } => format!(
            "the last window of {windows} that still helps opens at {start}: the nodes take about {}, so the first must begin by {begin_by}",
            about(*takes)
        ),
        Rescue::TooShort { open, takes } => format!(
            "the windows of {windows} until then are open for {} in all, and the nodes take about {}: open it longer, or let more nodes be away at once",
            about(*open),
            about(*takes)
        ),
        Rescue::NoWindow { takes, open_by } => format!(
            "no window of {windows} opens before {at}: the nodes take about {}, so one has to open by {open_by}",
            about(*takes)
        ),
    };
    match stopped {
        Some(why) => format!("{why}; {told}"),
        None => told,
    }
}

/// A length in whole minutes, which is what anybody plans with.
fn about(seconds: i64) -> String {
    let minutes = (seconds.max(0) + 59) / 60 * 60;
    duration_text(u32::try_from(minutes).unwrap_or(u32::MAX))
}
