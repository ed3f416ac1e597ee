//! Updates of the control plane: when they start and end, what follows for nodes, and who will be in their way.

use super::*;
use crate::{
    simulate::{
        foresight::{Kept, Rescue, sentence},
        path::{self, BadPath},
        plane::{Hop, Updates},
    },
    skew::{Foreseen, Release},
};

/// A cluster at a release: masters and workers with its kubelets, the control plane and each pool with a stanza of its own.
fn at_release(version: &str, (kubelet, plane, workers): (&str, &Value, &Value)) -> Snapshot {
    let mut cluster = cluster("4h");
    let document = json!({
        "metadata": {"name": "version"},
        "spec": {"changeManagement": plane},
        "status": {"desired": {"version": version}, "history": [{"state": "Completed", "version": version}]},
    });
    cluster.add_written(&kinds::CLUSTER_VERSION, &document, noon());
    for (name, count, stanza) in [("master", 3, plane), ("worker", 4, workers)] {
        let newest = format!("rendered-{name}-a");
        add_pool(
            &mut cluster,
            name,
            count,
            &json!({"configuration": {"name": newest}, "changeManagement": stanza}),
        );
        let current: Release = version.parse().unwrap();
        let own = match name {
            "master" => format!("v{}.1", current.kubernetes()),
            _ => kubelet.to_owned(),
        };
        for place in 0..count {
            change(&mut cluster, &format!("{name}-{place}"), |node| {
                node.kubelet.clone_from(&own);
            });
        }
    }
    cluster
}

fn open() -> Value {
    json!({"strategy": "Permissive"})
}

fn shut() -> Value {
    json!({"strategy": "Restrictive"})
}

/// A forecast with these releases, each asked for so many days from the start.
fn foreseen(cluster: &Snapshot, releases: &[(&str, i64)], period: i64) -> Updates {
    let settings = asked(cluster, releases, period);
    foresee(cluster, &settings).unwrap()
}

fn asked(cluster: &Snapshot, releases: &[(&str, i64)], period: i64) -> Settings {
    let settings = days(period);
    let at = |days: &i64| noon().saturating_add(days * 86_400);
    let named: Vec<_> =
        releases.iter().map(|(name, days)| ((*name).to_owned(), at(days))).collect();
    let updates = path::given(cluster, &named, &settings.range).unwrap();
    Settings { updates, ..settings }
}

/// CV-1: the gate is asked once. The window shuts after the release was applied, all masters finish, and workers follow by their own gate.
#[test]
fn update_that_was_begun_takes_all_masters_along_whatever_the_window_does() {
    let cluster = at_release("4.20.8", ("v1.33.2", &nights(), &shut()));
    let mut settings = asked(&cluster, &[("4.21", 1)], 30);
    // The release takes nearly as long as the window.
    settings.lengths.payload = 4 * 3600 - 60;
    let mut found = 0;
    for seed in 0..8 {
        settings.seed = seed;
        let forecast = simulate(&cluster, &settings);
        let [hop] = forecast.updates.as_ref().unwrap().hops.as_slice() else { panic!() };
        assert_eq!(hop.started, Some(instant("2026-11-16T22:00:00Z")), "seed {seed}");
        let masters = &forecast.pools[0];
        let [change] = masters.changes.as_slice() else { panic!("{:?}", masters.changes) };
        assert_eq!(change.config, "rendered-master-4.21");
        assert_eq!(change.started, hop.applied);
        assert_eq!((change.finished, change.runs.len()), (hop.finished, 3));
        for run in change.runs.iter().filter(|run| !masters.gate.set().contains(run.start)) {
            let basis = run.basis.as_deref().unwrap();
            // By the release, or by the first of them that the gate let begin.
            assert!(basis.starts_with("already initiated: "), "{basis}");
            found += usize::from(basis == "already initiated: release 4.21");
        }
        // Workers are offered the release, and their gate holds it.
        let workers = &forecast.pools[1];
        assert_eq!(workers.changes[0].arrival, Arrival::At(hop.applied.unwrap()));
        assert!(workers.changes[0].runs.is_empty());
    }
    assert!(found > 6, "{found} masters went by the release while the gate was shut");
}

/// GATE-10: what people change while the update is under way waits for the gate.
#[test]
fn change_that_comes_while_the_update_is_under_way_waits_for_the_gate() {
    let cluster = at_release("4.20.8", ("v1.33.2", &nights(), &shut()));
    let settings = Settings {
        arrivals: vec![instant("2026-11-17T02:30:00Z")],
        lengths: Lengths { drain: 300, reboot: 480, payload: 6 * 3600 },
        pools: ["master".to_owned()].into(),
        ..asked(&cluster, &[("4.21", 1)], 30)
    };
    let forecast = simulate(&cluster, &settings);
    let hop = &forecast.updates.unwrap().hops[0];
    assert!(hop.applied > Some(instant("2026-11-17T02:30:00Z")), "{hop:?}");
    let outside = forecast.pools[0].changes.iter().flat_map(|change| &change.runs);
    let outside: Vec<_> =
        outside.filter(|run| !forecast.pools[0].gate.set().contains(run.start)).collect();
    assert!(outside.is_empty(), "the release is rendered with the change in it: {outside:?}");
}

/// CV-3: from one even release to the next with workers that stay, and no further.
#[test]
fn workers_that_stay_let_two_updates_pass_and_not_the_third() {
    let cluster = at_release("4.20.8", ("v1.33.2", &open(), &shut()));
    let path = [("4.21", 10), ("4.22", 20), ("4.23", 30)];
    let updates = foreseen(&cluster, &path, 60);
    let told = |hop: &Hop| (hop.finished.is_some(), hop.blocks.len());
    assert_eq!(
        updates.hops.iter().map(told).collect::<Vec<_>>(),
        [(true, 0), (true, 0), (false, 1)]
    );
    let hop = updates.blocked().unwrap();
    assert_eq!(
        (hop.update.name.as_str(), hop.due),
        ("4.23", Some(noon().saturating_add(30 * 86_400)))
    );
    let block = &hop.blocks[0];
    assert_eq!(block.pool.to_string(), "MachineConfigPool/worker");
    assert_eq!((block.nodes.len(), block.of), (4, 4));
    assert_eq!(
        (block.kubelet.unwrap().to_string(), block.needs.to_string()),
        ("1.33".into(), "1.35".into())
    );
    assert!(matches!(block.rescue, Rescue::NoWindow { .. }), "{:?}", block.rescue);
}

/// CV-3: one that is behind already stops the next minor at once, and a patch release passes.
#[test]
fn workers_at_their_limit_stop_the_next_minor_and_no_patch() {
    let cluster = at_release("4.22.1", ("v1.34.2", &open(), &shut()));
    let updates = foreseen(&cluster, &[("4.22.9", 1), ("4.23", 3)], 30);
    assert!(updates.hops[0].finished.is_some() && updates.hops[0].blocks.is_empty());
    assert!(updates.hops[1].started.is_none());
    assert_eq!(updates.hops[1].blocks.len(), 1);
}

/// CV-3: workers that follow in time are in nobody's way, and those that catch up later let the update start then.
#[test]
fn update_starts_once_the_pool_has_caught_up() {
    let cluster = at_release("4.20.8", ("v1.33.2", &open(), &open()));
    let path = [("4.21", 1), ("4.22", 2), ("4.23", 3)];
    assert!(foreseen(&cluster, &path, 30).blocked().is_none());
    let cluster = at_release("4.22.1", ("v1.34.2", &open(), &nights()));
    let updates = foreseen(&cluster, &[("4.23", 0)], 30);
    let hop = &updates.hops[0];
    // Nothing brings these kubelets: what the pool has is what it should have. So nobody catches up.
    assert_eq!((hop.blocks.len(), hop.started), (1, None));
    let mut cluster = at_release("4.22.1", ("v1.34.2", &open(), &nights()));
    for place in 0..4 {
        change(&mut cluster, &format!("worker-{place}"), |node| {
            node.current = "rendered-worker-old".into();
            node.desired = "rendered-worker-old".into();
        });
    }
    let updates = foreseen(&cluster, &[("4.23", 0)], 30);
    let hop = &updates.hops[0];
    assert_eq!((hop.blocks.len(), hop.due), (1, Some(noon())));
    let started = hop.started.unwrap();
    assert!(started > instant("2026-11-15T22:00:00Z"), "{started}");
    assert!(started < instant("2026-11-16T02:00:00Z"), "{started}");
}

/// CV-3: warned today with the date and the window that is missing; the edit that adds it clears the warning.
#[test]
fn window_that_is_named_saves_the_update() {
    let cluster = at_release("4.20.8", ("v1.33.2", &open(), &shut()));
    let path = [("4.21", 120), ("4.22", 240), ("4.23", 360)];
    let updates = foreseen(&cluster, &path, 400);
    let hop = updates.blocked().unwrap();
    let Rescue::NoWindow { takes, open_by } = hop.blocks[0].rescue else { panic!("{hop:?}") };
    assert_eq!(open_by.saturating_add(takes), hop.due.unwrap());
    let (detail, hint) = sentence(hop, &hop.blocks[0]);
    assert_eq!(
        detail,
        "the update to 4.23 could start at 2027-11-10T12:00:00Z, and MachineConfigPool/worker will be in its way: \
         the kubelets of 4 of its 4 nodes are of Kubernetes 1.33 then, and OpenShift 4.23 (Kubernetes 1.36) supports 1.35 and later"
    );
    let begin = "no window of MachineConfigPool/worker opens before 2027-11-10T12:00:00Z: the nodes take about ";
    assert!(
        hint.starts_with(begin) && hint.ends_with(&format!("so one has to open by {open_by}")),
        "{hint}"
    );
    // A policy that the stanza names and sets aside has windows, and none of them helps.
    let aside = json!({"strategy": "Restrictive", "byPolicy": {"name": "nights"}});
    let aside = foreseen(&at_release("4.20.8", ("v1.33.2", &open(), &aside)), &path, 400);
    let (_, hint) = sentence(aside.blocked().unwrap(), &aside.blocked().unwrap().blocks[0]);
    assert!(hint.starts_with(begin), "{hint}");
    // The stanza opens just then, and not a second later.
    let opening = |at: Instant| {
        let stanza = json!({"strategy": "RestrictiveUntil", "restrictiveUntil": at.to_string()});
        let cluster = at_release("4.20.8", ("v1.33.2", &open(), &stanza));
        foreseen(&cluster, &path, 400)
    };
    assert!(opening(open_by).blocked().is_none());
    assert!(opening(open_by.saturating_add(1)).blocked().is_some());
}

/// CV-1: an update that has begun before the period is told, because nothing else of a forecast names it.
#[test]
fn update_that_is_under_way_at_the_start_is_told() {
    let mut cluster = at_release("4.20.8", ("v1.33.2", &open(), &open()));
    assert_eq!(simulate(&cluster, &days(1)).under_way, None);
    let document = json!({
        "metadata": {"name": "version"},
        "spec": {"changeManagement": shut(), "desiredUpdate": {"version": "4.20.10"}},
        "status": {"desired": {"version": "4.20.10"}, "history": [
            {"state": "Partial", "version": "4.20.10"}, {"state": "Completed", "version": "4.20.8"}]},
    });
    cluster.add_written(&kinds::CLUSTER_VERSION, &document, noon());
    let forecast = simulate(&cluster, &days(1));
    assert_eq!(forecast.under_way.as_deref(), Some("release 4.20.10"));
}

/// CV-3: what a kubelet reports that cannot be read is told as that, and not as what was guessed for it.
#[test]
fn kubelet_that_cannot_be_read_is_never_told_as_a_version() {
    let told = |kubelets: [&str; 4]| {
        let mut cluster = at_release("4.20.8", ("v1.33.2", &open(), &shut()));
        for (place, kubelet) in kubelets.into_iter().enumerate() {
            change(&mut cluster, &format!("worker-{place}"), |node| node.kubelet = kubelet.into());
        }
        let updates = foreseen(&cluster, &[("4.21", 1), ("4.22", 2), ("4.23", 3)], 30);
        let hop = updates.blocked().unwrap();
        let (detail, _) = sentence(hop, &hop.blocks[0]);
        let (_, told) = detail.split_once(" nodes are of ").unwrap();
        told.split_once(", and OpenShift").unwrap().0.to_owned()
    };
    let (read, not) = ("v1.33.2", "v1.99999999999999999999");
    assert_eq!(told([read; 4]), "Kubernetes 1.33 then");
    assert_eq!(told([not; 4]), "a version that cannot be read");
    assert_eq!(
        told([read, not, read, read]),
        "Kubernetes 1.33 then, or of a version that cannot be read"
    );
    // Who reports nothing is taken to be where the control plane is.
    assert_eq!(told([""; 4]), "Kubernetes 1.33 then");
}

/// CV-3: the windows of a pool are walked back from the day, by how long the pool takes.
#[test]
fn last_window_that_helps_is_told_of_a_pool_that_somebody_stopped() {
    let mut cluster = at_release("4.22.1", ("v1.34.2", &open(), &nights()));
    let pool = json!({
        "metadata": {"name": "worker"},
        "spec": {"nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}}, "paused": true,
            "configuration": {"name": "rendered-worker-b"}, "changeManagement": nights()},
        "status": {"configuration": {"name": "rendered-worker-a"}},
    });
    cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, noon());
    let updates = foreseen(&cluster, &[("4.23", 10)], 30);
    let hop = updates.blocked().unwrap();
    let block = &hop.blocks[0];
    let Rescue::Window { start, begin_by, takes } = block.rescue else { panic!("{block:?}") };
    assert_eq!(start, instant("2026-11-24T22:00:00Z"));
    assert_eq!(begin_by.saturating_add(takes), instant("2026-11-25T02:00:00Z"));
    let (_, hint) = sentence(hop, block);
    let begin = "spec.paused is true; the last window of ChangeManagementPolicy/nights that still helps opens at 2026-11-24T22:00:00Z";
    assert!(hint.starts_with(begin), "{hint}");
}

/// CV-1: a pool without nodes has nothing to follow with.
#[test]
fn release_is_no_change_of_a_pool_without_nodes() {
    let mut cluster = at_release("4.20.8", ("v1.33.2", &open(), &open()));
    add_pool(&mut cluster, "gpu", 0, &json!({}));
    let forecast = simulate(&cluster, &asked(&cluster, &[("4.21", 1)], 30));
    assert!(forecast.updates.unwrap().hops[0].finished.is_some());
    let changes = |course: &Course| course.changes.len();
    assert_eq!(forecast.pools.iter().map(changes).collect::<Vec<_>>(), [0, 1, 1]);
}

/// CV-3
#[test]
fn wish_that_stands_in_the_object_is_a_path_of_its_own() {
    let mut cluster = at_release("4.22.1", ("v1.34.2", &open(), &shut()));
    assert_eq!(path::wished(&cluster, noon()), None);
    let document = json!({
        "metadata": {"name": "version"},
        "spec": {"desiredUpdate": {"version": "4.23.0"}},
        "status": {"desired": {"version": "4.22.1"}},
    });
    cluster.add_written(&kinds::CLUSTER_VERSION, &document, noon());
    let wish = path::wished(&cluster, noon()).unwrap();
    assert_eq!((wish.name.as_str(), wish.at), ("4.23.0", noon()));
    let settings = Settings { updates: vec![wish], ..days(10) };
    let updates = foresee(&cluster, &settings).unwrap();
    assert_eq!(updates.blocked().unwrap().due, Some(noon()));
    // Nothing is asked for: nothing is foreseen.
    assert!(foresee(&cluster, &days(10)).is_none());
    // One minor after another goes on from the wish.
    let names =
        |updates: Vec<path::Update>| updates.into_iter().map(|one| one.name).collect::<Vec<_>>();
    let each = path::each(&cluster, [noon(), noon()], noon()).unwrap();
    assert_eq!(names(each), ["4.23.0", "5.0", "5.1"]);
}

/// CV-3: what is no path is told, with what to do.
#[test]
fn path_that_goes_back_or_skips_or_is_past_is_refused() {
    let cluster = at_release("4.20.8", ("v1.33.2", &open(), &open()));
    let range = days(30).range;
    let check = |cluster: &Snapshot, named: &[(&str, i64)], expected: &str| {
        let at = |days: &i64| noon().saturating_add(days * 86_400);
        let named: Vec<_> =
            named.iter().map(|(name, days)| ((*name).to_owned(), at(days))).collect();
        let BadPath { detail, hint } = path::given(cluster, &named, &range).unwrap_err();
        assert_eq!(format!("{detail}; {hint}"), expected);
    };
    check(
        &cluster,
        &[("4.19", 1)],
        "the control plane has 4.20 by then, and an update never goes back to 4.19; name the next minor, 4.21",
    );
    check(
        &cluster,
        &[("4.20", 1)],
        "the control plane has 4.20 by then; name the next minor, 4.21, or a patch release such as 4.20.9",
    );
    check(
        &cluster,
        &[("4.21", 1), ("4.23", 2)],
        "4.23 does not follow 4.21: an update takes one minor at a time; name 4.22 before it",
    );
    check(
        &cluster,
        &[("4.21", -1)],
        "4.21 is asked for at 2026-11-14T12:00:00Z, which is past: the forecast begins at 2026-11-15T12:00:00Z; name a date to come, or begin earlier with --at",
    );
    check(
        &cluster,
        &[("4.21", 30)],
        "4.21 is asked for at 2026-12-15T12:00:00Z, and the forecast ends at 2026-12-15T12:00:00Z; name an earlier date, or look further ahead",
    );
    check(
        &cluster,
        &[("4.21", 5), ("4.22", 4)],
        "4.22 is asked for at 2026-11-19T12:00:00Z, before 4.21 at 2026-11-20T12:00:00Z; name updates in the order of their dates",
    );
    check(
        &cluster,
        &[("soon", 1)],
        r#""soon" is not a version: expected a release of OpenShift 4 or 5, such as 4.21; name a release and a date: 4.21@2027-03-01"#,
    );
    check(
        &cluster,
        &[("1.37", 1)],
        "1.37 is a version of Kubernetes, and the control plane is OpenShift 4.20 (Kubernetes 1.33); name a release and a date: 4.21@2027-03-01",
    );
    check(
        &Snapshot::default(),
        &[("4.21", 1)],
        "there is no ClusterVersion/version and no node of the control plane that reports its kubelet, so nobody can tell which release the control plane has; name the files that hold them with -f",
    );
}

/// Wishes for a release, as somebody who starts updates here has pinned it.
fn wishes(cluster: &mut Snapshot, stanza: &Value, (from, to): (&str, &str)) {
    let wish =
        json!({"version": to, "image": format!("registry/release@sha256:{}", "0".repeat(64))});
    let pin = json!({"version": to, "image": wish["image"], "wish": wish}).to_string();
    let document = json!({
        "metadata": {"name": "version", "uid": "1", "generation": 1,
            "annotations": {api::names::WANTED_IMAGE: pin}},
        "spec": {"changeManagement": stanza, "desiredUpdate": wish},
        "status": {"desired": {"version": from}, "history": [{"state": "Completed", "version": from}]},
    });
    cluster.add_written(&kinds::CLUSTER_VERSION, &document, noon());
}

/// CV-3: pool, nodes, date and the last window, for the update that is wished for; nothing where nobody wishes, where kubelets are new enough,
/// and where somebody set them aside.
#[test]
fn who_will_be_in_the_way_of_a_wish_is_foreseen() {
    let mut cluster = at_release("4.22.3", ("v1.34.1", &nights(), &shut()));
    assert_eq!(Kept::new(&cluster, noon()).answer().found, Foreseen::Clear, "nobody wishes");
    wishes(&mut cluster, &nights(), ("4.22.3", "4.22.9"));
    assert_eq!(Kept::new(&cluster, noon()).answer().found, Foreseen::Clear, "a patch");
    wishes(&mut cluster, &nights(), ("4.22.3", "4.23.1"));
    let kept = Kept::new(&cluster, noon());
    let Foreseen::Blocked(ahead) = &kept.answer().found else { panic!() };
    assert_eq!(kept.answer().until, Some(instant("2026-11-15T22:00:00Z")), "to be looked at again");
    assert_eq!(ahead.at, instant("2026-11-15T22:00:00Z"));
    assert_eq!(
        ahead.said,
        "the update to 4.23.1 could start at 2026-11-15T22:00:00Z, and MachineConfigPool/worker will be in its way: the kubelets of 4 of its 4 nodes are of Kubernetes 1.34 then, and OpenShift 4.23 (Kubernetes 1.36) supports 1.35 and later (hint: no window of MachineConfigPool/worker opens before 2026-11-15T22:00:00Z: the nodes take about 47m, so one has to open by 2026-11-15T21:13:42Z)"
    );
    // A pool whose gate opens in time, with something to get, clears it.
    let mut opened = at_release("4.22.3", ("v1.34.1", &nights(), &open()));
    for place in 0..4 {
        change(&mut opened, &format!("worker-{place}"), |node| {
            node.current = "rendered-worker-before".into();
            node.desired.clone_from(&node.current);
        });
    }
    wishes(&mut opened, &nights(), ("4.22.3", "4.23.1"));
    assert_eq!(Kept::new(&opened, noon()).answer().found, Foreseen::Clear);
}

/// POL-7: an answer is made anew when something changes that it rests on and when a gate opens or shuts, and at no other time.
#[test]
fn what_was_foreseen_holds_until_an_input_changes_or_a_gate_moves() {
    let mut cluster = at_release("4.22.3", ("v1.34.1", &nights(), &shut()));
    let idle = Kept::new(&cluster, noon());
    assert!(idle.holds(&cluster, instant("2030-01-01T00:00:00Z")), "nobody wishes");
    wishes(&mut cluster, &nights(), ("4.22.3", "4.23.1"));
    assert!(!idle.holds(&cluster, noon()), "somebody wishes");
    let kept = Kept::new(&cluster, noon());
    assert!(kept.holds(&cluster, instant("2026-11-15T21:59:59Z")));
    assert!(!kept.holds(&cluster, instant("2026-11-15T22:00:00Z")), "the gate opens");
    assert!(!kept.holds(&cluster, instant("2026-11-15T11:59:59Z")), "the clock went back");
    let mut other = cluster.clone();
    change(&mut other, "worker-1", |node| node.desired = "elsewhere".into());
    assert!(kept.holds(&other, noon()), "how far a node is does not matter");
    change(&mut other, "worker-1", |node| node.kubelet = "v1.35.0".into());
    assert!(!kept.holds(&other, noon()), "a kubelet has moved");
    let mut other = cluster.clone();
    let freeze = json!({"metadata": {"name": "audit", "generation": 1},
        "spec": {"reason": "audit", "from": "2026-12-01T00:00:00Z"}});
    other.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze);
    assert!(!kept.holds(&other, noon()), "a freeze came");
    let mut other = cluster.clone();
    let policy = json!({"metadata": {"name": "unused", "generation": 1}, "spec": {"strategy": "Permissive"}});
    other.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, noon());
    assert!(!kept.holds(&other, noon()), "a policy came");
}

/// A cluster without a `ClusterVersion`: nodes of the control plane and a pool of workers, each with its kubelet.
fn plain(control_plane: &str, workers: &str, gate: &Value) -> Snapshot {
    let mut cluster = Snapshot::default();
    add_pool(
        &mut cluster,
        "worker",
        4,
        &json!({"configuration": {"name": "rendered-worker-a"}, "changeManagement": gate}),
    );
    for place in 0..4 {
        change(&mut cluster, &format!("worker-{place}"), |node| node.kubelet = workers.into());
    }
    let document = json!({
        "metadata": {"name": "cp-1", "labels": {"node-role.kubernetes.io/control-plane": ""}},
        "status": {"nodeInfo": {"kubeletVersion": control_plane}},
    });
    cluster.add(&kinds::NODE, &document);
    cluster
}

/// CV-3: where there is no `ClusterVersion` the rule is Kubernetes' own, three minors, and nobody holds the control plane.
#[test]
fn a_plain_cluster_is_foreseen_by_the_rule_of_kubernetes() {
    let cluster = plain("v1.36.2", "v1.34.1", &shut());
    let found = foreseen(&cluster, &[("1.37", 10), ("1.38", 100), ("1.39", 200)], 365);
    assert_eq!(found.object.to_string(), "Kubernetes");
    let blocked = found.blocked().unwrap();
    let (name, due) = (blocked.update.name.as_str(), blocked.due);
    assert_eq!((name, due), ("1.38", Some(instant("2027-02-23T12:00:00Z"))));
    let (detail, _) = sentence(blocked, &blocked.blocks[0]);
    assert_eq!(
        detail,
        "the update to 1.38 could start at 2027-02-23T12:00:00Z, and MachineConfigPool/worker will be in its way: the kubelets of 4 of its 4 nodes are of Kubernetes 1.34 then, and Kubernetes 1.38 supports 1.35 and later"
    );
    let fine = plain("v1.36.2", "v1.34.1", &open());
    assert!(
        foreseen(&fine, &[("1.37", 10), ("1.38", 100), ("1.39", 200)], 365).blocked().is_none()
    );
    let each = path::each(&cluster, [noon(), noon()], noon()).unwrap();
    let names: Vec<&str> = each.iter().map(|update| update.name.as_str()).collect();
    assert_eq!(names, ["1.37", "1.38"]);
}

/// Bad paths of a plain cluster, each with what is wrong and what to do.
#[test]
fn what_a_plain_cluster_cannot_do_is_told() {
    let cluster = plain("v1.36.2", "v1.36.2", &open());
    let check = |named: &str, expected: &str| {
        let BadPath { detail, hint } =
            path::given(&cluster, &[(named.to_owned(), noon())], &days(30).range).unwrap_err();
        assert_eq!(format!("{detail}; {hint}"), expected);
    };
    check(
        "4.22",
        "4.22 is a version of OpenShift, and the control plane is Kubernetes 1.36; name a release and a date: 1.37@2027-03-01",
    );
    check(
        "1.38",
        "1.38 does not follow 1.36: an update takes one minor at a time; name 1.37 before it",
    );
    check(
        "1.35",
        "the control plane has 1.36 by then, and an update never goes back to 1.35; name the next minor, 1.37",
    );
    check(
        "1.36",
        "the control plane has 1.36 by then; name the next minor, 1.37, or a patch release such as 1.36.9",
    );
    check(
        "soon",
        r#""soon" is not a version: expected one of Kubernetes, such as v1.34.2; name a release and a date: 1.37@2027-03-01"#,
    );
}
