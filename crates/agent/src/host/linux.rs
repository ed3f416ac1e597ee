//! How is all that done on Linux?
//!
//! Files through `files`, beneath one folder that is opened once; units and the operating system through the programs of the host
//! in `programs`, which are started `within` its root where that is mounted elsewhere.

mod files;
mod programs;
mod resolve;
pub mod within;

use std::{io, path::Path};

use self::{files::Files, programs::Programs};
use super::{Entry, Host, HostError, KernelArguments, UnitState, UnitVerb};
use crate::{journal::Warrant, path::HostPath};

/// A Linux host, seen from its root.
#[derive(Debug)]
pub struct Linux {
    files: Files,
    programs: Programs,
}

impl Linux {
    /// The host whose root is at a path: `/` on the host itself, the mount point in a container.
    pub fn at(root: &Path) -> io::Result<Self> {
        Ok(Self { files: Files::beneath(root)?, programs: Programs::of(root) })
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
        programs::boot_id()
    }

    fn reboot(&mut self, warrant: &Warrant) -> Result<(), HostError> {
        self.programs.reboot(warrant)
    }
}
