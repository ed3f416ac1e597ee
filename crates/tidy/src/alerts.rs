//! Can every alert fire, has somebody seen it fire and stay silent, and does it tell what to do?
//!
//! The rules stand in `deploy/alerts`, their tests in `deploy/alerts/tests`. promtool runs the tests; what is asked here is what promtool
//! does not ask.

use api::metrics::{Form, METRICS};
use serde_json::Value;

use crate::{Finding, Tree, promql};

/// Where the rules are.
const RULES: &str = "deploy/alerts/";
/// Where their tests are.
const TESTS: &str = "deploy/alerts/tests/";
/// The page with a section for each alert.
pub const GUIDE: &str = "docs/guides/alerts.md";

/// One rule, with the file it stands in.
struct Rule<'a> {
    path: &'a str,
    rule: Value,
}

impl Rule<'_> {
    fn word(&self, field: &str) -> &str {
        self.rule[field].as_str().unwrap_or_default()
    }

    fn finding(&self, text: impl Into<String>) -> Finding {
        Finding::of(self.path, format!("{}: {}", self.word("alert"), text.into()))
    }
}

/// Every fault of the rules: series and labels that nobody serves, and an alert without severity, words or runbook.
pub fn check_rules(tree: &Tree) -> Vec<Finding> {
    let (rules, mut findings) = rules(tree);
    let recorded: Vec<String> = rules.iter().map(|rule| rule.word("record").to_owned()).collect();
    for rule in rules.iter().filter(|rule| !rule.word("alert").is_empty()) {
        let expression = rule.word("expr");
        findings.extend(promql::check(expression, &recorded).into_iter().map(|p| rule.finding(p)));
        if !["info", "warning", "critical"]
            .contains(&rule.rule["labels"]["severity"].as_str().unwrap_or_default())
        {
            findings.push(rule.finding("severity is info, warning or critical"));
        }
        for words in ["summary", "description", "runbook_url"] {
            let text = rule.rule["annotations"][words].as_str().unwrap_or_default();
            if text.is_empty() {
                findings.push(rule.finding(format!("has no {words}")));
            }
            let known = promql::labels_in(expression);
            let unknown = label_uses(text).filter(|label| !known.contains(label));
            findings.extend(unknown.map(|label| {
                rule.finding(format!("{words} shows the label {label}, which it never has"))
            }));
        }
        let section = format!("{GUIDE}#{}", rule.word("alert").to_lowercase());
        if !rule.rule["annotations"]["runbook_url"].as_str().unwrap_or_default().ends_with(&section)
        {
            findings.push(rule.finding(format!("runbook_url does not end in {section}")));
        }
        let heading = format!("## {}", rule.word("alert"));
        if !tree.text(GUIDE).unwrap_or_default().lines().any(|line| line == heading) {
            findings.push(rule.finding(format!("{GUIDE} has no section `{heading}`")));
        }
    }
    findings
}

/// Every alert that no test has seen fire, or none has seen stay silent.
pub fn check_tests(tree: &Tree) -> Vec<Finding> {
    let (rules, mut findings) = rules(tree);
    let (mut fired, mut silent) = (Vec::new(), Vec::new());
    for (path, text) in tree.ending(".yaml").filter(|(path, _)| path.starts_with(TESTS)) {
        let Ok(file) = parse(path, text).map_err(|finding| findings.push(finding)) else {
            continue;
        };
        let tests = list(&file["tests"]).flat_map(|test| list(&test["alert_rule_test"]));
        for test in tests {
            let name = test["alertname"].as_str().unwrap_or_default().to_owned();
            let expected = list(&test["exp_alerts"]).count();
            if expected > 0 { fired.push(name) } else { silent.push(name) }
        }
    }
    for rule in rules.iter().filter(|rule| !rule.word("alert").is_empty()) {
        let name = rule.word("alert");
        for (seen, what) in [(&fired, "fire"), (&silent, "stay silent")] {
            if !seen.iter().any(|alert| alert == name) {
                findings.push(rule.finding(format!("no test in {TESTS} sees it {what}")));
            }
        }
    }
    let known = |name: &&String| rules.iter().any(|rule| rule.word("alert") == **name);
    let unknown = fired.iter().chain(&silent).filter(|name| !known(name));
    findings.extend(unknown.map(|name| Finding::of(TESTS, format!("there is no alert {name}"))));
    findings
}

/// Every limit on a quantile that lies above the last bucket: a quantile never exceeds it, so such an alert could never fire.
pub fn check_buckets(tree: &Tree) -> Vec<Finding> {
    let (rules, mut findings) = rules(tree);
    let limit = |name: &str| {
        let rule = rules.iter().find(|rule| rule.word("record") == name)?;
        let seconds = rule.word("expr").strip_prefix("vector(")?.strip_suffix(')')?;
        seconds.parse::<f64>().ok()
    };
    for rule in rules.iter().filter(|rule| rule.word("expr").contains("histogram_quantile(")) {
        let asked = promql::read(rule.word("expr")).series;
        let limits: Vec<f64> = asked.iter().filter_map(|(name, _)| limit(name)).collect();
        let last = METRICS.iter().find_map(|metric| match metric.form {
            Form::Histogram(ends)
                if asked.iter().any(|(name, _)| name.starts_with(metric.name)) =>
            {
                ends.last()
            }
            _ => None,
        });
        let reachable = last.is_some_and(|last| limits.iter().all(|limit| limit < last));
        if limits.is_empty() || !reachable {
            findings.push(rule.finding("needs a limit below the last bucket of its histogram"));
        }
    }
    findings
}

/// The limits that the rules compare with: name and expression.
pub fn limits(tree: &Tree) -> Vec<(String, String)> {
    let (rules, _) = rules(tree);
    let recorded = rules.iter().filter(|rule| !rule.word("record").is_empty());
    recorded.map(|rule| (rule.word("record").to_owned(), rule.word("expr").to_owned())).collect()
}

fn rules(tree: &Tree) -> (Vec<Rule<'_>>, Vec<Finding>) {
    let (mut rules, mut findings) = (Vec::new(), Vec::new());
    let files = tree.ending(".yaml").filter(|(path, _)| path.starts_with(RULES));
    for (path, text) in files.filter(|(path, _)| !path.starts_with(TESTS)) {
        match parse(path, text) {
            Err(finding) => findings.push(finding),
            Ok(file) => {
                let found = list(&file["groups"]).flat_map(|group| list(&group["rules"]));
                rules.extend(found.map(|rule| Rule { path, rule: rule.clone() }));
            }
        }
    }
    if rules.is_empty() {
        findings.push(Finding::of(RULES, "holds no rule"));
    }
    (rules, findings)
}

fn parse(path: &str, text: &str) -> Result<Value, Finding> {
    serde_saphyr::from_str(text).map_err(|problem| Finding::of(path, problem.to_string()))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The labels that a text takes from an alert: `$labels.kind`.
fn label_uses(text: &str) -> impl Iterator<Item = &str> {
    text.split("$labels.")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
}

#[cfg(test)]
mod tests;
