//! What happens to an object that is to go?
//!
//! Either it goes at once, or it is marked and waits: for its finalizers, for its dependents, for its grace period.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{clock::rfc3339_seconds, meta, registry::Nature};

/// What becomes of dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
    /// Nothing was said: what the object's own finalizers say stays.
    Unspecified,
}

/// What a deletion did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The object is to be removed now.
    Gone,
    /// The object was marked and stays for now.
    Marked,
    /// It was already waiting; nothing changed.
    Unchanged,
}

/// The finalizer that holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Marks `object` for deletion at `now`.
pub(crate) fn begin(
    nature: Nature,
    object: &mut Value,
    propagation: Propagation,
    grace: Option<i64>,
    now: Timestamp,
) -> Outcome {
    let mut finalizers: Vec<String> =
        meta::strings(object, "finalizers").into_iter().map(str::to_owned).collect();
    let before = finalizers.clone();
    let drop_both =
        |list: &mut Vec<String>| list.retain(|f| f != "orphan" && f != "foregroundDeletion");
    match propagation {
        Propagation::Unspecified => {}
        Propagation::Background => drop_both(&mut finalizers),
        Propagation::Foreground => {
            drop_both(&mut finalizers);
            finalizers.push("foregroundDeletion".into());
        }
        Propagation::Orphan => {
            drop_both(&mut finalizers);
            finalizers.push("orphan".into());
        }
    }
    if nature == Nature::Definition && !finalizers.iter().any(|f| f == CLEANUP) {
        finalizers.push(CLEANUP.into());
    }
    let grace = pod_grace(nature, object, grace);
    let own = meta::at(object, &["spec", "finalizers"]).and_then(Value::as_array);
    let held =
        !finalizers.is_empty() || nature == Nature::Namespace && own.is_some_and(|f| !f.is_empty());
    if meta::is_deleting(object) {
        let left = meta::field(object, "deletionGracePeriodSeconds")
            .and_then(Value::as_i64)
            .unwrap_or_default();
        if left > grace {
            mark(nature, object, grace, now);
            return if grace == 0 && !held { Outcome::Gone } else { Outcome::Marked };
        }
        if !held && grace == 0 {
            return Outcome::Gone;
        }
        if finalizers != before {
            meta::set(object, "finalizers", finalizers);
            return Outcome::Marked;
        }
        return Outcome::Unchanged;
    }
    if finalizers.is_empty() {
        meta::remove(object, "finalizers");
    } else {
        meta::set(object, "finalizers", finalizers);
    }
    if !held && grace == 0 && nature != Nature::Pod {
        return Outcome::Gone;
    }
    mark(nature, object, grace, now);
    let counted = nature != Nature::Namespace;
    if let Some(generation) = meta::field(object, "generation").and_then(Value::as_i64)
        && counted
    {
        meta::set(object, "generation", generation + 1);
    }
    if !held && grace == 0 {
        return Outcome::Gone;
    }
    if nature == Nature::Namespace {
        meta::entry(object, "status").insert("phase".into(), "Terminating".into());
    }
    Outcome::Marked
}

fn mark(nature: Nature, object: &mut Value, grace: i64, now: Timestamp) {
    let at = now.saturating_add(SignedDuration::from_secs(grace)).unwrap_or(now);
    meta::set(object, "deletionTimestamp", rfc3339_seconds(at));
    if nature != Nature::Namespace {
        meta::set(object, "deletionGracePeriodSeconds", grace);
    }
}

/// Pods that run on a node get time to end; everything else goes at once.
fn pod_grace(nature: Nature, object: &Value, asked: Option<i64>) -> i64 {
    let bound = !meta::text_at(object, &["spec", "nodeName"]).is_empty();
    let over = matches!(meta::text_at(object, &["status", "phase"]), "Succeeded" | "Failed");
    if nature != Nature::Pod || !bound || over {
        return 0;
    }
    let own = meta::at(object, &["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64);
    asked.or(own).unwrap_or(30).max(0)
}
