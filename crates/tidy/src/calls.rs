//! Does every request of the product go through the one client? `runtime::call` sends each once, with a deadline, counted, and reads
//! refusals alike (EXEC-4); `runtime::path` makes every path.

use crate::{Finding, Tree};

/// What ships and speaks to API servers. The embedded server answers instead, and the rig plays strangers.
const PRODUCT: &[&str] = &[
    "crates/agent/src/",
    "crates/console/src/",
    "crates/operator/src/",
    "crates/runtime/src/",
    "crates/sim/src/",
    "crates/tidegate/src/",
];

/// Where requests are made and sent.
const CLIENT: &[&str] = &["crates/runtime/src/call.rs", "crates/runtime/src/call/"];

/// Where paths are made.
const PATHS: &str = "crates/runtime/src/path.rs";

/// Ways to write a request down, and to send one past the client.
const SENDING: &[&str] = &[
    "Request::builder(",
    "Request::get(",
    "Request::post(",
    "Request::put(",
    "Request::patch(",
    "Request::delete(",
    "client.send(",
    ".request::<",
    ".request(request",
    ".request_text(",
    ".request_events",
    ".request_stream(",
    ".request_status",
    "kube::Api",
    "Api::all",
    "Api::namespaced",
];

/// How paths of an API server begin.
const WRITTEN_BY_HAND: &[&str] = &["\"/apis/", "\"/api/v1"];

/// Every request that goes past the client, and every path that is written by hand.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let ships = PRODUCT.iter().any(|room| path.starts_with(room));
        if !ships || path.ends_with("/tests.rs") || path.contains("/tests/") {
            continue;
        }
        let sends = CLIENT.iter().any(|room| path.starts_with(room));
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            if let Some(way) = SENDING.iter().find(|way| !sends && line.contains(**way)) {
                let text = format!("`{way}`: ask through `runtime::call::Cluster`");
                findings.push(Finding::at(path, number + 1, text));
            }
            let by_hand = WRITTEN_BY_HAND.iter().find(|start| line.contains(**start));
            if let Some(start) = by_hand.filter(|_| path != PATHS) {
                let text = format!("`{start}`: `runtime::path` makes paths from kinds");
                findings.push(Finding::at(path, number + 1, text));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::of([(path, text)])).len()
    }

    #[test]
    fn requests_past_the_client_are_found_wherever_the_product_makes_them() {
        let sends = "let answer = self.client.send(request).await?;\n";
        for room in ["agent/src/run.rs", "tidegate/src/cluster.rs", "runtime/src/drain.rs"] {
            let room = format!("crates/{room}");
            assert_eq!(count(&room, sends), 1, "{room}");
            assert_eq!(count(&room, "let request = Request::get(path).body(());\n"), 1, "{room}");
            assert_eq!(count(&room, "client.request::<Value>(request)\n"), 1, "{room}");
            assert_eq!(
                count(&room, "let path = format!(\"/apis/{group}/things\");\n"),
                1,
                "{room}"
            );
        }
    }

    #[test]
    fn the_client_itself_tests_and_other_senders_are_not() {
        let sends = "self.client.send(request)\n";
        assert_eq!(count("crates/runtime/src/call.rs", sends), 0);
        assert_eq!(count("crates/runtime/src/call/list.rs", sends), 0);
        assert_eq!(count("crates/runtime/src/path.rs", "check(\"/api/v1/nodes\");\n"), 0);
        assert_eq!(count("crates/apiserver/src/service.rs", sends), 0);
        assert_eq!(count("crates/agent/src/slow.rs", "let _ = sender.send(wait);\n"), 0);
        assert_eq!(count("crates/agent/src/run.rs", "// as client.send(request) would\n"), 0);
        let tested = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn t() { client.send(r) }\n}\n";
        assert_eq!(count("crates/sim/src/pace.rs", tested), 0);
        assert_eq!(count("crates/tests/tests/real/admin.rs", sends), 0);
    }
}
