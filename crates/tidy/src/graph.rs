//! Which crate depends on which, according to cargo itself?
//!
//! Cargo's metadata is cut down to what the checks ask, so that a bad example is a few lines.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{
    Dependency, DependencyKind, Metadata, MetadataCommand, Node, Package, PackageId, TargetKind,
};

use crate::Tree;

/// One crate of the workspace.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// The package name.
    pub name: String,
    /// Its folder from the top of the repository.
    pub folder: String,
    /// `package.metadata.tidegate.layer`, if stated.
    pub layer: Option<i64>,
    /// `package.metadata.tidegate.pure`, if stated.
    pub pure: Option<bool>,
    /// The binaries it builds.
    pub binaries: Vec<String>,
    /// Workspace crates it names as a dependency of any kind.
    pub arrows: Vec<String>,
    /// Workspace crates it names as an ordinary dependency.
    pub runtime_arrows: Vec<String>,
    /// Crates from outside that its ordinary dependencies reach, however far away, on any platform.
    /// Macros run in the compiler, so neither they nor what they use is counted.
    pub reaches: BTreeSet<String>,
}

/// Reads the workspace's members and their dependencies.
pub fn read() -> Result<Vec<Member>, cargo_metadata::Error> {
    let metadata = MetadataCommand::new()
        .manifest_path(Tree::top().join("Cargo.toml"))
        .other_options(vec!["--locked".to_owned()])
        .exec()?;
    Ok(metadata
        .workspace_packages()
        .into_iter()
        .map(|package| member(&metadata, package))
        .collect())
}

fn member(metadata: &Metadata, package: &Package) -> Member {
    let ours: BTreeSet<&str> =
        metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let stated = &package.metadata["tidegate"];
    let arrows = |wanted: &dyn Fn(DependencyKind) -> bool| -> Vec<String> {
        let named = package.dependencies.iter().filter(|d| d.path.is_some() && wanted(d.kind));
        named.map(|d| d.name.clone()).filter(|name| ours.contains(name.as_str())).collect()
    };
    let folder = package.manifest_path.parent().map_or("", |folder| {
        folder.strip_prefix(&metadata.workspace_root).map_or("", |folder| folder.as_str())
    });
    let binaries = package.targets.iter().filter(|t| t.kind.contains(&TargetKind::Bin));
    Member {
        name: package.name.to_string(),
        folder: folder.replace('\\', "/"),
        layer: stated["layer"].as_i64(),
        pure: stated["pure"].as_bool(),
        binaries: binaries.map(|target| target.name.clone()).collect(),
        arrows: arrows(&|_| true),
        runtime_arrows: arrows(&|kind| kind == DependencyKind::Normal),
        reaches: reaches(metadata, &package.id, &ours),
    }
}

fn reaches(metadata: &Metadata, from: &PackageId, ours: &BTreeSet<&str>) -> BTreeSet<String> {
    let nodes: BTreeMap<&PackageId, &Node> = metadata
        .resolve
        .iter()
        .flat_map(|resolve| &resolve.nodes)
        .map(|node| (&node.id, node))
        .collect();
    let mut seen = BTreeSet::from([from]);
    let mut ahead = vec![from];
    let mut names = BTreeSet::new();
    while let Some(id) = ahead.pop() {
        let Some(node) = nodes.get(id) else { continue };
        for dep in &node.deps {
            let package = &metadata[&dep.pkg];
            let is_macro =
                package.targets.iter().any(|target| target.kind.contains(&TargetKind::ProcMacro));
            if is_macro || !is_built(&metadata[id], node, &package.name) || !seen.insert(&dep.pkg) {
                continue;
            }
            ahead.push(&dep.pkg);
            if !ours.contains(package.name.as_str()) {
                names.insert(package.name.to_string());
            }
        }
    }
    names
}

/// Whether an ordinary dependency of that name is built with the features in force.
///
/// The resolved graph alone does not tell: a weak feature such as `log?/std` puts an optional dependency
/// into it although nothing switches that dependency on.
fn is_built(package: &Package, node: &Node, name: &str) -> bool {
    let ordinary = |d: &&Dependency| d.kind == DependencyKind::Normal && d.name == name;
    package.dependencies.iter().filter(ordinary).any(|dependency| {
        let key = dependency.rename.as_deref().unwrap_or(name);
        let switch = format!("dep:{key}");
        let strong = format!("{key}/");
        !dependency.optional
            || node.features.iter().any(|feature| {
                let parts = package.features.get(feature.as_str());
                parts.is_some_and(|parts| {
                    parts.iter().any(|part| *part == switch || part.starts_with(&strong))
                })
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_graph_shows_known_arrows() {
        let members = read().unwrap();
        let core = members.iter().find(|m| m.name == "tidegate-core").unwrap();
        assert_eq!(core.folder, "crates/core");
        assert!(core.runtime_arrows.contains(&"tidegate-schedule".to_owned()));
        assert!(core.reaches.contains("jiff"), "through schedule: {:?}", core.reaches);
        assert!(
            !core.reaches.contains("log"),
            "jiff's optional logging is off: {:?}",
            core.reaches
        );
        assert!(!core.reaches.contains("syn"), "macros are not counted: {:?}", core.reaches);
    }
}
