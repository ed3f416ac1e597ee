//! Does an update go from the wish to the last worker? The real operator, the real agents, and somebody who plays the cluster version
//! operator and follows marks alone (CV-1, CV-4).

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::time::Duration;

use http::Method;
use schedule::Instant;
use serde_json::{Value, json};
use sim::{Sandbox, Settings, example, stock::Item};

const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const OVERRIDES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangeoverrides";
const MARK: &str = "changemanagement.openshift.io/accepted-release";

/// How many seconds pass in one: an update takes hours.
const SPEED: u32 = 600;

struct Play(Sandbox);

impl Play {
    /// The example, which changes at weekends.
    async fn start(at: &str) -> Self {
        let at = Instant::parse(at).unwrap();
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
            "kind": "ChangeManagementPolicy", "metadata": {"name": "weekend"},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": {
                "frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}}}}});
        let mut items = vec![Item { origin: "test".into(), object: policy }];
        items.extend(example::objects(at, &["weekend".to_owned()]));
        let settings = Settings { speed: SPEED, ..Settings::starting_at(at) };
        Self(Sandbox::start(settings, items).await.unwrap())
    }

    fn ask(&self, method: &Method, path: &str, body: &Value) -> Result<Value, String> {
        let content = if *method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = self.0.api_server().ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        if code < 300 { Ok(answer) } else { Err(answer["message"].to_string()) }
    }

    fn get(&self, path: &str) -> Value {
        self.ask(&Method::GET, path, &Value::Null).unwrap()
    }

    fn newest(&self) -> Value {
        self.get(VERSION)["status"]["history"][0].clone()
    }

    fn condition(&self, kind: &str) -> String {
        let version = self.get(VERSION);
        let all = version["status"]["conditions"].as_array().unwrap();
        let one = all.iter().find(|one| one["type"] == kind);
        one.map(|one| {
            format!("{} {}", one["reason"].as_str().unwrap(), one["message"].as_str().unwrap())
        })
        .unwrap_or_default()
    }

    /// So long by the clock of the sandbox.
    async fn pass(&self, length: Duration) {
        tokio::time::sleep(length / SPEED).await;
    }

    /// How many nodes of a role have a release.
    fn have(&self, role: &str, release: &str) -> usize {
        let nodes = self.get("/api/v1/nodes")["items"].as_array().unwrap().clone();
        let named = |node: &Value, key: &str| {
            node["metadata"]["annotations"][format!("machineconfiguration.openshift.io/{key}")]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let of_role = nodes.iter().filter(|node| {
            node["metadata"]["name"].as_str().unwrap().starts_with(role)
                && named(node, "state") == "Done"
        });
        of_role
            .filter(|node| {
                let config = self.get(&format!("{CONFIGS}/{}", named(node, "currentConfig")));
                config.to_string().contains(&format!("data:,{release}\""))
            })
            .count()
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_goes_from_the_wish_to_the_last_worker() {
    let play = Play::start("2026-11-20T21:00:00Z").await;
    let wish = json!({"spec": {"desiredUpdate": {"version": "4.20.10"}}});
    play.ask(&Method::PATCH, VERSION, &wish).unwrap();
    play.pass(Duration::from_mins(10)).await;
    assert_eq!(play.newest()["version"], "4.20.8", "a wish moves nothing");
    let said = play.condition("ChangesPending");
    assert!(
        said.starts_with("Held held until 2026-11-21T00:00:00Z: release 4.20.10 (now 4.20.8)"),
        "{said}"
    );
    // GATE-7: nobody marks it by hand, and the server says who would.
    let forged = json!({"metadata": {"annotations": {MARK: "{\"version\":\"4.20.10\"}"}}});
    let refused = play.ask(&Method::PATCH, VERSION, &forged).unwrap_err();
    assert!(refused.contains("only the operator"), "{refused}");

    play.pass(Duration::from_mins(175)).await;
    let newest = play.newest();
    assert_eq!((&newest["version"], &newest["state"]), (&json!("4.20.10"), &json!("Partial")));
    let started = newest["startedTime"].as_str().unwrap();
    assert!(("2026-11-21T00:00:00Z".."2026-11-21T00:05:00Z").contains(&started), "{started}");
    let marked = play.get(VERSION)["metadata"]["annotations"][MARK].clone();
    assert!(marked.as_str().unwrap().contains("@sha256:"), "{marked}");
    assert!(
        play.condition("ChangesPending").starts_with("UnderWay"),
        "{}",
        play.condition("ChangesPending")
    );
    assert_eq!(play.have("master", "4.20.10"), 0, "the payload comes first");

    for _ in 0..48 {
        play.pass(Duration::from_mins(5)).await;
        if play.newest()["state"] == "Completed" {
            break;
        }
    }
    assert_eq!(play.newest()["state"], "Completed", "{}", play.condition("Progressing"));
    assert_eq!(play.have("master", "4.20.10"), 3, "it ends with the masters, and not by a timer");
    let operators = play.get("/apis/config.openshift.io/v1/clusteroperators");
    let operators = operators["items"].as_array().unwrap();
    assert!(operators.len() > 8);
    assert!(
        operators.iter().all(|one| one["status"]["versions"][0]["version"] == "4.20.10"),
        "{operators:?}"
    );
    assert_eq!(play.get(VERSION)["status"]["availableUpdates"][0]["version"], "4.20.12");
    play.pass(Duration::from_hours(3)).await;
    assert_eq!(play.have("worker", "4.20.10"), 6);
    assert!(play.condition("ChangesPending").starts_with("NothingPending"));
    assert!(play.condition("InitiatedOutsideWindow").is_empty());
    assert!(play.condition("Enforced").starts_with("Proven"), "{}", play.condition("Enforced"));
    let noted = play.get(VERSION)["metadata"]["annotations"].clone();
    assert_eq!(
        noted["changemanagement.openshift.io/begun-release"],
        Value::Null,
        "the record has ended"
    );
    assert_eq!(
        noted["changemanagement.openshift.io/wanted-image"],
        Value::Null,
        "and so has the pin"
    );
}

/// CV-3: a node has the kubelet of the release on its disk, so workers that stay behind make the cluster not upgradeable after the second minor version, as they
/// would on a cluster, and it is upgradeable again once they have caught up.
#[tokio::test(start_paused = true)]
async fn workers_that_stay_behind_make_the_cluster_not_upgradeable() {
    const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
    let play = Play::start("2026-11-21T00:00:00Z").await;
    let pools = ["worker", "infra", "batch"].map(|name| format!("{POOLS}/{name}"));
    let stanza = |pool: &str, strategy: &str| {
        let stanza = json!({"strategy": strategy, "byPolicy": null});
        play.ask(&Method::PATCH, pool, &json!({"spec": {"changeManagement": stanza}})).unwrap();
    };
    for pool in &pools {
        stanza(pool, "Restrictive");
    }
    let kubelets = |role: &str, minor: &str| {
        let nodes = play.get("/api/v1/nodes")["items"].as_array().unwrap().clone();
        let of_role = nodes
            .iter()
            .filter(|node| node["metadata"]["name"].as_str().unwrap().starts_with(role));
        of_role
            .filter(|node| {
                node["status"]["nodeInfo"]["kubeletVersion"].as_str().unwrap().starts_with(minor)
            })
            .count()
    };
    for (release, minor) in [("4.21.3", "v1.34."), ("4.22.3", "v1.35.")] {
        assert_eq!(play.condition("Upgradeable"), "", "{release}");
        let wish = json!({"spec": {"desiredUpdate": {"version": release}}});
        play.ask(&Method::PATCH, VERSION, &wish).unwrap();
        for _ in 0..96 {
            play.pass(Duration::from_mins(5)).await;
            if play.newest()["version"] == release && play.newest()["state"] == "Completed" {
                break;
            }
        }
        assert_eq!(play.newest()["state"], "Completed", "{}", play.condition("Progressing"));
        assert_eq!((kubelets("master", minor), kubelets("worker", "v1.33.")), (3, 6), "{release}");
    }
    play.pass(Duration::from_mins(5)).await;
    let said = play.condition("Upgradeable");
    assert!(said.starts_with("KubeletMinorVersionUnsupportedNextUpgrade "), "{said}");
    let wish = json!({"spec": {"desiredUpdate": {"version": "4.23.3"}}});
    play.ask(&Method::PATCH, VERSION, &wish).unwrap();
    play.pass(Duration::from_mins(10)).await;
    let said = play.condition("ChangesPending");
    assert!(said.contains("the cluster is not upgradeable to 4.23.3"), "{said}");
    assert_eq!(
        play.newest()["version"],
        "4.22.3",
        "and nothing begins, although the window is open"
    );
}

/// GATE-13, OVR-2: what an override for one release let begin on a Friday began by the gate, so nothing alarms; and the override is gone from
/// the gate as soon as the release has begun.
#[tokio::test(start_paused = true)]
async fn an_update_that_an_override_let_begin_is_no_alarm() {
    let play = Play::start("2026-11-20T12:00:00Z").await;
    let wish = json!({"spec": {"desiredUpdate": {"version": "4.20.10"}}});
    play.ask(&Method::PATCH, VERSION, &wish).unwrap();
    play.pass(Duration::from_mins(10)).await;
    assert_eq!(play.newest()["version"], "4.20.8");
    let overriding = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
        "kind": "ClusterChangeOverride", "metadata": {"name": "cve"}, "spec": {
            "target": {"kind": "ClusterVersion", "name": "version"}, "reason": "CVE",
            "only": {"release": "4.20.10"}, "until": "2026-11-20T14:00:00Z"}});
    play.ask(&Method::POST, OVERRIDES, &overriding).unwrap();
    play.pass(Duration::from_mins(30)).await;
    assert_eq!(play.newest()["version"], "4.20.10", "{}", play.condition("ChangesPending"));
    let basis =
        &play.get(VERSION)["metadata"]["annotations"]["changemanagement.openshift.io/permit-basis"];
    assert_eq!(basis, "override: ClusterChangeOverride/cve");
    // It also stays so when the override has ended.
    play.pass(Duration::from_hours(3)).await;
    assert_eq!(play.condition("InitiatedOutsideWindow"), "");
}
