use std::fmt::Write as _;

use serde_json::json;

use super::*;

fn value(text: &str) -> Value {
    parse(text, 1).unwrap().unwrap().root.value()
}

#[test]
fn scalars_mean_what_kubernetes_reads_in_them() {
    let check =
        |text: &str, expected: Value| assert_eq!(value(text), json!({"a": expected}), "{text}");
    let text = |text: &str| Value::String(text.into());
    check("a: 8h", text("8h"));
    check("a: 20:00", text("20:00"));
    check("a: 2026-12-24", text("2026-12-24"));
    check("a: '1'", text("1"));
    check("a: !!str 1", text("1"));
    check("a: 1", json!(1));
    check("a: -1", json!(-1));
    check("a: 0x10", json!(16));
    check("a: 1.5", json!(1.5));
    check("a: 1e3", json!(1000.0));
    check("a: .", text("."));
    check("a: true", json!(true));
    check("a: yes", text("yes"));
    check("a: ~", Value::Null);
    check("a:", Value::Null);
    check("a: |\n  x\n  y\n", text("x\ny\n"));
    check("{\n\t\"a\": [\"x\\u00e9\", {\"b\": null}]\n}", json!(["xé", {"b": null}]));
}

#[test]
fn every_value_and_key_has_its_place() {
    let parsed = parse("spec:\n  list:\n  - a: 1\n  - b: {c: 2}\n", 10).unwrap().unwrap();
    let path = FieldPath::of("spec.list").index(1).key("b").key("c");
    assert_eq!(parsed.root.place_of(path.steps()), Place { line: 13, column: 12 });
    assert_eq!(parsed.root.place_of_key(path.steps()), Place { line: 13, column: 9 });
    let missing = FieldPath::of("spec.list").index(1).key("b").key("nothing");
    assert_eq!(parsed.root.place_of(missing.steps()), Place { line: 13, column: 8 });
}

#[test]
fn aliases_are_written_out_and_counted() {
    assert_eq!(value("a: &x {b: 1}\nc: *x\n"), json!({"a": {"b": 1}, "c": {"b": 1}}));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        let row = vec![alias; 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{row}]");
    }
    let failure = parse(&bomb, 1).unwrap_err();
    assert_eq!(failure.problem.code, Code::TooLarge);
    assert_eq!(failure.place.line, 5, "{}", failure.problem.detail);
}

#[test]
fn nesting_is_bounded_however_it_is_made() {
    let deep = "[".repeat(100_000);
    assert_eq!(parse(&deep, 1).unwrap_err().problem.code, Code::TooLarge);
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for level in 1..200 {
        let _ = writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1);
    }
    assert_eq!(parse(&chain, 1).unwrap_err().problem.code, Code::TooLarge);
    assert!(parse("a: &x [*x]\n", 1).is_err(), "a value cannot hold itself");
}

#[test]
fn fields_given_twice_are_reported_with_their_path() {
    let parsed =
        parse("spec:\n  strategy: Permissive\n  strategy: Restrictive\n", 1).unwrap().unwrap();
    let [(place, problem)] = parsed.duplicates.as_slice() else { panic!("{parsed:?}") };
    assert_eq!(*place, Place { line: 3, column: 3 });
    assert_eq!(problem.field.to_string(), "spec.strategy");
    assert!(problem.detail.contains("line 2"), "{}", problem.detail);
}

#[test]
fn broken_documents_say_where() {
    let check = |text: &str, line: usize| {
        let failure = parse(text, 1).unwrap_err();
        assert_eq!((failure.problem.code, failure.place.line), (Code::Syntax, line), "{text:?}");
    };
    check("a: [1, 2\nb: 3\n", 2);
    check("a: 1\n\tb: 2\n", 2);
    check("a: *nothing\n", 1);
    check("a: !secret x\n", 1);
    check("? [a]\n: b\n", 1);
}
