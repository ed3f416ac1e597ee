//! Is what somebody wrote what the platform demands? (GRD-1 to GRD-6)
//!
//! Guardrails judge writes, and never an instant: whoever edits a policy so that it does not meet one is refused or told, and what was there
//! before is told of (GRD-5). What the API server can judge by itself it refuses; what takes the whole of a schedule is judged here, exactly
//! and for all time ahead (GRD-2), and what the server judges once more, so that it is told of what was there before too.
//!
//! Total, and doubt closes edits: a guardrail that cannot be used, or names a policy that cannot, is met by nothing.

use api::{
    guardrail::{AnyStrategy, GuardedKind, GuardrailMode, GuardrailSpec, MinimumHours},
    kinds, names,
    policy::Strategy,
    schema::Kind,
};
use schedule::{Date, Instant, Rolling, Span, TimeOfDay, TimeSet, Zone};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::{
    document::{
        conditions::Conditions,
        format,
        key::Key,
        problem::{Code, FieldPath, Problem, problem_text},
    },
    policy::{
        exclusion::{Exclusion, When},
        lower::Lowered,
        overrides::SeenOverride,
        part::Recurring,
        read,
    },
    reach::selector::{Labels, Selects, chooses_namespace},
};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// A guardrail as it was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenGuardrail {
    /// Which object.
    pub key: Key,
    /// When it was created, where that is known.
    pub created: Option<Instant>,
    /// What it demands, as far as that can be read.
    pub spec: GuardrailSpec,
    /// What is wrong with it. If anything is, nothing meets it.
    pub problems: Vec<Problem>,
    /// Where its condition stands.
    pub conditions: Conditions,
}

/// A demand that is not met (GRD-4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The guardrail.
    pub guardrail: Key,
    /// What becomes of a write that does not meet it.
    pub mode: GuardrailMode,
    /// The reason, as a condition has it.
    pub reason: &'static str,
    /// The demand, as a field of the guardrail.
    pub demand: String,
    /// What was found.
    pub found: String,
    /// What is required.
    pub required: String,
    /// Where it is worst, if that is somewhere.
    pub worst: Option<Instant>,
}

/// What is judged: a policy, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// Which object.
    pub key: &'a Key,
    /// What it means.
    pub lowered: &'a Lowered,
    /// The labels of its namespace, if it is in one and that was seen.
    pub labels: Option<&'a Labels>,
    /// What is over before is not judged.
    pub from: Instant,
}

impl SeenGuardrail {
    /// Reads a guardrail.
    pub fn new(document: &Value) -> Self {
        let kind = &kinds::CHANGE_GUARDRAIL;
        let text = |path: &str| document.pointer(path).and_then(Value::as_str);
        let problems = read::guardrail(kind, document).into_iter().filter(Problem::is_error);
        let problems: Vec<Problem> = problems.collect();
        let spec = document.get("spec").unwrap_or(&Value::Null);
        let spec = GuardrailSpec::deserialize(spec).unwrap_or_else(|_| {
            // Of one that cannot be read as a whole these parts say how much it is meant, and where.
            let part = |field: &str| spec.get(field).cloned().unwrap_or_default();
            let parts = json!({"mode": part("mode"), "selector": part("selector")});
            let mode = json!({"mode": part("mode")});
            let read = |parts: &Value| GuardrailSpec::deserialize(parts).ok();
            read(&parts).or_else(|| read(&mode)).unwrap_or_default()
        });
        Self {
            key: Key::new(kind, None, text("/metadata/name").unwrap_or_default()),
            created: text("/metadata/creationTimestamp").and_then(|text| Instant::parse(text).ok()),
            spec,
            problems,
            conditions: Conditions::of(document, &[names::READY]),
        }
    }

    /// Whether it can be used as it is written.
    pub fn is_usable(&self) -> bool {
        self.problems.is_empty()
    }

    /// What becomes of a write that does not meet it.
    pub fn mode(&self) -> GuardrailMode {
        match self.spec.mode.unwrap_or_default() {
            GuardrailMode::Unknown => GuardrailMode::Enforce,
            mode => mode,
        }
    }

    /// Whether it judges an object, whose namespace has these labels if anybody saw them.
    pub fn selects(&self, key: &Key, labels: Option<&Labels>) -> Selects {
        let Some(selector) = &self.spec.selector else { return Selects::Yes };
        let guarded = guarded(key.kind());
        // A kind that nobody knows may be any.
        let kinds = selector.kinds.as_ref().map_or(Selects::Yes, |kinds| {
            if guarded.is_some_and(|guarded| kinds.contains(&guarded)) {
                Selects::Yes
            } else if kinds.contains(&GuardedKind::Unknown) {
                Selects::CannotTell
            } else {
                Selects::No
            }
        });
        let there = match (&selector.namespace_selector, key.namespace.as_deref()) {
            (None, _) => Selects::Yes,
            (Some(_), None) => Selects::No,
            (Some(chosen), Some(namespace)) => chooses_namespace(chosen, namespace, labels),
        };
        kinds.min(there)
    }

    /// Whether it keeps an override shut for want of somebody who approves it. One that was there before is not touched (GRD-5).
    pub fn keeps_shut(&self, overriding: &SeenOverride, labels: Option<&Labels>) -> bool {
        let earlier =
            overriding.from.zip(self.created).is_some_and(|(from, created)| from < created);
        self.mode() == GuardrailMode::Enforce
            && self.spec.approvals.unwrap_or_default() > 0
            && overriding.approved_by.is_none()
            && !earlier
            && self.selects(&overriding.key, labels) != Selects::No
    }

    /// Every demand that a policy does not meet. `within` finds a policy by its name: when it permits changes, if it can be used.
    pub fn judge(
        &self,
        judged: Judged<'_>,
        within: &dyn Fn(&str) -> Option<TimeSet>,
    ) -> Vec<Breach> {
        if self.selects(judged.key, judged.labels) == Selects::No {
            return Vec::new();
        }
        if !self.is_usable() {
            let wrong = problem_text(&self.problems);
            return vec![self.unclear("spec".to_owned(), wrong)];
        }
        let mut breaches = Vec::new();
        breaches.extend(self.strategy(judged.lowered.strategy));
        if judged.lowered.strategy == Strategy::MaintenanceSchedule {
            let demands = self.spec.minimum_hours.iter().flatten().enumerate();
            breaches
                .extend(demands.filter_map(|(place, demand)| self.hours(place, demand, judged)));
            breaches.extend(self.exclusion(judged));
        }
        breaches.extend(self.within(judged, within));
        breaches
    }

    fn breach(&self, reason: &'static str, demand: String) -> Breach {
        Breach {
            guardrail: self.key.clone(),
            mode: self.mode(),
            reason,
            demand,
            found: String::new(),
            required: String::new(),
            worst: None,
        }
    }

    fn unclear(&self, demand: String, found: String) -> Breach {
        let required = "a guardrail that can be judged".to_owned();
        Breach { found, required, ..self.breach(names::GUARDRAIL_UNCLEAR, demand) }
    }

    fn strategy(&self, strategy: Strategy) -> Option<Breach> {
        let allowed = self.spec.strategies.as_ref()?;
        let own = match strategy {
            Strategy::Permissive => AnyStrategy::Permissive,
            Strategy::Restrictive => AnyStrategy::Restrictive,
            Strategy::MaintenanceSchedule => AnyStrategy::MaintenanceSchedule,
            Strategy::Unknown => AnyStrategy::Unknown,
        };
        if allowed.contains(&own) {
            return None;
        }
        let names: Vec<String> = allowed.iter().map(|allowed| format!("{allowed:?}")).collect();
        let required = format!("one of {}", names.join(", "));
        let found = format!("the strategy {own:?}");
        Some(Breach {
            found,
            required,
            ..self.breach(names::STRATEGY_NOT_ALLOWED, "strategies".into())
        })
    }

    /// GRD-2
    fn hours(&self, place: usize, demand: &MinimumHours, judged: Judged<'_>) -> Option<Breach> {
        let MinimumHours { hours, in_days, stretch } = demand;
        let shortest =
            stretch.as_deref().map_or(Ok(0), |text| format::duration(text).map(i64::from));
        let field = format!("minimumHours[{place}]");
        let rolling = Rolling::new(i64::from(*in_days) * DAY, shortest.unwrap_or(i64::MAX));
        let Ok(rolling) = rolling else {
            return Some(self.unclear(field, "a span that cannot be judged".into()));
        };
        let least = judged.lowered.set.least(rolling, judged.from);
        if least.seconds >= i64::from(*hours) * HOUR {
            return None;
        }
        let stretches = match stretch {
            Some(stretch) => format!(" in stretches of {stretch} or more"),
            None => String::new(),
        };
        Some(Breach {
            found: format!(
                "{}{stretches} in the {in_days} days from {}",
                length(least.seconds),
                least.start
            ),
            required: format!("{hours}h{stretches} in any {in_days} days"),
            worst: Some(least.start),
            ..self.breach(names::TOO_FEW_HOURS, field)
        })
    }

    /// The longest run of what is excluded: two exclusions that touch are one to whoever waits.
    fn exclusion(&self, judged: Judged<'_>) -> Option<Breach> {
        let text = self.spec.longest_exclusion.as_deref()?;
        let Ok(longest) = format::duration(text) else {
            return Some(self.unclear("longestExclusion".into(), format!("the length {text}")));
        };
        let excluded = excluded(judged.lowered);
        // What is under way is judged as a whole, and what nothing of it is free is too long: exact for all time, without a walk (GRD-2).
        let wall = reading(judged.from, &judged.lowered.zone);
        let from = excluded.stretch(wall).start.filter(|_| excluded.contains(wall));
        let free = excluded.clone().complement();
        let rolling = Rolling::new(i64::from(longest) + 1, 0);
        let Ok(rolling) = rolling else {
            return Some(self.unclear("longestExclusion".into(), format!("the length {text}")));
        };
        let least = free.least(rolling, from.unwrap_or(wall));
        (least.seconds == 0).then(|| {
            let run = excluded.stretch(least.start);
            let start = run.start.unwrap_or(least.start);
            let lasting = match run.end {
                Some(end) => format!("of {}", length(end.unix() - start.unix())),
                None => "without end".into(),
            };
            let (date, time) = (Zone::utc().date_of(start), Zone::utc().time_of(start));
            let start = judged.lowered.zone.first_instant_of(date, time);
            Breach {
                found: format!("an exclusion {lasting} from {start}"),
                required: format!("{text} at most"),
                worst: Some(start),
                ..self.breach(names::EXCLUSION_TOO_LONG, "longestExclusion".into())
            }
        })
    }

    fn within(&self, judged: Judged<'_>, find: &dyn Fn(&str) -> Option<TimeSet>) -> Option<Breach> {
        let name = &self.spec.within.as_ref()?.name;
        if *judged.key == Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, name) {
            return None;
        }
        let Some(around) = find(name) else {
            let found = format!("no ChangeManagementPolicy {name} that can be used");
            return Some(self.unclear("within".into(), found));
        };
        let outside = judged.lowered.set.first_outside(&around, judged.from)?;
        let until = outside.end.map_or_else(String::new, |end| format!(" until {end}"));
        let start = outside.start.unwrap_or(judged.from);
        Some(Breach {
            found: format!("windows from {start}{until} that are outside"),
            required: format!("windows within those of ChangeManagementPolicy {name}"),
            worst: Some(start),
            ..self.breach(names::NOT_WITHIN, "within".into())
        })
    }
}

impl Breach {
    /// The same as a problem of the policy, with the field that somebody can mend.
    pub fn problem(&self) -> Problem {
        let field = match self.reason {
            names::STRATEGY_NOT_ALLOWED => "spec.strategy",
            names::EXCLUSION_TOO_LONG => "spec.maintenanceSchedule.exclude",
            names::GUARDRAIL_UNCLEAR => "spec",
            _ => "spec.maintenanceSchedule",
        };
        let code = match self.mode {
            GuardrailMode::Enforce | GuardrailMode::Unknown => Code::GuardrailEnforced,
            GuardrailMode::Warn | GuardrailMode::Audit => Code::GuardrailNotMet,
        };
        Problem::new(&FieldPath::of(field), code, self.to_string())
    }
}

impl std::fmt::Display for Breach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { guardrail, demand, found, required, .. } = self;
        write!(f, "{guardrail} ({demand}) requires {required}, and finds {found}")
    }
}

/// From when on a policy is judged at an instant: since the state began that it is in, or since it was last written. It moves only when a
/// status is written anyway (POL-7), and leaves alone what is over.
pub fn judged_from(set: &TimeSet, changed: Option<Instant>, now: Instant) -> Instant {
    let since = set.stretch(now).start.into_iter().chain(changed).max();
    since.map_or(now, |since| since.min(now))
}

/// What the exclusions of a policy take out, as the wall clock of its zone reads it, on a clock that nobody moves: a day counts as 24 hours
/// whatever clocks do, as it does to the API server, and what touches there touches here.
fn excluded(lowered: &Lowered) -> TimeSet {
    let midnight = |date: Date| Zone::utc().first_instant_of(date, TimeOfDay::MIDNIGHT);
    let mut spans = Vec::new();
    let mut recurring = Vec::new();
    for exclusion in lowered.schedule.exclusions() {
        match &exclusion.when {
            When::Days { from, until, .. } => {
                spans.push(Span::new(midnight(*from), midnight(*until)));
            }
            When::Instants(span) => {
                let start = reading(span.start, &lowered.zone);
                let length = span.end.unix() - span.start.unix();
                spans.push(Span::new(start, start.saturating_add(length)));
            }
            When::Recurring { rule, .. } => {
                let rule = Recurring { zone: Zone::utc(), ..rule.clone() };
                // It is a rule already, and only its clock is another.
                recurring.extend(Exclusion::recurring(rule, None));
            }
        }
    }
    let sets = recurring.into_iter().filter_map(|one| match one.when {
        When::Recurring { set, .. } => Some(set),
        When::Days { .. } | When::Instants(_) => None,
    });
    sets.fold(TimeSet::ranges(spans), TimeSet::union)
}

/// What the wall clock of a zone reads at an instant, as an instant of UTC.
fn reading(at: Instant, zone: &Zone) -> Instant {
    at.saturating_add(i64::from(zone.offset_at(at)))
}

fn guarded(kind: &Kind) -> Option<GuardedKind> {
    GuardedKind::deserialize(json!(kind.name)).ok().filter(|known| *known != GuardedKind::Unknown)
}

/// A length as people write it: `16h`, `740h1s`.
fn length(seconds: i64) -> String {
    u32::try_from(seconds).map_or_else(|_| format!("{seconds}s"), format::duration_text)
}

#[cfg(test)]
mod tests;
