//! Who owns which field: server-side apply and its laws (OWN-1..3).

use apiserver::Server;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::common::{WIDGETS, get, patch, post, server, widget};

const A: &str = "/apis/example.com/v1/namespaces/default/widgets/a";

fn apply(server: &Server, manager: &str, spec: &Value) -> (u16, Value) {
    let config = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec});
    patch(server, &format!("{A}?fieldManager={manager}"), "apply", &config)
}

fn force(server: &Server, manager: &str, spec: &Value) -> (u16, Value) {
    let config = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec});
    patch(server, &format!("{A}?fieldManager={manager}&force=true"), "apply", &config)
}

/// The fields that a manager owns.
fn owned(object: &Value, manager: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let entry = entries.into_iter().find(|e| e["manager"] == manager);
    entry.map_or(Value::Null, |e| e["fieldsV1"].clone())
}

#[test]
fn apply_creates_and_owns_what_it_says() {
    let server = server();
    let (code, made) = apply(
        &server,
        "one",
        &json!({"size": 3, "pools": [{"name": "p", "count": 2}], "tags": ["x"]}),
    );
    assert_eq!(code, 201, "{made}");
    assert_eq!(
        owned(&made, "one"),
        json!({"f:spec": {"f:size": {}, "f:tags": {"v:\"x\"": {}},
        "f:pools": {"k:{\"name\":\"p\"}": {".": {}, "f:name": {}, "f:count": {}}}}})
    );
}

#[test]
fn equal_values_are_shared_and_different_ones_conflict() {
    let server = server();
    apply(&server, "one", &json!({"size": 3, "color": "red"}));
    assert_eq!(apply(&server, "two", &json!({"size": 3})).0, 200);
    let (code, status) = apply(&server, "two", &json!({"size": 4}));
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    assert_eq!(
        status["message"],
        "Apply failed with 1 conflict: conflict with \"one\": .spec.size"
    );
    assert_eq!(
        status["details"]["causes"][0],
        json!({"reason": "FieldManagerConflict",
        "message": "conflict with \"one\"", "field": ".spec.size"})
    );
    let (code, forced) = force(&server, "two", &json!({"size": 4}));
    assert_eq!((code, &forced["spec"]["size"]), (200, &json!(4)));
    assert_eq!(owned(&forced, "one"), json!({"f:spec": {"f:color": {}}}));
}

#[test]
fn dropped_fields_go_unless_somebody_else_owns_them() {
    let server = server();
    apply(
        &server,
        "one",
        &json!({"size": 3, "color": "red", "pools": [{"name": "p"}, {"name": "q"}]}),
    );
    apply(&server, "two", &json!({"size": 3, "pools": [{"name": "q", "note": "mine"}]}));
    let (code, left) = apply(&server, "one", &json!({"size": 3}));
    assert_eq!(code, 200, "{left}");
    assert_eq!(left["spec"].get("color"), None);
    assert_eq!(left["spec"]["pools"], json!([{"name": "q", "note": "mine", "count": 1}]));
}

#[test]
fn update_managers_own_what_they_change() {
    let server = server();
    post(&server, &format!("{WIDGETS}?fieldManager=maker"), &widget("a", 3));
    let (_, changed) = patch(
        &server,
        &format!("{A}?fieldManager=editor"),
        "merge",
        &json!({"spec": {"color": "red"}}),
    );
    assert_eq!(owned(&changed, "editor"), json!({"f:spec": {"f:color": {}}}));
    assert_eq!(owned(&changed, "maker")["f:spec"]["f:size"], json!({}));
    let (code, status) = apply(&server, "one", &json!({"size": 3, "color": "green"}));
    assert_eq!(code, 409);
    assert_eq!(
        status["message"],
        "Apply failed with 1 conflict: conflict with \"editor\" using example.com/v1: .spec.color"
    );
}

#[test]
fn status_is_owned_apart() {
    let server = server();
    apply(&server, "one", &json!({"size": 3}));
    let config =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": {"observed": 3}});
    let (code, object) = patch(&server, &format!("{A}/status?fieldManager=one"), "apply", &config);
    assert_eq!(code, 200, "{object}");
    let entries = object["metadata"]["managedFields"].as_array().unwrap().clone();
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().any(|e| e["subresource"] == "status"
        && e["fieldsV1"] == json!({"f:status": {"f:observed": {}}})));
}

#[test]
fn unknown_field_in_an_applied_configuration_is_refused() {
    let server = server();
    let (code, status) = apply(&server, "one", &json!({"size": 3, "extra": 1}));
    assert_eq!(code, 500);
    assert!(
        status["message"].as_str().unwrap().contains(".spec.extra: field not declared in schema"),
        "{status}"
    );
}

/// Configurations of the widget that never violate its rules.
fn config() -> impl Strategy<Value = Value> {
    let pool = ("[pqr]", proptest::option::of(0..5i64), proptest::option::of("[ab]"));
    (
        0..9i64,
        proptest::option::of(prop_oneof!["red", "green"]),
        proptest::collection::btree_map("[klm]", "[xy]", 0..3),
        proptest::collection::btree_set("[tuv]", 0..3),
        proptest::collection::vec(pool, 0..3),
    )
        .prop_map(|(size, color, labels, tags, pools)| {
            let mut spec = json!({"size": size});
            if let Some(color) = color {
                spec["color"] = color.into();
            }
            if !labels.is_empty() {
                spec["labels"] = json!(labels);
            }
            if !tags.is_empty() {
                spec["tags"] = json!(tags);
            }
            let mut keyed = std::collections::BTreeMap::new();
            for (name, count, note) in pools {
                let mut pool = json!({"name": name});
                if let Some(count) = count {
                    pool["count"] = count.into();
                }
                if let Some(note) = note {
                    pool["note"] = note.into();
                }
                keyed.insert(name, pool);
            }
            if !keyed.is_empty() {
                spec["pools"] = keyed.into_values().collect();
            }
            spec
        })
}

/// Whether everything that `part` says holds in `whole`.
fn holds(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(k, v)| b.get(k).is_some_and(|w| holds(v, w)))
        }
        (Value::Array(a), Value::Array(b)) => a.iter().all(|v| b.iter().any(|w| holds(v, w))),
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn applying_twice_is_applying_once(first in config(), second in config()) {
        let server = server();
        force(&server, "one", &first);
        let (code, once) = force(&server, "two", &second);
        prop_assert_eq!(code, 200, "{}", once);
        let version = server.resource_version();
        let (_, twice) = force(&server, "two", &second);
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(server.resource_version(), version);
    }

    #[test]
    fn forced_configuration_holds_and_transfers(first in config(), second in config()) {
        let server = server();
        force(&server, "one", &first);
        let (_, object) = force(&server, "two", &second);
        prop_assert!(holds(&second, &object["spec"]), "{} in {}", second, object);
        // What both wanted alike, or nobody else wanted, stays the first one's: applying it again conflicts only where
        // the second changed a value.
        let (code, _) = apply(&server, "two", &second);
        prop_assert_eq!(code, 200);
    }

    #[test]
    fn only_manager_decides_the_whole(first in config(), second in config()) {
        let server = server();
        apply(&server, "one", &first);
        let (_, via) = apply(&server, "one", &second);
        let direct = self::server();
        let (_, plain) = apply(&direct, "one", &second);
        prop_assert_eq!(&via["spec"], &plain["spec"], "what was dropped is gone, what is new is there");
        prop_assert_eq!(owned(&via, "one"), owned(&plain, "one"));
    }

    #[test]
    fn refused_apply_changes_nothing(first in config(), second in config()) {
        let server = server();
        apply(&server, "one", &first);
        let before = get(&server, A).1;
        let (code, _) = apply(&server, "two", &second);
        if code == 409 {
            prop_assert_eq!(get(&server, A).1, before);
        } else {
            prop_assert_eq!(code, 200);
        }
    }
}
