use serde_json::json;

use super::*;

fn policy_with(spec: &Value) -> Vec<Problem> {
    let kind = api::schema::kind_named(api::names::CHANGE_MANAGEMENT_POLICY).unwrap();
    let object = json!({
        "apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "p"}, "spec": spec,
    });
    super::check(kind.schema(), &object)
}

/// A recurrence in an otherwise good policy, and the problems expected: field below `recurrence`, code, part of the text.
fn check(recurrence: &Value, expected: &[(&str, Code, &str)]) {
    let spec = json!({
        "strategy": "MaintenanceSchedule",
        "maintenanceSchedule": {"permit": {"recurrence": recurrence}},
    });
    let found = policy_with(&spec);
    let root = "spec.maintenanceSchedule.permit.recurrence";
    assert_eq!(found.len(), expected.len(), "{recurrence}: {found:#?}");
    for (problem, (field, code, text)) in found.iter().zip(expected) {
        let field = if field.is_empty() { root.to_owned() } else { format!("{root}.{field}") };
        assert_eq!((problem.field.to_string(), problem.code), (field, *code), "{recurrence}");
        let whole = format!("{} {}", problem.detail, problem.hint.as_deref().unwrap_or_default());
        assert!(whole.contains(text), "{whole}");
    }
}

#[test]
fn good_recurrences_pass() {
    check(&json!({"frequency": "Daily", "daily": {"interval": 730}}), &[]);
    check(&json!({"frequency": "Daily", "daily": {}, "weekly": null}), &[]);
    check(&json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}), &[]);
    check(
        &json!({"frequency": "Yearly", "yearly": {"by": "Date", "date": {
            "datesOfMonth": [30], "month": "February"}}}),
        &[],
    );
}

/// POL-2
#[test]
fn a_union_has_exactly_the_arm_its_discriminator_names() {
    check(
        &json!({"frequency": "Weekly", "daily": {"interval": 1}}),
        &[
            ("", Code::MissingField, "weekly is missing"),
            ("daily", Code::Conflict, "frequency is Weekly"),
        ],
    );
    check(
        &json!({"frequency": "Monthly", "monthly": {"by": "Day", "date": {"datesOfMonth": [1]}}}),
        &[
            ("monthly", Code::MissingField, "day is missing"),
            ("monthly.date", Code::Conflict, "set by to Date"),
        ],
    );
    check(&json!({"daily": {"interval": 1}}), &[("", Code::MissingField, "frequency is missing")]);
    check(
        &json!({"frequency": "Hourly", "daily": {"interval": 1}}),
        &[("frequency", Code::NotAllowed, "Yearly, Monthly, Weekly or Daily")],
    );
}

#[test]
fn numbers_and_lists_outside_their_range_are_named() {
    check(
        &json!({"frequency": "Daily", "daily": {"interval": 0}}),
        &[("daily.interval", Code::OutOfRange, "from 1 to 730")],
    );
    check(
        &json!({"frequency": "Daily", "daily": {"interval": 731}}),
        &[("daily.interval", Code::OutOfRange, "from 1 to 730")],
    );
    check(
        &json!({"frequency": "Weekly", "weekly": {"daysOfWeek": [], "interval": 27}}),
        &[
            ("weekly.daysOfWeek", Code::OutOfRange, "the list is empty"),
            ("weekly.interval", Code::OutOfRange, "from 1 to 26"),
        ],
    );
    check(
        &json!({"frequency": "Monthly", "monthly": {"by": "Date", "date": {
            "datesOfMonth": [1, 32, 0], "interval": 12}}}),
        &[
            ("monthly.date.datesOfMonth[1]", Code::OutOfRange, "32 is out of range"),
            ("monthly.date.datesOfMonth[2]", Code::OutOfRange, "0 is out of range"),
            ("monthly.date.interval", Code::OutOfRange, "from 1 to 11"),
        ],
    );
}

#[test]
fn mistyped_names_get_a_guess() {
    check(
        &json!({"frequency": "Monthly", "monthly": {"by": "Day", "day": {"days": [
            {"daysOfWeek": "Monday", "weekOfMonth": "Last"}]}}}),
        &[
            ("monthly.day.days[0].daysOfWeek", Code::UnknownField, "did you mean dayOfWeek?"),
            ("monthly.day.days[0]", Code::MissingField, "dayOfWeek is missing"),
        ],
    );
    check(
        &json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["saturday"]}}),
        &[("weekly.daysOfWeek[0]", Code::NotAllowed, "did you mean Saturday?")],
    );
}

#[test]
fn types_are_told_apart() {
    check(
        &json!({"frequency": "Daily", "daily": {"interval": "3"}}),
        &[("daily.interval", Code::WrongType, "take the quotes away")],
    );
    check(
        &json!({"frequency": "Daily", "daily": {"interval": 1.5}}),
        &[("daily.interval", Code::WrongType, "a whole number")],
    );
    check(
        &json!({"frequency": "Weekly", "weekly": {"daysOfWeek": "Saturday"}}),
        &[("weekly.daysOfWeek", Code::WrongType, "a list is needed")],
    );
    check(&json!("FREQ=DAILY"), &[("", Code::WrongType, "a stanza")]);
}

#[test]
fn all_problems_are_found_and_not_the_first_alone() {
    let found = policy_with(&json!({
        "strategy": "Sometimes",
        "maintenanceSchedule": {
            "timeZone": "Mars/Base",
            "permit": {"startTime": "25:00", "duration": "1d", "endTime": "02:00"},
            "exclude": [{"fromDate": "2025-02-30"}, {"untilDate": "2025-03-01"}],
        },
        "extra": true,
    }));
    let fields: Vec<String> = found.iter().map(|problem| problem.field.to_string()).collect();
    assert_eq!(
        fields,
        [
            "spec.strategy",
            "spec.maintenanceSchedule.timeZone",
            "spec.maintenanceSchedule.permit.startTime",
            "spec.maintenanceSchedule.permit.duration",
            "spec.maintenanceSchedule.permit.endTime",
            "spec.maintenanceSchedule.exclude[0].fromDate",
            "spec.extra",
        ]
    );
}

/// GATE-3, on each kind that has a stanza.
#[test]
fn a_stanza_keeps_its_policy_and_has_no_instant_but_that_of_its_strategy() {
    let until = "2026-11-15T22:00:00Z";
    let named = json!({"name": "weekend"});
    let check = |stanza: &Value, expected: &[(&str, Code)]| {
        for kind in api::schema::STANZAS {
            let object = json!({
                "apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "r"},
                "spec": {"changeManagement": stanza, "somethingElse": true},
                "status": {"somethingElse": true},
            });
            let found = super::check(kind.schema(), &object);
            let found: Vec<(String, Code)> = found
                .into_iter()
                .map(|problem| {
                    let field = problem.field.to_string();
                    let below = field.strip_prefix("spec.changeManagement").unwrap_or(&field);
                    (below.trim_start_matches('.').to_owned(), problem.code)
                })
                .collect();
            let expected: Vec<(String, Code)> =
                expected.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect();
            assert_eq!(found, expected, "{}: {stanza}", kind.name);
        }
    };
    check(&json!({"strategy": "Permissive", "byPolicy": named}), &[]);
    check(&json!({"strategy": "Restrictive"}), &[]);
    check(
        &json!({"strategy": "PermissiveUntil", "permissiveUntil": until, "byPolicy": named}),
        &[],
    );
    check(&json!({"strategy": "ByPolicy", "byPolicy": named, "permissiveUntil": null}), &[]);
    check(&json!({"strategy": "ByPolicy"}), &[("", Code::MissingField)]);
    check(&json!({"strategy": "RestrictiveUntil"}), &[("", Code::MissingField)]);
    check(
        &json!({"strategy": "Permissive", "permissiveUntil": until, "restrictiveUntil": until}),
        &[("permissiveUntil", Code::Conflict), ("restrictiveUntil", Code::Conflict)],
    );
    check(
        &json!({"strategy": "RestrictiveUntil", "permissiveUntil": until}),
        &[("", Code::MissingField), ("permissiveUntil", Code::Conflict)],
    );
    // A strategy that nobody knows says nothing about the rest.
    check(
        &json!({"strategy": "Never", "permissiveUntil": until}),
        &[("strategy", Code::NotAllowed)],
    );
    check(&json!({"strategy": "Permissive", "until": until}), &[("until", Code::UnknownField)]);
}
