//! Is a verb a room of its own? No verb of the command names another one, in its tests neither: what two of them show is a view
//! (`crates/views`), and what two of them do stands beside `verbs.rs`.

use std::collections::BTreeSet;

use crate::{Finding, Tree, modules::behind};

/// Where the verbs are, a file or a folder each.
const VERBS: &str = "crates/tidegate/src/verbs/";

/// Every verb that names another.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let verbs = || {
        tree.ending(".rs").filter_map(|(path, text)| {
            let parts: Vec<&str> =
                path.strip_prefix(VERBS)?.trim_end_matches(".rs").split('/').collect();
            Some((path, parts, text))
        })
    };
    let names: BTreeSet<&str> =
        verbs().filter_map(|(_, parts, _)| parts.first().copied()).collect();
    let mut findings = Vec::new();
    for (path, parts, text) in verbs() {
        let up = "super::".repeat(parts.len());
        let mentioned: BTreeSet<&str> =
            behind(text, &["crate::verbs::", "verbs::", &up]).into_iter().collect();
        let others = names.intersection(&mentioned).filter(|other| !parts.starts_with(&[**other]));
        findings.extend(others.map(|other| {
            let what = format!(
                "names the verb {other}: move what both show to crates/views, or what both do beside verbs.rs"
            );
            Finding::of(path, what)
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(file: &str, text: &str) -> usize {
        let path = format!("{VERBS}{file}");
        let other = format!("{VERBS}next.rs");
        check(&Tree::of([(path.as_str(), text), (other.as_str(), "use super::{Listed, Verb};")]))
            .len()
    }

    #[test]
    fn verbs_that_live_in_each_other_are_found_however_they_are_written() {
        assert_eq!(count("explain.rs", "use super::{Listed, Verb, next::headline};"), 1);
        assert_eq!(
            count("calendar/grid.rs", "use crate::{\n    text,\n    verbs::next::heading,\n};"),
            1
        );
        assert_eq!(count("calendar/grid.rs", "use super::super::next;"), 1);
        assert_eq!(count("live.rs", "use crate::{edge::Edge, verbs::{self, next}};"), 1);
        assert_eq!(count("live.rs", "fn f() { crate::verbs::next::heading() }"), 1);
        assert_eq!(count("live/tests.rs", "use crate::verbs::next;"), 1);
    }

    #[test]
    fn a_verb_may_name_its_own_parts_and_the_table() {
        assert_eq!(count("next/parts.rs", "use super::super::next;\nuse crate::verbs::next;"), 0);
        assert_eq!(count("sandbox/live.rs", "use super::next; // a part of the sandbox"), 0);
        assert_eq!(count("tour.rs", "use crate::verbs;\nfn f() { verbs::command(); }"), 0);
        assert_eq!(count("tour.rs", "use views::windows;\n// crate::verbs::next"), 0);
    }
}
