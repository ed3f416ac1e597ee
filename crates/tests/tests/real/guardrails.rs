//! Does the API server itself refuse what guardrails do not allow, and nothing else? (GRD-1, GRD-3, GRD-6)
//!
//! Nothing of ours runs here: there are the definitions and the policies as they are shipped, and whoever writes.

use api::{
    crds, names,
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
        let nothing = json!({"mode": "Enforce", "strategies": ["RestrictiveUntil"], "longestOverride": "1s", "longestFreeze": "1s"});
        world.guard("probe", &nothing).await;
        for (path, body) in [
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
