//! What policies and hooks refuse, and that they see the server's own time.

use apiserver::{Hook, HookRule, Server};
use kube::core::admission::AdmissionResponse;
use serde_json::{Value, json};

use super::common::{WIDGETS, delete, get, patch, post, server, widget};

fn policy(server: &Server, spec: &Value, binding: &Value) {
    let group = "/apis/admissionregistration.k8s.io/v1";
    let object = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
                        "metadata": {"name": "p"}, "spec": spec});
    let (code, made) = post(server, &format!("{group}/validatingadmissionpolicies"), &object);
    assert_eq!(code, 201, "{made}");
    let object = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                        "metadata": {"name": "b"}, "spec": binding});
    let (code, made) = post(server, &format!("{group}/validatingadmissionpolicybindings"), &object);
    assert_eq!(code, 201, "{made}");
}

fn rules(operations: &[&str], resources: &[&str]) -> Value {
    json!({"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": operations, "resources": resources}]})
}

#[test]
fn policy_refuses_with_the_words_of_the_real_server() {
    let server = server();
    policy(
        &server,
        &json!({"matchConstraints": rules(&["CREATE", "UPDATE"], &["widgets"]),
                "variables": [{"name": "size", "expression": "object.spec.size"}],
                "validations": [{"expression": "variables.size < 5", "messageExpression": "'size ' + string(variables.size) + ' is too much'"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    assert_eq!(post(&server, WIDGETS, &widget("a", 4)).0, 201);
    let (code, status) = post(&server, WIDGETS, &widget("b", 6));
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    assert_eq!(
        status["message"],
        "widgets.example.com \"b\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: size 6 is too much"
    );
}

#[test]
fn policy_sees_the_time_that_the_server_stamps() {
    let server = server();
    let expression = "has(object.metadata.annotations) && 'until' in object.metadata.annotations && object.metadata.managedFields.all(m, !has(m.time) || timestamp(m.time) < timestamp(object.metadata.annotations['until']))";
    policy(
        &server,
        &json!({"matchConstraints": rules(&["UPDATE"], &["widgets"]),
                "validations": [{"expression": expression, "message": "no permit"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    post(&server, WIDGETS, &widget("a", 1));
    let a = format!("{WIDGETS}/a?fieldManager=me");
    let write = |until: &str, size: i64| {
        patch(
            &server,
            &a,
            "merge",
            &json!({"metadata": {"annotations": {"until": until}}, "spec": {"size": size}}),
        )
    };
    // The clock stands at noon: half-open, so a permit that ends at noon is over.
    let (code, status) = write("2026-03-01T12:00:00Z", 2);
    assert_eq!(code, 422, "{status}");
    assert!(status["message"].as_str().unwrap().ends_with("no permit"), "{status}");
    assert_eq!(write("2026-03-01T12:00:01Z", 2).0, 200);
    let wiped = json!({"metadata": {"managedFields": [{}]}, "spec": {"size": 3}});
    let (code, status) = patch(&server, &a, "merge", &wiped);
    assert_eq!(code, 422, "{status}");
    assert!(status["message"].as_str().unwrap().contains("no such key"), "{status}");
}

/// The server's schema of `fieldsV1` names no fields: policies compare what a manager owns, and cannot look into it.
#[test]
fn policy_compares_what_managers_own_and_does_not_look_into_it() {
    let server = server();
    let same = "object.metadata.managedFields == oldObject.metadata.managedFields";
    let inside = "object.metadata.managedFields.exists(m, 'f:spec' in m.fieldsV1)";
    policy(
        &server,
        &json!({"matchConstraints": rules(&["UPDATE"], &["widgets"]),
                "validations": [{"expression": same, "message": "another owner"},
                    {"expression": format!("object.spec.size < 9 || {inside}"), "message": "inside"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    post(&server, &format!("{WIDGETS}?fieldManager=me"), &widget("a", 1));
    let write = |manager: &str, change: Value| {
        let path = format!("{WIDGETS}/a?fieldManager={manager}");
        let (code, answer) = patch(&server, &path, "merge", &change);
        (code, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(
        write("me", json!({"spec": {"size": 2}})).0,
        200,
        "the same fields, and the same second"
    );
    let (code, message) = write("me", json!({"metadata": {"labels": {"a": "b"}}}));
    assert!(code == 422 && message.ends_with("another owner"), "{message}");
    let (code, message) = write("you", json!({"spec": {"size": 3}}));
    assert!(code == 422 && message.ends_with("another owner"), "{message}");
    let (code, message) = write("me", json!({"spec": {"size": 9}}));
    assert!(code == 422 && message.contains("resulted in error"), "{message}");
}

#[test]
fn parameters_open_and_close_the_gate() {
    let server = server();
    policy(
        &server,
        &json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "matchConstraints": rules(&["*"], &["widgets"]),
                "matchConditions": [{"name": "guarded", "expression": "request.operation != 'DELETE'"}],
                "validations": [{"expression": "params.data.open == 'yes'", "message": "closed"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"],
                "paramRef": {"name": "gate", "namespace": "default", "parameterNotFoundAction": "Deny"}}),
    );
    let (code, status) = post(&server, WIDGETS, &widget("a", 1));
    assert_eq!(code, 422);
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("no params found for policy binding with `Deny` parameterNotFoundAction"),
        "{status}"
    );
    let configs = "/api/v1/namespaces/default/configmaps";
    let gate = |open: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gate"}, "data": {"open": open}});
    post(&server, configs, &gate("no"));
    assert_eq!(post(&server, WIDGETS, &widget("a", 1)).0, 422);
    patch(&server, &format!("{configs}/gate"), "merge", &json!({"data": {"open": "yes"}}));
    assert_eq!(post(&server, WIDGETS, &widget("a", 1)).0, 201);
    patch(&server, &format!("{configs}/gate"), "merge", &json!({"data": {"open": "no"}}));
    assert_eq!(
        delete(&server, &format!("{WIDGETS}/a"), &Value::Null).0,
        200,
        "deletions are not matched"
    );
}

/// As on a real server: whether a policy looks at a write does not depend on its namespace, and what it says of it may.
#[test]
fn conditions_of_a_match_see_no_namespace() {
    let server = server();
    policy(
        &server,
        &json!({"matchConstraints": rules(&["*"], &["widgets"]),
                "matchConditions": [{"name": "none", "expression": "namespaceObject == null"}],
                "validations": [{"expression": "namespaceObject.metadata.name != 'default'", "message": "not here"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    let (code, status) = post(&server, WIDGETS, &widget("a", 1));
    assert!(code == 422 && status["message"].as_str().unwrap().ends_with("not here"), "{status}");
}

#[test]
fn warning_policy_lets_pass_and_main_resources_have_no_subresource() {
    let server = server();
    policy(
        &server,
        &json!({"matchConstraints": rules(&["*"], &["widgets", "widgets/status"]),
                "validations": [{"expression": "!has(request.subResource)"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    assert_eq!(post(&server, WIDGETS, &widget("a", 1)).0, 201);
    let (code, status) = patch(
        &server,
        &format!("{WIDGETS}/a/status"),
        "merge",
        &json!({"status": {"observed": 1}}),
    );
    assert_eq!(code, 422);
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .ends_with("failed expression: !has(request.subResource)"),
        "{status}"
    );
}

#[test]
fn hook_refuses_what_its_function_refuses() {
    let server = server();
    let rule = HookRule {
        groups: vec!["example.com".into()],
        resources: vec!["widgets".into()],
        operations: vec!["CREATE".into(), "DELETE".into()],
    };
    server.add_hook(Hook::new("guard.example.com", vec![rule], |request| {
        let response = AdmissionResponse::from(request);
        if request.name == "bad" { response.deny("bad is not wanted") } else { response }
    }));
    assert_eq!(post(&server, WIDGETS, &widget("good", 1)).0, 201);
    let (code, status) = post(&server, WIDGETS, &widget("bad", 1));
    assert_eq!(code, 403);
    assert_eq!(
        status["message"],
        "admission webhook \"guard.example.com\" denied the request: bad is not wanted"
    );
    assert_eq!(get(&server, &format!("{WIDGETS}/bad")).0, 404);
}

#[test]
fn garbage_collection_asks_admission_and_tries_again() {
    let server = server();
    policy(
        &server,
        &json!({"matchConstraints": rules(&["DELETE"], &["configmaps"]),
                "validations": [{"expression": "oldObject.data.held != 'yes' || !request.userInfo.username.endsWith(':generic-garbage-collector')",
                                 "message": "held"}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    let (_, owner) = post(&server, WIDGETS, &widget("a", 1));
    let configs = "/api/v1/namespaces/default/configmaps";
    let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"held": "yes"},
        "metadata": {"name": "c", "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Widget",
            "name": "a", "uid": owner["metadata"]["uid"]}]}});
    post(&server, configs, &child);
    let c = format!("{configs}/c");
    assert_eq!(delete(&server, &format!("{WIDGETS}/a"), &Value::Null).0, 200);
    assert_eq!(get(&server, &c).0, 200, "the policy holds the dependent");
    assert_eq!(patch(&server, &c, "merge", &json!({"data": {"held": "no"}})).0, 200);
    assert_eq!(get(&server, &c).0, 404, "and lets it go");
}

/// As on the real server: what the credentials say beside name and groups, by the process itself or by impersonation.
#[test]
fn policy_sees_the_node_that_a_token_was_bound_to() {
    let server = server();
    let expression = "has(request.userInfo.extra) && request.userInfo.extra['authentication.kubernetes.io/node-name'] == ['n1']";
    policy(
        &server,
        &json!({"matchConstraints": rules(&["CREATE"], &["widgets"]), "validations": [{"expression": expression}]}),
        &json!({"policyName": "p", "validationActions": ["Deny"]}),
    );
    let create = |service: &apiserver::Service, name: &str| {
        let body = widget(name, 1).to_string();
        service.ask(http::Method::POST, WIDGETS, "application/json", body.as_bytes()).0
    };
    let agent = server.service_as("agent", &["system:serviceaccounts"]);
    assert_eq!(create(&agent, "a"), 422);
    assert_eq!(create(&agent.clone().on_node("n2"), "a"), 422);
    assert_eq!(create(&agent.on_node("n1"), "a"), 201);
}
