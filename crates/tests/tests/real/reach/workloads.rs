//! What is refused of a `StatefulSet` and a `DaemonSet`, and what goes on?
//!
//! Their rooms refuse the wish, so each way to send one is a row: by every verb and subresource, by everybody, with the labels by which it is
//! chosen taken away, and by the settings that keep pods from following a template. No kubelet runs here: pods are made ready by hand.

use serde_json::{Value, json};

use super::{
    rows::{held, passes},
    world::{World, gate_path, open_now, open_tomorrow},
};
use crate::rollout::writers::{RIGHTS, Writer, until};

pub(super) const KINDS: [&str; 2] = ["statefulsets", "daemonsets"];

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    for kind in KINDS {
        let set = Set { world, kind, path: path_of(world, kind, "shop", "db") };
        create(world, kind, "shop", "db").await;
        ways_to_send_it(&set).await;
        what_goes_on(&set).await;
        who_sends_it(&set).await;
        whoever_leaves_is_held(&set).await;
        what_keeps_pods_as_they_are(&set).await;
        freezes_hold(&set).await;
    }
    a_cluster_gate_leaves_the_system_alone(world).await;
}

struct Set<'a> {
    world: &'a World,
    kind: &'static str,
    path: String,
}

impl Set<'_> {
    fn what(&self) -> &'static str {
        what(self.kind)
    }

    fn gate(&self) -> String {
        gate_path("shop", self.kind)
    }

    /// A gate on all of the kind, or on what `choice` says.
    async fn shut(&self, choice: &Value) {
        let mut hold = choice.clone();
        hold["what"] = json!(self.what());
        self.world.gate("shop", self.kind, json!({"holds": [hold]})).await;
        self.world.open(&self.gate(), &[open_tomorrow()]).await;
        until("it is shut until tomorrow", async || {
            self.merge("", &image("app:2")).await.is_err_and(|said| said.contains("opens at"))
        })
        .await;
    }

    async fn remove_gate(&self) {
        self.world.remove_gate("shop", self.kind).await;
        until("it is gone", async || self.merge("", &image("app:2")).await.is_ok()).await;
    }

    /// Not kept: what is asked is whether the server would take it.
    async fn merge(&self, subresource: &str, change: &Value) -> Result<Value, String> {
        self.merge_by(&self.world.writer, subresource, change).await
    }

    async fn merge_by(
        &self,
        writer: &Writer,
        subresource: &str,
        change: &Value,
    ) -> Result<Value, String> {
        writer.merge(&format!("{}{subresource}?dryRun=All", self.path), change).await
    }

    /// Kept, by whoever no gate holds.
    async fn write(&self, subresource: &str, change: &Value) {
        let path = format!("{}{subresource}", self.path);
        self.world.initiator.merge(&path, change).await.unwrap();
    }

    async fn get(&self) -> Value {
        self.world.admin.get(&self.path).await
    }

    /// What its controller says once it has seen everything there is to see.
    async fn observe(&self, mut status: Value) {
        status["observedGeneration"] = self.get().await["metadata"]["generation"].clone();
        self.write("/status", &json!({"status": status})).await;
    }

    #[track_caller]
    fn held(&self, answer: Result<Value, String>) {
        held(answer, &format!("held by ChangeGate shop/{}", self.kind));
    }
}

/// By every verb and every path.
async fn ways_to_send_it(set: &Set<'_>) {
    set.shut(&json!({})).await;
    let said = set.merge("", &image("app:2")).await.expect_err("the gate is shut");
    let opens = format!("held by ChangeGate shop/{}, which opens at ", set.kind);
    assert!(said.contains(&opens) && said.contains("; send it again then"), "{said}");
    let writer = &set.world.writer;
    let dry = format!("{}?dryRun=All", set.path);
    let mut whole = set.get().await;
    whole["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    set.held(writer.send("PUT", &dry, "application/json", &whole).await);
    let mut applied = workload(set.kind, "db");
    applied["spec"]["template"]["spec"]["containers"][0]["image"] = json!("app:2");
    set.held(writer.apply(&dry, &set.world.here(&applied)).await);
    let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "app:2"}]);
    set.held(writer.send("PATCH", &dry, "application/json-patch+json", &patch).await);
    if set.world.has_workloads() {
        let kind = "application/strategic-merge-patch+json";
        set.held(writer.send("PATCH", &dry, kind, &image("app:2")).await);
    }
    // A restart is a change of the template; so is one that comes with an annotation, or with more pods.
    let restart = json!({"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "x"}}}}});
    set.held(set.merge("", &restart).await);
    let mut noted = image("app:2");
    noted["metadata"] = json!({"annotations": {"example.com/why": "urgent"}});
    set.held(set.merge("", &noted).await);
    let mut scaled = image("app:2");
    scaled["spec"]["minReadySeconds"] = json!(3);
    set.held(set.merge("", &scaled).await);
    // By the status it changes nothing.
    let by_status = set.merge("/status", &image("app:2")).await.unwrap();
    assert_eq!(by_status["spec"]["template"]["spec"]["containers"][0]["image"], "app:1");
    // RCH-10: taking a part of the template away leaves no stamp, whether or not the gate is open; the words say how to send it.
    let removal = json!({"spec": {"template": {"metadata": {"labels": {"part": null}}}}});
    let stamped = |mut change: Value| {
        change["metadata"] = json!({"annotations": {"example.com/why": "gone"}});
        change
    };
    let unstamped = async || {
        let said = set.merge("", &removal).await.expect_err("there is no stamp");
        assert!(said.contains("no fresh stamp") && said.contains("change an annotation"), "{said}");
    };
    unstamped().await;
    set.held(set.merge("", &stamped(removal.clone())).await);
    set.world.open(&set.gate(), &[open_now()]).await;
    until("it opens", async || set.merge("", &image("app:2")).await.is_ok()).await;
    unstamped().await;
    passes(set.merge("", &stamped(removal.clone())).await);
    set.world.open(&set.gate(), &[open_tomorrow()]).await;
    until("it closes", async || set.merge("", &image("app:2")).await.is_err()).await;
}

/// RCH-6: what the page of the room says that it does not hold.
async fn what_goes_on(set: &Set<'_>) {
    passes(set.merge("", &json!({"metadata": {"annotations": {"example.com/note": "x"}}})).await);
    passes(set.merge("", &json!({"metadata": {"labels": {"tier": "db"}}})).await);
    passes(set.merge("", &json!({"spec": {"minReadySeconds": 7}})).await);
    passes(set.merge("/status", &json!({"status": {"observedGeneration": 0}})).await);
    if set.kind == "statefulsets" {
        passes(set.merge("", &json!({"spec": {"replicas": 5}})).await);
        if set.world.has_workloads() {
            passes(set.merge("/scale", &json!({"spec": {"replicas": 5}})).await);
        }
    }
    let other = workload(set.kind, "new");
    let collection = set.path.trim_end_matches("/db");
    passes(set.world.post(&format!("{collection}?dryRun=All"), &other).await);
    let gone = format!("{}?dryRun=All", set.path);
    passes(set.world.writer.send("DELETE", &gone, "", &Value::Null).await);
    // A gate stays in its namespace, and in its room.
    let lab = path_of(set.world, set.kind, "lab", "db");
    create(set.world, set.kind, "lab", "db").await;
    passes(set.world.writer.merge(&format!("{lab}?dryRun=All"), &image("app:2")).await);
    let other = KINDS[usize::from(set.kind == KINDS[0])];
    let neighbour = path_of(set.world, other, "shop", "neighbour");
    create(set.world, other, "shop", "neighbour").await;
    passes(set.world.writer.merge(&format!("{neighbour}?dryRun=All"), &image("app:2")).await);
}

/// GATE-15, RCH-1
async fn who_sends_it(set: &Set<'_>) {
    let client = &set.world.client;
    let ann = Writer::new(client, "ann", &[RIGHTS], None);
    let argo = "system:serviceaccount:argocd:argocd-application-controller";
    let argo = Writer::new(client, argo, &[RIGHTS], None);
    for writer in [&set.world.admin, &ann, &argo] {
        set.held(set.merge_by(writer, "", &image("app:2")).await);
    }
    passes(set.merge_by(&set.world.initiator, "", &image("app:2")).await);
    let exempt = json!({"spec": {"exempt": {"users": ["ann"]}}});
    set.world.admin.merge(&set.gate(), &exempt).await.unwrap();
    until("the exempt pass", async || set.merge_by(&ann, "", &image("app:2")).await.is_ok()).await;
    set.held(set.merge_by(&argo, "", &image("app:2")).await);
    set.remove_gate().await;
}

/// RCH-12: by its own name and labels, and nobody leaves by taking a label away first.
async fn whoever_leaves_is_held(set: &Set<'_>) {
    let relabel = |tier: &Value| json!({"metadata": {"labels": {"tier": tier}}});
    let selector = json!({"matchLabels": {"tier": "web"}});
    let leave = json!("db");
    set.shut(&json!({"selector": selector})).await;
    let mut both = image("app:2");
    both["metadata"] = relabel(&leave)["metadata"].clone();
    set.held(set.merge("", &both).await);
    set.held(set.merge("", &relabel(&leave)).await);
    // No stamp, so it is refused for that.
    set.held(set.merge("", &relabel(&Value::Null)).await);
    if set.world.has_workloads() {
        // The status of a workload carries labels; that of the stand-in is of a custom kind, and does not.
        set.held(set.merge("/status", &relabel(&leave)).await);
    }
    passes(set.merge("", &json!({"metadata": {"labels": {"other": "x"}}})).await);
    passes(set.merge_by(&set.world.initiator, "", &relabel(&leave)).await);
    set.remove_gate().await;
    // Who is chosen by name stays chosen.
    set.shut(&json!({"names": ["db"], "selector": selector})).await;
    passes(set.merge("", &relabel(&leave)).await);
    set.held(set.merge("", &both).await);
    set.remove_gate().await;
    for (choice, is_held) in [
        (json!({"names": ["db"]}), true),
        (json!({"names": ["api"]}), false),
        (json!({"selector": {"matchLabels": {"part": "web"}}}), false),
    ] {
        let mut hold = choice.clone();
        hold["what"] = json!(set.what());
        // What is in this gate's second entry is known when the first is.
        set.world.gate("shop", set.kind, json!({"holds": [hold]})).await;
        let known = json!({"what": set.what(), "names": ["neighbour2"]});
        set.world.gate("shop", "known", json!({"holds": [known]})).await;
        let beside = path_of(set.world, set.kind, "shop", "neighbour2");
        let created = set.world.admin.send("GET", &beside, "", &Value::Null).await.is_ok();
        if !created {
            create(set.world, set.kind, "shop", "neighbour2").await;
        }
        let beside = format!("{beside}?dryRun=All");
        let changed = async || set.world.writer.merge(&beside, &image("app:2")).await;
        until("both are known", async || changed().await.is_err()).await;
        let answer = set.merge("", &image("app:2")).await;
        assert_eq!(answer.is_err(), is_held, "{choice}: {answer:?}");
        set.world.remove_gate("shop", "known").await;
        set.remove_gate().await;
        until("both are gone", async || changed().await.is_ok()).await;
    }
}

/// A template that waits behind a partition, or with `OnDelete`, begins when these go.
async fn what_keeps_pods_as_they_are(set: &Set<'_>) {
    let strategy = |strategy: Value| json!({"spec": {"updateStrategy": strategy}});
    let on_delete = strategy(json!({"type": "OnDelete", "rollingUpdate": null}));
    let rolling = strategy(json!({"type": "RollingUpdate"}));
    let (waits, settled) = if set.kind == "statefulsets" {
        let status = |updated: u32, current: &str| json!({"replicas": 2, "updatedReplicas": updated, "currentRevision": current, "updateRevision": "b"});
        (status(0, "a"), [status(0, "b"), status(2, "a")])
    } else {
        let status = |updated: u32| {
            json!({"currentNumberScheduled": 2, "numberMisscheduled": 0, "desiredNumberScheduled": 2, "numberReady": 0,
                "updatedNumberScheduled": updated})
        };
        (status(0), [status(2), status(2)])
    };
    set.write("", &on_delete).await;
    set.shut(&json!({})).await;
    // Nobody knows yet whether something waits.
    set.held(set.merge("", &rolling).await);
    set.observe(waits.clone()).await;
    set.held(set.merge("", &rolling).await);
    for status in &settled {
        set.observe(status.clone()).await;
        passes(set.merge("", &rolling).await);
    }
    // Keeping more pods as they are begins nothing.
    set.write("", &rolling).await;
    set.observe(waits.clone()).await;
    passes(set.merge("", &on_delete).await);
    if set.kind == "statefulsets" {
        let partition = |ordinal: u32| {
            strategy(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": ordinal}}))
        };
        passes(set.merge("", &partition(2)).await);
        set.write("", &partition(2)).await;
        set.observe(waits.clone()).await;
        set.held(set.merge("", &partition(1)).await);
        set.held(set.merge("", &strategy(json!({"rollingUpdate": null}))).await);
        passes(set.merge("", &partition(3)).await);
        passes(set.merge("", &on_delete).await);
        set.observe(settled[0].clone()).await;
        passes(set.merge("", &partition(0)).await);
    }
    set.remove_gate().await;
}

async fn freezes_hold(set: &Set<'_>) {
    for (holds, is_held) in
        [(json!([{"what": set.what()}]), true), (json!([{"what": "KuredLock"}]), false)]
    {
        set.world.freeze("shop", "stop", json!({"reason": "audit", "holds": holds})).await;
        // Written later: when this one is known, so is the first.
        let known = json!([{"what": set.what(), "names": ["neighbour2"]}]);
        set.world.freeze("shop", "known", json!({"reason": "x", "holds": known})).await;
        let beside = format!("{}?dryRun=All", path_of(set.world, set.kind, "shop", "neighbour2"));
        let changed = async || set.world.writer.merge(&beside, &image("app:2")).await;
        until("both are known", async || changed().await.is_err()).await;
        let answer = set.merge("", &image("app:2")).await;
        if is_held {
            held(answer, "held by ChangeFreeze shop/stop until further notice, unsigned: audit");
        } else {
            passes(answer);
        }
        set.world.thaw("shop", "stop").await;
        set.world.thaw("shop", "known").await;
        until("it is over", async || {
            changed().await.is_ok() && set.merge("", &image("app:2")).await.is_ok()
        })
        .await;
    }
}

/// RCH-13
async fn a_cluster_gate_leaves_the_system_alone(world: &World) {
    let holds: Value = KINDS.iter().map(|kind| json!({"what": what(kind)})).collect();
    for kind in KINDS {
        create(world, kind, "kube-part", "system").await;
    }
    world.cluster_gate("platform", json!({"holds": holds})).await;
    for kind in KINDS {
        let shop = format!("{}?dryRun=All", path_of(world, kind, "shop", "db"));
        until("it holds", async || {
            let answer = world.writer.merge(&shop, &image("app:2")).await;
            answer.is_err_and(|said| said.contains("held by ClusterChangeGate platform"))
        })
        .await;
        let system = format!("{}?dryRun=All", path_of(world, kind, "kube-part", "system"));
        passes(world.writer.merge(&system, &image("app:2")).await);
    }
    world.remove_cluster_gate("platform").await;
}

/// With the stock controllers: what was there is scaled and healed while a template is held, and what began in a window ends after it.
pub(super) async fn go_on_across_an_opening_and_a_closing(world: &World) {
    world.namespace("shop", &json!({})).await;
    for node in ["n1", "n2"] {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}});
        world.admin.create("/api/v1/nodes", &node).await;
    }
    let holds: Value = KINDS.iter().map(|kind| json!({"what": what(kind)})).collect();
    world.gate("shop", "templates", json!({"holds": holds})).await;
    let gate = gate_path("shop", "templates");
    world.open(&gate, &[open_tomorrow()]).await;
    for kind in KINDS {
        // The first install goes on.
        create(world, kind, "shop", kind).await;
        let path = path_of(world, kind, "shop", kind);
        runs(world, kind, "app:1", 2).await;
        until("its template is held", async || {
            let answer = world.writer.merge(&path, &image("app:2")).await;
            answer.expect_err("the gate is shut").contains("which opens at")
        })
        .await;
        // Healing and scaling go on.
        let lost = pods(world, kind).await[0].clone();
        let pod =
            format!("/api/v1/namespaces/shop/pods/{}", lost["metadata"]["name"].as_str().unwrap());
        world.admin.send("DELETE", &pod, "", &Value::Null).await.unwrap();
        until("another takes its place", async || {
            let pods = pods(world, kind).await;
            pods.len() == 2
                && pods.iter().all(|pod| pod["metadata"]["uid"] != lost["metadata"]["uid"])
        })
        .await;
        if kind == "statefulsets" {
            let more = json!({"spec": {"replicas": 3}});
            world.admin.merge(&format!("{path}/scale"), &more).await.unwrap();
        } else {
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}});
            world.admin.create("/api/v1/nodes", &node).await;
        }
        runs(world, kind, "app:1", 3).await;
    }
    world.open(&gate, &[open_now()]).await;
    for kind in KINDS {
        let path = path_of(world, kind, "shop", kind);
        until("it opens", async || world.writer.merge(&path, &image("app:2")).await.is_ok()).await;
        until("its first pod is replaced", async || {
            pods(world, kind)
                .await
                .iter()
                .any(|pod| pod["spec"]["containers"][0]["image"] == "app:2")
        })
        .await;
    }
    // It closes in the middle, and what has begun ends (RCH-5).
    world.open(&gate, &[open_tomorrow()]).await;
    for kind in KINDS {
        let path = path_of(world, kind, "shop", kind);
        until("it closes", async || {
            let answer = world.writer.merge(&format!("{path}?dryRun=All"), &image("app:3")).await;
            answer.is_err_and(|said| said.contains("which opens at"))
        })
        .await;
        runs(world, kind, "app:2", 3).await;
    }
}

async fn pods(world: &World, name: &str) -> Vec<Value> {
    let list =
        world.admin.get(&format!("/api/v1/namespaces/shop/pods?labelSelector=app%3D{name}")).await;
    list["items"].as_array().unwrap().clone()
}

/// Makes pods ready, as a kubelet would, until these are all there is.
async fn runs(world: &World, name: &str, image: &str, count: usize) {
    until(&format!("{name} runs {image}"), async || {
        let pods = pods(world, name).await;
        for pod in &pods {
            if pod["status"]["phase"] == "Running" {
                continue;
            }
            let name = pod["metadata"]["name"].as_str().unwrap();
            let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
            // It may be gone by now.
            let _ = world.admin.merge(&format!("/api/v1/namespaces/shop/pods/{name}/status"), &status).await;
        }
        let right = |pod: &&Value| {
            pod["spec"]["containers"][0]["image"] == image
                && pod["metadata"]["deletionTimestamp"].is_null()
        };
        pods.len() == count && pods.iter().filter(right).count() == count
    })
    .await;
}

fn what(kind: &str) -> &'static str {
    if kind == "statefulsets" { "StatefulSets" } else { "DaemonSets" }
}

fn path_of(world: &World, kind: &str, namespace: &str, name: &str) -> String {
    format!("{}/namespaces/{namespace}/{kind}/{name}", world.apps)
}

pub(super) async fn create(world: &World, kind: &str, namespace: &str, name: &str) {
    let collection = format!("{}/namespaces/{namespace}/{kind}", world.apps);
    world.admin.create(&collection, &world.here(&workload(kind, name))).await;
}

/// A change of the template. Merged, it replaces the list of containers.
pub(super) fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}})
}

/// Its pods go to every node, whatever taint a node without a kubelet has.
fn workload(kind: &str, name: &str) -> Value {
    let labels = json!({"app": name, "part": "db"});
    let mut workload = json!({
        "apiVersion": "apps/v1",
        "kind": what(kind).trim_end_matches('s'),
        "metadata": {"name": name, "labels": {"tier": "web"}},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": {
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "app", "image": "app:1"}],
            }},
        },
    });
    if kind == "statefulsets" {
        workload["spec"]["serviceName"] = json!(name);
        workload["spec"]["replicas"] = json!(2);
    }
    workload
}
