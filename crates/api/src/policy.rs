//! What does a policy look like? `ChangeManagementPolicy` (cluster-scoped) and `HostedChangeManagementPolicy` (namespaced): one
//! specification and one status, shared [Change Management Policies].
//!
//! - POL-1: the `maintenanceSchedule` stanza is kept whatever the strategy.
//! - POL-2: `recurrence` is a discriminated union; the schema says so by the extension `x-tidegate-union`, from which both the
//!   check of files and the rules of the CRD are made.
//! - POL-3, POL-5: the shape of `status.behavior`.
//!
//! Unknown fields are refused by the schema, for people who mistype, and skipped by the decoder, for objects of a newer version:
//! the server has pruned or refused them before anyone decodes.
//!
//! Dates, times and durations stay text here: the wire type says how they are spelled, the lowering says what they mean. Enums
//! that a newer writer may extend keep an unknown variant, which lowers to a problem and a closed gate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::meta::{Condition, ObjectMeta};

mod exclusion;

pub use exclusion::{Exclusion, MOST_RECURRING};

/// A duration as Kubernetes writes them, down to milliseconds: a rule can see those, and refuses what is not whole seconds. The number
/// of digits keeps the sum where it can be computed.
pub(crate) const DURATION: &str = "^([0-9]{1,8}([.][0-9]{1,3})?(h|m|s)|[0-9]{1,11}ms)+$";

/// How long a window or an exclusion may be (TIME-8). A text that the pattern refuses is not judged further: an interpreter's words about it
/// would help nobody.
fn duration_rules() -> Value {
    json!([
        {
            "rule": format!(
                "!self.matches('{DURATION}') || \
                 (duration(self) > duration('0s') && duration(self) <= duration('8784h'))"
            ),
            "message": "duration must be longer than none and at most 366 days (8784h)",
        },
        {
            "rule": format!(
                "!self.matches('{DURATION}') || \
                 (timestamp('1970-01-01T00:00:00Z') + duration(self)).getMilliseconds() == 0"
            ),
            "message": "duration must be whole seconds",
        },
    ])
}

/// Says when material changes may be initiated in this cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeManagementPolicy {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ChangeManagementPolicy`.
    pub kind: String,
    /// Standard object metadata. The kind is cluster-scoped: there is no namespace.
    pub metadata: ObjectMeta,
    /// How it is decided when material changes may be initiated.
    pub spec: PolicySpec,
    /// Whether changes may be initiated now, until when, and what comes next; written by the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PolicyStatus>,
}

/// Says when material changes may be initiated in the hosted clusters of its namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct HostedChangeManagementPolicy {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `HostedChangeManagementPolicy`.
    pub kind: String,
    /// Standard object metadata. The namespace is that of the hosted clusters.
    pub metadata: ObjectMeta,
    /// How it is decided when material changes may be initiated.
    pub spec: PolicySpec,
    /// Whether changes may be initiated now, until when, and what comes next; written by the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PolicyStatus>,
}

/// When material changes may be initiated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PolicySpec {
    /// How the policy decides: `Permissive` (always), `Restrictive` (never) or `MaintenanceSchedule` (as the stanza of that name
    /// says).
    pub strategy: Strategy,
    /// The windows and exclusions of the strategy `MaintenanceSchedule`. Kept and checked under every strategy, so that one can
    /// switch to another strategy and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance_schedule: Option<MaintenanceSchedule>,
}

/// How a policy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Strategy {
    /// Material changes may always be initiated.
    Permissive,
    /// Material changes may never be initiated.
    Restrictive,
    /// Material changes may be initiated inside the windows of the maintenance schedule.
    MaintenanceSchedule,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Recurring windows, and what is excluded from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = exclusion::schedule_rules()))]
pub struct MaintenanceSchedule {
    /// The IANA time zone of all dates and times of day here, such as `Europe/Berlin`. UTC if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "format" = "time-zone",
        "pattern" = r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$",
        "maxLength" = 64,
    ))]
    pub time_zone: Option<String>,
    /// The recurring windows in which material changes may be initiated. If absent, everything outside the exclusions is
    /// permitted; if there are no exclusions either, nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<Permit>,
    /// Days and times in which nothing may be initiated, whatever `permit` says. Each entry has one form: dates, instants, or a recurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub exclude: Option<Vec<Exclusion>>,
}

/// Recurring windows: on which days they open, at what time, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-exclusive" = ["duration", "endTime"]))]
pub struct Permit {
    /// The days on which a window opens. Every day if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Recurrence>,
    /// The time of day at which a window opens, `HH:MM`, from `00:00` (the default) to `23:59`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "time-of-day", "pattern" = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub start_time: Option<String>,
    /// How long a window stays open, such as `8h` or `1h30m`; elapsed time, more than zero, at most 366 days (`8784h`). The rest
    /// of the day if neither this nor `endTime` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "format" = "go-duration",
        "pattern" = DURATION,
        "maxLength" = 64,
        "x-tidegate-rules" = duration_rules(),
    ))]
    pub duration: Option<String>,
    /// The time of day at which a window closes, `HH:MM`; on the next day if it is not after `startTime`. Excludes `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "time-of-day", "pattern" = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub end_time: Option<String>,
}

/// The days on which a window opens, or an exclusion begins. `frequency` names the one stanza that is given with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-union" = {
    "discriminator": "frequency",
    "arms": { "Daily": "daily", "Weekly": "weekly", "Monthly": "monthly", "Yearly": "yearly" },
}))]
pub struct Recurrence {
    /// Which of the stanzas `daily`, `weekly`, `monthly`, `yearly` is given.
    pub frequency: Frequency,
    /// Every so many days; required with frequency `Daily`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily: Option<Daily>,
    /// On days of the week; required with frequency `Weekly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekly: Option<Weekly>,
    /// On dates or weekdays of a month; required with frequency `Monthly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly: Option<Monthly>,
    /// On dates or weekdays of one month of the year; required with frequency `Yearly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yearly: Option<Yearly>,
}

/// The form of a recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Frequency {
    /// In one month of the year.
    Yearly,
    /// Every so many months.
    Monthly,
    /// Every so many weeks.
    Weekly,
    /// Every so many days.
    Daily,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Every so many days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Daily {
    /// A window opens every so many days, counted from 1970-01-01. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 730))]
    pub interval: Option<i32>,
}

/// On days of the week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Weekly {
    /// The days of the week on which a window opens.
    #[schemars(length(min = 1, max = 7))]
    pub days_of_week: Vec<DayOfWeek>,
    /// Every so many weeks. Weeks begin on Monday and are counted from the one that contains 1970-01-01. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 26))]
    pub interval: Option<i32>,
}

/// On dates or weekdays of a month. `by` names the one stanza that is given with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-union" = {
    "discriminator": "by",
    "arms": { "Day": "day", "Date": "date" },
}))]
pub struct Monthly {
    /// Which of the stanzas `day` and `date` is given.
    pub by: By,
    /// By date; required with by `Date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<MonthlyDate>,
    /// By day of the week; required with by `Day`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<MonthlyDay>,
}

/// Whether days of a month are named by their date or by their weekday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum By {
    /// By weekday, such as the first Saturday.
    Day,
    /// By date, such as the 15th.
    Date,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// On dates, every so many months.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MonthlyDate {
    /// The dates, 1 to 31. A month that does not have a date has no window on it.
    #[schemars(length(min = 1, max = 31), inner(range(min = 1, max = 31)))]
    pub dates_of_month: Vec<i32>,
    /// Every so many months, counted from January 1970. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 11))]
    pub interval: Option<i32>,
}

/// On weekdays, every so many months.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MonthlyDay {
    /// The days, such as the first Saturday.
    #[schemars(length(min = 1, max = 42))]
    pub days: Vec<WeekdayOfMonth>,
    /// Every so many months, counted from January 1970. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 11))]
    pub interval: Option<i32>,
}

/// On dates or weekdays of one month of the year. `by` names the one stanza that is given with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-union" = {
    "discriminator": "by",
    "arms": { "Day": "day", "Date": "date" },
}))]
pub struct Yearly {
    /// Which of the stanzas `day` and `date` is given.
    pub by: By,
    /// By date; required with by `Date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<YearlyDate>,
    /// By day of the week; required with by `Day`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<YearlyDay>,
}

/// On dates of one month of the year.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct YearlyDate {
    /// The dates, 1 to 31. 29 February occurs in leap years only.
    #[schemars(length(min = 1, max = 31), inner(range(min = 1, max = 31)))]
    pub dates_of_month: Vec<i32>,
    /// The month.
    pub month: Month,
}

/// On weekdays of one month of the year.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct YearlyDay {
    /// The days, such as the first Saturday.
    #[schemars(length(min = 1, max = 42))]
    pub days: Vec<WeekdayOfMonth>,
    /// The month.
    pub month: Month,
}

/// A weekday of a month, such as the first Saturday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct WeekdayOfMonth {
    /// Which of them. A month without a fifth such day has no window on it.
    pub week_of_month: WeekOfMonth,
    /// The day of the week.
    pub day_of_week: DayOfWeek,
}

/// Which of the same weekdays of a month.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[expect(missing_docs, reason = "each variant says what it is")]
pub enum WeekOfMonth {
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    Last,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A day of the week.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[expect(missing_docs, reason = "each variant says what it is")]
pub enum DayOfWeek {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A month of the year.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[expect(missing_docs, reason = "each variant says what it is")]
pub enum Month {
    January,
    February,
    March,
    April,
    May,
    June,
    July,
    August,
    September,
    October,
    November,
    December,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What the controller found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PolicyStatus {
    /// Whether changes may be initiated now, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behavior: Option<Behavior>,
    /// The conditions `Ready` and `ChangesRestricted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Whether changes may be initiated now, what comes next, and what was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Behavior {
    /// The stretch of one state around now.
    pub current: Stretch,
    /// The stretch after it; present exactly when the current one ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Stretch>,
    /// The last five stretches that have ended, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    pub history: Vec<PastStretch>,
}

/// Whether changes may be initiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum State {
    /// No material change may be initiated.
    ChangesPaused,
    /// Material changes may be initiated.
    ChangesUnpaused,
}

/// The longest stretch of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Stretch {
    /// Whether changes may be initiated.
    pub state: State,
    /// When it began; null if it has always been so.
    #[serde(default)]
    #[schemars(extend("format" = "date-time", "x-tidegate-nullable" = true))]
    pub start_time: Option<String>,
    /// When it ends; null if it is not expected to end.
    #[serde(default)]
    #[schemars(extend("format" = "date-time", "x-tidegate-nullable" = true))]
    pub end_time: Option<String>,
    /// Why, for people.
    pub reason: String,
}

/// A stretch that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PastStretch {
    /// The strategy that was in force.
    pub strategy: Strategy,
    /// Whether changes could be initiated.
    pub state: State,
    /// When it began; null if it had always been so.
    #[serde(default)]
    #[schemars(extend("format" = "date-time", "x-tidegate-nullable" = true))]
    pub start_time: Option<String>,
    /// When it ended.
    #[schemars(extend("format" = "date-time"))]
    pub end_time: String,
}
