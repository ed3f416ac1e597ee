//! Does the API server itself refuse what guardrails do not allow, and nothing else? (GRD-1, GRD-3, GRD-6)
//!
//! Nothing of ours runs here: there are the definitions and the policies as they are shipped, and whoever writes.

use api::{
    crds,
    machine::names as machine,
    names,
    schema::{FREEZES, GATES, GUARDRAILS, KINDS, OVERRIDES},
};
use jiff::{Timestamp, ToSpan as _};
use kube::Client;
use rig::{Controllers, suite};
use serde_json::{Value, json};
use tidy::permits;

use crate::rollout::writers::{self, INITIATORS, RIGHTS, Writer, until};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP: &str = "/apis/changemanagement.openshift.io/v1alpha1";
const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const NODES: &str = "/api/v1/nodes";
const MANIFEST: &str = "deploy/manifests/guardrails/guardrails.yaml";

#[test]
fn real_server_judges_writes_by_guardrails() {
    suite::on_real("guardrails", Controllers::Absent, async |cluster| {
        World::install(&writers::of_real(cluster).await).await.judge().await;
    });
}

#[test]
fn embedded_server_judges_writes_by_guardrails() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        World::install(&writers::of_embedded()).await.judge().await;
    });
}

struct World {
    admin: Writer,
    writer: Writer,
    /// A member of the group that guardrails name.
    sre: Writer,
    initiator: Writer,
}

impl World {
    async fn install(client: &Client) -> Self {
        let world = Self {
            admin: Writer::new(client, "admin", &[RIGHTS], None),
            writer: Writer::new(client, "writer", &[RIGHTS], None),
            sre: Writer::new(client, "ann", &[RIGHTS, "sre"], None),
            initiator: Writer::new(client, "jane", &[RIGHTS, INITIATORS], None),
        };
        let ours = KINDS.iter().chain(GATES).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS);
        for kind in ours.clone() {
            world.admin.create(DEFINITIONS, &crds::definition(kind)).await;
        }
        world.admin.create(DEFINITIONS, &configurations()).await;
        until(CONFIGS, async || world.admin.send("GET", CONFIGS, "", &Value::Null).await.is_ok())
            .await;
        for kind in ours {
            let served = format!("{GROUP}/{}", names::plural(kind.name));
            until(&served, async || {
                world.admin.send("GET", &served, "", &Value::Null).await.is_ok()
            })
            .await;
        }
        for (namespace, tier) in [("gold", "gold"), ("tin", "tin")] {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {"tier": tier}}});
            world.admin.create("/api/v1/namespaces", &namespace).await;
        }
        for (collection, document) in permits::admission(MANIFEST) {
            world.admin.create(collection, &document).await;
        }
        // They stand once each was seen refusing: a guardrail that nothing of its subject meets.
        let nothing = json!({"mode": "Enforce", "strategies": ["RestrictiveUntil"], "longestOverride": "1s", "longestFreeze": "1s",
            "writers": {"bypass": ["nobody"], "consent": ["nobody"]}});
        world.guard("probe", &nothing).await;
        for (path, body) in [
            (CONFIGS.to_owned(), config(&json!({machine::BYPASS: "yes"}))),
            (NODES.to_owned(), node(&json!({machine::ALLOWED_CONFIG: "rendered-worker-1"}))),
            (policies(), policy("probe", &json!({"strategy": "Permissive"}))),
            (format!("{GROUP}/namespaces/gold/changegates"), gate("Restrictive")),
            (format!("{GROUP}/namespaces/gold/changeoverrides"), overriding(1, &json!({}))),
            (format!("{GROUP}/namespaces/gold/changefreezes"), freeze(&json!({}))),
        ] {
            let tried = format!("{path}?dryRun=All");
            until(&path, async || world.writer.send("POST", &tried, JSON, &body).await.is_err())
                .await;
        }
        world.unguard("probe").await;
        world
    }

    async fn guard(&self, name: &str, spec: &Value) {
        let guardrail = json!({"apiVersion": names::API_VERSION, "kind": "ChangeGuardrail", "metadata": {"name": name}, "spec": spec});
        self.admin.create(&format!("{GROUP}/changeguardrails"), &guardrail).await;
    }

    async fn unguard(&self, name: &str) {
        let path = format!("{GROUP}/changeguardrails/{name}");
        self.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    }

    /// Waits until the server goes by what was written last: parameters are read by a watch.
    async fn refuses(&self, path: &str, body: &Value, refusal: &str) {
        let tried = format!("{path}?dryRun=All");
        until(refusal, async || {
            self.writer
                .send("POST", &tried, JSON, body)
                .await
                .is_err_and(|said| said.contains(refusal))
        })
        .await;
    }

    async fn takes(&self, who: &Writer, path: &str, body: &Value) {
        let tried = format!("{path}?dryRun=All");
        until(&tried, async || who.send("POST", &tried, JSON, body).await.is_ok()).await;
    }

    async fn judge(&self) {
        self.strategies_and_exclusions().await;
        self.overrides_and_freezes().await;
        self.stanzas_that_override().await;
        self.bypass_and_consent().await;
        self.modes_and_selectors().await;
        self.edits_after_it().await;
        self.the_definition_stays().await;
    }

    async fn strategies_and_exclusions(&self) {
        let demands = json!({"mode": "Enforce", "strategies": ["MaintenanceSchedule", "ByPolicy"], "longestExclusion": "240h"});
        self.guard("plain", &demands).await;
        let permissive = policy("a", &json!({"strategy": "Permissive"}));
        self.refuses(&policies(), &permissive, "spec.strategy: ChangeGuardrail plain allows MaintenanceSchedule, ByPolicy, and this is Permissive").await;
        let hosted = format!("{GROUP}/namespaces/tin/hostedchangemanagementpolicies");
        let mut of_team = permissive.clone();
        of_team["kind"] = json!("HostedChangeManagementPolicy");
        self.refuses(&hosted, &of_team, "and this is Permissive").await;
        self.takes(&self.initiator, &policies(), &permissive).await;
        let excluding = |until: Value| {
            let mut entry = json!({"fromDate": "2026-12-01", "reason": "x"});
            if !until.is_null() {
                entry["untilDate"] = until;
            }
            policy(
                "a",
                &json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"duration": "4h"}, "exclude": [entry]}}),
            )
        };
        self.refuses(
            &policies(),
            &excluding(json!("2026-12-12")),
            "ChangeGuardrail plain allows 240h at most, and these are longer: from 2026-12-01",
        )
        .await;
        self.takes(&self.writer, &policies(), &excluding(json!("2026-12-11"))).await;
        self.takes(&self.writer, &policies(), &excluding(Value::Null)).await;
        let entry = |entry: Value| {
            policy(
                "a",
                &json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"exclude": [entry]}}),
            )
        };
        let daily = json!({"frequency": "Daily", "daily": {}});
        let hours = json!({"from": "2026-12-01T12:00:00Z", "until": "2026-12-11T12:00:01Z"});
        let said = "and these are longer: from 2026-12-01T12:00:00Z";
        self.refuses(&policies(), &entry(hours), said).await;
        let recurs = json!({"recurrence": daily, "duration": "241h"});
        self.refuses(&policies(), &entry(recurs), "and these are longer: what recurs for 241h")
            .await;
        let business = json!({"recurrence": daily, "startTime": "08:00", "endTime": "18:00"});
        self.takes(&self.writer, &policies(), &entry(business)).await;
        let gates = format!("{GROUP}/namespaces/gold/changegates");
        self.refuses(
            &gates,
            &gate("Permissive"),
            "spec.changeManagement.strategy: ChangeGuardrail plain allows",
        )
        .await;
        self.takes(&self.writer, &gates, &gate("ByPolicy")).await;
        self.unguard("plain").await;
        self.takes(&self.writer, &policies(), &permissive).await;
    }

    async fn overrides_and_freezes(&self) {
        let writers = json!({"override": ["sre"], "freeze": ["sre", "releases"]});
        let demands = json!({"mode": "Enforce", "longestOverride": "4h", "longestFreeze": "48h", "approvals": 1, "writers": writers});
        self.guard("who", &demands).await;
        let overrides = format!("{GROUP}/namespaces/gold/changeoverrides");
        let signed = |hours: i64, by: &str| overriding(hours, &json!({"by": by}));
        self.refuses(
            &overrides,
            &signed(1, "writer"),
            "lets sre override, and writer is in none of these groups",
        )
        .await;
        let said = async |who: &Writer, body: &Value| {
            who.send("POST", &format!("{overrides}?dryRun=All"), JSON, body).await.map(drop)
        };
        let long = said(&self.sre, &signed(5, "ann")).await.unwrap_err();
        assert!(long.contains("spec.until: ChangeGuardrail who allows 4h at most"), "{long}");
        let unsigned = said(&self.sre, &overriding(1, &json!({}))).await.unwrap_err();
        assert!(unsigned.contains("nobody can approve what is unsigned"), "{unsigned}");
        said(&self.sre, &signed(1, "ann")).await.unwrap();
        said(&self.initiator, &overriding(9, &json!({}))).await.unwrap();
        let freezes = format!("{GROUP}/clusterchangefreezes");
        let wide = |more: &Value| {
            let mut body = freeze(more);
            body["kind"] = json!("ClusterChangeFreeze");
            body
        };
        let in_hours = |hours: i64| (now() + hours.hours()).to_string();
        self.refuses(&freezes, &wide(&json!({"until": in_hours(1)})), "lets sre, releases freeze")
            .await;
        for (more, refusal) in [
            (json!({}), "allows 48h at most, and this has no end"),
            (json!({"until": in_hours(50)}), "allows 48h at most, and this lasts"),
            (json!({"from": in_hours(100), "until": in_hours(147)}), ""),
            (json!({"from": in_hours(100), "until": in_hours(149)}), "allows 48h at most"),
        ] {
            let found =
                self.sre.send("POST", &format!("{freezes}?dryRun=All"), JSON, &wide(&more)).await;
            match found {
                Ok(_) => assert_eq!(refusal, "", "{more}"),
                Err(said) => {
                    assert!(!refusal.is_empty() && said.contains(refusal), "{more}: {said}");
                }
            }
        }
        self.unguard("who").await;
        self.takes(&self.writer, &overrides, &overriding(1, &json!({}))).await;
    }

    /// GRD-3: `PermissiveUntil` in a stanza opens as an override does, so it is held to the same.
    async fn stanzas_that_override(&self) {
        let gates = format!("{GROUP}/namespaces/gold/changegates");
        let until_hours = |hours: i64| {
            let mut gate = gate("PermissiveUntil");
            let until = json!((now() + hours.hours()).to_string());
            gate["spec"]["changeManagement"]["permissiveUntil"] = until;
            gate
        };
        self.guard("short", &json!({"mode": "Enforce", "longestOverride": "4h"})).await;
        let refusal = "spec.changeManagement.permissiveUntil: ChangeGuardrail short allows 4h at most, and this lasts";
        self.refuses(&gates, &until_hours(6), refusal).await;
        self.takes(&self.writer, &gates, &until_hours(3)).await;
        self.takes(&self.writer, &gates, &gate("Restrictive")).await;
        self.takes(&self.initiator, &gates, &until_hours(6)).await;
        // By an edit as well, whatever stamps of others are on the object.
        self.admin.create(&gates, &gate("Restrictive")).await;
        let at = format!("{gates}/a");
        let edited = |hours: i64| json!({"spec": until_hours(hours)["spec"]});
        // Within the second in which the same manager made it, the server has no fresh stamp (RCH-10).
        let refused = async |change: &Value| {
            let answer = self.writer.merge(&at, change).await;
            answer.is_err_and(|said| said.contains(refusal))
        };
        until("an edit that opens for long", async || refused(&edited(6)).await).await;
        let mut forged = edited(6);
        let late = (now() + 5.hours()).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        forged["metadata"] = json!({"managedFields": [{"manager": "late", "operation": "Update", "time": late,
            "apiVersion": names::API_VERSION, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:mode": {}}}}]});
        assert!(refused(&forged).await);
        self.writer.merge(&at, &edited(3)).await.unwrap();
        self.unguard("short").await;
        self.guard("approved", &json!({"mode": "Enforce", "approvals": 1})).await;
        let mut other = until_hours(1);
        other["metadata"]["name"] = json!("b");
        self.refuses(&gates, &other, "nobody can approve PermissiveUntil").await;
        other["spec"]["changeManagement"] = gate("ByPolicy")["spec"]["changeManagement"].clone();
        self.takes(&self.writer, &gates, &other).await;
        self.unguard("approved").await;
        self.admin.send("DELETE", &at, "", &Value::Null).await.unwrap();
    }

    /// GRD-3: who may bypass and consent, by their groups. Who edits what bypasses already has machines get the edit at once (POOL-5).
    async fn bypass_and_consent(&self) {
        let writers = json!({"bypass": ["sre"], "consent": ["sre"]});
        self.guard("who", &json!({"mode": "Enforce", "writers": writers})).await;
        let bypass = "metadata.annotations: ChangeGuardrail who lets sre let a configuration bypass change management, and writer is in none of these groups";
        let urgent = config(&json!({machine::BYPASS: "CVE-2026-1"}));
        self.refuses(CONFIGS, &urgent, bypass).await;
        let mut plain = config(&json!({"team": "a"}));
        plain["metadata"]["name"] = json!("plain");
        self.writer.send("POST", CONFIGS, JSON, &plain).await.unwrap();
        self.takes(&self.initiator, CONFIGS, &urgent).await;
        self.sre.send("POST", CONFIGS, JSON, &urgent).await.unwrap();
        let at = format!("{CONFIGS}/urgent");
        let to_plain = json!({"metadata": {"annotations": {machine::BYPASS: ""}}});
        let mut other = urgent.clone();
        other["spec"] = json!({"osImageURL": "b"});
        for (path, change) in [
            (format!("{CONFIGS}/plain"), to_plain),
            (at.clone(), json!({"metadata": {"annotations": {machine::BYPASS: "CVE-2026-2"}}})),
            (at.clone(), json!({"spec": {"osImageURL": "b"}})),
            (at.clone(), json!({"spec": null})),
            // The same content, for the machines of another pool.
            (at.clone(), json!({"metadata": {"labels": {machine::ROLE: "master"}}})),
            (at.clone(), other),
        ] {
            let said = self.writer.merge(&path, &change).await.unwrap_err();
            assert!(said.contains(bypass), "{change}: {said}");
        }
        let applied = self.writer.apply(&at, &urgent_with(&json!({"osImageURL": "b"}))).await;
        assert!(applied.unwrap_err().contains(bypass));
        // What bypasses nothing, and what takes a bypass away, is nobody's business.
        self.writer
            .merge(&format!("{CONFIGS}/plain"), &json!({"spec": {"osImageURL": "b"}}))
            .await
            .unwrap();
        self.writer.merge(&at, &json!({"metadata": {"annotations": {"team": "a"}}})).await.unwrap();
        self.writer
            .merge(&at, &json!({"metadata": {"annotations": {machine::BYPASS: null}}}))
            .await
            .unwrap();

        let consent = "metadata.annotations: ChangeGuardrail who lets sre consent to the change of a node, and writer is in none of these groups";
        let allowed =
            |value: Value| json!({"metadata": {"annotations": {machine::ALLOWED_CONFIG: value}}});
        self.refuses(NODES, &node(&json!({machine::ALLOWED_CONFIG: "rendered-worker-1"})), consent)
            .await;
        self.writer.send("POST", NODES, JSON, &node(&json!({"team": "a"}))).await.unwrap();
        let at = format!("{NODES}/guarded");
        for path in [at.clone(), format!("{at}/status")] {
            let said = self.writer.merge(&path, &allowed(json!("rendered-worker-1"))).await;
            assert!(said.as_ref().is_err_and(|said| said.contains(consent)), "{path}: {said:?}");
        }
        self.sre.merge(&at, &allowed(json!("rendered-worker-1"))).await.unwrap();
        let said = self.writer.merge(&at, &allowed(json!("rendered-worker-2"))).await.unwrap_err();
        assert!(said.contains(consent), "{said}");
        self.writer.merge(&at, &json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
        self.writer.merge(&at, &allowed(Value::Null)).await.unwrap();
        self.unguard("who").await;
        self.takes(
            &self.writer,
            CONFIGS,
            &config_called("later", &json!({machine::BYPASS: "yes"})),
        )
        .await;
    }

    /// Only what is enforced refuses, and only what is selected.
    async fn modes_and_selectors(&self) {
        let permissive = policy("a", &json!({"strategy": "Permissive"}));
        let hosted = |namespace: &str| {
            format!("{GROUP}/namespaces/{namespace}/hostedchangemanagementpolicies")
        };
        let mut of_team = permissive.clone();
        of_team["kind"] = json!("HostedChangeManagementPolicy");
        let strict = |more: Value| {
            let mut spec = json!({"mode": "Enforce", "strategies": ["MaintenanceSchedule"]});
            for (field, value) in more.as_object().into_iter().flatten() {
                spec[field] = value.clone();
            }
            spec
        };
        let gold = json!({"selector": {"namespaceSelector": {"matchLabels": {"tier": "gold"}}}});
        self.guard("gold", &strict(gold)).await;
        self.refuses(&hosted("gold"), &of_team, "ChangeGuardrail gold").await;
        self.takes(&self.writer, &hosted("tin"), &of_team).await;
        // What is in no namespace is not chosen by labels of namespaces.
        self.takes(&self.writer, &policies(), &permissive).await;
        self.unguard("gold").await;
        self.guard(
            "kinds",
            &strict(json!({"selector": {"kinds": ["HostedChangeManagementPolicy"]}})),
        )
        .await;
        self.refuses(&hosted("tin"), &of_team, "ChangeGuardrail kinds").await;
        self.takes(&self.writer, &policies(), &permissive).await;
        for mode in [json!("Warn"), json!("Audit"), Value::Null] {
            let path = format!("{GROUP}/changeguardrails/kinds");
            self.admin.merge(&path, &json!({"spec": {"mode": mode}})).await.unwrap();
            self.takes(&self.writer, &hosted("tin"), &of_team).await;
        }
        self.unguard("kinds").await;
        // What nobody knows of a guardrail is kept, so that it can be told; what is out of range is refused.
        let odd = json!({"apiVersion": names::API_VERSION, "kind": "ChangeGuardrail", "metadata": {"name": "odd"},
            "spec": {"minimunHours": [], "approvals": 1}});
        let path = format!("{GROUP}/changeguardrails?dryRun=All");
        let kept = self.admin.send("POST", &path, JSON, &odd).await.unwrap();
        assert!(kept["spec"].get("minimunHours").is_some(), "{kept}");
        for (spec, refusal) in [
            (json!({"approvals": 2}), "spec.approvals"),
            (json!({"mode": "Sometimes"}), "spec.mode"),
            (
                json!({"minimumHours": [{"hours": 25, "inDays": 1}]}),
                "there are not as many hours in these days",
            ),
            (
                json!({"minimumHours": [{"hours": 1, "inDays": 1, "stretch": "25h"}]}),
                "stretch must not be longer than inDays",
            ),
            (json!({"minimumHours": [{"hours": 1, "inDays": 367}]}), "inDays"),
            (json!({"longestFreeze": "soon"}), "spec.longestFreeze"),
        ] {
            let mut bad = odd.clone();
            bad["spec"] = spec;
            let said = self.admin.send("POST", &path, JSON, &bad).await.unwrap_err();
            assert!(said.contains(refusal), "{said}");
        }
    }

    /// GRD-5: what was there stays, may be labelled, and is judged when its specification is edited.
    async fn edits_after_it(&self) {
        self.admin.create(&policies(), &policy("old", &json!({"strategy": "Permissive"}))).await;
        self.guard("later", &json!({"mode": "Enforce", "strategies": ["MaintenanceSchedule"]}))
            .await;
        self.refuses(
            &policies(),
            &policy("a", &json!({"strategy": "Permissive"})),
            "ChangeGuardrail later",
        )
        .await;
        let old = format!("{}/old", policies());
        self.writer.merge(&old, &json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
        let said = self
            .writer
            .merge(&old, &json!({"spec": {"strategy": "Restrictive"}}))
            .await
            .unwrap_err();
        assert!(said.contains("and this is Restrictive"), "{said}");
        self.writer
            .merge(&old, &json!({"spec": {"strategy": "MaintenanceSchedule"}}))
            .await
            .unwrap();
        // A gate that loses its stanza would stand open, if its definition let it.
        self.unguard("later").await;
    }

    async fn the_definition_stays(&self) {
        let path = format!("{DEFINITIONS}/changeguardrails.changemanagement.openshift.io");
        let said = self.admin.send("DELETE", &path, "", &Value::Null).await.unwrap_err();
        assert!(said.contains("remove the policies first"), "{said}");
    }
}

const JSON: &str = "application/json";

fn now() -> Timestamp {
    Timestamp::now()
}

fn policies() -> String {
    format!("{GROUP}/changemanagementpolicies")
}

fn policy(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": "ChangeManagementPolicy", "metadata": {"name": name}, "spec": spec})
}

fn gate(strategy: &str) -> Value {
    let stanza = json!({"strategy": strategy, "byPolicy": {"name": "a"}});
    json!({"apiVersion": names::API_VERSION, "kind": "ChangeGate", "metadata": {"name": "a"},
        "spec": {"changeManagement": stanza, "holds": [{"what": "Deployments"}]}})
}

/// `MachineConfig` as loosely as the policies look at it.
fn configurations() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "machineconfigs.machineconfiguration.openshift.io"},
        "spec": {
            "group": "machineconfiguration.openshift.io",
            "scope": "Cluster",
            "names": {"kind": "MachineConfig", "plural": "machineconfigs", "singular": "machineconfig", "listKind": "MachineConfigList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}}}],
        },
    })
}

fn config_called(name: &str, annotations: &Value) -> Value {
    json!({"apiVersion": machine::API_VERSION, "kind": machine::MACHINE_CONFIG,
        "metadata": {"name": name, "labels": {machine::ROLE: "worker"}, "annotations": annotations},
        "spec": {"osImageURL": "a"}})
}

fn config(annotations: &Value) -> Value {
    config_called("urgent", annotations)
}

fn urgent_with(spec: &Value) -> Value {
    json!({"apiVersion": machine::API_VERSION, "kind": machine::MACHINE_CONFIG, "metadata": {"name": "urgent"}, "spec": spec})
}

fn node(annotations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "guarded", "annotations": annotations}})
}

fn overriding(hours: i64, more: &Value) -> Value {
    let mut spec = json!({"target": {"kind": "ChangeGate", "name": "a"}, "until": (now() + hours.hours()).to_string(), "reason": "x"});
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": names::API_VERSION, "kind": "ChangeOverride", "metadata": {"name": "a"}, "spec": spec})
}

fn freeze(more: &Value) -> Value {
    let mut spec = json!({"reason": "x"});
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": names::API_VERSION, "kind": "ChangeFreeze", "metadata": {"name": "a"}, "spec": spec})
}
