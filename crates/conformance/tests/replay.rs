//! Does the same seed give the same trace in two processes, with every fault on? (DET-1)

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::{io::Write as _, process::Command};

use conformance::simulation::storm;

/// These two are tests of their own, and what the comparison below runs in processes of their own.
#[test]
fn storm_of_seed_seven_leaves_its_trace() {
    weather(7);
}

#[test]
fn storm_of_seed_eight_leaves_its_trace() {
    weather(8);
}

#[test]
fn same_seed_leaves_the_same_trace_in_another_process() {
    let seven = trace_of_process("storm_of_seed_seven_leaves_its_trace");
    assert_eq!(seven, trace_of_process("storm_of_seed_seven_leaves_its_trace"));
    assert_ne!(seven, trace_of_process("storm_of_seed_eight_leaves_its_trace"));
}

const MARK: &str = "trace of seed ";

/// Runs a storm, sees that it was one, and tells its hash past the harness, which would keep it back.
fn weather(seed: u64) {
    let left = storm(seed).unwrap();
    assert!(left.commits > 200, "hardly anything was written: {}", left.commits);
    assert!(
        left.tail.iter().any(|line| line.starts_with('!')),
        "no fault struck: {:#?}",
        left.tail
    );
    let mut output = std::io::stdout();
    writeln!(output, "{MARK}{seed}: {:016x} after {} commits", left.trace, left.commits).unwrap();
}

/// Runs one test of this very program in a process of its own.
fn trace_of_process(test: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--exact", test]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    let line = told.lines().find_map(|line| line.split_once(MARK)).unwrap().1;
    line.split_once(": ").unwrap().1.to_owned()
}
