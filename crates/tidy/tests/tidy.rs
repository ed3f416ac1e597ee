//! Does this repository keep its own rules? Each check meets the real files here; that it can fail is shown
//! beside its code.

use std::io::{self, Write};

use tidy::graph::{self, Member};
use tidy::{
    Tree, calls, documents, files, layers, manifests, map, modules, purity, verbs, verify, words,
};

fn tree() -> Tree {
    Tree::read().expect("the repository is readable")
}

fn members() -> Vec<Member> {
    graph::read().expect("cargo knows this workspace, and its lock file is current")
}

/// LAYER-1
#[test]
fn arrows_between_crates_descend() {
    verify(&layers::check(&members()));
}

/// LAYER-1
#[test]
fn modules_of_a_crate_form_no_new_circle() {
    verify(&modules::check(&tree()));
}

/// What the agent links is a security statement: of `core` it names what its own node needs.
#[test]
fn an_agent_names_its_node_alone() {
    verify(&modules::check_agent(&tree()));
}

#[test]
fn no_verb_lives_in_another() {
    verify(&verbs::check(&tree()));
}

/// EXEC-4
#[test]
fn requests_go_through_the_one_client() {
    verify(&calls::check(&tree()));
}

/// PURE-1
#[test]
fn pure_crates_reach_no_io() {
    verify(&purity::check(&members()));
}

/// PURE-1
#[test]
fn pure_crates_ban_clocks_files_threads_and_chance() {
    verify(&purity::check_bans(&tree(), &members()));
}

#[test]
fn list_of_pure_dependencies_holds_no_idle_entry() {
    verify(&purity::check_list(&members()));
}

#[test]
fn every_dependency_says_why() {
    verify(&manifests::check_reasons(&tree()));
}

#[test]
fn crates_take_versions_and_lints_from_the_workspace() {
    verify(&manifests::check_inheritance(&tree(), &members()));
}

#[test]
fn tidegate_is_the_one_program() {
    verify(&manifests::check_binaries(&members()));
}

#[test]
fn maps_name_what_is_there() {
    verify(&map::check(&tree()));
}

#[test]
fn source_files_are_small() -> io::Result<()> {
    let tree = tree();
    for (path, lines) in files::longer_than(&tree, files::WARN_LINES) {
        // Written past the capture of a passing test, so that `./test` can show it.
        writeln!(io::stderr(), "warning: {path} has {lines} lines; one idea each reads better")?;
    }
    verify(&files::check_length(&tree));
    Ok(())
}

#[test]
fn modules_are_named_after_themselves() {
    verify(&files::check_names(&tree()));
}

#[test]
fn every_source_file_introduces_itself() {
    verify(&files::check_introductions(&tree()));
}

#[test]
fn nothing_is_left_unfinished() {
    verify(&words::check_unfinished(&tree()));
}

#[test]
fn pages_send_no_text_as_it_stands() {
    verify(&words::check_escapes(&tree()));
}

#[test]
fn public_names_say_something() {
    verify(&words::check_public_names(&tree()));
}

#[test]
fn files_name_no_machine_and_no_package_host() {
    verify(&words::check_machine(&tree()));
}

#[test]
fn documents_are_present() {
    verify(&documents::check_present(&tree()));
}

#[test]
fn links_between_documents_lead_somewhere() {
    verify(&documents::check_links(&tree()));
}

#[test]
fn changelog_has_room_for_the_next_release() {
    verify(&documents::check_changelog(&tree()));
}
