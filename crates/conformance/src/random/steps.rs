//! Which requests are drawn?
//!
//! Seven kinds ([`super::kinds`]), three names, small pools of values: sequences collide, conflict and repeat themselves. About one
//! request in four is wrong in some way. `{rv:a}` and `{uid:a}` stand for what the server last said of object `a`, `{case}` for the
//! namespace of the sequence. Reads from a cache (`resourceVersion=0`) are not among them: a real server may answer those with
//! yesterday's truth.

use proptest::{collection::vec, prelude::*, sample::select, strategy::Union};

use super::kinds::{Deletion, KINDS, Kind, Scope};

/// One request, not yet bound to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomRequest {
    /// The HTTP method.
    pub method: &'static str,
    /// The plural name of the kind that it goes to, for the watch.
    pub collection: &'static str,
    /// The path with the query, with placeholders.
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

/// Sequences of one to twelve requests, most of them to one kind.
pub fn steps() -> impl Strategy<Value = Vec<RandomRequest>> {
    kind().prop_flat_map(|main| vec(prop_oneof![4 => step(Just(main)), 1 => step(kind())], 1..=12))
}

/// A kind, by its weight.
fn kind() -> impl Strategy<Value = &'static Kind> + Clone {
    Union::new_weighted(KINDS.iter().map(|(weight, kind)| (*weight, Just(kind))).collect())
}

fn step(
    kind: impl Strategy<Value = &'static Kind> + Clone + 'static,
) -> BoxedStrategy<RandomRequest> {
    prop_oneof![
        4 => create(kind.clone()),
        2 => replace(kind.clone()),
        3 => merge(kind.clone()),
        2 => json_patch(kind.clone()),
        3 => apply(kind.clone()),
        2 => status(kind.clone()),
        2 => delete(kind.clone()),
        2 => read(kind.clone()),
        1 => strategic(kind),
        1 => broken(),
    ]
    .boxed()
}

fn name() -> impl Strategy<Value = &'static str> + Clone {
    select(vec!["a", "b", "c"])
}

/// What stands beside the metadata.
fn content(kind: &'static Kind) -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => select(kind.valid), 1 => select(kind.invalid)]
}

fn metadata(kind: &'static Kind, name: &'static str) -> impl Strategy<Value = String> {
    let full = kind.name(name);
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
    .prop_map(move |more| format!(r#""metadata":{{"name":"{full}"{more}}}"#))
}

/// A kind, a name, and a whole object.
fn object(
    kind: impl Strategy<Value = &'static Kind>,
) -> impl Strategy<Value = (&'static Kind, &'static str, String)> {
    (kind, name())
        .prop_flat_map(|(kind, name)| (Just((kind, name)), content(kind), metadata(kind, name)))
        .prop_map(|((kind, name), content, metadata)| {
            (kind, name, format!("{{{},{metadata},{content}}}", kind.words))
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

fn to_one(kind: &Kind, name: &str, rest: &str) -> String {
    format!("{}/{}{rest}", kind.collection(), kind.name(name))
}

fn patch(
    kind: &'static Kind,
    path: String,
    content_type: &'static str,
    body: &str,
) -> RandomRequest {
    let (method, collection, body) = ("PATCH", kind.plural, body.to_owned());
    RandomRequest { method, collection, path, content_type, body }
}

fn create(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    (object(kind), query()).prop_map(|((kind, _, body), query)| RandomRequest {
        method: "POST",
        collection: kind.plural,
        path: format!("{}{query}", kind.collection()),
        content_type: JSON,
        body,
    })
}

fn replace(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    (object(kind), query()).prop_map(|((kind, name, body), query)| RandomRequest {
        method: "PUT",
        collection: kind.plural,
        path: to_one(kind, name, query),
        content_type: JSON,
        body,
    })
}

fn merge(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    let common = select(vec![
        r#"{"metadata":{"labels":{"colour":"green"}}}"#,
        r#"{"metadata":{"labels":null,"annotations":{"n":"2"}}}"#,
        r#"{"metadata":{"finalizers":["example.com/hold"]}}"#,
        r#"{"metadata":{"finalizers":null}}"#,
        r#"{"metadata":{"resourceVersion":"1"}}"#,
        r#"{"metadata":{"name":"other"}}"#,
        r"{}",
        r"[]",
    ]);
    kind.prop_flat_map(move |kind| {
        let patches = prop_oneof![select(kind.merges), common.clone()];
        (Just(kind), name(), patches, query())
    })
    .prop_map(|(kind, name, body, query)| patch(kind, to_one(kind, name, query), MERGE, body))
}

fn json_patch(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    let common = select(vec![
        r#"[{"op":"add","path":"/metadata/labels","value":{"colour":"black"}}]"#,
        r#"[{"op":"test","path":"/metadata/finalizers","value":null},{"op":"add","path":"/metadata/finalizers","value":["example.com/hold"]}]"#,
        r#"[{"op":"remove","path":"/metadata/finalizers"}]"#,
        r#"{"op":"remove"}"#,
    ]);
    kind.prop_flat_map(move |kind| {
        (Just(kind), name(), prop_oneof![select(kind.json_patches), common.clone()])
    })
    .prop_map(|(kind, name, body)| patch(kind, to_one(kind, name, ""), JSON_PATCH, body))
}

fn apply(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    let managers = select(vec![
        "?fieldManager=captain",
        "?fieldManager=mate",
        "?fieldManager=mate&force=true",
        "?fieldManager=captain&dryRun=All",
        "",
    ]);
    (object(kind), managers).prop_map(|((kind, name, body), managers)| {
        patch(kind, to_one(kind, name, managers), APPLY, &body)
    })
}

/// A patch to the status; to the object itself where there is none.
fn status(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    kind.prop_flat_map(|kind| {
        let known = if kind.statuses.is_empty() { kind.merges } else { kind.statuses };
        (Just(kind), name(), select(known))
    })
    .prop_map(|(kind, name, body)| {
        let rest = if kind.statuses.is_empty() {
            "?fieldManager=gauge"
        } else {
            "/status?fieldManager=gauge"
        };
        patch(kind, to_one(kind, name, rest), MERGE, body)
    })
}

fn delete(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    (kind, name())
        .prop_flat_map(|(kind, name)| {
            let options = match kind.deletion {
                Deletion::Left => vec![r#"{"dryRun":["All"]}"#.to_owned()],
                Deletion::Drawn => vec![
                    String::new(),
                    r#"{"propagationPolicy":"Background"}"#.to_owned(),
                    r#"{"dryRun":["All"]}"#.to_owned(),
                    format!(r#"{{"preconditions":{{"uid":"{{uid:{name}}}"}}}}"#),
                    r#"{"preconditions":{"uid":"00000000-0000-0000-0000-000000000000"}}"#
                        .to_owned(),
                    r#"{"preconditions":{"resourceVersion":"1"}}"#.to_owned(),
                    r#"{"propagationPolicy":"Sideways"}"#.to_owned(),
                    r#"{"gracePeriodSeconds":0}"#.to_owned(),
                ],
            };
            (Just((kind, name)), select(options))
        })
        .prop_map(|((kind, name), body)| RandomRequest {
            method: "DELETE",
            collection: kind.plural,
            path: to_one(kind, name, ""),
            content_type: if body.is_empty() { "" } else { JSON },
            body,
        })
}

/// Objects and lists. A list of a kind without a namespace would hold the objects of every sequence before.
fn read(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    kind.prop_flat_map(|kind| {
        let mut paths: Vec<String> =
            ["", "/status", "/scale"].iter().map(|rest| to_one(kind, "a", rest)).collect();
        paths.push(to_one(kind, "b", ""));
        let queries: &[&str] = match kind.scope {
            Scope::Cluster => &["fieldSelector=metadata.name%3D{case}-a", "resourceVersion=x"],
            Scope::Namespaced => &[
                "",
                "limit=1",
                "labelSelector=colour%3Dred",
                "labelSelector=colour+in+(red",
                "fieldSelector=metadata.name%3Da",
                "fieldSelector=spec.harbour%3Ddover",
                "resourceVersion=x",
            ],
        };
        paths.extend(queries.iter().map(|query| format!("{}?{query}", kind.collection())));
        paths.push("/apis/example.com/v1/namespaces/{case}/whirlpools".to_owned());
        (Just(kind), select(paths))
    })
    .prop_map(|(kind, path)| RandomRequest {
        method: "GET",
        collection: kind.plural,
        path,
        content_type: "",
        body: String::new(),
    })
}

fn strategic(kind: impl Strategy<Value = &'static Kind>) -> impl Strategy<Value = RandomRequest> {
    let common = select(vec![
        r#"{"data":{"k":"3"}}"#,
        r#"{"data":{"$patch":"replace","only":"1"}}"#,
        r#"{"metadata":{"finalizers":["example.com/more"]}}"#,
        r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/hold"]}}"#,
        r#"{"spec":{"containers":[{"name":"c","image":"s"}]}}"#,
        r#"{"spec":{"taints":[{"key":"k","effect":"NoSchedule","value":"v"}]}}"#,
        r#"{"spec":{"holderIdentity":"s"}}"#,
    ]);
    kind.prop_flat_map(move |kind| (Just(kind), name(), common.clone()))
        .prop_map(|(kind, name, body)| patch(kind, to_one(kind, name, ""), STRATEGIC, body))
}

fn broken() -> impl Strategy<Value = RandomRequest> {
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
    ])
    .prop_map(|(method, path, content_type, body)| RandomRequest {
        method,
        collection: "tides",
        path: format!("/apis/example.com/v1/namespaces/{{case}}/{path}"),
        content_type,
        body: body.to_owned(),
    })
}
