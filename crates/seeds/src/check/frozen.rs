//! Was a pool frozen? Read from freezes as they were stored, by code that shares nothing with what holds by them (OVR-1).

use serde_json::Value;

use super::{
    super::{stage::Kind, windows::second},
    Checker, Past, readings,
};

/// Whether a freeze stops a pool at an instant. Only freezes of the cluster are written here, without exemptions.
fn stops(freeze: &Value, pool: &str, at: i64) -> bool {
    let spec = &freeze["spec"];
    let edge = |value: &Value| value.as_str().and_then(second);
    let from = edge(&spec["from"]).or_else(|| edge(&freeze["metadata"]["creationTimestamp"]));
    let begun = from.is_none_or(|from| from <= at);
    let lasts = edge(&spec["until"]).is_none_or(|until| at < until);
    let chosen = match spec["holds"].as_array() {
        None => true,
        Some(holds) => holds.iter().any(|hold| {
            let names = hold["names"].as_array();
            match hold["what"].as_str() {
                Some("ClusterVersion") => pool == "master",
                Some("MachineConfigPools") => {
                    pool != "master"
                        && names.is_none_or(|names| names.iter().any(|name| name == pool))
                }
                _ => false,
            }
        }),
    };
    begun && lasts && chosen
}

impl Checker {
    fn freezes(&self) -> impl Iterator<Item = &Past> {
        self.objects.iter().filter(|((kind, _), _)| *kind == Kind::Freeze).map(|(_, past)| past)
    }

    /// Whether a pool is frozen at an instant, as everything stands.
    pub(crate) fn is_frozen(&self, pool: &str, at: i64) -> bool {
        self.all(Kind::Freeze).any(|(_, freeze)| stops(freeze, pool, at))
    }

    /// The same, as everything stood after so many commits.
    pub(super) fn was_frozen(&self, pool: &str, step: u64, at: i64) -> bool {
        self.freezes().filter_map(|past| past.stood(step)).any(|freeze| stops(freeze, pool, at))
    }

    /// What freezes say of a pool at an instant, by the readings that were in force a moment before something was sent: whether one is that
    /// it is frozen, and whether one is that it is not.
    pub(super) fn frozen_readings(&self, pool: &str, (at, sent): (i64, i64)) -> (bool, bool) {
        readings(self.freezes(), sent - self.slack, |freeze| stops(freeze, pool, at))
    }

    /// The commits by which freezes came, changed or went.
    pub(super) fn freeze_edits(&self) -> impl Iterator<Item = u64> {
        self.freezes().flat_map(|past| past.versions.iter().map(|(_, step, _)| *step))
    }
}
