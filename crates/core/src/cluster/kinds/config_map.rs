//! What of a `ConfigMap` do decisions read? A digest of what it holds for nodes: pools of hosted nodes are made of that (HOST-1).

use super::Row;
use crate::{cluster::seen::Part, hosted::hash};

/// What holds a configuration of hosted nodes. It is looked at only where hand-overs are let begin, so it is none of [`ALL`](super::ALL).
pub static CONFIG_MAP: Row =
    Row::part(api::kinds::CONFIG_MAP, |document| Part::Text(hash::text(document).map(Into::into)));
