//! Does anybody open a gate by sending stamps of their own?
//!
//! The gate is shut until tomorrow. Each try begins a change, by another verb, with entries in `managedFields` that were made up: dated into
//! the window, into the past, without a time, by the name of the writer, by names of others, or none at all.

use api::reach::What;
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};
use tidegate_core::reach::rooms;

use super::{
    releases, workloads,
    world::{LOCK, World, daemon_set, gate_path, lock, open_tomorrow, replica_set},
};
use crate::rollout::writers::until;

const SETS: &str = "replicasets";
const DAEMONS: &str = "daemonsets/kured";
const DEPLOYMENT: &str = "deployments/web";
const STATEFUL: &str = "statefulsets/db";
const LONG_AGO: &str = "2026-01-01T00:00:00Z";
const MANAGER: &str = "forger";

pub(super) async fn pass_nowhere(world: &World, tries: u64) {
    prepare(world).await;
    let mut chance = Chance(14);
    let (mut judged, mut others) = (0_u64, Vec::new());
    for turn in 0..tries {
        let forged = entries(&mut chance);
        let answer = match chance.below(8) {
            0 => create_set(world, &forged).await,
            1 => replace_lock(world, &forged, "").await,
            2 => replace_lock(world, &forged, "/status").await,
            3 => merge_lock(world, &forged, turn).await,
            4 => apply_lock(world, turn).await,
            5 => replace_template(world, DEPLOYMENT, &forged, turn).await,
            6 => replace_template(world, STATEFUL, &forged, turn).await,
            _ => store_release(world, &forged).await,
        };
        match answer {
            // The status of a custom kind carries no metadata: what was sent of it was dropped.
            Ok(kept) if kept["metadata"]["annotations"][LOCK] == json!(lock("n0", LONG_AGO)) => {}
            Ok(taken) => panic!("turn {turn}: {forged} opened the gate: {taken}"),
            Err(said) if said.contains("held by ChangeGate shop/shut") => judged += 1,
            Err(said) => others.push(said),
        }
    }
    assert!(judged > tries / 2, "{judged} of {tries} met the gate; others: {:?}", others.first());
    removals_alone_are_refused(world).await;
}

fn at(world: &World, path: &str) -> String {
    format!("{}/namespaces/shop/{path}", world.apps)
}

async fn prepare(world: &World) {
    world.namespace("shop", &json!({})).await;
    let lock = json!({LOCK: lock("n0", LONG_AGO)});
    world.post(&at(world, "daemonsets"), &daemon_set("kured", &lock)).await.unwrap();
    let labels = json!({"app": "web", "tier": "web"});
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}},
        },
    });
    world.post(&at(world, "deployments"), &deployment).await.unwrap();
    workloads::create(world, "statefulsets", "shop", "db").await;
    let holds: Value = ["Deployments", "StatefulSets", "HelmReleases", "KuredLock"]
        .iter()
        .map(|what| json!({"what": what}))
        .collect();
    world.gate("shop", "shut", json!({"holds": holds})).await;
    world.open(&gate_path("shop", "shut"), &[open_tomorrow()]).await;
    until("it is shut until tomorrow", async || {
        let answer = create_set(world, &Value::Null).await;
        answer.is_err_and(|said| said.contains("which opens at"))
    })
    .await;
}

async fn create_set(world: &World, forged: &Value) -> Result<Value, String> {
    let mut set = replica_set("web", "2", &json!({"app": "web"}));
    forge(&mut set, forged);
    world.post(&at(world, &format!("{SETS}?fieldManager={MANAGER}&dryRun=All")), &set).await
}

async fn replace_lock(world: &World, forged: &Value, subresource: &str) -> Result<Value, String> {
    let mut daemon = world.admin.get(&at(world, DAEMONS)).await;
    daemon["metadata"]["annotations"][LOCK] = json!(lock("n1", "2026-02-01T00:00:00Z"));
    forge(&mut daemon, forged);
    put(world, &format!("{DAEMONS}{subresource}"), &daemon).await
}

async fn replace_template(
    world: &World,
    path: &str,
    forged: &Value,
    turn: u64,
) -> Result<Value, String> {
    let mut workload = world.admin.get(&at(world, path)).await;
    workload["spec"]["template"]["spec"]["containers"][0]["image"] = json!(format!("app:{turn}x"));
    forge(&mut workload, forged);
    put(world, path, &workload).await
}

async fn store_release(world: &World, forged: &Value) -> Result<Value, String> {
    let mut record = releases::record("secrets", "pending-upgrade", "2");
    forge(&mut record, forged);
    let path = format!("/api/v1/namespaces/shop/secrets?fieldManager={MANAGER}&dryRun=All");
    world.post(&path, &record).await
}

async fn merge_lock(world: &World, forged: &Value, turn: u64) -> Result<Value, String> {
    let taken = lock(&format!("n{turn}"), "2026-02-01T00:00:00Z");
    let mut change = json!({"metadata": {"annotations": {LOCK: taken}}});
    forge(&mut change, forged);
    world
        .writer
        .merge(&at(world, &format!("{DAEMONS}?fieldManager={MANAGER}&dryRun=All")), &change)
        .await
}

async fn apply_lock(world: &World, turn: u64) -> Result<Value, String> {
    let taken = lock(&format!("n{turn}"), "2026-02-01T00:00:00Z");
    let applied = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "kured", "annotations": {LOCK: taken}}});
    world.writer.apply(&at(world, &format!("{DAEMONS}?dryRun=All")), &world.here(&applied)).await
}

async fn put(world: &World, path: &str, object: &Value) -> Result<Value, String> {
    let path = at(world, &format!("{path}?fieldManager={MANAGER}&dryRun=All"));
    world.writer.send("PUT", &path, "application/json", object).await
}

fn forge(object: &mut Value, forged: &Value) {
    if !forged.is_null() {
        object["metadata"]["managedFields"] = forged.clone();
    }
}

/// RCH-10: a wish that leaves no stamp is refused, and the words say how to send it. Together with a forged entry it passes: that is written
/// down as not held.
async fn removals_alone_are_refused(world: &World) {
    let removal = json!({"spec": {"template": {"metadata": {"labels": {"tier": null}}}}});
    let answer =
        world.writer.merge(&at(world, &format!("{DEPLOYMENT}?dryRun=All")), &removal).await;
    let said = answer.expect_err("a removal leaves no stamp");
    assert!(said.contains("no fresh stamp") && said.contains("apply server-side"), "{said}");

    let mut both = world.admin.get(&at(world, DEPLOYMENT)).await;
    both["spec"]["template"]["metadata"]["labels"].as_object_mut().unwrap().remove("tier");
    let tomorrow = open_tomorrow().start_time.unwrap();
    let planted = json!({"manager": "planted", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {}}}, "time": tomorrow});
    both["metadata"]["managedFields"].as_array_mut().unwrap().push(planted);
    let passed = put(world, DEPLOYMENT, &both).await.is_ok();
    let room = rooms::room(What::Deployments).unwrap();
    let said = room.not_held.iter().any(|text| text.contains("forges an entry"));
    assert_eq!(passed, said, "what the room says it does not hold is what passes");
}

/// Entries that somebody made up.
fn entries(chance: &mut Chance) -> Value {
    match chance.below(10) {
        0 => return Value::Null,
        1 => return json!([]),
        2 => return json!([{}]),
        _ => {}
    }
    let entry = |chance: &mut Chance| {
        let now = Timestamp::now();
        let time = match chance.below(6) {
            0 => now - 1.hour(),
            1 => "2001-01-01T00:00:00Z".parse().unwrap(),
            2 => "2101-01-01T00:00:00Z".parse().unwrap(),
            _ => now + 25.hours(),
        };
        let time = Timestamp::from_second(time.as_second()).unwrap();
        let manager = ["forger", "unknown", "kubectl", "gate", "kube-controller-manager", ""];
        let fields = [
            json!({"f:metadata": {}}),
            json!({"f:metadata": {"f:annotations": {}}}),
            json!({"f:metadata": {"f:annotations": {"f:weave.works/kured-node-lock": {}}}}),
            json!({"f:spec": {"f:template": {}}}),
        ];
        let (manager, operation) = (manager[chance.index(6)], ["Update", "Apply"][chance.index(2)]);
        let mut entry = json!({
            "manager": manager,
            "operation": operation,
            "apiVersion": "apps/v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": fields[chance.index(4)].clone(),
            "time": time.to_string(),
        });
        match chance.below(8) {
            0 => entry["subresource"] = json!("status"),
            1 => drop(entry.as_object_mut().map(|entry| entry.remove("time"))),
            _ => {}
        }
        entry
    };
    let count = 1 + chance.below(4);
    (0..count).map(|_| entry(chance)).collect()
}

/// A sequence that looks like chance and is the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}
