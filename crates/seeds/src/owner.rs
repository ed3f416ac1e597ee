//! Who updates the control plane? A stand-in for its owner: it begins inside windows only, brings what the release holds for masters a
//! while later, and sometimes never finishes.

use api::{
    machine::names::{API_VERSION, GENERATED_BY, MACHINE_CONFIG, ROLE},
    names,
};
use serde_json::{Value, json};

use super::{
    check::RELEASE_FILE,
    dice::Dice,
    intent::{self, instant},
    stage::{By, Kind, Stage},
    world::World,
};

/// Whoever owns the control plane.
pub(crate) struct Owner {
    dice: Dice,
    release: u32,
    /// The update that is under way.
    update: Option<Update>,
}

struct Update {
    /// When it brings what masters are to hold; none once it has.
    brings: Option<i64>,
    /// Whether some other part of the cluster never gets there.
    is_stuck: bool,
}

/// What a release holds for masters. Whoever rolls out renders only what a generator of its own version made.
fn source(release: u32) -> Value {
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
    "metadata": {"name": "00-master", "labels": {ROLE: "master"},
        "annotations": {GENERATED_BY: env!("CARGO_PKG_VERSION")}},
    "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": RELEASE_FILE, "contents": {"source": format!("data:,4.{release}.0")}},
    ]}}}})
}

impl Owner {
    /// A cluster with a control plane: `ClusterVersion` and what its release holds for masters.
    pub(crate) fn settle(mut dice: Dice, stage: &Stage, policies: &[String], world: World) -> Self {
        let stanza = intent::stanza(&mut dice, policies, stage.now(), world);
        let mut spec = json!({"clusterID": "c0ffee00-0000-4000-8000-000000000000"});
        if !stanza.is_null() {
            spec["changeManagement"] = stanza;
        }
        let version = json!({"apiVersion": "config.openshift.io/v1",
            "kind": names::CLUSTER_VERSION, "metadata": {"name": "version"}, "spec": spec});
        stage.create(By::People, Kind::Version, &version).unwrap();
        stage.create(By::People, Kind::Config, &source(0)).unwrap();
        let owner = Self { dice, release: 0, update: None };
        owner.tell(stage, "Completed");
        owner
    }

    /// Writes how far it is.
    fn tell(&self, stage: &Stage, progress: &str) {
        let release = format!("4.{}.0", self.release);
        let now = instant(stage.now());
        let image = format!("registry/release@{release}");
        let ended = if progress == "Completed" { json!(now) } else { Value::Null };
        let entry = json!({"state": progress, "version": release, "image": image,
            "startedTime": now, "completionTime": ended, "verified": true});
        let status = json!({"desired": {"version": release, "image": image}, "history": [entry]});
        stage.merge_status(By::People, Kind::Version, "version", &json!({"status": status}));
    }

    /// Begins an update, if the gate lets it (CV-1).
    pub(crate) fn act(&mut self, stage: &Stage) {
        let open = stage.checker().opens(("master", None), stage.now());
        let idle = self.update.as_ref().is_none_or(|update| update.is_stuck);
        if !open || !idle || self.dice.percent(60) {
            return;
        }
        self.release += 1;
        self.tell(stage, "Partial");
        let brings = Some(stage.now() + self.dice.of(0..900));
        self.update = Some(Update { brings, is_stuck: self.dice.percent(40) });
    }

    /// When it wants to be looked at again.
    pub(crate) fn due(&self) -> Option<i64> {
        self.update.as_ref()?.brings
    }

    /// Takes the step that is due.
    pub(crate) fn look(&mut self, stage: &Stage) {
        let Some(update) = &mut self.update else { return };
        if let Some(brings) = update.brings {
            if brings <= stage.now() {
                update.brings = None;
                let source = source(self.release);
                let change = json!({"spec": source["spec"]});
                stage.merge(By::People, Kind::Config, "00-master", &change).unwrap();
            }
        } else if !update.is_stuck && stage.checker().has_release(&format!("4.{}.0", self.release))
        {
            self.update = None;
            self.tell(stage, "Completed");
        }
    }

    /// Everybody goes home: what is stuck stays so.
    pub(crate) fn go_home(&mut self) {
        if let Some(update) = &mut self.update
            && update.brings.is_none()
        {
            update.is_stuck = true;
        }
    }
}
