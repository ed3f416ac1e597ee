//! Versions that nobody serves, and names that nothing may have.

use super::requests::{APPLY, Bad, JSON, MAPS, TIDES, bare, with_body};

/// Version, kind, path, and what a body needs beside its metadata.
const KINDS: [(&str, &str, &str, &str); 9] = [
    ("v1", "Namespace", "/api/v1/namespaces", ""),
    ("v1", "Node", "/api/v1/nodes", ""),
    CONFIG_MAP,
    ("v1", "Secret", "/api/v1/namespaces/default/secrets", ""),
    ("v1", "ServiceAccount", "/api/v1/namespaces/default/serviceaccounts", ""),
    (
        "v1",
        "Pod",
        "/api/v1/namespaces/default/pods",
        r#","spec":{"containers":[{"name":"c","image":"i"}]}"#,
    ),
    (
        "coordination.k8s.io/v1",
        "Lease",
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        "",
    ),
    (
        "policy/v1",
        "PodDisruptionBudget",
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        "",
    ),
    TIDE,
];

const CONFIG_MAP: (&str, &str, &str, &str) = ("v1", "ConfigMap", MAPS, "");
const TIDE: (&str, &str, &str, &str) =
    ("example.com/v1", "Tide", TIDES, r#","spec":{"harbour":"dover"}"#);

pub(super) fn unknown_versions(all: &mut Vec<Bad>) {
    for path in [
        "/api/v2/namespaces/default/configmaps",
        "/api/v2/nodes/a",
        "/api/v2",
        "/apis/example.com/v9/namespaces/default/tides",
        "/apis/example.com/v9/namespaces/default/tides/a",
        "/apis/example.com/v9",
        "/apis/nowhere.example/v1/boats",
        "/apis/nowhere.example/v1",
        "/apis/nowhere.example",
        "/apis/coordination.k8s.io/v7/leases",
        "/api/v1/boats",
        "/api/v1/namespaces/default/boats/a",
        "/apis/example.com/v1/boats",
        "/nothing",
        "/nothing/at/all",
    ] {
        for method in ["GET", "DELETE"] {
            bare(all, "version", method, path);
        }
    }
    for (word, path, body) in [
        (
            "v9 in the body",
            TIDES,
            r#"{"apiVersion":"example.com/v9","kind":"Tide","metadata":{"name":"v"},"spec":{"harbour":"dover"}}"#,
        ),
        (
            "v1beta1 in the body",
            TIDES,
            r#"{"apiVersion":"example.com/v1beta1","kind":"Tide","metadata":{"name":"v"},"spec":{"harbour":"dover"}}"#,
        ),
        (
            "v9 in the body",
            MAPS,
            r#"{"apiVersion":"v9","kind":"ConfigMap","metadata":{"name":"v"}}"#,
        ),
        (
            "another group in the body",
            MAPS,
            r#"{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"v"}}"#,
        ),
        (
            "another kind in the body",
            MAPS,
            r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"v"}}"#,
        ),
        (
            "an unknown kind in the body",
            MAPS,
            r#"{"apiVersion":"v1","kind":"Boat","metadata":{"name":"v"}}"#,
        ),
        (
            "an unknown kind in the body",
            TIDES,
            r#"{"apiVersion":"example.com/v1","kind":"Boat","metadata":{"name":"v"}}"#,
        ),
        (
            "three parts in the version",
            MAPS,
            r#"{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"v"}}"#,
        ),
    ] {
        with_body(all, "version", word, "POST", path, JSON, body.as_bytes());
        with_body(
            all,
            "version",
            word,
            "PATCH",
            &format!("{path}/v?fieldManager=me"),
            APPLY,
            body.as_bytes(),
        );
    }
}

/// Names that are not DNS labels, in the kinds whose rules differ.
pub(super) fn bad_names(all: &mut Vec<Bad>) {
    let (label, long) = ("l".repeat(64), "n".repeat(254));
    let names = [
        "Upper",
        "under_score",
        "-a",
        "a-",
        "a b",
        "a..b",
        ".",
        "..",
        "a/b",
        "a%b",
        "ä",
        "",
        &label,
        &long,
    ];
    for (version, kind, path, rest) in KINDS {
        for name in names {
            let short =
                if name.len() > 20 { format!("{} letters", name.len()) } else { name.to_owned() };
            let body = format!(
                r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"{name}"}}{rest}}}"#
            );
            with_body(
                all,
                "name",
                &format!("{kind} called '{short}'"),
                "POST",
                &format!("{path}?dryRun=All"),
                JSON,
                body.as_bytes(),
            );
        }
        for name in ["Upper", "-", "p..q"] {
            let body = format!(
                r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"generateName":"{name}"}}{rest}}}"#
            );
            with_body(
                all,
                "name",
                &format!("{kind} to be called '{name}'"),
                "POST",
                &format!("{path}?dryRun=All"),
                JSON,
                body.as_bytes(),
            );
        }
        let body = format!(
            r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"Upper"}}{rest}}}"#
        );
        with_body(
            all,
            "name",
            kind,
            "PATCH",
            &format!("{path}/Upper?fieldManager=me&dryRun=All"),
            APPLY,
            body.as_bytes(),
        );
    }
}

/// Metadata that break their rules, for a built-in kind and a custom one.
pub(super) fn bad_metadata(all: &mut Vec<Bad>) {
    for (word, metadata) in [
        ("label key", r#""labels":{"a b":"1"}"#),
        ("label value", r#""labels":{"a":"-"}"#),
        ("annotation key", r#""annotations":{"/":"1"}"#),
        ("finalizer", r#""finalizers":["hold"]"#),
        ("finalizer with spaces", r#""finalizers":["a b/c"]"#),
        ("namespace", r#""namespace":"elsewhere""#),
        (
            "owner without a name",
            r#""ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","uid":"x"}]"#,
        ),
        (
            "two controllers",
            r#""ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"p","uid":"x","controller":true},{"apiVersion":"v1","kind":"ConfigMap","name":"q","uid":"y","controller":true}]"#,
        ),
        ("negative generation", r#""generation":-1"#),
        ("creation by the client", r#""creationTimestamp":"yesterday""#),
        ("labels of a wrong type", r#""labels":{"a":1}"#),
        ("unknown field", r#""nickname":"m""#),
    ] {
        for (version, kind, path, rest) in [CONFIG_MAP, TIDE] {
            let body = format!(
                r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"m",{metadata}}}{rest}}}"#
            );
            with_body(
                all,
                "metadata",
                word,
                "POST",
                &format!("{path}?dryRun=All&fieldValidation=Strict"),
                JSON,
                body.as_bytes(),
            );
        }
    }
}
