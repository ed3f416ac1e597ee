//! Does the real kured take its lock inside windows and nowhere else? (RCH-3, RCH-5; scenario 13 of the table of rooms)
//!
//! kured as its module builds it, installed by its own manifests, on two machines that want to reboot, on a real API server, across two openings and a
//! closing. The status of the gate is written here as the operator would, and nothing of ours runs.

use std::{cell::RefCell, time::Duration};

use jiff::{Timestamp, ToSpan as _};
use rig::{Cluster, Controllers, Kured, Machine, suite};
use serde_json::{Value, json};

use super::world::{LOCK, World, gate_path, open_tomorrow, window};
use crate::rollout::writers;

/// kured waits for up to 90 s before it does anything, ends when it is refused, and begins anew: three of these, on a busy computer.
const PATIENCE: Duration = Duration::from_mins(6);

const SET: &str = "/apis/apps/v1/namespaces/kube-system/daemonsets/kured";

#[test]
fn real_kured_takes_its_lock_inside_windows_and_nowhere_else() {
    suite::with_kured("kured", |kured| {
        suite::on_real("kured", Controllers::Absent, async |cluster| {
            let world = World::install(&writers::of_real(cluster).await).await;
            waits_for_its_gate(kured, cluster, &world).await;
        });
    });
}

async fn waits_for_its_gate(kured: &Kured, cluster: &Cluster, world: &World) {
    for document in kured.installation().unwrap() {
        world.admin.create(&collection(&document), &document).await;
    }
    for node in ["one", "two"] {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}});
        world.admin.create("/api/v1/nodes", &node).await;
    }
    let gate = gate_path("kube-system", "reboots");
    world.gate("kube-system", "reboots", json!({"holds": [{"what": "KuredLock"}]})).await;
    world.open(&gate, &[open_tomorrow()]).await;
    let scene = Scene::begin(kured, cluster, world).await;

    // Shut: both ask, both are refused, and neither node is cordoned.
    scene.until("both are refused", |scene| [0, 1].iter().all(|at| scene.refusals(*at) > 0)).await;
    assert_eq!((scene.taken(0), scene.taken(1)), (0, 0));
    assert_eq!(scene.cordoned().await, [false, false]);

    // Open: one takes the lock and is told to reboot, and the other waits for it.
    let now = world.server_time().await;
    world.open(&gate, &[window(Some(now - 1.hour()), Some(now + 5.hours()))]).await;
    scene.until("one reboots", |scene| scene.told_to_reboot().is_some()).await;
    let first = scene.told_to_reboot().unwrap();
    let second = 1 - first;
    scene.until("the other waits", |scene| scene.log(second).contains("Lock already held")).await;
    assert_eq!((scene.taken(first), scene.taken(second)), (1, 0));
    assert!(scene.cordoned().await[first], "it was drained");

    // Shut again, while it reboots: it gives the lock back all the same, and the other does not begin.
    let close = world.server_time().await + 1.second();
    world.open(&gate, &[window(Some(now - 1.hour()), Some(close)), open_tomorrow()]).await;
    while world.server_time().await < close {}
    let refused = scene.refusals(second);
    scene.machines.borrow_mut()[first].reboot().unwrap();
    scene
        .until("the lock is given back", |scene| scene.log(first).contains("Releasing lock"))
        .await;
    scene.until("the other is refused", |scene| scene.refusals(second) > refused).await;
    assert_eq!((scene.lock().await, scene.taken(second)), (None, 0));
    assert_eq!(scene.cordoned().await, [false, false]);

    // The next window: the other begins by itself, without anybody's touch.
    let again = world.server_time().await;
    world.open(&gate, &[window(Some(again), Some(again + 5.hours()))]).await;
    scene.until("the other reboots", |scene| scene.told_to_reboot() == Some(second)).await;
    assert_eq!((scene.taken(first), scene.taken(second)), (1, 1));
    let begun = scene.lock().await.unwrap();
    let after = begun.duration_since(again);
    println!(
        "kured: {} begun {after:#} after its opening; {} refusals, 0 locks outside",
        Kured::version(),
        scene.refusals(0) + scene.refusals(1)
    );
}

struct Scene<'a> {
    world: &'a World,
    machines: RefCell<Vec<Machine>>,
}

impl<'a> Scene<'a> {
    async fn begin(kured: &Kured, cluster: &Cluster, world: &'a World) -> Self {
        let mut machines = Vec::new();
        for node in ["one", "two"] {
            let machine = kured.machine(cluster, node).await.unwrap();
            machine.want_reboot().unwrap();
            machines.push(machine);
        }
        Self { world, machines: RefCell::new(machines) }
    }

    async fn until(&self, what: &str, is: impl Fn(&Self) -> bool) {
        let began = tokio::time::Instant::now();
        while !is(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    fn log(&self, at: usize) -> String {
        self.machines.borrow()[at].log()
    }

    /// How often our gate refused it.
    fn refusals(&self, at: usize) -> usize {
        self.log(at).matches("held by ChangeGate kube-system/reboots").count()
    }

    /// How often it took the lock: it says so each time.
    fn taken(&self, at: usize) -> usize {
        self.log(at).matches("Acquired reboot lock").count()
    }

    fn told_to_reboot(&self) -> Option<usize> {
        self.machines.borrow().iter().position(Machine::is_told_to_reboot)
    }

    /// When the lock that stands was taken.
    async fn lock(&self) -> Option<Timestamp> {
        let set = self.world.admin.get(SET).await;
        let lock = set["metadata"]["annotations"][LOCK].as_str()?.to_owned();
        let lock: Value = serde_json::from_str(&lock).unwrap();
        Some(lock["created"].as_str().unwrap().parse().unwrap())
    }

    async fn cordoned(&self) -> [bool; 2] {
        let mut cordoned = [false; 2];
        for (at, node) in ["one", "two"].iter().enumerate() {
            let node = self.world.admin.get(&format!("/api/v1/nodes/{node}")).await;
            cordoned[at] = node["spec"]["unschedulable"] == true;
        }
        cordoned
    }
}

/// Where an object of the installation is made.
fn collection(document: &Value) -> String {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let group = match text("/apiVersion") {
        "v1" => "/api/v1".to_owned(),
        version => format!("/apis/{version}"),
    };
    let plural = format!("{}s", text("/kind").to_lowercase());
    match text("/metadata/namespace") {
        "" => format!("{group}/{plural}"),
        namespace => format!("{group}/namespaces/{namespace}/{plural}"),
    }
}
