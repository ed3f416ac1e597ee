//! What does the stock deployment controller do when its first write is held, and what goes on meanwhile?
//!
//! Scenarios 1, 2 and 6 of the table of rooms. No kubelet runs here: pods are made ready by hand, and one that is to end slowly has a finalizer.

use api::reach::What;
use serde_json::{Value, json};
use tidegate_core::reach::rooms::{self, Documents};

use super::world::{World, gate_path, open_now, open_tomorrow, replica_set};
use crate::rollout::writers::until;

const APPS: &str = "/apis/apps/v1/namespaces";

pub(super) async fn wait_for_their_gate(world: &World) {
    for namespace in ["shop", "lab"] {
        world.namespace(namespace, &json!({})).await;
    }
    world.gate("shop", "rollouts", json!({"holds": [{"what": "Deployments"}]})).await;
    let gate = gate_path("shop", "rollouts");
    world.open(&gate, &[open_tomorrow()]).await;

    // The first install is none of the gate's business, and a stranger's namespace neither.
    let (web, lab) = (Deployed::new(world, "shop", "web"), Deployed::new(world, "lab", "web"));
    web.create("RollingUpdate", 2).await;
    lab.create("RollingUpdate", 2).await;
    web.runs("app:1", 2).await;
    lab.runs("app:1", 2).await;
    lab.set_image("app:2").await.unwrap();
    lab.runs("app:2", 2).await;

    // 1. The wish is taken, and its act waits; the condition says for whom and until when.
    web.set_image("app:2").await.unwrap();
    let opens = open_tomorrow().start_time.unwrap();
    let expected = "held by ChangeGate shop/rollouts, which opens at ".to_owned() + &opens[..10];
    until("the condition says why", async || web.says().await.contains(&expected)).await;
    assert_eq!(web.pending().await.as_deref(), Some("app:1 -> app:2"));
    assert_eq!(web.sets().await.len(), 1);

    // 2. Scaling and healing go on.
    let scale = format!("{}/scale", web.path);
    world.admin.merge(&scale, &json!({"spec": {"replicas": 3}})).await.unwrap();
    web.runs("app:1", 3).await;
    let lost = web.pods().await[0].clone();
    let path =
        format!("/api/v1/namespaces/shop/pods/{}", lost["metadata"]["name"].as_str().unwrap());
    world.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    until("another takes its place", async || {
        let pods = web.pods().await;
        pods.len() == 3 && pods.iter().all(|pod| pod["metadata"]["uid"] != lost["metadata"]["uid"])
    })
    .await;
    web.runs("app:1", 3).await;
    assert_eq!(web.sets().await.len(), 1, "nothing began meanwhile");
    // Back to what runs: nothing waits any more.
    web.set_image("app:1").await.unwrap();
    web.settles().await;
    assert_eq!(web.pending().await, None);
    // A restart is a rollout.
    let restart = json!({"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-11-16T00:00:00Z"}}}}});
    world.admin.merge(&web.path, &restart).await.unwrap();
    until("it waits", async || {
        web.pending().await.is_some() && web.says().await.contains(&expected)
    })
    .await;

    // The gate opens, and whoever touches the Deployment has its controller look again.
    world.open(&gate, &[open_now()]).await;
    let nudge = json!({"metadata": {"annotations": {"example.com/touched": "yes"}}});
    world.admin.merge(&web.path, &nudge).await.unwrap();
    until("the rollout begins", async || web.sets().await.len() == 2).await;
    // It closes in the middle, and what has begun ends (RCH-5).
    world.open(&gate, &[open_tomorrow()]).await;
    web.settles().await;
    assert_eq!(web.pending().await, None);

    // A return to a revision that is there goes on.
    let undo = json!({"spec": {"template": {"metadata": {"annotations": null}}}});
    world.admin.merge(&web.path, &undo).await.unwrap();
    web.settles().await;
    assert_eq!(web.sets().await.len(), 2);
    whoever_leaves_the_gate_is_held(world, &web).await;
}

/// OVR-1: one write, and a rollout that was wanted meanwhile begins when the freeze is over; one that had begun ends.
pub(super) async fn wait_for_the_end_of_a_freeze(world: &World) {
    let lab = Deployed::new(world, "lab", "web");
    lab.set_image("app:3").await.unwrap();
    until("a rollout begins", async || lab.sets().await.len() == 3).await;
    world.cluster_freeze("stop", json!({"reason": "the till is broken"})).await;
    until("it is frozen", async || {
        let path = format!("{APPS}/lab/replicasets?dryRun=All");
        let set = replica_set("web", "9", &json!({"app": "web"}));
        world.post(&path, &set).await.is_err()
    })
    .await;
    lab.runs("app:3", 2).await;
    lab.set_image("app:4").await.unwrap();
    let expected = "held by ClusterChangeFreeze stop until further notice, unsigned: the till";
    until("the condition says why", async || lab.says().await.contains(expected)).await;
    lab.runs("app:3", 2).await;
    assert_eq!(lab.sets().await.len(), 3, "nothing began");
    world.thaw_cluster("stop").await;
    let nudge = json!({"metadata": {"annotations": {"example.com/touched": "yes"}}});
    world.admin.merge(&lab.path, &nudge).await.unwrap();
    lab.runs("app:4", 2).await;
}

/// Taking away the label by which it is chosen is a change of what is held.
async fn whoever_leaves_the_gate_is_held(world: &World, web: &Deployed<'_>) {
    let hold = json!({"what": "Deployments", "selector": {"matchLabels": {"tier": "web"}}});
    world
        .admin
        .merge(&gate_path("shop", "rollouts"), &json!({"spec": {"holds": [hold]}}))
        .await
        .unwrap();
    world.open(&gate_path("shop", "rollouts"), &[open_tomorrow()]).await;
    let leave = json!({"spec": {"template": {"metadata": {"labels": {"tier": "db"}}, "spec": {"containers": [{"name": "app", "image": "app:9"}]}}}});
    until("leaving is refused", async || {
        let answer = world.writer.merge(&format!("{}?dryRun=All", web.path), &leave).await;
        answer.is_err_and(|said| said.contains("held by ChangeGate shop/rollouts, which opens at"))
    })
    .await;
    web.set_image("app:9").await.unwrap();
}

pub(super) async fn recreate_is_refused_as_a_wish(world: &World) {
    world.namespace("shop", &json!({})).await;
    world.gate("shop", "rollouts", json!({"holds": [{"what": "Deployments"}]})).await;
    let gate = gate_path("shop", "rollouts");
    world.open(&gate, &[open_tomorrow()]).await;
    let (db, web) = (Deployed::new(world, "shop", "db"), Deployed::new(world, "shop", "web"));
    db.create("Recreate", 2).await;
    web.create("RollingUpdate", 2).await;
    db.runs("app:1", 2).await;
    web.runs("app:1", 2).await;

    // 6. Queued, it would have no pod: so the wish is refused, and nothing goes.
    // Within the second of its creation the server has no fresh stamp, and says that instead (RCH-10).
    until("the refusal says when", async || {
        let said = db.set_image("app:2").await.expect_err("the gate is shut");
        assert!(said.contains("held by ChangeGate shop/rollouts"), "{said}");
        said.contains("which opens at")
            && said.contains("with strategy Recreate a change cannot wait")
    })
    .await;
    world
        .admin
        .merge(&format!("{}/scale", db.path), &json!({"spec": {"replicas": 3}}))
        .await
        .unwrap();
    db.runs("app:1", 3).await;

    // The same by the way round: a template that waits, and then Recreate.
    let recreate = json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}});
    web.settles().await;
    world.admin.merge(&format!("{}?dryRun=All", web.path), &recreate).await.expect("nothing waits");
    web.set_image("app:2").await.unwrap();
    let answer = world.admin.merge(&web.path, &recreate).await;
    assert!(answer.expect_err("a template waits").contains("shop/rollouts"));
    until("it waits", async || web.pending().await.is_some()).await;
    // Scaled meanwhile, its controller has seen everything there is to see, and the template waits all the same.
    world
        .admin
        .merge(&format!("{}/scale", web.path), &json!({"spec": {"replicas": 3}}))
        .await
        .unwrap();
    web.runs("app:1", 3).await;
    let answer = world.admin.merge(&web.path, &recreate).await;
    assert!(answer.expect_err("a template waits").contains("shop/rollouts"));
    // Without any pod nobody can tell whether a template waits: with Recreate the next pods would have it.
    world
        .admin
        .merge(&format!("{}/scale", web.path), &json!({"spec": {"replicas": 0}}))
        .await
        .unwrap();
    web.runs("app:1", 0).await;
    until("its controller has seen that", async || {
        let web = world.admin.get(&web.path).await;
        web["status"]["observedGeneration"] == web["metadata"]["generation"]
    })
    .await;
    let answer = world.admin.merge(&web.path, &recreate).await;
    assert!(answer.expect_err("a template waits").contains("shop/rollouts"));
    // And by a pause: what was wanted while it stood still would begin with its end.
    world.admin.merge(&db.path, &json!({"spec": {"paused": true}})).await.unwrap();
    world.open(&gate, &[open_now()]).await;
    until("it opens", async || db.set_image("app:2").await.is_ok()).await;
    world.open(&gate, &[open_tomorrow()]).await;
    let resume = json!({"spec": {"paused": false}});
    until("it is shut", async || {
        let answer = world.admin.merge(&format!("{}?dryRun=All", db.path), &resume).await;
        answer.is_err_and(|said| said.contains("shop/rollouts"))
    })
    .await;
    db.runs("app:1", 3).await;

    // In the window it begins; the window closes while the old pods take their time, and what has begun ends (RCH-5).
    db.keep_pods().await;
    world.open(&gate, &[open_now()]).await;
    // The end of a pause takes a field away and leaves no stamp; the refusal says how to send it (RCH-10).
    until("it opens", async || {
        let said = world.admin.merge(&db.path, &resume).await.expect_err("no stamp");
        said.contains("change an annotation with it")
    })
    .await;
    let stamped = json!({"metadata": {"annotations": {"example.com/resumed": "yes"}}, "spec": {"paused": false}});
    until("it opens", async || world.admin.merge(&db.path, &stamped).await.is_ok()).await;
    until("old pods are going", async || {
        db.pods().await.iter().all(|pod| pod["metadata"]["deletionTimestamp"].is_string())
    })
    .await;
    world.open(&gate, &[open_tomorrow()]).await;
    until("it is shut", async || db.set_image("app:3").await.is_err()).await;
    db.let_pods_go().await;
    db.runs("app:2", 3).await;
}

/// A Deployment and what its controller made of it.
pub(super) struct Deployed<'a> {
    world: &'a World,
    namespace: &'static str,
    name: &'static str,
    pub(super) path: String,
}

impl<'a> Deployed<'a> {
    pub(super) fn new(world: &'a World, namespace: &'static str, name: &'static str) -> Self {
        let path = format!("{APPS}/{namespace}/deployments/{name}");
        Self { world, namespace, name, path }
    }

    pub(super) async fn create(&self, strategy: &str, replicas: u32) {
        let labels = json!({"app": self.name, "tier": "web"});
        let deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": self.name},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": self.name}},
                "strategy": {"type": strategy},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}},
            },
        });
        self.world
            .post(&format!("{APPS}/{}/deployments", self.namespace), &deployment)
            .await
            .unwrap();
    }

    pub(super) async fn set_image(&self, image: &str) -> Result<Value, String> {
        let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}});
        self.world.writer.merge(&self.path, &change).await
    }

    async fn listed(&self, collection: &str) -> Vec<Value> {
        let list =
            self.world.admin.get(&format!("{collection}?labelSelector=app%3D{}", self.name)).await;
        list["items"].as_array().unwrap().clone()
    }

    async fn pods(&self) -> Vec<Value> {
        self.listed(&format!("/api/v1/namespaces/{}/pods", self.namespace)).await
    }

    pub(super) async fn sets(&self) -> Vec<Value> {
        self.listed(&format!("{APPS}/{}/replicasets", self.namespace)).await
    }

    /// Makes pods ready until these are all there is.
    pub(super) async fn runs(&self, image: &str, count: usize) {
        until(&format!("{} of {image} run", self.name), async || {
            let pods = self.pods().await;
            for pod in &pods {
                self.make_ready(pod).await;
            }
            let right = |pod: &&Value| {
                pod["spec"]["containers"][0]["image"] == image
                    && pod["metadata"]["deletionTimestamp"].is_null()
            };
            pods.len() == count && pods.iter().filter(right).count() == count
        })
        .await;
    }

    /// Makes pods ready until the controller is done.
    pub(super) async fn settles(&self) {
        until(&format!("{} is settled", self.name), async || {
            let pods = self.pods().await;
            for pod in &pods {
                self.make_ready(pod).await;
            }
            let deployment = self.world.admin.get(&self.path).await;
            let status = &deployment["status"];
            let wanted = &deployment["spec"]["replicas"];
            status["observedGeneration"] == deployment["metadata"]["generation"]
                && [&status["updatedReplicas"], &status["replicas"], &status["availableReplicas"]]
                    .iter()
                    .all(|count| *count == wanted)
        })
        .await;
    }

    /// What a kubelet would say.
    async fn make_ready(&self, pod: &Value) {
        let conditions = pod["status"]["conditions"].as_array();
        let is_ready =
            |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
        if conditions.into_iter().flatten().any(is_ready) {
            return;
        }
        let name = pod["metadata"]["name"].as_str().unwrap();
        let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        // It may be gone by now.
        let path = format!("/api/v1/namespaces/{}/pods/{name}/status", self.namespace);
        let _ = self.world.admin.merge(&path, &status).await;
    }

    async fn keep_pods(&self) {
        self.finalize(&json!(["example.com/slow"])).await;
    }

    async fn let_pods_go(&self) {
        self.finalize(&Value::Null).await;
    }

    async fn finalize(&self, finalizers: &Value) {
        for pod in self.pods().await {
            let name = pod["metadata"]["name"].as_str().unwrap();
            let path = format!("/api/v1/namespaces/{}/pods/{name}", self.namespace);
            self.world
                .admin
                .merge(&path, &json!({"metadata": {"finalizers": finalizers}}))
                .await
                .unwrap();
        }
    }

    /// What the controller says about its progress.
    pub(super) async fn says(&self) -> String {
        let deployment = self.world.admin.get(&self.path).await;
        let conditions = deployment["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let progressing = conditions.iter().find(|condition| {
            condition["type"] == "Progressing" && condition["reason"] == "ReplicaSetCreateError"
        });
        progressing.map(|condition| condition["message"].to_string()).unwrap_or_default()
    }

    /// What the table of rooms says is waiting, read from the objects as the server has them.
    pub(super) async fn pending(&self) -> Option<String> {
        let target = self.world.admin.get(&self.path).await;
        let made = self.sets().await;
        let room = rooms::room(What::Deployments).unwrap();
        room.pending(&Documents { target: &target, made: &made })?.change
    }
}
