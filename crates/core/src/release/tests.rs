//! Wishes, pins, marks and what stands in the way, as rows.

use serde_json::{Value, json};

use super::{
    SeenPlane,
    judge::judge,
    wish::{Pin, Wish, has_digest},
};
use crate::document::problem::{problem_text, quoted};

/// An image of a release, by digest.
pub(crate) fn image(version: &str) -> String {
    let digits = version.bytes().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    format!("registry/release@sha256:{digits:0<64}")
}

/// A cluster at 4.20.6, which knows 4.20.7, 4.20.8 and 4.21.2, came from 4.20.3, and is asked for this.
pub(crate) fn cluster(wish: Value) -> Value {
    let release = |version: &str| json!({"version": version, "image": image(version)});
    let entry = |version: &str, started: &str| {
        json!({"state": "Completed", "version": version, "image": image(version),
            "startedTime": started, "completionTime": started, "verified": true})
    };
    let mut document = json!({"metadata": {"name": "version", "uid": "u1", "resourceVersion": "7", "generation": 1},
        "spec": {},
        "status": {"desired": release("4.20.6"),
            "history": [entry("4.20.6", "2025-01-02T00:00:00Z"), entry("4.20.3", "2025-01-01T00:00:00Z"),
                entry("4.19.9", "2024-01-01T00:00:00Z")],
            "availableUpdates": [release("4.20.7"), release("4.20.8")],
            "conditionalUpdates": [{"release": release("4.21.2"), "risks": []}]}});
    document["spec"]["desiredUpdate"] = wish;
    document
}

fn plane(document: &Value) -> SeenPlane {
    SeenPlane::new(document)
}

/// CV-4: each with the field and what to do.
#[test]
fn what_stands_in_the_way_of_a_wish_names_field_and_remedy() {
    let check = |wish: Value, expected: &str| {
        let plane = plane(&cluster(wish.clone()));
        let judged = judge(&plane, plane.waiting().expect("it is wanted"));
        assert_eq!(problem_text(&judged.unmet), expected, "{wish}");
        assert!(judged.unmet.iter().all(|problem| problem.hint.is_some()), "{wish}");
    };
    check(json!({"version": "4.20.7"}), "");
    check(json!({"version": "4.21.2"}), "");
    check(json!({"image": image("4.20.8")}), "");
    // An image has one name, and a known release has one image: all that is judged goes by the version.
    check(
        json!({"version": "4.20.7", "image": image("4.21.2")}),
        &format!(
            "spec.desiredUpdate.image: {} is release 4.21.2, and not 4.20.7",
            quoted(&image("4.21.2"))
        ),
    );
    check(
        json!({"version": "4.20.7", "image": image("4.21.2"), "force": true}),
        &format!(
            "spec.desiredUpdate.image: {} is release 4.21.2, and not 4.20.7",
            quoted(&image("4.21.2"))
        ),
    );
    check(
        json!({"version": "4.20.7", "image": image("x")}),
        &format!(
            "spec.desiredUpdate.image: the cluster knows 4.20.7 as {}",
            quoted(&image("4.20.7"))
        ),
    );
    // What no graph knows is taken by digest.
    check(json!({"version": "4.20.99", "image": image("4.20.99")}), "");
    check(json!({"version": "4.20"}), "spec.desiredUpdate.version: \"4.20\" is not a version");
    check(
        json!({"version": "4.20.99"}),
        "spec.desiredUpdate.version: 4.20.99 is none of the updates that the cluster knows: 4.20.7, 4.20.8, 4.21.2",
    );
    check(
        json!({"version": "4.20.7", "image": "registry/release:4.20.7"}),
        "spec.desiredUpdate.image: \"registry/release:4.20.7\" has no digest, so nobody can tell what it will be when the window opens",
    );
    check(
        json!({"image": image("x")}),
        "spec.desiredUpdate.version: no update that the cluster knows has this image, so nobody can tell which version it is",
    );
    check(
        json!({"version": "4.20.7", "architecture": "Multi"}),
        "spec.desiredUpdate.architecture: which image 4.20.7 has for \"Multi\" is not known here",
    );
    check(
        json!({"version": "4.19.9", "image": image("4.19.9")}),
        "spec.desiredUpdate.version: 4.19.9 is older than 4.20.6, which the cluster has",
    );
    // Only the one before, of the same minor version.
    check(json!({"version": "4.20.3", "image": image("4.20.3")}), "");
    check(
        json!({"version": "4.20.2", "image": image("4.20.2")}),
        "spec.desiredUpdate.version: 4.20.2 is older than 4.20.6, which the cluster has",
    );
    check(
        json!({"version": "4.22.0", "image": image("4.22.0")}),
        "spec.desiredUpdate.version: 4.22.0 skips 4.21: an update goes from 4.20.6 to the next minor version at most",
    );
    check(
        json!({"version": "5.0.0", "image": image("5.0.0")}),
        "spec.desiredUpdate.version: 5.0.0 is another major version than 4.20.6, which the cluster has",
    );
}

#[test]
fn a_cluster_that_is_not_upgradeable_takes_patches_and_no_minor_version() {
    let check = |wish: Value, expected: &str| {
        let mut document = cluster(wish.clone());
        document["status"]["conditions"] = json!([{"type": "Upgradeable", "status": "False",
            "reason": "AdminAckRequired", "message": "acknowledge the removal of v1beta1"}]);
        let plane = plane(&document);
        let judged = judge(&plane, plane.waiting().unwrap());
        let told = judged.unmet.iter().map(|one| one.detail.clone()).chain(judged.remarks);
        assert_eq!(told.collect::<Vec<_>>().join("; "), expected, "{wish}");
    };
    check(json!({"version": "4.20.7"}), "");
    let not = "the cluster is not upgradeable to 4.21.2 (AdminAckRequired): acknowledge the removal of v1beta1";
    check(json!({"version": "4.21.2"}), not);
    check(
        json!({"version": "4.21.2", "force": true}),
        &format!("spec.desiredUpdate.force sets aside that {not}"),
    );
}

#[test]
fn doubt_about_the_cluster_stops_too() {
    let check = |change: fn(&mut Value), expected: &str| {
        let mut document = cluster(json!({"version": "4.20.7"}));
        change(&mut document);
        let plane = plane(&document);
        let judged = judge(&plane, plane.waiting().unwrap());
        assert_eq!(problem_text(&judged.unmet), expected);
    };
    check(
        |document| {
            document["status"]["availableUpdates"] = Value::Null;
            document["status"]["conditionalUpdates"] = Value::Null;
        },
        "spec.desiredUpdate.version: 4.20.7 cannot be looked up: status.availableUpdates is not there",
    );
    check(
        |document| document["status"]["desired"] = json!({}),
        "spec.desiredUpdate.version: which release the cluster has cannot be told: status.desired.version is \"\"",
    );
    check(
        |document| {
            let twice = json!({"version": "4.20.7", "image": image("again")});
            document["status"]["availableUpdates"].as_array_mut().unwrap().push(twice);
        },
        "spec.desiredUpdate.version: the cluster knows several images of 4.20.7",
    );
    check(
        |document| document["status"]["availableUpdates"][0]["image"] = json!("release:4.20.7"),
        "spec.desiredUpdate.version: the cluster knows 4.20.7 as \"release:4.20.7\", which has no digest",
    );
}

/// CV-4: a version that leaves the graph while it is held starts as it was pinned, and that is said.
#[test]
fn what_was_pinned_stays_when_the_graph_forgets_it() {
    let mut document = cluster(json!({"version": "4.20.7"}));
    let first = judge(&plane(&document), plane(&document).waiting().unwrap());
    assert_eq!(first.pin.release.image, image("4.20.7"));
    assert_eq!(first.remarks, [""; 0]);
    document["metadata"]["annotations"] = json!({api::names::WANTED_IMAGE: first.pin.text()});
    document["status"]["availableUpdates"] = json!([]);
    let later = judge(&plane(&document), plane(&document).waiting().unwrap());
    assert_eq!((later.pin, problem_text(&later.unmet)), (first.pin, String::new()));
    assert_eq!(
        later.remarks,
        [
            "4.20.7 is none of the updates that are recommended now; its image is pinned and starts all the same"
        ]
    );
    // What somebody else wants now has nothing of it.
    document["spec"]["desiredUpdate"] = json!({"version": "4.20.8"});
    let other = judge(&plane(&document), plane(&document).waiting().unwrap());
    assert_eq!(other.pin.text(), r#"{"version":"4.20.8","wish":{"version":"4.20.8"}}"#);
}

/// What was pinned for one wish stands for no other, however alike: somebody who corrects a wish gets what they wrote.
#[test]
fn a_pin_is_for_the_wish_that_it_was_written_for() {
    let wishes = [
        json!({"version": "4.20.7"}),
        json!({"version": "4.20.7", "image": image("4.20.7")}),
        json!({"version": "4.20.7", "architecture": "Multi"}),
        json!({"version": "4.20.7", "force": true}),
        json!({"image": image("4.20.7")}),
        json!({"version": "4.20.8"}),
    ];
    for (place, pinned) in wishes.iter().enumerate() {
        let plane = plane(&cluster(pinned.clone()));
        let pin = judge(&plane, plane.waiting().unwrap()).pin;
        let read = Pin::read(&serde_json::from_str(&pin.text()).unwrap());
        assert_eq!(read, pin, "{pinned}");
        for (other, wish) in wishes.iter().enumerate() {
            let wish = Wish::read(wish).unwrap();
            assert_eq!(read.is_for(&wish), place == other, "{pinned} {wish:?}");
        }
    }
}

/// A release whose condition holds stands in both lists, and a cluster may know conditional ones alone.
#[test]
fn a_release_that_two_lists_name_is_one_release() {
    let mut document = cluster(json!({"version": "4.21.2"}));
    let conditional = document["status"]["conditionalUpdates"][0]["release"].clone();
    document["status"]["availableUpdates"].as_array_mut().unwrap().push(conditional);
    let judged = |document: &Value| {
        let plane = plane(document);
        judge(&plane, plane.waiting().unwrap())
    };
    assert_eq!(problem_text(&judged(&document).unmet), "");
    document["status"]["availableUpdates"] = Value::Null;
    assert_eq!(problem_text(&judged(&document).unmet), "");
    assert_eq!(judged(&document).pin.release.image, image("4.21.2"));
    let other = json!({"version": "4.21.2", "image": image("x")});
    document["status"]["availableUpdates"] = json!([other]);
    assert_eq!(
        problem_text(&judged(&document).unmet),
        "spec.desiredUpdate.version: the cluster knows several images of 4.21.2"
    );
}

/// The payload for another architecture is another one, of the same release; what the cluster has is never let begin again.
#[test]
fn what_the_cluster_has_waits_only_for_another_architecture() {
    let mut document = cluster(json!({"version": "4.20.6", "architecture": "Multi"}));
    assert!(plane(&document).waiting().is_some());
    document["status"]["desired"]["architecture"] = json!("Multi");
    assert!(plane(&document).waiting().is_none());
    // Somebody let another release begin, and it was asked for the present one since.
    let mut document = cluster(json!({"version": "4.20.6"}));
    let mark = json!({"version": "4.20.7", "image": image("4.20.7"), "uid": "u1", "after": "2025-01-02T00:00:00Z"});
    document["metadata"]["annotations"] = json!({api::names::ACCEPTED_RELEASE: mark.to_string()});
    assert!(plane(&document).open_mark().is_some() && plane(&document).waiting().is_none());
}

#[test]
fn an_image_has_a_digest_or_not() {
    assert!(has_digest(&image("a")));
    let short = image("a").chars().take(60).collect::<String>();
    for image in ["", "a:4.20.7", "a@sha256:", "a@sha512:00", &short, &image("a").to_uppercase()] {
        assert!(!has_digest(image), "{image}");
    }
}

/// CV-4: what waits is neither accepted nor marked; what only looks is no wish (CV-5).
#[test]
fn a_wish_waits_until_it_is_accepted_or_marked() {
    let check = |document: &Value, expected: Option<&str>| {
        let plane = plane(document);
        assert_eq!(plane.waiting().map(|wish| wish.release.name()), expected, "{document}");
    };
    check(&cluster(Value::Null), None);
    check(&cluster(json!({})), None);
    check(&cluster(json!({"version": "4.20.6"})), None);
    check(&cluster(json!({"version": "4.20.7"})), Some("4.20.7"));
    check(&cluster(json!({"version": "4.20.7", "mode": "Preflight"})), None);
    let mark = |version: &str, uid: &str, after: &str| {
        json!({"version": version, "image": image(version), "uid": uid, "after": after}).to_string()
    };
    let marked = |wish: &str, mark: String| {
        let mut document = cluster(json!({"version": wish}));
        document["metadata"]["annotations"] = json!({api::names::ACCEPTED_RELEASE: mark});
        document
    };
    let newest = "2025-01-02T00:00:00Z";
    check(&marked("4.20.7", mark("4.20.7", "u1", newest)), None);
    // Another wish is asked for itself.
    check(&marked("4.20.8", mark("4.20.7", "u1", newest)), Some("4.20.8"));
    // GATE-16: one that was restored elsewhere starts nothing, nor does one that something began after.
    check(&marked("4.20.7", mark("4.20.7", "u2", newest)), Some("4.20.7"));
    check(&marked("4.20.7", mark("4.20.7", "u1", "2025-01-01T00:00:00Z")), Some("4.20.7"));
    check(&marked("4.20.7", "nonsense".into()), Some("4.20.7"));
}

/// GATE-13: what began was marked, or it was not.
#[test]
fn an_update_began_by_its_mark_or_without_one() {
    let check = |release: &str, after: &str, expected: bool| {
        let mut document = cluster(Value::Null);
        let mark =
            json!({"version": release, "image": image(release), "uid": "u1", "after": after});
        document["metadata"]["annotations"] =
            json!({api::names::ACCEPTED_RELEASE: mark.to_string()});
        assert_eq!(plane(&document).began_unmarked(), expected, "{release} {after}");
    };
    check("4.20.6", "2025-01-01T00:00:00Z", false);
    check("4.20.6", "2025-01-02T00:00:00Z", true);
    check("4.20.5", "2025-01-01T00:00:00Z", true);
    let mut installed = cluster(Value::Null);
    installed["status"]["history"].as_array_mut().unwrap().truncate(1);
    assert!(!plane(&installed).began_unmarked(), "the installation is nobody's update");
    assert!(plane(&cluster(Value::Null)).began_unmarked());
}
