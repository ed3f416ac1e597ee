//! How are values drawn? As elements of a page, with their geometry in attributes, so that the page's policy needs no exception for styles.

pub(crate) mod course;
pub(crate) mod edit;
pub(crate) mod icon;
pub(crate) mod machine;
pub(crate) mod strip;

use maud::{Markup, html};
use schedule::{Instant, Zone};
use views::{safe::printable, spoken};

/// Text of others is cut here: a reason of ten kilobytes is somebody's joke.
const LONGEST: usize = 500;

/// Text that others wrote: in one line, without what turns words around, not longer than a person reads, and never a link.
pub(crate) fn free(text: &str) -> Markup {
    html! { bdi { (cut(text)) } }
}

/// The same as a text.
pub(crate) fn cut(text: &str) -> String {
    let text = printable(text);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

/// An instant, as the clock of a zone shows it.
pub(crate) fn when(at: Instant, now: Instant, zone: &Zone) -> Markup {
    let full = format!("{at}");
    html! { time datetime=(at) title=(full) { (spoken::when(at, now, zone)) } }
}

/// How far away an instant is, counted down by the script.
pub(crate) fn countdown(at: Instant, now: Instant) -> Markup {
    let left = at.unix() - now.unix();
    let said = if left > 0 { format!("in {}", spoken::short_length(left)) } else { "now".into() };
    html! { time datetime=(at) data-count="" { (said) } }
}
