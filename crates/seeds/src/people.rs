//! What do people do in a story? Edits at random instants, all of them ordinary writes that the server takes or refuses.

use std::sync::Arc;

use api::machine::names::{ALLOWED_CONFIG, BYPASS, CURRENT_CONFIG, DESIRED_CONFIG, STATE, ZONE};
use serde_json::{Value, json};

mod hurried;

use self::hurried::Hurried;
use super::{
    check::{is_cordoned, pool_of, target},
    dice::Dice,
    intent,
    owner::Owner,
    stage::{By, Kind, Stage},
    world::World,
};

const SOURCES: usize = 2;
const POOLS: [&str; 3] = ["worker", "infra", "gpu"];

/// Those who run the cluster.
pub(crate) struct People {
    dice: Dice,
    pools: Vec<String>,
    policies: Vec<String>,
    machines: u32,
    /// Whoever updates the control plane, where there is one.
    pub(crate) owner: Option<Owner>,
    /// What decides who freezes what, and when.
    frost: Dice,
    /// How many freezes there were.
    freezes: u32,
    /// Who opens what cannot wait.
    hurried: Hurried,
    /// How many nodes had been begun when somebody last looked.
    seen: u64,
    pub(crate) world: World,
}

/// The pool of the control plane.
const MASTER: &str = "master";

impl People {
    /// Sets up policies, configurations and pools; nodes join later, when there is something to join with.
    pub(crate) fn settle(mut dice: Dice, stage: &Stage, world: World) -> Self {
        let now = stage.now();
        let policies: Vec<String> =
            (0..dice.of(1..4)).map(|number| format!("policy-{number}")).collect();
        for name in &policies {
            let spec = intent::policy_spec(&mut dice, now, world);
            stage.create(By::People, Kind::Policy, &intent::policy(name, &spec)).unwrap();
        }
        let count = world.pools(dice.of(1..4) as usize);
        let mut pools: Vec<String> = POOLS[..count].iter().map(|name| (*name).to_owned()).collect();
        let has_owner = world.has_owner(dice.percent(60));
        let owner = has_owner.then(|| Owner::settle(dice.split(), stage, &policies, world));
        if owner.is_some() {
            pools.push(MASTER.to_owned());
        }
        for name in &pools {
            for which in 0..SOURCES {
                let source = intent::source(name, which, 0);
                stage.create(By::People, Kind::Config, &source).unwrap();
            }
            let pool = intent::pool(&mut dice, name, &policies, (now, world));
            stage.create(By::People, Kind::Pool, &pool).unwrap();
        }
        // Dice of their own: what else people do is the same with freezes and overrides and without.
        let frost = dice.clone().split();
        let hurried = Hurried::new(frost.clone().split(), world);
        let (machines, freezes, seen) = (0, 0, 0);
        Self { dice, pools, policies, machines, owner, frost, freezes, hurried, seen, world }
    }

    /// One pool under one policy.
    pub(crate) fn small(stage: &Stage, policy: &str) -> Self {
        let mut dice = Dice::new(0);
        stage.create(By::People, Kind::Config, &intent::source("worker", 0, 0)).unwrap();
        let (when, policies) = ((stage.now(), World::Any), vec![policy.to_owned()]);
        let mut pool = intent::pool(&mut dice, "worker", &policies, when);
        pool["spec"]["maxUnavailable"] = json!(2);
        pool["spec"]["changeManagement"] =
            json!({"strategy": "ByPolicy", "byPolicy": {"name": policy}});
        stage.create(By::People, Kind::Pool, &pool).unwrap();
        let pools = vec!["worker".to_owned()];
        let frost = dice.clone().split();
        let (owner, world) = (None, World::Any);
        let hurried = Hurried::new(frost.clone().split(), world);
        let (machines, freezes, seen) = (0, 0, 0);
        Self { dice, pools, policies, machines, owner, frost, freezes, hurried, seen, world }
    }

    /// So many nodes join the first pool.
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

    /// The first nodes join, between three and twenty in all.
    pub(crate) fn populate(&mut self, stage: &Stage) {
        let count = self.world.machines(self.dice.of(3..21));
        for number in 0..count {
            let pool = self.pools[number as usize % self.pools.len()].clone();
            self.join(stage, &pool);
        }
        // A control plane has three nodes.
        let masters = stage.checker().members(MASTER).count();
        for _ in masters..if self.owner.is_some() { 3 } else { 0 } {
            self.join(stage, MASTER);
        }
    }

    /// How long until somebody does something again, in seconds.
    pub(crate) fn rest(&mut self) -> i64 {
        self.world.rest(*self.dice.pick(&[10, 60, 240, 900]))
    }

    fn join(&mut self, stage: &Stage, pool: &str) {
        let known = stage.checker().get(Kind::Pool, pool).cloned();
        let Some(known) = known else { return };
        // What a node is given to start with: what all had, or what is newest.
        let had = known["status"]["configuration"]["name"].as_str();
        let newest = known["spec"]["configuration"]["name"].as_str();
        let chosen = if self.dice.percent(50) { had.or(newest) } else { newest };
        let Some(config) = chosen else { return };
        self.machines += 1;
        let mut labels = json!({format!("node-role.kubernetes.io/{pool}"): ""});
        if self.dice.percent(80) {
            labels[ZONE] = json!(format!("zone-{}", self.dice.of(0..3)));
        }
        let name = format!("n{:02}", self.machines);
        let mut node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels}});
        let disk = match self.dice.of(0..20) {
            // Its agent finds nothing, and adopts nothing.
            0 | 1 => None,
            // Its agent will say what it was given to start with.
            2..=8 => Some(config.to_owned()),
            // It comes from an earlier release, which told everybody where they are.
            _ => {
                node["metadata"]["annotations"] =
                    json!({CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done"});
                Some(config.to_owned())
            }
        };
        stage.disks().insert(name.clone(), disk);
        stage.create_as(&stage.by_hand(), By::People, Kind::Node, &node).unwrap();
        stage.place_pod(&name);
    }

    /// Somebody who watches nodes go may stop them half-way (GATE-11).
    pub(crate) fn watch(&mut self, stage: &Stage) {
        let (begun, last) = {
            let checker = stage.checker();
            let last = checker.last.iter().max_by_key(|(_, at)| **at);
            (checker.initiations, last.map(|(pool, _)| pool.clone()))
        };
        let news = begun > self.seen;
        self.seen = begun;
        if news && self.frost.percent(self.world.freezes_what_goes()) {
            self.freeze(stage, &json!({}));
        }
        if news {
            self.hurried.watch(stage);
        }
        let Some(pool) = last.filter(|_| news && self.dice.percent(self.world.stops())) else {
            return;
        };
        let restrictive = json!({"strategy": "Restrictive"});
        let named = {
            let checker = stage.checker();
            let holder = if pool == MASTER && self.owner.is_some() {
                checker.get(Kind::Version, "version")
            } else {
                checker.get(Kind::Pool, &pool)
            };
            let named =
                holder.and_then(|holder| holder.pointer("/spec/changeManagement/byPolicy/name"));
            named.and_then(Value::as_str).map(str::to_owned)
        };
        match named.filter(|_| self.dice.percent(self.world.stops_by_policy())) {
            Some(policy) => replace_policy(stage, &policy, &restrictive),
            None => self.replace_stanza(stage, &pool, &restrictive),
        }
    }

    fn replace_stanza(&self, stage: &Stage, pool: &str, stanza: &Value) {
        // The masters follow the control plane (CV-2).
        let holder = if pool == MASTER && self.owner.is_some() {
            (Kind::Version, "version")
        } else {
            (Kind::Pool, pool)
        };
        let _ = stage.put(By::People, holder, "/spec/changeManagement", stanza);
    }

    /// Somebody freezes everything, or some of it, for a while or until further notice; or ends what somebody froze (OVR-1).
    fn freeze_or_thaw(&mut self, stage: &Stage) {
        let standing: Vec<String> = {
            let checker = stage.checker();
            checker.all(Kind::Freeze).map(|(name, _)| name.to_owned()).collect()
        };
        if !standing.is_empty() && self.frost.percent(60) {
            let name = self.frost.pick(&standing).clone();
            return stage.delete(By::People, Kind::Freeze, &name);
        }
        let pool = self.frost.pick(&self.pools).clone();
        let spec = match self.frost.of(0..6) {
            0 => json!({"holds": [{"what": "ClusterVersion"}]}),
            1 if pool != MASTER => {
                json!({"holds": [{"what": "MachineConfigPools", "names": [pool]}]})
            }
            2 => json!({"holds": [{"what": "MachineConfigPools"}, {"what": "ClusterVersion"}]}),
            _ => json!({}),
        };
        self.freeze(stage, &spec);
    }

    fn freeze(&mut self, stage: &Stage, spec: &Value) {
        let now = stage.now();
        let instant = |at: i64| json!(jiff::Timestamp::from_second(at).unwrap().to_string());
        let mut spec = spec.clone();
        spec["reason"] = json!("a storm");
        if self.frost.percent(30) {
            spec["from"] = instant(now + self.frost.of(1..600));
        }
        if self.frost.percent(80) {
            spec["until"] = instant(now + 600 + self.frost.of(1..1_800));
        }
        self.freezes += 1;
        let name = format!("freeze-{}", self.freezes);
        let freeze = json!({"apiVersion": api::names::API_VERSION, "kind": "ClusterChangeFreeze",
            "metadata": {"name": name}, "spec": spec});
        let _ = stage.create(By::People, Kind::Freeze, &freeze);
    }

    /// Somebody does something. What the server refuses is not done, as in life.
    pub(crate) fn act(&mut self, stage: &Stage) {
        let now = stage.now();
        if self.frost.percent(self.world.freezes()) {
            self.freeze_or_thaw(stage);
        }
        self.hurried.act(stage, &self.pools);
        let pool = self.dice.pick(&self.pools).clone();
        let node = {
            let checker = stage.checker();
            let members: Vec<_> = checker.members(&pool).collect();
            let chosen = (!members.is_empty()).then(|| *self.dice.pick(&members));
            chosen.map(|(name, node)| (name.to_owned(), Arc::clone(node)))
        };
        if let Some(owner) = &mut self.owner {
            owner.act(stage);
        }
        match (self.world.deed(self.dice.of(-8..31)), node) {
            (..=7, _) => self.configure(stage, &pool),
            (8..=11, _) => {
                let name = self.dice.pick(&self.policies).clone();
                let spec = intent::policy_spec(&mut self.dice, now, self.world);
                replace_policy(stage, &name, &spec);
            }
            (12..=15, _) => {
                let stanza = intent::stanza(&mut self.dice, &self.policies, now, self.world);
                if pool == MASTER && self.dice.percent(20) {
                    // On the pool itself, where it does not stay (CV-2).
                    let holder = (Kind::Pool, MASTER);
                    let _ = stage.put(By::People, holder, "/spec/changeManagement", &stanza);
                } else {
                    self.replace_stanza(stage, &pool, &stanza);
                }
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
                let limit = self.world.limit(intent::limit(&mut self.dice));
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
                    let spec = intent::policy_spec(&mut self.dice, now, self.world);
                    replace_policy(stage, &name, &spec);
                }
            }
            (27 | 28, Some((name, node))) => self.relabel(stage, &name, &node),
            (29, Some((name, _))) => stage.place_pod(&name),
            _ => {}
        }
    }

    /// A node moves to another pool, or becomes a master beside what it was.
    fn relabel(&mut self, stage: &Stage, name: &str, node: &Value) {
        let label = |pool: &str| format!("node-role.kubernetes.io/{pool}");
        let (from, to) = (pool_of(node).to_owned(), self.dice.pick(&self.pools).clone());
        if from == to || from == MASTER && stage.checker().members(MASTER).count() < 3 {
            return;
        }
        let mut labels = json!({label(&to): ""});
        if from != "worker" || to != MASTER {
            labels[label(&from)] = Value::Null;
        }
        if from == MASTER {
            labels[label("worker")] = Value::Null;
            labels[label(&to)] = json!("");
        }
        edit(stage, Kind::Node, name, &json!({"metadata": {"labels": labels}}));
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
            let after = *self.dice.pick(&["Immediate", "CanaryUpgrade"]);
            json!({"name": self.dice.pick(&rendered), "validAfter": after})
        };
        edit(stage, Kind::Pool, pool, &json!({"spec": {"machineConfig": pin}}));
    }

    /// Everybody goes home, and leaves the cluster so that everything pending can finish: nothing is cordoned or paused, and every
    /// gate opens for some hours a day.
    pub(crate) fn go_home(&mut self, stage: &Stage) {
        let now = stage.now();
        let freezes: Vec<String> = {
            let checker = stage.checker();
            checker.all(Kind::Freeze).map(|(name, _)| name.to_owned()).collect()
        };
        for name in freezes {
            stage.delete(By::People, Kind::Freeze, &name);
        }
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
                self.replace_stanza(stage, &pool, &stanza);
            }
        }
        if let Some(owner) = &mut self.owner {
            owner.go_home(stage);
        }
        self.hurried.go_home(stage, &self.pools);
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

/// How many hours the gate of a pool is open within the next day.
fn hours(stage: &Stage, pool: &str, now: i64) -> usize {
    let checker = stage.checker();
    let hours = (1..25).filter(|hour| checker.opens((pool, None), now + hour * 3_600));
    hours.count()
}
