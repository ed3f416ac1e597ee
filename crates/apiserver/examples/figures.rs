//! How fast and how large? Prints the figures of the embedded server: `cargo run --release --example figures`.

use std::{
    fmt::Display,
    io::Write as _,
    time::{Duration, Instant},
};

use apiserver::{RuntimeClock, Server, Settings};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::Service as _;

const OBJECTS: u32 = 10_000;
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn say(what: &str, figure: impl Display) {
    let _ = writeln!(std::io::stdout(), "{what:<52} {figure}");
}

fn definition() -> Value {
    let item = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "count": {"type": "integer"}}});
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 0}, "max": {"type": "integer", "default": 100_000},
        "pools": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item}},
        "x-kubernetes-validations": [{"rule": "self.size <= self.max"}]});
    let status = json!({"type": "object", "properties": {"observed": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                          "schema": {"openAPIV3Schema": schema}}]}})
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|p| p.parse().ok()).unwrap_or_default();
    pages * 4
}

fn ask(server: &Server, method: Method, path: &str, kind: &str, body: &Value) -> (u16, Bytes) {
    server.ask(method, path, kind, body.to_string().as_bytes())
}

fn rate(count: u32, length: Duration) -> String {
    format!("{:.0}/s", f64::from(count) / length.as_secs_f64())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let clock = RuntimeClock::starting_at(jiff::Timestamp::UNIX_EPOCH);
    let server = Server::new(clock, Settings::default());
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    ask(&server, Method::POST, definitions, "application/json", &definition());
    create(&server);
    patch(&server);
    watch(&server).await;
}

fn create(server: &Server) {
    let before = resident();
    let start = Instant::now();
    for index in 0..OBJECTS {
        let pools: Vec<Value> =
            (0..5).map(|p| json!({"name": format!("pool-{p}"), "count": p})).collect();
        let object = json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": format!("w{index}")}, "spec": {"size": index, "pools": pools}});
        let (code, body) = ask(server, Method::POST, WIDGETS, "application/json", &object);
        assert_eq!(code, 201, "{body:?}");
    }
    say("create", rate(OBJECTS, start.elapsed()));
    let each = (resident() - before) * 1024 / u64::from(OBJECTS);
    let start = Instant::now();
    let (_, list) = server.ask(Method::GET, WIDGETS, "", b"");
    say("list of 10,000", format!("{:?}", start.elapsed()));
    say(
        "resident per object / its JSON",
        format!("{each} / {} bytes", list.len() / OBJECTS as usize),
    );
}

fn patch(server: &Server) {
    let merge = |index: u32, observed: u32| {
        let path = format!("{WIDGETS}/w{index}/status");
        let body = json!({"status": {"observed": observed}});
        let (code, _) = ask(server, Method::PATCH, &path, "application/merge-patch+json", &body);
        assert_eq!(code, 200);
    };
    let start = Instant::now();
    (0..OBJECTS).for_each(|index| merge(index, index));
    say("status merge patch", rate(OBJECTS, start.elapsed()));
    let start = Instant::now();
    for index in 0..OBJECTS {
        let path = format!("{WIDGETS}/w{index}/status?fieldManager=me&force=true");
        let config = json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": {"observed": index + 1}});
        let (code, _) = ask(server, Method::PATCH, &path, "application/apply-patch+yaml", &config);
        assert_eq!(code, 200);
    }
    say("status apply patch", rate(OBJECTS, start.elapsed()));
    let settled = resident();
    (0..100_000).for_each(|index| merge(index % OBJECTS, index + 7));
    say("resident before and after 100,000 updates", format!("{settled} KiB, {} KiB", resident()));
}

async fn watch(server: &Server) {
    let mut watches = Vec::new();
    let version = server.resource_version();
    for _ in 0..1_000 {
        let path = format!("{WIDGETS}?watch=true&resourceVersion={version}");
        let request = Request::get(path).body(Full::<Bytes>::default()).expect("a valid request");
        watches.push(server.service().call(request).await.expect("no faults").into_body());
    }
    let start = Instant::now();
    for index in 0..1_000 {
        let path = format!("{WIDGETS}/w0/status");
        let body = json!({"status": {"observed": -1 - index}});
        ask(server, Method::PATCH, &path, "application/merge-patch+json", &body);
        for watch in &mut watches {
            let frame =
                watch.frame().await.expect("open").expect("not cut").into_data().expect("bytes");
            assert!(frame.ends_with(b"\n"));
        }
    }
    say("1,000 watchers, 1,000 updates", format!("{:?}", start.elapsed()));
}
