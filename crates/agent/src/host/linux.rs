//! How is all that done on Linux?
//!
//! Files through `files`, beneath one folder that is opened once; units and the operating system through the programs of the host
//! in `programs`, which are started `within` its root where that is mounted elsewhere.

mod files;
mod programs;
mod resolve;
mod running;
pub mod within;

use std::{io, os::fd::OwnedFd, path::Path, sync::Arc};

pub use self::programs::{Tell, Wait};
use self::{files::Files, programs::Programs};
use super::{Entry, Folder, Hold, Host, HostError, KernelArguments, UnitState, UnitVerb};
use crate::{beat::Beat, journal::Warrant, path::HostPath};

/// A Linux host, seen from its root.
#[derive(Debug)]
pub struct Linux {
    files: Files,
    programs: Programs,
    /// The lock that keeps other agents from the host.
    held: Option<OwnedFd>,
}

impl Linux {
    /// The host whose root is at a path: `/` on the host itself, the mount point in a container.
    pub fn at(root: &Path) -> io::Result<Self> {
        Ok(Self { files: Files::beneath(root)?, programs: Programs::of(root), held: None })
    }

    /// The same host, whose agent shows there that it lives.
    #[must_use]
    pub fn beating(mut self, beat: Beat) -> Self {
        self.programs.beat = beat;
        self
    }

    /// The same host; somebody is told of programs that take long.
    #[must_use]
    pub fn telling(mut self, tell: impl Fn(Wait) + Send + Sync + 'static) -> Self {
        self.programs.told = Some(Arc::new(tell));
        self
    }
}

impl Host for Linux {
    fn read(&self, path: &HostPath) -> Result<Entry, HostError> {
        self.files.read(path)
    }

    fn list(&self, folder: &HostPath) -> Result<Vec<String>, HostError> {
        self.files.list(folder)
    }

    fn stage(&mut self, path: &HostPath, entry: &Entry) -> Result<(), HostError> {
        // A slow disk and a thousand files are a sign of work, not of death.
        self.beat();
        self.files.stage(path, entry)
    }

    fn unstage(&mut self, path: &HostPath) -> Result<(), HostError> {
        self.files.unstage(path)
    }

    fn publish(&mut self, path: &HostPath) -> Result<(), HostError> {
        self.files.publish(path)
    }

    fn remove(&mut self, path: &HostPath) -> Result<(), HostError> {
        self.files.remove(path)
    }

    fn has_folder(&self, path: &HostPath) -> Result<bool, HostError> {
        self.files.has_folder(path)
    }

    fn make_folder(&mut self, path: &HostPath, folder: Folder) -> Result<(), HostError> {
        self.files.make_folder(path, folder)
    }

    fn remove_folder(&mut self, path: &HostPath) -> Result<(), HostError> {
        self.files.remove_folder(path)
    }

    fn hold(&mut self, path: &HostPath) -> Result<Hold, HostError> {
        if self.held.is_none() {
            self.held = self.files.hold(path)?;
        }
        Ok(if self.held.is_some() { Hold::Ours } else { Hold::Anothers })
    }

    fn beat(&self) {
        self.programs.beat.show();
    }

    fn set_password(&mut self, user: &str, hash: &str) -> Result<(), HostError> {
        self.programs.set_password(user, hash)
    }

    fn unit(&mut self, verb: UnitVerb, name: &str) -> Result<(), HostError> {
        self.programs.unit(verb, name)
    }

    fn unit_state(&self, name: &str) -> Result<UnitState, HostError> {
        self.programs.unit_state(name)
    }

    fn reload_units(&mut self) -> Result<(), HostError> {
        self.programs.reload_units()
    }

    fn kernel_arguments(&mut self, change: &KernelArguments) -> Result<(), HostError> {
        self.programs.kernel_arguments(change)
    }

    fn os_image(&mut self, image: &str) -> Result<(), HostError> {
        self.programs.os_image(image)
    }

    fn forget_os_changes(&mut self) -> Result<(), HostError> {
        self.programs.forget_os_changes()
    }

    fn booted_image(&self) -> Result<Option<String>, HostError> {
        self.programs.booted_image()
    }

    fn boot_id(&self) -> Result<String, HostError> {
        self.programs.boot_id()
    }

    fn reboot(&mut self, warrant: &Warrant) -> Result<(), HostError> {
        self.programs.reboot(warrant)
    }
}
