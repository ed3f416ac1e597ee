//! Do the manifests say why each dependency is there, and keep their versions in one place?

use crate::graph::Member;
use crate::{Finding, Tree};

/// The programs we ship. The node agent is the second: it is root on hosts, so it stands alone.
const BINARIES: &[(&str, &str)] = &[("tidegate", "tidegate"), ("tidegate-agent", "tidegate-agent")];

/// Every dependency of the workspace without a sentence above it that names it: `# name, name: why`.
/// Our own crates, which have a path, need none.
pub fn check_reasons(tree: &Tree) -> Vec<Finding> {
    let path = "Cargo.toml";
    let Some(text) = tree.text(path) else {
        return vec![Finding::of(path, "missing")];
    };
    let mut findings = Vec::new();
    let mut explained: Vec<&str> = Vec::new();
    for (number, line) in section_lines(text, |section| section == "workspace.dependencies") {
        if let Some(comment) = line.strip_prefix('#') {
            let names = comment.split_once(": ").filter(|(_, why)| why.split(' ').count() >= 3);
            explained =
                names.map_or(Vec::new(), |(names, _)| names.split(',').map(str::trim).collect());
        } else if let Some((name, value)) = line.split_once('=') {
            let name = name.trim().trim_end_matches(".workspace");
            if !value.contains("path =") && !explained.contains(&name) {
                findings.push(Finding::at(
                    path,
                    number,
                    format!("say why above it: `# {name}: the reason in a sentence.`"),
                ));
            }
        }
    }
    findings
}

/// Every crate that states a version of its own, or does not take the workspace's lints.
pub fn check_inheritance(tree: &Tree, members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in members {
        let path = format!("{}/Cargo.toml", member.folder);
        let text = tree.text(&path).unwrap_or_default();
        for (number, line) in section_lines(text, |section| section.ends_with("dependencies")) {
            let inherits = line.replace(' ', "").contains("workspace=true");
            if !line.is_empty() && !line.starts_with('#') && !inherits {
                findings.push(Finding::at(
                    &path,
                    number,
                    "take it from the workspace: `workspace = true`",
                ));
            }
        }
        let lints = section_lines(text, |section| section == "lints")
            .map(|(_, line)| line)
            .collect::<Vec<_>>();
        if !lints.contains(&"workspace = true") {
            findings.push(Finding::of(
                &path,
                "take the workspace's lints: `[lints]`, `workspace = true`",
            ));
        }
    }
    findings
}

/// Every program besides those we ship.
pub fn check_binaries(members: &[Member]) -> Vec<Finding> {
    let built = members
        .iter()
        .flat_map(|m| m.binaries.iter().map(|binary| (m.name.as_str(), binary.as_str())));
    let extra = built.filter(|pair| !BINARIES.contains(pair));
    extra
        .map(|(name, binary)| {
            Finding::of(name, format!("builds `{binary}`: make it a verb of `tidegate` instead"))
        })
        .collect()
}

/// The numbered lines, trimmed, of the sections of a manifest whose name is wanted.
fn section_lines(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    (1..).zip(text.lines().map(str::trim)).filter(move |(_, line)| {
        let heading = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if let Some(section) = heading {
            inside = wanted(section);
        }
        inside && heading.is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_reason_lines(dependencies: &str, lines: &[usize]) {
        let text =
            format!("[workspace.dependencies]\n{dependencies}\n[profile.dev]\nopt-level = 2\n");
        let findings = check_reasons(&Tree::of([("Cargo.toml", text.as_str())]));
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), lines, "{findings:?}");
    }

    #[test]
    fn dependency_without_a_reason_is_found() {
        check_reason_lines(
            "# serde, serde_json: the wire types.\nserde = \"1\"\nserde_json = \"1\"",
            &[],
        );
        check_reason_lines("serde = \"1\"", &[2]);
        check_reason_lines("# serde: the wire types.\nserde = \"1\"\nrand = \"1\"", &[4]);
        check_reason_lines("# serde:\nserde = \"1\"", &[3]);
        check_reason_lines("schedule = { path = \"crates/schedule\" }", &[]);
    }

    fn inheritance(manifest: &str) -> Vec<Finding> {
        let member = Member { folder: "crates/a".to_owned(), ..Member::default() };
        check_inheritance(&Tree::of([("crates/a/Cargo.toml", manifest)]), &[member])
    }

    #[test]
    fn version_outside_the_workspace_is_found() {
        let lints = "[lints]\nworkspace = true\n";
        assert!(
            inheritance(&format!("[dependencies]\nserde.workspace = true\n{lints}")).is_empty()
        );
        assert!(
            inheritance(&format!("[dependencies]\nserde = {{ workspace = true }}\n{lints}"))
                .is_empty()
        );
        assert_eq!(inheritance(&format!("[dev-dependencies]\nserde = \"1\"\n{lints}"))[0].line, 2);
    }

    #[test]
    fn crate_without_the_lints_is_found() {
        assert_eq!(inheritance("[lints]\n").len(), 1);
        assert_eq!(inheritance("[package]\nworkspace = true\n").len(), 1);
    }

    #[test]
    fn second_program_is_found() {
        let member = |name: &str, binary: &str| Member {
            name: name.to_owned(),
            binaries: vec![binary.to_owned()],
            ..Member::default()
        };
        assert!(check_binaries(&[member("tidegate", "tidegate")]).is_empty());
        assert_eq!(check_binaries(&[member("tidegate", "tidegate-tool")]).len(), 1);
        assert_eq!(check_binaries(&[member("tidegate-core", "tidegate")]).len(), 1);
    }
}
