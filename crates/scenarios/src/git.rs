//! How does a repository reach the cluster? By server-side apply, with an owner of its own and without force: whoever fights is seen.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::Value;

use super::live::{Live, kinds};

/// Applies the documents of a block as an owner, and says what became of each.
pub(crate) async fn apply(block: &str, owner: &str, live: &mut Live) -> Result<String, String> {
    let mut shown = String::new();
    for document in serde_saphyr::from_multiple::<Value>(block).map_err(|e| e.to_string())? {
        let text = |path: &str| document.pointer(path).and_then(Value::as_str);
        let kind = kinds().find(|kind| Some(kind.name) == text("/kind")).ok_or("which kind?")?;
        let name = text("/metadata/name").ok_or("which name?")?;
        let path = Live::path(kind, text("/metadata/namespace"), name);
        let before = live.ask("GET", &path, &Value::Null).await.ok();
        let way = format!("{path}?fieldManager={owner}");
        let answer = live.send("PATCH", &way, "application/apply-patch+yaml", &document).await;
        let said = match (&before, &answer) {
            (_, Err(refusal)) => refusal,
            (None, Ok(_)) => "created",
            (Some(before), Ok(after)) if version(before) == version(after) => "unchanged",
            (Some(_), Ok(_)) => "changed",
        };
        let _ = writeln!(shown, "{}/{name} {said}", kind.name);
        if let Ok(after) = &answer {
            live.seen(kind, after).await;
        }
    }
    Ok(shown)
}

/// Who answers for which fields of a specification.
pub(crate) async fn owners(called: &str, live: &Live) -> Result<String, String> {
    let object = live.get(called).await?;
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
        let fields = entry.pointer("/fieldsV1/f:spec").and_then(Value::as_object);
        let names = fields.into_iter().flatten().filter_map(|(name, _)| name.strip_prefix("f:"));
        owners.entry(entry["manager"].as_str().unwrap_or("?")).or_default().extend(names);
    }
    let mut shown = String::new();
    for (owner, mut fields) in owners.into_iter().filter(|(_, fields)| !fields.is_empty()) {
        fields.sort_unstable();
        let _ = writeln!(shown, "{owner}: {}", fields.join(", "));
    }
    Ok(shown)
}

fn version(object: &Value) -> &Value {
    &object["metadata"]["resourceVersion"]
}
