//! What does a release bring to a pool? A configuration, and with it another kubelet; to the masters before anybody else may follow (CV-1).
//!
//! Masters go by the record of their update, as they do in a cluster (GATE-10): it is decided by the same functions, so the release is a
//! source that somebody generated, and what people wrote before it began rides along.

use std::collections::BTreeMap;

use api::machine::{MachineConfigSpec, names::MASTER};
use schedule::Instant;
use serde_json::json;

use super::{MAKE_BELIEVE, Pool, as_rendered};
use crate::{
    pool::{render::Rendering, source::Source, update::SeenUpdate},
    skew::{Kubernetes, Plane},
};

/// The source that a release is.
const RELEASE: &str = "make-believe release";

/// What configurations bring that are rendered from some instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulate) struct Brought {
    /// Which update of the path it belongs to, counted from one; none is what was there.
    pub(in crate::simulate) hop: usize,
    /// The kubelet in it; none if nobody knows.
    pub(in crate::simulate) kubelet: Option<Kubernetes>,
    /// Whether anybody can tell that: else it is a guess, because what the node reports cannot be read.
    pub(in crate::simulate) is_read: bool,
}

/// A release that comes to a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::simulate) struct Offer {
    /// When.
    pub(in crate::simulate) at: Instant,
    /// Its name; empty for what was there when the period began.
    pub(in crate::simulate) name: String,
    /// What it brings.
    pub(in crate::simulate) brought: Brought,
}

/// What a pool has of releases.
#[derive(Clone, Debug, Default)]
pub(in crate::simulate) struct Releases {
    /// What each node has reached, by its place.
    pub(in crate::simulate) reached: Vec<Brought>,
    /// Those that have come, the newest last: what is rendered now brings that.
    pub(in crate::simulate) offered: Vec<Offer>,
    /// Those that will come by themselves, the next one last.
    pub(in crate::simulate) planned: Vec<Offer>,
    /// What each configuration brings.
    pub(in crate::simulate) brings: BTreeMap<String, Brought>,
    /// Sources that are there because an update is.
    pub(in crate::simulate) sources: Vec<Source>,
    /// Whether an update has begun that has brought nothing yet.
    pub(in crate::simulate) is_awaited: bool,
}

impl Releases {
    /// Whether no release has come since the period began.
    pub(in crate::simulate) fn has_nothing_new(&self) -> bool {
        self.offered.len() < 2
    }

    pub(in crate::simulate) fn newest(&self) -> Option<Brought> {
        self.offered.last().map(|offer| offer.brought)
    }
}

impl Pool<'_> {
    /// Where nodes stand when the period begins: who does not say, or not so that it can be
    /// read, is taken to be where the control plane is.
    pub(in crate::simulate) fn count_releases(&mut self, current: Option<Plane>, start: Instant) {
        let kubelet = current.map(Plane::kubernetes);
        let there = Brought { hop: 0, kubelet, is_read: true };
        let own = self.nodes.iter().map(|node| match node.kubelet.parse().ok() {
            Some(kubelet) => Brought { kubelet: Some(kubelet), ..there },
            None => Brought { is_read: node.kubelet.is_empty(), ..there },
        });
        self.releases.reached = own.collect();
        self.releases.offered = vec![Offer { at: start, name: String::new(), brought: there }];
        if let Some(newest) = &self.seen.newest {
            self.releases.brings.insert(newest.clone(), there);
        }
    }

    /// An update of the control plane begins. The masters are told as `ClusterVersion` would tell.
    pub(in crate::simulate) fn begin_update(&mut self, release: &str, now: Instant) {
        if self.seen.name != MASTER {
            return;
        }
        let made = self.rendering.config.as_ref().into_iter().flat_map(|fresh| &fresh.sources);
        let made = made.filter(|(name, _)| name == MAKE_BELIEVE);
        let made = made.map(|(name, digest)| source(name, digest, None)).collect();
        self.releases.sources = made;
        self.releases.is_awaited = true;
        self.update = Some(SeenUpdate::new(&json!({
            "metadata": {"name": api::names::THE_CLUSTER},
            "status": {
                "desired": {"version": release},
                "history": [{"state": "Partial", "version": release, "startedTime": now.to_string()}],
            },
        })));
        self.wake = Some(now);
    }

    /// The release brings a configuration to the pool.
    pub(in crate::simulate) fn take_release(&mut self, offer: Offer) {
        let (name, now) = (offer.name.clone(), offer.at);
        self.releases.offered.push(offer);
        if self.nodes.is_empty() {
            return;
        }
        self.releases.is_awaited = false;
        self.line = None;
        self.forget_old_configs();
        self.wake = Some(now);
        let newest = self.seen.newest.as_deref();
        let known = self.rendered.iter().find(|config| Some(config.name.as_str()) == newest);
        let Some(known) = known else { return };
        let mut fresh = as_rendered(known);
        // One that others rendered does not say what is in it; the record of an update asks for that.
        if fresh.sources.is_empty() {
            let all =
                self.sources.iter().map(|source| (source.name.clone(), source.digest.clone()));
            fresh.sources.extend(all);
        }
        fresh.name = format!("rendered-{}-{name}", self.seen.name);
        fresh.sources.retain(|(source, _)| source != RELEASE);
        fresh.sources.push((RELEASE.to_owned(), name.clone()));
        self.rendering = Rendering { config: Some(fresh), problems: Vec::new() };
        if self.seen.name == MASTER {
            self.releases.sources.retain(|source| source.name != RELEASE);
            self.releases.sources.push(source(RELEASE, &name, Some(&name)));
        }
    }

    /// Whether an update is on its way through these nodes that began before, or that something else joined.
    pub(in crate::simulate) fn is_updating(&self) -> bool {
        let is_told = self.update.as_ref().is_some_and(|update| update.release.is_some());
        is_told && self.changes.last().is_some_and(|change| change.finished.is_none())
    }

    /// Whether all nodes have what an update of the path brings.
    pub(in crate::simulate) fn has_reached(&self, hop: usize) -> bool {
        self.releases.reached.iter().all(|reached| reached.hop >= hop)
    }

    /// Whether a node is too far behind for a control plane.
    pub(in crate::simulate) fn is_behind(&self, plane: Plane) -> bool {
        self.releases.reached.iter().any(|reached| too_old(*reached, plane).is_some())
    }

    /// The nodes that are too far behind for a control plane, each with its kubelet; none if that cannot be read.
    pub(in crate::simulate) fn behind(&self, plane: Plane) -> Vec<(String, Option<Kubernetes>)> {
        let nodes = self.nodes.iter().zip(&self.releases.reached);
        let behind = nodes.filter_map(|(node, reached)| {
            let kubelet = too_old(*reached, plane)?;
            Some((node.name.clone(), reached.is_read.then_some(kubelet)))
        });
        behind.collect()
    }

    /// A node runs another configuration, and with it the kubelet that is in it.
    pub(in crate::simulate) fn note_release(&mut self, place: usize) {
        let brought =
            self.nodes.get(place).and_then(|node| self.releases.brings.get(&node.current));
        if let (Some(brought), Some(reached)) = (brought, self.releases.reached.get_mut(place)) {
            *reached = *brought;
        }
    }
}

/// The kubelet of a node, if a control plane does not support one that old.
fn too_old(reached: Brought, plane: Plane) -> Option<Kubernetes> {
    reached.kubelet.filter(|kubelet| *kubelet < plane.oldest())
}

fn source(name: &str, digest: &str, generated_by: Option<&str>) -> Source {
    Source {
        name: name.to_owned(),
        labels: BTreeMap::new(),
        generated_by: generated_by.map(str::to_owned),
        bypass: None,
        spec: MachineConfigSpec::default(),
        digest: digest.to_owned(),
        changed: None,
        problems: Vec::new(),
    }
}
