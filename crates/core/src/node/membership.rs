//! To which pool does a node belong? The answer alone: [`crate::pool::membership`] finds it, and drains and agents depend on it.

/// Where a node belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership<'a> {
    /// To the pool of this name.
    Of(&'a str),
    /// To none.
    Nowhere,
    /// Several pools claim it or may claim it, so it belongs to none of them.
    Disputed(Vec<&'a str>),
}
