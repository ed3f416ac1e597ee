//! The model of Cluster API that the sandbox plays, played here without a server: everything that a look leads to is there before the next look, and machines
//! boot when there is nothing else to do.

use serde_json::{Value, json};
use sim::machine_api::plan::{self, DESIRED, Deed, REVISION, SET, Seen};

use super::management::OLD;

/// A deployment, its sets and machines, and what became of the sets: revision and count.
pub(super) struct Played {
    deployment: Value,
    sets: Vec<Value>,
    machines: Vec<Value>,
    pub(super) steps: Vec<(i64, i64)>,
}

/// What the server lets pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    Open,
    Shut,
}

impl Played {
    /// A pool whose machines run.
    pub(super) fn begin(replicas: i64, (surge, unavailable): (i64, i64)) -> Self {
        let deployment = json!({"metadata": {"name": "md", "namespace": "n", "uid": "u", "generation": 1},
            "spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}, "template": {"spec": {"version": OLD}}}});
        let mut played =
            Self { deployment, sets: Vec::new(), machines: Vec::new(), steps: Vec::new() };
        played.settle(Gate::Open);
        played
    }

    pub(super) fn hand_over(&mut self, release: &str) {
        self.deployment["spec"]["template"]["spec"]["version"] = json!(release);
    }

    pub(super) fn scale(&mut self, replicas: i64) {
        self.deployment["spec"]["replicas"] = json!(replicas);
    }

    /// Until nothing more is done.
    pub(super) fn settle(&mut self, gate: Gate) {
        while self.look(gate) || self.boot() {}
    }

    /// The same while no machine boots.
    pub(super) fn settle_without_boots(&mut self, gate: Gate) {
        while self.look(gate) {}
    }

    /// Whether anything was done.
    fn look(&mut self, gate: Gate) -> bool {
        while self.look_at_sets() {}
        let seen =
            Seen { deployment: &self.deployment, sets: &self.sets, machines: &self.machines };
        let mut done = false;
        for deed in plan::deployment(seen) {
            if gate == Gate::Shut && self.moves(&deed) {
                // The controller gives up this look, and everything after it waits too.
                return done;
            }
            self.perform(deed);
            done = true;
        }
        done
    }

    /// Whether a write is a step and no scaling, as the policy of the room has it.
    fn moves(&self, deed: &Deed) -> bool {
        match deed {
            Deed::CreateSet(set) => set["metadata"]["annotations"][REVISION] != "1",
            Deed::ScaleSet(name, change) => {
                let set = self.sets.iter().find(|set| set["metadata"]["name"] == **name).unwrap();
                set["spec"]["replicas"] != change["spec"]["replicas"]
                    && set["metadata"]["annotations"][DESIRED]
                        == change["metadata"]["annotations"][DESIRED]
            }
            _ => false,
        }
    }

    fn look_at_sets(&mut self) -> bool {
        let mut deeds = Vec::new();
        for set in &self.sets {
            let of =
                |machine: &&Value| machine["metadata"]["labels"][SET] == set["metadata"]["name"];
            let own: Vec<&Value> = self.machines.iter().filter(of).collect();
            deeds.extend(plan::set(set, &own));
        }
        let any = !deeds.is_empty();
        for deed in deeds {
            self.perform(deed);
        }
        any
    }

    fn boot(&mut self) -> bool {
        let new = self.machines.iter_mut().find(|machine| !plan::is_ready(machine));
        new.map(|machine| machine["status"] = json!({"phase": "Running"})).is_some()
    }

    fn perform(&mut self, deed: Deed) {
        let revision = |set: &Value| -> i64 {
            set["metadata"]["annotations"][REVISION].as_str().unwrap().parse().unwrap()
        };
        match deed {
            Deed::CreateSet(set) => {
                self.steps.push((revision(&set), set["spec"]["replicas"].as_i64().unwrap()));
                self.sets.push(set);
            }
            Deed::ScaleSet(name, change) => {
                let set = named(&mut self.sets, &name);
                for (key, value) in change["metadata"]["annotations"].as_object().unwrap() {
                    set["metadata"]["annotations"][key] = value.clone();
                }
                let replicas = change["spec"]["replicas"].clone();
                if set["spec"]["replicas"] != replicas {
                    let step = (revision(set), replicas.as_i64().unwrap());
                    set["spec"]["replicas"] = replicas;
                    self.steps.push(step);
                }
            }
            Deed::SetStatus(name, change) => {
                named(&mut self.sets, &name)["status"] = change["status"].clone();
            }
            Deed::CreateMachine(machine) => self.machines.push(machine),
            Deed::DeleteMachine(name) => {
                self.machines.retain(|machine| machine["metadata"]["name"] != *name);
            }
            Deed::MachineStatus(..) | Deed::Status(_) => {}
        }
    }
}

fn named<'a>(sets: &'a mut [Value], name: &str) -> &'a mut Value {
    sets.iter_mut().find(|set| set["metadata"]["name"] == *name).unwrap()
}
