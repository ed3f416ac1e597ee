//! Why may changes be initiated at an instant, or why not?
//!
//! The answer is a tree of reasons, as values: the policy, its strategy, the parts of its schedule, each with its own verdict and
//! the instant until which that verdict holds. All of it is asked of the same set that the gate asks (TIME-2). The words live in
//! [`Reason::text`] alone, so that status, command and console say the same (GATE-9).

use std::fmt::Write as _;

use api::policy::Strategy;
use schedule::{Cause, Date, Instant, Length, TimeSet, Zone};

use crate::{
    document::{
        format::duration_text,
        problem::{FieldPath, Object, problem_text},
    },
    policy::{
        exclusion::{self, Exclusion, When},
        lower::Lowered,
        part::{Part, PartKind, Recurring},
        read::Policy,
        seen::SeenPolicy,
        stanza::Form,
        strategy,
        verdict::Verdict,
    },
};

pub mod rule;

/// One node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What it says about changes.
    pub verdict: Verdict,
    /// What it is about.
    pub fact: Fact,
    /// Until when it says so; none if it has no end, or if nobody can tell.
    pub until: Option<Instant>,
    /// The reasons it rests on.
    pub because: Vec<Reason>,
}

/// What a reason is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A resource under change management.
    Resource(Object),
    /// The resource has no stanza (GATE-1).
    NoStanza {
        /// The field where it would be.
        field: FieldPath,
    },
    /// The stanza of a resource.
    Stanza {
        /// Its field.
        field: FieldPath,
        /// How it decides.
        form: Form,
        /// Why somebody set the policy aside, in their own words.
        said: Option<String>,
    },
    /// A freeze is in force: which, until when, who signed it, and why (OVR-1).
    Freeze(String),
    /// An override names the resource: what it opens, until when, who signed it, and why; or why it opens nothing (OVR-2).
    Override(String),
    /// What stands outside of a hosted cluster, as its guest was told (HOST-2).
    Projected(String),
    /// It cannot be known, so changes are held (GATE-2).
    Doubt(String),
    /// The policy as a whole.
    Policy(Object),
    /// Its strategy.
    Strategy(Strategy),
    /// There is no schedule to permit anything (TIME-11).
    NothingScheduled,
    /// Everything that is not excluded is permitted (TIME-11).
    OnlyExclusions,
    /// A field that opens or shuts by itself, in a sentence.
    Stated(String),
    /// A window is open and about to close, too soon to begin anything (D4-3).
    LastHour {
        /// When it closes.
        end: Option<Instant>,
    },
    /// What a field says is permitted while each of its parts permits it.
    AllOf(String),
    /// What a field says is permitted while one of its parts permits it.
    AnyOf(String),
    /// A window is open.
    Window {
        /// The rule of the windows, in words.
        rule: String,
        /// When it opened, with the windows that touch it; none if there never was a pause.
        start: Option<Instant>,
        /// When it closes, with the windows that touch it.
        end: Option<Instant>,
    },
    /// The windows follow each other without a gap.
    AlwaysOpen {
        /// The rule of the windows, in words.
        rule: String,
    },
    /// No window is open.
    NoWindow {
        /// The rule of the windows, in words.
        rule: String,
        /// When the next one opens, excluded or not.
        next: Option<Instant>,
    },
    /// The instant is excluded.
    Excluded {
        /// By what.
        what: Excluding,
        /// Why, as the author wrote it.
        reason: Option<String>,
    },
    /// The instant is not excluded.
    NotExcluded {
        /// How many exclusions there are.
        count: usize,
        /// When the next one begins, if one is ahead.
        next: Option<Begins>,
        /// What the instant is not.
        not: &'static str,
    },
}

/// What excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excluding {
    /// Whole days: the first, and the day after the last.
    Days(Date, Date),
    /// From one instant until before another.
    Instants(Instant, Instant),
    /// What recurs, by its rule in words.
    Rule(String),
}

/// When an exclusion begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begins {
    /// With a day.
    On(Date),
    /// At an instant.
    At(Instant),
}

/// The tree of reasons of a policy at an instant.
pub fn explain(policy: &Policy, at: Instant) -> Reason {
    let lowered = &policy.lowered;
    node(Fact::Policy(policy.object.clone()), &lowered.set, at, vec![strategy_node(lowered, at)])
}

pub(crate) fn node(fact: Fact, set: &TimeSet, at: Instant, because: Vec<Reason>) -> Reason {
    Reason { verdict: Verdict::of(set, at), fact, until: set.next_change(at), because }
}

pub(crate) fn strategy_node(lowered: &Lowered, at: Instant) -> Reason {
    let because = match &lowered.parts.kind {
        PartKind::Plain => Vec::new(),
        PartKind::All(parts) => parts.iter().map(|part| part_node(part, at)).collect(),
        _ => vec![part_node(&lowered.parts, at)],
    };
    node(Fact::Strategy(lowered.strategy), &lowered.set, at, because)
}

pub(crate) fn part_node(part: &Part, at: Instant) -> Reason {
    let below = |parts: &[Part]| parts.iter().map(|part| part_node(part, at)).collect();
    let (fact, because) = match &part.kind {
        PartKind::Excluded(exclusions) => return exclusion_node(exclusions, at),
        PartKind::Windows(recurring) => (window_fact(recurring, &part.set, at), Vec::new()),
        PartKind::Everything => (Fact::OnlyExclusions, Vec::new()),
        PartKind::Stated(said) => (Fact::Stated(said.clone()), Vec::new()),
        PartKind::ClosesEarly(windows) if windows.set.contains(at) && !part.set.contains(at) => {
            (Fact::LastHour { end: windows.set.next_change(at) }, Vec::new())
        }
        // Its windows say why; until when is for the whole to say.
        PartKind::ClosesEarly(windows) => {
            return Reason { until: part.set.next_change(at), ..part_node(windows, at) };
        }
        PartKind::Plain | PartKind::Nothing => (Fact::NothingScheduled, Vec::new()),
        PartKind::All(parts) => (Fact::AllOf(part.label.clone()), below(parts)),
        PartKind::Any(parts) => (Fact::AnyOf(part.label.clone()), below(parts)),
    };
    node(fact, &part.set, at, because)
}

fn window_fact(recurring: &Recurring, windows: &TimeSet, at: Instant) -> Fact {
    let rule = rule::sentence(recurring);
    match windows.why(at).cause {
        Cause::Always => Fact::AlwaysOpen { rule },
        // Windows that touch are one (TIME-9), so the edges are those of the whole stretch.
        Cause::Window { .. } => {
            let schedule::Stretch { start, end, .. } = windows.stretch(at);
            Fact::Window { rule, start, end }
        }
        Cause::NoWindow { next } => Fact::NoWindow { rule, next },
        // The windows alone are one leaf that knows neither ranges nor exclusions.
        Cause::Never
        | Cause::Before(_)
        | Cause::NotBefore(_)
        | Cause::Range { .. }
        | Cause::NoRange
        | Cause::Closing { .. }
        | Cause::Exclusion { .. } => Fact::NoWindow { rule, next: None },
    }
}

fn exclusion_node(exclusions: &[Exclusion], at: Instant) -> Reason {
    if let Some((held, run)) = exclusion::holding(exclusions, at) {
        let what = match &held.when {
            When::Days { from, until, .. } => Excluding::Days(*from, *until),
            When::Instants(span) => Excluding::Instants(span.start, span.end),
            When::Recurring { rule, .. } => Excluding::Rule(rule::sentence(rule)),
        };
        let fact = Fact::Excluded { what, reason: held.reason.as_deref().map(str::to_owned) };
        return Reason { verdict: Verdict::Held, fact, until: run.end, because: vec![] };
    }
    let ahead = exclusions.iter().filter_map(|exclusion| Some((exclusion.next(at)?, exclusion)));
    let next = ahead.min_by_key(|(start, _)| *start);
    let begins = next.map(|(start, exclusion)| match &exclusion.when {
        When::Days { from, .. } => Begins::On(*from),
        When::Instants(_) | When::Recurring { .. } => Begins::At(start),
    });
    let whole_days = exclusions.iter().all(|one| matches!(one.when, When::Days { .. }));
    let not = if whole_days { "an excluded day" } else { "excluded" };
    let fact = Fact::NotExcluded { count: exclusions.len(), next: begins, not };
    let until = next.map(|(start, _)| start);
    Reason { verdict: Verdict::Permitted, fact, until, because: vec![] }
}

/// The deciding reason as one sentence: what `status.behavior` shows (POL-3). It names instants and never a countdown (POL-7).
pub fn sentence(lowered: &Lowered, at: Instant) -> String {
    strategy_node(lowered, at).deciding().brief()
}

impl Reason {
    /// The first instant at which it or anything it rests on may read otherwise; none if never. Within a stretch of one state the
    /// reason can change, as when an excluded day begins, and a status says the one that holds.
    pub fn holds_until(&self) -> Option<Instant> {
        self.because.iter().filter_map(Self::holds_until).chain(self.until).min()
    }

    /// The reason at the bottom of the tree that decides.
    pub(crate) fn deciding(&self) -> &Self {
        let mut held = self.because.iter().filter(|part| part.verdict != Verdict::Permitted);
        let part = match (self.verdict, &self.fact) {
            (Verdict::Permitted, Fact::AnyOf(_)) => {
                self.because.iter().find(|part| part.verdict == Verdict::Permitted)
            }
            (Verdict::Permitted, _) => self.because.first(),
            // Of those of which one would be enough, the one that opens first; one that never does comes last.
            (_, Fact::AnyOf(_)) => held.min_by_key(|part| part.until.unwrap_or(Instant::MAX)),
            // An exclusion is listed last and beats permission (TIME-10).
            _ => held.next_back(),
        };
        part.map_or(self, Self::deciding)
    }

    /// The reason in words that stay the same as long as it holds: no instant in it, because those around it have their own
    /// fields, and an idle cluster is written zero times (POL-7).
    pub(crate) fn brief(&self) -> String {
        match &self.fact {
            Fact::Window { rule, .. } => format!("a maintenance window is open: {rule}"),
            Fact::NoWindow { rule, .. } => format!("no maintenance window is open: {rule}"),
            Fact::NotExcluded { not, .. } => format!("not {not}"),
            Fact::Excluded { what, reason } => {
                excluded_text(what, None, reason.as_deref(), &Zone::utc())
            }
            Fact::LastHour { .. } => LAST_HOUR.to_owned(),
            _ => self.text(&Zone::utc()),
        }
    }

    /// The reason in words, without its verdict and without a full stop.
    pub fn text(&self, zone: &Zone) -> String {
        match &self.fact {
            Fact::Policy(object) | Fact::Resource(object) => object.to_string(),
            Fact::NoStanza { field } => format!("no {field}: changes are always permitted"),
            Fact::Stanza { field, form, said } => stanza_text(field, *form, said.as_deref(), zone),
            Fact::Doubt(message)
            | Fact::Freeze(message)
            | Fact::Override(message)
            | Fact::Projected(message) => message.clone(),
            Fact::Strategy(strategy) => match strategy::row(*strategy) {
                Some(row) => format!("strategy {}: {}", row.name, row.meaning),
                None => "the strategy is not known, so changes are not permitted".into(),
            },
            Fact::NothingScheduled => {
                "the maintenance schedule has neither permit nor exclude".into()
            }
            Fact::OnlyExclusions => {
                "no permit is given: whatever is not excluded is permitted".into()
            }
            Fact::Stated(said) => said.clone(),
            Fact::LastHour { end } => {
                let end = end.map_or_else(String::new, |end| {
                    format!(", which closes at {}", when(end, zone))
                });
                format!("{LAST_HOUR}{end}")
            }
            Fact::AllOf(label) => format!("{label}: permitted while each of its parts permits it"),
            Fact::AnyOf(label) => format!("{label}: permitted while one of its parts permits it"),
            Fact::AlwaysOpen { rule } => format!("windows {rule}: they leave no gap"),
            Fact::Window { rule, start, end } => {
                let from = start.map_or_else(String::new, |at| format!(" from {}", when(at, zone)));
                let until = end.map_or_else(String::new, |at| format!(" until {}", when(at, zone)));
                format!("windows {rule}: one is open{from}{until}")
            }
            Fact::NoWindow { rule, next: Some(next) } => {
                format!("windows {rule}: none is open, the next opens at {}", when(*next, zone))
            }
            Fact::NoWindow { rule, next: None } => format!("windows {rule}: none ever opens again"),
            Fact::Excluded { what, reason } => {
                excluded_text(what, self.until, reason.as_deref(), zone)
            }
            Fact::NotExcluded { count, next, not } => {
                let exclusions = if *count == 1 { "exclusion" } else { "exclusions" };
                let ahead = match next {
                    Some(Begins::On(day)) => format!("the next begins on {day}"),
                    Some(Begins::At(start)) => format!("the next begins at {}", when(*start, zone)),
                    None => "none is ahead".into(),
                };
                format!("not {not}; {ahead} ({count} {exclusions})")
            }
        }
    }
}

/// What is said in the last hour of a window (D4-3).
const LAST_HOUR: &str = "nothing new is begun in the last hour of a window";

/// What excludes in words. Of a rule, `until` says when this run of it ends.
fn excluded_text(
    what: &Excluding,
    until: Option<Instant>,
    reason: Option<&str>,
    zone: &Zone,
) -> String {
    let mut text = match (what, until) {
        (Excluding::Days(from, until), _) => format!("{} excluded", days(*from, *until)),
        (Excluding::Instants(from, until), _) => {
            format!("the time from {} until {} is excluded", when(*from, zone), when(*until, zone))
        }
        (Excluding::Rule(rule), None) => format!("excluded {rule}"),
        (Excluding::Rule(rule), Some(until)) => {
            format!("excluded {rule}, this time until {}", when(until, zone))
        }
    };
    if let Some(reason) = reason {
        let _ = write!(text, ": {reason}");
    }
    text
}

fn stanza_text(field: &FieldPath, form: Form, said: Option<&str>, zone: &Zone) -> String {
    let meaning = match form {
        Form::NoStanza => return format!("no {field}"),
        Form::Unusable => return format!("{field} cannot be used, so changes are held"),
        Form::ByPolicy => return "strategy ByPolicy: as the policy says".into(),
        Form::Version => return format!("{field}: as it says"),
        Form::Permissive => "strategy Permissive: changes are always permitted".into(),
        Form::Restrictive => "strategy Restrictive: changes are never permitted".into(),
        Form::PermissiveUntil(until) => {
            let until = when(until, zone);
            format!(
                "strategy PermissiveUntil: permitted until {until}, then as the policy says, or never without one"
            )
        }
        Form::RestrictiveUntil(until) => {
            let until = when(until, zone);
            format!(
                "strategy RestrictiveUntil: held until {until}, then as the policy says, or always without one"
            )
        }
    };
    said.map_or_else(|| meaning.clone(), |said| format!("{meaning} ({said})"))
}

/// An instant in UTC first, with the wall clock of the zone beside it.
pub fn when(at: Instant, zone: &Zone) -> String {
    if zone.is_utc() { at.to_string() } else { format!("{at} ({})", local(at, zone)) }
}

/// The wall clock of a zone, such as `Sat 20:00 +01:00`.
pub fn local(at: Instant, zone: &Zone) -> String {
    let day: String = zone.date_of(at).weekday().name().chars().take(3).collect();
    format!("{day} {} {}", zone.time_of(at), offset(zone.offset_at(at)))
}

fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
    format!("{sign}{hours:02}:{minutes:02}")
}

/// Excluded days in words, with their verb.
fn days(from: Date, until: Date) -> String {
    if from.tomorrow() == until {
        format!("{from} is")
    } else {
        format!("the days from {from} until before {until} are")
    }
}

/// How long a window stays open, in words.
pub fn length_text(length: Length) -> String {
    match length {
        Length::RestOfDay => "to the end of the day".into(),
        Length::Elapsed(seconds) => format!("for {}", duration_text(seconds)),
        Length::Until(end) => format!("to {end}"),
    }
}

impl SeenPolicy {
    /// Why it permits changes at an instant or does not, in a sentence.
    pub fn reason(&self, at: Instant) -> String {
        match &self.judged.policy {
            Some(policy) => sentence(&policy.lowered, at),
            None => format!("the policy cannot be used: {}", problem_text(&self.judged.problems)),
        }
    }
}

#[cfg(test)]
mod tests;
