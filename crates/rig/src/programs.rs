//! Which programs does a control plane start from?
//!
//! In this order: the folder that `KUBEBUILDER_ASSETS` names (the ecosystem's convention), else the per-user cache, else a build of
//! the pinned module with the Go toolchain into that cache. What is missing is said together with how to get it.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use crate::module::{self, CONTROL_PLANE};

/// Where the programs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    folder: PathBuf,
}

/// Why there is no real control plane here.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// The folder that the environment names lacks a program.
    #[error(
        "KUBEBUILDER_ASSETS is {folder}, which holds no {program}\nhint: add {program} to that folder, or unset KUBEBUILDER_ASSETS to let the rig build its own"
    )]
    Program {
        /// The folder looked into.
        folder: String,
        /// The program that is not there.
        program: &'static str,
    },
    /// Neither ready programs nor a Go toolchain.
    #[error(
        "no {name}: {instead} is not set, nothing is cached, and there is no Go toolchain to build it\nhint: install Go {go} or later (https://go.dev/dl), or set {instead}: CONTRIBUTING.md says to what"
    )]
    Toolchain {
        /// What would be built.
        name: &'static str,
        /// The variable that would do instead.
        instead: &'static str,
        /// The least Go version.
        go: String,
    },
    /// There is no place to keep what would be built.
    #[error(
        "no folder to keep {name} in: neither XDG_CACHE_HOME nor HOME is set\nhint: set HOME, or {instead}"
    )]
    Cache {
        /// What would be built.
        name: &'static str,
        /// The variable that would do instead.
        instead: &'static str,
    },
    /// A program of ours would have to be reached by a server that is not ours.
    #[error(
        "no {name} beside a lent cluster, whose API server cannot reach it\nhint: unset TIDEGATE_USE_KUBECONFIG"
    )]
    Lent {
        /// What would be reached.
        name: &'static str,
    },
    /// This user may not make what a program has to run in.
    #[error(
        "no machine for {name}: this user may not make namespaces of users, mounts, networks and processes\nhint: unshare -rmnp --fork --mount-proc true has to work; in a container, run it privileged"
    )]
    Namespaces {
        /// What would run there.
        name: &'static str,
    },
    /// There is no browser.
    #[error(
        "no browser: there is no chromium on the PATH, and TIDEGATE_BROWSER names none\nhint: on Debian: apt install chromium"
    )]
    Browser,
    /// There is no axe-core.
    #[error(
        "no axe-core: TIDEGATE_AXE names none, nothing is cached, and npm did not fetch the pinned one\nhint: on Debian: apt install npm"
    )]
    Axe,
    /// A scratch folder could not be made.
    #[error("no scratch folder can be made")]
    Folder(#[source] io::Error),
    /// The build was tried and failed.
    #[error(transparent)]
    Build(#[from] module::BuildError),
}

impl Programs {
    /// Finds the programs, building them when there is no other way. `environment` answers like `std::env::var_os`.
    pub fn find(environment: impl Fn(&str) -> Option<OsString>) -> Result<Programs, Missing> {
        let folder = environment(CONTROL_PLANE.instead).filter(|folder| !folder.is_empty());
        if let Some(folder) = folder {
            return Programs::in_folder(Path::new(&folder));
        }
        Ok(Programs { folder: CONTROL_PLANE.folder(environment)? })
    }

    /// The programs in a folder that somebody else filled. kube-controller-manager may be absent there: the usual bundles leave it out,
    /// and only the suites that need controllers miss it.
    fn in_folder(folder: &Path) -> Result<Programs, Missing> {
        let programs = Programs { folder: folder.to_owned() };
        for program in ["kube-apiserver", "etcd", "kubectl"] {
            programs.path(program)?;
        }
        Ok(programs)
    }

    /// The file of one program.
    pub fn path(&self, program: &'static str) -> Result<PathBuf, Missing> {
        let path = self.folder.join(program);
        if path.is_file() {
            return Ok(path);
        }
        Err(Missing::Program { folder: self.folder.display().to_string(), program })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        folder
    }

    #[test]
    fn named_folder_goes_before_cache() {
        let folder = filled(&["kube-apiserver", "etcd", "kubectl"]);
        let found = Programs::find(|name| match name {
            "KUBEBUILDER_ASSETS" => Some(folder.path().into()),
            _ => panic!("{name} was asked for though the folder was named"),
        });
        assert_eq!(found.unwrap().path("etcd").unwrap(), folder.path().join("etcd"));
    }

    #[test]
    fn cache_is_keyed_by_the_digest_of_the_sums() {
        let home = tempfile::tempdir().unwrap();
        let kept = format!(".cache/tidegate/control-plane/{}/bin", CONTROL_PLANE.digest());
        std::fs::create_dir_all(home.path().join(&kept)).unwrap();
        let found = Programs::find(|name| (name == "HOME").then(|| home.path().into())).unwrap();
        assert_eq!(found.folder, home.path().join(kept));
    }

    #[test]
    fn what_is_missing_is_named_with_a_hint() {
        let without_etcd = filled(&["kube-apiserver", "kubectl"]);
        let without_controllers = filled(&["kube-apiserver", "etcd", "kubectl"]);
        let in_folder = |folder: &tempfile::TempDir| {
            Programs::find(|name| (name == "KUBEBUILDER_ASSETS").then(|| folder.path().into()))
        };
        let problem = in_folder(&without_etcd).unwrap_err().to_string();
        assert!(problem.contains("holds no etcd\nhint: "), "{problem}");
        let programs = in_folder(&without_controllers).unwrap();
        let problem = programs.path("kube-controller-manager").unwrap_err().to_string();
        assert!(problem.contains("holds no kube-controller-manager\nhint: "), "{problem}");
        let problem = Programs::find(|_| None).unwrap_err().to_string();
        assert!(problem.contains("neither XDG_CACHE_HOME nor HOME is set\nhint: "), "{problem}");
    }
}
