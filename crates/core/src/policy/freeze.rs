//! What does a freeze stop, and when? (OVR-1, OVR-5, GATE-15)
//!
//! The API server reads freezes itself and refuses by them. Here they are read once more, so that whoever begins changes begins none, and
//! whoever tells of a gate tells of them: status, metrics, calendar, forecast.
//!
//! Total: a freeze that cannot be used holds whatever it may select until somebody mends it, and says which field is wrong (POL-8). Which
//! namespaces it chooses is told by their labels; of a namespace that nobody saw only the name is known, and where that is not enough nobody
//! can tell, which holds too (GATE-12).

use api::{
    freeze::{Frozen, FrozenPart},
    machine::names::MASTER,
    reach::LabelSelector,
    schema::{Kind, Scope},
};
use schedule::{Instant, Span};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    document::{key::Key, problem::Problem, terms},
    policy::read,
    reach::{
        held::{Place, Target, is_chosen, is_left_alone},
        rooms::{self, SystemNamespaces},
        seen::SeenGate,
        selector::{NAMESPACE_NAME, chooses_namespace, names_namespaces},
    },
};

pub use crate::reach::selector::{Labels, Selects};

/// For how many seconds a freeze that is over is kept, so that people can look at it (OVR-6).
const KEPT: i64 = 86_400;

/// A freeze as it was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenFreeze {
    /// Which object.
    pub key: Key,
    /// When it begins: as it says, else when it was created; none if nobody knows that, and then it has begun.
    pub from: Option<Instant>,
    /// When it was created, by the server's clock.
    pub created: Option<Instant>,
    /// When it ends, if it ends by itself.
    pub until: Option<Instant>,
    /// What it selects, and whom it lets pass, in its own words; none if it selects everything (HIST-1).
    pub selection: Option<String>,
    /// Why, in the words of its author.
    pub reason: String,
    /// Who signed it.
    pub by: Option<String>,
    /// What is wrong with it. If anything is, it holds until somebody mends it.
    pub problems: Vec<Problem>,
    /// Whether somebody wrote down when it begins.
    begins: Begins,
    /// What is frozen; everything, if none.
    holds: Option<Vec<FrozenPart>>,
    /// In which namespaces.
    namespaces: Namespaces,
}

/// What says when a freeze begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// Its author.
    AsWritten,
    /// Its creation. That it is there to be read is proof enough, whatever a clock says.
    WhenCreated,
}

/// In which namespaces a freeze holds.
#[derive(Clone, Debug, PartialEq)]
enum Namespaces {
    /// In all, and for what is in none.
    All,
    /// In those that have these labels; nobody can tell in which if none can be read. What is in no namespace is not chosen (RCH-13).
    Chosen(Option<LabelSelector>),
}

impl SeenFreeze {
    /// Reads a freeze.
    pub fn new(kind: &'static Kind, document: &Value) -> Self {
        let text = |path: &str| document.pointer(path).and_then(Value::as_str);
        let instant = |path: &str| Instant::parse(text(path)?).ok();
        let given = |path: &str| document.pointer(path).filter(|value| !value.is_null());
        let begins = match given("/spec/from") {
            None => Begins::WhenCreated,
            Some(_) => Begins::AsWritten,
        };
        let problems = read::freeze(kind, document).into_iter().filter(Problem::is_error);
        let problems: Vec<Problem> = problems.collect();
        // Of one that cannot be used nobody knows what its author meant to hold.
        let holds = given("/spec/holds").filter(|_| problems.is_empty());
        Self {
            key: Key::new(
                kind,
                text("/metadata/namespace"),
                text("/metadata/name").unwrap_or_default(),
            ),
            from: match begins {
                Begins::WhenCreated => instant("/metadata/creationTimestamp"),
                Begins::AsWritten => instant("/spec/from"),
            },
            created: instant("/metadata/creationTimestamp"),
            until: instant("/spec/until"),
            selection: terms::of(document, &["holds", "namespaceSelector", "exempt"]),
            reason: text("/spec/reason").unwrap_or_default().to_owned(),
            by: text("/spec/by").map(str::to_owned),
            problems,
            begins,
            holds: holds.and_then(|holds| Vec::deserialize(holds).ok()),
            namespaces: match given("/spec/namespaceSelector") {
                None => Namespaces::All,
                Some(given) => Namespaces::Chosen(LabelSelector::deserialize(given).ok()),
            },
        }
    }

    /// Whether it can be used as it is written.
    pub fn is_usable(&self) -> bool {
        self.problems.is_empty()
    }

    /// When it says that it begins, if its author wrote that down.
    pub fn begins_as_written(&self) -> Option<Instant> {
        self.from.filter(|_| self.begins == Begins::AsWritten)
    }

    /// When it is in force; always, if it cannot be used.
    pub fn span(&self) -> Span {
        if self.is_usable() {
            Span { start: self.from, end: self.until }
        } else {
            Span { start: None, end: None }
        }
    }

    /// Whether it is in force at an instant.
    pub fn is_in_force(&self, at: Instant) -> bool {
        let Span { start, end } = self.span();
        start.is_none_or(|from| from <= at) && end.is_none_or(|until| at < until)
    }

    /// Whether it holds somebody who asks at an instant: one that began with its creation does from when it can be read, although the clock
    /// of whoever asks may be behind that of the server.
    pub fn holds(&self, at: Instant) -> bool {
        let read = self.begins == Begins::WhenCreated;
        self.is_in_force(at) || read && self.until.is_none_or(|until| at < until)
    }

    /// Whether it is in force at an instant, or will be.
    pub fn is_ahead(&self, at: Instant) -> bool {
        self.span().end.is_none_or(|until| at < until)
    }

    /// The first instant after another at which it begins or ends.
    pub fn next_edge(&self, after: Instant) -> Option<Instant> {
        let Span { start, end } = self.span();
        start.into_iter().chain(end).filter(|edge| *edge > after).min()
    }

    /// When it can go: a day after its end. Never, if it does not end by itself, or cannot be used (OVR-6).
    pub fn goes_at(&self) -> Option<Instant> {
        Some(self.until.filter(|_| self.is_usable())?.saturating_add(KEPT))
    }

    /// What it says to whom it holds, as the server says it, in words that stay the same as long as it lasts.
    pub fn sentence(&self) -> String {
        let until =
            self.until.map_or_else(|| "further notice".to_owned(), |until| until.to_string());
        let by = self.by.as_deref().map_or_else(|| "unsigned".to_owned(), |by| format!("by {by}"));
        format!("frozen by {} until {until}, {by}: {}", self.key, self.reason)
    }

    /// Whether it may choose namespaces by another label than their name.
    pub fn asks_for_labels(&self) -> bool {
        let Namespaces::Chosen(Some(LabelSelector { match_labels, match_expressions })) =
            &self.namespaces
        else {
            return false;
        };
        match_labels.keys().any(|key| key != NAMESPACE_NAME)
            || match_expressions.iter().any(|demand| demand.key != NAMESPACE_NAME)
    }

    /// Whether everything that the gate of an object would let start is held by this freeze; of a gate on what others own, all that it
    /// holds. `labels` are those of its namespace, if that was seen.
    pub fn selects(&self, key: &Key, gate: Option<&SeenGate>, labels: Option<&Labels>) -> Selects {
        let reached = self.reaches_object(key, labels);
        if reached == Selects::CannotTell && key.kind().scope == Scope::Cluster {
            return reached;
        }
        let frozen = match (key.kind().scope, gate) {
            (_, Some(gate)) => gate.holds.iter().all(|what| self.freezes_room_of(key, gate, what)),
            (Scope::Cluster, None) => self.freezes_machines(key),
            (Scope::Namespaced, None) => self.freezes_hosted(key) || !self.is_usable(),
        };
        reached.min(Selects::when(frozen))
    }

    /// The rooms of a gate all of which this freeze holds, and whether anybody can tell.
    pub fn rooms_of(
        &self,
        key: &Key,
        gate: &SeenGate,
        labels: Option<&Labels>,
    ) -> (Selects, Vec<String>) {
        let frozen = gate.holds.iter().filter(|what| self.freezes_room_of(key, gate, what));
        (self.reaches_object(key, labels), frozen.cloned().collect())
    }

    /// Whether all that a gate holds of a room is frozen, where the freeze reaches it (RCH-13).
    fn freezes_room_of(&self, key: &Key, gate: &SeenGate, what: &str) -> bool {
        let of_system = match key.kind().scope {
            Scope::Cluster => gate.everywhere,
            Scope::Namespaced => {
                let namespace = key.namespace.as_deref().unwrap_or_default();
                let ordinary =
                    !namespace.starts_with("kube-") && !namespace.starts_with("openshift-");
                ordinary || self.key.namespace.is_some() || self.names_namespaces()
            }
        };
        let is_held = |system| of_system || system == SystemNamespaces::Held;
        self.freezes_room(what) && system(what).is_some_and(is_held)
    }

    /// Whether it reaches the place of an object.
    fn reaches_object(&self, key: &Key, labels: Option<&Labels>) -> Selects {
        match key.kind().scope {
            // RCH-13: what is in no namespace is chosen only without a selector of namespaces.
            Scope::Cluster if self.key.namespace.is_some() => Selects::No,
            Scope::Cluster => match &self.namespaces {
                Namespaces::All => Selects::Yes,
                Namespaces::Chosen(None) => Selects::CannotTell,
                Namespaces::Chosen(Some(_)) => Selects::No,
            },
            Scope::Namespaced => self.reaches(key, labels),
        }
    }

    /// Whether the namespace of an object is frozen.
    fn reaches(&self, key: &Key, labels: Option<&Labels>) -> Selects {
        let own = key.namespace.as_deref().unwrap_or_default();
        match (&self.key.namespace, &self.namespaces) {
            (Some(namespace), _) if **namespace == *own => Selects::Yes,
            (Some(_), _) => Selects::No,
            (None, Namespaces::All | Namespaces::Chosen(None)) => Selects::Yes,
            (None, Namespaces::Chosen(Some(selector))) => chooses_namespace(selector, own, labels),
        }
    }

    /// RCH-13: whether it means namespaces of the system, because it names namespaces.
    fn names_namespaces(&self) -> bool {
        matches!(&self.namespaces, Namespaces::Chosen(Some(selector)) if names_namespaces(selector))
    }

    /// Whether it may hold something of a room.
    pub fn may_hold(&self, what: &str) -> bool {
        self.holds.as_ref().is_none_or(|holds| {
            holds
                .iter()
                .any(|hold| hold.what == Frozen::Unknown || serde_json::json!(hold.what) == what)
        })
    }

    /// Whether it holds the first write of something that gates may hold too, judged as the server does (OVR-1, RCH-12, RCH-13).
    pub fn holds_target(&self, target: &Target<'_>, place: &Place<'_>) -> Selects {
        let what = target.room.name_of();
        let frozen = self.holds.as_ref().is_none_or(|holds| {
            holds.iter().any(|hold| {
                let chosen = is_chosen(hold.names.as_deref(), hold.selector.as_ref(), target);
                hold.what == Frozen::Unknown || serde_json::json!(hold.what) == what && chosen
            })
        });
        let of_team = self.key.namespace.is_some();
        let spared = !of_team && !self.names_namespaces() && is_left_alone(target.room, place);
        let is_in_none = target.room.scope() == Scope::Cluster;
        let reached = match (&self.key.namespace, &self.namespaces) {
            // RCH-13
            (Some(_), _) | (None, Namespaces::Chosen(Some(_))) if is_in_none => Selects::No,
            (Some(namespace), _) => Selects::when(**namespace == *place.namespace),
            (None, Namespaces::All) => Selects::Yes,
            (None, Namespaces::Chosen(None)) => Selects::CannotTell,
            (None, Namespaces::Chosen(Some(selector))) => {
                chooses_namespace(selector, place.namespace, place.labels)
            }
        };
        reached.min(Selects::when(frozen && !spared))
    }

    /// What carries a stanza in a namespace is a hosted cluster, or its nodes.
    fn freezes_hosted(&self, key: &Key) -> bool {
        let Some(holds) = &self.holds else { return true };
        let room = if *key.kind() == api::kinds::NODE_POOL {
            Frozen::NodePools
        } else {
            Frozen::HostedClusters
        };
        holds.iter().any(|hold| {
            let chosen = |names: &Vec<String>| names.iter().any(|name| **name == *key.name);
            // Written by something newer: who knows.
            hold.what == Frozen::Unknown
                || hold.what == room && hold.names.as_ref().is_none_or(chosen)
        })
    }

    /// CV-2: the masters follow `ClusterVersion`.
    fn freezes_machines(&self, key: &Key) -> bool {
        let Some(holds) = &self.holds else { return true };
        let name = &*key.name;
        let masters = *key.kind() == api::kinds::CLUSTER_VERSION || name == MASTER;
        holds.iter().any(|hold| match hold.what {
            Frozen::ClusterVersion => masters,
            Frozen::MachineConfigPools => {
                let chosen = |names: &Vec<String>| names.iter().any(|chosen| chosen == name);
                !masters && hold.names.as_ref().is_none_or(chosen)
            }
            // Written by something newer: who knows.
            Frozen::Unknown => true,
            Frozen::Deployments
            | Frozen::StatefulSets
            | Frozen::DaemonSets
            | Frozen::HelmReleases
            | Frozen::Applications
            | Frozen::KuredLock
            | Frozen::MachineDeployments
            | Frozen::InstallPlans
            | Frozen::UpgradePlans
            | Frozen::FluxRevisions
            | Frozen::KarpenterDisruption
            | Frozen::KubeadmControlPlanes
            | Frozen::ClusterTopologies
            | Frozen::HostedClusters
            | Frozen::NodePools
            | Frozen::Custom => false,
        })
    }

    /// Whether all that a room holds is frozen.
    fn freezes_room(&self, what: &str) -> bool {
        let Some(holds) = &self.holds else { return true };
        // Rooms of somebody's own are frozen one by one.
        let all = |hold: &FrozenPart| {
            hold.names.is_none() && hold.selector.is_none() && hold.rooms.is_none()
        };
        holds.iter().any(|hold| {
            hold.what == Frozen::Unknown || serde_json::json!(hold.what) == what && all(hold)
        })
    }
}

fn system(what: &str) -> Option<SystemNamespaces> {
    let room = rooms::known().find(|room| room.name_of() == what)?;
    Some(room.system)
}

#[cfg(test)]
mod tests;
