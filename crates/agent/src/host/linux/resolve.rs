//! Which folder does a path lead to, without a trick?
//!
//! The folder is opened with `openat2` beneath the root and through no link at all, so that nobody can change its meaning on the way.
//! Hosts do have links in their paths (`/opt` is `var/opt` on an image-based system); those are replaced by what they say first, if
//! whoever owns the root made them. A link that anybody else made is refused: a user who may write a folder must not be able to
//! move a file of the configuration to another place.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::{
    fs::{self, AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Uid},
    io::{Errno, Result},
};

/// What is to become of folders that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// They are made.
    Make,
    /// They end the search.
    Report,
}

/// Where a path cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The system said so.
    System(Errno),
    /// It leads above the root.
    AboveRoot,
    /// It goes through a link that the owner of the root did not make.
    ForeignLink,
    /// It goes through more links than anybody needs.
    TooManyLinks,
}

impl From<Errno> for Lost {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

/// As many links as Linux itself follows.
const MOST_LINKS: usize = 40;

/// Opens the folder that the parts lead to.
pub(super) fn folder<'a>(
    root: BorrowedFd<'_>,
    parts: impl Iterator<Item = &'a str>,
    missing: Missing,
) -> std::result::Result<OwnedFd, Lost> {
    let owner = fs::fstat(root)?.st_uid;
    let mut ahead: Vec<String> = parts.map(str::to_owned).collect();
    ahead.reverse();
    // The parts that are known to be folders and no links.
    let mut behind: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                behind.pop().ok_or(Lost::AboveRoot)?;
                continue;
            }
            _ => {}
        }
        let here = open(root, &behind)?;
        match fs::statat(&here, part.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
                links += 1;
                if found.st_uid != owner {
                    return Err(Lost::ForeignLink);
                }
                if links > MOST_LINKS {
                    return Err(Lost::TooManyLinks);
                }
                let target = fs::readlinkat(&here, part.as_str(), Vec::new())?;
                let target = target.to_str().map_err(|_| Errno::ILSEQ)?.to_owned();
                // An absolute target means the host's own root, which is ours.
                if target.starts_with('/') {
                    behind.clear();
                }
                ahead.extend(target.split('/').rev().map(str::to_owned));
            }
            Ok(_) => behind.push(part),
            Err(Errno::NOENT) if missing == Missing::Make => {
                make(here.as_fd(), &part, 0o755, None)?;
                behind.push(part);
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(open(root, &behind)?)
}

/// Makes a folder, for an owner if it is not to be whoever makes it. One that is there is left as it is.
pub(super) fn make(
    folder: BorrowedFd<'_>,
    name: &str,
    mode: u32,
    owner: Option<(u32, u32)>,
) -> Result<()> {
    match fs::mkdirat(folder, name, Mode::from_raw_mode(0o700)) {
        Ok(()) => {}
        // Somebody else was faster; how they made it is theirs.
        Err(Errno::EXIST) => return Ok(()),
        Err(errno) => return Err(errno),
    }
    let fresh = open_in(folder, name)?;
    // Whoever owns the folder around it may have put another in its place; what is given away must hold nothing.
    let nothing = |entry: Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))
    };
    if !fs::Dir::read_from(&fresh)?.all(nothing) {
        return Err(Errno::EXIST);
    }
    if let Some((uid, gid)) = owner {
        fs::fchown(&fresh, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    // The umask of whoever started the agent does not decide.
    fs::fchmod(&fresh, Mode::from_raw_mode(mode))?;
    fs::fsync(&fresh)?;
    fs::fsync(folder)
}

/// Opens a folder without following any link.
fn open(root: BorrowedFd<'_>, parts: &[String]) -> Result<OwnedFd> {
    let path = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
    open_in(root, &path)
}

fn open_in(folder: BorrowedFd<'_>, path: &str) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    fs::openat2(folder, path, flags, Mode::empty(), resolve)
}
