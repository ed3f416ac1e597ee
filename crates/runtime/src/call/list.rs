//! What does a collection hold? All of it, however many pages that takes: the one pager.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};

use super::{Ask, CallError, Cluster, JSON, METADATA, Verb};
use crate::path::encoded;

/// A collection, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    path: String,
    only: Option<String>,
    page: u32,
}

/// How many objects a page holds unless somebody asks otherwise, as kubectl has it.
const PAGE: u32 = 500;

impl Collection {
    /// All that is at a path.
    pub fn of(path: impl Into<String>) -> Self {
        Self { path: path.into(), only: None, page: PAGE }
    }

    /// Only those whose field has this value.
    #[must_use]
    pub fn only(self, field: &str, value: &str) -> Self {
        let only = encoded(&format!("{field}={value}"));
        Self { only: Some(format!("fieldSelector={only}")), ..self }
    }

    /// Only those whose label has this value.
    #[must_use]
    pub fn labelled(self, label: &str, value: &str) -> Self {
        let only = encoded(&format!("{label}={value}"));
        Self { only: Some(format!("labelSelector={only}")), ..self }
    }

    /// So many at a time: it bounds the memory of a list.
    #[must_use]
    pub fn in_pages_of(self, page: u32) -> Self {
        Self { page, ..self }
    }

    /// The path with a query.
    pub(super) fn query(&self, first: &str) -> String {
        let only = self.only.as_ref().map(|only| format!("&{only}"));
        format!("{}?{first}{}", self.path, only.unwrap_or_default())
    }

    fn page(&self, token: &str) -> Ask {
        let mut path = self.query(&format!("limit={}", self.page));
        if !token.is_empty() {
            path = format!("{path}&continue={}", encoded(token));
        }
        Ask::path(path)
    }
}

/// What a collection holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed<T> {
    /// All of it.
    pub items: Vec<T>,
    /// The version that it was read at: where to follow it from.
    pub version: String,
}

impl Cluster {
    /// Lists all of a collection.
    pub async fn list_all<T>(&self, collection: &Collection) -> Result<Listed<T>, CallError>
    where
        T: DeserializeOwned + Send,
    {
        let mut items = Vec::new();
        let version = self.list(collection, |item| items.push(item)).await?;
        Ok(Listed { items, version })
    }

    /// Lists all of a collection, a page at a time, and returns the version that it was read at. No version is asked for: that is a
    /// consistent read, which cannot go back behind what was seen before.
    pub async fn list<T>(
        &self,
        collection: &Collection,
        each: impl FnMut(T) + Send,
    ) -> Result<String, CallError>
    where
        T: DeserializeOwned + Send,
    {
        self.pages(collection, JSON, each).await
    }

    /// Lists what all objects have in common, their names and versions among it: a fraction of a list.
    pub async fn list_metadata<T>(
        &self,
        collection: &Collection,
        each: impl FnMut(T) + Send,
    ) -> Result<String, CallError>
    where
        T: DeserializeOwned + Send,
    {
        self.pages(collection, METADATA, each).await
    }

    /// The version that a collection has now. Nothing else is read of it.
    pub async fn version_of(&self, collection: &Collection) -> Result<String, CallError> {
        let ask = collection.clone().in_pages_of(1).page("");
        let page: Page<serde::de::IgnoredAny> = self.ask_for(Verb::List, ask, JSON).await?;
        Ok(page.metadata.resource_version)
    }

    async fn pages<T>(
        &self,
        collection: &Collection,
        accept: &'static str,
        mut each: impl FnMut(T) + Send,
    ) -> Result<String, CallError>
    where
        T: DeserializeOwned + Send,
    {
        let mut token = String::new();
        loop {
            let page: Page<T> = self.ask_for(Verb::List, collection.page(&token), accept).await?;
            page.items.into_iter().for_each(&mut each);
            token = page.metadata.continues.unwrap_or_default();
            if token.is_empty() {
                return Ok(page.metadata.resource_version);
            }
        }
    }
}

/// An answer that lacks one of these is no list: taking it for an empty one would empty a cache, or a node. So is one without the version
/// that it was read at, which servers give to every list, and without which nobody could tell that it is old (GATE-11).
#[derive(Deserialize)]
struct Page<T> {
    metadata: PageMetadata,
    #[serde(deserialize_with = "some", bound(deserialize = "T: Deserialize<'de>"))]
    items: Vec<T>,
}

#[derive(Deserialize)]
struct PageMetadata {
    #[serde(rename = "resourceVersion", deserialize_with = "version")]
    resource_version: String,
    #[serde(rename = "continue")]
    continues: Option<String>,
}

fn version<'de, D: Deserializer<'de>>(read: D) -> Result<String, D::Error> {
    let version = String::deserialize(read)?;
    if version.is_empty() {
        return Err(D::Error::custom("a list without a version"));
    }
    Ok(version)
}

/// Servers write `null` for a list without items.
fn some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(read: D) -> Result<Vec<T>, D::Error> {
    Option::deserialize(read).map(Option::unwrap_or_default)
}
