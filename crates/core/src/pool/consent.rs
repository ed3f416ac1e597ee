//! May this one node go while the gate is shut? If an administrator named it, and the configuration it is to go to (POOL-7).
//!
//! The annotation holds the name of a rendered configuration and not a mere yes, so that it is spent once the node has it and never
//! lets the node go to something that came later.

use std::sync::Arc;

use super::seen::SeenNode;
use crate::gate::{Basis, Proof};

/// Proof that an administrator let a node go to a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent(Arc<str>);

impl Consent {
    /// The proof, if the node carries consent to this configuration.
    pub(crate) fn of(node: &SeenNode, config: &str) -> Option<Self> {
        (node.allowed.as_deref() == Some(config)).then(|| Self(node.name.as_str().into()))
    }
}

impl Proof for Consent {
    fn basis(&self) -> Basis {
        Basis::Consent(self.0.clone())
    }
}
