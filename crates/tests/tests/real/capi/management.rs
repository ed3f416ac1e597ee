//! A cluster that hosts another, as `HyperShift` leaves it for Cluster API, and the pools of the other.

use std::sync::Arc;

use api::{names, reach::Window};
use jiff::Timestamp;
use rig::{Cluster, ClusterApi, Embedded, Running, User, infrastructure::Infrastructure};
use serde_json::{Value, json};
use tidy::{Tree, permits};

use super::history::History;
use crate::rollout::writers::{self, OPERATOR, RIGHTS, Writer};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(super) const GATES: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/namespaces/clusters-demo/changegates";
const NAMESPACE: &str = "clusters-demo";
const OF_CLUSTER: &str = "cluster.x-k8s.io/cluster-name";
const DESIRED: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";

/// The releases that pools move between.
pub(super) const OLD: &str = "4.20.6";
pub(super) const NEW: &str = "4.20.7";

pub(super) struct Management {
    pub(super) admin: Writer,
    pub(super) operator: Writer,
    pub(super) machines: Infrastructure,
    pub(super) history: Arc<History>,
    guest: Writer,
    _manager: Running,
    _guest: Embedded,
}

/// One `MachineDeployment`, by the name of its `NodePool`.
#[derive(Clone, Copy)]
pub(super) struct Pool<'a> {
    pub(super) management: &'a Management,
    pub(super) name: &'a str,
}

/// Looks until it is so. Machines take their time on a busy computer.
pub(super) async fn until(what: &str, is: impl AsyncFn() -> bool) {
    let began = tokio::time::Instant::now();
    let patience = std::time::Duration::from_mins(4);
    while !is().await {
        assert!(began.elapsed() < patience, "{what}: not within {patience:?}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

impl Management {
    pub(super) async fn start(cluster_api: &ClusterApi, cluster: &Cluster) -> Self {
        let client = writers::of_real(cluster).await;
        let admin = Writer::new(&client, "admin", &[RIGHTS], None);
        let operator = Writer::new(&client, OPERATOR, &[RIGHTS], None);
        install(&admin).await;
        let manager = cluster_api.start(cluster).await.unwrap();
        let guest = Embedded::start(cluster.kubectl()).unwrap();
        let kubeconfig = guest.cluster().kubeconfig(User::Admin);
        let kubeconfig = std::fs::read_to_string(kubeconfig).unwrap();
        let in_guest = guest.cluster().client(User::Admin).await.unwrap();
        let machines =
            Infrastructure::start(cluster.client(User::Admin).await.unwrap(), in_guest.clone())
                .await
                .unwrap();
        let history = History::begin(&client, NAMESPACE);
        let management = Self {
            admin,
            operator,
            machines,
            history,
            guest: Writer::itself(&in_guest),
            _manager: manager,
            _guest: guest,
        };
        management.host(&kubeconfig).await;
        management
    }

    /// What `HyperShift` makes for a hosted cluster before its first pool.
    async fn host(&self, kubeconfig: &str) {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        self.admin.create("/api/v1/namespaces", &namespace).await;
        let of =
            |group: &str, plural: &str| format!("/apis/{group}/namespaces/{NAMESPACE}/{plural}");
        let plane = of("hypershift.openshift.io/v1beta1", "hostedcontrolplanes");
        let object = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane", "metadata": {"name": "demo"}});
        self.admin.create(&plane, &object).await;
        let ready = json!({"status": {"ready": true, "initialized": true, "externalManagedControlPlane": true}});
        self.admin.merge(&format!("{plane}/demo/status"), &ready).await.unwrap();
        let infrastructure = of("infrastructure.cluster.x-k8s.io/v1", "rigclusters");
        let object = json!({"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": "RigCluster",
            "metadata": {"name": "demo"}, "spec": {"controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443}}});
        self.admin.create(&infrastructure, &object).await;
        let ready = json!({"status": {"initialization": {"provisioned": true}}});
        self.admin.merge(&format!("{infrastructure}/demo/status"), &ready).await.unwrap();
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
            "metadata": {"name": "demo-kubeconfig", "labels": {OF_CLUSTER: "demo"}}, "stringData": {"value": kubeconfig}});
        self.admin.create(&format!("/api/v1/namespaces/{NAMESPACE}/secrets"), &secret).await;
        let cluster = json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "demo"}, "spec": {
            "controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443},
            "controlPlaneRef": {"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane", "name": "demo", "namespace": NAMESPACE},
            "infrastructureRef": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": "RigCluster", "name": "demo", "namespace": NAMESPACE}}});
        self.admin.create(&of("cluster.x-k8s.io/v1beta1", "clusters"), &cluster).await;
        for release in [OLD, NEW] {
            let template = json!({"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": "RigMachineTemplate",
                "metadata": {"name": format!("of-{release}")}, "spec": {"template": {"spec": {}}}});
            self.admin
                .create(&of("infrastructure.cluster.x-k8s.io/v1", "rigmachinetemplates"), &template)
                .await;
            let data = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("user-data-{release}")},
                "stringData": {"value": release}});
            self.admin.create(&format!("/api/v1/namespaces/{NAMESPACE}/secrets"), &data).await;
        }
    }

    /// A pool of so many machines that all run.
    pub(super) async fn pool<'a>(
        &'a self,
        name: &'a str,
        replicas: i64,
        (surge, unavailable): (i64, i64),
    ) -> Pool<'a> {
        let pool = Pool { management: self, name };
        let labels = json!({"resourcesName": format!("demo-{name}"), OF_CLUSTER: "demo"});
        let deployment = json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment",
            "metadata": {"name": name, "labels": {OF_CLUSTER: "demo"}, "annotations": {"hypershift.openshift.io/nodePool": format!("clusters/{name}")}},
            "spec": {"clusterName": "demo", "replicas": replicas,
                "selector": {"matchLabels": {"resourcesName": format!("demo-{name}")}},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}},
                "template": {"metadata": {"labels": labels}, "spec": template(OLD)}}});
        self.admin.create(&of("machinedeployments"), &deployment).await;
        until(&format!("the machines of {name} run"), async || {
            pool.sets().await == [(OLD.to_owned(), replicas)] && pool.available().await == replicas
        })
        .await;
        pool
    }

    /// The node of a machine is not ready any more.
    pub(super) async fn fail_node(&self, name: &str) {
        let path = format!("/api/v1/nodes/{name}");
        let mut conditions = self.guest.get(&path).await["status"]["conditions"].clone();
        for condition in conditions.as_array_mut().unwrap() {
            if condition["type"] == "Ready" {
                condition["status"] = json!("False");
            }
        }
        let change = json!({"status": {"conditions": conditions}});
        self.guest.merge(&format!("{path}/status"), &change).await.unwrap();
    }

    /// What the server has for the present, by a write that nothing holds and nobody keeps: whoever waits asks thousands of times.
    pub(super) async fn server_time(&self) -> Timestamp {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "clock-"}});
        let path = "/api/v1/namespaces/default/configmaps?dryRun=All";
        let made = self.admin.send("POST", path, "application/json", &body).await.unwrap();
        made["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap()
    }
}

impl Pool<'_> {
    pub(super) fn path(&self) -> String {
        format!("{}/{}", of("machinedeployments"), self.name)
    }

    /// Hands a release over, as `HyperShift` does it by one patch.
    pub(super) async fn hand_over(&self, release: &str) {
        self.edit(&json!({"spec": {"template": {"spec": template(release)}}})).await;
    }

    pub(super) async fn scale(&self, replicas: i64) {
        self.edit(&json!({"spec": {"replicas": replicas}})).await;
    }

    pub(super) async fn edit(&self, change: &Value) {
        self.management.admin.merge(&self.path(), change).await.unwrap();
    }

    /// A gate below its `NodePool`, as the operator derives it, and the server goes by these windows.
    pub(super) async fn gate(&self, windows: &[Window]) {
        let gate = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_GATE, "metadata": {"name": self.name},
            "spec": {"derivedFrom": {"kind": "NodePool", "namespace": "clusters", "name": self.name},
                "holds": [{"what": "MachineDeployments", "names": [self.name]}]}});
        self.management.operator.create(GATES, &gate).await;
        self.open(windows).await;
        self.holds().await;
    }

    /// The server goes by a gate a moment after it was written.
    pub(super) async fn holds(&self) {
        let step = json!({"spec": {"replicas": 0}});
        let set = self.newest().await;
        let dry = format!(
            "{}/{}?dryRun=All",
            of("machinesets"),
            set["metadata"]["name"].as_str().unwrap()
        );
        let by = format!("held by ChangeGate clusters-demo/{}, which opens at ", self.name);
        until("the gate holds", async || {
            self.management.admin.merge(&dry, &step).await.is_err_and(|said| said.contains(&by))
        })
        .await;
    }

    /// What the operator would write.
    pub(super) async fn open(&self, windows: &[Window]) {
        let status = json!({"observedGeneration": 1, "windows": windows, "conditions": [{"type": "Ready", "status": "True",
            "reason": "AsExpected", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]});
        let path = format!("{GATES}/{}/status", self.name);
        self.management.operator.merge(&path, &json!({"status": status})).await.unwrap();
    }

    /// What the operator does at an opening.
    pub(super) async fn touch(&self) {
        let at = self.management.server_time().await.to_string();
        let touch = json!({"metadata": {"annotations": {names::NUDGED_AT: at}}});
        self.management.operator.merge(&self.path(), &touch).await.unwrap();
    }

    async fn list(&self, plural: &str) -> Vec<Value> {
        let label = format!("?labelSelector=cluster.x-k8s.io/deployment-name={}", self.name);
        let found = self.management.admin.get(&format!("{}{label}", of(plural))).await;
        found["items"].as_array().unwrap().clone()
    }

    /// Each set that wants machines, by its release, with how many; the oldest first.
    pub(super) async fn sets(&self) -> Vec<(String, i64)> {
        let mut sets = self.list("machinesets").await;
        sets.sort_by_key(revision);
        let told = |set: &Value| (release(set.pointer("/spec/template")), replicas(set));
        sets.iter().map(told).filter(|(_, replicas)| *replicas > 0).collect()
    }

    pub(super) async fn newest(&self) -> Value {
        self.list("machinesets").await.into_iter().max_by_key(revision).unwrap()
    }

    /// How many machines there are that nobody deletes, by name and release.
    pub(super) async fn machines(&self) -> Vec<(String, String)> {
        let machines = self.list("machines").await.into_iter();
        let machines =
            machines.filter(|machine| machine["metadata"].get("deletionTimestamp").is_none());
        let name = |machine: &Value| machine["metadata"]["name"].as_str().unwrap().to_owned();
        machines.map(|machine| (name(&machine), release(Some(&machine)))).collect()
    }

    pub(super) async fn delete_machine(&self, name: &str) {
        let path = format!("{}/{name}", of("machines"));
        self.management.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    }

    pub(super) async fn machine(&self, name: &str) -> Value {
        self.management.admin.get(&format!("{}/{name}", of("machines"))).await
    }

    /// How many machines are available by all sets.
    pub(super) async fn available(&self) -> i64 {
        let sets = self.list("machinesets").await;
        sets.iter().filter_map(|set| set["status"]["availableReplicas"].as_i64()).sum()
    }

    /// How often the controller said that a step of this pool was refused.
    pub(super) async fn refusals(&self) -> i64 {
        let path = format!(
            "/api/v1/namespaces/{NAMESPACE}/events?fieldSelector=involvedObject.kind=MachineDeployment,involvedObject.name={}",
            self.name
        );
        let events = self.management.admin.get(&path).await;
        let by = format!("held by ChangeGate clusters-demo/{}", self.name);
        let refused =
            events["items"].as_array().unwrap().iter().filter(|event| {
                event["message"].as_str().is_some_and(|message| message.contains(&by))
            });
        refused.map(|event| event["count"].as_i64().unwrap_or(1)).sum()
    }

    /// The controller tries, and is refused, after this is asked.
    pub(super) async fn is_refused_again(&self) {
        let before = self.refusals().await;
        until(&format!("a step of {} is refused", self.name), async || {
            self.refusals().await > before
        })
        .await;
    }

    /// What a step leaves as it is, and scaling does not.
    pub(super) async fn wanted(&self) -> Value {
        self.newest().await["metadata"]["annotations"][DESIRED].clone()
    }

    pub(super) async fn runs(&self, release: &str, replicas: i64) {
        until(&format!("all of {} have {release}", self.name), async || {
            self.sets().await == [(release.to_owned(), replicas)]
                && self.available().await == replicas
                && self.machines().await.len() == usize::try_from(replicas).unwrap()
        })
        .await;
    }
}

/// Through the conversion of the manager, as `HyperShift` reads and writes.
pub(super) fn of(plural: &str) -> String {
    format!("/apis/cluster.x-k8s.io/v1beta1/namespaces/{NAMESPACE}/{plural}")
}

fn template(release: &str) -> Value {
    json!({"clusterName": "demo", "version": release, "bootstrap": {"dataSecretName": format!("user-data-{release}")},
        "infrastructureRef": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": "RigMachineTemplate",
            "name": format!("of-{release}"), "namespace": NAMESPACE}})
}

fn release(of: Option<&Value>) -> String {
    of.and_then(|of| of["spec"]["version"].as_str()).unwrap_or_default().to_owned()
}

fn replicas(set: &Value) -> i64 {
    set["spec"]["replicas"].as_i64().unwrap_or_default()
}

fn revision(set: &Value) -> i64 {
    let noted = &set["metadata"]["annotations"]["machinedeployment.clusters.x-k8s.io/revision"];
    noted.as_str().and_then(|noted| noted.parse().ok()).unwrap_or_default()
}

/// Definitions and policies as they are shipped.
async fn install(admin: &Writer) {
    let shipped = Tree::top().join("deploy/manifests/change-gates/0-crds.yaml");
    let shipped = std::fs::read_to_string(shipped).unwrap();
    let definitions: Vec<Value> = serde_saphyr::from_multiple(&shipped).unwrap();
    for definition in definitions.iter().filter(|definition| !definition.is_null()) {
        admin.create(DEFINITIONS, definition).await;
    }
    until("gates are served", async || admin.send("GET", GATES, "", &Value::Null).await.is_ok())
        .await;
    for (collection, document) in
        permits::admission("deploy/manifests/change-gates/change-gates.yaml")
    {
        admin.create(collection, &document).await;
    }
}
