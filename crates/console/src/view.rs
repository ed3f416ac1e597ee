//! What is a page made from? What was seen of a cluster, what that comes to at an instant, and who looks.

use schedule::{Instant, Zone};
use tidegate_core::cluster::snapshot::Snapshot;
use views::{now::Now, status::Rows};

/// What a page is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// The instant.
    pub(crate) at: Instant,
    /// The zone in which times are told.
    pub(crate) zone: &'a Zone,
    /// The zones that are offered.
    pub(crate) zones: &'a [Zone],
    /// What was seen.
    pub(crate) snapshot: &'a Snapshot,
    /// A row for each resource and policy.
    pub(crate) rows: &'a Rows,
    /// What that comes to.
    pub(crate) now: &'a Now,
    /// What the cluster is called.
    pub(crate) place: &'a str,
    /// How well it is known.
    pub(crate) reading: &'a Reading,
    /// How fast its clock runs, where people can turn it.
    pub(crate) speed: Option<u32>,
    /// What forms show.
    pub(crate) token: &'a str,
}

/// How well a cluster is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The kinds that have not been listed yet.
    pub(crate) unread: Vec<&'static str>,
    /// The kinds that the person may not list.
    pub(crate) refused: Vec<&'static str>,
    /// The kinds that nodes and their configurations are of, and that are not known: what is said of pools is not true without them.
    pub(crate) lacking: Vec<&'static str>,
    /// Since when the API server has not confirmed what is known, if that is long.
    pub(crate) stale_since: Option<Instant>,
}
