//! Where do the nodes of a pool go, and what does a new one get? (POOL-4)
//!
//! The target is the configuration that somebody chose, or else the newest rendered one. A new node gets the target once one node
//! has proven it, or at once if whoever chose it said so; until then the newest configuration that a node has completed.

use std::collections::BTreeMap;

use schedule::Instant;

use super::{
    seen::{Pin, SeenNode, SeenPool, ValidAfter},
    source::Rendered,
};
use crate::document::problem::{Code, FieldPath, Problem, quoted};

/// Where the nodes of a pool go.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The configuration.
    pub config: &'a Rendered,
    /// Who chose it.
    pub choice: Choice,
}

/// Who chose a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nobody: it is the newest.
    Newest,
    /// Somebody did, by `spec.machineConfig`.
    Pinned(ValidAfter),
}

/// The rendered configurations of a pool, by name.
#[derive(Debug)]
pub struct Shelf<'a>(BTreeMap<&'a str, &'a Rendered>);

impl<'a> Shelf<'a> {
    /// The configurations that belong to a pool.
    pub fn new(pool: &SeenPool, rendered: impl IntoIterator<Item = &'a Rendered>) -> Self {
        let own = rendered.into_iter().filter(|config| config.pool == pool.name);
        Self(own.map(|config| (config.name.as_str(), config)).collect())
    }

    /// The configuration of this name.
    pub fn get(&self, name: &str) -> Option<&'a Rendered> {
        self.0.get(name).copied()
    }

    /// How old a configuration is, for comparison: one that is not known any more is older than all others.
    pub fn age(&self, name: &str) -> Instant {
        self.get(name).and_then(|config| config.created).unwrap_or(Instant::MIN)
    }

    /// Every configuration, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a Rendered> {
        self.0.values().copied()
    }

    /// The newest of some configurations.
    pub fn newest<'b>(&self, names: impl IntoIterator<Item = &'b str>) -> Option<&'a Rendered> {
        let known = names.into_iter().filter_map(|name| self.get(name));
        known.max_by(|a, b| (a.created, &a.name).cmp(&(b.created, &b.name)))
    }
}

impl<'a> Target<'a> {
    /// The target of a pool; none while there is nothing to go to, with a problem if somebody chose what does not exist.
    pub(crate) fn of(
        pool: &SeenPool,
        shelf: &Shelf<'a>,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let Some(Pin { name, valid_after }) = &pool.pin else {
            let config = shelf.get(pool.newest.as_deref()?)?;
            return Some(Self { config, choice: Choice::Newest });
        };
        let config = shelf.get(name);
        if config.is_none() {
            let path = FieldPath::of("spec.machineConfig.name");
            let detail = format!("the pool has no rendered configuration {}", quoted(name));
            problems.push(
                Problem::new(&path, Code::NotAllowed, detail).hint(
                    "name one that exists, or remove spec.machineConfig to follow the newest",
                ),
            );
        }
        Some(Self { config: config?, choice: Choice::Pinned(*valid_after) })
    }

    /// Whether somebody chose it.
    pub fn is_pinned(&self) -> bool {
        matches!(self.choice, Choice::Pinned(_))
    }
}

/// What a new node gets, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The rendered configuration.
    pub config: String,
    /// Why this one.
    pub why: Why,
}

/// Why a new node gets a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A node runs the target.
    Proven,
    /// Whoever chose the target asked for it to be used at once.
    Immediate,
    /// No node runs the target yet; this is the newest that one has completed.
    LastProven,
    /// No node has completed anything that is still known; this is what all nodes last had.
    LastConverged,
    /// There is nothing older: the first nodes prove the target themselves.
    First,
}

/// What a new node of a pool gets; nothing before the pool was first rendered.
pub fn served(
    pool: &SeenPool,
    nodes: &[&SeenNode],
    target: Option<&Target<'_>>,
    shelf: &Shelf<'_>,
) -> Option<Served> {
    let serve = |config: &str, why| Some(Served { config: config.to_owned(), why });
    let done = || nodes.iter().filter(|node| node.is_done()).map(|node| node.current.as_str());
    if let Some(target) = target {
        if done().any(|current| current == target.config.name) {
            return serve(&target.config.name, Why::Proven);
        }
        if target.choice == Choice::Pinned(ValidAfter::Immediate) {
            return serve(&target.config.name, Why::Immediate);
        }
    }
    if let Some(proven) = shelf.newest(done()) {
        return serve(&proven.name, Why::LastProven);
    }
    if let Some(converged) = pool.converged.as_deref().and_then(|name| shelf.get(name)) {
        return serve(&converged.name, Why::LastConverged);
    }
    target.and_then(|target| serve(&target.config.name, Why::First))
}
