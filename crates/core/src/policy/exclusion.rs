//! What is taken out of windows, when, and why? (TIME-10)
//!
//! An exclusion is whole days, a span of instants, or what comes again. Each by itself answers what people ask of it: does it hold, until when,
//! when does it come next. The set of a policy is made of all of them at once: days lie in the one leaf that the windows are in, spans are one
//! sorted list, and what recurs is a set of windows that is taken away, so that no question walks over them (TIME-14).

use std::{ops::Range, sync::Arc};

use schedule::{Date, Instant, Schedule, Span, TimeOfDay, TimeSet, Windows, Zone};

use crate::policy::recurring::Recurring;

/// What is taken out, and why.
#[derive(Clone, Debug)]
pub struct Exclusion {
    /// When.
    pub when: When,
    /// Why, in words for people.
    pub reason: Option<Arc<str>>,
}

/// When an exclusion holds.
#[derive(Clone, Debug)]
pub enum When {
    /// On whole days of a zone.
    Days {
        /// The first of them.
        from: Date,
        /// The day after the last one.
        until: Date,
        /// The same as instants.
        span: Range<Instant>,
    },
    /// From one instant until before another.
    Instants(Range<Instant>),
    /// Again and again.
    Recurring {
        /// By which rule.
        rule: Recurring,
        /// The instants that the rule takes out.
        set: TimeSet,
    },
}

impl Exclusion {
    /// Whole days of a zone.
    pub fn days(days: schedule::Exclusion, zone: &Zone) -> Self {
        let schedule::Exclusion { from, until, reason } = days;
        let midnight = |date: Date| zone.first_instant_of(date, TimeOfDay::MIDNIGHT);
        Self { when: When::Days { from, until, span: midnight(from)..midnight(until) }, reason }
    }

    /// The instants of a range.
    pub fn instants(range: Range<Instant>, reason: Option<&str>) -> Self {
        Self { when: When::Instants(range), reason: reason.map(Arc::from) }
    }

    /// What a rule opens, were it a window.
    pub fn recurring(rule: Recurring, reason: Option<&str>) -> Result<Self, schedule::Error> {
        let set = TimeSet::from(Schedule::new(Some(rule.windows()?), &[], &rule.zone)?);
        Ok(Self { when: When::Recurring { rule, set }, reason: reason.map(Arc::from) })
    }

    /// The run of it that an instant lies in, if it does.
    pub fn around(&self, at: Instant) -> Option<Span> {
        match &self.when {
            When::Days { span, .. } | When::Instants(span) => {
                span.contains(&at).then(|| Span::new(span.start, span.end))
            }
            When::Recurring { set, .. } => {
                let schedule::Stretch { inside, start, end } = set.stretch(at);
                inside.then_some(Span { start, end })
            }
        }
    }

    /// When it begins next, strictly after an instant at which it does not hold.
    pub fn next(&self, after: Instant) -> Option<Instant> {
        match &self.when {
            When::Days { span, .. } | When::Instants(span) => {
                Some(span.start).filter(|start| *start > after)
            }
            When::Recurring { set, .. } => set.next_change(after),
        }
    }

    /// Its runs that meet a range, in order, each as it is.
    pub fn spans(&self, range: &Range<Instant>) -> Vec<Span> {
        match &self.when {
            When::Days { span, .. } | When::Instants(span) => {
                let meets = span.start < range.end && range.start < span.end;
                meets.then(|| Span::new(span.start, span.end)).into_iter().collect()
            }
            When::Recurring { set, .. } => set.spans(range.clone()).collect(),
        }
    }

    /// Whether it holds for all of a range.
    pub fn covers(&self, range: &Range<Instant>) -> bool {
        range.start < range.end
            && self
                .around(range.start)
                .is_some_and(|run| run.end.is_none_or(|end| end >= range.end))
    }
}

/// The exclusion that holds at an instant, and the run of it. Of several the one that ends last, because it is the one that people wait for; a
/// reason says more than none.
pub fn holding<'a>(
    exclusions: impl IntoIterator<Item = &'a Exclusion>,
    at: Instant,
) -> Option<(&'a Exclusion, Span)> {
    let holding = exclusions.into_iter().filter_map(|one| Some((one, one.around(at)?)));
    holding.max_by_key(|(one, run)| (run.end.unwrap_or(Instant::MAX), one.reason.is_some()))
}

/// Windows minus exclusions; without windows, everything else, and without either nothing (TIME-11).
pub fn windows_without(
    windows: Option<Windows>,
    exclusions: &[Exclusion],
    zone: &Zone,
) -> Result<TimeSet, schedule::Error> {
    let mut days = Vec::new();
    let mut spans = Vec::new();
    let mut recurring = Vec::new();
    for exclusion in exclusions {
        match &exclusion.when {
            When::Days { from, until, .. } => {
                let (from, until, reason) = (*from, *until, exclusion.reason.clone());
                days.push(schedule::Exclusion { from, until, reason });
            }
            When::Instants(span) => spans.push(Span::new(span.start, span.end)),
            When::Recurring { set, .. } => recurring.push(set),
        }
    }
    // One leaf in a few words of memory, and no intersection of the parts: a fleet has thousands of policies, and each is asked all the time.
    let leaf = if windows.is_none() && days.is_empty() && !exclusions.is_empty() {
        TimeSet::always()
    } else {
        TimeSet::from(Schedule::new(windows, &days, zone)?)
    };
    let without = leaf.difference(TimeSet::ranges(spans));
    Ok(recurring.into_iter().cloned().fold(without, TimeSet::difference))
}

#[cfg(test)]
mod tests;
