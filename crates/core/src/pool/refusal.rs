//! Which nodes does the server refuse to give their configuration, and what does it say?
//!
//! Somebody's admission rule, most likely: it will say the same tomorrow, and only people can do something about it. So it is told on the
//! pool, as long as the pool wants to go where the node was refused to. The others go on (LIVE-3).

use api::kinds;

use super::{PoolView, target::Target};
use crate::{
    document::{
        key::Key,
        problem::{Code, FieldPath, Problem},
    },
    gate::change::ChangeId,
};

/// A problem for each node of a pool that is refused what it is still to get.
pub(crate) fn problems(view: &PoolView<'_>, target: Option<&Target<'_>>) -> Vec<Problem> {
    let Some(target) = target.map(|target| target.config.name.as_str()) else { return Vec::new() };
    let change = ChangeId::rendered(target);
    let wanted = view.nodes.iter().filter(|node| node.desired != target);
    wanted
        .filter_map(|node| {
            Some((node, view.refusals.get(&Key::new(&kinds::NODE, None, &node.name))?))
        })
        .filter(|(_, refusal)| refusal.change.as_ref() == Some(&change))
        .map(|(node, refusal)| {
            let (name, said) = (&node.name, &refusal.said);
            let detail = format!("the server refuses to let Node/{name} go to {target}: {said}");
            Problem::new(&FieldPath::root(), Code::NotAllowed, detail)
                .hint("change what refuses it, or take the node out of the pool")
        })
        .collect()
}
