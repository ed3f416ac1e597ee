use std::{os::unix::fs::PermissionsExt as _, sync::Mutex};

use tempfile::TempDir;

use super::*;

/// A host whose programs are one script: it writes down how it was called and what it was told, and answers what the row says.
struct Scripted {
    folder: TempDir,
    programs: Programs,
}

impl Scripted {
    fn new(has: &[&str], answers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        for name in has {
            fs::write(root.join("usr/bin").join(name), "").unwrap();
        }
        let script = folder.path().join("script");
        let log = folder.path().join("log");
        let text = format!(
            "#!/bin/sh\necho \"$*\" >>'{0}'\nsed 's/^/< /' >>'{0}'\ncase \"$*\" in\n{answers}\n*) ;;\nesac\n",
            log.display()
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let through = vec!["sh".into(), script.into()];
        let programs = Programs { through, ..Programs::of(&root) };
        Self { folder, programs }
    }

    fn calls(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

#[test]
fn units_are_called_by_name_and_never_taken_for_options() {
    let host = Scripted::new(
        &[],
        "*is-enabled*a.service) echo enabled;; *is-enabled*b.service) echo disabled; exit 1;; *is-enabled*s.service) echo static;; *is-enabled*) echo not-found; exit 4;;",
    );
    host.programs.unit(UnitVerb::Enable, "--now.service").unwrap();
    host.programs.unit(UnitVerb::Reload, "crio.service").unwrap();
    host.programs.reload_units().unwrap();
    assert_eq!(
        host.calls(),
        [
            "systemctl enable -- --now.service",
            "systemctl reload-or-restart -- crio.service",
            "systemctl daemon-reload",
        ]
    );
    assert_eq!(host.programs.unit_state("a.service").unwrap(), UnitState::Enabled);
    assert_eq!(host.programs.unit_state("b.service").unwrap(), UnitState::Disabled);
    assert_eq!(host.programs.unit_state("s.service").unwrap(), UnitState::Static);
    assert_eq!(host.programs.unit_state("c.service").unwrap(), UnitState::Neither);
}

#[test]
fn a_failure_brings_the_last_words_of_the_program() {
    let host = Scripted::new(
        &[],
        "*bad*) echo 'Unit bad.service not found.' >&2; exit 5;; *silent*) exit 3;;",
    );
    let failed = |name: &str| host.programs.unit(UnitVerb::Restart, name).unwrap_err().to_string();
    assert_eq!(
        failed("bad.service"),
        "`systemctl restart -- bad.service` failed: Unit bad.service not found."
    );
    assert_eq!(
        failed("silent.service"),
        "`systemctl restart -- silent.service` failed: exit status: 3"
    );
}

/// NODE-3
#[test]
fn a_program_that_does_not_end_is_told_of_and_killed_with_all_it_started() {
    let mut host = Scripted::new(
        &[],
        "*restart*) sleep 3600 & echo $! >\"$0.child\"; wait;; *enable*) exec sleep 3600;; *stop*) ;;",
    );
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    host.programs.told = Some(Arc::new(move |wait| heard.lock().unwrap().push(wait)));
    host.programs.most = |_, arguments| match arguments {
        ["stop", ..] => Duration::from_mins(1),
        _ => Duration::from_secs(2),
    };
    host.programs.slow = Duration::from_millis(1);
    let failed = |verb| host.programs.unit(verb, "hang.service").unwrap_err().to_string();
    assert_eq!(
        failed(UnitVerb::Restart),
        "`systemctl restart -- hang.service` did not end within 2 s and was killed"
    );
    let child = fs::read_to_string(host.folder.path().join("script.child")).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", child.trim()));
    // Gone, or dead and not yet taken note of by whoever adopted it.
    assert!(state.as_ref().map_or(true, |stat| stat.contains(") Z ")), "{state:?}");
    let command = "systemctl restart -- hang.service".to_owned();
    let long = Wait::Long { command, most: Duration::from_secs(2) };
    assert_eq!(*told.lock().unwrap(), [long, Wait::Over], "before its time was over, and once");
    // systemd would go on with the job, and let a later restart wait for it.
    assert_eq!(
        host.calls().iter().filter(|line| line.starts_with("systemctl")).collect::<Vec<_>>(),
        ["systemctl restart -- hang.service", "systemctl stop --no-block -- hang.service"]
    );
    assert_eq!(
        failed(UnitVerb::Enable),
        "`systemctl enable -- hang.service` did not end within 2 s and was killed"
    );
}

/// NODE-3
#[test]
fn every_program_has_an_end() {
    let check = |words: &str, minutes: u64| {
        let words: Vec<&str> = words.split(' ').collect();
        let (program, arguments) = words.split_first().unwrap();
        assert_eq!(most(program, arguments), Duration::from_mins(minutes), "{words:?}");
    };
    check("systemctl restart -- a.service", 10);
    check("systemctl reload-or-restart -- a.service", 10);
    check("systemctl enable -- a.service", 2);
    check("systemctl daemon-reload", 2);
    check("rpm-ostree status --json", 2);
    check("rpm-ostree rebase --experimental -- x", 60);
    check("rpm-ostree kargs --append-if-missing=quiet", 30);
    check("bootc status --json", 2);
    check("bootc switch -- x", 60);
    check("chpasswd --encrypted", 1);
}

#[test]
fn the_start_of_the_machine_is_read_beneath_its_root() {
    let host = Scripted::new(&[], "");
    let own = host.programs.boot_id().unwrap();
    assert!(!own.is_empty(), "a folder that stands for a host has the kernel's");
    let place = host.programs.root.join("proc/sys/kernel/random");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("boot_id"), "nested\n").unwrap();
    assert_eq!(host.programs.boot_id().unwrap(), "nested");
}

#[test]
fn a_password_goes_through_the_input() {
    let host = Scripted::new(&[], "");
    host.programs.set_password("core", "$6$salt$hash").unwrap();
    assert_eq!(host.calls(), ["chpasswd --encrypted", "< core:$6$salt$hash"]);
}

#[test]
fn arguments_of_the_kernel_need_rpm_ostree() {
    let change = KernelArguments { remove: vec!["a=1".into()], append: vec!["quiet".into()] };
    let host = Scripted::new(&["rpm-ostree"], "");
    host.programs.kernel_arguments(&change).unwrap();
    assert_eq!(
        host.calls(),
        ["rpm-ostree kargs --delete-if-present=a=1 --append-if-missing=quiet"]
    );
    let lacking = Scripted::new(&["bootc"], "").programs.kernel_arguments(&change).unwrap_err();
    assert!(lacking.to_string().contains("has no rpm-ostree"), "{lacking}");
}

const OLD: &str = "ostree-unverified-registry:registry:5000/os@sha256:1";

#[test]
fn an_image_is_asked_for_once() {
    let status = |first: &str| {
        format!(
            "*status*) echo '{{\"deployments\":[{{\"booted\":false,\"container-image-reference\":\"{first}\"}},\
             {{\"booted\":true,\"container-image-reference\":\"{OLD}\"}}]}}';;"
        )
    };
    let host = Scripted::new(&["rpm-ostree"], &status(OLD));
    host.programs.os_image("registry:5000/os@sha256:2").unwrap();
    assert_eq!(
        host.calls(),
        [
            "rpm-ostree status --json",
            "rpm-ostree rebase --experimental -- ostree-unverified-registry:registry:5000/os@sha256:2",
        ]
    );
    assert_eq!(host.programs.booted_image().unwrap().as_deref(), Some("registry:5000/os@sha256:1"));
    let pending = "ostree-unverified-registry:registry:5000/os@sha256:2";
    let host = Scripted::new(&["rpm-ostree"], &status(pending));
    host.programs.os_image("registry:5000/os@sha256:2").unwrap();
    assert_eq!(host.calls(), ["rpm-ostree status --json"], "it comes anyway");
    host.programs.forget_os_changes().unwrap();
    assert_eq!(host.calls().last().unwrap(), "rpm-ostree cleanup --pending");
}

#[test]
fn bootc_is_asked_where_there_is_no_rpm_ostree() {
    let status = "*status*) echo '{\"status\":{\"staged\":{},\"booted\":{\"image\":{\"image\":{\"image\":\"os@sha256:1\"}}}}}';;";
    let host = Scripted::new(&["bootc"], status);
    host.programs.os_image("os@sha256:2").unwrap();
    assert_eq!(host.calls(), ["bootc switch -- os@sha256:2"]);
    assert_eq!(host.programs.booted_image().unwrap().as_deref(), Some("os@sha256:1"));
    host.programs.forget_os_changes().unwrap();
    assert_eq!(host.calls().last().unwrap(), "bootc rollback");
    let neither = Scripted::new(&[], "");
    assert!(neither.programs.os_image("os@sha256:2").is_err());
    assert_eq!(neither.programs.booted_image().unwrap(), None);
    neither.programs.forget_os_changes().unwrap();
    assert_eq!(neither.calls(), Vec::<String>::new());
}

/// Where there is a real systemctl it enables and disables real units, in a folder and without a running systemd.
#[test]
fn systemctl_itself_enables_and_disables_units_in_a_folder() {
    if Command::new("systemctl").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let units = folder.path().join("etc/systemd/system");
    fs::create_dir_all(&units).unwrap();
    let text = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";
    fs::write(units.join("a.service"), text).unwrap();
    let script = format!("shift; exec systemctl --root='{}' \"$@\"", folder.path().display());
    let through = ["sh", "-c", &script, "sh"].map(OsString::from).to_vec();
    let programs = Programs { through, ..Programs::of(folder.path()) };
    assert_eq!(programs.unit_state("a.service").unwrap(), UnitState::Disabled);
    for _ in 0..2 {
        programs.unit(UnitVerb::Enable, "a.service").unwrap();
        assert_eq!(programs.unit_state("a.service").unwrap(), UnitState::Enabled);
    }
    assert!(units.join("multi-user.target.wants/a.service").is_symlink());
    programs.unit(UnitVerb::Disable, "a.service").unwrap();
    assert_eq!(programs.unit_state("a.service").unwrap(), UnitState::Disabled);
    // What its file says now counts, and what an older one said is taken away.
    programs.unit(UnitVerb::Enable, "a.service").unwrap();
    fs::write(units.join("a.service"), text.replace("multi-user", "basic")).unwrap();
    programs.unit(UnitVerb::Reenable, "a.service").unwrap();
    assert!(units.join("basic.target.wants/a.service").is_symlink());
    assert!(!units.join("multi-user.target.wants/a.service").is_symlink());
    fs::write(units.join("s.service"), "[Service]\nExecStart=/bin/true\n").unwrap();
    programs.unit(UnitVerb::Enable, "s.service").unwrap();
    assert_eq!(programs.unit_state("s.service").unwrap(), UnitState::Static, "and no failure");
    std::os::unix::fs::symlink("/dev/null", units.join("m.service")).unwrap();
    assert_eq!(programs.unit_state("m.service").unwrap(), UnitState::Neither, "masked");
    assert!(programs.unit(UnitVerb::Enable, "none.service").is_err());
}
