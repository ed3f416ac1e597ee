//! Each check of the rules, shown an example it must refuse.

use super::*;

const LISTED: (&str, &str) =
    (LIST, "# Rules.\n\nTIME-1  Windows are half open.\nTIME-2  One set answers everything.\n");

fn texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn ids_are_read_from_prose() {
    let ids = |line: &str| cited(line).map(|id| id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids("see TIME-1, (TIME-12) and INV-POOL-3."), ["TIME-1", "TIME-12", "POOL-3"]);
    assert_eq!(ids("D4-1 of an earlier design"), ["D4-1"]);
    assert_eq!(ids("P-1 time-1 TIME- TIME-x TIME-1b TIME-007 2026-11-15"), [""; 0]);
}

#[test]
fn list_must_be_whole() {
    let list = |text: &str| texts(&check_list(&Tree::of([(LIST, text)])));
    assert_eq!(list(LISTED.1), [""; 0]);
    assert_eq!(list("TIME-1 short"), [format!("{LIST}:1: TIME-1 needs a sentence")]);
    assert_eq!(list("time one"), [format!("{LIST}:1: write `FAMILY-1  What the rule says.`")]);
    let gap = format!("{}TIME-4  A rule after a gap.\n", LISTED.1);
    assert_eq!(list(&gap), [format!("{LIST}:5: TIME-4 follows TIME-2: number without gaps")]);
    assert_eq!(texts(&check_list(&Tree::default())), [format!("{LIST}: missing")]);
}

#[test]
fn citation_of_an_unknown_rule_is_found() {
    let tree = Tree::of([LISTED, ("crates/a/src/x.rs", "//! TIME-2, UTF-8\n// TIME-3\n")]);
    assert_eq!(
        texts(&check_citations(&tree)),
        [format!("crates/a/src/x.rs:2: TIME-3 is not in {LIST}")]
    );
}

#[test]
fn kept_rules_are_the_first_cells_of_the_section_on_invariants() {
    let text = "## Map\n| TIME-9 | x |\n## 8. Invariants\n| id | where |\n|---|---|\n| `TIME-1` to `TIME-3` | TIME-8 |\n| POOL-1 | x |\n## Next\n| TIME-7 |\n";
    let ids: Vec<String> =
        kept(&Tree::of([(ARCHITECTURE, text)])).iter().map(|(_, id)| id.to_string()).collect();
    assert_eq!(ids, ["TIME-1", "TIME-2", "TIME-3", "POOL-1"]);
}

#[track_caller]
fn check_sources(sources: &[(&str, &str)], expected: &[&str]) {
    let architecture = (ARCHITECTURE, "## Invariants\n| TIME-1 | half open |\n");
    let tree = Tree::of(sources.iter().copied().chain([LISTED, architecture]));
    assert_eq!(texts(&check_kept(&tree)), expected);
}

#[test]
fn kept_rule_needs_code_and_a_test() {
    let no_code = "ARCHITECTURE.md:2: TIME-1 is said to be kept, but no code cites it";
    let no_test = "ARCHITECTURE.md:2: TIME-1 is said to be kept, but no test cites it";
    let both = "//! Keeps TIME-1.\n#[cfg(test)]\n// TIME-1\n";
    check_sources(&[("crates/a/src/x.rs", both)], &[]);
    check_sources(
        &[("crates/a/src/x.rs", "//! TIME-1"), ("crates/a/src/x/tests.rs", "// TIME-1")],
        &[],
    );
    check_sources(
        &[("crates/a/src/x.rs", "//! TIME-1"), ("crates/a/tests/y.rs", "// TIME-1")],
        &[],
    );
    check_sources(&[("crates/a/src/x.rs", "//! TIME-1")], &[no_test]);
    check_sources(&[("crates/a/tests/y.rs", "// TIME-1")], &[no_code]);
    check_sources(&[], &[no_code, no_test]);
}

#[test]
fn kept_rule_must_be_listed() {
    let architecture = (ARCHITECTURE, "## Invariants\n| TIME-9 | x |\n");
    let tree = Tree::of([
        LISTED,
        architecture,
        ("crates/a/src/x.rs", "//! TIME-9\n#[cfg(test)]\n// TIME-9\n"),
    ]);
    assert_eq!(
        texts(&check_kept(&tree)),
        ["ARCHITECTURE.md:2: TIME-9 is not in docs/spec-ids.txt"]
    );
}
