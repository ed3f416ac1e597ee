//! Does every server answer kubectl alike? The scripts and their recorded answers are in `kubectl/`.

use std::{fmt::Write as _, fs, path::PathBuf};

use conformance::kubectl::{Differences, Line, Script, install, play, prepare, uninstall};
use rig::{
    Cluster, Controllers, Server,
    suite::{self, Kubectl},
};

#[test]
fn real_server_answers_kubectl_as_recorded() {
    suite::on_real("kubectl", Controllers::Running, async |cluster| {
        all_scripts(cluster);
    });
}

#[test]
fn embedded_server_answers_kubectl_as_recorded() {
    suite::on_embedded("kubectl-embedded", Kubectl::Pinned, async |cluster| {
        all_scripts(cluster);
    });
}

fn all_scripts(cluster: &Cluster) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kubectl");
    let known = match cluster.server() {
        Server::Real => Differences::default(),
        Server::Embedded => {
            let list = fs::read_to_string(folder.join("differences.txt")).unwrap();
            Differences::parse(&list).unwrap()
        }
    };
    let records = cluster.server() == Server::Real && std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.retain(|path| !path.ends_with("differences.txt"));
    files.sort();
    assert!(!files.is_empty(), "{} holds no scripts", folder.display());

    prepare(cluster).unwrap();
    let definitions = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds");
    install(cluster, &definitions).unwrap();
    let mut report = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let recorded = fs::read_to_string(&file).unwrap();
        let recorded =
            Script::parse(&recorded).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let played = play(cluster, name, &recorded).unwrap();
        if records {
            fs::write(&file, played.to_string()).unwrap();
        } else {
            compare(&format!("{name}.txt"), &recorded, &played, &known, &mut report);
        }
    }
    if suite::uses_lent_cluster() {
        uninstall(cluster, &definitions).unwrap();
    }
    assert!(report.is_empty(), "on the {}:\n{report}", cluster.server());
}

fn compare(
    name: &str,
    recorded: &Script,
    played: &Script,
    known: &Differences,
    report: &mut String,
) {
    let mut stale: Vec<&str> = known.of(name).collect();
    for (recorded, played) in recorded.lines.iter().zip(&played.lines) {
        let (Line::Command { command, answer: expected }, Line::Command { answer: given, .. }) =
            (recorded, played)
        else {
            continue;
        };
        if expected == given {
            continue;
        }
        stale.retain(|entry| entry != command);
        if !known.known(name, command) {
            writeln!(report, "{name}: $ {command}\nrecorded:\n{expected}given:\n{given}").unwrap();
        }
    }
    for command in stale {
        writeln!(report, "{name}: $ {command}\nis listed as different, and is not").unwrap();
    }
}
