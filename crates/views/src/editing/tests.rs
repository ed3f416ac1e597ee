use tidegate_core::cluster::kinds;

use super::*;
use crate::proposal::tests::saturdays;

const NOW: &str = "2026-11-18T09:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn key() -> Key {
    Key::new(&api::kinds::CHANGE_MANAGEMENT_POLICY, None, "weekend")
}

fn live() -> Value {
    let mut live = saturdays();
    live["metadata"]["resourceVersion"] = json!("41");
    live["metadata"]["labels"] = json!({"team": "shop"});
    live["status"] = json!({"conditions": []});
    live
}

/// The policy, and a pool that follows it.
fn cluster() -> Snapshot {
    let mut cluster = Snapshot::default();
    cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &saturdays(), at(NOW));
    let pool = json!({"metadata": {"name": "worker", "uid": "u", "generation": 1}, "spec": {
        "nodeSelector": {"matchLabels": {"role": "worker"}},
        "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}}});
    cluster.add(&kinds::MACHINE_CONFIG_POOL, &pool);
    cluster
}

fn edited(change: impl FnOnce(&mut Value)) -> Editing {
    let (live, mut spec) = (live(), live()["spec"].clone());
    change(&mut spec);
    Editing::new(&cluster(), &key(), &live, &spec, at(NOW))
}

fn days(spec: &mut Value) -> &mut Value {
    &mut spec["maintenanceSchedule"]["permit"]["recurrence"]["weekly"]["daysOfWeek"]
}

/// What `kubectl patch --type merge` makes of an object.
fn merged(object: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut fields = object.as_object().cloned().unwrap_or_default();
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(name);
        } else {
            let was = fields.get(name).cloned().unwrap_or_default();
            fields.insert(name.clone(), merged(&was, value));
        }
    }
    Value::Object(fields)
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    let editing = edited(|_| {});
    assert!(!editing.differs());
    assert_eq!(editing.weighty(), None);
    assert!(editing.followers[0].is_same());
    assert_eq!(
        editing.document["metadata"],
        json!({"name": "weekend", "labels": {"team": "shop"}})
    );
}

/// The patch and the way back are exact, fields that go and fields that come among them.
#[test]
fn a_patch_leads_there_and_back() {
    let edits: [fn(&mut Value); 5] = [
        |spec| *days(spec) = json!(["Friday", "Saturday"]),
        |spec| spec["maintenanceSchedule"] = json!({"permit": {"startTime": "20:00"}}),
        |spec| drop(spec.as_object_mut().unwrap().remove("maintenanceSchedule")),
        |spec| spec["maintenanceSchedule"]["exclude"] = json!([{"fromDate": "2026-12-19"}]),
        |spec| spec["strategy"] = json!("Restrictive"),
    ];
    for edit in edits {
        let editing = edited(edit);
        let live = live();
        let mut spec = live["spec"].clone();
        edit(&mut spec);
        let there = merged(&live, &editing.change.patch);
        assert_eq!(there["spec"], spec, "{}", editing.change.patch);
        assert_eq!(editing.change.patch["metadata"], json!({"resourceVersion": "41"}));
        assert_eq!(merged(&there, &editing.change.undo)["spec"], live["spec"]);
    }
}

#[test]
fn what_an_edit_means_for_those_who_follow_is_told() {
    let later = edited(|spec| *days(spec) = json!(["Sunday"]));
    let pair = later.compared.as_ref().unwrap();
    assert!(!pair.change.gained.is_empty() && !pair.change.lost.is_empty());
    assert_eq!((later.following, later.followers.len()), (1, 1));
    assert_eq!(status::end(&later.followers[0].after), Some(at("2026-11-22T00:00:00Z")));
    assert_eq!(later.weighty(), None);
    let open = edited(|spec| spec["strategy"] = json!("Permissive"));
    assert_eq!(open.weighty().as_deref(), Some("it opens one resource at once"));
    assert!(open.followers[0].opens());
}

/// An edit with a problem does nothing to anybody, and its problems are those of `tidegate validate`.
#[test]
fn problems_are_those_of_files() {
    let wrong = edited(|spec| {
        spec["maintenanceSchedule"]["permit"]["duration"] = json!("1d");
        *days(spec) = json!(["Caturday"]);
    });
    assert!(wrong.compared.is_none() && wrong.followers.is_empty());
    let fields: Vec<String> =
        wrong.judged.problems.iter().map(|problem| problem.field.to_string()).collect();
    assert!(fields.contains(&"spec.maintenanceSchedule.permit.duration".to_owned()), "{fields:?}");
    assert_eq!(fields.len(), 2, "{fields:?}");
}
