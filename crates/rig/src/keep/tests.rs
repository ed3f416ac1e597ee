use std::time::{Duration, Instant};

use super::*;

/// Starts a script whose first line of output is its own id.
fn speaking(script: &str, logs: &Path) -> (Kept, String) {
    let arguments = ["-c".to_owned(), script.to_owned()];
    let kept = Kept::start("speaker", Path::new("/bin/sh"), &arguments, logs).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let id = kept.last_lines(1);
        if !id.is_empty() {
            return (kept, id);
        }
        assert!(Instant::now() < deadline, "the program never spoke");
        std::thread::yield_now();
    }
}

fn lives(id: &str) -> bool {
    Command::new("sh").args(["-c", "kill -0 \"$0\" 2>/dev/null", id]).status().unwrap().success()
}

#[test]
fn dropping_ends_the_program() {
    let logs = tempfile::tempdir().unwrap();
    let (kept, id) = speaking("echo $$; exec sleep 3600", logs.path());
    assert!(lives(&id));
    drop(kept);
    assert!(!lives(&id));
}

#[test]
fn a_panic_ends_the_program() {
    let logs = tempfile::tempdir().unwrap();
    let (kept, id) = speaking("echo $$; exec sleep 3600", logs.path());
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _kept = kept;
        panic!("on purpose");
    }));
    assert!(outcome.is_err());
    assert!(!lives(&id));
}

#[test]
fn a_program_that_ends_by_itself_is_noticed_with_its_status() {
    let logs = tempfile::tempdir().unwrap();
    let script = ["-c".to_owned(), "echo one; echo two; echo three; exit 7".to_owned()];
    let mut kept = Kept::start("brief", Path::new("/bin/sh"), &script, logs.path()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let status = loop {
        if let Some(status) = kept.ended().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "the program never ended");
        std::thread::yield_now();
    };
    assert_eq!(status.code(), Some(7));
    assert_eq!(kept.last_lines(2), "two\nthree");
}

#[test]
fn a_program_that_ignores_the_request_is_killed() {
    let logs = tempfile::tempdir().unwrap();
    let (kept, id) = speaking("trap '' TERM; echo $$; while :; do sleep 1; done", logs.path());
    drop(kept);
    assert!(!lives(&id));
}
