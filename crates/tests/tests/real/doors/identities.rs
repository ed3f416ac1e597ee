//! Who is refused by a role, and who by a policy, when everybody has the rights that they have on a cluster?
//!
//! People with the roles that every cluster brings, kubelets with the server's own guard for nodes, agents and the operator with tokens that
//! the server issued and the roles that are shipped. A refusal says whose it is: a door that a role happens to shut today proves nothing
//! about the policy, so both are told apart. And all that the operator has to write passes under its role and all policies.

use api::{
    kinds,
    machine::names::{
        ALLOWED_CONFIG, BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_DRAIN, DRAIN_RECORD,
        LAST_APPLIED_DRAIN, LEDGER, PERMIT_BASIS, PERMIT_UNTIL, REASON, STATE,
    },
};
use kube::Client;
use rig::{Cluster, rights::Recorder};
use runtime::key::collection;
use serde_json::{Value, json};
use tidy::Tree;

use super::{
    super::{admin::kubectl, rollout::writers::Writer},
    NODES, duties, node,
    orders::{Path, Permit, Row, Told, Wish},
    who::Who,
};

pub(crate) const SYSTEM: &str = "tidegate-system";
const AGENT: &str = "tidegate-agent";
pub(crate) const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Somebody with the rights that they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    /// Bound to the role `edit` in a namespace.
    Editor,
    /// Bound to the role `admin` in a namespace.
    NamespaceAdmin,
    /// Bound to the role `view` everywhere.
    Viewer,
    /// May read, patch and update nodes.
    Patcher,
    /// May read nodes, and patch and update their status.
    StatusWriter,
    /// The kubelet of the node that is written.
    Kubelet,
    KubeletElsewhere,
    /// The agent whose pod runs on the node that is written.
    Agent,
    AgentElsewhere,
    /// The agent's account, with a token of no pod.
    AgentNowhere,
    Operator,
}

/// Who refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The server's authorizers: roles, and what kubelets may ask for.
    Role,
    /// The server's own guard, which lets a kubelet write to its own node alone.
    Guard,
    /// One of ours.
    Policy,
    Nobody,
    /// Something that has nothing to do with rights.
    Something,
}

impl By {
    pub(crate) fn of(answer: &Result<Value, String>) -> Self {
        let Err(said) = answer else { return Self::Nobody };
        if said.contains("ValidatingAdmissionPolicy 'tidegate-") {
            Self::Policy
        } else if said.contains("is not allowed to modify node") {
            Self::Guard
        } else if said.contains(" cannot ") && said.contains(" resource ") {
            Self::Role
        } else {
            Self::Something
        }
    }
}

/// What a write by a path needs: verbs, each on nodes or on their status.
fn needed(path: Path) -> &'static [(&'static str, &'static str)] {
    match path {
        Path::Merge
        | Path::Json
        | Path::Strategic
        | Path::Apply
        | Path::ApplyInItsName
        | Path::AwayAndBack => &[("patch", "nodes")],
        Path::StatusMerge | Path::StatusJson | Path::StatusStrategic | Path::StatusApply => {
            &[("patch", "nodes/status")]
        }
        Path::Put | Path::ForgedAhead | Path::ForgedPast | Path::ForgedInside | Path::Wiped => {
            &[("get", "nodes"), ("update", "nodes")]
        }
        Path::StatusPut => &[("get", "nodes"), ("update", "nodes/status")],
        Path::Create | Path::DeleteAndCreate => &[("create", "nodes")],
        Path::CreateByApply => &[("patch", "nodes"), ("create", "nodes")],
    }
}

impl Identity {
    const ALL: [Self; 11] = [
        Self::Editor,
        Self::NamespaceAdmin,
        Self::Viewer,
        Self::Patcher,
        Self::StatusWriter,
        Self::Kubelet,
        Self::KubeletElsewhere,
        Self::Agent,
        Self::AgentElsewhere,
        Self::AgentNowhere,
        Self::Operator,
    ];

    /// Its rights on nodes, as a person would list them.
    fn has(self, (verb, resource): (&str, &str)) -> bool {
        match self {
            Self::Editor | Self::NamespaceAdmin | Self::Viewer => false,
            Self::Patcher => resource == "nodes" && ["get", "patch", "update"].contains(&verb),
            Self::StatusWriter => match resource {
                "nodes" => verb == "get",
                _ => ["patch", "update"].contains(&verb),
            },
            Self::Kubelet | Self::KubeletElsewhere => match resource {
                "nodes" => ["get", "create", "patch", "update"].contains(&verb),
                _ => ["patch", "update"].contains(&verb),
            },
            Self::Agent | Self::AgentElsewhere | Self::AgentNowhere | Self::Operator => {
                resource == "nodes" && ["get", "patch"].contains(&verb)
            }
        }
    }

    /// Who must refuse an order by a path; whoever is among these.
    fn refused_by(self, path: Path, wish: Wish) -> &'static [By] {
        if !needed(path).iter().all(|right| self.has(*right)) {
            return &[By::Role];
        }
        match (self, wish) {
            (Self::KubeletElsewhere, _) => &[By::Guard, By::Role],
            (Self::Operator, Wish::Go(Permit::Live) | Wish::Adopt) => &[By::Nobody],
            _ => &[By::Policy],
        }
    }

    /// Who must refuse an annotation, written to the node or to its status.
    fn kept_from(self, key: &str, resource: &str) -> &'static [By] {
        if !self.has(("patch", resource)) {
            return &[By::Role];
        }
        let is_report = [CURRENT_CONFIG, STATE, REASON, DESIRED_DRAIN].contains(&key);
        let is_free = key == "example.com/own";
        let may = match self {
            Self::KubeletElsewhere => return &[By::Guard, By::Role],
            Self::Operator => true,
            Self::Agent => is_report,
            Self::AgentElsewhere | Self::AgentNowhere => false,
            Self::Kubelet => is_free,
            _ => is_free || key == ALLOWED_CONFIG,
        };
        if may { &[By::Nobody] } else { &[By::Policy] }
    }
}

/// Everybody, ready to write.
struct Cast<'a> {
    client: &'a Client,
    tokens: Vec<(Identity, Writer)>,
}

impl<'a> Cast<'a> {
    /// Gives everybody the rights that they have: those of accounts are shipped.
    async fn new(cluster: &Cluster, client: &'a Client) -> Self {
        for folder in ["", "/manage-pools", "/node-config", "/agent"] {
            let folder = format!("deploy/manifests{folder}");
            let folder = Tree::top().join(folder).display().to_string();
            kubectl(cluster, &["apply", "--server-side", "--force-conflicts", "-f", &folder]);
        }
        let admin = Who::Administrator.at(client, "pier");
        let team = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
        admin.create("/api/v1/namespaces", &team).await;
        for (name, rules) in [
            (
                "patcher",
                json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch", "update"]}]),
            ),
            (
                "status-writer",
                json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
                    {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch", "update"]}]),
            ),
        ] {
            let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name}, "rules": rules});
            admin.create(&format!("{RBAC}/clusterroles"), &role).await;
        }
        for (user, role, kind, collection) in [
            ("ed", "edit", "RoleBinding", "/namespaces/team/rolebindings"),
            ("ada", "admin", "RoleBinding", "/namespaces/team/rolebindings"),
            ("vic", "view", "ClusterRoleBinding", "/clusterrolebindings"),
            ("pat", "patcher", "ClusterRoleBinding", "/clusterrolebindings"),
            ("npd", "status-writer", "ClusterRoleBinding", "/clusterrolebindings"),
        ] {
            let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": user},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]});
            admin.create(&format!("{RBAC}{collection}"), &binding).await;
        }
        for place in ["pier", "elsewhere"] {
            let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": place}, "spec": {
                "nodeName": place, "serviceAccountName": AGENT, "automountServiceAccountToken": false,
                "containers": [{"name": "c", "image": "example.com/none"}]}});
            admin.create(&format!("/api/v1/namespaces/{SYSTEM}/pods"), &pod).await;
        }
        let bearer = async |token: String| {
            Writer::itself(&cluster.bearer(token, &Recorder::default()).await.unwrap())
        };
        let of_pod = async |pod: &str| cluster.token_of_pod(SYSTEM, AGENT, pod).await.unwrap();
        let tokens = vec![
            (Identity::Agent, bearer(of_pod("pier").await).await),
            (Identity::AgentElsewhere, bearer(of_pod("elsewhere").await).await),
            (Identity::AgentNowhere, bearer(cluster.token(SYSTEM, AGENT).await.unwrap()).await),
            (Identity::Operator, bearer(cluster.token(SYSTEM, "tidegate").await.unwrap()).await),
        ];
        Self { client, tokens }
    }

    /// This one, about to write the node of this name.
    fn writer(&self, who: Identity, name: &str) -> Writer {
        if let Some((_, writer)) = self.tokens.iter().find(|(identity, _)| *identity == who) {
            return writer.clone();
        }
        let user = |name: &str| Writer::new(self.client, name, &["system:authenticated"], None);
        let kubelet = |name: &str| {
            let groups = ["system:authenticated", "system:nodes"];
            Writer::new(self.client, &format!("system:node:{name}"), &groups, None)
        };
        match who {
            Identity::Editor => user("ed"),
            Identity::NamespaceAdmin => user("ada"),
            Identity::Viewer => user("vic"),
            Identity::Patcher => user("pat"),
            Identity::StatusWriter => user("npd"),
            Identity::KubeletElsewhere => kubelet("elsewhere"),
            _ => kubelet(name),
        }
    }
}

pub(crate) async fn are_held(cluster: &Cluster, client: &Client) {
    let cast = Cast::new(cluster, client).await;
    orders_are_refused_by_whom_they_should_be(&cast).await;
    records_are_kept_by_whom_they_should_be(&cast).await;
    others_than_nodes_are_kept_by_roles(&cast).await;
    duties::are_done(&cast.writer(Identity::Operator, "pier"), client).await;
}

/// GATE-7: each path, by everybody, without a permit and with a live one; and the order alone, which no policy but that of permits judges.
async fn orders_are_refused_by_whom_they_should_be(cast: &Cast<'_>) {
    const WISHES: [(Wish, Told); 3] = [
        (Wish::Go(Permit::None), Told::Settled),
        (Wish::Go(Permit::Live), Told::Settled),
        (Wish::Adopt, Told::Nothing),
    ];
    let by_hand = Who::Initiator.at(cast.client, "pier");
    let at = format!("{NODES}/pier");
    let (mut wrong, mut count, mut policies) = (Vec::new(), 0, 0);
    let mut stands = None;
    for (wish, told) in WISHES {
        let everybody = Identity::ALL.into_iter();
        for (who, path) in everybody.flat_map(|who| Path::ALL.map(|path| (who, path))) {
            let row = Row { who: Who::Stranger, path, wish, told };
            if !row.makes_sense() {
                continue;
            }
            if stands != Some(told) {
                drop(by_hand.send("DELETE", &at, "", &Value::Null).await);
                let anew = node("pier", &told.annotations());
                by_hand.create(&format!("{NODES}?fieldManager=setup"), &anew).await;
            }
            let name = match path {
                Path::Create | Path::CreateByApply => "mole",
                _ => "pier",
            };
            let answer = row.attempt_as(&cast.writer(who, name), name).await;
            let (found, expected) = (By::of(&answer), who.refused_by(path, wish));
            count += 1;
            policies += u32::from(found == By::Policy);
            if !expected.contains(&found) {
                wrong.push(format!(
                    "{who:?} by {path:?} wants {wish:?}: by {expected:?}, found {found:?}: {answer:?}"
                ));
            }
            if name == "mole" && found == By::Nobody {
                drop(by_hand.send("DELETE", &format!("{NODES}/mole"), "", &Value::Null).await);
            }
            let is_as_before = found != By::Nobody && path != Path::DeleteAndCreate;
            stands = is_as_before.then_some(told);
        }
    }
    assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 600 && policies > 150, "{count} rows, {policies} of them left to the policies");
}

/// GATE-10, GATE-16, NODE-3, POOL-7: what was recorded, what a node says of itself, consent, and what is anybody's.
async fn records_are_kept_by_whom_they_should_be(cast: &Cast<'_>) {
    let by_hand = Who::Initiator.at(cast.client, "pier");
    let keys = [
        PERMIT_UNTIL,
        PERMIT_BASIS,
        BEGUN_RELEASE,
        DRAIN_RECORD,
        LAST_APPLIED_DRAIN,
        CURRENT_CONFIG,
        STATE,
        REASON,
        DESIRED_DRAIN,
        ALLOWED_CONFIG,
        "example.com/own",
    ];
    let before: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!("before"))).collect();
    let whole = json!({"metadata": {"annotations": before}});
    let at = format!("{NODES}/pier");
    drop(by_hand.send("DELETE", &at, "", &Value::Null).await);
    by_hand.create(NODES, &node("pier", &whole["metadata"]["annotations"])).await;
    let mut wrong = Vec::new();
    for (who, key) in Identity::ALL.into_iter().flat_map(|who| keys.map(|key| (who, key))) {
        for (resource, at) in [("nodes", at.clone()), ("nodes/status", format!("{at}/status"))] {
            for value in [json!("after"), Value::Null] {
                let change = json!({"metadata": {"annotations": {key: value}}});
                let answer = cast.writer(who, "pier").merge(&at, &change).await;
                let (found, expected) = (By::of(&answer), who.kept_from(key, resource));
                if !expected.contains(&found) {
                    wrong.push(format!(
                        "{who:?} writes {value} to {key} of {resource}: by {expected:?}, found {found:?}: {answer:?}"
                    ));
                }
                if found == By::Nobody {
                    by_hand.merge(&format!("{NODES}/pier"), &whole).await.unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// Pools, policies, configurations: nobody here but the operator has any right to them, whatever they run in a namespace.
async fn others_than_nodes_are_kept_by_roles(cast: &Cast<'_>) {
    let by_hand = Who::Initiator.at(cast.client, "pier");
    let mut paths = Vec::new();
    for kind in [&kinds::CLUSTER_VERSION, &kinds::MACHINE_CONFIG_POOL, &kinds::MACHINE_CONFIG] {
        let collection = collection(kind, None);
        let object = json!({"apiVersion": kind.api_version, "kind": kind.name,
            "metadata": {"name": "held"}, "spec": {}});
        by_hand.create(&collection, &object).await;
        paths.push(format!("{collection}/held"));
    }
    let change = json!({"metadata": {"annotations": {LEDGER: "[]"}}});
    for who in Identity::ALL.into_iter().filter(|who| *who != Identity::Operator) {
        let writer = cast.writer(who, "pier");
        for path in &paths {
            let answer = writer.merge(path, &change).await;
            assert_eq!(By::of(&answer), By::Role, "{who:?} patches {path}: {answer:?}");
        }
        // NODE-3: configurations hold secrets, and names of all of them stand on nodes.
        let (collection, _) = paths[2].rsplit_once('/').unwrap();
        for path in [&*paths[2], collection] {
            let answer = writer.send("GET", path, "", &Value::Null).await;
            assert_eq!(By::of(&answer), By::Role, "{who:?} reads {path}: {answer:?}");
        }
    }
}
