//! How do others find a sandbox? By a kubeconfig that is there while the sandbox is, in a folder that nobody else can write to.
//!
//! Whoever has the kubeconfig can do everything in the sandbox, and a kubeconfig can name a program to run: so only its user may read it,
//! and one that is found by itself is believed only if the folder and the file are that user's alone and it holds exactly the bytes that
//! a sandbox writes. What is read from it is an address on loopback and a token, nothing else.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{Read as _, Write as _},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use apiserver::Access;
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{CWD, Mode, OFlags},
    io::Errno,
};

use crate::edge::Edge;

/// The first line of every kubeconfig that is written here: what may be overwritten and taken away again.
const MARK: &str = "# Written by tidegate sandbox; it is taken away when the sandbox ends.\n";

/// No kubeconfig of ours is longer.
const LONGEST: u64 = 4_096;

/// Where a kubeconfig is to go, and the token that it is to hold.
#[derive(Clone)]
pub(super) struct Wanted {
    place: Place,
    user: u32,
    token: String,
    /// The hosted cluster that it leads into, if it is one of these.
    inside: Option<String>,
}

#[derive(Clone)]
enum Place {
    Named(PathBuf),
    /// In the folder of sandboxes.
    Usual(PathBuf),
}

impl Wanted {
    pub(super) fn of(named: Option<&Path>, edge: &Edge) -> anyhow::Result<Self> {
        let place = match named {
            Some(path) => Place::Named(path.to_owned()),
            None => Place::Usual(usual(edge)?),
        };
        let mut bytes = [0; 32];
        (edge.chance)(&mut bytes).context("there is no randomness for a token")?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        Ok(Self { place, user: edge.user, token, inside: None })
    }

    /// The same for a hosted cluster of the sandbox: a file beside it, which nobody takes for a sandbox.
    pub(super) fn inside(&self, name: &str) -> Self {
        Self { inside: Some(name.to_owned()), ..self.clone() }
    }

    /// Who may come in.
    pub(super) fn access(&self) -> Access {
        Access::Token(self.token.clone())
    }

    /// Writes it for a sandbox that listens at this address.
    pub(super) fn write(&self, address: SocketAddr) -> anyhow::Result<Kubeconfig> {
        let text = written(address, &self.token);
        match &self.place {
            Place::Named(path) => {
                let mut path = path.clone().into_os_string();
                path.extend(self.inside.iter().map(|name| OsString::from(format!(".{name}"))));
                let path = PathBuf::from(path);
                Kubeconfig::write(&CWD, &path, &path, self.user, &text)
            }
            Place::Usual(folder) => {
                let folder = Folder::make(folder, self.user)?;
                let end = self
                    .inside
                    .as_ref()
                    .map_or_else(|| "kubeconfig".into(), |name| format!("{name}.guest"));
                let name = PathBuf::from(format!("sandbox-{}.{end}", address.port()));
                let path = folder.path.join(&name);
                Kubeconfig::write(&folder.handle, &name, &path, self.user, &text)
            }
        }
    }
}

/// A kubeconfig that goes away with the sandbox, because it leads nowhere afterwards.
pub(super) struct Kubeconfig {
    path: PathBuf,
    /// Device and number: which file it is, whatever its name.
    identity: (u64, u64),
}

impl Kubeconfig {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it, but never over a file that is not ours (`--kubeconfig ~/.kube/config` must not cost anybody their clusters), and never
    /// through a link.
    fn write(
        at: &impl AsFd,
        name: &Path,
        path: &Path,
        user: u32,
        text: &str,
    ) -> anyhow::Result<Self> {
        let shown = path.display();
        match read(at, name, user, Modes::Any) {
            Ok(there) if !there.starts_with(MARK) => bail!(
                "{shown} is there already and was not written by a sandbox\n  hint: name another file"
            ),
            Ok(_) => rustix::fs::unlinkat(at, name, rustix::fs::AtFlags::empty())
                .with_context(|| format!("cannot replace {shown}"))?,
            Err(Unread::Missing) => {}
            Err(Unread::Refused(why)) => bail!("{shown} {why}\n  hint: name another file"),
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(at, name, flags, Mode::RUSR | Mode::WUSR);
        let mut file =
            File::from(file.with_context(|| format!("cannot write {}", path.display()))?);
        let about = file.metadata()?;
        // From here on it goes away again, whatever happens.
        let kubeconfig = Self { path: path.to_owned(), identity: (about.dev(), about.ino()) };
        let done = file.write_all(text.as_bytes());
        done.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(kubeconfig)
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // Somebody may have taken it away already, or put another sandbox's in its place.
        let there = fs::symlink_metadata(&self.path);
        if there.is_ok_and(|there| (there.dev(), there.ino()) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A sandbox that left its kubeconfig in the usual place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it is reached, the token included.
    pub(super) url: String,
}

/// What lies in the usual place: sandboxes, the one that was started last first, and why the rest is not believed, a line each.
pub(super) fn found(edge: &Edge) -> anyhow::Result<(Vec<Found>, Vec<String>)> {
    let Some(folder) = Folder::open(&usual(edge)?, edge.user)? else {
        return Ok((Vec::new(), Vec::new()));
    };
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(&folder.path)?.filter_map(Result::ok) {
        let name = PathBuf::from(entry.file_name());
        if name.extension().is_none_or(|end| end != "kubeconfig") {
            continue;
        }
        let believed = match read(&folder.handle, &name, folder.user, Modes::OwnOnly) {
            Ok(text) => believed(&text).ok_or_else(|| NOT_OURS.to_owned()),
            Err(Unread::Refused(why)) => Err(why),
            // It ended a moment ago.
            Err(Unread::Missing) => continue,
        };
        match believed {
            Ok(one) => {
                let started = entry.metadata().and_then(|about| about.modified()).ok();
                found.push((started, name, one));
            }
            Err(why) => refused.push(format!("{} {why}", entry.path().display())),
        }
    }
    found.sort_by(|one, other| (&other.0, &other.1).cmp(&(&one.0, &one.1)));
    refused.sort();
    Ok((found.into_iter().map(|(_, _, one)| one).collect(), refused))
}

const NOT_OURS: &str = "holds something else than a sandbox writes";

fn written(address: SocketAddr, token: &str) -> String {
    format!("{MARK}{}", apiserver::kubeconfig(address, &Access::Token(token.to_owned())))
}

/// Reads an address on loopback and a token, and believes them only if the text is to the byte what a sandbox writes for these.
fn believed(text: &str) -> Option<Found> {
    let url = text.lines().find_map(|line| line.trim_start().strip_prefix("server: "))?;
    let (address, token) = url.strip_prefix("http://")?.split_once('/')?;
    let address: SocketAddr = address.parse().ok()?;
    let plain = token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let ours = plain && address.ip().is_loopback() && text == written(address, token);
    ours.then(|| Found { url: url.to_owned() })
}

/// The folder in which the sandboxes of a user leave their kubeconfigs.
struct Folder {
    handle: OwnedFd,
    path: PathBuf,
    user: u32,
}

/// Where that folder is: beside the sockets of the user's session, or with the state of the user's programs. Never in a folder that
/// users share.
fn usual(edge: &Edge) -> anyhow::Result<PathBuf> {
    let named =
        |name: &str| edge.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    // Under sudo it may still be that of somebody else, and in a container it may not be there.
    let own = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|there| there.is_dir() && there.uid() == edge.user)
    };
    let state =
        || named("XDG_STATE_HOME").or_else(|| named("HOME").map(|home| home.join(".local/state")));
    let Some(base) = named("XDG_RUNTIME_DIR").filter(own).or_else(state) else {
        bail!(
            "there is no folder of your own for the kubeconfig: XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME are not set\n  hint: name a file by --kubeconfig"
        );
    };
    Ok(base.join("tidegate"))
}

impl Folder {
    fn make(path: &Path, user: u32) -> anyhow::Result<Self> {
        if fs::symlink_metadata(path).is_err() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(|| {
                format!(
                    "cannot make the folder {}\n  hint: name a file by --kubeconfig",
                    path.display()
                )
            })?;
        }
        Self::open(path, user)?.with_context(|| format!("{} went away", path.display()))
    }

    /// The folder, if it is there; one that others could write to is refused.
    fn open(path: &Path, user: u32) -> anyhow::Result<Option<Self>> {
        let shown = path.display();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => bail!(
                "{shown} is a link, or no folder: sandboxes leave their kubeconfigs only in a folder of your own\n  hint: remove it"
            ),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot open the folder {shown}"));
            }
        };
        let about = rustix::fs::fstat(&handle)?;
        if about.st_uid != user {
            bail!(
                "{shown} belongs to user {}, and you are user {user}\n  hint: remove it, or name a file by --kubeconfig",
                about.st_uid
            );
        }
        let mode = Mode::from_raw_mode(about.st_mode);
        if mode.intersects(Mode::RWXG | Mode::RWXO) {
            bail!(
                "{shown} is open to other users (mode {:04o})\n  hint: look at what is in it, then: chmod 700 {shown}",
                mode.bits()
            );
        }
        Ok(Some(Self { handle, path: path.to_owned(), user }))
    }
}

/// Which modes are fine for a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Modes {
    /// Those that let nobody else in.
    OwnOnly,
    /// All: somebody may have made it readable, and it is replaced anyway.
    Any,
}

enum Unread {
    Missing,
    /// Why not, as what is said of the file.
    Refused(String),
}

/// Reads a small file of the user's own, and no link.
fn read(at: &impl AsFd, name: &Path, user: u32, modes: Modes) -> Result<String, Unread> {
    let refused = |why: String| Err(Unread::Refused(why));
    // Without waiting: a pipe has no end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = match rustix::fs::openat(at, name, flags, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Err(Unread::Missing),
        Err(Errno::LOOP) => return refused("is a link".into()),
        Err(error) => return refused(format!("cannot be read: {error}")),
    };
    let file = File::from(handle);
    let about = match file.metadata() {
        Ok(about) => about,
        Err(error) => return refused(format!("cannot be read: {error}")),
    };
    if !about.is_file() {
        return refused("is no file".into());
    }
    if about.uid() != user {
        return refused(format!("belongs to user {}, and you are user {user}", about.uid()));
    }
    let mode = about.mode() & 0o7777;
    if modes == Modes::OwnOnly && mode & 0o077 != 0 {
        return refused(format!("is open to other users (mode {mode:04o})"));
    }
    let mut text = String::new();
    match file.take(LONGEST).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(_) => refused(NOT_OURS.into()),
    }
}
