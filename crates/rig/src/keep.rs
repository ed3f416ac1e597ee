//! How does a program started by a test never outlive it?
//!
//! Each program runs under a small shell script that holds the reading end of a pipe. The writing end lives in the test: when the
//! test drops it, panics, or is killed, the pipe ends and the script ends the program. No signal, no process group and no
//! operating-system extension is needed, so it works wherever a shell does.

use std::{
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
};

const SCRIPT: &str = include_str!("keep.sh");

/// A running program, ended on drop.
#[derive(Debug)]
pub(crate) struct Kept {
    name: &'static str,
    keeper: Child,
    pipe: Option<ChildStdin>,
    log: PathBuf,
}

impl Kept {
    /// Starts `program` with its output in `<logs>/<name>.log`.
    pub(crate) fn start(
        name: &'static str,
        program: &Path,
        arguments: &[String],
        logs: &Path,
    ) -> io::Result<Kept> {
        let log = logs.join(format!("{name}.log"));
        let output = File::create(&log)?;
        let mut keeper = Command::new("sh")
            .args(["-c", SCRIPT, "keep"])
            .arg(program)
            .args(arguments)
            .current_dir(logs)
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            // A group of its own: Ctrl-C in a terminal reaches the test, and the pipe does the rest in order.
            .process_group(0)
            .spawn()?;
        let pipe = keeper.stdin.take();
        Ok(Kept { name, keeper, pipe, log })
    }

    /// What the program is called in messages.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The exit status, if the program has ended by itself.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.keeper.try_wait()
    }

    /// The last lines of the program's output.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }
}

impl Drop for Kept {
    /// Ends the program and waits for it; the keeper sees to it within a few seconds.
    fn drop(&mut self) {
        drop(self.pipe.take());
        // A keeper that is gone already has nothing left to wait for.
        let _ = self.keeper.wait();
    }
}

#[cfg(test)]
mod tests;
