//! Does the system do what the designs tell? Scripts in plain words, with their transcript, run on both servers.
//!
//! A script is a file of `scenarios/`: commands, each with what it showed on the lines that begin with `|`. `UPDATE_EXPECT=1` writes the
//! transcripts anew, from the embedded server; the real one must then show the same.
//!
//! The clock is set by the script and stands still in between. It is behind that of the servers, so that their stamps are never in
//! the script's past.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

mod scenarios {
    pub(crate) mod commands;
    pub(crate) mod letters;
    pub(crate) mod live;
    pub(crate) mod machines;
    pub(crate) mod script;
    pub(crate) mod show;
}

use std::{fs, path::PathBuf};

use rig::{
    Cluster, Controllers,
    suite::{self, Kubectl},
};
use scenarios::{live::Live, script};

#[test]
fn scenarios_on_the_embedded_server() {
    suite::on_embedded("scenarios", Kubectl::Unused, async |cluster| play_all(cluster).await);
}

#[test]
fn scenarios_on_the_real_server() {
    suite::on_real("scenarios", Controllers::Absent, async |cluster| play_all(cluster).await);
}

async fn play_all(cluster: &Cluster) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "the scenarios are gone");
    let mut live = Live::new(cluster).await;
    let mut failures = Vec::new();
    for path in paths {
        let written = fs::read_to_string(&path).unwrap();
        let played = script::play(&written, &mut live).await;
        live.clear().await;
        if std::env::var_os("UPDATE_EXPECT").is_some() && cluster.server() == rig::Server::Embedded
        {
            fs::write(&path, played).unwrap();
        } else if played != written {
            failures.push(format!("{}:\n{}", path.display(), difference(&written, &played)));
        }
    }
    assert!(failures.is_empty(), "on the {}:\n{}", cluster.server(), failures.join("\n"));
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
