//! Which rendered configurations may be deleted, and why may the rest not? (POOL-9)

use std::fmt::Write as _;

use serde::Serialize;
use tidegate_core::cluster::snapshot::Snapshot;

use crate::{safe::printable, text};

/// A rendered configuration, and what keeps it (docs/reference/json.md).
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    /// What the configuration is called.
    pub name: String,
    /// Whether nothing keeps it.
    pub deletable: bool,
    /// What keeps it.
    pub reasons: Vec<String>,
}

/// Every rendered configuration of a cluster.
pub fn items(snapshot: &Snapshot) -> Vec<Item> {
    let verdicts = snapshot.prune();
    let items = verdicts.iter().map(|verdict| Item {
        name: verdict.config.to_owned(),
        deletable: verdict.may_be_deleted(),
        reasons: verdict.kept_by.iter().map(ToString::to_string).collect(),
    });
    items.collect()
}

/// The same for people, with the command that deletes what may be.
pub fn drawing(items: &[Item]) -> String {
    if items.is_empty() {
        return "there are no rendered configurations\n".into();
    }
    let mut rows = vec![vec!["CONFIG".to_owned(), "DELETABLE".to_owned(), "WHY NOT".to_owned()]];
    for item in items {
        let word = if item.deletable { "yes" } else { "no" };
        rows.push(vec![printable(&item.name), word.to_owned(), item.reasons.join("; ")]);
    }
    let mut text = text::table(0, &rows);
    let free: Vec<&str> =
        items.iter().filter(|item| item.deletable).map(|item| item.name.as_str()).collect();
    if !free.is_empty() {
        let _ =
            writeln!(text, "\ndelete with:\n  kubectl delete machineconfigs {}", free.join(" "));
    }
    text
}
