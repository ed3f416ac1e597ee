//! Where do two transcripts differ?
//!
//! Each difference has a short name: the method, the real server's status, and where in the body the other server says something else,
//! such as `POST 201 /metadata/managedFields/*/manager`; or both statuses, such as `POST 422 not 400`. After two statuses that differ the
//! stores differ too, and nothing later is compared.

use std::collections::BTreeSet;

use serde_json::Value;

use super::RandomRequest;

/// The names of all differences between what a real server told and what another did.
pub fn differences(steps: &[RandomRequest], real: &[String], other: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (index, (real, other)) in real.iter().zip(other).enumerate() {
        if real == other {
            continue;
        }
        let method = steps.get(index).map_or("WATCH", |step| step.method);
        let (status, body) = real.split_once(' ').unwrap_or((real, ""));
        let (other_status, other_body) = other.split_once(' ').unwrap_or((other, ""));
        if status != other_status {
            names.insert(format!("{method} {status} not {other_status}"));
            return names;
        }
        let mut places = BTreeSet::new();
        match (serde_json::from_str(body), serde_json::from_str(other_body)) {
            (Ok(body), Ok(other_body)) => walk("", &body, &other_body, &mut places),
            _ => {
                places.insert("text".to_owned());
            }
        }
        names.extend(places.iter().map(|place| format!("{method} {status} {place}")));
    }
    if names.is_empty() && real.len() != other.len() {
        names.insert(format!("WATCH {} events not {}", real.len(), other.len()));
    }
    names
}

fn walk(at: &str, left: &Value, right: &Value, places: &mut BTreeSet<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => walk(&format!("{at}/{key}"), left, right, places),
                    _ => {
                        places.insert(format!("{at}/{key}"));
                    }
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right) {
                walk(&format!("{at}/*"), left, right, places);
            }
        }
        _ if left == right => {}
        _ => {
            places.insert(at.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(real: &[&str], other: &[&str], expected: &[&str]) {
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let step = RandomRequest {
            method: "POST",
            collection: "",
            path: String::new(),
            content_type: "",
            body: String::new(),
        };
        let found = differences(&[step], &owned(real), &owned(other));
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_difference_has_its_place() {
        check(&["200 {}"], &["200 {}"], &[]);
        check(
            &[r#"200 {"a":[{"b":1},{"b":2}]}"#],
            &[r#"200 {"a":[{"b":1},{"b":3}]}"#],
            &["POST 200 /a/*/b"],
        );
        check(&[r#"200 {"a":1}"#], &["200 {}"], &["POST 200 /a"]);
        check(&["404 none"], &["404 {}"], &["POST 404 text"]);
        check(&["400 {}", "ADDED {}"], &["405 {}", "GONE {}"], &["POST 400 not 405"]);
        check(
            &["200 {}", r#"ADDED {"a":1}"#],
            &["200 {}", r#"ADDED {"a":2}"#],
            &["WATCH ADDED /a"],
        );
        check(&["200 {}", "ADDED {}"], &["200 {}"], &["WATCH 2 events not 1"]);
    }
}
