//! What does a person read when a cluster refuses, cannot be reached, or answers nonsense?

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/run.rs"]
mod run;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    thread,
};

use run::{Run, tidegate};

/// A server that answers every question alike.
fn server(code: u16, body: &'static str) -> SocketAddr {
    answering(move |_| (code, body))
}

/// A server that answers by the first line of a request.
fn answering(answer: impl Fn(&str) -> (u16, &'static str) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut asked = String::new();
            let _ = stream.read_line(&mut asked);
            let mut line = String::from("-");
            while stream.read_line(&mut line).is_ok_and(|read| read > 2) {}
            let (code, body) = answer(&asked);
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {code} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.get_mut().write_all(answer.as_bytes());
        }
    });
    address
}

fn status_of(server: SocketAddr) -> Run {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path: PathBuf = folder.join(format!("refusals-{}.yaml", server.port()));
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: c,
          clusters: [{{name: c, cluster: {{server: 'http://{server}'}}}}],
          users: [{{name: u, user: {{token: t}}}}],
          contexts: [{{name: c, context: {{cluster: c, user: u}}}}]}}"
    );
    fs::write(&path, kubeconfig).unwrap();
    tidegate(&["status", "--kubeconfig", path.to_str().unwrap()], b"")
}

#[test]
fn a_person_reads_what_the_server_said() {
    let check = |code: u16, body: &'static str, expected: &str| {
        let run = status_of(server(code, body));
        let expected = format!("tidegate: cannot list changemanagementpolicies: {expected}\n");
        assert_eq!((&*run.stdout, &*run.stderr), ("", &*expected), "{code} {body}");
        assert_eq!(run.code, 2, "{code} {body}");
    };
    let unauthorized =
        r#"{"kind":"Status","code":401,"reason":"Unauthorized","message":"Unauthorized"}"#;
    check(401, unauthorized, "Unauthorized");
    check(401, "this gateway wants a certificate\n", "this gateway wants a certificate");
    let forbidden = r#"{"kind":"Status","code":403,"message":"changemanagementpolicies is forbidden: User \"u\" cannot list"}"#;
    check(403, forbidden, "changemanagementpolicies is forbidden: User \"u\" cannot list");
    let expired = r#"{"kind":"Status","code":410,"reason":"Expired","message":"the continue parameter is too old"}"#;
    check(410, expired, "the continue parameter is too old");
    check(502, "<html><body>no</body></html>", "Bad Gateway");
    // Once taken for an empty cluster.
    check(200, "{}", "the answer cannot be read: missing field `metadata` at line 1 column 2");
}

#[test]
fn a_kind_that_is_not_there_is_no_error() {
    for body in [r#"{"kind":"Status","code":404,"reason":"NotFound"}"#, "404 page not found\n"] {
        let run = status_of(answering(move |asked| {
            if asked.contains("/version") {
                (200, r#"{"gitVersion":"v1.36.3"}"#)
            } else {
                (404, body)
            }
        }));
        assert_eq!((run.code, &*run.stderr), (0, ""), "{body}");
        assert!(run.stdout.starts_with("nothing is under change management here"), "{body}");
    }
}

/// GATE-12: whatever else answers 404 at an address is not a cluster in which nothing is held.
#[test]
fn what_is_no_api_server_is_not_taken_for_an_empty_cluster() {
    for body in ["<html>not here</html>", r#"{"kind":"Status","code":404,"reason":"NotFound"}"#] {
        let address = server(404, body);
        let run = status_of(address);
        assert_eq!((run.code, &*run.stdout), (2, ""), "{body}");
        let expected =
            format!("tidegate: what answers at http://{address}/ is not a Kubernetes API server: ");
        assert!(run.stderr.starts_with(&expected), "{}", run.stderr);
        assert!(
            run.stderr.contains("\n  hint: look at the server in the kubeconfig"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn nobody_there_is_said_once_with_its_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let run = status_of(address);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("tidegate: cannot list changemanagementpolicies: "));
    assert_eq!(run.stderr.matches("Connection refused").count(), 1, "{}", run.stderr);
}
