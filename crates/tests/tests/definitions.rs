//! Do the definitions in `deploy/crds` say what the types say? `UPDATE_EXPECT=1 cargo test -p tidegate-tests --test definitions` writes
//! them anew.

use std::path::PathBuf;

use api::{
    crds,
    machine::definitions::definitions,
    schema::{FREEZES, GATES, GUARDRAILS, KINDS, OVERRIDES, STANZAS},
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

#[test]
fn definitions_of_our_kinds_have_no_drift() {
    for kind in KINDS.iter().chain(GATES).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS) {
        check("", &crds::definition(kind));
    }
}

#[test]
fn definitions_of_the_kinds_of_others_have_no_drift() {
    for definition in STANZAS.iter().map(crds::definition).chain(definitions()) {
        check("upstream", &definition);
    }
}
