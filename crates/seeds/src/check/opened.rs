//! Had somebody opened a pool? Read from overrides as they were stored, by code that shares nothing with what opens by them (OVR-2).

use serde_json::Value;

use super::{
    super::{
        cast::Clocks,
        stage::{By, Kind},
        windows::second,
    },
    Checker, Past, readings,
};

/// For how long what has ended is kept (OVR-6).
const KEPT: i64 = 86_400;

/// What is asked about: an object that holds a stanza, and where a node would go. An override that is for one change alone does not open for
/// who goes nowhere in particular.
type Asked<'a> = ((Kind, &'a str), Option<&'a str>);

/// When an override ends, or a freeze that says so.
fn end(object: &Value) -> Option<i64> {
    object["spec"]["until"].as_str().and_then(second)
}

/// Whether an override opens something at an instant. Only those of the cluster are written here.
fn opens(one: &Value, ((kind, name), config): Asked<'_>, at: i64) -> bool {
    let spec = &one["spec"];
    let kind = match kind {
        Kind::Version => "ClusterVersion",
        Kind::Pool => "MachineConfigPool",
        Kind::Policy | Kind::Config | Kind::Node | Kind::Freeze | Kind::Override => return false,
    };
    let from = one["metadata"]["creationTimestamp"].as_str().and_then(second);
    let lasts = from.is_none_or(|from| from <= at) && end(one).is_some_and(|end| at < end);
    let meant = spec["target"]["kind"] == kind && spec["target"]["name"] == name;
    let only = &spec["only"];
    let permits = only.is_null() || config.is_some_and(|config| only["renderedConfig"] == config);
    lasts && meant && permits
}

impl Checker {
    fn overrides(&self) -> impl Iterator<Item = &Past> {
        self.objects.iter().filter(|((kind, _), _)| *kind == Kind::Override).map(|(_, past)| past)
    }

    /// Whether somebody opened a pool at an instant for who goes there, as everything stands.
    pub(crate) fn is_opened(&self, pool: &str, config: Option<&str>, at: i64) -> bool {
        let (kind, name) = self.holder(pool);
        self.all(Kind::Override).any(|(_, one)| opens(one, ((kind, &name), config), at))
    }

    /// The same, as everything stood after so many commits.
    pub(super) fn was_opened(&self, (pool, config): (&str, &str), step: u64, at: i64) -> bool {
        let (kind, name) = self.holder(pool);
        let asked = ((kind, &*name), Some(config));
        self.overrides().filter_map(|past| past.stood(step)).any(|one| opens(one, asked, at))
    }

    /// What overrides say of a pool at an instant, by the readings that were in force a moment before something was sent: whether one is that
    /// they open it, and whether one is that they do not.
    pub(super) fn opened_readings(
        &self,
        (pool, config): (&str, &str),
        (at, sent): (i64, i64),
    ) -> (bool, bool) {
        let (kind, name) = self.holder(pool);
        let asked = ((kind, &*name), Some(config));
        readings(self.overrides(), sent - self.slack, |one| opens(one, asked, at))
    }

    /// The commits by which overrides came, changed or went.
    pub(super) fn override_edits(&self) -> impl Iterator<Item = u64> {
        self.overrides().flat_map(|past| past.versions.iter().map(|(_, step, _)| *step))
    }

    /// The first instant after another at which an override ends, or is old enough to go.
    pub(crate) fn override_edge(&self, at: i64) -> Option<i64> {
        let ends = self.all(Kind::Override).filter_map(|(_, one)| end(one));
        ends.flat_map(|end| [end, end + KEPT]).filter(|edge| *edge > at).min()
    }

    /// A freeze or an override is gone: operators delete what has been over for a day, and nothing else (OVR-6).
    pub(super) fn withdrawn(&mut self, at: i64, by: By, name: &str, old: &Value) {
        let over = end(old).is_some_and(|end| end + KEPT <= at);
        if matches!(by, By::Operator(..)) && self.clocks == Clocks::Right && !over {
            let what = format!("{name} was deleted by {by:?} too early: {}", old["spec"]);
            self.accuse(at, "OVR-6", what);
        }
    }
}
