//! What does an edit of policies gain and lose?

use std::{collections::BTreeMap, fmt::Write as _, ops::Range};

use schedule::{Instant, Span, TimeSet, Zone};
use serde::Serialize;
use tidegate_core::{
    document::problem::Object,
    policy::{
        forecast::{self, GainAndLoss},
        read::Policy,
    },
};

use crate::{
    drawing::{Colour, Detail, Style},
    items::Named,
    safe::printable,
    text,
};

/// Two versions of one policy, and what is between them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The policy.
    pub object: Object,
    /// The zone in which people are told times.
    pub zone: Zone,
    /// When the old version permits changes.
    pub old: TimeSet,
    /// When the new one does.
    pub new: TimeSet,
    /// Which version has the policy.
    pub presence: Presence,
    /// The windows gained and lost.
    pub change: GainAndLoss,
    /// What the guardrails say of the old version, and of the new one.
    pub guardrails: (Vec<String>, Vec<String>),
}

impl Comparison {
    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        self.presence != Presence::Both
            || !self.change.gained.is_empty()
            || !self.change.lost.is_empty()
            || self.guardrails.0 != self.guardrails.1
    }
}

/// What the guardrails say of a policy, in sentences.
pub type Guardrails<'a> = &'a dyn Fn(&Policy) -> Vec<String>;

/// Which version has a policy. One that lacks it permits nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Both.
    Both,
    /// The old one.
    OldOnly,
    /// The new one.
    NewOnly,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Report {
    from: String,
    until: String,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(flatten)]
    object: Named,
    presence: &'static str,
    gained: Vec<Window>,
    lost: Vec<Window>,
    months: Vec<MonthItem>,
    hours: Figures,
    longest_gap_hours: Figures,
    guardrails: Unmet,
}

/// What the guardrails say, before and after.
#[derive(Serialize)]
struct Unmet {
    old: Vec<String>,
    new: Vec<String>,
}

#[derive(Serialize)]
struct Window {
    start: Option<String>,
    end: Option<String>,
}

#[derive(Serialize)]
struct MonthItem {
    month: String,
    old: f64,
    new: f64,
}

#[derive(Serialize)]
struct Figures {
    old: f64,
    new: f64,
}

/// What is between two lots of policies. They are matched by kind, namespace and name; if each side holds one, those two are compared
/// whatever their names.
pub fn compare(
    old: &[&Policy],
    new: &[&Policy],
    range: &Range<Instant>,
    guardrails: Guardrails<'_>,
) -> Vec<Comparison> {
    if let ([old], [new]) = (old, new) {
        return pair(Some(old), Some(new), range, guardrails).into_iter().collect();
    }
    let mut by_object: BTreeMap<&Object, (Option<&Policy>, Option<&Policy>)> = BTreeMap::new();
    for policy in old {
        by_object.entry(&policy.object).or_default().0 = Some(policy);
    }
    for policy in new {
        by_object.entry(&policy.object).or_default().1 = Some(policy);
    }
    by_object.into_values().filter_map(|(old, new)| pair(old, new, range, guardrails)).collect()
}

fn pair(
    old: Option<&Policy>,
    new: Option<&Policy>,
    range: &Range<Instant>,
    guardrails: Guardrails<'_>,
) -> Option<Comparison> {
    let shown = new.or(old)?;
    let said = |policy: Option<&Policy>| policy.map(guardrails).unwrap_or_default();
    let guardrails = (said(old), said(new));
    let set = |policy: Option<&Policy>| {
        policy.map_or_else(TimeSet::never, |policy| policy.lowered.set.clone())
    };
    let presence = match (old, new) {
        (Some(_), None) => Presence::OldOnly,
        (None, Some(_)) => Presence::NewOnly,
        _ => Presence::Both,
    };
    let (old, new) = (set(old), set(new));
    Some(Comparison {
        object: shown.object.clone(),
        zone: shown.lowered.zone.clone(),
        change: forecast::change(&old, &new, range),
        old,
        new,
        presence,
        guardrails,
    })
}

/// The comparisons for programs.
pub fn report(pairs: &[Comparison], range: &Range<Instant>) -> Report {
    Report {
        from: range.start.to_string(),
        until: range.end.to_string(),
        items: pairs.iter().map(|pair| item(pair, range)).collect(),
    }
}

fn item(pair: &Comparison, range: &Range<Instant>) -> Item {
    let edge = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
    let windows = |spans: &[Span]| {
        spans.iter().map(|span| Window { start: edge(span.start), end: edge(span.end) }).collect()
    };
    let hours = |seconds: i64| seconds as f64 / 3600.0;
    let total = |set: &TimeSet| hours(forecast::seconds(set, range.clone()));
    let gap = |set: &TimeSet| {
        forecast::longest_gap(set, range).map_or(0.0, |gap| hours(forecast::length(&gap)))
    };
    Item {
        object: Named::from(&pair.object),
        presence: match pair.presence {
            Presence::Both => "both",
            Presence::OldOnly => "old",
            Presence::NewOnly => "new",
        },
        gained: windows(&pair.change.gained),
        lost: windows(&pair.change.lost),
        months: months(pair, range)
            .into_iter()
            .map(|(month, old, new)| MonthItem { month, old: hours(old), new: hours(new) })
            .collect(),
        hours: Figures { old: total(&pair.old), new: total(&pair.new) },
        longest_gap_hours: Figures { old: gap(&pair.old), new: gap(&pair.new) },
        guardrails: Unmet { old: pair.guardrails.0.clone(), new: pair.guardrails.1.clone() },
    }
}

/// The permitted seconds of each month, before and after.
fn months(pair: &Comparison, range: &Range<Instant>) -> Vec<(String, i64, i64)> {
    let old = forecast::months(&pair.old, range.clone(), &pair.zone);
    let new = forecast::months(&pair.new, range.clone(), &pair.zone);
    old.iter()
        .zip(&new)
        .map(|(old, new)| {
            let month = format!("{:04}-{:02}", old.month.year(), old.month.month());
            (month, old.permitted, new.permitted)
        })
        .collect()
}

/// How many changed windows a table shows before it counts the rest.
const SHOWN: usize = 10;

/// One comparison for people.
pub fn table(pair: &Comparison, range: &Range<Instant>, detail: Detail, colour: Colour) -> String {
    let mut text = colour.paint(Style::Strong, &printable(&pair.object.to_string()));
    let _ = writeln!(text, "\n  from {} until {}", range.start, range.end);
    match pair.presence {
        Presence::Both => {}
        Presence::OldOnly => text.push_str("  is in the old version only\n"),
        Presence::NewOnly => text.push_str("  is in the new version only\n"),
    }
    text.push_str(&unmet(pair, colour));
    let GainAndLoss { gained, lost } = &pair.change;
    if gained.is_empty() && lost.is_empty() {
        text.push_str("  nothing changes: both permit the same\n");
        return text;
    }
    let most = if detail == Detail::Full { usize::MAX } else { SHOWN };
    changed(&mut text, "gained", "+", gained, pair, most, (colour, Style::Open));
    changed(&mut text, "lost", "-", lost, pair, most, (colour, Style::Paused));
    text.push('\n');
    let signed = |seconds: i64| {
        let sign = if seconds < 0 { "-" } else { "+" };
        if seconds == 0 { "=".to_owned() } else { format!("{sign}{}", text::hours(seconds.abs())) }
    };
    let row = |name: String, old: i64, new: i64| {
        vec![name, text::hours(old), text::hours(new), signed(new - old)]
    };
    let mut rows = vec![["MONTH", "OLD", "NEW", "CHANGE"].map(str::to_owned).to_vec()];
    rows.extend(months(pair, range).into_iter().map(|(month, old, new)| row(month, old, new)));
    let total = |set: &TimeSet| forecast::seconds(set, range.clone());
    rows.push(row("in all".into(), total(&pair.old), total(&pair.new)));
    text.push_str(&text::table(2, &rows));
    text.push('\n');
    for (name, set) in [("old", &pair.old), ("new", &pair.new)] {
        let gap = match forecast::longest_gap(set, range) {
            Some(gap) => {
                let length = text::length(forecast::length(&gap));
                format!("{length}, from {} until {}", gap.start, gap.end)
            }
            None => "none".into(),
        };
        let _ = writeln!(text, "  longest gap, {name}: {gap}");
    }
    text
}

/// What the guardrails say that they did not say before, what they no longer say, and what they go on saying.
fn unmet(pair: &Comparison, colour: Colour) -> String {
    let (old, new) = &pair.guardrails;
    let mut text = String::new();
    let mut line = |mark: &str, style: Style, said: &str| {
        let said = printable(said);
        let _ = writeln!(text, "{}", colour.paint(style, &format!("  {mark} {said}")));
    };
    new.iter()
        .filter(|said| !old.contains(said))
        .for_each(|said| line("no longer met:", Style::Paused, said));
    new.iter()
        .filter(|said| old.contains(said))
        .for_each(|said| line("not met:", Style::Paused, said));
    old.iter()
        .filter(|said| !new.contains(said))
        .for_each(|said| line("was not met:", Style::Open, said));
    text
}

fn changed(
    text: &mut String,
    name: &str,
    sign: &str,
    spans: &[Span],
    pair: &Comparison,
    most: usize,
    (colour, style): (Colour, Style),
) {
    if spans.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {name}: {}", spans.len());
    let mut rows = Vec::new();
    for span in spans.iter().take(most) {
        let length = match (span.start, span.end) {
            (Some(start), Some(end)) => text::length(end.unix() - start.unix()),
            (None, Some(_)) => "no start".into(),
            (Some(_), None) => "no end".into(),
            (None, None) => "always".into(),
        };
        let start = text::edge(span.start, &pair.zone, "always");
        let end = text::edge(span.end, &pair.zone, "for ever");
        rows.push(vec![sign.to_owned(), start, end, length]);
    }
    for line in text::table(2, &rows).lines() {
        let _ = writeln!(text, "{}", colour.paint(style, line));
    }
    if spans.len() > most {
        let _ = writeln!(text, "  {sign} and {} more (-o wide shows all)", spans.len() - most);
    }
}
