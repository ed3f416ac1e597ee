//! Do the definitions in `deploy/crds` say what the types say? `UPDATE_EXPECT=1 cargo test -p tidegate-tests --test definitions` writes
//! them anew.

use std::path::PathBuf;

use api::{
    crds, names,
    schema::{GATED, KINDS, Kind, MACHINES},
};

fn check(folder: &str, kind: &Kind) {
    let definition = crds::definition(kind);
    let yaml = serde_saphyr::to_string(&definition).expect("a definition is plain JSON");
    let read: serde_json::Value = serde_saphyr::from_str(&yaml).expect("what is written is YAML");
    assert_eq!(read, definition, "{}: what is written is what is read", kind.name);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy/crds")
        .join(folder)
        .join(format!("{}.yaml", names::plural(kind.name)));
    let text = format!("# Generated from the types in crates/api; edit those instead.\n{yaml}");
    expect_test::expect_file![path].assert_eq(&text);
}

#[test]
fn definitions_of_our_kinds_have_no_drift() {
    for kind in KINDS {
        check("", kind);
    }
}

#[test]
fn definitions_of_the_kinds_of_others_have_no_drift() {
    for kind in GATED.iter().chain(MACHINES).filter(|kind| !kind.group().is_empty()) {
        check("upstream", kind);
    }
}
