//! What is proposed about the release of a control plane, and what is refused before anything is written.

use tidegate_core::cluster::kinds::{
    CHANGE_MANAGEMENT_POLICY, CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_GATE, CLUSTER_CHANGE_OVERRIDE,
    CLUSTER_VERSION, MACHINE_CONFIG_POOL, NODE, STOCK_CLUSTER_VERSION,
};
use tidegate_core::policy::verdict::Verdict;

use super::*;
use crate::{
    control_plane::{Asked, Plane},
    drawing::{Colour, Detail},
    explain::of_object,
    proposal::tests::saturdays,
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

const FRIDAY: &str = "2026-11-20T12:00:00Z";

fn image(digit: char) -> String {
    format!("registry/release@sha256:{}", String::from(digit).repeat(64))
}

/// A cluster at 4.20.6 that knows 4.20.7 and 4.21.2, changes on Saturdays, and is asked for this.
fn cluster(wish: Value) -> Snapshot {
    changed(wish, |_| ())
}

/// The same with a control plane that somebody changed.
fn changed(wish: Value, change: impl FnOnce(&mut Value)) -> Snapshot {
    let release = |version: &str, digit| json!({"version": version, "image": image(digit)});
    let mut version = json!({"metadata": {"name": "version", "uid": "u"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}},
        "status": {"desired": release("4.20.6", '6'),
            "availableUpdates": [release("4.20.7", '7'), release("4.21.2", 'a')],
            "history": [{"state": "Completed", "version": "4.20.6", "image": image('6'), "startedTime": "2026-01-01T00:00:00Z"}]}});
    version["spec"]["desiredUpdate"] = wish;
    change(&mut version);
    let mut cluster = Snapshot::default();
    cluster.add_written(&CHANGE_MANAGEMENT_POLICY, &saturdays(), at(FRIDAY));
    cluster.add(&CLUSTER_VERSION, &version);
    cluster
}

fn why<T>(proposed: Result<T, String>) -> String {
    proposed.err().unwrap_or_default()
}

#[test]
fn a_wish_is_written_with_its_way_back() {
    let change = wish(&cluster(Value::Null), &Wish::of("4.20.7", "")).unwrap();
    assert_eq!(change.patch["spec"]["desiredUpdate"]["version"], "4.20.7");
    assert_eq!(change.undo, json!({"spec": {"desiredUpdate": null}}));
    assert_eq!(change.way_back.as_deref(), Some("tidegate control-plane withdraw"));
    assert_eq!(
        change.meaning,
        "release 4.20.7 is wanted, and begins when the gate of ClusterVersion/version permits"
    );
    // Somebody else's wish comes back, and not nothing.
    let change = wish(&cluster(json!({"version": "4.21.2"})), &Wish::of("4.20.7", "")).unwrap();
    assert_eq!(
        (change.undo["spec"]["desiredUpdate"]["version"].as_str(), change.way_back),
        (Some("4.21.2"), None)
    );
    let change = withdraw(&cluster(json!({"version": "4.20.7"}))).unwrap();
    assert_eq!(change.patch, json!({"spec": {"desiredUpdate": null}}));
    assert_eq!(change.undo["spec"]["desiredUpdate"]["version"], "4.20.7");
}

#[test]
fn what_could_never_begin_is_refused_by_field_before_anything_is_written() {
    let check = |version: &str, image: &str, expected: &str| {
        let said = why(wish(&cluster(Value::Null), &Wish::of(version, image)));
        assert!(
            said.starts_with(expected) && said.contains("\n  hint: "),
            "{version} {image}: {said}"
        );
    };
    let digest = image('f');
    check(
        "4.20.99",
        "",
        "spec.desiredUpdate.version: 4.20.99 is none of the updates that the cluster knows: 4.20.7, 4.21.2",
    );
    check("latest", "", "spec.desiredUpdate.version: \"latest\" is not a version");
    check("4.20.7", "r:latest", "spec.desiredUpdate.image: \"r:latest\" has no digest");
    check("4.22.0", &digest, "spec.desiredUpdate.version: 4.22.0 skips 4.21");
    check("4.20.1", &digest, "spec.desiredUpdate.version: 4.20.1 is older than 4.20.6");
    let said = why(wish(&Snapshot::default(), &Wish::of("4.20.7", "")));
    assert!(said.starts_with("this cluster has no ClusterVersion/version"), "{said}");
    let said = why(wish(&cluster(Value::Null), &Wish::of("4.20.6", "")));
    assert_eq!(said, "the cluster has release 4.20.6 already");
    let said = why(wish(&cluster(Value::Null), &Wish::of("4.20.6", &image('6'))));
    assert_eq!(said, "the cluster has release 4.20.6 already");
    assert!(why(withdraw(&cluster(Value::Null))).starts_with("nothing is wanted"));
}

/// OVR-2: what starts before its window is one release, for a while, with a reason.
#[test]
fn a_start_is_an_override_for_one_release() {
    let now = at(FRIDAY);
    let until = at("2026-11-20T13:00:00Z");
    let wanted = Start { name: None, until, reason: "CVE", ticket: None, by: None };
    let writing = start(&cluster(json!({"version": "4.20.7"})), wanted, now).unwrap();
    assert_eq!(writing.document["spec"]["only"], json!({"release": "4.20.7"}));
    assert_eq!(
        writing.document["spec"]["target"],
        json!({"kind": "ClusterVersion", "name": "version"})
    );
    assert!(writing.way_back.starts_with("tidegate override "), "{}", writing.way_back);
    assert!(why(start(&cluster(Value::Null), wanted, now)).starts_with("nothing is wanted"));
    let saturday = at("2026-11-21T12:00:00Z");
    let said = why(start(&cluster(json!({"version": "4.20.7"})), wanted, saturday));
    assert!(said.starts_with("changes are permitted now"), "{said}");
}

#[test]
fn what_would_happen_is_told_with_when_and_what_stands_in_the_way() {
    let told = |asked: Asked<'_>, wish: Value| {
        let plane = Plane::new(&cluster(wish), asked, at(FRIDAY)).unwrap();
        (plane.drawing(at(FRIDAY), Colour::Off), plane.outlook())
    };
    let (drawn, clear) = told(Asked::ByTheCluster, json!({"version": "4.20.7"}));
    assert_eq!(
        drawn,
        format!(
            "ClusterVersion/version  release 4.20.6\n  wanted: release 4.20.7\n    image {}\n  held: ChangeManagementPolicy/weekend: no maintenance window is open: every Saturday, all day, UTC\n  starts at 2026-11-21T00:00:00Z (in 12h)\n",
            image('7')
        )
    );
    assert_eq!(clear, Verdict::Permitted);
    let (drawn, clear) = told(Asked::For(&Wish::of("4.23.0", &image('f'))), Value::Null);
    assert!(drawn.contains("  does not start: something stands in its way\n  in the way: spec.desiredUpdate.version: 4.23.0 skips 4.21"), "{drawn}");
    assert_eq!(clear, Verdict::Held);
    let (drawn, _) = told(Asked::ByTheCluster, Value::Null);
    assert_eq!(drawn, "ClusterVersion/version  release 4.20.6\n  nothing is wanted\n");
}

/// OVR-2: the gate is asked for the release that somebody thinks about, and not for the one that the cluster is asked for.
#[test]
fn an_override_for_one_release_opens_nothing_for_another() {
    let now = at(FRIDAY);
    let mut cluster = cluster(json!({"version": "4.20.7"}));
    let until = at("2026-11-20T13:00:00Z");
    let wanted = Start { name: None, until, reason: "CVE", ticket: None, by: None };
    let mut writing = start(&cluster, wanted, now).unwrap();
    writing.document["metadata"]["creationTimestamp"] = json!(FRIDAY);
    cluster.add_written(&CLUSTER_CHANGE_OVERRIDE, &writing.document, now);
    let check = |asked: Asked<'_>, verdict: Verdict, starts: &str| {
        let update = Plane::new(&cluster, asked, now).unwrap().update.unwrap();
        assert_eq!((update.verdict, update.starts), (verdict, Some(at(starts))), "{asked:?}");
    };
    check(Asked::ByTheCluster, Verdict::Permitted, FRIDAY);
    check(Asked::For(&Wish::of("4.20.7", "")), Verdict::Permitted, FRIDAY);
    // By its image alone it is the same release.
    check(Asked::For(&Wish::of("", &image('7'))), Verdict::Permitted, FRIDAY);
    check(Asked::For(&Wish::of("4.21.2", "")), Verdict::Held, "2026-11-21T00:00:00Z");
}

/// CV-4: nobody waits for what has begun or is there, and no cluster lists it among its updates.
#[test]
fn what_has_begun_or_is_there_is_told_as_that() {
    let under_way = |version: &mut Value| {
        version["status"]["desired"] = json!({"version": "4.20.7", "image": image('7')});
        let entry = json!({"state": "Partial", "version": "4.20.7", "image": image('7'), "startedTime": "2026-11-20T11:00:00Z"});
        version["status"]["history"].as_array_mut().unwrap().insert(0, entry);
    };
    let marked = |version: &mut Value| {
        let mark = json!({"version": "4.20.7", "image": image('7'), "uid": "u", "after": "2026-01-01T00:00:00Z"});
        version["metadata"]["annotations"] = json!({names::ACCEPTED_RELEASE: mark.to_string()});
    };
    let idle = |_: &mut Value| ();
    let check = |change: &dyn Fn(&mut Value), asked: &str, head: &str, said: &str| {
        let cluster = changed(json!({"version": "4.20.7"}), change);
        let wanted = Wish::of(asked, "");
        let plane = Plane::new(&cluster, Asked::For(&wanted), at(FRIDAY)).unwrap();
        let drawn = plane.drawing(at(FRIDAY), Colour::Off);
        assert_eq!(drawn, format!("ClusterVersion/version  {head}\n  {said}\n"));
        assert_eq!(plane.outlook(), Verdict::Permitted);
        assert_eq!(json!(plane.item())["already"], said);
        assert_eq!(why(wish(&cluster, &wanted)), said);
    };
    check(&idle, "4.20.6", "release 4.20.6", "the cluster has release 4.20.6 already");
    let begun = "release 4.20.7 has begun already";
    check(&under_way, "4.20.7", "release 4.20.7\n  under way: release 4.20.7", begun);
    let mark = "    let begin at an instant that its mark does not name, and nobody has begun to install it yet";
    let head = format!("release 4.20.6\n  under way: release 4.20.7\n{mark}");
    check(&marked, "4.20.7", &head, begun);
}

/// CV-3: whoever only thinks about a release is told of kubelets that it would leave behind, as whoever asks for it is.
#[test]
fn kubelets_are_in_the_way_of_a_release_that_somebody_thinks_about() {
    let told = |kubelet: &str, wish: &Wish| {
        let mut cluster = cluster(Value::Null);
        let node = json!({"metadata": {"name": "w1"}, "status": {"nodeInfo": {"kubeletVersion": kubelet}}});
        cluster.add(&NODE, &node);
        let plane = Plane::new(&cluster, Asked::For(wish), at(FRIDAY)).unwrap();
        (plane.drawing(at(FRIDAY), Colour::Off), plane.outlook())
    };
    let minor = Wish::of("4.21.2", "");
    let (drawn, outlook) = told("v1.32.4", &minor);
    let expected = "in the way: spec.desiredUpdate.version: the kubelet of Node/w1 (v1.32.4) is as far behind OpenShift 4.20 (Kubernetes 1.33) as is supported";
    assert!(drawn.contains(expected), "{drawn}");
    assert_eq!(outlook, Verdict::Held);
    let forced = Wish { checks: Checks::SetAside, ..minor.clone() };
    for (kubelet, wish) in
        [("v1.33.1", &minor), ("v1.32.4", &Wish::of("4.20.7", "")), ("v1.32.4", &forced)]
    {
        let (drawn, outlook) = told(kubelet, wish);
        assert_eq!(outlook, Verdict::Permitted, "{kubelet} {wish:?}: {drawn}");
    }
}

/// CV-1, CV-4: `explain` of the control plane tells what is wanted, what was let begin and when, how far that is, and how far the masters are.
#[test]
fn explanation_of_the_control_plane_tells_its_update() {
    let masters = json!({"metadata": {"name": "master"}, "spec": {
        "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/master": ""}},
        "configuration": {"name": "rendered-master-1"}}});
    let told = |now: &str, change: &dyn Fn(&mut Value)| {
        let mut cluster = changed(json!({"version": "4.20.7"}), change);
        cluster.add(&MACHINE_CONFIG_POOL, &masters);
        let answer = of_object(&object(), &cluster, at(now)).unwrap();
        (answer.drawing(at(now), Detail::Short, Colour::Off), json!(answer.item(at(now))))
    };
    let check = |(drawn, item): (String, Value), expected: &[&str], pointer: &str, value: Value| {
        for part in expected {
            assert!(drawn.contains(part), "{part:?} is not in {drawn}");
        }
        assert!(!drawn.contains("\n  held: "), "what the gate says stands above: {drawn}");
        assert!(drawn.contains("  masters: "), "{drawn}");
        assert_eq!(item.pointer(pointer), Some(&value), "{item}");
    };
    let wanted = ["  wanted: release 4.20.7\n", "  starts at 2026-11-21T00:00:00Z (in 12h)\n"];
    check(told(FRIDAY, &|_| ()), &wanted, "/controlPlane/update/release", json!("4.20.7"));
    let stopped =
        |version: &mut Value| version["spec"]["desiredUpdate"]["version"] = json!("4.20.99");
    let in_the_way = ["  in the way: spec.desiredUpdate.version: 4.20.99 is none of"];
    check(
        told(FRIDAY, &stopped),
        &in_the_way,
        "/controlPlane/update/starts",
        json!("2026-11-21T00:00:00Z"),
    );
    let marked = |version: &mut Value| {
        let mark = json!({"version": "4.20.7", "image": image('7'), "uid": "u", "after": "2026-01-01T00:00:00Z", "at": "2026-11-20T11:00:00Z"});
        version["metadata"]["annotations"] = json!({names::ACCEPTED_RELEASE: mark.to_string()});
    };
    let let_begin = [
        "  under way: release 4.20.7\n    let begin at 2026-11-20T11:00:00Z (1h ago), and nobody has begun to install it yet\n",
    ];
    check(told(FRIDAY, &marked), &let_begin, "/controlPlane/mark/followed", json!(false));
    let followed = |version: &mut Value| {
        marked(version);
        let status = &mut version["status"];
        status["desired"] = json!({"version": "4.20.7", "image": image('7')});
        status["conditions"] = json!([{"type": "Progressing", "status": "True", "message": "Working towards 4.20.7: 3 of 7 levels done"}]);
        let entry = json!({"state": "Partial", "version": "4.20.7", "image": image('7'), "startedTime": "2026-11-20T11:00:01Z"});
        status["history"].as_array_mut().unwrap().insert(0, entry);
    };
    let progress = [
        "  under way: release 4.20.7\n    let begin at 2026-11-20T11:00:00Z (1h ago)\n    Working towards 4.20.7: 3 of 7 levels done\n",
    ];
    check(
        told(FRIDAY, &followed),
        &progress,
        "/controlPlane/mark/at",
        json!("2026-11-20T11:00:00Z"),
    );
    let done = |version: &mut Value| {
        followed(version);
        version["status"]["history"][0]["state"] = json!("Completed");
        version["status"]["conditions"] = json!([]);
    };
    check(told(FRIDAY, &done), &["  nothing is wanted\n"], "/controlPlane/update", Value::Null);
}

/// GATE-12: three answers, and only a window that is ahead is waited for.
#[test]
fn an_update_is_clear_only_if_it_would_begin_by_itself() {
    let check = |cluster: &Snapshot, version: &str, expected: Verdict| {
        let wanted = Wish::of(version, "");
        let plane = Plane::new(cluster, Asked::For(&wanted), at(FRIDAY)).unwrap();
        assert_eq!(plane.outlook(), expected, "{}", plane.drawing(at(FRIDAY), Colour::Off));
    };
    check(&cluster(Value::Null), "4.20.7", Verdict::Permitted);
    check(&cluster(Value::Null), "4.20.99", Verdict::Held);
    let mut frozen = cluster(Value::Null);
    let freeze = json!({"metadata": {"name": "incident", "creationTimestamp": "2026-11-20T10:00:00Z"}, "spec": {"reason": "incident"}});
    frozen.add_written(&CLUSTER_CHANGE_FREEZE, &freeze, at(FRIDAY));
    check(&frozen, "4.20.7", Verdict::Held);
    let stanza = |stanza: Value| {
        changed(Value::Null, |version| version["spec"]["changeManagement"] = stanza)
    };
    check(&stanza(json!({"strategy": "Restrictive"})), "4.20.7", Verdict::Held);
    let missing = json!({"strategy": "ByPolicy", "byPolicy": {"name": "nowhere"}});
    check(&stanza(missing.clone()), "4.20.7", Verdict::CannotTell);
    check(&stanza(missing), "4.20.99", Verdict::CannotTell);
}

/// A stock cluster at 4.20.6 whose updates a gate holds until Saturday, with this noted as wanted.
fn stock(wanted: Option<&str>) -> Snapshot {
    let release = |version: &str, digit| json!({"version": version, "image": image(digit)});
    let noted = wanted.map_or_else(|| json!({}), |wanted| json!({names::WANTED_RELEASE: wanted}));
    let version = json!({"metadata": {"name": "version", "uid": "u", "annotations": noted}, "spec": {},
        "status": {"desired": release("4.20.6", '6'), "availableUpdates": [release("4.20.7", '7')],
            "history": [{"state": "Completed", "version": "4.20.6", "image": image('6'), "startedTime": "2026-01-01T00:00:00Z"}]}});
    let gate = json!({"metadata": {"name": "plane", "generation": 1},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "ClusterVersion"}]},
        "status": {"observedGeneration": 1, "windows": [{"startTime": "2026-11-21T00:00:00Z", "endTime": "2026-11-22T00:00:00Z"}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "message": ""}]}});
    let mut cluster = Snapshot::default();
    cluster.add(&CLUSTER_CHANGE_GATE, &gate);
    cluster.add(&STOCK_CLUSTER_VERSION, &version);
    cluster
}

/// CV-4: where `spec.desiredUpdate` would begin at once, a wish is an annotation, and nothing else is ever written.
#[test]
fn a_wish_of_a_stock_cluster_is_an_annotation() {
    let change = wish(&stock(None), &Wish::of("4.20.7", "")).unwrap();
    let noted = |text: Value| json!({"metadata": {"annotations": {names::WANTED_RELEASE: text}}});
    assert_eq!(change.patch, noted(json!(r#"{"version":"4.20.7"}"#)));
    assert_eq!(change.undo, noted(Value::Null));
    assert_eq!(change.way_back.as_deref(), Some("tidegate control-plane withdraw"));
    assert_eq!(
        change.meaning,
        "release 4.20.7 is queued, and the operator lets it begin (manageUpdates) when all that holds ClusterVersion permits"
    );
    let before = r#"{"version":"4.20.7","force":true}"#;
    let change = wish(&stock(Some(before)), &Wish::of("4.20.8", &image('8'))).unwrap();
    assert_eq!((change.undo, change.way_back), (noted(json!(before)), None));
    let said = why(wish(&stock(None), &Wish::of("4.20.99", "")));
    let field =
        format!(r#"metadata.annotations["{}"].version: 4.20.99 is none of"#, names::WANTED_RELEASE);
    assert!(said.starts_with(&field), "{said}");
    let change = withdraw(&stock(Some(before))).unwrap();
    assert_eq!((change.patch, change.undo), (noted(Value::Null), noted(json!(before))));
    let change = withdraw(&stock(Some("soon"))).unwrap();
    assert_eq!(change.patch, noted(Value::Null));
    assert_eq!(
        change.meaning,
        "the wish that nobody can read is taken away; nothing of it has begun"
    );
    assert_eq!(
        why(withdraw(&stock(None))),
        "nothing is wanted: ClusterVersion/version has no annotation changemanagement.openshift.io/wanted-release"
    );
}

/// CV-6: what holds it is told, with when it begins, and that no override is for one release alone.
#[test]
fn what_a_stock_cluster_waits_for_is_told_with_its_gate() {
    let now = at(FRIDAY);
    let waits = stock(Some(r#"{"version":"4.20.7"}"#));
    let plane = Plane::new(&waits, Asked::ByTheCluster, now).unwrap();
    let drawn = plane.drawing(now, Colour::Off);
    for expected in [
        "  wanted: release 4.20.7\n",
        "  held: ClusterChangeGate/plane holds it\n",
        "  starts at 2026-11-21T00:00:00Z (in 12h)\n",
        "nobody has written down yet what it stands for",
    ] {
        assert!(drawn.contains(expected), "{drawn}");
    }
    assert_eq!(plane.outlook(), Verdict::Permitted);
    let until = at("2026-11-20T13:00:00Z");
    let wanted = Start { name: None, until, reason: "CVE", ticket: None, by: None };
    let said = why(start(&waits, wanted, now));
    assert!(said.contains("ClusterChangeGate/plane holds it\n  hint: tidegate override ccg/plane --open-for 1h --reason"), "{said}");
    let said = why(start(&waits, wanted, at("2026-11-21T12:00:00Z")));
    assert!(said.starts_with("changes are permitted now"), "{said}");
    assert!(why(start(&stock(None), wanted, now)).starts_with("nothing is wanted"));
}
