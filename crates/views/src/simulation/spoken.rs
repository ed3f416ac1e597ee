//! How is a forecast said in a sentence?

use schedule::{Instant, Zone};
use tidegate_core::simulate::{Course, Forecast, Settings, verdict::Outlook};

use crate::spoken;

/// What would happen, in a sentence: who does not get there, or when the last is done.
pub fn sentence(forecast: &Forecast, settings: &Settings, zone: &Zone) -> String {
    let start = settings.range.start;
    let length = spoken::length(settings.range.end.unix() - start.unix());
    if forecast.pools.is_empty() && forecast.others.is_empty() {
        return "There is nothing here that waits, and no pool that something could arrive in."
            .into();
    }
    let bad: Vec<&Course> =
        forecast.pools.iter().filter(|course| !course.verdict.is_fine()).collect();
    let stopped = forecast.others.iter().filter(|one| one.is_stopped || one.starts.is_none());
    let stopped: Vec<String> = stopped.map(|one| one.object.to_string()).collect();
    if let [first, rest @ ..] = bad.as_slice() {
        let name = first.object.to_string();
        return match rest.len() {
            0 => format!("{name} does not get there within {length}."),
            more => {
                format!("{name} and {} more do not get there within {length}.", spoken::count(more))
            }
        };
    }
    if let [first, rest @ ..] = stopped.as_slice() {
        return match rest.len() {
            0 => format!("{first} does not start within {length}."),
            more => {
                format!("{first} and {} more do not start within {length}.", spoken::count(more))
            }
        };
    }
    match last(forecast) {
        None => "Nothing is pending, and nothing arrives.".into(),
        Some(at) if forecast.pools.iter().any(|course| is_unfinished(&course.verdict)) => {
            let when = spoken::when_in_a_sentence(at, start, zone);
            format!(
                "Changes finish as they come, so far {when}; the last of them waits at the end."
            )
        }
        Some(at) => {
            let when = spoken::when_in_a_sentence(at, start, zone);
            format!("Everything gets there, the last {when}.")
        }
    }
}

/// The same in a few words, for the title of a page.
pub fn title(forecast: &Forecast) -> String {
    let bad = forecast.pools.iter().filter(|course| !course.verdict.is_fine()).count();
    match bad {
        0 => "all get there".into(),
        1 => "1 does not get there".into(),
        bad => format!("{bad} do not get there"),
    }
}

fn is_unfinished(outlook: &Outlook) -> bool {
    matches!(outlook, Outlook::Unfinished { .. })
}

/// When the last thing happens that is known to happen.
fn last(forecast: &Forecast) -> Option<Instant> {
    let changes = forecast.pools.iter().flat_map(|course| &course.changes);
    let finished = changes.filter_map(|change| change.finished.or(change.started));
    finished.chain(forecast.others.iter().filter_map(|one| one.starts)).max()
}
