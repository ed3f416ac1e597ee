//! Which windows does the server read? From a set of instants and the present, `status.windows` of a gate and until when they are known.
//!
//! - RCH-14: 64 windows ahead or 400 days, whichever is less; they are rewritten when one of them has ended, when the set differs from them, and
//!   when less than half of either is left. In between nothing is written (POL-7).
//! - RCH-10: a set that covers all time is one window without edges.
//! - RCH-2: from `computedUntil` on the gate holds, so it is the start of the first window that is not listed; absent if there is none.

use api::reach::{MOST_WINDOWS, Window};
use schedule::{Instant, TimeSet};

/// How far windows are computed ahead, in seconds: a year and a month, so that a yearly window is always among them.
pub const HORIZON: i64 = 400 * 86_400;

/// The windows of a gate from an instant on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// The windows in order, from the one that is open or comes next.
    pub windows: Vec<Window>,
    /// From when on nothing is known; never, if absent.
    pub computed_until: Option<Instant>,
}

/// What the status should say, given what it says: the same, as long as that is true and reaches far enough.
pub fn ahead(set: &TimeSet, now: Instant, before: Option<&Ahead>) -> Ahead {
    match before {
        Some(before) if suffices(before, now) && is_true(before, set, now) => before.clone(),
        _ => computed(set, now, now.saturating_add(HORIZON), MOST_WINDOWS),
    }
}

/// When the windows must be looked at again although nobody edits anything: when the first has ended, and when half of them is used up.
pub fn look_again(ahead: &Ahead) -> Option<Instant> {
    let ended = ahead.windows.first().and_then(|first| instant(first.end_time.as_deref()));
    let half = ahead.computed_until.filter(|_| ahead.windows.len() < MOST_WINDOWS / 2);
    let half = half.map(|until| until.saturating_add(-HORIZON / 2));
    [ended, half].into_iter().flatten().min()
}

/// Whether windows that may come are known far enough ahead.
fn suffices(ahead: &Ahead, now: Instant) -> bool {
    let far = |until: Instant| until > now.saturating_add(HORIZON / 2);
    ahead.computed_until.is_none_or(|until| far(until) || ahead.windows.len() >= MOST_WINDOWS / 2)
}

/// Whether the windows are those of the set, from now to where they claim to be known.
fn is_true(ahead: &Ahead, set: &TimeSet, now: Instant) -> bool {
    let Some(until) = ahead.computed_until else {
        return *ahead == computed(set, now, now.saturating_add(HORIZON), MOST_WINDOWS);
    };
    // One more than are listed, so that one too few is seen.
    let found = computed(set, now, until, ahead.windows.len().saturating_add(1));
    found.windows == ahead.windows && set.state(until).inside
}

/// The windows that begin before `limit`, at most so many.
fn computed(set: &TimeSet, now: Instant, limit: Instant, most: usize) -> Ahead {
    let mut windows = Vec::new();
    let mut at = now;
    loop {
        let stretch = set.stretch(at);
        if stretch.inside {
            if at > now && (at >= limit || windows.len() == most) {
                return Ahead { windows, computed_until: Some(at) };
            }
            let text = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
            windows.push(Window { start_time: text(stretch.start), end_time: text(stretch.end) });
        }
        match stretch.end {
            Some(end) => at = end,
            None => return Ahead { windows, computed_until: None },
        }
    }
}

fn instant(text: Option<&str>) -> Option<Instant> {
    Instant::parse(text?).ok()
}

#[cfg(test)]
mod tests;
