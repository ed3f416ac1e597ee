//! Who may open, by what words, and what becomes of what was written? (OVR-2, OVR-3)
//!
//! Nothing of ours runs here: there are the definitions and the policies as they are shipped, and whoever writes.

use api::names;
use jiff::ToSpan as _;
use serde_json::{Value, json};

use super::world::{GROUP, World, now};
use crate::rollout::writers::until;

/// An override of either kind.
pub(super) fn overriding(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn path(kind: &str) -> String {
    match kind {
        names::CHANGE_OVERRIDE => format!("{GROUP}/namespaces/default/changeoverrides"),
        _ => format!("{GROUP}/clusterchangeoverrides"),
    }
}

/// A specification that both kinds take, with these fields in it.
fn with(fields: &Value) -> Value {
    let mut spec = json!({"target": {"kind": "ClusterVersion", "name": "version"},
        "until": (now() + 1.hour()).to_string(), "reason": "x"});
    for (field, value) in fields.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    spec
}

pub(super) async fn are_refused_where_they_open_nothing_or_too_much(world: &World) {
    let (team, wide) = (&[names::CHANGE_OVERRIDE][..], &[names::CLUSTER_CHANGE_OVERRIDE][..]);
    let gate = json!({"kind": "ChangeGate", "name": "till"});
    let there = json!({"kind": "ChangeGate", "namespace": "shop", "name": "till"});
    let pool = json!({"kind": "MachineConfigPool", "name": "worker"});
    let of = |target: &Value, more: Value| {
        let mut fields = more;
        fields["target"] = target.clone();
        with(&fields)
    };
    let hours = |hours: i64| (now() + hours.hours()).to_string();
    for (kinds, spec, refusal) in [
        (wide, with(&json!({})), ""),
        (team, of(&gate, json!({})), ""),
        (wide, of(&there, json!({})), ""),
        (team, with(&json!({})), "Unsupported value"),
        (team, of(&pool, json!({})), "Unsupported value"),
        (wide, of(&gate, json!({})), "namespace is for ChangeGate"),
        (
            wide,
            of(&json!({"kind": "MachineConfigPool", "namespace": "a", "name": "b"}), json!({})),
            "namespace is for",
        ),
        (wide, of(&json!({"kind": "Deployment", "name": "b"}), json!({})), "Unsupported value"),
        (wide, with(&json!({"until": null})), "spec.until"),
        (wide, with(&json!({"until": "soon"})), "spec.until"),
        (wide, with(&json!({"until": "2020-01-01T00:00:00Z"})), "it is over already"),
        (wide, with(&json!({"until": hours(31 * 24 + 1)})), "31 days at most"),
        (wide, with(&json!({"until": hours(31 * 24 - 1)})), ""),
        (wide, with(&json!({"reason": null})), "spec.reason"),
        (wide, with(&json!({"reason": "  "})), "spec.reason"),
        (wide, with(&json!({"only": {"release": "4.21.3"}})), ""),
        (wide, with(&json!({"only": {"renderedConfig": "rendered-master-1"}})), ""),
        (wide, with(&json!({"only": {}})), "either release or renderedConfig"),
        (
            wide,
            of(&pool, json!({"only": {"release": "4.21.3"}})),
            "a release is what a ClusterVersion goes to",
        ),
        (
            wide,
            of(&there, json!({"only": {"renderedConfig": "x"}})),
            "only is for a ClusterVersion",
        ),
        (wide, with(&json!({"by": "jane"})), "spec.by: you are writer"),
        (wide, with(&json!({"by": "writer", "ticket": "OPS-7"})), ""),
        (
            wide,
            with(&json!({"by": "writer", "approvedBy": "jane"})),
            "approved after it was written",
        ),
        (wide, with(&json!({"approvedBy": "writer"})), "spec.approvedBy"),
    ] {
        for kind in kinds {
            let body = overriding(kind, "tried", &spec);
            match world.post(&format!("{}?dryRun=All", path(kind)), &body).await {
                Ok(_) => assert_eq!(refusal, "", "{kind} takes {spec}"),
                Err(said) => {
                    assert!(!refusal.is_empty() && said.contains(refusal), "{kind} {spec}: {said}");
                }
            }
        }
    }
}

/// OVR-2: an earlier end and one approval, and nothing else.
pub(super) async fn stay_as_they_were_written(world: &World) {
    let gate = json!({"kind": "ChangeGate", "name": "till"});
    for (kind, target) in [
        (names::CHANGE_OVERRIDE, gate),
        (names::CLUSTER_CHANGE_OVERRIDE, json!({"kind": "ClusterVersion", "name": "version"})),
    ] {
        let spec = with(&json!({"target": target, "by": "writer", "ticket": "OPS-7", "onyl": "x"}));
        world.post(&path(kind), &overriding(kind, "kept", &spec)).await.unwrap();
        let object = format!("{}/kept", path(kind));
        let edit =
            async |change: Value| world.writer.merge(&object, &json!({"spec": change})).await;
        for (change, refusal) in [
            (json!({"target": {"name": "other"}}), "what an override opens cannot be changed"),
            (json!({"until": (now() + 2.hours()).to_string()}), "ended earlier and not later"),
            (json!({"reason": "y"}), "why somebody opened cannot be changed"),
            (json!({"ticket": "OPS-8"}), "the ticket cannot be changed"),
            (json!({"ticket": null}), "the ticket cannot be changed"),
            (json!({"by": null}), "who opened cannot be changed"),
            (json!({"by": "admin"}), "who opened cannot be changed"),
            // What the definition does not know makes an override open nothing: who takes it away later opens more than was approved.
            (json!({"onyl": null}), "an override stays as it was written"),
            (json!({"onyl": "y"}), "an override stays as it was written"),
            (json!({"other": "x"}), "an override stays as it was written"),
            (json!({"approvedBy": "writer"}), "somebody else than by approves"),
            (json!({"approvedBy": "jane"}), "spec.approvedBy: you are writer"),
        ] {
            let said = edit(change.clone()).await.unwrap_err();
            assert!(said.contains(refusal), "{kind} {change}: {said}");
        }
        if kind == names::CLUSTER_CHANGE_OVERRIDE {
            let said = edit(json!({"only": {"release": "4.21.3"}})).await.unwrap_err();
            assert!(said.contains("what may start cannot be changed"), "{said}");
        }
        edit(json!({"until": (now() + 30.minutes()).to_string()})).await.unwrap();
        world.admin.merge(&object, &json!({"spec": {"approvedBy": "admin"}})).await.unwrap();
        for by in [json!("writer"), Value::Null] {
            let said = edit(json!({"approvedBy": by})).await.unwrap_err();
            assert!(said.contains("approved once"), "{said}");
        }
        // Who ends it before its time need not be who approved it.
        edit(json!({"until": now().to_string()})).await.unwrap();
        world.admin.send("DELETE", &object, "", &Value::Null).await.unwrap();
    }
}

/// The policy that sees to all this stands once it was seen refusing.
pub(super) async fn are_judged(world: &World) {
    let past = with(&json!({"until": "2020-01-01T00:00:00Z"}));
    let past = overriding(names::CLUSTER_CHANGE_OVERRIDE, "past", &past);
    let tried = format!("{}?dryRun=All", path(names::CLUSTER_CHANGE_OVERRIDE));
    until("overrides", async || world.post(&tried, &past).await.is_err()).await;
}
