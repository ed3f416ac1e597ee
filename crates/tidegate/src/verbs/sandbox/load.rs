//! How does somebody's own cluster come into a sandbox? Files of objects, as a must-gather or kubectl leaves them.

use std::{collections::BTreeMap, path::Path};

use anyhow::bail;
use sim::stock::{Item, Refused, Stocked};

use crate::source::{self, Loaded, Reads, Written};

/// Reads every object beneath a path.
pub(super) fn read(path: &Path) -> Loaded {
    source::load_all(&[path.to_owned()], Reads::Anything, &mut std::io::empty())
}

/// The objects that were read, each with its place.
pub(super) fn items(loaded: Loaded) -> anyhow::Result<Vec<Item>> {
    if loaded.written.is_empty() && !loaded.has_errors() {
        bail!(
            "there is no object to load\n  hint: name a must-gather, or what kubectl get nodes,pods,mc,mcp -A -o yaml printed"
        );
    }
    let item = |written: Written| {
        let Written { file, place, object } = written;
        Item { origin: format!("{file}:{}:{}", place.line, place.column), object }
    };
    Ok(loaded.written.into_iter().map(item).collect())
}

/// What was taken, and what was left out, a line each.
pub(super) fn summary(stocked: &Stocked) -> String {
    let Stocked { taken, left_out, repeated } = stocked;
    let mut text = format!("  loaded:  {}\n", counted(taken));
    if !left_out.is_empty() {
        text += &format!("  left out: {}, which a sandbox has no use for\n", counted(left_out));
    }
    if *repeated > 0 {
        text += &format!("  repeated: {repeated} objects were given more than once; the first was taken\n");
    }
    text
}

fn counted(kinds: &BTreeMap<String, usize>) -> String {
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

/// Every object that the server refused.
pub(super) fn refusals(refused: &[Refused]) -> String {
    let lines: Vec<String> = refused.iter().map(ToString::to_string).collect();
    let count = match refused.len() {
        1 => "an object was".to_owned(),
        count => format!("{count} objects were"),
    };
    format!("{count} refused, so nothing was loaded\n{}", lines.join("\n"))
}
