//! What is a pool's configuration, all in all? The selected sources, merged in the real order, under a name that tells the content.
//!
//! POOL-1: this never looks at a gate or a pause. A fault of any source stops the rendering and names the object and the field; the
//! pool then stays with what it had.

use std::collections::BTreeMap;

use api::{
    machine::{MachineConfigSpec, names},
    names::MACHINE_CONFIG_POOL,
};
use serde_json::{Value, json};

use super::{
    digest::{Digest, digest},
    membership::is_custom,
    merge::{Base, merge},
    seen::SeenPool,
    selector::Selector,
    source::{Rendered, Source, source_reference},
};
use crate::{
    document::problem::{Code, FieldPath, Problem},
    node::refusals::{About, Contradiction, contradictions},
};

/// The largest rendered configuration that is stored, in bytes: what the storage below the API server takes at most.
pub const LARGEST: usize = 1_572_864;

/// What came of rendering a pool.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// The configuration; none if anything is wrong.
    pub config: Option<Fresh>,
    /// What is wrong, with object and field: the reasons of `RenderDegraded`.
    pub problems: Vec<Problem>,
}

/// A configuration as it was just rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Fresh {
    /// `rendered-<pool>-<32 hexadecimal digits>`.
    pub name: String,
    /// What it holds.
    pub spec: MachineConfigSpec,
    /// The digest of each source, in the order they were merged.
    pub sources: Vec<(String, String)>,
    /// How large it is, in bytes.
    pub size: usize,
}

/// Renders a pool from all sources of the cluster. `running` is what the pool was rendered to before.
pub fn render<'a>(
    pool: &SeenPool,
    sources: impl IntoIterator<Item = &'a Source>,
    base: &Base,
    running: Option<&Rendered>,
) -> Rendering {
    let mut problems = check_selector(pool);
    let chosen = chosen(pool, sources);
    if chosen.is_empty() && problems.is_empty() {
        let detail = "the selector chooses no MachineConfig";
        let hint = format!("label one with {}: {}", names::ROLE, pool.name);
        problems.push(of_pool(pool, Code::Empty, detail).hint(hint));
    }
    for source in &chosen {
        problems.extend(source.problems.iter().cloned());
        problems.extend(check_version(source, base));
    }
    if !problems.is_empty() {
        return Rendering { config: None, problems };
    }
    let spec = merge(&chosen, base);
    let Digest { text, size } = digest(&spec);
    problems.extend(check_whole(pool, &spec, size, running));
    problems.extend(check_parts(&chosen, &spec));
    let fresh = Fresh {
        name: format!("rendered-{}-{text}", pool.name),
        sources: chosen.iter().map(|source| (source.name.clone(), source.digest.clone())).collect(),
        spec,
        size,
    };
    Rendering { config: problems.is_empty().then_some(fresh), problems }
}

/// The sources that a pool selects, in the order they are merged: those of role `worker` by name, then all others by name. So what a
/// custom pool adds wins over what it inherits, whatever it is called.
pub fn chosen<'a>(
    pool: &SeenPool,
    sources: impl IntoIterator<Item = &'a Source>,
) -> Vec<&'a Source> {
    let mut chosen: Vec<&Source> =
        sources.into_iter().filter(|source| pool.configs.chooses(&source.labels)).collect();
    chosen.sort_unstable_by_key(|source| {
        let inherited = source.labels.get(names::ROLE).is_some_and(|role| role == names::WORKER);
        (!inherited, source.name.as_str())
    });
    chosen
}

fn check_selector(pool: &SeenPool) -> Vec<Problem> {
    let of_selector = |detail: &str, hint: &str| {
        let path = FieldPath::of("spec.machineConfigSelector");
        let mut problem = Problem::new(&path, Code::NotAllowed, detail).hint(hint);
        problem.object = Some(pool.object());
        problem
    };
    let worker = BTreeMap::from([(names::ROLE.to_owned(), names::WORKER.to_owned())]);
    match &pool.configs {
        Selector::Everything => vec![of_selector(
            "an empty selector would choose every MachineConfig of the cluster",
            "name the roles that belong to the pool",
        )],
        Selector::Terms(_) if is_custom(&pool.name) && !pool.configs.chooses(&worker) => {
            vec![of_selector(
                "a custom pool inherits what workers have, and the selector does not choose it",
                "use an expression In with worker and the pool's own role",
            )]
        }
        Selector::Nothing | Selector::Terms(_) | Selector::Doubtful(_) => Vec::new(),
    }
}

/// Generated sources of another controller are about to be generated anew: a mixture would be rolled out and taken back.
fn check_version(source: &Source, base: &Base) -> Option<Problem> {
    let version = source.generated_by.as_ref()?;
    (*version != base.controller_version).then(|| {
        let path = FieldPath::of("metadata.annotations").key(names::GENERATED_BY);
        let detail =
            format!("generated by controller {version}, and this is {}", base.controller_version);
        let problem = Problem::new(&path, Code::Conflict, detail);
        let hint = "wait until the controller of the release has written it again";
        Problem { object: Some(source.object()), ..problem.hint(hint) }
    })
}

/// What only the whole can be wrong about.
fn check_whole(
    pool: &SeenPool,
    spec: &MachineConfigSpec,
    size: usize,
    running: Option<&Rendered>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if spec.kernel_type != "default" && spec.extensions.iter().any(|name| name == "kernel-devel") {
        let detail = format!("kernel-devel does not go with the {} kernel", spec.kernel_type);
        problems.push(
            of_pool(pool, Code::Conflict, detail)
                .hint("remove the extension or the kernel type from one of its MachineConfigs"),
        );
    }
    if running.is_some_and(|running| running.spec.fips != spec.fips) {
        problems.push(
            of_pool(pool, Code::NotAllowed, "fips cannot be changed on a running node")
                .hint("set fips back, and install nodes anew to change it"),
        );
    }
    // As agents have it: an image with another kernel or with packages is for whoever makes images.
    let other = |running: &Rendered| {
        let kernel = |spec: &MachineConfigSpec| match spec.kernel_type.as_str() {
            "" => "default".to_owned(),
            kernel => kernel.to_owned(),
        };
        [
            ("kernelType", kernel(&running.spec) != kernel(spec)),
            ("extensions", running.spec.extensions != spec.extensions),
        ]
    };
    for (field, _) in running.map(other).into_iter().flatten().filter(|(_, differs)| *differs) {
        let detail = format!("{field} cannot be changed on a running node");
        let hint = "set it back, and bring the kernel or the packages with the image";
        problems.push(of_pool(pool, Code::NotAllowed, detail).hint(hint));
    }
    if size > LARGEST {
        let detail =
            format!("the rendered configuration has {size} bytes, and {LARGEST} is the most");
        problems.push(of_pool(pool, Code::TooLarge, detail).hint("remove what is not needed"));
    }
    problems
}

/// What sources say against each other, told of the last that speaks of it.
fn check_parts(chosen: &[&Source], spec: &MachineConfigSpec) -> Vec<Problem> {
    let found = spec.config.as_ref().map(contradictions).unwrap_or_default();
    let told = found.into_iter().filter_map(|Contradiction { about, field, refusal }| {
        let place = |source: &Source| {
            let config = source.spec.config.as_ref()?;
            let (list, at) = match &about {
                About::File(path) => {
                    let mut files = config.storage.files.iter();
                    ("storage.files", files.position(|file| file.path == *path)?)
                }
                About::Unit(name) => {
                    let mut units = config.systemd.units.iter();
                    ("systemd.units", units.position(|unit| unit.name == *name)?)
                }
            };
            Some(FieldPath::of(&format!("spec.config.{list}")).index(at).key(field))
        };
        let (source, path) =
            chosen.iter().rev().find_map(|source| Some((source, place(source)?)))?;
        let problem = Problem::new(&path, Code::Conflict, refusal.detail).hint(refusal.hint);
        Some(Problem { object: Some(source.object()), ..problem })
    });
    told.collect()
}

fn of_pool(pool: &SeenPool, code: Code, detail: impl Into<String>) -> Problem {
    let path = FieldPath::of("spec.machineConfigSelector");
    Problem { object: Some(pool.object()), ..Problem::new(&path, code, detail) }
}

impl Fresh {
    /// The object to create: owned by its pool, and without a role, so that it is never a source itself.
    pub fn document(&self, pool: &SeenPool, base: &Base) -> Value {
        json!({
            "apiVersion": names::API_VERSION,
            "kind": names::MACHINE_CONFIG,
            "metadata": {
                "name": self.name,
                "annotations": {
                    names::GENERATED_BY: base.controller_version,
                    names::RELEASE_VERSION: base.release_version,
                    names::SOURCE_DIGESTS: self.digests(),
                },
                "ownerReferences": [{
                    "apiVersion": names::API_VERSION,
                    "kind": MACHINE_CONFIG_POOL,
                    "name": pool.name,
                    "uid": pool.uid,
                    "controller": true,
                    "blockOwnerDeletion": true,
                }],
            },
            "spec": self.spec,
        })
    }

    /// The digest of each source, as the annotation holds them.
    pub fn digests(&self) -> String {
        let sorted: BTreeMap<&str, &str> =
            self.sources.iter().map(|(name, digest)| (name.as_str(), digest.as_str())).collect();
        json!(sorted).to_string()
    }

    /// Whether a stored configuration already says what each source holds.
    pub(crate) fn is_recorded_by(&self, stored: &Rendered) -> bool {
        stored.digests.len() == self.sources.len()
            && self.sources.iter().all(|(name, digest)| stored.digests.get(name) == Some(digest))
    }

    /// `spec.configuration` of the pool.
    pub(crate) fn reference(&self) -> Value {
        let sources: Vec<Value> =
            self.sources.iter().map(|(name, _)| source_reference(name)).collect();
        json!({"name": self.name, "source": sources})
    }
}
