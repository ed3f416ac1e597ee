//! Do the rules, the code and the tests name each other?

use tidy::{Tree, spec, verify};

#[test]
fn list_of_rules_is_whole() {
    verify(&spec::check_list(&Tree::read().unwrap()));
}

#[test]
fn every_cited_rule_exists() {
    verify(&spec::check_citations(&Tree::read().unwrap()));
}

#[test]
fn every_kept_rule_has_code_and_a_test() {
    let tree = Tree::read().unwrap();
    assert!(
        !spec::kept(&tree).is_empty(),
        "ARCHITECTURE.md lists no kept rule in its section on invariants"
    );
    verify(&spec::check_kept(&tree));
}

/// A citation is no proof: each row of the table names tests that run.
#[test]
fn every_kept_rule_is_shown_by_a_test_that_exists() {
    verify(&spec::check_shown(&Tree::read().unwrap()));
}
