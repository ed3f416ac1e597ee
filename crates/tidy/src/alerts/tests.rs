//! A good set of rules, and what is found when one thing is wrong with it.

use super::*;

const LIMITS: &str = "groups:\n- rules:\n  - {record: 'tidegate:late:limit', expr: vector(15)}\n";
const RULE: &str = "\
groups:
- rules:
  - alert: Late
    expr: histogram_quantile(0.99, rate(tidegate_edge_lateness_seconds_bucket[5m])) > scalar(tidegate:late:limit)
    labels: {severity: warning}
    annotations:
      summary: '{{ $labels.pod }} is late'
      description: Look.
      runbook_url: https://host/docs/guides/alerts.md#late
";
const SEEN: &str = "\
tests:
- alert_rule_test:
  - {alertname: Late, eval_time: 1m, exp_alerts: []}
  - alertname: Late
    exp_alerts:
    - exp_labels: {severity: warning}
";

/// Judges the good set after `from` was replaced by `to`.
#[track_caller]
fn check((from, to): (&str, &str), expect: &[&str]) {
    let changed = |text: &str| text.replace(from, to);
    let (limits, rule, seen, guide) =
        (changed(LIMITS), changed(RULE), changed(SEEN), changed("# Alerts\n\n## Late\n"));
    let tree = Tree::of([
        ("deploy/alerts/limits.yaml", limits.as_str()),
        ("deploy/alerts/operator.yaml", rule.as_str()),
        ("deploy/alerts/tests/operator.yaml", seen.as_str()),
        (GUIDE, guide.as_str()),
    ]);
    let found = [check_rules(&tree), check_tests(&tree), check_buckets(&tree)].concat();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expect.len(), "{found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.contains(expect), "{found} does not say: {expect}");
    }
}

#[test]
fn each_fault_of_a_rule_is_found() {
    check(("", ""), &[]);
    check(("lateness_seconds_bucket", "lateness"), &["nobody serves", "below the last bucket"]);
    check(("severity: warning}\n    ann", "severity: page}\n    ann"), &["severity is"]);
    check(("description: Look.", ""), &["has no description"]);
    check(("$labels.pod", "$labels.pot"), &["shows the label pot, which it never has"]);
    check(("alerts.md#late", "alerts.md#soon"), &["does not end in docs/guides/alerts.md#late"]);
    check(("## Late", "## Later"), &["has no section `## Late`"]);
}

#[test]
fn alert_that_no_test_has_seen_both_ways_is_found() {
    check(("exp_alerts: []}", "exp_alerts: [{}]}"), &["sees it stay silent"]);
    check(("    - exp_labels: {severity: warning}\n", ""), &["sees it fire"]);
    check(
        ("alertname: Late", "alertname: Gone"),
        &["sees it fire", "sees it stay silent", "no alert Gone", "no alert Gone"],
    );
}

#[test]
fn limit_that_no_quantile_can_reach_is_found() {
    check(("vector(15)", "vector(900)"), &["below the last bucket"]);
}
