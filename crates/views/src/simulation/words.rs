//! How is a verdict said? What is in the way, and what would help.

use crate::{
    safe::printable,
    text::{hours, length},
};
use schedule::Instant;
use tidegate_core::simulate::{
    Course, Settings,
    verdict::{MONTH, Obstacle, Outlook},
};

/// How many nodes a sentence names.
const SHOWN: usize = 5;

/// One word for programs.
pub fn word(verdict: &Outlook) -> &'static str {
    match verdict {
        Outlook::Idle => "idle",
        Outlook::Converges(_) => "converges",
        Outlook::Unfinished { .. } => "unfinished",
        Outlook::Late { .. } => "late",
        Outlook::Never { .. } => "never",
    }
}

/// The verdict in a few words.
pub fn result(course: &Course) -> String {
    let count = course.machines.len();
    match &course.verdict {
        Outlook::Idle if count == 0 => "has no nodes".into(),
        Outlook::Idle => "nothing is pending".into(),
        Outlook::Converges(_) => "converges".into(),
        Outlook::Unfinished { .. } => "converges; the last change waits at the end".into(),
        Outlook::Late { waiting, .. } => {
            format!("late: {} of {count} nodes wait at the end", waiting.len())
        }
        Outlook::Never { obstacle: Obstacle::Shut { opens: Some(_), .. }, .. } => {
            "waits: the gate opens after the period".into()
        }
        Outlook::Never { waiting, .. } => {
            format!("never converges: {} of {count} nodes wait at the end", waiting.len())
        }
    }
}

/// The nodes that wait when the period ends.
pub fn waiting(verdict: &Outlook) -> &[String] {
    match verdict {
        Outlook::Idle | Outlook::Converges(_) => &[],
        Outlook::Unfinished { waiting }
        | Outlook::Late { waiting, .. }
        | Outlook::Never { waiting, .. } => waiting,
    }
}

/// What is in the way, and what would help; nothing if nothing is.
pub fn reason(course: &Course, settings: &Settings) -> Option<(String, String)> {
    let obstacle = match &course.verdict {
        Outlook::Idle | Outlook::Converges(_) | Outlook::Unfinished { .. } => return None,
        Outlook::Late { obstacle, .. } | Outlook::Never { obstacle, .. } => obstacle,
    };
    let (reason, hint) = match obstacle {
        Obstacle::Blocked(problem) => {
            (format!("the pool begins nothing: {problem}"), "mend the pool first".into())
        }
        Obstacle::Paused => ("spec.paused is true".into(), "set spec.paused to false".into()),
        Obstacle::Pinned(name) => (
            format!("spec.machineConfig.name holds it at {name}"),
            "remove spec.machineConfig, or name the newest configuration there".into(),
        ),
        Obstacle::Shut { reason, opens: None } => {
            (format!("the gate does not open: {reason}"), "change what holds it".into())
        }
        Obstacle::Shut { reason, opens: Some(at) } => (
            format!("the gate opens {at}, after the period: {reason}"),
            "look further ahead with --for".into(),
        ),
        Obstacle::Machines(stuck) => (
            machines(stuck),
            "bring these nodes back, or raise spec.maxUnavailable above their number".into(),
        ),
        Obstacle::Voters(pool) => (
            format!("it waits for MachineConfigPool/{pool}, which does not settle"),
            format!("see what keeps {pool}"),
        ),
        Obstacle::Time { at_once } => time(course, *at_once, settings),
    };
    Some((printable(&reason), printable(&hint)))
}

fn machines(stuck: &[(String, String)]) -> String {
    let named = stuck.iter().take(SHOWN).map(|(name, why)| format!("Node/{name} {why}"));
    let mut named: Vec<String> = named.collect();
    if stuck.len() > SHOWN {
        named.push(format!("and {} more", stuck.len() - SHOWN));
    }
    named.join(", ")
}

fn time(course: &Course, at_once: Option<usize>, settings: &Settings) -> (String, String) {
    let (need, open) = (course.need_a_month(settings), course.open_a_month(settings));
    let budget = at_once
        .map(|count| format!("set spec.maxUnavailable to {count}: simulated, and it converges"));
    let each = length(course.need);
    if open >= need {
        let reason = format!(
            "a change needs {each} of open window, and the period has {} in {}",
            hours(course.open),
            windows(course.windows)
        );
        let more = budget.map_or_else(String::new, |budget| format!(", or {budget}"));
        return (reason, format!("look further ahead with --for{more}"));
    }
    let reason = match course.changes.len() {
        1 => {
            format!("the change needs {each} of open window, and there are {} a month", hours(open))
        }
        count => format!(
            "{count} changes of {each} each need {} of open window a month, and there are {}",
            hours(need),
            hours(open)
        ),
    };
    let longer =
        (need <= MONTH).then(|| format!("open windows of {} a month or more", hours(need)));
    let ways: Vec<String> = longer.into_iter().chain(budget).collect();
    let hint = match ways.as_slice() {
        [] => "let changes arrive less often: no window is long enough for them".into(),
        ways => ways.join(", or "),
    };
    (reason, hint)
}

/// `1 window`, `3 windows`.
pub fn windows(count: usize) -> String {
    if count == 1 { "1 window".into() } else { format!("{count} windows") }
}

/// An instant and how long after another it is.
pub fn after(at: Instant, before: Instant) -> String {
    match at.unix() - before.unix() {
        0 => format!("{at} (at once)"),
        seconds => format!("{at} ({} later)", length(seconds)),
    }
}
