//! Can a running node take on this Ignition configuration? Everything it cannot is refused by name, with its field.
//!
//! Ignition was made for first boots. What only a first boot can do (disks, groups, directories, other users) and what would have to be
//! fetched from elsewhere is refused while rendering, so that no node ever finds out half-way. What is left is held to the list that
//! agents have too, `node::refusals` (NODE-3).

use api::machine::{self, ignition::Ignition};
use serde_json::Value;

use crate::{
    document::{
        problem::{Code, FieldPath, Problem},
        shape,
    },
    node::refusals::refusals,
};

/// The version that rendered configurations are written in.
pub(crate) const VERSION: &str = "3.5.0";

const FIRST_BOOT: &str = "only a first boot can do this: remove it, and install the node anew";
const FETCHED: &str = "nodes fetch nothing while they change: put the content into a data URL";

/// Parts that are refused by name: where they stand, what they are called, what to do.
const REFUSED: &[(Place, &[&str], &str)] = &[
    (Place::Root, &["kernelArguments"], "use spec.kernelArguments of the MachineConfig"),
    (Place::Ignition, &["config", "proxy", "security", "timeouts"], FETCHED),
    (Place::Storage, &["disks", "filesystems", "raid", "luks"], FIRST_BOOT),
    (Place::Storage, &["directories"], "write a file into the directory: it is made as needed"),
    (Place::Storage, &["links"], "write a file, or make the link in a unit"),
    (Place::Passwd, &["groups"], FIRST_BOOT),
    (
        Place::User,
        &[
            "gecos",
            "groups",
            "homeDir",
            "noCreateHome",
            "noLogInit",
            "noUserGroup",
            "primaryGroup",
            "shell",
            "shouldExist",
            "system",
            "uid",
        ],
        "only the keys and the password of core can change",
    ),
    (Place::File, &["append"], "write the whole file"),
    (Place::Contents, &["compression"], "write the content uncompressed"),
    (Place::Contents, &["httpHeaders", "verification"], FETCHED),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Ignition,
    Storage,
    Passwd,
    User,
    File,
    Contents,
}

/// The configuration; none if anything about it is wrong.
pub(crate) fn read(
    given: &Value,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Ignition> {
    let before = problems.len();
    let mut given = given.clone();
    refuse_parts(&mut given, path, problems);
    problems.extend(shape::check_part(machine::ignition_schema(), &given, path));
    if problems.len() > before {
        return None;
    }
    match serde_json::from_value::<Ignition>(given) {
        Ok(ignition) => {
            problems.extend(refusals(&ignition, path));
            (problems.len() == before).then_some(ignition)
        }
        Err(error) => {
            problems.push(Problem::new(path, Code::WrongType, error.to_string()));
            None
        }
    }
}

fn refuse_parts(given: &mut Value, path: &FieldPath, problems: &mut Vec<Problem>) {
    refuse(Place::Root, given, path, problems);
    for (place, key) in
        [(Place::Ignition, "ignition"), (Place::Storage, "storage"), (Place::Passwd, "passwd")]
    {
        if let Some(part) = given.get_mut(key) {
            refuse(place, part, &path.key(key), problems);
        }
    }
    each(given, path, ["passwd", "users"], |user, path| {
        refuse(Place::User, user, path, problems);
    });
    each(given, path, ["storage", "files"], |file, path| {
        refuse(Place::File, file, path, problems);
        if let Some(contents) = file.get_mut("contents") {
            refuse(Place::Contents, contents, &path.key("contents"), problems);
        }
    });
}

fn each(
    given: &mut Value,
    path: &FieldPath,
    [part, list]: [&str; 2],
    mut visit: impl FnMut(&mut Value, &FieldPath),
) {
    let path = path.key(part).key(list);
    let entries = given.get_mut(part).and_then(|part| part.get_mut(list));
    let entries = entries.and_then(Value::as_array_mut);
    for (place, entry) in entries.into_iter().flatten().enumerate() {
        visit(entry, &path.index(place));
    }
}

/// Takes the refused fields of one part away, and reports those that say something: tools write many of them empty.
fn refuse(place: Place, part: &mut Value, path: &FieldPath, problems: &mut Vec<Problem>) {
    let Some(fields) = part.as_object_mut() else { return };
    for (_, names, hint) in REFUSED.iter().filter(|(refused, ..)| *refused == place) {
        for name in *names {
            let says_something = |value: &Value| match value {
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(fields) => !fields.values().all(|field| field == &Value::Null),
                Value::String(text) => !text.is_empty(),
                Value::Bool(_) | Value::Number(_) => true,
            };
            if fields.shift_remove(*name).is_some_and(|value| says_something(&value)) {
                let detail = format!("{name} cannot be changed on a running node");
                problems.push(Problem::new(&path.key(name), Code::NotAllowed, detail).hint(*hint));
            }
        }
    }
}
