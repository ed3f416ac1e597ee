//! How long may a program of the host run, and what becomes of one that does not end? (NODE-3)
//!
//! It runs in a process group of its own. When its time is over the whole group is killed; what it had begun is taken up again or turned
//! round by the journal, as after a loss of power.

use std::{
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often whoever waits does something else.
const EACH: Duration = Duration::from_secs(1);

/// How long a killed program gets to be gone. One that the kernel does not let go is not waited for.
const GONE: Duration = Duration::from_secs(5);

/// What a program printed and how it ended; none if it was killed when its time was over. Whoever waits is called with the time that has
/// passed.
pub(super) fn run(
    command: &mut Command,
    input: Vec<u8>,
    most: Duration,
    mut meanwhile: impl FnMut(Duration),
) -> io::Result<Option<Output>> {
    let began = Instant::now();
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = pipes.process_group(0).spawn()?;
    let group = Pid::from_raw(child.id() as i32);
    let (tell, told) = mpsc::channel();
    let waiting = thread::Builder::new().name("program".into()).spawn(move || {
        // Nobody listens any more to a program that was killed and took long to go.
        let _ = tell.send(finish(child, &input));
    });
    if let Err(error) = waiting {
        kill(group);
        return Err(error);
    }
    loop {
        let left = most.saturating_sub(began.elapsed());
        match told.recv_timeout(left.min(EACH)) {
            Ok(ended) => return ended.map(Some),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        let passed = began.elapsed();
        if passed >= most {
            kill(group);
            let _ = told.recv_timeout(GONE);
            return Ok(None);
        }
        meanwhile(passed);
    }
}

fn finish(mut child: Child, input: &[u8]) -> io::Result<Output> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input) {
            // A program that ends without reading says why by itself.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    child.wait_with_output()
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        // One that has ended by itself cannot be killed, and need not be.
        let _ = kill_process_group(group, Signal::KILL);
    }
}
