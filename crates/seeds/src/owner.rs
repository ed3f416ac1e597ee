//! Who updates the control plane? A stand-in for its owner: it begins inside windows only, brings what the release holds for masters a
//! while later, and sometimes never finishes. Where operators start updates it asks whenever it likes, and installs what they let begin and
//! nothing else (CV-4).

use api::{
    machine::names::{API_VERSION, GENERATED_BY, MACHINE_CONFIG, ROLE},
    names,
};
use operator::Updates;
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
    /// Who starts updates.
    updates: Updates,
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

/// The image of a release, by a digest.
fn image(release: u32) -> String {
    format!("registry/release@sha256:{release:064x}")
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
        let owner = Self { dice, release: 0, update: None, updates: world.updates() };
        owner.tell(stage, "Completed");
        owner
    }

    /// Writes how far it is.
    fn tell(&self, stage: &Stage, progress: &str) {
        let release = format!("4.{}.0", self.release);
        let now = instant(stage.now());
        let image = image(self.release);
        let ended = if progress == "Completed" { json!(now) } else { Value::Null };
        let entry = json!({"state": progress, "version": release, "image": image,
            "startedTime": now, "completionTime": ended, "verified": true});
        let status = json!({"desired": {"version": release, "image": image}, "history": [entry]});
        stage.merge_status(By::People, Kind::Version, "version", &json!({"status": status}));
    }

    /// The release after the present one.
    fn next(&self) -> String {
        format!("4.{}.0", self.release + 1)
    }

    /// Asks for a release, or takes that back, whatever any gate says.
    fn wish(&mut self, stage: &Stage) {
        let wanted = match self.dice.of(0..10) {
            0..5 => {
                json!({"version": self.next(), "image": image(self.release + 1)})
            }
            5 => Value::Null,
            _ => return,
        };
        let change = json!({"spec": {"desiredUpdate": wanted}});
        stage.merge(By::People, Kind::Version, "version", &change).unwrap();
    }

    /// Installs what operators let begin.
    fn follow(&mut self, stage: &Stage) {
        let marked = stage.checker().marked();
        if marked.is_some_and(|marked| marked == self.next()) {
            self.begin(stage);
        }
    }

    fn begin(&mut self, stage: &Stage) {
        self.release += 1;
        self.tell(stage, "Partial");
        let brings = Some(stage.now() + self.dice.of(0..900));
        self.update = Some(Update { brings, is_stuck: self.dice.percent(40) });
    }

    /// Begins an update, if the gate lets it (CV-1).
    pub(crate) fn act(&mut self, stage: &Stage) {
        if self.updates == Updates::Started {
            return self.wish(stage);
        }
        let open = stage.checker().opens(("master", None), stage.now());
        let idle = self.update.as_ref().is_none_or(|update| update.is_stuck);
        if !open || !idle || self.dice.percent(60) {
            return;
        }
        self.begin(stage);
    }

    /// When it wants to be looked at again.
    pub(crate) fn due(&self) -> Option<i64> {
        self.update.as_ref()?.brings
    }

    /// Takes the step that is due.
    pub(crate) fn look(&mut self, stage: &Stage) {
        if self.updates == Updates::Started {
            self.follow(stage);
        }
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
    pub(crate) fn go_home(&mut self, stage: &Stage) {
        if self.updates == Updates::Started {
            // What has not begun is not wanted any more.
            let change = json!({"spec": {"desiredUpdate": null}});
            stage.merge(By::People, Kind::Version, "version", &change).unwrap();
        }
        if let Some(update) = &mut self.update
            && update.brings.is_none()
        {
            update.is_stuck = true;
        }
    }
}
