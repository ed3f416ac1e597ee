//! Does a gate hold a controller that never heard of us? A simulated cluster with Deployments, from a new image by day to the last pod at night.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::time::Duration;

use http::Method;
use schedule::Instant;
use serde_json::{Value, json};
use sim::{Sandbox, Settings, example, stock::Item};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/shop/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/shop/replicasets";
const PODS: &str = "/api/v1/namespaces/shop/pods";
const GATE: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/namespaces/shop/changegates/rollouts";

/// A sandbox on a Wednesday morning, whose nights begin at nine in the evening.
struct Play(Sandbox);

impl Play {
    async fn start(keep: fn(&Value) -> bool) -> Self {
        let at = Instant::parse("2026-11-18T09:00:00Z").unwrap();
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
            "kind": "ChangeManagementPolicy", "metadata": {"name": "nights"},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "startTime": "21:00", "duration": "6h",
                "recurrence": {"frequency": "Daily", "daily": {}}}}}});
        let mut items = vec![Item { origin: "test".into(), object: policy }];
        let names = ["nights".to_owned()];
        items.extend(example::objects(at, &names));
        items.extend(example::owners(at, &names));
        items.retain(|item| keep(&item.object));
        let settings = Settings::starting_at(at).with_workloads();
        let play = Self(Sandbox::start(settings, items).await.unwrap());
        play.pass(Duration::from_secs(30)).await;
        play
    }

    fn ask(&self, method: &Method, path: &str, body: &Value) -> Value {
        let content = if *method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = self.0.api_server().ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(code < 300, "{method} {path}: {answer}");
        answer
    }

    fn get(&self, path: &str) -> Value {
        self.ask(&Method::GET, path, &Value::Null)
    }

    fn deployment(&self, name: &str) -> Value {
        self.get(&format!("{DEPLOYMENTS}/{name}"))
    }

    fn change(&self, name: &str, change: &Value) {
        self.ask(&Method::PATCH, &format!("{DEPLOYMENTS}/{name}"), change);
    }

    fn set_image(&self, name: &str, image: &str) {
        let containers = json!([{"name": name, "image": image}]);
        self.change(name, &json!({"spec": {"template": {"spec": {"containers": containers}}}}));
    }

    /// Those of a workload.
    fn items(&self, path: &str, app: &str) -> Vec<Value> {
        let items = self.get(path)["items"].as_array().unwrap().clone();
        items.into_iter().filter(|one| one["metadata"]["labels"]["app"] == app).collect()
    }

    /// What runs of a workload, ready and not about to go, by image.
    fn runs(&self, app: &str) -> Vec<String> {
        let ready = |pod: &&Value| {
            let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
            pod["metadata"]["deletionTimestamp"].is_null()
                && conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
        };
        let pods = self.items(PODS, app);
        let image =
            |pod: &Value| pod["spec"]["containers"][0]["image"].as_str().unwrap().to_owned();
        pods.iter().filter(ready).map(image).collect()
    }

    async fn pass(&self, length: Duration) {
        tokio::time::sleep(length).await;
    }
}

fn condition(object: &Value, kind: &str) -> (String, String) {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == kind).unwrap();
    let part = |key: &str| found[key].as_str().unwrap().to_owned();
    (format!("{} {}", part("status"), part("reason")), part("message"))
}

/// RCH-3, RCH-4, RCH-6, GATE-13: the wish is taken, the act waits, scaling and healing go on, and who has given up is touched at the opening.
#[tokio::test(start_paused = true)]
async fn a_rollout_waits_for_its_gate_and_is_touched_when_it_opens() {
    let play = Play::start(|_| true).await;
    let old = "registry.example.com/shop/web:1.4";
    let new = "registry.example.com/shop/web:1.5";
    // What the sandbox begins with.
    let (reason, said) = condition(&play.deployment("cart"), "Progressing");
    assert_eq!(reason, "False ReplicaSetCreateError");
    let held = "held by ChangeGate shop/rollouts, which opens at 2026-11-18T21:00:00Z";
    assert!(said.contains(held), "{said}");
    assert_eq!(condition(&play.deployment("web"), "Progressing").0, "True NewReplicaSetAvailable");

    play.set_image("web", new);
    play.pass(Duration::from_secs(30)).await;
    let web = play.deployment("web");
    assert!(condition(&web, "Progressing").1.contains(held), "{web}");
    let gate = play.get(GATE);
    assert_eq!(
        (&gate["status"]["targets"], &gate["status"]["pendingCount"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(condition(&gate, "ChangesPending").0, "True Held", "{gate}");
    assert_eq!(condition(&gate, "Enforced").0, "True Proven", "{gate}");

    // Scaling and healing go on, with what runs.
    play.change("web", &json!({"spec": {"replicas": 7}}));
    let lost = play.items(PODS, "web").remove(0);
    let lost = format!("{PODS}/{}", lost["metadata"]["name"].as_str().unwrap());
    play.ask(&Method::DELETE, &lost, &Value::Null);
    play.pass(Duration::from_mins(10)).await;
    assert_eq!(play.runs("web"), vec![old; 7]);
    assert_eq!(play.items(SETS, "web").len(), 1, "nothing began");

    // Its controller has given up by now. At the opening it is touched, and rolls out pod by pod.
    play.0.clock().set(Instant::parse("2026-11-18T21:00:00Z").unwrap());
    let mut least = 7;
    for _ in 0..60 {
        play.pass(Duration::from_secs(15)).await;
        least = least.min(play.runs("web").len());
    }
    assert_eq!(play.runs("web"), vec![new; 7]);
    assert!(least >= 6, "at most one of seven is missing: {least}");
    let web = play.deployment("web");
    let touched = &web["metadata"]["annotations"]["changemanagement.openshift.io/nudged-at"];
    assert!(touched.as_str().unwrap().starts_with("2026-11-18T21:0"), "{web}");
    assert_eq!(condition(&web, "Progressing").0, "True NewReplicaSetAvailable");
    assert_eq!(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "2");
    assert_eq!(play.runs("cart"), vec!["registry.example.com/shop/cart:1.5"; 3]);
    assert_eq!(condition(&play.get(GATE), "ChangesPending").0, "False NothingPending");
    // Back to a revision that is there, outside the window: the room does not hold that.
    play.0.clock().set(Instant::parse("2026-11-19T09:00:00Z").unwrap());
    play.set_image("web", old);
    play.pass(Duration::from_mins(15)).await;
    assert_eq!(play.runs("web"), vec![old; 7]);
}

/// The same without the gate: it is the gate that holds.
#[tokio::test(start_paused = true)]
async fn without_the_gate_a_rollout_begins_at_once() {
    let play = Play::start(|object| object["kind"] != "ChangeGate").await;
    play.set_image("web", "registry.example.com/shop/web:1.5");
    play.pass(Duration::from_mins(15)).await;
    assert_eq!(play.runs("web"), vec!["registry.example.com/shop/web:1.5"; 6]);
    assert_eq!(play.runs("cart"), vec!["registry.example.com/shop/cart:1.5"; 3]);
}

/// Who deletes a workload is rid of it, and what others looked after does not come back.
#[tokio::test(start_paused = true)]
async fn pods_go_with_what_they_belong_to() {
    let play = Play::start(|_| true).await;
    play.ask(&Method::DELETE, &format!("{DEPLOYMENTS}/web"), &Value::Null);
    let db = "/apis/apps/v1/namespaces/shop/statefulsets/orders-db";
    let lost = format!("{PODS}/orders-db-0");
    play.ask(&Method::DELETE, &lost, &Value::Null);
    play.pass(Duration::from_mins(5)).await;
    assert_eq!(play.items(PODS, "web"), [Value::Null; 0]);
    assert_eq!(play.items(SETS, "web"), [Value::Null; 0]);
    assert_eq!(play.runs("orders-db").len(), 3, "a set makes its own anew");
    play.ask(&Method::DELETE, db, &Value::Null);
    play.pass(Duration::from_mins(5)).await;
    assert_eq!(play.items(PODS, "orders-db"), [Value::Null; 0]);
}
