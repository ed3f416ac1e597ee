//! How far is a pool, and each of its nodes?

pub mod words;

use std::fmt::Write as _;

use api::kinds;
use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    cluster::{
        overview::{self, Row},
        phase::{self, Machine, Phase},
        snapshot::Snapshot,
    },
    document::key::Key,
    gate::words::each,
    policy::verdict::Verdict,
    pool::{queue::Queue, seen::SeenPool},
};

use crate::{
    drawing::{Colour, Style},
    items::Items,
    safe::printable,
    status::end,
    text,
};

/// How wide a bar of progress is.
const BAR: usize = 20;

/// A pool and how far it is.
#[derive(Clone, Debug)]
pub struct PoolProgress {
    /// What the pool is called.
    pub name: String,
    /// Its gate, and what waits behind it.
    pub row: Option<Row>,
    /// The configuration that it goes to.
    pub target: Option<String>,
    /// Its nodes, by name.
    pub nodes: Vec<NodeProgress>,
    /// Who of them goes next, and how many may be away; none while nobody knows where the pool goes.
    pub queue: Option<Queue>,
}

/// A node and how far it is.
#[derive(Clone, Debug)]
pub struct NodeProgress {
    /// What the node is called.
    pub name: String,
    /// How far it is.
    pub phase: Phase,
    /// What it has.
    pub current: String,
    /// What it goes to.
    pub desired: String,
    /// The failure domain it stands in.
    pub zone: Option<String>,
    /// Since when it is in this phase, where that is known.
    pub since: Option<Instant>,
    /// Whether it takes no workloads.
    pub away: bool,
}

impl PoolProgress {
    /// A pool of a cluster at an instant.
    pub fn new(pool: &SeenPool, snapshot: &Snapshot, at: Instant) -> Self {
        let row = snapshot.resource(&pool.key()).map(|seen| overview::resource(snapshot, seen, at));
        let node = |machine: Machine<'_>| NodeProgress {
            name: machine.node.name.clone(),
            since: phase::since(snapshot, pool, &machine),
            zone: machine.node.zone().map(str::to_owned),
            away: machine.node.is_unavailable(),
            phase: machine.phase,
            current: machine.node.current.clone(),
            desired: machine.node.desired.clone(),
        };
        Self {
            name: pool.name.clone(),
            row,
            target: snapshot.target(pool).map(str::to_owned),
            nodes: phase::machines(snapshot, pool).into_iter().map(node).collect(),
            queue: phase::queue(snapshot, pool, at),
        }
    }

    /// How many nodes have what the pool goes to.
    pub fn done(&self) -> usize {
        self.nodes.iter().filter(|node| node.phase == Phase::Done).count()
    }

    /// The same as a bar and as a number.
    pub fn bar(&self) -> String {
        bar(self.done(), self.nodes.len())
    }
}

/// Every pool of a cluster, or the one of a name.
pub fn pools(
    snapshot: &Snapshot,
    only: Option<&str>,
    at: Instant,
) -> Result<Vec<PoolProgress>, String> {
    if let Some(name) = only {
        find(snapshot, name)?;
    }
    Ok(all(snapshot, at).filter(|pool| only.is_none_or(|name| pool.name == name)).collect())
}

/// Every pool of a cluster.
pub fn all(snapshot: &Snapshot, at: Instant) -> impl Iterator<Item = PoolProgress> {
    snapshot.pools().map(move |pool| PoolProgress::new(pool, snapshot, at))
}

/// The pool of a name, or the sentence that says which there are.
pub fn find<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a SeenPool, String> {
    let names = || snapshot.pools().map(|pool| pool.name.as_str()).collect::<Vec<_>>().join(", ");
    snapshot.pool(name).ok_or_else(|| match names() {
        none if none.is_empty() => "this cluster has no machine config pools".into(),
        names => format!("there is no {}; the pools are {names}", key(name)),
    })
}

/// What names a pool.
pub fn key(pool: &str) -> Key {
    Key::new(&kinds::MACHINE_CONFIG_POOL, None, pool)
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Item<'a> {
    pool: &'a str,
    state: Option<&'static str>,
    target: Option<&'a str>,
    machines: usize,
    done: usize,
    pending: Vec<String>,
    nodes: Vec<Node<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    phase: &'static str,
    current: &'a str,
    desired: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

/// Pools for programs.
pub fn items(pools: &[PoolProgress]) -> Items<Item<'_>> {
    pools.iter().map(item).collect()
}

fn item(pool: &PoolProgress) -> Item<'_> {
    Item {
        pool: &pool.name,
        state: pool.row.as_ref().map(|row| row.verdict.state()),
        target: pool.target.as_deref(),
        machines: pool.nodes.len(),
        done: pool.done(),
        pending: pool.row.iter().flat_map(|row| each(&row.pending.waiting)).collect(),
        nodes: pool.nodes.iter().map(node_item).collect(),
    }
}

fn node_item(node: &NodeProgress) -> Node<'_> {
    let NodeProgress { name, phase, current, desired, .. } = node;
    Node { name, phase: phase.as_str(), current, desired, detail: phase.detail() }
}

/// Pools for people.
pub fn drawing(pools: &[PoolProgress], at: Instant, colour: Colour) -> String {
    if pools.is_empty() {
        return "this cluster has no machine config pools\n".into();
    }
    pools.iter().map(|pool| drawn(pool, at, colour)).collect::<Vec<_>>().join("\n")
}

fn drawn(pool: &PoolProgress, at: Instant, colour: Colour) -> String {
    let mut text = colour.paint(Style::Strong, &format!("{}", key(&pool.name)));
    let _ = write!(text, "  {}", pool.bar());
    if let Some(target) = &pool.target {
        let _ = write!(text, "  to {}", printable(target));
    }
    text.push('\n');
    if let Some(row) = &pool.row {
        let current = &row.behavior.current;
        let style = match row.verdict {
            Verdict::Permitted => Style::Open,
            Verdict::Held | Verdict::CannotTell => Style::Paused,
        };
        let until = end(row)
            .map_or_else(String::new, |end| format!(" until {end}, {}", text::relative(end, at)));
        let word = colour.paint(style, row.verdict.state());
        let _ = writeln!(text, "  {word}{until}: {}", printable(&current.reason));
        for waiting in &row.pending.waiting {
            let _ = writeln!(text, "  pending: {}", printable(&waiting.to_string()));
        }
    }
    let mut rows =
        vec![vec!["NODE".to_owned(), "PHASE".to_owned(), "CONFIG".to_owned(), "DETAIL".to_owned()]];
    for node in &pool.nodes {
        let config = if node.current == node.desired {
            node.current.clone()
        } else {
            format!("{} -> {}", node.current, node.desired)
        };
        rows.push(vec![
            printable(&node.name),
            node.phase.as_str().to_owned(),
            printable(&config),
            printable(node.phase.detail().unwrap_or_default()),
        ]);
    }
    if rows.len() > 1 {
        text.push_str(&text::table(2, &rows));
    }
    text
}

/// How many of how many, as a bar and as a number.
fn bar(done: usize, all: usize) -> String {
    let filled = (done * BAR).checked_div(all).unwrap_or(0);
    format!("{}{} {done}/{all}", "█".repeat(filled), "░".repeat(BAR - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_when_all_are_done() {
        assert_eq!(bar(0, 0), format!("{} 0/0", "░".repeat(20)));
        assert_eq!(bar(12, 12), format!("{} 12/12", "█".repeat(20)));
        assert_eq!(bar(11, 12), format!("{}░░ 11/12", "█".repeat(18)));
    }
}
