//! Which change? What decisions compare; the words for it are made in [`explain::change`](crate::gate::words).

use std::sync::Arc;

/// What something changes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeId {
    /// A release, by its version, or by its image where that is all that is known.
    Release(Arc<str>),
    /// A rendered configuration of nodes, by its name.
    Rendered(Arc<str>),
    /// A configuration of hosted nodes. Whoever renders it tells no name.
    Revision,
    /// A template of hosted nodes. Whoever renders it tells no name.
    Template,
}

impl ChangeId {
    /// To a release.
    pub fn release(name: &str) -> Self {
        Self::Release(name.into())
    }

    /// To a rendered configuration.
    pub fn rendered(name: &str) -> Self {
        Self::Rendered(name.into())
    }
}
