//! What would an edit of a policy do? What is wrong with it and where, what it gains and loses, whom it concerns, the patch and the way back.
//!
//! An edit is compared with what the cluster holds, by the same functions that judge files and compare them (`tidegate validate`,
//! `tidegate diff`). Nothing here is sent anywhere (OVR-4).

use std::ops::Range;

use schedule::{Instant, Zone};
use serde_json::{Map, Value, json};
use tidegate_core::{
    cluster::{
        kinds,
        overview::{self, Row},
        snapshot::Snapshot,
    },
    document::key::Key,
    policy::{
        read::{self, Judged, Policy},
        verdict::Verdict,
    },
    simulate::{self, Settings},
};

use crate::{
    change::Change,
    diff::{self, Comparison},
    simulation::words,
    spoken, status,
};

/// So far ahead an edit is looked at.
pub const AHEAD: i64 = 365 * 86_400;

/// Of so many who follow a policy it is told what the edit means for each; the rest is counted. Two rows each are worked out.
const TOLD: usize = 200;

/// So many nodes are simulated while somebody types.
const NODES: usize = 5_000;

/// What an edit of a policy would do.
#[derive(Clone, Debug)]
pub struct Editing {
    /// The policy.
    pub object: Key,
    /// The edited document, judged as files are.
    pub judged: Judged,
    /// What the edit gains and loses within [`Editing::range`]; none if one of the two versions cannot be used.
    pub compared: Option<Comparison>,
    /// The period that is looked at.
    pub range: Range<Instant>,
    /// Those who name the policy, with what they have now and would have; the first of them.
    pub followers: Vec<Follower>,
    /// How many name it.
    pub following: usize,
    /// The pools that would no longer get a change done within the period, each with the reason; none if that was not worked out.
    pub stranded: Option<Vec<(String, String)>>,
    /// The patch and its way back.
    pub change: Change,
    /// The whole object, as a file of it would say.
    pub document: Value,
}

/// Somebody who names the policy.
#[derive(Clone, Debug)]
pub struct Follower {
    /// As it is.
    pub before: Row,
    /// As it would be.
    pub after: Row,
}

/// The fields of an object that a person writes: a file for Git holds these.
fn written(live: &Value, spec: &Value) -> Value {
    let mut metadata = Map::new();
    for field in ["name", "namespace", "labels"] {
        if let Some(value) = live.pointer(&format!("/metadata/{field}")) {
            metadata.insert(field.into(), value.clone());
        }
    }
    json!({"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata, "spec": spec})
}

impl Editing {
    /// What becomes of a policy that the cluster holds as `live`, with this specification.
    pub fn new(
        snapshot: &Snapshot,
        object: &Key,
        live: &Value,
        spec: &Value,
        now: Instant,
    ) -> Self {
        let range = now..now.saturating_add(AHEAD);
        let document = written(live, spec);
        let old_spec = live.get("spec").cloned().unwrap_or_default();
        let old = read::policy(&written(live, &old_spec));
        let judged = read::policy(&document);
        let said = |policy: &Policy| {
            snapshot.judge_written(policy, now).iter().map(ToString::to_string).collect()
        };
        let compared = match (&old.policy, &judged.policy) {
            (Some(old), Some(new)) => {
                diff::compare(&[old], &[new], &range, &said).into_iter().next()
            }
            _ => None,
        };
        let version = live.pointer("/metadata/resourceVersion");
        let mut patch = json!({"spec": difference(&old_spec, spec).unwrap_or_else(|| json!({}))});
        if let Some(version) = version {
            patch["metadata"] = json!({"resourceVersion": version});
        }
        let undo = json!({"spec": difference(spec, &old_spec).unwrap_or_else(|| json!({}))});
        let change = Change {
            object: object.clone(),
            meaning: format!("{object} says what was edited"),
            patch,
            undo,
            way_back: None,
        };
        let following = snapshot.naming(object).count();
        let (followers, stranded) = match &judged.policy {
            Some(_) => concerned(snapshot, object, &document, &range),
            None => (Vec::new(), None),
        };
        let object = object.clone();
        Self { object, judged, compared, range, followers, following, stranded, change, document }
    }

    /// Whether anything would be written.
    pub fn differs(&self) -> bool {
        self.change.patch.get("spec") != Some(&json!({}))
    }

    /// Why somebody has to say the name of the policy first: the edit opens something at once, or leaves a pool that never gets there.
    pub fn weighty(&self) -> Option<String> {
        let opened = self.followers.iter().filter(|follower| follower.opens()).count();
        let stranded = self.stranded.as_ref().map_or(0, Vec::len);
        match (opened, stranded) {
            (0, 0) => None,
            (0, 1) => Some("it leaves one pool that would not get a change done".into()),
            (0, many) => Some(format!(
                "it leaves {} pools that would not get a change done",
                spoken::count(many)
            )),
            (1, _) => Some("it opens one resource at once".into()),
            (many, _) => Some(format!("it opens {} resources at once", spoken::count(many))),
        }
    }
}

impl Follower {
    /// Whether the edit opens it at once.
    pub fn opens(&self) -> bool {
        self.before.verdict != Verdict::Permitted && self.after.verdict == Verdict::Permitted
    }

    /// Whether the edit is nothing to it now.
    pub fn is_same(&self) -> bool {
        self.before.verdict == self.after.verdict
            && status::end(&self.before) == status::end(&self.after)
    }

    /// When what waits there would start, against when it starts today; none if nothing waits or nothing changes.
    pub fn sentence(&self, now: Instant, zone: &Zone) -> Option<String> {
        if self.before.pending.waiting.is_empty() {
            return None;
        }
        let (before, after) = (starts(&self.before, now), starts(&self.after, now));
        let name = &self.before.object.name;
        match (before, after) {
            (before, after) if before == after => None,
            (_, None) => {
                Some(format!("What waits for {name} would have no start that anybody can tell"))
            }
            (None, Some(after)) => Some(format!(
                "What waits for {name} would start {}",
                spoken::when_in_a_sentence(after, now, zone)
            )),
            (Some(before), Some(after)) => {
                let apart = spoken::length((after.unix() - before.unix()).abs());
                let way = if after < before { "earlier" } else { "later" };
                let when = spoken::when_in_a_sentence(after, now, zone);
                Some(format!("What waits for {name} would start {when}, {apart} {way}"))
            }
        }
    }
}

/// When something that waits starts, by the row of its resource.
fn starts(row: &Row, now: Instant) -> Option<Instant> {
    match row.verdict {
        Verdict::Permitted => Some(now),
        Verdict::Held if row.next == Some(Verdict::Permitted) => status::end(row),
        Verdict::Held | Verdict::CannotTell => None,
    }
}

/// Those who name a policy, before and after, and the pools among them that no longer get there.
fn concerned(
    snapshot: &Snapshot,
    object: &Key,
    document: &Value,
    range: &Range<Instant>,
) -> (Vec<Follower>, Option<Vec<(String, String)>>) {
    let Some(kind) = kinds::known(object.kind()) else { return (Vec::new(), None) };
    let mut edited = snapshot.clone();
    edited.add_written(kind, document, range.start);
    let naming: Vec<&Key> = snapshot.naming(object).collect();
    let row = |cluster: &Snapshot, key: &Key| {
        cluster.resource(key).map(|seen| overview::resource(cluster, seen, range.start))
    };
    let told = naming.iter().take(TOLD).filter_map(|key| {
        Some(Follower { before: row(snapshot, key)?, after: row(&edited, key)? })
    });
    let followers = told.collect();
    let pools = naming
        .iter()
        .filter(|key| snapshot.pool(&key.name).is_some_and(|pool| pool.key() == ***key));
    let mut settings = Settings::usual(range.clone());
    settings.pools = pools.map(|key| key.name.to_string()).collect();
    settings.arrivals = vec![range.start];
    if settings.pools.is_empty() {
        return (followers, Some(Vec::new()));
    }
    if snapshot.machines().count() > NODES {
        return (followers, None);
    }
    let fine = |cluster: &Snapshot| {
        let forecast = simulate::simulate(cluster, &settings);
        let own = forecast.pools.into_iter();
        own.filter(|course| {
            course.object.name.as_ref().is_some_and(|name| settings.pools.contains(name))
        })
        .collect::<Vec<_>>()
    };
    let (before, after) = (fine(snapshot), fine(&edited));
    let stranded = before
        .iter()
        .zip(&after)
        .filter(|(was, is)| was.verdict.is_fine() && !is.verdict.is_fine());
    let stranded = stranded.map(|(_, is)| {
        let reason = words::reason(is, &settings).map_or_else(String::new, |(reason, _)| reason);
        (is.object.name.clone().unwrap_or_default(), reason)
    });
    (followers, Some(stranded.collect()))
}

/// What makes the second of two values of the first, as a merge patch (RFC 7386): null takes a field away, and a list is replaced as a whole.
fn difference(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let mut patch = Map::new();
    for (name, value) in new {
        match old.get(name) {
            None if value.is_null() => {}
            None => drop(patch.insert(name.clone(), without_nulls(value))),
            Some(was) => {
                if let Some(change) = difference(was, value) {
                    patch.insert(name.clone(), change);
                }
            }
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// A null in a patch takes away, so what is new has none.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
