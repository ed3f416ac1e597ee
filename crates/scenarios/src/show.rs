//! What does a script show? Objects, reasons and metrics, in as few words as are needed to judge them.

use std::fmt::Write as _;

use schedule::Zone;
use serde_json::Value;
use tidegate_core::{
    cluster::overview::{self, Overridden},
    document::key,
    gate::words,
    policy::explain::Reason,
};

use super::live::Live;

/// What change management says about an object.
pub(crate) fn object(object: &Value) -> String {
    let status = &object["status"];
    let behavior = status.get("behavior").or_else(|| status.pointer("/changeManagement/behavior"));
    let mut shown = String::new();
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or("-").to_owned();
    match behavior {
        None => shown.push_str("no behavior\n"),
        Some(behavior) => {
            let current = &behavior["current"];
            let _ = writeln!(
                shown,
                "{} from {} until {}: {}",
                text(current, "state"),
                text(current, "startTime"),
                text(current, "endTime"),
                text(current, "reason")
            );
            if let Some(next) = behavior.get("next").filter(|next| !next.is_null()) {
                let _ = writeln!(
                    shown,
                    "  then {} from {} until {}: {}",
                    text(next, "state"),
                    text(next, "startTime"),
                    text(next, "endTime"),
                    text(next, "reason")
                );
            }
            for past in behavior["history"].as_array().into_iter().flatten() {
                let _ = writeln!(
                    shown,
                    "  was {} from {} until {} ({})",
                    text(past, "state"),
                    text(past, "startTime"),
                    text(past, "endTime"),
                    text(past, "strategy")
                );
            }
        }
    }
    if let Some(told) = status.get("versionManagement").filter(|told| !told.is_null()) {
        let _ = writeln!(shown, "versionManagement: {told}");
    }
    for condition in status["conditions"].as_array().into_iter().flatten() {
        let _ = writeln!(
            shown,
            "{}={} {}: {}",
            text(condition, "type"),
            text(condition, "status"),
            text(condition, "reason"),
            text(condition, "message")
        );
    }
    shown
}

/// What waits and until when, one line for each resource: the table that `tidegate status` draws.
pub(crate) async fn overview(live: &Live) -> Result<String, String> {
    let world = live.snapshot().await;
    let mut shown = String::new();
    for seen in world.gated() {
        let row = overview::resource(&world, seen, live.now());
        let policy = row.policy.map_or_else(String::new, |policy| format!(" of {policy}"));
        let overridden = match row.overridden {
            Overridden::Yes => ", overridden",
            Overridden::No => "",
        };
        let until = row.behavior.current.end_time;
        let until = until.map_or_else(String::new, |until| format!(" until {until}"));
        let pending = match (row.pending.waiting.as_slice(), row.pending.begun.as_slice()) {
            ([], []) => "nothing waits".into(),
            ([], begun) => format!("under way: {}", words::joined(begun)),
            (waiting, _) => format!("waiting: {}", words::joined(waiting)),
        };
        let unmet = row.unmet.map_or_else(String::new, |why| format!("; would not start: {why}"));
        let _ = writeln!(
            shown,
            "{} {}{until}, {}{policy}{overridden}: {pending}{unmet}",
            row.object,
            row.verdict.state(),
            row.strategy.unwrap_or("no stanza"),
        );
    }
    Ok(shown)
}

/// When changes to a resource are permitted, from now on.
pub(crate) async fn windows(live: &Live, called: &str, length: i64) -> Result<String, String> {
    let world = live.snapshot().await;
    let object = key::named(called, None)?;
    let seen = world.resource(&object).ok_or("there is no such resource")?;
    let now = live.now();
    let mut shown = String::new();
    for span in world.gate(seen).set().spans(now..now.saturating_add(length)) {
        let _ = match (span.start.filter(|start| *start > now), span.end) {
            (Some(start), Some(end)) => writeln!(shown, "from {start} until {end}"),
            (Some(start), None) => writeln!(shown, "from {start} on"),
            (None, Some(end)) => writeln!(shown, "now, until {end}"),
            (None, None) => writeln!(shown, "always"),
        };
    }
    Ok(if shown.is_empty() { "none\n".into() } else { shown })
}

/// The tree of reasons of a resource (GATE-9).
pub(crate) async fn reasons(live: &Live, called: &str) -> Result<String, String> {
    let world = live.snapshot().await;
    let object = key::named(called, None)?;
    let seen = world.resource(&object).ok_or("there is no such resource")?;
    let mut shown = String::new();
    draw(&world.explain(seen, live.now()), 0, &mut shown);
    Ok(shown)
}

fn draw(reason: &Reason, depth: usize, shown: &mut String) {
    let until = reason.until.map_or_else(String::new, |until| format!(" until {until}"));
    let indent = "  ".repeat(depth);
    let _ = writeln!(
        shown,
        "{indent}{}{until}: {}",
        reason.verdict.as_str(),
        reason.text(&Zone::utc())
    );
    reason.because.iter().for_each(|reason| draw(reason, depth + 1, shown));
}

/// The five metrics of a resource (METR-1, METR-2).
pub(crate) fn metrics(live: &Live, called: &str) -> Result<String, String> {
    let object = key::named(called, None)?;
    let name = format!("object=\"{}\"", object.name);
    let kind = format!("kind=\"{}\"", object.kind().name);
    let page = live.page();
    let lines = page.lines().filter(|line| {
        line.starts_with("change_management_") && line.contains(&name) && line.contains(&kind)
    });
    Ok(joined(lines))
}

/// Every sample of a metric.
pub(crate) fn metric(live: &Live, name: &str) -> String {
    let page = live.page();
    let lines = page.lines().filter(|line| line.split(['{', ' ']).next() == Some(name));
    joined(lines)
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}
