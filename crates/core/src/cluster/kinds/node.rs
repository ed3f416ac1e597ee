//! What of a node do decisions read? What those do who give it a configuration, and those who empty it.

use super::Row;
use crate::{
    cluster::seen::{Part, SeenMachine},
    drain::node::Node,
    pool::seen::SeenNode,
};

/// A node.
pub static NODE: Row = Row::part(api::kinds::NODE, |document| {
    let (node, drain) = (SeenNode::new(document), Node::of(document));
    Part::Node(Box::new(SeenMachine { node, drain }))
});
