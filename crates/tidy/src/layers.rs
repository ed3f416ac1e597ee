//! Do all arrows between crates descend? (LAYER-1)
//!
//! An arrow goes to a strictly lower layer, dev-dependencies included: a test that reaches up is a test in
//! the wrong crate. The test-only crates of the top layer may reach everything.

use std::collections::BTreeMap;

use crate::Finding;
use crate::graph::Member;

/// The layer of test-only crates.
const TOP: i64 = 6;

/// Every missing statement, and every arrow that goes up or sideways.
pub fn check(members: &[Member]) -> Vec<Finding> {
    let layers: BTreeMap<&str, Option<i64>> =
        members.iter().map(|member| (member.name.as_str(), member.layer)).collect();
    let mut findings = Vec::new();
    for member in members {
        let Some(layer) = member.layer.filter(|layer| (0..=TOP).contains(layer)) else {
            findings.push(Finding::of(
                &member.name,
                format!("state `layer` (0 to {TOP}) under [package.metadata.tidegate]"),
            ));
            continue;
        };
        for target in &member.arrows {
            let Some(Some(below)) = layers.get(target.as_str()) else {
                continue;
            };
            let descends = *below < layer || (layer == TOP && target != &member.name);
            if !descends {
                findings.push(Finding::of(
                    &member.name,
                    format!(
                        "layer {layer} depends on {target} of layer {below}: arrows descend, so move what both need down"
                    ),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, layer: impl Into<Option<i64>>, arrows: &[&str]) -> Member {
        Member {
            name: name.to_owned(),
            layer: layer.into(),
            arrows: arrows.iter().map(|&a| a.to_owned()).collect(),
            ..Member::default()
        }
    }

    #[track_caller]
    fn check_count(members: &[Member], expected: usize) {
        let findings = check(members);
        assert_eq!(findings.len(), expected, "{findings:?}");
    }

    #[test]
    fn descending_arrows_pass() {
        check_count(&[member("low", 0, &[]), member("high", 5, &["low"])], 0);
    }

    #[test]
    fn upward_and_sideways_arrows_are_found() {
        check_count(&[member("low", 0, &["high"]), member("high", 5, &[])], 1);
        check_count(&[member("a", 0, &["b"]), member("b", 0, &[])], 1);
    }

    #[test]
    fn top_layer_may_reach_everything() {
        check_count(
            &[
                member("tests", 6, &["more-tests", "low"]),
                member("more-tests", 6, &[]),
                member("low", 0, &[]),
            ],
            0,
        );
    }

    #[test]
    fn missing_or_absurd_layer_is_found() {
        check_count(&[member("a", None, &[])], 1);
        check_count(&[member("a", 7, &[])], 1);
    }
}
