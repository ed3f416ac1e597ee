//! Does a write take something out of a gate?
//!
//! Where people choose by labels of the very object that is written (RCH-12), whoever takes the label away and changes the object afterwards
//! would have left the gate by two writes that each look harmless. So the first of them is a change of what is held.

/// Whether the labels differ: an expression over `object` and `oldObject`.
macro_rules! relabels {
    () => {
        "(has(object.metadata.labels) ? object.metadata.labels : {}) != (has(oldObject.metadata.labels) ? oldObject.metadata.labels : {})"
    };
}

/// Whether a `hold` chose it by its labels and no longer would: an expression that also has `hold`.
macro_rules! leaves {
    () => {
        "(has(hold.selector) && {selects:oldObject.metadata} && !({selects:object.metadata}) && !(has(hold.names) && object.metadata.name in hold.names))"
    };
}

pub(super) use {leaves, relabels};
