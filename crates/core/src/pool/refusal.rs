//! Which machines does the server refuse to give their configuration, and what does it say?
//!
//! Somebody's admission rule, most likely: it will say the same tomorrow, and only people can do something about it. So it is told on the
//! pool, as long as the pool wants to go where the machine was refused to. The others go on (LIVE-3).

use std::collections::BTreeMap;

use super::{PoolView, target::Target};
use crate::problem::{Code, FieldPath, Problem};

/// Refusals by the name of the machine.
pub type Refusals = BTreeMap<String, Refusal>;

/// What was refused, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The configuration that the machine was to go to.
    pub config: String,
    /// What the server said the first time: its later words may hold a time, and a status must not change with it.
    pub said: String,
}

/// A problem for each machine of a pool that is refused what it is still to get.
pub(crate) fn problems(view: &PoolView<'_>, target: Option<&Target<'_>>) -> Vec<Problem> {
    let Some(target) = target.map(|target| target.config.name.as_str()) else { return Vec::new() };
    let wanted = view.nodes.iter().filter(|node| node.desired != target);
    wanted
        .filter_map(|node| Some((node, view.refusals.get(&node.name)?)))
        .filter(|(_, refusal)| refusal.config == target)
        .map(|(node, refusal)| {
            let (name, said) = (&node.name, &refusal.said);
            let detail = format!("the server refuses to let Node/{name} go to {target}: {said}");
            Problem::new(&FieldPath::root(), Code::NotAllowed, detail)
                .hint("change what refuses it, or take the machine out of the pool")
        })
        .collect()
}
