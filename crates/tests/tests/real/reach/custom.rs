//! What do rooms of somebody's own hold, and what does a broken one do? (RCH-9, RCH-11 to RCH-14, OVR-1)

use serde_json::{Value, json};
use tidegate_core::reach::{
    custom::{self, CustomRoom},
    policies::custom::rendered,
};

use super::{
    rows::{held, passes},
    upgraders::definition,
    world::{GROUP, World, cluster_gate_path, gate, open_now, open_tomorrow},
};
use crate::rollout::writers::until;

const DRY: &str = "?dryRun=All";
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// It fails where something has no version.
const INITIATES: &str = "oldObject != null && // what is new is nobody's yet\n  object.spec.version != oldObject.spec.version";

fn rooms() -> Vec<CustomRoom> {
    let of = |name: &str, resource: &str, scope: &str| {
        json!({"name": name, "apiGroups": ["example.com"], "resources": [resource], "operations": ["CREATE", "UPDATE"],
            "scope": scope, "initiates": INITIATES, "text": "ask 'them' <now>"})
    };
    let rooms = [of("widgets", "widgets", "Namespaced"), of("planets", "planets", "Cluster")];
    custom::read(&json!({"changeGates": {"custom": rooms}})).unwrap()
}

fn documents(room: &CustomRoom) -> Vec<Value> {
    serde_saphyr::from_multiple(&rendered(room, "tidegate", "tidegate-system")).unwrap()
}

async fn install(world: &World) {
    let mut planets = definition("example.com", "v1", "Planet");
    planets["spec"]["scope"] = json!("Cluster");
    let mut widgets = definition("example.com", "v1", "Widget");
    let versions = widgets["spec"]["versions"].as_array_mut().unwrap();
    let mut newer = versions[0].clone();
    newer["name"] = json!("v2");
    newer["storage"] = json!(false);
    versions.push(newer);
    for definition in [widgets, planets] {
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        world.admin.create(all, &definition).await;
    }
    for served in ["v1/widgets", "v2/widgets", "v1/planets"] {
        let path = format!("/apis/example.com/{served}");
        until(served, async || world.admin.send("GET", &path, "", &Value::Null).await.is_ok())
            .await;
    }
    for room in rooms() {
        for document in documents(&room) {
            let of_policy = document["kind"] == "ValidatingAdmissionPolicy";
            world.admin.create(if of_policy { POLICIES } else { BINDINGS }, &document).await;
        }
    }
    for (namespace, name, spec) in [
        ("shop", "good", json!({"version": 1, "size": 1})),
        ("shop", "broken", json!({"size": 1})),
        ("lab", "good", json!({"version": 1})),
        ("kube-system", "good", json!({"version": 1})),
    ] {
        let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": name, "labels": {"env": "prod"}}, "spec": spec});
        world.initiator.create(&widgets_of(namespace, "v1"), &widget).await;
    }
    let planet = json!({"apiVersion": "example.com/v1", "kind": "Planet", "metadata": {"name": "good"}, "spec": {"version": 1}});
    world.initiator.create("/apis/example.com/v1/planets", &planet).await;
}

fn widgets_of(namespace: &str, version: &str) -> String {
    format!("/apis/example.com/{version}/namespaces/{namespace}/widgets")
}

async fn merged(world: &World, path: &str, change: Value) -> Result<Value, String> {
    world.writer.merge(&format!("{path}{DRY}"), &change).await
}

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    if world.admin.send("GET", "/api/v1/namespaces/kube-system", "", &Value::Null).await.is_err() {
        world.namespace("kube-system", &json!({})).await;
    }
    install(world).await;
    gates_hold_them(world).await;
    a_broken_one_holds_nothing_else(world).await;
    freezes_hold_them(world).await;
    definitions_keep_them_to_the_platform(world).await;
}

fn newer() -> Value {
    json!({"spec": {"version": 2}})
}

/// A gate of the platform that is shut, once the server goes by it.
async fn shut(world: &World, spec: Value, path: &str) {
    world.cluster_gate("own", spec).await;
    world.open(&cluster_gate_path("own"), &[open_tomorrow()]).await;
    let by = "held by ClusterChangeGate own, which opens at ";
    until(by, async || merged(world, path, newer()).await.is_err_and(|said| said.contains(by)))
        .await;
}

async fn opened(world: &World, path: &str) {
    world.open(&cluster_gate_path("own"), &[open_now()]).await;
    until("it is open", async || merged(world, path, newer()).await.is_ok()).await;
}

fn naming(rooms: &[&str]) -> Value {
    json!({"holds": [{"what": "Custom", "rooms": rooms}]})
}

async fn gates_hold_them(world: &World) {
    let good = format!("{}/good", widgets_of("shop", "v1"));
    until("nothing holds", async || merged(world, &good, newer()).await.is_ok()).await;
    shut(world, naming(&["widgets"]), &good).await;
    let by = "held by ClusterChangeGate own";
    held(merged(world, &good, newer()).await, "ask 'them' <now>");
    held(merged(world, &format!("{}/good", widgets_of("shop", "v2")), newer()).await, by);
    let applied = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "good"}, "spec": {"version": 2}});
    held(world.writer.apply(&format!("{good}{DRY}"), &applied).await, by);
    let mut whole = world.admin.get(&good).await;
    whole["spec"]["version"] = json!(2);
    held(world.writer.send("PUT", &format!("{good}{DRY}"), "application/json", &whole).await, by);
    // What begins nothing, what is new, what another gate would have to name, and where gates of the platform do not reach.
    passes(merged(world, &good, json!({"spec": {"size": 2}})).await);
    passes(
        world
            .post(&format!("{}{DRY}", widgets_of("shop", "v1")), &{
                let mut new = applied.clone();
                new["metadata"]["name"] = json!("new");
                new
            })
            .await,
    );
    passes(merged(world, "/apis/example.com/v1/planets/good", newer()).await);
    passes(merged(world, &format!("{}/good", widgets_of("kube-system", "v1")), newer()).await);
    held(merged(world, &format!("{}/good", widgets_of("lab", "v1")), newer()).await, by);
    passes(world.initiator.merge(&format!("{good}{DRY}"), &newer()).await);
    opened(world, &good).await;
    world.remove_cluster_gate("own").await;
    // RCH-12: nobody leaves by a label.
    let hold = json!({"what": "Custom", "rooms": ["widgets"], "selector": {"matchLabels": {"env": "prod"}}});
    shut(world, json!({"holds": [hold]}), &good).await;
    held(merged(world, &good, json!({"metadata": {"labels": {"env": "test"}}})).await, by);
    passes(merged(world, &good, json!({"metadata": {"labels": {"other": "x"}}})).await);
    world.remove_cluster_gate("own").await;
    // What is in no namespace.
    let planet = "/apis/example.com/v1/planets/good";
    shut(world, naming(&["planets"]), planet).await;
    passes(merged(world, &good, newer()).await);
    opened(world, planet).await;
    world.remove_cluster_gate("own").await;
}

/// An expression that fails holds what a gate chose that is shut, and nothing else.
async fn a_broken_one_holds_nothing_else(world: &World) {
    let good = format!("{}/good", widgets_of("shop", "v1"));
    let broken = format!("{}/broken", widgets_of("shop", "v1"));
    let touch = async || merged(world, &broken, json!({"spec": {"size": 2}})).await;
    until("nothing holds", async || merged(world, &good, newer()).await.is_ok()).await;
    passes(touch().await);
    shut(world, naming(&["widgets"]), &good).await;
    let said = touch().await.unwrap_err();
    assert!(said.contains("cluster-gate-custom-widgets"), "{said}");
    passes(world.initiator.merge(&format!("{broken}{DRY}"), &json!({"spec": {"size": 2}})).await);
    opened(world, &good).await;
    passes(touch().await);
    world.remove_cluster_gate("own").await;
    // Neither does one that a gate does not choose, by name, by place or because it lets somebody pass.
    let chosen = json!({"holds": [{"what": "Custom", "rooms": ["widgets"], "names": ["good"]}]});
    shut(world, chosen, &good).await;
    passes(touch().await);
    world.remove_cluster_gate("own").await;
    for mode in ["Warn", "Audit"] {
        let mut spec = naming(&["widgets"]);
        spec["mode"] = json!(mode);
        world.cluster_gate("own", spec).await;
        world.open(&cluster_gate_path("own"), &[open_tomorrow()]).await;
        until("it refuses nothing", async || merged(world, &good, newer()).await.is_ok()).await;
        passes(touch().await);
        world.remove_cluster_gate("own").await;
    }
}

/// OVR-1: whoever freezes everything freezes them, and whoever names them freezes them alone.
async fn freezes_hold_them(world: &World) {
    let good = format!("{}/good", widgets_of("shop", "v1"));
    let lab = format!("{}/good", widgets_of("lab", "v1"));
    let planet = "/apis/example.com/v1/planets/good";
    let frozen = async |path: &str, by: &str| {
        until(by, async || merged(world, path, newer()).await.is_err_and(|said| said.contains(by)))
            .await;
    };
    let thawed = async |path: &str| {
        until("it thawed", async || merged(world, path, newer()).await.is_ok()).await;
    };
    world.freeze("shop", "stop", json!({"reason": "a storm"})).await;
    frozen(&good, "held by ChangeFreeze shop/stop").await;
    passes(merged(world, &lab, newer()).await);
    passes(merged(world, planet, newer()).await);
    world.thaw("shop", "stop").await;
    thawed(&good).await;
    world.cluster_freeze("stop", json!({"reason": "a storm"})).await;
    frozen(&good, "held by ClusterChangeFreeze stop").await;
    frozen(planet, "held by ClusterChangeFreeze stop").await;
    world.thaw_cluster("stop").await;
    thawed(&good).await;
    thawed(planet).await;
    let alone = json!({"reason": "a storm", "holds": [{"what": "Custom", "rooms": ["planets"]}]});
    world.cluster_freeze("stop", alone).await;
    frozen(planet, "held by ClusterChangeFreeze stop").await;
    passes(merged(world, &good, newer()).await);
    world.thaw_cluster("stop").await;
    thawed(planet).await;
}

/// RCH-11, RCH-14
async fn definitions_keep_them_to_the_platform(world: &World) {
    let team = format!("{GROUP}/namespaces/shop/changegates{DRY}");
    let wide = format!("{GROUP}/clusterchangegates{DRY}");
    let own = |hold: Value| json!({"holds": [hold]});
    let custom = json!({"what": "Custom", "rooms": ["widgets"]});
    held(
        world.post(&team, &gate("ChangeGate", "tried", own(custom.clone()))).await,
        "Custom rooms belong to the platform",
    );
    passes(world.post(&wide, &gate("ClusterChangeGate", "tried", own(custom.clone()))).await);
    for (hold, refusal) in [
        (json!({"what": "Custom"}), "rooms is required for Custom"),
        (json!({"what": "Deployments", "rooms": ["widgets"]}), "is for nothing else"),
        (json!({"what": "Custom", "rooms": []}), "should have at least 1 items"),
        (json!({"what": "Custom", "rooms": ["Widgets.v1"]}), "should match"),
        (
            json!({"what": "Custom", "rooms": ["widgets"], "how": "Queue"}),
            "how must be Refuse for Custom",
        ),
    ] {
        held(world.post(&wide, &gate("ClusterChangeGate", "tried", own(hold))).await, refusal);
    }
    let freeze = |kind: &str| {
        json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": kind, "metadata": {"name": "tried"},
            "spec": {"reason": "x", "holds": [custom]}})
    };
    let team = format!("{GROUP}/namespaces/shop/changefreezes{DRY}");
    held(world.post(&team, &freeze("ChangeFreeze")).await, "Custom rooms belong to the platform");
    let wide = format!("{GROUP}/clusterchangefreezes{DRY}");
    passes(world.post(&wide, &freeze("ClusterChangeFreeze")).await);
}

/// An expression that cannot be used is found by a dry run, and nothing else is asked.
pub(super) async fn are_refused_by_a_dry_run(world: &World) {
    let tried = async |initiates: &str| {
        let mut room = rooms().remove(0);
        room.name = "tried".to_owned();
        room.initiates = initiates.to_owned();
        for document in documents(&room) {
            if document["kind"] == "ValidatingAdmissionPolicy" {
                world
                    .admin
                    .send("POST", &format!("{POLICIES}{DRY}"), "application/json", &document)
                    .await?;
            }
        }
        Ok::<(), String>(())
    };
    assert_eq!(tried(INITIATES).await, Ok(()));
    for (initiates, refusal) in [
        ("object.spec.version !=", "Syntax error"),
        ("nobody.spec == 1", "undeclared reference to 'nobody'"),
        ("'a text'", "expected type 'bool' but found 'string'"),
        ("variables.fresh.size() > 0", "compilation failed"),
    ] {
        let said = tried(initiates).await.unwrap_err();
        assert!(said.contains(refusal), "{initiates}: {said}");
    }
}
