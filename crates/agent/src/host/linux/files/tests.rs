use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
};

use rustix::fs::{CWD, RenameFlags};
use tempfile::TempDir;

use super::*;

fn host() -> (TempDir, Files) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("etc")).unwrap();
    let files = Files::beneath(root.path()).unwrap();
    (root, files)
}

fn path(text: &str) -> HostPath {
    HostPath::parse(text).unwrap()
}

fn file(text: &str) -> Entry {
    Entry::File(File { content: text.into(), mode: 0o640, uid: 0, gid: 0 })
}

fn write_whole(files: &Files, place: &str, entry: &Entry) -> Result<(), HostError> {
    files.stage(&path(place), entry).and_then(|()| files.publish(&path(place)))
}

#[test]
fn what_is_written_is_read_back_with_its_mode() {
    let (root, files) = host();
    write_whole(&files, "/etc/a/b/c.conf", &file("one")).unwrap();
    assert_eq!(files.read(&path("/etc/a/b/c.conf")).unwrap(), file("one"));
    let seen = fs::metadata(root.path().join("etc/a/b/c.conf")).unwrap();
    assert_eq!(seen.permissions().mode() & 0o7777, 0o640);
    let folder = fs::metadata(root.path().join("etc/a")).unwrap();
    assert_eq!(folder.permissions().mode() & 0o7777, 0o755, "whatever the umask");
    write_whole(&files, "/etc/l", &Entry::Link("/dev/null".into())).unwrap();
    assert_eq!(files.read(&path("/etc/l")).unwrap(), Entry::Link("/dev/null".into()));
    assert_eq!(files.read(&path("/etc/none")).unwrap(), Entry::Absent);
    assert_eq!(files.read(&path("/etc/none/none")).unwrap(), Entry::Absent);
}

/// NODE-1
#[test]
fn a_staged_file_is_not_seen_and_replaces_the_old_one_at_once() {
    let (root, files) = host();
    let place = path("/etc/a.conf");
    write_whole(&files, "/etc/a.conf", &file("old")).unwrap();
    let inode = || fs::metadata(root.path().join("etc/a.conf")).unwrap().ino();
    let before = inode();
    files.stage(&place, &file("new")).unwrap();
    assert_eq!(files.read(&place).unwrap(), file("old"));
    assert_eq!(inode(), before);
    files.publish(&place).unwrap();
    assert_eq!(files.read(&place).unwrap(), file("new"));
    assert_ne!(inode(), before, "the old file was not written into: whoever has it open keeps it");
    files.stage(&place, &file("never")).unwrap();
    files.unstage(&place).unwrap();
    assert_eq!(files.list(&path("/etc")).unwrap(), ["a.conf"], "nothing is left lying about");
    files.remove(&place).unwrap();
    files.remove(&place).unwrap();
    assert_eq!(files.read(&place).unwrap(), Entry::Absent);
}

#[test]
fn a_link_at_the_end_is_replaced_and_not_followed() {
    let (root, files) = host();
    fs::write(root.path().join("etc/shadow"), "secret").unwrap();
    symlink("shadow", root.path().join("etc/a.conf")).unwrap();
    assert_eq!(files.read(&path("/etc/a.conf")).unwrap(), Entry::Link("shadow".into()));
    write_whole(&files, "/etc/a.conf", &file("new")).unwrap();
    assert_eq!(fs::read_to_string(root.path().join("etc/shadow")).unwrap(), "secret");
    assert_eq!(files.read(&path("/etc/a.conf")).unwrap(), file("new"));
}

#[test]
fn links_on_the_way_lead_nowhere_but_beneath_the_root() {
    let outside = tempfile::tempdir().unwrap();
    let (root, files) = host();
    fs::create_dir_all(root.path().join("var/opt")).unwrap();
    let link = |target: &str, name: &str| symlink(target, root.path().join(name)).unwrap();
    link("var/opt", "opt");
    link("../var/opt", "etc/inside");
    link("/var/opt", "etc/absolute");
    link("../../../../..", "etc/above");
    link(outside.path().to_str().unwrap(), "etc/outside");
    link("loop", "etc/loop");
    let check = |place: &str, expected: Result<&str, &str>| {
        let written = write_whole(&files, place, &file("x"));
        match (written, expected) {
            (Ok(()), Ok(real)) => assert!(root.path().join(real).exists(), "{place}"),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{place}: {error}");
            }
            (written, _) => panic!("{place}: {written:?}"),
        }
    };
    check("/opt/a", Ok("var/opt/a"));
    check("/etc/inside/b", Ok("var/opt/b"));
    check("/etc/absolute/c", Ok("var/opt/c"));
    check("/etc/above/d", Err("leads above the root"));
    check("/etc/loop/e", Err("too many links"));
    // An absolute link means a place beneath this root, so nothing arrives where it pointed to.
    let _ = write_whole(&files, "/etc/outside/f", &file("x"));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_link_that_somebody_else_made_is_refused() {
    let (root, files) = host();
    fs::create_dir_all(root.path().join("var/core")).unwrap();
    symlink("../../etc", root.path().join("var/core/ssh")).unwrap();
    let owned = std::os::unix::fs::lchown(root.path().join("var/core/ssh"), Some(4711), None);
    if owned.is_err() {
        // Only root can give a link away; whoever is not root cannot be tricked by one either.
        return;
    }
    let refused = write_whole(&files, "/var/core/ssh/keys", &file("x")).unwrap_err();
    assert!(refused.to_string().contains("the owner of the root did not make"), "{refused}");
    assert_eq!(files.list(&path("/etc")).unwrap(), Vec::<String>::new());
    assert!(files.read(&path("/var/core/ssh/keys")).is_err(), "nor is it read through");
}

/// Somebody exchanges a folder for a link, and back, while files are written through it: whatever the writer sees, nothing arrives
/// outside.
#[test]
fn a_race_for_a_folder_on_the_way_is_never_won() {
    let outside = tempfile::tempdir().unwrap();
    let (root, files) = host();
    let (folder, link) = (root.path().join("etc/d"), root.path().join("link"));
    fs::create_dir(&folder).unwrap();
    // From `etc`, two up is beside the root.
    let beside = outside.path().file_name().unwrap();
    symlink(Path::new("../..").join(beside), &link).unwrap();
    let ended = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for round in 0..400 {
            // Some of these find the folder, some the link, some nothing.
            let _ = write_whole(&files, &format!("/etc/d/{round}"), &file("x"));
            let _ = files.remove(&path(&format!("/etc/d/{round}")));
        }
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn what_is_no_plain_file_is_left_alone() {
    let (root, files) = host();
    fs::create_dir(root.path().join("etc/folder")).unwrap();
    let fifo = root.path().join("etc/fifo");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for place in ["/etc/folder", "/etc/fifo"] {
        let read = files.read(&path(place)).unwrap_err();
        assert!(read.to_string().contains("no plain file"), "{place}: {read}");
        let written = write_whole(&files, place, &file("x")).unwrap_err();
        assert!(written.to_string().contains("no plain file"), "{place}: {written}");
    }
    // A file where a folder should be.
    fs::write(root.path().join("etc/flat"), "").unwrap();
    assert!(write_whole(&files, "/etc/flat/a", &file("x")).is_err());
}

#[test]
fn a_file_that_waits_from_before_is_not_trusted() {
    let (root, files) = host();
    let waiting = root.path().join("etc").join(beside(&path("/etc/a.conf")));
    symlink("../stolen", &waiting).unwrap();
    write_whole(&files, "/etc/a.conf", &file("new")).unwrap();
    assert!(!root.path().join("stolen").exists());
    assert_eq!(files.read(&path("/etc/a.conf")).unwrap(), file("new"));
}

#[test]
fn a_huge_file_is_not_read() {
    let (root, files) = host();
    fs::File::create(root.path().join("etc/huge")).unwrap().set_len(LARGEST + 1).unwrap();
    let refused = files.read(&path("/etc/huge")).unwrap_err();
    assert!(refused.to_string().contains("larger than 8 MiB"), "{refused}");
}

#[test]
fn a_folder_is_made_for_its_owner_and_goes_when_it_is_empty() {
    let (root, files) = host();
    let (ssh, inner) = (path("/var/core/.ssh"), path("/var/core/.ssh/authorized_keys.d"));
    // Only root can give something away; anybody else makes it for themselves.
    let (uid, gid) = if files.uid == 0 { (1000, 1001) } else { (0, 0) };
    let made = Folder { mode: 0o700, uid, gid };
    assert!(!files.has_folder(&ssh).unwrap());
    files.make_folder(&ssh, made).unwrap();
    files.make_folder(&inner, made).unwrap();
    for folder in ["var/core/.ssh", "var/core/.ssh/authorized_keys.d"] {
        let seen = fs::metadata(root.path().join(folder)).unwrap();
        assert_eq!(seen.permissions().mode() & 0o7777, 0o700, "{folder}");
        assert_eq!((seen.uid(), seen.gid()), (own(uid, files.uid), own(gid, files.gid)));
    }
    let around = fs::metadata(root.path().join("var/core")).unwrap();
    assert_eq!(around.permissions().mode() & 0o7777, 0o755, "whoever needs it otherwise says so");
    // One that is there is left as it is.
    let wider = fs::Permissions::from_mode(0o750);
    fs::set_permissions(root.path().join("var/core/.ssh"), wider).unwrap();
    files.make_folder(&ssh, made).unwrap();
    let seen = fs::metadata(root.path().join("var/core/.ssh")).unwrap();
    assert_eq!(seen.permissions().mode() & 0o7777, 0o750);
    files.remove_folder(&ssh).unwrap();
    assert!(files.has_folder(&ssh).unwrap(), "it is not empty");
    for folder in [&inner, &ssh, &ssh] {
        files.remove_folder(folder).unwrap();
        assert!(!files.has_folder(folder).unwrap());
    }
}

#[test]
fn a_host_is_held_by_one_at_a_time_and_free_when_that_one_ends() {
    let (root, files) = host();
    let lock = path("/var/lib/tidegate-agent/lock");
    let other = Files::beneath(root.path()).unwrap();
    let held = files.hold(&lock).unwrap();
    assert!(held.is_some());
    assert!(other.hold(&lock).unwrap().is_none());
    drop(held);
    assert!(other.hold(&lock).unwrap().is_some());
}
