//! How does a file change so that everybody sees the old one or the new one, whenever power is lost? (NODE-1)
//!
//! The new one is written beside the old one, made durable, and renamed over it; then the folder is made durable. A file that is no
//! plain file is neither read nor replaced.

use std::{
    fs::File as StdFile,
    io::{self, Read as _, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{self, AtFlags, Dir, FileType, FlockOperation, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use super::{
    super::{Entry, File, Folder, HostError},
    resolve::{self, Lost, Missing},
};
use crate::{digest, path::HostPath};

/// The files beneath one folder. Whoever owns the folder is root there: on a host that is root indeed, and a folder of somebody's
/// own can stand for a host without any rights.
#[derive(Debug)]
pub(super) struct Files {
    root: OwnedFd,
    uid: u32,
    gid: u32,
}

/// The largest file that is read. A configuration holds less than two MiB in all; what it replaces may be somewhat larger, and the
/// agent has fifteen MiB for everything.
const LARGEST: u64 = 8 << 20;

impl Files {
    pub(super) fn beneath(root: &Path) -> io::Result<Self> {
        let root: OwnedFd = StdFile::open(root)?.into();
        let found = fs::fstat(&root)?;
        Ok(Self { root, uid: found.st_uid, gid: found.st_gid })
    }

    pub(super) fn read(&self, path: &HostPath) -> Result<Entry, HostError> {
        let folder = match self.folder(path, Missing::Report) {
            Ok(folder) => folder,
            Err(Lost::System(Errno::NOENT)) => return Ok(Entry::Absent),
            Err(lost) => return Err(refused(path, "read", lost)),
        };
        let failed = |errno: Errno| failure(path, "read", errno);
        // Opening a device can already do something, so it is looked at first and opened without waiting.
        match kind(&folder, path)? {
            None => return Ok(Entry::Absent),
            Some(FileType::Symlink) => {
                let target = fs::readlinkat(&folder, path.name(), Vec::new()).map_err(failed)?;
                let target = target.into_string().map_err(|_| failed(Errno::ILSEQ))?;
                return Ok(Entry::Link(target));
            }
            Some(FileType::RegularFile) => {}
            Some(_) => return Err(odd(path)),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = fs::openat(&folder, path.name(), flags, Mode::empty()).map_err(failed)?;
        let found = fs::fstat(&opened).map_err(failed)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(odd(path));
        }
        if found.st_size as u64 > LARGEST {
            return Err(HostError::Refused { path: path.clone(), why: "it is larger than 8 MiB" });
        }
        let mut content = Vec::with_capacity(found.st_size as usize);
        StdFile::from(opened)
            .take(LARGEST)
            .read_to_end(&mut content)
            .map_err(|source| HostError::File { verb: "read", path: path.clone(), source })?;
        let mode = found.st_mode & 0o7777;
        let uid = if found.st_uid == self.uid { 0 } else { found.st_uid };
        let gid = if found.st_gid == self.gid { 0 } else { found.st_gid };
        Ok(Entry::File(File { content, mode, uid, gid }))
    }

    pub(super) fn list(&self, path: &HostPath) -> Result<Vec<String>, HostError> {
        let failed = |errno| failure(path, "list", errno);
        let folder = match resolve::folder(self.root.as_fd(), path.parts(), Missing::Report) {
            Ok(folder) => folder,
            Err(Lost::System(Errno::NOENT)) => return Ok(Vec::new()),
            Err(lost) => return Err(refused(path, "list", lost)),
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Ok(name) = entry.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    pub(super) fn stage(&self, path: &HostPath, entry: &Entry) -> Result<(), HostError> {
        let folder =
            self.folder(path, Missing::Make).map_err(|lost| refused(path, "write", lost))?;
        if !matches!(kind(&folder, path)?, None | Some(FileType::RegularFile | FileType::Symlink)) {
            return Err(odd(path));
        }
        let beside = beside(path);
        let failed = |errno| failure(path, "write", errno);
        gone(&folder, &beside).map_err(failed)?;
        match entry {
            Entry::Absent => Ok(()),
            Entry::Link(target) => {
                fs::symlinkat(target.as_str(), &folder, beside.as_str()).map_err(failed)
            }
            Entry::File(file) => self
                .write(&folder, &beside, file)
                .map_err(|source| HostError::File { verb: "write", path: path.clone(), source }),
        }
    }

    pub(super) fn publish(&self, path: &HostPath) -> Result<(), HostError> {
        let folder =
            self.folder(path, Missing::Report).map_err(|lost| refused(path, "replace", lost))?;
        let failed = |errno| failure(path, "replace", errno);
        fs::renameat(&folder, beside(path).as_str(), &folder, path.name()).map_err(failed)?;
        fs::fsync(&folder).map_err(failed)
    }

    pub(super) fn unstage(&self, path: &HostPath) -> Result<(), HostError> {
        self.clear(path, &beside(path))
    }

    pub(super) fn remove(&self, path: &HostPath) -> Result<(), HostError> {
        self.clear(path, path.name())
    }

    pub(super) fn has_folder(&self, path: &HostPath) -> Result<bool, HostError> {
        match resolve::folder(self.root.as_fd(), path.parts(), Missing::Report) {
            Ok(_) => Ok(true),
            Err(Lost::System(Errno::NOENT | Errno::NOTDIR)) => Ok(false),
            Err(lost) => Err(refused(path, "look at", lost)),
        }
    }

    pub(super) fn make_folder(&self, path: &HostPath, made: Folder) -> Result<(), HostError> {
        if self.has_folder(path)? {
            return Ok(());
        }
        let folder =
            self.folder(path, Missing::Make).map_err(|lost| refused(path, "make", lost))?;
        let Folder { mode, uid, gid } = made;
        let owner = (own(uid, self.uid), own(gid, self.gid));
        resolve::make(folder.as_fd(), path.name(), mode, Some(owner))
            .map_err(|errno| failure(path, "make", errno))
    }

    pub(super) fn remove_folder(&self, path: &HostPath) -> Result<(), HostError> {
        let folder = match self.folder(path, Missing::Report) {
            Ok(folder) => folder,
            Err(Lost::System(Errno::NOENT)) => return Ok(()),
            Err(lost) => return Err(refused(path, "remove", lost)),
        };
        let failed = |errno| failure(path, "remove", errno);
        match fs::unlinkat(&folder, path.name(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            Err(errno) => return Err(failed(errno)),
        }
        fs::fsync(&folder).map_err(failed)
    }

    /// The lock on a file; none if somebody else has it.
    pub(super) fn hold(&self, path: &HostPath) -> Result<Option<OwnedFd>, HostError> {
        let folder =
            self.folder(path, Missing::Make).map_err(|lost| refused(path, "lock", lost))?;
        let failed = |errno| failure(path, "lock", errno);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let opened = fs::openat(&folder, path.name(), flags, mode).map_err(failed)?;
        match fs::flock(&opened, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(opened)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(failed(errno)),
        }
    }

    fn clear(&self, path: &HostPath, name: &str) -> Result<(), HostError> {
        let folder = match self.folder(path, Missing::Report) {
            Ok(folder) => folder,
            Err(Lost::System(Errno::NOENT)) => return Ok(()),
            Err(lost) => return Err(refused(path, "remove", lost)),
        };
        let failed = |errno| failure(path, "remove", errno);
        gone(&folder, name).map_err(failed)?;
        fs::fsync(&folder).map_err(failed)
    }

    fn folder(&self, path: &HostPath, missing: Missing) -> Result<OwnedFd, Lost> {
        resolve::folder(self.root.as_fd(), path.folder(), missing)
    }

    fn write(&self, folder: &OwnedFd, name: &str, file: &File) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else may read it before its owner and mode are right.
        let opened = fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
        let mut opened = StdFile::from(opened);
        opened.write_all(&file.content)?;
        let (uid, gid) = (own(file.uid, self.uid), own(file.gid, self.gid));
        fs::fchown(&opened, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        fs::fchmod(&opened, Mode::from_raw_mode(file.mode))?;
        opened.sync_all()
    }
}

/// Whoever owns the root is root.
fn own(id: u32, root: u32) -> u32 {
    if id == 0 { root } else { id }
}

fn kind(folder: &OwnedFd, path: &HostPath) -> Result<Option<FileType>, HostError> {
    match fs::statat(folder, path.name(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(failure(path, "look at", errno)),
    }
}

/// The name under which a new file waits. It follows from the path, so that a start after a loss of power finds it again.
fn beside(path: &HostPath) -> String {
    format!(".tidegate-{}", digest::short(path.as_str().as_bytes()))
}

fn gone(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn failure(path: &HostPath, verb: &'static str, errno: Errno) -> HostError {
    HostError::File { verb, path: path.clone(), source: errno.into() }
}

fn odd(path: &HostPath) -> HostError {
    HostError::Refused { path: path.clone(), why: "what stands there is no plain file" }
}

fn refused(path: &HostPath, verb: &'static str, lost: Lost) -> HostError {
    let why = match lost {
        Lost::System(Errno::LOOP | Errno::XDEV) => "a link appeared on the way to it",
        Lost::System(errno) => return failure(path, verb, errno),
        Lost::AboveRoot => "it leads above the root",
        Lost::ForeignLink => "it goes through a link that the owner of the root did not make",
        Lost::TooManyLinks => "it goes through too many links",
    };
    HostError::Refused { path: path.clone(), why }
}

#[cfg(test)]
mod tests;
