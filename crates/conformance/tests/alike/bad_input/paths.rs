//! Times that have not come, places that are not there, and options that mean nothing.

use super::requests::{Bad, JSON, MAPS, MERGE, TIDES, bare, with_body};

pub(super) fn futures(all: &mut Vec<Bad>) {
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

pub(super) fn paths(all: &mut Vec<Bad>) {
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

pub(super) fn queries(all: &mut Vec<Bad>) {
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
