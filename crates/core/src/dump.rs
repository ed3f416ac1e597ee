//! What of a cluster may be handed to somebody who helps? Every object that change management reads, without what is nobody else's business.
//!
//! - [`taken`] is the table: which kinds, in which order, and what of each stays as it is.
//! - [`redact`] hides the rest: a text that is not listed becomes a number, the same number for the same text, so that what was equal stays equal and
//!   nothing else is told. The same objects give the same bytes (DET-1).
//! - A dump begins with a [`head`] by which whoever reads files knows one, what could not be read, and what was hidden.
//!
//! Secrets are never asked for; of those in which Helm keeps releases the server sends names and labels alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::release::of::Of;

pub mod redact;
mod secret;
pub mod taken;

/// The group and version of a head.
pub const API_VERSION: &str = "tidegate/v1";

/// Its kind.
pub const KIND: &str = "TidegateDump";

/// How every dump begins.
pub const BEGINS: &str = "apiVersion: tidegate/v1\nkind: TidegateDump\n";

/// What is told of a cluster as a whole.
#[derive(Clone, Debug)]
pub struct About {
    /// The version of the command that looked.
    pub command: String,
    /// The version that the API server tells; none if it tells nobody.
    pub kubernetes: Option<String>,
    /// Whose control plane it has, if it has one that is updated by an object.
    pub plane: Option<Of>,
}

/// What became of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its group and version.
    pub api_version: String,
    /// Its name.
    pub kind: String,
    /// How many objects are in the dump.
    pub objects: usize,
    /// How many are not, because there are too many.
    pub left_out: usize,
    /// Why none could be read.
    pub unread: Option<String>,
}

impl Content {
    /// That of a kind which was read.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
        Self { api_version, kind, objects: 0, left_out: 0, unread: None }
    }
}

/// How often something was hidden, by kind and field.
pub type Hidden = BTreeMap<(String, String), usize>;

/// The first document of a dump.
pub fn head(about: &About, contents: &[Content], hidden: &Hidden) -> Value {
    let content = |content: &Content| {
        let mut row = json!({"apiVersion": content.api_version, "kind": content.kind, "objects": content.objects});
        if content.left_out > 0 {
            row["leftOut"] = json!(content.left_out);
        }
        if let Some(why) = &content.unread {
            row["unread"] = json!(why);
        }
        row
    };
    let row = |((kind, field), count): (&(String, String), &usize)| json!({"kind": kind, "field": field, "count": count});
    let mut head = json!({"apiVersion": API_VERSION, "kind": KIND, "command": about.command});
    if let Some(version) = &about.kubernetes {
        head["kubernetes"] = json!(version);
    }
    if let Some(plane) = about.plane {
        head["controlPlane"] = json!(if plane == Of::Stock { STOCK } else { "Tidegate" });
    }
    head["contents"] = contents.iter().map(content).collect();
    head["redacted"] = hidden.iter().map(row).collect();
    head
}

/// What a head says of a control plane that never heard of us (CV-4).
const STOCK: &str = "Stock";

/// What the head of a dump says, for whoever reads one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Whether its control plane never heard of us.
    pub is_stock: bool,
    /// What became of each kind.
    pub contents: Vec<Content>,
}

impl Head {
    /// What a document says, if it is a head.
    pub fn of(document: &Value) -> Option<Self> {
        if document["apiVersion"] != API_VERSION || document["kind"] != KIND {
            return None;
        }
        let contents = document["contents"].as_array().into_iter().flatten();
        let contents = contents.filter_map(|row| {
            let count = |field: &str| row[field].as_u64().and_then(|n| usize::try_from(n).ok());
            Some(Content {
                objects: count("objects").unwrap_or_default(),
                left_out: count("leftOut").unwrap_or_default(),
                unread: row["unread"].as_str().map(str::to_owned),
                ..Content::new(row["apiVersion"].as_str()?, row["kind"].as_str()?)
            })
        });
        Some(Self { is_stock: document["controlPlane"] == STOCK, contents: contents.collect() })
    }

    /// What became of a kind, by its name.
    pub fn content(&self, kind: &str) -> Option<&Content> {
        self.contents.iter().find(|content| content.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_head_says_is_read_back() {
        let about = About {
            command: "0.2.0".into(),
            kubernetes: Some("v1.36.3".into()),
            plane: Some(Of::Stock),
        };
        let contents = [
            Content { objects: 2, left_out: 1, ..Content::new("v1", "Node") },
            Content { unread: Some("forbidden".into()), ..Content::new("v1", "Secret") },
        ];
        let hidden = Hidden::from([(("Node".to_owned(), "metadata.annotations".to_owned()), 3)]);
        let head = head(&about, &contents, &hidden);
        let read = Head::of(&head).unwrap();
        assert_eq!(read, Head { is_stock: true, contents: contents.to_vec() });
        assert_eq!(read.content("Node").unwrap().left_out, 1);
        assert_eq!(head["redacted"][0]["count"], 3);
        assert_eq!(Head::of(&json!({"apiVersion": "v1", "kind": "Node"})), None);
    }
}
