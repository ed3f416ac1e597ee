//! What does an exclusion look like? One of three forms, and why (TIME-10).
//!
//! Which of them it is shows by its fields: `fromDate` for whole days, `from` and `until` for instants, `recurrence` for what comes again.
//! A rule of the definition sees to it that an entry is exactly one of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{DURATION, Recurrence, duration_rules};

/// How many exclusions of a policy may recur. A judgement: each is one more calendar to search for the next opening, and sixteen rules say
/// more about a year than people remember; what has a date is not limited by this.
pub const MOST_RECURRING: usize = 16;

/// A time in which nothing may be initiated: whole days (`fromDate`, `untilDate`), from one instant until another (`from`, `until`), or what
/// comes again and again (`recurrence`, with `startTime` and `duration` or `endTime`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend(
    "x-tidegate-exclusive" = ["duration", "endTime"],
    "x-tidegate-rules" = entry_rules(),
))]
pub struct Exclusion {
    /// The first excluded day, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date", "pattern" = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub from_date: Option<String>,
    /// The day on which the exclusion is over, `YYYY-MM-DD`; it is not excluded itself. One day after `fromDate` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date", "pattern" = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub until_date: Option<String>,
    /// The instant at which the exclusion begins, such as `2026-12-18T17:00:00Z`; given with `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub from: Option<String>,
    /// The instant at which the exclusion is over, which is the first that is not excluded; given with `from`, and later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub until: Option<String>,
    /// The days on which the exclusion begins, again and again. At most 16 exclusions of a policy recur, and fewer where they have intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
    /// The time of day at which it begins on the days of `recurrence`, `HH:MM`, from `00:00` (the default) to `23:59`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "time-of-day", "pattern" = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub start_time: Option<String>,
    /// How long it lasts from a day of `recurrence` on, such as `10h`, or `744h` for 31 days; elapsed time, more than zero, at most 366 days
    /// (`8784h`). The rest of the day if neither this nor `endTime` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "format" = "go-duration",
        "pattern" = DURATION,
        "maxLength" = 64,
        "x-tidegate-rules" = duration_rules(),
    ))]
    pub duration: Option<String>,
    /// The time of day at which it ends, `HH:MM`; on the next day if it is not after `startTime`. Excludes `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "time-of-day", "pattern" = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub end_time: Option<String>,
    /// Why, for people; shown wherever the exclusion is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
}

fn entry_rules() -> Value {
    json!([
        {
            "rule": "[has(self.fromDate) || has(self.untilDate), has(self.from) || has(self.until), has(self.recurrence)].filter(form, form).size() == 1",
            "message": "give exactly one of fromDate (whole days), from and until (instants), or recurrence",
        },
        {
            "rule": "!has(self.untilDate) || has(self.fromDate)",
            "message": "untilDate needs fromDate",
            "fieldPath": ".untilDate",
        },
        {
            "rule": "!has(self.untilDate) || !has(self.fromDate) || self.untilDate > self.fromDate",
            "message": "untilDate must be after fromDate",
            "fieldPath": ".untilDate",
        },
        {
            "rule": "has(self.from) == has(self.until)",
            "message": "from and until must both be given",
        },
        {
            "rule": "!has(self.from) || !has(self.until) || self.from < self.until",
            "message": "until must be later than from",
            "fieldPath": ".until",
        },
        {
            "rule": "has(self.recurrence) || !has(self.startTime) && !has(self.duration) && !has(self.endTime)",
            "message": "startTime, duration and endTime belong to a recurrence",
        },
    ])
}

/// The rule of the schedule that holds the entries.
pub(super) fn schedule_rules() -> Value {
    json!([{
        "rule": format!("!has(self.exclude) || self.exclude.filter(entry, has(entry.recurrence)).size() <= {MOST_RECURRING}"),
        "message": format!("at most {MOST_RECURRING} exclusions may recur"),
        "fieldPath": ".exclude",
    }])
}
