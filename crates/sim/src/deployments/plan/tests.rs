use super::*;

/// A Deployment from words: what is special about it. It wants four pods of `app:1`, one beyond them at most and none missing.
fn deployed(words: &str) -> Value {
    let mut deployment = json!({"metadata": {"namespace": "shop", "name": "web", "uid": "d", "generation": 2,
            "annotations": {REVISION: "1", "example.com/team": "web"}},
        "spec": {"replicas": 4, "revisionHistoryLimit": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": template_of("app:1")}});
    for word in words.split_whitespace() {
        match word.split_once('=').unwrap_or((word, "")) {
            ("wants", count) => {
                deployment["spec"]["replicas"] = json!(count.parse::<i64>().unwrap());
            }
            ("image", image) => deployment["spec"]["template"] = template_of(image),
            ("paused", _) => deployment["spec"]["paused"] = json!(true),
            ("recreates", _) => deployment["spec"]["strategy"] = json!({"type": "Recreate"}),
            ("revision", number) => {
                deployment["metadata"]["annotations"][REVISION] = json!(number);
            }
            (other, _) => panic!("{other}"),
        }
    }
    deployment
}

fn template_of(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": image}]}})
}

/// A set from words: image, revision, how many pods it is to have, how many are there, how many of them are ready.
fn set_from(words: &str) -> Value {
    let words: Vec<&str> = words.split_whitespace().collect();
    let [image, number, wanted, there, ready] = words[..] else { panic!("{words:?}") };
    let parsed = |text: &str| text.parse::<i64>().unwrap();
    let mut template = template_of(image);
    template["metadata"]["labels"][HASH] = json!(number);
    json!({"metadata": {"namespace": "shop", "name": format!("web-{number}"), "uid": format!("s{number}"),
            "resourceVersion": "7", "generation": 1,
            "annotations": {REVISION: number, DESIRED: "4", MOST: "5"}},
        "spec": {"replicas": parsed(wanted), "template": template},
        "status": {"replicas": parsed(there), "availableReplicas": parsed(ready)}})
}

fn pod(name: &str, of: &str) -> Value {
    let mut pod = json!({"metadata": {"namespace": "shop", "name": name, "uid": name,
            "ownerReferences": [{"kind": "ReplicaSet", "uid": of, "controller": true}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    if name.starts_with("unready") {
        pod["status"]["conditions"][0]["status"] = json!("False");
    }
    if name.starts_with("going") {
        pod["metadata"]["deletionTimestamp"] = json!("2026-11-18T09:00:00Z");
    }
    pod
}

fn said(deeds: &[Deed]) -> Vec<String> {
    let line = |deed: &Deed| match deed {
        Deed::CreateSet(set) => {
            let noted = |key: &str| noted(set, key).unwrap_or_default().to_owned();
            let image = text(set, "/spec/template/spec/containers/0/image");
            format!(
                "create {image} {} of {}/{}, revision {}",
                set["spec"]["replicas"],
                noted(DESIRED),
                noted(MOST),
                noted(REVISION)
            )
        }
        Deed::ChangeSet(name, change) => format!(
            "{name} {} {}",
            change["spec"]["replicas"],
            text(change, "/metadata/annotations/deployment.kubernetes.io~1revision")
        )
        .trim_end()
        .to_owned(),
        Deed::DeleteSet(name) => format!("delete {name}"),
        Deed::Note(change) => format!(
            "note {}",
            text(change, "/metadata/annotations/deployment.kubernetes.io~1revision")
        ),
        Deed::CreatePod(pod) => format!("pod {}", text(pod, "/metadata/name")),
        Deed::DeletePod(name, _) => format!("{name} goes"),
        Deed::SetStatus(_, change) => format!(
            "{} there, {} ready",
            change["status"]["replicas"], change["status"]["readyReplicas"]
        ),
    };
    deeds.iter().map(line).collect()
}

#[track_caller]
fn check(words: &str, sets: &[&str], pods: &[Value], expected: &[&str]) {
    let sets: Vec<Value> = sets.iter().map(|words| set_from(words)).collect();
    let deployment = deployed(words);
    let seen = Seen { deployment: &deployment, sets: &sets, pods };
    assert_eq!(said(&super::deployment(seen)), expected, "{words}: {sets:?}");
}

#[test]
fn a_rollout_creates_its_set_first_and_then_goes_step_by_step() {
    check("", &[], &[], &["create app:1 4 of 4/5, revision 1"]);
    check("", &["app:1 1 4 4 4"], &[], &[]);
    // The first write, and nothing else goes before it.
    check("image=app:2", &["app:1 1 4 4 4"], &[], &["create app:2 1 of 4/5, revision 2"]);
    let to = "image=app:2 revision=2";
    check("image=app:2", &["app:1 1 4 4 4", "app:2 2 1 0 0"], &[], &["note 2"]);
    check(to, &["app:1 1 4 4 4", "app:2 2 1 1 0"], &[], &[]);
    check(to, &["app:1 1 4 4 4", "app:2 2 1 1 1"], &[], &["web-1 3"]);
    check(to, &["app:1 1 3 3 3", "app:2 2 1 1 1"], &[], &["web-2 2 2"]);
    // A pod that serves nobody goes first.
    check(to, &["app:1 1 3 3 2", "app:2 2 2 2 2"], &[], &["web-1 2"]);
    check(to, &["app:1 1 0 0 0", "app:2 2 4 4 4"], &[], &[]);
}

#[test]
fn a_return_takes_the_set_that_is_there() {
    check("revision=2", &["app:1 1 0 0 0", "app:2 2 4 4 4"], &[], &["web-1 1 3", "note 3"]);
}

#[test]
fn scaling_goes_on_while_a_rollout_waits() {
    check("image=app:2 wants=6", &["app:1 1 4 4 4"], &[], &["web-1 6"]);
    check("paused image=app:2", &["app:1 1 4 4 4"], &[], &[]);
    check("paused wants=2", &["app:1 1 4 4 4"], &[], &["web-1 2"]);
}

#[test]
fn recreate_takes_every_pod_away_before_it_creates_the_set() {
    let to = "recreates image=app:2";
    check(to, &["app:1 1 4 4 4"], &[], &["web-1 0"]);
    let mut gone = set_from("app:1 1 0 0 0");
    gone["metadata"]["annotations"][MOST] = json!("4");
    let deployment = deployed(to);
    let sets = [gone];
    for (pods, expected) in [
        (vec![pod("going", "s1")], vec![]),
        (vec![], vec!["create app:2 4 of 4/4, revision 2".to_owned()]),
    ] {
        let seen = Seen { deployment: &deployment, sets: &sets, pods: &pods };
        assert_eq!(said(&super::deployment(seen)), expected);
    }
}

#[test]
fn only_so_many_sets_are_kept_to_return_to() {
    let sets = ["app:0 1 0 0 0", "app:7 2 0 0 0", "app:8 3 0 1 0", "app:1 4 4 4 4"];
    check("revision=4", &sets, &[], &["delete web-1"]);
}

/// What the room of Deployments goes by (RCH-3): owner, revision and counts; and by the label no two sets have the same pods.
#[test]
fn the_first_write_is_that_of_the_real_controller() {
    let deployment = deployed("image=app:2");
    let sets = [set_from("app:1 1 4 4 4")];
    let deeds = super::deployment(Seen { deployment: &deployment, sets: &sets, pods: &[] });
    let [Deed::CreateSet(set)] = &deeds[..] else { panic!("{deeds:?}") };
    let hash = text(set, "/metadata/labels/pod-template-hash");
    assert_eq!(text(set, "/metadata/name"), format!("web-{hash}"));
    assert_eq!(
        set["metadata"]["ownerReferences"],
        json!([{"apiVersion": "apps/v1", "kind": "Deployment",
        "name": "web", "uid": "d", "controller": true, "blockOwnerDeletion": true}])
    );
    assert_eq!(
        set["metadata"]["annotations"],
        json!({REVISION: "2", DESIRED: "4", MOST: "5",
        "example.com/team": "web"})
    );
    assert_eq!(set["spec"]["selector"]["matchLabels"], json!({"app": "web", HASH: hash}));
    assert_eq!(set["spec"]["template"]["metadata"]["labels"], json!({"app": "web", HASH: hash}));
    assert_eq!(template(set), deployment["spec"]["template"]);
}

#[test]
fn a_set_makes_and_ends_pods_and_doing_so_twice_makes_no_more() {
    let web = set_from("app:1 1 2 0 0");
    let made = said(&set(&web, &[]));
    assert_eq!(made.len(), 3, "{made:?}");
    assert_eq!(said(&set(&web, &[])), made, "the same names once more");
    let none = [pod("a", "other")];
    assert_eq!(said(&set(&web, &none)), made, "those of others do not count");
    let pods = ["b", "unready", "a", "going"].map(|name| pod(name, "s1"));
    assert_eq!(said(&set(&web, &pods)), ["unready goes", "3 there, 2 ready"]);
    let pods = ["going", "a"].map(|name| pod(name, "s1"));
    assert_eq!(said(&set(&web, &pods))[1..], ["1 there, 1 ready"]);
    let gone = set_from("app:1 1 0 0 0");
    assert_eq!(said(&set(&gone, &pods)), ["a goes", "1 there, 1 ready"]);
}

#[test]
fn a_refusal_is_told_until_the_set_is_there() {
    let at = |text: &str| Instant::parse(&format!("2026-11-18T{text}Z")).unwrap();
    let mut deployment = deployed("image=app:2");
    let sets = [set_from("app:1 1 4 4 4")];
    let progress = |deployment: &mut Value, sets: &[Value], refused: Option<&str>, now| {
        let change = status(Seen { deployment, sets, pods: &[] }, refused, now);
        if let Some(change) = &change {
            deployment["status"] = change["status"].clone();
        }
        let found = known(deployment, "Progressing");
        let part = |part: &str| found.map(|found| text(found, part).to_owned()).unwrap_or_default();
        (change.is_some(), part("/reason"), part("/lastTransitionTime"))
    };
    let refused = (true, "ReplicaSetCreateError".to_owned(), "2026-11-18T09:00:00Z".to_owned());
    assert_eq!(progress(&mut deployment, &sets, Some("held"), at("09:00:00")), refused);
    let same = (false, refused.1.clone(), refused.2.clone());
    assert_eq!(progress(&mut deployment, &sets, Some("held"), at("09:00:05")), same);
    assert_eq!(deployment["status"]["updatedReplicas"], 0);
    // It was given up, and nobody says otherwise.
    assert_eq!(progress(&mut deployment, &sets, None, at("10:00:00")), same);
    let sets = [set_from("app:1 1 4 4 4"), set_from("app:2 2 1 1 0")];
    let (_, reason, since) = progress(&mut deployment, &sets, None, at("21:00:00"));
    assert_eq!((&*reason, &*since), ("ReplicaSetUpdated", "2026-11-18T21:00:00Z"));
    let sets = [set_from("app:1 1 0 0 0"), set_from("app:2 2 4 4 4")];
    let (_, reason, since) = progress(&mut deployment, &sets, None, at("21:09:00"));
    assert_eq!((&*reason, &*since), ("NewReplicaSetAvailable", "2026-11-18T21:00:00Z"));
    assert_eq!(deployment["status"]["observedGeneration"], 2);
}
