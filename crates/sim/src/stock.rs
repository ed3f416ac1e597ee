//! How do objects come into an empty cluster? In an order that works, as old as they say they are, and with the status they had.
//!
//! What only a server can say is taken off first; references to owners follow the owners to their new identities. An object that the
//! server refuses is named with its file, and then there is no cluster: half of one would only look like an answer.

use std::{collections::BTreeMap, fmt};

use api::machine::names::{GENERATED_BY, MACHINE_CONFIG};
use apiserver::Server;
use http::Method;
use runtime::{
    clock::{Clock as _, SetClock},
    path::{self, NAMESPACE},
};
use schedule::Instant;
use serde_json::{Map, Value, json};
use tidegate_core::pool::source::SeenConfig;

use crate::mirror::text;

/// An object, and where it is from.
#[derive(Clone, Debug)]
pub struct Item {
    /// The file and the line, or who else brings it.
    pub origin: String,
    /// The object.
    pub object: Value,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stocked {
    /// How many objects are there now, by kind.
    pub taken: BTreeMap<String, usize>,
    /// How many were left out because nothing here has a use for their kind, by kind.
    pub left_out: BTreeMap<String, usize>,
    /// How many were given more than once; the first was taken.
    pub repeated: usize,
}

/// An object that the server refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where it is from.
    pub origin: String,
    /// Which object.
    pub object: String,
    /// What the server said, with the field.
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, object, message } = self;
        write!(f, "{origin}: {object}: {message}")
    }
}

/// What nothing here has a use for: definitions are our own, and the rest is about other processes than these.
const OF_NO_USE: &[&str] = &["CustomResourceDefinition", "Event", "Lease"];

/// What the server works out by itself.
const OWN_STATUS: &[&str] = &["Namespace", "PodDisruptionBudget"];

/// Who comes first: owners before those whom they own, pods before the budgets that count them.
const ORDER: &[&str] = &[
    "Namespace",
    "ChangeManagementPolicy",
    "HostedChangeManagementPolicy",
    "ClusterVersion",
    "HostedCluster",
    "NodePool",
    "MachineConfiguration",
    "MachineConfigPool",
    "MachineConfig",
    "Node",
    "Deployment",
    "ReplicaSet",
];
const LAST: &[&str] = &["Pod", "PodDisruptionBudget"];

/// Creates objects. The clock stands at each object's own time meanwhile, and is set back to where it was.
pub fn stock(server: &Server, clock: &SetClock, items: Vec<Item>) -> Result<Stocked, Vec<Refused>> {
    let at = clock.now();
    let mut taker = Taker::empty(server, clock);
    let mut items = items;
    items.sort_by_key(|item| rank(text(&item.object, "/kind")));
    for item in &items {
        taker.take(item);
    }
    clock.set(at);
    if taker.refused.is_empty() { Ok(taker.stocked) } else { Err(taker.refused) }
}

fn rank(kind: &str) -> usize {
    let place = |list: &[&str]| list.iter().position(|known| *known == kind);
    match (place(ORDER), place(LAST)) {
        (Some(place), _) => place,
        (None, Some(place)) => ORDER.len() + 1 + place,
        (None, None) => ORDER.len(),
    }
}

/// How objects of a kind are reached.
#[derive(Clone, Debug)]
struct Resource {
    plural: String,
    namespaced: bool,
    status: bool,
}

struct Taker<'a> {
    server: &'a Server,
    clock: &'a SetClock,
    at: Instant,
    /// What each group and version serves, by kind.
    served: BTreeMap<String, BTreeMap<String, Resource>>,
    /// Identities that objects had elsewhere, and have here.
    uids: BTreeMap<String, String>,
    stocked: Stocked,
    refused: Vec<Refused>,
}

impl<'a> Taker<'a> {
    fn empty(server: &'a Server, clock: &'a SetClock) -> Self {
        Self {
            server,
            clock,
            at: clock.now(),
            served: BTreeMap::new(),
            uids: BTreeMap::new(),
            stocked: Stocked::default(),
            refused: Vec::new(),
        }
    }

    fn take(&mut self, item: &Item) {
        let (version, kind) = (text(&item.object, "/apiVersion"), text(&item.object, "/kind"));
        let resource = self.resource(version, kind);
        let Some(resource) = resource.filter(|_| !OF_NO_USE.contains(&kind)) else {
            *self.stocked.left_out.entry(kind.to_owned()).or_default() += 1;
            return;
        };
        match self.create(&item.object, &resource) {
            Ok(Created::New) => *self.stocked.taken.entry(kind.to_owned()).or_default() += 1,
            Ok(Created::Known) => self.stocked.repeated += usize::from(kind != "Namespace"),
            Err(message) => self.refused.push(Refused {
                origin: item.origin.clone(),
                object: named(&item.object),
                message,
            }),
        }
    }

    fn create(&mut self, given: &Value, resource: &Resource) -> Result<Created, String> {
        let mut object = given.clone();
        let Some(fields) = object.as_object_mut() else {
            return Err("an object is a map of fields".into());
        };
        let status = fields.remove("status");
        disown(given, fields);
        let before = self.tidy(fields);
        let namespace = text(&object, "/metadata/namespace").to_owned();
        let folder = collection(text(given, "/apiVersion"), resource, &namespace);
        if resource.namespaced {
            if namespace.is_empty() {
                return Err("metadata.namespace: a namespace is required".into());
            }
            self.clock.set(self.at);
            let wanted = json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": namespace}});
            // It is there already, or the object itself is refused for the want of it.
            let all = NAMESPACE.collection(None);
            let _ = self.ask(&Method::POST, &all, "application/json", &wanted);
        }
        let created = Instant::parse(text(given, "/metadata/creationTimestamp"));
        self.clock.set(created.map_or(self.at, |created| created.min(self.at)));
        let made = match self.ask(&Method::POST, &folder, "application/json", &object) {
            Ok(made) => made,
            Err((409, _)) => return Ok(Created::Known),
            Err((_, message)) => return Err(message),
        };
        if let Some(before) = before {
            self.uids.insert(before, text(&made, "/metadata/uid").to_owned());
        }
        let kind = text(given, "/kind");
        let restored = status.filter(|_| resource.status && !OWN_STATUS.contains(&kind));
        if let Some(status) = restored.filter(Value::is_object) {
            let path = format!("{folder}/{}/status", text(&made, "/metadata/name"));
            let change = json!({"status": status});
            self.ask(&Method::PATCH, &path, "application/merge-patch+json", &change)
                .map_err(|(_, message)| message)?;
        }
        Ok(Created::New)
    }

    /// Takes off what only a server can say, and answers the identity that the object had.
    fn tidy(&mut self, fields: &mut Map<String, Value>) -> Option<String> {
        let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut)?;
        for key in [
            "resourceVersion",
            "managedFields",
            "selfLink",
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ] {
            metadata.remove(key);
        }
        if let Some(owners) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
            let (uids, mut left) = (&self.uids, Vec::new());
            for mut owner in owners.drain(..) {
                if let Some(now) = uids.get(text(&owner, "/uid")) {
                    owner["uid"] = json!(now);
                    left.push(owner);
                } else {
                    let (version, kind) = (text(&owner, "/apiVersion"), text(&owner, "/kind"));
                    let known =
                        self.served.get(version).is_some_and(|kinds| kinds.contains_key(kind));
                    // An owner of a served kind that did not come along counts as gone, and would take this one with it.
                    if !known {
                        left.push(owner);
                    }
                }
            }
            *owners = left;
        }
        let uid = metadata.remove("uid")?;
        uid.as_str().map(str::to_owned)
    }

    fn resource(&mut self, version: &str, kind: &str) -> Option<Resource> {
        if !self.served.contains_key(version) {
            let group = path::group(version);
            let listed = self.ask(&Method::GET, &group, "", &Value::Null).unwrap_or_default();
            self.served.insert(version.to_owned(), resources(&listed));
        }
        self.served.get(version)?.get(kind).cloned()
    }

    fn ask(
        &self,
        method: &Method,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Value, (u16, String)> {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = self.server.ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if code < 300 {
            return Ok(answer);
        }
        Err((code, text(&answer, "/message").to_owned()))
    }
}

/// A configuration that a controller of another release made is everybody's here, because that controller is not: with its mark on, nobody
/// would render it.
fn disown(given: &Value, fields: &mut Map<String, Value>) {
    let source = || matches!(SeenConfig::new(given), SeenConfig::Source(_));
    if text(given, "/kind") == MACHINE_CONFIG && source() {
        let annotations =
            fields.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
        let is_of_another = |by: &Value| by != env!("CARGO_PKG_VERSION");
        if let Some(annotations) = annotations.and_then(Value::as_object_mut)
            && annotations.get(GENERATED_BY).is_some_and(is_of_another)
        {
            annotations.remove(GENERATED_BY);
        }
    }
}

enum Created {
    New,
    Known,
}

fn resources(listed: &Value) -> BTreeMap<String, Resource> {
    let listed = listed.get("resources").and_then(Value::as_array);
    let mut kinds = BTreeMap::new();
    let mut with_status = Vec::new();
    for one in listed.into_iter().flatten() {
        let (name, kind) = (text(one, "/name"), text(one, "/kind"));
        match name.split_once('/') {
            None => {
                let namespaced = one.get("namespaced") == Some(&Value::Bool(true));
                let resource = Resource { plural: name.to_owned(), namespaced, status: false };
                kinds.insert(kind.to_owned(), resource);
            }
            Some((plural, "status")) => with_status.push(plural.to_owned()),
            Some(_) => {}
        }
    }
    for resource in kinds.values_mut() {
        resource.status = with_status.contains(&resource.plural);
    }
    kinds
}

fn collection(version: &str, resource: &Resource, namespace: &str) -> String {
    let group = path::group(version);
    let Resource { plural, namespaced, .. } = resource;
    if *namespaced {
        format!("{group}/namespaces/{namespace}/{plural}")
    } else {
        format!("{group}/{plural}")
    }
}

fn named(object: &Value) -> String {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    match text(object, "/metadata/namespace") {
        "" => format!("{kind}/{name}"),
        namespace => format!("{kind}/{namespace}/{name}"),
    }
}
