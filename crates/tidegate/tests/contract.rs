//! What scripts rely on: the JSON of each verb, the exit codes, the completion scripts, the manual.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/run.rs"]
mod run;

use std::{
    fs,
    io::Read as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use run::tidegate;
use serde_json::{Value, json};

fn json_of(args: &[&str]) -> Value {
    let run = tidegate(args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// `kubectl tidegate` runs whatever is called `kubectl-tidegate`.
#[test]
fn a_link_makes_every_verb_one_of_kubectl() {
    let link = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kubectl-tidegate");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tidegate"), &link).unwrap();
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/weekend.yaml");
    let arguments = ["next", "-f", policy, "--at", "2026-11-15T12:00:00Z"];
    let by_link = Command::new(&link).args(arguments).output().unwrap();
    let by_name = Command::new(env!("CARGO_BIN_EXE_tidegate")).args(arguments).output().unwrap();
    assert!(by_name.status.success());
    assert_eq!(by_link, by_name);
}

/// TIME-1
#[test]
fn next_lists_windows_that_meet_the_range_with_their_true_edges() {
    let found = json_of(&[
        "next",
        "-f",
        "examples/weekend.yaml",
        "--from=2026-11-15T12:00:00Z",
        "--until=2026-11-21T00:00:01Z",
        "-o",
        "json",
    ]);
    let windows = json!([
        {"start": "2026-11-14T00:00:00Z", "end": "2026-11-16T00:00:00Z"},
        {"start": "2026-11-21T00:00:00Z", "end": "2026-11-23T00:00:00Z"},
    ]);
    assert_eq!(found["items"][0]["kind"], "ChangeManagementPolicy");
    assert_eq!(found["items"][0]["name"], "weekend");
    assert_eq!(found["items"][0]["windows"], windows);
    assert_eq!(found["items"][0].get("namespace"), None);
    // Half-open at both ends: a window that ends where the range begins, or begins where it ends, does not meet it.
    let found = json_of(&[
        "next",
        "-f",
        "examples/weekend.yaml",
        "--from=2026-11-16T00:00:00Z",
        "--until=2026-11-21T00:00:00Z",
        "-o",
        "json",
    ]);
    assert_eq!(found["items"][0]["windows"], json!([]));
}

#[test]
fn next_says_null_where_there_is_no_edge() {
    let found = json_of(&[
        "next",
        "-f",
        "examples/freeze.yaml",
        "--at=2026-11-15",
        "--for=1d",
        "-o",
        "json",
    ]);
    assert_eq!(
        found["items"][0]["windows"],
        json!([{"start": null, "end": "2026-11-23T05:00:00Z"}])
    );
    let run = tidegate(
        &["next", "-f", "-", "--at=2026-11-15", "-o", "json"],
        policy("Permissive").as_bytes(),
    );
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["items"][0]["windows"], json!([{"start": null, "end": null}]));
    let run = tidegate(
        &["next", "-f", "-", "--at=2026-11-15", "-o", "json"],
        policy("Restrictive").as_bytes(),
    );
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["items"][0]["windows"], json!([]));
}

#[test]
fn hosted_policies_carry_their_namespace() {
    let found = json_of(&["next", "-f", "examples/hosted.yaml", "--at=2026-11-15", "-o", "json"]);
    assert_eq!(found["items"][0]["kind"], "HostedChangeManagementPolicy");
    assert_eq!(found["items"][0]["namespace"], "clusters");
}

/// POL-3
#[test]
fn explain_has_next_exactly_when_current_ends() {
    let items = json_of(&["explain", "-f", "examples", "--at=2026-12-24T12:00:00Z", "-o", "json"]);
    let items = items["items"].as_array().unwrap().clone();
    assert_eq!(items.len(), 6);
    for item in &items {
        let behavior = &item["behavior"];
        let current = &behavior["current"];
        for field in ["state", "startTime", "endTime", "reason"] {
            assert!(current.get(field).is_some(), "{item}");
        }
        match behavior.get("next") {
            Some(next) => {
                assert_eq!(current["endTime"], next["startTime"], "{item}");
                assert_ne!(current["state"], next["state"], "{item}");
            }
            None => assert_eq!(current["endTime"], Value::Null, "{item}"),
        }
    }
    let weekend = items.iter().find(|item| item["name"] == "weekend").unwrap();
    assert_eq!(
        weekend["behavior"]["current"],
        json!({
            "state": "ChangesPaused", "startTime": "2026-12-14T00:00:00Z", "endTime": "2027-01-09T00:00:00Z",
            "reason": "the days from 2026-12-19 until before 2027-01-04 are excluded: year-end freeze",
        })
    );
}

#[test]
fn exit_codes_answer() {
    let check = |args: &[&str], code: i32| assert_eq!(tidegate(args, b"").code, code, "{args:?}");
    check(&["explain", "-q", "-f", "examples/weekend.yaml", "--at=2026-11-15"], 0);
    check(&["explain", "-q", "-f", "examples/weekend.yaml", "--at=2026-11-16"], 1);
    check(&["explain", "-q", "-f", "examples/nothing.yaml", "--at=2026-11-16"], 2);
    check(&["explain", "-f", "examples/weekend.yaml", "--at=2026-11-16"], 0);
    check(&["validate", "examples"], 0);
    check(&["validate", "examples/nothing.yaml"], 1);
    check(&["validate"], 2);
    check(&["next", "--frm=2026-11-16"], 2);
    check(&[], 2);
    check(&["--help"], 0);
    check(&["--version"], 0);
}

#[test]
fn yaml_and_json_say_the_same() {
    for verb in ["next", "explain", "calendar"] {
        let yaml = tidegate(
            &[verb, "-f", "examples", "--at=2026-11-15", "--color=never", "-o", "yaml"],
            b"",
        );
        assert_eq!(yaml.code, 0);
        // JSON is YAML, and our reader of one is the reader of the other: what it makes of both must be equal.
        assert!(yaml.stdout.starts_with("items:\n"), "{}", yaml.stdout);
        let json = json_of(&[verb, "-f", "examples", "--at=2026-11-15", "-o", "json"]);
        let scalars = |value: &Value| count(value);
        let lines = yaml.stdout.lines().filter(|line| !line.trim_end().ends_with(':')).count();
        assert_eq!(lines, scalars(&json), "{verb}");
    }
}

/// How many lines of YAML a value takes below its fields: one for each scalar and each empty list.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(count).sum(),
        Value::Object(fields) if !fields.is_empty() => fields.values().map(count).sum(),
        _ => 1,
    }
}

#[test]
fn a_feed_has_the_form_of_rfc_5545() {
    let run = tidegate(&["calendar", "-f", "examples", "--at=2026-11-15", "-o", "ics"], b"");
    assert_eq!(run.code, 0);
    assert!(run.stdout.ends_with("END:VCALENDAR\r\n"));
    let lines: Vec<&str> = run.stdout.split_terminator("\r\n").collect();
    assert!(lines.iter().all(|line| line.len() <= 75 && !line.contains('\n')));
    let with = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    let events = with("BEGIN:VEVENT");
    assert!(events > 100, "{events}");
    for field in ["END:VEVENT", "UID:", "DTSTAMP:", "DTSTART", "DTEND", "SUMMARY:"] {
        assert_eq!(with(field), events, "{field}");
    }
    let mut ids: Vec<String> = run
        .stdout
        .replace("\r\n ", "")
        .lines()
        .filter(|line| line.starts_with("UID:"))
        .map(str::to_owned)
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), events, "every event has an identity of its own");
    // The same event an hour later has the same identity.
    let later =
        tidegate(&["calendar", "-f", "examples", "--at=2026-11-15T01:00:00Z", "-o", "ics"], b"");
    let later = later.stdout.replace("\r\n ", "");
    assert!(ids.iter().filter(|id| later.contains(id.as_str())).count() + 2 > events);
}

#[test]
fn completion_knows_every_verb() {
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef tidegate"), ("fish", "complete -c tidegate")]
    {
        let run = tidegate(&["completion", shell], b"");
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains(sign), "{shell}: {}", run.stdout);
        for verb in ["calendar", "next", "explain", "validate", "diff", "convert"] {
            assert!(run.stdout.contains(verb), "{shell} {verb}");
        }
    }
    assert_eq!(tidegate(&["completion", "tcsh"], b"").code, 2);
}

#[test]
fn the_manual_has_a_page_for_every_listed_verb() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man");
    let run = tidegate(&["man", folder.to_str().unwrap()], b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    for page in
        ["tidegate", "tidegate-calendar", "tidegate-next", "tidegate-explain", "tidegate-validate"]
    {
        let text = fs::read_to_string(folder.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".SH NAME") && text.contains("Examples:"), "{page}: {text}");
    }
    assert!(!folder.join("tidegate-man.1").exists());
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["next", "-f", "-", "--from=2026-01-01", "--for=90y", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let schedule = "MaintenanceSchedule\n  maintenanceSchedule:\n    permit:\n      duration: 1h";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), policy(schedule).as_bytes())
        .unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
}

fn policy(strategy: &str) -> String {
    format!(
        "apiVersion: changemanagement.openshift.io/v1alpha1\nkind: ChangeManagementPolicy\n\
         metadata:\n  name: p\nspec:\n  strategy: {strategy}\n"
    )
}
