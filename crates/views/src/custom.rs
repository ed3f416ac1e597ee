//! Would the API server take rooms of somebody's own? (RCH-14)

use std::fmt::Write as _;

use serde::Serialize;

use crate::safe::printable;

/// A room that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What it is called.
    pub name: String,
    /// Why the server would not take it; none if it would.
    pub said: Option<String>,
}

/// Rooms that were tried, to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rooms(pub Vec<Checked>);

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item<'a> {
    name: &'a str,
    taken: bool,
    reason: Option<&'a str>,
}

impl Rooms {
    /// Whether the server would take them all.
    pub fn all_taken(&self) -> bool {
        self.0.iter().all(|room| room.said.is_none())
    }

    /// For programs.
    pub fn report(&self) -> Vec<Item<'_>> {
        let items = self.0.iter().map(|room| Item {
            name: &room.name,
            taken: room.said.is_none(),
            reason: room.said.as_deref(),
        });
        items.collect()
    }

    /// For people.
    pub fn drawing(&self) -> String {
        if self.0.is_empty() {
            return "the values have no rooms of your own: changeGates.custom is empty\n"
                .to_owned();
        }
        let mut text = String::new();
        for Checked { name, said } in &self.0 {
            let said = said.as_deref().map_or_else(
                || "the API server takes it".to_owned(),
                |said| format!("the API server does not take it: {}", printable(said)),
            );
            let _ = writeln!(text, "{name}: {said}");
        }
        text
    }
}
