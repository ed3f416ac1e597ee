//! The TCP front: loopback only, unimpressed by clients that are broken, slow or web pages.

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
    let listener = server.listen(0).await.unwrap();
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
    let listener = server.listen(0).await.unwrap();
    let address = listener.address();
    let serving = tokio::spawn(listener.run());
    for (host, more) in [("evil.example", ""), ("127.0.0.1", "Origin: http://evil.example\r\n")] {
        let answer = exchange(address, &get("/api/v1/secrets", host, more)).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        assert!(
            answer.contains("the embedded Tidegate API server answers local clients only"),
            "{answer}"
        );
    }
    serving.abort();
}
