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
    address: String,
    pub(crate) kubeconfig: PathBuf,
}

impl Sandbox {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .arg("sandbox")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let rest =
            line.trim_end().strip_prefix("ready: http://").unwrap_or_else(|| panic!("{line:?}"));
        let (address, kubeconfig) = rest.split_once(" kubeconfig=").unwrap();
        Self { child, address: address.to_owned(), kubeconfig: kubeconfig.into() }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
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

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // One that is killed leaves it behind.
        let _ = std::fs::remove_file(&self.kubeconfig);
    }
}
