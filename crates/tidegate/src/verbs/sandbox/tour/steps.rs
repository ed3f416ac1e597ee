//! What does the tour show? A window, a change that pends, why it waits, a Deployment that somebody else rolls out, Saturday, a freeze, an
//! override, the way back, an update of the control plane from the wish to the last worker, and what will be in the way of a later one.

use api::{kinds, machine::names as machine, names};
use serde_json::{Value, json};
use tidegate_core::{cluster::snapshot::Snapshot, document::key::Key};

/// The pool that the tour is about.
pub(super) const POOL: &str = "worker";

/// The Deployment that the tour is about, the gate that holds its rollouts, and where both are.
const WEB: &str = "web";
const GATE: &str = "rollouts";
const SHOP: &str = "shop";

/// A stop of the tour.
pub(super) struct TourStop {
    /// What it is called.
    pub(super) title: &'static str,
    /// What it is about.
    pub(super) text: &'static str,
    /// What is done.
    pub(super) acts: &'static [Act],
}

/// Something that is done on the tour.
pub(super) enum Act {
    /// An object is applied.
    Apply(fn() -> Value),
    /// The pool is changed by a merge patch.
    Patch(fn() -> Value),
    /// The Deployment gets another image.
    Image(&'static str),
    /// What is read of the Deployment: as kubectl is asked for it, and where it stands.
    Read(&'static str, fn(&Value) -> &str),
    /// Somebody orders a node by hand to the pool's target, and the API server refuses.
    Order(&'static str),
    /// A verb is run.
    Verb(&'static [&'static str]),
    /// A verb is run inside the hosted cluster that the tour is about.
    Inside(&'static [&'static str]),
    /// Its nodes are listed, each with its release.
    Nodes,
    /// An object is changed by a merge patch.
    PatchOf(fn() -> (Key, Value)),
    /// The clock is set.
    Set(&'static str),
    /// So many seconds of the sandbox pass in one.
    Speed(u32),
    /// The cluster does something by itself.
    Until(Goal),
}

/// What the pool, or the control plane, comes to by itself.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    /// Its gate is closed, and that is known.
    Held,
    /// Something waits behind the closed gate.
    Pending,
    /// So many nodes have what the pool goes to.
    Done(usize),
    /// All have.
    AllDone,
    /// No node is on its way.
    NobodyMoves,
    /// A release is wanted of the control plane, pinned and held.
    Asked,
    /// The API server was seen refusing what the gate of the Deployment holds.
    Proven,
    /// A rollout of the Deployment waits behind its gate.
    Queued,
    /// All pods of the Deployment are as it wants them.
    RolledOut,
    /// An update of the control plane has begun.
    Begun,
    /// It has ended.
    Updated,
    /// So many nodes of the hosted cluster that the tour is about have this release.
    Joined(usize, &'static str),
    /// What is seen of the cluster says so; and that in words.
    Seen(fn(&Snapshot) -> bool, &'static str),
}

impl Goal {
    /// What has come when it has, in words.
    pub(super) fn as_words(self) -> String {
        match self {
            Self::Held => "the pool is held by its policy".into(),
            Self::Pending => "the change pends".into(),
            Self::Done(least) => format!("{least} nodes have what the pool goes to"),
            Self::AllDone => "all nodes have what the pool goes to".into(),
            Self::NobodyMoves => "no node is on its way any more".into(),
            Self::Asked => "the release that is wanted is pinned and held".into(),
            Self::Proven => "the API server was seen refusing what the gate holds".into(),
            Self::Queued => "the rollout of the Deployment waits for its gate".into(),
            Self::RolledOut => "all pods of the Deployment have the new image".into(),
            Self::Begun => "the update of the control plane has begun".into(),
            Self::Updated => "the control plane has the release".into(),
            Self::Joined(nodes, release) => format!("{nodes} nodes have joined with {release}"),
            Self::Seen(_, words) => words.into(),
        }
    }
}

const LOOK: Act = Act::Verb(&["worker-nodes", "status", "--pool", POOL]);

/// Every stop.
pub(super) const STEPS: &[TourStop] = &[
    TourStop {
        title: "a cluster",
        text: "Three masters, twelve workers in three zones, four pools, and a gate on the Deployments of a shop. It is Wednesday morning.",
        acts: &[Act::Until(Goal::Proven), Act::Verb(&["status"])],
    },
    TourStop {
        title: "a window",
        text: "A policy says when: Saturday from midnight for eight hours. The pool follows it by a stanza of three lines.",
        acts: &[
            Act::Apply(policy),
            Act::Patch(stanza),
            Act::Until(Goal::Held),
            Act::Verb(&["explain", "mcp/worker"]),
        ],
    },
    TourStop {
        title: "a change",
        text: "Somebody edits a MachineConfig. The operator renders it at once, and it waits: nothing happens to a node.\n\
               `start` makes it the pool's target and records the previous configuration for `rollback`.",
        acts: &[
            Act::Apply(config),
            Act::Until(Goal::Pending),
            Act::Verb(&["worker-nodes", "start", "--pool", POOL]),
            LOOK,
        ],
    },
    TourStop {
        title: "why it waits",
        text: "Every hold names the object, the field and the instant it ends.\n\
               Nobody gets around it by hand: the server itself refuses.",
        acts: &[Act::Verb(&["explain", "mcp/worker"]), Act::Order("worker-0")],
    },
    TourStop {
        title: "a Deployment",
        text: "Not only nodes. A ChangeGate in the namespace shop holds rollouts by the policy berlin-nights, and somebody sets a new image by day.\n\
               The wish is taken. The deployment controller, which never heard of Tidegate, is refused its first write, the new ReplicaSet, and says so\n\
               in its own words. Nothing is paused, and pods are scaled and healed as before.",
        acts: &[
            Act::Image("registry.example.com/shop/web:1.5"),
            Act::Until(Goal::Queued),
            Act::Read(REFUSAL, refusal),
            Act::Verb(&["gate", "why", "deployment/web", "-n", SHOP]),
            Act::Verb(&["explain", "cg/rollouts", "-n", SHOP]),
        ],
    },
    TourStop {
        title: "the night",
        text: "The controller gave up after three minutes, as it does everywhere. At 22:00 in Berlin the window opens: the operator touches what waits by one\n\
               annotation, the controller looks again, and the rollout happens.",
        acts: &[
            Act::Verb(&["gate", "list"]),
            Act::Set("2026-11-18T21:00:00Z"),
            Act::Speed(60),
            Act::Until(Goal::RolledOut),
            Act::Speed(1),
            Act::Read(TOUCH, touch),
            Act::Verb(&["gate", "list"]),
        ],
    },
    TourStop {
        title: "Saturday",
        text: "The clock goes to midnight and the window opens. Nodes go two at a time: drained, changed, started anew.",
        acts: &[Act::Set("2026-11-21T00:00:00Z"), Act::Speed(300), Act::Until(Goal::Done(2)), LOOK],
    },
    TourStop {
        title: "a freeze midway",
        text: "Something looks wrong. What has begun finishes, nothing else begins, and the policy stays named.",
        acts: &[
            Act::Verb(&["worker-nodes", "pause", "--pool", POOL, "--reason", "latency is up"]),
            Act::Until(Goal::NobodyMoves),
            LOOK,
        ],
    },
    TourStop {
        title: "an override",
        text: "It was a false alarm. For two days the policy is set aside; afterwards it holds again by itself.",
        acts: &[
            Act::Verb(&[
                "override",
                "mcp/worker",
                "--permissive-until",
                "+48h",
                "--reason",
                "false alarm",
            ]),
            Act::Until(Goal::AllDone),
            LOOK,
        ],
    },
    TourStop {
        title: "the way back",
        text: "And if it was not: `start` remembered what the pool had.",
        acts: &[
            Act::Verb(&["worker-nodes", "rollback", "--pool", POOL]),
            Act::Until(Goal::AllDone),
            LOOK,
        ],
    },
    TourStop {
        title: "the control plane",
        text: "Somebody asks for a release by day. The operator pins it, says when it begins and what stands in the way, and nothing moves.\n\
               What could never begin is told before anything is written.",
        acts: &[
            Act::Speed(1),
            Act::Set("2026-11-25T09:00:00Z"),
            Act::Verb(&["update", "--to", "4.23.0"]),
            Act::Verb(&["control-plane", "wish", "4.20.10"]),
            Act::Until(Goal::Asked),
            Act::Verb(&["control-plane", "status"]),
        ],
    },
    TourStop {
        title: "one change",
        text: "The night comes, and the operator lets it begin by one write. From there it is one change: the payload, then the masters, whatever\n\
               the window does.",
        acts: &[
            Act::Set("2026-11-25T21:00:00Z"),
            Act::Speed(300),
            Act::Until(Goal::Begun),
            Act::Verb(&["control-plane", "status"]),
            Act::Until(Goal::Updated),
            Act::Verb(&["control-plane", "status"]),
        ],
    },
    TourStop {
        title: "the last worker",
        text: "What the release brought for workers waits for their own Saturday, once nobody holds the pool at an older configuration any more.",
        acts: &[
            Act::Speed(1),
            Act::Patch(unpin),
            Act::Until(Goal::Pending),
            LOOK,
            Act::Set("2026-11-28T00:00:00Z"),
            Act::Speed(300),
            Act::Until(Goal::AllDone),
            LOOK,
        ],
    },
    TourStop {
        title: "the year ahead",
        text: "A pool that is never let change will be in the way of a later release, because its kubelets will be too old for it.\n\
               That is months away and certain, so it is told today: the day, the pool, and what would help.",
        acts: &[
            Act::Speed(1),
            Act::Patch(never),
            Act::Until(Goal::Held),
            Act::Verb(&["simulate", "--for", "2y", "--update-every", "120d"]),
        ],
    },
];

/// The pool as an object.
pub(super) fn pool() -> Key {
    Key::new(&kinds::MACHINE_CONFIG_POOL, None, POOL)
}

/// The Deployment as an object.
pub(super) fn deployment() -> Key {
    Key::new(&kinds::DEPLOYMENT, Some(SHOP), WEB)
}

/// The gate that holds its rollouts.
pub(super) fn gate() -> Key {
    Key::new(&kinds::CHANGE_GATE, Some(SHOP), GATE)
}

/// What people type to give it an image.
pub(super) fn set_image(image: &str) -> String {
    format!("kubectl set image deployment/{WEB} -n {SHOP} {WEB}={image}")
}

/// What people type to read something of it.
pub(super) fn get(path: &str) -> String {
    format!("kubectl get deployment {WEB} -n {SHOP} -o jsonpath='{path}'")
}

/// The change that this comes to.
pub(super) fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": WEB, "image": image}]}}}})
}

/// A node as an object.
pub(super) fn machine(name: &str) -> Key {
    Key::new(&kinds::NODE, None, name)
}

/// Words as a shell takes them.
pub(super) fn shell(words: &[&str]) -> String {
    let quoted = |word: &&str| {
        if word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What its controller says about the rollout.
const REFUSAL: &str = "{.status.conditions[?(@.type==\"Progressing\")].message}";

pub(super) fn refusal(deployment: &Value) -> &str {
    let conditions = deployment.pointer("/status/conditions").and_then(Value::as_array);
    let progress =
        conditions.into_iter().flatten().find(|condition| condition["type"] == "Progressing");
    progress.and_then(|condition| condition["message"].as_str()).unwrap_or_default()
}

/// When the operator touched it.
const TOUCH: &str = "{.metadata.annotations.changemanagement\\.openshift\\.io/nudged-at}";

fn touch(deployment: &Value) -> &str {
    let noted =
        deployment.pointer("/metadata/annotations").and_then(|all| all.get(names::NUDGED_AT));
    noted.and_then(Value::as_str).unwrap_or_default()
}

fn policy() -> Value {
    json!({
        "apiVersion": names::API_VERSION,
        "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "saturday"},
        "spec": {
            "strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}},
                "startTime": "00:00",
                "duration": "8h",
            }},
        },
    })
}

fn stanza() -> Value {
    json!({"spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}}}})
}

fn unpin() -> Value {
    json!({"spec": {"machineConfig": null}})
}

fn never() -> Value {
    json!({"spec": {"changeManagement": {"strategy": "Restrictive", "permissiveUntil": null}}})
}

fn config() -> Value {
    json!({
        "apiVersion": machine::API_VERSION,
        "kind": machine::MACHINE_CONFIG,
        "metadata": {"name": "99-worker-greeting", "labels": {machine::ROLE: POOL}},
        "spec": {"config": {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": [
                {"path": "/etc/motd", "mode": 420, "overwrite": true, "contents": {"source": "data:,Mind%20the%20tide%0A"}},
            ]},
        }},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The README tells the same tour.
    #[test]
    fn every_command_of_the_tour_is_in_the_readme() {
        let readme = include_str!("../../../../../../README.md");
        for act in STEPS.iter().flat_map(|step| step.acts) {
            let command = match act {
                Act::Verb(words) => format!("$ tidegate {}\n", shell(words)),
                Act::Set(at) => format!("$ tidegate sandbox clock set {at}\n"),
                Act::Speed(speed) => format!("$ tidegate sandbox clock speed {speed}\n"),
                Act::Order(name) => format!("$ kubectl annotate node {name} --overwrite"),
                Act::Image(wanted) => format!("$ {}\n", set_image(wanted)),
                Act::Read(path, _) => format!("$ {}\n", get(path)),
                Act::Apply(_)
                | Act::Patch(_)
                | Act::PatchOf(_)
                | Act::Inside(_)
                | Act::Nodes
                | Act::Until(_) => continue,
            };
            assert!(readme.contains(&command), "README.md lacks {command}");
        }
    }
}
