//! Which series and labels does an expression of Prometheus ask for, and does anybody serve them?
//!
//! No grammar: promtool judges that. Names and labels are all that is read here, because a misspelt one is no error to Prometheus. It is
//! an alert that never fires, and a panel that stays empty.

use api::metrics::{Form, METRICS};

/// Labels that a scrape adds to whatever a program serves.
const OF_TARGETS: &[&str] =
    &["instance", "pod", "job", "service", "endpoint", "container", "namespace"];

/// Words after which labels stand in parentheses.
const GROUPING: &[&str] = &["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Words of the language that are neither a series nor a function.
const WORDS: &[&str] = &["and", "or", "unless", "bool", "offset", "inf", "nan"];

/// What an expression asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Each series, with the labels that it is selected by.
    pub series: Vec<(String, Vec<String>)>,
    /// The labels that results are grouped or joined by.
    pub grouping: Vec<String>,
}

/// Reads an expression.
pub fn read(expression: &str) -> Asked {
    let mut asked = Asked::default();
    let tokens = tokens(expression);
    let mut rest = &tokens[..];
    while let [first, after @ ..] = rest {
        let next = after.first().map_or("", String::as_str);
        rest = after;
        if GROUPING.contains(&first.as_str()) && next == "(" {
            let (labels, after) = until(")", &after[1..]);
            asked.grouping.extend(labels.iter().filter(|token| is_name(token)).cloned());
            rest = after;
        } else if is_name(first) && !WORDS.contains(&first.as_str()) && next != "(" {
            // An aggregation such as `sum by (kind) (...)` is told by the word after it.
            if !GROUPING.contains(&next) && !GROUPING.contains(&first.as_str()) {
                let (matchers, after) =
                    if next == "{" { until("}", &after[1..]) } else { (&[][..], after) };
                let labels = matchers.iter().filter(|token| is_name(token)).cloned();
                asked.series.push((first.clone(), labels.collect()));
                rest = after;
            }
        }
    }
    asked
}

/// What is wrong with an expression: series that nobody serves or records, and labels that they do not have.
pub fn check(expression: &str, recorded: &[String]) -> Vec<String> {
    let asked = read(expression);
    let mut problems = Vec::new();
    let mut known: Vec<&str> = OF_TARGETS.to_vec();
    for (name, selected) in &asked.series {
        let own = labels(name);
        if own.is_none() && !recorded.contains(name) {
            problems.push(format!("nobody serves {name}"));
        }
        let own = own.unwrap_or_default();
        let unknown = |label: &&String| {
            !own.contains(&label.as_str()) && !OF_TARGETS.contains(&label.as_str())
        };
        let unknown = selected.iter().filter(unknown);
        problems.extend(unknown.map(|label| format!("{name} has no label {label}")));
        known.extend(own);
    }
    if asked.series.is_empty() {
        problems.push("asks for no series".to_owned());
    }
    let unknown = asked.grouping.iter().filter(|label| !known.contains(&label.as_str()));
    problems.extend(unknown.map(|label| format!("nothing here has the label {label}")));
    problems
}

/// The labels of everything that an expression asks for, with those of its target.
pub fn labels_in(expression: &str) -> Vec<&'static str> {
    let asked = read(expression);
    let own = asked.series.iter().filter_map(|(name, _)| labels(name)).flatten();
    own.chain(OF_TARGETS.iter().copied()).collect()
}

/// The labels of a series that is served.
fn labels(series: &str) -> Option<Vec<&'static str>> {
    METRICS.iter().find_map(|metric| {
        let suffix = series.strip_prefix(metric.name)?;
        let own = metric.labels.to_vec();
        match (metric.form, suffix) {
            (Form::Gauge | Form::Counter, "") | (Form::Histogram(_), "_sum" | "_count") => {
                Some(own)
            }
            (Form::Histogram(_), "_bucket") => Some([own, vec!["le"]].concat()),
            _ => None,
        }
    })
}

/// Names, brackets and marks. Strings, numbers and everything in square brackets are left out.
fn tokens(expression: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            '[' => rest.find(']').map_or(rest.len(), |at| at + 1),
            // A number, with its unit: `5m` is no name.
            '0'..='9' | '.' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(rest.len())
            }
            _ if is_name(rest.get(..first.len_utf8()).unwrap_or_default()) => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
                let length = length.unwrap_or(rest.len());
                tokens.push(rest[..length].to_owned());
                length
            }
            _ => {
                tokens.push(first.to_string());
                first.len_utf8()
            }
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == ':')
}

/// The tokens before the closing mark, and those after it.
fn until<'a>(mark: &str, tokens: &'a [String]) -> (&'a [String], &'a [String]) {
    let at = tokens.iter().position(|token| token == mark).unwrap_or(tokens.len());
    (&tokens[..at], tokens.get(at + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_labels_and_groups_are_read() {
        #[track_caller]
        fn check(expression: &str, series: &[(&str, &[&str])], grouping: &[&str]) {
            let asked = read(expression);
            let found: Vec<(&str, Vec<&str>)> = asked
                .series
                .iter()
                .map(|(name, labels)| (name.as_str(), labels.iter().map(String::as_str).collect()))
                .collect();
            let series: Vec<(&str, Vec<&str>)> =
                series.iter().map(|(name, labels)| (*name, labels.to_vec())).collect();
            assert_eq!(
                (found, asked.grouping),
                (series, grouping.iter().map(|&l| l.to_owned()).collect())
            );
        }

        check("up", &[("up", &[])], &[]);
        check("vector(86400)", &[], &[]);
        check("a == 1 and b > 2.5e3", &[("a", &[]), ("b", &[])], &[]);
        check(
            r#"rate(a_total{code=~"4..|b{x}",verb!="get"}[5m])"#,
            &[("a_total", &["code", "verb"])],
            &[],
        );
        check("sum by (kind, outcome) (a)", &[("a", &[])], &["kind", "outcome"]);
        check("sum(a) by (kind)", &[("a", &[])], &["kind"]);
        check("max without(instance, pod)(a{x='1'}) > 0", &[("a", &["x"])], &["instance", "pod"]);
        check(
            "a * on (kind) group_left (system) b",
            &[("a", &[]), ("b", &[])],
            &["kind", "system"],
        );
        check("a > scalar(tidegate:near:limit)", &[("a", &[]), ("tidegate:near:limit", &[])], &[]);
        check("time() - a offset 5m", &[("a", &[])], &[]);
    }

    #[test]
    fn what_nobody_serves_is_found() {
        #[track_caller]
        fn found(expression: &str, expect: &[&str]) {
            let recorded = ["tidegate:near:limit".to_owned()];
            assert_eq!(check(expression, &recorded), expect, "{expression}");
        }

        found("max without (instance, pod) (change_management_change_pending) == 2", &[]);
        found("tidegate_leader > scalar(tidegate:near:limit)", &[]);
        found("sum by (le) (rate(tidegate_reconcile_seconds_bucket[5m]))", &[]);
        found("tidegate_reconcile_seconds", &["nobody serves tidegate_reconcile_seconds"]);
        found("tidegate_leaders == 0", &["nobody serves tidegate_leaders"]);
        found(
            "tidegate_leader > scalar(tidegate:far:limit)",
            &["nobody serves tidegate:far:limit"],
        );
        found(
            r#"tidegate_policy_ready{system="x",namespace="n"}"#,
            &["tidegate_policy_ready has no label system"],
        );
        found("sum by (strategy) (tidegate_leader)", &["nothing here has the label strategy"]);
        found("vector(1)", &["asks for no series"]);
    }
}
