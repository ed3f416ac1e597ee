//! Which conditions of an object are ours, and where do they stand?

use api::meta::Condition;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::patch::Presence;

/// The conditions that are ours in a list that others write too. Where upstream lists are atomic, a condition is changed by its
/// place in the list, under the version that the place was read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Whether there is a status at all.
    pub status: Presence,
    /// Whether there is a list of conditions.
    pub list: Presence,
    /// Ours, with their places.
    placed: Vec<(usize, Condition)>,
}

impl Conditions {
    /// The ones that are ours.
    pub fn ours(&self) -> impl Iterator<Item = &Condition> {
        self.placed.iter().map(|(_, condition)| condition)
    }

    /// One of ours, by its type.
    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.ours().find(|condition| condition.kind == kind)
    }

    /// Its place in the list.
    pub fn place(&self, kind: &str) -> Option<usize> {
        self.placed.iter().find(|(_, condition)| condition.kind == kind).map(|(place, _)| *place)
    }

    /// The conditions of these types, as a document has them.
    pub(crate) fn of(document: &Value, ours: &[&str]) -> Self {
        let presence = |there: bool| if there { Presence::Present } else { Presence::Absent };
        let list = document.pointer("/status/conditions").and_then(Value::as_array);
        let mine = |entry: &Value| {
            entry.get("type").and_then(Value::as_str).is_some_and(|kind| ours.contains(&kind))
        };
        Self {
            status: presence(document.get("status").is_some_and(Value::is_object)),
            list: presence(list.is_some()),
            placed: list
                .into_iter()
                .flatten()
                .enumerate()
                .filter(|(_, entry)| mine(entry))
                .filter_map(|(place, entry)| Some((place, decoded(Some(entry))?)))
                .collect(),
        }
    }
}

/// A part of a status, where there is one that can be read: a strange one is no fault of the specification.
pub(crate) fn decoded<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.and_then(|value| T::deserialize(value).ok())
}
