//! What was an object before it was written? An audit event does not say, so what the event before said is kept.
//!
//! - Only what was stored is kept, and only of objects that a gate or a freeze may hold, up to a number of bytes: a log of any size is read in
//!   bounded memory. What had to be forgotten is not known any more.
//! - A change that the log does not tell would make an object look as if the next writer had made it. The generation counts changes of the
//!   specification, so one that jumps, or another uid, means that nobody knows what was before.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::Place;

/// What objects were, as far as the log told.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    objects: BTreeMap<Name, (u64, String)>,
    order: BTreeMap<u64, Name>,
    next: u64,
    bytes: usize,
    room: usize,
    /// How many were forgotten for want of room.
    pub(super) forgotten: u64,
}

/// The resource with its group, the namespace, and the name.
type Name = (String, String, String);

fn name(place: &Place<'_>) -> Name {
    let namespace = place.namespace.unwrap_or_default().to_owned();
    (format!("{}/{}", place.group, place.resource), namespace, place.name.to_owned())
}

impl Kept {
    /// Nothing, with room for so many bytes.
    pub(super) fn new(room: usize) -> Self {
        let (objects, order) = (BTreeMap::new(), BTreeMap::new());
        Self { objects, order, next: 0, bytes: 0, room, forgotten: 0 }
    }

    /// What an object was before it became this.
    pub(super) fn before(&self, place: &Place<'_>, now: &Value) -> Option<Value> {
        let (_, text) = self.objects.get(&name(place))?;
        let mut before: Value = serde_json::from_str(text).ok()?;
        let same = |path: &str| before.pointer(path) == now.pointer(path);
        let (was, is) = (generation(&before), generation(now));
        // Some kinds count nothing.
        let follows = is == was || is == was.saturating_add(1);
        if !same("/metadata/uid") || !follows {
            return None;
        }
        // A write of a workload leaves its status as it was, so that is known better than it was told before.
        if place.group == "apps" && place.subresource.is_empty() {
            let status = now.get("status").cloned();
            if let (Some(fields), Some(status)) = (before.as_object_mut(), status) {
                fields.insert("status".to_owned(), status);
            }
        }
        Some(before)
    }

    /// Keeps what an object is now.
    pub(super) fn keep(&mut self, place: &Place<'_>, object: &Value) {
        let mut object = object.clone();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            // Nobody reads who owned which fields, and it is the largest part of many objects.
            metadata.remove("managedFields");
        }
        self.put(name(place), object.to_string());
    }

    /// An object was scaled: nothing else of it changed.
    pub(super) fn scaled(&mut self, place: &Place<'_>, scale: Option<&Value>) {
        let replicas = scale.and_then(|scale| scale.pointer("/spec/replicas")).cloned();
        let key = name(place);
        let known = self.objects.get(&key).and_then(|(_, text)| serde_json::from_str(text).ok());
        let known: Option<Value> = known;
        match (known, replicas) {
            (Some(mut object), Some(replicas)) => {
                let changed = object.pointer("/spec/replicas") != Some(&replicas);
                let generation = generation(&object);
                if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
                    spec.insert("replicas".to_owned(), replicas);
                }
                let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
                if let Some(metadata) = metadata.filter(|_| changed) {
                    let next = generation.saturating_add(1);
                    metadata.insert("generation".to_owned(), json!(next));
                }
                self.put(key, object.to_string());
            }
            _ => self.drop_one(&key),
        }
    }

    /// An object is gone, or nobody knows what became of it; all of a namespace, if it has no name.
    pub(super) fn forget(&mut self, place: &Place<'_>) {
        let key = name(place);
        if !place.name.is_empty() {
            return self.drop_one(&key);
        }
        let of_it = |(kind, namespace, _): &&Name| {
            *kind == key.0 && (place.namespace.is_none() || *namespace == key.1)
        };
        let gone: Vec<Name> = self.objects.keys().filter(of_it).cloned().collect();
        for key in gone {
            self.drop_one(&key);
        }
    }

    fn put(&mut self, key: Name, text: String) {
        self.drop_one(&key);
        self.bytes += text.len();
        self.order.insert(self.next, key.clone());
        self.objects.insert(key, (self.next, text));
        self.next += 1;
        while self.bytes > self.room {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.drop_one(&oldest);
            self.forgotten += 1;
        }
    }

    fn drop_one(&mut self, key: &Name) {
        if let Some((turn, text)) = self.objects.remove(key) {
            self.order.remove(&turn);
            self.bytes -= text.len();
        }
    }
}

fn generation(object: &Value) -> i64 {
    object.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Place<'_> {
        let (group, resource, subresource) = ("apps", "deployments", "");
        Place { group, resource, subresource, namespace: Some("shop"), name }
    }

    fn object(uid: &str, generation: i64, image: &str) -> Value {
        json!({"metadata": {"uid": uid, "generation": generation, "managedFields": [1]},
            "spec": {"replicas": 2, "image": image}})
    }

    fn before(kept: &Kept, now: &Value) -> Option<String> {
        let before = kept.before(&place("web"), now)?;
        before["spec"]["image"].as_str().map(str::to_owned)
    }

    #[test]
    fn what_was_before_is_known_only_if_nothing_lies_between() {
        let mut kept = Kept::new(10_000);
        assert_eq!(before(&kept, &object("u", 1, "a")), None);
        kept.keep(&place("web"), &object("u", 3, "a"));
        assert_eq!(before(&kept, &object("u", 3, "a")).as_deref(), Some("a"));
        assert_eq!(before(&kept, &object("u", 4, "b")).as_deref(), Some("a"));
        assert_eq!(before(&kept, &object("u", 5, "b")), None, "somebody changed it unseen");
        assert_eq!(before(&kept, &object("u", 2, "b")), None, "the log is out of order");
        assert_eq!(before(&kept, &object("v", 4, "b")), None, "it was made anew");
        kept.forget(&place("web"));
        assert_eq!(before(&kept, &object("u", 4, "b")), None);
    }

    #[test]
    fn scaling_is_followed() {
        let mut kept = Kept::new(10_000);
        kept.keep(&place("web"), &object("u", 3, "a"));
        kept.scaled(&place("web"), Some(&json!({"spec": {"replicas": 2}})));
        assert_eq!(before(&kept, &object("u", 5, "b")), None, "nothing was scaled");
        kept.scaled(&place("web"), Some(&json!({"spec": {"replicas": 5}})));
        assert_eq!(before(&kept, &object("u", 5, "b")).as_deref(), Some("a"));
        kept.scaled(&place("web"), None);
        assert_eq!(before(&kept, &object("u", 5, "b")), None, "nobody knows to how many");
    }

    #[test]
    fn what_has_no_room_is_forgotten_the_oldest_first() {
        let size = {
            let mut kept = Kept::new(10_000);
            kept.keep(&place("web"), &object("u", 1, "a"));
            kept.bytes
        };
        let mut kept = Kept::new(2 * size);
        for name in ["web", "api", "web", "till"] {
            kept.keep(&place(name), &object("u", 1, "a"));
        }
        let now = object("u", 1, "a");
        let known = ["web", "api", "till"].map(|name| kept.before(&place(name), &now).is_some());
        assert_eq!((known, kept.forgotten), ([true, false, true], 1));
        assert_eq!(kept.bytes, 2 * size);
        let all = Place { name: "", ..place("") };
        kept.forget(&all);
        assert_eq!((kept.bytes, kept.objects.len(), kept.order.len()), (0, 0, 0));
    }
}
