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
    let identity = &object.identity;
    let until = permit.write_by();
    let mut annotations = Map::new();
    let mut note = |key: &str, value: String| annotations.insert(key.to_owned(), value.into());
    note(annotation, text.clone());
    note(PERMIT_CHANGE, text);
    note(PERMIT_UNTIL, until.to_string());
    note(PERMIT_BASIS, permit.basis().to_string());
    if let Some((key, value)) = beside {
        note(key, value);
    }
    if let Some(opened) = permit.opened() {
        note(PERMIT_FROM, opened.to_string());
    }
    let document = marked(object, &Value::Object(annotations));
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
        ..Action::upkeep(identity.key.clone(), Write::Apply(Owner::Initiator, document))
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
