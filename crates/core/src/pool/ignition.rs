//! Can a running machine take on this Ignition configuration? Everything it cannot is refused by name, with its field.
//!
//! Ignition was made for first boots. What only a first boot can do (disks, groups, directories, other users) and what would have to be
//! fetched from elsewhere is refused while rendering, so that no machine ever finds out half-way.

use std::collections::BTreeSet;

use api::machine::{
    self,
    ignition::{File, Ignition, Unit, User},
};
use serde_json::Value;

use crate::{
    node::{content, units},
    problem::{Code, FieldPath, Problem, quoted},
    shape,
};

/// The version that rendered configurations are written in.
pub(crate) const VERSION: &str = "3.5.0";

/// The file that makes the agent skip its checks: nobody may ship it.
const FORCE_FILE: &str = "/run/machine-config-daemon-force";

const FIRST_BOOT: &str = "only a first boot can do this: remove it, and install the machine anew";
const FETCHED: &str = "machines fetch nothing while they change: put the content into a data URL";

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
            check(&ignition, path, problems);
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
                let detail = format!("{name} cannot be changed on a running machine");
                problems.push(Problem::new(&path.key(name), Code::NotAllowed, detail).hint(*hint));
            }
        }
    }
}

fn check(ignition: &Ignition, path: &FieldPath, problems: &mut Vec<Problem>) {
    let Ignition { ignition: version, passwd, storage, systemd } = ignition;
    check_version(&version.version, &path.key("ignition").key("version"), problems);
    let (mut names, list) = (BTreeSet::new(), path.key("passwd").key("users"));
    for (place, user) in passwd.users.iter().enumerate() {
        let path = list.index(place).key("name");
        once(&mut names, &user.name, &path, problems);
        check_user(user, &path, problems);
    }
    let (mut paths, list) = (BTreeSet::new(), path.key("storage").key("files"));
    for (place, file) in storage.files.iter().enumerate() {
        let path = list.index(place);
        once(&mut paths, &file.path, &path.key("path"), problems);
        check_file(file, &path, problems);
    }
    let (mut names, list) = (BTreeSet::new(), path.key("systemd").key("units"));
    for (place, unit) in systemd.units.iter().enumerate() {
        let path = list.index(place);
        once(&mut names, &unit.name, &path.key("name"), problems);
        check_unit(unit, &path, problems);
    }
}

fn check_version(version: &str, path: &FieldPath, problems: &mut Vec<Problem>) {
    let minor = version.strip_prefix("3.").and_then(|rest| rest.strip_suffix(".0"));
    if minor.is_some_and(|minor| matches!(minor, "0" | "1" | "2" | "3" | "4" | "5")) {
        return;
    }
    let detail = format!("version {} of Ignition is not understood", quoted(version));
    let hint = "write it in version 3.0.0 to 3.5.0";
    problems.push(Problem::new(path, Code::NotAllowed, detail).hint(hint));
}

fn check_user(user: &User, path: &FieldPath, problems: &mut Vec<Problem>) {
    if user.name != "core" {
        let detail = format!("the user {} cannot be changed", quoted(&user.name));
        problems.push(Problem::new(path, Code::NotAllowed, detail).hint("only core can"));
    }
}

fn check_file(file: &File, path: &FieldPath, problems: &mut Vec<Problem>) {
    let place = path.key("path");
    if file.path == FORCE_FILE {
        let detail = format!("{FORCE_FILE} would make machines skip their checks");
        problems.push(Problem::new(&place, Code::NotAllowed, detail).hint("remove the file"));
    } else if !is_plain_path(&file.path) {
        let detail = format!("{} is not a plain absolute path", quoted(&file.path));
        let hint = "begin with / and leave out empty parts, . and ..";
        problems.push(Problem::new(&place, Code::BadFormat, detail).hint(hint));
    }
    if let Err(wrong) = content::bytes(&file.contents) {
        let source = path.key("contents").key("source");
        let detail = format!("the content of {} {wrong}", quoted(&file.path));
        let hint = "write data:,text or data:;base64,dGV4dA==";
        problems.push(Problem::new(&source, Code::BadFormat, detail).hint(hint));
    }
}

/// Whether a path says where it leads without climbing: what is written must stay where it seems to go.
fn is_plain_path(path: &str) -> bool {
    let inside = path.strip_prefix('/');
    inside.is_some_and(|inside| {
        inside.split('/').all(|part| !matches!(part, "" | "." | "..") && !part.contains('\0'))
    })
}

fn check_unit(unit: &Unit, path: &FieldPath, problems: &mut Vec<Problem>) {
    if !units::is_unit_name(&unit.name) {
        let detail = format!("{} is not the name of a unit", quoted(&unit.name));
        let hint = "write it with its suffix, as in example.service";
        problems.push(Problem::new(&path.key("name"), Code::BadFormat, detail).hint(hint));
    }
    let mut names = BTreeSet::new();
    for (place, dropin) in unit.dropins.iter().enumerate() {
        let path = path.key("dropins").index(place).key("name");
        once(&mut names, &dropin.name, &path, problems);
        if dropin.name.contains('/') || dropin.name.strip_suffix(".conf").is_none() {
            let detail = format!("{} is not the name of a drop-in", quoted(&dropin.name));
            problems.push(Problem::new(&path, Code::BadFormat, detail).hint("let it end in .conf"));
        }
    }
}

fn once<'a>(
    known: &mut BTreeSet<&'a str>,
    name: &'a str,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) {
    if !known.insert(name) {
        let detail = format!("{} is given twice", quoted(name));
        problems.push(Problem::new(path, Code::Conflict, detail).hint("keep one of them"));
    }
}
