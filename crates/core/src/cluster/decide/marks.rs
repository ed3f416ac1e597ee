//! How is a change of a whole object let begin? By one write with a permit beside it (GATE-7, GATE-16, CV-4).

use api::machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL};
use serde_json::{Map, Value, json};

use crate::{
    cluster::seen::SeenGated,
    gate::{
        Permit,
        action::{Action, Initiation, Owner, Refused, Reserved, Right, Write},
        change::ChangeId,
        note::{Note, Weight},
    },
};

/// What is let begin.
#[derive(Debug)]
pub(super) struct Mark<'a> {
    /// The object that bears the mark.
    pub(super) object: &'a SeenGated,
    /// The annotation that followers read.
    pub(super) annotation: &'static str,
    /// What it says.
    pub(super) text: String,
    /// What is recorded beside it.
    pub(super) beside: Option<(&'static str, String)>,
    /// What the object changes to.
    pub(super) change: ChangeId,
    /// The same, for people.
    pub(super) said: String,
    /// One CamelCase word for what happened.
    pub(super) reason: &'static str,
}

/// The one write that lets it begin.
pub(super) fn mark(mark: Mark<'_>, permit: Permit) -> Action {
    let Mark { object, annotation, text, beside, change, said, reason } = mark;
    let mut annotations = permitted(&text, &permit);
    // An apply has no words for what is not there.
    annotations.retain(|_, value| !value.is_null());
    annotations.insert(annotation.to_owned(), text.into());
    annotations.extend(beside.map(|(key, value)| (key.to_owned(), value.into())));
    let document = marked(object, &Value::Object(annotations));
    starting(object, Write::Apply(Owner::Initiator, document), permit, (change, &said, reason))
}

/// The permit and the record of a change, as annotations of the object that it begins with (GATE-10); null of what the permit does not say.
pub(super) fn permitted(change: &str, permit: &Permit) -> Map<String, Value> {
    let opened = permit.opened().map(|opened| opened.to_string());
    let noted = [
        (PERMIT_CHANGE, json!(change)),
        (PERMIT_UNTIL, json!(permit.write_by().to_string())),
        (PERMIT_BASIS, json!(permit.basis().to_string())),
        (PERMIT_FROM, json!(opened)),
    ];
    noted.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A write that starts a change of a whole object.
pub(super) fn starting(
    object: &SeenGated,
    write: Write,
    permit: Permit,
    (change, said, reason): (ChangeId, &str, &'static str),
) -> Action {
    let (identity, until) = (&object.identity, permit.write_by());
    let initiation = Initiation {
        note: Note {
            weight: Weight::Normal,
            reason,
            message: format!(
                "{} goes to {said}; basis: {}; permit until {until}",
                identity.key,
                permit.basis()
            ),
        },
        permit,
        until,
        change,
        uid: identity.uid.clone(),
        // One object, one mark: the version that it was made from is all the room there is.
        reserved: Reserved::Written,
    };
    Action {
        right: Right::Initiates(Box::new(initiation)),
        refused: Refused::ConcernsTheTargetAlone,
        ..Action::upkeep(identity.key.clone(), write)
    }
}

/// The object with annotations that its marks consist of, and no other: what an apply leaves out goes.
pub(super) fn marked(object: &SeenGated, annotations: &Value) -> Value {
    let identity = &object.identity;
    let mut document: Value = json!({
        "apiVersion": object.kind.api_version,
        "kind": object.kind.name,
        "metadata": {
            "name": &*identity.key.name,
            "uid": identity.uid,
            "resourceVersion": identity.resource_version,
            "annotations": annotations,
        },
    });
    if let Some(namespace) = &identity.key.namespace {
        document["metadata"]["namespace"] = (**namespace).into();
    }
    document
}
