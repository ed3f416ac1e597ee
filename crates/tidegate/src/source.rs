//! What did the person hand us? Files, folders and standard input, as policies and as problems with their places.
//!
//! Nothing read here is trusted: size, depth and entanglement are bounded before memory is spent, and one bad document never hides
//! another. Every problem names file, line, column and field.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use api::schema::{Role, Scope, guardrail_named};
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    cluster::{
        kinds::{self, Row},
        snapshot::Snapshot,
    },
    document::{
        key::Key,
        problem::{Code, FieldPath, Object, Problem},
    },
    dump::{self, Head},
    policy::read::{self, Policy},
    reach::policies::Parameter,
};

mod json;
pub(crate) mod split;
pub(crate) mod tree;

use tree::{Node, Place};

/// The largest file that is read. A policy is a kilobyte; eight thousand of them fit.
pub(crate) const LARGEST: u64 = 8 * 1024 * 1024;

/// The same where a whole cluster is read: all its pods may stand in one file.
pub(crate) const LARGEST_OF_A_CLUSTER: u64 = 64 * 1024 * 1024;

/// How many documents of one file are judged, and after how many problems with one file nobody reads on.
const MOST_DOCUMENTS: usize = 10_000;
const MOST_PROBLEMS: usize = 1_000;

/// How deep folders may be nested.
const DEEPEST_FOLDER: usize = 32;

/// A problem and its place.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The file as the person named it.
    pub(crate) file: String,
    /// Where in the file.
    pub(crate) place: Place,
    /// What is wrong there.
    pub(crate) problem: Problem,
}

/// A policy that can be used.
#[derive(Debug)]
pub(crate) struct Found {
    /// The policy.
    pub(crate) policy: Policy,
}

/// Which documents are welcome.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Reads {
    /// Those that say when; whatever else there is is a problem, so that no answer is given about less than was handed over.
    #[default]
    Policies,
    /// Those that say when, and those that ask.
    Everything,
    /// The same, out of whatever else a cluster holds.
    Cluster,
    /// The same, with nodes and their configurations.
    Machines,
    /// Every object, whatever it is; nobody judges it here.
    Anything,
}

/// An object of whatever kind, and where it stands.
#[derive(Debug)]
pub(crate) struct Written {
    /// The file as the person named it.
    pub(crate) file: String,
    /// Where the object begins.
    pub(crate) place: Place,
    /// The object.
    pub(crate) object: Value,
}

/// A document that can be used, and where it stands.
#[derive(Debug)]
pub(crate) struct Usable {
    /// The file as the person named it.
    pub(crate) file: String,
    /// Where the document begins.
    pub(crate) place: Place,
    /// Which object it is.
    pub(crate) object: Object,
}

/// All that was read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    reads: Reads,
    /// The documents that can be used, in the order they were read.
    pub(crate) usable: Vec<Usable>,
    /// The policies that can be used, in the order they were read.
    pub(crate) policies: Vec<Found>,
    /// The documents of a cluster, usable or not: a resource that cannot be used is held, and that is what is asked about.
    pub(crate) objects: Vec<(&'static Row, Value)>,
    /// Where each of them stands.
    places: Vec<(String, Place)>,
    /// What the heads of dumps say, of every file that is one.
    pub(crate) dumps: Vec<Head>,
    /// Whether the file that is being read is one of them: it holds much that was not asked for, and that is nobody's fault.
    in_dump: bool,
    /// Every object, where anything is welcome.
    pub(crate) written: Vec<Written>,
    /// Everything that is wrong.
    pub(crate) findings: Vec<Finding>,
    /// How many files were looked at.
    pub(crate) files: usize,
    /// How many documents were judged.
    pub(crate) documents: usize,
}

impl Loaded {
    /// What the files say of a cluster, as if it were read at an instant.
    pub(crate) fn snapshot(&self, now: Instant) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (kind, document) in &self.objects {
            snapshot.add_written(kind, document, now);
        }
        snapshot
    }

    /// Gates and freezes of which nobody could say what they hold are problems, and are left out: one of a team that names no namespace, which
    /// holds what is in it, and one that is there twice, of which the last counts.
    pub(crate) fn leave_unclear_holders_out(&mut self) {
        let objects = std::mem::take(&mut self.objects);
        let places = std::mem::take(&mut self.places);
        let mut kept: Vec<(&'static Row, Value)> = Vec::new();
        let mut keys: BTreeMap<Key, String> = BTreeMap::new();
        // From behind: what is written last counts.
        for ((row, document), (file, place)) in objects.into_iter().zip(places).rev() {
            if Parameter::of_kind(&row.kind).is_none() {
                kept.push((row, document));
                continue;
            }
            let text = |field: &str| {
                document.pointer(&format!("/metadata/{field}")).and_then(Value::as_str)
            };
            let key = Key::new(&row.kind, text("namespace"), text("name").unwrap_or_default());
            let metadata = FieldPath::of("metadata");
            let problem = if row.kind.scope == Scope::Namespaced && key.namespace.is_none() {
                let detail = format!("{key} holds what is in its namespace, and names none");
                let field = metadata.key("namespace");
                Problem::new(&field, Code::MissingField, detail).hint("write metadata.namespace")
            } else if let Some(other) = keys.get(&key) {
                let detail =
                    format!("{key} is written twice; the other, which counts, is in {other}");
                Problem::new(&metadata.key("name"), Code::Conflict, detail).hint("keep one of them")
            } else {
                keys.insert(key, format!("{file}:{}", place.line));
                kept.push((row, document));
                continue;
            };
            self.report(&file, place, problem);
        }
        kept.reverse();
        self.objects = kept;
    }

    /// Whether something could not be used.
    pub(crate) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.problem.is_error())
    }

    /// How objects of a kind are read: a dump says whose control plane it is of (CV-4).
    fn row(&self, kind: &'static Row) -> &'static Row {
        let is_stock = self.in_dump && self.dumps.last().is_some_and(|head| head.is_stock);
        read_as(kind, is_stock)
    }

    /// What dumps say that they do not hold of these kinds: what nobody could read, and objects that were too many.
    pub(crate) fn missing_of_dumps(&self, of: impl Fn(&str) -> bool) -> Vec<String> {
        let contents = self.dumps.iter().flat_map(|head| &head.contents);
        let contents = contents.filter(|content| of(&content.kind));
        let missing = contents.filter_map(|content| match (&content.unread, content.left_out) {
            (Some(why), _) => Some(format!("the dump holds no {}: {why}", content.kind)),
            (None, 0) => None,
            (None, count) => Some(format!("the dump leaves out {count} of {}", content.kind)),
        });
        missing.collect()
    }

    fn largest(&self) -> u64 {
        match self.reads {
            Reads::Machines | Reads::Anything => LARGEST_OF_A_CLUSTER,
            Reads::Policies | Reads::Everything | Reads::Cluster => LARGEST,
        }
    }

    fn report(&mut self, file: &str, place: Place, problem: Problem) {
        self.findings.push(Finding { file: file.to_owned(), place, problem });
    }

    fn refuse(&mut self, file: &str, code: Code, detail: impl Into<String>, hint: &str) {
        let problem = Problem::new(&FieldPath::root(), code, detail).hint(hint);
        self.report(file, Place::START, problem);
    }
}

/// Reads the policies of every path: a file, a folder, or `-` for standard input.
pub(crate) fn load(paths: &[PathBuf], stdin: &mut dyn Read) -> Loaded {
    load_all(paths, Reads::Policies, stdin)
}

/// Reads the welcome documents of every path.
pub(crate) fn load_all(paths: &[PathBuf], reads: Reads, stdin: &mut dyn Read) -> Loaded {
    let mut loaded = Loaded { reads, ..Loaded::default() };
    for path in paths {
        if path.as_os_str() == "-" {
            loaded.files += 1;
            read_stream(stdin, "<stdin>", &mut loaded);
        } else {
            load_path(path, &mut loaded);
        }
    }
    loaded
}

fn load_path(path: &Path, loaded: &mut Loaded) {
    let name = path.display().to_string();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let before = loaded.files;
            load_folder(path, 0, loaded);
            if loaded.files == before {
                let hint = "files that end in .yaml, .yml or .json are read";
                loaded.refuse(&name, Code::Empty, "the folder holds no policy file", hint);
            }
        }
        Ok(_) => load_file(path, loaded),
        Err(error) => {
            loaded.files += 1;
            unreadable(&name, &error, loaded);
        }
    }
}

fn load_folder(folder: &Path, depth: usize, loaded: &mut Loaded) {
    let name = folder.display().to_string();
    if depth > DEEPEST_FOLDER {
        let detail = format!("folders are nested more than {DEEPEST_FOLDER} deep");
        return loaded.refuse(&name, Code::TooLarge, detail, "name the deeper folder itself");
    }
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return unreadable(&name, &error, loaded),
    };
    // The order of a folder is the disk's; the order of the output is ours.
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // A link to a folder may lead back here, so links are followed to files only.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        if hidden {
        } else if is_folder {
            load_folder(&path, depth + 1, loaded);
        } else if matches!(suffix, Some("yaml" | "yml" | "json")) {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => load_file(&path, loaded),
                Err(error) => unreadable(&path.display().to_string(), &error, loaded),
            }
        }
    }
}

fn load_file(path: &Path, loaded: &mut Loaded) {
    let name = path.display().to_string();
    loaded.files += 1;
    match File::open(path) {
        Ok(mut file) => read_stream(&mut file, &name, loaded),
        Err(error) => unreadable(&name, &error, loaded),
    }
}

/// The row of a kind on a control plane that knows us, or on a stock one.
fn read_as(kind: &'static Row, is_stock: bool) -> &'static Row {
    if is_stock && kind.kind == kinds::CLUSTER_VERSION.kind {
        &kinds::STOCK_CLUSTER_VERSION
    } else {
        kind
    }
}

/// What change management knows among some objects that were read, as if that were at an instant.
pub(crate) fn of_cluster<'a>(
    loaded: &Loaded,
    objects: &'a [Value],
    now: Instant,
) -> (Vec<(&'static Row, &'a Value)>, Snapshot) {
    let is_stock = loaded.dumps.iter().any(|head| head.is_stock);
    let mut snapshot = Snapshot::default();
    let mut rows = Vec::new();
    for object in objects {
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let row = kinds::ALL.iter().find(|row| row.is_named_by(version, kind));
        if let Some(row) = row {
            let row = read_as(row, is_stock);
            snapshot.add_written(row, object, now);
            rows.push((row, object));
        }
    }
    (rows, snapshot)
}

/// Reads a text that the command carries with it.
pub(crate) fn of_text(name: &str, text: &str, loaded: &mut Loaded) {
    loaded.files += 1;
    load_bytes(text.as_bytes(), name, loaded);
}

fn read_stream(stream: &mut dyn Read, name: &str, loaded: &mut Loaded) {
    let mut bytes = Vec::new();
    let mut read_until = |size: u64, bytes: &mut Vec<u8>| {
        Read::take(&mut *stream, size - bytes.len() as u64).read_to_end(bytes)
    };
    if let Err(error) = read_until(dump::BEGINS.len() as u64, &mut bytes) {
        return unreadable(name, &error, loaded);
    }
    let is_dump = bytes == dump::BEGINS.as_bytes();
    let largest = if is_dump { LARGEST_OF_A_CLUSTER } else { loaded.largest() };
    if let Err(error) = read_until(largest + 1, &mut bytes) {
        return unreadable(name, &error, loaded);
    }
    if bytes.len() as u64 > largest {
        return too_large(name, largest, loaded);
    }
    load_bytes(&bytes, name, loaded);
}

fn load_bytes(bytes: &[u8], name: &str, loaded: &mut Loaded) {
    let hint = "policies are YAML or JSON, encoded as UTF-8";
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let place = Place::of_byte(bytes, error.valid_up_to());
            let detail = "this is not text: a byte is not UTF-8";
            let problem = Problem::new(&FieldPath::root(), Code::NotText, detail).hint(hint);
            return loaded.report(name, place, problem);
        }
    };
    let binary = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{85}');
    if let Some((at, found)) = text.char_indices().find(|(_, c)| binary(*c)) {
        let place = Place::of_byte(text.as_bytes(), at);
        let detail = format!("this is not text: it holds the control character {found:?}");
        let problem = Problem::new(&FieldPath::root(), Code::NotText, detail).hint(hint);
        return loaded.report(name, place, problem);
    }
    let (documents, findings) = (loaded.documents, loaded.findings.len());
    for chunk in split::documents(text) {
        let place = Place { line: chunk.line, column: 1 };
        if loaded.findings.len() - findings >= MOST_PROBLEMS {
            let detail =
                format!("more than {MOST_PROBLEMS} problems; nothing is judged from here on");
            let problem = Problem::new(&FieldPath::root(), Code::TooLarge, detail);
            loaded.report(name, place, problem.hint("mend those above first"));
            break;
        }
        // A dump is bounded by its size: it is made of documents that a server has.
        if loaded.documents - documents >= MOST_DOCUMENTS && !loaded.in_dump {
            let detail =
                format!("more than {MOST_DOCUMENTS} documents; nothing is judged from here on");
            let problem = Problem::new(&FieldPath::root(), Code::TooLarge, detail);
            loaded.report(name, place, problem.hint("split the file into several"));
            break;
        }
        match tree::parse(&json::joined(chunk.text), chunk.line) {
            Err(failure) => {
                loaded.documents += 1;
                loaded.report(name, failure.place, failure.problem);
            }
            Ok(None) => {}
            Ok(Some(parsed)) if is_head(&parsed.root) => begin_dump(&parsed.root, loaded),
            Ok(Some(parsed)) => judge(&parsed.root, &parsed.duplicates, name, loaded),
        }
    }
    let nothing =
        loaded.documents == documents && loaded.findings.len() == findings && !loaded.in_dump;
    loaded.in_dump = false;
    // A cluster's files hold many things, and most are of no interest here.
    let mixed = matches!(loaded.reads, Reads::Cluster | Reads::Machines | Reads::Anything);
    if nothing && !mixed {
        loaded.refuse(name, Code::Empty, "the file holds no document", "write a policy into it");
    }
    // In the order a person reads the file, whichever check found it.
    if let Some(found) = loaded.findings.get_mut(findings..) {
        found.sort_by_key(|finding| finding.place);
    }
}

fn is_head(root: &Node) -> bool {
    let text = |field: &str| root.field(field).and_then(Node::text);
    text("kind") == Some(dump::KIND) && text("apiVersion") == Some(dump::API_VERSION)
}

/// From here on the file is a dump.
fn begin_dump(root: &Node, loaded: &mut Loaded) {
    loaded.in_dump = true;
    loaded.dumps.extend(Head::of(&root.value()));
}

/// Whether a document of a dump is what was asked for.
fn is_asked_for(root: &Node, reads: Reads) -> bool {
    let kind = root.field("kind").and_then(Node::text);
    let row = kind.and_then(|kind| known(root, kind, Reads::Machines));
    match reads {
        Reads::Policies => row.is_some_and(|row| row.role == Role::Policy),
        Reads::Everything => row.is_some(),
        Reads::Cluster | Reads::Machines | Reads::Anything => true,
    }
}

/// Judges a document, or each entry of a list of them.
fn judge(root: &Node, duplicates: &[(Place, Problem)], name: &str, loaded: &mut Loaded) {
    for (place, problem) in duplicates {
        loaded.report(name, *place, problem.clone());
    }
    if matches!(loaded.reads, Reads::Anything) {
        return take(root, name, loaded);
    }
    if loaded.in_dump && !is_asked_for(root, loaded.reads) {
        return;
    }
    if let Some(items) = list_items(root, loaded.reads) {
        for item in items {
            judge(item, &[], name, loaded);
        }
        return;
    }
    let kind = root.field("kind").and_then(|kind| kind.text());
    if matches!(loaded.reads, Reads::Policies)
        && kind.is_some_and(|kind| guardrail_named(kind).is_some())
    {
        // It judges what is written, and answers nobody's question when something may change.
        loaded.documents += 1;
        return;
    }
    let document = root.value();
    if matches!(loaded.reads, Reads::Everything) {
        // What a cluster is made of is welcome beside what is judged: a forecast reads it.
        let kind = root.field("kind").and_then(|kind| kind.text());
        let kind = kind.and_then(|kind| known(root, kind, Reads::Machines));
        let kind = kind.map(|kind| loaded.row(kind));
        if let Some(kind) = kind {
            loaded.objects.push((kind, document.clone()));
            loaded.places.push((name.to_owned(), root.place));
        }
        if kind.is_some_and(|kind| matches!(kind.role, Role::Part)) {
            loaded.documents += 1;
            return;
        }
    }
    if matches!(loaded.reads, Reads::Cluster | Reads::Machines) {
        let called = root.field("kind").and_then(|kind| kind.text());
        let Some(kind) = called.and_then(|called| known(root, called, loaded.reads)) else {
            return;
        };
        let kind = loaded.row(kind);
        loaded.objects.push((kind, document.clone()));
        loaded.places.push((name.to_owned(), root.place));
        // What is wrong with a part is a problem of the pool that it belongs to.
        if matches!(kind.role, Role::Part) {
            loaded.documents += 1;
            return;
        }
    }
    loaded.documents += 1;
    let judged = match loaded.reads {
        Reads::Policies => read::policy(&document),
        Reads::Everything | Reads::Cluster | Reads::Machines | Reads::Anything => {
            read::document(&document)
        }
    };
    // A field that is given twice says two things; nobody can act on that.
    let can_be_used = duplicates.is_empty() && !judged.problems.iter().any(Problem::is_error);
    for problem in judged.problems {
        let place = match problem.code {
            // Here the name of the field is at fault and not its value.
            Code::UnknownField | Code::Conflict => root.place_of_key(problem.field.steps()),
            _ => root.place_of(problem.field.steps()),
        };
        loaded.report(name, place, problem);
    }
    if can_be_used {
        let object = judged.object;
        loaded.usable.push(Usable { file: name.to_owned(), place: root.place, object });
        loaded.policies.extend(judged.policy.map(|policy| Found { policy }));
    }
}

/// Takes an object as it is, or each entry of a list; entries of a list of one kind need not say which. What has no kind is no object:
/// a must-gather holds such files too.
fn take(root: &Node, name: &str, loaded: &mut Loaded) {
    let text = |field: &str| root.field(field).and_then(Node::text);
    let Some(kind) = text("kind") else { return };
    let listed = kind.strip_suffix("List").zip(root.field("items").and_then(Node::list));
    let mut written = |node: &Node, object| {
        let file = name.to_owned();
        loaded.written.push(Written { file, place: node.place, object });
        loaded.documents += 1;
    };
    let Some((kind, items)) = listed else { return written(root, root.value()) };
    for item in items {
        let mut object = item.value();
        if let Some(fields) = object.as_object_mut().filter(|_| !kind.is_empty()) {
            let version = text("apiVersion").unwrap_or_default();
            fields.entry("apiVersion").or_insert_with(|| version.into());
            fields.entry("kind").or_insert_with(|| kind.into());
        }
        written(item, object);
    }
}

/// The welcome kind that a document says it is of. One of our own name in a group that is not ours is somebody else's: Karpenter has a
/// `NodePool` too. Policies are nobody else's, so a wrong group there is a slip, which is told.
fn known(root: &Node, name: &str, reads: Reads) -> Option<&'static Row> {
    let version = root.field("apiVersion").and_then(Node::text);
    let ours = |row: &Row| version.is_none_or(|version| row.is_named_by(version, name));
    let mut called = kinds::ALL.iter().copied().filter(|row| row.name == name);
    called.find(|row| match row.role {
        Role::Policy => true,
        Role::Gated { .. } | Role::Freeze | Role::Override | Role::Guardrail => ours(row),
        // Its labels say whether a freeze chooses it.
        Role::Part if row.kind == kinds::NAMESPACE.kind => {
            matches!(reads, Reads::Machines | Reads::Cluster) && ours(row)
        }
        Role::Part => matches!(reads, Reads::Machines) && ours(row),
    })
}

fn list_items(root: &Node, reads: Reads) -> Option<&[std::rc::Rc<Node>]> {
    let kind = root.field("kind")?.text()?;
    let known = |kind: &str| known(root, kind, reads).is_some();
    let is_list = kind == "List" || kind.strip_suffix("List").is_some_and(known);
    if is_list { root.field("items")?.list() } else { None }
}

fn unreadable(name: &str, error: &io::Error, loaded: &mut Loaded) {
    let (detail, hint) = match error.kind() {
        io::ErrorKind::NotFound => ("there is no such file".to_owned(), "check the path"),
        io::ErrorKind::PermissionDenied => {
            ("it may not be read: permission denied".to_owned(), "check its permissions")
        }
        _ => (format!("it cannot be read: {error}"), "check the path"),
    };
    loaded.refuse(name, Code::Unreadable, detail, hint);
}

fn too_large(name: &str, largest: u64, loaded: &mut Loaded) {
    let detail = format!("the file is larger than {} MiB", largest / 1024 / 1024);
    loaded.refuse(name, Code::TooLarge, detail, "split it into several files");
}

#[cfg(test)]
mod tests;
