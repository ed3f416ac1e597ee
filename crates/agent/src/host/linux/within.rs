//! How does a program of the host run, when the host's root is only mounted here?
//!
//! In a container there is nothing but the agent, and no `chroot` to call. So the agent calls itself, and what it then is goes to the root
//! of the host and becomes the program: with the host's libraries, and as if it had been started there.

use std::{
    env,
    ffi::OsString,
    io,
    os::unix::{fs::chroot, process::CommandExt as _},
    path::Path,
    process::Command,
};

/// The argument by which the agent knows that it was called by itself.
pub const ARGUMENT: &str = "--within";

/// Where programs of a host are; what this container calls its path says nothing about it.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What has to stand before a program and its arguments.
pub(super) fn words(root: &Path) -> [OsString; 3] {
    // The program that runs, even if another was installed in its place meanwhile.
    ["/proc/self/exe".into(), ARGUMENT.into(), root.into()]
}

/// Becomes a program of the host whose root is at a path. Comes back only if that is not possible.
pub fn become_program(root: &Path, program: &OsString, arguments: &[OsString]) -> io::Error {
    if let Err(error) = chroot(root).and_then(|()| env::set_current_dir("/")) {
        return error;
    }
    Command::new(program).args(arguments).env("PATH", PATH).exec()
}
