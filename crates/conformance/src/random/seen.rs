//! What did a server make up, and in which order was it first seen?
//!
//! Identifiers and versions are replaced by their rank, instants by a word. The resource version of a list is hidden altogether: it
//! counts the writes of everybody, and a real server is never alone. What follows the refusal to change a pod is cut off: a real server
//! prints there how its internal structures differ. So is the object in the refusal of a patch, which stands there in the order of those
//! structures. Two orders are not compared: that of the causes of a refusal, which
//! a real server leaves to chance, and that of `managedFields`, which it sorts by a time of whole seconds.

use std::collections::BTreeMap;

use serde_json::Value;

/// Values that a server made up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    uids: Vec<String>,
    versions: Vec<String>,
    /// By the name of the object: the version and identifier last seen.
    latest: BTreeMap<String, (String, String)>,
}

impl Seen {
    /// A body with its placeholders filled. An object never seen gives values that fit nothing.
    pub(crate) fn fill(&self, collection: &str, body: &str) -> String {
        let mut text = body.to_owned();
        for name in ["a", "b", "c"] {
            let unknown = ("1".to_owned(), "11111111-1111-1111-1111-111111111111".to_owned());
            let (version, uid) =
                self.latest.get(&format!("{collection}/{name}")).unwrap_or(&unknown);
            text = text.replace(&format!("{{rv:{name}}}"), version);
            text = text.replace(&format!("{{uid:{name}}}"), uid);
        }
        text
    }

    /// Keeps what an object's metadata says for later placeholders.
    pub(crate) fn keep(&mut self, collection: &str, object: &Value) {
        let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
        if let (Some(name), Some(version), Some(uid)) =
            (text("name"), text("resourceVersion"), text("uid"))
        {
            // The name by which the sequence calls it, without the sequence's own.
            let short = name.rsplit('-').next().unwrap_or_default();
            self.latest.insert(format!("{collection}/{short}"), (version, uid));
        }
    }

    /// The value with everything made up replaced.
    pub(crate) fn mask(&mut self, value: &mut Value) {
        let is_list = value.get("items").is_some_and(Value::is_array);
        if is_list && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        {
            for field in ["resourceVersion", "continue"] {
                if metadata.get(field).is_some_and(|value| value != "") {
                    metadata.insert(field.to_owned(), "<hidden>".into());
                }
            }
        }
        value.sort_all_objects();
        self.walk("", value);
    }

    fn walk(&mut self, key: &str, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    self.walk(key, value);
                }
                if fields.get("kind").is_some_and(|kind| kind == "Status") {
                    order_causes(value);
                }
            }
            Value::Array(items) => {
                for item in items.iter_mut() {
                    self.walk(key, item);
                }
                if key == "managedFields" {
                    items.sort_by_key(Value::to_string);
                }
            }
            Value::String(text) => match key {
                "uid" => *text = format!("<uid {}>", rank(&mut self.uids, text)),
                "resourceVersion" if text != "<hidden>" => {
                    *text = format!("<version {}>", rank(&mut self.versions, text));
                }
                "creationTimestamp" | "deletionTimestamp" | "time" => "<time>".clone_into(text),
                _ => *text = self.in_text(text),
            },
            _ => {}
        }
    }

    /// A sentence with the identifiers and versions seen so far replaced. A version is a plain number: only where the server speaks of
    /// one is it taken for that.
    fn in_text(&self, text: &str) -> String {
        let text = match (text.find("\n@@ "), text.rfind('\n')) {
            (Some(start), Some(end)) => format!("{}{}", &text[..start], &text[end + 1..]),
            _ => text.to_owned(),
        };
        let text = match (text.find(r#"Invalid value: "{\"apiVersion"#), text.rfind(r#"}": "#)) {
            (Some(start), Some(end)) if start < end => {
                format!("{}Invalid value: <object>: {}", &text[..start], &text[end + 4..])
            }
            _ => text,
        };
        let uids = self.uids.iter().enumerate();
        let text = uids.fold(text, |text, (rank, uid)| text.replace(uid, &format!("<uid {rank}>")));
        let versions = self.versions.iter().enumerate();
        versions.fold(text, |text, (rank, version)| {
            text.replace(
                &format!("in record ({version})"),
                &format!("in record (<version {rank}>)"),
            )
        })
    }
}

/// Sorts the causes of a refusal, and takes them out of its sentence once they are known to stand there.
fn order_causes(status: &mut Value) {
    let causes = status.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    let Some(causes) = causes.filter(|all| all.len() > 1) else {
        return;
    };
    causes.sort_by_key(Value::to_string);
    let mut told: Vec<String> = Vec::new();
    for cause in causes.iter() {
        let (field, message) = (cause["field"].as_str(), cause["message"].as_str());
        told.push(format!("{}: {}", field.unwrap_or_default(), message.unwrap_or_default()));
    }
    let message = status["message"].as_str().unwrap_or_default();
    if told.iter().all(|cause| message.contains(cause)) {
        let told =
            told.iter().fold(message.to_owned(), |text, cause| text.replacen(cause, "<cause>", 1));
        status["message"] = told.into();
    }
}

fn rank(known: &mut Vec<String>, value: &str) -> usize {
    known.iter().position(|seen| seen == value).unwrap_or_else(|| {
        known.push(value.to_owned());
        known.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn made_up_values_become_ranks() {
        let mut seen = Seen::default();
        let mut first =
            json!({ "metadata": { "name": "a", "uid": "u1", "resourceVersion": "12" } });
        seen.keep("tides", &first);
        seen.mask(&mut first);
        assert_eq!(first["metadata"]["resourceVersion"], "<version 0>");
        let mut second =
            json!({ "message": "not u1", "metadata": { "uid": "u2", "resourceVersion": "12" } });
        seen.mask(&mut second);
        assert_eq!(
            second["metadata"],
            json!({ "uid": "<uid 1>", "resourceVersion": "<version 0>" })
        );
        assert_eq!(second["message"], "not <uid 0>");
        assert_eq!(seen.fill("tides", "{rv:a} {uid:a} {rv:b}"), "12 u1 1");
        let mut list =
            json!({ "items": [], "metadata": { "resourceVersion": "99", "continue": "x" } });
        seen.mask(&mut list);
        assert_eq!(
            list["metadata"],
            json!({ "resourceVersion": "<hidden>", "continue": "<hidden>" })
        );
    }
    #[test]
    fn versions_are_known_only_where_the_server_speaks_of_one() {
        let mut seen = Seen::default();
        seen.mask(&mut json!({ "resourceVersion": "12" }));
        let mut conflict = json!({ "message": "version in record (12), 12 times" });
        seen.mask(&mut conflict);
        assert_eq!(conflict["message"], "version in record (<version 0>), 12 times");
    }

    #[test]
    fn causes_are_compared_without_their_order() {
        let refusal = |first: &str, second: &str| {
            let cause = |message: &str| json!({ "field": "spec", "message": message });
            let mut status = json!({
                "kind": "Status", "message": format!("no: [spec: {first}, spec: {second}]"),
                "details": { "causes": [cause(first), cause(second)] },
            });
            Seen::default().mask(&mut status);
            status
        };
        assert_eq!(refusal("too long", "too high"), refusal("too high", "too long"));
        assert_ne!(refusal("too long", "too high"), refusal("too long", "too low"));
    }
}
