//! Is every rule that we say is kept shown by a test that exists? A citation is no proof; a function that runs is.
//!
//! The third cell of a row in the section on invariants names, between backticks, test functions and files. Each is looked for: a name
//! without a slash must be a function with `#[test]` or `#[tokio::test]`, one with a slash a file or a folder of the repository. A row
//! needs at least one function, or a file of tests.

use std::collections::{BTreeMap, BTreeSet};

use super::{ARCHITECTURE, cited};
use crate::{Finding, Tree};

/// Every row whose third cell names nothing that runs, and every name in one that nothing answers to.
pub fn check_shown(tree: &Tree) -> Vec<Finding> {
    let tests = tests(tree);
    let mut findings = Vec::new();
    for (number, row) in rows(tree) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let shown = cells.get(2).copied().unwrap_or_default();
        let mut runs = false;
        for name in backticked(shown) {
            let known = if name.contains('/') {
                let holds_tests = tests.values().any(|files| {
                    files.iter().any(|file| *file == name || file.starts_with(&format!("{name}/")))
                });
                runs |= holds_tests;
                tree.holds(name)
            } else {
                runs |= tests.contains_key(name);
                tests.contains_key(name)
            };
            if !known {
                let text = format!("`{name}` is neither a test function nor a file");
                findings.push(Finding::at(ARCHITECTURE, number, text));
            }
        }
        if !runs {
            let text = "name a test function that shows it, between backticks, in the third cell";
            findings.push(Finding::at(ARCHITECTURE, number, text));
        }
    }
    findings
}

/// The rows of the section on invariants that begin with an id.
fn rows(tree: &Tree) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(tree.text(ARCHITECTURE).unwrap_or_default().lines()) {
        if let Some(heading) = line.strip_prefix("## ") {
            inside = heading.to_lowercase().contains("invariants");
        }
        let first = line.strip_prefix('|').and_then(|row| row.split('|').next());
        if inside && first.is_some_and(|cell| cited(cell).next().is_some()) {
            rows.push((number, line));
        }
    }
    rows
}

fn backticked(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Every test function, with the files that have one of its name.
fn tests(tree: &Tree) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in tree.ending(".rs") {
        let mut marked = false;
        for line in text.lines().map(str::trim) {
            if line == "#[test]" || line.starts_with("#[tokio::test") {
                marked = true;
            } else if let (true, Some(name)) = (marked, function(line)) {
                found.entry(name).or_default().insert(path);
                marked = false;
            } else if !line.starts_with("#[") && !line.starts_with("//") {
                marked = false;
            }
        }
    }
    found
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    rest.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cell: &str, expected: &[&str]) {
        let text = format!("## Invariants\n| id | kept by | shown by |\n| TIME-1 | x | {cell} |\n");
        let source = "#[test]\n#[should_panic]\nfn it_holds() {}\n\n/// TIME-1\nfn helper() {}\n\
                      #[tokio::test]\nasync fn it_waits() {}\n";
        let tree = Tree::of([
            (ARCHITECTURE, text.as_str()),
            ("crates/a/tests/x.rs", source),
            ("crates/a/src/y.rs", "//! TIME-1\nfn it_is_cited() {}\n"),
        ]);
        let found: Vec<String> = check_shown(&tree).into_iter().map(|one| one.text).collect();
        assert_eq!(found, expected, "{cell}");
    }

    #[test]
    fn a_rule_is_shown_by_a_test_that_exists() {
        let nothing = "name a test function that shows it, between backticks, in the third cell";
        check("`it_holds`", &[]);
        check("rows: `it_waits`; more in `crates/a/src/y.rs`", &[]);
        check("`crates/a/tests/x.rs`", &[]);
        check("`crates/a/tests`", &[]);
        // A citation, a helper, a file without tests and words are no proof.
        check("rows and scenarios", &[nothing]);
        check("`crates/a/src/y.rs`", &[nothing]);
        check("`helper`", &["`helper` is neither a test function nor a file", nothing]);
        check("`it_is_cited`", &["`it_is_cited` is neither a test function nor a file", nothing]);
        check(
            "`it_holds`, `crates/a/tests/gone.rs`",
            &["`crates/a/tests/gone.rs` is neither a test function nor a file"],
        );
    }
}
