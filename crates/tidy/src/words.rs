//! Do the files hold words that must not be there: unfinished work, empty names, somebody's machine?
//!
//! The words looked for are put together from halves, so that this file does not find itself.

use crate::{Finding, Tree};

/// Marks of unfinished or switched-off work, in source files.
const UNFINISHED: &[&str] = &[
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
];

/// Words that name nothing: whatever the item does, its name should say it.
const EMPTY_WORDS: &[&str] =
    &["manager", "helper", "util", "utils", "handler", "data", "info", "process"];

/// Rooms whose own domain has one of these words: whoever speaks HTTP has handlers, and the owner of a field of a Kubernetes object
/// is called its field manager.
const AT_HOME: &[(&str, &str)] = &[
    ("crates/apiserver/", "handler"),
    ("crates/apiserver/", "manager"),
    ("crates/console/", "handler"),
    ("crates/operator/", "handler"),
];

/// Places where somebody keeps a checkout or a scratch folder.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
    concat!("/wor", "k/"),
    concat!("/tm", "p/research"),
];

/// Hosts that serve packages. Clients know them by themselves; a file that names one has been made to fit
/// one machine.
const PACKAGE_HOSTS: &[&str] = &["deb", "index", "static", "registry", "proxy", "files"];

/// Files that package clients write; where a package comes from is their business.
const LOCK_FILES: &[&str] = &["Cargo.lock", "go.sum", "package-lock.json"];

/// Every mark of unfinished work.
pub fn check_unfinished(tree: &Tree) -> Vec<Finding> {
    find(tree.ending(".rs"), |line| {
        let mark = UNFINISHED.iter().find(|mark| has_word(line, mark))?;
        Some(format!("`{mark}`: finish it, or take it out and open an issue"))
    })
}

/// What makes elements of a text in a page. Nobody needs it: what is ours is written as elements, and what is not stays text.
const UNESCAPED: &str = concat!("Pre", "Escaped");

/// Every place of the console that would send a text as it stands.
pub fn check_escapes(tree: &Tree) -> Vec<Finding> {
    let pages = tree.ending(".rs").filter(|(path, _)| path.starts_with("crates/console/"));
    find(pages, |line| {
        line.contains(UNESCAPED).then(|| "a text of others could become elements of a page".into())
    })
}

/// Every public item with an empty word in its name.
pub fn check_public_names(tree: &Tree) -> Vec<Finding> {
    let sources = tree.ending(".rs");
    let mut findings = Vec::new();
    for (path, text) in sources {
        let at_home = |word: &str| {
            AT_HOME.iter().any(|(room, known)| path.starts_with(room) && *known == word)
        };
        findings.extend(find([(path, text)], |line| {
            let name = public_name(line)?;
            let word = words_of(name)
                .into_iter()
                .find(|word| EMPTY_WORDS.contains(&word.as_str()) && !at_home(word))?;
            Some(format!("`{name}`: `{word}` names nothing; use a word of the domain"))
        }));
    }
    findings
}

/// Every line that names a machine's folders or a host that serves packages.
pub fn check_machine(tree: &Tree) -> Vec<Finding> {
    let is_lock_file = |path: &str| LOCK_FILES.contains(&path.rsplit('/').next().unwrap_or(path));
    find(tree.texts().filter(|(path, _)| !is_lock_file(path)), |line| {
        if let Some(folder) = MACHINE_PATHS.iter().find(|folder| line.contains(*folder)) {
            return Some(format!("`{folder}` is a place on somebody's machine"));
        }
        let mut hosts = line.split("://").skip(1).filter_map(|rest| rest.split_once('.'));
        let (host, _) = hosts.find(|(host, _)| PACKAGE_HOSTS.contains(host))?;
        Some(format!("names a package host (`{host}.`): leave hosts to the client's own settings"))
    })
}

fn find<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
    judge: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files {
        for (number, line) in (1..).zip(text.lines()) {
            findings.extend(judge(line).map(|text| Finding::at(path, number, text)));
        }
    }
    findings
}

/// Whether the mark stands in the line with no letter directly before or, if it ends in a letter, after it.
fn has_word(line: &str, mark: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(mark).any(|(at, _)| {
        let open_end =
            is_letter(mark.chars().last()) && is_letter(line[at + mark.len()..].chars().next());
        let open_start = is_letter(mark.chars().next()) && is_letter(line[..at].chars().last());
        !(open_start || (open_end && !mark.starts_with('#')))
    })
}

/// The name that a line such as `pub fn name(` or `pub(crate) struct Name` introduces.
fn public_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scoped) => scoped.split_once(')')?.1,
        None => rest,
    };
    let mut rest = rest.strip_prefix(' ')?;
    for word in [
        "const ", "async ", "unsafe ", "fn ", "struct ", "enum ", "trait ", "mod ", "static ",
        "type ",
    ] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if rest.starts_with("use ") {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The words of a name, lower case: `WindowData` and `window_data` both are `window`, `data`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_is_lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && previous_is_lower) {
            words.push(String::new());
        }
        previous_is_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(check: fn(&Tree) -> Vec<Finding>, path: &str, line: &str) -> usize {
        check(&Tree::of([(path, line)])).len()
    }

    #[test]
    fn a_text_that_is_sent_as_it_stands_is_found() {
        let line = format!("({UNESCAPED}(name))");
        let count = |path: &str| check_escapes(&Tree::of([(path, line.as_str())])).len();
        assert_eq!(count("crates/console/src/page/now.rs"), 1);
        assert_eq!(count("crates/views/src/svg.rs"), 0);
    }

    #[test]
    fn unfinished_work_is_found() {
        for mark in UNFINISHED {
            assert_eq!(
                count(check_unfinished, "a.rs", &format!("    // {mark} later")),
                1,
                "{mark}"
            );
        }
        let reasoned = concat!("#[ig", "nore = \"slow\"]");
        assert_eq!(count(check_unfinished, "a.rs", reasoned), 1);
        assert_eq!(count(check_unfinished, "a.rs", concat!("MASTO", "DON")), 0);
    }

    #[test]
    fn empty_words_in_public_names_are_found() {
        for line in [
            "pub fn process(x: u8)",
            "    pub(crate) struct WindowData {",
            "pub const fn window_info() {}",
            "pub mod utils;",
            "pub data: Vec<u8>,",
            "pub trait Handler {}",
        ] {
            assert_eq!(count(check_public_names, "crates/core/src/a.rs", line), 1, "{line}");
        }
        for line in
            ["pub fn metadata()", "pub use a::data;", "fn helper()", "pub struct Processed;"]
        {
            assert_eq!(count(check_public_names, "crates/core/src/a.rs", line), 0, "{line}");
        }
        assert_eq!(count(check_public_names, "crates/console/src/a.rs", "pub trait Handler {}"), 0);
    }

    #[test]
    fn machine_paths_and_package_hosts_are_found() {
        for folder in MACHINE_PATHS {
            assert_eq!(count(check_machine, "notes.md", &format!("see {folder}x")), 1, "{folder}");
        }
        let host = format!("see https:{}registry.example.org/x", "//");
        assert_eq!(count(check_machine, "notes.md", &host), 1);
        assert_eq!(count(check_machine, "notes.md", "see https://docs.rs/jiff and work/x"), 0);
        assert_eq!(count(check_machine, "Cargo.lock", &host), 0);
    }
}
