//! Rows for GATE-1 to GATE-5 and GATE-7.

#![expect(clippy::needless_pass_by_value, reason = "rows are written in place")]
use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{
        kinds::{self, tests::gated},
        seen::SeenGated,
    },
    gate::change::ChangeId,
};

/// A policy that permits Saturdays, ready for its generation.
fn saturday() -> Value {
    json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "saturday", "generation": 2, "resourceVersion": "7"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence":
            {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "observedGeneration": 2}]},
    })
}

fn pool(stanza: Value) -> SeenGated {
    let document = json!({
        "metadata": {"name": "worker", "generation": 1, "resourceVersion": "9"},
        "spec": {"changeManagement": stanza},
    });
    gated(&kinds::MACHINE_CONFIG_POOL, &document)
}

fn of(stanza: Value, policy: Option<Value>) -> Gate {
    let policy =
        policy.map(|policy| Arc::new(SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, &policy)));
    gate(&pool(stanza).stanza, policy.as_ref())
}

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

// Sunday noon; the Saturday before it and the one after it.
const NOW: &str = "2026-11-15T12:00:00Z";

/// What a gate says now, until when, why, and what it says after that.
fn check(stanza: Value, policy: Option<Value>, expected: (bool, Option<&str>, &str)) {
    let text = stanza.to_string();
    let gate = of(stanza, policy);
    let state = gate.set.state(at(NOW));
    let until = state.until.map(|until| until.to_string());
    assert_eq!((state.inside, until.as_deref(), gate.reason(at(NOW))), expected, "{text}");
}

/// GATE-1, GATE-3
#[test]
fn without_a_stanza_always_and_plain_strategies_always_or_never() {
    check(Value::Null, None, (true, None, "NoStanza"));
    check(json!({"strategy": "Permissive"}), None, (true, None, "Permissive"));
    check(json!({"strategy": "Restrictive"}), None, (false, None, "Restrictive"));
    let named = |strategy: &str| json!({"strategy": strategy, "byPolicy": {"name": "saturday"}});
    check(named("Permissive"), Some(saturday()), (true, None, "Permissive"));
    check(named("Restrictive"), Some(saturday()), (false, None, "Restrictive"));
    // A policy in doubt does not matter to those who do not ask it.
    check(named("Permissive"), None, (true, None, "Permissive"));
}

/// GATE-2
#[test]
fn by_policy_is_the_policys_set_and_doubt_is_never() {
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
    check(
        stanza.clone(),
        Some(saturday()),
        (false, Some("2026-11-21T00:00:00Z"), "MaintenanceSchedule"),
    );
    check(stanza.clone(), None, (false, None, "PolicyNotFound"));
    let changed = |path: &str, value: Value| {
        let mut policy = saturday();
        *policy.pointer_mut(path).unwrap() = value;
        Some(policy)
    };
    check(
        stanza.clone(),
        changed("/status/conditions", json!([])),
        (false, None, "PolicyNotReady"),
    );
    check(
        stanza.clone(),
        changed("/status/conditions/0/status", json!("False")),
        (false, None, "PolicyNotReady"),
    );
    check(
        stanza.clone(),
        changed("/status/conditions/0/observedGeneration", json!(1)),
        (false, None, "PolicyNotReady"),
    );
    check(
        stanza.clone(),
        changed("/spec/strategy", json!("Sometimes")),
        (false, None, "PolicyNotReady"),
    );
    check(stanza.clone(), changed("/spec", json!("broken")), (false, None, "PolicyNotReady"));
    // Even a policy that would permit everything: nobody may rely on it before it is ready (STAT-4).
    let mut permissive = saturday();
    permissive["spec"] = json!({"strategy": "Permissive"});
    permissive["metadata"]["generation"] = json!(3);
    check(stanza, Some(permissive), (false, None, "PolicyNotReady"));
}

/// GATE-9: which policy, and what is the matter with it.
#[test]
fn doubt_about_a_policy_says_what_is_the_matter() {
    let check = |policy: Option<Value>, expected: &str| {
        let gate = of(json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}}), policy);
        let message = &gate.doubt_at(at(NOW)).unwrap().message;
        assert_eq!(message, &format!("ChangeManagementPolicy/saturday {expected}"));
    };
    let with = |conditions: Value| {
        let mut policy = saturday();
        policy["status"]["conditions"] = conditions;
        Some(policy)
    };
    let unready = |message: Value| {
        with(json!([{"type": "Ready", "status": "False", "reason": "Invalid", "message": message}]))
    };
    check(None, "does not exist, so changes are held; create it or name another");
    check(with(json!([])), "has not been read yet, so changes are held");
    check(
        unready("the zone is gone".into()),
        "is not ready: the zone is gone, so changes are held",
    );
    check(unready(Value::Null), "is not ready: Invalid, so changes are held");
    let lagging = json!([{"type": "Ready", "status": "True", "reason": "AsExpected", "observedGeneration": 1}]);
    check(with(lagging), "was changed and has not been read again yet, so changes are held");
    let mut broken = saturday();
    broken["spec"] = "broken".into();
    let gate = of(json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}}), Some(broken));
    let message = &gate.doubt_at(at(NOW)).unwrap().message;
    assert!(
        message.starts_with("ChangeManagementPolicy/saturday cannot be used: spec: "),
        "{message}"
    );
}

/// GATE-4
#[test]
fn until_holds_to_its_instant_and_then_the_policy_does() {
    let until = |strategy: &str, field: &str, instant: &str, policy: bool| {
        let mut stanza = json!({"strategy": strategy, field: instant});
        if policy {
            stanza["byPolicy"] = json!({"name": "saturday"});
        }
        stanza
    };
    let permissive = |instant, policy| until("PermissiveUntil", "permissiveUntil", instant, policy);
    let restrictive =
        |instant, policy| until("RestrictiveUntil", "restrictiveUntil", instant, policy);
    let (ahead, past) = ("2026-11-17T00:00:00Z", "2026-11-10T00:00:00Z");
    check(permissive(ahead, false), None, (true, Some(ahead), "PermissiveUntil"));
    check(permissive(past, false), None, (false, None, "Restrictive"));
    check(permissive(ahead, true), Some(saturday()), (true, Some(ahead), "PermissiveUntil"));
    check(
        permissive(past, true),
        Some(saturday()),
        (false, Some("2026-11-21T00:00:00Z"), "MaintenanceSchedule"),
    );
    // The edge merges with a window that begins there or covers it.
    check(
        permissive("2026-11-21T00:00:00Z", true),
        Some(saturday()),
        (true, Some("2026-11-22T00:00:00Z"), "PermissiveUntil"),
    );
    check(restrictive(ahead, false), None, (false, Some(ahead), "RestrictiveUntil"));
    check(restrictive(past, false), None, (true, None, "Permissive"));
    check(
        restrictive(ahead, true),
        Some(saturday()),
        (false, Some("2026-11-21T00:00:00Z"), "RestrictiveUntil"),
    );
    check(
        restrictive("2026-11-21T12:00:00Z", true),
        Some(saturday()),
        (false, Some("2026-11-21T12:00:00Z"), "RestrictiveUntil"),
    );
    check(
        restrictive("2026-11-22T00:00:00Z", true),
        Some(saturday()),
        (false, Some("2026-11-28T00:00:00Z"), "RestrictiveUntil"),
    );
    check(
        restrictive(past, true),
        Some(saturday()),
        (false, Some("2026-11-21T00:00:00Z"), "MaintenanceSchedule"),
    );
    // The policy is gone: permitted as long as it was said, and then held.
    check(permissive(ahead, true), None, (true, Some(ahead), "PermissiveUntil"));
    check(permissive(past, true), None, (false, None, "PolicyNotFound"));
    check(restrictive(ahead, true), None, (false, None, "PolicyNotFound"));
}

/// All that is said of a gate at an instant: the strategy in force, the reason, the doubt, the policy, and what a permit rests on.
fn said(gate: &Gate, at: Instant) -> String {
    let doubt = gate.doubt_at(at).map_or("no doubt", |doubt| doubt.reason);
    let policy = if gate.overrides(at) { "set aside" } else { "not set aside" };
    let basis = match gate.permit(at) {
        Ok(permit) => permit.basis().to_string(),
        Err(hold) => format!("held by {}", hold.reason),
    };
    format!("{:?}, {}, {doubt}, {policy}, {basis}", gate.strategy(at), gate.reason(at))
}

/// TIME-1, GATE-4, GATE-12: an until is over at its instant, in everything that is said of it.
#[test]
fn until_is_over_at_its_instant_for_everybody_who_asks() {
    // On the Saturday, so that the policy permits on both sides.
    let edge = at("2026-11-21T12:00:00Z");
    let by = |name: &str| json!({"name": name});
    let permissive = |policy: Value| json!({"strategy": "PermissiveUntil", "permissiveUntil": edge.to_string(), "byPolicy": policy});
    let restrictive = |policy: Value| json!({"strategy": "RestrictiveUntil", "restrictiveUntil": edge.to_string(), "byPolicy": policy});
    let check = |stanza: Value, policy: Option<Value>, before: &str, after: &str| {
        let gated = pool(stanza);
        let policy = policy
            .map(|policy| Arc::new(SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, &policy)));
        let gate = gate(&gated.stanza, policy.as_ref());
        for (seconds, expected) in [(-1, before), (0, after), (1, after)] {
            let found = said(&gate, edge.saturating_add(seconds));
            assert_eq!(found, expected, "{seconds} s after the edge: {:?}", gated.stanza.reading);
        }
    };
    let scheduled = "MaintenanceSchedule, MaintenanceSchedule, no doubt, not set aside, window";
    let missing = "Restrictive, PolicyNotFound, PolicyNotFound";
    check(
        permissive(by("saturday")),
        Some(saturday()),
        "Permissive, PermissiveUntil, no doubt, set aside, until",
        scheduled,
    );
    check(
        restrictive(by("saturday")),
        Some(saturday()),
        "Restrictive, RestrictiveUntil, no doubt, set aside, held by RestrictiveUntil",
        scheduled,
    );
    check(
        permissive(by("gone")),
        None,
        "Permissive, PermissiveUntil, no doubt, set aside, until",
        &format!("{missing}, not set aside, held by PolicyNotFound"),
    );
    check(
        restrictive(by("gone")),
        None,
        &format!("{missing}, set aside, held by PolicyNotFound"),
        &format!("{missing}, not set aside, held by PolicyNotFound"),
    );
    check(
        permissive(Value::Null),
        None,
        "Permissive, PermissiveUntil, no doubt, not set aside, until",
        "Restrictive, Restrictive, no doubt, not set aside, held by Restrictive",
    );
    check(
        restrictive(Value::Null),
        None,
        "Restrictive, RestrictiveUntil, no doubt, not set aside, held by RestrictiveUntil",
        "Permissive, Permissive, no doubt, not set aside, window",
    );
    // Those that no instant ends.
    let plain = |strategy: &str, expected: &str| {
        let named = json!({"strategy": strategy, "byPolicy": {"name": "saturday"}});
        check(named, Some(saturday()), expected, expected);
    };
    plain("ByPolicy", scheduled);
    plain("Permissive", "Permissive, Permissive, no doubt, set aside, strategy");
    plain("Restrictive", "Restrictive, Restrictive, no doubt, set aside, held by Restrictive");
    let none = "Permissive, NoStanza, no doubt, not set aside, no stanza";
    check(Value::Null, Some(saturday()), none, none);
}

/// GATE-9: once an until is over the policy says why; without one the stanza does.
#[test]
fn what_comes_after_an_until_is_explained_by_the_policy() {
    let check = |policy: Value, expected: &str| {
        for (strategy, field) in
            [("PermissiveUntil", "permissiveUntil"), ("RestrictiveUntil", "restrictiveUntil")]
        {
            let past = "2026-11-10T00:00:00Z";
            let stanza = json!({"strategy": strategy, field: past, "byPolicy": policy.clone()});
            let gate = of(stanza, Some(saturday()));
            let sentence = crate::gate::explain::sentence(&gate, at(NOW));
            assert!(sentence.starts_with(&expected.replace("UNTIL", strategy)), "{sentence}");
        }
    };
    check(json!({"name": "saturday"}), "ChangeManagementPolicy/saturday: ");
    check(Value::Null, "spec.changeManagement was UNTIL 2026-11-10T00:00:00Z and names no policy");
}

#[test]
fn a_stanza_that_cannot_be_used_closes_the_gate_and_names_the_field() {
    let check = |stanza: Value, field: &str| {
        let gate = of(stanza, Some(saturday()));
        assert!(gate.set.is_never());
        let doubt = gate.doubt_at(at(NOW)).unwrap();
        assert_eq!(doubt.reason, api::names::INVALID_STANZA);
        assert!(doubt.message.contains(field), "{}", doubt.message);
    };
    check(json!({}), "strategy");
    check(json!([]), "spec.changeManagement");
    check(json!("Permissive"), "spec.changeManagement");
    check(json!({"strategy": "Sometimes"}), "spec.changeManagement.strategy");
    check(json!({"strategy": "ByPolicy"}), "byPolicy");
    check(
        json!({"strategy": "ByPolicy", "byPolicy": {"name": 7}}),
        "spec.changeManagement.byPolicy.name",
    );
    check(json!({"strategy": "PermissiveUntil"}), "permissiveUntil");
    check(
        json!({"strategy": "PermissiveUntil", "permissiveUntil": "tomorrow"}),
        "spec.changeManagement.permissiveUntil",
    );
    check(json!({"strategy": "RestrictiveUntil", "permissiveUntil": NOW}), "restrictiveUntil");
    check(json!({"strategy": "Permissive", "permissveUntil": NOW}), "permissveUntil");
}

/// GATE-12: nor does one open it that was put together without a look at the schema, as whoever overrides does.
#[test]
fn a_stanza_that_no_schema_was_asked_about_closes_the_gate_too() {
    let check = |stanza: Value, field: &str| {
        let mut gated = pool(Value::Null);
        gated.stanza.reading = StanzaReading::Usable(serde_json::from_value(stanza).unwrap());
        let gate = gate(
            &gated.stanza,
            Some(&Arc::new(SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, &saturday()))),
        );
        assert!(gate.set.is_never(), "{field}");
        let doubt = gate.doubt_at(at(NOW)).unwrap();
        assert_eq!(doubt.reason, api::names::INVALID_STANZA);
        assert!(doubt.message.starts_with(&format!("{field}: ")), "{}", doubt.message);
    };
    check(json!({"strategy": "ByPolicy"}), "spec.changeManagement.byPolicy");
    check(json!({"strategy": "PermissiveUntil"}), "spec.changeManagement.permissiveUntil");
    check(json!({"strategy": "RestrictiveUntil"}), "spec.changeManagement.restrictiveUntil");
    check(json!({"strategy": "Sometimes"}), "spec.changeManagement.strategy");
    let never = json!({"strategy": "RestrictiveUntil", "restrictiveUntil": "tomorrow"});
    check(never, "spec.changeManagement.restrictiveUntil");
}

/// GATE-5
#[test]
fn a_hosted_resource_names_a_policy_of_its_own_namespace() {
    let document = json!({"metadata": {"name": "np", "namespace": "clusters"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}}});
    let named = gated(&kinds::NODE_POOL, &document).policy().unwrap();
    assert_eq!(named.to_string(), "HostedChangeManagementPolicy/clusters/weekend");
    let named =
        pool(json!({"strategy": "Permissive", "byPolicy": {"name": "weekend"}})).policy().unwrap();
    assert_eq!(named.to_string(), "ChangeManagementPolicy/weekend");
    // What lives in a namespace and asks a policy of the cluster finds it.
    let mut gate_document = document;
    gate_document["apiVersion"] = json!(api::names::API_VERSION);
    gate_document["kind"] = json!(api::names::CHANGE_GATE);
    gate_document["spec"]["holds"] = json!([{"what": "Deployments"}]);
    let named = gated(&kinds::CHANGE_GATE, &gate_document).policy().unwrap();
    assert_eq!(named.to_string(), "ChangeManagementPolicy/weekend");
    // A name that tries to leave its namespace is no name.
    let document = json!({"metadata": {"name": "np", "namespace": "clusters"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "../other/weekend"}}}});
    let seen = gated(&kinds::NODE_POOL, &document);
    assert!(seen.policy().is_none() && gate(&seen.stanza, None).set.is_never());
}

/// GATE-7
#[test]
fn a_permit_names_its_basis_and_ends_with_the_stretch() {
    let permit = |stanza: Value, instant: &str| of(stanza, Some(saturday())).permit(at(instant));
    let check = |stanza: Value, instant: &str, basis: Basis, stretch: [Option<&str>; 2]| {
        let permit = permit(stanza, instant).unwrap();
        assert_eq!(permit.basis(), &basis);
        assert_eq!([permit.opened(), permit.expires()], stretch.map(|edge| edge.map(at)));
        assert!(permit.is_live(at(instant)));
        assert!(!permit.is_live(at(instant).saturating_add(-1)), "a clock that went back");
        if let Some(end) = permit.expires() {
            assert!(permit.is_live(end.saturating_add(-1)) && !permit.is_live(end));
        }
    };
    let by_policy = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
    let saturday_noon = "2026-11-21T12:00:00Z";
    check(Value::Null, NOW, Basis::NoStanza, [None, None]);
    check(json!({"strategy": "Permissive"}), NOW, Basis::Strategy, [None, None]);
    let window = [Some("2026-11-21T00:00:00Z"), Some("2026-11-22T00:00:00Z")];
    check(by_policy.clone(), saturday_noon, Basis::Window, window);
    let until = json!({"strategy": "PermissiveUntil", "permissiveUntil": "2026-11-17T00:00:00Z"});
    check(until, NOW, Basis::Until, [None, Some("2026-11-17T00:00:00Z")]);
    let held = permit(by_policy, NOW).unwrap_err();
    assert_eq!(
        held,
        Hold { reason: "MaintenanceSchedule", until: Some(at("2026-11-21T00:00:00Z")) }
    );
    let frozen = permit(json!({"strategy": "Restrictive"}), NOW).unwrap_err();
    assert_eq!(frozen, Hold { reason: "Restrictive", until: None });
}

/// GATE-14: at every level that a policy and a stanza have.
#[test]
fn a_field_that_nobody_knows_opens_no_gate() {
    let by_policy = || json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
    let day = || json!({"recurrence": {"frequency": "Daily", "daily": {}}});
    let open = |schedule: Value| {
        let mut policy = saturday();
        policy["spec"]["maintenanceSchedule"] = schedule;
        policy
    };
    // What opens the gate, so that the rows below can fail.
    check(by_policy(), Some(open(json!({"permit": {}}))), (true, None, "MaintenanceSchedule"));
    check(by_policy(), Some(open(json!({"permit": day()}))), (true, None, "MaintenanceSchedule"));
    let mistyped = |pointer: &str, field: &str, named: &str| {
        let mut policy = open(json!({"permit": day(), "exclude": [{"fromDate": "2020-01-01"}]}));
        policy.pointer_mut(pointer).unwrap()[field] = json!({"mistyped": true});
        let gate = of(by_policy(), Some(policy));
        assert_eq!(gate.reason(at(NOW)), "PolicyNotReady", "{named}");
        assert!(!gate.set.state(at(NOW)).inside, "{named}");
        let said = &gate.doubt_at(at(NOW)).unwrap().message;
        assert!(said.contains(&format!("{named}: unknown field")), "{named}: {said}");
    };
    let schedule = "spec.maintenanceSchedule";
    mistyped("/spec", "stratgy", "spec.stratgy");
    mistyped("/spec/maintenanceSchedule", "excludes", &format!("{schedule}.excludes"));
    mistyped(
        "/spec/maintenanceSchedule/permit",
        "recurence",
        &format!("{schedule}.permit.recurence"),
    );
    let recurrence = "/spec/maintenanceSchedule/permit/recurrence";
    mistyped(recurrence, "hourly", &format!("{schedule}.permit.recurrence.hourly"));
    mistyped(
        &format!("{recurrence}/daily"),
        "every",
        &format!("{schedule}.permit.recurrence.daily.every"),
    );
    mistyped(
        "/spec/maintenanceSchedule/exclude/0",
        "untilDay",
        &format!("{schedule}.exclude[0].untilDay"),
    );

    check(
        json!({"strategy": "Permissive", "pausedUntil": "2026-12-01T00:00:00Z"}),
        None,
        (false, None, "InvalidStanza"),
    );
    check(
        json!({"strategy": "Permissive", "byPolicy": {"name": "saturday", "namespace": "x"}}),
        Some(saturday()),
        (false, None, "InvalidStanza"),
    );
}

/// LIVE-3: a status that no server takes would be written for ever.
#[test]
fn a_name_of_any_length_gives_a_message_of_some_length() {
    let gate = of(json!({"strategy": "Permissive", "x".repeat(100_000): 1}), None);
    assert!(gate.doubt_at(at(NOW)).unwrap().message.len() < 2_000);
}

/// GATE-10: what a mark carries beside it is read back as it was meant.
#[test]
fn a_basis_that_was_written_down_is_read_back() {
    let bases = [
        Basis::NoStanza,
        Basis::Strategy,
        Basis::Window,
        Basis::Until,
        Basis::Override("ClusterChangeOverride/cve".into()),
        Basis::AlreadyInitiated(ChangeId::release("4.21.3")),
        Basis::AlreadyInitiated(ChangeId::rendered("rendered-master-b")),
        Basis::Bypass("90-urgent".into()),
        Basis::Consent("n1".into()),
    ];
    for basis in bases {
        assert_eq!(Basis::read(&basis.to_string()), Some(basis.clone()), "{basis}");
        let own = matches!(
            basis,
            Basis::NoStanza | Basis::Strategy | Basis::Window | Basis::Until | Basis::Override(_)
        );
        let followed = basis == Basis::AlreadyInitiated(ChangeId::rendered("rendered-master-b"));
        let of_change = Basis::is_of_change(&basis.to_string(), "rendered-master-b");
        assert_eq!(of_change, own || followed, "{basis}");
        let one = matches!(basis, Basis::Bypass(_) | Basis::Consent(_));
        assert_eq!(Basis::is_of_one(&basis.to_string()), one, "{basis}");
    }
    assert_eq!(Basis::read("windows"), None);
}
