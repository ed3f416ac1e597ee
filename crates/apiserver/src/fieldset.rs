//! Which fields of an object are meant?
//!
//! A set of paths as a tree, in the format of `FieldsV1`: `f:` a field, `k:` a list item by its keys, `v:` by its value.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::schema::{ListKind, Schema};

/// A set of field paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    member: bool,
    children: BTreeMap<String, FieldSet>,
}

impl FieldSet {
    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    pub(crate) fn insert(&mut self, path: &[String]) {
        match path.split_first() {
            None => self.member = true,
            Some((first, rest)) => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// The subtree at one element.
    pub(crate) fn child(&self, element: &str) -> Option<&Self> {
        self.children.get(element)
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = (&String, &Self)> {
        self.children.iter()
    }

    pub(crate) fn union(mut self, other: &Self) -> Self {
        self.member |= other.member;
        for (element, theirs) in &other.children {
            let mine = self.children.remove(element).unwrap_or_default();
            self.children.insert(element.clone(), mine.union(theirs));
        }
        self
    }

    /// The paths that are members here and not there; a path and its parent are different members.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut children = BTreeMap::new();
        for (element, mine) in &self.children {
            let left = match other.children.get(element) {
                Some(theirs) => mine.difference(theirs),
                None => mine.clone(),
            };
            if !left.is_empty() {
                children.insert(element.clone(), left);
            }
        }
        Self { member: self.member && !other.member, children }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut children = BTreeMap::new();
        for (element, mine) in &self.children {
            if let Some(both) = other.children.get(element).map(|theirs| mine.intersection(theirs))
                && !both.is_empty()
            {
                children.insert(element.clone(), both);
            }
        }
        Self { member: self.member && other.member, children }
    }

    /// Drops whole subtrees, given as paths of elements.
    pub(crate) fn without(mut self, subtrees: &[&[&str]]) -> Self {
        for path in subtrees {
            self.remove_subtree(path);
        }
        self
    }

    fn remove_subtree(&mut self, path: &[&str]) {
        match path {
            [] => {}
            [last] => {
                self.children.remove(*last);
            }
            [first, rest @ ..] => {
                if let Some(child) = self.children.get_mut(*first) {
                    child.remove_subtree(rest);
                    if child.is_empty() {
                        self.children.remove(*first);
                    }
                }
            }
        }
    }

    /// Drops the membership of one path, and keeps what is below.
    pub(crate) fn remove_member(&mut self, path: &[&str]) {
        match path {
            [] => self.member = false,
            [first, rest @ ..] => {
                if let Some(child) = self.children.get_mut(*first) {
                    child.remove_member(rest);
                    if child.is_empty() {
                        self.children.remove(*first);
                    }
                }
            }
        }
    }

    /// Keeps only what lies below one element.
    pub(crate) fn only(mut self, element: &str) -> Self {
        self.children.retain(|e, _| e == element);
        self.member = false;
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut map = Map::new();
        if self.member && !self.children.is_empty() {
            map.insert(".".into(), json!({}));
        }
        for (element, child) in &self.children {
            map.insert(element.clone(), child.to_json());
        }
        Value::Object(map)
    }

    pub(crate) fn from_json(value: &Value) -> Self {
        let Some(map) = value.as_object() else {
            return Self::default();
        };
        let mut set = Self { member: false, children: BTreeMap::new() };
        for (element, child) in map {
            if element == "." {
                set.member = true;
                continue;
            }
            let mut child_set = Self::from_json(child);
            if child.as_object().is_some_and(Map::is_empty) {
                child_set.member = true;
            }
            set.children.insert(element.clone(), child_set);
        }
        set
    }

    /// Every member path in the notation of conflict messages: `.spec.pools[name="a"].size`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_paths("", &mut found);
        found
    }

    /// Members of a level come before what lies deeper, as the real server lists them.
    fn collect_paths(&self, prefix: &str, found: &mut Vec<String>) {
        let below = |element: &str| format!("{prefix}{}", shown(element));
        found.extend(self.children.iter().filter(|(_, c)| c.member).map(|(e, _)| below(e)));
        for (element, child) in &self.children {
            child.collect_paths(&below(element), found);
        }
    }
}

pub(crate) fn shown(element: &str) -> String {
    match element.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("v", value)) => format!("[={value}]"),
        Some(("k", keys)) => {
            let map: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let pairs: Vec<String> = map.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("[{}]", pairs.join(","))
        }
        _ => format!("[{element}]"),
    }
}

/// How a value is owned: as a whole, or by its parts.
pub(crate) enum Parts<'a> {
    Leaf,
    Fields(&'a Map<String, Value>),
    /// Items with the element that names each.
    Items(Vec<(String, &'a Value)>),
}

/// How server-side apply takes a value apart.
pub(crate) fn parts<'a>(schema: Option<&Schema>, value: &'a Value) -> Parts<'a> {
    match value {
        Value::Object(map) if !schema.is_some_and(|s| s.atomic_map) => Parts::Fields(map),
        Value::Array(items) => match schema.map(|s| &s.list) {
            Some(ListKind::Set) => {
                Parts::Items(items.iter().map(|i| (format!("v:{i}"), i)).collect())
            }
            Some(ListKind::Map(keys)) => {
                Parts::Items(items.iter().map(|i| (item_element(schema, keys, i), i)).collect())
            }
            _ => Parts::Leaf,
        },
        _ => Parts::Leaf,
    }
}

fn item_element(schema: Option<&Schema>, keys: &[String], item: &Value) -> String {
    let items = schema.and_then(|s| s.items.as_ref());
    let pairs: BTreeMap<String, Value> = keys
        .iter()
        .filter_map(|key| {
            let fallback = || items?.properties.get(key)?.default.clone();
            // Ports without a protocol are TCP; the published definitions do not say so.
            let protocol = || (key == "protocol").then(|| Value::from("TCP"));
            let value = item.get(key).cloned().or_else(fallback).or_else(protocol)?;
            Some((key.clone(), value))
        })
        .collect();
    format!("k:{}", serde_json::json!(pairs))
}

/// The schema of a field below.
pub(crate) fn below<'a>(schema: Option<&'a Schema>, key: &str) -> Option<&'a Schema> {
    schema.and_then(|s| s.field(key)).map(AsRef::as_ref)
}

/// The schema of list items.
pub(crate) fn items(schema: Option<&Schema>) -> Option<&Schema> {
    schema.and_then(|s| s.items.as_deref())
}

/// The fields that an applied configuration speaks of.
pub(crate) fn of_value(schema: &Schema, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(Some(schema), value, &mut set);
    set.member = false;
    set
}

fn collect(schema: Option<&Schema>, value: &Value, set: &mut FieldSet) {
    match parts(schema, value) {
        Parts::Leaf => set.member = true,
        Parts::Fields(map) => {
            for (key, child) in map {
                let own = set.children.entry(format!("f:{key}")).or_default();
                collect(below(schema, key), child, own);
                let named = schema.is_some_and(|s| s.properties.contains_key(key));
                let hollow = child.is_null() || child.as_object().is_some_and(Map::is_empty);
                if hollow || !named {
                    own.member = true;
                }
                if own.is_empty() {
                    set.children.remove(&format!("f:{key}"));
                }
            }
        }
        Parts::Items(list) => {
            for (element, item) in list {
                let own = set.children.entry(element).or_default();
                collect(items(schema), item, own);
                own.member = true;
            }
        }
    }
}

/// What changed between two objects.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) added: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) removed: FieldSet,
}

impl Changes {
    pub(crate) fn between(schema: &Schema, old: &Value, new: &Value) -> Self {
        let mut changes = Self::default();
        compare(Some(schema), Some(old), Some(new), &mut Vec::new(), &mut changes);
        changes
    }

    /// Added or modified.
    pub(crate) fn written(&self) -> FieldSet {
        self.added.clone().union(&self.modified)
    }
}

fn compare(
    schema: Option<&Schema>,
    old: Option<&Value>,
    new: Option<&Value>,
    path: &mut Vec<String>,
    changes: &mut Changes,
) {
    if old == new {
        return;
    }
    let old_parts = old.map(|v| parts(schema, v));
    let new_parts = new.map(|v| parts(schema, v));
    let hollow = |p: &Option<Parts<'_>>| match p {
        None => true,
        Some(Parts::Fields(map)) => map.is_empty(),
        Some(Parts::Items(list)) => list.is_empty(),
        Some(Parts::Leaf) => false,
    };
    if hollow(&old_parts) && hollow(&new_parts) {
        return leaf(old, new, path, changes);
    }
    match (&old_parts, &new_parts) {
        (Some(Parts::Fields(_)) | None, Some(Parts::Fields(_)) | None) => {
            let (before, after) = (fields_of(old_parts.as_ref()), fields_of(new_parts.as_ref()));
            let keys = before.into_iter().flat_map(Map::keys);
            let more = after
                .into_iter()
                .flat_map(Map::keys)
                .filter(|k| before.is_none_or(|b| !b.contains_key(*k)));
            for key in keys.chain(more) {
                path.push(format!("f:{key}"));
                let (x, y) = (before.and_then(|m| m.get(key)), after.and_then(|m| m.get(key)));
                compare(below(schema, key), x, y, path, changes);
                path.pop();
            }
        }
        (Some(Parts::Items(_)) | None, Some(Parts::Items(_)) | None) => {
            let (before, after) = (items_of(old_parts.as_ref()), items_of(new_parts.as_ref()));
            for element in before.keys().chain(after.keys().filter(|k| !before.contains_key(*k))) {
                path.push((*element).to_owned());
                let (x, y) = (before.get(element).copied(), after.get(element).copied());
                compare(items(schema), x, y, path, changes);
                path.pop();
            }
        }
        _ => return leaf(old, new, path, changes),
    }
    match (old, new) {
        (None, _) => changes.added.insert(path),
        (_, None) => changes.removed.insert(path),
        _ => {}
    }
}

fn fields_of<'a>(parts: Option<&Parts<'a>>) -> Option<&'a Map<String, Value>> {
    match parts {
        Some(Parts::Fields(map)) => Some(map),
        _ => None,
    }
}

fn items_of<'p, 'a>(parts: Option<&'p Parts<'a>>) -> BTreeMap<&'p str, &'a Value> {
    match parts {
        Some(Parts::Items(list)) => list.iter().map(|(e, v)| (e.as_str(), *v)).collect(),
        _ => BTreeMap::new(),
    }
}

fn leaf(old: Option<&Value>, new: Option<&Value>, path: &[String], changes: &mut Changes) {
    match (old, new) {
        (None, Some(_)) => changes.added.insert(path),
        (Some(_), None) => changes.removed.insert(path),
        _ => changes.modified.insert(path),
    }
}
