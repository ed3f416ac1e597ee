//! Is each source file small, placed well and introduced?

use crate::{Finding, Tree};

/// Above this many lines a file is mentioned; it holds more than one idea.
pub const WARN_LINES: usize = 600;
/// Above this many lines a file fails.
pub const MOST_LINES: usize = 900;

/// Files that may be longer, each with the reason. The list only shrinks: an entry that is no longer
/// needed fails the check.
const EXEMPT: &[(&str, &str)] = &[];

/// Every file that is too long, and every exemption that is no longer needed.
pub fn check_length(tree: &Tree) -> Vec<Finding> {
    check_length_except(tree, EXEMPT)
}

fn check_length_except(tree: &Tree, exempt: &[(&str, &str)]) -> Vec<Finding> {
    let long = longer_than(tree, MOST_LINES);
    let is_exempt = |path: &str| exempt.iter().any(|(name, _)| *name == path);
    let too_long = long.iter().filter(|(path, _)| !is_exempt(path));
    let too_long = too_long.map(|(path, lines)| {
        Finding::of(
            path,
            format!("{lines} lines, more than {MOST_LINES}: split it along its ideas"),
        )
    });
    let idle = exempt.iter().filter(|(name, _)| long.iter().all(|(path, _)| path != name));
    let idle = idle.map(|(name, _)| {
        Finding::of(name, "is short enough now: take it off the list in files.rs")
    });
    too_long.chain(idle).collect()
}

/// The source files above so many lines, with their length.
pub fn longer_than(tree: &Tree, most: usize) -> Vec<(&str, usize)> {
    let lengths = tree.ending(".rs").map(|(path, text)| (path, text.lines().count()));
    lengths.filter(|(_, lines)| *lines > most).collect()
}

/// Every `mod.rs`: a module is `foo.rs`, with its parts in `foo/`, so that a tab shows a name.
pub fn check_names(tree: &Tree) -> Vec<Finding> {
    let found = tree.texts().filter(|(path, _)| path.rsplit('/').next() == Some("mod.rs"));
    found
        .map(|(path, _)| Finding::of(path, "name it after its module: `foo.rs` beside `foo/`"))
        .collect()
}

/// Every source file that does not begin by saying what it is about. `foo/tests.rs` need not: `foo.rs`
/// has said it.
pub fn check_introductions(tree: &Tree) -> Vec<Finding> {
    let modules = tree.ending(".rs").filter(|(path, _)| !path.ends_with("/tests.rs"));
    let silent = modules.filter(|(_, text)| {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        first.strip_prefix("//!").is_none_or(|words| words.trim().is_empty())
    });
    silent
        .map(|(path, _)| {
            Finding::at(path, 1, "begin with `//!` and the question the module answers")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_file_is_found_unless_exempt() {
        let long = "//! x\n".repeat(MOST_LINES + 1);
        let tree = Tree::of([("a.rs", long.as_str()), ("b.rs", &long[6..]), ("c.md", &long)]);
        assert_eq!(check_length_except(&tree, &[]).len(), 1);
        assert_eq!(check_length_except(&tree, &[("a.rs", "why")]), []);
        assert_eq!(longer_than(&tree, WARN_LINES).len(), 2);
    }

    #[test]
    fn exemption_no_longer_needed_is_found() {
        let tree = Tree::of([("a.rs", "//! x")]);
        assert_eq!(check_length_except(&tree, &[("a.rs", "why")]).len(), 1);
        assert_eq!(check_length_except(&tree, &[("gone.rs", "why")]).len(), 1);
    }

    #[test]
    fn mod_rs_is_found() {
        let tree = Tree::of([("a/mod.rs", ""), ("a/amod.rs", "")]);
        assert_eq!(check_names(&tree).len(), 1);
    }

    #[test]
    fn file_without_introduction_is_found() {
        let tree = Tree::of([
            ("good.rs", "\n//! When?\nfn a() {}"),
            ("late.rs", "fn a() {}\n//! When?"),
            ("bare.rs", "//!\n"),
            ("empty.rs", ""),
            ("good/tests.rs", "use super::*;"),
        ]);
        let places: Vec<_> = check_introductions(&tree).into_iter().map(|f| f.place).collect();
        assert_eq!(places, ["bare.rs", "empty.rs", "late.rs"]);
    }
}
