use api::names::{ACCEPTED_CONFIG, ACCEPTED_RELEASE};

use super::*;

fn image(digit: char) -> String {
    format!("r@sha256:{}", String::from(digit).repeat(64))
}

/// HOST-1: a control plane is created with what is wanted, and updated by its mark alone.
#[test]
fn a_hosted_control_plane_follows_its_mark_and_no_wish() {
    let lengths = Lengths::default();
    let at = |text: &str| Instant::parse(text).unwrap();
    let now = at("2026-11-14T00:00:00Z");
    let mut host = json!({"metadata": {"uid": "u", "annotations": {}},
        "spec": {"release": {"image": image('6').replace('@', ":4.20.6@")}}});
    let (status, _) = cluster(&host, now, &lengths);
    host["status"] = status.unwrap()["status"].clone();
    assert_eq!(text(&host, "/status/version/desired/version"), "4.20.6");
    host["spec"]["release"]["image"] = json!(image('7'));
    assert_eq!(cluster(&host, now, &lengths), (None, None), "a wish moves nothing");
    let mark = |uid: &str| {
        json!({"version": "4.20.7", "image": image('7'), "uid": uid, "after": now.to_string()})
            .to_string()
    };
    host["metadata"]["annotations"][ACCEPTED_RELEASE] = json!(mark("another"));
    assert_eq!(cluster(&host, now, &lengths), (None, None), "nor does a mark of another object");
    host["metadata"]["annotations"][ACCEPTED_RELEASE] = json!(mark("u"));
    let later = at("2026-11-14T01:00:00Z");
    let (status, _) = cluster(&host, later, &lengths);
    host["status"] = status.unwrap()["status"].clone();
    assert_eq!(text(&host, "/status/version/history/0/state"), "Partial");
    let (none, due) = cluster(&host, later, &lengths);
    assert_eq!(none, None);
    let (status, _) = cluster(&host, due.unwrap(), &lengths);
    assert_eq!(text(&status.unwrap(), "/status/version/history/0/state"), "Completed");
}

/// HOST-3: the template is withheld until the mark names the very hash, and scaling goes on.
#[test]
fn a_template_is_handed_over_by_the_mark_of_its_very_hash() {
    let host = json!({"metadata": {"name": "shop"}});
    let mut document = json!({"metadata": {"name": "w", "namespace": "n", "uid": "u", "annotations": {}},
        "spec": {"clusterName": "shop", "replicas": 3, "release": {"image": image('6').replace('@', ":4.20.6@")}}});
    let around = |deployment| Around { host: &host, configs: Some(&[]), deployment };
    let made = pool(&document, around(None));
    let mut deployment = made.create.unwrap();
    deployment["metadata"]["generation"] = json!(1);
    deployment["status"] = json!({"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "observedGeneration": 1});
    let first = pool(&document, around(Some(&deployment)));
    let noted = first.noted.expect("it is there")["metadata"]["annotations"].clone();
    document["metadata"]["annotations"] = noted.clone();
    document["status"] = json!({"version": "4.20.6"});
    document["spec"]["release"]["image"] = json!(image('7').replace('@', ":4.20.7@"));
    let held = pool(&document, around(Some(&deployment)));
    assert_eq!((held.patch, held.noted), (None, None));
    document["spec"]["replicas"] = json!(5);
    let scaled = pool(&document, around(Some(&deployment))).patch.expect("scaling goes on");
    assert_eq!((&scaled["spec"]["replicas"], scaled["spec"].get("template")), (&json!(5), None));
    document["spec"]["replicas"] = json!(3);
    let target = wanted(&SeenNodePool::new(&document), around(None)).unwrap();
    let mark = |config: &str, uid: &str| {
        json!({"version": "4.20.7", "image": image('7'), "config": config, "uid": uid, "after": noted[CURRENT]}).to_string()
    };
    for (mark, hands_over) in
        [(mark("another", "u"), false), (mark(&target, "v"), false), (mark(&target, "u"), true)]
    {
        document["metadata"]["annotations"][ACCEPTED_CONFIG] = json!(mark);
        let plan = pool(&document, around(Some(&deployment)));
        assert_eq!(plan.patch.is_some(), hands_over, "{mark}");
        if let Some(patch) = plan.patch {
            assert_eq!(patch["spec"]["template"]["spec"]["version"], "4.20.7");
            assert_eq!(plan.secret, Some(format!("user-data-w-{target}")));
        }
    }
}
