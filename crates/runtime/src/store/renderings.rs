//! What do the sources of each pool come to? Remembered until a source changes: machines report far more often than anybody configures.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use tidegate_core::{
    pool::{
        merge::Base,
        render::{self, Rendering},
        seen::SeenPool,
        selector::Selector,
        source::SeenConfig,
    },
    seen::{Part, Seen},
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
    pub(super) fn of<'a, C: Iterator<Item = &'a SeenConfig>>(
        &self,
        pool: &SeenPool,
        base: &Base,
        configs: impl Fn() -> C,
    ) -> Arc<Rendering> {
        if let Some(known) = self.0.borrow().get(&pool.name)
            && known.configs == pool.configs
            && known.newest == pool.newest
        {
            return Arc::clone(&known.rendering);
        }
        let sources = configs().filter_map(|config| match config {
            SeenConfig::Source(source) => Some(source),
            SeenConfig::Rendered(_) => None,
        });
        let running = configs().find_map(|config| match config {
            SeenConfig::Rendered(rendered) => {
                (pool.newest.as_ref() == Some(&rendered.name)).then_some(rendered)
            }
            SeenConfig::Source(_) => None,
        });
        let rendering = Arc::new(render::render(pool, sources, base, running));
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
