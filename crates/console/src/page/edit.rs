//! What would an edit of a policy do? The form, what is wrong beside the field that it is about, what the edit gains and loses, whom it concerns,
//! and the patch; nothing is written before somebody has seen that.

pub(crate) mod fields;
mod preview;

use api::policy::Strategy;
use maud::{Markup, html};
use serde_json::Value;
use tidegate_core::{
    document::{
        git::Owner,
        key::Key,
        problem::{FieldPath, PathStep, Problem},
    },
    policy::{explain::rule, forecast},
};
use views::{editing::Editing, safe::escaped, spoken, text};

pub(crate) use self::preview::done;
use self::{
    fields::{DAYS, Out, ROWS, Recurs, Typed},
    preview::preview,
};
use super::{Here, Page, deeds::Right};
use crate::{
    asked::{called, link},
    draw::{cut, free, icon},
    view::View,
};

/// How somebody edits.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    /// By fields; which row of the form each exclusion of the edited specification is.
    Form(Typed, Vec<usize>),
    /// By text.
    Text(String),
}

/// What somebody is editing.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) key: Key,
    /// The version of the object that was looked at.
    pub(crate) version: String,
    /// The specification that the form was drawn from.
    pub(crate) base: Value,
    pub(crate) mode: Mode,
    /// What the edit does, or why it cannot be read.
    pub(crate) editing: Result<Editing, String>,
    /// Who writes the object from a repository.
    pub(crate) owner: Option<Owner>,
    pub(crate) right: Right,
    /// Why the API server would not take it.
    pub(crate) refused: Option<String>,
    /// Whether somebody else changed the object since it was looked at.
    pub(crate) conflict: bool,
}

/// The page.
pub(crate) fn page(view: &View<'_>, draft: &Draft) -> Page {
    let said = sentence(draft);
    let mut page = Page::new(Here::Policies, format!("edit {}", draft.key.name), said);
    let answer = answer(view, draft, &page.said);
    page.add("answer", answer);
    page.add(
        "editor",
        html! {
            div id="editor" class="editor" { (form(view, draft)) (preview(view, draft)) }
        },
    );
    page
}

/// The answer in a sentence.
fn sentence(draft: &Draft) -> String {
    let name = &draft.key.name;
    let Ok(editing) = &draft.editing else { return "This text cannot be read.".into() };
    let wrong = editing.judged.problems.iter().filter(|problem| problem.is_error()).count();
    match (&editing.compared, wrong) {
        (_, 1) => "One problem keeps this edit from being used.".into(),
        (_, 2..) => format!(
            "{} problems keep this edit from being used.",
            spoken::capital(&spoken::count(wrong))
        ),
        (_, 0) if !editing.differs() => format!("Nothing of {name} has been edited yet."),
        (None, _) => format!("{name} could not be used before this edit."),
        (Some(pair), _) => {
            let (gained, lost) =
                (hours(&pair.change.gained, editing), hours(&pair.change.lost, editing));
            match (gained, lost) {
                (0, 0) => "This edit changes no hour of the coming year.".into(),
                (gained, 0) => format!("This edit gains {} in a year.", text::hours(gained)),
                (0, lost) => format!("This edit loses {} in a year.", text::hours(lost)),
                (gained, lost) => {
                    format!(
                        "This edit gains {} and loses {} in a year.",
                        text::hours(gained),
                        text::hours(lost)
                    )
                }
            }
        }
    }
}

fn hours(spans: &[schedule::Span], editing: &Editing) -> i64 {
    spans.iter().map(|span| forecast::length(&forecast::clipped(span, &editing.range))).sum()
}

fn answer(view: &View<'_>, draft: &Draft, said: &str) -> Markup {
    let following = view.snapshot.naming(&draft.key).count();
    html! {
        div id="answer" class="answer" {
            div class="words" {
                span class="second" { (draft.key.kind().name) @if let Some(namespace) = &draft.key.namespace { " in " (free(namespace)) } " " (free(&draft.key.name)) }
                h1 { (free(said)) }
                p {
                    "Nothing is written until you apply it. "
                    @match following {
                        0 => "Nothing follows this policy.",
                        1 => "One resource follows this policy.",
                        many => { (spoken::capital(&spoken::count(many))) " resources follow this policy." },
                    }
                }
            }
            div class="deeds" { a class="button" href=(link(&draft.key)) { "Discard" } }
        }
    }
}

/// The fields, with what is wrong beside each.
fn form(view: &View<'_>, draft: &Draft) -> Markup {
    let is_form = matches!(draft.mode, Mode::Form(..));
    let pressed = |is: bool| if is { "true" } else { "false" };
    let problems = Problems::of(draft);
    html! {
        section class="card" aria-labelledby="windows-title" {
            form id="draft" class="fields" method="post" action="/edit" data-preview="" {
                input type="hidden" name="token" value=(view.token);
                input type="hidden" name="stage" value="look";
                input type="hidden" name="object" value=(called(&draft.key));
                input type="hidden" name="version" value=(draft.version);
                input type="hidden" name="base" value=(draft.base);
                input type="hidden" name="mode" value=(if is_form { "form" } else { "text" });
                // The first button of a form is the one that Enter presses.
                button class="unseen" tabindex="-1" aria-hidden="true" { "What then?" }
                div class="row apart" {
                    h2 id="windows-title" { "What it says" }
                    div class="segments small" role="group" aria-label="Edit as" {
                        button name="to" value="form" aria-pressed=(pressed(is_form)) { "Form" }
                        button name="to" value="text" aria-pressed=(pressed(!is_form)) { "YAML" }
                    }
                }
                @if draft.conflict {
                    p class="said alarm" role="alert" {
                        "Somebody changed " (free(&draft.key.name)) " meanwhile. Yours is kept here and compared with theirs; look at that before you apply it."
                    }
                }
                (problems.shown("other"))
                @match &draft.mode {
                    Mode::Form(typed, _) => (typed_fields(draft, typed, &problems)),
                    Mode::Text(text) => div class="field" {
                        label for="text" { "Specification" }
                        textarea id="text" name="text" rows="24" spellcheck="false" class="mono" aria-describedby="wrong-text"
                            aria-invalid=[problems.is_wrong("text")] { "\n" (escaped(text)) }
                        (problems.shown("text"))
                    },
                }
                div class="row" { button class="first" { "What then?" } }
            }
        }
    }
}

/// A field with its label and what is wrong with it.
fn field(problems: &Problems<'_>, id: &str, label: &str, value: &str, more: &Markup) -> Markup {
    html! {
        div class="field" {
            label for=(id) { (label) }
            input id=(id) name=(id) value=(cut(value)) autocomplete="off" spellcheck="false" aria-describedby=(format!("wrong-{id}"))
                aria-invalid=[problems.is_wrong(id)];
            (problems.shown(id))
            (more)
        }
    }
}

fn typed_fields(draft: &Draft, typed: &Typed, problems: &Problems<'_>) -> Markup {
    let strategies = [
        (Strategy::MaintenanceSchedule, "MaintenanceSchedule", "in windows"),
        (Strategy::Permissive, "Permissive", "at any time"),
        (Strategy::Restrictive, "Restrictive", "never"),
    ];
    let known = strategies.iter().any(|(_, value, _)| *value == typed.strategy);
    let nothing = html! {};
    html! {
        div class="field" {
            label for="strategy" { "Changes may start" }
            select id="strategy" name="strategy" aria-describedby="wrong-strategy" aria-invalid=[problems.is_wrong("strategy")] {
                @for (_, value, words) in &strategies { option value=(value) selected[*value == typed.strategy] { (words) } }
                @if !known { option value=(cut(&typed.strategy)) selected { (cut(&typed.strategy)) } }
            }
            (problems.shown("strategy"))
        }
        (recurrence(draft, typed, problems))
        div class="pair three" {
            (field(problems, "start", "From", &typed.start, &html! { p class="hint" { "00:00 if empty" } }))
            (field(problems, "lasts", "For", &typed.lasts, &html! { p class="hint" { "such as 8h or 1h30m" } }))
            (field(problems, "ends", "Or until", &typed.ends, &nothing))
        }
        (field(problems, "zone", "Time zone", &typed.zone, &html! { p class="hint" { "such as Europe/Berlin; UTC if empty" } }))
        (exclusions(typed, problems))
    }
}

fn recurrence(draft: &Draft, typed: &Typed, problems: &Problems<'_>) -> Markup {
    let kept = Typed::of(&draft.base).recurs == Recurs::Kept;
    let said = draft.editing.as_ref().ok().and_then(|editing| editing.judged.policy.as_ref());
    let said = said.and_then(|policy| rule::sentences(&policy.lowered.schedule));
    let mut offered = vec![
        (Recurs::Daily, "every day".to_owned()),
        (Recurs::Weekly, "on days of the week".to_owned()),
    ];
    if kept {
        offered.push((Recurs::Kept, said.unwrap_or_else(|| "as it is written".to_owned())));
    }
    html! {
        div class="field" {
            label for="recurs" { "Windows open" }
            select id="recurs" name="recurs" aria-describedby="wrong-recurs" aria-invalid=[problems.is_wrong("recurs")] {
                @for (one, words) in &offered { option value=(one.value()) selected[*one == typed.recurs] { (cut(words)) } }
            }
            fieldset class="days" {
                legend class="unseen" { "Days of the week" }
                @for day in DAYS {
                    @let short: String = day.chars().take(2).collect();
                    label { input type="checkbox" name="day" value=(day) checked[typed.days.iter().any(|chosen| chosen == day)] aria-label=(day); span { (short) } }
                }
            }
            (problems.shown("recurs"))
        }
    }
}

fn exclusions(typed: &Typed, problems: &Problems<'_>) -> Markup {
    if typed.out.len() > ROWS {
        return html! {
            p class="second" { (spoken::thousands(typed.out.len())) " exclusions are kept as they are written; the text shows them." }
        };
    }
    // There is always one row more, for another.
    let spare = typed.out.last().is_none_or(|last| *last != Out::default());
    let more = if spare { vec![Out::default()] } else { Vec::new() };
    let all: Vec<&Out> = typed.out.iter().chain(&more).take(ROWS).collect();
    html! {
        fieldset class="outs" {
            legend { "Excluded days" }
            input type="hidden" name="rows" value=(all.len());
            @for (row, out) in all.iter().enumerate() {
                @let (from, until, reason) = (format!("from-{row}"), format!("until-{row}"), format!("reason-{row}"));
                @if out.kept {
                    p class="second" { (icon::flake()) " " (free(if out.reason.is_empty() { "an exclusion" } else { &out.reason })) ": kept as it is written; the text shows it." }
                    (problems.shown(&from))
                } @else {
                    div class="out" {
                        input name=(from) id=(from) type="text" placeholder="2026-12-19" aria-label=(format!("From day, row {}", row + 1)) value=(cut(&out.from))
                            aria-describedby=(format!("wrong-{from}")) aria-invalid=[problems.is_wrong(&from)] autocomplete="off";
                        input name=(until) id=(until) type="text" placeholder="until before" aria-label=(format!("Until before day, row {}", row + 1)) value=(cut(&out.until))
                            aria-describedby=(format!("wrong-{until}")) aria-invalid=[problems.is_wrong(&until)] autocomplete="off";
                        input name=(reason) id=(reason) type="text" placeholder="why" aria-label=(format!("Why, row {}", row + 1)) value=(cut(&out.reason))
                            aria-describedby=(format!("wrong-{reason}")) aria-invalid=[problems.is_wrong(&reason)] autocomplete="off";
                    }
                    div class="field" { (problems.shown(&from)) (problems.shown(&until)) (problems.shown(&reason)) }
                }
            }
            p class="second" { "A row without text excludes nothing." }
        }
    }
}

/// What is wrong, by the field that it is about.
struct Problems<'a> {
    all: Vec<(String, String, &'a Problem)>,
    unread: Option<&'a str>,
}

impl<'a> Problems<'a> {
    fn of(draft: &'a Draft) -> Self {
        let editing = match &draft.editing {
            Ok(editing) => editing,
            Err(why) => return Self { all: Vec::new(), unread: Some(why) },
        };
        let place = |problem: &Problem| match &draft.mode {
            Mode::Form(_, places) => place(&problem.field, places),
            Mode::Text(_) => "text".to_owned(),
        };
        let told = |problem: &'a Problem| {
            let hint = problem
                .hint
                .as_ref()
                .map_or_else(String::new, |hint| format!(" {}.", spoken::capital(hint)));
            let path = if matches!(draft.mode, Mode::Text(_)) || place(problem) == "other" {
                format!("{}: ", problem.field)
            } else {
                String::new()
            };
            (place(problem), format!("{path}{}.{hint}", problem.detail), problem)
        };
        Self { all: editing.judged.problems.iter().map(told).collect(), unread: None }
    }

    fn at(&self, id: &str) -> impl Iterator<Item = (&str, bool)> {
        let unread = self.unread.filter(|_| id == "text").map(|why| (why, true));
        let own = self.all.iter().filter(move |(place, ..)| place == id);
        own.map(|(_, said, problem)| (said.as_str(), problem.is_error())).chain(unread)
    }

    fn is_wrong(&self, id: &str) -> Option<&'static str> {
        self.at(id).any(|(_, error)| error).then_some("true")
    }

    /// What is wrong with a field: an element that is always there, so that a field can name it.
    fn shown(&self, id: &str) -> Markup {
        let any = self.at(id).next().is_some();
        html! {
            div id=(format!("wrong-{id}")) class="wrongs" hidden[!any] {
                @for (said, error) in self.at(id) { p class=(if error { "wrong" } else { "hint" }) { (icon::triangle()) " " (free(said)) } }
            }
        }
    }
}

/// The field of the form that a path leads to.
fn place(path: &FieldPath, rows: &[usize]) -> String {
    let key = |place: usize| match path.steps().get(place) {
        Some(PathStep::Key(key)) => key.as_str(),
        _ => "",
    };
    let index = |place: usize| match path.steps().get(place) {
        Some(PathStep::Index(index)) => rows.get(*index).copied(),
        _ => None,
    };
    match (key(0), key(1), key(2), key(3)) {
        ("spec", "" | "strategy", "", _) => "strategy".into(),
        ("spec", "maintenanceSchedule", "timeZone", _) => "zone".into(),
        ("spec", "maintenanceSchedule", "permit", "startTime") => "start".into(),
        ("spec", "maintenanceSchedule", "permit", "duration") => "lasts".into(),
        ("spec", "maintenanceSchedule", "permit", "endTime") => "ends".into(),
        ("spec", "maintenanceSchedule", "permit", _) => "recurs".into(),
        ("spec", "maintenanceSchedule", "exclude", _) => match (index(3), key(4)) {
            (Some(row), "untilDate") => format!("until-{row}"),
            (Some(row), "reason") => format!("reason-{row}"),
            (Some(row), _) => format!("from-{row}"),
            (None, _) => "other".into(),
        },
        _ => "other".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A problem stands at the field that it is about, in the row where that was typed.
    #[test]
    fn problems_stand_at_their_field() {
        let spec = FieldPath::of("spec");
        let schedule = spec.key("maintenanceSchedule");
        let permit = schedule.key("permit");
        let exclude = schedule.key("exclude");
        for (path, expected) in [
            (spec.clone(), "strategy"),
            (spec.key("strategy"), "strategy"),
            (schedule.key("timeZone"), "zone"),
            (permit.key("startTime"), "start"),
            (permit.key("duration"), "lasts"),
            (permit.key("endTime"), "ends"),
            (permit.key("recurrence").key("weekly").key("daysOfWeek"), "recurs"),
            (permit.clone(), "recurs"),
            (exclude.index(1).key("untilDate"), "until-2"),
            (exclude.index(1).key("reason"), "reason-2"),
            (exclude.index(0), "from-0"),
            (exclude.index(7), "other"),
            (exclude.clone(), "other"),
            (schedule.key("windows"), "other"),
            (FieldPath::of("metadata.name"), "other"),
        ] {
            assert_eq!(place(&path, &[0, 2]), expected, "{path}");
        }
    }
}
