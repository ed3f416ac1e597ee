//! A sandbox that runs as a person would run it, for as long as a test needs it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

/// A running sandbox, ended when dropped.
pub(crate) struct Sandbox {
    child: Child,
    pub(crate) address: String,
    /// What every path begins with.
    pub(crate) token: String,
    pub(crate) kubeconfig: PathBuf,
}

impl Sandbox {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(env!("CARGO_TARGET_TMPDIR"), arguments).0
    }

    /// With a folder for what belongs to the session; and what it tells people.
    pub(crate) fn start_in(session: &str, arguments: &[&str]) -> (Self, Vec<String>) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .arg("sandbox")
            .args(arguments)
            .env("XDG_RUNTIME_DIR", session)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let rest =
            line.trim_end().strip_prefix("ready: http://").unwrap_or_else(|| panic!("{line:?}"));
        let (address, kubeconfig) = rest.split_once(" kubeconfig=").unwrap();
        let text = std::fs::read_to_string(kubeconfig).unwrap();
        let (_, rest) = text.split_once(&format!("server: http://{address}/")).unwrap();
        let token = rest.lines().next().unwrap().to_owned();
        // Up to the line that says how to end it.
        let hints = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut lines = Vec::new();
        for line in hints {
            let last = line.trim_start().starts_with("end:");
            lines.push(line);
            if last {
                break;
            }
        }
        let (address, kubeconfig) = (address.to_owned(), kubeconfig.into());
        (Self { child, address, token, kubeconfig }, lines)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let request = format!("{method} /{}{path}", self.token);
        send(&self.address, &request, "Host: localhost\r\nContent-Type: application/json\r\n", body)
    }

    /// The answer to a request that succeeds.
    pub(crate) fn object(&self, method: &str, path: &str, body: &Value) -> Value {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.ask(method, path, &text);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{method} {path}: {answer}");
        serde_json::from_str(body).unwrap()
    }

    /// Runs a verb on this cluster.
    pub(crate) fn verb(&self, arguments: &[&str]) -> Output {
        let kubeconfig = self.kubeconfig.to_str().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command.args(arguments).args(["--kubeconfig", kubeconfig]).output().unwrap()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(mut self) -> (i32, PathBuf) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        (self.child.wait().unwrap().code().unwrap(), self.kubeconfig.clone())
    }
}

/// Sends a request with these headers, and reads the whole answer.
pub(crate) fn send(address: &str, request: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{request} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // One that is killed leaves it behind.
        let _ = std::fs::remove_file(&self.kubeconfig);
    }
}
