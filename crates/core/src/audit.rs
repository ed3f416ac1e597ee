//! What did gates and freezes hold, or would have held, of what an audit log tells?
//!
//! Each write of a log is judged at `requestReceivedTimestamp` by the very expressions that the API server is given (RCH-14): whether it is the
//! first write of a room, and whether a gate or a freeze selects it. Who evaluates them is an argument, so nothing here is a second
//! evaluator. When a holder is shut is told by its set, as the operator computes it (GATE-15, [`held`](crate::held)).
//!
//! An event holds no `oldObject`, and often not even what was written. Then the expressions are asked without it, and if their outcome
//! depends on it nobody can tell (GATE-12): such writes are counted, with why, and never guessed about. What no holder that is shut may
//! hold needs no telling.

use std::collections::BTreeMap;

use api::{reach::Mode, schema::Scope};
use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    cluster::snapshot::Snapshot,
    held::{Holder, Said},
    policy::verdict::Verdict,
    reach::{
        custom::CustomRoom,
        policies::{self, Parameter},
        rooms::{CUSTOM, RELABELS, ROOMS, Room},
    },
};

mod event;
mod kept;
mod tally;

pub use event::Passed;
use event::{Deed, Event, Place, Read};
use kept::Kept;
pub use tally::{Example, Group, Outcome, Outside, Tally, Untold};

/// How many bytes of objects are kept, to know what an object was before: thirty thousand Deployments.
const ROOM: usize = 128 * 1024 * 1024;

/// What is asked about a write.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// Whether it is the first write of a room (`begins`), and what people name (`name`).
    Begins,
    /// Whether an object of this kind selects it (`held`).
    Holds(Parameter, &'a Value),
}

/// A write, as far as the log tells.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// What was stored.
    pub object: &'a Value,
    /// What it was before.
    pub before: Before<'a>,
    /// The namespace of the object, if its labels are known.
    pub namespace: Option<&'a Value>,
    /// The variable `request`.
    pub request: &'a Value,
}

/// What an object was before it was written.
#[derive(Clone, Copy, Debug)]
pub enum Before<'a> {
    /// It was not there.
    Nothing,
    /// This.
    Object(&'a Value),
    /// Nobody knows.
    Unknown,
}

/// What the variables of a question come to: truths and texts by name, or why they cannot be told.
pub type Told = BTreeMap<String, Result<Value, String>>;

/// A room by which writes are judged.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'r> {
    /// The room.
    pub room: &'static Room,
    /// What it says where it is one of somebody's own.
    pub own: Option<&'r CustomRoom>,
}

/// Who evaluates expressions.
pub type Ask<'a> = dyn FnMut(Judged<'_>, Question<'_>, &Write<'_>) -> Told + 'a;

/// The variables of a question.
pub fn variables(
    judged: Judged<'_>,
    question: Question<'_>,
    operators: &str,
) -> Vec<(&'static str, String)> {
    let Judged { room, own } = judged;
    match (question, own) {
        (Question::Begins, own) => {
            // Whoever wrote the expression said nothing of labels that are taken away.
            let begins = own.map_or_else(
                || room.begins.to_owned(),
                |own| format!("({}) || (oldObject != null && {RELABELS})", own.initiates),
            );
            vec![("begins", begins), ("name", room.name.to_owned())]
        }
        (Question::Holds(parameter, _), None) => policies::selection(room, parameter, operators),
        (Question::Holds(parameter, _), Some(own)) => {
            policies::custom::selection(own, parameter, operators)
        }
    }
}

/// Reads a log, one line after the other.
#[derive(Clone, Debug)]
pub struct Auditor<'a> {
    holders: &'a [Holder],
    snapshot: &'a Snapshot,
    own: &'a [CustomRoom],
    kept: Kept,
    tally: Tally,
}

impl<'a> Auditor<'a> {
    /// Judges by these holders.
    pub fn new(holders: &'a [Holder], snapshot: &'a Snapshot) -> Self {
        Self { holders, snapshot, own: &[], kept: Kept::new(ROOM), tally: Tally::default() }
    }

    /// Judges by these rooms of somebody's own, too.
    #[must_use]
    pub fn with_rooms(self, own: &'a [CustomRoom]) -> Self {
        Self { own, ..self }
    }

    /// Takes in a line: an event, or a list of them. An empty one says nothing.
    pub fn line(&mut self, line: &[u8], ask: &mut Ask<'_>) {
        self.tally.lines += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let document: Value = match serde_json::from_slice(line) {
            Ok(document) => document,
            Err(error) => {
                let said = error.to_string();
                let what = said.split(" at line ").next().unwrap_or_default();
                return self.broken(format!("it is no JSON: {what} at column {}", error.column()));
            }
        };
        let items = document.get("items").and_then(Value::as_array);
        match items.filter(|_| document["kind"] == "EventList") {
            Some(items) => items.iter().for_each(|item| self.event(item, ask)),
            None => self.event(&document, ask),
        }
    }

    /// A line that is there and cannot be read.
    pub fn unreadable(&mut self, what: &str) {
        self.tally.lines += 1;
        self.broken(what.to_owned());
    }

    /// What was found.
    pub fn finish(self) -> Tally {
        Tally { forgotten: self.kept.forgotten, ..self.tally }
    }

    fn broken(&mut self, what: String) {
        self.tally.add_broken(self.tally.lines, what);
    }

    fn event(&mut self, document: &Value, ask: &mut Ask<'_>) {
        let event = match event::read(document) {
            Err(what) => return self.broken(what),
            Ok(read) => {
                self.tally.events += 1;
                match read {
                    Read::Passed(passed) => return self.tally.pass(passed),
                    Read::Write(event) => event,
                }
            }
        };
        self.tally.wrote(event.at);
        let place = event.place();
        if event.deed == Deed::Delete {
            return self.kept.forget(&place);
        }
        for room in ROOMS {
            if looks_at(room, &place, event.deed) {
                self.judge(Judged { room, own: None }, &event, &place, ask);
            }
        }
        for own in self.own {
            if looks_at_own(own, &place, Some(event.deed)) {
                self.judge(Judged { room: CUSTOM, own: Some(own) }, &event, &place, ask);
            }
        }
        self.remember(&event, &place);
    }

    /// Keeps what is needed to know what the next write of the object changes.
    fn remember(&mut self, event: &Event<'_>, place: &Place<'_>) {
        let changes = |room: &&Room| {
            room.writes.iter().any(|write| {
                let of_it = |resource: &&str| resource.split('/').next() == Some(place.resource);
                group(write.group) == place.group
                    && write.operations.contains(&"UPDATE")
                    && write.resources.iter().any(of_it)
            })
        };
        let held =
            |room: &Room| self.holders.iter().any(|holder| holder.may_hold(room, place.namespace));
        let own = || {
            let mut own = self.own.iter();
            own.any(|own| looks_at_own(own, place, None)) && held(CUSTOM)
        };
        if !ROOMS.iter().filter(changes).any(held) && !own() {
            return;
        }
        match (place.subresource, event.stored()) {
            ("scale", scale) => self.kept.scaled(place, scale),
            ("" | "status", Some(object)) => self.kept.keep(place, object),
            ("" | "status", None) => self.kept.forget(place),
            _ => {}
        }
    }

    fn judge(
        &mut self,
        judged: Judged<'_>,
        event: &Event<'_>,
        place: &Place<'_>,
        ask: &mut Ask<'_>,
    ) {
        let room = judged.room;
        let concerned = self.holders.iter().filter(|one| one.may_hold(room, place.namespace));
        let said: Vec<(&Holder, Said)> = concerned.map(|one| (one, one.at(event.at))).collect();
        if said.is_empty() {
            return;
        }
        let shut = said.iter().filter(|(_, said)| said.verdict != Verdict::Permitted);
        let shut: Vec<&(&Holder, Said)> = shut.collect();
        let mut example = Example {
            at: event.at,
            user: event.user().to_owned(),
            object: shown(place),
            name: None,
            id: event.id().to_owned(),
            by: Vec::new(),
            opens: None,
        };
        let Some(object) = event.object() else {
            if !shut.is_empty() {
                let why = Untold::NoContent(event.level().to_owned());
                self.tally.add_untold(room.name_of(), why, example);
            }
            return;
        };
        if !is_marked(room, object) {
            return;
        }
        let known = self.kept.before(place, object);
        let before = match (event.deed, &known) {
            (Deed::Create, _) => Before::Nothing,
            (_, Some(known)) => Before::Object(known),
            (_, None) => Before::Unknown,
        };
        let request = event.request();
        let write = Write { object, before, namespace: None, request: &request };
        let mut told = ask(judged, Question::Begins, &write);
        example.name = told.remove("name").and_then(|name| Some(name.ok()?.as_str()?.to_owned()));
        let begins = truth(&mut told, "begins");
        if begins == Ok(false) {
            return;
        }
        if begins.is_ok() {
            self.tally.first_writes += 1;
            if event.is_by_hand() {
                return self.tally.add_by_hand(event.user());
            }
        }
        let found = self.asked(judged, &shut, place, &write, ask);
        self.settle(room, begins, found, example);
    }

    /// Who of those that are shut selects a write, and why that cannot be told of others.
    fn asked<'h>(
        &self,
        judged: Judged<'_>,
        shut: &[&'h (&'a Holder, Said)],
        place: &Place<'_>,
        write: &Write<'_>,
        ask: &mut Ask<'_>,
    ) -> Found<'h> {
        let mut found = Found::default();
        for (holder, said) in shut.iter().copied() {
            let namespace = place.namespace.map(|name| self.namespace(name, holder));
            let unseen = matches!(namespace, Some(None));
            let namespace = namespace.flatten();
            let write = Write { namespace: namespace.as_ref(), ..*write };
            let question = Question::Holds(holder.parameter, &holder.document);
            match truth(&mut ask(judged, question, &write), "held") {
                Ok(true) => found.by.push((holder, said)),
                Ok(false) => {}
                Err(_) if unseen => found.unclear.push((holder, Untold::NoNamespace)),
                Err(_) if matches!(write.before, Before::Unknown) => {
                    found.unclear.push((holder, Untold::NoBefore));
                }
                Err(why) => found.unclear.push((holder, Untold::Failed(why))),
            }
        }
        found
    }

    fn settle(
        &mut self,
        room: &'static Room,
        begins: Result<bool, String>,
        mut found: Found<'_>,
        mut example: Example,
    ) {
        let name = room.name_of();
        example.by = found.by.iter().map(|(holder, _)| holder.key.clone()).collect();
        if let Err(why) = begins {
            // Whether it began anything matters only if somebody would have held it.
            if !found.by.is_empty() || !found.unclear.is_empty() {
                let why = match found.unclear.pop() {
                    Some((_, why @ Untold::NoBefore)) => why,
                    _ if why.contains("oldObject") => Untold::NoBefore,
                    Some((_, why)) => why,
                    None => Untold::Failed(why),
                };
                self.tally.add_untold(name, why, example);
            }
            return;
        }
        // Those that only warn or note let everything pass, so they are asked after those that refuse.
        for enforces in [true, false] {
            let alike = |holder: &Holder| holder.enforces() == enforces;
            let by = || found.by.iter().filter(|(holder, _)| alike(holder));
            if let Some((holder, said)) = by().find(|(_, said)| said.verdict == Verdict::Held) {
                example.opens = said.opens;
                let (user, by) = (example.user.clone(), holder.key.clone());
                let outcome = outcome(holder, example.at);
                return self.tally.add_outside(Outside { user, room: name, by, outcome }, example);
            }
            let doubt = by().next().map(|(holder, said)| {
                let why = said.doubt.as_deref().unwrap_or_default();
                Untold::NoTime(format!("{}: {why}", holder.key))
            });
            let unclear = || found.unclear.iter().rfind(|(holder, _)| alike(holder));
            if let Some(why) = doubt.or_else(|| unclear().map(|(_, why)| why.clone())) {
                return self.tally.add_untold(name, why, example);
            }
        }
        self.tally.permitted += 1;
    }

    /// A namespace, as far as a holder needs to know it. Every namespace bears its name as a label; of one that nobody saw nothing else is
    /// known.
    fn namespace(&self, name: &str, holder: &Holder) -> Option<Value> {
        let mut labels = match self.snapshot.namespace(name) {
            Some(labels) => labels.clone(),
            None if holder.asks_for_labels() => return None,
            None => BTreeMap::new(),
        };
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.to_owned());
        Some(json!({"metadata": {"name": name, "labels": labels}}))
    }
}

/// Who selects a write, and of whom that could not be told, with why.
#[derive(Default)]
struct Found<'a> {
    by: Vec<(&'a Holder, &'a Said)>,
    unclear: Vec<(&'a Holder, Untold)>,
}

/// What it means that a holder was shut to a write.
fn outcome(holder: &Holder, at: Instant) -> Outcome {
    match holder.mode {
        Mode::Warn => Outcome::WouldWarn,
        Mode::Audit => Outcome::WouldNote,
        Mode::Enforce | Mode::Unknown if holder.stood_at(at) => Outcome::Outside,
        Mode::Enforce | Mode::Unknown => Outcome::WouldRefuse,
    }
}

fn truth(told: &mut Told, name: &str) -> Result<bool, String> {
    match told.remove(name) {
        Some(Ok(Value::Bool(is_so))) => Ok(is_so),
        Some(Ok(_)) | None => Err(format!("{name} is no truth")),
        Some(Err(why)) => Err(why),
    }
}

/// Whether the server looks at a write, or at any change of such an object, for a room of somebody's own. Other versions of a kind are turned into the
/// one that it names.
fn looks_at_own(own: &CustomRoom, place: &Place<'_>, deed: Option<Deed>) -> bool {
    let is_asked = |resource: &String| match deed {
        Some(_) => *resource == resource_of(place),
        None => resource.split('/').next() == Some(place.resource),
    };
    let operation = deed.map_or("UPDATE", operation);
    own.api_groups.iter().any(|group| group == place.group)
        && own.resources.iter().any(is_asked)
        && own.operations.iter().any(|known| known == operation)
        && (own.scope == Scope::Namespaced) == place.namespace.is_some()
}

fn operation(deed: Deed) -> &'static str {
    match deed {
        Deed::Create => "CREATE",
        Deed::Update => "UPDATE",
        Deed::Delete => "DELETE",
    }
}

/// The resource as rules name it.
fn resource_of(place: &Place<'_>) -> String {
    match place.subresource {
        "" => place.resource.to_owned(),
        subresource => format!("{}/{subresource}", place.resource),
    }
}

/// Whether the server looks at a write for a room.
fn looks_at(room: &Room, place: &Place<'_>, deed: Deed) -> bool {
    let (operation, named) = (operation(deed), resource_of(place));
    room.writes.iter().any(|write| {
        group(write.group) == place.group
            && write.operations.contains(&operation)
            && write.resources.contains(&named.as_str())
    })
}

/// The group as requests have it: the table of rooms quotes an empty one for YAML.
fn group(written: &str) -> &str {
    written.trim_matches('"')
}

fn is_marked(room: &Room, object: &Value) -> bool {
    let labels = object.pointer("/metadata/labels");
    room.marked.is_none_or(|(key, value)| {
        let found = labels.and_then(|labels| labels.get(key));
        found.is_some_and(|found| value.is_none_or(|value| *found == value))
    })
}

fn shown(place: &Place<'_>) -> String {
    let resource = resource_of(place);
    match place.namespace {
        Some(namespace) => format!("{resource} {namespace}/{}", place.name),
        None => format!("{resource} {}", place.name),
    }
}
