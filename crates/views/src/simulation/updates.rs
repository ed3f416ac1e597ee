//! What would happen to the control plane, and who would be in its way? (CV-1, CV-3)

use serde::Serialize;
use tidegate_core::{
    simulate::{
        Forecast, Settings,
        foresight::{Block, Rescue, sentence},
        plane::{Hop, Updates},
    },
    skew::Verdict,
};

use crate::{
    items::Named,
    safe::printable,
    text::{self, relative},
};

/// An update of the control plane, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateItem {
    release: String,
    asked: String,
    due: Option<String>,
    starts: Option<String>,
    applied: Option<String>,
    finishes: Option<String>,
    blocks: Vec<BlockItem>,
}

/// A pool in its way, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BlockItem {
    #[serde(flatten)]
    pool: Named,
    at: String,
    nodes: Vec<String>,
    kubelet: Option<String>,
    needs: String,
    takes_seconds: i64,
    last_window: Option<String>,
    begin_by: Option<String>,
    reason: String,
    hint: String,
}

/// How kubelets stand today, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SkewItem {
    upgradeable: &'static str,
    reason: &'static str,
    message: String,
    nodes: Vec<String>,
}

pub(super) fn items(updates: &Updates) -> Vec<UpdateItem> {
    updates.hops.iter().map(item).collect()
}

fn item(hop: &Hop) -> UpdateItem {
    UpdateItem {
        release: hop.update.name.clone(),
        asked: hop.update.at.to_string(),
        due: hop.due.map(|at| at.to_string()),
        starts: hop.started.map(|at| at.to_string()),
        applied: hop.applied.map(|at| at.to_string()),
        finishes: hop.finished.map(|at| at.to_string()),
        blocks: hop.blocks.iter().map(|block| block_item(hop, block)).collect(),
    }
}

fn block_item(hop: &Hop, block: &Block) -> BlockItem {
    let (reason, hint) = sentence(hop, block);
    let (takes, window) = match block.rescue {
        Rescue::Window { start, begin_by, takes } => (takes, Some((start, begin_by))),
        Rescue::TooShort { takes, .. } | Rescue::NoWindow { takes, .. } => (takes, None),
    };
    let (last_window, begin_by) =
        window.map(|(start, begin_by)| (start.to_string(), begin_by.to_string())).unzip();
    BlockItem {
        pool: Named::from(&block.pool),
        at: block.at.to_string(),
        nodes: block.nodes.clone(),
        kubelet: block.kubelet.map(|kubelet| kubelet.to_string()),
        needs: block.needs.to_string(),
        takes_seconds: takes,
        last_window,
        begin_by,
        reason,
        hint,
    }
}

pub(super) fn skew_item(skew: &Verdict) -> SkewItem {
    SkewItem {
        upgradeable: skew.class.upgradeable().as_str(),
        reason: skew.class.reason(),
        message: skew.message.clone(),
        nodes: skew.nodes.iter().map(|(node, _)| node.clone()).collect(),
    }
}

/// A line for each update, without its head painted.
pub(super) fn table(updates: &Updates, settings: &Settings) -> String {
    let head = ["UPDATE", "ASKED FOR", "STARTS", "APPLIED", "MASTERS DONE"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let start = settings.range.start;
    rows.extend(updates.hops.iter().map(|hop| {
        let told = |at: Option<_>| match at {
            Some(at) => format!("{at} ({})", relative(at, start)),
            None => "-".into(),
        };
        let starts = match (hop.started, hop.blocks.as_slice()) {
            (None, [block, ..]) => format!("held by {}", block.pool),
            (None, []) => "not in the period".into(),
            (at, _) => told(at),
        };
        let asked = told(Some(hop.update.at));
        let columns =
            [hop.update.name.clone(), asked, starts, told(hop.applied), told(hop.finished)];
        columns.map(|column| printable(&column)).to_vec()
    }));
    text::table(0, &rows)
}

/// What is in the way of updates, with what would help; empty if nothing is.
pub fn warnings(forecast: &Forecast) -> String {
    let Some(updates) = &forecast.updates else { return String::new() };
    let hops = updates.hops.iter().flat_map(|hop| hop.blocks.iter().map(move |block| (hop, block)));
    let lines = hops.map(|(hop, block)| {
        let (detail, hint) = sentence(hop, block);
        let object = &updates.object;
        printable(&format!("{object}: {detail}"))
            + "\n"
            + &printable(&format!("  hint: {hint}"))
            + "\n"
    });
    lines.collect()
}
