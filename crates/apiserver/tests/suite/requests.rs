//! Rows of requests and what is answered: status, reason, and the words that clients and people depend on.

use http::Method;
use serde_json::{Value, json};

use super::common::{WIDGETS, delete, get, patch, post, put, server, widget};

/// One request and the code, reason and part of the message that it must get.
fn check(request: (&str, &str, &str, &str), code: u16, reason: &str, message: &str) {
    let server = server();
    post(&server, WIDGETS, &widget("a", 3));
    let (method, path, content_type, body) = request;
    let (got, bytes) =
        server.ask(method.parse().expect("a method"), path, content_type, body.as_bytes());
    let status: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = status["message"].as_str().unwrap_or_default();
    assert_eq!(got, code, "{request:?}: {status}");
    assert_eq!(status["reason"].as_str().unwrap_or_default(), reason, "{request:?}: {status}");
    assert!(text.contains(message), "{request:?}: {text:?} lacks {message:?}");
}

const A: &str = "/apis/example.com/v1/namespaces/default/widgets/a";
const JSON: &str = "application/json";
/// Method, path, content type and body; then code, reason and words.
type Row = ((&'static str, &'static str, &'static str, String), u16, &'static str, &'static str);

const MERGE: &str = "application/merge-patch+json";

#[test]
fn refusals_have_the_code_reason_and_words_of_the_real_server() {
    let head = r#""apiVersion":"example.com/v1","kind":"Widget""#;
    let body = |rest: &str| format!("{{{head},{rest}}}");
    let rows: &[Row] = &[
        (("GET", "/apis/example.com/v1/namespaces/default/widgets/b", "", String::new()), 404, "NotFound", "widgets.example.com \"b\" not found"),
        (("GET", "/apis/example.com/v9/widgets", "", String::new()), 404, "", ""),
        (("GET", "/apis/apps/v1/deployments", "", String::new()), 404, "NotFound", "does not serve \"deployments\""),
        (("GET", "/api/v1/namespaces/default/pods/../secrets", "", String::new()), 404, "NotFound", ""),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"a"},"spec":{"size":1}"#)), 409, "AlreadyExists", "widgets.example.com \"a\" already exists"),
        (("POST", WIDGETS, JSON, "{".into()), 400, "BadRequest", "json parse error"),
        (("POST", WIDGETS, "text/plain", "{}".into()), 415, "UnsupportedMediaType", "unknown format"),
        (("POST", WIDGETS, JSON, r#"{"kind":"Other","apiVersion":"example.com/v1"}"#.into()), 422, "Invalid", "kind: Invalid value: \"Other\": must be Widget"),
        (("POST", WIDGETS, JSON, r#"{"kind":"Widget","apiVersion":"example.com/v2"}"#.into()), 400, "BadRequest", "does not match the expected API version (example.com/v1)"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"B_"},"spec":{"size":1}"#)), 422, "Invalid", "a lowercase RFC 1123 subdomain"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{},"spec":{"size":1}"#)), 422, "Invalid", "name or generateName is required"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{}"#)), 422, "Invalid", "spec.size: Required value"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":-1}"#)), 422, "Invalid", "spec.size in body should be greater than or equal to 0"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":"x"}"#)), 422, "Invalid", "spec.size in body must be of type integer: \"string\""),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":1,"color":"blue"}"#)), 422, "Invalid", "Unsupported value: \"blue\": supported values: \"red\", \"green\""),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":11}"#)), 422, "Invalid", "size must not exceed max"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":1,"since":"soon"}"#)), 422, "Invalid", "must be of type date-time"),
        (("POST", WIDGETS, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":1,"pools":[{"name":"p"},{"name":"p"}]}"#)), 422, "Invalid", "spec.pools[1]: Duplicate value: {\"name\":\"p\"}"),
        (("POST", "/apis/example.com/v1/namespaces/none/widgets", JSON, body(r#""metadata":{"name":"b"},"spec":{"size":1}"#)), 404, "NotFound", "namespaces \"none\" not found"),
        (("POST", "/apis/example.com/v1/namespaces/default/widgets?fieldValidation=Strict", JSON, body(r#""metadata":{"name":"b"},"spec":{"size":1,"extra":1}"#)), 400, "BadRequest", "unknown field \"spec.extra\""),
        (("PATCH", "/apis/example.com/v1/namespaces/default/widgets/a?fieldValidation=Strict", MERGE, r#"{"spec":{"extra":1}}"#.into()), 422, "Invalid", "strict decoding error"),
        (("PATCH", A, "application/strategic-merge-patch+json", "{}".into()), 415, "UnsupportedMediaType", "application/apply-patch+yaml"),
        (("PATCH", A, MERGE, r#"{"metadata":{"resourceVersion":"1"},"spec":{"size":4}}"#.into()), 409, "Conflict", "the object has been modified"),
        (("PATCH", A, "application/json-patch+json", r#"[{"op":"test","path":"/spec/size","value":9}]"#.into()), 422, "Invalid", "the server rejected our request"),
        (("PATCH", A, "application/apply-patch+yaml", "{}".into()), 422, "Invalid", "fieldManager: Required value"),
        (("PUT", A, JSON, body(r#""metadata":{"name":"a"},"spec":{"size":1}"#)), 422, "Invalid", "metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        (("PUT", A, JSON, body(r#""metadata":{"name":"b"},"spec":{"size":1}"#)), 400, "BadRequest", "does not match the name on the URL (a)"),
        (("GET", "/apis/example.com/v1/widgets?fieldSelector=spec.size%3D3", "", String::new()), 400, "BadRequest", "field label not supported: spec.size"),
        (("GET", "/apis/example.com/v1/widgets?labelSelector=a%20near%20b", "", String::new()), 400, "BadRequest", "unable to parse requirement"),
        (("GET", "/apis/example.com/v1/widgets?resourceVersion=x", "", String::new()), 400, "BadRequest", "invalid resource version"),
        (("GET", "/apis/example.com/v1/widgets?resourceVersion=9999999&resourceVersionMatch=NotOlderThan", "", String::new()), 504, "Timeout", "Too large resource version"),
        (
            ("DELETE", "/apis/example.com/v1/namespaces/default/widgets/a/status", "", String::new()),
            405,
            "MethodNotAllowed",
            "delete is not supported on resources of kind \"widgets.example.com\"",
        ),
        (
            ("PATCH", WIDGETS, MERGE, "{}".into()),
            400,
            "BadRequest",
            "name must be provided",
        ),
        (("DELETE", "/api/v1/namespaces/kube-system", "", String::new()), 403, "Forbidden", "this namespace may not be deleted"),
        (("GET", "/api/v1/namespaces/default/pods/x/log", "", String::new()), 404, "NotFound", "embedded Tidegate API server"),
        (("GET", "/openapi/v2", "", String::new()), 406, "NotAcceptable", "embedded Tidegate API server"),
        (("POST", "/api/v1/namespaces/default/configmaps", "application/vnd.kubernetes.protobuf", "nonsense".into()), 400, "BadRequest", "protobuf"),
        (("POST", "/api/v1/nodes", JSON, r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"spec":{"unschedulable":"yes"}}"#.into()), 400, "BadRequest", "cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool"),
    ];
    for ((method, path, content_type, body), code, reason, message) in rows {
        check((method, path, content_type, body), *code, reason, message);
    }
}

#[test]
fn body_of_more_than_three_mebibytes_is_refused() {
    let large = vec![b' '; 3 * 1024 * 1024 + 1];
    let (code, _) = server().ask(Method::POST, WIDGETS, JSON, &large);
    assert_eq!(code, 413);
}

#[test]
fn created_object_is_stamped_defaulted_and_pruned() {
    let server = server();
    let mut object = widget("a", 3);
    object["spec"]["pools"] = json!([{"name": "p"}]);
    object["spec"]["extra"] = json!(true);
    object["status"] = json!({"observed": 1});
    let (code, made) = post(&server, WIDGETS, &object);
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["spec"], json!({"size": 3, "max": 10, "pools": [{"name": "p", "count": 1}]}));
    assert_eq!(made.get("status"), None, "status has its own endpoint");
    let metadata = &made["metadata"];
    assert_eq!(metadata["generation"], 1);
    assert_eq!(metadata["creationTimestamp"], "2026-03-01T12:00:00Z");
    assert_eq!(metadata["namespace"], "default");
    assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
    assert_eq!(get(&server, A).1, made);
}

#[test]
fn generation_counts_changes_of_the_spec_alone() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 3));
    let generation = |answer: (u16, Value)| answer.1["metadata"]["generation"].as_i64().unwrap();
    assert_eq!(generation(patch(&server, A, "merge", &json!({"spec": {"size": 4}}))), 2);
    assert_eq!(
        generation(patch(&server, A, "merge", &json!({"metadata": {"labels": {"x": "y"}}}))),
        2
    );
    let status = format!("{A}/status");
    let (_, answered) =
        patch(&server, &status, "merge", &json!({"spec": {"size": 9}, "status": {"observed": 4}}));
    assert_eq!(answered["spec"]["size"], 4, "the status endpoint writes status alone");
    assert_eq!(answered["status"]["observed"], 4);
    assert_eq!(answered["metadata"]["generation"], 2);
    let (_, answered) = patch(&server, A, "merge", &json!({"status": {"observed": 9}}));
    assert_eq!(answered["status"]["observed"], 4, "the main endpoint does not write status");
}

#[test]
fn write_that_changes_nothing_keeps_the_version() {
    let server = server();
    let (_, made) = post(&server, WIDGETS, &widget("a", 3));
    let (_, same) = patch(&server, A, "merge", &json!({"spec": {"size": 3}}));
    assert_eq!(same, made);
    let (code, same) = put(&server, A, &made);
    assert_eq!((code, &same), (200, &made));
}

#[test]
fn dry_run_changes_nothing() {
    let server = server();
    let before = server.resource_version();
    let (code, made) = post(&server, &format!("{WIDGETS}?dryRun=All"), &widget("a", 3));
    assert_eq!((code, &made["spec"]["max"]), (201, &json!(10)));
    assert_eq!(get(&server, A).0, 404);
    post(&server, WIDGETS, &widget("a", 3));
    assert_eq!(delete(&server, &format!("{A}?dryRun=All"), &Value::Null).0, 200);
    assert_eq!(get(&server, A).0, 200);
    assert_eq!(server.resource_version(), before + 1);
}

#[test]
fn transition_rule_holds_the_old_value() {
    let server = server();
    let mut object = widget("a", 3);
    object["spec"]["mode"] = json!("fast");
    post(&server, WIDGETS, &object);
    let (code, status) = patch(&server, A, "merge", &json!({"spec": {"mode": "slow"}}));
    assert_eq!(code, 422);
    assert!(status["message"].as_str().unwrap().contains("mode is immutable"), "{status}");
    assert_eq!(
        patch(&server, A, "merge", &json!({"spec": {"mode": null}})).0,
        200,
        "removing is no transition"
    );
}

#[test]
fn every_served_version_shows_the_same_object() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 3));
    let (_, other) = get(&server, "/apis/example.com/v1beta1/namespaces/default/widgets/a");
    assert_eq!(other["apiVersion"], "example.com/v1beta1");
    assert_eq!(other["spec"]["size"], 3);
    let (_, list) = get(&server, "/apis/example.com/v1beta1/widgets");
    assert_eq!(list["items"][0]["apiVersion"], "example.com/v1beta1");
    let path = "/apis/example.com/v1beta1/namespaces/default/widgets/a";
    patch(&server, path, "merge", &json!({"spec": {"size": 5}}));
    assert_eq!(get(&server, A).1["apiVersion"], "example.com/v1");
    assert_eq!(get(&server, A).1["spec"]["size"], 5);
}

#[test]
fn pages_agree_with_the_first_one() {
    let server = server();
    for index in 0..7 {
        post(&server, WIDGETS, &widget(&format!("w{index}"), index));
    }
    let (_, first) = get(&server, &format!("{WIDGETS}?limit=3"));
    assert_eq!(first["items"].as_array().unwrap().len(), 3);
    assert_eq!(first["metadata"]["remainingItemCount"], 4);
    delete(&server, &format!("{WIDGETS}/w5"), &Value::Null);
    post(&server, WIDGETS, &widget("w9", 1));
    let mut names = Vec::new();
    let mut token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    loop {
        let (code, page) =
            get(&server, &format!("{WIDGETS}?limit=3&continue={}", token.replace('=', "%3D")));
        assert_eq!(code, 200, "{page}");
        assert_eq!(page["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
        names.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|i| i["metadata"]["name"].as_str().unwrap().to_owned()),
        );
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => token = next.to_owned(),
            _ => break,
        }
    }
    assert_eq!(names, ["w3", "w4", "w5", "w6"], "as it was when the first page was read");
    server.compact();
    let (code, gone) =
        get(&server, &format!("{WIDGETS}?limit=3&continue={}", token.replace('=', "%3D")));
    assert_eq!((code, &gone["reason"]), (410, &json!("Expired")));
}

#[test]
fn selectors_choose() {
    let server = server();
    for (name, tier) in [("a", "front"), ("b", "back"), ("c", "front")] {
        let mut object = widget(name, 1);
        object["metadata"]["labels"] = json!({"tier": tier});
        post(&server, WIDGETS, &object);
    }
    let names = |query: &str| -> Vec<String> {
        let (code, list) = get(&server, &format!("{WIDGETS}?{query}"));
        assert_eq!(code, 200, "{list}");
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|i| i["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("labelSelector=tier%3Dfront"), ["a", "c"]);
    assert_eq!(names("labelSelector=tier!%3Dfront"), ["b"]);
    assert_eq!(names("labelSelector=tier%20in%20(back,side)"), ["b"]);
    assert_eq!(names("labelSelector=tier%20notin%20(back)"), ["a", "c"]);
    assert_eq!(names("labelSelector=tier"), ["a", "b", "c"]);
    assert_eq!(names("labelSelector=!tier"), Vec::<String>::new());
    assert_eq!(names("fieldSelector=metadata.name%3Db"), ["b"]);
    assert_eq!(names("fieldSelector=metadata.name!%3Db"), ["a", "c"]);
}

#[test]
fn json_patch_speaks_the_go_dialect() {
    let server = server();
    post(&server, WIDGETS, &widget("a", 3));
    let (code, body) = patch(
        &server,
        A,
        "json",
        &json!([
            {"op": "test", "path": "/metadata/finalizers", "value": null},
            {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/hold"]},
        ]),
    );
    assert_eq!(code, 200, "testing a missing path against null succeeds: {body}");
    assert_eq!(body["metadata"]["finalizers"], json!(["example.com/hold"]));
    assert_eq!(patch(&server, A, "json", &json!([{"op": "remove", "path": "/spec/none"}])).0, 422);
}

#[test]
fn strategic_patch_merges_lists_of_built_in_kinds() {
    let server = server();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                     "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}});
    assert_eq!(post(&server, pods, &pod).0, 201);
    let change = json!({"spec": {"containers": [{"name": "b", "image": "z"}]}});
    let (code, body) = patch(&server, &format!("{pods}/p"), "strategic", &change);
    assert_eq!(code, 200, "{body}");
    assert_eq!(body["spec"]["containers"][0]["image"], "x");
    assert_eq!(body["spec"]["containers"][1]["image"], "z");
}

#[test]
fn event_is_one_object_in_two_shapes() {
    let server = server();
    let event = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "regarding": {"kind": "Widget", "name": "a", "namespace": "default"}, "note": "hello", "reason": "Seen",
        "type": "Normal", "action": "Look", "reportingController": "me", "reportingInstance": "here",
        "eventTime": "2026-03-01T12:00:00.000000Z"});
    let (code, made) = post(&server, "/apis/events.k8s.io/v1/namespaces/default/events", &event);
    assert_eq!((code, &made["note"]), (201, &json!("hello")), "{made}");
    let (_, old) = get(&server, "/api/v1/namespaces/default/events/e");
    assert_eq!((&old["message"], &old["involvedObject"]["name"]), (&json!("hello"), &json!("a")));
    assert_eq!((&old["apiVersion"], &old["reportingComponent"]), (&json!("v1"), &json!("me")));
    let (_, list) = get(&server, "/api/v1/events?fieldSelector=involvedObject.name%3Da");
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

#[test]
fn generated_names_follow_the_seed() {
    let names = || {
        let server = server();
        let mut object = widget("", 1);
        object["metadata"] = json!({"generateName": "w-"});
        let (code, made) = post(&server, WIDGETS, &object);
        assert_eq!(code, 201, "{made}");
        made["metadata"]["name"].as_str().unwrap().to_owned()
    };
    let name = names();
    assert!(name.starts_with("w-") && name.len() == 7, "{name}");
    assert_eq!(name, names());
}

#[test]
fn generated_name_that_is_taken_is_followed_by_another() {
    let second_name = |first: &str| {
        let server = server();
        assert_eq!(post(&server, WIDGETS, &widget(first, 1)).0, 201);
        let mut object = widget("", 1);
        object["metadata"] = json!({"generateName": "w-"});
        let (code, made) = post(&server, WIDGETS, &object);
        assert_eq!(code, 201, "{made}");
        made["metadata"]["name"].as_str().unwrap().to_owned()
    };
    // The seed decides which name comes next: taken once, it must not be an error.
    let next = second_name("a");
    assert_ne!(second_name(&next), next);
}
