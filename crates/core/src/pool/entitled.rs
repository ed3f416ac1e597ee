//! Which configurations may the agent of a node read? Those that this node needs, and no others (NODE-3).
//!
//! A configuration holds keys and passwords, and whoever takes over a node has the token of its agent. So what counts is only what an
//! agent cannot write: the labels, which say to which pool the node belongs, and the order with its record, which the operator writes.
//! What a node is said to run proves nothing, because its agent says it.

use std::fmt;

use super::seen::{Order, SeenNode};
use crate::node::membership::Membership;

/// Why a node does not get a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEntitled {
    node: String,
    home: String,
    config: String,
    rendered_for: Option<String>,
}

impl fmt::Display for NotEntitled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, home, config, rendered_for } = self;
        match rendered_for {
            Some(pool) => write!(f, "MachineConfig/{config} is of MachineConfigPool/{pool}")?,
            None => write!(f, "MachineConfig/{config} was rendered for no pool")?,
        }
        write!(
            f,
            ", and Node/{node} {home}; its agent gets what is rendered for its own pool, and what the node is told to go to with the record of \
             a permit; hint: see which pools select the labels of the node"
        )
    }
}

/// Why the agent of a node does not get a configuration, which was rendered for this pool, if for any; none if it gets it.
pub fn refusal(
    node: &SeenNode,
    home: &Membership<'_>,
    config: &str,
    rendered_for: Option<&str>,
) -> Option<NotEntitled> {
    let is_ordered = node.order == Order::Given
        && node.desired == config
        && node.permit_change.as_deref() == Some(config);
    let is_of_its_pool = matches!(home, Membership::Of(pool) if rendered_for == Some(*pool));
    if is_ordered || is_of_its_pool {
        return None;
    }
    Some(NotEntitled {
        node: node.name.clone(),
        home: match home {
            Membership::Of(pool) => format!("belongs to MachineConfigPool/{pool}"),
            Membership::Nowhere => "belongs to no pool".to_owned(),
            Membership::Disputed(pools) => format!("is claimed by {}", pools.join(" and ")),
        },
        config: config.to_owned(),
        rendered_for: rendered_for.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// NODE-3
    #[test]
    fn an_agent_reads_what_its_own_machine_needs_and_nothing_else() {
        let check = |annotations: &[(&str, &str)],
                     home: &Membership<'_>,
                     config: &str,
                     rendered_for: Option<&str>,
                     expected: bool| {
            let annotations: serde_json::Map<String, serde_json::Value> =
                annotations.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
            let node =
                SeenNode::new(&json!({"metadata": {"name": "n1", "annotations": annotations}}));
            let refused = refusal(&node, home, config, rendered_for);
            assert_eq!(refused.is_none(), expected, "{node:?} {home:?} {config}: {refused:?}");
        };
        let (desired, current, record) = (
            api::machine::names::DESIRED_CONFIG,
            api::machine::names::CURRENT_CONFIG,
            api::machine::names::PERMIT_CHANGE,
        );
        let worker = Membership::Of("worker");
        // Its own pool's: also before anybody said anything, because a new node adopts what it was installed with.
        check(&[], &worker, "w1", Some("worker"), true);
        check(&[(current, "w1"), (desired, "w1")], &worker, "w1", Some("worker"), true);
        // Another pool's, whatever the agent says of itself.
        check(&[], &worker, "m1", Some("master"), false);
        check(&[(current, "m1")], &worker, "m1", Some("master"), false);
        check(
            &[(current, "m1"), (desired, "w1"), (record, "w1")],
            &worker,
            "m1",
            Some("master"),
            false,
        );
        // The operator's upkeep repeats what an agent said, without a record: that proves nothing either.
        check(&[(current, "m1"), (desired, "m1")], &worker, "m1", Some("master"), false);
        // An order with its record does, wherever the labels went since, and whoever rendered it.
        check(&[(desired, "i1"), (record, "i1")], &worker, "i1", Some("infra"), true);
        check(&[(desired, "i1"), (record, "i1")], &Membership::Nowhere, "i1", None, true);
        check(&[(desired, "i1"), (record, "i0")], &worker, "i1", Some("infra"), false);
        check(&[(desired, "i2"), (record, "i1")], &worker, "i1", Some("infra"), false);
        check(&[(record, "i1")], &worker, "i1", Some("infra"), false);
        check(&[(current, "i1"), (record, "i1")], &worker, "i1", Some("infra"), false);
        // What nobody rendered is a source, and a node needs none.
        check(&[], &worker, "50-motd", None, false);
        // A node of no pool, or of two, has nothing of its own.
        check(&[], &Membership::Nowhere, "w1", Some("worker"), false);
        check(&[], &Membership::Disputed(vec!["gpu", "infra"]), "i1", Some("infra"), false);
    }

    #[test]
    fn a_refusal_names_both_sides() {
        let node = SeenNode::new(&json!({"metadata": {"name": "n1"}}));
        let said = refusal(&node, &Membership::Of("worker"), "rendered-master-a", Some("master"));
        let said = said.unwrap().to_string();
        assert!(
            said.starts_with(
                "MachineConfig/rendered-master-a is of MachineConfigPool/master, and Node/n1 belongs to MachineConfigPool/worker; "
            ),
            "{said}"
        );
    }
}
