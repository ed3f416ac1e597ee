//! What time has the server? The fresh rule, as one text.
//!
//! CEL knows no present. But the server stamps the writer's entry in `managedFields` by its own clock before admission looks, so the stamps
//! of a write that the object did not bear before are the time of that write. Whoever forges further entries only adds to what must lie
//! inside a window, because their own is among them; whoever writes nothing but removals leaves none, and is refused (RCH-10).

/// A variable of an admission policy: its name and its expression.
pub type Variable = (&'static str, &'static str);

/// The stamps of a write, as instants: `variables.fresh`.
pub const VARIABLES: [Variable; 2] = [
    (
        "stampsBefore",
        "(oldObject != null && has(oldObject.metadata.managedFields) ? oldObject.metadata.managedFields : []).filter(entry, has(entry.time)).map(entry, \
         entry.operation + '\\n' + (has(entry.manager) ? entry.manager : '') + '\\n' + (has(entry.subresource) ? entry.subresource : '') + '\\n' + string(entry.time))",
    ),
    (
        "fresh",
        "(has(object.metadata.managedFields) ? object.metadata.managedFields : []).filter(entry, has(entry.time) && !( \
         (entry.operation + '\\n' + (has(entry.manager) ? entry.manager : '') + '\\n' + (has(entry.subresource) ? entry.subresource : '') + '\\n' + string(entry.time)) \
         in variables.stampsBefore)).map(entry, timestamp(entry.time))",
    ),
];

/// What whoever sent a write without a stamp is told.
pub const NO_STAMP: &str = "the server has no fresh stamp of this write: it only takes fields away, the same owner wrote the object within this \
                            second, or the object is not tracked because its managedFields are empty; hint: apply server-side, or change an \
                            annotation with it, and try again a second later";
