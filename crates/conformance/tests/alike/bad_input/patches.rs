//! Patches that break the schema, or themselves.

use super::requests::{APPLY, Bad, JSON_PATCH, MAPS, MERGE, STRATEGIC, TIDES, with_body};

pub(super) fn broken_patches(all: &mut Vec<Bad>) {
    let one = format!("{TIDES}/a");
    for (word, body) in [
        ("type", r#"{"spec":{"harbour":7}}"#),
        ("pattern", r#"{"spec":{"harbour":"Dover"}}"#),
        ("maximum", r#"{"spec":{"height":99}}"#),
        ("rule", r#"{"spec":{"low":9,"height":2}}"#),
        ("transition rule", r#"{"spec":{"harbour":"calais"}}"#),
        ("required", r#"{"spec":{"harbour":null}}"#),
        ("the whole spec", r#"{"spec":null}"#),
        ("enum", r#"{"spec":{"phase":"half"}}"#),
        ("repeated key", r#"{"spec":{"boats":[{"name":"x"},{"name":"x"}]}}"#),
        ("repeated member", r#"{"spec":{"tags":["x","x"]}}"#),
        (
            "too many",
            r#"{"spec":{"boats":[{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"},{"name":"6"},{"name":"7"},{"name":"8"},{"name":"9"}]}}"#,
        ),
        ("another name", r#"{"metadata":{"name":"b"}}"#),
        ("another kind", r#"{"kind":"Boat"}"#),
        ("another version", r#"{"apiVersion":"example.com/v9"}"#),
        ("old version", r#"{"metadata":{"resourceVersion":"1"}}"#),
        ("version that is none", r#"{"metadata":{"resourceVersion":"x"}}"#),
        ("another uid", r#"{"metadata":{"uid":"x"}}"#),
        ("unknown field", r#"{"spec":{"unknown":1}}"#),
    ] {
        with_body(
            all,
            "patch",
            word,
            "PATCH",
            &format!("{one}?fieldValidation=Strict"),
            MERGE,
            body.as_bytes(),
        );
    }
    for (word, body) in [
        ("remove what is required", r#"[{"op":"remove","path":"/spec/harbour"}]"#),
        ("remove what is not there", r#"[{"op":"remove","path":"/spec/note"}]"#),
        ("replace what is not there", r#"[{"op":"replace","path":"/spec/note","value":"x"}]"#),
        ("add below nothing", r#"[{"op":"add","path":"/spec/gates/x/y","value":"x"}]"#),
        ("unknown operation", r#"[{"op":"juggle","path":"/spec"}]"#),
        ("no path", r#"[{"op":"remove"}]"#),
        ("failed test", r#"[{"op":"test","path":"/spec/harbour","value":"calais"}]"#),
        ("not a pointer", r#"[{"op":"remove","path":"spec"}]"#),
    ] {
        with_body(all, "patch", word, "PATCH", &one, JSON_PATCH, body.as_bytes());
    }
    for (word, query, body) in [
        (
            "no manager",
            "",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"harbour":"dover"}}"#,
        ),
        (
            "unknown field",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"unknown":1}}"#,
        ),
        (
            "conflict",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"harbour":"calais"}}"#,
        ),
        (
            "repeated key",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","spec":{"boats":[{"name":"x"},{"name":"x"}]}}"#,
        ),
        (
            "own managedFields",
            "?fieldManager=me",
            r#"{"apiVersion":"example.com/v1","kind":"Tide","metadata":{"managedFields":[{"manager":"x"}]}}"#,
        ),
        ("yaml that is none", "?fieldManager=me", "a: [b"),
        ("a list in yaml", "?fieldManager=me", "- a\n- b\n"),
    ] {
        with_body(all, "apply", word, "PATCH", &format!("{one}{query}"), APPLY, body.as_bytes());
    }
    for (word, body) in [
        ("type", r#"{"status":{"level":"high"}}"#),
        ("missing field", r#"{"status":{"conditions":[{"type":"Ready"}]}}"#),
        ("null status", r#"{"status":7}"#),
    ] {
        with_body(all, "status", word, "PATCH", &format!("{one}/status"), MERGE, body.as_bytes());
    }
    for (word, body) in [
        ("type", r#"{"data":{"k":1}}"#),
        ("data of a wrong type", r#"{"data":[]}"#),
        ("bad key", r#"{"data":{"a b":"1"}}"#),
        ("unknown directive", r#"{"data":{"$patch":"juggle"}}"#),
    ] {
        with_body(all, "patch", word, "PATCH", &format!("{MAPS}/a"), MERGE, body.as_bytes());
        with_body(all, "patch", word, "PATCH", &format!("{MAPS}/a"), STRATEGIC, body.as_bytes());
    }
}
