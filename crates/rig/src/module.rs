//! How are the pinned programs built?
//!
//! Each module's `go.mod` and `go.sum` are part of this crate, so the digest of `go.sum` names exactly one set of programs. They are
//! built beside their final place and renamed into it: a folder under its final name is complete. A file lock lets one of several
//! test binaries build while the others wait.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::programs::Missing;

/// A Go module of this crate, and what is built from it.
pub(crate) struct Module {
    /// The folder in the cache.
    pub(crate) name: &'static str,
    /// The variable that names ready programs instead.
    pub(crate) instead: &'static str,
    go_mod: &'static str,
    go_sum: &'static str,
    /// Sources of this crate that are part of the module, each with its path there.
    sources: &'static [(&'static str, &'static str)],
    /// The module whose version the programs bear.
    versioned: &'static str,
    /// Each program with its package.
    programs: &'static [(&'static str, &'static str)],
    /// Each file that is taken out of the module whose version counts, with its path there.
    files: &'static [(&'static str, &'static str)],
    /// Where the programs expect their version at link time.
    stamps: fn(&str) -> String,
    /// How long the first build takes, for whoever waits.
    patience: &'static str,
}

/// etcd, the API server, its controllers and kubectl.
pub(crate) const CONTROL_PLANE: Module = Module {
    name: "control-plane",
    instead: "KUBEBUILDER_ASSETS",
    go_mod: include_str!("../control-plane/go.mod"),
    go_sum: include_str!("../control-plane/go.sum"),
    sources: &[],
    versioned: "k8s.io/kubernetes",
    programs: &[
        ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
        ("etcd", "go.etcd.io/etcd/server/v3"),
        ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ],
    files: &[],
    stamps: kubernetes_stamps,
    patience: "five minutes or more",
};

/// What renders and installs the chart.
pub(crate) const HELM: Module = Module {
    name: "helm",
    instead: "TIDEGATE_HELM",
    go_mod: include_str!("../helm/go.mod"),
    go_sum: include_str!("../helm/go.sum"),
    sources: &[],
    versioned: "helm.sh/helm/v4",
    programs: &[("helm", "helm.sh/helm/v4/cmd/helm")],
    files: &[],
    stamps: |version| format!(" -X helm.sh/helm/v4/internal/version.version={version}"),
    patience: "three minutes or more",
};

/// The definitions that a stock OpenShift serves.
pub(crate) const OPENSHIFT: Module = Module {
    name: "openshift",
    instead: "TIDEGATE_OPENSHIFT",
    go_mod: include_str!("../openshift/go.mod"),
    go_sum: include_str!("../openshift/go.sum"),
    sources: &[],
    versioned: "github.com/openshift/api",
    programs: &[],
    files: &[
        (
            "clusterversions.yaml",
            "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
        ),
        (
            "machineconfigpools.yaml",
            "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools.crd.yaml",
        ),
    ],
    stamps: |_| String::new(),
    patience: "a few seconds",
};

/// The manager of Cluster API: clusters, machines and all that is between them, with the definitions that it serves.
pub(crate) const CLUSTER_API: Module = Module {
    name: "cluster-api",
    instead: "TIDEGATE_CLUSTER_API",
    go_mod: include_str!("../cluster-api/go.mod"),
    go_sum: include_str!("../cluster-api/go.sum"),
    sources: &[],
    versioned: "sigs.k8s.io/cluster-api",
    programs: &[("cluster-api", "sigs.k8s.io/cluster-api")],
    files: &[
        (
            "clusterresourcesetbindings.yaml",
            "config/crd/bases/addons.cluster.x-k8s.io_clusterresourcesetbindings.yaml",
        ),
        (
            "clusterresourcesets.yaml",
            "config/crd/bases/addons.cluster.x-k8s.io_clusterresourcesets.yaml",
        ),
        ("clusterclasses.yaml", "config/crd/bases/cluster.x-k8s.io_clusterclasses.yaml"),
        ("clusters.yaml", "config/crd/bases/cluster.x-k8s.io_clusters.yaml"),
        ("machinedeployments.yaml", "config/crd/bases/cluster.x-k8s.io_machinedeployments.yaml"),
        ("machinedrainrules.yaml", "config/crd/bases/cluster.x-k8s.io_machinedrainrules.yaml"),
        ("machinehealthchecks.yaml", "config/crd/bases/cluster.x-k8s.io_machinehealthchecks.yaml"),
        ("machinepools.yaml", "config/crd/bases/cluster.x-k8s.io_machinepools.yaml"),
        ("machines.yaml", "config/crd/bases/cluster.x-k8s.io_machines.yaml"),
        ("machinesets.yaml", "config/crd/bases/cluster.x-k8s.io_machinesets.yaml"),
        ("ipaddressclaims.yaml", "config/crd/bases/ipam.cluster.x-k8s.io_ipaddressclaims.yaml"),
        ("ipaddresses.yaml", "config/crd/bases/ipam.cluster.x-k8s.io_ipaddresses.yaml"),
        (
            "extensionconfigs.yaml",
            "config/crd/bases/runtime.cluster.x-k8s.io_extensionconfigs.yaml",
        ),
    ],
    stamps: |version| format!(" -X sigs.k8s.io/cluster-api/version.gitVersion={version}"),
    patience: "five minutes or more",
};

/// What reboots nodes, with the rights that it asks for, and the machine that it takes for a node.
pub(crate) const KURED: Module = Module {
    name: "kured",
    instead: "TIDEGATE_KURED",
    go_mod: include_str!("../kured/go.mod"),
    go_sum: include_str!("../kured/go.sum"),
    sources: &[("machine/main.go", include_str!("../kured/machine/main.go"))],
    versioned: "github.com/kubereboot/kured",
    programs: &[
        ("kured", "github.com/kubereboot/kured/cmd/kured"),
        ("machine", "tidegate.dev/rig/kured/machine"),
    ],
    files: &[("rights.yaml", "kured-rbac.yaml"), ("daemonset.yaml", "kured-ds.yaml")],
    stamps: |version| format!(" -X main.version={version}"),
    patience: "two minutes or more",
};

/// Without these a server built from modules calls itself v0.0.0-master, and kubectl warns of skew.
fn kubernetes_stamps(version: &str) -> String {
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    [("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)]
        .map(|(name, value)| format!(" -X k8s.io/component-base/version.{name}={value}"))
        .concat()
}

/// Why the programs could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The cache folder could not be written.
    #[error("the programs cannot be kept in {folder}")]
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

impl Module {
    /// The folder of the programs in the cache of this user, filled by a build when there is no other way. `environment` answers like
    /// `std::env::var_os`.
    pub(crate) fn folder(
        &self,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<PathBuf, Missing> {
        let variable = |name| environment(name).filter(|value| !value.is_empty());
        let place = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")))
            .ok_or(Missing::Cache { name: self.name, instead: self.instead })?
            .join("tidegate")
            .join(self.name)
            .join(self.digest());
        if !place.join("bin").is_dir() {
            if !toolchain_runs() {
                return Err(Missing::Toolchain {
                    name: self.name,
                    instead: self.instead,
                    go: self.go_version().to_owned(),
                });
            }
            self.build_into(&place)?;
        }
        Ok(place.join("bin"))
    }

    /// The names of the files that are taken out of the module.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// Names the programs: the start of the SHA-256 of `go.sum`, and of the sources that are this crate's.
    pub(crate) fn digest(&self) -> String {
        let sources = self.sources.iter().map(|(_, text)| *text);
        let text: String = [self.go_sum].into_iter().chain(sources).collect();
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        crate::hex(&digest.as_ref()[..8])
    }

    /// The version of the programs, such as `v1.36.3`.
    pub(crate) fn version(&self) -> &'static str {
        // Required in a block, after a tab, or alone, after the word.
        let required = self.word_after(&format!("\t{} ", self.versioned));
        required
            .or_else(|| self.word_after(&format!("require {} ", self.versioned)))
            .unwrap_or("of the version in go.mod")
    }

    /// The least Go version that builds it.
    fn go_version(&self) -> &'static str {
        self.word_after("\ngo ").unwrap_or("of the version in go.mod")
    }

    fn word_after(&self, mark: &str) -> Option<&'static str> {
        let (_, rest) = self.go_mod.split_once(mark)?;
        rest.split_whitespace().next()
    }

    /// Builds all programs into `<place>/bin`, unless somebody else just did.
    fn build_into(&self, place: &Path) -> Result<(), BuildError> {
        let keep = |source| BuildError::Keep { folder: place.display().to_string(), source };
        let beside = place.with_extension("building");
        fs::create_dir_all(place.parent().unwrap_or(place)).map_err(keep)?;
        let lock = File::create(place.with_extension("lock")).map_err(keep)?;
        if lock.try_lock().is_err() {
            say(&format!("another build of {} is under way; waiting for it", self.name));
            lock.lock().map_err(keep)?;
        }
        if place.join("bin").is_dir() {
            return Ok(());
        }
        fs::create_dir_all(beside.join("bin")).map_err(keep)?;
        fs::write(beside.join("go.mod"), self.go_mod).map_err(keep)?;
        fs::write(beside.join("go.sum"), self.go_sum).map_err(keep)?;
        for (path, text) in self.sources {
            let path = beside.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&beside)).map_err(keep)?;
            fs::write(path, text).map_err(keep)?;
        }
        say(&format!(
            "building {} {} with Go into {}: {}, once",
            self.name,
            self.version(),
            place.display(),
            self.patience
        ));
        for (index, (program, package)) in self.programs.iter().enumerate() {
            say(&format!("  {} of {}: {program} ...", index + 1, self.programs.len()));
            let begun = Instant::now();
            self.build(program, package, &beside)?;
            say(&format!("    done after {} s", begun.elapsed().as_secs()));
        }
        if !self.files.is_empty() {
            let source = self.download(&beside)?;
            for (name, path) in self.files {
                fs::copy(source.join(path), beside.join("bin").join(name)).map_err(keep)?;
            }
        }
        fs::rename(&beside, place).map_err(keep)
    }

    /// The folder of the module whose version counts, as the toolchain keeps it after it compared it with `go.sum`.
    fn download(&self, beside: &Path) -> Result<PathBuf, BuildError> {
        let module = format!("{}@{}", self.versioned, self.version());
        let said = Command::new("go")
            .current_dir(beside)
            .args(["mod", "download", "-json", &module])
            .env("GOWORK", "off")
            .stdin(Stdio::null())
            .output();
        let output = match said {
            Ok(said) if said.status.success() => {
                let answer: serde_json::Value =
                    serde_json::from_slice(&said.stdout).unwrap_or_default();
                match answer["Dir"].as_str() {
                    Some(folder) => return Ok(PathBuf::from(folder)),
                    None => format!("no folder is told of {module}"),
                }
            }
            Ok(said) => {
                let words = [said.stdout, said.stderr].concat();
                String::from_utf8_lossy(&words).into_owned()
            }
            Err(problem) => problem.to_string(),
        };
        Err(BuildError::Go { program: self.name, output })
    }

    fn build(&self, program: &'static str, package: &str, beside: &Path) -> Result<(), BuildError> {
        let stamps = (self.stamps)(self.version());
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
}

/// Whether a Go toolchain answers.
fn toolchain_runs() -> bool {
    Command::new("go")
        .arg("version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|answer| answer.status.success())
}

/// Progress goes past the test runner's capture: whoever waits five minutes shall see why.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "rig: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_modules() {
        let openshift = (OPENSHIFT, "v0.0.0-20251015095338-264e80a2b6e7");
        let cluster_api = (CLUSTER_API, "v1.13.4");
        let kured = (KURED, "v1.13.1");
        for (module, version) in
            [(CONTROL_PLANE, "v1.36.3"), (HELM, "v4.3.1"), openshift, cluster_api, kured]
        {
            assert_eq!(module.version(), version);
            assert_eq!(module.go_version(), "1.26.0");
            assert_eq!(module.digest().len(), 16);
        }
        assert_ne!(CONTROL_PLANE.digest(), HELM.digest());
    }

    #[test]
    fn finished_build_is_not_repeated() {
        let cache = tempfile::tempdir().unwrap();
        let place = cache.path().join("digest");
        fs::create_dir_all(place.join("bin")).unwrap();
        HELM.build_into(&place).unwrap();
        assert_eq!(fs::read_dir(place.join("bin")).unwrap().count(), 0);
    }
}
