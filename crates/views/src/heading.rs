//! What stands above a view? The name of an object and its state now.

use schedule::{Instant, Zone};
use tidegate_core::{
    document::problem::Object,
    policy::{read::Policy, verdict::Verdict},
};

use crate::{
    drawing::{Colour, Style},
    safe::printable,
    text,
};

/// The name of a policy and its state now.
pub fn heading(policy: &Policy, now: Instant, colour: Colour) -> String {
    let Policy { object, lowered, .. } = policy;
    let (verdict, until) = (Verdict::of(&lowered.set, now), lowered.set.next_change(now));
    headline(object, verdict, until, &lowered.zone, now, colour)
}

/// The name of an object and its state now.
pub fn headline(
    object: &Object,
    verdict: Verdict,
    until: Option<Instant>,
    zone: &Zone,
    now: Instant,
    colour: Colour,
) -> String {
    let until = match until {
        Some(end) => {
            format!("until {}, {}", text::edge(Some(end), zone, ""), text::relative(end, now))
        }
        None => "for ever".into(),
    };
    let said = match verdict {
        Verdict::Permitted => {
            format!("changes are {} {until}", colour.paint(Style::Open, verdict.as_str()))
        }
        Verdict::Held => {
            format!("changes are {} {until}", colour.paint(Style::Paused, verdict.as_str()))
        }
        // Whatever its end, it is not known (GATE-12).
        Verdict::CannotTell => format!(
            "nobody {} whether changes are permitted, so they are held",
            colour.paint(Style::Paused, "can tell")
        ),
    };
    let object = colour.paint(Style::Strong, &printable(&object.to_string()));
    format!("{object}\n  at {now} {said}\n")
}
