//! What may changes disrupt? (NDP-1) Where we roll configurations out, we also say which of the administrator's policies act.

use super::{Duty, Row};
use crate::{
    cluster::{
        decide,
        seen::{Part, Seen, SeenDisruption},
    },
    gate::plan::Plan,
};

/// What changes may disrupt.
pub static MACHINE_CONFIGURATION: Row = Row {
    managed: Some(Duty::to(|seen, _, now| match seen {
        Seen::Part(part) => decide::disruption::plan(part, now),
        Seen::Policy(_) | Seen::Gated(_) => Plan::default(),
    })),
    ..Row::part(api::kinds::MACHINE_CONFIGURATION, |document| {
        Part::Disruption(Box::new(SeenDisruption::new(document)))
    })
};
