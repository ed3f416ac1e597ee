//! Who cannot wait for a window? People who open one gate for a while, for everything or one change alone, and sometimes think better of it
//! (OVR-2).

use serde_json::{Value, json};

use crate::{
    check::target,
    dice::Dice,
    intent::instant,
    stage::{By, Kind, Stage},
    world::World,
};

/// Those who are in a hurry.
pub(crate) struct Hurried {
    dice: Dice,
    /// How many overrides there were.
    overrides: u32,
    world: World,
}

impl Hurried {
    pub(crate) fn new(dice: Dice, world: World) -> Self {
        Self { dice, overrides: 0, world }
    }

    /// Somebody opens something, or ends what somebody opened.
    pub(crate) fn act(&mut self, stage: &Stage, pools: &[String]) {
        if !self.dice.percent(self.world.overrides()) {
            return;
        }
        if self.dice.percent(40) && self.end_one(stage) {
            return;
        }
        let pool = self.dice.pick(pools).clone();
        let lasts = self.world.overridden_for(self.dice.of(60..7_200));
        self.open(stage, &pool, lasts);
    }

    /// Somebody who sees nodes go may end what lets them.
    pub(crate) fn watch(&mut self, stage: &Stage) {
        if self.dice.percent(self.world.ends_what_goes()) {
            self.end_one(stage);
        }
    }

    /// The last to leave opens something for the night, and everybody must see that it is open (LIVE-2).
    pub(crate) fn go_home(&mut self, stage: &Stage, pools: &[String]) {
        if self.world.overrides() > 0 && self.dice.percent(50) {
            let pool = self.dice.pick(pools).clone();
            self.open(stage, &pool, 7_200);
        }
    }

    fn open(&mut self, stage: &Stage, pool: &str, lasts: i64) {
        let (kind, name) = stage.checker().holder(pool);
        // An override of a pool that follows opens nothing (CV-2).
        let itself = kind == Kind::Pool || self.dice.percent(20);
        let target = if itself {
            json!({"kind": "MachineConfigPool", "name": pool})
        } else {
            json!({"kind": "ClusterVersion", "name": name})
        };
        let until = instant(stage.now() + lasts);
        let mut spec = json!({"target": target, "until": until, "reason": "it cannot wait"});
        if self.dice.percent(30)
            && let Some(only) = self.only(stage, pool)
        {
            spec["only"] = only;
        }
        if self.dice.percent(30) {
            spec["by"] = json!("kubernetes-admin");
        }
        self.overrides += 1;
        let name = format!("override-{}", self.overrides);
        let one = json!({"apiVersion": api::names::API_VERSION, "kind": "ClusterChangeOverride",
            "metadata": {"name": name}, "spec": spec});
        stage.create(By::People, Kind::Override, &one).unwrap();
    }

    /// What the pool goes to, or something else that was rendered for it.
    fn only(&mut self, stage: &Stage, pool: &str) -> Option<Value> {
        let checker = stage.checker();
        let goes = target(checker.get(Kind::Pool, pool)?).to_owned();
        let prefix = format!("rendered-{pool}-");
        let names = checker.all(Kind::Config).map(|(name, _)| name.to_owned());
        let rendered: Vec<String> = names.filter(|name| name.starts_with(&prefix)).collect();
        let chosen = match self.dice.percent(60) {
            _ if rendered.is_empty() => return None,
            true => goes,
            false => self.dice.pick(&rendered).clone(),
        };
        (!chosen.is_empty()).then(|| json!({"renderedConfig": chosen}))
    }

    /// Ends an override at once or soon, if there is one.
    fn end_one(&mut self, stage: &Stage) -> bool {
        let now = stage.now();
        let standing: Vec<String> = {
            let checker = stage.checker();
            checker.all(Kind::Override).map(|(name, _)| name.to_owned()).collect()
        };
        if standing.is_empty() {
            return false;
        }
        let name = self.dice.pick(&standing).clone();
        if self.dice.percent(50) {
            stage.delete(By::People, Kind::Override, &name);
            return true;
        }
        let until = instant(now + self.dice.of(-60..120));
        // One that ends earlier already cannot be changed to end later.
        let _ = stage.merge(By::People, Kind::Override, &name, &json!({"spec": {"until": until}}));
        true
    }
}
