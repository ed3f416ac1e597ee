//! Do two operators, as processes, share a lease, and does one survive the other?

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A process of ours, killed when dropped. Its first line of output ends in an address.
struct Running {
    child: Child,
    line: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, line }
    }

    fn operator(sandbox: &Self) -> Self {
        let kubeconfig = sandbox.line.trim_end().split_once(" kubeconfig=").unwrap().1;
        Self::start(&["operator", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig])
    }

    /// A sandbox answers only those who know its token: the path of the address in its kubeconfig.
    fn token(&self) -> String {
        let Some((_, kubeconfig)) = self.line.trim_end().split_once(" kubeconfig=") else {
            return String::new();
        };
        let written = std::fs::read_to_string(kubeconfig).unwrap();
        let server = written.split("server: http://").nth(1).unwrap();
        let server: String = server.chars().take_while(|one| !" ,}\"\n".contains(*one)).collect();
        server
            .trim_end_matches('/')
            .split_once('/')
            .map_or(String::new(), |(_, token)| format!("/{token}"))
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let address = self.line.split("http://").nth(1).unwrap();
        let address = address.split_whitespace().next().unwrap();
        let token = self.token();
        let Ok(mut stream) = TcpStream::connect(address) else { return String::new() };
        write!(
            stream,
            "{method} {token}{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn leads(&self) -> bool {
        self.ask("GET", "/metrics", "").contains("\ntidegate_leader 1\n")
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks until it is so, and says how long that took. Leases run on the wall clock, so this waits in earnest.
fn until(what: &str, at_most: Duration, mut is: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < at_most, "{what} did not happen within {at_most:?}");
        thread::sleep(Duration::from_millis(50));
    }
    began.elapsed()
}

const POLICIES: &str = "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator";

#[test]
fn the_other_replica_takes_over_when_the_leader_is_killed_and_nothing_is_done_twice() {
    let sandbox = Running::start(&["sandbox", "--empty"]);
    let body = r#"{"apiVersion":"changemanagement.openshift.io/v1alpha1","kind":"ChangeManagementPolicy","metadata":{"name":"p"},"spec":{"strategy":"Permissive"}}"#;
    assert!(sandbox.ask("POST", POLICIES, body).starts_with("HTTP/1.1 201"));
    let one = Running::operator(&sandbox);
    until("the first leads", Duration::from_secs(20), || one.leads());
    let two = Running::operator(&sandbox);
    let policy = || sandbox.ask("GET", &format!("{POLICIES}/p"), "");
    until("the status", Duration::from_secs(20), || policy().contains("\"observedGeneration\":1"));
    until("the second is ready", Duration::from_secs(20), || {
        two.ask("GET", "/readyz", "").starts_with("HTTP/1.1 200")
    });
    assert!(!two.leads());
    // Everything after the headers: the same version, so nobody wrote.
    let body_of = |answer: String| answer.split("\r\n\r\n").nth(1).unwrap().to_owned();
    let before = body_of(policy());

    one.signal("-KILL");
    let took = until("the take-over", Duration::from_secs(20), || two.leads());
    assert!(took > Duration::from_secs(5), "not while the lease runs: {took:?}");
    assert!(sandbox.ask("GET", LEASE, "").contains("\"leaseTransitions\":1"));
    assert_eq!(body_of(policy()), before, "nothing is done twice");

    let change = r#"{"apiVersion":"changemanagement.openshift.io/v1alpha1","kind":"ChangeManagementPolicy","metadata":{"name":"q"},"spec":{"strategy":"Restrictive"}}"#;
    assert!(sandbox.ask("POST", POLICIES, change).starts_with("HTTP/1.1 201"));
    let second = || sandbox.ask("GET", &format!("{POLICIES}/q"), "");
    until("the new leader works", Duration::from_secs(5), || second().contains("\"Ready\""));
}

#[test]
fn terminate_ends_it_within_seconds_and_gives_the_lease_back() {
    let sandbox = Running::start(&["sandbox", "--empty"]);
    let mut operator = Running::operator(&sandbox);
    until("it leads", Duration::from_secs(20), || operator.leads());
    operator.signal("-TERM");
    let began = Instant::now();
    assert_eq!(operator.child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(sandbox.ask("GET", LEASE, "").contains("\"holderIdentity\":\"\""));
}

#[test]
fn a_kubeconfig_that_is_not_there_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["operator", "--kubeconfig", "nowhere.kubeconfig"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("nowhere.kubeconfig"), "{said}");
}

/// Configurations hold secrets.
#[test]
fn an_operator_that_would_send_secrets_in_the_clear_does_not_start() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        let output = command.arg("operator").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--manage-pools", "--node-config", "0.0.0.0:0"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("would be sent in the clear on 0.0.0.0:0\n  hint: name the files"),
        "{said}"
    );
    let missing = ["--node-config-cert", "no.crt", "--node-config-key", "no.key"];
    let (code, said) =
        run(&[&["--manage-pools", "--node-config", "127.0.0.1:0"], &missing[..]].concat());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no.crt cannot be used"), "{said}");
    let (code, said) = run(&["--node-config", "127.0.0.1:0"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--manage-pools"), "{said}");
}
