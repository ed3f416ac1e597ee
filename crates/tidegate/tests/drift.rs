//! Do the generated pages say what the command says? `UPDATE_EXPECT=1 cargo test -p tidegate --test drift` writes them anew.

#[path = "support/run.rs"]
mod run;

use std::fmt::Write as _;

use run::tidegate;

/// What the command prints, where nothing may go wrong.
fn printed(args: &[&str]) -> String {
    let run = tidegate(args, b"");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    run.stdout
}

/// Compares a file of the repository with what the command prints today.
fn check(path: &str, text: &str) {
    expect_test::expect_file![format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))]
        .assert_eq(text);
}

#[test]
fn pictures_have_no_drift() {
    let args = [
        "calendar",
        "-f",
        "examples/weekend.yaml",
        "--at=2026-11-15T12:00:00Z",
        "--for=60d",
        "-o=svg",
    ];
    check("docs/images/weekend.svg", &printed(&args));
    let args = [
        "simulate",
        "-f=docs/examples/cluster",
        "--at=2026-11-16T12:00:00Z",
        "--for=60d",
        "--change-every=2w",
        "-o=svg",
    ];
    check("docs/images/forecast.svg", &printed(&args));
}

#[test]
fn command_line_reference_has_no_drift() {
    let mut text = String::from(
        "# The command line\n\n\
         Generated from the help of the command; edit that instead. The output for programs is described in [json.md](json.md).\n\n\
         Exit codes: 0 yes or done, 1 no, 2 usage or failure. Output goes to standard output, everything else to standard error.\n\
         Colour is used only on a terminal, never if `NO_COLOR` is set, and never carries meaning alone.\n",
    );
    let root = printed(&["--help"]);
    let verbs = root.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = verbs
        .map_while(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|verb| !verb.is_empty() && *verb != "help");
    let mut sections = vec![("tidegate".to_owned(), root.clone())];
    sections.extend(verbs.map(|verb| (format!("tidegate {verb}"), printed(&[verb, "--help"]))));
    for (name, help) in sections {
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    }
    check("docs/reference/cli.md", &text);
}

#[test]
fn sessions_of_the_readme_have_no_drift() {
    let readme = include_str!("../../../README.md");
    let mut shown = 0;
    for block in readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let (command, output) = block.split_once('\n').unwrap_or((block, ""));
        let Some(args) = command.strip_prefix("$ tidegate ") else { continue };
        // Only what the repository holds can be run; the other sessions are about files of the reader's own.
        if output.is_empty() || !args.contains("examples/") {
            continue;
        }
        let args: Vec<&str> = args.split(' ').collect();
        assert_eq!(output, printed(&args), "{command}");
        shown += 1;
    }
    assert!(shown >= 2, "README.md shows what the command prints: {shown} sessions");
}
