//! What do people do in a story? Edits at random instants, all of them ordinary writes that the server takes or refuses.

use std::sync::Arc;

use api::machine::names::{ALLOWED_CONFIG, BYPASS, CURRENT_CONFIG, DESIRED_CONFIG, STATE, ZONE};
use serde_json::{Value, json};

use super::{
    check::{is_cordoned, pool_of, target},
    dice::Dice,
    intent,
    stage::{By, Kind, Stage},
};

const SOURCES: usize = 2;
const POOLS: [&str; 3] = ["worker", "infra", "gpu"];

/// Those who run the cluster.
pub(crate) struct People {
    dice: Dice,
    pools: Vec<String>,
    policies: Vec<String>,
    machines: u32,
}

impl People {
    /// Sets up policies, configurations and pools; machines join later, when there is something to join with.
    pub(crate) fn settle(mut dice: Dice, stage: &Stage) -> Self {
        let now = stage.now();
        let policies: Vec<String> =
            (0..dice.of(1..4)).map(|number| format!("policy-{number}")).collect();
        for name in &policies {
            let spec = intent::policy_spec(&mut dice, now);
            stage.create(By::People, Kind::Policy, &intent::policy(name, &spec)).unwrap();
        }
        let count = dice.of(1..4) as usize;
        let pools: Vec<String> = POOLS[..count].iter().map(|name| (*name).to_owned()).collect();
        for name in &pools {
            for which in 0..SOURCES {
                let source = intent::source(name, which, 0);
                stage.create(By::People, Kind::Config, &source).unwrap();
            }
            let pool = intent::pool(&mut dice, name, &policies, now);
            stage.create(By::People, Kind::Pool, &pool).unwrap();
        }
        Self { dice, pools, policies, machines: 0 }
    }

    /// One pool under one policy.
    pub(crate) fn small(stage: &Stage, policy: &str) -> Self {
        let mut dice = Dice::new(0);
        stage.create(By::People, Kind::Config, &intent::source("worker", 0, 0)).unwrap();
        let mut pool = intent::pool(&mut dice, "worker", &[policy.to_owned()], stage.now());
        pool["spec"]["maxUnavailable"] = json!(2);
        pool["spec"]["changeManagement"] =
            json!({"strategy": "ByPolicy", "byPolicy": {"name": policy}});
        stage.create(By::People, Kind::Pool, &pool).unwrap();
        let (pools, policies) = (vec!["worker".to_owned()], vec![policy.to_owned()]);
        Self { dice, pools, policies, machines: 0 }
    }

    /// So many machines join the first pool.
    pub(crate) fn grow(&mut self, stage: &Stage, machines: usize) {
        let pool = self.pools[0].clone();
        (0..machines).for_each(|_| self.join(stage, &pool));
    }

    /// The first pool gets another configuration.
    pub(crate) fn reconfigure(&mut self, stage: &Stage) {
        let source = intent::source(&self.pools[0], 0, 1);
        let name = format!("50-{}-0", self.pools[0]);
        edit(stage, Kind::Config, &name, &json!({"spec": source["spec"]}));
    }

    /// The first machines join, between three and twenty in all.
    pub(crate) fn populate(&mut self, stage: &Stage) {
        let count = self.dice.of(3..21);
        for number in 0..count {
            let pool = self.pools[number as usize % self.pools.len()].clone();
            self.join(stage, &pool);
        }
    }

    /// How long until somebody does something again, in seconds.
    pub(crate) fn rest(&mut self) -> i64 {
        *self.dice.pick(&[10, 60, 240, 900])
    }

    fn join(&mut self, stage: &Stage, pool: &str) {
        let known = stage.checker().get(Kind::Pool, pool).cloned();
        let Some(known) = known else { return };
        // What a machine is given to start with: what all had, or what is newest.
        let had = known["status"]["configuration"]["name"].as_str();
        let newest = known["spec"]["configuration"]["name"].as_str();
        let chosen = if self.dice.percent(50) { had.or(newest) } else { newest };
        let Some(config) = chosen else { return };
        self.machines += 1;
        let mut labels = json!({format!("node-role.kubernetes.io/{pool}"): ""});
        if self.dice.percent(80) {
            labels[ZONE] = json!(format!("zone-{}", self.dice.of(0..3)));
        }
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": format!("n{:02}", self.machines), "labels": labels,
                "annotations": {CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done"}}});
        stage.create(By::People, Kind::Node, &node).unwrap();
    }

    /// Somebody does something. What the server refuses is not done, as in life.
    pub(crate) fn act(&mut self, stage: &Stage) {
        let now = stage.now();
        let pool = self.dice.pick(&self.pools).clone();
        let node = {
            let checker = stage.checker();
            let members: Vec<_> = checker.members(&pool).collect();
            let chosen = (!members.is_empty()).then(|| *self.dice.pick(&members));
            chosen.map(|(name, node)| (name.to_owned(), Arc::clone(node)))
        };
        match (self.dice.of(-8..28), node) {
            (..=7, _) => self.configure(stage, &pool),
            (8..=11, _) => {
                let name = self.dice.pick(&self.policies).clone();
                let spec = intent::policy_spec(&mut self.dice, now);
                replace_policy(stage, &name, &spec);
            }
            (12..=15, _) => {
                let stanza = intent::stanza(&mut self.dice, &self.policies, now);
                replace_stanza(stage, &pool, &stanza);
            }
            (16 | 17, Some((name, node))) => {
                let cordon = if is_cordoned(&node) { Value::Null } else { json!(true) };
                edit(stage, Kind::Node, &name, &json!({"spec": {"unschedulable": cordon}}));
            }
            (18, _) => self.join(stage, &pool),
            (19, Some((name, _))) if stage.checker().all(Kind::Node).count() > 2 => {
                stage.delete(By::People, Kind::Node, &name);
            }
            (20, _) => self.pin(stage, &pool),
            (21 | 22, _) => {
                let name = format!("50-{pool}-{}", self.dice.of(0..SOURCES as i64));
                let value = if self.dice.percent(50) { json!("urgent") } else { Value::Null };
                let change = json!({"metadata": {"annotations": {BYPASS: value}}});
                edit(stage, Kind::Config, &name, &change);
            }
            (23, _) => {
                let limit = intent::limit(&mut self.dice);
                edit(stage, Kind::Pool, &pool, &json!({"spec": {"maxUnavailable": limit}}));
            }
            (24, _) => {
                let paused = self.dice.percent(40);
                edit(stage, Kind::Pool, &pool, &json!({"spec": {"paused": paused}}));
            }
            (25, Some((name, node))) => {
                let known = stage.checker().get(Kind::Pool, pool_of(&node)).cloned();
                let allowed = known.map(|known| target(&known).to_owned()).unwrap_or_default();
                let change = json!({"metadata": {"annotations": {ALLOWED_CONFIG: allowed}}});
                edit(stage, Kind::Node, &name, &change);
            }
            (26, _) => {
                // A policy goes, and another of the same name comes.
                let name = self.dice.pick(&self.policies).clone();
                if stage.checker().get(Kind::Policy, &name).is_some() {
                    stage.delete(By::People, Kind::Policy, &name);
                } else {
                    let spec = intent::policy_spec(&mut self.dice, now);
                    replace_policy(stage, &name, &spec);
                }
            }
            _ => {}
        }
    }

    fn configure(&mut self, stage: &Stage, pool: &str) {
        let which = self.dice.of(0..SOURCES as i64) as usize;
        // Few enough that old content comes again.
        let content = self.dice.of(0..12);
        let source = intent::source(pool, which, content);
        let change = json!({"spec": source["spec"]});
        edit(stage, Kind::Config, &format!("50-{pool}-{which}"), &change);
    }

    fn pin(&mut self, stage: &Stage, pool: &str) {
        let rendered: Vec<String> = {
            let checker = stage.checker();
            let prefix = format!("rendered-{pool}-");
            let configs = checker.all(Kind::Config).map(|(name, _)| name.to_owned());
            configs.filter(|name| name.starts_with(&prefix)).collect()
        };
        let pin = if rendered.is_empty() || self.dice.percent(50) {
            Value::Null
        } else {
            json!({"name": self.dice.pick(&rendered), "validAfter": "Immediate"})
        };
        edit(stage, Kind::Pool, pool, &json!({"spec": {"machineConfig": pin}}));
    }

    /// Everybody goes home, and leaves the cluster so that everything pending can finish: nothing is cordoned or paused, and every
    /// gate opens for some hours a day.
    pub(crate) fn go_home(&mut self, stage: &Stage) {
        let now = stage.now();
        let nodes: Vec<(String, Arc<Value>)> = {
            let checker = stage.checker();
            checker
                .all(Kind::Node)
                .map(|(name, node)| (name.to_owned(), Arc::clone(node)))
                .collect()
        };
        for (name, node) in nodes {
            if is_cordoned(&node) {
                let change = json!({"spec": {"unschedulable": null}});
                edit(stage, Kind::Node, &name, &change);
            }
        }
        let minute = (now / 60 + 25) % 1_440;
        let start = format!("{:02}:{:02}", minute / 60, minute % 60);
        let relief = json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
            "permit": {"startTime": start, "duration": "400m"}}});
        self.policies.push("relief".into());
        stage.create(By::People, Kind::Policy, &intent::policy("relief", &relief)).unwrap();
        for pool in self.pools.clone() {
            edit(stage, Kind::Pool, &pool, &json!({"spec": {"paused": false}}));
            if hours(stage, &pool, now) < 6 {
                let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "relief"}});
                replace_stanza(stage, &pool, &stanza);
            }
        }
    }

    pub(crate) fn pools(&self) -> &[String] {
        &self.pools
    }
}

fn edit(stage: &Stage, kind: Kind, name: &str, change: &Value) {
    // Refused, or gone meanwhile: people shrug.
    let _ = stage.merge(By::People, kind, name, change);
}

fn replace_policy(stage: &Stage, name: &str, spec: &Value) {
    if stage.checker().get(Kind::Policy, name).is_none() {
        stage.create(By::People, Kind::Policy, &intent::policy(name, spec)).unwrap();
        return;
    }
    let _ = stage.put(By::People, (Kind::Policy, name), "/spec", spec);
}

fn replace_stanza(stage: &Stage, pool: &str, stanza: &Value) {
    let _ = stage.put(By::People, (Kind::Pool, pool), "/spec/changeManagement", stanza);
}

/// How many hours the gate of a pool is open within the next day.
fn hours(stage: &Stage, pool: &str, now: i64) -> usize {
    let checker = stage.checker();
    let hours = (1..25).filter(|hour| checker.opens(pool, now + hour * 3_600));
    hours.count()
}
