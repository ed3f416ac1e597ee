//! What does whoever installs releases do next? Decided from what the cluster holds and an instant, and from nothing else.
//!
//! As the cluster version operator does (CV-1): a release is accepted, which is when `status.history` gains an entry; then the payload is
//! applied level by level, each of which waits for its cluster operators; near the end what machines are made of is generated, and the update
//! is complete when the masters have it. It follows marks and not wishes where it knows us (CV-4), and never stops half-way.
//!
//! DET-1: how far an update is follows from when it began and from the seed.

use std::{fmt, fmt::Write as _, ops::Range};

use api::machine::names::{API_VERSION, GENERATED_BY, MACHINE_CONFIG, ROLE};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    release::{
        Named, SeenPlane,
        version::{self, Version},
    },
    skew,
};

use crate::{lengths::Lengths, mirror::text};

/// What an update waits for before what it generates for machines, level by level: its operators, and how many seconds they take.
pub(super) const LEVELS: &[(&str, &[&str], Range<i64>)] = &[
    ("10", &["config-operator", "etcd"], 120..300),
    ("20", &["kube-apiserver"], 600..1200),
    ("25", &["kube-controller-manager", "kube-scheduler"], 300..600),
    ("30", &["openshift-apiserver"], 120..300),
    ("50", &["authentication", "console", "ingress"], 240..720),
    ("70", &["dns", "network"], 180..480),
];

/// The level of those that change machines.
pub(super) const MACHINES: (&str, &str) = ("80", "machine-config");

/// Where a machine says which release it has.
pub(crate) const RELEASE_FILE: &str = "/etc/kubernetes/release";

/// The roles that a release generates configurations for.
const ROLES: [&str; 2] = ["master", "worker"];

/// What it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// What Tidegate let begin: it knows us.
    Marks,
    /// What anybody asks for, at once: it never heard of us.
    Wishes,
}

/// What it looks at.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// `ClusterVersion`.
    pub version: &'a Value,
    /// The pool of the masters.
    pub masters: Option<&'a Value>,
    /// The nodes, each with the version of its kubelet; none if nobody looks at them.
    pub kubelets: Option<&'a [(String, String)]>,
    /// The configuration of a name, generated or rendered.
    pub config: &'a dyn Fn(&str) -> Option<Value>,
    /// What time it is.
    pub now: Instant,
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen")
            .field("version", self.version)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// What it does.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// The status of `ClusterVersion`, as a merge patch under the version that was seen.
    Status(Value),
    /// A generated configuration: made, or changed to this.
    Generate(Value),
}

/// What it does now, and when it looks again by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In this order. The next is looked at again once these are done.
    pub deeds: Vec<Deed>,
    /// The cluster operators, each with the release that it has.
    pub operators: Vec<(&'static str, String)>,
    /// When something is due.
    pub next: Option<Instant>,
}

/// What is to be done next about the release of a cluster.
pub fn plan(seen: Seen<'_>, follows: Follows, lengths: &Lengths) -> Plan {
    let plane = SeenPlane::new(seen.version);
    if let Some(release) = wanted(&plane, follows, seen.now) {
        return Plan { deeds: vec![accept(seen, &plane, &release)], ..Plan::default() };
    }
    if let Some(told) = upgradeable(seen, &plane.accepted.version) {
        return Plan { deeds: vec![told], ..Plan::default() };
    }
    let Some(newest) = plane.history.first() else { return Plan::default() };
    let before = plane.history.get(1).map_or("", |entry| entry.release.version.as_str());
    let is_partial = text(seen.version, "/status/history/0/state") == "Partial";
    if !is_partial {
        return Plan {
            operators: operators(&newest.release.version, "", usize::MAX),
            ..Plan::default()
        };
    }
    let (done, due) = progress(newest, seen.now, lengths);
    let operators = operators(&newest.release.version, before, done);
    let said = |message: String| status_if_new(seen, "True", &message);
    let version = &newest.release.version;
    if let Some((level, waits, _)) = LEVELS.get(done) {
        let of = LEVELS.len() + 1;
        let deeds = said(format!(
            "Working towards {version}: {done} of {of} levels done, waiting on {} (level {level})",
            waits.join(", ")
        ));
        return Plan { deeds: deeds.into_iter().collect(), operators, next: due };
    }
    let generated: Vec<Deed> =
        ROLES.iter().filter_map(|role| generate(seen, role, version)).map(Deed::Generate).collect();
    if !generated.is_empty() {
        return Plan { deeds: generated, operators, next: None };
    }
    if !masters_have(seen, version) {
        let (level, operator) = MACHINES;
        let deeds = said(format!(
            "Working towards {version}: {} of {} levels done, waiting on {operator} (level {level}): the masters",
            LEVELS.len(),
            LEVELS.len() + 1
        ));
        return Plan { deeds: deeds.into_iter().collect(), operators, next: None };
    }
    Plan { deeds: vec![complete(seen, version)], operators, next: None }
}

/// The release that is to be accepted now. A mark that has ended is none: the gate is asked again first.
fn wanted(plane: &SeenPlane, follows: Follows, now: Instant) -> Option<Named> {
    match follows {
        Follows::Marks => {
            let mark = plane.open_mark().filter(|mark| mark.is_good(now));
            mark.map(|mark| mark.release.clone())
        }
        Follows::Wishes => {
            let wish = &plane.wish.as_ref()?.release;
            let mut known = plane.known.iter().flatten();
            let image = known.find(|known| known.is_same(wish)).map_or(&wish.image, |it| &it.image);
            let asked = Named { version: wish.version.clone(), image: image.clone() };
            (!asked.is_same(&plane.accepted)).then_some(asked)
        }
    }
}

/// How many levels an update has behind it, and when the next is due.
fn progress(
    newest: &tidegate_core::release::Entry,
    now: Instant,
    lengths: &Lengths,
) -> (usize, Option<Instant>) {
    let Ok(mut at) = Instant::parse(&newest.started) else { return (0, None) };
    for (done, (level, _, range)) in LEVELS.iter().enumerate() {
        let what = format!("{} level {level}", newest.release.name());
        at = at.saturating_add(lengths.draw(range, &what));
        if now < at {
            return (done, Some(at));
        }
    }
    (LEVELS.len(), None)
}

/// Each operator with the release that it has after so many levels.
fn operators(release: &str, before: &str, done: usize) -> Vec<(&'static str, String)> {
    let levels = LEVELS.iter().enumerate().flat_map(|(level, (_, names, _))| {
        let has = if level < done { release } else { before };
        names.iter().map(move |name| (*name, has.to_owned()))
    });
    let machines = if done == usize::MAX { release } else { before };
    levels.chain([(MACHINES.1, machines.to_owned())]).collect()
}

fn accept(seen: Seen<'_>, plane: &SeenPlane, release: &Named) -> Deed {
    let Named { version, image } = release;
    let now = seen.now.to_string();
    let mut history = list(seen.version, "/status/history");
    // What is superseded stays Partial, and gets an end.
    if let Some(first) = history.first_mut().filter(|first| first["completionTime"].is_null()) {
        first["completionTime"] = json!(now);
    }
    history.insert(
        0,
        json!({"state": "Partial", "version": version, "image": image, "startedTime": now,
            "completionTime": null, "verified": true}),
    );
    let from = plane.accepted.name();
    let message = format!("Working towards {version}: accepted, coming from {from}");
    let conditions = conditions(
        seen,
        &[
            (
                "ReleaseAccepted",
                "True",
                "PayloadLoaded",
                format!("payload loaded version=\"{version}\""),
            ),
            ("Progressing", "True", "", message),
        ],
    );
    status(
        seen,
        &json!({"desired": {"version": version, "image": image}, "history": history, "conditions": conditions}),
    )
}

fn complete(seen: Seen<'_>, version: &str) -> Deed {
    let mut history = list(seen.version, "/status/history");
    if let Some(first) = history.first_mut() {
        first["state"] = json!("Completed");
        first["completionTime"] = json!(seen.now.to_string());
    }
    let message = format!("Cluster version is {version}");
    let conditions = conditions(seen, &[("Progressing", "False", "", message)]);
    status(
        seen,
        &json!({"history": history, "conditions": conditions, "availableUpdates": updates(version)}),
    )
}

/// The status that says how far it is; none if it says so.
fn status_if_new(seen: Seen<'_>, progressing: &'static str, message: &str) -> Option<Deed> {
    let said = list(seen.version, "/status/conditions");
    let told = said.iter().any(|one| one["type"] == "Progressing" && one["message"] == message);
    (!told).then(|| {
        let conditions = conditions(seen, &[("Progressing", progressing, "", message.to_owned())]);
        status(seen, &json!({"conditions": conditions}))
    })
}

fn status(seen: Seen<'_>, status: &Value) -> Deed {
    let version = text(seen.version, "/metadata/resourceVersion");
    Deed::Status(json!({"metadata": {"resourceVersion": version}, "status": status}))
}

/// What the operator of the API server says of kubelets, and the cluster with it: that it takes no higher minor version, or nothing (CV-3). What somebody else
/// has against one stays.
fn upgradeable(seen: Seen<'_>, version: &str) -> Option<Deed> {
    let plane = skew::Plane::OpenShift(version.parse().ok()?);
    let nodes = seen.kubelets?.iter().map(|(name, kubelet)| (name.as_str(), kubelet.as_str()));
    let verdict = skew::judge(plane, nodes);
    let known = list(seen.version, "/status/conditions");
    let said = known.iter().find(|one| one["type"] == UPGRADEABLE);
    if said.is_some_and(|said| !text(said, "/reason").starts_with("Kubelet")) {
        return None;
    }
    let conditions = if verdict.class.upgradeable() == skew::Answer::False {
        if said.is_some_and(|said| text(said, "/message") == verdict.message) {
            return None;
        }
        conditions(seen, &[(UPGRADEABLE, "False", verdict.class.reason(), verdict.message)])
    } else {
        said?;
        known.iter().filter(|one| one["type"] != UPGRADEABLE).cloned().collect()
    };
    Some(status(seen, &json!({"conditions": conditions})))
}

/// The condition that says whether a cluster takes a higher minor version.
const UPGRADEABLE: &str = "Upgradeable";

/// The conditions as they read then: those of others stay.
fn conditions(seen: Seen<'_>, told: &[(&str, &str, &str, String)]) -> Vec<Value> {
    let mut conditions = list(seen.version, "/status/conditions");
    for (kind, status, reason, message) in told {
        let known = conditions.iter_mut().find(|one| one["type"] == *kind);
        let since = known.as_ref().filter(|one| one["status"] == *status);
        let since = since
            .map_or_else(|| json!(seen.now.to_string()), |one| one["lastTransitionTime"].clone());
        let one = json!({"type": kind, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": since});
        match known {
            Some(known) => *known = one,
            None => conditions.push(one),
        }
    }
    conditions
}

/// What a release generates for a role, if that is not there yet.
fn generate(seen: Seen<'_>, role: &str, version: &str) -> Option<Value> {
    let name = format!("00-{role}");
    let known = (seen.config)(&name);
    if known.as_ref().is_some_and(|known| has_release(known, version)) {
        return None;
    }
    let mut made = known.unwrap_or_else(|| {
        json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
            "metadata": {"name": name, "labels": {ROLE: role}},
            "spec": {"config": {"ignition": {"version": "3.4.0"}}}})
    });
    let mut files = list(&made, "/spec/config/storage/files");
    files.retain(|file| file["path"] != RELEASE_FILE);
    files.push(json!({"path": RELEASE_FILE, "mode": 0o644, "overwrite": true,
        "contents": {"source": format!("data:,{version}")}}));
    made["spec"]["config"]["storage"]["files"] = Value::Array(files);
    // Whoever rolls out renders only what a generator of its own version made.
    made["metadata"]["annotations"][GENERATED_BY] = json!(env!("CARGO_PKG_VERSION"));
    Some(made)
}

fn has_release(config: &Value, version: &str) -> bool {
    let files = list(config, "/spec/config/storage/files");
    let source = format!("data:,{version}");
    files
        .iter()
        .any(|file| file["path"] == RELEASE_FILE && text(file, "/contents/source") == source)
}

/// Whether every master has what the release generated. Without masters there is nobody to wait for.
fn masters_have(seen: Seen<'_>, version: &str) -> bool {
    let Some(pool) = seen.masters else { return true };
    let target = text(pool, "/spec/configuration/name");
    let count = |field: &str| pool.pointer(&format!("/status/{field}")).and_then(Value::as_i64);
    let rendered = (seen.config)(target);
    let all = count("machineCount").unwrap_or(0);
    rendered.is_some_and(|rendered| has_release(&rendered, version))
        && text(pool, "/status/configuration/name") == target
        && count("updatedMachineCount").unwrap_or(0) == all
}

fn list(object: &Value, path: &str) -> Vec<Value> {
    object.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The updates that are recommended to a cluster with a release: a patch of its minor version, and one of the next.
pub fn updates(version: &str) -> Vec<Value> {
    let Some(Version { major, minor, patch, .. }) = version::read(version) else {
        return Vec::new();
    };
    let next = [format!("{major}.{minor}.{}", patch + 2), format!("{major}.{}.3", minor + 1)];
    next.iter().map(|version| json!({"version": version, "image": image(version)})).collect()
}

/// The version of the kubelet that comes with a release; none if it is none.
pub fn kubelet(release: &str) -> Option<String> {
    let minor = release.parse::<skew::Release>().ok()?.kubernetes();
    Some(format!("v{minor}.{}", version::read(release)?.patch))
}

/// The image of a release, by a digest that is made of its version.
pub fn image(version: &str) -> String {
    let mut digest = String::with_capacity(64);
    for round in 0_u64..4 {
        // FNV-1a: nobody relies on it, and the same version has the same image in every sandbox.
        let mixed = version.bytes().fold(0xcbf2_9ce4_8422_2325 ^ round, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // Writing to a string cannot fail.
        let _ = write!(digest, "{:016x}", mixed.rotate_left(17) ^ mixed);
    }
    format!("quay.io/openshift-release-dev/ocp-release@sha256:{digest}")
}

#[cfg(test)]
mod tests;
