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
    let mut lines = vec![format!("  loaded:  {}", counted(taken))];
    if !left_out.is_empty() {
        let kinds = counted(left_out);
        lines.push(format!("  left out: {kinds}, which a sandbox has no use for"));
    }
    if *repeated > 0 {
        let objects = format!("{repeated} objects were given more than once");
        lines.push(format!("  repeated: {objects}; the first was taken"));
    }
    lines.join("\n") + "\n"
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
