use std::{
    collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::Path, sync::LazyLock,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::{
    host::{Folder, Hold, KernelArguments, linux::Linux, recording::Recording},
    journal::Warrant,
};

mod folders;
mod units;

/// What happens at one operation of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// Power is lost, in the middle of it.
    PowerLost,
    /// It fails, once, as on a full disk.
    Full,
}

/// Real files beneath a folder, a double for everything else, and a fate that waits for the n-th change.
struct Fated {
    files: Linux,
    rest: Recording,
    operations: usize,
    fate: Option<(usize, Fate)>,
    /// Whether a new start takes the operating system that was asked for.
    takes_images: bool,
    /// Whether the node starts anew when it is told to.
    restarts: bool,
}

impl Fated {
    fn at(root: &Path, fate: Option<(usize, Fate)>) -> Self {
        let (files, rest) = (Linux::at(root).unwrap(), Recording::default());
        Self { files, rest, operations: 0, fate, takes_images: true, restarts: true }
    }

    /// Power is back; the disk is as it was, and the units are what they were.
    fn started_again(self, root: &Path) -> Self {
        Self { rest: self.rest, ..Self::at(root, None) }
    }

    fn strike(&mut self) -> HostResult<()> {
        self.operations += 1;
        match self.fate {
            Some((at, Fate::PowerLost)) if self.operations >= at => Err(HostError::PowerLost),
            Some((at, Fate::Full)) if self.operations == at => {
                let path = HostPath::parse("/full").unwrap();
                let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
                Err(HostError::File { verb: "write", path, source })
            }
            _ => Ok(()),
        }
    }
}

type HostResult<T> = std::result::Result<T, HostError>;

impl Host for Fated {
    fn read(&self, path: &HostPath) -> HostResult<Entry> {
        self.files.read(path)
    }
    fn list(&self, folder: &HostPath) -> HostResult<Vec<String>> {
        self.files.list(folder)
    }
    fn stage(&mut self, path: &HostPath, entry: &Entry) -> HostResult<()> {
        let struck = self.strike();
        if let (Err(_), Entry::File(file)) = (&struck, entry) {
            // Half of it has reached the disk.
            let mut torn = file.clone();
            torn.content.truncate(file.content.len() / 2);
            self.files.stage(path, &Entry::File(torn))?;
        }
        struck.and_then(|()| self.files.stage(path, entry))
    }
    fn unstage(&mut self, path: &HostPath) -> HostResult<()> {
        self.strike().and_then(|()| self.files.unstage(path))
    }
    fn publish(&mut self, path: &HostPath) -> HostResult<()> {
        self.strike().and_then(|()| self.files.publish(path))
    }
    fn remove(&mut self, path: &HostPath) -> HostResult<()> {
        self.strike().and_then(|()| self.files.remove(path))
    }
    fn has_folder(&self, path: &HostPath) -> HostResult<bool> {
        self.files.has_folder(path)
    }
    fn make_folder(&mut self, path: &HostPath, folder: Folder) -> HostResult<()> {
        self.strike().and_then(|()| self.files.make_folder(path, folder))
    }
    fn remove_folder(&mut self, path: &HostPath) -> HostResult<()> {
        self.strike().and_then(|()| self.files.remove_folder(path))
    }
    fn hold(&mut self, path: &HostPath) -> HostResult<Hold> {
        self.files.hold(path)
    }
    fn beat(&self) {}
    fn set_password(&mut self, user: &str, hash: &str) -> HostResult<()> {
        self.strike().and_then(|()| self.rest.set_password(user, hash))
    }
    fn unit(&mut self, verb: UnitVerb, name: &str) -> HostResult<()> {
        self.strike().and_then(|()| self.rest.unit(verb, name))
    }
    fn unit_state(&self, name: &str) -> HostResult<UnitState> {
        self.rest.unit_state(name)
    }
    fn reload_units(&mut self) -> HostResult<()> {
        self.strike().and_then(|()| self.rest.reload_units())
    }
    fn kernel_arguments(&mut self, change: &KernelArguments) -> HostResult<()> {
        self.strike().and_then(|()| self.rest.kernel_arguments(change))
    }
    fn os_image(&mut self, image: &str) -> HostResult<()> {
        self.strike().and_then(|()| self.rest.os_image(image))
    }
    fn forget_os_changes(&mut self) -> HostResult<()> {
        self.strike().and_then(|()| self.rest.forget_os_changes())
    }
    fn booted_image(&self) -> HostResult<Option<String>> {
        self.rest.booted_image()
    }
    fn boot_id(&self) -> HostResult<String> {
        self.rest.boot_id()
    }
    fn reboot(&mut self, warrant: &Warrant) -> HostResult<()> {
        self.strike()?;
        self.rest.reboot(warrant)?;
        if !self.takes_images {
            self.rest.forget_os_changes()?;
        }
        if self.restarts {
            self.rest.restart();
        }
        Ok(())
    }
}

fn record(name: &str, spec: Value) -> Record {
    Record::found(name.into(), serde_json::from_value(spec).unwrap())
}

fn old() -> Record {
    record(
        "rendered-old",
        json!({"config": {"ignition": {"version": "3.5.0"},
        "storage": {"files": [
            {"path": "/etc/stays.conf", "contents": {"source": "data:,stays"}},
            {"path": "/etc/changes.conf", "contents": {"source": "data:,old"}, "mode": 384},
            {"path": "/etc/goes.conf", "contents": {"source": "data:,goes"}},
        ]},
        "systemd": {"units": [
            {"name": "goes.service", "enabled": true, "contents": "[Service]\nExecStart=/bin/goes\n"},
            {"name": "changes.service", "contents": "[Service]\nExecStart=/bin/old\n", "enabled": false},
        ]}}}),
    )
}

fn new(os: &Value) -> Record {
    let mut spec = json!({"config": {"ignition": {"version": "3.5.0"},
        "storage": {"files": [
            {"path": "/etc/stays.conf", "contents": {"source": "data:,stays"}},
            {"path": "/etc/changes.conf", "contents": {"source": "data:,the%20new%20one"}},
            {"path": "/etc/deep/er/comes.conf", "contents": {"source": "data:,comes"}},
            {"path": "/etc/taken.conf", "contents": {"source": "data:,taken%20over"}},
        ]},
        "systemd": {"units": [
            {"name": "changes.service", "contents": "[Service]\nExecStart=/bin/new\n", "enabled": true,
             "dropins": [{"name": "10-more.conf", "contents": "[Service]\nNice=5\n"}]},
            {"name": "never.service", "mask": true},
        ]},
        "passwd": {"users": [{"name": "core", "passwordHash": "$6$x", "sshAuthorizedKeys": ["ssh-ed25519 AAAA one"]}]}}});
    let fields = spec.as_object_mut().unwrap();
    fields.extend(os.as_object().unwrap().clone());
    record("rendered-new", spec)
}

fn with_image() -> Record {
    new(&json!({"kernelArguments": ["quiet"], "osImageURL": "registry.example/os@sha256:1"}))
}

/// A folder that stands for a host at the old configuration: a copy, because making it takes a hundred writes that each wait for the
/// disk.
fn installed() -> TempDir {
    static FIRST: LazyLock<TempDir> = LazyLock::new(install);
    let root = scratch();
    copy(FIRST.path(), root.path());
    root
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (path, place) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            fs::create_dir(&place).unwrap();
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}

/// In memory where the system has such a place: thousands of writes that each wait for a disk take minutes.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn install() -> TempDir {
    let root = scratch();
    fs::create_dir_all(root.path().join("etc")).unwrap();
    fs::write(root.path().join("etc/taken.conf"), "an administrator's").unwrap();
    fs::write(root.path().join("etc/passwd"), "core:x:0:0::/var/core:/bin/sh\n").unwrap();
    let mut host = Fated::at(root.path(), None);
    store::set_current(&mut host, &record("rendered-none", json!({}))).unwrap();
    let none = store::current(&host).unwrap().unwrap();
    begin(&mut host, none, old(), vec![]).unwrap();
    assert_eq!(run(&mut host).unwrap(), End::New);
    root
}

#[derive(Debug, PartialEq)]
enum End {
    Old,
    New,
}

/// Goes on until there is no journal any more, as the loop of the agent does.
fn run(host: &mut impl Host) -> Result<End> {
    for _ in 0..20 {
        let Some(journal) = store::journal(host)? else {
            let at = store::current(host)?.unwrap().name;
            return Ok(if at == "rendered-new" { End::New } else { End::Old });
        };
        match go_on(host, &journal)? {
            Progress::Further(_) | Progress::Restarting => {}
            Progress::AtNew(_) => return Ok(End::New),
            Progress::AtOld { .. } => return Ok(End::Old),
        }
    }
    panic!("no end in sight");
}

/// Everything beneath a root but the agent's own folder: content and mode of files, targets of links.
fn disk(root: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let shown = format!("/{}", path.strip_prefix(root).unwrap().display());
            let seen = fs::symlink_metadata(&path).unwrap();
            if seen.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(shown, format!("-> {}", target.display()));
            } else if seen.is_dir() {
                // Elsewhere folders are made and stay; those of users go.
                if shown.starts_with("/var/core") {
                    found.insert(shown, format!("folder {:o}", seen.permissions().mode() & 0o7777));
                }
                walk(&path, root, found);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(shown, format!("{:o} {text}", seen.permissions().mode() & 0o7777));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found.retain(|path, _| !path.starts_with(store::STATE));
    found
}

fn deeds(reboot: bool) -> Vec<Deed> {
    let mut deeds = vec![Deed::Restart("changes.service".into())];
    if reboot {
        deeds = vec![Deed::Reboot];
    }
    deeds
}

fn go(host: &mut Fated, coming: Record, deeds: Vec<Deed>) -> Result<End> {
    let current = store::current(host)?.unwrap();
    begin(host, current, coming, deeds)?;
    run(host)
}

#[test]
fn a_change_leaves_exactly_the_new_configuration() {
    let root = installed();
    let mut host = Fated::at(root.path(), None);
    assert_eq!(go(&mut host, with_image(), deeds(true)).unwrap(), End::New);
    let disk = disk(root.path());
    let check = |path: &str, expected: Option<&str>| {
        assert_eq!(disk.get(path).map(String::as_str), expected, "{path}");
    };
    check("/etc/stays.conf", Some("644 stays"));
    check("/etc/changes.conf", Some("644 the new one"));
    check("/etc/goes.conf", None);
    check("/etc/deep/er/comes.conf", Some("644 comes"));
    check("/etc/taken.conf", Some("644 taken over"));
    check("/etc/systemd/system/goes.service", None);
    check("/etc/systemd/system/changes.service", Some("644 [Service]\nExecStart=/bin/new\n"));
    check("/etc/systemd/system/changes.service.d/10-more.conf", Some("644 [Service]\nNice=5\n"));
    check("/etc/systemd/system/never.service", Some("-> /dev/null"));
    check("/var/core/.ssh/authorized_keys.d/ignition", Some("600 ssh-ed25519 AAAA one\n"));
    check("/var/core/.ssh/authorized_keys.d", Some("folder 700"));
    check("/var/core/.ssh", Some("folder 700"));
    assert!(disk.keys().all(|path| !path.contains(".tidegate-")), "{disk:?}");
    assert_eq!(
        host.rest.performed(),
        [
            "daemon-reload",
            "enable changes.service",
            "set the password of core",
            "image registry.example/os@sha256:1",
            "kernel arguments +quiet",
            "reboot: going to rendered-new",
        ],
        "goes.service was enabled by an earlier host, which this double does not know",
    );
}

#[test]
fn what_was_there_before_any_configuration_comes_back() {
    let root = installed();
    let mut host = Fated::at(root.path(), None);
    let before = disk(root.path());
    assert_eq!(go(&mut host, new(&json!({})), deeds(false)).unwrap(), End::New);
    assert_eq!(disk(root.path())["/etc/taken.conf"], "644 taken over");
    let current = store::current(&host).unwrap().unwrap();
    begin(&mut host, current, old(), vec![]).unwrap();
    run(&mut host).unwrap();
    assert_eq!(disk(root.path()), before, "also what an administrator had there");
    let kept = HostPath::parse("/var/lib/tidegate-agent/kept").unwrap();
    assert_eq!(host.list(&kept).unwrap(), Vec::<String>::new(), "nothing is kept for nothing");
}

/// NODE-1
#[test]
fn power_lost_at_any_operation_leaves_the_old_or_the_new() {
    for (coming, reboot) in [(new(&json!({})), false), (with_image(), true)] {
        let (before, after, operations) = both_ends(&coming, reboot);
        let (mut olds, mut news) = (0, 0);
        for at in 1..=operations {
            let root = installed();
            let mut host = Fated::at(root.path(), Some((at, Fate::PowerLost)));
            let lost = go(&mut host, coming.clone(), deeds(reboot)).unwrap_err();
            assert!(lost.is_power_loss(), "{at}: {lost}");
            each_file_is_whole(&disk(root.path()), &before, &after, at);
            let mut host = host.started_again(root.path());
            let end = run(&mut host).unwrap();
            let found = disk(root.path());
            match end {
                End::Old => olds += 1,
                End::New => news += 1,
            }
            if end == End::New {
                assert_eq!(found, after, "after operation {at} of {operations}");
            } else {
                assert_eq!(found, before, "after operation {at} of {operations}");
            }
            // And from either end the change can be made.
            if end == End::Old {
                assert_eq!(go(&mut host, coming.clone(), deeds(reboot)).unwrap(), End::New);
                assert_eq!(disk(root.path()), after);
            }
        }
        assert!(olds > 0 && news > 0, "{olds} {news}: both ends must be seen");
    }
}

/// NODE-1
#[test]
fn power_lost_twice_leaves_the_old_or_the_new() {
    let coming = new(&json!({}));
    let (before, after, operations) = both_ends(&coming, false);
    for at in 1..=operations {
        for again in [1, 2, 5, 9, 14, 23] {
            let root = installed();
            let mut host = Fated::at(root.path(), Some((at, Fate::PowerLost)));
            go(&mut host, coming.clone(), deeds(false)).unwrap_err();
            let mut host = host.started_again(root.path());
            host.fate = Some((again, Fate::PowerLost));
            let first = run(&mut host);
            each_file_is_whole(&disk(root.path()), &before, &after, at);
            if let Err(lost) = first {
                assert!(lost.is_power_loss(), "{lost}");
                host = host.started_again(root.path());
                run(&mut host).unwrap();
            }
            let found = disk(root.path());
            assert!(found == before || found == after, "{at}, then {again}: {found:?}");
        }
    }
}

/// NODE-1
#[test]
fn a_step_that_fails_sends_everything_back() {
    for (coming, reboot) in [(new(&json!({})), false), (with_image(), true)] {
        let (before, after, operations) = both_ends(&coming, reboot);
        let mut backs = 0;
        for at in 1..=operations {
            let root = installed();
            let mut host = Fated::at(root.path(), Some((at, Fate::Full)));
            let current = store::current(&host).unwrap().unwrap();
            let begun = begin(&mut host, current, coming.clone(), deeds(reboot));
            let end = match begun {
                Err(_) => End::Old,
                // A failure that hits the way back, or the memory, is tried again by the loop.
                Ok(_) => run(&mut host).or_else(|_| run(&mut host)).unwrap(),
            };
            let found = disk(root.path());
            assert_eq!(found, if end == End::New { after.clone() } else { before.clone() }, "{at}");
            backs += usize::from(end == End::Old);
        }
        assert!(backs > 10, "{backs} of {operations}");
    }
}

#[test]
fn a_service_that_refuses_the_new_file_gets_the_old_one_back() {
    let root = installed();
    let before = disk(root.path());
    let coming = new(&json!({}));
    let restart = {
        // The operation at which the service is restarted.
        let other = installed();
        let mut host = Fated::at(other.path(), None);
        let current = store::current(&host).unwrap().unwrap();
        let journal = begin(&mut host, current, coming.clone(), deeds(false)).unwrap();
        go_on(&mut host, &journal).unwrap();
        host.operations + 1
    };
    let mut host = Fated::at(root.path(), Some((restart, Fate::Full)));
    assert_eq!(go(&mut host, coming, deeds(false)).unwrap(), End::Old);
    assert_eq!(disk(root.path()), before);
    let lines = host.rest.performed();
    assert_eq!(lines.last().unwrap(), "restart changes.service", "with the old file: {lines:?}");
}

/// NODE-1
#[test]
fn a_machine_that_comes_up_with_another_system_goes_back_and_does_not_try_for_ever() {
    let root = installed();
    let mut host = Fated::at(root.path(), None);
    let image = |number: u8| new(&json!({"osImageURL": format!("os@sha256:{number}")}));
    assert_eq!(go(&mut host, image(1), deeds(true)).unwrap(), End::New);
    let before = disk(root.path());
    host.takes_images = false;
    let mut coming = image(2);
    coming.name = "rendered-third".into();
    let files = &mut coming.spec.config.as_mut().unwrap().storage.files;
    files.pop();
    assert_eq!(go(&mut host, coming, deeds(true)).unwrap(), End::Old);
    assert_eq!(disk(root.path()), before, "files and system belong together");
    let rejected = store::rejected(&host).unwrap().unwrap();
    assert_eq!(rejected.to, "rendered-third");
    assert_eq!(rejected.why, "the host came up with os@sha256:1, not with os@sha256:2");
    // Another configuration is another matter.
    host.takes_images = true;
    let mut coming = image(3);
    coming.name = "rendered-fourth".into();
    go(&mut host, coming, deeds(true)).unwrap();
    assert_eq!(store::current(&host).unwrap().unwrap().name, "rendered-fourth");
    assert_eq!(store::rejected(&host).unwrap(), None);
}

/// NODE-2
#[test]
fn a_machine_that_does_not_start_anew_is_not_told_for_ever() {
    let root = installed();
    let mut host = Fated::at(root.path(), None);
    let current = store::current(&host).unwrap().unwrap();
    begin(&mut host, current, with_image(), deeds(true)).unwrap();
    host.restarts = false;
    let mut asked = 0;
    let stopped = loop {
        let journal = store::journal(&host).unwrap().unwrap();
        match go_on(&mut host, &journal) {
            Ok(Progress::Restarting) => asked += 1,
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(asked, MOST_RESTARTS);
    assert!(stopped.to_string().starts_with("the node was told to start anew 5 times"));
    assert!(stopped.to_string().contains("hint: start it anew by hand"), "{stopped}");
    // Somebody does, and the change ends.
    host.rest.restart();
    assert_eq!(run(&mut host).unwrap(), End::New);
}

/// What an agent of an earlier version wrote is still understood.
#[test]
fn a_journal_of_an_earlier_version_is_taken_up() {
    let journal: Journal = serde_json::from_value(json!({
        "from": "a", "to": "b", "deeds": ["Reboot"], "phase": {"Rebooting": {"boot": "1"}},
        "before": [], "units": [["x.service", "Neither"]], "system": "Stays",
    }))
    .unwrap();
    assert_eq!(journal.phase, Phase::Rebooting { boot: "1".into(), asked: 0 });
    let record: Record = serde_json::from_value(json!({"name": "a", "spec": {}})).unwrap();
    assert_eq!(record, Record::found("a".into(), api::machine::MachineConfigSpec::default()));
}

fn both_ends(
    coming: &Record,
    reboot: bool,
) -> (BTreeMap<String, String>, BTreeMap<String, String>, usize) {
    let root = installed();
    let before = disk(root.path());
    let mut host = Fated::at(root.path(), None);
    assert_eq!(go(&mut host, coming.clone(), deeds(reboot)).unwrap(), End::New);
    (before, disk(root.path()), host.operations)
}

/// Whatever happened, each file is wholly old or wholly new, and besides them only what waits to be put in place.
fn each_file_is_whole(
    found: &BTreeMap<String, String>,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    at: usize,
) {
    for path in found.keys().chain(before.keys()).chain(after.keys()) {
        if path.contains(".tidegate-") {
            continue;
        }
        let here = found.get(path);
        assert!(
            here == before.get(path) || here == after.get(path),
            "operation {at}: {path} is {here:?}"
        );
    }
}
