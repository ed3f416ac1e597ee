//! The output for programs (docs/reference/json.md).

use serde::Serialize;
use tidegate_core::simulate::{
    Arrival, Course, Forecast, PoolChange, Settings, Single, verdict::Outlook,
};

use super::{
    updates::{self, SkewItem, UpdateItem},
    words,
};
use crate::items::Named;

/// A forecast for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    from: String,
    until: String,
    seed: u64,
    drain_seconds: i64,
    reboot_seconds: i64,
    payload_seconds: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    skew: Option<SkewItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    under_way: Option<String>,
    updates: Vec<UpdateItem>,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    Single(SingleItem),
    Pool(Box<PoolItem>),
}

#[derive(Serialize)]
struct SingleItem {
    #[serde(flatten)]
    object: Named,
    pending: Vec<String>,
    starts: Option<String>,
    reason: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PoolItem {
    #[serde(flatten)]
    object: Named,
    verdict: &'static str,
    converged: Option<String>,
    reason: Option<String>,
    hint: Option<String>,
    waiting: Vec<String>,
    machine_count: usize,
    at_once: usize,
    windows: usize,
    open_hours: f64,
    open_hours_per_month: f64,
    needed_hours: f64,
    needed_hours_per_month: f64,
    changes: Vec<ChangeItem>,
}

#[derive(Serialize)]
struct ChangeItem {
    config: String,
    arrives: Option<String>,
    starts: Option<String>,
    finishes: Option<String>,
    superseded: Option<String>,
    windows: usize,
    machines: Vec<RunItem>,
}

#[derive(Serialize)]
struct RunItem {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    starts: String,
    drained: String,
    finishes: String,
    basis: Option<String>,
}

/// What was found for every resource and every pool.
pub fn report(forecast: &Forecast, settings: &Settings) -> Report {
    let others = forecast.others.iter().map(|single| Item::Single(single_item(single)));
    let pools = forecast.pools.iter().map(|course| Item::Pool(Box::new(pool(course, settings))));
    Report {
        from: settings.range.start.to_string(),
        until: settings.range.end.to_string(),
        seed: settings.seed,
        drain_seconds: settings.lengths.drain,
        reboot_seconds: settings.lengths.reboot,
        payload_seconds: settings.lengths.payload,
        skew: forecast.skew.as_ref().map(updates::skew_item),
        under_way: forecast.under_way.clone(),
        updates: forecast.updates.as_ref().map(updates::items).unwrap_or_default(),
        items: others.chain(pools).collect(),
    }
}

fn single_item(single: &Single) -> SingleItem {
    SingleItem {
        object: Named::from(&single.object),
        pending: single.waiting.clone(),
        starts: single.starts.map(|at| at.to_string()),
        reason: single.reason.clone(),
    }
}

fn pool(course: &Course, settings: &Settings) -> PoolItem {
    let (reason, hint) = words::reason(course, settings).unzip();
    PoolItem {
        object: Named::from(&course.object),
        verdict: words::word(&course.verdict),
        converged: match course.verdict {
            Outlook::Converges(at) => Some(at.to_string()),
            Outlook::Idle
            | Outlook::Unfinished { .. }
            | Outlook::Late { .. }
            | Outlook::Never { .. } => None,
        },
        reason,
        hint,
        waiting: words::waiting(&course.verdict).to_vec(),
        machine_count: course.machines.len(),
        at_once: course.at_once,
        windows: course.windows,
        open_hours: hours(course.open),
        open_hours_per_month: hours(course.open_a_month(settings)),
        needed_hours: hours(course.need),
        needed_hours_per_month: hours(course.need_a_month(settings)),
        changes: course.changes.iter().map(|one| change(one, course)).collect(),
    }
}

fn change(change: &PoolChange, course: &Course) -> ChangeItem {
    let zone = |name: &str| {
        let found = course.machines.iter().find(|(machine, _)| machine == name);
        found.and_then(|(_, zone)| zone.clone())
    };
    let runs = change.runs.iter().map(|run| RunItem {
        name: run.node.clone(),
        zone: zone(&run.node),
        starts: run.start.to_string(),
        drained: run.drained.to_string(),
        finishes: run.end.to_string(),
        basis: run.basis.clone(),
    });
    ChangeItem {
        config: change.config.clone(),
        arrives: match change.arrival {
            Arrival::Pending => None,
            Arrival::At(at) => Some(at.to_string()),
        },
        starts: change.started.map(|at| at.to_string()),
        finishes: change.finished.map(|at| at.to_string()),
        superseded: change.superseded.map(|at| at.to_string()),
        windows: change.windows(&course.gate),
        machines: runs.collect(),
    }
}

/// Hours with two digits after the point: seconds are not what anybody plans with.
fn hours(seconds: i64) -> f64 {
    ((seconds * 100 + 1800) / 3600) as f64 / 100.0
}
