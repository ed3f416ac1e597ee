//! Which files does the repository hold, and what do they say?
//!
//! The tree is read by walking, not by asking git, so that the checks also run in an unpacked archive.
//! What a `.gitignore` names is skipped; ours name plain paths, without patterns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files of the repository by their path from its top, `/` between the parts.
#[derive(Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Where this repository lies.
    pub fn top() -> PathBuf {
        // Two up from `crates/tidy`; a manifest directory always has both parents.
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .unwrap_or(Path::new("."))
            .to_owned()
    }

    /// Reads the repository this crate belongs to.
    pub fn read() -> io::Result<Self> {
        let mut tree = Self::default();
        tree.walk(&Self::top(), "", &[".git".to_owned()])?;
        Ok(tree)
    }

    /// A tree of the given files, for showing a check a bad example.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), Some(text.to_owned())));
        Self { files: files.collect() }
    }

    /// Every file that is text, in the order of paths.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Every text file whose path ends so.
    pub fn ending<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts().filter(move |(path, _)| path.ends_with(suffix))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether there is such a file, or a folder with files in it.
    pub fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(p, _)| p.starts_with(&folder))
    }

    fn walk(&mut self, folder: &Path, prefix: &str, ignored: &[String]) -> io::Result<()> {
        let named = fs::read_to_string(folder.join(".gitignore")).unwrap_or_default();
        let named = named.lines().map(|line| format!("{prefix}{}", line.trim_matches('/')));
        let ignored: Vec<String> = named.chain(ignored.iter().cloned()).collect();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if ignored.contains(&path) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                self.walk(&entry.path(), &format!("{path}/"), &ignored)?;
            } else {
                // A file that is not UTF-8 (a picture) is held without its text.
                self.files.insert(path, String::from_utf8(fs::read(entry.path())?).ok());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_is_read_without_its_build_output() {
        let tree = Tree::read().unwrap();
        assert!(tree.text("crates/tidy/src/tree.rs").unwrap().starts_with("//!"));
        assert!(!tree.holds("target") && !tree.holds(".git"));
    }

    #[test]
    fn folder_is_held_when_it_has_files() {
        let tree = Tree::of([("docs/design/one.md", "")]);
        assert!(
            tree.holds("docs/design/one.md") && tree.holds("docs/design") && tree.holds("docs/")
        );
        assert!(!tree.holds("docs/des") && !tree.holds("doc"));
    }
}
