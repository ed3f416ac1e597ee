//! What holds a whole pool back although its gate may be open, and who is told? (GATE-11)
//!
//! Whoever carries plans out starts nothing on knowledge that is too old, with a clock that is off, or on a server that was not seen
//! refusing. None of that is a fault of the pool, and all of it ends by itself or by somebody's hand elsewhere; until then the pool says
//! why what waits does not start.

use super::{PoolView, target::Target};
use crate::document::problem::{Code, FieldPath, Problem};

/// The reason for which nothing begins, while there is a node to begin. A reason without words is not told: it is over in a moment.
pub(crate) fn problem(view: &PoolView<'_>, target: Option<&Target<'_>>) -> Option<Problem> {
    let why = view.held_back.filter(|why| !why.is_empty())?;
    let target = target?.config.name.as_str();
    let wanted = view.nodes.iter().any(|node| node.desired != target);
    wanted.then(|| Problem::new(&FieldPath::root(), Code::NotAllowed, why))
}
