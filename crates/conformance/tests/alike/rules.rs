//! Does every server refuse a definition whose rules cannot work, and name the same rule?

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, api::PostParams};
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};

#[test]
fn real_server_judges_rules_when_a_definition_is_created() {
    suite::on_real("rules", Controllers::Absent, async |cluster| rules(cluster).await);
}

#[test]
fn embedded_server_judges_rules_when_a_definition_is_created() {
    suite::on_embedded("rules-embedded", Kubectl::Unused, async |cluster| rules(cluster).await);
}

const SPEC: &str = "properties[spec].";

async fn rules(cluster: &Cluster) {
    let definitions: Api<CustomResourceDefinition> =
        Api::all(cluster.client(User::Admin).await.unwrap());
    let ask = async |place: &str, rule: Value| {
        let definition = serde_json::from_value(definition(place, &rule)).unwrap();
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        match definitions.create(&dry, &definition).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 422 => {
                let causes = status.details.unwrap().causes;
                Err(causes.into_iter().map(|cause| cause.field).collect::<Vec<_>>())
            }
            Err(other) => panic!("{rule}: {other}"),
        }
    };
    for rule in [
        "self.size > 0",
        "self.size >= oldSelf.size",
        "has(self.tags)",
        "self.pools.all(p, p.count > 0)",
        "self.pools.exists(p, p.name == 'a' && p.count < self.size)",
        "self.tags.map(t, t + 'x').size() < 3",
        "self.tags.filter(t, t != '').all(t, t.startsWith('a'))",
        "self.labels.all(k, self.labels[k] != '')",
        "self.labels['a'] == 'b' || !('a' in self.labels)",
        "self.odd__dash__name == 'x' && self.__namespace__ == 'y'",
        "self.since < timestamp('2030-01-01T00:00:00Z')",
        "self.pools[0].name == 'a' ? self.size > 1 : true",
        "type(self.size) == int",
        "self.port == 80 || self.port == 'http'",
    ] {
        assert_eq!(ask("spec", json!({ "rule": rule })).await, Ok(()), "{rule}");
    }
    for rule in [
        "self.size >",
        "self.sise > 0",
        "has(self.tagz)",
        "oldSelf.sise > 0",
        "other > 0",
        "self.size.more == 1",
        "self.pools.all(p, p.cont > 0)",
        "self.pools[0].nme == ''",
        "self.pools.filter(p, p.nme == 'a').size() == 0",
        "self.odd-name == 'x'",
        "self.free.anything == 1",
        "self.metadata.name == 'x'",
    ] {
        let at = format!("{SCHEMA}{SPEC}x-kubernetes-validations[0].rule");
        assert_eq!(ask("spec", json!({ "rule": rule })).await, Err(vec![at]), "{rule}");
    }
    let text =
        json!({ "rule": "self.size > 0", "messageExpression": "'not ' + string(self.sise)" });
    let at = format!("{SCHEMA}{SPEC}x-kubernetes-validations[0].messageExpression");
    assert_eq!(ask("spec", text).await, Err(vec![at]));

    for rule in ["self.metadata.name != 'x'", "self.kind == 'Buoy'", "self.spec.size > 0"] {
        assert_eq!(ask("root", json!({ "rule": rule })).await, Ok(()), "{rule}");
    }
    for rule in ["self.metadata.labels.size() == 0", "self.nothing == 1", "self.spec.sise > 0"] {
        let at = format!("{SCHEMA}x-kubernetes-validations[0].rule");
        assert_eq!(ask("root", json!({ "rule": rule })).await, Err(vec![at]), "{rule}");
    }
}

/// Where the real server has the schema of a definition with one version.
const SCHEMA: &str = "spec.validation.openAPIV3Schema.";

fn definition(place: &str, rule: &Value) -> Value {
    let text = json!({ "type": "string", "maxLength": 10 });
    let pool = json!({
        "type": "object", "properties": { "name": text, "count": { "type": "integer" } },
    });
    let mut spec = json!({
        "type": "object",
        "properties": {
            "size": { "type": "integer" },
            "tags": { "type": "array", "maxItems": 5, "items": text },
            "pools": { "type": "array", "maxItems": 5, "items": pool },
            "labels": { "type": "object", "maxProperties": 5, "additionalProperties": text },
            "odd-name": text,
            "namespace": text,
            "since": { "type": "string", "format": "date-time" },
            "port": { "x-kubernetes-int-or-string": true },
            "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        },
    });
    let mut root = json!({ "type": "object" });
    let target = if place == "root" { &mut root } else { &mut spec };
    target["x-kubernetes-validations"] = json!([rule]);
    root["properties"] = json!({ "spec": spec });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "buoys.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "plural": "buoys", "kind": "Buoy" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": root },
            }],
        },
    })
}
