//! Is what happens recorded, once, in one chain, whoever dies or believes to lead meanwhile? (HIST-1)

use std::{collections::BTreeSet, time::Duration};

use api::{
    crds, kinds,
    machine::names::{CURRENT_CONFIG, STATE},
};
use apiserver::Fault;
use http::Method;
use operator::Settings;
use serde_json::{Value, json};
use tidegate_core::history::{
    pages,
    verify::{self, Held, Source, Verified},
};

use super::{
    common::{CRDS, World, managing, pass, settle, strike_each},
    rollout::{NODES, marked, newest, waiting},
};

const RECORDS: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/namespaces/default/changerecords";
const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";

fn recording(identity: &str) -> Settings {
    Settings { history: Some("default".into()), ..managing(identity) }
}

/// Two nodes that wait for the weekend, on a server that knows records.
async fn world() -> World {
    let (world, operator) = waiting().await;
    drop(operator);
    world.create(CRDS, &crds::definition(&kinds::CHANGE_RECORD));
    world
}

fn entries(world: &World) -> Vec<Value> {
    let listed = world.get(RECORDS);
    listed["items"].as_array().unwrap().iter().flat_map(pages::entries).cloned().collect()
}

/// What is found of pages.
fn verified<'a>(pages: impl IntoIterator<Item = &'a Value>) -> Vec<Verified> {
    verify::verify(&[Source::pages("the cluster", Held::ByServer, pages)])
}

/// What is recorded, as `instant what object`, after every link was followed.
fn recorded(world: &World) -> Vec<String> {
    let entries = entries(world);
    for chain in verified(world.get(RECORDS)["items"].as_array().unwrap()) {
        assert_eq!(chain.broken, None);
    }
    let text = |entry: &Value, path: &str| {
        entry.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let told = entries.iter().map(|entry| {
        let at = text(entry, "/at");
        let (what, kind, name) =
            (text(entry, "/what"), text(entry, "/subject/kind"), text(entry, "/subject/name"));
        format!("{} {what} {kind}/{name}", at.get(5..16).unwrap())
    });
    told.collect()
}

/// Of these, how many are of nodes that were begun.
fn begun(world: &World) -> Vec<String> {
    let recorded = recorded(world).into_iter();
    recorded.filter(|line| line.contains(" Initiated Node/")).collect()
}

fn freeze(world: &World) {
    let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": "storm"}, "spec": {"reason": "a storm", "by": "ann"}});
    world.create(FREEZES, &freeze);
}

#[tokio::test(start_paused = true)]
async fn what_happens_is_recorded_once_and_nothing_while_nothing_happens() {
    let world = world().await;
    let _operator = world.start_with(recording("one"));
    pass(Duration::from_secs(10)).await;
    let held = recorded(&world);
    assert!(held.iter().any(|line| line.ends_with(" Held MachineConfigPool/worker")), "{held:?}");
    assert!(begun(&world).is_empty());
    pass(Duration::from_mins(65)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(begun(&world), ["11-14T00:00 Initiated Node/n1"]);
    let told = recorded(&world);
    assert!(
        told.contains(&"11-14T00:00 Permitted MachineConfigPool/worker".to_owned()),
        "{told:?}"
    );
    let is_begun = |entry: &Value| entry["what"] == "Initiated";
    let first = entries(&world).into_iter().find(is_begun).unwrap();
    let basis = first["basis"].as_str().unwrap();
    assert!(basis.starts_with("window; permit from 2026-11-14T00:00:00Z until "), "{first}");
    assert_eq!(first["change"], newest(&world).as_str());
    // It arrives, and the next one goes.
    let done =
        json!({"metadata": {"annotations": {CURRENT_CONFIG: newest(&world), STATE: "Done"}}});
    world.merge(&format!("{NODES}/n1"), &done);
    pass(Duration::from_mins(5)).await;
    let told = recorded(&world);
    assert_eq!(
        told.iter().filter(|line| line.ends_with(" Finished Node/n1")).count(),
        1,
        "{told:?}"
    );
    assert_eq!(begun(&world).len(), 2);
    world.merge(&format!("{NODES}/n2"), &done);
    pass(Duration::from_mins(5)).await;
    world.writes();
    pass(Duration::from_hours(1)).await;
    let writes = world.writes();
    assert!(!writes.iter().any(|line| line.contains("changerecords")), "{writes:?}");
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "each once: {told:?}");
}

/// EXEC-2: the mark on the node is what is recorded, so whoever leads next records what began before.
#[tokio::test(start_paused = true)]
async fn an_operator_killed_between_a_change_and_its_entry_leaves_it_to_the_next() {
    let world = world().await;
    let one = world.start_with(recording("one"));
    pass(Duration::from_secs(10)).await;
    strike_each(&world, "patch", "changerecords", &Fault::ServerError(503));
    pass(Duration::from_mins(65)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert!(begun(&world).is_empty());
    drop(one);
    world.server.heal();
    pass(Duration::from_mins(10)).await;
    let _two = world.start_with(recording("two"));
    pass(Duration::from_secs(10)).await;
    assert_eq!(
        begun(&world),
        ["11-14T00:00 Initiated Node/n1"],
        "with the instant at which it began"
    );
    pass(Duration::from_mins(10)).await;
    assert_eq!(begun(&world).len(), 1);
}

/// EXEC-4: an answer that was lost is read back, and what was written is not written again.
#[tokio::test(start_paused = true)]
async fn an_entry_whose_answer_is_lost_is_not_written_twice() {
    let world = world().await;
    strike_each(&world, "patch", "changerecords", &Fault::LoseAnswer);
    strike_each(&world, "create", "changerecords", &Fault::LoseAnswer);
    let _operator = world.start_with(recording("one"));
    pass(Duration::from_mins(70)).await;
    let told = recorded(&world);
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "{told:?}");
    assert_eq!(begun(&world).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_who_both_believe_they_lead_write_one_history() {
    let world = world().await;
    let latency = Duration::from_millis(300);
    world.server.draw_faults(apiserver::Profile { latency, ..Default::default() }, 1);
    let _operators = [world.start_with(recording("one")), world.start_with(recording("two"))];
    pass(Duration::from_mins(70)).await;
    let told = recorded(&world);
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "{told:?}");
    assert_eq!(begun(&world).len(), 1, "{told:?}");
}

/// OVR-1, RCH-7: who thaws by deleting is recorded too.
#[tokio::test(start_paused = true)]
async fn a_freeze_is_recorded_with_who_signed_it_and_so_is_that_it_is_gone() {
    let world = world().await;
    let _operator = world.start_with(recording("one"));
    settle().await;
    freeze(&world);
    pass(Duration::from_mins(2)).await;
    world.delete(&format!("{FREEZES}/storm"));
    pass(Duration::from_mins(2)).await;
    let all = entries(&world);
    let of_it: Vec<&Value> = all.iter().filter(|one| one["subject"]["name"] == "storm").collect();
    let words: Vec<_> = of_it.iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(words, ["Frozen", "Removed"]);
    assert_eq!((&of_it[0]["by"], &of_it[0]["basis"]), (&json!("ann"), &json!("a storm")));
    assert!(recorded(&world).iter().any(|line| line.ends_with("Held MachineConfigPool/worker")));
}

/// EXEC-4: what nobody knows is read again, and no other history with it: all of them are more than a small pod holds at once.
#[tokio::test(start_paused = true)]
async fn only_a_history_that_somebody_else_may_have_written_is_read_again() {
    let world = world().await;
    let _operator = world.start_with(recording("one"));
    pass(Duration::from_secs(10)).await;
    world.requests();
    strike_each(&world, "patch", "changerecords", &Fault::ServerError(503));
    freeze(&world);
    pass(Duration::from_secs(30)).await;
    world.server.heal();
    pass(Duration::from_mins(1)).await;
    let asked = world.requests();
    let reads =
        |path: &str| asked.iter().any(|line| line.starts_with("GET ") && line.contains(path));
    assert!(reads("/v1alpha1/namespaces/default/changerecords"), "{asked:?}");
    assert!(!reads("/v1alpha1/changerecords"), "{asked:?}");
    assert!(recorded(&world).iter().any(|line| line.ends_with("Frozen ClusterChangeFreeze/storm")));
}

/// HIST-1: whoever may delete a page does not begin another history by it.
#[tokio::test(start_paused = true)]
async fn a_page_that_somebody_deletes_is_missed() {
    let world = world().await;
    let _operator = world.start_with(recording("one"));
    pass(Duration::from_secs(10)).await;
    let before = entries(&world).len();
    assert!(before > 0);
    world.delete(&format!("{RECORDS}/history-000001"));
    freeze(&world);
    pass(Duration::from_mins(1)).await;
    let left = entries(&world);
    assert_eq!(left[0]["number"], before + 1, "{left:?}");
    let found = verified(world.get(RECORDS)["items"].as_array().unwrap()).remove(0);
    let why = found.broken.unwrap().why;
    assert!(why.contains("missing at the beginning"), "{why}");
}

/// RCH-7: whoever weakens a freeze is recorded, and once.
#[tokio::test(start_paused = true)]
async fn a_freeze_that_somebody_weakens_leaves_a_line() {
    let world = world().await;
    let _operator = world.start_with(recording("one"));
    settle().await;
    freeze(&world);
    pass(Duration::from_mins(2)).await;
    let part = json!({"spec": {"holds": [{"what": "Deployments"}]}});
    world.merge(&format!("{FREEZES}/storm"), &part);
    pass(Duration::from_mins(5)).await;
    let all = entries(&world);
    let of_it = all.iter().filter(|one| one["subject"]["name"] == "storm");
    let words: Vec<_> = of_it.map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(words, ["Frozen", "Changed"]);
}

/// HIST-1: the server itself takes additions only, whoever writes.
#[tokio::test(start_paused = true)]
async fn the_server_takes_no_rewritten_page() {
    let world = world().await;
    let operator = world.start_with(recording("one"));
    pass(Duration::from_secs(10)).await;
    drop(operator);
    let page = format!("{RECORDS}/history-000001");
    let before = world.get(&page);
    let refused = |operations: Value, why: &str| {
        let body = operations.to_string().into_bytes();
        let (code, answer) =
            world.server.ask(Method::PATCH, &page, "application/json-patch+json", &body);
        let answer = String::from_utf8(answer.to_vec()).unwrap();
        assert_eq!(code, 422, "{answer}");
        assert!(answer.contains(why), "{answer}");
    };
    let stays = "an entry stays as it was written";
    let path = |field: &str| format!("/spec/entries/0/{field}");
    refused(json!([{"op": "replace", "path": path("outcome"), "value": "nothing"}]), stays);
    refused(json!([{"op": "remove", "path": path("basis")}]), stays);
    let gone = "entries are added, and never taken away";
    refused(json!([{"op": "replace", "path": path("number"), "value": 99}]), gone);
    let mut other = before["spec"]["entries"][0].clone();
    other["number"] = 99.into();
    refused(json!([{"op": "replace", "path": "/spec/entries", "value": [other]}]), gone);
    other["number"] = 100.into();
    world.server.ask(
        Method::PATCH,
        &page,
        "application/json-patch+json",
        json!([{"op": "add", "path": "/spec/entries/-", "value": other}]).to_string().as_bytes(),
    );
    let after = world.get(&page);
    let count = |page: &Value| pages::entries(page).count();
    assert_eq!(count(&after), count(&before) + 1, "what is added is taken");
    // And whoever verifies finds what was made up.
    let broken = verified([&after]).remove(0).broken.unwrap();
    assert_eq!(broken.number, Some(100));
}
