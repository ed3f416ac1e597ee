//! What do the next months of a policy look like? Days and hours are those of the policy's own time zone.

use schedule::{Date, Instant, Zone};
use serde::Serialize;
use tidegate_core::policy::{
    calendar::{self, Day, Month},
    exclusion::{Exclusion, When},
    explain::{self, rule},
    forecast,
    read::Policy,
};

use crate::items::{Items, Named};

pub mod grid;
pub mod ics;
pub mod picture;
pub mod strip;

/// The months of one policy, ready to be drawn.
#[derive(Clone, Debug)]
pub struct PolicyMonths<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its months.
    pub months: Vec<Month>,
    /// The instant that counts as now.
    pub now: Instant,
    /// The day that holds it, in the policy's zone.
    pub today: Date,
}

impl<'a> PolicyMonths<'a> {
    /// The months from that of one day to that of another.
    pub fn new(policy: &'a Policy, first: Date, last: Date, now: Instant) -> Self {
        let months = calendar::months(&policy.lowered, first, last.max(first));
        Self { policy, months, now, today: policy.lowered.zone.date_of(now) }
    }

    /// The exclusions that meet the months shown, in the order in which they first do.
    pub fn exclusions(&self) -> Vec<&Exclusion> {
        let (Some(first), Some(last)) = (self.months.first(), self.months.last()) else {
            return Vec::new();
        };
        let range = first.range.start..last.range.end;
        let all = self.policy.lowered.parts.exclusions();
        let mut shown: Vec<_> = all
            .filter_map(|exclusion| Some((exclusion.spans(&range).first()?.start, exclusion)))
            .collect();
        shown.sort_by_key(|(start, _)| *start);
        shown.into_iter().map(|(_, exclusion)| exclusion).collect()
    }
}

/// What is excluded in words: `2026-12-24`, or `2026-12-19 to 2027-01-03`, both of them excluded; two instants; or the rule of what recurs.
pub fn excluded_when(exclusion: &Exclusion, zone: &Zone) -> String {
    match &exclusion.when {
        When::Days { from, until, .. } => {
            let last = Date::from_days_since_epoch(until.days_since_epoch() - 1).unwrap_or(*from);
            if last == *from { from.to_string() } else { format!("{from} to {last}") }
        }
        When::Instants(span) => {
            format!("{} to {}", explain::when(span.start, zone), explain::when(span.end, zone))
        }
        When::Recurring { rule, .. } => rule::sentence(rule),
    }
}

/// `November 2026`.
pub fn month_name(first: Date) -> String {
    let place = usize::from(first.month()) - 1;
    let name = schedule::Month::ALL.get(place).map_or("", |month| month.name());
    format!("{name} {}", first.year())
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    #[serde(flatten)]
    object: Named,
    time_zone: String,
    months: Vec<MonthItem>,
}

#[derive(Serialize)]
struct MonthItem {
    month: String,
    hours: f64,
    days: Vec<DayItem>,
}

#[derive(Serialize)]
struct DayItem {
    date: String,
    hours: f64,
    windows: Vec<Part>,
    excluded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The part of a window that lies on one day.
#[derive(Serialize)]
struct Part {
    start: String,
    end: String,
}

/// The months of policies for programs.
pub fn items(drawings: &[PolicyMonths<'_>]) -> Items<Item> {
    let item = |drawn: &PolicyMonths<'_>| {
        let Policy { object, lowered, .. } = drawn.policy;
        Item {
            object: Named::from(object),
            time_zone: lowered.zone.name().to_owned(),
            months: drawn.months.iter().map(|month| month_item(month, drawn)).collect(),
        }
    };
    drawings.iter().map(item).collect()
}

fn month_item(month: &Month, drawn: &PolicyMonths<'_>) -> MonthItem {
    let exclusions: Vec<_> = drawn.policy.lowered.parts.exclusions().collect();
    let day = |day: &Day| DayItem {
        date: day.date.to_string(),
        hours: day.permitted() as f64 / 3600.0,
        windows: day
            .open
            .iter()
            .map(|part| Part { start: part.start.to_string(), end: part.end.to_string() })
            .collect(),
        excluded: day.excluded.is_some(),
        reason: day
            .excluded
            .and_then(|place| exclusions.get(place)?.reason.as_deref().map(str::to_owned)),
    };
    MonthItem {
        month: format!("{:04}-{:02}", month.first.year(), month.first.month()),
        hours: forecast::seconds(&drawn.policy.lowered.set, month.range.clone()) as f64 / 3600.0,
        days: month.days.iter().map(day).collect(),
    }
}
