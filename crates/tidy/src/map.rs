//! Does the map lead somewhere? Every source file that ARCHITECTURE and CONTRIBUTING name is there, and so is every function that stands
//! right behind its file, as in `queue.rs` `add`.

use crate::{Finding, Tree};

/// The pages that people find their way by.
const MAPS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// What names a file here. A name with `<` in it is a pattern for people.
const FILES: &[&str] = &[".rs", ".yaml", ".sh", ".toml"];

/// Every name that leads nowhere.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (map, text) in MAPS.iter().filter_map(|map| Some((*map, tree.text(map)?))) {
        let mut fenced = false;
        for (place, line) in text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            if !fenced {
                let at = |text| Finding::at(map, place + 1, text);
                findings.extend(astray(tree, line).into_iter().map(at));
            }
        }
    }
    findings
}

/// What one line says that is not so.
fn astray(tree: &Tree, line: &str) -> Vec<String> {
    // Between backticks stands every second piece.
    let pieces: Vec<&str> = line.split('`').collect();
    let mut wrong = Vec::new();
    for (place, name) in pieces.iter().enumerate().skip(1).step_by(2) {
        let is_file =
            FILES.iter().any(|ending| name.ends_with(ending) && name.len() > ending.len());
        if !is_file || name.contains(['<', '*', '{', ' ']) {
            continue;
        }
        let found: Vec<&str> =
            tree.texts().filter(|(path, _)| is_called(path, name)).map(|(_, text)| text).collect();
        if found.is_empty() {
            wrong.push(format!("`{name}`: there is no such file"));
            continue;
        }
        let behind = (pieces.get(place + 1), pieces.get(place + 2));
        let (Some(&" "), Some(function)) = behind else { continue };
        let declared = [format!("fn {function}("), format!("fn {function}<")];
        let holds = |text: &&str| declared.iter().any(|declared| text.contains(declared.as_str()));
        if !found.iter().any(holds) {
            wrong.push(format!("`{name}` `{function}`: there is no such function in that file"));
        }
    }
    wrong
}

/// Whether a path is, or ends with, this name.
fn is_called(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_nowhere_are_found() {
        let check = |map: &str, expected: &[&str]| {
            let tree = Tree::of([
                ("ARCHITECTURE.md", map),
                ("crates/runtime/src/queue.rs", "pub fn add(&mut self) {}\nfn take<T>() {}\n"),
                ("deploy/chart/templates/permits.yaml", ""),
            ]);
            let found: Vec<String> = super::check(&tree).iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{map}");
        };
        check("`queue.rs` keeps, `src/queue.rs` `take` and `queue.rs` `add`, `permits.yaml`", &[]);
        check("`<kind>.rs` is a pattern, and `.rs` an ending", &[]);
        check("```\n`gone.rs`\n```", &[]);
        check("`eue.rs`", &["ARCHITECTURE.md:1: `eue.rs`: there is no such file"]);
        check(
            "then\n`queue.rs` `drop`",
            &["ARCHITECTURE.md:2: `queue.rs` `drop`: there is no such function in that file"],
        );
    }
}
