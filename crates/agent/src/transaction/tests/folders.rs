//! Are folders there for as long as somebody needs them?

use super::*;

#[test]
fn folders_of_keys_go_with_them_unless_somebody_uses_them() {
    let key = |name: &str, keys: &Value| {
        record(
            name,
            json!({"config": {"ignition": {"version": "3.5.0"},
                "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": keys}]}}}),
        )
    };
    for used in [false, true] {
        let root = scratch();
        fs::create_dir_all(root.path().join("etc")).unwrap();
        fs::create_dir_all(root.path().join("var/core")).unwrap();
        fs::write(root.path().join("etc/passwd"), "core:x:0:0::/var/core:/bin/sh\n").unwrap();
        let mut host = Fated::at(root.path(), None);
        store::set_current(&mut host, &Record::nothing()).unwrap();
        let go = |host: &mut Fated, coming: Record| {
            let current = store::current(host).unwrap().unwrap();
            begin(host, current, coming, vec![]).unwrap();
            run(host).unwrap();
        };
        go(&mut host, key("rendered-1", &json!(["one"])));
        go(&mut host, key("rendered-2", &json!(["one", "two"])));
        let ssh = root.path().join("var/core/.ssh");
        assert_eq!(fs::metadata(&ssh).unwrap().permissions().mode() & 0o7777, 0o700);
        if used {
            fs::write(ssh.join("known_hosts"), "").unwrap();
        }
        // A way back from any step leaves them as they were.
        let before = disk(root.path());
        for at in 1.. {
            (host.operations, host.fate) = (0, Some((at, Fate::Full)));
            let current = store::current(&host).unwrap().unwrap();
            let coming = key("rendered-new", &json!([]));
            if begin(&mut host, current, coming, vec![]).is_err() {
                continue;
            }
            if run(&mut host).or_else(|_| run(&mut host)).unwrap() == End::New {
                break;
            }
            assert_eq!(disk(root.path()), before, "{at}");
        }
        assert_eq!(ssh.exists(), used);
        assert!(!ssh.join("authorized_keys.d").exists());
        assert!(root.path().join("var/core").exists(), "it was there before");
    }
}
