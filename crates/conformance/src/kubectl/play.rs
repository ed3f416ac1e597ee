//! How is a script played?
//!
//! Its commands run one after the other in a shell, in a fresh folder, in a namespace of the script's own name, as the administrator.
//! Nothing of the person who runs the tests reaches them: home, temporary files and settings are the folder's.

use std::{
    fs, io,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use super::{Answer, Line, Mask, Script};
use rig::{Cluster, User};

const PRELUDE: &str = include_str!("prelude.sh");
const SETUP: &str = include_str!("setup.yaml");

/// Installs the kind that the scripts play with.
pub fn prepare(cluster: &Cluster) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(cluster, folder.path(), "default")?;
    fs::write(folder.path().join("setup.yaml"), SETUP)?;
    for command in [
        "kubectl apply -f setup.yaml",
        "kubectl wait --for=condition=Established crd/tides.example.com --timeout=30s",
        "eventually 'kubectl get tides'",
        "eventually 'kubectl explain tides'",
    ] {
        stage.must(command)?;
    }
    Ok(())
}

/// Installs the definitions of a folder and of those within, as a person would, and waits until kubectl knows the kinds. One that is
/// there already belongs to somebody, and fails the suite instead of being changed.
pub fn install(cluster: &Cluster, definitions: &Path) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(cluster, folder.path(), "default")?;
    let path = definitions.canonicalize()?;
    stage.must(&format!("kubectl create --recursive -f '{}'", path.display()))?;
    let names = format!("kubectl get --recursive -f '{}' -o name", path.display());
    stage.must(&format!("kubectl wait --for=condition=Established $({names}) --timeout=30s"))?;
    let plurals = format!("{names} | cut -d / -f 2");
    stage.must(&format!(
        "for plural in $({plurals}); do eventually \"kubectl explain $plural\"; done"
    ))
}

/// Takes away what [`install`] installed, for a cluster that outlives the suite.
pub fn uninstall(cluster: &Cluster, definitions: &Path) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(cluster, folder.path(), "default")?;
    let path = definitions.canonicalize()?;
    stage.must(&format!("kubectl delete --recursive -f '{}'", path.display()))
}

/// Plays a script and returns it with the answers that were given.
pub fn play(cluster: &Cluster, name: &str, script: &Script) -> io::Result<Script> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(cluster, folder.path(), name)?;
    stage.must(&format!("kubectl create namespace {name}"))?;
    let mut lines = Vec::new();
    for line in &script.lines {
        lines.push(match line {
            Line::Remark(text) => Line::Remark(text.clone()),
            Line::File { name, text } => {
                fs::write(folder.path().join(name), text)?;
                line.clone()
            }
            Line::Command { command, .. } => {
                Line::Command { command: command.clone(), answer: stage.answer(command)? }
            }
        });
    }
    Ok(Script { lines })
}

/// Where commands run.
struct Stage<'a> {
    folder: &'a Path,
    path: String,
    mask: Mask,
}

impl<'a> Stage<'a> {
    fn new(cluster: &Cluster, folder: &'a Path, namespace: &str) -> io::Result<Stage<'a>> {
        // macOS reaches its temporary folder by a link, and kubectl prints where the link leads.
        let mask = Mask::new(&folder.canonicalize()?);
        let kubeconfig = fs::read_to_string(cluster.kubeconfig(User::Admin))?;
        let mut kubeconfig: Value = serde_json::from_str(&kubeconfig)?;
        for context in kubeconfig["contexts"].as_array_mut().into_iter().flatten() {
            context["context"]["namespace"] = namespace.into();
        }
        fs::write(folder.join("kubeconfig"), kubeconfig.to_string())?;
        fs::write(folder.join("prelude.sh"), PRELUDE)?;
        let kubectl = cluster.kubectl().parent().unwrap_or(Path::new("")).display().to_string();
        let path = format!("{kubectl}:{}", std::env::var("PATH").unwrap_or_default());
        Ok(Stage { folder, path, mask })
    }

    fn run(&self, command: &str) -> io::Result<Output> {
        Command::new("sh")
            .arg("-c")
            .arg(format!(". ./prelude.sh\n{command}"))
            .current_dir(self.folder)
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.folder)
            .env("TMPDIR", self.folder)
            .env("KUBECONFIG", self.folder.join("kubeconfig"))
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .output()
    }

    fn must(&self, command: &str) -> io::Result<()> {
        let output = self.run(command)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("{command}: {}: {said}", output.status)))
    }

    fn answer(&self, command: &str) -> io::Result<Answer> {
        let Output { status, stdout, stderr } = self.run(command)?;
        let masked = |bytes: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(bytes);
            let lines = text.lines().filter(|line| !self.mask.is_diary(line));
            lines.map(|line| self.mask.line(line)).collect()
        };
        let mut errors = masked(&stderr);
        // A real server lists the causes of a refusal in no order.
        for causes in errors.chunk_by_mut(|a, b| a.starts_with("* ") && b.starts_with("* ")) {
            causes.sort();
        }
        let status = status.code().unwrap_or(-1);
        Ok(Answer { output: masked(&stdout), errors, status })
    }
}
