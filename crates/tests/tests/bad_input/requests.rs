//! Which requests are bad?

/// A request that no well-behaved client sends.
pub(crate) struct Bad {
    /// What is wrong with it; the name under which the answer is recorded.
    pub(crate) what: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Vec<u8>,
}

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TIDES: &str = "/apis/example.com/v1/namespaces/default/tides";

pub(crate) fn bad_requests() -> Vec<Bad> {
    let mut all = Vec::new();
    malformed_json(&mut all);
    malformed_protobuf(&mut all);
    wrong_content_types(&mut all);
    large_bodies(&mut all);
    unknown_versions(&mut all);
    bad_names(&mut all);
    broken_patches(&mut all);
    futures(&mut all);
    paths(&mut all);
    queries(&mut all);
    all
}

/// A request with a body, named by its group, its method and path, and a word for the body.
fn with_body(
    all: &mut Vec<Bad>,
    group: &str,
    word: &str,
    method: &'static str,
    path: &str,
    kind: &'static str,
    body: &[u8],
) {
    let short = path.rsplit_once("/default").map_or(path, |(_, rest)| rest);
    let headers = if kind.is_empty() { Vec::new() } else { vec![("content-type", kind)] };
    let what = format!("{group}, {word}, {method} {short} as {kind}");
    all.push(Bad { what, method, path: path.to_owned(), headers, body: body.to_vec() });
}

fn bare(all: &mut Vec<Bad>, group: &str, method: &'static str, path: &str) {
    let what = format!("{group}, {method} {path}");
    all.push(Bad { what, method, path: path.to_owned(), headers: Vec::new(), body: Vec::new() });
}

fn malformed_json(all: &mut Vec<Bad>) {
    let deep = "[".repeat(20_000);
    let bodies: [(&str, &[u8]); 12] = [
        ("open brace", b"{"),
        ("nothing", b""),
        ("list", b"[]"),
        ("null", b"null"),
        ("number", b"7"),
        ("not UTF-8", b"{\"apiVersion\":\"\xff\xfe\"}"),
        ("two documents", b"{} {}"),
        ("trailing comma", b"{\"apiVersion\":\"v1\",}"),
        ("no kind", b"{\"apiVersion\":\"v1\"}"),
        ("kind of a wrong type", b"{\"apiVersion\":\"v1\",\"kind\":7}"),
        ("metadata of a wrong type", br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}"#),
        ("twenty thousand levels", deep.as_bytes()),
    ];
    for (word, body) in bodies {
        for path in [MAPS, TIDES] {
            let one = format!("{path}/a");
            with_body(all, "json", word, "POST", path, JSON, body);
            with_body(all, "json", word, "PUT", &one, JSON, body);
            with_body(all, "json", word, "PATCH", &one, MERGE, body);
            with_body(all, "json", word, "PATCH", &one, JSON_PATCH, body);
            with_body(all, "json", word, "PATCH", &format!("{one}?fieldManager=me"), APPLY, body);
        }
        with_body(all, "json", word, "PATCH", &format!("{MAPS}/a"), STRATEGIC, body);
        with_body(all, "json", word, "DELETE", &format!("{MAPS}/none"), JSON, body);
    }
}

fn malformed_protobuf(all: &mut Vec<Bad>) {
    let bodies: [(&str, &[u8]); 6] = [
        ("nothing", b""),
        ("JSON", b"{}"),
        ("noise", b"\x00\x01\x02\x03\x04\x05"),
        ("the mark alone", b"k8s\x00"),
        ("the mark and noise", b"k8s\x00\xff\xff\xff\xff\xff"),
        ("an envelope cut short", b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Conf"),
    ];
    for (word, body) in bodies {
        with_body(all, "protobuf", word, "POST", MAPS, PROTOBUF, body);
        with_body(all, "protobuf", word, "PUT", &format!("{MAPS}/a"), PROTOBUF, body);
        // Not to custom kinds: there the real server gives no answer at all, its own function for that panics.
        with_body(all, "protobuf", word, "PATCH", &format!("{MAPS}/a"), PROTOBUF, body);
        with_body(all, "protobuf", word, "DELETE", &format!("{MAPS}/none"), PROTOBUF, body);
    }
    // An envelope for the right kind around bytes that are no such object, and one for another kind.
    let envelope = |kind: &str, raw: &[u8]| {
        let mut meta = vec![0x0a, 2];
        meta.extend(b"v1");
        meta.extend([0x12, kind.len() as u8]);
        meta.extend(kind.as_bytes());
        let mut whole = b"k8s\x00\x0a".to_vec();
        whole.push(meta.len() as u8);
        whole.extend(meta);
        whole.extend([0x12, raw.len() as u8]);
        whole.extend(raw);
        whole
    };
    for (word, body) in [
        ("noise in the envelope", envelope("ConfigMap", b"\xff\xff\xff")),
        ("another kind in the envelope", envelope("Secret", b"")),
        ("an unknown kind in the envelope", envelope("Boat", b"")),
    ] {
        with_body(all, "protobuf", word, "POST", MAPS, PROTOBUF, &body);
    }
}

fn wrong_content_types(all: &mut Vec<Bad>) {
    for kind in [
        "text/plain",
        "application/xml",
        MERGE,
        "nonsense",
        "application/x-www-form-urlencoded",
        "",
    ] {
        for path in [MAPS, TIDES] {
            with_body(all, "content type", "an object", "POST", path, kind, b"{}");
            with_body(all, "content type", "an object", "PUT", &format!("{path}/a"), kind, b"{}");
        }
    }
    for kind in ["text/plain", JSON, "application/yaml", ""] {
        for path in [MAPS, TIDES] {
            with_body(all, "content type", "an object", "PATCH", &format!("{path}/a"), kind, b"{}");
        }
    }
    with_body(all, "content type", "an object", "PATCH", &format!("{TIDES}/a"), STRATEGIC, b"{}");
    with_body(
        all,
        "content type",
        "an object",
        "DELETE",
        &format!("{MAPS}/none"),
        "text/plain",
        b"{}",
    );
    for accepted in
        ["text/html", "image/png", "application/json;as=Boat;v=v1;g=meta.k8s.io", "nonsense"]
    {
        for path in [MAPS, TIDES] {
            let what = format!("accept, GET {path} as {accepted}");
            let headers = vec![("accept", accepted)];
            all.push(Bad { what, method: "GET", path: path.to_owned(), headers, body: Vec::new() });
        }
    }
}

fn large_bodies(all: &mut Vec<Bad>) {
    let object = |kind: &str, field: &str, size: usize| {
        let filler = "x".repeat(size);
        let group = if kind == "Tide" { "example.com/v1" } else { "v1" };
        let text = format!(
            r#"{{"apiVersion":"{group}","kind":"{kind}","metadata":{{"name":"large"}},{field}"{filler}"}}}}"#
        );
        text.into_bytes()
    };
    let (map, tide) = (r#""data":{"k":"#, r#""spec":{"harbour":"dover","note":"#);
    let three = 3 * 1024 * 1024;
    for (word, size) in [
        ("just over 3 MiB", three),
        ("4 MiB", 4 * 1024 * 1024),
        ("1.1 MiB", 1_150_000),
        ("2 MiB", 2 * 1024 * 1024),
    ] {
        let (map, tide) = (object("ConfigMap", map, size), object("Tide", tide, size));
        with_body(all, "large", word, "POST", &format!("{MAPS}?dryRun=All"), JSON, &map);
        with_body(all, "large", word, "POST", &format!("{TIDES}?dryRun=All"), JSON, &tide);
        with_body(all, "large", word, "PATCH", &format!("{MAPS}/a?dryRun=All"), MERGE, &map);
        with_body(
            all,
            "large",
            word,
            "PATCH",
            &format!("{TIDES}/large?fieldManager=me&dryRun=All"),
            APPLY,
            &tide,
        );
        with_body(all, "large", word, "POST", MAPS, PROTOBUF, &map);
    }
    let operations = r#"{"op":"test","path":"/kind","value":"ConfigMap"},"#.repeat(10_001);
    let patch = format!("[{}]", operations.trim_end_matches(','));
    with_body(
        all,
        "large",
        "10,001 operations",
        "PATCH",
        &format!("{MAPS}/a"),
        JSON_PATCH,
        patch.as_bytes(),
    );
    let annotation =
        format!(r#"{{"metadata":{{"annotations":{{"a":"{}"}}}}}}"#, "x".repeat(262_145));
    with_body(
        all,
        "large",
        "an annotation of 256 KiB",
        "PATCH",
        &format!("{MAPS}/a"),
        MERGE,
        annotation.as_bytes(),
    );
}

fn unknown_versions(all: &mut Vec<Bad>) {
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
fn bad_names(all: &mut Vec<Bad>) {
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
    let kinds = [
        ("v1", "Namespace", "/api/v1/namespaces", ""),
        ("v1", "Node", "/api/v1/nodes", ""),
        ("v1", "ConfigMap", MAPS, ""),
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
        ("example.com/v1", "Tide", TIDES, r#","spec":{"harbour":"dover"}"#),
    ];
    for (version, kind, path, rest) in kinds {
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
        for (version, kind, path, rest) in [kinds[2], kinds[8]] {
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

fn broken_patches(all: &mut Vec<Bad>) {
    let one = format!("{TIDES}/a");
    for (word, body) in [
        ("type", r#"{"spec":{"harbour":7}}"#),
        ("pattern", r#"{"spec":{"harbour":"Dover"}}"#),
        ("maximum", r#"{"spec":{"height":99}}"#),
        ("rule", r#"{"spec":{"low":9,"height":2}}"#),
        ("transition rule", r#"{"spec":{"harbour":"calais"}}"#),
        ("required", r#"{"spec":{"harbour":null}}"#),
        ("the whole spec", r#"{"spec":null}"#),
        ("enum", r#"{"spec":{"phase":"half"}}"#),
        ("repeated key", r#"{"spec":{"boats":[{"name":"x"},{"name":"x"}]}}"#),
        ("repeated member", r#"{"spec":{"tags":["x","x"]}}"#),
        (
            "too many",
            r#"{"spec":{"boats":[{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"},{"name":"6"},{"name":"7"},{"name":"8"},{"name":"9"}]}}"#,
        ),
        ("another name", r#"{"metadata":{"name":"b"}}"#),
        ("another kind", r#"{"kind":"Boat"}"#),
        ("another version", r#"{"apiVersion":"example.com/v9"}"#),
        ("old version", r#"{"metadata":{"resourceVersion":"1"}}"#),
        ("version that is none", r#"{"metadata":{"resourceVersion":"x"}}"#),
        ("another uid", r#"{"metadata":{"uid":"x"}}"#),
        ("unknown field", r#"{"spec":{"unknown":1}}"#),
    ] {
        with_body(
            all,
            "patch",
            word,
            "PATCH",
            &format!("{one}?fieldValidation=Strict"),
            MERGE,
            body.as_bytes(),
        );
    }
    for (word, body) in [
        ("remove what is required", r#"[{"op":"remove","path":"/spec/harbour"}]"#),
        ("remove what is not there", r#"[{"op":"remove","path":"/spec/note"}]"#),
        ("replace what is not there", r#"[{"op":"replace","path":"/spec/note","value":"x"}]"#),
        ("add below nothing", r#"[{"op":"add","path":"/spec/gates/x/y","value":"x"}]"#),
        ("unknown operation", r#"[{"op":"juggle","path":"/spec"}]"#),
        ("no path", r#"[{"op":"remove"}]"#),
        ("failed test", r#"[{"op":"test","path":"/spec/harbour","value":"calais"}]"#),
        ("not a pointer", r#"[{"op":"remove","path":"spec"}]"#),
    ] {
        with_body(all, "patch", word, "PATCH", &one, JSON_PATCH, body.as_bytes());
    }
    for (word, query, body) in [
        (
            "no manager",
            "",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"harbour":"dover"}}"#,
        ),
        (
            "unknown field",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"unknown":1}}"#,
        ),
        (
            "conflict",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"harbour":"calais"}}"#,
        ),
        (
            "repeated key",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"boats":[{"name":"x"},{"name":"x"}]}}"#,
        ),
        (
            "own managedFields",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","metadata":{"managedFields":[{"manager":"x"}]}}"#,
        ),
        ("yaml that is none", "?fieldManager=me", "a: [b"),
        ("a list in yaml", "?fieldManager=me", "- a\n- b\n"),
    ] {
        with_body(all, "apply", word, "PATCH", &format!("{one}{query}"), APPLY, body.as_bytes());
    }
    for (word, body) in [
        ("type", r#"{"status":{"level":"high"}}"#),
        ("missing field", r#"{"status":{"conditions":[{"type":"Ready"}]}}"#),
        ("null status", r#"{"status":7}"#),
    ] {
        with_body(all, "status", word, "PATCH", &format!("{one}/status"), MERGE, body.as_bytes());
    }
    for (word, body) in [
        ("type", r#"{"data":{"k":1}}"#),
        ("data of a wrong type", r#"{"data":[]}"#),
        ("bad key", r#"{"data":{"a b":"1"}}"#),
        ("unknown directive", r#"{"data":{"$patch":"juggle"}}"#),
    ] {
        with_body(all, "patch", word, "PATCH", &format!("{MAPS}/a"), MERGE, body.as_bytes());
        with_body(all, "patch", word, "PATCH", &format!("{MAPS}/a"), STRATEGIC, body.as_bytes());
    }
}

fn futures(all: &mut Vec<Bad>) {
    for path in [MAPS, TIDES, "/api/v1/nodes"] {
        for version in [
            "999999999",
            "9223372036854775807",
            "18446744073709551615",
            "18446744073709551616",
            "-1",
            "x",
            "1.5",
            "%20",
        ] {
            bare(
                all,
                "watch",
                "GET",
                &format!("{path}?watch=true&timeoutSeconds=1&resourceVersion={version}"),
            );
        }
        for version in ["999999999", "18446744073709551616", "-1", "x"] {
            bare(all, "list", "GET", &format!("{path}?resourceVersion={version}"));
            bare(
                all,
                "list",
                "GET",
                &format!("{path}?resourceVersion={version}&resourceVersionMatch=Exact"),
            );
        }
        bare(all, "list", "GET", &format!("{path}?resourceVersionMatch=Exact"));
        bare(
            all,
            "list",
            "GET",
            &format!("{path}?resourceVersion=1&resourceVersionMatch=Sometimes"),
        );
        bare(all, "list", "GET", &format!("{path}?resourceVersion=0&resourceVersionMatch=Exact"));
        bare(
            all,
            "watch",
            "GET",
            &format!("{path}?watch=true&sendInitialEvents=true&timeoutSeconds=1"),
        );
        bare(
            all,
            "watch",
            "GET",
            &format!("{path}?watch=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"),
        );
        bare(all, "get", "GET", &format!("{path}/a?resourceVersion=999999999"));
        bare(all, "get", "GET", &format!("{path}/a?resourceVersion=x"));
    }
}

fn paths(all: &mut Vec<Bad>) {
    for path in [
        "/..",
        "/../..",
        "/../api/v1/nodes",
        "/api/..",
        "/api/../api/v1/nodes",
        "/api/v1/..",
        "/api/v1/../v1/nodes",
        "/api/v1/namespaces/..",
        "/api/v1/namespaces/../nodes",
        "/api/v1/namespaces/default/..",
        "/api/v1/namespaces/default/../../nodes",
        "/api/v1/namespaces/default/configmaps/..",
        "/api/v1/namespaces/default/configmaps/.",
        "/api/v1/namespaces/default/configmaps/%2e%2e",
        "/api/v1/namespaces/default/configmaps/a%2fb",
        "/api/v1/namespaces/default/configmaps/%00",
        "/api/v1/namespaces/%2e%2e/configmaps/a",
        "/api/v1/namespaces/./configmaps",
        "/apis/example.com/v1/namespaces/default/tides/..",
        "/apis/example.com/v1/namespaces/default/tides/../../../nodes",
        "/apis/example.com/v1/namespaces/../tides",
        "/apis/../apis/example.com/v1/tides",
        "/apis/example.com/../v1/tides",
        "/apis/example.com/v1/namespaces/default/tides/%2e%2e",
        "/apis/example.com/v1/namespaces/default/tides/a/../b",
        "/api/v1/nodes/../../../../etc/passwd",
        "/openapi/v3/../v2",
        "/version/..",
        "/api//v1/nodes",
        "//api/v1/nodes",
        "/api/v1//nodes",
        "/api/v1/nodes/",
        "/api/v1/namespaces/default/configmaps/",
        "/api/v1/namespaces//configmaps",
        "/apis/example.com/v1/namespaces/default/tides/",
        "/apis/example.com/v1/namespaces//tides",
        "/apis//v1/nodes",
        "/api/v1/namespaces/default/configmaps/a/b/c/d",
        "/api/v1/nodes/a/b/c/d",
        "/apis/example.com/v1/namespaces/default/tides/a/b",
        "/apis/example.com/v1/namespaces/default/tides/a/status/more",
        "/apis/example.com/v1/tides/a",
        "/api/v1/configmaps/a",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/namespaces/default/nodes/a",
    ] {
        bare(all, "path", "GET", path);
        bare(all, "path", "DELETE", path);
    }
}

fn queries(all: &mut Vec<Bad>) {
    for path in [MAPS, TIDES] {
        for query in [
            "limit=-1",
            "limit=x",
            "continue=nonsense",
            "continue=e30",
            "labelSelector=((",
            "labelSelector=a+in+(b",
            "labelSelector=a%3D%3D%3Db",
            "labelSelector=-%3Db",
            "fieldSelector=nothing",
            "fieldSelector=spec.unknown%3D1",
            "timeoutSeconds=x",
            "watch=maybe&timeoutSeconds=1",
            "allowWatchBookmarks=maybe",
            "pretty=maybe",
            "unknown=1",
            "sendInitialEvents=true",
            "limit=1&continue=nonsense&resourceVersion=5",
        ] {
            bare(all, "query", "GET", &format!("{path}?{query}"));
        }
        for query in [
            "dryRun=Some",
            "fieldValidation=Maybe",
            "fieldManager=%07",
            "dryRun=All&dryRun=All",
            "fieldManager=",
        ] {
            with_body(all, "query", "empty", "POST", &format!("{path}?{query}"), JSON, b"{}");
            with_body(all, "query", "empty", "PATCH", &format!("{path}/a?{query}"), MERGE, b"{}");
        }
        with_body(
            all,
            "query",
            "force without apply",
            "PATCH",
            &format!("{path}/a?force=true"),
            MERGE,
            b"{}",
        );
        for query in [
            "propagationPolicy=Sideways",
            "gracePeriodSeconds=x",
            "gracePeriodSeconds=-1",
            "dryRun=Some",
            "orphanDependents=maybe",
        ] {
            bare(all, "query", "DELETE", &format!("{path}/none?{query}"));
        }
        for body in [
            r#"{"propagationPolicy":"Sideways"}"#,
            r#"{"gracePeriodSeconds":"x"}"#,
            r#"{"dryRun":["Some"]}"#,
            r#"{"preconditions":{"uid":7}}"#,
            r#"{"kind":"Boat","apiVersion":"v1"}"#,
            r#"{"kind":"DeleteOptions","apiVersion":"v9"}"#,
            r#"{"orphanDependents":true,"propagationPolicy":"Background"}"#,
        ] {
            with_body(
                all,
                "options",
                body,
                "DELETE",
                &format!("{path}/none"),
                JSON,
                body.as_bytes(),
            );
        }
    }
    for method in ["OPTIONS", "TRACE", "PROPFIND", "HEAD"] {
        for path in ["/api/v1/nodes", "/api/v1/nodes/none", TIDES, "/version"] {
            bare(all, "method", method, path);
        }
    }
    for (method, path) in [
        ("POST", "/api/v1/nodes/a"),
        ("PUT", "/api/v1/nodes"),
        ("PATCH", "/api/v1/nodes"),
        ("POST", "/version"),
        ("POST", "/api"),
        ("PUT", "/apis"),
        ("POST", "/healthz"),
    ] {
        bare(all, "method", method, path);
    }
}
