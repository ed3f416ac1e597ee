//! What do the sources of each pool come to? Remembered until a source changes: nodes report far more often than anybody configures.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use tidegate_core::{
    cluster::{
        seen::{Part, Seen},
        snapshot::Snapshot,
    },
    pool::{merge::Base, render::Rendering, seen::SeenPool, selector::Selector},
};

/// Renderings by the name of the pool.
#[derive(Debug, Default)]
pub(super) struct Renderings(RefCell<BTreeMap<String, Remembered>>);

/// A rendering, with all of the pool that it depends on.
#[derive(Debug)]
struct Remembered {
    configs: Selector,
    newest: Option<String>,
    rendering: Arc<Rendering>,
}

impl Renderings {
    /// What the sources of a pool come to.
    pub(super) fn of(&self, pool: &SeenPool, base: &Base, snapshot: &Snapshot) -> Arc<Rendering> {
        if let Some(known) = self.0.borrow().get(&pool.name)
            && known.configs == pool.configs
            && known.newest == pool.newest
        {
            return Arc::clone(&known.rendering);
        }
        let rendering = Arc::new(snapshot.rendering(pool, base));
        let remembered = Remembered {
            configs: pool.configs.clone(),
            newest: pool.newest.clone(),
            rendering: Arc::clone(&rendering),
        };
        self.0.borrow_mut().insert(pool.name.clone(), remembered);
        rendering
    }

    /// Something was learned or is gone: if it is a configuration, nothing that was remembered counts.
    pub(super) fn forget(&mut self, seen: &Seen) {
        if let Seen::Part(part) = seen
            && matches!(part.part, Part::Config(_))
        {
            self.0.get_mut().clear();
        }
    }
}
