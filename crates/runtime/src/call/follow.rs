//! What happens in a collection from a version on? Events one by one, bookmarks among them, and the end of the stream told.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};

use super::{Ask, CallError, Cluster, lines::Lines, list::Collection};
use crate::path::encoded;

/// A watch that is open.
#[derive(Debug)]
pub struct Follow {
    lines: Lines,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it was.
    pub what: What,
    /// The name of the object; a bookmark has none.
    pub name: Option<String>,
    /// Its namespace, if it has one.
    pub namespace: Option<String>,
    /// Its version: where to follow on from.
    pub version: String,
    line: Bytes,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new, or other than before.
    Changed,
    /// It is gone.
    Deleted,
    /// Nothing: all that was before this version has been told.
    Bookmark,
}

impl Cluster {
    /// Follows a collection from a version on. The server ends it after so long, if that is given; the reader has to bound the silence.
    pub async fn follow(
        &self,
        collection: &Collection,
        from: &str,
        length: Option<Duration>,
    ) -> Result<Follow, CallError> {
        let mut query = "watch=true&allowWatchBookmarks=true".to_owned();
        if let Some(length) = length {
            query = format!("{query}&timeoutSeconds={}", length.as_secs());
        }
        let query = format!("{query}&resourceVersion={}", encoded(from));
        let body = self.stream(Ask::path(collection.query(&query))).await?;
        Ok(Follow { lines: Lines::new(body) })
    }
}

impl Follow {
    /// The next event; none when the server has ended the watch, as it does after a while. A refusal in the middle of the stream, 410 for
    /// a version that was forgotten most of all, is an error as it is at the start. Nothing is lost if this is given up and called again.
    pub async fn next(&mut self) -> Result<Option<Event>, CallError> {
        let line = self.lines.next().await.map_err(|error| CallError::Lost(error.into()))?;
        line.map(Event::read).transpose()
    }

    /// Waits for the next event that is no bookmark; none at the end.
    pub async fn next_change(&mut self) -> Result<Option<Event>, CallError> {
        loop {
            match self.next().await? {
                Some(Event { what: What::Bookmark, .. }) => {}
                other => return Ok(other),
            }
        }
    }
}

impl Event {
    /// Reads enough of an event to see whether it is news.
    fn read(line: Bytes) -> Result<Self, CallError> {
        let glimpse: Glimpse = serde_json::from_slice(&line).map_err(CallError::Garbled)?;
        let what = match &*glimpse.kind {
            "ERROR" => return Err(CallError::ended(&line)),
            "BOOKMARK" => What::Bookmark,
            "DELETED" => What::Deleted,
            _ => What::Changed,
        };
        let Metadata { name, namespace, resource_version: version } = glimpse.object.metadata;
        if version.is_empty() {
            // Every event has one. What nobody knows the place of says neither what happened nor that nothing else did (GATE-11).
            return Err(CallError::garbled("an event without a version"));
        }
        Ok(Self { what, name, namespace, version, line })
    }

    /// The whole object.
    pub fn object<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        let whole: Whole<T> = serde_json::from_slice(&self.line).map_err(CallError::Garbled)?;
        Ok(whole.object)
    }
}

#[derive(Deserialize)]
struct Glimpse {
    #[serde(rename = "type")]
    kind: String,
    object: GlimpseObject,
}

/// What all objects have in common, as far as it tells them apart.
#[derive(Deserialize)]
pub(crate) struct GlimpseObject {
    #[serde(default)]
    pub(crate) metadata: Metadata,
}

#[derive(Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) name: Option<String>,
    pub(crate) namespace: Option<String>,
    #[serde(rename = "resourceVersion", default)]
    pub(crate) resource_version: String,
}

#[derive(Deserialize)]
struct Whole<T> {
    object: T,
}
