//! How is `versionManagement` written in the newest form? As a policy and a stanza that names it, and what that form does not say.

use api::{
    kinds, names,
    policy::{Exclusion, MaintenanceSchedule, Permit, Strategy},
    schema::Role,
};
use schedule::{Rrule, TimeOfDay};
use serde_json::{Value, json};

use crate::{
    document::key::Key,
    policy::{
        convert,
        version::{Pause, VersionManaged},
    },
};

/// A stanza in the newest form.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// The policy; none if the stanza has no windows and no exclusions.
    pub policy: Option<Value>,
    /// `spec.changeManagement`.
    pub stanza: Value,
    /// What the newest form does not say.
    pub lost: Vec<String>,
}

/// Converts the stanza of an object; the policy is called so. An error where a policy cannot hold its rule.
pub fn converted(
    key: &Key,
    read: &VersionManaged,
    name: &str,
) -> Result<Converted, schedule::Error> {
    let mut lost = Vec::new();
    let schedule = schedule_of(read, &mut lost)?;
    if schedule.is_some() {
        lost.push("a policy permits changes to the end of its windows: the last hour, in which nothing new is begun, is lost".to_owned());
    }
    let hosted = key.namespace.is_some();
    let kind = if hosted {
        &kinds::HOSTED_CHANGE_MANAGEMENT_POLICY
    } else {
        &kinds::CHANGE_MANAGEMENT_POLICY
    };
    let policy = schedule.map(|schedule| {
        let spec = json!({"strategy": Strategy::MaintenanceSchedule, "maintenanceSchedule": schedule});
        let metadata = match key.namespace.as_deref() {
            Some(namespace) => json!({"name": name, "namespace": namespace}),
            None => json!({"name": name}),
        };
        json!({"apiVersion": names::API_VERSION, "kind": kind.name, "metadata": metadata, "spec": spec})
    });
    let strategy = match read.pause {
        _ if !read.is_enforcing() => "Permissive",
        Pause::Until(_) => "RestrictiveUntil",
        Pause::Indefinite | Pause::Assisted => "Restrictive",
        Pause::No if policy.is_none() => "Permissive",
        Pause::No => "ByPolicy",
    };
    let mut stanza = json!({"strategy": strategy});
    if policy.is_some() {
        stanza["byPolicy"] = json!({"name": name});
    }
    if let (Pause::Until(until), "RestrictiveUntil") = (read.pause, strategy) {
        stanza["restrictiveUntil"] = json!(until.to_string());
    }
    if read.pause == Pause::Assisted {
        lost.push("pausedUntil assisted: the pause does not come back by itself when an update has arrived".to_owned());
    }
    if !read.is_enforcing() && read.pause != Pause::No {
        lost.push(
            "pausedUntil: a pause that is set aside cannot be kept beside the strategy".to_owned(),
        );
    }
    match key.kind() {
        kind if [kinds::MACHINE_CONFIG_POOL, kinds::NODE_POOL].contains(kind) => {
            lost.push("a pool lies no longer within the windows of its cluster: exclude what the cluster excludes".to_owned());
        }
        kind if matches!(kind.role, Role::Gated { .. }) => {
            lost.push(
                "the windows of the cluster hold its pools no longer: give each of them a stanza"
                    .to_owned(),
            );
        }
        _ => {}
    }
    Ok(Converted { policy, stanza, lost })
}

/// The windows and exclusions as a maintenance schedule; none if there are none.
fn schedule_of(
    read: &VersionManaged,
    lost: &mut Vec<String>,
) -> Result<Option<MaintenanceSchedule>, schedule::Error> {
    let Some(windows) = &read.given.maintenance_windows else { return Ok(None) };
    let exclude: Vec<Exclusion> = windows
        .exclude
        .iter()
        .flatten()
        .map(|days| Exclusion {
            from_date: Some(days.begin.clone()),
            until_date: days.end.clone(),
            ..Exclusion::default()
        })
        .collect();
    let (mut permit, mut time_zone) = (None, None);
    if let Some(text) = windows.permit.as_deref() {
        let structured = convert::structured(&Rrule::parse(text)?)?;
        lost.extend(structured.notes);
        time_zone =
            structured.zone.filter(|zone| !zone.is_utc()).map(|zone| zone.name().to_owned());
        let start = structured.start.filter(|start| *start != TimeOfDay::MIDNIGHT);
        permit = Some(Permit {
            recurrence: Some(convert::on_the_wire(&structured.recurrence)),
            start_time: start.map(|start| start.to_string()),
            duration: None,
            end_time: None,
        });
    }
    if permit.is_none() && exclude.is_empty() {
        return Ok(None);
    }
    let exclude = Some(exclude).filter(|exclude| !exclude.is_empty());
    Ok(Some(MaintenanceSchedule { time_zone, permit, exclude }))
}

#[cfg(test)]
mod tests {
    use schedule::{Instant, TimeSet};

    use super::*;
    use crate::policy::{read, version};

    #[expect(clippy::needless_pass_by_value, reason = "rows are written in place")]
    fn check(given: Value, stanza: &Value, windows: bool) {
        let document =
            json!({"metadata": {"name": "worker"}, "spec": {"versionManagement": given}});
        let meant = version::read(&kinds::MACHINE_CONFIG_POOL, &document).unwrap();
        let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
        let made = converted(&key, &meant, "nights").unwrap();
        assert_eq!((&made.stanza, made.policy.is_some()), (stanza, windows), "{given}");
        assert!(made.lost.iter().any(|lost| lost.contains("within the windows of its cluster")));
        let Some(policy) = made.policy else { return };
        // The engine says that no window changed, but for its last hour.
        let policy = read::policy(&policy).policy.expect("the policy can be used");
        let both = |set: &TimeSet| {
            let at = |text| Instant::parse(text).unwrap();
            let range = at("2026-01-01T00:00:00Z")..at("2027-06-01T00:00:00Z");
            set.spans(range).collect::<Vec<_>>()
        };
        assert_eq!(both(&policy.lowered.set), both(&meant.windows), "{given}");
    }

    #[test]
    fn the_newest_form_has_the_same_windows_and_says_what_is_lost() {
        let windows = json!({"permit": "FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA", "exclude": [{"begin": "2026-12-20", "end": "2027-01-03"}]});
        let by = |strategy: &str| json!({"strategy": strategy, "byPolicy": {"name": "nights"}});
        check(json!({"maintenanceWindows": windows}), &by("ByPolicy"), true);
        check(
            json!({"maintenanceWindows": windows, "pausedUntil": true}),
            &by("Restrictive"),
            true,
        );
        check(json!({"maintenanceWindows": windows, "enforcing": false}), &by("Permissive"), true);
        let mut until = by("RestrictiveUntil");
        until["restrictiveUntil"] = json!("2026-12-24T00:00:00Z");
        check(json!({"maintenanceWindows": windows, "pausedUntil": "2026-12-24"}), &until, true);
        let exclude = json!({"exclude": [{"begin": "2026-12-20"}]});
        check(json!({"maintenanceWindows": exclude}), &by("ByPolicy"), true);
        let zoned = json!({"permit": "DTSTART;TZID=Europe/Berlin:19700103T200000\nRRULE:FREQ=WEEKLY;BYDAY=SA"});
        check(json!({"maintenanceWindows": zoned}), &by("ByPolicy"), true);
        check(json!({"pausedUntil": "assisted"}), &json!({"strategy": "Restrictive"}), false);
        check(json!({}), &json!({"strategy": "Permissive"}), false);
    }
}
