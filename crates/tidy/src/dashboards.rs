//! Does every panel of a dashboard ask for something that is served, and does every metric have its panel?

use api::metrics::METRICS;
use serde_json::Value;

use crate::{Finding, Tree, promql};

/// Metrics that no panel has to show; what is added here says why. None so far.
const WITHOUT_PANEL: &[&str] = &[];

/// Every metric that no panel of `deploy/dashboards` shows.
pub fn unshown(tree: &Tree) -> Vec<Finding> {
    let boards = tree.ending(".json").filter(|(path, _)| path.starts_with("deploy/dashboards/"));
    let boards = boards.filter_map(|(_, text)| serde_json::from_str::<Value>(text).ok());
    let asked: Vec<String> = boards.flat_map(|board| asked(&board)).collect();
    let is_shown = |name: &str| asked.iter().any(|expression| expression.contains(name));
    let missing = METRICS.iter().map(|metric| metric.name);
    let missing = missing.filter(|name| !is_shown(name) && !WITHOUT_PANEL.contains(name));
    missing.map(|name| Finding::of("deploy/dashboards", format!("no panel shows {name}"))).collect()
}

/// What the panels of a dashboard ask for.
fn asked(board: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let targets = list(&board["panels"]).into_iter().flat_map(|panel| list(&panel["targets"]));
    targets.filter_map(|target| target["expr"].as_str().map(str::to_owned)).collect()
}

/// Every query of `deploy/dashboards` that asks for a series or a label nobody serves, and every panel without words or without a query.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let boards = tree.ending(".json").filter(|(path, _)| path.starts_with("deploy/dashboards/"));
    let mut count = 0;
    for (path, text) in boards {
        count += 1;
        match serde_json::from_str::<Value>(text) {
            Err(problem) => findings.push(Finding::of(path, problem.to_string())),
            Ok(board) => {
                findings.extend(problems(&board).into_iter().map(|p| Finding::of(path, p)));
            }
        }
    }
    if count == 0 {
        findings.push(Finding::of("deploy/dashboards", "holds no dashboard"));
    }
    findings
}

fn problems(board: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let panels = list(&board["panels"]);
    let panels: Vec<&Value> = panels.iter().filter(|panel| panel["type"] != "row").collect();
    if panels.is_empty() {
        problems.push("has no panel".to_owned());
    }
    for panel in panels {
        let title = panel["title"].as_str().unwrap_or("a panel without a title");
        if panel["description"].as_str().unwrap_or_default().is_empty() {
            problems.push(format!("{title}: has no description"));
        }
        let targets = list(&panel["targets"]);
        if targets.is_empty() {
            problems.push(format!("{title}: asks for nothing"));
        }
        for target in targets {
            let expression = target["expr"].as_str().unwrap_or_default();
            problems.extend(check_query(expression).into_iter().map(|p| format!("{title}: {p}")));
            let known = promql::labels_in(expression);
            let legend = target["legendFormat"].as_str().unwrap_or_default();
            let shown = legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
            problems.extend(shown.filter(|label| !known.contains(label)).map(|label| {
                format!("{title}: the legend shows {label}, which is no label of it")
            }));
        }
    }
    for variable in list(&board["templating"]["list"]) {
        let query = variable["query"].as_str().unwrap_or_default();
        let Some(inner) = query.strip_prefix("label_values(").and_then(|q| q.strip_suffix(')'))
        else {
            continue;
        };
        let (selector, label) = inner.rsplit_once(", ").unwrap_or((inner, ""));
        let name = variable["name"].as_str().unwrap_or_default();
        problems.extend(check_query(selector).into_iter().map(|p| format!("${name}: {p}")));
        if !promql::labels_in(selector).contains(&label) {
            problems.push(format!("${name}: {selector} has no label {label}"));
        }
    }
    problems
}

fn check_query(expression: &str) -> Vec<String> {
    promql::check(expression, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{
        "templating": {"list": [{"name": "kind", "query": "label_values(tidegate_policy_ready, kind)"}]},
        "panels": [
            {"type": "row", "title": "Operator"},
            {"type": "stat", "title": "Leader", "description": "Who leads.",
             "targets": [{"expr": "max(tidegate_leader)", "legendFormat": "{{pod}}"}]}
        ]
    }"#;

    #[track_caller]
    fn found((from, to): (&str, &str), expect: &[&str]) {
        let text = GOOD.replace(from, to);
        let findings = check(&Tree::of([("deploy/dashboards/a.json", text.as_str())]));
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(findings.len(), expect.len(), "{findings:#?}");
        for (found, expect) in findings.iter().zip(expect) {
            assert!(found.contains(expect), "{found} does not say: {expect}");
        }
    }

    #[test]
    fn each_fault_of_a_panel_is_found() {
        found(("", ""), &[]);
        found(("max(tidegate_leader)", "max(leader)"), &["Leader: nobody serves leader"]);
        found(("{{pod}}", "{{pot}}"), &["the legend shows pot"]);
        found(("Who leads.", ""), &["Leader: has no description"]);
        found((r#""targets""#, r#""target""#), &["Leader: asks for nothing"]);
        found((r#""type": "stat""#, r#""type": "row""#), &["has no panel"]);
        found(
            ("ready, kind)", "ready, sort)"),
            &["$kind: tidegate_policy_ready has no label sort"],
        );
        found(
            ("label_values(tidegate_policy_ready", "label_values(policy"),
            &["nobody serves policy", "no label kind"],
        );
        found(("{", "["), &["deploy/dashboards/a.json"]);
    }

    #[test]
    fn a_metric_without_a_panel_is_found() {
        let found = unshown(&Tree::of([("deploy/dashboards/a.json", GOOD)]));
        assert_eq!(found.len(), METRICS.len() - 1, "all but who leads: {found:#?}");
        // The list of a variable shows nothing to anybody.
        assert!(
            found.iter().any(|it| it.to_string().ends_with("no panel shows tidegate_policy_ready"))
        );
    }

    #[test]
    fn absence_is_found() {
        assert_eq!(check(&Tree::default()).len(), 1);
    }
}
