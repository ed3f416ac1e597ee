use super::*;
use crate::policy::read;

fn policy(name: &str, spec: &Value) -> read::Policy {
    let document = json!({"apiVersion": names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": name}, "spec": spec});
    let judged = read::policy(&document);
    judged.policy.unwrap_or_else(|| panic!("{:#?}", judged.problems))
}

fn scheduled(permit: &Value, exclude: &Value) -> Value {
    json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": permit, "exclude": exclude}})
}

fn tuesdays() -> Value {
    let weekly = json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Tuesday"]}});
    scheduled(&json!({"recurrence": weekly, "startTime": "02:00", "duration": "4h"}), &Value::Null)
}

fn guardrail(spec: &Value) -> SeenGuardrail {
    SeenGuardrail::new(&json!({"apiVersion": names::API_VERSION, "kind": "ChangeGuardrail",
        "metadata": {"name": "platform", "creationTimestamp": "2026-11-01T00:00:00Z"}, "spec": spec}))
}

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// What a guardrail says of a policy, where two others are known.
fn said(demands: &Value, spec: &Value) -> Vec<String> {
    let policy = policy("nights", spec);
    let key = Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, "nights");
    let judged = Judged {
        key: &key,
        lowered: &policy.lowered,
        labels: None,
        from: at("2026-11-18T00:00:00Z"),
    };
    let known = |name: &str| match name {
        "always" => Some(TimeSet::always()),
        "weekend" => {
            let days =
                json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}});
            let weekend = scheduled(&json!({"recurrence": days}), &Value::Null);
            Some(self::policy(name, &weekend).lowered.set)
        }
        _ => None,
    };
    let breaches = guardrail(demands).judge(judged, &known);
    breaches.iter().map(|breach| format!("{} {breach}", breach.reason)).collect()
}

/// GRD-2 to GRD-4: which rule, what was found, what is required, and where it is worst.
#[test]
fn each_demand_says_what_it_found_and_where() {
    let gke = json!({"minimumHours": [{"hours": 48, "inDays": 32, "stretch": "4h"}]});
    let daily = |duration: &str| {
        scheduled(&json!({"duration": duration, "startTime": "01:00"}), &Value::Null)
    };
    let excluding = |from: &str, until: &str| {
        scheduled(&json!({"duration": "6h"}), &json!([{"fromDate": from, "untilDate": until}]))
    };
    let permissive = json!({"strategy": "Permissive"});
    let restrictive = json!({"strategy": "Restrictive"});
    for (demands, spec, expected) in [
        (&gke, daily("4h"), ""),
        (
            &gke,
            tuesdays(),
            "TooFewHours ChangeGuardrail/platform (minimumHours[0]) requires 48h in stretches of 4h or more in any 32 days, and finds 16h in stretches \
             of 4h or more in the 32 days from 2026-11-18T00:00:00Z",
        ),
        (
            &gke,
            daily("3h"),
            "TooFewHours ChangeGuardrail/platform (minimumHours[0]) requires 48h in stretches of 4h or more in any 32 days, and finds 0s in stretches \
             of 4h or more in the 32 days from 2026-11-18T00:00:00Z",
        ),
        // Never is no schedule, and whether somebody may write it is another demand.
        (&gke, restrictive.clone(), ""),
        (&gke, permissive.clone(), ""),
        (
            &json!({"strategies": ["MaintenanceSchedule", "ByPolicy"]}),
            permissive.clone(),
            "StrategyNotAllowed ChangeGuardrail/platform (strategies) requires one of MaintenanceSchedule, ByPolicy, and finds the strategy Permissive",
        ),
        (&json!({"strategies": ["MaintenanceSchedule"]}), tuesdays(), ""),
        (&json!({"longestExclusion": "240h"}), excluding("2026-12-20", "2026-12-30"), ""),
        (
            &json!({"longestExclusion": "240h"}),
            excluding("2026-12-20", "2026-12-31"),
            "ExclusionTooLong ChangeGuardrail/platform (longestExclusion) requires 240h at most, and finds an exclusion of 264h from 2026-12-20T00:00:00Z",
        ),
        // What is over is no reason.
        (&json!({"longestExclusion": "240h"}), excluding("2025-12-01", "2026-02-01"), ""),
        (&json!({"within": {"name": "always"}}), tuesdays(), ""),
        (
            &json!({"within": {"name": "weekend"}}),
            tuesdays(),
            "NotWithin ChangeGuardrail/platform (within) requires windows within those of ChangeManagementPolicy weekend, and finds windows from \
             2026-11-24T02:00:00Z until 2026-11-24T06:00:00Z that are outside",
        ),
        (
            &json!({"within": {"name": "gone"}}),
            tuesdays(),
            "GuardrailUnclear ChangeGuardrail/platform (within) requires a guardrail that can be judged, and finds no ChangeManagementPolicy gone that can \
             be used",
        ),
        // The one that the others must stay within.
        (&json!({"within": {"name": "nights"}}), tuesdays(), ""),
    ] {
        assert_eq!(said(demands, &spec).join("\n"), expected, "{demands} {spec}");
    }
}

/// GRD-3: exclusions to the hour and recurring ones are as long as their longest run, whatever it is made of.
#[test]
fn every_form_of_exclusion_is_measured() {
    let check = |longest: &str, zone: &str, exclude: Value, expected: &str| {
        let mut spec = scheduled(&json!({"duration": "6h"}), &exclude);
        spec["maintenanceSchedule"]["timeZone"] = json!(zone);
        let found = said(&json!({"longestExclusion": longest}), &spec).join("; ");
        let found = found.split_once(" finds ").map_or("", |(_, found)| found);
        assert_eq!(found, expected, "{exclude}");
    };
    let days = |days: &[&str]| json!({"frequency": "Weekly", "weekly": {"daysOfWeek": days}});
    let every_day = json!({"frequency": "Daily", "daily": {}});
    let december = json!({"recurrence": {"frequency": "Yearly", "yearly": {"by": "Date",
        "date": {"month": "December", "datesOfMonth": [1]}}}, "duration": "744h"});
    let instants = |from: &str, until: &str| json!([{"from": from, "until": until}]);
    let utc = "UTC";
    check("24h", utc, instants("2026-12-18T12:00:00Z", "2026-12-19T12:00:00Z"), "");
    check(
        "24h",
        utc,
        instants("2026-12-18T12:00:00Z", "2026-12-19T12:00:01Z"),
        "an exclusion of 24h1s from 2026-12-18T12:00:00Z",
    );
    check("24h", utc, instants("2026-11-01T00:00:00Z", "2026-11-17T00:00:00Z"), "");
    check("744h", "Europe/Berlin", json!([december]), "");
    check(
        "743h",
        "Europe/Berlin",
        json!([december]),
        "an exclusion of 744h from 2026-11-30T23:00:00Z",
    );
    let weekdays = days(&["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]);
    let hours = json!({"recurrence": weekdays, "startTime": "08:00", "endTime": "18:00"});
    check("10h", "Europe/Berlin", json!([hours]), "");
    check("9h", utc, json!([hours]), "an exclusion of 10h from 2026-11-18T08:00:00Z");
    // Runs of one rule that touch are one, and so are those of two.
    check(
        "119h",
        utc,
        json!([{"recurrence": weekdays}]),
        "an exclusion of 120h from 2026-11-16T00:00:00Z",
    );
    // A day is a day where clocks go back.
    check("48h", "Europe/Berlin", json!([{"recurrence": days(&["Saturday", "Sunday"])}]), "");
    let touching = json!([{"recurrence": days(&["Saturday"])}, {"fromDate": "2026-12-06"}]);
    check("24h", utc, touching, "an exclusion of 48h from 2026-12-05T00:00:00Z");
    let halves = json!([
        {"recurrence": every_day, "duration": "12h"},
        {"recurrence": every_day, "startTime": "12:00"}]);
    check("8783h", utc, halves, "an exclusion without end from 2026-11-18T00:00:00Z");
    check(
        "8783h",
        utc,
        json!([{"recurrence": every_day}]),
        "an exclusion without end from 2026-11-18T00:00:00Z",
    );
    // An instant of another clock touches a day of the zone.
    let evening = json!([{"fromDate": "2026-12-05"}, {"from": "2026-12-05T23:00:00Z", "until": "2026-12-06T05:00:00Z"}]);
    check("24h", "Europe/Berlin", evening, "an exclusion of 30h from 2026-12-04T23:00:00Z");
}

/// Two exclusions that touch are one to whoever waits.
#[test]
fn exclusions_that_touch_are_one() {
    let exclude = json!([{"fromDate": "2026-12-20", "untilDate": "2026-12-28"}, {"fromDate": "2026-12-28", "untilDate": "2027-01-05"}]);
    let spec = scheduled(&json!({"duration": "6h"}), &exclude);
    let found = said(&json!({"longestExclusion": "240h"}), &spec);
    assert!(
        found.len() == 1 && found[0].contains("an exclusion of 384h from 2026-12-20"),
        "{found:?}"
    );
}

/// GATE-14: one that cannot be used demands what nothing meets, in the mode that it names.
#[test]
fn a_guardrail_that_cannot_be_used_is_met_by_nothing() {
    for (spec, mode) in [
        (
            json!({"mode": "Enforce", "minimunHours": [{"hours": 1, "inDays": 1}]}),
            GuardrailMode::Enforce,
        ),
        (json!({"minimumHours": [{"hours": 25, "inDays": 1}]}), GuardrailMode::Warn),
        (
            json!({"minimumHours": [{"hours": 1, "inDays": 1, "stretch": "25h"}]}),
            GuardrailMode::Warn,
        ),
        (json!({"mode": "Audit", "minimumHours": "many"}), GuardrailMode::Audit),
        (json!({"mode": "Sometimes", "approvals": 1}), GuardrailMode::Enforce),
        (json!({"approvals": 2}), GuardrailMode::Warn),
    ] {
        let guardrail = guardrail(&spec);
        assert_eq!((guardrail.is_usable(), guardrail.mode()), (false, mode), "{spec}");
        assert_eq!(said(&spec, &tuesdays()).len(), 1, "{spec}");
    }
}

#[test]
fn a_guardrail_selects_by_kind_and_namespace() {
    let hosted = Key::new(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY, Some("shop"), "a");
    let cluster = Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, "a");
    let labels = |text: &str| Labels::from([("tier".to_owned(), text.to_owned())]);
    let chosen = json!({"namespaceSelector": {"matchLabels": {"tier": "gold"}}});
    let kind = json!({"kinds": ["HostedChangeManagementPolicy"]});
    for (selector, key, labels, expected) in [
        (Value::Null, &hosted, None, Selects::Yes),
        (Value::Null, &cluster, None, Selects::Yes),
        (kind.clone(), &hosted, None, Selects::Yes),
        (kind, &cluster, None, Selects::No),
        (chosen.clone(), &hosted, Some(labels("gold")), Selects::Yes),
        (chosen.clone(), &hosted, Some(labels("tin")), Selects::No),
        // Nobody saw the namespace: nobody can tell, and doubt judges.
        (chosen.clone(), &hosted, None, Selects::CannotTell),
        (chosen, &cluster, None, Selects::No),
        (json!({"kinds": ["Teapot"]}), &cluster, None, Selects::CannotTell),
    ] {
        let guardrail = guardrail(&json!({"selector": selector, "approvals": 1}));
        assert_eq!(guardrail.selects(key, labels.as_ref()), expected, "{selector} {key}");
    }
}

/// GRD-3, GRD-5: what nobody has approved opens nothing, unless it was there before the guardrail.
#[test]
fn an_override_waits_for_its_approval() {
    let overriding = |created: &str, approved: Option<&str>| {
        let mut spec = json!({"target": {"kind": "ClusterVersion", "name": "version"}, "until": "2026-11-20T00:00:00Z", "reason": "x", "by": "ann"});
        if let Some(by) = approved {
            spec["approvedBy"] = json!(by);
        }
        SeenOverride::new(
            &kinds::CLUSTER_CHANGE_OVERRIDE,
            &json!({"metadata": {"name": "o", "creationTimestamp": created}, "spec": spec}),
        )
    };
    let enforced = json!({"mode": "Enforce", "approvals": 1});
    for (spec, created, approved, shut) in [
        (&enforced, "2026-11-18T00:00:00Z", None, true),
        (&enforced, "2026-11-18T00:00:00Z", Some("bob"), false),
        (&enforced, "2026-10-31T00:00:00Z", None, false),
        (&enforced, "2026-11-01T00:00:00Z", None, true),
        (&json!({"approvals": 1}), "2026-11-18T00:00:00Z", None, false),
        (&json!({"mode": "Enforce", "approvals": 0}), "2026-11-18T00:00:00Z", None, false),
    ] {
        let found = guardrail(spec).keeps_shut(&overriding(created, approved), None);
        assert_eq!(found, shut, "{spec} {created} {approved:?}");
    }
}

/// POL-7: what is said of a policy changes with its edges and its edits, and not with the clock.
#[test]
fn a_policy_is_judged_from_where_its_status_stands() {
    let set = policy("nights", &tuesdays()).lowered.set;
    let edited = Some(at("2026-11-17T12:00:00Z"));
    for (now, changed, from) in [
        ("2026-11-18T00:00:00Z", None, "2026-11-17T06:00:00Z"),
        ("2026-11-20T00:00:00Z", None, "2026-11-17T06:00:00Z"),
        ("2026-11-20T00:00:00Z", edited, "2026-11-17T12:00:00Z"),
        ("2026-11-24T02:00:00Z", edited, "2026-11-24T02:00:00Z"),
        // A stamp from the future has judged nothing yet.
        ("2026-11-20T00:00:00Z", Some(at("2027-01-01T00:00:00Z")), "2026-11-20T00:00:00Z"),
    ] {
        assert_eq!(judged_from(&set, changed, at(now)), at(from), "{now}");
    }
}
