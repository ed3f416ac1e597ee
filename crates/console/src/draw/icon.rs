//! What do states look like, small? A shape each, so that they differ without colour.

use maud::{Markup, html};
use views::now::Manner;

/// The sign of a state. It says nothing that no word beside it says.
pub(crate) fn manner(manner: Manner) -> Markup {
    match manner {
        Manner::Open => disc(),
        Manner::Overridden => diamond(),
        Manner::Held | Manner::HeldByHand => ring(),
        Manner::Frozen => flake(),
        Manner::Unknown => triangle(),
    }
}

/// The class of a state.
pub(crate) fn class(manner: Manner) -> &'static str {
    match manner {
        Manner::Open => "open",
        Manner::Overridden => "override",
        Manner::Held => "held",
        Manner::HeldByHand => "hand",
        Manner::Frozen => "frozen",
        Manner::Unknown => "unknown",
    }
}

/// Open.
pub(crate) fn disc() -> Markup {
    html! {
        svg class="icon open" viewBox="0 0 16 16" aria-hidden="true" {
            circle class="on" cx="8" cy="8" r="7" {}
            path class="cut" d="M4.8 8.2 7 10.4 11.2 6" {}
        }
    }
}

/// Held.
pub(crate) fn ring() -> Markup {
    html! {
        svg class="icon held" viewBox="0 0 16 16" aria-hidden="true" {
            circle class="ring" cx="8" cy="8" r="6.2" {}
            path class="ring" d="M6.3 5.8v4.4M9.7 5.8v4.4" {}
        }
    }
}

/// Frozen.
pub(crate) fn flake() -> Markup {
    html! {
        svg class="icon frozen" viewBox="0 0 16 16" aria-hidden="true" {
            path class="ring" d="M8 1.2v13.6M2.1 4.6l11.8 6.8M13.9 4.6 2.1 11.4M6.2 2.2 8 4l1.8-1.8M6.2 13.8 8 12l1.8 1.8M2 7.1l2.4-.6-.7-2.4M14 8.9l-2.4.6.7 2.4M2 8.9l2.4.6-.7 2.4M14 7.1l-2.4-.6.7-2.4" {}
        }
    }
}

/// Open by override.
pub(crate) fn diamond() -> Markup {
    html! {
        svg class="icon override" viewBox="0 0 16 16" aria-hidden="true" {
            path class="on" d="M8 .8 15.2 8 8 15.2.8 8z" {}
            path class="cut" d="M8 4.6v4M8 11.2v.1" {}
        }
    }
}

/// Nobody can tell, or somebody is needed.
pub(crate) fn triangle() -> Markup {
    html! {
        svg class="icon unknown" viewBox="0 0 16 16" aria-hidden="true" {
            path class="on" d="M8 1.2 15.4 14.4H.6z" {}
            path class="cut" d="M8 6v3.6M8 12.1v.1" {}
        }
    }
}

/// The sign of the console.
pub(crate) fn sign() -> Markup {
    html! {
        svg viewBox="0 0 24 24" aria-hidden="true" {
            path class="post" d="M2 3h4v18H2zM18 3h4v18h-4zM6 8h12v3H6z" {}
            path class="wave" d="M6 15c2-2 4-2 6 0s4 2 6 0v6H6z" {}
        }
    }
}
