//! Which pool does a node belong to? At most one.
//!
//! The control plane wins over everything; a custom pool wins over `worker`, whose label its nodes usually carry too; two custom
//! pools are a contradiction, and then the node belongs to none. So it does while a pool may claim it whose selector cannot be read:
//! taken for one of another pool it would go through that pool's gate (GATE-12).

use api::machine::names;

use super::seen::{SeenNode, SeenPool};
use crate::node::membership::Membership;

/// The pool that a node belongs to.
pub fn membership<'a>(
    node: &SeenNode,
    pools: impl IntoIterator<Item = &'a SeenPool>,
) -> Membership<'a> {
    if node.labels.get(names::OPERATING_SYSTEM).is_some_and(|system| system == "windows") {
        return Membership::Nowhere;
    }
    let (mut claims, mut doubtful): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for pool in pools {
        if pool.nodes.chooses(&node.labels) {
            claims.push(&pool.name);
        } else if pool.nodes.may_choose(&node.labels) {
            doubtful.push(&pool.name);
        }
    }
    claims.sort_unstable();
    if claims.contains(&names::MASTER) {
        return Membership::Of(names::MASTER);
    }
    if !doubtful.is_empty() {
        claims.append(&mut doubtful);
        claims.sort_unstable();
        return Membership::Disputed(claims);
    }
    let custom: Vec<&str> = claims.iter().copied().filter(|name| is_custom(name)).collect();
    match (custom.as_slice(), claims.first()) {
        ([one], _) => Membership::Of(one),
        ([_, _, ..], _) => Membership::Disputed(custom),
        ([], Some(built_in)) => Membership::Of(built_in),
        ([], None) => Membership::Nowhere,
    }
}

/// Whether a pool is none of those that every cluster has.
pub(crate) fn is_custom(name: &str) -> bool {
    ![names::MASTER, names::WORKER, names::ARBITER].contains(&name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pool(name: &str) -> SeenPool {
        let label = format!("node-role.kubernetes.io/{name}");
        SeenPool::new(&json!({
            "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": {label: ""}}},
        }))
    }

    #[test]
    fn a_machine_belongs_to_one_pool_at_most() {
        let pools = [pool("worker"), pool("master"), pool("infra"), pool("gpu"), pool("arbiter")];
        let check = |roles: &[&str], system: &str, expected: Membership<'_>| {
            let mut labels = serde_json::Map::new();
            labels.insert(names::OPERATING_SYSTEM.into(), system.into());
            for role in roles {
                labels.insert(format!("node-role.kubernetes.io/{role}"), "".into());
            }
            let node = SeenNode::new(&json!({"metadata": {"name": "n", "labels": labels}}));
            assert_eq!(membership(&node, &pools), expected, "{roles:?}");
        };
        check(&["worker"], "linux", Membership::Of("worker"));
        check(&["worker", "infra"], "linux", Membership::Of("infra"));
        check(&["worker", "master", "infra"], "linux", Membership::Of("master"));
        check(&["infra", "gpu"], "linux", Membership::Disputed(vec!["gpu", "infra"]));
        check(&["arbiter"], "linux", Membership::Of("arbiter"));
        check(&["worker"], "windows", Membership::Nowhere);
        check(&["storage"], "linux", Membership::Nowhere);
    }

    /// GATE-12
    #[test]
    fn while_a_selector_cannot_be_read_nobody_else_gets_its_machines() {
        let mut pools = [pool("worker"), pool("master"), pool("infra")];
        let check = |pools: &[SeenPool], roles: &[&str], expected: Membership<'_>| {
            let labels: serde_json::Map<String, serde_json::Value> = roles
                .iter()
                .map(|role| (format!("node-role.kubernetes.io/{role}"), "".into()))
                .collect();
            let node = SeenNode::new(&json!({"metadata": {"name": "n", "labels": labels}}));
            assert_eq!(membership(&node, pools), expected, "{roles:?}");
        };
        let typo = |name: &str| {
            SeenPool::new(&json!({"metadata": {"name": name}, "spec": {"nodeSelector": {
                "matchExpressions": [{"key": "role", "operator": "exists"}]}}}))
        };
        pools[2] = typo("infra");
        let disputed = || Membership::Disputed(vec!["infra", "worker"]);
        check(&pools, &["worker", "infra"], disputed());
        check(&pools, &["worker"], disputed());
        check(&pools, &["worker", "master"], Membership::Of("master"));
        check(&pools, &["storage"], Membership::Disputed(vec!["infra"]));
        // What the server makes of a typo in `matchLabels`: nothing is left of it.
        pools[2] =
            SeenPool::new(&json!({"metadata": {"name": "infra"}, "spec": {"nodeSelector": {}}}));
        check(&pools, &["worker", "infra"], disputed());
        check(&pools, &["worker", "master"], Membership::Of("master"));
        // Masters that are workers too do not go through the gate of the workers either.
        pools = [pool("worker"), typo("master"), pool("infra")];
        check(&pools, &["worker", "master"], Membership::Disputed(vec!["master", "worker"]));
    }
}
