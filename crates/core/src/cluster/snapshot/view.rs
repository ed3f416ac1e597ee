//! What does a decision about a pool look at? The pool, its nodes, what was rendered for it and what it selects, and what the rest of the
//! cluster says about it. The one place where a [`PoolView`] is made from what was seen.

use super::Snapshot;
use crate::pool::{
    PoolView, Stock, Topology,
    merge::Base,
    prune::{self, Fate, Needs},
    render::{Rendering, chosen, render},
    seen::SeenPool,
    target::{Shelf, Target},
};

impl Snapshot {
    /// What a decision about a pool looks at, for somebody who knows nothing but the cluster: the operator adds what it knows of itself.
    pub fn view<'a>(
        &'a self,
        pool: &'a SeenPool,
        rendering: &'a Rendering,
        base: &'a Base,
    ) -> PoolView<'a> {
        let stock = Stock {
            nodes: self.members(&pool.name),
            rendered: self.rendered().collect(),
            sources: chosen(pool, self.sources()),
        };
        PoolView {
            waits_for: self.waits_for(pool),
            control_plane_update: self.control_plane_update(),
            topology: match self.machines().nth(1) {
                None => Topology::Single,
                Some(_) => Topology::Several,
            },
            disputed: self.disputed(&pool.name).collect(),
            ..PoolView::new(pool, stock, rendering, base)
        }
    }

    /// What the sources of a pool come to.
    pub fn rendering(&self, pool: &SeenPool, base: &Base) -> Rendering {
        let mut rendered = self.rendered();
        let running = rendered.find(|config| pool.newest.as_ref() == Some(&config.name));
        render(pool, self.sources(), base, running)
    }

    /// The rendered configurations of a pool.
    pub fn shelf(&self, pool: &SeenPool) -> Shelf<'_> {
        Shelf::new(pool, self.rendered())
    }

    /// The name of the configuration that a pool goes to.
    pub fn target(&self, pool: &SeenPool) -> Option<&str> {
        let target = Target::of(pool, &self.shelf(pool), &mut Vec::new())?;
        Some(&target.config.name)
    }

    /// Which rendered configurations may be deleted, and why the rest may not (POOL-9).
    pub fn prune(&self) -> Vec<Fate<'_>> {
        let rendered: Vec<_> = self.rendered().collect();
        let needs = Needs {
            pools: self.pools().collect(),
            nodes: self.machines().map(|machine| &machine.node).collect(),
            sources: self.sources().collect(),
            update: self.control_plane_update(),
        };
        prune::prune(&rendered, &needs)
    }
}
