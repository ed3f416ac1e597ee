//! Does a real server take the chart: installed, upgraded and uninstalled by Helm, and applied as plain manifests by kubectl? May its pods
//! run where pod security is restricted, and may its account do what the role says and no more?

use std::collections::BTreeSet;

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        authorization::v1::SelfSubjectRulesReview,
        core::v1::{Namespace, Pod, Secret},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use rig::{
    Cluster, Controllers, Helm, User,
    rights::{self, Difference, Recorder, Right},
    suite,
};
use serde_json::{Value, from_value, json};
use tidy::Tree;

use super::admin::kubectl;

pub(crate) const NAMESPACE: &str = "tidegate-system";

#[test]
fn real_server_takes_chart_and_manifests() {
    suite::with_helm("deploy", |helm| {
        suite::on_real("deploy", Controllers::Absent, async |cluster| {
            let admin = cluster.client(User::Admin).await.unwrap();
            make_namespace(&admin).await;
            install_upgrade_uninstall(helm, cluster, &admin).await;
            apply_manifests(cluster, &admin).await;
            take_over_manifests(helm, cluster);
            pods_pass_restricted_pod_security(&admin).await;
            account_has_the_rights_of_its_roles(helm, cluster).await;
            account_is_held_to_its_rights(cluster, &admin).await;
        });
    });
}

/// With the label that the guide recommends; nothing in the chart may break it.
pub(crate) async fn make_namespace(admin: &Client) {
    let namespaces: Api<Namespace> = Api::all(admin.clone());
    let namespace = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": NAMESPACE,
            "labels": { "pod-security.kubernetes.io/enforce": "restricted" },
        },
    });
    namespaces
        .patch(NAMESPACE, &PatchParams::apply("test"), &Patch::Apply(namespace))
        .await
        .unwrap();
}

async fn install_upgrade_uninstall(helm: &Helm, cluster: &Cluster, admin: &Client) {
    let chart = chart();
    let run = |arguments: &[&str]| release(helm, cluster, arguments);
    let said = run(&["install", "tidegate", &chart]);
    assert!(said.contains("STATUS: deployed"), "{said}");
    assert!(said.contains("Nothing collects the metrics"), "no ServiceMonitor here: {said}");
    let deployments: Api<Deployment> = Api::namespaced(admin.clone(), NAMESPACE);
    let replicas = async || deployments.get("tidegate").await.unwrap().spec.unwrap().replicas;
    assert_eq!(replicas().await, Some(2));

    // The definitions of the Prometheus operator appear later; an upgrade picks them up by itself, and takes other values.
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        define_loosely(cluster, admin, kind).await;
    }
    let said = run(&["upgrade", "tidegate", &chart, "--set", "replicas=3"]);
    assert!(!said.contains("Nothing collects the metrics"), "{said}");
    assert_eq!(replicas().await, Some(3));
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        let resource = monitoring(kind);
        let objects: Api<DynamicObject> = Api::namespaced_with(admin.clone(), NAMESPACE, &resource);
        objects.get("tidegate").await.unwrap_or_else(|no| panic!("{kind}: {no}"));
    }

    let said = run(&["uninstall", "tidegate"]);
    assert!(said.contains("kept due to the resource policy"), "{said}");
    assert!(deployments.get_opt("tidegate").await.unwrap().is_none());
    let definitions: Api<CustomResourceDefinition> = Api::all(admin.clone());
    for plural in ["changemanagementpolicies", "hostedchangemanagementpolicies"] {
        let name = format!("{plural}.{}", api::names::GROUP);
        assert!(definitions.get_opt(&name).await.unwrap().is_some(), "{name} stays");
    }

    // What stayed is no obstacle to the next release.
    run(&["install", "tidegate", &chart]);
    assert_eq!(replicas().await, Some(2));
    run(&["uninstall", "tidegate"]);
}

/// Who began with kubectl can go on with Helm.
fn take_over_manifests(helm: &Helm, cluster: &Cluster) {
    let said = release(helm, cluster, &["install", "tidegate", &chart(), "--take-ownership"]);
    assert!(said.contains("STATUS: deployed"), "{said}");
}

pub(crate) fn chart() -> String {
    Tree::top().join("deploy/chart").display().to_string()
}

pub(crate) fn release(helm: &Helm, cluster: &Cluster, arguments: &[&str]) -> String {
    let access = ["--namespace", NAMESPACE, "--kubeconfig"].map(str::to_owned);
    let kubeconfig = cluster.kubeconfig(User::Admin).display().to_string();
    let arguments = arguments.iter().map(|&argument| argument.to_owned());
    helm.run(arguments.chain(access).chain([kubeconfig])).unwrap_or_else(|no| panic!("{no}"))
}

fn monitoring(kind: &str) -> ApiResource {
    let gvk = kube::core::GroupVersionKind::gvk("monitoring.coreos.com", "v1", kind);
    ApiResource::from_gvk(&gvk)
}

/// A definition that takes anything: what is tested is when the chart uses it.
async fn define_loosely(cluster: &Cluster, admin: &Client, kind: &str) {
    let resource = monitoring(kind);
    let name = format!("{}.{}", resource.plural, resource.group);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            // This group is protected; the server wants to know who agreed.
            "annotations": { "api-approved.kubernetes.io": "https://github.com/prometheus-operator" },
        },
        "spec": {
            "group": resource.group,
            "scope": "Namespaced",
            "names": { "kind": kind, "plural": resource.plural, "singular": kind.to_lowercase() },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                } },
            }],
        },
    });
    let definitions: Api<CustomResourceDefinition> = Api::all(admin.clone());
    definitions.patch(&name, &PatchParams::apply("test"), &Patch::Apply(definition)).await.unwrap();
    kubectl(cluster, &["wait", "--for=condition=Established", &format!("crd/{name}")]);
}

async fn apply_manifests(cluster: &Cluster, admin: &Client) {
    for folder in ["deploy/manifests", "deploy/manifests/monitoring"] {
        let folder = Tree::top().join(folder).display().to_string();
        let said =
            kubectl(cluster, &["apply", "--server-side", "--force-conflicts", "-f", &folder]);
        assert!(said.contains("serverside-applied"), "{said}");
    }
    let deployments: Api<Deployment> = Api::namespaced(admin.clone(), NAMESPACE);
    let deployment = deployments.get("tidegate").await.unwrap();
    let labels = deployment.metadata.labels.unwrap_or_default();
    assert!(!labels.contains_key("app.kubernetes.io/managed-by"), "{labels:?}");
}

/// No kubelet runs here, so no pod appears by itself: one is made from the template, without being kept.
async fn pods_pass_restricted_pod_security(admin: &Client) {
    let deployments: Api<Deployment> = Api::namespaced(admin.clone(), NAMESPACE);
    let deployment = serde_json::to_value(deployments.get("tidegate").await.unwrap()).unwrap();
    let template = &deployment["spec"]["template"];
    let pods: Api<Pod> = Api::namespaced(admin.clone(), NAMESPACE);
    let try_pod = async |change: &dyn Fn(&mut Value)| {
        let mut pod = template.clone();
        pod["metadata"]["name"] = json!("probe");
        change(&mut pod);
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        pods.create(&dry_run, &from_value(pod).unwrap())
            .await
            .map(|_| ())
            .map_err(|no| no.to_string())
    };

    try_pod(&|_| ()).await.unwrap();
    // That the server would say no is seen too: each of these lines is needed.
    for field in [
        "/spec/securityContext/runAsNonRoot",
        "/spec/securityContext/seccompProfile",
        "/spec/containers/0/securityContext/allowPrivilegeEscalation",
        "/spec/containers/0/securityContext/capabilities",
    ] {
        let refused = try_pod(&|pod| *pod.pointer_mut(field).unwrap() = Value::Null).await;
        let refused = refused.expect_err(field);
        assert!(refused.contains("violates PodSecurity \"restricted"), "{field}: {refused}");
    }
}

/// What the server says of the account is what was rendered: nothing is lost on the way, and no other binding adds to it.
async fn account_has_the_rights_of_its_roles(helm: &Helm, cluster: &Cluster) {
    let rendered = helm.render(&Tree::top().join("deploy/chart"), NAMESPACE, &[]).unwrap();
    let objects: Vec<Value> = serde_saphyr::from_multiple(&rendered).unwrap();
    let granted = rights::granted(&objects);
    // Everybody may ask what they may do.
    let everybody = [
        Right::new("create", "authentication.k8s.io", "selfsubjectreviews"),
        Right::new("create", "authorization.k8s.io", "selfsubjectaccessreviews"),
        Right::new("create", "authorization.k8s.io", "selfsubjectrulesreviews"),
    ];
    let operator = cluster.account(NAMESPACE, "tidegate", &Recorder::default()).await.unwrap();
    let reviews: Api<SelfSubjectRulesReview> = Api::all(operator);
    let has = async |namespace: &str| {
        let review = json!({ "spec": { "namespace": namespace } });
        let review = reviews.create(&PostParams::default(), &from_value(review).unwrap()).await;
        let status = serde_json::to_value(review.unwrap().status).unwrap();
        let mut has = rights::of_rules(status["resourceRules"].as_array().unwrap());
        has.retain(|right| !everybody.contains(right));
        has
    };
    let at_home = Difference::between(&has(NAMESPACE).await, &granted);
    assert!(at_home.is_empty(), "{at_home}");
    let elsewhere = Difference::between(&has("default").await, &granted);
    assert!(elsewhere.missing.is_empty(), "{elsewhere}");
    let leases = ["get", "update", "create"];
    let leases = leases.map(|verb| Right::new(verb, "coordination.k8s.io", "leases"));
    assert_eq!(BTreeSet::from_iter(elsewhere.idle), BTreeSet::from(leases), "leases at home only");
}

async fn account_is_held_to_its_rights(cluster: &Cluster, admin: &Client) {
    let recorder = Recorder::default();
    let operator = cluster.account(NAMESPACE, "tidegate", &recorder).await.unwrap();
    let policies = |client: &Client| -> Api<DynamicObject> {
        let gvk = kube::core::GroupVersionKind::gvk(
            api::names::GROUP,
            api::names::VERSION,
            api::names::CHANGE_MANAGEMENT_POLICY,
        );
        let mut resource = ApiResource::from_gvk(&gvk);
        resource.plural = api::names::plural(api::names::CHANGE_MANAGEMENT_POLICY);
        Api::all_with(client.clone(), &resource)
    };
    let policy = json!({
        "apiVersion": api::names::API_VERSION,
        "kind": api::names::CHANGE_MANAGEMENT_POLICY,
        "metadata": { "name": "always" },
        "spec": { "strategy": "Permissive" },
    });
    let mine = policies(admin);
    mine.create(&PostParams::default(), &from_value(policy).unwrap()).await.unwrap();

    let theirs = policies(&operator);
    assert_eq!(theirs.list(&ListParams::default()).await.unwrap().items.len(), 1);
    let status = json!({ "status": { "conditions": [] } });
    let merge = PatchParams::default();
    theirs.patch_status("always", &merge, &Patch::Merge(status)).await.unwrap();
    let opened = json!({ "spec": { "strategy": "Restrictive" } });
    is_forbidden(theirs.patch("always", &merge, &Patch::Merge(opened)).await);
    let secrets: Api<Secret> = Api::namespaced(operator.clone(), NAMESPACE);
    is_forbidden(secrets.list(&ListParams::default()).await);

    let group = api::names::GROUP;
    let used = [
        Right::new("list", group, "changemanagementpolicies"),
        Right::new("patch", group, "changemanagementpolicies"),
        Right::new("patch", group, "changemanagementpolicies/status"),
        Right::new("list", "", "secrets"),
    ];
    assert_eq!(recorder.used(), used.into_iter().collect());
}

#[track_caller]
fn is_forbidden<T>(answer: kube::Result<T>) {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 403 => {}
        Err(problem) => panic!("neither allowed nor forbidden: {problem}"),
        Ok(_) => panic!("the role allows what it should not"),
    }
}
