//! Are the documents there, and do their links lead somewhere?

use crate::{Finding, Tree};

/// What a newcomer looks for, and what `./test` would otherwise pass over in silence.
const REQUIRED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "STYLE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
    "rust-toolchain.toml",
    "deny.toml",
    "test",
    ".ci/run",
    "bench/Cargo.toml",
    "bench/Cargo.lock",
    "fuzz/Cargo.toml",
    "fuzz/Cargo.lock",
];

/// Every document that should be there and is not.
pub fn check_present(tree: &Tree) -> Vec<Finding> {
    let missing = REQUIRED.iter().filter(|path| !tree.holds(path));
    missing.map(|path| Finding::of(path, "missing")).collect()
}

/// A change log without a place for what comes next.
pub fn check_changelog(tree: &Tree) -> Vec<Finding> {
    let path = "CHANGELOG.md";
    let text = tree.text(path).unwrap_or_default();
    let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
    let open =
        headings.map(|heading| heading.trim_matches(['[', ']', ' '])).any(|h| h == "Unreleased");
    if open { vec![] } else { vec![Finding::of(path, "needs a section `## Unreleased`")] }
}

/// Every link between our own files whose file or heading is not there.
pub fn check_links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".md") {
        for (number, line) in prose(text) {
            for target in targets(line) {
                findings
                    .extend(dead(tree, path, target).map(|text| Finding::at(path, number, text)));
            }
        }
    }
    findings
}

fn dead(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').map_or((target, None), |(f, h)| (f, Some(h)));
    let Some(file) = (if file.is_empty() { Some(from.to_owned()) } else { resolve(from, file) })
    else {
        return Some(format!("`{target}` leaves the repository"));
    };
    if !tree.holds(&file) && !file.is_empty() {
        return Some(format!("`{target}` leads nowhere: there is no {file}"));
    }
    let heading = heading?;
    let (_, text) = tree.ending(".md").find(|(path, _)| *path == file)?;
    let known = prose(text).any(|(_, line)| line.starts_with('#') && anchor(line) == heading);
    (!known).then(|| format!("`{target}` leads nowhere: {file} has no such heading"))
}

/// The path a relative link means, from the top; nothing if it climbs out.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The numbered lines that are not inside a fenced block.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of `[text](target)` in a line, without those in `code`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let outside_code = line.split('`').step_by(2);
    // A link whose text is code is cut by the backticks: `](target)` then begins the next piece, so the
    // opening bracket is not looked for.
    outside_code.flat_map(|piece| {
        piece.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
    })
}

/// The anchor that a heading gets: lower case, punctuation dropped, blanks as hyphens.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_document_is_found() {
        let all = REQUIRED.iter().map(|&path| (path, ""));
        assert!(check_present(&Tree::of(all.clone())).is_empty());
        assert_eq!(check_present(&Tree::of(all.skip(1))), [Finding::of(REQUIRED[0], "missing")]);
    }

    #[test]
    fn changelog_without_unreleased_is_found() {
        let count = |text: &str| check_changelog(&Tree::of([("CHANGELOG.md", text)])).len();
        assert_eq!(count("# Changes\n\n## Unreleased\n"), 0);
        assert_eq!(count("## [Unreleased]\n"), 0);
        assert_eq!(count("## 0.1.0\nUnreleased\n"), 1);
        assert_eq!(check_changelog(&Tree::default()).len(), 1);
    }

    #[track_caller]
    fn check_line(line: &str, found: usize) {
        let tree = Tree::of([
            ("docs/a.md", line),
            ("docs/design/one.md", "# Sets of *instants*, 2nd\n```\n# not a heading\n```\n"),
            ("README.md", ""),
        ]);
        let findings = check_links(&tree);
        assert_eq!(findings.len(), found, "{line}: {findings:?}");
    }

    #[test]
    fn living_links_pass() {
        check_line("see [one](design/one.md) and [top](../README.md), [`code`](design/)", 0);
        check_line("[one](./design/one.md#sets-of-instants-2nd)", 0);
        check_line("[web](https://example.org/x) [mail](mailto:a@example.org)", 0);
        check_line("not a link: `[x](gone.md)`", 0);
        check_line("```\n[x](gone.md)\n```", 0);
    }

    #[test]
    fn dead_links_are_found() {
        check_line("[x](gone.md)", 1);
        check_line("[`x`](gone.md) and [y](gone.md)", 2);
        check_line("[x](../../outside.md)", 1);
        check_line("[one](design/one.md#gone)", 1);
        check_line("[one](design/one.md#not-a-heading)", 1);
        check_line("[here](#gone)", 1);
    }
}
