use serde_json::{Value, json};

use super::*;

const SATURDAY: &str = "2026-11-21T00:00:00Z";
const SUNDAY: &str = "2026-11-22T00:00:00Z";
const DECEMBER: &str = "2026-12-05T00:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn status(opens: &str, closes: &str, pending: Option<&str>) -> Value {
    let condition = |kind: &str, status: bool, reason: &str, message: &str| {
        json!({"type": kind, "status": if status { "True" } else { "False" }, "reason": reason, "message": message,
            "observedGeneration": 3, "lastTransitionTime": "2026-11-18T12:00:00Z"})
    };
    json!({
        "changeManagement": {"behavior": {
            "current": {"state": "ChangesPaused", "startTime": "2026-11-15T00:00:00Z", "endTime": opens, "reason": "no window is open"},
            "next": {"state": "ChangesUnpaused", "startTime": opens, "endTime": closes, "reason": "a window is open"},
        }},
        "conditions": [
            condition("ChangesPaused", true, "MaintenanceSchedule", "no window is open"),
            condition("ChangesPending", pending.is_some(), if pending.is_some() { "Held" } else { "NothingPending" },
                pending.unwrap_or("nothing waits")),
        ],
    })
}

fn host(pending: Option<&str>) -> Value {
    let image = |version: &str, digit: &str| {
        format!("registry/release:{version}@sha256:{}", digit.repeat(64))
    };
    let (old, new) = (image("4.20.6", "a"), image("4.20.7", "b"));
    let mut host = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
        "metadata": {"namespace": "tenants", "name": "shop", "uid": "u-1"},
        "spec": {"release": {"image": if pending.is_some() { &new } else { &old }}, "channel": "stable-4.20",
            "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekly"}}},
        "status": status(SATURDAY, SUNDAY, pending)});
    host["status"]["version"] = json!({"desired": {"version": "4.20.6", "image": old},
        "history": [{"state": "Completed", "version": "4.20.6", "image": old, "startedTime": "2026-11-01T00:00:00Z",
            "completionTime": "2026-11-01T01:00:00Z", "verified": true}]});
    host
}

fn pool(namespace: &str, cluster: &str, name: &str, waits: bool) -> Value {
    let target = |version: &str, config: &str| {
        json!({"version": version, "image": format!("r:{version}"), "config": config}).to_string()
    };
    let pin = if waits { target("4.20.7", "h2") } else { target("4.20.6", "h1") };
    let mut pool = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool",
        "metadata": {"namespace": namespace, "name": name, "uid": "u-2", "annotations":
            {crate::hosted::pool::CURRENT: "h1", api::names::WANTED_IMAGE: pin}},
        "spec": {"clusterName": cluster, "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "monthly"}}},
        "status": status(DECEMBER, "2026-12-06T00:00:00Z", waits.then_some("held until December"))});
    pool["status"]["version"] = json!("4.20.6");
    pool
}

fn condition(document: &Value, kind: &str) -> (String, String, String) {
    let found =
        document["status"]["conditions"].as_array().unwrap().iter().find(|one| one["type"] == kind);
    let text = |field: &str| found.unwrap()[field].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), text("message"))
}

/// HOST-2: desired release, what waits, and both gates with when they open; by a function of what stands outside alone.
#[test]
fn a_guest_sees_the_release_what_waits_and_every_gate() {
    let (host, pools) =
        (host(Some("held until Saturday")), [pool("tenants", "shop", "workers", true)]);
    let document = project(&host, &pools);
    assert_eq!(document["metadata"]["name"], "version");
    assert_eq!(document["spec"], json!({"clusterID": "u-1", "channel": "stable-4.20"}));
    assert_eq!(document["status"]["desired"]["version"], "4.20.6");
    assert_eq!(document["status"]["history"], host["status"]["version"]["history"]);
    assert_eq!(document["status"]["changeManagement"], host["status"]["changeManagement"]);
    let pending = "HostedCluster/shop: held until Saturday; NodePool/workers: held until December";
    assert_eq!(
        condition(&document, "ChangesPending"),
        ("True".into(), "Held".into(), pending.into())
    );
    assert_eq!(condition(&document, "ChangesPaused").0, "True");
    assert!(
        document["status"]["conditions"][0].get("observedGeneration").is_none(),
        "it is of another object"
    );
    let read = Projected::read(&document).unwrap();
    assert_eq!(read.from, "HostedCluster/tenants/shop");
    let waits = |to: &str| Some(Waits { to: to.into(), now: "4.20.6".into() });
    assert_eq!(
        read.gates.iter().map(|gate| gate.waits.clone()).collect::<Vec<_>>(),
        [waits("4.20.7"), waits("4.20.7")]
    );
    assert_eq!(project(&host, &pools), document, "no clock is asked");
}

/// What waits for the nodes alone is told where their control plane has nothing to wait for.
#[test]
fn what_waits_for_nodes_is_told_of_the_whole() {
    let pools = [pool("tenants", "shop", "batch", false), pool("tenants", "shop", "workers", true)];
    let document = project(&host(None), &pools);
    assert_eq!(
        condition(&document, "ChangesPending"),
        ("True".into(), "Held".into(), "NodePool/workers: held until December".into())
    );
    let document = project(&host(None), &pools[..1]);
    let nothing = "HostedCluster/shop: nothing waits; NodePool/batch: nothing waits";
    assert_eq!(
        condition(&document, "ChangesPending"),
        ("False".into(), "NothingPending".into(), nothing.into())
    );
}

/// GATE-5: what another namespace holds, or another hosted cluster of the same one, is in no projection.
#[test]
fn nothing_of_another_tenant_is_projected() {
    let host = host(None);
    let own = [pool("tenants", "shop", "workers", false)];
    let alone = project(&host, &own);
    let [mine] = own;
    let all =
        [pool("others", "shop", "workers", true), pool("tenants", "bank", "workers", true), mine];
    assert_eq!(project(&host, &all), alone);
}

/// The verdict at an instant is the one that was told for it; beyond that nobody can tell (GATE-2).
#[test]
fn a_projection_says_nothing_that_it_was_not_told() {
    let projected = |host: &Value| Projected::read(&project(host, [])).unwrap();
    let told = projected(&host(None));
    for (when, verdict, until) in [
        ("2026-11-18T12:00:00Z", Verdict::Held, Some(SATURDAY)),
        ("2026-11-21T00:00:00Z", Verdict::Permitted, Some(SUNDAY)),
        ("2026-11-22T00:00:00Z", Verdict::CannotTell, None),
    ] {
        assert_eq!(told.verdict(at(when)), (verdict, until.map(at)), "{when}");
    }
    let mut silent = host(None);
    silent["status"]["changeManagement"] = json!(null);
    assert_eq!(projected(&silent).verdict(at(SATURDAY)), (Verdict::CannotTell, None));
    silent["spec"]["changeManagement"] = json!(null);
    assert_eq!(projected(&silent).verdict(at(SATURDAY)), (Verdict::Permitted, None), "GATE-1");
    // One that somebody broke holds, and is none of a cluster of its own.
    let broken = json!({"metadata": {"annotations": {api::names::PROJECTED: "{"}}});
    assert_eq!(Projected::read(&broken).unwrap().verdict(at(SATURDAY)).0, Verdict::CannotTell);
    assert_eq!(Projected::read(&json!({"metadata": {}})), None);
}
