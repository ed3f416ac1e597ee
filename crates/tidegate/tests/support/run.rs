//! Runs the command as a person does, from the root of the repository.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Run {
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// The exit code.
    pub(crate) code: i32,
}

/// Runs `tidegate` with arguments and standard input, without any of the caller's environment.
pub(crate) fn tidegate(args: &[&str], stdin: &[u8]) -> Run {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(args)
        .current_dir(root)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built with the tests");
    // A command that needs no input may be gone before it is written.
    let _ = child.stdin.take().expect("standard input is piped").write_all(stdin);
    let output = child.wait_with_output().expect("the command ends");
    Run {
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("talk is UTF-8"),
        code: output.status.code().expect("the command ends by itself"),
    }
}
