//! Who may take the lock away? The closure of RBAC over what the lock is made of, from roles and bindings alone.
//!
//! A door is a right that lets somebody undo what gates and freezes hold: to change or delete the admission policies, their bindings, our
//! definitions, gates, freezes, policies or the status that the API server reads; to make an override; to act as a member of
//! `tidegate:initiators`; to give oneself rights. Who may run pods, or ask for tokens, in a namespace has the rights of every account there.
//!
//! RBAC is one of several authorizers: what another one grants is not seen here. The group `system:masters` is asked by none of them.

use std::collections::{BTreeMap, BTreeSet};

use api::names;
use serde_json::Value;

/// A right that lets somebody undo what is held, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// Every right there is.
    Everything,
    /// To change or delete the admission policies or their bindings.
    Policies,
    /// To change or delete our definitions.
    Definitions,
    /// To act as a member of `tidegate:initiators`: to impersonate the group, or to approve a certificate that names it.
    Initiators,
    /// To give oneself rights: `escalate` or `bind` on roles, or to impersonate any user.
    Escalation,
    /// To write `status.windows` of gates, or the status of policies.
    Status,
    /// To change or delete gates, freezes and policies of the platform, or override them.
    Platform,
    /// The same of a team, in its namespace.
    Team,
}

/// Somebody with rights.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A user.
    User(String),
    /// A group.
    Group(String),
    /// An account, by namespace and name.
    Account(String, String),
}

/// A door that is open to somebody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Open {
    /// Which.
    pub door: Door,
    /// To whom.
    pub subject: Subject,
    /// In which namespace; in all, if none.
    pub namespace: Option<String>,
    /// By which binding, or by being whom.
    pub via: String,
    /// Whether it is meant to be open.
    pub expected: Expected,
}

/// Whether a door is meant to be open: it comes with every cluster, the operator needs it, or a team has it in its own namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// It is neither: somebody opened it.
    No,
    /// It is.
    Yes,
}

/// A rule of a role, as far as doors go.
struct Rule<'a>(&'a Value);

/// What a subject is bound to.
struct Grant<'a> {
    subject: Subject,
    namespace: Option<String>,
    role: &'a str,
    via: String,
    rules: Vec<Rule<'a>>,
}

const ADMISSION: &str = "admissionregistration.k8s.io";
const RIGHTS: &str = "rbac.authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";

/// Every door that roles and bindings open; each subject passes a door once for each namespace.
pub fn open(documents: &[Value], operators: &str) -> Vec<Open> {
    let grants = grants(documents);
    let mut found: BTreeMap<(Door, Subject, Option<String>), Open> = BTreeMap::new();
    let mut add = |open: Open| {
        let key = (open.door, open.subject.clone(), open.namespace.clone());
        found.entry(key).or_insert(open);
    };
    add(Open {
        door: Door::Everything,
        subject: Subject::Group("system:masters".to_owned()),
        namespace: None,
        via: "no authorizer is asked about this group".to_owned(),
        expected: Expected::Yes,
    });
    for grant in &grants {
        for door in doors(grant) {
            add(Open {
                door,
                subject: grant.subject.clone(),
                namespace: grant.namespace.clone(),
                via: grant.via.clone(),
                expected: expected(grant, door, operators),
            });
        }
    }
    let mut found: Vec<Open> = found.into_values().collect();
    borrowed(&grants, &mut found, operators);
    // Who may do everything is told so once.
    let all: BTreeSet<(Subject, Option<String>)> = found
        .iter()
        .filter(|open| open.door == Door::Everything)
        .map(|open| (open.subject.clone(), open.namespace.clone()))
        .collect();
    found.retain(|open| {
        open.door == Door::Everything
            || !all.contains(&(open.subject.clone(), open.namespace.clone()))
                && !all.contains(&(open.subject.clone(), None))
    });
    found.sort_by_key(|open| {
        (open.expected, open.door, open.subject.clone(), open.namespace.clone())
    });
    found
}

/// Who may act as an account has its rights. One step is enough: whoever may become an account that may become another is an account
/// of that namespace, too, and is asked in turn until nobody is added.
fn borrowed(grants: &[Grant<'_>], found: &mut Vec<Open>, operators: &str) {
    loop {
        let mut added = Vec::new();
        for grant in grants {
            let Some(how) = becomes(grant) else { continue };
            for open in found.iter() {
                let Subject::Account(namespace, name) = &open.subject else { continue };
                let reached = grant.namespace.as_ref().is_none_or(|own| own == namespace);
                let is_itself = grant.subject == open.subject;
                let known = |other: &Open| {
                    other.door == open.door
                        && other.subject == grant.subject
                        && (other.namespace.is_none() || other.namespace == open.namespace)
                };
                let new = reached && !is_itself && !found.iter().any(known);
                if new && !added.iter().any(known) {
                    added.push(Open {
                        door: open.door,
                        subject: grant.subject.clone(),
                        namespace: open.namespace.clone(),
                        via: format!("{how} as account {namespace}/{name}, by {}", grant.via),
                        expected: expected(grant, open.door, operators),
                    });
                }
            }
        }
        if added.is_empty() {
            return;
        }
        found.extend(added);
    }
}

/// How somebody becomes an account of a namespace, if they can.
fn becomes(grant: &Grant<'_>) -> Option<&'static str> {
    let may = |group, resource, verbs: &[&str]| {
        grant.rules.iter().any(|rule| rule.grants(group, resource, verbs, None))
    };
    if may("", "serviceaccounts/token", &["create"]) {
        return Some("asks for tokens");
    }
    if may("", "serviceaccounts", &["impersonate"]) {
        return Some("impersonates");
    }
    let pods = [
        ("", "pods"),
        ("apps", "deployments"),
        ("apps", "daemonsets"),
        ("apps", "statefulsets"),
        ("batch", "jobs"),
        ("batch", "cronjobs"),
    ];
    let runs = pods.iter().any(|(group, resource)| may(group, resource, &["create"]));
    runs.then_some("runs pods")
}

fn doors(grant: &Grant<'_>) -> Vec<Door> {
    const WRITES: &[&str] = &["update", "patch", "delete", "deletecollection"];
    let whole = grant.namespace.is_none();
    let may = |group, resource: &str, verbs: &[&str], named: Option<&str>| {
        grant.rules.iter().any(|rule| rule.grants(group, resource, verbs, named))
    };
    let any = |group, resources: &[&str], verbs: &[&str]| {
        resources.iter().any(|resource| may(group, resource, verbs, None))
    };
    if whole && grant.rules.iter().any(Rule::is_everything) {
        return vec![Door::Everything];
    }
    let mut doors = Vec::new();
    let policies = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"];
    if whole && any(ADMISSION, &policies, WRITES) {
        doors.push(Door::Policies);
    }
    let gates = ["changegates", "clusterchangegates", "changefreezes", "clusterchangefreezes"];
    let ours = |plural: &&str| {
        let name = format!("{plural}.{}", names::GROUP);
        may("apiextensions.k8s.io", "customresourcedefinitions", WRITES, Some(&name))
    };
    if whole && gates.iter().any(ours) {
        doors.push(Door::Definitions);
    }
    let signer = Some("kubernetes.io/kube-apiserver-client");
    let certifies =
        may(CERTIFICATES, "certificatesigningrequests/approval", &["update", "patch"], None)
            && may(CERTIFICATES, "signers", &["approve"], signer);
    if whole && (may("", "groups", &["impersonate"], Some(names::INITIATORS)) || certifies) {
        doors.push(Door::Initiators);
    }
    let roles = ["clusterroles", "roles"];
    if whole
        && (any(RIGHTS, &roles, &["escalate", "bind"]) || may("", "users", &["impersonate"], None))
    {
        doors.push(Door::Escalation);
    }
    let statuses = [
        "changegates/status",
        "clusterchangegates/status",
        "changemanagementpolicies/status",
        "hostedchangemanagementpolicies/status",
    ];
    if any(names::GROUP, &statuses, &["update", "patch"]) {
        doors.push(Door::Status);
    }
    let platform = ["clusterchangegates", "clusterchangefreezes", "changemanagementpolicies"];
    if whole
        && (any(names::GROUP, &platform, WRITES)
            || any(names::GROUP, &["clusterchangeoverrides"], &["create"]))
    {
        doors.push(Door::Platform);
    }
    let team = ["changegates", "changefreezes", "hostedchangemanagementpolicies"];
    if any(names::GROUP, &team, WRITES) || any(names::GROUP, &["changeoverrides"], &["create"]) {
        doors.push(Door::Team);
    }
    doors
}

impl Rule<'_> {
    /// Whether it grants one of some verbs on a resource, with its subresource if that is meant; of one object alone, if that is named.
    fn grants(&self, group: &str, resource: &str, verbs: &[&str], named: Option<&str>) -> bool {
        let list = |field: &str| {
            let list = self.0.get(field).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str)
        };
        let of_resource = |granted: &str| match (granted, resource.split_once('/')) {
            ("*", _) => true,
            (granted, Some((_, sub))) if granted.strip_prefix("*/") == Some(sub) => true,
            (granted, _) => granted == resource,
        };
        // Who may write some objects by name is asked about those; without one in question, any name is one too many.
        let of_name = list("resourceNames").next().is_none()
            || named.is_none_or(|named| list("resourceNames").any(|name| name == named));
        list("apiGroups").any(|granted| granted == "*" || granted == group)
            && list("resources").any(of_resource)
            && list("verbs").any(|granted| granted == "*" || verbs.contains(&granted))
            && of_name
    }

    fn is_everything(&self) -> bool {
        let all = |field: &str| {
            let list = self.0.get(field).and_then(Value::as_array);
            list.into_iter().flatten().any(|item| item == "*")
        };
        all("apiGroups") && all("resources") && all("verbs")
    }
}

/// What comes with every cluster (accounts of its own controllers, groups of the system), what the operator needs, and what a team may do
/// in its namespace.
fn expected(grant: &Grant<'_>, door: Door, operators: &str) -> Expected {
    let of_team = door == Door::Team && grant.namespace.is_some();
    let is = of_team
        || match &grant.subject {
            Subject::User(name) => name.starts_with("system:"),
            // These are everybody.
            Subject::Group(name) => {
                name.starts_with("system:")
                    && !["system:authenticated", "system:unauthenticated", "system:serviceaccounts"]
                        .contains(&name.as_str())
                    && !name.starts_with("system:serviceaccounts:")
            }
            Subject::Account(namespace, _) => {
                namespace == operators
                    || namespace == "kube-system" && grant.role.starts_with("system:")
            }
        };
    if is { Expected::Yes } else { Expected::No }
}

fn grants(documents: &[Value]) -> Vec<Grant<'_>> {
    let of_kind = |kind: &'static str| documents.iter().filter(move |one| one["kind"] == kind);
    let mut roles: BTreeMap<(&str, &str, &str), &Value> = BTreeMap::new();
    for kind in ["ClusterRole", "Role"] {
        for role in of_kind(kind) {
            let namespace = text(role, "/metadata/namespace").unwrap_or_default();
            roles.insert((kind, namespace, text(role, "/metadata/name").unwrap_or_default()), role);
        }
    }
    let mut grants = Vec::new();
    for kind in ["ClusterRoleBinding", "RoleBinding"] {
        for binding in of_kind(kind) {
            let namespace = text(binding, "/metadata/namespace").filter(|_| kind == "RoleBinding");
            let role_kind = text(binding, "/roleRef/kind").unwrap_or_default();
            let role = text(binding, "/roleRef/name").unwrap_or_default();
            let home = if role_kind == "Role" { namespace.unwrap_or_default() } else { "" };
            let Some(found) = roles.get(&(role_kind, home, role)) else { continue };
            let name = text(binding, "/metadata/name").unwrap_or_default();
            let via = match namespace {
                Some(namespace) => format!("{kind}/{namespace}/{name} to {role_kind}/{role}"),
                None => format!("{kind}/{name} to {role_kind}/{role}"),
            };
            let subjects = binding.get("subjects").and_then(Value::as_array);
            for subject in subjects.into_iter().flatten().filter_map(subject) {
                let granted = found.get("rules").and_then(Value::as_array);
                grants.push(Grant {
                    subject,
                    namespace: namespace.map(str::to_owned),
                    role,
                    via: via.clone(),
                    rules: granted.into_iter().flatten().map(Rule).collect(),
                });
            }
        }
    }
    grants
}

fn text<'a>(document: &'a Value, path: &str) -> Option<&'a str> {
    document.pointer(path).and_then(Value::as_str)
}

fn subject(subject: &Value) -> Option<Subject> {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).map(str::to_owned);
    match subject["kind"].as_str()? {
        "User" => Some(Subject::User(text("name")?)),
        "Group" => Some(Subject::Group(text("name")?)),
        "ServiceAccount" => {
            Some(Subject::Account(text("namespace").unwrap_or_default(), text("name")?))
        }
        _ => None,
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User(name) => write!(f, "User/{name}"),
            Self::Group(name) => write!(f, "Group/{name}"),
            Self::Account(namespace, name) => write!(f, "ServiceAccount/{namespace}/{name}"),
        }
    }
}

impl Door {
    /// One word, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Everything => "Everything",
            Self::Policies => "AdmissionPolicies",
            Self::Definitions => "Definitions",
            Self::Initiators => "Initiators",
            Self::Escalation => "Escalation",
            Self::Status => "Status",
            Self::Platform => "PlatformGates",
            Self::Team => "TeamGates",
        }
    }

    /// What whoever passes it may do.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Everything => "may do everything",
            Self::Policies => "may change or delete the admission policies or their bindings",
            Self::Definitions => "may change or delete the definitions of gates and freezes",
            Self::Initiators => "may act as a member of tidegate:initiators, who pass everything",
            Self::Escalation => {
                "may give rights to itself, by escalate or bind on roles or as another user"
            }
            Self::Status => "may write the status by which the API server opens gates",
            Self::Platform => {
                "may change, delete or override gates, freezes or policies of the platform"
            }
            Self::Team => "may change, delete or override gates, freezes or policies of a team",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn role(name: &str, rules: &Value) -> Value {
        json!({"kind": "ClusterRole", "metadata": {"name": name}, "rules": rules})
    }

    fn bind(role: &str, subject: &Value, namespace: Option<&str>) -> Value {
        let kind = if namespace.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
        json!({"kind": kind, "metadata": {"name": "b", "namespace": namespace},
            "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": [subject]})
    }

    fn rule(group: &str, resource: &str, verb: &str) -> Value {
        json!([{"apiGroups": [group], "resources": [resource], "verbs": [verb]}])
    }

    fn found(documents: &[Value]) -> Vec<(Door, String, Expected)> {
        let open = open(documents, "tidegate-system");
        open.into_iter().map(|one| (one.door, one.subject.to_string(), one.expected)).collect()
    }

    #[track_caller]
    fn check(rules: &Value, namespace: Option<&str>, doors: &[Door]) {
        let alice = json!({"kind": "User", "name": "alice"});
        let documents = [role("r", rules), bind("r", &alice, namespace)];
        let expected: Vec<Door> = doors.to_vec();
        let found = found(&documents);
        let of_alice = found.iter().filter(|(_, subject, _)| subject == "User/alice");
        assert_eq!(of_alice.map(|(door, ..)| *door).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_right_opens_its_door_and_no_other() {
        let ours = names::GROUP;
        check(&rule("*", "*", "*"), None, &[Door::Everything]);
        check(&rule(ADMISSION, "validatingadmissionpolicies", "patch"), None, &[Door::Policies]);
        check(&rule(ADMISSION, "validatingadmissionpolicies", "get"), None, &[]);
        check(&rule(ADMISSION, "*", "delete"), None, &[Door::Policies]);
        check(
            &rule("apiextensions.k8s.io", "customresourcedefinitions", "delete"),
            None,
            &[Door::Definitions],
        );
        check(&rule("", "groups", "impersonate"), None, &[Door::Initiators]);
        check(&rule("", "users", "impersonate"), None, &[Door::Escalation]);
        let approves = json!([
            {"apiGroups": [CERTIFICATES], "resources": ["certificatesigningrequests/approval"], "verbs": ["update"]},
            {"apiGroups": [CERTIFICATES], "resources": ["signers"], "verbs": ["approve"],
                "resourceNames": ["kubernetes.io/kube-apiserver-client"]}]);
        check(&approves, None, &[Door::Initiators]);
        check(&rule(RIGHTS, "clusterroles", "bind"), None, &[Door::Escalation]);
        check(&rule(ours, "changegates/status", "patch"), None, &[Door::Status]);
        check(&rule(ours, "*/status", "update"), None, &[Door::Status]);
        check(&rule(ours, "clusterchangegates", "delete"), None, &[Door::Platform]);
        check(&rule(ours, "clusterchangeoverrides", "create"), None, &[Door::Platform]);
        check(&rule(ours, "changegates", "delete"), None, &[Door::Team]);
        check(&rule(ours, "changegates", "create"), None, &[]);
    }

    #[test]
    fn a_binding_in_a_namespace_opens_what_is_in_it() {
        check(&rule(names::GROUP, "changegates", "delete"), Some("shop"), &[Door::Team]);
        check(&rule(names::GROUP, "changegates/status", "patch"), Some("shop"), &[Door::Status]);
        check(&rule(ADMISSION, "*", "*"), Some("shop"), &[]);
        check(&rule("*", "*", "*"), Some("shop"), &[Door::Status, Door::Team]);
    }

    #[test]
    fn a_team_is_meant_to_have_its_own_gates() {
        let team = json!({"kind": "Group", "name": "shop"});
        let documents = [role("admin", &rule(names::GROUP, "*", "*"))];
        let bound = |namespace| found(&[documents[0].clone(), bind("admin", &team, namespace)]);
        let of_team = |found: Vec<(Door, String, Expected)>| {
            found.into_iter().find(|(door, ..)| *door == Door::Team).map(|(.., expected)| expected)
        };
        assert_eq!(of_team(bound(Some("shop"))), Some(Expected::Yes));
        assert_eq!(of_team(bound(None)), Some(Expected::No));
    }

    #[test]
    fn a_right_to_one_object_is_no_right_to_another() {
        let named = |group: &str, resource: &str, verb: &str, name: &str| {
            json!([{"apiGroups": [group],
            "resources": [resource], "verbs": [verb], "resourceNames": [name]}])
        };
        check(&named("", "groups", "impersonate", "devs"), None, &[]);
        check(&named("", "groups", "impersonate", names::INITIATORS), None, &[Door::Initiators]);
        let definition =
            |name: &str| named("apiextensions.k8s.io", "customresourcedefinitions", "delete", name);
        check(&definition("pods.example.com"), None, &[]);
        check(&definition("changegates.changemanagement.openshift.io"), None, &[Door::Definitions]);
    }

    #[test]
    fn who_runs_pods_beside_a_powerful_account_has_its_rights() {
        let deployer = json!({"kind": "ServiceAccount", "namespace": "ci", "name": "deployer"});
        let bob = json!({"kind": "User", "name": "bob"});
        let mut documents = vec![
            role("all", &rule("*", "*", "*")),
            bind("all", &deployer, None),
            role("runs", &rule("", "pods", "create")),
            bind("runs", &bob, Some("ci")),
        ];
        let expected = [
            (Door::Everything, "ServiceAccount/ci/deployer".to_owned(), Expected::No),
            (Door::Everything, "User/bob".to_owned(), Expected::No),
            (Door::Everything, "Group/system:masters".to_owned(), Expected::Yes),
        ];
        let sorted = |mut all: Vec<(Door, String, Expected)>| {
            all.sort();
            all
        };
        assert_eq!(sorted(found(&documents)), sorted(expected.to_vec()));
        documents[3]["metadata"]["namespace"] = json!("shop");
        assert_eq!(found(&documents).len(), 2, "another namespace");
    }

    #[test]
    fn what_comes_with_every_cluster_is_told_apart() {
        let account = |namespace: &str| json!({"kind": "ServiceAccount", "namespace": namespace, "name": "it"});
        let check = |role_name: &str, subject: Value, expected: Expected| {
            let documents =
                [role(role_name, &rule("*", "*", "*")), bind(role_name, &subject, None)];
            let open = open(&documents, "tidegate-system");
            let mut others = open.iter().filter(|one| one.via.starts_with("ClusterRoleBinding"));
            assert_eq!(others.next().map(|one| one.expected), Some(expected));
        };
        check("system:controller:x", account("kube-system"), Expected::Yes);
        check("cluster-admin", account("kube-system"), Expected::No);
        check("any", account("tidegate-system"), Expected::Yes);
        check("any", json!({"kind": "Group", "name": "system:authenticated"}), Expected::No);
        check("any", json!({"kind": "Group", "name": "system:nodes"}), Expected::Yes);
    }
}
