//! Who owns which field?
//!
//! - OWN-1 an entry's time is the server's own, stamped when the writer's fields change, before admission looks.
//! - OWN-2 applying the same configuration twice changes nothing, not even the time.
//! - OWN-3 equal values are shared, different values conflict, force transfers, dropped fields go.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    fieldset::{Changes, FieldSet},
    meta,
    registry::{Nature, Resolved},
};

/// How a manager wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

/// The identity of a `managedFields` entry. Who applies is the same in every version, so the version is left empty there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manager {
    pub(crate) operation: Operation,
    pub(crate) name: String,
    pub(crate) api_version: String,
    pub(crate) subresource: String,
}

impl Manager {
    /// As conflict messages name it.
    pub(crate) fn shown(&self) -> String {
        let mut text = format!("{:?}", self.name);
        if !self.subresource.is_empty() {
            text = format!("{text} with subresource {:?}", self.subresource);
        }
        match self.operation {
            Operation::Apply => text,
            Operation::Update => format!("{text} using {}", self.api_version),
        }
    }
}

/// One entry: what is owned, and when it was last written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) fields: FieldSet,
    /// The version in which it was written.
    pub(crate) api_version: String,
    pub(crate) time: String,
}

/// All entries of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Managers(pub(crate) BTreeMap<Manager, Owned>);

impl Managers {
    /// Reads `metadata.managedFields`; `None` when the object has none, or sends something that is no entry.
    pub(crate) fn read(object: &Value) -> Option<Self> {
        let entries = meta::field(object, "managedFields")?.as_array()?;
        let mut found = BTreeMap::new();
        for entry in entries {
            let text =
                |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let operation = match text("operation").as_str() {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return None,
            };
            let manager = Manager {
                operation,
                name: text("manager"),
                api_version: match operation {
                    Operation::Apply => String::new(),
                    Operation::Update => text("apiVersion"),
                },
                subresource: text("subresource"),
            };
            let fields = FieldSet::from_json(entry.get("fieldsV1").unwrap_or(&Value::Null));
            found.insert(
                manager,
                Owned { fields, api_version: text("apiVersion"), time: text("time") },
            );
        }
        (!found.is_empty()).then_some(Self(found))
    }

    /// Writes the entries, applies first, then by time and name, as the real server orders them.
    pub(crate) fn write(&self, object: &mut Value) {
        let mut entries: Vec<(&Manager, &Owned)> =
            self.0.iter().filter(|(_, o)| !o.fields.is_empty()).collect();
        entries.sort_by(|(a, x), (b, y)| {
            (a.operation, &x.time, &a.name, &a.api_version, &a.subresource).cmp(&(
                b.operation,
                &y.time,
                &b.name,
                &b.api_version,
                &b.subresource,
            ))
        });
        if entries.is_empty() {
            meta::remove(object, "managedFields");
            return;
        }
        let list: Vec<Value> = entries
            .into_iter()
            .map(|(manager, owned)| {
                let mut entry = json!({
                    "manager": manager.name,
                    "operation": if manager.operation == Operation::Apply { "Apply" } else { "Update" },
                    "apiVersion": owned.api_version,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": owned.fields.to_json(),
                });
                if let Some(map) = entry.as_object_mut() {
                    if !owned.time.is_empty() {
                        map.insert("time".into(), owned.time.clone().into());
                    }
                    if !manager.subresource.is_empty() {
                        map.insert("subresource".into(), manager.subresource.clone().into());
                    }
                }
                entry
            })
            .collect();
        meta::set(object, "managedFields", list);
    }

    /// Everything that others than `me` own.
    pub(crate) fn owned_by_others(&self, me: &Manager) -> FieldSet {
        self.0
            .iter()
            .filter(|(manager, _)| *manager != me)
            .fold(FieldSet::default(), |all, (_, owned)| all.union(&owned.fields))
    }

    /// Takes from all others what changed under them.
    pub(crate) fn take_from_others(&mut self, me: &Manager, changes: &Changes) {
        let gone = changes.written().union(&changes.removed);
        for (manager, owned) in &mut self.0 {
            if manager != me {
                owned.fields = owned.fields.difference(&gone);
            }
        }
        self.0.retain(|manager, owned| manager == me || !owned.fields.is_empty());
    }
}

/// As many writers as are told apart without applying.
const MOST_UPDATERS: usize = 10;
/// Who stands for those that wrote before them.
const ANCIENT: &str = "ancient-changes";

impl Managers {
    /// Merges the oldest entries of ordinary writers, version by version, until few enough are left.
    fn merge_oldest(&mut self) {
        let mut updaters: Vec<(String, Manager)> = self
            .0
            .iter()
            .filter(|(manager, _)| manager.operation == Operation::Update)
            .map(|(manager, owned)| (owned.time.clone(), manager.clone()))
            .collect();
        updaters.sort();
        let mut left = updaters.len();
        let mut first_of: BTreeMap<String, Manager> = BTreeMap::new();
        for (_, manager) in updaters {
            if left <= MOST_UPDATERS {
                return;
            }
            let version = manager.api_version.clone();
            let Some(first) = first_of.get(&version) else {
                first_of.insert(version, manager);
                continue;
            };
            let bucket = Manager {
                operation: Operation::Update,
                name: ANCIENT.to_owned(),
                api_version: version,
                subresource: String::new(),
            };
            let older = self.0.remove(&bucket).or_else(|| self.0.remove(first));
            let Some(mut owned) = self.0.remove(&manager) else { continue };
            if let Some(older) = older {
                owned.fields = owned.fields.union(&older.fields);
            }
            self.0.insert(bucket, owned);
            left -= 1;
        }
    }
}

/// Which part of an object a write may own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Main,
    Status,
}

/// Drops what nobody owns (identity, versions) and what this endpoint does not write.
pub(crate) fn ownable(set: FieldSet, kind: &Resolved, reach: Reach) -> FieldSet {
    let mut set = set.without(&[
        &["f:apiVersion"],
        &["f:kind"],
        &["f:metadata", "f:name"],
        &["f:metadata", "f:namespace"],
        &["f:metadata", "f:creationTimestamp"],
        &["f:metadata", "f:selfLink"],
        &["f:metadata", "f:uid"],
        &["f:metadata", "f:generation"],
        &["f:metadata", "f:managedFields"],
        &["f:metadata", "f:resourceVersion"],
        &["f:metadata", "f:deletionTimestamp"],
        &["f:metadata", "f:deletionGracePeriodSeconds"],
    ]);
    set.remove_member(&["f:metadata"]);
    match reach {
        Reach::Main if kind.version.status => set.without(&[&["f:status"]]),
        Reach::Main => set,
        Reach::Status if kind.is_custom() => set.only("f:status"),
        Reach::Status => set.without(&[&["f:spec"]]),
    }
}

/// Records an ordinary write: the writer owns what it changed.
pub(crate) fn record_update(
    kind: &Resolved,
    old: Option<&Value>,
    new: &mut Value,
    manager: Manager,
    reach: Reach,
    stamp: &str,
) {
    // A subresource takes no record from its clients: what they send there, forged or wiped, is put away.
    if let Some(old) = old.filter(|_| !manager.subresource.is_empty()) {
        meta::copy(new, old, "managedFields");
    }
    // `[{}]` and an empty list wipe the record; absent keeps it.
    let sent = meta::field(new, "managedFields").and_then(Value::as_array).cloned();
    let wiped = sent.as_ref().is_some_and(|list| {
        list.iter().all(|e| e.as_object().is_some_and(serde_json::Map::is_empty))
    });
    let mut managers = match (&sent, old) {
        (Some(_), _) if wiped => Some(Managers::default()),
        (Some(_), _) => Managers::read(new).or_else(|| old.and_then(Managers::read)),
        (None, Some(old)) => Managers::read(old),
        (None, None) => Some(Managers::default()),
    };
    // An object without a record, its own or one that the client sends, is not tracked until somebody applies.
    let tracked = old.is_none() || managers.as_ref().is_some_and(|m| !m.0.is_empty());
    if !tracked {
        meta::remove(new, "managedFields");
        return;
    }
    let managers = managers.get_or_insert_default();
    let empty = empty_object(kind);
    let changes = Changes::between(kind.schema(), old.unwrap_or(&empty), new);
    let changes = Changes {
        added: ownable(changes.added, kind, reach),
        modified: ownable(changes.modified, kind, reach),
        removed: ownable(changes.removed, kind, reach),
    };
    managers.take_from_others(&manager, &changes);
    let written = changes.written();
    let entry = managers.0.entry(manager).or_default();
    entry.api_version = kind.api_version();
    entry.fields = entry.fields.difference(&changes.removed).union(&written);
    if !written.is_empty() {
        stamp.clone_into(&mut entry.time);
    }
    managers.merge_oldest();
    managers.write(new);
}

/// Who owns an object that had no record before its first apply.
pub(crate) fn before_first_apply(kind: &Resolved, live: &Value, stamp: &str) -> Managers {
    let changes = Changes::between(kind.schema(), &empty_object(kind), live);
    let manager = Manager {
        operation: Operation::Update,
        name: "before-first-apply".to_owned(),
        api_version: kind.api_version(),
        subresource: String::new(),
    };
    let owned = Owned {
        fields: ownable(changes.written(), kind, Reach::Main),
        api_version: kind.api_version(),
        time: stamp.to_owned(),
    };
    Managers(BTreeMap::from([(manager, owned)]))
}

/// What a new object is compared with: built-in kinds always have their parts, custom ones only metadata.
pub(crate) fn empty_object(kind: &Resolved) -> Value {
    let mut object = json!({"apiVersion": "", "kind": "", "metadata": {}});
    if !kind.is_custom()
        && let Some(map) = object.as_object_mut()
    {
        for part in ["spec", "status"] {
            if kind.schema().properties.contains_key(part) {
                let inner = match (kind.ty.nature, part) {
                    (Nature::Definition, "spec") => json!({"names": {}}),
                    (Nature::Pod, "spec") => json!({"containers": []}),
                    (Nature::Workload(workload), "spec") => {
                        crate::strategy::empty_workload(workload)
                    }
                    _ => json!({}),
                };
                map.insert(part.to_owned(), inner);
            }
        }
    }
    // A node has its parts even when nobody says anything about it, so nobody owns them.
    if kind.ty.nature == Nature::Node {
        crate::strategy::default(Nature::Node, &mut object);
    }
    object
}
