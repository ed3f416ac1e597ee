//! What do values of the chart say of rooms of somebody's own? (RCH-14)

use std::{fs, path::Path};

use anyhow::Context as _;
use serde_json::Value;
use tidegate_core::reach::custom::{self, CustomRoom};

use crate::source::tree;

/// The rooms of somebody's own that a file with values of the chart has.
pub(crate) fn rooms_of(values: &Path) -> anyhow::Result<Vec<CustomRoom>> {
    let name = values.display();
    let text = fs::read_to_string(values).with_context(|| format!("cannot read {name}"))?;
    let values = parsed(&text).with_context(|| format!("{name} is not YAML"))?;
    custom::read(&values)
        .map_err(|problems| anyhow::anyhow!("{name}: {}", problems.join(&format!("\n{name}: "))))
}

/// A document of YAML.
pub(crate) fn parsed(text: &str) -> anyhow::Result<Value> {
    let parsed = tree::parse(text, 1).map_err(|failure| {
        anyhow::anyhow!("line {}: {}", failure.place.line, failure.problem.detail)
    })?;
    Ok(parsed.map_or(Value::Null, |parsed| parsed.root.value()))
}
