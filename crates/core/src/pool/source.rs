//! What of a `MachineConfig` do decisions read? Its content, understood once when the document arrives, with a digest of it.
//!
//! A `MachineConfig` is either a source, which somebody or some controller wrote, or rendered, which the pool that owns it was merged
//! into. Total: what cannot be read becomes problems of that object (POL-8 for nodes: one bad object names itself).

use std::collections::BTreeMap;

use api::machine::{MachineConfigSpec, names};
use schedule::Instant;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{digest::digest, ignition};
use crate::document::{
    identity::changed,
    problem::{Code, FieldPath, Object, Problem, quoted},
    shape,
};

/// A `MachineConfig` as it was last seen.
#[derive(Clone, Debug)]
pub enum SeenConfig {
    /// Somebody wrote it.
    Source(Source),
    /// It was merged for a pool.
    Rendered(Rendered),
}

/// A `MachineConfig` that pools are rendered from.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its labels, by which pools select it.
    pub labels: BTreeMap<String, String>,
    /// The controller that generated it, if one did.
    pub generated_by: Option<String>,
    /// Why it bypasses change management, in the words of whoever said so; none if it does not (POOL-5).
    pub bypass: Option<String>,
    /// What it holds.
    pub spec: MachineConfigSpec,
    /// The digest of what it holds.
    pub digest: String,
    /// When it was last written, by the server's clock, where that is known.
    pub changed: Option<Instant>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// A `MachineConfig` that was merged for a pool.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Its name.
    pub name: String,
    /// The version of the stored bytes; empty if it was never stored.
    pub resource_version: String,
    /// The pool that owns it.
    pub pool: String,
    /// When it was made.
    pub created: Option<Instant>,
    /// What each source held when it was merged (POOL-5).
    pub digests: BTreeMap<String, String>,
    /// What it holds.
    pub spec: MachineConfigSpec,
}

impl SeenConfig {
    /// Reads a `MachineConfig`.
    pub fn new(document: &Value) -> Self {
        let name = text(document, "/metadata/name").unwrap_or_default().to_owned();
        match owning_pool(document) {
            Some(pool) => Self::Rendered(Rendered::new(name, pool.to_owned(), document)),
            None => Self::Source(Source::new(name, document)),
        }
    }

    /// The same without what it holds, of which only the digest is kept: for whoever renders nothing.
    pub fn outline(document: &Value) -> Self {
        let mut seen = Self::new(document);
        match &mut seen {
            Self::Source(source) => source.spec = MachineConfigSpec::default(),
            Self::Rendered(rendered) => rendered.spec = MachineConfigSpec::default(),
        }
        seen
    }
}

impl Source {
    fn new(name: String, document: &Value) -> Self {
        let mut problems = Vec::new();
        let spec = spec(document, &mut problems);
        let object = object(&name);
        for problem in &mut problems {
            problem.object = Some(object.clone());
        }
        Self {
            labels: texts(document.pointer("/metadata/labels")),
            generated_by: annotation(document, names::GENERATED_BY).map(str::to_owned),
            bypass: annotation(document, names::BYPASS)
                .filter(|why| !why.is_empty())
                .map(str::to_owned),
            digest: digest(&spec).text,
            changed: changed(document),
            spec,
            problems,
            name,
        }
    }

    /// Its kind and name.
    pub fn object(&self) -> Object {
        object(&self.name)
    }
}

impl Rendered {
    fn new(name: String, pool: String, document: &Value) -> Self {
        let digests = annotation(document, names::SOURCE_DIGESTS);
        Self {
            name,
            resource_version: text(document, "/metadata/resourceVersion")
                .unwrap_or_default()
                .into(),
            pool,
            created: text(document, "/metadata/creationTimestamp")
                .and_then(|at| Instant::parse(at).ok()),
            // One that was made elsewhere has no digests: then nobody can say what it contains.
            digests: digests.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
            // What was rendered was read when it was rendered; a document that somebody broke since holds nothing.
            spec: document
                .get("spec")
                .and_then(|spec| MachineConfigSpec::deserialize(spec).ok())
                .unwrap_or_default(),
        }
    }

    /// Whether it holds what a source holds now (POOL-5).
    pub fn contains(&self, source: &Source) -> bool {
        self.digests.get(&source.name) == Some(&source.digest)
    }
}

/// The pool that a rendered configuration belongs to: its owner.
fn owning_pool(document: &Value) -> Option<&str> {
    let owners = document.pointer("/metadata/ownerReferences")?.as_array()?;
    let owner = owners.iter().find(|owner| {
        owner.get("kind").and_then(Value::as_str) == Some(api::names::MACHINE_CONFIG_POOL)
    });
    owner?.get("name")?.as_str()
}

fn spec(document: &Value, problems: &mut Vec<Problem>) -> MachineConfigSpec {
    let path = FieldPath::of("spec");
    let Some(given) = document.get("spec").filter(|spec| !spec.is_null()) else {
        return MachineConfigSpec::default();
    };
    let schema = api::machine::machine_config_schema().pointer("/properties/spec");
    let flaws = shape::check_part(schema.unwrap_or(&Value::Bool(true)), given, &path);
    if !flaws.is_empty() {
        problems.extend(flaws);
        return MachineConfigSpec::default();
    }
    let fields = given.as_object().into_iter().flatten();
    let rest: Value = fields
        .filter(|(key, _)| *key != "config")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut spec: MachineConfigSpec = match serde_json::from_value(rest) {
        Ok(spec) => spec,
        Err(error) => {
            problems.push(Problem::new(&path, Code::WrongType, error.to_string()));
            return MachineConfigSpec::default();
        }
    };
    let config = given
        .get("config")
        .filter(|config| config.as_object().is_some_and(|fields| !fields.is_empty()));
    spec.config = config.and_then(|config| ignition::read(config, &path.key("config"), problems));
    check_kernel(&spec, &path, problems);
    spec
}

/// The kernels that a node can run.
pub(crate) const KERNELS: &[&str] = &["default", "realtime", "64k-pages"];

/// The extensions that a release has.
const EXTENSIONS: &[&str] = &[
    "two-node-ha",
    "ipsec",
    "usbguard",
    "kerberos",
    "kernel-devel",
    "sandboxed-containers",
    "sysstat",
];

fn check_kernel(spec: &MachineConfigSpec, path: &FieldPath, problems: &mut Vec<Problem>) {
    let kernel = spec.kernel_type.as_str();
    if !kernel.is_empty() && !KERNELS.contains(&kernel) {
        let detail = format!("there is no kernel {}", quoted(kernel));
        let hint = format!("use {}", KERNELS.join(", "));
        problems.push(Problem::new(&path.key("kernelType"), Code::NotAllowed, detail).hint(hint));
    }
    for (place, extension) in spec.extensions.iter().enumerate() {
        if !EXTENSIONS.contains(&extension.as_str()) {
            let detail = format!("there is no extension {}", quoted(extension));
            let hint = format!("use {}", EXTENSIONS.join(", "));
            let path = path.key("extensions").index(place);
            problems.push(Problem::new(&path, Code::NotAllowed, detail).hint(hint));
        }
    }
}

fn object(name: &str) -> Object {
    Object { kind: names::MACHINE_CONFIG.to_owned(), namespace: None, name: Some(name.to_owned()) }
}

pub(crate) fn text<'a>(document: &'a Value, path: &str) -> Option<&'a str> {
    document.pointer(path).and_then(Value::as_str)
}

pub(crate) fn annotation<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document.pointer("/metadata/annotations")?.get(name)?.as_str()
}

pub(crate) fn texts(given: Option<&Value>) -> BTreeMap<String, String> {
    given
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// A source, as pools refer to it.
pub(crate) fn source_reference(name: &str) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": names::MACHINE_CONFIG, "name": name})
}
