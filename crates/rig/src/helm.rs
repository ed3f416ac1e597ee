//! How is the chart rendered, linted and installed? By the pinned Helm, told apart from whatever Helm its user has set up: it keeps its own
//! settings in a folder that goes with it, and sees no plugin.
//!
//! `TIDEGATE_HELM` names another program; else it comes from the per-user cache, else from a build of the pinned module.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{module::HELM, programs::Missing};

/// A Helm to run.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    settings: tempfile::TempDir,
}

/// Helm did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It could not be started.
    #[error("{program} cannot be started")]
    Start {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It ended with an error, and said this.
    #[error("{0}")]
    Said(String),
}

impl Helm {
    /// Finds the program, building it when there is no other way. `environment` answers like `std::env::var_os`.
    pub fn find(environment: impl Fn(&str) -> Option<OsString>) -> Result<Helm, Missing> {
        let named = environment(HELM.instead).filter(|program| !program.is_empty());
        let program = match named {
            Some(program) => PathBuf::from(program),
            None => HELM.folder(environment)?.join("helm"),
        };
        let settings = tempfile::Builder::new().prefix("tidegate-helm-").tempdir();
        Ok(Helm { program, settings: settings.map_err(Missing::Folder)? })
    }

    /// Runs it and gives back what it printed.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<String, Refused> {
        let folder = |name: &str| self.settings.path().join(name);
        let output = Command::new(&self.program)
            .args(arguments)
            .env("HELM_CACHE_HOME", folder("cache"))
            .env("HELM_CONFIG_HOME", folder("config"))
            .env("HELM_DATA_HOME", folder("data"))
            .env("HELM_PLUGINS", folder("plugins"))
            // Nothing may reach a cluster that the call does not name.
            .env("KUBECONFIG", folder("none"))
            .stdin(Stdio::null())
            .output()
            .map_err(|source| Refused::Start {
                program: self.program.display().to_string(),
                source,
            })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(Refused::Said(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// The objects a chart comes to, as text, for the release `tidegate` with these values, each as in `replicas=1`.
    pub fn render(
        &self,
        chart: &Path,
        namespace: &str,
        values: &[&str],
    ) -> Result<String, Refused> {
        let mut arguments: Vec<&OsStr> = ["template", "tidegate"].map(OsStr::new).to_vec();
        arguments.extend([chart.as_os_str(), OsStr::new("--namespace"), OsStr::new(namespace)]);
        arguments.extend(values.iter().flat_map(|value| ["--set", value]).map(OsStr::new));
        self.run(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_program_goes_before_the_pinned_one() {
        let helm = Helm::find(|name| match name {
            "TIDEGATE_HELM" => Some("/opt/helm".into()),
            _ => panic!("{name} was asked for though the program was named"),
        });
        assert_eq!(helm.unwrap().program, Path::new("/opt/helm"));
    }

    #[test]
    fn failure_carries_what_the_program_said() {
        let echo = |name: &str| (name == "TIDEGATE_HELM").then(|| "sh".into());
        let shell = Helm::find(echo).unwrap();
        assert_eq!(
            shell.run(["-c", "echo $HELM_CONFIG_HOME | grep -c tidegate-helm-"]).unwrap(),
            "1\n"
        );
        let said = shell.run(["-c", "echo no such chart >&2; exit 1"]).unwrap_err();
        assert_eq!(said.to_string(), "no such chart\n");
        let missing = Helm::find(|name| (name == "TIDEGATE_HELM").then(|| "/nowhere/helm".into()));
        let said = missing.unwrap().run(["version"]).unwrap_err();
        assert_eq!(said.to_string(), "/nowhere/helm cannot be started");
    }
}
