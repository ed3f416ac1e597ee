//! Does the operator use every right that its roles grant, and none that they do not? And does it serve every metric that is promised?
//!
//! It runs on a real server as the account of the manifests. Each status write is refused once, as if somebody else had been quicker: what
//! the operator does then needs a right of its own.

mod agents;
mod proof;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use api::{
    kinds,
    machine::names::{
        ALLOWED_CONFIG, CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, MACHINE_CONFIGURATION_NAME,
        PERMIT_CHANGE, ROLE, STATE,
    },
    metrics::METRICS,
    schema::{FREEZES, GATED, GUARDRAILS, KINDS, Kind, OVERRIDES, Role, Scope},
};
use http::{Method, Request, Response, StatusCode};
use kube::{Client, client::Body};
use operator::{Election, Operator, Pools, Settings};
use rig::{
    Controllers, User,
    rights::{self, Difference, Recorder, Right},
    suite,
};
use runtime::{clock::SystemClock, key::collection};
use serde_json::{Value, json};
use tidy::{Tree, permits};
use tokio::time::{Instant, sleep};

use super::admin::kubectl;

const MANIFESTS: &str = "deploy/manifests";
/// What the manifests call it.
const NAMESPACE: &str = "tidegate-system";
/// On a busy computer a round takes seconds, and half a minute passes until it is tried again whether the server refuses; a right that was
/// not used after two minutes is not used.
const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn real_operator_uses_its_rights_and_no_others_and_serves_every_metric() {
    suite::on_real("rights", Controllers::Absent, async |cluster| {
        for folder in [
            MANIFESTS,
            "deploy/crds/upstream",
            "deploy/manifests/change-gates/0-crds.yaml",
            "deploy/manifests/guardrails/0-crds.yaml",
        ] {
            kubectl(cluster, &["apply", "--server-side", "-f", &folder_of(folder)]);
        }
        kubectl(cluster, &["wait", "--for=condition=Established", "crd", "--all"]);
        let admin = cluster.client(User::Admin).await.unwrap();
        for kind in KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS) {
            send(&admin, Method::POST, &collection(kind, namespace(kind)), &object(kind)).await;
        }

        let recorder = Recorder::default();
        let account = cluster.account(NAMESPACE, "tidegate", &recorder).await.unwrap();
        let election =
            Election::Lease { namespace: NAMESPACE.into(), name: "tidegate-operator".into() };
        let settings = Settings { election, ..Settings::alone("one") };
        let operator = Operator::new(refusing_once(account), Arc::new(SystemClock), settings);

        let granted = granted("operator.yaml");
        assert!(granted.len() > 20, "{granted:?}");
        let everything_was_used = async {
            let deadline = Instant::now() + PATIENCE;
            until(deadline, || {
                recorder.used().iter().filter(|right| is_status_patch(right)).count()
                    == KINDS.len() + GATED.len() + OVERRIDES.len() + GUARDRAILS.len()
            })
            .await;
            // Something happens to everything that names a policy, so there is something to tell.
            for kind in KINDS {
                let path = format!("{}/one", collection(kind, namespace(kind)));
                let closed = json!({ "spec": { "strategy": "Restrictive" } });
                send(&admin, Method::PATCH, &path, &closed).await;
            }
            until(deadline, || granted.is_subset(&recorder.used())).await;
        };
        let view = operator.view();
        Box::pin(operator.run(everything_was_used)).await.unwrap();
        let page = operator::metrics::page(&view);
        for metric in METRICS {
            let heading = format!("# TYPE {} {}\n", metric.name, metric.form.as_str());
            assert!(page.contains(&heading), "{} is not served:\n{page}", metric.name);
        }
        let difference = Difference::between(&recorder.used(), &granted);
        assert!(difference.is_empty(), "the roles in {MANIFESTS} do not fit:\n{difference}");
    });
}

/// With the rights to roll out: one node goes to a new configuration, asks to be emptied, and has a pod on it. And somebody asks for a
/// configuration.
#[test]
#[expect(clippy::too_many_lines, reason = "one story, in its order")]
fn real_operator_that_manages_pools_uses_its_rights_and_no_others() {
    suite::on_real("rights-pools", Controllers::Absent, async |cluster| {
        for folder in [MANIFESTS, "deploy/crds/upstream", "deploy/manifests/node-config"] {
            kubectl(
                cluster,
                &["apply", "--server-side", "--force-conflicts", "-f", &folder_of(folder)],
            );
        }
        kubectl(cluster, &["wait", "--for=condition=Established", "crd", "--all"]);
        let admin = cluster.client(User::Admin).await.unwrap();
        let before = granted("operator.yaml");
        let granted: BTreeSet<Right> =
            granted("node-config/node-config.yaml").difference(&before).cloned().collect();
        assert!(granted.len() > 10, "{granted:?}");
        let for_new_machines: Vec<String> = granted
            .difference(&self::granted("manage-pools/manage-pools.yaml"))
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            for_new_machines,
            [
                "create tokenreviews.authentication.k8s.io",
                "create subjectaccessreviews.authorization.k8s.io"
            ]
        );
        let configs = collection(&kinds::MACHINE_CONFIG, None);
        send(&admin, Method::POST, &configs, &config("50-motd", "one")).await;
        send(&admin, Method::POST, &collection(&kinds::MACHINE_CONFIG_POOL, None), &worker_pool())
            .await;
        // An update of the control plane has begun, and there are masters: that is recorded.
        let mut masters = worker_pool();
        masters["metadata"]["name"] = "master".into();
        let label = json!({ "node-role.kubernetes.io/master": "" });
        masters["spec"]["nodeSelector"] = json!({ "matchLabels": label });
        send(&admin, Method::POST, &collection(&kinds::MACHINE_CONFIG_POOL, None), &masters).await;
        let versions = collection(&kinds::CLUSTER_VERSION, None);
        let version = json!({ "apiVersion": kinds::CLUSTER_VERSION.api_version, "kind": kinds::CLUSTER_VERSION.name,
            "metadata": { "name": "version" }, "spec": { "clusterID": "b2b6a1a5-0d4f-4e6e-9a53-3f4f6a5a3c1e" } });
        send(&admin, Method::POST, &versions, &version).await;
        let begun = json!({ "status": { "desired": { "version": "4.21.3", "image": "a" }, "history": [{ "state": "Partial",
            "version": "4.21.3", "image": "a", "startedTime": "2099-01-01T00:00:00Z", "completionTime": null, "verified": true }] } });
        send(&admin, Method::PATCH, &format!("{versions}/version/status"), &begun).await;
        let disruption = json!({ "apiVersion": kinds::MACHINE_CONFIGURATION.api_version, "kind": kinds::MACHINE_CONFIGURATION.name,
            "metadata": { "name": MACHINE_CONFIGURATION_NAME } });
        send(&admin, Method::POST, &collection(&kinds::MACHINE_CONFIGURATION, None), &disruption)
            .await;

        let recorder = Recorder::default();
        let account = cluster.account(NAMESPACE, "tidegate", &recorder).await.unwrap();
        let settings = Settings::alone("one").with(Pools::Managed);
        let operator = Operator::new(refusing_once(account), Arc::new(SystemClock), settings);
        let (node_config, token) =
            (operator.node_config(), cluster.token(NAMESPACE, "tidegate").await.unwrap());
        let everything_was_used = async {
            let deadline = Instant::now() + PATIENCE;
            let asked =
                Request::get("/config/worker").header("authorization", format!("Bearer {token}"));
            let answer = node_config.answer(&asked.body(()).unwrap()).await;
            assert_eq!(
                answer.status(),
                StatusCode::FORBIDDEN,
                "its own account is bound to no such role"
            );
            let pool = format!("{}/worker", collection(&kinds::MACHINE_CONFIG_POOL, None));
            let newest = async || {
                let pool: Value =
                    admin.request(Request::get(&pool).body(Vec::new()).unwrap()).await.unwrap();
                pool["spec"]["configuration"]["name"].as_str().map(str::to_owned)
            };
            while newest().await.is_none() && Instant::now() < deadline {
                sleep(Duration::from_millis(50)).await;
            }
            let newest = newest().await.unwrap();
            let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "default" } });
            let made: Result<Value, kube::Error> = admin
                .request(
                    Request::post("/api/v1/namespaces/default/serviceaccounts")
                        .header("content-type", "application/json")
                        .body(account.to_string().into_bytes())
                        .unwrap(),
                )
                .await;
            drop(made);
            send(&admin, Method::POST, "/api/v1/nodes", &machine(&newest)).await;
            // Somebody who could take its pods.
            let another =
                json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n2" } });
            send(&admin, Method::POST, "/api/v1/nodes", &another).await;
            // From here on the server refuses what nobody permitted, and the operator sees that before it begins.
            for (collection, document) in permits::shipped() {
                send(&admin, Method::POST, collection, &document).await;
            }
            send(&admin, Method::POST, "/api/v1/namespaces/default/pods", &lodger()).await;
            // The same content from one source more: the digests on the rendered configuration are written anew.
            let same = config("40-same", "one");
            send(&admin, Method::POST, &configs, &same).await;
            until(deadline, || used(&recorder, "patch machineconfigs")).await;
            let changed = json!({ "spec": config("50-motd", "two")["spec"] });
            send(&admin, Method::PATCH, &format!("{configs}/50-motd"), &changed).await;
            let begun = async || {
                let node: Value = admin
                    .request(Request::get("/api/v1/nodes/n1").body(Vec::new()).unwrap())
                    .await
                    .unwrap();
                node["metadata"]["annotations"][PERMIT_CHANGE].as_str().map(str::to_owned)
            };
            while begun().await.is_none() && Instant::now() < deadline {
                sleep(Duration::from_millis(50)).await;
            }
            let drain = format!("drain-{}", begun().await.unwrap());
            let asks = json!({ "metadata": { "annotations": { DESIRED_DRAIN: drain } } });
            send(&admin, Method::PATCH, "/api/v1/nodes/n1", &asks).await;
            until(deadline, || granted.is_subset(&recorder.used())).await;
        };
        Box::pin(operator.run(everything_was_used)).await.unwrap();
        let used: BTreeSet<Right> = recorder.used().difference(&before).cloned().collect();
        let difference = Difference::between(&used, &granted);
        assert!(difference.is_empty(), "the roles for pools do not fit:\n{difference}");

        let manifests = folder_of("deploy/manifests/agent");
        kubectl(cluster, &["apply", "--server-side", "--force-conflicts", "-f", &manifests]);
        let rendered: Value =
            admin.request(Request::get(&configs).body(Vec::new()).unwrap()).await.unwrap();
        let mut names =
            rendered["items"].as_array().unwrap().iter().map(|it| &it["metadata"]["name"]);
        let newest =
            names.find_map(|name| name.as_str().filter(|name| name.starts_with("rendered-")));
        let for_agents = self::granted("agent/agent.yaml");
        assert!(for_agents.len() > 3, "{for_agents:?}");
        let admin = (&admin, NAMESPACE);
        agents::rights_are_used_and_kept(cluster, admin, newest.unwrap(), &for_agents).await;
    });
}

/// With the rights to start what was queued on a stock cluster: somebody queued a release, and another one has begun, which its master has to
/// finish.
#[test]
fn real_operator_that_starts_queued_updates_uses_its_rights_and_no_others() {
    suite::on_real("rights-queued", Controllers::Absent, async |cluster| {
        for folder in [
            MANIFESTS,
            "deploy/crds/upstream",
            "deploy/manifests/change-gates/0-crds.yaml",
            "deploy/manifests/queued-updates",
        ] {
            let folder = folder_of(folder);
            kubectl(cluster, &["apply", "--server-side", "--force-conflicts", "-f", &folder]);
        }
        kubectl(cluster, &["wait", "--for=condition=Established", "crd", "--all"]);
        let admin = cluster.client(User::Admin).await.unwrap();
        let before = granted("operator.yaml");
        let granted: BTreeSet<Right> =
            granted("queued-updates/queued-updates.yaml").difference(&before).cloned().collect();
        assert!(granted.len() > 3, "{granted:?}");
        let mut masters = worker_pool();
        masters["metadata"]["name"] = "master".into();
        let label = json!({ "node-role.kubernetes.io/master": "" });
        masters["spec"]["nodeSelector"] = json!({ "matchLabels": label });
        send(&admin, Method::POST, &collection(&kinds::MACHINE_CONFIG_POOL, None), &masters).await;
        let mut node = machine("rendered-master-1");
        node["metadata"]["labels"] = label;
        let initiator = crate::rollout::writers::Writer::new(
            &crate::rollout::writers::of_real(cluster).await,
            "jane",
            &[crate::rollout::writers::RIGHTS, crate::rollout::writers::INITIATORS],
            None,
        );
        initiator.create("/api/v1/nodes", &node).await;
        let versions = collection(&kinds::CLUSTER_VERSION, None);
        let wish = json!({ api::names::WANTED_RELEASE: r#"{"version":"4.21.4"}"# });
        let version = json!({ "apiVersion": kinds::CLUSTER_VERSION.api_version, "kind": kinds::CLUSTER_VERSION.name,
            "metadata": { "name": "version", "annotations": wish },
            "spec": { "clusterID": "b2b6a1a5-0d4f-4e6e-9a53-3f4f6a5a3c1e" } });
        send(&admin, Method::POST, &versions, &version).await;
        let begun = json!({ "status": { "desired": { "version": "4.21.3", "image": "a" }, "history": [{ "state": "Partial",
            "version": "4.21.3", "image": "a", "startedTime": "2026-01-01T00:00:00Z", "completionTime": null, "verified": true }] } });
        send(&admin, Method::PATCH, &format!("{versions}/version/status"), &begun).await;
        let recorder = Recorder::default();
        let account = cluster.account(NAMESPACE, "tidegate", &recorder).await.unwrap();
        let settings = Settings::alone("one").starting_queued_updates();
        // Of what nobody knows the outcome is read back (EXEC-4), and that takes a right of its own.
        let account = failing_once(account, StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable");
        let operator = Operator::new(account, Arc::new(SystemClock), settings);
        let everything_was_used = async {
            until(Instant::now() + PATIENCE, || granted.is_subset(&recorder.used())).await;
        };
        Box::pin(operator.run(everything_was_used)).await.unwrap();
        let used: BTreeSet<Right> = recorder.used().difference(&before).cloned().collect();
        let difference = Difference::between(&used, &granted);
        assert!(difference.is_empty(), "the roles for queued updates do not fit:\n{difference}");
    });
}

fn used(recorder: &Recorder, start: &str) -> bool {
    recorder.used().iter().any(|right| right.to_string().starts_with(start))
}

fn config(name: &str, content: &str) -> Value {
    json!({ "apiVersion": kinds::MACHINE_CONFIG.api_version, "kind": kinds::MACHINE_CONFIG.name,
        "metadata": { "name": name, "labels": { ROLE: "worker" } },
        "spec": { "config": { "ignition": { "version": "3.4.0" }, "storage": { "files": [
            { "path": "/etc/motd", "contents": { "source": format!("data:,{content}") } },
        ] } } } })
}

fn worker_pool() -> Value {
    json!({ "apiVersion": kinds::MACHINE_CONFIG_POOL.api_version, "kind": kinds::MACHINE_CONFIG_POOL.name, "metadata": { "name": "worker" },
        "spec": { "machineConfigSelector": { "matchLabels": { ROLE: "worker" } },
            "nodeSelector": { "matchLabels": { "node-role.kubernetes.io/worker": "" } } } })
}

/// A node that runs a configuration.
fn machine(config: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1",
        "labels": { "node-role.kubernetes.io/worker": "" },
        "annotations": { CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done",
            ALLOWED_CONFIG: config } } })
}

fn lodger() -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "lodger" }, "spec": {
        "nodeName": "n1", "automountServiceAccountToken": false,
        "containers": [{ "name": "c", "image": "example.com/none" }] } })
}

fn granted(file: &str) -> BTreeSet<Right> {
    let text = std::fs::read_to_string(format!("{}/{file}", folder_of(MANIFESTS))).unwrap();
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    rights::granted(&objects)
}

fn is_status_patch(right: &Right) -> bool {
    let text = right.to_string();
    text.starts_with("patch ") && text.contains("/status")
}

/// Waits until it is so. Who waits in vain is told by the comparison what is missing.
async fn until(deadline: Instant, is_so: impl Fn() -> bool) {
    while !is_so() && Instant::now() < deadline {
        sleep(Duration::from_millis(50)).await;
    }
}

fn namespace(kind: &Kind) -> Option<&'static str> {
    (kind.scope == Scope::Namespaced).then_some("default")
}

/// One object of a kind: a policy that permits everything, something that names it, or a freeze.
fn object(kind: &Kind) -> Value {
    let spec = match kind.role {
        Role::Policy => json!({ "strategy": "Permissive" }),
        Role::Gated { .. } => {
            let stanza = json!({ "strategy": "ByPolicy", "byPolicy": { "name": "one" } });
            // Gates hold something of which nothing is counted: what is, takes the rights of gates. What others own has fields of their own,
            // and takes this one.
            json!({ "changeManagement": stanza, "holds": [{ "what": "KuredLock" }] })
        }
        Role::Freeze => json!({ "reason": "a storm", "holds": [{ "what": "KuredLock" }] }),
        Role::Override => json!({
            "target": match kind.scope {
                Scope::Cluster => json!({"kind": "ClusterVersion", "name": "version"}),
                Scope::Namespaced => json!({"kind": "NodePool", "name": "a"}),
            },
            "until": "2999-01-01T00:00:00Z",
            "reason": "a storm",
        }),
        Role::Guardrail => json!({ "minimumHours": [{ "hours": 1, "inDays": 1 }] }),
        Role::Part => json!({}),
    };
    json!({
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": { "name": "one", "namespace": namespace(kind) },
        "spec": spec,
    })
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) {
    let content_type = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path).header("content-type", content_type);
    let request = request.body(body.to_string().into_bytes()).unwrap();
    let answer: Result<Value, kube::Error> = client.request(request).await;
    answer.unwrap_or_else(|no| panic!("{path}: {no}"));
}

/// A client that answers the first write to each path by itself, with a conflict. A dry run writes nothing.
fn refusing_once(client: Client) -> Client {
    failing_once(client, StatusCode::CONFLICT, "Conflict")
}

/// The same with any failure.
fn failing_once(client: Client, code: StatusCode, reason: &'static str) -> Client {
    let refused = Arc::new(Mutex::new(BTreeSet::new()));
    let service = tower::service_fn(move |request: Request<Body>| {
        let path = request.uri().path().to_owned();
        let dry = request.uri().query().is_some_and(|query| query.contains("dryRun="));
        let writes = request.method() == Method::PATCH && !dry;
        let refuse = writes && refused.lock().unwrap().insert(path);
        let client = client.clone();
        async move {
            if !refuse {
                return client.send(request).await;
            }
            let status = json!({ "kind": "Status", "code": code.as_u16(), "reason": reason });
            let answer = Response::builder().status(code);
            let answer = answer.header("content-type", "application/json");
            Ok(answer.body(Body::from(status.to_string().into_bytes())).unwrap())
        }
    });
    Client::new(service, NAMESPACE)
}

fn folder_of(folder: &str) -> String {
    Tree::top().join(folder).display().to_string()
}
