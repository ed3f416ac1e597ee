//! What does somebody see who is inside a hosted cluster? Its `ClusterVersion`, as a projection of what stands outside (HOST-2).
//!
//! A pure function of the `HostedCluster` and its `NodePools` as the management cluster has them: no clock, because their statuses say from when until
//! when; and nothing of the guest goes in, so that whatever somebody edits there changes nothing. Whoever runs hosted clusters writes it into the
//! guest. Conditions and `status.changeManagement` are for people; the annotation `projected` says the same for programs, and stays where
//! a definition keeps no field of ours.

use api::{
    kinds,
    meta::{Condition, ConditionStatus},
    names::{CHANGES_PAUSED, CHANGES_PENDING, PROJECTED, THE_CLUSTER},
    policy::{Behavior, State, Stretch},
};
use schedule::Instant;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::pool::SeenNodePool;
use crate::{
    document::{
        conditions::{Conditions, decoded},
        problem::Object,
    },
    policy::{
        explain::{Fact, Reason},
        verdict::Verdict,
    },
    release::SeenPlane,
};

/// What a guest is told: the text of the annotation `projected`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Projected {
    /// Whom it is a projection of, with its namespace.
    pub from: String,
    /// The gate of the control plane, then those of the pools, by name.
    pub gates: Vec<ProjectedGate>,
}

/// A gate as it stands outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectedGate {
    /// `HostedCluster` or `NodePool`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Whether there is a stanza: without one nothing is held (GATE-1).
    pub gated: bool,
    /// When changes may start; none while nobody has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behavior: Option<Behavior>,
    /// What waits, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}

/// What waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// The release; empty if it is the configuration alone.
    #[serde(default)]
    pub to: String,
    /// The release that is there.
    #[serde(default)]
    pub now: String,
}

/// The `ClusterVersion` of a hosted cluster. `pools` may hold those of others: what belongs to this one is told here, by namespace and name (GATE-5).
pub fn project<'a>(host: &Value, pools: impl IntoIterator<Item = &'a Value>) -> Value {
    let mut own: Vec<&Value> = pools.into_iter().filter(|pool| belongs(pool, host)).collect();
    own.sort_by_key(|pool| text(pool, "/metadata/name"));
    let kind = kinds::CLUSTER_VERSION;
    let projected = Projected::of(host, &own);
    let id = [text(host, "/spec/clusterID"), text(host, "/metadata/uid")];
    let mut document = json!({
        "apiVersion": kind.api_version, "kind": kind.name,
        "metadata": {"name": THE_CLUSTER, "annotations": {PROJECTED: json!(projected).to_string()}},
        // No wish: what is wanted of a hosted cluster is wanted outside.
        "spec": {"clusterID": id.into_iter().find(|id| !id.is_empty()).unwrap_or_default()},
        "status": {"conditions": conditions(host, &own)},
    });
    let mut copy = |from: &str, place: &str, name: &str| {
        if let Some(value) = host.pointer(from).filter(|value| !value.is_null()) {
            document[place][name] = value.clone();
        }
    };
    copy("/spec/channel", "spec", "channel");
    for field in ["desired", "history", "availableUpdates", "conditionalUpdates"] {
        copy(&format!("/status/version/{field}"), "status", field);
    }
    copy("/status/changeManagement", "status", "changeManagement");
    document
}

/// Whether a pool is of this hosted cluster: of its namespace, and by its name.
fn belongs(pool: &Value, host: &Value) -> bool {
    text(pool, "/metadata/namespace") == text(host, "/metadata/namespace")
        && text(pool, "/spec/clusterName") == text(host, "/metadata/name")
}

/// The condition of the control plane's gate, and one for all that waits, of the control plane or of its nodes.
fn conditions(host: &Value, pools: &[&Value]) -> Vec<Condition> {
    let of = |document: &Value, kind: &str| Conditions::of(document, &[kind]).get(kind).cloned();
    let paused = of(host, CHANGES_PAUSED);
    let told: Vec<(String, Condition)> = std::iter::once(&host)
        .chain(pools)
        .filter_map(|document| Some((named(document), of(document, CHANGES_PENDING)?)))
        .collect();
    let all = |status: ConditionStatus| told.iter().filter(move |(_, one)| one.status == status);
    // While anything waits, what does not is not told of.
    let worst = [ConditionStatus::True, ConditionStatus::Unknown, ConditionStatus::False];
    let pending = worst.into_iter().find(|status| all(*status).next().is_some()).map(|status| {
        let since = |(_, one): &(String, Condition)| one.last_transition_time.clone();
        let said = |(name, one): &(String, Condition)| {
            format!("{name}: {}", one.message.as_deref().unwrap_or_default())
        };
        Condition {
            kind: CHANGES_PENDING.to_owned(),
            status,
            reason: all(status).map(|(_, one)| one.reason.clone()).next().unwrap_or_default(),
            message: Some(all(status).map(said).collect::<Vec<_>>().join("; ")),
            observed_generation: None,
            // Something waits since the first does, and nothing since the last does not.
            last_transition_time: match status {
                ConditionStatus::True => all(status).filter_map(since).min(),
                _ => all(status).filter_map(since).max(),
            },
        }
    });
    let paused = paused.map(|one| Condition { observed_generation: None, ..one });
    paused.into_iter().chain(pending).collect()
}

fn named(document: &Value) -> String {
    format!("{}/{}", text(document, "/kind"), text(document, "/metadata/name"))
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

impl Projected {
    fn of(host: &Value, pools: &[&Value]) -> Self {
        let (namespace, name) = (text(host, "/metadata/namespace"), text(host, "/metadata/name"));
        let plane = SeenPlane::hosted(host);
        let release = plane.waiting().map(|wish| {
            let pinned = plane.pin.as_ref().filter(|pin| pin.is_for(wish));
            let to = pinned.map_or(wish.release.name(), |pin| pin.release.name());
            Waits { to: to.to_owned(), now: plane.accepted.name().to_owned() }
        });
        let of_pool = |pool: &&Value| {
            let own = SeenNodePool::new(pool);
            let waits = own.waiting().map(|target| {
                let to = Some(target.release.name()).filter(|to| *to != own.version);
                Waits { to: to.unwrap_or_default().to_owned(), now: own.version.clone() }
            });
            ProjectedGate::of(kinds::NODE_POOL.name, pool, waits)
        };
        let cluster = kinds::HOSTED_CLUSTER.name;
        Self {
            from: format!("{cluster}/{namespace}/{name}"),
            gates: std::iter::once(ProjectedGate::of(cluster, host, release))
                .chain(pools.iter().map(of_pool))
                .collect(),
        }
    }

    /// What a `ClusterVersion` is a projection of; none if it is that of its own cluster. One that cannot be read tells nothing, and holds.
    pub fn read(document: &Value) -> Option<Self> {
        let noted = document.pointer("/metadata/annotations")?.get(PROJECTED)?;
        let read = noted.as_str().and_then(|noted| serde_json::from_str(noted).ok());
        Some(read.unwrap_or_default())
    }

    /// Whether the control plane may change at an instant, and until when that is known to be so.
    pub fn verdict(&self, at: Instant) -> (Verdict, Option<Instant>) {
        self.gates.first().map_or((Verdict::CannotTell, None), |gate| gate.verdict(at))
    }

    /// When the control plane may change, as it was told.
    pub fn behavior(&self) -> Behavior {
        let unknown = Stretch {
            state: State::ChangesPaused,
            start_time: None,
            end_time: None,
            reason: "nobody has told yet when this may change, so changes are held".into(),
        };
        let always = Stretch {
            state: State::ChangesUnpaused,
            reason: self.gates.first().map(ProjectedGate::said).unwrap_or_default(),
            ..unknown.clone()
        };
        let alone = |current: Stretch| Behavior { current, next: None, history: Vec::new() };
        match self.gates.first() {
            Some(ProjectedGate { behavior: Some(behavior), gated: true, .. }) => behavior.clone(),
            Some(ProjectedGate { gated: false, .. }) => alone(always),
            Some(_) | None => alone(unknown),
        }
    }

    /// Why it may change at an instant, or why not: each gate with its own verdict.
    pub fn explain(&self, object: Object, at: Instant) -> Reason {
        let (verdict, until) = self.verdict(at);
        let because = self.gates.iter().map(|gate| {
            let (verdict, until) = gate.verdict(at);
            Reason { verdict, fact: Fact::Projected(gate.text()), until, because: Vec::new() }
        });
        let from = format!("projected from {}, where alone it can be changed", self.from);
        let from =
            Reason { verdict, fact: Fact::Projected(from), until, because: because.collect() };
        Reason { verdict, fact: Fact::Resource(object), until, because: vec![from] }
    }
}

impl ProjectedGate {
    fn of(kind: &str, document: &Value, waits: Option<Waits>) -> Self {
        Self {
            kind: kind.to_owned(),
            name: text(document, "/metadata/name").to_owned(),
            gated: document
                .pointer("/spec/changeManagement")
                .is_some_and(|stanza| !stanza.is_null()),
            behavior: decoded(document.pointer("/status/changeManagement/behavior"))
                .map(|behavior| Behavior { history: Vec::new(), ..behavior }),
            waits,
        }
    }

    /// Whether it lets changes start at an instant, and until when. Beyond what was told nobody can tell.
    pub fn verdict(&self, at: Instant) -> (Verdict, Option<Instant>) {
        if !self.gated {
            return (Verdict::Permitted, None);
        }
        let stretches =
            self.behavior.iter().flat_map(|all| [Some(&all.current), all.next.as_ref()]);
        for stretch in stretches.flatten() {
            let end = stretch.end_time.as_deref().map(Instant::parse);
            let until = match end {
                None => None,
                Some(Ok(end)) => Some(end),
                Some(Err(_)) => return (Verdict::CannotTell, None),
            };
            if until.is_none_or(|until| at < until) {
                let verdict = match stretch.state {
                    State::ChangesUnpaused => Verdict::Permitted,
                    State::ChangesPaused => Verdict::Held,
                };
                return (verdict, until);
            }
        }
        (Verdict::CannotTell, None)
    }

    /// Why, as it was told.
    fn said(&self) -> String {
        match &self.behavior {
            _ if !self.gated => "it names no policy, so changes are always permitted".into(),
            Some(behavior) => behavior.current.reason.clone(),
            None => "nobody has told yet when it may change".into(),
        }
    }

    fn text(&self) -> String {
        let waits =
            self.waits.as_ref().map(|waits| match (waits.to.as_str(), waits.now.as_str()) {
                ("", _) => "; another configuration waits".to_owned(),
                (to, "") => format!("; release {to} waits"),
                (to, now) => format!("; release {to} waits (now {now})"),
            });
        format!("{}/{}: {}{}", self.kind, self.name, self.said(), waits.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
