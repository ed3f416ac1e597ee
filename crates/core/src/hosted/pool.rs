//! What of the nodes of a hosted cluster do decisions read? What is wanted of them, what was handed over, and what all of them have.
//!
//! HOST-1: release and configuration are one hash. What waits is told from what was handed over by the mark, and by nothing else (GATE-10).

use schedule::Instant;
use serde_json::{Value, json};

use super::hash;
use crate::release::{Named, of::pulled};

/// The annotation by which whoever runs hosted clusters says which configuration all nodes of a pool have.
pub const CURRENT: &str = "hypershift.openshift.io/nodePoolCurrentConfigVersion";

/// A node pool as it was last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenNodePool {
    /// The hosted cluster that it belongs to, of the same namespace.
    pub cluster: String,
    /// The version that all of its nodes have; empty while nobody says.
    pub version: String,
    /// The release that somebody wants.
    pub release: Named,
    /// How its nodes are changed.
    pub change: Change,
    /// The configurations that it names, of the same namespace.
    pub configs: Vec<String>,
    /// What else it says of its nodes, as a digest.
    pub own: String,
    /// What was wanted when somebody last looked: the annotation `wanted-image`.
    pub pin: Option<Target>,
    /// What was let begin last: the annotation `accepted-config`.
    pub mark: Option<HandedOver>,
    /// The configuration that all of its nodes have, as a hash; empty while it is being created.
    pub current: String,
}

/// How the nodes of a pool are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// New ones take the place of old ones, by themselves or as somebody deletes them (HOST-3).
    #[default]
    Replace,
    /// They stay, and are changed one by one (HOST-4).
    InPlace,
}

/// What nodes are to become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The release, as far as anybody can tell.
    pub release: Named,
    /// Release and configuration, as one hash.
    pub config: String,
}

/// What was let begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver {
    /// What nodes were to become.
    pub target: Target,
    /// What all of them had then: once they have something else, it is over.
    pub after: String,
    /// When the gate was asked.
    pub at: Option<Instant>,
}

impl SeenNodePool {
    /// Reads a `NodePool`.
    pub fn new(document: &Value) -> Self {
        let text = |path: &str| document.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let annotation = |key: &str| document.pointer("/metadata/annotations")?.get(key)?.as_str();
        let noted = |key: &str| serde_json::from_str::<Value>(annotation(key)?).ok();
        let configs = document.pointer("/spec/config").and_then(Value::as_array);
        let configs = configs.into_iter().flatten().filter_map(|one| one.get("name")?.as_str());
        let uid = text("/metadata/uid");
        let mark = noted(api::names::ACCEPTED_CONFIG);
        Self {
            cluster: text("/spec/clusterName").to_owned(),
            version: text("/status/version").to_owned(),
            release: pulled(text("/spec/release/image")),
            change: match text("/spec/management/upgradeType") {
                "InPlace" => Change::InPlace,
                _ => Change::Replace,
            },
            configs: configs.map(str::to_owned).collect(),
            own: hash::own(document),
            pin: noted(api::names::WANTED_IMAGE).map(|noted| Target::read(&noted)),
            mark: mark.and_then(|noted| HandedOver::read(&noted, uid)),
            current: annotation(CURRENT).unwrap_or_default().to_owned(),
        }
    }

    /// What was handed over and has not arrived at all nodes.
    pub fn under_way(&self) -> Option<&HandedOver> {
        self.mark
            .as_ref()
            .filter(|mark| mark.after == self.current && mark.target.config != self.current)
    }

    /// The hash of what was handed over last: what is wanted beyond it waits.
    pub fn handed_over(&self) -> &str {
        let last = self.mark.as_ref().filter(|mark| mark.after == self.current);
        last.map_or(&self.current, |mark| &mark.target.config)
    }

    /// What somebody wants and was not handed over. A pool that is being created gets what is wanted, and creation is not held.
    pub fn waiting(&self) -> Option<&Target> {
        let wanted = self.pin.as_ref()?;
        let waits = !self.current.is_empty() && wanted.config != self.handed_over();
        waits.then_some(wanted)
    }
}

impl Target {
    fn read(noted: &Value) -> Self {
        let text =
            |key: &str| noted.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let release = Named { version: text("version"), image: text("image") };
        Self { release, config: text("config") }
    }

    /// The text of the annotation `wanted-image`.
    pub fn text(&self) -> String {
        let Self { release: Named { version, image }, config } = self;
        json!({"version": version, "image": image, "config": config}).to_string()
    }
}

impl HandedOver {
    /// Reads a mark; none if it is not whole, or of another object (GATE-16).
    fn read(noted: &Value, uid: &str) -> Option<Self> {
        let text = |key: &str| noted.get(key).and_then(Value::as_str).unwrap_or_default();
        let target = Target::read(noted);
        let whole = !target.config.is_empty() && !target.release.image.is_empty();
        (whole && text("uid") == uid).then(|| Self {
            target,
            after: text("after").to_owned(),
            at: Instant::parse(text("at")).ok(),
        })
    }

    /// The text of the annotation `accepted-config`, for the object with this identity.
    pub fn text(&self, uid: &str) -> String {
        let Self { target: Target { release: Named { version, image }, config }, after, at } = self;
        let mut noted = json!({"version": version, "image": image, "config": config, "uid": uid, "after": after});
        if let Some(at) = at {
            noted["at"] = json!(at.to_string());
        }
        noted.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HOST-1: what waits is told from what was handed over.
    #[test]
    fn what_waits_is_told_from_what_was_handed_over() {
        let check = |pin: &str,
                     mark: Option<(&str, &str, &str)>,
                     current: &str,
                     waits: bool,
                     begun: bool| {
            let mut noted = json!({api::names::WANTED_IMAGE: json!({"image": "r@sha256:0", "config": pin}).to_string(),
                CURRENT: current});
            if let Some((config, after, uid)) = mark {
                let mark =
                    json!({"image": "r@sha256:0", "config": config, "after": after, "uid": uid});
                noted[api::names::ACCEPTED_CONFIG] = json!(mark.to_string());
            }
            let pool = SeenNodePool::new(&json!({"metadata": {"uid": "u1", "annotations": noted}}));
            let found = (pool.waiting().is_some(), pool.under_way().is_some());
            assert_eq!(found, (waits, begun), "{pin} {mark:?} {current}");
        };
        // Being created; at rest; wanted; handed over; arrived.
        check("b", None, "", false, false);
        check("a", None, "a", false, false);
        check("b", None, "a", true, false);
        check("b", Some(("b", "a", "u1")), "a", false, true);
        check("b", Some(("b", "a", "u1")), "b", false, false);
        // Another while it is under way waits for itself, and so does the way back.
        check("c", Some(("b", "a", "u1")), "a", true, true);
        check("a", Some(("b", "a", "u1")), "a", true, true);
        check("a", Some(("a", "a", "u1")), "a", false, false);
        // The next one.
        check("c", Some(("b", "a", "u1")), "b", true, false);
        // GATE-16: a mark of another object hands nothing over.
        check("b", Some(("b", "a", "u2")), "a", true, false);
    }
}
