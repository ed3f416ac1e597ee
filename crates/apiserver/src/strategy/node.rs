//! What may a node say?

use std::{collections::BTreeSet, net::IpAddr};

use serde_json::{Value, json};

use crate::{meta, name, status::Cause};

/// On an update the real server judges the taints twice, and says so twice.
pub(super) fn problems(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = taint_problems(object);
    if old.is_some() {
        causes.extend(causes.clone());
    }
    let ranges = meta::at(object, &["spec", "podCIDRs"]).and_then(Value::as_array);
    for (index, range) in ranges.into_iter().flatten().filter_map(Value::as_str).enumerate() {
        if !is_range(range) {
            let why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            let field = format!("spec.podCIDRs[{index}]");
            causes.push(Cause::invalid(field, &format!("{range:?}"), why));
        }
    }
    for (key, name) in [("podCIDRs", "podCIDR"), ("providerID", "providerID")] {
        let Some(was) = old.and_then(|old| meta::at(old, &["spec", key])) else { continue };
        if was != "" && meta::at(object, &["spec", key]) != Some(was) {
            let why = format!("node updates may not change {name} except from \"\" to valid");
            causes.push(Cause::forbidden(format!("spec.{key}"), &why));
        }
    }
    causes
}

fn is_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|length| length <= most)
}

fn taint_problems(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen = BTreeSet::new();
    let taints = meta::at(object, &["spec", "taints"]).and_then(Value::as_array);
    for (index, taint) in taints.into_iter().flatten().enumerate() {
        let at = format!("metadata.taints[{index}]");
        let text = |key: &str| taint.get(key).and_then(Value::as_str).unwrap_or_default();
        let (key, value, effect) = (text("key"), text("value"), text("effect"));
        for problem in name::qualified_problems(key) {
            causes.push(Cause::invalid(format!("{at}.key"), &format!("{key:?}"), &problem));
        }
        if !name::is_label_value(value) {
            let shown = format!("{value:?}");
            causes.push(Cause::invalid(format!("{at}.value"), &shown, name::LABEL_VALUE));
        }
        match effect {
            "NoSchedule" | "PreferNoSchedule" | "NoExecute" => {}
            "" => causes.push(Cause::required(format!("{at}.effect"), "")),
            other => {
                let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
                let shown = format!("{other:?}");
                causes.push(Cause::not_supported(format!("{at}.effect"), &shown, &known));
            }
        }
        if !seen.insert((key, effect)) {
            let added = taint.get("timeAdded").cloned().unwrap_or_default();
            let shown = json!({"Key": key, "Value": value, "Effect": effect, "TimeAdded": added})
                .to_string();
            let mut cause = Cause::duplicate(at, &shown);
            cause.message.push_str(": taints must be unique by key and effect pair");
            causes.push(cause);
        }
    }
    causes
}
