//! A feed that calendar programs subscribe to (RFC 5545).
//!
//! Each window is an event with instants in UTC and not a recurrence: exclusions cut windows in ways that rules cannot say, and an
//! instant means the same to every reader. An event keeps its UID as long as its policy and its start stay, so that a changed
//! window moves instead of appearing twice.

use std::ops::Range;

use schedule::Instant;
use tidegate_core::{
    document::problem::Object,
    policy::{exclusion::When, explain, forecast::clipped, read::Policy},
};

use super::excluded_when;

/// Writes the feed of all policies.
pub fn feed(policies: &[&Policy], range: &Range<Instant>, now: Instant) -> String {
    let names: Vec<String> =
        policies.iter().filter_map(|policy| policy.object.name.clone()).collect();
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".into(),
        "PRODID:-//Tidegate//Maintenance windows//EN".into(),
        "CALSCALE:GREGORIAN".into(),
        "METHOD:PUBLISH".into(),
        format!("X-WR-CALNAME:{}", escaped(&format!("Maintenance windows: {}", names.join(", ")))),
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H".into(),
        "X-PUBLISHED-TTL:PT1H".into(),
    ];
    for policy in policies {
        windows(policy, range, now, &mut lines);
        exclusions(policy, range, now, &mut lines);
    }
    lines.push("END:VCALENDAR".into());
    lines.iter().map(|line| folded(line)).collect()
}

fn windows(policy: &Policy, range: &Range<Instant>, now: Instant, lines: &mut Vec<String>) {
    let name = policy.object.name.as_deref().unwrap_or_default();
    for span in policy.lowered.set.spans(range.clone()) {
        // A feed has no room for "always": a window without an edge is cut where the feed begins or ends.
        let shown = clipped(&span, range);
        let start = span.start.unwrap_or(shown.start);
        let end = span.end.unwrap_or(shown.end);
        let reason = explain::sentence(&policy.lowered, start);
        let place = span.start.map_or_else(|| "always".into(), stamp);
        lines.extend([
            "BEGIN:VEVENT".to_owned(),
            format!("UID:window-{place}-{}", uid(&policy.object)),
            format!("DTSTAMP:{}", stamp(now)),
            format!("DTSTART:{}", stamp(start)),
            format!("DTEND:{}", stamp(end)),
            format!("SUMMARY:{}", escaped(&format!("Changes permitted: {name}"))),
            format!("DESCRIPTION:{}", escaped(&format!("{}: {reason}", policy.object))),
            "CATEGORIES:MAINTENANCE".into(),
            "TRANSP:TRANSPARENT".into(),
            "END:VEVENT".into(),
        ]);
    }
}

/// Whole days are days to a calendar program; everything else is instants, and each run of what recurs an event of its own.
fn exclusions(policy: &Policy, range: &Range<Instant>, now: Instant, lines: &mut Vec<String>) {
    let zone = &policy.lowered.zone;
    let name = policy.object.name.as_deref().unwrap_or_default();
    for exclusion in policy.lowered.parts.exclusions() {
        let reason = exclusion.reason.as_deref().unwrap_or("no reason given");
        let when = excluded_when(exclusion, zone);
        for span in exclusion.spans(range) {
            let shown = clipped(&span, range);
            let [place, start, end] = match &exclusion.when {
                When::Days { from, until, .. } => {
                    let [from, until] = [from, until].map(|date| date.to_string().replace('-', ""));
                    [
                        from.clone(),
                        format!("DTSTART;VALUE=DATE:{from}"),
                        format!("DTEND;VALUE=DATE:{until}"),
                    ]
                }
                When::Instants(_) | When::Recurring { .. } => {
                    let start = stamp(span.start.unwrap_or(shown.start));
                    let end = stamp(span.end.unwrap_or(shown.end));
                    [start.clone(), format!("DTSTART:{start}"), format!("DTEND:{end}")]
                }
            };
            lines.extend([
                "BEGIN:VEVENT".to_owned(),
                format!("UID:exclusion-{place}-{}", uid(&policy.object)),
                format!("DTSTAMP:{}", stamp(now)),
                start,
                end,
                format!("SUMMARY:{}", escaped(&format!("No changes: {reason} ({name})"))),
                format!(
                    "DESCRIPTION:{}",
                    escaped(&format!("{}: {when} excluded: {reason}", policy.object))
                ),
                "CATEGORIES:FREEZE".into(),
                "TRANSP:TRANSPARENT".into(),
                "END:VEVENT".into(),
            ]);
        }
    }
}

/// The part of an identity that the policy gives.
fn uid(object: &Object) -> String {
    let parts = [Some(object.kind.as_str()), object.namespace.as_deref(), object.name.as_deref()];
    let words: Vec<&str> = parts.into_iter().flatten().collect();
    format!("{}@tidegate", words.join("-").to_lowercase())
}

/// `20261121T190000Z`.
fn stamp(at: Instant) -> String {
    at.to_string().replace(['-', ':'], "")
}

/// A text value (RFC 5545, section 3.3.11).
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A content line, broken so that no line is longer than 75 octets and no character is torn (section 3.1).
fn folded(line: &str) -> String {
    let mut text = String::new();
    let mut used = 0;
    for c in line.chars() {
        if used + c.len_utf8() > 75 {
            text.push_str("\r\n ");
            used = 1;
        }
        text.push(c);
        used += c.len_utf8();
    }
    text + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_between_characters() {
        let line = format!("SUMMARY:{}", "ü".repeat(100));
        let text = folded(&line);
        assert!(text.lines().all(|line| line.len() <= 75), "{text}");
        assert_eq!(text.replace("\r\n ", "").trim_end(), line);
        assert_eq!(folded(&"x".repeat(75)), "x".repeat(75) + "\r\n");
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a, b; c\\d\ne\u{7}"), "a\\, b\\; c\\\\d\\ne");
    }
}
