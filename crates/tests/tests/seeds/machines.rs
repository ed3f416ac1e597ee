//! How do machines take their configuration? Stand-ins that play the agent's part by annotations: some empty themselves first, some are
//! away for a while, some fail and recover.

use std::{collections::BTreeMap, sync::Arc};

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, LAST_APPLIED_DRAIN, REASON, STATE,
};
use serde_json::{Value, json};

use super::{
    check::noted,
    dice::Dice,
    stage::{By, Kind, Stage},
};

/// A machine on its way.
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
}

/// Every machine.
pub(crate) struct Machines {
    dice: Dice,
    errands: BTreeMap<String, Errand>,
    /// How many attempts of a hundred fail.
    failures: u64,
}

impl Machines {
    pub(crate) fn new(dice: Dice) -> Self {
        Self { dice, errands: BTreeMap::new(), failures: 8 }
    }

    /// From now on nothing fails any more.
    pub(crate) fn calm(&mut self) {
        self.failures = 0;
    }

    /// When somebody wants to be looked at again.
    pub(crate) fn due(&self) -> Option<i64> {
        self.errands.values().filter_map(|errand| errand.due).min()
    }

    /// Looks at every machine, and lets each take the step that is due.
    pub(crate) fn look(&mut self, stage: &Stage) {
        let now = stage.now();
        let nodes: Vec<(String, Arc<Value>)> = {
            let checker = stage.checker();
            let nodes = checker.all(Kind::Node);
            nodes.map(|(name, node)| (name.to_owned(), Arc::clone(node))).collect()
        };
        self.errands.retain(|name, _| nodes.iter().any(|(known, _)| known == name));
        for (name, node) in nodes {
            let desired = noted(&node, DESIRED_CONFIG);
            if desired == noted(&node, CURRENT_CONFIG) && !self.errands.contains_key(&name) {
                continue;
            }
            let elsewhere = self.errands.get(&name).is_none_or(|errand| errand.config != desired);
            if elsewhere {
                let errand = Errand {
                    config: desired.to_owned(),
                    step: Step::Begin,
                    due: Some(now + self.dice.of(1..30)),
                    drains: self.dice.percent(50),
                    restarts: self.dice.percent(30),
                };
                self.errands.insert(name.clone(), errand);
            }
            self.step(stage, &name, &node, now);
        }
    }

    fn step(&mut self, stage: &Stage, name: &str, node: &Value, now: i64) {
        let Some(errand) = self.errands.get_mut(name) else { return };
        let answered = noted(node, LAST_APPLIED_DRAIN) == noted(node, DESIRED_DRAIN);
        let turn = match errand.step {
            Step::Drain | Step::Uncordon => answered,
            Step::Begin | Step::Work | Step::Failed => errand.due.is_some_and(|due| due <= now),
        };
        if !turn {
            return;
        }
        let config = errand.config.clone();
        let annotate = |annotations: Value| {
            let change = json!({"metadata": {"annotations": annotations}});
            stage.merge(By::Machine, Kind::Node, name, &change).unwrap();
        };
        let ready = |status: &str| {
            let conditions = json!([{"type": "Ready", "status": status, "reason": "Kubelet",
                "message": "", "lastHeartbeatTime": null, "lastTransitionTime": null}]);
            let change = json!({"status": {"conditions": conditions}});
            stage.merge_status(By::Machine, Kind::Node, name, &change);
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
                } else if errand.drains {
                    annotate(json!({DESIRED_DRAIN: format!("uncordon-{config}")}));
                    errand.step = Step::Uncordon;
                } else {
                    annotate(json!({CURRENT_CONFIG: config, STATE: "Done", REASON: ""}));
                    self.errands.remove(name);
                }
            }
            Step::Uncordon => {
                annotate(json!({CURRENT_CONFIG: config, STATE: "Done", REASON: ""}));
                self.errands.remove(name);
            }
        }
    }
}
