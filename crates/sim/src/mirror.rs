//! What does a collection hold right now? A copy that a watch keeps true, and a word whenever it changes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use runtime::{
    call::{Ask, CallError, Cluster, Verb},
    changes::{Changes, Follower},
    observe::lines::Lines,
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

    /// Keeps the copy true, for ever.
    pub(crate) async fn keep(self, cluster: Cluster, path: &'static str) {
        loop {
            if let Err(error) = self.follow(&cluster, path).await {
                tracing::warn!(path, %error, "a collection cannot be followed");
                // Nothing in this process fails for long; asking in a circle would only hide why.
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }

    /// Lists, then follows until the watch ends.
    async fn follow(&self, cluster: &Cluster, path: &str) -> Result<(), CallError> {
        let list: Value = cluster.call(Verb::List, Ask::path(path)).await?;
        let items = list.get("items").and_then(Value::as_array);
        let found = items.into_iter().flatten().map(|item| (place(item), Arc::new(item.clone())));
        self.change(|objects| *objects = found.collect());
        let version = text(&list, "/metadata/resourceVersion");
        let ask = Ask::path(format!("{path}?watch=true&resourceVersion={version}"));
        let mut lines = Lines::new(cluster.stream(ask).await?);
        while let Some(line) = lines.next().await.map_err(|error| CallError::Lost(error.into()))? {
            let mut event: Value = serde_json::from_slice(&line).map_err(CallError::Garbled)?;
            let object = event.get_mut("object").map(Value::take).unwrap_or_default();
            match text(&event, "/type") {
                "ERROR" => break,
                "BOOKMARK" => {}
                "DELETED" => self.change(|objects| drop(objects.remove(&place(&object)))),
                _ => self.change(|objects| drop(objects.insert(place(&object), Arc::new(object)))),
            }
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
