//! How are the pinned programs built?
//!
//! The module's `go.mod` and `go.sum` are part of this crate, so the digest of `go.sum` names exactly one set of programs. They are
//! built beside their final place and renamed into it: a folder under its final name is complete. A file lock lets one of several
//! test binaries build while the others wait.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::programs::NAMES;

const GO_MOD: &str = include_str!("../control-plane/go.mod");
const GO_SUM: &str = include_str!("../control-plane/go.sum");

/// Why the programs could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The cache folder could not be written.
    #[error("the control plane cannot be kept in {folder}")]
    Keep {
        /// The folder.
        folder: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The Go toolchain refused.
    #[error(
        "go could not build {program}:\n{output}\nhint: the first build downloads its modules; set GOPROXY if the network needs it"
    )]
    Go {
        /// The program that was being built.
        program: &'static str,
        /// What the toolchain said.
        output: String,
    },
}

/// Names the programs: the start of the SHA-256 of `go.sum`.
pub(crate) fn digest() -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, GO_SUM.as_bytes());
    crate::hex(&digest.as_ref()[..8])
}

/// The version of Kubernetes, such as `v1.36.3`.
pub(crate) fn kubernetes_version() -> &'static str {
    word_after("\tk8s.io/kubernetes ")
}

/// The least Go version that builds it.
pub(crate) fn go_version() -> &'static str {
    word_after("\ngo ")
}

/// Builds all programs into `<place>/bin`, unless somebody else just did.
pub(crate) fn build_into(place: &Path) -> Result<(), BuildError> {
    let keep = |source| BuildError::Keep { folder: place.display().to_string(), source };
    let beside = place.with_extension("building");
    fs::create_dir_all(place.parent().unwrap_or(place)).map_err(keep)?;
    let lock = File::create(place.with_extension("lock")).map_err(keep)?;
    if lock.try_lock().is_err() {
        say("another build of the control plane is under way; waiting for it");
        lock.lock().map_err(keep)?;
    }
    if place.join("bin").is_dir() {
        return Ok(());
    }
    fs::create_dir_all(beside.join("bin")).map_err(keep)?;
    fs::write(beside.join("go.mod"), GO_MOD).map_err(keep)?;
    fs::write(beside.join("go.sum"), GO_SUM).map_err(keep)?;
    say(&format!(
        "building Kubernetes {} and etcd with Go into {}: five minutes or more, once",
        kubernetes_version(),
        place.display()
    ));
    for (index, program) in NAMES.into_iter().enumerate() {
        say(&format!("  {} of {}: {program} ...", index + 1, NAMES.len()));
        let begun = Instant::now();
        build(program, &beside)?;
        say(&format!("    done after {} s", begun.elapsed().as_secs()));
    }
    fs::rename(&beside, place).map_err(keep)
}

fn build(program: &'static str, beside: &Path) -> Result<(), BuildError> {
    let version = kubernetes_version();
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    // Without these a server built from modules calls itself v0.0.0-master, and kubectl warns of skew.
    let stamps = [("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)]
        .map(|(name, value)| format!(" -X k8s.io/component-base/version.{name}={value}"))
        .concat();
    let package = match program {
        "etcd" => "go.etcd.io/etcd/server/v3".to_owned(),
        _ => format!("k8s.io/kubernetes/cmd/{program}"),
    };
    let built = Command::new("go")
        .current_dir(beside)
        .args(["build", "-trimpath", "-ldflags", &format!("-s -w{stamps}"), "-o"])
        .arg(PathBuf::from("bin").join(program))
        .arg(package)
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-mod=readonly")
        .env("GOWORK", "off")
        .stdin(Stdio::null())
        .output();
    let output = match built {
        Ok(built) if built.status.success() => return Ok(()),
        Ok(built) => String::from_utf8_lossy(&built.stderr).into_owned(),
        Err(problem) => problem.to_string(),
    };
    Err(BuildError::Go { program, output })
}

/// Whether a Go toolchain answers.
pub(crate) fn toolchain_runs() -> bool {
    Command::new("go")
        .arg("version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|answer| answer.status.success())
}

fn word_after(mark: &str) -> &'static str {
    GO_MOD
        .split_once(mark)
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or("of the version in go.mod")
}

/// Progress goes past the test runner's capture: whoever waits five minutes shall see why.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "rig: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_module() {
        assert_eq!(kubernetes_version(), "v1.36.3");
        assert_eq!(go_version(), "1.26.0");
        assert_eq!(digest().len(), 16);
    }

    #[test]
    fn finished_build_is_not_repeated() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("digest");
        fs::create_dir_all(place.join("bin")).unwrap();
        build_into(&place).unwrap();
        assert_eq!(fs::read_dir(place.join("bin")).unwrap().count(), 0);
    }
}
