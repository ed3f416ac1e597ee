//! What does a node look like, small? A shape for each phase, as the terminal has them: done, waits, emptying, changing, stuck, silent.

use maud::{Markup, html};
use tidegate_core::cluster::phase::Phase;

/// The sign of a phase. It says nothing that no word beside it says.
pub(crate) fn phase(phase: &Phase) -> Markup {
    html! {
        svg class=(format!("icon machine {}", class(phase))) viewBox="0 0 16 16" aria-hidden="true" { (shape(phase)) }
    }
}

/// Many nodes of a place in a row, named as a whole.
pub(crate) fn row<'a>(phases: impl Iterator<Item = (&'a str, &'a Phase)>, label: &str) -> Markup {
    html! {
        div class="machines" role="img" aria-label=(label) {
            @for (name, phase) in phases {
                svg class=(format!("icon machine {}", class(phase))) viewBox="0 0 16 16" {
                    title { (crate::draw::cut(name)) ": " (phase.as_str()) }
                    (shape(phase))
                }
            }
        }
    }
}

/// The class of a phase.
pub(crate) fn class(phase: &Phase) -> &'static str {
    match phase {
        Phase::Done => "open",
        Phase::Waiting | Phase::Silent => "held",
        Phase::Draining(None) | Phase::Applying => "moving",
        Phase::Draining(Some(_)) | Phase::Failing(_) => "unknown",
    }
}

fn shape(phase: &Phase) -> Markup {
    html! {
        @match phase {
            Phase::Done => circle class="on" cx="8" cy="8" r="6.6" {},
            Phase::Waiting => circle class="ring" cx="8" cy="8" r="5.8" {},
            Phase::Draining(None) => {
                circle class="ring" cx="8" cy="8" r="5.8" {}
                path class="on" d="M8 8V2.2A5.8 5.8 0 0 1 13.8 8z" {}
            },
            Phase::Draining(Some(_)) => {
                circle class="ring" cx="8" cy="8" r="5.8" {}
                path class="ring" d="M8 4.6v4M8 11.2v.1" {}
            },
            Phase::Applying => {
                circle class="ring" cx="8" cy="8" r="5.8" {}
                path class="on" d="M8 2.2A5.8 5.8 0 0 1 8 13.8z" {}
            },
            Phase::Failing(_) => path class="ring thick" d="M3 3 13 13M13 3 3 13" {},
            Phase::Silent => circle class="ring dots" cx="8" cy="8" r="5.8" {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phases differ by what is drawn, not by its colour.
    #[test]
    fn every_phase_has_a_shape_of_its_own() {
        let all = [
            Phase::Done,
            Phase::Waiting,
            Phase::Draining(None),
            Phase::Draining(Some("budget".into())),
            Phase::Applying,
            Phase::Failing("disk".into()),
            Phase::Silent,
        ];
        for (place, one) in all.iter().enumerate() {
            for other in &all[place + 1..] {
                let (one_is, other_is) = (shape(one).into_string(), shape(other).into_string());
                assert_ne!(one_is, other_is, "{one:?} and {other:?}");
            }
        }
    }
}
