//! What do the values of the chart do, and what do bad ones get?

use rig::{Helm, suite};
use serde_json::json;
use tidegate_core::reach::{custom, policies::custom::rendered};

use crate::{chart, documents};

#[track_caller]
fn check(helm: &Helm, value: &str, expect: &str) {
    let said = helm.render(&chart(), "t", &[value]).unwrap_err().to_string();
    assert!(said.contains(expect), "{value}: {said}");
}

/// RCH-14: what `tidegate gate check` tries is what the chart installs.
#[test]
fn rooms_of_somebodys_own_are_installed_as_they_are_tried() {
    suite::with_helm("chart-custom", |helm| {
        for scope in ["Namespaced", "Cluster"] {
            let room = json!({"name": "own", "scope": scope, "apiGroups": ["example.com"], "resources": ["widgets"],
                "operations": ["UPDATE"], "initiates": "object.spec.a > 1", "text": "ask them"});
            let rooms = custom::read(&json!({"changeGates": {"custom": [room]}})).unwrap();
            let tried = documents(&rendered(&rooms[0], "tidegate", "t"));
            let values = format!(
                "changeGates.enabled=true,changeGates.custom[0].name=own,changeGates.custom[0].scope={scope},changeGates.custom[0].apiGroups={{example.com}},\
                 changeGates.custom[0].resources={{widgets}},changeGates.custom[0].operations={{UPDATE}},changeGates.custom[0].initiates=object.spec.a > 1,\
                 changeGates.custom[0].text=ask them"
            );
            let all = documents(&helm.render(&chart(), "t", &[&values]).unwrap());
            assert!(!tried.is_empty());
            for object in tried {
                let installed = all.iter().find(|one| {
                    one["kind"] == object["kind"]
                        && one["metadata"]["name"] == object["metadata"]["name"]
                });
                assert_eq!(installed.map(|one| &one["spec"]), Some(&object["spec"]));
            }
        }
    });
}

#[test]
fn bad_values_are_refused_by_name() {
    suite::with_helm("chart-values", |helm| {
        check(helm, "replcas=2", "additional properties 'replcas' not allowed");
        check(helm, "replicas=two", "at '/replicas': got string, want integer");
        check(helm, "replicas=-1", "at '/replicas': minimum");
        check(helm, "image.digest=latest", "at '/image/digest': 'latest' does not match");
        check(helm, "image.repository=", "at '/image/repository': minLength");
        check(helm, "image.pullPolicy=Sometimes", "at '/image/pullPolicy': value must be one of");
        check(helm, "listen.port=80", "at '/listen/port': minimum");
        check(helm, "log.level=loud", "at '/log/level': value must be one of");
        check(
            helm,
            "networkPolicy.apiServer.ports=null",
            "at '/networkPolicy/apiServer': missing property 'ports'",
        );
        check(
            helm,
            "networkPolicy.apiServer.cidrs={10.0.0.1}",
            "at '/networkPolicy/apiServer/cidrs/0'",
        );
        check(
            helm,
            "monitoring.alerts.enabled=maybe",
            "at '/monitoring/alerts/enabled': value must be one of",
        );
        check(
            helm,
            "monitoring.serviceMonitor.interval=often",
            "at '/monitoring/serviceMonitor/interval'",
        );
        check(
            helm,
            "monitoring.alerts.limits.noWindowSeconds=0",
            "at '/monitoring/alerts/limits/noWindowSeconds'",
        );
        check(
            helm,
            "monitoring.alerts.limits.noWindowDays=9",
            "additional properties 'noWindowDays' not allowed",
        );
        check(helm, "serviceAccount.create=false", "serviceAccount.name: name the account to use");
        check(helm, "nodeConfig.enabled=true", "nodeConfig.enabled: set managePools too");
        check(
            helm,
            "managePools=true,nodeConfig.enabled=true",
            "nodeConfig.tlsSecret: name a secret with the certificate",
        );
        check(
            helm,
            "warnOfUnknownFields=no way",
            "at '/warnOfUnknownFields': value must be one of",
        );
        check(helm, "agent.enabled=true", "agent.enabled: set managePools too");
        check(
            helm,
            "managePools=true,agent.enabled=true",
            "agent.enabled: set nodeConfig.enabled too",
        );
        check(
            helm,
            "managePools=true,agent.enabled=true,nodeConfig.enabled=true,nodeConfig.tlsSecret=cert",
            "agent.authorityConfigMap: name a config map with the authority",
        );
        check(helm, "agent.maxUnavailable=some", "at '/agent/maxUnavailable'");
        check(helm, "nodeReporters={a' || true || '}", "at '/nodeReporters/0'");
        check(helm, "nodeConfig.port=443", "at '/nodeConfig/port': minimum");
        let own = |part: &str| {
            let first = "changeGates.enabled=true,changeGates.custom[0].name=a";
            let rest = "changeGates.custom[0].apiGroups={example.com},changeGates.custom[0].resources={widgets},\
                        changeGates.custom[0].operations={UPDATE},changeGates.custom[0].initiates=object.a";
            format!("{first},{rest},{part}")
        };
        for (part, expect) in [
            ("changeGates.custom[0].name=A", "at '/changeGates/custom/0/name'"),
            ("changeGates.custom[0].name=a-warn", "at '/changeGates/custom/0/name'"),
            ("changeGates.custom[0].apiGroups={*}", "at '/changeGates/custom/0/apiGroups/0'"),
            (
                "changeGates.custom[0].resources={pods/eviction}",
                "at '/changeGates/custom/0/resources/0'",
            ),
            (
                "changeGates.custom[0].operations={DELETE}",
                "at '/changeGates/custom/0/operations/0'",
            ),
            ("changeGates.custom[0].initiates=", "at '/changeGates/custom/0/initiates'"),
            ("changeGates.custom[0].text=two\u{85}lines", "at '/changeGates/custom/0/text'"),
            ("changeGates.custom[0].text=two\u{2028}lines", "at '/changeGates/custom/0/text'"),
            (
                "changeGates.custom[0].initiates=a == '\u{85}'",
                "at '/changeGates/custom/0/initiates'",
            ),
            ("changeGates.custom[0].when=now", "additional properties 'when' not allowed"),
            (
                "changeGates.custom[1].name=a,changeGates.custom[1].apiGroups={example.com},changeGates.custom[1].resources={x},\
                 changeGates.custom[1].operations={UPDATE},changeGates.custom[1].initiates=object.a",
                "the name a is there twice",
            ),
        ] {
            check(helm, &own(part), expect);
        }
    });
}

#[test]
fn bad_values_of_the_console_are_refused_by_name() {
    suite::with_helm("chart-console", |helm| {
        check(helm, "console.enabled=true", "console.names: give the names");
        let named = "console.enabled=true,console.names[0]=console.example.com";
        check(helm, named, "console.tlsSecret: name a secret with the certificate, or a proxy");
        check(helm, "console.names[0]=https://console", "at '/console/names/0'");
        let proxied =
            format!("{named},console.proxy[0].name=proxy,console.proxy[0].image=example.com/proxy");
        let rendered = helm.render(&chart(), "t", &[&proxied]).unwrap();
        assert!(
            rendered.contains("--behind-proxy") && !rendered.contains("--tls-cert"),
            "{rendered}"
        );
        let off = helm.render(&chart(), "t", &[]).unwrap();
        assert!(!off.contains("component: console"), "it is off unless somebody wants it");
    });
}

#[test]
fn bad_values_of_what_is_off_by_default_are_refused_by_name() {
    suite::with_helm("chart-values-off", |helm| {
        check(helm, "changeGates.enabled=soon", "at '/changeGates/enabled': got string");
        check(helm, "changeGates.nudge={Teapots}", "at '/changeGates/nudge/0'");
        check(helm, "changeGates.proof.enabled=often", "at '/changeGates/proof/enabled'");
        check(helm, "changeGates.proof.namespace=kube-x", "at '/changeGates/proof/namespace'");
        check(
            helm,
            "changeGates.enabled=true,crds.install=false",
            "changeGates.enabled: install the definitions of gates and freezes",
        );
        check(helm, "guardrails.enabled=soon", "at '/guardrails/enabled': got string");
        check(
            helm,
            "guardrails.enabled=true,crds.install=false",
            "guardrails.enabled: install the definition of guardrails",
        );
        check(helm, "history.enabled=soon", "at '/history/enabled': got string");
        check(
            helm,
            "history.enabled=true,crds.install=false",
            "history.enabled: install the definition of records",
        );
        check(helm, "changeGates.queueUpdates=perhaps", "at '/changeGates/queueUpdates'");
        check(helm, "manageUpdates=yes", "at '/manageUpdates': got string");
        check(helm, "manageUpdates=true", "manageUpdates: set managePools too");
        check(helm, "manageUpdates=true", "or, on a stock OpenShift, changeGates.enabled");
        check(helm, "manageHosted=yes", "at '/manageHosted': got string");
        check(helm, "manageHosted=true", "manageHosted: set changeGates.enabled too");
        check(
            helm,
            "monitoring.alerts.enabled=true,monitoring.alerts.rules.TidegateGateStack.for=8h",
            "monitoring.alerts.rules.TidegateGateStack: there is no such alert; there are Tidegate",
        );
    });
}

/// What `path`, as in `Deployment/spec/replicas`, holds when the chart is rendered with `values`.
#[track_caller]
fn check_value(helm: &Helm, values: &[&str], path: &str, expect: &str) {
    let rendered = helm.render(&chart(), "t", values).unwrap();
    let (kind, pointer) = path.split_once('/').unwrap();
    let objects = documents(&rendered);
    let object = objects.iter().find(|object| object["kind"] == kind);
    let found = object.and_then(|object| object.pointer(&format!("/{pointer}")));
    let found = found.map_or("absent".to_owned(), ToString::to_string);
    assert_eq!(found, expect, "{path} with {values:?}");
}

/// GATE-16: whoever manages pools knows who speaks for nodes, with the agent of the chart or without it.
#[test]
fn nobody_but_those_who_are_named_speaks_for_machines() {
    suite::with_helm("chart-reports", |helm| {
        let known = |values: &[&str]| -> Vec<String> {
            let objects = documents(&helm.render(&chart(), "t", values).unwrap());
            let named = |kind: &str| {
                let mut all = objects.iter().filter(|object| object["kind"] == kind);
                all.find(|object| object["metadata"]["name"] == "tidegate-reports").cloned()
            };
            let policy = named("ValidatingAdmissionPolicy");
            let binding = named("ValidatingAdmissionPolicyBinding");
            assert_eq!(policy.is_some(), binding.is_some(), "{values:?}");
            let Some(policy) = policy else { return Vec::new() };
            let who = policy["spec"]["matchConditions"][0]["expression"].as_str().unwrap();
            who.split('\'').filter(|part| part.contains(':')).map(str::to_owned).collect()
        };
        let (agent, operator) =
            ("system:serviceaccount:t:tidegate-agent", "system:serviceaccount:t:tidegate");
        assert_eq!(known(&[]), [""; 0]);
        assert_eq!(known(&["managePools=true"]), [agent, operator]);
        let daemon = "system:serviceaccount:machines:daemon";
        let named = format!("nodeReporters={{{daemon},system:node:n1}}");
        assert_eq!(
            known(&["managePools=true", &named]),
            [agent, daemon, "system:node:n1", operator]
        );
    });
}

/// GATE-13: where it is tried stands with the gates, and goes with them.
#[test]
fn where_it_is_tried_stands_with_the_gates() {
    suite::with_helm("chart-proof", |helm| {
        let gates = "changeGates.enabled=true";
        check_value(helm, &[], "StatefulSet/kind", "absent");
        check_value(helm, &[gates], "StatefulSet/metadata/namespace", r#""tidegate-probe""#);
        check_value(
            helm,
            &[gates, "changeGates.proof.namespace=tries"],
            "Namespace/metadata/name",
            r#""tries""#,
        );
        check_value(
            helm,
            &[gates, "changeGates.proof.enabled=false"],
            "StatefulSet/kind",
            "absent",
        );
    });
}

#[test]
fn values_reach_what_they_name() {
    let image = "Deployment/spec/template/spec/containers/0/image";
    let digest = format!("image.digest=sha256:{}", "0".repeat(64));
    suite::with_helm("chart-objects", |helm| {
        check_value(helm, &[], "Deployment/spec/replicas", "2");
        check_value(helm, &["replicas=1"], "Deployment/spec/replicas", "1");
        check_value(helm, &["image.tag=a"], image, r#""ghcr.io/tidegate/tidegate:a""#);
        let pinned = format!(r#""ghcr.io/tidegate/tidegate@sha256:{}""#, "0".repeat(64));
        check_value(helm, &["image.tag=a", &digest], image, &pinned);
        check_value(
            helm,
            &["listen.address=[::]"],
            "Deployment/spec/template/spec/containers/0/args/1",
            r#""--listen=[::]:8080""#,
        );
        check_value(
            helm,
            &["serviceAccount.name=x"],
            "ClusterRoleBinding/subjects/0/name",
            r#""x""#,
        );
        check_value(
            helm,
            &["serviceAccount.create=false", "serviceAccount.name=x"],
            "ServiceAccount/kind",
            "absent",
        );
        check_value(helm, &["rbac.create=false"], "ClusterRole/kind", "absent");
        check_value(helm, &["crds.install=false"], "CustomResourceDefinition/kind", "absent");
        check_value(
            helm,
            &["crds.keep=false"],
            "CustomResourceDefinition/metadata/annotations",
            "absent",
        );
        check_value(
            helm,
            &["podDisruptionBudget.enabled=false"],
            "PodDisruptionBudget/kind",
            "absent",
        );
        check_value(helm, &["networkPolicy.enabled=false"], "NetworkPolicy/kind", "absent");
        check_value(
            helm,
            &["networkPolicy.metricsFromNamespaces=null"],
            "NetworkPolicy/spec/ingress",
            "[]",
        );
        check_value(
            helm,
            &["networkPolicy.apiServer.cidrs={10.0.0.1/32}"],
            "NetworkPolicy/spec/egress/0/to/0/ipBlock/cidr",
            r#""10.0.0.1/32""#,
        );
        check_value(helm, &["networkPolicy.dns=false"], "NetworkPolicy/spec/egress/1", "absent");
        check_value(
            helm,
            &["affinity.nodeAffinity.a=b"],
            "Deployment/spec/template/spec/affinity/podAntiAffinity",
            "absent",
        );
        check_value(
            helm,
            &["imagePullSecrets={one}"],
            "Deployment/spec/template/spec/imagePullSecrets/0/name",
            r#""one""#,
        );
        check_value(helm, &[], "ServiceMonitor/kind", "absent");
        // Policies that hold nothing, or a kind whose status nobody writes, are not there unasked.
        let quiet = &["warnOfUnknownFields=false"][..];
        check_value(helm, quiet, "ValidatingAdmissionPolicy/kind", "absent");
        check_value(
            helm,
            &[quiet, &["changeGates.enabled=true"]].concat(),
            "ValidatingAdmissionPolicyBinding/spec/paramRef/parameterNotFoundAction",
            r#""Allow""#,
        );
        check_value(helm, &[], "PrometheusRule/kind", "absent");
        check_value(
            helm,
            &[
                "monitoring.serviceMonitor.enabled=true",
                "monitoring.serviceMonitor.labels.release=p",
            ],
            "ServiceMonitor/metadata/labels/release",
            r#""p""#,
        );
        check_value(
            helm,
            &["monitoring.dashboard.enabled=true"],
            "ConfigMap/metadata/labels/grafana_dashboard",
            r#""1""#,
        );
        check_value(
            helm,
            &["namespace.create=true"],
            "Namespace/metadata/labels/pod-security.kubernetes.io~1enforce",
            r#""restricted""#,
        );
    });
}

#[test]
fn values_for_machines_reach_what_they_name() {
    suite::with_helm("chart-machines", |helm| {
        check_value(
            helm,
            &["managePools=true", "manageUpdates=true"],
            "Deployment/spec/template/spec/containers/0/args/5",
            r#""--manage-updates""#,
        );
        check_value(
            helm,
            &["changeGates.enabled=true", "manageHosted=true"],
            "Deployment/spec/template/spec/containers/0/args/4",
            r#""--manage-hosted""#,
        );
        let queues = &["changeGates.enabled=true", "changeGates.queueUpdates=true"][..];
        check_value(
            helm,
            &[queues, &["manageUpdates=true"]].concat(),
            "Deployment/spec/template/spec/containers/0/args/4",
            r#""--manage-updates""#,
        );
        let path = "MutatingAdmissionPolicy/spec/paramKind/kind";
        check_value(helm, queues, path, r#""ClusterChangeGate""#);
        let never = &["changeGates.enabled=true", "changeGates.queueUpdates=false"];
        check_value(helm, never, path, "absent");
        // CV-4: where updates begin by marks, what is asked for is a wish already.
        let marks = &[queues, &["managePools=true", "manageUpdates=true"]].concat();
        check_value(helm, marks, path, "absent");
        let served =
            &["managePools=true", "nodeConfig.enabled=true", "nodeConfig.tlsSecret=cert"][..];
        check_value(
            helm,
            served,
            "Deployment/spec/template/spec/volumes/0/secret/secretName",
            r#""cert""#,
        );
        check_value(helm, served, "NetworkPolicy/spec/ingress/1/from", "absent");
        check_value(
            helm,
            &[served, &["nodeConfig.fromCidrs={10.0.0.0/16}"]].concat(),
            "NetworkPolicy/spec/ingress/1/from/0/ipBlock/cidr",
            r#""10.0.0.0/16""#,
        );
        check_value(
            helm,
            &[served, &["networkPolicy.metricsFromNamespaces=null"]].concat(),
            "NetworkPolicy/spec/ingress/0/ports/0/port",
            r#""node-config""#,
        );
        check_value(helm, &["managePools=true"], "DaemonSet/kind", "absent");
        let agents =
            &[served, &["agent.enabled=true", "agent.authorityConfigMap=authority"]].concat()[..];
        // Agents trust by a config map, and name no secret: a node that was taken over reads each that a pod on it names.
        check_value(
            helm,
            agents,
            "DaemonSet/spec/template/spec/volumes/0/projected/sources/0/configMap/name",
            r#""authority""#,
        );
        check_value(
            helm,
            &[agents, &["nodeConfig.port=9443"]].concat(),
            "DaemonSet/spec/template/spec/containers/0/args/5",
            r#""https://tidegate-node-config.t.svc:9443""#,
        );
        let strategy = "DaemonSet/spec/updateStrategy/rollingUpdate/maxUnavailable";
        check_value(helm, agents, strategy, r#""10%""#);
        check_value(helm, &[agents, &["agent.maxUnavailable=3"]].concat(), strategy, "3");
        check_value(
            helm,
            &[agents, &["image.tag=a"]].concat(),
            "DaemonSet/spec/template/spec/containers/0/image",
            r#""ghcr.io/tidegate/tidegate:a""#,
        );
        check_value(
            helm,
            &[agents, &["namespace.create=true"]].concat(),
            "Namespace/metadata/labels/pod-security.kubernetes.io~1enforce",
            r#""privileged""#,
        );
    });
}
