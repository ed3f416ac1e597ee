//! What can no node take, whichever it is? One list for those who render and for those who apply (NODE-3).
//!
//! A configuration that breaks it never gets a name, so that it reaches no node; an agent that meets one all the same, because somebody
//! else rendered it, does nothing. Only what a node alone can know (who is who on it, what it runs) is left to the agent.

use std::{collections::BTreeSet, fmt};

use api::machine::ignition::{File, Ignition, Owner, Unit, User};

use super::{content, units};
use crate::document::problem::{Code, FieldPath, Problem, quoted};

/// Where a configuration may put files: what an administrator may change on a running host. The rest belongs to the image, to the
/// kernel or to nobody.
pub const FOLDERS: &[&str] =
    &["/etc", "/home", "/mnt", "/opt", "/root", "/srv", "/usr/local", "/var"];

/// Where systemd has an administrator's units.
pub const UNITS: &str = "/etc/systemd/system";

/// The folder in which agents remember what they do.
pub const AGENT_FOLDER: &str = "/var/lib/tidegate-agent";

/// The only user whose keys and password can change on a running host.
pub const CORE: &str = "core";

/// The file that makes other agents skip their checks: nobody may ship it.
const FORCE_FILE: &str = "/run/machine-config-daemon-force";

/// The names of owners that mean the same on every node. Others have their number on each, if they are there at all.
const OWNERS: &[&str] = &["root", CORE];

/// The longest path and the longest part of one that Linux takes.
const LONGEST_PATH: usize = 4095;
const LONGEST_PART: usize = 255;

/// Why no node can take a part of a configuration, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What is wrong.
    pub detail: String,
    /// What to do.
    pub hint: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// Everything in a configuration that no node can take, each with its field.
pub fn refusals(ignition: &Ignition, path: &FieldPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    check(ignition, path, &mut problems);
    problems
}

/// What the parts of a whole configuration say against each other. Of its sources each may be right by itself, so only the whole is asked.
pub fn contradictions(ignition: &Ignition) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let mut say = |about: About, field: &'static str, detail: String, hint: &'static str| {
        found.push(Contradiction { about, field, refusal: Unsupported { detail, hint } });
    };
    let paths: BTreeSet<&str> =
        ignition.storage.files.iter().map(|file| file.path.as_str()).collect();
    for path in &paths {
        let above = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        for folder in above.filter(|folder| paths.contains(folder)) {
            let detail = format!("{} is given as a file and as a folder", quoted(folder));
            say(About::File((*path).to_owned()), "path", detail, "keep one of them");
        }
    }
    for unit in &ignition.systemd.units {
        let Unit { name, enabled, mask, contents, dropins } = unit;
        let about = || About::Unit(name.clone());
        let own = format!("{UNITS}/{name}");
        for path in &paths {
            if *path == own || path.strip_prefix(&own).is_some_and(is_dropin) {
                let path = quoted(path);
                let detail = format!("{path} is given as a file and belongs to the unit {name}");
                say(about(), "name", detail, "keep the unit, or the file");
            }
        }
        // One that is masked never starts, whatever else is said of it.
        if enabled != &Some(true) || mask == &Some(true) {
            continue;
        }
        let texts = || dropins.iter().filter_map(|dropin| dropin.contents.as_deref());
        let given = contents.as_deref().filter(|text| !text.is_empty());
        if given.is_some_and(|text| !std::iter::once(text).chain(texts()).any(has_install)) {
            let detail = format!("{name} cannot be enabled: it has no [Install] section");
            let hint = "say in [Install] what starts it, or remove enabled";
            say(about(), "enabled", detail, hint);
        }
    }
    found
}

/// Two parts of a configuration that cannot both be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// What it is about.
    pub about: About,
    /// Which field of that.
    pub field: &'static str,
    /// What is wrong, and what to do.
    pub refusal: Unsupported,
}

/// A part of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The file of this path.
    File(String),
    /// The unit of this name.
    Unit(String),
}

fn is_dropin(rest: &str) -> bool {
    rest.strip_prefix(".d/").is_some_and(|name| !name.contains('/'))
}

fn has_install(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[Install]")
}

/// Whether a configuration may write at a path.
pub fn place(path: &str) -> Result<(), Unsupported> {
    let no = |detail: String, hint| Err(Unsupported { detail, hint });
    let shown = quoted(path);
    if path == FORCE_FILE {
        let detail = format!("{FORCE_FILE} would make nodes skip their checks");
        return no(detail, "remove the file");
    }
    if !is_plain_path(path) {
        let hint = "begin with / and leave out empty parts, . and ..";
        return no(format!("{shown} is not a plain absolute path"), hint);
    }
    if path.len() > LONGEST_PATH || path.split('/').any(|part| part.len() > LONGEST_PART) {
        return no(format!("{shown} is longer than a file system takes"), "shorten it");
    }
    let within = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if path == AGENT_FOLDER || within(AGENT_FOLDER) {
        return no(format!("{shown} belongs to the agent"), "write the file elsewhere");
    }
    if FOLDERS.iter().any(|folder| within(folder)) {
        return Ok(());
    }
    let folders = FOLDERS.join(", ");
    let detail = format!("{shown} is in no folder that a configuration may write ({folders})");
    no(detail, "write the file into one of these folders")
}

/// Whether a file may have these permissions.
pub fn mode(path: &str, mode: u32) -> Result<(), Unsupported> {
    if mode & !0o1777 == 0 {
        return Ok(());
    }
    let path = quoted(path);
    let detail = format!("the mode {mode:o} of {path} would let whoever runs it become another");
    Err(Unsupported { detail, hint: "leave out set-uid and set-gid" })
}

/// Whether a text can be the hash of a password.
pub fn password(user: &str, hash: &str) -> Result<(), Unsupported> {
    if !hash.contains([':', '\n', '\r', '\0']) {
        return Ok(());
    }
    let detail = format!("the password of {} is no hash", quoted(user));
    Err(Unsupported { detail, hint: "write what mkpasswd prints" })
}

/// Whether a text can be one key that may log in.
pub fn key(user: &str, key: &str) -> Result<(), Unsupported> {
    if !key.trim().contains(['\n', '\r', '\0']) {
        return Ok(());
    }
    let detail = format!("a key of {} is more than one line", quoted(user));
    Err(Unsupported { detail, hint: "write each key as an entry of its own" })
}

fn owner(owner: &Owner, path: &FieldPath, problems: &mut Vec<Problem>) {
    let Owner { id, name } = owner;
    let Some(name) = name.as_deref().filter(|name| id.is_none() && !name.is_empty()) else {
        return;
    };
    if !OWNERS.contains(&name) {
        let detail = format!("{} need not be known on every node", quoted(name));
        let hint = "write its number as id; only root and core can be named";
        problems.push(Problem::new(&path.key("name"), Code::NotAllowed, detail).hint(hint));
    }
}

fn judge(
    verdict: Result<(), Unsupported>,
    code: Code,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) {
    if let Err(Unsupported { detail, hint }) = verdict {
        problems.push(Problem::new(path, code, detail).hint(hint));
    }
}

fn check(ignition: &Ignition, path: &FieldPath, problems: &mut Vec<Problem>) {
    let Ignition { ignition: version, passwd, storage, systemd } = ignition;
    check_version(&version.version, &path.key("ignition").key("version"), problems);
    let (mut names, list) = (BTreeSet::new(), path.key("passwd").key("users"));
    for (place, user) in passwd.users.iter().enumerate() {
        let path = list.index(place);
        once(&mut names, &user.name, &path.key("name"), problems);
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
    let User { name, password_hash, ssh_authorized_keys } = user;
    if name != CORE {
        let detail = format!("the user {} cannot be changed", quoted(name));
        let problem = Problem::new(&path.key("name"), Code::NotAllowed, detail);
        problems.push(problem.hint("only core can"));
    }
    if let Some(hash) = password_hash {
        let path = path.key("passwordHash");
        judge(password(name, hash), Code::BadFormat, &path, problems);
    }
    for (place, one) in ssh_authorized_keys.iter().enumerate() {
        let path = path.key("sshAuthorizedKeys").index(place);
        judge(key(name, one), Code::BadFormat, &path, problems);
    }
}

fn check_file(file: &File, path: &FieldPath, problems: &mut Vec<Problem>) {
    let code = if is_plain_path(&file.path) { Code::NotAllowed } else { Code::BadFormat };
    judge(place(&file.path), code, &path.key("path"), problems);
    if let Some(given) = file.mode {
        judge(mode(&file.path, given), Code::NotAllowed, &path.key("mode"), problems);
    }
    owner(&file.user, &path.key("user"), problems);
    owner(&file.group, &path.key("group"), problems);
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
