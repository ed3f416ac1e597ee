//! Which requests are drawn?
//!
//! Two kinds (a custom one with a schema, and `ConfigMap`), three names, small pools of values: sequences collide, conflict and repeat
//! themselves. About one request in four is wrong in some way. `{rv:a}` and `{uid:a}` stand for what the server last said of object
//! `a`. Reads from a cache (`resourceVersion=0`) are not among them: a real server may answer those with yesterday's truth.

use proptest::{collection::vec, prelude::*, sample::select};

/// One request, not yet bound to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The HTTP method.
    pub method: &'static str,
    /// The path below the namespace, with the query.
    pub path: String,
    /// The content type, empty when there is no body.
    pub content_type: &'static str,
    /// The body, with placeholders.
    pub body: String,
}

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Sequences of one to twelve requests.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..=12)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => create(),
        2 => replace(),
        3 => merge(),
        2 => json_patch(),
        3 => apply(),
        2 => status(),
        2 => delete(),
        2 => read(),
        1 => strategic(),
        1 => broken(),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "c"])
}

/// The collections that requests go to, with the words that name the kind in a body.
fn kind() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        3 => Just(("tides", r#""apiVersion":"example.com/v1","kind":"Tide""#)),
        1 => Just(("configmaps", r#""apiVersion":"v1","kind":"ConfigMap""#)),
    ]
}

/// What stands beside the metadata: valid, pruned, defaulted, and invalid in several ways.
fn content() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => select(vec![
            r#""spec":{"harbour":"dover"}"#,
            r#""spec":{"harbour":"dover","height":7}"#,
            r#""spec":{"harbour":"dover","height":7,"boats":[{"name":"x","length":3},{"name":"y"}]}"#,
            r#""spec":{"harbour":"dover","tags":["p","q"],"gates":{"in":"open","out":"shut"}}"#,
            r#""data":{"k":"1"}"#,
            r#""data":{"k":"1","l":"2"}"#,
        ]),
        2 => select(vec![
            r#""spec":{"harbour":"calais"}"#,
            r#""spec":{"harbour":"dover","height":99}"#,
            r#""spec":{"harbour":"dover","low":9,"height":2}"#,
            r#""spec":{"harbour":"dover","unknown":1}"#,
            r#""spec":{"harbour":7}"#,
            r#""spec":{}"#,
            r#""spec":{"harbour":"dover","boats":[{"name":"x"},{"name":"x"}]}"#,
            r#""data":{"k":1}"#,
            r#""data":{"not a key":"1"}"#,
        ]),
    ]
}

fn metadata(name: &str) -> impl Strategy<Value = String> + use<> {
    let name = name.to_owned();
    prop_oneof![
        6 => Just(String::new()),
        2 => Just(r#","labels":{"colour":"red"}"#.to_owned()),
        1 => Just(r#","labels":{"colour":"blue"},"annotations":{"n":"1"}"#.to_owned()),
        1 => Just(r#","finalizers":["example.com/hold"]"#.to_owned()),
        1 => Just(r#","labels":{"bad label":"x"}"#.to_owned()),
        2 => Just(format!(r#","resourceVersion":"{{rv:{name}}}""#)),
        1 => Just(r#","resourceVersion":"1""#.to_owned()),
        1 => Just(format!(r#","uid":"{{uid:{name}}}""#)),
        1 => Just(r#","uid":"00000000-0000-0000-0000-000000000000""#.to_owned()),
        1 => Just(r#","generation":40"#.to_owned()),
    ]
    .prop_map(move |more| format!(r#""metadata":{{"name":"{name}"{more}}}"#))
}

fn object() -> impl Strategy<Value = (&'static str, &'static str, String)> {
    (kind(), name(), content())
        .prop_flat_map(|(kind, name, content)| (Just((kind, name, content)), metadata(name)))
        .prop_map(|((kind, name, content), metadata)| {
            (kind.0, name, format!("{{{},{metadata},{content}}}", kind.1))
        })
}

fn query() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => Just(""),
        1 => Just("?fieldValidation=Strict"),
        1 => Just("?fieldValidation=Warn"),
        1 => Just("?dryRun=All"),
        1 => Just("?fieldManager=mate"),
    ]
}

fn create() -> impl Strategy<Value = Step> {
    (object(), query()).prop_map(|((plural, _, body), query)| Step {
        method: "POST",
        path: format!("{plural}{query}"),
        content_type: JSON,
        body,
    })
}

fn replace() -> impl Strategy<Value = Step> {
    (object(), query()).prop_map(|((plural, name, body), query)| Step {
        method: "PUT",
        path: format!("{plural}/{name}{query}"),
        content_type: JSON,
        body,
    })
}

fn merge() -> impl Strategy<Value = Step> {
    let patches = select(vec![
        r#"{"spec":{"height":8}}"#,
        r#"{"spec":{"height":null,"note":"hi"}}"#,
        r#"{"spec":{"boats":[]}}"#,
        r#"{"spec":{"height":99}}"#,
        r#"{"spec":{"harbour":"calais"}}"#,
        r#"{"data":{"k":"2"}}"#,
        r#"{"data":{"k":null}}"#,
        r#"{"metadata":{"labels":{"colour":"green"}}}"#,
        r#"{"metadata":{"labels":null,"annotations":{"n":"2"}}}"#,
        r#"{"metadata":{"finalizers":["example.com/hold"]}}"#,
        r#"{"metadata":{"finalizers":null}}"#,
        r#"{"metadata":{"resourceVersion":"1"}}"#,
        r#"{"metadata":{"name":"other"}}"#,
        r#"{"status":{"level":1}}"#,
        r"{}",
        r"[]",
    ]);
    (kind(), name(), patches, query()).prop_map(|(kind, name, patch, query)| Step {
        method: "PATCH",
        path: format!("{}/{name}{query}", kind.0),
        content_type: MERGE,
        body: patch.to_owned(),
    })
}

fn json_patch() -> impl Strategy<Value = Step> {
    let patches = select(vec![
        r#"[{"op":"add","path":"/metadata/labels","value":{"colour":"black"}}]"#,
        r#"[{"op":"replace","path":"/spec/height","value":4}]"#,
        r#"[{"op":"remove","path":"/spec/boats/0"}]"#,
        r#"[{"op":"add","path":"/spec/boats/-","value":{"name":"z"}}]"#,
        r#"[{"op":"test","path":"/metadata/finalizers","value":null},{"op":"add","path":"/metadata/finalizers","value":["example.com/hold"]}]"#,
        r#"[{"op":"remove","path":"/metadata/finalizers"}]"#,
        r#"[{"op":"test","path":"/spec/harbour","value":"nowhere"}]"#,
        r#"[{"op":"copy","from":"/spec/harbour","path":"/spec/note"}]"#,
        r#"[{"op":"juggle","path":"/spec"}]"#,
        r#"{"op":"remove"}"#,
    ]);
    (kind(), name(), patches).prop_map(|(kind, name, patch)| Step {
        method: "PATCH",
        path: format!("{}/{name}", kind.0),
        content_type: JSON_PATCH,
        body: patch.to_owned(),
    })
}

fn apply() -> impl Strategy<Value = Step> {
    let managers = select(vec![
        "?fieldManager=captain",
        "?fieldManager=mate",
        "?fieldManager=mate&force=true",
        "?fieldManager=captain&dryRun=All",
        "",
    ]);
    (object(), managers).prop_map(|((plural, name, body), managers)| Step {
        method: "PATCH",
        path: format!("{plural}/{name}{managers}"),
        content_type: APPLY,
        body,
    })
}

fn status() -> impl Strategy<Value = Step> {
    let patches = select(vec![
        (MERGE, r#"{"status":{"level":3}}"#),
        (MERGE, r#"{"spec":{"height":1},"status":{"level":4}}"#),
        (MERGE, r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#),
        (MERGE, r#"{"status":{"conditions":[{"type":"Ready"}]}}"#),
        (MERGE, r#"{"metadata":{"labels":{"from":"status"}}}"#),
        (JSON_PATCH, r#"[{"op":"add","path":"/status","value":{"level":5}}]"#),
    ]);
    (name(), patches).prop_map(|(name, (content_type, patch))| Step {
        method: "PATCH",
        path: format!("tides/{name}/status?fieldManager=gauge"),
        content_type,
        body: patch.to_owned(),
    })
}

fn delete() -> impl Strategy<Value = Step> {
    (kind(), name())
        .prop_flat_map(|(kind, name)| {
            let options = select(vec![
                String::new(),
                r#"{"propagationPolicy":"Background"}"#.to_owned(),
                r#"{"dryRun":["All"]}"#.to_owned(),
                format!(r#"{{"preconditions":{{"uid":"{{uid:{name}}}"}}}}"#),
                r#"{"preconditions":{"uid":"00000000-0000-0000-0000-000000000000"}}"#.to_owned(),
                r#"{"preconditions":{"resourceVersion":"1"}}"#.to_owned(),
                r#"{"propagationPolicy":"Sideways"}"#.to_owned(),
            ]);
            (Just(format!("{}/{name}", kind.0)), options)
        })
        .prop_map(|(path, body)| Step {
            method: "DELETE",
            path,
            content_type: if body.is_empty() { "" } else { JSON },
            body,
        })
}

fn read() -> impl Strategy<Value = Step> {
    let paths = select(vec![
        "tides",
        "tides?limit=1",
        "tides?labelSelector=colour%3Dred",
        "tides?labelSelector=colour+in+(red",
        "tides?fieldSelector=metadata.name%3Da",
        "tides?fieldSelector=spec.harbour%3Ddover",
        "tides?resourceVersion=x",
        "tides/a",
        "tides/b",
        "tides/a/status",
        "tides/a/scale",
        "configmaps/a",
        "configmaps/a/status",
        "configmaps",
        "whirlpools",
    ]);
    paths.prop_map(|path| Step {
        method: "GET",
        path: path.to_owned(),
        content_type: "",
        body: String::new(),
    })
}

fn strategic() -> impl Strategy<Value = Step> {
    let patches = select(vec![
        r#"{"data":{"k":"3"}}"#,
        r#"{"data":{"$patch":"replace","only":"1"}}"#,
        r#"{"metadata":{"finalizers":["example.com/more"]}}"#,
        r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}"#,
    ]);
    (kind(), name(), patches).prop_map(|(kind, name, patch)| Step {
        method: "PATCH",
        path: format!("{}/{name}", kind.0),
        content_type: STRATEGIC,
        body: patch.to_owned(),
    })
}

fn broken() -> impl Strategy<Value = Step> {
    select(vec![
        ("POST", "tides", JSON, "{"),
        ("POST", "tides", JSON, ""),
        ("POST", "tides", JSON, "[]"),
        ("POST", "tides", JSON, r#"{"apiVersion":"example.com/v1","kind":"Boat","metadata":{"name":"a"}}"#),
        ("POST", "tides", JSON, r#"{"apiVersion":"example.com/v7","kind":"Tide","metadata":{"name":"a"}}"#),
        ("POST", "tides", JSON, r#"{"apiVersion":"example.com/v1","kind":"Tide","metadata":{"name":"Not_A_Name"},"spec":{"harbour":"dover"}}"#),
        ("POST", "tides", JSON, r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"harbour":"dover"}}"#),
        ("POST", "tides", "text/plain", "hello"),
        ("PATCH", "tides/a", "text/plain", "{}"),
        ("PATCH", "tides/a", APPLY, "{"),
        ("PUT", "tides/a", JSON, r#"{"apiVersion":"example.com/v1","kind":"Tide","metadata":{"name":"b"},"spec":{"harbour":"dover"}}"#),
        ("POST", "tides/a", JSON, "{}"),
        ("PUT", "tides", JSON, "{}"),
        ("POST", "configmaps", JSON, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"elsewhere"}}"#),
    ])
    .prop_map(|(method, path, content_type, body)| Step {
        method,
        path: path.to_owned(),
        content_type,
        body: body.to_owned(),
    })
}
