//! Do the definitions in `deploy/crds` say what the types say? `UPDATE_EXPECT=1 cargo test -p tidegate-tests --test definitions` writes
//! them anew.

#[path = "definitions/page.rs"]
mod page;

use std::{fmt::Write as _, fs, path::PathBuf};

use api::{
    crds,
    machine::definitions::definitions,
    names,
    schema::{FREEZES, GATES, GUARDRAILS, KINDS, Kind, OVERRIDES, RECORDS, STANZAS},
};
use serde_json::Value;

fn check(folder: &str, definition: &Value) {
    let name = definition["spec"]["names"]["plural"].as_str().expect("a definition has a plural");
    let yaml = serde_saphyr::to_string(definition).expect("a definition is plain JSON");
    let read: Value = serde_saphyr::from_str(&yaml).expect("what is written is YAML");
    assert_eq!(read, *definition, "{name}: what is written is what is read");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy/crds")
        .join(folder)
        .join(format!("{name}.yaml"));
    let text = format!("# Generated from the types in crates/api; edit those instead.\n{yaml}");
    expect_test::expect_file![path].assert_eq(&text);
}

fn ours() -> impl Iterator<Item = &'static Kind> {
    let ours = KINDS.iter().chain(GATES).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS);
    ours.chain(RECORDS)
}

#[test]
fn definitions_of_our_kinds_have_no_drift() {
    for kind in ours() {
        check("", &crds::definition(kind));
    }
}

/// `real/kinds.rs` shows each example to both servers.
#[test]
fn reference_pages_of_our_kinds_have_no_drift() {
    let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut index = String::from(
        "<!-- Generated from the definitions in deploy/crds. -->\n# Kinds\n\nWhat each kind of Tidegate is for, field by field, with an example.\n\n",
    );
    for kind in ours() {
        let plural = names::plural(kind.name);
        let example = top.join(format!("docs/examples/kinds/{plural}.yaml"));
        let example = match kind.name {
            // People write none.
            names::CHANGE_RECORD => None,
            _ => Some(fs::read_to_string(&example).unwrap_or_else(|error| {
                panic!("{}: {error}: a kind has an example", example.display())
            })),
        };
        let definition = crds::definition(kind);
        let page = page::page(&definition, example.as_deref());
        expect_test::expect_file![top.join(format!("docs/reference/kinds/{plural}.md"))]
            .assert_eq(&page);
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let says = schema["description"].as_str().unwrap_or_default();
        _ = writeln!(index, "- [{}]({plural}.md): {says}", kind.name);
    }
    expect_test::expect_file![top.join("docs/reference/kinds/README.md")].assert_eq(&index);
}

#[test]
fn definitions_of_the_kinds_of_others_have_no_drift() {
    for definition in STANZAS.iter().map(crds::definition).chain(definitions()) {
        check("upstream", &definition);
    }
}
