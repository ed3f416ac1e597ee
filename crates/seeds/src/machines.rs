//! How do nodes take their configuration? Stand-ins that play the agent's part by annotations: some empty themselves first, some are
//! away for a while, some fail and recover.
//!
//! They obey GATE-16: an order is taken only where the record beside it names it, whether or not its permit has ended meanwhile.

use std::{collections::BTreeMap, sync::Arc};

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_RECORD, LAST_APPLIED_DRAIN, PERMIT_CHANGE,
    REASON, STATE,
};
use serde_json::{Value, json};

use super::{
    check::{is_cordoned, noted},
    dice::Dice,
    stage::{By, Kind, Stage},
};

/// How agents read their orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agents {
    /// An order needs its record (GATE-16).
    Careful,
    /// Whatever stands there is an order.
    Trusting,
}

/// A node on its way.
#[derive(Clone, Debug)]
struct Errand {
    config: String,
    step: Step,
    /// When the next step is taken; none while somebody else has to do their part.
    due: Option<i64>,
    drains: bool,
    restarts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Drain,
    Work,
    Failed,
    Uncordon,
    /// It is where it was told to be, and has to say so.
    Settle,
}

/// Every node.
pub(crate) struct Machines {
    dice: Dice,
    agents: Agents,
    errands: BTreeMap<String, Errand>,
    /// When an agent that has not spoken yet says what is on its disk.
    speaks: BTreeMap<String, i64>,
    /// How many attempts of a hundred fail.
    failures: u64,
}

impl Machines {
    pub(crate) fn new(dice: Dice, agents: Agents) -> Self {
        Self { dice, agents, errands: BTreeMap::new(), speaks: BTreeMap::new(), failures: 8 }
    }

    /// From now on nothing fails any more.
    pub(crate) fn calm(&mut self) {
        self.failures = 0;
    }

    /// When somebody wants to be looked at again.
    pub(crate) fn due(&self) -> Option<i64> {
        let errands = self.errands.values().filter_map(|errand| errand.due);
        errands.chain(self.speaks.values().copied()).min()
    }

    /// Looks at every node, and lets each take the step that is due.
    pub(crate) fn look(&mut self, stage: &Stage) {
        let now = stage.now();
        let nodes: Vec<(String, Arc<Value>)> = {
            let checker = stage.checker();
            let nodes = checker.all(Kind::Node);
            nodes.map(|(name, node)| (name.to_owned(), Arc::clone(node))).collect()
        };
        self.errands.retain(|name, _| nodes.iter().any(|(known, _)| known == name));
        self.speaks.retain(|name, _| nodes.iter().any(|(known, _)| known == name));
        for (name, node) in nodes {
            if noted(&node, STATE).is_empty() {
                self.speak(stage, &name, now);
                continue;
            }
            let desired = noted(&node, DESIRED_CONFIG);
            let current = noted(&node, CURRENT_CONFIG);
            let is_there = desired.is_empty() || desired == current;
            let rests = current.is_empty() || noted(&node, STATE) == "Done";
            if is_there && rests && !self.errands.contains_key(&name) {
                continue;
            }
            let goal = if is_there { current } else { desired };
            let elsewhere = self.errands.get(&name).is_none_or(|errand| errand.config != goal);
            if elsewhere && is_there {
                // One that failed on its way and was called back asks to be opened again, and says that it rests.
                let emptied = noted(&node, DESIRED_DRAIN).starts_with("drain-");
                let errand = Errand {
                    config: goal.to_owned(),
                    step: if emptied { Step::Uncordon } else { Step::Settle },
                    due: (!emptied).then_some(now),
                    drains: false,
                    restarts: false,
                };
                self.errands.insert(name.clone(), errand);
            } else if elsewhere {
                let recorded = noted(&node, PERMIT_CHANGE) == desired;
                if self.agents == Agents::Careful && !recorded {
                    self.errands.remove(&name);
                    continue;
                }
                // One that was emptied on its way elsewhere has to ask to be opened again.
                let emptied = is_cordoned(&node) && !noted(&node, DRAIN_RECORD).is_empty();
                let errand = Errand {
                    config: desired.to_owned(),
                    step: Step::Begin,
                    due: Some(now + self.dice.of(1..30)),
                    drains: self.dice.percent(50) || emptied,
                    restarts: self.dice.percent(30),
                };
                self.errands.insert(name.clone(), errand);
            }
            self.step(stage, &name, &node, now);
        }
    }

    /// The first words of an agent: what is on its disk, or that nothing is.
    fn speak(&mut self, stage: &Stage, name: &str, now: i64) {
        let dice = &mut self.dice;
        let due = *self.speaks.entry(name.to_owned()).or_insert_with(|| now + dice.of(1..60));
        if due > now {
            return;
        }
        self.speaks.remove(name);
        self.errands.remove(name);
        let disk = stage.disks().get(name).cloned().flatten();
        let mut words = json!({STATE: "Done", REASON: ""});
        if let Some(config) = disk {
            words[CURRENT_CONFIG] = json!(config);
        }
        annotate(stage, name, &words);
    }

    fn step(&mut self, stage: &Stage, name: &str, node: &Value, now: i64) {
        let Some(errand) = self.errands.get_mut(name) else { return };
        let config = errand.config.clone();
        let asked = match errand.step {
            Step::Drain => format!("drain-{config}"),
            Step::Uncordon => format!("uncordon-{config}"),
            Step::Begin | Step::Work | Step::Failed | Step::Settle => String::new(),
        };
        if !asked.is_empty() && noted(node, DESIRED_DRAIN) != asked {
            // Somebody else wrote there.
            annotate(stage, name, &json!({DESIRED_DRAIN: asked}));
            return;
        }
        let turn = match errand.step {
            Step::Drain | Step::Uncordon => noted(node, LAST_APPLIED_DRAIN) == asked,
            Step::Begin | Step::Work | Step::Failed | Step::Settle => {
                errand.due.is_some_and(|due| due <= now)
            }
        };
        if !turn {
            return;
        }
        let annotate = |annotations: Value| annotate(stage, name, &annotations);
        let ready = |status: &str| {
            let conditions = json!([{"type": "Ready", "status": status, "reason": "Kubelet",
                "message": "", "lastHeartbeatTime": null, "lastTransitionTime": null}]);
            let change = json!({"status": {"conditions": conditions}});
            stage.merge_status(By::Machine, Kind::Node, name, &change);
        };
        let arrive = || {
            stage.disks().insert(name.to_owned(), Some(config.clone()));
            annotate(json!({CURRENT_CONFIG: config, STATE: "Done", REASON: ""}));
        };
        errand.due = None;
        match errand.step {
            Step::Begin | Step::Failed if errand.drains => {
                let ask = format!("drain-{config}");
                annotate(json!({STATE: "Working", REASON: "", DESIRED_DRAIN: ask}));
                errand.step = Step::Drain;
            }
            Step::Begin | Step::Failed => {
                annotate(json!({STATE: "Working", REASON: ""}));
                (errand.step, errand.due) = (Step::Work, Some(now + self.dice.of(10..180)));
            }
            Step::Drain => {
                if errand.restarts {
                    ready("False");
                }
                (errand.step, errand.due) = (Step::Work, Some(now + self.dice.of(10..180)));
            }
            Step::Work => {
                if errand.restarts {
                    ready("True");
                }
                if self.dice.percent(self.failures) {
                    annotate(json!({STATE: "Degraded", REASON: "the disk is full"}));
                    (errand.step, errand.due) =
                        (Step::Failed, Some(now + self.dice.of(200..1_500)));
                } else if errand.drains || noted(node, DESIRED_DRAIN).starts_with("drain-") {
                    // Also where somebody else asked for it.
                    annotate(json!({DESIRED_DRAIN: format!("uncordon-{config}")}));
                    errand.step = Step::Uncordon;
                } else {
                    arrive();
                    self.errands.remove(name);
                }
            }
            Step::Uncordon | Step::Settle => {
                arrive();
                self.errands.remove(name);
            }
        }
    }
}

/// What an agent writes on its own node must be taken.
fn annotate(stage: &Stage, name: &str, annotations: &Value) {
    let change = json!({"metadata": {"annotations": annotations}});
    if let Err(refusal) = stage.merge(By::Machine, Kind::Node, name, &change) {
        let what = format!("the agent of {name} may not write {annotations}: {refusal}");
        stage.checker().accuse(stage.now(), "NODE-3", what);
    }
}
