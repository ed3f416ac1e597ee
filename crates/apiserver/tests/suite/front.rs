//! The TCP front: loopback only, unimpressed by clients that are broken, slow or web pages.

use apiserver::Access;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::common::{post, server};

/// Sends raw bytes and reads the answer to its end.
async fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("the server answers");
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(path: &str, host: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n")
}

#[tokio::test]
async fn hundred_broken_clients_do_not_disturb_the_others() {
    let server = server();
    let listener = server.listen(0, Access::Everybody).await.unwrap();
    let address = listener.address();
    assert!(address.ip().is_loopback());
    assert!(listener.kubeconfig().contains(&format!("server: http://{address}")));
    let serving = tokio::spawn(listener.run());
    let large = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"},
        "data": {"k": "x".repeat(1_000_000)}});
    assert_eq!(post(&server, "/api/v1/namespaces/default/configmaps", &large).0, 201);
    let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    // More than any socket buffers: the server is left standing with the rest in its hands.
    let greedy = ask("/api/v1/namespaces/default/configmaps/large").repeat(50);
    let watch = ask("/api/v1/namespaces?watch=true");
    let mut broken = Vec::new();
    for index in 0..100 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let said: &[u8] = match index % 5 {
            0 => b"GET /api/v1/no",
            1 => b"\x16\x03\x01\x02\x00\x01",
            2 => b"POST /api/v1/namespaces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999\r\n\r\n{",
            // Neither of these ever reads what it asked for.
            3 => watch.as_bytes(),
            _ => greedy.as_bytes(),
        };
        stream.write_all(said).await.unwrap();
        broken.push(stream);
    }
    for index in 0..20 {
        let body = format!("{{\"metadata\":{{\"name\":\"n{index}\"}}}}");
        let headers =
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let created = format!(
            "POST /api/v1/namespaces HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}\r\n{body}"
        );
        let answer = exchange(address, &created).await;
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        let answer =
            exchange(address, &get(&format!("/api/v1/namespaces/n{index}"), "127.0.0.1", "")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.contains("\"phase\":\"Active\""), "{answer}");
    }
    drop(broken);
    serving.abort();
}

#[tokio::test]
async fn web_pages_are_refused() {
    let server = server();
    let listener = server.listen(0, Access::Everybody).await.unwrap();
    let address = listener.address();
    let serving = tokio::spawn(listener.run());
    for (host, more) in PAGES {
        let answer = exchange(address, &get("/api/v1/secrets", host, more)).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        assert!(
            answer.contains("the embedded Tidegate API server answers local clients only"),
            "{answer}"
        );
    }
    serving.abort();
}

/// How requests look that a web page can send.
const PAGES: &[(&str, &str)] = &[
    ("evil.example", ""),
    ("127.0.0.1", "Origin: http://evil.example\r\n"),
    ("127.0.0.1", "Origin: \u{e4}\r\n"),
    ("127.0.0.1.evil.example:80", ""),
];

#[tokio::test]
async fn web_pages_do_not_reach_what_is_answered_beside_the_server_either() {
    let socket = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    let serving = tokio::spawn(apiserver::answer_locally(socket, |request| {
        http::Response::new(format!("this is {}", request.uri().path()).into())
    }));
    for (host, more) in PAGES {
        let answer = exchange(address, &get("/metrics", host, more)).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        assert!(!answer.contains("this is"), "{answer}");
    }
    let answer = exchange(address, &get("/metrics", "localhost:9", "")).await;
    assert!(answer.contains("this is /metrics"), "{answer}");
    serving.abort();
}

#[tokio::test]
async fn who_does_not_know_the_token_is_not_let_in() {
    const TOKEN: &str = "0123456789abcdef";
    let server = server();
    let listener = server.listen(0, Access::Token(TOKEN.into())).await.unwrap();
    let address = listener.address();
    let kubeconfig = listener.kubeconfig();
    assert!(kubeconfig.contains(&format!("server: http://{address}/{TOKEN}\n")), "{kubeconfig}");
    assert!(!format!("{listener:?}").contains(TOKEN), "it is in no log");
    let serving = tokio::spawn(listener.run());
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    for (path, more, expected) in [
        ("/api/v1/namespaces", String::new(), "401"),
        ("/version", String::new(), "401"),
        ("/", String::new(), "401"),
        ("/0123456789abcde/api/v1/namespaces", String::new(), "401"),
        ("/0123456789abcdef0/api/v1/namespaces", String::new(), "401"),
        ("/api/0123456789abcdef/v1/namespaces", String::new(), "401"),
        ("/api/v1/namespaces?token=0123456789abcdef", String::new(), "401"),
        ("/api/v1/namespaces", bearer("0123456789abcde"), "401"),
        ("/api/v1/namespaces", bearer(""), "401"),
        ("/api/v1/namespaces", bearer(TOKEN), "200"),
        ("/0123456789abcdef/api/v1/namespaces?limit=1", String::new(), "200"),
        ("/0123456789abcdef/version", String::new(), "200"),
        ("/0123456789abcdef", String::new(), "200"),
        ("/0123456789abcdef/", String::new(), "200"),
        ("/0123456789abcdef?timeout=32s", String::new(), "200"),
    ] {
        let answer = exchange(address, &get(path, "127.0.0.1", &more)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{path} {more}: {answer}");
    }
    let page = exchange(address, &get("/0123456789abcdef/version", "evil.example", "")).await;
    assert!(page.starts_with("HTTP/1.1 403"), "{page}");
    serving.abort();
}
