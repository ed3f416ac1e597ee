//! Are units as they should be, whatever happens on the way?

use super::*;

/// A host of a distribution that has one unit enabled and another disabled.
fn distribution(root: &Path, fate: Option<(usize, Fate)>) -> Fated {
    let mut host = Fated::at(root, fate);
    host.rest.bring_unit("chronyd.service", UnitState::Enabled);
    host.rest.bring_unit("telnet.socket", UnitState::Disabled);
    host.rest.bring_unit("static.service", UnitState::Static);
    host
}

fn saying(name: &str, units: &Value) -> Record {
    record(name, json!({"config": {"ignition": {"version": "3.5.0"}, "systemd": {"units": units}}}))
}

fn states(host: &Fated) -> [UnitState; 2] {
    ["chronyd.service", "telnet.socket"].map(|name| host.rest.unit_state(name).unwrap())
}

/// NODE-1
#[test]
fn units_are_as_the_distribution_had_them_when_no_configuration_speaks_of_them() {
    let as_before = [UnitState::Enabled, UnitState::Disabled];
    let both = |chrony: bool, telnet: bool| json!([{"name": "chronyd.service", "enabled": chrony}, {"name": "telnet.socket", "enabled": telnet}]);
    // Through several configurations; the first agrees with the distribution, the last does not.
    let way = || {
        [
            saying("rendered-1", &both(true, false)),
            saying("rendered-2", &both(false, true)),
            saying("rendered-3", &json!([{"name": "telnet.socket", "enabled": true}])),
            saying("rendered-4", &both(false, true)),
            saying("rendered-new", &json!([])),
        ]
    };
    let walk = |host: &mut Fated| -> Result<()> {
        for coming in way() {
            if store::journal(host)?.is_some() {
                run(host)?;
            }
            let current = store::current(host)?.unwrap();
            if current.name >= coming.name {
                continue;
            }
            begin(host, current, coming.clone(), vec![])?;
            run(host)?;
            let state = states(host);
            match coming.name.as_str() {
                "rendered-1" => assert_eq!(state, as_before),
                "rendered-3" => assert_eq!(state, [UnitState::Enabled, UnitState::Enabled]),
                "rendered-new" => {}
                _ => assert_eq!(state, [UnitState::Disabled, UnitState::Enabled]),
            }
        }
        Ok(())
    };
    let fresh = || {
        let root = scratch();
        let mut host = distribution(root.path(), None);
        store::set_current(&mut host, &Record::nothing()).unwrap();
        (root, host)
    };
    let (_root, mut host) = fresh();
    host.operations = 0;
    walk(&mut host).unwrap();
    assert_eq!(states(&host), as_before);
    let operations = host.operations;
    for at in 1..=operations {
        let (root, mut host) = fresh();
        (host.operations, host.fate) = (0, Some((at, Fate::PowerLost)));
        assert!(walk(&mut host).unwrap_err().is_power_loss());
        let mut host = host.started_again(root.path());
        walk(&mut host).unwrap();
        assert_eq!(states(&host), as_before, "power lost at operation {at} of {operations}");
    }
}

#[test]
fn a_unit_that_nothing_can_start_is_no_success() {
    let root = scratch();
    let mut host = distribution(root.path(), None);
    store::set_current(&mut host, &Record::nothing()).unwrap();
    let coming = saying("rendered-new", &json!([{"name": "static.service", "enabled": true}]));
    let mut journal = begin(&mut host, Record::nothing(), coming, vec![]).unwrap();
    let why = loop {
        match go_on(&mut host, &journal).unwrap() {
            Progress::Further(further) => journal = further,
            Progress::AtOld { why } => break why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        why,
        "static.service cannot start by itself: it has no [Install] section that says what starts it"
    );
}

/// A way back takes links away while the file that says where they are is still there, and reads again what starts the old one.
#[test]
fn units_go_back_with_their_files() {
    let root = scratch();
    let mut host = Fated::at(root.path(), None);
    let install = |target: &str| format!("[Install]\nWantedBy={target}\n");
    let old = saying(
        "rendered-old",
        &json!([{"name": "w.service", "enabled": true, "contents": install("multi-user.target")}]),
    );
    store::set_current(&mut host, &Record::nothing()).unwrap();
    begin(&mut host, Record::nothing(), old, vec![]).unwrap();
    run(&mut host).unwrap();
    host.rest.take_performed();
    host.rest.bring_unit("bad.service", UnitState::Static);
    let new = saying(
        "rendered-new",
        &json!([
            {"name": "n.service", "enabled": true, "contents": install("multi-user.target")},
            {"name": "w.service", "enabled": true, "contents": install("basic.target")},
            {"name": "zzz-bad.service", "enabled": true},
        ]),
    );
    host.rest.bring_unit("zzz-bad.service", UnitState::Static);
    assert_eq!(go(&mut host, new, vec![]).unwrap(), End::Old);
    assert_eq!(
        host.rest.performed(),
        [
            "daemon-reload",
            "reenable n.service",
            "reenable w.service",
            "enable zzz-bad.service",
            "disable n.service",
            "daemon-reload",
            "reenable w.service",
        ]
    );
}
