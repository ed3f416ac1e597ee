//! What did an audit log tell? Who started what outside which gate or freeze, what one would have refused, and what nobody can tell.

use std::{collections::BTreeMap, fmt::Write as _};

use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    audit::{Example, Group, Outcome, Outside, Passed, Tally, Untold},
    policy::verdict::Verdict,
};

use crate::{
    drawing::{Colour, Detail, Style},
    items::Named,
    safe::printable,
    text,
};

/// What was found in a log, to be shown.
#[derive(Clone, Debug)]
pub struct Audit {
    /// What was found.
    pub tally: Tally,
    /// How many gates and freezes it was judged by.
    pub holders: usize,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    lines: u64,
    events: u64,
    from: Option<String>,
    until: Option<String>,
    judged_by: usize,
    first_writes: u64,
    permitted: u64,
    outside: u64,
    would_refuse: u64,
    would_warn: u64,
    would_note: u64,
    cannot_tell: u64,
    by_hand: Vec<Hand>,
    rooms: Vec<Figures>,
    items: Vec<Item>,
    others: u64,
    untold: Vec<Doubt>,
    passed: Passing,
    broken: Broken,
    forgotten: u64,
}

#[derive(Serialize)]
struct Hand {
    user: String,
    count: u64,
}

/// The figures of a room.
#[derive(Serialize, Default, Clone)]
#[serde(rename_all = "camelCase")]
struct Figures {
    room: &'static str,
    outside: u64,
    would_refuse: u64,
    would_warn: u64,
    would_note: u64,
    cannot_tell: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    user: String,
    room: &'static str,
    held_by: Named,
    outcome: &'static str,
    count: u64,
    missed: u64,
    first: String,
    last: String,
    examples: Vec<Shown>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    at: String,
    user: String,
    object: String,
    name: Option<String>,
    #[serde(rename = "auditID")]
    audit_id: String,
    held_by: Vec<Named>,
    opens: Option<String>,
}

#[derive(Serialize)]
struct Doubt {
    room: &'static str,
    reason: &'static str,
    message: String,
    count: u64,
    examples: Vec<Shown>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Passing {
    other_stages: u64,
    reads: u64,
    dry_runs: u64,
    failed: u64,
    refused: u64,
}

#[derive(Serialize)]
struct Broken {
    count: u64,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    line: u64,
    problem: String,
}

impl Audit {
    /// What the log says as a whole: held if something started outside or would have been refused, else whether it could be told. Who has no
    /// gate and no freeze, or no event, has judged nothing. What a gate lets pass is no fault.
    pub fn verdict(&self) -> Verdict {
        let tally = &self.tally;
        if tally.total(Outcome::Outside) + tally.total(Outcome::WouldRefuse) > 0 {
            Verdict::Held
        } else if tally.untold() > 0 || tally.broken.0 > 0 || !self.is_judged() {
            Verdict::CannotTell
        } else {
            Verdict::Permitted
        }
    }

    /// Whether there was something to judge, and something to judge it by.
    fn is_judged(&self) -> bool {
        self.holders > 0 && self.tally.events > 0
    }

    /// What was found, for programs.
    pub fn report(&self) -> Report {
        let tally = &self.tally;
        let count = |passed| tally.passed.get(&passed).copied().unwrap_or(0);
        Report {
            lines: tally.lines,
            events: tally.events,
            from: tally.span.map(|(from, _)| from.to_string()),
            until: tally.span.map(|(_, until)| until.to_string()),
            judged_by: self.holders,
            first_writes: tally.first_writes,
            permitted: tally.permitted,
            outside: tally.total(Outcome::Outside),
            would_refuse: tally.total(Outcome::WouldRefuse),
            would_warn: tally.total(Outcome::WouldWarn),
            would_note: tally.total(Outcome::WouldNote),
            cannot_tell: tally.untold(),
            by_hand: tally
                .by_hand
                .iter()
                .map(|(user, count)| Hand { user: user.clone(), count: *count })
                .collect(),
            rooms: self.rooms(),
            items: self.worst_first().into_iter().map(|(key, group)| item(key, group)).collect(),
            others: tally.others(),
            untold: tally
                .untold
                .iter()
                .map(|((room, why), group)| Doubt {
                    room,
                    reason: reason(why),
                    message: sentence(why),
                    count: group.count,
                    examples: examples(group),
                })
                .collect(),
            passed: Passing {
                other_stages: count(Passed::OtherStage),
                reads: count(Passed::Read),
                dry_runs: count(Passed::DryRun),
                failed: count(Passed::Failed),
                refused: count(Passed::Refused),
            },
            broken: Broken {
                count: tally.broken.0,
                lines: tally
                    .broken
                    .1
                    .iter()
                    .map(|(line, problem)| Line { line: *line, problem: problem.clone() })
                    .collect(),
            },
            forgotten: tally.forgotten,
        }
    }

    fn rooms(&self) -> Vec<Figures> {
        let mut rooms: BTreeMap<&'static str, Figures> = BTreeMap::new();
        let mut room = |name: &'static str, add: &dyn Fn(&mut Figures)| {
            add(rooms.entry(name).or_insert_with(|| Figures { room: name, ..Figures::default() }));
        };
        for ((name, outcome), count) in &self.tally.totals {
            room(name, &|room| match outcome {
                Outcome::Outside => room.outside += count,
                Outcome::WouldRefuse => room.would_refuse += count,
                Outcome::WouldWarn => room.would_warn += count,
                Outcome::WouldNote => room.would_note += count,
            });
        }
        for ((name, _), group) in &self.tally.untold {
            room(name, &|room| room.cannot_tell += group.count);
        }
        rooms.into_values().collect()
    }

    /// What started outside before what would have been refused and what is let pass, and the most frequent first.
    fn worst_first(&self) -> Vec<(&Outside, &Group)> {
        let mut groups: Vec<(&Outside, &Group)> = self.tally.outside.iter().collect();
        groups.sort_by_key(|(key, group)| (key.outcome, std::cmp::Reverse(group.count)));
        groups
    }

    /// The same for people.
    pub fn drawing(&self, detail: Detail, colour: Colour) -> String {
        let tally = &self.tally;
        let mut text = String::new();
        let _ = match tally.span {
            Some((from, until)) => writeln!(
                text,
                "{} events, the writes from {from} to {until}; {} of them first writes of rooms that a gate or freeze may hold",
                tally.events, tally.first_writes
            ),
            None if tally.events == 0 => {
                writeln!(text, "the log holds no event that can be read, so nothing was judged")
            }
            None => writeln!(text, "{} events, none of them a write", tally.events),
        };
        if self.holders == 0 {
            text.push_str("no gate and no freeze was given, so nothing was judged\n");
        }
        self.draw_outside(&mut text, detail, colour);
        if tally.permitted > 0 {
            let _ = writeln!(text, "{} first writes were permitted", tally.permitted);
        }
        if !tally.by_hand.is_empty() {
            let each = tally.by_hand.iter();
            let each = each.map(|(user, count)| format!("{} ({count})", printable(user)));
            let each = each.collect::<Vec<_>>().join(", ");
            let _ =
                writeln!(text, "by members of tidegate:initiators, who pass everything: {each}");
        }
        self.draw_untold(&mut text, detail);
        self.draw_rest(&mut text);
        text
    }

    fn draw_outside(&self, text: &mut String, detail: Detail, colour: Colour) {
        let tally = &self.tally;
        if !self.is_judged() {
            return;
        }
        if tally.outside.is_empty() {
            return text.push_str("nothing started while something that selects it was shut\n");
        }
        let outside = tally.total(Outcome::Outside);
        let would = tally.total(Outcome::WouldRefuse);
        let pass = tally.total(Outcome::WouldWarn) + tally.total(Outcome::WouldNote);
        if outside > 0 {
            let _ =
                writeln!(text, "{outside} started outside a gate or in a freeze that stood then");
        }
        if would > 0 {
            let _ = writeln!(
                text,
                "{would} would have been refused by a gate or freeze that did not stand then"
            );
        }
        if pass > 0 {
            let _ = writeln!(
                text,
                "{pass} would be noted by a gate whose mode, Warn or Audit, lets them pass"
            );
        }
        text.push('\n');
        let heads = ["COUNT", "USER", "ROOM", "OUTCOME", "HELD BY", "FIRST", "LAST"];
        let mut cells = vec![heads.map(str::to_owned).to_vec()];
        let groups = self.worst_first();
        for (key, group) in &groups {
            cells.push(vec![
                counted(group),
                printable(&key.user),
                key.room.to_owned(),
                outcome(key.outcome).to_owned(),
                printable(&key.by.to_string()),
                group.first.to_string(),
                group.last.to_string(),
            ]);
        }
        let table = text::table(0, &cells);
        let mut lines = table.lines();
        let _ = writeln!(text, "{}", colour.paint(Style::Strong, lines.next().unwrap_or_default()));
        for (line, (_, group)) in lines.zip(&groups) {
            let _ = writeln!(text, "{line}");
            let shown = if detail == Detail::Full { group.examples.len() } else { 1 };
            for example in group.examples.iter().take(shown) {
                let _ = writeln!(text, "  {}", one(example));
            }
        }
        let others = tally.others();
        if others > 0 {
            let _ = writeln!(
                text,
                "and {others} more; only the largest groups are listed, and N+ says that some of a group may be among these"
            );
        }
        let rooms = self.rooms();
        let heads = ["ROOM", "OUTSIDE", "WOULD BE REFUSED", "ONLY NOTED", "CANNOT TELL"];
        let mut cells = vec![heads.map(str::to_owned).to_vec()];
        cells.extend(rooms.iter().map(|room| {
            let noted = room.would_warn + room.would_note;
            let figures = [room.outside, room.would_refuse, noted, room.cannot_tell];
            let figures = figures.map(|figure| figure.to_string());
            [room.room.to_owned()].into_iter().chain(figures).collect()
        }));
        let _ = writeln!(text, "\n{}", text::table(0, &cells));
    }

    fn draw_untold(&self, text: &mut String, detail: Detail) {
        let tally = &self.tally;
        if tally.untold.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "cannot tell about {} writes, made while something that may hold them was shut:",
            tally.untold()
        );
        for ((room, why), group) in &tally.untold {
            let _ =
                writeln!(text, "  {room}: {} because {}", group.count, printable(&sentence(why)));
            let shown = if detail == Detail::Full { group.examples.len() } else { 1 };
            for example in group.examples.iter().take(shown) {
                let _ = writeln!(text, "    {} by {}", one(example), printable(&example.user));
            }
        }
    }

    fn draw_rest(&self, text: &mut String) {
        let tally = &self.tally;
        let said = |passed: Passed| match passed {
            Passed::OtherStage => "of other stages",
            Passed::Read => "reads",
            Passed::DryRun => "dry runs",
            Passed::Failed => "failed",
            Passed::Refused => "refused by a gate or a freeze",
        };
        if !tally.passed.is_empty() {
            let each =
                tally.passed.iter().map(|(passed, count)| format!("{count} {}", said(*passed)));
            let _ = writeln!(text, "started nothing: {}", each.collect::<Vec<_>>().join(", "));
        }
        if tally.forgotten > 0 {
            let _ = writeln!(
                text,
                "{} objects were forgotten for want of memory; their next writes could not be told",
                tally.forgotten
            );
        }
        let (count, lines) = &tally.broken;
        if *count > 0 {
            let _ = writeln!(text, "{count} lines are no audit events:");
            for (line, problem) in lines {
                let _ = writeln!(text, "  line {line}: {}", printable(problem));
            }
        }
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Outside => "started outside",
        Outcome::WouldRefuse => "would be refused",
        Outcome::WouldWarn => "would be noted (mode Warn)",
        Outcome::WouldNote => "would be noted (mode Audit)",
    }
}

/// How many there are, and whether that may be short.
fn counted(group: &Group) -> String {
    let more = if group.missed > 0 { "+" } else { "" };
    format!("{}{more}", group.count)
}

fn one(example: &Example) -> String {
    let name = example.name.as_deref().map_or_else(String::new, |name| format!(" ({name})"));
    let opens = example.opens.map_or_else(String::new, |at| format!(", opens at {at}"));
    printable(&format!("at {} {}{name}{opens}", example.at, example.object))
}

fn item(key: &Outside, group: &Group) -> Item {
    Item {
        user: key.user.clone(),
        room: key.room,
        held_by: Named::from(&key.by),
        outcome: match key.outcome {
            Outcome::Outside => "outside",
            Outcome::WouldRefuse => "wouldRefuse",
            Outcome::WouldWarn => "wouldWarn",
            Outcome::WouldNote => "wouldNote",
        },
        count: group.count,
        missed: group.missed,
        first: group.first.to_string(),
        last: group.last.to_string(),
        examples: examples(group),
    }
}

fn examples(group: &Group) -> Vec<Shown> {
    let shown = |example: &Example| Shown {
        at: example.at.to_string(),
        user: example.user.clone(),
        object: example.object.clone(),
        name: example.name.clone(),
        audit_id: example.id.clone(),
        held_by: example.by.iter().map(Named::from).collect(),
        opens: example.opens.map(|at: Instant| at.to_string()),
    };
    group.examples.iter().map(shown).collect()
}

fn reason(why: &Untold) -> &'static str {
    match why {
        Untold::NoContent(_) => "NoContent",
        Untold::NoBefore => "NoBefore",
        Untold::NoNamespace => "NoNamespace",
        Untold::NoTime(_) => "NoTime",
        Untold::Failed(_) => "Failed",
    }
}

fn sentence(why: &Untold) -> String {
    match why {
        Untold::NoContent(level) => {
            format!("an event of level {level} does not hold what was written; log these at RequestResponse")
        }
        Untold::NoBefore => {
            "the log does not tell what the object was before; a longer log, at RequestResponse, does".to_owned()
        }
        Untold::NoNamespace => {
            "the labels of its namespace are not known; hand over the Namespace too".to_owned()
        }
        Untold::NoTime(why) => why.clone(),
        Untold::Failed(why) => format!("an expression of the room fails: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever has judged nothing cannot say that nothing started.
    #[test]
    fn without_a_holder_or_an_event_nobody_can_tell() {
        let check = |holders: usize, events: u64, verdict: Verdict| {
            let audit = Audit { tally: Tally { events, ..Tally::default() }, holders };
            assert_eq!(audit.verdict(), verdict, "{holders} holders, {events} events");
            let drawn = audit.drawing(Detail::Short, Colour::Off);
            assert_eq!(drawn.contains("nothing started"), verdict == Verdict::Permitted, "{drawn}");
        };
        check(0, 0, Verdict::CannotTell);
        check(0, 1, Verdict::CannotTell);
        check(1, 0, Verdict::CannotTell);
        check(1, 1, Verdict::Permitted);
    }
}
