//! What does the tour of a cluster show that hosts others? A release that waits, what its own users see of that, a pool that scales meanwhile, a control
//! plane that goes in its window and nodes in theirs, a pool that waits for somebody's hand, and another team that none of it reaches.

use anyhow::Context as _;
use api::kinds;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::snapshot::Snapshot, document::key::Key, gate::pending::Course, release::Progress,
};

use super::{
    super::{Open, guests::Inside},
    steps::{Act, Goal, TourStop},
};

/// The team and the hosted cluster that the tour is about, and its kubeconfig as it is typed.
const TEAM: &str = "team-checkout";
const CLUSTER: &str = "shop";
pub(super) const FILE: &str = "shop.kubeconfig";

/// The release that is asked for.
const NEW: &str = "4.20.10";
const OLD: &str = "4.20.6";

/// Every stop.
pub(super) const STEPS: &[TourStop] = &[
    TourStop {
        title: "two teams",
        text: "One cluster hosts those of two teams, each in a namespace of its own, with policies of its own. It is Wednesday morning, and both have asked\n\
               for another release. Nothing moves: each waits for the window that its own team chose.",
        acts: &[
            Act::Until(Goal::Seen(waits, "the release is pinned and held")),
            Act::Verb(&["status"]),
            Act::Verb(&["explain", "hc/shop", "-n", TEAM]),
        ],
    },
    TourStop {
        title: "from inside",
        text: "Whoever uses a hosted cluster cannot see what hosts it. Its ClusterVersion is a projection: the release that it has, what waits for the control\n\
               plane and for its nodes, and when each gate opens. Editing it changes nothing.",
        acts: &[
            Act::Inside(&["status"]),
            Act::Inside(&["explain", "clusterversion/version"]),
            Act::Nodes,
        ],
    },
    TourStop {
        title: "a held pool scales",
        text: "The template of the nodes is withheld, and nothing is paused: two more machines come, with the release that is proven.",
        acts: &[
            Act::PatchOf(more),
            Act::Speed(60),
            Act::Until(Goal::Joined(7, OLD)),
            Act::Speed(1),
            Act::Nodes,
        ],
    },
    TourStop {
        title: "the night",
        text: "At 22:00 the window of the control plane opens, and the operator lets it begin by one write. Its nodes wait on, for their own.",
        acts: &[
            Act::Set("2026-11-18T22:00:00Z"),
            Act::Speed(300),
            Act::Until(Goal::Seen(updated, "the hosted control plane has the release")),
            Act::Speed(1),
            Act::Verb(&["explain", "np/workers", "-n", TEAM]),
            Act::Inside(&["status"]),
        ],
    },
    TourStop {
        title: "Saturday",
        text: "The window of the nodes opens. The template is handed over, and machines are replaced one after the other, each step asked of the server.\n\
               The pool batch is OnDelete: its machines stay until somebody deletes them, and that is the consent.",
        acts: &[
            Act::Set("2026-11-21T00:00:00Z"),
            Act::Speed(300),
            Act::Until(Goal::Joined(5, NEW)),
            Act::Speed(1),
            Act::Nodes,
            Act::Verb(&["status"]),
        ],
    },
    TourStop {
        title: "the other team",
        text: "Its policies have the same names, and it waits for Sunday: nothing that the first team does reaches it.",
        acts: &[
            Act::Verb(&["explain", "hc/books", "-n", "team-ledger"]),
            Act::Verb(&["simulate", "--for", "14d"]),
        ],
    },
];

/// The hosted cluster that the tour is about, from inside.
pub(super) fn guest(open: &Open) -> anyhow::Result<&Inside> {
    let mut guests = open.guests.iter();
    guests
        .find(|guest| (guest.namespace.as_str(), guest.name.as_str()) == (TEAM, CLUSTER))
        .context("there is no hosted cluster")
}

fn more() -> (Key, Value) {
    (Key::new(&kinds::NODE_POOL, Some(TEAM), "workers"), json!({"spec": {"replicas": 5}}))
}

fn waits(snapshot: &Snapshot) -> bool {
    let pool = Key::new(&kinds::NODE_POOL, Some(TEAM), "workers");
    [host(), pool].iter().all(|key| {
        snapshot.resource(key).is_some_and(|seen| {
            !seen.pending.waiting.is_empty()
                && matches!(seen.pending.course, Course::Gate)
                && seen.behavior.is_some()
        })
    })
}

fn updated(snapshot: &Snapshot) -> bool {
    let plane = snapshot.resource(&host()).and_then(|seen| seen.plane());
    let newest = plane.and_then(|plane| plane.history.first());
    newest.is_some_and(|one| one.release.version == NEW && one.progress == Progress::Completed)
}

fn host() -> Key {
    Key::new(&kinds::HOSTED_CLUSTER, Some(TEAM), CLUSTER)
}
