//! Whatever a person hands over: a clear answer that names file, line and field, soon, and the other documents are still judged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/run.rs"]
mod run;

use std::{fmt::Write as _, fs, path::PathBuf};

use run::tidegate;

const HEAD: &str = "apiVersion: changemanagement.openshift.io/v1alpha1\nkind: ChangeManagementPolicy\n\
                    metadata:\n  name: p\n";

/// A folder of its own for each test, so that tests can run side by side.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Validates a file and expects exit code 1, nothing usable, and each of the texts in a line of standard error.
fn check(name: &str, bytes: &[u8], expected: &[&str]) {
    let path = folder("bad-input").with_file_name(format!("bad-{name}.yaml"));
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let run = tidegate(&["validate", path], b"");
    assert_eq!(run.code, 1, "{name}: {run:?}");
    for text in expected {
        let text = text.replace("FILE", path);
        assert!(run.stderr.contains(&text), "{name}: no {text:?} in {}", run.stderr);
    }
    assert!(run.stderr.contains("hint: "), "{name}: {}", run.stderr);
    assert!(run.stderr.len() < 10_000, "{name}: {} bytes of talk", run.stderr.len());
    // Every other verb refuses it too, and says the same.
    let run = tidegate(&["next", path, "--at=2026-11-15"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}");
    assert!(run.stderr.contains(&expected[0].replace("FILE", path)), "{name}: {}", run.stderr);
}

fn indented(lines: &str, indent: &str) -> String {
    lines.lines().flat_map(|line| [indent, line, "\n"]).collect()
}

fn spec(lines: &str) -> Vec<u8> {
    format!("{HEAD}spec:\n{}", indented(lines, "  ")).into_bytes()
}

fn permit(lines: &str) -> Vec<u8> {
    let lines = indented(lines, "    ");
    spec(&format!("strategy: MaintenanceSchedule\nmaintenanceSchedule:\n  permit:\n{lines}"))
}

#[test]
fn what_is_no_document_is_refused() {
    check("empty", b"", &["FILE:1:1: the file holds no document"]);
    check("blank", b"\n\n  \n", &["FILE:1:1: the file holds no document"]);
    check("comments", b"# nothing\n---\n# here\n", &["FILE:1:1: the file holds no document"]);
    check("binary", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0xff], &["FILE:1:9: this is not text"]);
    check("nul", b"kind: a\nname: \0\n", &["FILE:2:7: this is not text"]);
    check(
        "utf-16",
        &"kind: x".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        &["not text"],
    );
    check("scalar", b"hello\n", &["FILE:1:1: this is not an object"]);
    check("list", b"- a\n- b\n", &["FILE:1:1: this is not an object"]);
    check("unclosed", b"kind: [a\n", &["not YAML"]);
    check("tab", b"kind: a\n\tname: b\n", &["FILE:2:1: not YAML", "indent with spaces"]);
}

#[test]
fn what_would_cost_too_much_is_refused() {
    check("deep-flow", &b"[".repeat(100_000), &["FILE:1:", "nested more than 64 deep"]);
    let mut deep = String::new();
    for level in 0..2_000 {
        deep.push_str(&" ".repeat(level));
        deep.push_str("a:\n");
    }
    check("deep-block", deep.as_bytes(), &["FILE:65:65: values are nested more than 64 deep"]);
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let row = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{row}]");
    }
    check("alias-bomb", bomb.as_bytes(), &["FILE:5:", "more than 100000 values"]);
    check("many-values", &b"- x\n".repeat(300_000), &["FILE:100000:", "more than 100000 values"]);
    check(
        "many-keys",
        (0..20_000).map(|i| format!("k{i}: 1\n")).collect::<Vec<_>>().concat().as_bytes(),
        &["too many fields"],
    );
    let line = format!("{{\"items\": [{}1]}}", "{\"a\":1},".repeat(900_000));
    check("one-line", line.as_bytes(), &["FILE:1:1: the document holds more than 100000 values"]);
    check(
        "long-scalar",
        format!("kind: {}\n", "x".repeat(7_000_000)).as_bytes(),
        &["unknown kind"],
    );
}

#[test]
fn nobody_reads_a_million_problems() {
    let run = tidegate(&["validate", "-"], &b"---\na\n".repeat(1_000_000));
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("<stdin>:2001:1: more than 1000 problems"), "{}", run.stderr.len());
    assert_eq!(run.stderr.matches("<stdin>:").count(), 1_001);
    let good = String::from_utf8(spec("strategy: Permissive")).unwrap();
    let run = tidegate(&["validate", "-"], format!("---\n{good}").repeat(10_001).as_bytes());
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains(":1: more than 10000 documents"), "{}", run.stderr);
    assert!(run.stdout.contains("10000 usable"), "{}", run.stdout);
}

#[test]
fn a_hundred_megabytes_are_refused_without_reading_them() {
    let folder = folder("big");
    let path = folder.join("big.yaml");
    // A file with a hole: it takes no disk, and reading it whole would take memory.
    fs::File::create(&path).unwrap().set_len(100 * 1024 * 1024).unwrap();
    fs::write(folder.join("good.yaml"), spec("strategy: Permissive")).unwrap();
    let run = tidegate(&["validate", folder.to_str().unwrap(), "-o", "wide"], b"");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("big.yaml:1:1: the file is larger than 8 MiB"), "{}", run.stderr);
    assert!(
        run.stdout.contains("ChangeManagementPolicy/p"),
        "the other file is judged: {}",
        run.stdout
    );
    let run = tidegate(&["validate", "-"], &b"a: b\n".repeat(2 * 1024 * 1024));
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("<stdin>:1:1: the file is larger than 8 MiB"), "{}", run.stderr);
}

#[test]
fn fields_that_cannot_be_are_named() {
    check(
        "kind",
        b"apiVersion: v1\nkind: ConfigMap\n",
        &["FILE:2:7: kind: unknown kind \"ConfigMap\""],
    );
    check("no-kind", b"apiVersion: v1\n", &["FILE:1:1: kind is missing"]);
    check(
        "version",
        b"apiVersion: changemanagement.openshift.io/v1\nkind: ChangeManagementPolicy\n",
        &["FILE:1:13: apiVersion: there is no ChangeManagementPolicy in"],
    );
    check("no-spec", HEAD.as_bytes(), &["FILE:1:1: spec is missing"]);
    check(
        "duplicate",
        &spec("strategy: Permissive\nstrategy: Permissive"),
        &["FILE:7:3: spec.strategy: \"strategy\" is given twice"],
    );
    check(
        "unknown",
        &spec("strategy: Permissive\ncolour: red"),
        &["FILE:7:3: spec.colour: unknown field"],
    );
    check(
        "negative",
        &permit("duration: -1h"),
        &["FILE:9:17: spec.maintenanceSchedule.permit.duration: \"-1h\" is negative"],
    );
    check(
        "days",
        &permit("duration: 1d"),
        &["FILE:9:17: spec.maintenanceSchedule.permit.duration: \"1d\" uses the unit \"d\""],
    );
    check(
        "long",
        &permit("duration: 99999h"),
        &["permit.duration: \"99999h\" is longer than 366 days"],
    );
    check("zero", &permit("duration: 0s"), &["permit.duration: \"0s\" is zero"]);
    check(
        "number",
        &permit("duration: 8"),
        &["permit.duration: a text is needed here", "put it in quotes"],
    );
    check(
        "start",
        &permit("startTime: \"25:00\""),
        &["permit.startTime: there is no time of day 25:00"],
    );
    check(
        "rrule",
        &permit("recurrence: FREQ=HOURLY"),
        &["FILE:9:19: spec.maintenanceSchedule.permit.recurrence: "],
    );
    check(
        "zone",
        &spec("strategy: Restrictive\nmaintenanceSchedule: {timeZone: Mars/Base}"),
        &["FILE:7:35: spec.maintenanceSchedule.timeZone: there is no time zone \"Mars/Base\""],
    );
    check(
        "date",
        &spec("strategy: Restrictive\nmaintenanceSchedule:\n  exclude:\n  - fromDate: 2025-02-30"),
        &["FILE:9:17: spec.maintenanceSchedule.exclude[0].fromDate: there is no day 2025-02-30"],
    );
    check(
        "backwards",
        &spec(
            "strategy: Restrictive\nmaintenanceSchedule:\n  exclude:\n  - fromDate: 2025-02-03\n    untilDate: 2025-02-01",
        ),
        &["FILE:10:18: spec.maintenanceSchedule.exclude[0].untilDate: "],
    );
    check("merge", &spec("<<: {strategy: Permissive}"), &["merge keys"]);
    check("escape", &spec("strategy: \"\\e[31mred\""), &["spec.strategy: "]);
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let folder = folder("paths");
    let path = folder.to_str().unwrap();
    let run = tidegate(&["validate", path], b"");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("the folder holds no policy file"), "{}", run.stderr);
    let run =
        tidegate(&["validate", "examples/weekend.yaml", &format!("{path}/nothing.yaml")], b"");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nothing.yaml:1:1: there is no such file"), "{}", run.stderr);
    assert!(run.stdout.contains("1 usable"), "{}", run.stdout);
}

#[test]
fn standard_input_lists_and_json_are_read() {
    let item = |name: &str, strategy: &str| {
        format!(
            "{{\"apiVersion\": \"changemanagement.openshift.io/v1alpha1\", \"kind\": \"ChangeManagementPolicy\",\n\
             \t\"metadata\": {{\"name\": \"{name}\"}}, \"spec\": {{\"strategy\": \"{strategy}\"}}}}"
        )
    };
    let list = format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n{},\n{}]}}\n",
        item("good", "Permissive"),
        item("bad", "Sometimes")
    );
    let run = tidegate(&["validate", "-", "-o", "wide"], list.as_bytes());
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("<stdin>:2: ChangeManagementPolicy/good"), "{}", run.stdout);
    assert!(
        run.stderr.contains("<stdin>:5:52: spec.strategy: \"Sometimes\" is not allowed"),
        "{}",
        run.stderr
    );
}

#[test]
fn folders_are_read_in_order_and_hidden_files_are_not() {
    let folder = folder("order");
    for name in ["b.yml", "a.yaml", "deeper/c.json", ".hidden.yaml", "readme.txt"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let name = name.replace(['/', '.'], "-").trim_start_matches('-').to_owned();
        let text = String::from_utf8(spec("strategy: Permissive")).unwrap();
        fs::write(path, text.replace("name: p", &format!("name: {name}"))).unwrap();
    }
    let run =
        tidegate(&["next", "-f", folder.to_str().unwrap(), "-o", "json", "--at=2026-11-15"], b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let names: Vec<&str> = run.stdout.lines().filter(|line| line.contains("\"name\"")).collect();
    let expected: Vec<String> = ["a-yaml", "b-yml", "deeper-c-json"]
        .iter()
        .map(|name| format!("      \"name\": \"{name}\","))
        .collect();
    assert_eq!(names, expected);
}

/// A log is somebody else's: nonsense in it is counted by its line, hides nothing, and takes no more memory than a line.
#[test]
fn nonsense_in_an_audit_log_is_named_by_its_line() {
    let gates = "crates/tidegate/tests/inputs/audit-gates.yaml";
    let log = include_str!("inputs/audit.log");
    let good = log.lines().nth(1).unwrap();
    let mut bytes = b"\xff\xfe\x00nonsense\n[]\n{\"items\": 1}\nnull\n".to_vec();
    bytes.extend(vec![b'['; 17 * 1024 * 1024]);
    bytes.extend(format!("\n{good}\n{{\"kind\":\"EventList\",\"items\":[1,{good}]}}").into_bytes());
    let run = tidegate(&["audit", "-f", "-", "--gates", gates, "-o", "json"], &bytes);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["outside"], 2, "{found}");
    let lines: Vec<i64> = found["broken"]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["line"].as_i64().unwrap())
        .collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 7]);
    // Without a good line nobody can tell.
    let run = tidegate(&["audit", "-f", "-", "--gates", gates], b"{");
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stdout.contains("line 1: it is no JSON: "), "{}", run.stdout);
}
