//! Does the system do what the designs tell? Scripts in plain words, with their transcript.
//!
//! All of them are played on the embedded server, those of rules and a chosen few stories on a real one too.
//!
//! A script is a file of `scripts/`: commands, each with what it showed on the lines that begin with `|`. `UPDATE_EXPECT=1` writes the
//! transcripts anew, from the embedded server; the real one must then show the same.
//!
//! The clock is set by the script and stands still in between. It is behind that of the servers, so that their stamps are never in
//! the script's past.

#![cfg(test)]

mod commands;
mod control_plane;
mod git;
mod hosted;
mod letters;
mod live;
mod machines;
mod resources;
mod schedules;
mod script;
mod show;
mod verbs;
mod wire;
mod workloads;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use crate::{live::Live, script::Intent};
use rig::{
    Cluster, Controllers,
    suite::{self, Kubectl},
};
use tidy::Tree;

/// How many embedded servers play at a time. A script mostly waits for the next second of its server, so they share two cores well.
const LANES: usize = 6;

/// Stories that a real server plays too, and why; scripts of rules do, but for the few below. The others would show nothing there that
/// these do not.
const ON_BOTH: &[(&str, &str)] = &[
    ("workflow-gitops", "who owns a field, and when two owners fight, is the server's business"),
    ("workflow-standalone-standard", "the longest way through: months, four windows, new nodes"),
];

/// Scripts of rules that are decided before any server is asked, and write nothing that the others do not.
const EMBEDDED_ONLY: &[&str] =
    &["pool-8-rollback", "pool-9-bypass-and-pin", "pool-10-broken-then-mended"];

#[test]
fn scenarios_on_the_embedded_server() {
    let left = Mutex::new(scripts().into_iter());
    let next = || left.lock().unwrap().next();
    let mut failures = Vec::new();
    thread::scope(|scope| {
        let next = &next;
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| {
                scope.spawn(move || {
                    let mut failures = Vec::new();
                    let name = format!("scenarios-{lane}");
                    suite::on_embedded(&name, Kubectl::Unused, async |cluster| {
                        failures = play(cluster, std::iter::from_fn(next)).await;
                    });
                    failures
                })
            })
            .collect();
        for lane in lanes {
            match lane.join() {
                Ok(found) => failures.extend(found),
                Err(panicked) => std::panic::resume_unwind(panicked),
            }
        }
    });
    assert!(failures.is_empty(), "on the embedded server:\n{}", failures.join("\n"));
}

#[test]
fn scenarios_on_the_real_server() {
    let chosen = |path: &PathBuf| {
        let name = name(path);
        ON_BOTH.iter().any(|(chosen, _)| *chosen == name)
            || !is_story(&name) && !EMBEDDED_ONLY.contains(&name.as_str())
    };
    // Budgets are counted by the controllers.
    suite::on_real("scenarios", Controllers::Running, async |cluster| {
        let failures = play(cluster, scripts().into_iter().filter(chosen)).await;
        assert!(failures.is_empty(), "on the {}:\n{}", cluster.server(), failures.join("\n"));
    });
}

/// Nobody finds a story that no page names, and no list may name a script that is gone.
#[test]
fn every_story_stands_on_the_page() {
    let page = Tree::top().join("docs/guides/stories.md");
    let page = fs::read_to_string(page).unwrap();
    let names: Vec<String> = scripts().iter().map(|path| name(path)).collect();
    for name in names.iter().filter(|name| is_story(name)) {
        let link = format!("(../../crates/scenarios/scripts/{name}.txt)");
        assert_eq!(page.matches(&link).count(), 1, "docs/guides/stories.md names {name} once");
    }
    let listed = ON_BOTH.iter().map(|(name, _)| name).chain(EMBEDDED_ONLY);
    for name in listed {
        assert!(names.iter().any(|known| known == name), "there is no script {name}");
    }
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Named after a workflow or a user story of the design, and not after a rule.
fn is_story(name: &str) -> bool {
    name.starts_with("workflow-") || name.starts_with("story-")
}

fn scripts() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "the scenarios are gone");
    paths
}

async fn play(cluster: &Cluster, paths: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let asked = std::env::var_os("UPDATE_EXPECT").is_some();
    let intent = match cluster.server() {
        rig::Server::Embedded if asked => Intent::Record,
        _ => Intent::Compare,
    };
    let mut live = Live::new(cluster).await;
    workloads::prepare(&live).await;
    let mut failures = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let written = fs::read_to_string(&path).unwrap();
        let played = script::play(name, &written, intent, &mut live).await;
        live.stop();
        workloads::clear(&live).await;
        live.clear().await;
        if intent == Intent::Record {
            fs::write(&path, played).unwrap();
        } else if played != written {
            failures.push(format!("{}:\n{}", path.display(), difference(&written, &played)));
        }
    }
    failures
}

/// The first lines that differ, with a little around them.
fn difference(written: &str, played: &str) -> String {
    let same = written.lines().zip(played.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str, sign: &str| -> String {
        let lines = text.lines().skip(same).take(12);
        lines.flat_map(|line| [sign, " ", line, "\n"]).collect()
    };
    let before: Vec<&str> =
        written.lines().skip(same.saturating_sub(4)).take(same.min(4)).collect();
    format!("  {}\n{}{}", before.join("\n  "), part(written, "-"), part(played, "+"))
}
