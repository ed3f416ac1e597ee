//! Is what a status says true, and does it hang together? Judged at the commit of each.

use serde_json::Value;

use super::{
    super::{
        cast::Clocks,
        stage::Kind,
        windows::{self, second},
    },
    Checker, target,
};

/// Whether a status is about this second: one that arrives after what it told has ended tells the past.
fn tells(current: &Value, at: i64) -> bool {
    let start = current["startTime"].as_str().and_then(second).unwrap_or(i64::MIN);
    let end = current["endTime"].as_str().and_then(second).unwrap_or(i64::MAX);
    (start..end).contains(&at)
}

impl Checker {
    /// `next` is there exactly when `current` ends, and begins there (STAT-1); at most five are remembered, the newest first (STAT-2).
    pub(super) fn behaves(&mut self, at: i64, object: &str, status: &Value) {
        let behavior = &status["behavior"];
        if behavior.is_null() {
            return;
        }
        let end = &behavior["current"]["endTime"];
        let next = &behavior["next"];
        if next.is_null() != end.is_null() || !next.is_null() && next["startTime"] != *end {
            self.accuse(at, "STAT-1", format!("{object}: {behavior}"));
        }
        let history = behavior["history"].as_array().map_or(&[][..], Vec::as_slice);
        let time = |value: &Value| value.as_str().and_then(second).unwrap_or(i64::MIN);
        let mut before = time(&behavior["current"]["startTime"]);
        let ordered = history.iter().all(|past| {
            let (start, end) = (time(&past["startTime"]), time(&past["endTime"]));
            // Without gaps, unless somebody set the clock in between.
            let touches = end == before || self.clocks == Clocks::Stepped && end <= before;
            let fits = start <= end && (touches || before == i64::MIN);
            before = start;
            fits
        });
        if history.len() > 5 || !ordered {
            self.accuse(at, "STAT-2", format!("{object}: {behavior}"));
        }
    }

    /// Nobody ever sees a permissive status on an unready policy (STAT-4), and a ready one tells what its specification says.
    pub(super) fn policy(&mut self, at: i64, name: &str, new: &Value) {
        let status = &new["status"];
        if status.is_null() {
            return;
        }
        self.behaves(at, &format!("ChangeManagementPolicy/{name}"), status);
        let condition = |kind: &str| {
            let all = status["conditions"].as_array();
            all.into_iter().flatten().find(|one| one["type"] == kind)
        };
        let says =
            |kind: &str, what: &str| condition(kind).is_some_and(|one| one["status"] == what);
        let unpaused = status["behavior"]["current"]["state"] == "ChangesUnpaused";
        let read = windows::policy(&new["spec"], at);
        let current = condition("Ready")
            .is_some_and(|ready| ready["observedGeneration"] == new["metadata"]["generation"]);
        let mut wrong = None;
        if !says("Ready", "True") && (unpaused || !says("ChangesRestricted", "True")) {
            wrong = Some(("STAT-4", "is permissive and not ready"));
        } else if current && says("Ready", "True") != read.is_some() {
            wrong = Some(("POL-8", "is ready and cannot be used, or the other way round"));
        } else if current
            && self.clocks == Clocks::Right
            && tells(&status["behavior"]["current"], at)
            && read.is_some_and(|read| read.open != unpaused)
        {
            wrong = Some(("POL-3", "tells another state than its specification has"));
        }
        if let Some((rule, what)) = wrong {
            self.accuse(at, rule, format!("{name} {what}: {} {status}", new["spec"]));
        }
    }

    /// The status of a pool tells what its gate says, by some reading that was in force a moment before (GATE-6, STAT-4).
    pub(super) fn gated(
        &mut self,
        (at, sent): (i64, i64),
        name: &str,
        old: Option<&Value>,
        new: &Value,
    ) {
        let current = &new["status"]["changeManagement"]["behavior"]["current"];
        let before = old.map(|old| &old["status"]["changeManagement"]["behavior"]["current"]);
        // What a wrong clock tells is true by that clock; when it is right again everything is judged at rest.
        let judged = self.clocks == Clocks::Right && tells(current, at);
        if current.is_null() || before == Some(current) || !judged {
            return;
        }
        let unpaused = current["state"] == "ChangesUnpaused";
        // What it goes to is what an override may be for.
        let pools = self.recent(Kind::Pool, name, sent).into_iter().flatten();
        let goals = pools.map(|pool| target(pool)).chain([target(new)]);
        let readings: Vec<bool> =
            goals.flat_map(|goal| self.readings((name, goal), (at, sent))).collect();
        let (may_be_frozen, may_not_be) = self.frozen_readings(name, (at, sent));
        let told = if unpaused {
            may_not_be && readings.contains(&true)
        } else {
            may_be_frozen || readings.contains(&false)
        };
        if !readings.is_empty() && !told {
            let policies: Vec<&Value> =
                self.all(Kind::Policy).map(|(_, policy)| &policy["spec"]).collect();
            let stanza = &new["spec"]["changeManagement"];
            let what = format!("{name} tells {current}, with {stanza} and policies {policies:?}");
            self.accuse(at, "STAT-4", what);
        }
    }
}
