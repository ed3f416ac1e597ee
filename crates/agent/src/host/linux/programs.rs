//! Which programs of the host are asked, and how?
//!
//! systemd for units and the restart; rpm-ostree, or bootc where there is no rpm-ostree, for the operating system. Arguments are
//! handed over as they are, never through a shell. Everything here may be repeated.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;

use super::{
    super::{HostError, KernelArguments, UnitState, UnitVerb},
    running, within,
};
use crate::{beat::Beat, journal::Warrant};

/// The programs of a host.
pub(super) struct Programs {
    root: PathBuf,
    /// The program that starts them there, with its arguments; none on the host itself.
    through: Vec<OsString>,
    /// What shows that the agent lives while it waits for them.
    pub(super) beat: Beat,
    /// Who is told of one that takes long.
    pub(super) told: Option<Tell>,
    /// When it takes long.
    slow: Duration,
    /// How long each may take.
    most: fn(&str, &[&str]) -> Duration,
}

/// Who is told of a program that takes long.
pub type Tell = Arc<dyn Fn(Wait) + Send + Sync>;

/// What is to be told of a program that takes long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It has been running for a while.
    Long {
        /// The program with its arguments.
        command: String,
        /// How long it may take.
        most: Duration,
    },
    /// One that was told of has ended, or was killed.
    Over,
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("root", &self.root).finish_non_exhaustive()
    }
}

/// When a program takes long: most of them end within a second, and a person who looks at a node after half a minute wants to know why
/// nothing moves.
const SLOW: Duration = Duration::from_secs(30);

/// How long a program may take. What only talks to systemd or reads a status is a matter of seconds. A service may stop and start for
/// ninety seconds each by systemd's own rule, and some are given more. A new deployment is written in minutes, and the image of an
/// operating system may come over a thin line: an hour is slower than anybody would wait for by hand. Whatever ends here is tried again,
/// so that a limit that is too low costs time and nothing else.
fn most(program: &str, arguments: &[&str]) -> Duration {
    let minutes = match (program, arguments.first().copied().unwrap_or_default()) {
        ("systemctl", "restart" | "reload-or-restart") => 10,
        ("systemctl", _) | (_, "status") => 2,
        ("rpm-ostree", "rebase") | ("bootc", "switch") => 60,
        ("rpm-ostree" | "bootc", _) => 30,
        _ => 1,
    };
    Duration::from_mins(minutes)
}

/// How much of what a program says is kept: enough for its last words, not enough to fill an annotation.
const LAST_WORDS: usize = 500;

impl Programs {
    pub(super) fn of(root: &Path) -> Self {
        let through =
            if root == Path::new("/") { Vec::new() } else { within::words(root).to_vec() };
        let (root, beat) = (root.to_owned(), Beat::default());
        Self { root, through, beat, told: None, slow: SLOW, most }
    }

    pub(super) fn set_password(&self, user: &str, hash: &str) -> Result<(), HostError> {
        // Through its input: what stands on a command line can be read by everybody.
        let line = format!("{user}:{hash}\n");
        let output = self.run_with("chpasswd", &["--encrypted"], line.as_bytes())?;
        judged("chpasswd", &["--encrypted"], output).map(drop)
    }

    pub(super) fn unit(&self, verb: UnitVerb, name: &str) -> Result<(), HostError> {
        let word = match verb {
            // As upstream: what cannot reload is started anew.
            UnitVerb::Reload => "reload-or-restart",
            other => other.as_str(),
        };
        let done = self.succeed("systemctl", &[word, "--", name]).map(drop);
        if let (Err(HostError::Overdue { .. }), UnitVerb::Restart) = (&done, verb) {
            // The job is systemd's and goes on without the program that asked for it: a later restart, with the old file, would only join
            // it and wait too. The unit does not run anyway.
            let _ = self.run("systemctl", &["stop", "--no-block", "--", name]);
        }
        done
    }

    pub(super) fn unit_state(&self, name: &str) -> Result<UnitState, HostError> {
        // The exit code is 1 for a unit that is disabled or not there: the word decides.
        let output = self.run("systemctl", &["is-enabled", "--", name])?;
        Ok(match String::from_utf8_lossy(&output.stdout).trim() {
            "enabled" | "enabled-runtime" => UnitState::Enabled,
            "disabled" => UnitState::Disabled,
            "static" => UnitState::Static,
            _ => UnitState::Neither,
        })
    }

    pub(super) fn reload_units(&self) -> Result<(), HostError> {
        self.succeed("systemctl", &["daemon-reload"]).map(drop)
    }

    pub(super) fn kernel_arguments(&self, change: &KernelArguments) -> Result<(), HostError> {
        if !self.has("rpm-ostree") {
            return Err(HostError::Lacks("rpm-ostree to change the arguments of the kernel"));
        }
        let removed = change.remove.iter().map(|text| format!("--delete-if-present={text}"));
        let appended = change.append.iter().map(|text| format!("--append-if-missing={text}"));
        let arguments: Vec<String> =
            std::iter::once("kargs".to_owned()).chain(removed).chain(appended).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.succeed("rpm-ostree", &arguments).map(drop)
    }

    pub(super) fn os_image(&self, image: &str) -> Result<(), HostError> {
        if self.has("rpm-ostree") {
            // rpm-ostree takes it for a mistake to be asked for what comes anyway.
            if self.deployed(<[Value]>::first)?.as_deref() == Some(image) {
                return Ok(());
            }
            let reference = format!("ostree-unverified-registry:{image}");
            return self
                .succeed("rpm-ostree", &["rebase", "--experimental", "--", &reference])
                .map(drop);
        }
        if self.has("bootc") {
            return self.succeed("bootc", &["switch", "--", image]).map(drop);
        }
        Err(HostError::Lacks("rpm-ostree and no bootc to change the operating system"))
    }

    pub(super) fn forget_os_changes(&self) -> Result<(), HostError> {
        if self.has("rpm-ostree") {
            return self.succeed("rpm-ostree", &["cleanup", "--pending"]).map(drop);
        }
        if self.has("bootc") && self.staged()? {
            // bootc has no word for dropping what is staged; its rollback queues the deployment that runs.
            return self.succeed("bootc", &["rollback"]).map(drop);
        }
        Ok(())
    }

    pub(super) fn booted_image(&self) -> Result<Option<String>, HostError> {
        if self.has("rpm-ostree") {
            let booted = |one: &&Value| one.get("booted") == Some(&true.into());
            return self.deployed(|deployments| deployments.iter().find(booted));
        }
        if self.has("bootc") {
            let status = self.status("bootc", &["status", "--json"])?;
            let image = status.pointer("/status/booted/image/image/image").and_then(Value::as_str);
            return Ok(image.map(str::to_owned));
        }
        Ok(None)
    }

    /// The image of one deployment of rpm-ostree; the first is the one that the next start takes.
    fn deployed(
        &self,
        choose: impl Fn(&[Value]) -> Option<&Value>,
    ) -> Result<Option<String>, HostError> {
        let status = self.status("rpm-ostree", &["status", "--json"])?;
        let deployments = status.get("deployments").and_then(Value::as_array);
        let chosen = deployments.and_then(|deployments| choose(deployments));
        let reference = chosen.and_then(|one| one.get("container-image-reference"));
        Ok(reference.and_then(Value::as_str).map(|reference| image_of(reference).to_owned()))
    }

    fn staged(&self) -> Result<bool, HostError> {
        let status = self.status("bootc", &["status", "--json"])?;
        Ok(status.pointer("/status/staged").is_some_and(|staged| !staged.is_null()))
    }

    pub(super) fn reboot(&self, warrant: &Warrant) -> Result<(), HostError> {
        let message = format!("--message=tidegate-agent: {}", warrant.reason());
        self.succeed("systemctl", &["reboot", &message]).map(drop)
    }

    /// Whether the host has a program.
    fn has(&self, name: &str) -> bool {
        ["usr/bin", "usr/sbin"].iter().any(|folder| self.root.join(folder).join(name).exists())
    }

    fn status(&self, program: &'static str, arguments: &[&str]) -> Result<Value, HostError> {
        let output = self.succeed(program, arguments)?;
        serde_json::from_slice(&output.stdout).map_err(|_| HostError::Unreadable("image status"))
    }

    fn succeed(&self, program: &'static str, arguments: &[&str]) -> Result<Output, HostError> {
        judged(program, arguments, self.run(program, arguments)?)
    }

    fn run(&self, program: &'static str, arguments: &[&str]) -> Result<Output, HostError> {
        self.run_with(program, arguments, b"")
    }

    fn run_with(
        &self,
        program: &'static str,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Output, HostError> {
        let mut words = self.through.iter().map(OsString::as_os_str).chain([OsStr::new(program)]);
        // There is always one: the program itself comes last.
        let mut command = Command::new(words.next().unwrap_or(OsStr::new(program)));
        command.args(words).args(arguments);
        // Arguments of the kernel and images take effect when the kernel starts anew, not when only userspace does.
        command.env("SYSTEMCTL_SKIP_AUTO_SOFT_REBOOT", "1");
        let most = (self.most)(program, arguments);
        let mut told = false;
        let ended = running::run(&mut command, input.to_vec(), most, |passed| {
            self.beat.show();
            if passed >= self.slow && !told {
                told = true;
                self.tell(Wait::Long { command: spelled(program, arguments), most });
            }
        });
        if told {
            self.tell(Wait::Over);
        }
        match ended {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(HostError::Overdue { command: spelled(program, arguments), most }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(HostError::Lacks(program)),
            Err(error) => {
                let (command, said) = (spelled(program, arguments), error.to_string());
                Err(HostError::Program { command, said })
            }
        }
    }

    fn tell(&self, wait: Wait) {
        if let Some(told) = &self.told {
            told(wait);
        }
    }

    /// Which start of the node this is.
    pub(super) fn boot_id(&self) -> Result<String, HostError> {
        const PLACE: &str = "proc/sys/kernel/random/boot_id";
        // Of the host, beneath its root: where nodes are nested, or an id is mounted over the kernel's, the one that a container sees
        // is another, and stays when the node starts anew. A folder that stands for a host has no such file.
        let text = match fs::read_to_string(self.root.join(PLACE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::read_to_string(Path::new("/").join(PLACE))
            }
            text => text,
        };
        text.map(|text| text.trim().to_owned()).map_err(|_| HostError::Unreadable("boot id"))
    }
}

/// The image in a reference of ostree, which says first how it is fetched and how far it is trusted.
fn image_of(reference: &str) -> &str {
    const MANNERS: &[&str] = &[
        "ostree-unverified-registry:",
        "ostree-unverified-image:docker://",
        "ostree-unverified-image:registry:",
        "ostree-image-signed:docker://",
        "ostree-image-signed:registry:",
    ];
    MANNERS.iter().find_map(|manner| reference.strip_prefix(manner)).unwrap_or(reference)
}

/// What a program printed, if it succeeded.
fn judged(program: &str, arguments: &[&str], output: Output) -> Result<Output, HostError> {
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.trim().chars().rev().take(LAST_WORDS).collect();
    let said: String = said.chars().rev().collect();
    let said = if said.is_empty() { output.status.to_string() } else { said };
    Err(HostError::Program { command: spelled(program, arguments), said })
}

fn spelled(program: &str, arguments: &[&str]) -> String {
    std::iter::once(program).chain(arguments.iter().copied()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
