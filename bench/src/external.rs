//! How fast are engines in other languages? Child processes that read our files and print what they measured.
//!
//! Each prints rows `workload, peer, rule, nanoseconds in all, queries, checksum` and `version, name and number`; a program that cannot run here
//! becomes a visible SKIPPED row that says how to get it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::clock::Effort;

/// What one child measured.
#[derive(Clone, Debug)]
pub struct Measured {
    pub workload: String,
    pub peer: String,
    pub rule: String,
    pub ns: f64,
    pub queries: usize,
    pub checksum: i64,
}

/// A child that ran, or did not.
pub struct Outcome {
    pub peers: &'static [&'static str],
    /// Which workloads it knows.
    pub workloads: &'static [&'static str],
    pub result: Result<Printed, String>,
}

/// Everything one child printed: what it measured, and the versions it measured with.
#[derive(Default)]
pub struct Printed {
    pub measured: Vec<Measured>,
    pub versions: Vec<String>,
}

impl Outcome {
    pub fn versions(&self) -> Vec<String> {
        self.result.as_ref().map(|printed| printed.versions.clone()).unwrap_or_default()
    }
}

struct Program {
    peers: &'static [&'static str],
    workloads: &'static [&'static str],
    command: fn(&Path) -> Command,
    install: &'static str,
}

pub const DATEUTIL_AS_IS: &str = "python-dateutil, as-is";
pub const DATEUTIL_ALIGNED: &str = "python-dateutil, aligned";
pub const RRULE_TEMPORAL: &str = "npm rrule-temporal";
pub const NPM_RRULE: &str = "npm rrule";
pub const RRULE_GO_AS_IS: &str = "rrule-go, as-is";
pub const RRULE_GO_ALIGNED: &str = "rrule-go, aligned";
pub const ROBFIG: &str = "robfig/cron";
pub const LIBICAL: &str = "libical, set_start";

const PROGRAMS: [Program; 4] = [
    Program {
        peers: &[DATEUTIL_ALIGNED, DATEUTIL_AS_IS],
        workloads: &["W1", "W2", "W2x10", "W3", "W4"],
        command: |external| {
            let mut command = Command::new("python3");
            command.arg(external.join("dateutil_peer.py"));
            command
        },
        install: "python3 with `pip install -r bench/external/requirements.txt`",
    },
    Program {
        peers: &[RRULE_TEMPORAL, NPM_RRULE],
        workloads: &["W1"],
        command: |external| {
            let mut command = Command::new("node");
            command.arg(external.join("node/peer.mjs"));
            command
        },
        install: "Node 20 and `npm ci --prefix bench/external/node`",
    },
    Program {
        peers: &[ROBFIG, RRULE_GO_ALIGNED, RRULE_GO_AS_IS],
        workloads: &["W1"],
        command: |external| Command::new(external.join("go/peer")),
        install: "Go and `cd bench/external/go && go build -o peer .`",
    },
    Program {
        peers: &[LIBICAL],
        workloads: &["W1"],
        command: |external| Command::new(external.join("libical/peer")),
        install: "libical-dev and `cc -O2 -o bench/external/libical/peer bench/external/libical/peer.c -lical`",
    },
];

/// Runs every program that can run, one after the other.
pub fn run(files: &Path, effort: Effort) -> Vec<Outcome> {
    let external = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("external");
    PROGRAMS
        .iter()
        .map(|program| Outcome {
            peers: program.peers,
            workloads: program.workloads,
            result: program.run(&external, files, effort),
        })
        .collect()
}

impl Program {
    fn run(&self, external: &Path, files: &Path, effort: Effort) -> Result<Printed, String> {
        let budget = match effort {
            Effort::Quick => "quick",
            Effort::Full => "full",
        };
        let output = (self.command)(external)
            .arg(files)
            .arg(budget)
            .output()
            .map_err(|_| self.install.to_owned())?;
        if !output.status.success() {
            let talk = String::from_utf8_lossy(&output.stderr);
            let last = talk.lines().last().unwrap_or("no message").replace('|', "/");
            return Err(format!("{} ({last})", self.install));
        }
        let mut printed = Printed::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match line.strip_prefix("version\t") {
                Some(version) => printed.versions.push(version.to_owned()),
                None => printed.measured.push(
                    measured(line).ok_or_else(|| format!("printed an unreadable row: {line}"))?,
                ),
            }
        }
        Ok(printed)
    }
}

fn measured(line: &str) -> Option<Measured> {
    let columns: Vec<_> = line.split('\t').collect();
    let [workload, peer, rule, ns, queries, checksum] = columns.as_slice() else { return None };
    Some(Measured {
        workload: (*workload).to_owned(),
        peer: (*peer).to_owned(),
        rule: (*rule).to_owned(),
        ns: ns.parse().ok()?,
        queries: queries.parse().ok()?,
        checksum: checksum.parse().ok()?,
    })
}
