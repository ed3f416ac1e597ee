//! What does a collection hold right now? A copy that a watch keeps true, and a word whenever it changes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use runtime::{
    call::{CallError, Cluster, Collection, What},
    changes::{Changes, Follower},
};
use serde_json::Value;

/// Namespace and name; the namespace is empty where the kind has none.
pub(crate) type Place = (String, String);

/// The objects of a collection.
pub(crate) type Objects = BTreeMap<Place, Arc<Value>>;

/// A copy of a collection. Clones are one copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mirror {
    objects: Arc<Mutex<Objects>>,
    changes: Changes,
}

impl Mirror {
    /// What the collection holds.
    pub(crate) fn objects(&self) -> Objects {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells whenever that changes.
    pub(crate) fn changes(&self) -> Follower {
        self.changes.follow()
    }

    /// Another copy, of another collection, that tells where this one does.
    pub(crate) fn beside(&self) -> Self {
        Self { objects: Arc::default(), changes: self.changes.clone() }
    }

    /// Keeps the copy true, for ever.
    pub(crate) async fn keep(self, cluster: Cluster, collection: Collection) {
        loop {
            if let Err(error) = self.follow(&cluster, &collection).await {
                tracing::warn!(?collection, %error, "a collection cannot be followed");
                // Nothing in this process fails for long; asking in a circle would only hide why.
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }

    /// Lists, then follows until the watch ends.
    async fn follow(&self, cluster: &Cluster, collection: &Collection) -> Result<(), CallError> {
        let listed = cluster.list_all::<Value>(collection).await?;
        let found = listed.items.into_iter().map(|item| (place(&item), Arc::new(item)));
        self.change(|objects| *objects = found.collect());
        let mut follow = cluster.follow(collection, &listed.version, None).await?;
        while let Some(event) = follow.next_change().await? {
            let object: Value = event.object()?;
            self.change(|objects| match event.what {
                What::Deleted => drop(objects.remove(&place(&object))),
                What::Changed | What::Bookmark => {
                    drop(objects.insert(place(&object), Arc::new(object)));
                }
            });
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Objects)) {
        change(&mut self.objects.lock().unwrap_or_else(PoisonError::into_inner));
        self.changes.tell();
    }
}

/// Where an object stands.
pub(crate) fn place(object: &Value) -> Place {
    (text(object, "/metadata/namespace").to_owned(), text(object, "/metadata/name").to_owned())
}

/// A text in an object; empty if there is none.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
