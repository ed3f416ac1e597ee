//! The whole output of every verb, with a fixed now. `UPDATE_EXPECT=1 cargo test -p tidegate --test golden` writes the files anew.

#[path = "support/run.rs"]
mod run;

use run::{Run, tidegate};

/// What a person types and what they see, as one text.
fn transcript(args: &[&str], run: &Run) -> String {
    let mut text = format!("$ tidegate {}\n", args.join(" "));
    text.push_str(&run.stdout);
    if !run.stderr.is_empty() {
        text.push_str("--- standard error\n");
        text.push_str(&run.stderr);
    }
    text + &format!("--- exit code {}\n", run.code)
}

fn check(name: &str, args: &[&str]) {
    let run = tidegate(args, b"");
    let path = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    // A feed ends its lines as RFC 5545 demands; its own test looks at that.
    let found = transcript(args, &run).replace("\r\n", "\n");
    expect_test::expect_file![path].assert_eq(&found);
}

const NOW: &str = "--at=2026-11-15T12:00:00Z";

#[test]
fn help() {
    check("help", &["--help"]);
    for verb in [
        "calendar",
        "next",
        "explain",
        "status",
        "simulate",
        "override",
        "freeze",
        "thaw",
        "hold",
        "skip-next",
        "gate",
        "audit",
        "history",
        "doctor",
        "report",
        "init",
        "validate",
        "diff",
        "convert",
        "import",
        "operator",
        "worker-nodes",
        "node",
        "prune",
        "sandbox",
        "completion",
        "man",
    ] {
        check(&format!("help-{verb}"), &[verb, "--help"]);
    }
}

#[test]
fn calendar() {
    check("calendar", &["calendar", "-f", "examples/weekend.yaml", NOW]);
    check("calendar-color", &["calendar", "-f", "examples/weekend.yaml", NOW, "--color=always"]);
    check("calendar-folder", &["calendar", "-f", "examples", NOW, "--for=1d"]);
    check(
        "calendar-wide",
        &[
            "calendar",
            "-f",
            "examples/berlin-nights.yaml",
            "--at=2026-12-24",
            "--for=1d",
            "-o",
            "wide",
        ],
    );
    check(
        "calendar-clock-change",
        &["calendar", "examples/berlin-nights.yaml", NOW, "--from=2027-03-01", "--for=31d"],
    );
    check(
        "calendar-json",
        &["calendar", "-f", "examples/monthly-first-saturday.yaml", NOW, "--for=1d", "-o", "json"],
    );
    check(
        "calendar-ics",
        &["calendar", "-f", "examples/weekend.yaml", NOW, "--for=60d", "-o", "ics"],
    );
    check("calendar-svg", &["calendar", "-f", "examples/weekend.yaml", NOW, "-o", "svg"]);
}

#[test]
fn next() {
    check("next", &["next", "-f", "examples", NOW]);
    check(
        "next-wide",
        &["next", "-f", "examples/berlin-nights.yaml", NOW, "--for=1w", "-o", "wide"],
    );
    check("next-json", &["next", "-f", "examples", NOW, "-o", "json"]);
    check("next-yaml", &["next", "-f", "examples/freeze.yaml", NOW, "-o", "yaml"]);
    check(
        "next-from-until",
        &["next", "examples/weekend.yaml", NOW, "--from=2026-12-01", "--until=2027-02-01"],
    );
}

#[test]
fn explain() {
    check("explain", &["explain", "-f", "examples", NOW]);
    check("explain-color", &["explain", "-f", "examples/freeze.yaml", NOW, "--color=always"]);
    check(
        "explain-excluded",
        &["explain", "-f", "examples/weekend.yaml", "--at=2026-12-24T12:00:00Z", "-o", "wide"],
    );
    check(
        "explain-json",
        &["explain", "-f", "examples/weekend.yaml", "--at=2026-12-24T12:00:00Z", "-o", "json"],
    );
    check("explain-yaml", &["explain", "-f", "examples/hosted.yaml", NOW, "-o", "yaml"]);
    check("explain-quiet", &["explain", "-q", "-f", "examples/weekend.yaml", "--at=2026-12-24"]);
}

#[test]
fn validate() {
    check("validate", &["validate", "examples", NOW]);
    let guarded =
        ["validate", "examples/weekend.yaml", "examples/monthly-first-saturday.yaml", NOW];
    let by = ["--guardrails=examples/guardrail-gke.yaml", "-o", "json"];
    check("validate-guardrails", &[&guarded[..], &by[..]].concat());
    check("validate-wide", &["validate", "-f", "examples", "-o", "wide", NOW]);
    check("validate-bad", &["validate", "crates/tidegate/tests/inputs/many-faults.yaml"]);
    check(
        "validate-bad-json",
        &["validate", "crates/tidegate/tests/inputs/many-faults.yaml", "-o", "json"],
    );
    check("validate-never-fires", &["validate", "crates/tidegate/tests/inputs/never-fires.yaml"]);
    check(
        "validate-strict",
        &["validate", "--strict", "crates/tidegate/tests/inputs/never-fires.yaml"],
    );
    check(
        "validate-several",
        &["validate", "crates/tidegate/tests/inputs/several.yaml", "-o", "wide"],
    );
    check("next-of-several", &["next", "crates/tidegate/tests/inputs/several.yaml", NOW]);
    let resources = "crates/tidegate/tests/inputs/resources.yaml";
    check("validate-resources", &["validate", resources, "-o", "wide"]);
    check("next-of-resources", &["next", resources, NOW]);
}

#[test]
fn diff() {
    let (old, new) =
        ("crates/tidegate/tests/inputs/old.yaml", "crates/tidegate/tests/inputs/new.yaml");
    check("diff", &["diff", old, new, "--for=1y", NOW]);
    check("diff-wide", &["diff", old, new, "--for=2mo", NOW, "-o", "wide"]);
    check("diff-json", &["diff", old, new, "--for=1mo", NOW, "-o", "json"]);
    let shorter =
        ["diff", "examples/weekend.yaml", "examples/monthly-first-saturday.yaml", "--for=1mo", NOW];
    check(
        "diff-guardrails",
        &[&shorter[..], &["--guardrails=examples/guardrail-gke.yaml"][..]].concat(),
    );
    check("diff-same", &["diff", "--exit-code", old, old, NOW]);
    check(
        "diff-exit-code",
        &["diff", "--exit-code", "examples", "examples/weekend.yaml", "--for=1w", NOW],
    );
}

#[test]
fn import() {
    let calendar = "crates/tidegate/tests/inputs/holidays.ics";
    let berlin = "--time-zone=Europe/Berlin";
    check("import-exclusions", &["import", calendar, berlin]);
    let range = ["--from=2027-01-01", "--until=2028-01-01"];
    check("import-freezes", &["import", calendar, berlin, "--as=freezes", range[0], range[1]]);
    check("import-nothing", &["import", "crates/tidegate/tests/inputs/many-faults.yaml"]);
    check("import-missing", &["import", "crates/tidegate/tests/inputs/nowhere.ics"]);
}

/// Every form of exclusion, as each verb shows it.
#[test]
fn exclusions() {
    let file = "crates/tidegate/tests/inputs/exclusions.yaml";
    check("exclusions-explain", &["explain", "-f", file, "--at=2026-11-18T09:00:00Z"]);
    check("exclusions-calendar", &["calendar", "-f", file, NOW]);
    check("exclusions-next", &["next", "-f", file, NOW]);
    check("exclusions-validate", &["validate", file]);
}

#[test]
fn convert() {
    check(
        "convert-to-policy",
        &["convert", "FREQ=WEEKLY;BYDAY=SA,SU", "--start-time=20:00", "--duration=8h"],
    );
    check(
        "convert-to-policy-zone",
        &[
            "convert",
            "DTSTART;TZID=Europe/Berlin:20260103T200000\nRRULE:FREQ=MONTHLY;BYDAY=1SA",
            "--name=patch-night",
            "-o=json",
        ],
    );
    check("convert-refused", &["convert", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3"]);
    check("convert-sub-daily", &["convert", "FREQ=HOURLY;INTERVAL=2"]);
    check("convert-broken", &["convert", "FREQ=WEEKLY;BYDAY=SX"]);
    check("convert-to-rule", &["convert", "-f", "examples/berlin-nights.yaml"]);
    check("convert-to-rules", &["convert", "-f", "examples"]);
    check("convert-to-rules-json", &["convert", "-f", "examples", "-o", "json"]);
}

#[test]
fn usage() {
    check("usage-nothing-named", &["next"]);
    check("usage-no-verb", &["nxt"]);
    check("usage-bad-time", &["next", "-f", "examples", "--at=2025-02-30"]);
    check("usage-bad-length", &["next", "-f", "examples", "--for=soon"]);
    check(
        "usage-empty-range",
        &["next", "-f", "examples", "--from=2026-12-01", "--until=2026-12-01"],
    );
    check("usage-long-range", &["next", "-f", "examples", "--from=2026-12-01", "--for=200y"]);
    check("usage-no-file", &["explain", "-f", "examples/nothing.yaml", NOW]);
}

const MONDAY: &str = "--at=2026-11-16T12:00:00Z";

#[test]
fn status() {
    let cluster = "crates/tidegate/tests/inputs/cluster.yaml";
    check("status", &["status", "-f", cluster, MONDAY]);
    check("status-color", &["status", "-f", cluster, MONDAY, "--color=always"]);
    check("status-wide", &["status", "-f", cluster, MONDAY, "-o", "wide"]);
    check("status-json", &["status", "-f", cluster, MONDAY, "-o", "json"]);
    check(
        "status-nothing",
        &["status", "-f", "crates/tidegate/tests/inputs/unrelated.yaml", MONDAY],
    );
}

#[test]
fn explain_of_a_resource() {
    let cluster = "crates/tidegate/tests/inputs/cluster.yaml";
    check(
        "explain-resource",
        &["explain", "mcp/worker", "cv/version", "mcp/infra", "mcp/gpu", "-f", cluster, MONDAY],
    );
    check(
        "explain-resource-json",
        &["explain", "clusterversion/version", "-f", cluster, MONDAY, "-o", "json"],
    );
    check("explain-resource-quiet", &["explain", "-q", "cv/version", "-f", cluster, MONDAY]);
    check("explain-resource-missing", &["explain", "mcp/master", "-f", cluster, MONDAY]);
    check("explain-resource-namespace", &["explain", "np/pool-1", "-f", cluster, MONDAY]);
}

#[test]
fn simulate() {
    let cluster = "docs/examples/cluster";
    check("simulate", &["simulate", "-f", cluster, MONDAY]);
    check("simulate-color", &["simulate", "-f", cluster, MONDAY, "--for=60d", "--color=always"]);
    check("simulate-wide", &["simulate", "-f", cluster, MONDAY, "-o", "wide", "--change=master"]);
    check("simulate-json", &["simulate", "-f", cluster, MONDAY, "-o", "json", "--for=60d"]);
    check("simulate-yaml", &["simulate", "-f", cluster, MONDAY, "-o", "yaml", "--for=3d"]);
    check("simulate-svg", &["simulate", "-f", cluster, MONDAY, "-o", "svg"]);
    check(
        "simulate-never",
        &["simulate", "-f", cluster, MONDAY, "--change-every=2w", "--exit-code", "--for=1y"],
    );
    // Policies and pools from a repository, with nodes that are made up.
    let written = "crates/tidegate/tests/inputs/cluster.yaml";
    check(
        "simulate-made-up",
        &[
            "simulate",
            "-f",
            written,
            MONDAY,
            "--nodes=worker=6,infra=2",
            "--change=infra",
            "--for=30d",
        ],
    );
    check("simulate-nothing", &["simulate", "-f", "examples/weekend.yaml", MONDAY]);
    check("simulate-no-pool", &["simulate", "-f", cluster, MONDAY, "--change=worked"]);
    check("simulate-bad-nodes", &["simulate", "-f", cluster, MONDAY, "--nodes=worker:12"]);
    check("simulate-bad-length", &["simulate", "-f", cluster, MONDAY, "--drain=soon"]);
    check("simulate-too-many", &["simulate", "-f", cluster, MONDAY, "--change-every=1m"]);
    check(
        "simulate-too-large",
        &["simulate", "-f", cluster, MONDAY, "--change-every=1d", "--nodes=worker=5000"],
    );
}

/// CV-1, CV-3: updates of the control plane, and the pool that will be in their way.
#[test]
fn updates_of_the_control_plane() {
    let cluster = "crates/tidegate/tests/inputs/skew";
    let simulate = ["simulate", "-f", cluster, MONDAY];
    let with = |more: &[&'static str]| [simulate.as_slice(), more].concat();
    let path = ["--update=4.21@2027-03-01", "--update=4.22@2027-07-01", "--update=4.23@2027-10-01"];
    check("updates", &with(&["--update-every=120d", "--for=2y", "--exit-code"]));
    check("updates-json", &with(&[path.as_slice(), &["-o", "json"]].concat()));
    check("updates-fine", &with(&["--update=4.21@2027-03-01"]));
    check("updates-no-date", &with(&["--update=4.21"]));
    check("updates-unknown", &with(&["--update=six@2027-03-01"]));
    check("updates-bad-date", &with(&["--update=4.21@2027-02-30"]));
    check("updates-back", &with(&["--update=4.19@2027-03-01"]));
    check("updates-skips", &with(&["--update=4.22@2027-03-01"]));
    check("updates-past", &with(&["--update=4.21@2026-03-01"]));
    check("updates-zero", &with(&["--update-every=0d"]));
    check("updates-both", &with(&["--update-every=90d", "--update=4.21@2027-03-01"]));
    let validate = ["validate", cluster, MONDAY];
    let with = |more: &[&'static str]| [validate.as_slice(), more].concat();
    check("validate-skew", &with(&["--update-every=120d"]));
    check("validate-skew-none", &with(&["--update=4.21@2027-03-01", "--strict"]));
    check("validate-skew-json", &with(&[path.as_slice(), &["--strict", "-o", "json"]].concat()));
    check("validate-skew-nobody", &["validate", "examples", MONDAY, "--update-every=90d"]);
}

/// DET-1: two processes, the same bytes, in every format.
#[test]
fn simulation_gives_the_same_bytes_twice() {
    for format in ["wide", "json", "yaml", "svg"] {
        let output = format!("--output={format}");
        let args =
            ["simulate", "-f", "docs/examples/cluster", MONDAY, "--change-every=2w", &output];
        let [first, second] = [tidegate(&args, b""), tidegate(&args, b"")];
        assert!(first.stdout.len() > 10_000, "{format}: {}", first.stderr);
        assert_eq!(first.stdout, second.stdout, "{format}");
        let other = tidegate(&[args.as_slice(), &["--seed=2"]].concat(), b"");
        assert_ne!(first.stdout, other.stdout, "{format}: the seed decides");
    }
}

/// DET-1: one file that needs nothing else, the same bytes from two processes; files that cannot be read are told beside it.
#[test]
fn a_report_is_one_file() {
    let args =
        ["report", "-f", "docs/examples/cluster", MONDAY, "--tz=Europe/Berlin", "-o", "html"];
    let [first, second] = [tidegate(&args, b""), tidegate(&args, b"")];
    assert_eq!(first.stdout, second.stdout, "{}", first.stderr);
    for said in
        ["<!DOCTYPE html>", "times in Europe/Berlin", "nodes of worker", "Nothing is recorded"]
    {
        assert!(first.stdout.contains(said), "{said}");
    }
    for absent in ["<script", "<form", "href=\"/", "http:", "https:"] {
        assert!(!first.stdout.contains(absent), "{absent}");
    }
    let wrong = tidegate(&["report", "-f", "docs/examples/cluster", "--tz=Mars/Olympus"], b"");
    assert!(wrong.stderr.contains("--tz"), "{}", wrong.stderr);
    let gone = tidegate(&["report", "-f", "docs/examples/gone", MONDAY], b"");
    assert!(gone.stderr.contains("docs/examples/gone"), "{}", gone.stderr);
}

/// OVR-5: what a freeze reaches tells of it, and what is wrong with one is told with its place.
#[test]
fn freezes() {
    let file = "crates/tidegate/tests/inputs/frozen.yaml";
    let now = "--at=2026-11-21T12:00:00Z";
    check("frozen-explain", &["explain", "mcp/worker", "-f", file, now]);
    check("frozen-explain-hosted", &["explain", "hc/clusters/shop", "-f", file, now]);
    check("frozen-status", &["status", "-f", file, now]);
    check("frozen-validate", &["validate", "-f", "crates/tidegate/tests/inputs/bad-freezes.yaml"]);
}

/// OVR-2, GATE-15: what an override opens tells of it, in the order in which things count, and what is wrong with one is told with its place.
#[test]
fn overrides() {
    let file = "crates/tidegate/tests/inputs/overridden.yaml";
    let now = "--at=2026-11-18T11:00:00Z";
    check("overridden-explain", &["explain", "mcp/worker", "-f", file, now]);
    check("overridden-explain-only", &["explain", "mcp/infra", "-f", file, now]);
    let frozen = "--at=2026-11-18T12:00:00Z";
    check("overridden-explain-frozen", &["explain", "mcp/worker", "-f", file, frozen]);
    check("overridden-status", &["status", "-f", file, now]);
    let bad = "crates/tidegate/tests/inputs/bad-overrides.yaml";
    check("overridden-validate", &["validate", "-f", bad]);
}

const GATES: &str = "crates/tidegate/tests/inputs/audit-gates.yaml";

/// GATE-15: what started while something that selects it was shut, what a gate would have refused, and what nobody can tell.
#[test]
fn audit() {
    let log = "crates/tidegate/tests/inputs/audit.log";
    check("audit", &["audit", "-f", log, "--gates", GATES]);
    check("audit-wide", &["audit", "-f", log, "--gates", GATES, "-o", "wide"]);
    check("audit-json", &["audit", "-f", log, "--gates", GATES, "-o", "json"]);
    // Whoever hands over no gate is told that nothing was judged.
    check("audit-no-gate", &["audit", "-f", log, "--gates", "examples/weekend.yaml"]);
    check("audit-no-event", &["audit", "-f", "/dev/null", "--gates", GATES]);
    // A gate that only warns or notes refuses nothing.
    let lenient = "crates/tidegate/tests/inputs/lenient-gates.yaml";
    check("audit-lenient", &["audit", "-f", log, "--gates", lenient]);
    check("audit-lenient-json", &["audit", "-f", log, "--gates", lenient, "-o", "json"]);
    check("audit-no-log", &["audit", "-f", "nothing.log", "--gates", GATES]);
    check("audit-twice", &["audit", "-f", "-", "--gates", "-"]);
}

/// HIST-1: what is recorded, by object and by time, from an export and from records alike; and whether it is as it was written. The hashes of these
/// files were made by another program.
#[test]
fn history() {
    let inputs = "crates/tidegate/tests/inputs";
    let [export, records, forged, rewritten] =
        ["history.jsonl", "records.yaml", "history-forged.jsonl", "history-rewritten.jsonl"]
            .map(|name| format!("{inputs}/{name}"));
    let (export, records) = (export.as_str(), records.as_str());
    check("history", &["history", "-f", records]);
    check("history-wide", &["history", "-f", export, "-o", "wide"]);
    check("history-json", &["history", "node/n1", "-f", records, "-o", "json"]);
    check("history-lines", &["history", "-f", records, "-n", "shop", "-o", "jsonl"]);
    check("history-of", &["history", "mcp", "ccf/storm", "--from=2026-11-14", "-f", export]);
    check("history-nothing", &["history", "mcp/infra", "-f", export]);
    check("history-no-kind", &["history", "pod/x", "-f", export]);
    check("history-verify", &["history", "verify", "-f", records]);
    check("history-verify-json", &["history", "verify", "-f", export, "-o", "json"]);
    check("history-verify-forged", &["history", "verify", "-f", &forged]);
    check("history-verify-forged-json", &["history", "verify", "-f", &forged, "-o", "json"]);
    // Whoever kept an export sees a history that was made anew, which by itself hangs together.
    check("history-verify-rewritten", &["history", "verify", "-f", &rewritten]);
    check("history-verify-kept", &["history", "verify", "-f", &rewritten, "-f", export]);
    check("history-verify-nothing", &["history", "verify", "-f", "examples/weekend.yaml"]);
    check("history-verify-no-file", &["history", "verify", "-f", "nothing.jsonl"]);
    let exported = tidegate(&["history", "-f", records, "-o", "jsonl"], b"");
    let verify = |stdin: &[u8]| {
        let found = tidegate(&["history", "verify", "-f", "-", "--kept", export], stdin);
        (found.code, format!("{}{}", found.stdout, found.stderr))
    };
    let lines = exported.stdout.as_bytes();
    let (code, said) = verify(lines);
    assert_eq!(code, 0, "{said}");
    // What the first holds no more, the second does not heal.
    let without_last = exported.stdout.trim_end().rsplit_once('\n').unwrap().0;
    let last = "cut off at the end: entry 6 is missing";
    for (stdin, expected, why) in [
        (&b""[..], 1, "it holds no entry of this history"),
        (without_last.as_bytes(), 1, last),
        (&lines[..lines.len() - 9], 2, "standard input:8: this line is no entry"),
        (&lines[9..], 2, "standard input:1: this line is no entry"),
        (&[b"\xef\xbb\xbf", lines].concat(), 2, "begins with a byte order mark"),
    ] {
        let (code, said) = verify(stdin);
        assert!(code == expected && said.contains(why), "{code}: {said}");
    }
    let unknown = exported.stdout.replace("\"Frozen\"", "\"Foretold\"");
    assert_ne!(unknown, exported.stdout);
    let again = tidegate(&["history", "-f", "-", "-o", "jsonl"], unknown.as_bytes());
    assert_eq!(again.stdout, unknown, "what this build cannot read is exported all the same");
}

/// GATE-15: gates and freezes, in the order in which they count.
#[test]
fn gate() {
    let monday = "--at=2026-11-16T12:00:00Z";
    check("gate-list", &["gate", "list", "-f", GATES, monday]);
    check("gate-list-wide", &["gate", "list", "-f", GATES, monday, "-o", "wide", "-n", "till"]);
    check("gate-list-json", &["gate", "list", "-f", GATES, monday, "-o", "json", "-n", "shop"]);
    check("gate-list-nothing", &["gate", "list", "-f", "examples/weekend.yaml", monday]);
    check("gate-why", &["gate", "why", "deployment/web", "-n", "shop", "-f", GATES, monday]);
    let frozen = "--at=2026-11-28T12:00:00Z";
    check("gate-why-frozen", &["gate", "why", "deploy/shop/web", "-f", GATES, frozen]);
    check(
        "gate-why-json",
        &["gate", "why", "ds/kube-system/kured", "-f", GATES, monday, "-o", "json"],
    );
    check("gate-why-labels", &["gate", "why", "sts/shop/till", "-f", GATES, monday]);
    check("gate-why-doubt", &["gate", "why", "deployment/till/pos", "-f", GATES, monday]);
    check("gate-why-nothing", &["gate", "why", "deployment/other/x", "-f", GATES, monday]);
    // GATE-12: a gate of which nobody can read what it holds may hold anything in its namespace.
    let unread = "crates/tidegate/tests/inputs/unread-gates.yaml";
    check("gate-why-unread", &["gate", "why", "deployment/shop/web", "-f", unread, monday]);
    check(
        "gate-why-unread-json",
        &["gate", "why", "deployment/shop/web", "-f", unread, monday, "-o", "json"],
    );
    check("gate-why-no-kind", &["gate", "why", "pod/web", "-n", "shop", "-f", GATES]);
    check("gate-why-no-namespace", &["gate", "why", "deployment/web", "-f", GATES]);
    check("gate-add-no-room", &["gate", "add", "pods", "-n", "shop", "--policy", "weekend"]);
    check("gate-add-no-scope", &["gate", "add", "deployments", "--policy", "weekend"]);
}

/// RCH-6, GATE-13
/// RCH-6: what it prints can be applied, and it writes nothing.
#[test]
fn init() {
    let dump = "crates/tidegate/tests/inputs/doctor.yaml";
    check("init", &["init", "-f", dump]);
    check("init-no-policy", &["init", "-f", dump, "--policy", "nights"]);
    check("init-one-policy", &["init", "-f", dump, "-f", "examples/weekend.yaml", "--mode=warn"]);
    let two = ["init", "-f", "examples/weekend.yaml", "-f", "examples/berlin-nights.yaml"];
    check("init-two-policies", &two);
}

#[test]
fn doctor() {
    let dump = "crates/tidegate/tests/inputs/doctor.yaml";
    check("doctor", &["doctor", "-f", dump]);
    check("doctor-wide", &["doctor", "-f", dump, "-o", "wide"]);
    check("doctor-json", &["doctor", "-f", dump, "-o", "json"]);
    let part = "crates/tidegate/tests/inputs/doctor-part.yaml";
    check("doctor-part", &["doctor", "-f", part]);
    check("doctor-little", &["doctor", "-f", "examples/weekend.yaml"]);
    check("doctor-not-held", &["doctor", "--not-held"]);
}
